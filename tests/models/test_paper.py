"""The paper's columns equal SynthEval's, and the corrected ones say what they should."""

import numpy as np
import pytest
from crowd import ONE_PART, crowd, independent, shuffled
from paper_example import OF_LEARNERS, REFERENCE, example, three

from models.evidence import Evidence
from models.paper import paper_block
from models.randomness import Seed
from models.table import stack

SEED = Seed.of(1)


@pytest.fixture(scope="module")
def block():
    return {column.name: column for column in paper_block(example(), SEED)}


def of(evidence):
    return {column.name: column for column in paper_block(evidence, SEED)}


@pytest.mark.parametrize("name", REFERENCE)
def test_figures_are_those_of_syntheval(block, name):
    assert block[name].paper == pytest.approx(REFERENCE[name], abs=1e-9)


@pytest.mark.parametrize("name", OF_LEARNERS)
def test_figures_of_learners_are_those_of_syntheval(block, name):
    assert block[name].paper == pytest.approx(OF_LEARNERS[name], abs=0.03)


def test_the_columns_are_always_the_same_and_each_tells_what_it_is(block):
    train = crowd(20, 1).select(["age"])
    part = ONE_PART.model_copy(update={"parts": (ONE_PART.parts[0].model_copy(update={"columns": ("age",)}),)})
    poor = of(Evidence(train, train.take(slice(0, 0)), train.take(slice(0, 1)), part))
    assert list(poor) == list(block)
    assert len(block) == 11
    for column in block.values():
        assert "Corrected: " in column.note
        assert column.direction.endswith(("is best", "is better"))
    assert {poor[name].paper for name in ("auroc", "avg_F1_diff_hout", "mia_recall")} == {None}


def test_the_same_seed_gives_the_same_figures(block):
    assert list(of(example()).values()) == list(block.values())


def test_rows_with_missing_cells_are_left_out_and_counted(block):
    for column in block.values():
        assert column.rows == "Rows with missing cells left out: 2 training, 1 held-out, 3 synthetic."


@pytest.fixture(scope="module")
def copies():
    """A copy of the training rows in the same order, and in another."""
    train = example().train
    return [of(three(synthetic=copy)) for copy in (train, shuffled(train))]


def test_a_copy_has_the_worst_corrected_figures_of_privacy_in_any_order(copies):
    for copied in copies:
        assert copied["eps_identif_risk"].corrected == 1
        assert copied["priv_loss_eps"].corrected > 0.3
        assert copied["mia_precision"].corrected == 1
        assert copied["median_DCR"].corrected < 0.5
        assert copied["avg_h_dist"].corrected == 0
        assert copied["corr_mat_diff"].corrected == pytest.approx(0, abs=1e-9)


def test_a_copy_in_the_same_order_has_the_best_figures_of_the_paper(copies):
    same, other = copies
    assert (same["median_DCR"].paper, same["eps_identif_risk"].paper) == (1, 0)
    assert (other["median_DCR"].paper, other["eps_identif_risk"].paper) == (0, 1)


def test_strangers_have_the_corrected_figures_of_no_leak():
    people = [crowd(300, seed).select(["age", "weight", "region", "ill"]) for seed in (1, 2, 3)]
    part = ONE_PART.model_copy(update={"parts": (ONE_PART.parts[0].model_copy(update={"columns": people[0].names}),)})
    fresh = of(Evidence(people[0], people[1].take(slice(0, 100)), people[2], part))
    assert fresh["eps_identif_risk"].corrected == pytest.approx(0.5, abs=0.1)
    assert fresh["priv_loss_eps"].corrected == pytest.approx(0, abs=0.1)
    assert fresh["priv_loss_eps"].paper > 0.2
    assert fresh["median_DCR"].corrected == pytest.approx(1, abs=0.1)
    assert fresh["mia_recall"].corrected == pytest.approx(0.5, abs=0.12)


def test_independent_columns_have_the_fidelity_of_the_margins_alone():
    train = example().train
    apart = of(three(synthetic=independent(train)))
    assert apart["avg_h_dist"].corrected == 0
    assert apart["corr_mat_diff"].corrected > 0.5
    assert apart["auroc"].corrected < -0.2


def test_large_tables_are_sampled_by_one_share_and_it_is_said(monkeypatch):
    monkeypatch.setattr("models.paper_tables.ROWS", 100)
    people = example()
    large = of(three(synthetic=stack([people.synthetic] * 2)))
    assert "On a sample: 41 training, 23 held-out, 100 synthetic rows." in large["median_DCR"].rows


def test_no_figure_is_infinite_or_undefined():
    constant = example().train.values.copy()
    constant[:, [0, 3, 4]] = 1.0
    given = example()
    found = of(three(train=type(given.train)(given.train.columns, constant)))
    for column in found.values():
        assert column.paper is None or np.isfinite(column.paper)
        assert column.corrected is None or np.isfinite(column.corrected)
