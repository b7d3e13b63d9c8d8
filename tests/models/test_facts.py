"""Facts are told to three decimals."""

from models.facts import rounded


def test_figures_are_rounded_however_nested_and_all_else_is_left():
    said = {"auc": 0.12345, "steps": [{"score": (1.00049, 7)}], "informed": True, "why": "none", "rows": 12345}
    assert rounded(said) == {
        "auc": 0.123,
        "steps": [{"score": [1.0, 7]}],
        "informed": True,
        "why": "none",
        "rows": 12345,
    }
