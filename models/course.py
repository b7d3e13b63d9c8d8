"""How a training in steps went, as it may be told: its losses, its held-out scores, and the step that was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from models.facts import rounded
from models.schema import Frozen

SCORE = "held-out score"


class Curve(Frozen):
    """Values by step, to three decimals: to its last digit, a loss would be a fingerprint of real rows."""

    name: str
    points: tuple[tuple[int, float], ...]


class Course(Frozen):
    """The course of one training of ``heads`` heads, of which ``collapsed`` generate rows that hardly vary.

    ``chosen`` is the step of the checkpoint that was kept: that of the best held-out score, or else the last one.
    """

    name: str
    steps: int
    chosen: int
    heads: int
    collapsed: int
    curves: tuple[Curve, ...]

    @property
    def said(self) -> str:
        """All but the curves, in a sentence."""
        lost = f"{self.collapsed} of {self.heads} heads have collapsed" if self.collapsed else "no head has collapsed"
        heads = "one head" if self.heads == 1 else f"{self.heads} heads"
        scored = any(curve.name == SCORE for curve in self.curves)
        why = "" if scored else ", the last, since there were no held-out rows to choose by"
        return f"{self.steps:,} steps of {heads}; the checkpoint of step {self.chosen:,} was kept{why}; {lost}"


def course(name: str, facts: Sequence[Mapping[str, Any]]) -> Course | None:
    """The course of the training that the samplers with these ``facts`` came of; None if it was not one in steps.

    A sampler of such a training has the facts ``shape.heads``, ``collapsed`` (heads) and ``training``: ``step``,
    ``chosen``, ``losses`` (by name, pairs of a step and a value) and ``scores`` (such pairs, smaller is better).
    """
    if "training" not in facts[0]:
        return None
    training = facts[0]["training"]
    curves = {**({SCORE: training["scores"]} if training["scores"] else {}), **training["losses"]}
    return Course(
        name=name,
        steps=training["step"],
        chosen=training["chosen"],
        heads=sum(each["shape"]["heads"] for each in facts),
        collapsed=sum(len(each["collapsed"]) for each in facts),
        curves=tuple(Curve(name=curve, points=tuple(map(tuple, rounded(points)))) for curve, points in curves.items()),
    )
