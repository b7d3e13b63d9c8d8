"""What a fitted thing is when it is written down: plain facts and named arrays, never code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import Fault, StateError


@dataclass(frozen=True)
class State:
    """``facts`` is JSON (strings, numbers, lists, mappings); ``arrays`` are numeric. ``kind`` tells who can read it.

    ``version`` is the format of this kind's state; a reader refuses a version that it does not know.
    """

    kind: str
    version: int
    facts: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, array in self.arrays.items():
            if array.dtype.kind not in "biuf":
                found = f"array '{name}' of a '{self.kind}' state has dtype {array.dtype}"
                raise TypeError(f"{found}: only numbers are stored")

    def expect(self, kind: str, version: int) -> None:
        """Raises StateError unless the state is of this kind and format."""
        if (self.kind, self.version) != (kind, version):
            found = f"a state of kind '{self.kind}', format {self.version}, where format {version} was expected"
            raise StateError(Fault(kind, found, "train again"))


def packed(name: str, arrays: Sequence[NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """One-dimensional arrays end to end under ``name``, with their lengths, for a state."""
    return {name: np.concatenate(arrays), f"{name}.lengths": np.array([len(each) for each in arrays])}


def unpacked(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """What ``packed`` put under ``name``."""
    return np.split(arrays[name], np.cumsum(arrays[f"{name}.lengths"])[:-1])
