"""Anonymeter's three evaluators with a control table; each figure is the lower end of a risk's 95 % interval.

Singling out by one column and by four, 500 attacks each; linking the two halves of the columns through the nearest
neighbour, and inference of the secret column from what an attacker knows, an attack on every training row (1,000 at
most).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
from tables import Tables, answer

ATTACKS, MOST = 500, 1000


def figures(tables: Tables) -> Mapping[str, float]:
    real = {"ori": tables.train, "syn": tables.synthetic, "control": tables.holdout}
    attacks = min(MOST, len(tables.train), len(tables.holdout))
    one = SinglingOutEvaluator(**real, n_attacks=ATTACKS, seed=0).evaluate(mode="univariate")
    four = SinglingOutEvaluator(**real, n_attacks=ATTACKS, n_cols=4, seed=0).evaluate(mode="multivariate")
    linked = LinkabilityEvaluator(**real, aux_cols=tables.parts, n_attacks=attacks, n_neighbors=1).evaluate(n_jobs=1)
    guessed = InferenceEvaluator(**real, aux_cols=tables.known, secret=tables.secret, n_attacks=attacks)
    return {
        "singling out, one column": one.risk().ci[0],
        "singling out, four columns": four.risk().ci[0],
        "linkability": linked.risk().ci[0],
        "inference": guessed.evaluate(n_jobs=1).risk().ci[0],
    }


def compile_distances(tables: Tables) -> None:
    """Has numba compile what the two evaluators need, so that the clock does not count it."""
    few = {"ori": tables.train[:50], "syn": tables.synthetic[:50], "n_attacks": 5}
    LinkabilityEvaluator(**few, aux_cols=tables.parts, n_neighbors=1).evaluate(n_jobs=1)
    InferenceEvaluator(**few, aux_cols=tables.known, secret=tables.secret).evaluate(n_jobs=1)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    compile_distances(Tables.at(Path(sys.argv[1])))
    answer("anonymeter", figures)
