"""Learners answer whatever the columns are, and do not look at the order of rows."""

import numpy as np
import pytest
from crowd import cells, crowd, shuffled

from models.learning import CLASSES, LEARNERS, Task, at_most, boosted_chances
from models.randomness import Seed
from models.schema import Column
from models.table import Table

PEOPLE, OTHERS = crowd(300, 1), crowd(100, 2)
SEED = Seed.of(1)
FEATURES = ("age", "income", "region", "weight", "smoker")
EVERY = pytest.mark.parametrize("learner", LEARNERS, ids=[learner.name for learner in LEARNERS])


def predicted(learner, name, learned, asked=OTHERS):
    task = Task.of(PEOPLE, name, [column for column in PEOPLE.names if column != name])
    return learner.predict(task, task.known(learned), asked, 20, SEED)


def test_a_sample_is_the_same_whatever_order_the_rows_came_in():
    once, again = (at_most(table, 50, SEED).values for table in (PEOPLE, shuffled(PEOPLE)))
    np.testing.assert_array_equal(once, again)
    assert len(once) == 50
    once, again = (at_most(table, 1000, SEED).values for table in (PEOPLE, shuffled(PEOPLE)))
    np.testing.assert_array_equal(once, again)
    assert len(once) == 300
    assert at_most(PEOPLE.select([]), 50, SEED).values.shape == (50, 0)


def test_the_commonest_levels_are_classes_and_the_others_are_one():
    letter = Column(name="letter", kind="categorical", dtype="string", levels=tuple("abcdefghij"))
    codes = np.concatenate([np.repeat(np.arange(8.0), [9, 8, 7, 6, 5, 4, 3, 2]), [np.nan]])
    table = Table((letter,), codes[:, None])
    task = Task.of(table, "letter", [])
    assert task.told.tolist() == [0, 1, 2, 3, 4]
    assert np.unique(task.answers(task.known(table))).tolist() == list(range(CLASSES))


@EVERY
def test_a_level_that_depends_on_others_is_told_better_than_by_a_guess(learner):
    chances = predicted(learner, "ill", PEOPLE)
    assert chances.shape == (100, 3)
    assert chances.sum(axis=1) == pytest.approx(1)
    assert chances[OTHERS["ill"] == 1, 1].mean() > chances[OTHERS["ill"] == 0, 1].mean() + 0.3


@EVERY
def test_a_number_that_depends_on_others_is_told_better_than_by_a_guess(learner):
    assert np.corrcoef(predicted(learner, "age", PEOPLE), OTHERS["age"])[0, 1] > 0.5


@EVERY
def test_one_answer_is_told_of_everybody(learner):
    healthy = PEOPLE.take(PEOPLE["ill"] == 0)
    assert predicted(learner, "ill", healthy)[:, 0].tolist() == [1.0] * 100
    assert set(predicted(learner, "age", PEOPLE.take(slice(0, 1)))) == {PEOPLE["age"][0]}


@EVERY
def test_without_rows_nothing_is_told_but_the_middle_of_training_rows(learner):
    assert not predicted(learner, "ill", PEOPLE.take(slice(0, 0))).any()
    assert set(predicted(learner, "age", PEOPLE.take(slice(0, 0)))) == {PEOPLE["age"].mean()}


@EVERY
@pytest.mark.parametrize("target", ["ill", "age"])
def test_wholly_missing_features_and_missing_cells_are_no_hindrance(learner, target):
    gone = PEOPLE.values.copy()
    gone[:, [1, 2, 4]] = np.nan
    assert np.isfinite(predicted(learner, target, cells(PEOPLE, gone))).all()
    only = Table(PEOPLE.columns, np.where(np.arange(6) == PEOPLE.names.index(target), PEOPLE.values, np.nan))
    assert np.isfinite(predicted(learner, target, only)).all()


@EVERY
def test_a_class_that_was_not_learned_has_no_chance(learner):
    southerners = PEOPLE.take(PEOPLE["region"] < 3)
    assert not predicted(learner, "region", southerners)[:, 3].any()


def test_chances_are_those_of_each_class():
    features, answers = PEOPLE.select(["age"]), PEOPLE["ill"].astype(np.int64)
    chances = boosted_chances(features, answers, OTHERS.select(["age"]), rounds=10, seed=SEED)
    assert chances.shape == (100, 2)
    assert chances.sum(axis=1) == pytest.approx(1)
