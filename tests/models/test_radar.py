"""The radar chart: a closed form of the mean area, and what its axes are made of."""

from itertools import permutations
from math import pi, sin

import pytest

from models.finding import Finding, Group
from models.radar import Radar, chart, radar


def finding(measure, name, estimate, **more):
    return Finding(measure=measure, name=name, question="?", group=Group.FIDELITY, estimate=estimate, n=10, **more)


GOOD = (
    finding("marginals", "Mean over columns", 0.1),
    finding("marginals", "Variety lost", 0.0),
    finding("propensity", "Told apart", 0.75),
)


def test_a_perfect_release_fills_the_chart_and_a_useless_one_nothing():
    assert chart({"a": 1, "b": 1, "c": 1, "d": 1}).area == 1
    assert chart({"a": 0, "b": 0, "c": 0}).area == 0


def test_the_area_is_the_mean_over_all_orders_of_the_axes():
    scores = {"a": 0.9, "b": 0.2, "c": 0.7, "d": 0.4, "e": 1.0}
    turn = sin(2 * pi / 5) / 2
    areas = [turn * sum(one[k] * one[k - 1] for k in range(5)) for one in permutations(scores.values())]
    assert chart(scores).area == pytest.approx(sum(areas) / len(areas) / (turn * 5), abs=0.005)


def test_the_order_of_the_axes_does_not_change_the_area():
    assert chart({"a": 1, "b": 0.5, "c": 0, "d": 0.5}).area == chart({"a": 1, "c": 0, "b": 0.5, "d": 0.5}).area


def test_fewer_than_three_scores_or_one_out_of_range_span_no_chart():
    for scores in ({"a": 1, "b": 1}, {"a": 1, "b": 1, "c": 1.1}, {"a": 1, "b": -0.1, "c": 0}):
        with pytest.raises(ValueError, match="between 0 and 1"):
            chart(scores)


def test_axes_without_findings_are_left_out():
    assert radar(GOOD) == Radar(("distributions", "realism", "diversity"), (0.9, 0.5, 1.0), 0.62)
    assert radar(GOOD[:2]) is None
    assert radar((*GOOD[:2], finding("propensity", "Told apart", None))) is None


def test_privacy_is_the_attack_that_goes_best():
    attacks = [finding("membership", "Membership attack", auc, where=where) for where, auc in (("", 0.5), ("a", 0.8))]
    found = radar((*GOOD, *attacks))
    assert dict(zip(found.axes, found.scores, strict=True))["privacy"] == 0.4


def test_the_task_axis_is_the_share_of_what_can_be_learned_that_is_kept():
    losses = [
        finding("usefulness", "Prediction, boosted trees", 0.1, baseline=0.4),
        finding("usefulness", "Prediction, linear model", 0.6, baseline=0.4),
        finding("usefulness", "Prediction, random forest", -0.1, baseline=0.4),
        finding("usefulness", "Prediction, random forest", 0.1, baseline=0.01),
        finding("usefulness", "Coefficients, mean", 0.9, baseline=0.9),
    ]
    found = radar((*GOOD, *losses))
    assert dict(zip(found.axes, found.scores, strict=True))["task"] == pytest.approx((0.75 + 0 + 1) / 3, abs=0.01)


def test_figures_beyond_their_range_count_as_its_end():
    found = radar((*GOOD[:2], finding("propensity", "Told apart", 0.4)))
    assert found.scores[1] == 1
