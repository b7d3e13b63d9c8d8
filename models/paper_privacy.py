"""How near synthetic rows come to training rows, by SynthEval's definitions and corrected (see ``models.paper``).

Every public function answers with both; None is a figure that these tables do not have.
"""

from __future__ import annotations

import numpy as np

from models.estimates import auc
from models.paper_tables import Figures, PaperTables
from models.randomness import Seed
from models.table import Booleans, Floats, Integers

REPEATS = 5
"""Repetitions of the membership attack, as in the paper."""

BLOCK = 512
"""So many rows ask for their nearest neighbours at once."""

ROUNDING = 1e-12
"""Distances that differ by less are equal in a corrected figure."""


def identifiability(tables: PaperTables) -> tuple[Figures, Figures]:
    """The share of training rows that are nearer to a synthetic row than to any other training row; and what it has
    beyond the number of such held-out rows, divided by the training rows, too.

    Corrected: columns of equal weight, ties one half; as many synthetic as training rows, 0.5 being what a perfect
    sampler has; and for the second as many training as held-out rows, 0 where training rows are as any others.
    """
    train, holdout, drawn = tables.train, tables.holdout, tables.synthetic
    if tables.empty or len(train) < 2:
        return (None, None), (None, None)
    weights = _weights(train)
    known = float(_nearer(tables, train, weights).mean())
    size = min(len(train), len(drawn))
    fair = _fair_share(tables, tables.some(train, size, "equal/train"), tables.some(drawn, size, "equal/synthetic"))
    if len(holdout) < 2:
        return (known, fair), (None, None)
    unseen = float(_nearer(tables, holdout, weights).sum()) / len(train)
    size = min(len(train), len(holdout))
    real, others = tables.some(train, size, "loss/train"), tables.some(holdout, size, "loss/holdout")
    return (known, fair), (known - unseen, _fair_share(tables, real, drawn) - _fair_share(tables, others, drawn))


def closest_record(tables: PaperTables) -> tuple[Figures]:
    """The median distance of synthetic rows to training rows over that of training rows to one another.

    Corrected: over that of synthetic rows to as many held-out rows; 1 where training rows are as near as any others.
    """
    train, holdout, drawn = tables.train, tables.holdout, tables.synthetic
    if tables.empty or len(train) < 2:
        return ((None, None),)
    own = float(np.median(nearest(train, train, tables.levels, others=True)))
    found = float(np.median(nearest(drawn, train, tables.levels, others=np.array_equal(drawn, train))))
    paper = found / own if own > 0 else float(found == 0)
    size = min(len(train), len(holdout))
    if not size:
        return ((paper, None),)
    real, others = tables.some(train, size, "dcr/train"), tables.some(holdout, size, "dcr/holdout")
    known, unseen = (float(np.median(nearest(drawn, table, tables.levels))) for table in (real, others))
    if unseen == 0:
        return ((paper, 1.0 if known == 0 else None),)
    return ((paper, known / unseen),)


def membership_attack(tables: PaperTables) -> tuple[Figures, Figures]:
    """Recall and precision of a classifier that was told synthetic from held-out rows, when it is asked to tell
    training from other held-out rows, at a chance of one half; the mean of five repetitions.

    Corrected: the AUC of its scores, and the AUC of an attack that looks for members, by the distance to the nearest
    synthetic row. Both have 0.5 where it is a guess.

    NOTE[DIFF]: gradient-boosted trees of scikit-learn instead of LightGBM's, with the same number of trees, leaves and
    rows in a leaf. SynthEval draws without a seed, so its own figures differ from one run to the next.
    """
    if tables.empty or len(tables.holdout) < 4:
        return (None, None), (None, None)
    runs = np.array([_attack(tables, tables.seed.child(f"attack/{k}")) for k in range(REPEATS)])
    recall, precision, told = runs.mean(axis=0).tolist()
    known, unseen = (nearest(rows, tables.synthetic, tables.levels) for rows in (tables.train, tables.holdout))
    return (recall, told), (precision, auc(-known, -unseen).value)


def _attack(tables: PaperTables, seed: Seed) -> tuple[float, float, float]:
    """Recall, precision and AUC of one repetition."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = seed.generator()
    order = rng.permutation(len(tables.holdout))
    apart = -(-len(order) // 4)
    shown, asked = tables.holdout[order[apart:]], tables.holdout[order[:apart]]
    drawn = tables.synthetic[rng.choice(len(tables.synthetic), len(shown), replace=len(tables.synthetic) < len(shown))]
    size = min(len(asked), len(tables.train))
    members = tables.train[rng.choice(len(tables.train), size, replace=False)]
    strangers = asked[rng.choice(len(asked), size, replace=False)]
    learned = tables.indicators(np.vstack([drawn, shown]))
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=seed.integer())
    model.fit(learned, np.repeat([1, 0], [len(drawn), len(shown)]))
    known, unseen = (model.predict_proba(tables.indicators(rows))[:, 1] for rows in (members, strangers))
    hits, alarms = float((known > 0.5).sum()), float((unseen > 0.5).sum())
    return hits / size, hits / (hits + alarms) if hits else 0.0, auc(known, unseen).value


def _weights(train: Floats) -> Floats:
    """SynthEval's: 1 over the entropy of a column, whose cells, numbers within [0, 1] too, are rounded beforehand."""
    weights = []
    for cells in train.T:
        counts: Integers = np.unique(np.round(cells), return_counts=True)[1]
        shares = counts / counts.sum()
        weights.append(1 / (float(-(shares @ np.log(shares))) + 1e-16))
    return np.array(weights)


def _nearer(tables: PaperTables, rows: Floats, weights: Floats) -> Booleans:
    """Which rows are nearer to a synthetic row than to another one of themselves.

    SynthEval takes two equal tables in the same order for one, and then looks past a row's own copy.
    """
    own = nearest(rows, rows, tables.levels, weights, others=True)
    same = np.array_equal(rows, tables.synthetic)
    return np.asarray(nearest(rows, tables.synthetic, tables.levels, weights, others=same) < own)


def _fair_share(tables: PaperTables, rows: Floats, drawn: Floats) -> float:
    """The share of rows nearer to a synthetic row than to another one of themselves, ties one half."""
    nearer = nearest(rows, rows, tables.levels, others=True) - nearest(rows, drawn, tables.levels)
    return float((nearer > ROUNDING).mean() + (np.abs(nearer) <= ROUNDING).mean() / 2)


def nearest(
    rows: Floats, reference: Floats, levels: Booleans, weights: Floats | None = None, *, others: bool = False
) -> Floats:
    """SynthEval's Gower distance of every row to the nearest one of ``reference``: shape (rows,), in O(rows) memory.

    With ``others`` both tables are one, and no row is near to itself. The weights of levelled columns are divided by
    their mean, as SynthEval does in passing; and like there a number's difference is divided by its range where that
    exceeds 1, which is by a rounding error at most, and yet decides ties.
    """
    from scipy.spatial.distance import cdist

    weights = np.ones(rows.shape[1]) if weights is None else weights
    spans = np.maximum(np.maximum(rows.max(0), reference.max(0)) - np.minimum(rows.min(0), reference.min(0)), 1.0)
    scale = (weights / spans)[~levels]
    found = np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        distance = np.zeros((len(block), len(reference)))
        if not levels.all():
            distance += cdist(block[:, ~levels], reference[:, ~levels], "minkowski", p=1, w=scale)
        if levels.any():
            distance += cdist(block[:, levels], reference[:, levels], "hamming", w=weights[levels]) * levels.sum()
        distance /= weights.sum()
        if others:
            distance[np.arange(len(block)), np.arange(start, start + len(block))] += 1
        found[start : start + BLOCK] = distance.min(axis=1)
    return found
