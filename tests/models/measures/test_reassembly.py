"""Whether the join puts the parts of one real person back together."""

import numpy as np
import pytest
from crowd import ONE_PART, TWO_PARTS, cells, crowd, evidence, found, shuffled

from models.finding import Verdict
from models.measures import catalog
from models.measures.reassembly import Reassembly
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table

TRAIN, HOLDOUT, FRESH = crowd(500, 1), crowd(400, 2), crowd(500, 3)
NAME = "Reassembled people"
NUMBERS = Partition(
    parts=(Part(name="a", columns=("age", "income", "region")), Part(name="b", columns=("weight",))), reason=""
)


def measured(synthetic, train=TRAIN, holdout=HOLDOUT, partition=TWO_PARTS, **more):
    case = evidence(synthetic, train=train, holdout=holdout, partition=partition)
    return found(Reassembly(**more).measure(case, Seed.of(1)), NAME)


def dealt(table, columns=3):
    """The rows of ``table`` with the first columns of one person and the others of another."""
    return cells(table, np.hstack([shuffled(table, 1).values[:, :columns], shuffled(table, 2).values[:, columns:]]))


def test_a_copied_table_is_people_put_together_again():
    copy = measured(shuffled(TRAIN))
    assert copy.estimate > 0.9
    assert copy.verdict is Verdict.FAIL


def test_so_are_people_whose_parts_are_only_near():
    moved = TRAIN.values.copy()
    moved[:, 1] += 1.0
    assert measured(cells(TRAIN, moved)).verdict is Verdict.FAIL


def test_parts_that_were_memorised_and_dealt_at_random_are_silent():
    parts = measured(dealt(TRAIN))
    assert parts.verdict is Verdict.PASS
    assert parts.baseline > parts.control
    assert parts.observed == pytest.approx(parts.baseline, abs=0.02)


def test_strangers_are_nobody_put_together_again():
    strangers = measured(FRESH)
    assert abs(strangers.estimate) < 0.03
    assert strangers.verdict is not Verdict.FAIL


def test_held_out_people_put_together_again_are_no_training_people():
    assert measured(shuffled(HOLDOUT)).estimate < -0.5


NUMBER = Column(name="x", kind="integer", dtype="int64", bounds=(0, 100))
SECOND = Column(name="y", kind="integer", dtype="int64", bounds=(0, 100))
PAIR = Partition(parts=(Part(name="a", columns=("x",)), Part(name="b", columns=("y",))), reason="")


def test_both_parts_must_point_to_one_person():
    train, holdout = (Table((NUMBER, SECOND), np.array(v, dtype=float)) for v in ([[0, 0], [100, 100]], [[50, 60]]))
    drawn = Table((NUMBER, SECOND), np.array([[1.0, 2.0], [99.0, 100.0], [100.0, 0.0], [50.0, 60.0]]))
    pointed = measured(drawn, train, holdout, PAIR, tolerance=0.0)
    assert pointed.observed == 2 / 4
    assert pointed.control == pytest.approx(1 / 4 * 2)
    assert pointed.baseline == pytest.approx((1 / 4) * (2 / 4) + (2 / 4) * (1 / 4))


def test_one_part_has_nothing_to_put_together():
    one = measured(shuffled(TRAIN), partition=ONE_PART)
    assert one.verdict is None
    assert one.reason == "the table is not cut into parts"


def test_without_held_out_rows_the_question_stays_open():
    assert measured(TRAIN, holdout=HOLDOUT.take(slice(0, 0))).verdict is Verdict.INCONCLUSIVE


def test_parts_of_few_values_point_to_hardly_anybody_and_are_not_gated():
    names = ("region", "ill")
    tables = [table.select(names) for table in (TRAIN, TRAIN, HOLDOUT)]
    coarse = Partition(parts=tuple(Part(name=name, columns=(name,)) for name in names), reason="")
    finding = measured(*tables, partition=coarse)
    assert finding.limit is None
    assert finding.reason.startswith("not gated")


@pytest.mark.parametrize("preset", Reassembly.presets)
def test_presets_are_settings_that_allow_more(preset):
    assert catalog.build({"kind": "reassembly", **Reassembly.presets[preset]}).limit > Reassembly().limit
