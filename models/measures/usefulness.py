"""Whether models and regressions that learned from the release hold for real people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field

from models.association import association
from models.evidence import Evidence
from models.finding import Finding, Group, Interval, Unit
from models.learning import LEARNERS, Learner, Task, at_most
from models.measures import Measure
from models.randomness import Seed
from models.regression import Agreement, agreements
from models.schema import Role
from models.table import Booleans, Floats, Integers, Table

LOSS = "How much worse do models predict real people when they learn from synthetic rows instead of real ones?"
SOURCE = "Train on synthetic, test on real (TSTR); scikit-learn's {}. A model learns from {:,} rows of a table at most."
MEAN = "How little do the 95 % intervals of a regression's coefficients overlap with those of real rows, on average?"
WORST = "How little does the interval of the coefficient that is kept worst overlap with the real one (one of {})?"
OFF = "How far are a regression's coefficients from those of real rows, in standard errors, on average?"
AGREEMENT = (
    "Overlap of confidence intervals (Karr et al., American Statistician 60, 2006), with errors for as many rows as "
    "the training rows have (as in synthpop; J. Stat. Softw. 74, 2016)."
)

MOST_ROWS = 50_000
"""A regression is fitted to so many rows of a table at most."""


class Usefulness(Measure):
    """For each target: models and a regression of it, learned from training and from synthetic rows.

    Targets are the columns of role ``target``; where there is none, the ``targets`` columns that the others tell most
    about (largest root mean square association in the training rows).

    *Prediction*: boosted trees, a linear model and a random forest, each learned from training and from synthetic rows,
    both tested on held-out rows, ``tested`` of them at most, drawn at random. Levels are scored by AUROC, each class
    against the rest weighted by its share, numbers by R squared. The estimate is the loss, real minus synthetic;
    ``control`` is the score of real training rows, ``baseline`` the loss of a guess. The interval is a bootstrap over
    these held-out people, the two models as they are; all learners are asked about the same draws. Models learn from at
    most ``rows`` rows of either table: on the Adult table, 2.6 times as many change a loss of up to 0.1 by less than
    0.003, and that of independent columns, 0.4, by 0.04.

    *Coefficients*, for targets of role ``target``: an ordinary least squares (numbers) or logistic (levels: the
    commonest against all others) regression of the target on the other columns, those first that have most to do with
    it, while there are terms left. ``observed`` is the overlap of 95 % intervals, ``estimate`` what it lacks of 1, and
    ``baseline`` what coefficients of 0 would lack. ``control`` is the same for held-out rows, their distance from the
    training rows' coefficients reduced to what chance would leave had they been as many as the synthetic rows. These
    are facts about the given tables. The more training rows there are, the smaller a difference they tell.

    What nobody predicts and no regression asks for may have been lost all the same. By default all is reported without
    gating: a useless release is a waste but no leak.
    """

    kind: Literal["usefulness"] = "usefulness"
    limit: float | None = Field(default=None, ge=0, le=1, description="limit of the loss; null reports without gating")
    coefficients: float | None = Field(default=None, ge=0, le=1, description="limit of the mean overlap lacking")
    targets: int = Field(default=3, ge=1, le=100, description="columns to predict where the schema names no target")
    rounds: int = Field(default=60, ge=1, le=1000, description="trees of each model")
    rows: int = Field(default=10_000, ge=100, le=10_000_000, description="rows of a table that a model learns from")
    tested: int = Field(default=20_000, ge=100, le=10_000_000, description="held-out rows that a model is tested on")
    draws: int = Field(default=200, ge=20, le=10_000, description="bootstrap draws")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        train = evidence.train
        if len(train.columns) < 2:
            return (self._lacking("", evidence, "one column leaves nothing to predict it from"),)
        told = association(train)
        declared = [column.name for column in train.columns if column.role is Role.TARGET]
        strongest = np.argsort(-(told**2).sum(axis=1), kind="stable")[: self.targets]
        found: list[Finding] = []
        for name in declared or [train.names[j] for j in strongest]:
            at = train.names.index(name)
            others = [train.names[j] for j in np.argsort(-told[at], kind="stable") if j != at]
            found += self._predictions(name, others, evidence, seed.child(name))
            if declared:
                found += self._agreement(name, others, evidence, seed.child(name))
        return tuple(found)

    def _predictions(self, name: str, others: list[str], evidence: Evidence, seed: Seed) -> list[Finding]:
        if np.isnan(evidence.train[name]).all() or np.isnan(evidence.holdout[name]).all():
            return [self._lacking(name, evidence, "the target is missing in all training or all held-out rows")]
        task = Task.of(evidence.train, name, others)
        unseen = at_most(task.known(evidence.holdout), self.tested, seed.child("tested"))
        train, drawn = (
            at_most(task.known(table), self.rows, seed.child("rows")) for table in (evidence.train, evidence.synthetic)
        )

        def scored(learner: Learner, learned: Table) -> Score:
            return _score(task, unseen, learner.predict(task, learned, unseen, self.rounds, seed))

        scores = [(scored(learner, train), scored(learner, drawn)) for learner in LEARNERS]
        if scores[0][0](np.ones(len(unseen))) is None:
            return [self._lacking(name, evidence, "all held-out rows have the same value of the target")]
        losses = _bootstrap(scores, len(unseen), self.draws, seed.child("bootstrap"))
        return [
            self._loss(learner, task, [score(np.ones(len(unseen))) or 0.0 for score in both], lost, len(unseen))
            for learner, both, lost in zip(LEARNERS, scores, losses, strict=True)
        ]

    def _loss(self, learner: Learner, task: Task, scores: Sequence[float], losses: Floats, n: int) -> Finding:
        real, drawn = scores
        return Finding(
            measure=self.kind,
            name=f"Prediction, {learner.name}",
            question=LOSS,
            group=Group.USEFULNESS,
            unit=Unit.SCORE,
            estimate=real - drawn,
            interval=_interval(losses, real - drawn),
            observed=drawn,
            control=real,
            baseline=real - (0.0 if task.target.numeric else 0.5),
            n=n,
            limit=self.limit,
            where=task.target.name,
            source=SOURCE.format(learner.tool, self.rows),
        )

    def _lacking(self, target: str, evidence: Evidence, reason: str) -> Finding:
        return Finding(
            measure=self.kind,
            name="Prediction",
            question=LOSS,
            group=Group.USEFULNESS,
            unit=Unit.SCORE,
            estimate=None,
            n=len(evidence.holdout),
            limit=self.limit,
            where=target,
            reason=reason,
        )

    def _agreement(self, name: str, others: list[str], evidence: Evidence, seed: Seed) -> list[Finding]:
        tables = (evidence.train, evidence.synthetic, evidence.holdout)
        train, drawn, unseen = (at_most(table, MOST_ROWS, seed.child("regression")) for table in tables)
        shared: dict[str, Any] = {
            "measure": self.kind,
            "group": Group.USEFULNESS,
            "unit": Unit.SCORE,
            "n": len(train),
            "where": name,
            "source": AGREEMENT,
        }
        limit, found = self.coefficients, agreements(train, drawn, unseen, name, others)
        if found is None:
            reason = "the training rows decide no coefficient"
            return [Finding(name=NAMES[0], question=MEAN, estimate=None, limit=limit, reason=reason, **shared)]
        reached, nothing, usual = found
        return [
            _overlap(NAMES[0], MEAN, [_mean(each) for each in (reached, usual, nothing)], limit=limit, **shared),
            _overlap(
                NAMES[1],
                WORST.format(reached.columns[reached.worst]),
                [_worst(each) for each in (reached, usual, nothing)],
                **shared,
            ),
            Finding(
                name=NAMES[2],
                question=OFF,
                estimate=reached.mean_off,
                control=usual.mean_off if usual else None,
                baseline=nothing.mean_off,
                reason="" if reached.mean_off is not None else "the synthetic rows decide no coefficient",
                **shared,
            ),
        ]


NAMES = ("Coefficients, mean", "Coefficients, worst", "Coefficients, standardised")
"""Of the findings on regressions."""


def _mean(agreement: Agreement | None) -> float | None:
    return None if agreement is None else float(agreement.lacking.mean())


def _worst(agreement: Agreement | None) -> float | None:
    return None if agreement is None else float(agreement.lacking[agreement.worst])


def _overlap(name: str, question: str, lacking: Sequence[float | None], **more: Any) -> Finding:
    """A finding on what overlaps lack: of synthetic rows, of held-out rows, of coefficients of 0."""
    estimate, control, baseline = lacking
    observed = None if estimate is None else 1 - estimate
    return Finding(
        name=name, question=question, estimate=estimate, observed=observed, control=control, baseline=baseline, **more
    )


Score = Callable[[Floats], float | None]
"""How well a model predicts people who count by their weights, shape (people,); None where that is undefined."""


def _score(task: Task, unseen: Table, predicted: Floats) -> Score:
    answers = task.answers(unseen)
    return _r_squared(answers, predicted) if task.target.numeric else _mean_auroc(answers, predicted)


def _r_squared(answers: Floats, predicted: Floats) -> Score:
    errors = (answers - predicted) ** 2

    def score(weights: Floats) -> float | None:
        mean = float(weights @ answers / weights.sum())
        spread = float(weights @ (answers - mean) ** 2)
        return 1 - float(weights @ errors) / spread if spread > 0 else None

    return score


def _mean_auroc(answers: Integers, chances: Floats) -> Score:
    """AUROC of each class against the rest, weighted by the class's share."""
    ranks = [np.unique(scores, return_inverse=True)[1] for scores in chances.T]

    def score(weights: Floats) -> float | None:
        scored = [_auroc(rank, answers == c, weights) for c, rank in enumerate(ranks)]
        known = [each is not None for each in scored]
        shares = np.bincount(answers, weights, minlength=len(known)) * known
        return float(shares @ [each or 0.0 for each in scored] / shares.sum()) if shares.sum() else None

    return score


def _auroc(rank: Integers, positive: Booleans, weights: Floats) -> float | None:
    """The chance that a positive row ranks above a negative one, ties one half; None where one side has no weight."""
    hits, misses = np.bincount(rank, weights * positive), np.bincount(rank, weights * ~positive)
    if not hits.sum() or not misses.sum():
        return None
    return float(hits @ (np.cumsum(misses) - misses / 2) / (hits.sum() * misses.sum()))


def _bootstrap(scores: Sequence[tuple[Score, Score]], people: int, draws: int, seed: Seed) -> Floats:
    """The losses of every pair of models over draws of people: shape (pairs, draws), NaN where undefined."""
    rng, losses = seed.generator(), np.full((len(scores), draws), np.nan)
    for draw in range(draws):
        weights = np.bincount(rng.integers(0, people, people), minlength=people).astype(np.float64)
        for row, (real, drawn) in zip(losses, scores, strict=True):
            with_real, with_drawn = real(weights), drawn(weights)
            if with_real is not None and with_drawn is not None:
                row[draw] = with_real - with_drawn
    return losses


def _interval(losses: Floats, loss: float) -> Interval:
    """95 % of the draws; draws in which all people have the same answer say nothing, and too many of them bar it."""
    known = losses[~np.isnan(losses)]
    if len(known) < 0.9 * len(losses):
        return Interval(low=-np.inf, high=np.inf)
    low, high = np.quantile(known, [0.025, 0.975])
    return Interval(low=min(loss, float(low)), high=max(loss, float(high)))
