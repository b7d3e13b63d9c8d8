"""A finding: one measured quantity with its interval, what the same measure says of real held-out rows, and a verdict."""

from __future__ import annotations

from enum import StrEnum
from math import isfinite

from models.schema import Frozen


class Verdict(StrEnum):
    """Only ``pass`` publishes."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class Interval(Frozen):
    """A 95 % interval."""

    low: float
    high: float


class Finding(Frozen):
    """One answer of the audit.

    ``estimate`` grows with risk or loss (a measure that counts the other way is turned round before it comes here), so
    the unsafe end of the interval is its upper one. ``control`` is the same figure for real held-out rows in the place
    of the synthetic ones, ``baseline`` the value that guessing, or no information, would give. ``limit`` None means:
    reported, not gated. ``estimate`` None means that the measure could not be computed, and ``reason`` says why.
    """

    measure: str
    name: str
    question: str
    estimate: float | None
    interval: Interval | None = None
    baseline: float | None = None
    control: float | None = None
    n: int
    limit: float | None = None
    reason: str = ""
    source: str = ""

    @property
    def gated(self) -> bool:
        return self.limit is not None

    @property
    def verdict(self) -> Verdict | None:
        """None for a finding that is reported only."""
        if self.limit is None:
            return None
        if self.estimate is None or not isfinite(self.estimate):
            return Verdict.INCONCLUSIVE
        low, high = (self.interval.low, self.interval.high) if self.interval else (self.estimate, self.estimate)
        if not (isfinite(low) and isfinite(high)):
            return Verdict.INCONCLUSIVE
        if high <= self.limit:
            return Verdict.PASS
        return Verdict.FAIL if low > self.limit else Verdict.INCONCLUSIVE


def overall(findings: tuple[Finding, ...]) -> Verdict:
    """The gate: ``pass`` only if at least one finding is gated and every gated one passes. It fails closed."""
    verdicts = [finding.verdict for finding in findings if finding.verdict is not None]
    if Verdict.FAIL in verdicts:
        return Verdict.FAIL
    if not verdicts or Verdict.INCONCLUSIVE in verdicts:
        return Verdict.INCONCLUSIVE
    return Verdict.PASS
