"""A finding: one measured quantity with its interval, what chance alone would give, and a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import ceil, floor, isfinite, log10
from statistics import NormalDist

from pydantic import Field

from models.schema import Frozen


class Verdict(StrEnum):
    """Only ``pass`` publishes. ``invalid``: the audit's own set-up is broken, so that its figures mean nothing."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"


class Group(StrEnum):
    """What a finding is about: the audit's own set-up, the three ways to harm a person that the Article 29 Working
    Party names (Opinion 05/2014, WP216), and what the table is good for.
    """

    SETUP = "set-up"
    SINGLING_OUT = "singling-out"
    LINKING = "linking"
    INFERENCE = "inference"
    FIDELITY = "fidelity"
    USEFULNESS = "usefulness"

    @property
    def of_privacy(self) -> bool:
        return self not in (Group.FIDELITY, Group.USEFULNESS)


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


class Override(Frozen):
    """A person's decision to publish although one check failed or stayed open. It goes into the manifest."""

    check: str = Field(min_length=1, description="the check's name, as the report has it")
    where: str = Field(default="", description="the part or the column that it is about, as the report has it")
    by: str = Field(min_length=1, description="who decided")
    reason: str = Field(min_length=10, description="why, in words that may be published")


class Finding(Frozen):
    """One answer of the audit.

    ``estimate`` grows with risk or loss (a measure that counts the other way is turned round before it comes here), so
    the unsafe end of the interval is its upper one. Where ``estimate`` is what goes beyond the control, ``observed`` is
    the plain figure before that. ``control`` is the same figure for people or rows that nothing has seen, ``baseline``
    the value that guessing, or no information, would give. ``limit`` None means: reported, not gated. ``estimate`` None
    means that the measure could not be computed, and ``reason`` says why. ``where`` names the part or the column that
    the finding is about; it is empty for whole rows. ``n`` is the number of rows that the precision rests on. Without
    ``interval`` the figure is a plain fact about the given rows.

    ``planted`` is what ``estimate`` would be had the training rows themselves been released; an attack that stays
    within its limit even then has no power, and nothing can pass it. A ``precondition`` is about the audit's set-up:
    where it is broken, the audit is invalid. ``family`` is the number of gated findings that are judged together (see
    ``verdict``), ``override`` a person's decision to publish all the same.
    """

    measure: str
    name: str
    question: str
    group: Group
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
    planted: float | None = None
    precondition: bool = False
    family: int = Field(default=1, ge=1)
    override: Override | None = None

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
        """None for a finding that is reported only.

        To pass, the upper end of the 95 % interval must lie within the limit. All checks have to pass, so one of them
        that should not has a chance of 2.5 % whatever their number (an intersection-union test; Berger, Technometrics
        24, 1982). To fail, it is enough that one does: the lower end is therefore taken at a level divided by the
        number of checks (Bonferroni), so that a table without leak fails by chance in 2.5 % of the audits at most.
        """
        if self.limit is None:
            return None
        if self.bounds is None or self.estimate is None:
            return Verdict.INCONCLUSIVE
        low, high = self.bounds
        if self.estimate - _widening(self.family) * (self.estimate - low) > self.limit:
            return Verdict.INVALID if self.precondition else Verdict.FAIL
        return Verdict.PASS if high <= self.limit and not self.toothless else Verdict.INCONCLUSIVE

    @property
    def toothless(self) -> bool:
        """Whether the attack would have passed even a release of the training rows themselves."""
        return self.planted is not None and self.limit is not None and self.planted <= self.limit

    @property
    def rows_needed(self) -> int | None:
        """About how many rows, instead of ``n``, would decide an inconclusive finding if its estimate stood.

        Intervals shrink with the square root of the rows. None where no number of rows would let it pass.
        """
        if self.verdict is not Verdict.INCONCLUSIVE or self.bounds is None or self.estimate is None or self.toothless:
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
        if self.toothless:
            return f"on these rows even a copy of the training table would reach {self.unit.say(self.planted)} only"
        if self.rows_needed is None:
            return f"more than the limit, but {self.n:,} rows cannot prove that it is more than chance"
        return f"{self.n:,} rows leave the interval too wide for the limit; about {self.rows_needed:,} would decide it"


def _widening(family: int) -> float:
    """How much wider than a 95 % interval one is whose level is divided by ``family``, where it is normal."""
    return NormalDist().inv_cdf(1 - 0.025 / family) / NormalDist().inv_cdf(0.975)


def overall(findings: Sequence[Finding]) -> Verdict:
    """The gate: ``pass`` only if at least one finding is gated and every gated one passes. It fails closed.

    A finding that someone has overridden does not count, except that nobody can override a broken set-up.
    """
    verdicts = [finding.verdict for finding in findings if finding.verdict is not None]
    blocking = [
        finding.verdict
        for finding in findings
        if finding.gated and (finding.override is None or finding.verdict is Verdict.INVALID)
    ]
    for worst in (Verdict.INVALID, Verdict.FAIL, Verdict.INCONCLUSIVE):
        if worst in blocking:
            return worst
    return Verdict.PASS if verdicts else Verdict.INCONCLUSIVE
