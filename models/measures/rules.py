"""Whether synthetic rows keep the rules that the schema states."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from models.estimates import share
from models.evidence import Evidence
from models.finding import Finding, Group, Unit
from models.measures import Measure
from models.randomness import Seed
from models.rules import Condition, Implication, Order, Rule, Total, code_of
from models.schema import TEMPORAL, TICKS_PER_DAY, Column
from models.table import Booleans, Floats, Table

AFTER, BEFORE = "Broken rules", "Broken rules, training rows"
QUESTIONS = {
    AFTER: "How many synthetic rows break this rule of the schema?",
    BEFORE: "How many training rows broke this rule of the schema before?",
}
ROUNDING = 1e-9
"""Sums of decimals are equal to within this share of their size."""


class Rules(Measure):
    """The share of synthetic rows that break a rule of the schema, for each rule, and next to it the shares of training
    and of held-out rows that do: rules are rarely kept by all real rows, and a generator that keeps them no better is
    no worse than its source. Reported; ``limit`` gates.
    """

    kind: Literal["rules"] = "rules"
    limit: float | None = Field(default=None, ge=0, le=1, description="limit of synthetic rows; null reports only")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        if not evidence.rules:
            return (self._finding(AFTER, reason="the schema states no rule", n=len(evidence.synthetic)),)
        return tuple(finding for rule in evidence.rules for finding in self._of(rule, evidence))

    def _of(self, rule: Rule, evidence: Evidence) -> tuple[Finding, Finding]:
        usual = float(broken(rule, evidence.holdout).mean()) if len(evidence.holdout) else None
        return (
            self._share(AFTER, rule, evidence.synthetic, usual, self.limit),
            self._share(BEFORE, rule, evidence.train, usual, None),
        )

    def _share(self, name: str, rule: Rule, table: Table, usual: float | None, limit: float | None) -> Finding:
        found = share(int(broken(rule, table).sum()), len(table))
        return self._finding(
            name,
            estimate=found.value,
            interval=found.interval,
            control=usual,
            n=len(table),
            limit=limit,
            where=rule.text,
        )

    def _finding(self, name: str, **more: object) -> Finding:
        settings = {"group": Group.FIDELITY, "unit": Unit.SHARE, "estimate": None, **more}
        return Finding.model_validate({"measure": self.kind, "name": name, "question": QUESTIONS[name], **settings})


def broken(rule: Rule, table: Table) -> Booleans:
    """Which rows break the rule, shape (rows,)."""
    match rule:
        case Order():
            return _amounts(table, rule.lower) > _amounts(table, rule.upper)
        case Total():
            total, parts = table[rule.total], table.select(rule.of).values.sum(axis=1)
            rounding = ROUNDING * np.maximum(1.0, np.abs(total))
            return np.asarray(np.abs(total - parts) > rule.tolerance + rounding)
        case Implication():
            return _holds(rule.when, table) & ~_holds(rule.then, table)


def _amounts(table: Table, name: str) -> Floats:
    """The cells, times in the finest ticks there are, so that columns of any two resolutions can be compared."""
    column = table.columns[table.names.index(name)]
    if column.kind not in TEMPORAL:
        return table[name]
    return table[name] * (TICKS_PER_DAY["nanosecond"] // TICKS_PER_DAY[column.resolution or "day"])


def _holds(condition: Condition, table: Table) -> Booleans:
    column, cells = table.columns[table.names.index(condition.column)], table[condition.column]
    held = np.isnan(cells) if None in condition.is_ else np.zeros(len(cells), dtype=np.bool_)
    for value in condition.is_:
        if value is not None:
            held = held | (cells == _number(column, value))
    if condition.at_least is None and condition.at_most is None:
        return held
    within = ~np.isnan(cells)
    if condition.at_least is not None:
        within &= cells >= column.number(condition.at_least)
    if condition.at_most is not None:
        within &= cells <= column.number(condition.at_most)
    return held | within


def _number(column: Column, value: bool | int | float | str) -> float:
    """A value of a condition in model form."""
    if column.numeric:
        return column.number(value)
    code = code_of(column, value)
    assert code is not None
    return float(code)
