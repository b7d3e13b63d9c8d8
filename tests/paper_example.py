"""A small frozen example of people who do not exist, and what SynthEval said of it.

``tests/frozen/syntheval`` holds the three tables. ``REFERENCE`` was measured once with syntheval 1.7.3 (pcametric
1.2.0, scikit-learn 1.9.1, numpy 2.4.6, Python 3.11) by

    SynthEval(train, holdout_dataframe=holdout, missing_directive="drop").evaluate(
        synthetic, "ill", pca={}, h_dist={}, corr_diff={"mixed_corr": True}, auroc_diff={"model": "rf_cls"},
        cls_acc={"F1_type": "macro"}, eps_risk={}, dcr={},
    )
"""

import csv
from pathlib import Path

import numpy as np

from models.evidence import Evidence
from models.partition import Part, Partition
from models.schema import Column
from models.table import Table

FOLDER = Path(__file__).parent / "frozen" / "syntheval"
COLUMNS = (
    Column(name="age", kind="integer", dtype="int64", bounds=(18, 90)),
    Column(name="visits", kind="integer", dtype="int64", bounds=(0, 6)),
    Column(name="region", kind="categorical", dtype="string", levels=("north", "east", "south", "west")),
    Column(name="income", kind="continuous", dtype="double", bounds=(-50, 150), decimals=1, nullable=True),
    Column(name="spend", kind="continuous", dtype="double", bounds=(0, 100), decimals=1),
    Column(name="smoker", kind="categorical", dtype="string", levels=("no", "yes", "former")),
    Column(name="ill", kind="categorical", dtype="string", role="target", levels=("yes", "no")),
)
PARTITION = Partition(parts=(Part(name="all", columns=tuple(column.name for column in COLUMNS)),), reason="one part")

REFERENCE = {
    "pca_eigval_diff": 0.15074825300697436,
    "pca_eigvec_ang": 0.1664620937016775,
    "avg_h_dist": 0.030467073003550203,
    "corr_mat_diff": 0.7089279161950472,
    "eps_identif_risk": 0.625,
    "priv_loss_eps": 0.2840909090909091,
    "median_DCR": 0.7602174290947143,
}
OF_LEARNERS = {"avg_F1_diff_hout": 0.019876072008451068, "auroc": -0.07369614512471645}
"""Figures that depend on scikit-learn's version, too."""


def table(name):
    with (FOLDER / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    return Table.of(
        COLUMNS, [np.array([_cell(column, row[column.name]) for row in rows]) for column in COLUMNS], len(rows)
    )


def _cell(column, text):
    if text == "":
        return np.nan
    return float(text) if column.numeric else float(column.levels.index(text))


def example():
    return Evidence(table("train"), table("holdout"), table("synthetic"), PARTITION)


def three(*, train=None, holdout=None, synthetic=None):
    """The example with some of its tables replaced."""
    given = example()
    return Evidence(train or given.train, holdout or given.holdout, synthetic or given.synthetic, PARTITION)
