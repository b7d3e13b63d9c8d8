"""The picture of a training's curves."""

from base64 import b64decode
from xml.etree import ElementTree

import pytest

from models.course import Course, Curve
from tasks.curves import as_address, picture

SVG = "{http://www.w3.org/2000/svg}"


def course(*curves, name="all", chosen=50):
    return Course(name=name, steps=100, chosen=chosen, heads=1, collapsed=0, curves=curves)


def drawn(told):
    return ElementTree.fromstring(picture(told))


def test_a_curve_runs_from_its_first_step_to_its_last_with_the_smallest_value_at_the_bottom():
    svg = drawn(course(Curve(name="realism", points=((10, 3.0), (50, 1.0), (100, 2.0)))))
    (line,) = svg.iter(f"{SVG}polyline")
    assert line.get("points") == "24.0,18.0 120.0,98.0 240.0,58.0"
    (chosen,) = svg.iter(f"{SVG}line")
    assert chosen.get("x1") == "120.0"


def test_values_of_the_first_steps_are_no_matter_for_the_scale_and_stay_in_the_box():
    (line,) = drawn(course(Curve(name="realism", points=((0, 99.0), (5, -99.0), (50, 2.0), (100, 1.0))))).iter(
        f"{SVG}polyline"
    )
    assert line.get("points") == "0.0,18.0 12.0,98.0 120.0,18.0 240.0,98.0"


def test_curves_stand_three_in_a_row():
    svg = drawn(course(*(Curve(name=f"c{number}", points=((0, 1.0),)) for number in range(4))))
    assert len(list(svg.iter(f"{SVG}polyline"))) == 4
    assert svg.get("viewBox") == "-4 -2 756 228"


@pytest.mark.parametrize("value", [0.0, -2.5])
def test_a_curve_that_does_not_move_lies_in_the_middle(value):
    (line,) = drawn(course(Curve(name="flat", points=((0, value), (100, value))))).iter(f"{SVG}polyline")
    assert line.get("points") == "0.0,58.0 240.0,58.0"


def test_a_name_cannot_break_out_of_its_place():
    assert drawn(course(name='a"><script>')).get("aria-label").startswith('Training of a"><script>: ')


def test_the_address_holds_the_picture():
    kind, _, text = as_address("<svg/>").partition(",")
    assert (kind, b64decode(text)) == ("data:image/svg+xml;base64", b"<svg/>")
