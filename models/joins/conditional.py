"""Each part drawn given the parts before it, so that rows belong together from the start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from models.joins import Join, Joiner
from models.joins.concatenation import SideBySide
from models.pairing import aligned
from models.randomness import Seed
from models.table import Table

SEEN = "the model of each part but the first has learnt from the real rows of all parts before it, too"
"""What the facts tell of the separation of parts, which this join gives up."""


class Conditional(Join):
    """Each part is drawn given the parts before it, row by row, by a generator that has learnt it given them.

    The later generators learn their own columns given the others from real rows, so they have to be of a kind that can;
    the first may be of any kind. Rows then belong together from the start: nothing is learnt for the join, and nothing
    is put in another order, dropped or repeated.

    The parts are no longer apart. With every other join a generator sees the columns of its part alone, and the join
    alone sees whole rows; here the model of the last part has learnt from all columns, and one in the middle from its
    own and all before. What rests on the separation does not hold: that whoever trains or keeps the model of a part has
    no access to another part, that a model cannot have memorised what it has not seen, or that a part's privacy budget
    is about that part alone. What should be seen by itself belongs in the first part, whose model learns as ever, and
    what nobody should see beside it has no place in a part behind it. The audit's findings mean what they always do.
    """

    kind: Literal["conditional"] = "conditional"

    def given(self, parts: Sequence[str], part: str) -> tuple[str, ...]:
        return tuple(parts[: parts.index(part)])

    def fit(self, parts: list[Table], seed: Seed) -> Joiner:
        aligned(parts)
        return SideBySide({"models": SEEN} if len(parts) > 1 else {})
