"""SynthEval's figures of privacy and the corrected ones, on tables that fit in the head."""

import numpy as np
import pytest

from models import paper_privacy
from models.evidence import Evidence
from models.paper_privacy import closest_record, identifiability, membership_attack, nearest
from models.paper_tables import PaperTables
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table

X, Y = (Column(name=name, kind="continuous", dtype="double", bounds=(-1000, 1000)) for name in "xy")
LEVEL = Column(name="l", kind="categorical", dtype="string", levels=("a", "b", "c"))
RNG = np.random.default_rng(1)
NOTHING = np.empty((0, 2))


def tables(train, synthetic, holdout, columns=(X, Y)):
    given = [Table(columns, np.array(cells, dtype=float)) for cells in (train, holdout, synthetic)]
    part = Partition(parts=(Part(name="all", columns=tuple(c.name for c in columns)),), reason="")
    return PaperTables.of(Evidence(*given, part), Seed.of(1))


def people(rows):
    return RNG.normal(size=(rows, 2))


def test_the_nearest_row_is_found_by_numbers_and_levels_together(monkeypatch):
    monkeypatch.setattr(paper_privacy, "BLOCK", 2)
    rows = np.array([[0.0, 0], [0.5, 0], [1.0, 1]])
    levels = np.array([False, True])
    assert nearest(rows, np.array([[0.0, 1], [0.25, 0]]), levels).tolist() == [0.125, 0.125, 0.5]
    assert nearest(rows, rows, levels, others=True).tolist() == [0.25, 0.25, 0.75]


def test_weights_of_numbers_count_as_they_are_and_those_of_levels_by_their_mean():
    one, other = np.array([[0.0, 0, 0]]), np.array([[1.0, 1, 0]])
    levels = np.array([False, True, True])
    assert nearest(one, other, levels, np.array([2.0, 3.0, 1.0])) == [(2 + 2 * 3 / 4) / 6]


def test_half_of_the_people_are_nearer_to_a_stranger_of_a_perfect_release():
    (_, fair), (loss, fair_loss) = identifiability(tables(people(400), people(400), people(100)))
    assert fair == pytest.approx(0.5, abs=0.08)
    assert fair_loss == pytest.approx(0, abs=0.12)
    assert loss > 0.25


def test_equal_distances_count_one_half_where_they_are_corrected():
    shared = np.repeat([[0.0], [1.0]], 20, axis=0)
    (risk, fair), _ = identifiability(tables(shared, shared[::-1], shared, (LEVEL,)))
    assert (risk, fair) == (0, 0.5)


def test_a_copy_is_risky_unless_it_is_taken_for_the_table_itself():
    train, unseen = people(50), people(40)
    (risk, fair), (loss, fair_loss) = identifiability(tables(train, train[::-1], unseen))
    assert (risk, fair) == (1, 1)
    assert loss > 0.3
    assert fair_loss > 0.2
    (risk, fair), _ = identifiability(tables(train, train, unseen))
    assert (risk, fair) == (0, 1)


def test_distances_are_over_those_of_training_rows_in_the_paper_and_over_those_of_held_out_rows_else():
    train, holdout, drawn = ([[x] for x in values] for values in (range(10), range(20, 31), (100, 100)))
    ((paper, corrected),) = closest_record(tables(train, drawn, holdout, (X,)))
    assert paper == pytest.approx(91)
    assert corrected == pytest.approx(91 / 70, rel=0.03)


def test_no_distance_at_all_is_one_and_a_distance_from_nothing_is_not_defined():
    same = np.zeros((5, 1))
    assert closest_record(tables(same, same[:3], same, (LEVEL,))) == ((1, 1),)
    assert closest_record(tables(same, same + 1, same, (LEVEL,))) == ((0, 1),)
    assert closest_record(tables(same, same + 1, same + 1, (LEVEL,))) == ((0, None),)


def test_unrealistic_rows_look_safe_in_the_paper_whatever_they_are():
    (recall, told), (_, near) = membership_attack(tables(people(300), people(300) + 100, people(200)))
    assert recall == 0
    assert told == pytest.approx(0.5, abs=0.15)
    assert near == pytest.approx(0.5, abs=0.1)


def test_an_attack_by_distance_finds_the_members_of_a_noisy_copy():
    train = people(300)
    _, (_, near) = membership_attack(tables(train, train + 0.01, people(200)))
    assert near > 0.9


def test_without_rows_to_compare_with_there_is_no_figure():
    train = people(20)
    assert identifiability(tables(train, train, NOTHING))[1] == (None, None)
    assert identifiability(tables(train[:1], train, train))[0] == (None, None)
    assert closest_record(tables(train, train[::-1], NOTHING)) == ((0, None),)
    assert closest_record(tables(train[:1], train, train)) == ((None, None),)
    assert membership_attack(tables(train, train, train[:3])) == ((None, None), (None, None))
