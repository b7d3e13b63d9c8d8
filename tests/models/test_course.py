"""The course of a training in steps, as it is told."""

from models.course import course

FACTS = {
    "shape": {"heads": 1},
    "collapsed": [],
    "training": {"step": 900, "chosen": 600, "losses": {"realism": [[0, 1.23456], [9, -0.5]]}, "scores": [[600, 0.51]]},
}


def test_curves_are_the_held_out_score_and_the_losses_rounded():
    told = course("all", [FACTS])
    assert [(curve.name, curve.points) for curve in told.curves] == [
        ("held-out score", ((600, 0.51),)),
        ("realism", ((0, 1.235), (9, -0.5))),
    ]
    assert told.said == "900 steps of one head; the checkpoint of step 600 was kept; no head has collapsed"


def test_heads_of_one_training_are_counted_together_with_those_that_collapsed():
    told = course("cluster-1 and 1 more", [FACTS, {**FACTS, "collapsed": [0]}])
    assert (told.heads, told.collapsed) == (2, 1)
    assert told.said.endswith("of 2 heads; the checkpoint of step 600 was kept; 1 of 2 heads have collapsed")


def test_without_held_out_rows_there_is_no_curve_of_their_score_and_it_is_said_that_none_chose():
    told = course("all", [{**FACTS, "training": {**FACTS["training"], "scores": []}}])
    assert [curve.name for curve in told.curves] == ["realism"]
    assert "step 600 was kept, the last, since there were no held-out rows to choose by; " in told.said


def test_what_was_not_trained_in_steps_has_no_course():
    assert course("all", [{"columns": []}]) is None
