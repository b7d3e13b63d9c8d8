"""Tables in the form that SynthEval gives them."""

import numpy as np
from paper_example import example

from models.evidence import Evidence
from models.paper_tables import PaperTables
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table

SEED = Seed.of(1)
NUMBER = Column(name="x", kind="continuous", dtype="double", bounds=(-100, 100), nullable=True)


def tables(column, train, holdout, synthetic):
    given = [Table((column,), np.array(cells, dtype=float)[:, None]) for cells in (train, holdout, synthetic)]
    part = Partition(parts=(Part(name="all", columns=(column.name,)),), reason="")
    return PaperTables.of(Evidence(*given, part), SEED)


def test_numbers_of_all_tables_together_fill_the_unit_interval():
    made = tables(NUMBER, range(10), [20], [-20, 0])
    assert not made.levels.any()
    assert made.holdout.tolist() == [[1]]
    assert made.synthetic.tolist() == [[0], [0.5]]


def test_numbers_with_few_values_count_as_levels():
    made = tables(NUMBER, [*range(9), 3], [50], [7])
    assert made.levels.tolist() == [True]
    assert made.holdout.tolist() == [[9]]
    assert made.synthetic.tolist() == [[7]]


def test_a_constant_number_is_zero():
    far = Column(name="x", kind="continuous", dtype="double", bounds=(0, 9))
    assert tables(far, [5, 5], [5], [5]).train.tolist() == [[0], [0]]


def test_levels_are_numbered_in_the_order_of_their_labels_and_only_those_that_occur():
    text = Column(name="l", kind="categorical", dtype="string", levels=("west", "east", "south"))
    assert tables(text, [0, 1], [1], [0]).train.tolist() == [[1], [0]]
    whole = Column(name="l", kind="categorical", dtype="int64", levels=(10, 9, 1))
    assert tables(whole, [0, 1, 2], [1], [0]).train.tolist() == [[2], [1], [0]]


def test_rows_with_missing_cells_are_left_out():
    made = tables(NUMBER, [1, np.nan], [2], [np.nan])
    assert (len(made.train), len(made.holdout), len(made.synthetic)) == (1, 1, 0)
    assert made.empty
    assert made.told == "Rows with missing cells left out: 1 training, 0 held-out, 1 synthetic."


def test_nothing_is_told_of_whole_tables():
    assert tables(NUMBER, [1], [2], [3]).told == ""


def test_targets_are_declared_columns_of_at_least_two_levels():
    given = example()
    at = given.train.names.index("ill")
    assert PaperTables.of(given, SEED).targets == [at]
    cells = given.train.values.copy()
    cells[:, at] = 1.0
    lone = Evidence(Table(given.train.columns, cells), given.holdout, given.synthetic, given.partition)
    assert PaperTables.of(lone, SEED).targets == []


def test_a_target_of_very_many_levels_is_none():
    text = Column(name="l", kind="categorical", dtype="string", role="target", levels=tuple(range(60)))
    assert tables(text, range(60), [1], [0]).targets == []
    assert tables(text, range(50), [1], [0]).targets == [0]


def test_the_commonest_of_very_many_levels_have_an_indicator():
    text = Column(name="l", kind="categorical", dtype="string", levels=tuple(range(60)))
    made = tables(text, [*range(60), *range(10, 60)], [1], [0])
    assert made.indicators(made.train).shape == (110, 49 + 1)
    assert made.indicators(np.array([[5.0], [11.0]])).sum(axis=1).tolist() == [0, 1]


def test_indicators_are_one_for_each_level_but_the_first():
    made = PaperTables.of(example(), SEED)
    columns = made.indicators(made.train)
    known = {name: len(np.unique(example().train[name])) for name in ("visits", "region", "smoker", "ill")}
    assert columns.shape[1] == 3 + sum(known.values()) - 4 + 1
    assert made.indicators(made.train, without=2).shape[1] == columns.shape[1] - 3
    assert columns[:, 0].std() == 1 or abs(columns[:, 0].std() - 1) < 1e-12
    assert not columns[:, -1].any()


def test_some_rows_are_rows_of_the_table():
    made = PaperTables.of(example(), SEED)
    assert {tuple(row) for row in made.some(made.train, 5, "five")} <= {tuple(row) for row in made.train}
