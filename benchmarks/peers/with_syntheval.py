"""SynthEval's preset ``privacy`` with held-out rows, less its one metric of usefulness (``p_mse``)."""

from __future__ import annotations

from collections.abc import Mapping

from syntheval import AnalysisConfig, SynthEval
from tables import Tables, answer

PRESET = {
    "nndr": {},
    "nnaa": {"n_resample": 30},
    "dcr": {},
    "hit_rate": {"thres_percent": 0.0333},
    "eps_risk": {},
    "mia": {"num_eval_iter": 5},
    "att_discl": {},
}


def figures(tables: Tables) -> Mapping[str, float]:
    judge = SynthEval(
        tables.train,
        holdout_dataframe=tables.holdout,
        cat_cols=tables.levelled,
        verbose=False,
        enable_plots=False,
        console="off",
    )
    asked = AnalysisConfig(dataset=tables.train, target_vars=tables.target, sensitive_vars=[tables.secret])
    judge.evaluate(tables.synthetic, analysis_target=asked, **PRESET)
    raw = judge._raw_results  # named in the library's documentation as where the full results are
    return {
        "NNDR loss": raw["nndr"]["priv_loss"],
        "NNAA loss": raw["nnaa"]["priv_loss"],
        "epsilon loss": raw["eps_risk"]["priv_loss"],
        "median DCR": raw["dcr"]["mDCR"],
        "hit rate": raw["hit_rate"]["hit rate"],
        "MIA recall": raw["mia"]["MIA recall"],
        "attribute disclosure": raw.get("att_discl", {}).get("Attr Dis accuracy", float("nan")),
    }


if __name__ == "__main__":
    answer("syntheval", figures)
