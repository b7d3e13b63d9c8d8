"""SDMetrics' privacy metrics of a single table, with the options by which its documentation saves time; 1 is best.

Overfitting protection looks at all rows, baseline protection and new rows at a sample of 300. Disclosure protection
draws samples of 1,000 rows, once: of tables of 1,000 rows every further draw would be the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from sdmetrics.single_table import (
    DCRBaselineProtection,
    DCROverfittingProtection,
    DisclosureProtectionEstimate,
    NewRowSynthesis,
)
from tables import Tables, answer

FEW = 300


def figures(tables: Tables) -> Mapping[str, float]:
    kinds = {True: {"sdtype": "categorical"}, False: {"sdtype": "numerical"}}
    metadata = {
        "tables": {"people": {"columns": {name: kinds[name in tables.levelled] for name in tables.train.columns}}}
    }
    named = {"metadata": metadata, "table_name": "people"}
    overfitting = DCROverfittingProtection.compute_breakdown(tables.train, tables.synthetic, tables.holdout, **named)
    baseline = DCRBaselineProtection.compute_breakdown(
        tables.train, tables.synthetic, **named, num_rows_subsample=min(FEW, len(tables.train), len(tables.synthetic))
    )
    disclosed = DisclosureProtectionEstimate.compute_breakdown(
        tables.train,
        tables.synthetic,
        known_column_names=tables.known,
        sensitive_column_names=[tables.secret],
        continuous_column_names=[name for name in tables.known if name not in tables.levelled],
        num_iterations=1,
        verbose=False,
    )
    return {
        "overfitting protection": overfitting["score"],
        "baseline protection": baseline["score"],
        "new rows": NewRowSynthesis.compute(tables.train, tables.synthetic, **named, synthetic_sample_size=FEW),
        "disclosure protection": disclosed["score"],
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    answer("sdmetrics", figures)
