"""How much likelier the rows of disjoint parts are together than by chance: log p(row) - sum over parts of log p_i.

A join that uses each drawn row of a part once needs that ratio only up to terms that depend on one part alone: they are
the same whoever stands beside whom. What is left is modelled as a sum over pairs of parts of f_i(row of i) W f_j(row of
j), a semiparametric odds-ratio model (Chen, Biometrics 63, 2007), with features f of columns of any kind
(``models.basis``).

It is learnt from what a swap would ask: of two real rows and the same two rows with one part exchanged, which pair is
real (``models.exchanges``)? In this pairwise pseudo-likelihood (Liang and Qin, J. R. Stat. Soc. B 62, 2000) every
one-part term cancels, and the loss is convex. A classifier of single rows starts from features that tell nothing one at
a time; here each useful direction is downhill from the start. Where it pays on held-out rows, trees bend the strongest
axis of each score (``models.bends``): that is dependence of higher order.

It reads real rows without noise, so what it helps to make carries no differential-privacy guarantee. It lives as long
as the join and is never written down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from pydantic import Field

from models.basis import Basis, bases
from models.bends import Bends, Exchanges, bends
from models.embedding import Embedded, Sides
from models.exchanges import STEEPEST, Answers, Quality, gained, losses, pairings, quality, wanted
from models.pairing import aligned
from models.randomness import Seed, one_thread
from models.schema import Frozen
from models.table import Booleans, Integers, Table
from models.weights import ROUNDS, Choice, Problem, Weights

LEAST_ROWS = 50
"""With fewer real rows nothing can be learnt and held out."""

TREES, EVERY = 30, 5
"""Trees for a side at most, and from one number that is tried to the next."""


class Ratio(Frozen):
    """How the density ratio is learnt.

    ``rows`` real rows at most are used, drawn at random. Each is judged in one of ``folds`` by weights that were fitted
    without it; the judgement chooses one of ``penalties`` and the slope by which scores are stretched or shrunk. The
    penalty is a group lasso over pairs of columns of different parts (solved by reweighted ridge regressions), so that
    pairs without dependence drop out; how often weights are reweighted is chosen with it, few times where dependence is
    spread over many pairs. A level that fewer than five rows share has no feature, and no feature or leaf singles out a
    row: together with the penalty that keeps real rows from being memorised. The first fold alone looks at all
    penalties, and at trees in vain.
    """

    rows: int = Field(default=20_000, ge=LEAST_ROWS)
    folds: int = Field(default=3, ge=2, le=10)
    penalties: tuple[Annotated[float, Field(gt=0)], ...] = Field(default=(1.0, 3.0, 10.0, 30.0), min_length=1)

    def fit(self, parts: Sequence[Table], seed: Seed) -> Affinity:
        """Learn how the rows of ``parts`` belong together: row i of every part is row i of the real table.

        ``hindrance`` tells beforehand whether that can be tried. In several threads its many small products take
        longer, besides rounding differently.
        """
        with one_thread():
            return self._fitted(self._drawn(parts, seed.child("rows")), seed)

    def _fitted(self, parts: Sequence[Table], seed: Seed) -> Affinity:
        described = bases(parts)
        features = [basis.features(part) for basis, part in zip(described, parts, strict=True)]
        problem = Problem(features, [basis.owner for basis in described])
        known, folds = self._judged(problem, seed)
        everything, stream = np.arange(problem.rows), seed.child("final")
        choice = known.penalty, known.reweighted
        weights = problem.fitted(everything, [known.penalty], known.reweighted, stream)[choice]
        straight = Affinity(tuple(described), problem.factored(weights, known.slope), known)
        if not known.informed:
            return straight
        answers = [basis.answers(part) for basis, part in zip(described, parts, strict=True)]
        better = _bent(problem, answers, known, folds)
        if better is None:
            return straight
        grown = _grown(straight.embed(parts), answers, everything, better.trees, stream.child("trees"))
        return replace(straight, quality=better, bends=grown, stretch=better.slope / known.slope)

    def _drawn(self, parts: Sequence[Table], seed: Seed) -> Sequence[Table]:
        count = aligned(parts)
        if count <= self.rows:
            return parts
        chosen = np.sort(seed.generator().choice(count, self.rows, replace=False))
        return [part.take(chosen) for part in parts]

    def _judged(self, problem: Problem, seed: Seed) -> tuple[Quality, Sequence[_Fold]]:
        """The best of what was tried in all folds, and the weights that it had in each."""
        fold = seed.child("folds").generator().permutation(problem.rows) % self.folds
        answers: dict[Choice, list[Answers]] = {}
        folds: dict[Choice, list[_Fold]] = {}
        penalties: Sequence[float] = self.penalties
        rounds = ROUNDS
        for number in range(self.folds):
            stream = seed.child(f"fold/{number}")
            seen, held_out = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            for choice, weights in problem.fitted(seen, penalties, rounds, stream).items():
                given = Answers.of(problem.embedded(weights), held_out, stream.child("held-out"))
                answers.setdefault(choice, []).append(given)
                folds.setdefault(choice, []).append(_Fold(seen, held_out, weights, stream))
            if number == 0:
                penalties, rounds = _promising(answers)
        found = {
            choice: quality(given, *choice, problem.rows)
            for choice, given in answers.items()
            if len(given) == self.folds
        }
        best = min(found, key=lambda choice: found[choice].log_loss)
        return found[best], folds[best]


@dataclass(frozen=True)
class Affinity:
    """The fitted ratio. ``factors[i, j]`` maps part i's features to its side of the score of parts i and j, which is
    the dot product of both sides, the first axis bent by ``bends``, times ``stretch``.
    """

    bases: tuple[Basis, ...]
    factors: Sides
    quality: Quality
    bends: Bends | None = None
    stretch: float = 1.0

    def embed(self, parts: Sequence[Table]) -> Embedded:
        features = [basis.features(part) for basis, part in zip(self.bases, parts, strict=True)]
        with one_thread():
            sides = {(i, j): features[i] @ factor for (i, j), factor in self.factors.items()}
        straight = Embedded(len(parts), sides)
        if self.bends is None:
            return straight
        answers = [basis.answers(part) for basis, part in zip(self.bases, parts, strict=True)]
        return straight.bent(self.bends.added(answers), self.stretch)


def hindrance(parts: Sequence[Table]) -> str | None:
    """Why no ratio can be learnt from these real parts, or None."""
    count = aligned(parts)
    if len(parts) == 1:
        return "a single part has nothing to be joined with"
    if count < LEAST_ROWS:
        return f"{count} real rows are too few to learn from (it takes {LEAST_ROWS})"
    telling = sum(len(basis.owner) > 0 for basis in bases(parts))
    if telling < 2:
        return f"{telling} of {len(parts)} parts have anything that varies and could be learnt from"
    return None


@dataclass(frozen=True)
class _Fold:
    """Rows that were ``held_out`` of those that ``weights`` have seen."""

    seen: Integers
    held_out: Integers
    weights: Weights
    stream: Seed


def _promising(answers: Mapping[Choice, Sequence[Answers]]) -> tuple[list[float], int]:
    """The two penalties that do best in the first fold, and the rounds that this takes."""
    best: dict[float, tuple[float, int]] = {}
    for (penalty, rounds), given in answers.items():
        best[penalty] = min(best.get(penalty, (np.inf, 0)), (float(np.concatenate(losses(given)).mean()), rounds))
    penalties = sorted(best, key=lambda penalty: best[penalty])[:2]
    return penalties, max(best[penalty][1] for penalty in penalties)


def _bent(problem: Problem, answers: Sequence[Booleans], straight: Quality, folds: Sequence[_Fold]) -> Quality | None:
    """What is known of scores that trees bend, or None unless held-out rows say by two standard errors that these are
    better. The first fold has to say so by one, or no other is asked.
    """
    tried = range(0, TREES + 1, EVERY)
    given: dict[int, list[Answers]] = {trees: [] for trees in tried}
    for fold in folds:
        factors = problem.factored(fold.weights, straight.slope)
        embedded = Embedded(len(answers), {(i, j): problem.features[i] @ factor for (i, j), factor in factors.items()})
        grown = _grown(embedded, answers, fold.seen, TREES, fold.stream.child("trees"))
        for trees in tried:
            bent = embedded.bent(grown.first(trees).added(answers))
            given[trees].append(Answers.of(bent, fold.held_out, fold.stream.child("held-out/bent")))
        best = min(tried, key=lambda trees: np.concatenate(losses(given[trees])).mean())
        gain, error = gained(given[0], given[best])
        if fold is folds[0] and gain <= error:
            return None
    if gain <= 2 * error:
        return None
    found = quality(given[best], straight.penalty, straight.reweighted, problem.rows, best)
    return replace(found, slope=min(found.slope * straight.slope, STEEPEST))


def _grown(embedded: Embedded, answers: Sequence[Booleans], rows: Integers, trees: int, seed: Seed) -> Bends:
    """Trees from ``rows`` for the first axes of the scores of which both sides have one that can be bent."""
    first, second = pairings(rows, wanted(40_000, len(rows), 2, 4), seed)
    axes = {
        (i, j): side[:, 0].astype(np.float64)
        for (i, j), side in embedded.sides.items()
        if side.shape[1] and answers[i].shape[1] and answers[j].shape[1]
    }
    return bends(answers, axes, Exchanges(first, second, embedded.margins(first, second)), trees)
