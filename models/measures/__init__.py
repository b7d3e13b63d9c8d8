"""Measures: questions an audit asks. One file per kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from models.catalog import Catalog
from models.evidence import Evidence
from models.finding import Finding
from models.randomness import Seed
from models.schema import Frozen


class Measure(Frozen, ABC):
    """A measure's settings: its limits, with the precedent they quote, and its own fields.

    The default limits are those of a release to the public. ``presets`` has the limits of the others (see
    ``models.policy``) by preset: settings, where they differ.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    kind: str

    @property
    def limited(self) -> tuple[str, ...]:
        """The clusters of rows to which its settings give limits of their own."""
        return ()

    @abstractmethod
    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        """One or more findings. What cannot be computed is a finding without estimate, never an absent one."""


catalog: Catalog[Measure] = Catalog("models.measures", Measure)  # type: ignore[type-abstract]
