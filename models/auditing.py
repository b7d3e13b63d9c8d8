"""The audit: every measure asked of the same evidence, one verdict, and one sentence that says why."""

from __future__ import annotations

from collections.abc import Sequence

from models.errors import AuditError, Fault, ParquetryError, nearest
from models.evidence import Evidence
from models.finding import Finding, Group, Verdict, overall
from models.measures import Measure
from models.policy import Policy
from models.randomness import Seed
from models.schema import Frozen
from models.table import digest


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
        if broken := self.having(Verdict.INVALID):
            return f"The audit's own set-up is broken, so its figures mean nothing: {_list(broken)}."
        if self.verdict is Verdict.FAIL:
            return f"{len(failed)} of {len(gated)} gated checks failed: {_list(failed)}."
        if self.verdict is Verdict.INCONCLUSIVE:
            said = f"{len(undecided)} of {len(gated)} gated checks could not be decided"
            return f"No check failed, but {said}: {_list(undecided)}."
        if overridden := self.overridden:
            decided = "; ".join(f"{f.title} ({f.override.by}: {f.override.reason})" for f in overridden if f.override)
            return (
                f"{len(gated) - len(overridden)} of {len(gated)} gated checks passed. The others did not, and were "
                f"overridden by a person's decision: {decided}."
            )
        return (
            f"All {len(gated)} gated checks passed: within their limits, the synthetic rows tell no more about the "
            f"{self.training_rows:,} people they were learned from than about {self.holdout_rows:,} others."
        )

    @property
    def overridden(self) -> tuple[Finding, ...]:
        """Findings that would have kept the rows back, had nobody decided otherwise."""
        return tuple(f for f in self.gated if f.override is not None and f.verdict is not Verdict.PASS)

    @property
    def worth(self) -> str:
        """What models learn from the synthetic rows, in a sentence on the target that loses most; empty if unknown."""
        predictions = [f for f in self.findings if f.group is Group.USEFULNESS and f.name.startswith("Prediction")]
        known = [finding for finding in predictions if finding.estimate is not None]
        if not known:
            return ""
        worst = max(known, key=lambda finding: finding.estimate or 0.0)
        drawn, real = worst.unit.say(worst.observed), worst.unit.say(worst.control)
        return f"Models of {worst.where} score {drawn} when they learn from synthetic rows, {real} when from real ones."


def audit(evidence: Evidence, policy: Policy, seed: Seed, *, training: str, more: Sequence[Finding] = ()) -> Audit:
    """The findings of all measures of ``policy``, and ``more`` that were made elsewhere, judged together.

    ``training`` is the digest (``models.table.digest``) of the rows that the synthesis learned from; AuditError is
    raised when the evidence holds other ones, and for an override of a check that the audit does not have. A measure
    that refuses becomes a finding without estimate, on which the gate stays shut. Any other exception is a fault of
    the program and goes through.
    """
    if digest(evidence.train) != training:
        found = "are not those that the synthesis learned from"
        raise AuditError(Fault("training rows", found, "audit all of them, unchanged"))
    asked = [found for kind in sorted(policy.measures) for found in _asked(kind, policy.measures[kind], evidence, seed)]
    asked += more
    _ensure_known(policy, asked)
    family = max(1, sum(finding.gated for finding in asked))
    findings = [
        finding.model_copy(update={"family": family, "override": policy.override_of(finding.name, finding.where)})
        for finding in asked
    ]
    order = list(Group)
    return Audit(
        findings=tuple(sorted(findings, key=lambda finding: order.index(finding.group))),
        training_rows=len(evidence.train),
        holdout_rows=len(evidence.holdout),
        synthetic_rows=len(evidence.synthetic),
        columns=len(evidence.train.columns),
    )


def _ensure_known(policy: Policy, findings: list[Finding]) -> None:
    gated = {(finding.name, finding.where): finding.title for finding in findings if finding.gated}
    faults = [
        Fault(
            f"audit.overrides: {each.check}, {each.where}".rstrip(", "),
            "no gated check has this name and place",
            nearest(each.check, sorted(set(gated.values()))),
        )
        for each in policy.overrides
        if (each.check, each.where) not in gated
    ]
    if faults:
        raise AuditError(faults)


def _asked(kind: str, measure: Measure, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
    try:
        return measure.measure(evidence, seed.child(f"audit/{kind}"))
    except ParquetryError as error:
        return (
            Finding(
                measure=kind,
                name=kind.capitalize(),
                question=f"The measure '{kind}' could not be computed.",
                group=Group.SETUP,
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
    """The figures that decided: the estimate, or the upper end of the interval where that is what exceeds the limit."""
    if finding.estimate is None:
        return f"{finding.title} ({finding.reason})"
    limit, estimate = finding.unit.say(finding.limit), finding.unit.say(finding.estimate)
    if finding.verdict is Verdict.INCONCLUSIVE and finding.interval is not None:
        return f"{finding.title} ({estimate}, at most {finding.unit.say(finding.interval.high)}; limit {limit})"
    return f"{finding.title} ({estimate}, limit {limit})"
