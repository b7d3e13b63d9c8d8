"""Attacks on people, made in the same way on training and on held-out ones, and the risk that the difference shows."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import numpy as np

from models.estimates import Estimate, share
from models.finding import Finding, Interval
from models.randomness import Seed
from models.table import Floats, Table


@dataclass(frozen=True, eq=False)
class Attack:
    """An attack on some training people and on some held-out ones: for each, the chance in [0, 1] that it succeeds.

    Shapes (people,). Chances are 0 or 1 unless the attacker breaks ties at random.
    """

    train: Floats
    holdout: Floats

    @property
    def risk(self) -> Estimate | None:
        """What the attack reaches on training people beyond strangers, of what strangers leave to reach: R =
        (r - c) / (1 - c) for success rates r and c (Anonymeter, arXiv 2211.10459).

        0 where it reaches training people no oftener than others. R is not cut off there: far below 0, the held-out
        people are no control. None where no held-out people are there or all of them are reached (c = 1).

        The interval puts the ends of the Wilson intervals of r and of c, one at a time, into R, and adds the two
        movements as independent errors (square and add; Newcombe, Stat. Med. 17, 1998). NOTE[DIFF]: Anonymeter takes
        the intervals' middles for the rates, propagates linearly, and cuts at 0 and 1.
        """
        if not len(self.train) or not len(self.holdout):
            return None
        r, c = rate(self.train), rate(self.holdout)
        if c.value >= 1:
            return None
        middle = _beyond(r.value, c.value)
        below = hypot(middle - _beyond(r.interval.low, c.value), middle - _beyond(r.value, c.interval.high))
        above = hypot(_beyond(r.interval.high, c.value) - middle, _beyond(r.value, c.interval.low) - middle)
        return Estimate(middle, Interval(low=middle - below, high=middle + above))

    def told(self, finding: Finding, planted: Attack | None = None) -> Finding:
        """``finding`` with the risk as its estimate and both rates, or why there is none.

        ``planted`` is the same attack with the training rows in the place of the release.
        """
        risk, most = self.risk, planted.risk if planted else None
        reason = "the attack reaches every stranger, which leaves the risk undefined"
        if not len(self.holdout):
            reason = "without held-out people nothing tells how often the attack reaches a stranger"
        return finding.model_copy(
            update={
                "estimate": risk.value if risk else None,
                "interval": risk.interval if risk else None,
                "observed": rate(self.train).value if len(self.train) else None,
                "control": rate(self.holdout).value if len(self.holdout) else None,
                "n": min(len(self.train), len(self.holdout)),
                "planted": most.value if most else None,
                "reason": "" if risk else reason,
            }
        )


def _beyond(reached: float, control: float) -> float:
    return (reached - control) / (1 - control)


def rate(chances: Floats) -> Estimate:
    """The mean of chances in [0, 1], of which there is at least one, with Wilson's interval.

    That is the interval of as many outcomes 0 or 1 with the same mean; chances between them scatter less.
    """
    return share(float(chances.sum()), len(chances))


def sampled(table: Table, most: int, seed: Seed) -> Table:
    """``table``, or so many of its rows, drawn at random, in their order."""
    if len(table) <= most:
        return table
    return table.take(np.sort(seed.generator().choice(len(table), most, replace=False)))
