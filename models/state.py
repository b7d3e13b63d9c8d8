"""What a fitted thing is when it is written down: plain facts and named arrays, never code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
                raise TypeError(f"array '{name}' of a '{self.kind}' state has dtype {array.dtype}: only numbers are stored")

    def expect(self, kind: str, version: int) -> None:
        """Raises StateError unless the state is of this kind and format."""
        if (self.kind, self.version) != (kind, version):
            found = f"a state of kind '{self.kind}', format {self.version}; '{kind}' reads format {version} of its own kind"
            raise StateError(Fault(kind, found, "train again with this version"))
