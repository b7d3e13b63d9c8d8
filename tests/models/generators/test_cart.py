"""Sequential trees: rules, interactions and missingness are kept, in the order that was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from models.errors import SynthesisError
from models.generators import catalog
from models.generators.cart import CLASSES, Cart, CartSampler
from models.randomness import Seed
from models.schema import Column, Kind, Role
from models.table import Floats, Table

NAN = np.nan


def number(name: str, **more: object) -> Column:
    return Column(name=name, kind=Kind.INTEGER, dtype="int64", bounds=(0, 100), **more)


def levelled(name: str, count: int, **more: object) -> Column:
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="int64", levels=tuple(range(count)), **more)


def rng(number: int = 1) -> np.random.Generator:
    return Seed.of(number).generator()


def fit(columns: list[Column], cells: list[Floats], **settings: object) -> CartSampler:
    return Cart(**settings).fit(Table.of(columns, cells, len(cells[0])), Seed.of(1))


def visited(sampler: CartSampler) -> list[str]:
    return [sampler.columns[step.column].name for step in sampler.steps]


def test_a_rule_between_two_columns_is_kept():
    level = rng().integers(0, 16, 3000)
    code = rng(9).permutation(16)[level] * 5
    drawn = fit([levelled("level", 16), number("code")], [level, code]).sample(3000, Seed.of(2))
    allowed = set(zip(level.tolist(), code.tolist(), strict=True))
    kept = [pair in allowed for pair in zip(drawn["level"], drawn["code"], strict=True)]
    assert np.mean(kept) > 0.99


def test_an_interaction_is_kept():
    a, b = rng(1).integers(0, 2, 2000), rng(2).integers(0, 2, 2000)
    drawn = fit([levelled("a", 2), levelled("b", 2), levelled("c", 2)], [a, b, a ^ b], order="schema").sample(
        2000, Seed.of(2)
    )
    assert np.mean((drawn["a"] != drawn["b"]) == drawn["c"]) > 0.98


def test_a_missing_predictor_tells_as_much_as_a_value():
    x = rng(1).integers(0, 100, 2000).astype(np.float64)
    x[rng(2).random(2000) < 0.3] = NAN
    y = np.where(np.isnan(x), 50, np.where(x > 60, 10, 90))
    drawn = fit([number("x", nullable=True), number("y")], [x, y], order="schema").sample(2000, Seed.of(2))
    assert np.mean(drawn["y"][np.isnan(drawn["x"])] == 50) > 0.97
    assert np.mean(drawn["y"][drawn["x"] > 60] == 10) > 0.97


def test_independent_columns_are_drawn_without_splits():
    cells = [rng(j).integers(0, 100, 1000) for j in range(4)]
    sampler = fit([number(name) for name in "abcd"], cells, significance=1e-6)
    assert [len(step.tree.rows) for step in sampler.steps] == [1, 1, 1, 1]


def test_no_leaf_has_fewer_rows_than_asked_for():
    x = rng().integers(0, 100, 1000)
    sampler = fit([number("x"), number("y")], [x, np.clip(x + rng(2).integers(0, 5, 1000), 0, 100)], min_leaf=40)
    tree = sampler.steps[1].tree
    assert len(tree.rows) > 9
    assert tree.rows.min() >= 40


def tied() -> tuple[list[Column], list[Floats]]:
    """``a`` with ``b`` strongly, ``b`` with ``c`` less, ``d`` with none."""
    a = rng(1).normal(size=800)
    b = a + rng(2).normal(size=800) * 0.3
    c = b + rng(3).normal(size=800) * 0.8
    d = rng(4).normal(size=800)
    return [number(name) for name in "dabc"], [np.clip(np.rint(50 + 12 * x), 0, 100) for x in (d, a, b, c)]


def test_columns_come_in_the_order_of_the_schema_or_as_named():
    assert visited(fit(*tied(), order="schema")) == ["d", "a", "b", "c"]
    assert visited(fit(*tied(), order=("c", "a"))) == ["c", "a", "d", "b"]


def test_by_association_each_column_comes_after_the_one_that_it_is_closest_to():
    assert visited(fit(*tied())) == ["b", "a", "c", "d"]


def test_by_association_begins_with_the_target():
    columns, cells = tied()
    columns[3] = number("c", role=Role.TARGET)
    assert visited(fit(columns, cells)) == ["c", "b", "a", "d"]


def test_an_order_that_names_unknown_columns_is_refused_with_all_of_them():
    with pytest.raises(SynthesisError, match=r"aa.*zz") as refused:
        fit(*tied(), order=("aa", "b", "zz"))
    assert "did you mean 'a'" in str(refused.value)


def test_only_the_most_associated_columns_decide():
    sampler = fit(*tied(), order=("a", "d", "c", "b"), predictors=2)
    given = {visited(sampler)[i]: [sampler.columns[j].name for j in step.given] for i, step in enumerate(sampler.steps)}
    assert given == {"a": [], "d": ["a"], "c": ["a", "d"], "b": ["a", "c"]}


def test_more_levels_than_classes_are_grouped_by_what_they_tell():
    level = rng(1).integers(0, 4 * CLASSES, 8000)
    order = rng(2).permutation(4 * CLASSES)
    x = np.clip(np.rint(order[level] * 100 / (4 * CLASSES)), 0, 100)
    drawn = fit([number("x"), levelled("level", 4 * CLASSES)], [x, level], order="schema").sample(4000, Seed.of(2))
    expected = order[drawn["level"].astype(int)] * 100 / (4 * CLASSES)
    assert np.mean(np.abs(drawn["x"] - expected) < 10) > 0.95


def test_groups_of_levels_do_not_find_dependence_where_there_is_none():
    whole = 0
    for seed in range(10):
        x, level = rng(seed).integers(0, 100, 3000), rng(50 + seed).integers(0, 200, 3000)
        sampler = fit([number("x"), levelled("level", 200)], [x, level], order="schema", significance=1e-4)
        whole += len(sampler.steps[1].tree.rows) == 1
    assert whole >= 9


def test_a_boundless_leaf_or_level_of_significance_is_refused():
    with pytest.raises(Exception, match="min_leaf"):
        catalog.build({"kind": "cart", "min_leaf": 0})
    with pytest.raises(Exception, match="significance"):
        catalog.build({"kind": "cart", "significance": 0})


def test_the_width_is_what_the_widest_tree_sees_beside_the_codes():
    assert Cart().width(tuple(number(f"x{j}") for j in range(300))) == 320
    assert Cart().width((number("a"), levelled("b", 5000))) == 4


def test_columns_given_come_first_whatever_the_order_and_targets_next():
    cells = [rng(j).integers(0, 2, 200) for j in range(4)]
    columns = [levelled("a", 2), levelled("b", 2), levelled("c", 2), levelled("t", 2, role=Role.TARGET)]
    table = Table.of(columns, cells, 200)
    given, own = table.select(["a"]), table.select(["b", "c", "t"])
    orders = {"by_association": "t", "schema": "b", ("c",): "c"}
    for order, first in orders.items():
        sampler = Cart(order=order).fit_given(own, given, Seed.of(1))
        steps = [sampler.codes[step.column].column.name for step in sampler.steps]
        assert steps[0] == first
        assert sorted(steps) == ["b", "c", "t"]
        assert [sampler.codes[j].column.name for j in sampler.steps[0].given] == ["a"]


def test_an_interaction_with_columns_given_is_kept():
    a, b = rng(1).integers(0, 2, 2000), rng(2).integers(0, 2, 2000)
    table = Table.of([levelled("a", 2), levelled("b", 2), levelled("c", 2)], [a, b, a ^ b], 2000)
    given = table.select(["a", "b"])
    drawn = Cart(order="schema").fit_given(table.select(["c"]), given, Seed.of(1)).sample_given(given, Seed.of(2))
    assert np.mean((a != b) == drawn["c"]) > 0.98


def test_an_order_names_no_column_that_is_given():
    table = Table.of([levelled("a", 2), levelled("b", 2)], [np.arange(40) % 2, np.arange(40) % 2], 40)
    with pytest.raises(SynthesisError, match="order: 'a' is no column of this part"):
        Cart(order=("a",)).fit_given(table.select(["b"]), table.select(["a"]), Seed.of(1))


def test_rows_that_are_too_few_for_a_split_inform_nobody():
    given, own = Table.of([number("a")], [np.arange(20.0)], 20), Table.of([number("b")], [np.arange(20.0)], 20)
    assert not Cart().fit_given(own, given, Seed.of(1)).informed
    assert Cart(min_leaf=5).fit_given(own, given, Seed.of(1)).informed
