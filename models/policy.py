"""What an audit asks, and within which limits the answers must lie: a preset, changed by what the spec says."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, SerializeAsAny

from models.canaries import CanarySettings
from models.errors import Fault, SpecError, nearest
from models.evidence import QUERIES
from models.finding import Override
from models.measures import Measure, catalog
from models.schema import Frozen


class Preset(StrEnum):
    """Whom a release is for: anybody, a partner under contract, or the holder's own staff.

    Official precedents differ in the same way: a chance of 0.09 (1 in 11) to be re-identified in data for the public
    (EMA Policy 0070, Health Canada), 0.20 and 0.33 (1 in 5, 1 in 3) under controls (El Emam's overview of practice).
    """

    PUBLIC = "public"
    TRUSTED_PARTNER = "trusted-partner"
    INTERNAL = "internal"


class Policy(Frozen):
    """Every kind of measure with its settings.

    ``queries`` bounds how many rows of each table ask for their nearest neighbours; all rows of the others answer.
    """

    preset: Preset = Preset.PUBLIC
    queries: int = Field(default=QUERIES, ge=1000, le=100_000_000, description="rows that ask for their neighbours")
    canaries: CanarySettings | None = Field(
        default=None, description="planted people, for generators that claim differential privacy; costs one training"
    )
    measures: dict[str, SerializeAsAny[Measure]]
    overrides: tuple[Override, ...] = ()

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:
        """The policy that a spec's section ``audit`` states: its general keys, and settings by kind of measure, which
        change those of the preset. Raises SpecError with all faults, pydantic's ValidationError for the general keys.
        """
        general = {key: said[key] for key in GENERAL if key in said}
        preset = general.get("preset", Preset.PUBLIC)
        kinds, faults = catalog.kinds(), list[Fault]()
        known = preset in list(Preset)
        unknown = [key for key in said if key not in kinds and key not in GENERAL]
        faults += [Fault(f"audit.{key}", "unknown key", nearest(key, [*GENERAL, *kinds])) for key in unknown]
        built: dict[str, Measure] = {}
        for kind in kinds:
            try:
                relaxed = catalog.settings(kind).presets.get(str(preset), {}) if known else {}
                built[kind] = catalog.build({"kind": kind, **merged(relaxed, _settings(kind, said.get(kind, {})))})
            except SpecError as error:
                faults += error.faults
        if faults:
            raise SpecError(faults)
        return cls(measures=built, **general)

    def override_of(self, name: str, where: str) -> Override | None:
        """The decision about the finding of this name and place, if there is one."""
        return next((each for each in self.overrides if (each.check, each.where) == (name, where)), None)


GENERAL = ("preset", "queries", "canaries", "overrides")
"""The keys of the section that are not kinds of measure."""


def _settings(kind: str, said: object) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        raise SpecError(Fault(f"audit.{kind}", "is no mapping of settings to values", f"see 'parquetry kinds {kind}'"))
    return said


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with ``changes``, mappings within them merged in the same way."""
    both = {
        key: merged(base[key], value) if isinstance(value, Mapping) and isinstance(base.get(key), Mapping) else value
        for key, value in changes.items()
    }
    return {**base, **both}
