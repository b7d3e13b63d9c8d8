"""The audit: every measure asked of the same evidence, one verdict, and one sentence that says why."""

from __future__ import annotations

from collections.abc import Mapping

from models.errors import AuditError, Fault, ParquetryError
from models.evidence import Evidence
from models.finding import Finding, Group, Verdict, overall
from models.measures import Measure, catalog
from models.randomness import Seed
from models.schema import Frozen
from models.table import digest

Policy = Mapping[str, Measure]
"""The measures that are asked, with their settings, by kind."""


class Audit(Frozen):
    """What was found. The verdict and its reason follow from the findings alone."""

    findings: tuple[Finding, ...]
    training_rows: int
    holdout_rows: int
    synthetic_rows: int
    columns: int

    @property
    def verdict(self) -> Verdict:
        return overall(self.findings)

    def having(self, verdict: Verdict) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.verdict is verdict)

    @property
    def gated(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.gated)

    @property
    def reason(self) -> str:
        """Why the verdict is what it is, for someone who answers for the data and is no statistician."""
        gated, failed, undecided = self.gated, self.having(Verdict.FAIL), self.having(Verdict.INCONCLUSIVE)
        if not gated:
            return "No check has a limit, so nothing shows that these rows may be published."
        if failed:
            return f"{len(failed)} of {len(gated)} gated checks failed: {_list(failed)}."
        if undecided:
            said = f"{len(undecided)} of {len(gated)} gated checks could not be decided"
            return f"No check failed, but {said}: {_list(undecided)}."
        return (
            f"All {len(gated)} gated checks passed: within their limits, the synthetic rows tell no more about the "
            f"{self.training_rows:,} people they were learned from than about {self.holdout_rows:,} others."
        )

    @property
    def worth(self) -> str:
        """What models learn from the synthetic rows, in a sentence on the target that loses most; empty if unknown."""
        known = [f for f in self.findings if f.group is Group.USEFULNESS and f.estimate is not None]
        if not known:
            return ""
        worst = max(known, key=lambda finding: finding.estimate or 0.0)
        drawn, real = worst.unit.say(worst.observed), worst.unit.say(worst.control)
        return f"Models of {worst.where} score {drawn} when they learn from synthetic rows, {real} when from real ones."


def every_measure() -> dict[str, Measure]:
    """The default policy: each kind of measure with its own limits."""
    return {kind: catalog.build(kind) for kind in catalog.kinds()}


def audit(evidence: Evidence, policy: Policy, seed: Seed, *, training: str) -> Audit:
    """The findings of all measures of ``policy``.

    ``training`` is the digest (``models.table.digest``) of the rows that the synthesis learned from; AuditError is
    raised when the evidence holds other ones. A measure that refuses becomes a finding without estimate, on which the
    gate stays shut. Any other exception is a fault of the program and goes through.
    """
    if digest(evidence.train) != training:
        found = "are not those that the synthesis learned from"
        raise AuditError(Fault("training rows", found, "audit all of them, unchanged"))
    findings = [found for kind in sorted(policy) for found in _asked(kind, policy[kind], evidence, seed)]
    order = list(Group)
    return Audit(
        findings=tuple(sorted(findings, key=lambda finding: order.index(finding.group))),
        training_rows=len(evidence.train),
        holdout_rows=len(evidence.holdout),
        synthetic_rows=len(evidence.synthetic),
        columns=len(evidence.train.columns),
    )


def _asked(kind: str, measure: Measure, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
    try:
        return measure.measure(evidence, seed.child(f"audit/{kind}"))
    except ParquetryError as error:
        return (
            Finding(
                measure=kind,
                name=kind.capitalize(),
                question=f"The measure '{kind}' could not be computed.",
                estimate=None,
                n=len(evidence.holdout),
                limit=0.0,
                reason=str(error),
            ),
        )


def _list(findings: tuple[Finding, ...], most: int = 3) -> str:
    said = [_figures(finding) for finding in findings[:most]]
    rest = len(findings) - len(said)
    return "; ".join(said) + (f"; and {rest} more" if rest else "")


def _figures(finding: Finding) -> str:
    if finding.estimate is None:
        return f"{finding.title} ({finding.reason})"
    return f"{finding.title} ({finding.unit.say(finding.estimate)}, limit {finding.unit.say(finding.limit)})"
