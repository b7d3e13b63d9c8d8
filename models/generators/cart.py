"""Sequential classification and regression trees: each column is drawn given the columns before it.

The method of synthpop (J. Stat. Softw. 74(11), 2016, doi 10.18637/jss.v074.i11), on codes: a leaf holds how often each
code of the schema's bins or levels was seen there, never a donor's value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from models.association import association
from models.bins import Codes
from models.errors import Fault, SynthesisError, nearest
from models.generators import Generator, Sampler
from models.randomness import Seed
from models.schema import Column
from models.state import State
from models.table import Floats, Integers, Table
from models.trees import ConditionalTree, Splits, grow

CLASSES = 32
"""So many of a column's codes are told apart when splits are looked for, the commonest first; leaves tell all apart."""

LOOKED_AT = 4_000
"""So many rows decide which columns are the most associated."""


@dataclass(frozen=True, eq=False)
class Step:
    """How one column is drawn: from the columns ``given``, each seen through its ``views``, by ``tree``.

    A levelled column's view puts its codes (the last one is missing) in the order of what they tell about this one;
    a number's view is empty, as its codes have an order: its missing value stands below all of them.
    """

    column: int
    given: tuple[int, ...]
    views: tuple[Integers, ...]
    tree: ConditionalTree

    def predictors(self, codes: Sequence[Integers], counts: Sequence[int]) -> NDArray[np.float32]:
        """What the tree sees of rows given as codes by column, shape (rows, given)."""
        seen = np.empty((len(codes[self.column]), len(self.given)), dtype=np.float32)
        for place, (j, view) in enumerate(zip(self.given, self.views, strict=True)):
            seen[:, place] = view[codes[j]] if len(view) else np.where(codes[j] == counts[j], -1, codes[j])
        return seen
