"""The columns that the paper on Disjoint Generative Models (arXiv 2507.19700) reports, beside figures that mean more.

The paper's figures are those of SynthEval. They are computed here by SynthEval's definitions (those of version 1.7.3)
so that releases can be compared with published tables, and for nothing else: several of them do not measure what their
names say. Beside each stands a corrected figure of the same kind. No figure here is ever gated.

NOTE[DIFF]: as in SynthEval, rows with missing cells are left out. Unlike there, tables of more than 5,000 rows are
sampled, all three by the same share, since distances of all pairs of rows are asked for; and principal components do
not need a target. Tables of 2,000 rows and 15 columns take 8 CPU seconds, and larger ones 22.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from models.evidence import Evidence
from models.paper_fidelity import auroc_difference, components, correlation, f1_difference, hellinger
from models.paper_privacy import closest_record, identifiability, membership_attack
from models.paper_tables import Figures, PaperTables
from models.randomness import Seed


@dataclass(frozen=True)
class PaperColumn:
    """One column. ``name`` is SynthEval's; ``paper`` is the figure by its definition, ``corrected`` a better one.

    ``note`` says what is wrong with the one, what the other is and means. A figure is None where these tables do not
    have it. ``direction`` is how the paper reads its own. Neither has an interval. ``rows`` says which rows were looked
    at, where not all were.
    """

    name: str
    paper: float | None
    corrected: float | None
    note: str
    direction: str
    rows: str


def paper_block(evidence: Evidence, seed: Seed) -> tuple[PaperColumn, ...]:
    """All columns, always the same; ``seed`` decides samples and the membership attack."""
    tables = PaperTables.of(evidence, seed)
    return tuple(
        PaperColumn(name, _finite(paper), _finite(corrected), NOTES[name], DIRECTIONS[name], tables.told)
        for figures, names in FIGURES
        for name, (paper, corrected) in zip(names, figures(tables), strict=True)
    )


def _finite(figure: float | None) -> float | None:
    return None if figure is None or not np.isfinite(figure) else figure


FIGURES: tuple[tuple[Callable[[PaperTables], tuple[Figures, ...]], tuple[str, ...]], ...] = (
    (components, ("pca_eigval_diff", "pca_eigvec_ang")),
    (hellinger, ("avg_h_dist",)),
    (correlation, ("corr_mat_diff",)),
    (f1_difference, ("avg_F1_diff_hout",)),
    (auroc_difference, ("auroc",)),
    (identifiability, ("eps_identif_risk", "priv_loss_eps")),
    (membership_attack, ("mia_recall", "mia_precision")),
    (closest_record, ("median_DCR",)),
)
"""What is computed together, by SynthEval's names."""

DIRECTIONS = {
    "pca_eigval_diff": "lower is better",
    "pca_eigvec_ang": "lower is better",
    "avg_h_dist": "lower is better",
    "corr_mat_diff": "lower is better",
    "avg_F1_diff_hout": "0 is best",
    "auroc": "0 is best",
    "eps_identif_risk": "lower is better",
    "priv_loss_eps": "lower is better",
    "mia_recall": "lower is better",
    "mia_precision": "0.5 is best",
    "median_DCR": "higher is better",
}

NOTES = {
    "pca_eigval_diff": (
        "Compares shares of variance, each table in its own units, so scale is not seen. Corrected: variances in units "
        "of the training rows; 0 is the same."
    ),
    "pca_eigvec_ang": (
        "The angle of first axes means little where two axes are about equally long. Corrected: the share of the first "
        "axis's variance that the synthetic first axis misses; 0 is none."
    ),
    "avg_h_dist": (
        "Numbers mostly get a single bin and then count as equal, and levels are binned on each table's own range. "
        "Corrected: twenty classes by the training rows' quantiles, levels matched; 0 is the same."
    ),
    "corr_mat_diff": (
        "Holds Pearson's r and the squares of Cramer's V and eta, which hide weak associations. Corrected: Spearman's "
        "rho, V and eta. Both grow with the number of columns."
    ),
    "avg_F1_diff_hout": (
        "Takes the codes of levels for amounts. Corrected: levels as indicators. Neither has an interval; see the "
        "findings on usefulness."
    ),
    "auroc": (
        "Reads the curve at few points, and is not defined for more than two classes. Corrected: the exact area, each "
        "class against the rest."
    ),
    "eps_identif_risk": (
        "Weighs columns by the entropy of their rounded cells, and is about a half for a perfect release, so that a "
        "low figure may mean unrealistic rows. Corrected: equal weights and as many synthetic as training rows; 0.5 "
        "for a perfect release, more where training rows are copied."
    ),
    "priv_loss_eps": (
        "Divides the count of held-out rows by the number of training rows, so that a smaller held-out table alone "
        "raises it. Corrected: equally many of both, each share of its own rows; 0 where nothing is given away."
    ),
    "mia_recall": (
        "The attack learns to tell synthetic from real rows, so that unrealistic rows look safe. Corrected: the AUC of "
        "its scores, training against held-out rows; 0.5 is a guess."
    ),
    "mia_precision": (
        "Of the same attack; half is a guess, and 0 is that no row was suspected. Corrected: the AUC of an attack by "
        "the distance to the nearest synthetic row; 0.5 is a guess."
    ),
    "median_DCR": (
        "Grows with anything that makes rows unrealistic, and a median sees no copies of fewer than half the rows. "
        "Corrected: over the distance to as many held-out rows; 1 where training rows are no nearer than others, 0 for "
        "copies."
    ),
}
