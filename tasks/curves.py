"""The curves of a training as one picture."""

from __future__ import annotations

from base64 import b64encode

from models.course import Course, Curve
from tasks.templates import render

WIDE, TALL, TITLE = 240, 80, 18
"""A curve's box, and the line of text above it."""

GAP, IN_A_ROW = 14, 3

SETTLING = 0.05
"""The first share of the steps, whose values may be far off: they do not count for a curve's scale."""


def picture(course: Course) -> str:
    """An SVG of all curves, each in a box of its own, the kept checkpoint marked. Styles lie within it."""
    boxes = [_box(course, curve, place) for place, curve in enumerate(course.curves)]
    across = min(IN_A_ROW, len(boxes)) or 1
    down = (len(boxes) + IN_A_ROW - 1) // IN_A_ROW
    size = across * (WIDE + GAP) - GAP, down * (TALL + TITLE + GAP)
    return render("curves.svg.j2", course=course, boxes=boxes, size=size)


def as_address(svg: str) -> str:
    """The picture as an address that holds it."""
    return "data:image/svg+xml;base64," + b64encode(svg.encode()).decode()


def _box(course: Course, curve: Curve, place: int) -> dict[str, object]:
    values = [value for _, value in curve.points]
    settled = [value for step, value in curve.points if step > SETTLING * course.steps] or values
    low, high = min(settled), max(settled)
    left, top = place % IN_A_ROW * (WIDE + GAP), place // IN_A_ROW * (TALL + TITLE + GAP) + TITLE

    def x(step: int) -> float:
        return round(left + WIDE * step / max(course.steps, 1), 1)

    def y(value: float) -> float:
        share = (high - value) / (high - low) if high > low else 0.5
        return round(top + TALL * min(1.0, max(0.0, share)), 1)

    return {
        "name": curve.name,
        "left": left,
        "top": top,
        "line": " ".join(f"{x(step)},{y(value)}" for step, value in curve.points),
        "chosen": x(course.chosen),
        "said": f"{values[0]:g} → {values[-1]:g}",
    }
