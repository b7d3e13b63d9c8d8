"""Whether the release repeats numbers that only one person has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from models.estimates import Z
from models.evidence import Evidence
from models.finding import Finding, Group, Interval, Unit
from models.measures import Measure
from models.randomness import Seed
from models.schema import Column
from models.table import Booleans, Integers

VALUES, ENDS = "Unique values", "Extremes"
QUESTIONS = {
    VALUES: "How many of a column's released numbers are the number of one training person alone, beyond chance?",
    ENDS: "How many columns begin or end, in the release, with the number that one training person alone has there?",
}
SOURCE = (
    "Project policy: no official body gives a figure for repeated values in synthetic tables. A value counts where one "
    "real person has it, as uniques do in statistical disclosure control."
)
UNSEEN = "without held-out rows nothing tells a repeated value from a chance match"


class UniqueValues(Measure):
    """Numbers that one real person has, column by column, on the column's steps.

    Rows whose columns were shuffled apart resemble nobody, and repeat every number all the same: who knows that one
    person had it knows that this person is in the table.

    *Unique values*: the numbers of a column that are released and are those of one training person and of no other
    real person, by the numbers released. Each counts once, however often it is released: a number that many rows have
    is one of a small range, and no copy. Control: the same for held-out people, times the ratio of the two groups'
    sizes. Without a leak, it is a matter of the split whose number such a number is, which gives the spread of the
    difference. Of all columns the one counts that fails by most, or else comes closest to it. The
    lower end of the interval, which decides on failing, is taken at a level divided by the number of columns
    (Bonferroni), as the worst of many exceeds its limit more easily. ``tolerance`` standard deviations of one match are
    added to the limit, as for copies.

    *Extremes*: the share of columns' ends (least and greatest number) that are the same in the release as in the
    training rows, and one training person's. Control: the same for the held-out rows. It is reported only.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "trusted-partner": {"limit": 0.05},
        "internal": {"limit": 0.10},
    }

    kind: Literal["unique_values"] = "unique_values"
    limit: float | None = Field(default=0.01, ge=0, le=1, description="limit of such values; null reports only")
    tolerance: float = Field(default=0.15, ge=0, le=1, description="standard deviations of a match, added to the limit")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        columns = [_Numbers.of(evidence, column) for column in evidence.train.columns if column.numeric]
        if not columns:
            return tuple(self._finding(name, evidence, reason="no column has numbers") for name in QUESTIONS)
        known, unseen = (sum(c.ends(real) for c in columns) / (2 * len(columns)) for real in ("train", "holdout"))
        ends = self._finding(ENDS, evidence, estimate=known, control=unseen if len(evidence.holdout) else None)
        if not len(evidence.holdout):
            return self._finding(VALUES, evidence, limit=self.limit, reason=UNSEEN), ends
        return self._worst(evidence, columns), ends

    def _worst(self, evidence: Evidence, columns: Sequence[_Numbers]) -> Finding:
        judged = [column for column in columns if column.alone.any()] or columns[:1]
        widened = NormalDist().inv_cdf(1 - 0.025 / len(judged))
        return max((self._of_column(evidence, column, widened) for column in judged), key=_badness)

    def _of_column(self, evidence: Evidence, column: _Numbers, widened: float) -> Finding:
        ratio = len(evidence.train) / len(evidence.holdout)
        observed, control = column.share(column.train), column.share(column.holdout) * ratio
        beyond, deviation = observed - control, column.clustered * sqrt(ratio)
        spread = sqrt(control * max(0.0, 1.0 - control))
        limit = None if self.limit is None else self.limit + self.tolerance * spread
        copied = column.copied
        return self._finding(
            VALUES,
            evidence,
            estimate=beyond,
            interval=Interval(low=beyond - widened * deviation, high=min(observed, beyond + Z * deviation)),
            observed=observed,
            control=control,
            limit=limit,
            planted=copied if limit is not None and limit < max(copied, observed) else None,
            where=column.name,
        )

    def _finding(self, name: str, evidence: Evidence, **more: Any) -> Finding:
        return Finding(
            measure=self.kind,
            name=name,
            question=QUESTIONS[name],
            group=Group.SINGLING_OUT,
            n=len(evidence.holdout),
            source=SOURCE,
            **{"unit": Unit.SHARE, "estimate": None, **more},
        )


def _badness(finding: Finding) -> tuple[float, float]:
    """By how much the finding fails, and how far its interval reaches beyond its limit."""
    low, high = finding.bounds or (0.0, 0.0)
    return max(0.0, low - (finding.limit or 0.0)), high - (finding.limit or 0.0)


@dataclass(frozen=True, eq=False)
class _Numbers:
    """One column: how many training people, held-out people and synthetic rows have each number, in ascending order."""

    name: str
    train: Integers
    holdout: Integers
    synthetic: Integers

    @classmethod
    def of(cls, evidence: Evidence, column: Column) -> _Numbers:
        tables = (evidence.train, evidence.holdout, evidence.synthetic)
        cells = [table[column.name] for table in tables]
        present = [own[~np.isnan(own)] for own in cells]
        together = np.concatenate(present)
        known, place = np.unique(np.rint(together / column.step) if column.step else together, return_inverse=True)
        own = np.split(place, np.cumsum([len(each) for each in present])[:-1])
        return cls(column.name, *(np.bincount(each, minlength=len(known)) for each in own))

    @property
    def alone(self) -> Booleans:
        """Which numbers one real person has."""
        return np.asarray(self.train + self.holdout == 1)

    def share(self, real: Integers) -> float:
        """Released numbers that a person of ``real`` has alone, by the numbers released."""
        return np.count_nonzero(self.synthetic[self.alone & (real == 1)]) / max(1, int(self.synthetic.sum()))

    @property
    def copied(self) -> float:
        """The share of training people who have their number alone."""
        return float(self.train[self.alone].sum()) / max(1, int(self.train.sum()))

    @property
    def clustered(self) -> float:
        """The standard deviation of the share of one of two groups of equal size, were it a matter of the split."""
        return sqrt(np.count_nonzero(self.synthetic[self.alone])) / max(1, int(self.synthetic.sum()))

    def ends(self, whose: Literal["train", "holdout"]) -> int:
        """How many of the two ends are one person's and the release's."""
        real = self.train if whose == "train" else self.holdout
        theirs, drawn = np.flatnonzero(real), np.flatnonzero(self.synthetic)
        if not len(theirs) or not len(drawn):
            return 0
        return sum(int(theirs[end] == drawn[end] and real[theirs[end]] == 1) for end in (0, -1))
