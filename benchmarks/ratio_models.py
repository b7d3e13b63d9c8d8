"""The candidates that ``ratio_candidates.py`` compares: each learns from real rows to score joined ones.

Networks get the features of ``models.basis``, trees the cells themselves. All but ours and the paper's are ``FOLDS``
members, each fitted on the other folds and stopped on one: their scores are averaged, and stretched by the slope that
does best on the folds that they were stopped on, much as ours are. Greedy trees are told real rows from rows drawn with
replacement, part by part: of exact permutations, in which each cell of a part is as often in either class, no first
split has any gain. Networks get fresh permutations in every batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import torch
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, softplus

from models.basis import bases
from models.embedding import Embedded
from models.exchanges import pairings, slope_of, wanted
from models.randomness import Seed
from models.ratio import Ratio
from models.table import Booleans, Floats, Integers, Table

Rows = Sequence[Integers]
"""Joined rows: row ``rows[j][k]`` of part j stands in place k."""

Score = Callable[[Rows, int], Any]
"""The scores of joined rows, shape (rows,); of exchanging the part of that number they tell what it changes."""

Scorer = Callable[[Sequence[Table]], Score]
Candidate = Callable[[Sequence[Table], Seed], Scorer]
Member = Callable[[Sequence[Table], Integers, Integers, Seed], Scorer]
"""Fitted on the rows that are named first and stopped on the others."""

FOLDS, TIMES, BRIDGES = 3, 4, 3
WIDTH, AXES, BATCH, EPOCHS, PATIENCE, RATE, DECAY, DROPOUT = 64, 16, 256, 150, 15, 2e-3, 0.05, 0.2


def margins(score: Score, first: Integers, second: Integers, parts: int) -> Any:
    """The scores of rows ``first`` and ``second`` less those of the same with one part exchanged, part after part.

    Of two parts it does not matter which one is.
    """
    found = []
    for part in range(parts if parts > 2 else 1):
        one, other = ([b if j == part else a for j in range(parts)] for a, b in ((first, second), (second, first)))
        real = score([first] * parts, part) + score([second] * parts, part)
        found.append(real - score(one, part) - score(other, part))
    return torch.hstack(found) if isinstance(found[0], Tensor) else np.hstack(found)


def pairs(rows: Integers, seed: Seed) -> tuple[Integers, Integers]:
    return pairings(rows, wanted(5_000, len(rows), 4, 20), seed)


def constant(parts: Sequence[Table], seed: Seed) -> Scorer:
    return lambda others: lambda rows, part: np.zeros(len(rows[0]))


def ours(parts: Sequence[Table], seed: Seed, trees: bool = True) -> Scorer:
    """As the join ``swap`` takes it: nothing where held-out rows do not show that something was learnt."""
    learnt = Ratio().fit(parts, seed)
    if not learnt.quality.informed:
        return constant(parts, seed)
    affinity = learnt if trees else replace(learnt, bends=None)

    def scorer(others: Sequence[Table]) -> Score:
        embedded = affinity.embed(others)
        return lambda rows, part: embedded.scores(rows)

    return scorer


def crossfitted(member: Member) -> Candidate:
    """The mean of members that were each stopped on another fold, calibrated on these folds."""

    def fit(parts: Sequence[Table], seed: Seed) -> Scorer:
        fold = seed.child("folds").generator().permutation(len(parts[0])) % FOLDS
        members, answers = [], []
        for number in range(FOLDS):
            seen, held, stream = np.flatnonzero(fold != number), np.flatnonzero(fold == number), seed.child(f"{number}")
            members.append(member(parts, seen, held, stream))
            answers.append(margins(members[-1](parts), *pairs(held, stream.child("pairs")), len(parts)))
        slope = slope_of(np.concatenate(answers))

        def scorer(others: Sequence[Table]) -> Score:
            scores = [each(others) for each in members]
            return lambda rows, part: slope * np.mean([score(rows, part) for score in scores], axis=0)

        return scorer

    return fit


def cells(parts: Sequence[Table], rows: Rows) -> Floats:
    return np.hstack([part.values[each] for part, each in zip(parts, rows, strict=True)])


def by_cells(decide: Callable[[Floats], Floats]) -> Scorer:
    return lambda parts: lambda rows, part: decide(cells(parts, rows))


def ends(parts: Sequence[Table]) -> Integers:
    """The column at which each part begins, and their number."""
    return np.cumsum([0, *(len(part.columns) for part in parts)])


def waymark(parts: Sequence[Table], rows: Integers, strange: Booleans, seed: Seed) -> Floats:
    """``TIMES`` times the cells of ``rows``, those of ``strange`` columns from other rows, one for each part."""
    random, count = seed.generator(), TIMES * len(rows)
    return np.where(
        strange,
        cells(parts, [random.choice(rows, count) for _ in parts]),
        cells(parts, [np.tile(rows, TIMES)] * len(parts)),
    )


def between(
    parts: Sequence[Table], rows: Integers, near: Booleans, far: Booleans, seed: Seed
) -> tuple[Floats, Booleans]:
    """Examples of two waymarks, told apart."""
    one, other = (waymark(parts, rows, mark, seed.child(name)) for name, mark in (("near", near), ("far", far)))
    return np.vstack([one, other]), np.arange(2 * len(one)) < len(one)


def all_and_none(parts: Sequence[Table]) -> tuple[Booleans, Booleans]:
    none = np.zeros(ends(parts)[-1], dtype=bool)
    return none, ~none


def told_apart(
    parts: Sequence[Table], seen: Integers, held: Integers, near: Booleans, far: Booleans, seed: Seed
) -> Callable[[Floats], Floats]:
    """Boosting between two waymarks, with as many trees as do best on ``held``."""
    cells_seen, real = between(parts, seen, near, far, seed.child("seen"))
    cells_held, real_held = between(parts, held, near, far, seed.child("held"))
    model = HistGradientBoostingClassifier(
        learning_rate=0.08, max_iter=300, max_bins=63, max_leaf_nodes=12, min_samples_leaf=10 * TIMES,
        max_features=0.5, l2_regularization=10.0, early_stopping=True, n_iter_no_change=20, random_state=seed.integer(),
    ).fit(cells_seen, real, X_val=cells_held, y_val=real_held)  # fmt: skip
    best = int(np.argmax(model.validation_score_))
    if best == 0:
        return lambda asked: np.zeros(len(asked))
    return model.set_params(max_iter=best, early_stopping=False).fit(cells_seen, real).decision_function


def boosted(parts: Sequence[Table], seen: Integers, held: Integers, seed: Seed) -> Scorer:
    """Real against permuted rows."""
    return by_cells(told_apart(parts, seen, held, *all_and_none(parts), seed))


def boosted_by_part(parts: Sequence[Table], seen: Integers, held: Integers, seed: Seed) -> Scorer:
    """For each part a model of real rows against rows in which that part alone is another's.

    With all these rows as one class the terms of single parts would not cancel in a swap; apart, they do.
    """
    none, _ = all_and_none(parts)
    places, starts = np.arange(len(none)), ends(parts)
    models = [
        told_apart(parts, seen, held, none, (low <= places) & (places < high), seed.child(f"part/{low}"))
        for low, high in pairwise(starts)
    ]
    return lambda others: lambda rows, part: models[part](cells(others, rows))


def bridged(parts: Sequence[Table], seen: Integers, held: Integers, seed: Seed) -> Scorer:
    """Telescoping (Rhodes, Xu and Gutmann, NeurIPS 2020): the sum of log ratios of neighbouring waymarks.

    From one waymark to the next the columns of a further block come from another row; each part but the first has its
    own other row, so that the last waymark has independent parts.
    """
    none, _ = all_and_none(parts)
    moving = np.arange(ends(parts)[1], len(none))
    marks = [none] + [
        np.isin(np.arange(len(none)), moving[: round(len(moving) * k / BRIDGES)]) for k in range(1, BRIDGES + 1)
    ]
    steps = [
        told_apart(parts, seen, held, near, far, seed.child(f"bridge/{number}"))
        for number, (near, far) in enumerate(pairwise(marks))
        if not np.array_equal(near, far)
    ]
    return by_cells(lambda asked: np.sum([step(asked) for step in steps], axis=0))


def log_odds(chances: Floats) -> Floats:
    sure = np.clip(chances[:, 1], 1e-3, 1 - 1e-3)
    return np.log(sure / (1 - sure))


def extra_trees(parts: Sequence[Table], seen: Integers, held: Integers, seed: Seed) -> Scorer:
    """Splits at random see what greedy ones do not."""
    model = ExtraTreesClassifier(
        150, min_samples_leaf=4 * TIMES, max_features=None, bootstrap=True, random_state=seed.integer()
    ).fit(*between(parts, seen, *all_and_none(parts), seed))
    return by_cells(lambda asked: log_odds(model.predict_proba(asked)))


def papers_forest(parts: Sequence[Table], seed: Seed) -> Scorer:
    """The default of Disjoint Generative Models (arXiv 2507.19700): twice as many bootstrapped rows of each kind."""
    random, count = seed.generator(), len(parts[0])
    real, *strange = (random.choice(count, 2 * count) for _ in range(len(parts) + 1))
    examples = np.vstack([cells(parts, [real] * len(parts)), cells(parts, strange)])
    model = RandomForestClassifier(100, max_depth=5, random_state=seed.integer())
    model.fit(examples, np.arange(len(examples)) < 2 * count)
    return by_cells(lambda asked: log_odds(model.predict_proba(asked)))


def stopped(
    net: nn.Module, loss: Callable[[Integers, np.random.Generator], Tensor], seen: Integers, held: Integers, seed: Seed
) -> None:
    """Trains ``net`` on rows ``seen`` and leaves it as it was when it did best on ``held``."""
    steps = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    random, best, kept, since = seed.generator(), np.inf, net.state_dict(), 0
    for _ in range(EPOCHS):
        net.train()
        for batch in np.array_split(random.permutation(seen), ceil(len(seen) / BATCH)):
            steps.zero_grad()
            loss(batch, random).backward()
            steps.step()
        net.eval()
        with torch.no_grad():
            told = float(loss(held, seed.child("held").generator()))
        since += 1
        if told < best:
            best, kept, since = told, {name: value.clone() for name, value in net.state_dict().items()}, 0
        if since == PATIENCE:
            break
    net.load_state_dict(kept)


def layers(inputs: int, outputs: int, hidden: int = 1) -> nn.Sequential:
    sizes = [inputs, *[WIDTH] * hidden]
    body = [layer for size in pairwise(sizes) for layer in (nn.Linear(*size), nn.ReLU(), nn.Dropout(DROPOUT))]
    return nn.Sequential(*body, nn.Linear(sizes[-1], outputs))


def network(swaps: bool) -> Member:
    """Two hidden layers over all features, told real from permuted rows, or (``swaps``) asked what a swap asks."""

    def fit(parts: Sequence[Table], seen: Integers, held: Integers, seed: Seed) -> Scorer:
        described = bases(parts)
        torch.manual_seed(seed.integer())
        net = layers(sum(len(basis.owner) for basis in described), 1, hidden=2)

        def scorer(others: Sequence[Table]) -> Score:
            blocks = [torch.from_numpy(basis.features(part)) for basis, part in zip(described, others, strict=True)]
            return lambda rows, part: net(torch.hstack([b[r] for b, r in zip(blocks, rows, strict=True)]))[:, 0]

        score = scorer(parts)

        def loss(rows: Integers, random: np.random.Generator) -> Tensor:
            if swaps:
                return softplus(-margins(score, rows, random.permutation(rows), len(parts))).mean()
            strange = [random.permutation(rows) for _ in parts]
            return softplus(-score([rows] * len(parts), 0)).mean() + softplus(score(strange, 0)).mean()

        stopped(net, loss, seen, np.tile(held, TIMES), seed)
        return lambda others: untracked(scorer(others))

    return fit


def untracked(score: Score) -> Score:
    def told(rows: Rows, part: int) -> Floats:
        with torch.no_grad():
            return score(rows, part).double().numpy()

    return told


def encoders(parts: Sequence[Table], seen: Integers, held: Integers, seed: Seed) -> Scorer:
    """An encoder for each part, by InfoNCE (van den Oord, Li and Vinyals, arXiv 1807.03748): which of a batch's rows of
    a part belongs to these rows of the others, and which of the others' to this one? A score is a sum of dot products.
    """
    described, count = bases(parts), len(parts)
    torch.manual_seed(seed.integer())
    net = nn.ModuleList([layers(len(basis.owner), count * AXES) for basis in described])

    def sides(blocks: Sequence[Tensor]) -> Mapping[tuple[int, int], Tensor]:
        told = [encoder(block).reshape(len(block), count, AXES) for encoder, block in zip(net, blocks, strict=True)]
        return {(i, j): told[i][:, j] for i in range(count) for j in range(count) if i != j}

    def features(others: Sequence[Table]) -> list[Tensor]:
        return [torch.from_numpy(basis.features(part)) for basis, part in zip(described, others, strict=True)]

    known = features(parts)

    def loss(rows: Integers, random: np.random.Generator) -> Tensor:
        told, places = sides([block[rows] for block in known]), torch.arange(len(rows))
        total = torch.zeros(())
        for i in range(count):
            rest = [j for j in range(count) if j != i]
            scores = torch.hstack([told[i, j] for j in rest]) @ torch.hstack([told[j, i] for j in rest]).T
            total = total + cross_entropy(scores, places) + cross_entropy(scores.T, places)
        return total

    stopped(net, loss, seen, held, seed)

    def scorer(others: Sequence[Table]) -> Score:
        with torch.no_grad():
            embedded = Embedded(count, {pair: side.numpy() for pair, side in sides(features(others)).items()})
        return lambda rows, part: embedded.scores(rows)

    return scorer


CANDIDATES: Mapping[str, Candidate] = {
    "constant": constant,
    "ours": ours,
    "ours, no trees": lambda parts, seed: ours(parts, seed, trees=False),
    "boosting": crossfitted(boosted),
    "boosting by part": crossfitted(boosted_by_part),
    "boosting, bridged": crossfitted(bridged),
    "extra trees": crossfitted(extra_trees),
    "paper's forest": papers_forest,
    "network": crossfitted(network(swaps=False)),
    "network on swaps": crossfitted(network(swaps=True)),
    "encoders (InfoNCE)": crossfitted(encoders),
}
