"""Facts about what was fitted, as they may be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def rounded(facts: Any) -> Any:
    """Facts to three decimals, however nested: to its last digit, a figure would be a fingerprint of real rows."""
    if isinstance(facts, Mapping):
        return {name: rounded(each) for name, each in facts.items()}
    if isinstance(facts, (list, tuple)):
        return [rounded(each) for each in facts]
    return round(facts, 3) if isinstance(facts, float) else facts
