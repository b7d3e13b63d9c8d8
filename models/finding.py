"""A finding: one measured quantity with its interval, what chance alone would give, and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import ceil, floor, isfinite, log10

from models.schema import Frozen


class Verdict(StrEnum):
    """Only ``pass`` publishes."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class Group(StrEnum):
    """What a finding is about."""

    PRIVACY = "privacy"
    FIDELITY = "fidelity"
    USEFULNESS = "usefulness"


class Unit(StrEnum):
    """How a figure reads: a share of rows or people (0.012 is 1.2 %), or a score (0.512)."""

    SHARE = "share"
    SCORE = "score"

    @property
    def decimals(self) -> int:
        """Figures are published with so many. An audit that answers more finely becomes an oracle about its rows."""
        return 4 if self is Unit.SHARE else 3

    def say(self, value: float | None) -> str:
        """A figure as it is published."""
        if value is None or not isfinite(value):
            return "not known"
        rounded = round(value, self.decimals) + 0.0
        return f"{rounded * 100:.{self.decimals - 2}f} %" if self is Unit.SHARE else f"{rounded:.{self.decimals}f}"


class Interval(Frozen):
    """A 95 % interval."""

    low: float
    high: float


class Finding(Frozen):
    """One answer of the audit.

    ``estimate`` grows with risk or loss (a measure that counts the other way is turned round before it comes here), so
    the unsafe end of the interval is its upper one. Where ``estimate`` is what goes beyond the control, ``observed`` is
    the plain figure before that. ``control`` is the same figure for people or rows that nothing has seen, ``baseline``
    the value that guessing, or no information, would give. ``limit`` None means: reported, not gated. ``estimate`` None
    means that the measure could not be computed, and ``reason`` says why. ``where`` names the part or the column that
    the finding is about; it is empty for whole rows. ``n`` is the number of rows that the precision rests on. Without
    ``interval`` the figure is a plain fact about the given rows.
    """

    measure: str
    name: str
    question: str
    group: Group = Group.PRIVACY
    unit: Unit = Unit.SCORE
    estimate: float | None
    interval: Interval | None = None
    observed: float | None = None
    control: float | None = None
    baseline: float | None = None
    n: int
    limit: float | None = None
    where: str = ""
    reason: str = ""
    source: str = ""

    @property
    def gated(self) -> bool:
        return self.limit is not None

    @property
    def title(self) -> str:
        """Name and place, as one would say them."""
        return f"{self.name}, {self.where}" if self.where else self.name

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The ends that the verdict looks at; None where there is nothing finite to look at."""
        if self.estimate is None or not isfinite(self.estimate):
            return None
        low, high = (self.interval.low, self.interval.high) if self.interval else (self.estimate, self.estimate)
        return (low, high) if isfinite(low) and isfinite(high) else None

    @property
    def verdict(self) -> Verdict | None:
        """None for a finding that is reported only."""
        if self.limit is None:
            return None
        if self.bounds is None:
            return Verdict.INCONCLUSIVE
        low, high = self.bounds
        if high <= self.limit:
            return Verdict.PASS
        return Verdict.FAIL if low > self.limit else Verdict.INCONCLUSIVE

    @property
    def rows_needed(self) -> int | None:
        """About how many rows, instead of ``n``, would decide an inconclusive finding if its estimate stood.

        Intervals shrink with the square root of the rows. None where no number of rows would let it pass.
        """
        if self.verdict is not Verdict.INCONCLUSIVE or self.bounds is None or self.estimate is None:
            return None
        room = (self.limit or 0.0) - self.estimate
        if room <= 0 or not self.n:
            return None
        needed = self.n * ((self.bounds[1] - self.estimate) / room) ** 2
        scale = 10 ** max(0, floor(log10(needed)) - 1)
        return int(ceil(needed / scale) * scale)

    @property
    def remark(self) -> str:
        """``reason``, or what an inconclusive finding lacks."""
        if self.reason or self.verdict is not Verdict.INCONCLUSIVE:
            return self.reason
        if self.bounds is None:
            return "its precision could not be determined"
        if self.rows_needed is None:
            return f"more than the limit, but {self.n:,} rows cannot prove that it is more than chance"
        return f"{self.n:,} rows leave the interval too wide for the limit; about {self.rows_needed:,} would decide it"


def overall(findings: Sequence[Finding]) -> Verdict:
    """The gate: ``pass`` only if at least one finding is gated and every gated one passes. It fails closed."""
    verdicts = [finding.verdict for finding in findings if finding.verdict is not None]
    if Verdict.FAIL in verdicts:
        return Verdict.FAIL
    if not verdicts or Verdict.INCONCLUSIVE in verdicts:
        return Verdict.INCONCLUSIVE
    return Verdict.PASS
