"""How a table is divided among generators: its columns in disjoint parts, or its rows in disjoint clusters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, TypeAdapter, model_validator

from models.schema import Frozen
from models.table import Booleans, Integers, Table


class Division(Frozen):
    """What may be told of a divided table: the parts that one generator each learns, and the reason."""

    reason: str

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The parts' names, in order. They are names of files and of random streams, too."""

    @abstractmethod
    def columns_of(self, name: str) -> tuple[str, ...]:
        """The columns of the part called ``name``."""

    @property
    @abstractmethod
    def of_columns(self) -> Partition:
        """The parts of columns: one, of all of them, where rows were divided."""


class Part(Frozen):
    """Columns that one generator learns together."""

    name: str
    columns: tuple[str, ...]

    def of(self, train: Table) -> Table:
        """What the generator learns."""
        return train.select(self.columns)


class Partition(Division):
    """Disjoint parts that cover the modelled columns.

    ``ratio`` is the Frobenius norm of the associations between parts over that within parts (Disjoint Generative
    Models, arXiv 2507.19700): below about 0.3 a validator has too little to go by, and much above it there is much
    that a join must recover. None where there is one part.
    """

    by: Literal["columns"] = "columns"
    parts: tuple[Part, ...]
    ratio: float | None = None

    @model_validator(mode="after")
    def _disjoint(self) -> Self:
        columns = [name for part in self.parts for name in part.columns]
        if len(set(columns)) != len(columns):
            raise ValueError("a column stands in two parts")
        if len({part.name for part in self.parts}) != len(self.parts):
            raise ValueError("two parts have the same name")
        if any(not part.columns for part in self.parts):
            raise ValueError("a part has no column")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts)

    def columns_of(self, name: str) -> tuple[str, ...]:
        return next(part.columns for part in self.parts if part.name == name)

    @property
    def of_columns(self) -> Partition:
        return self

    @property
    def told(self) -> Partition:
        """All of it: which columns stand together is a decision about the table, not about a person."""
        return self


class Cluster(Frozen):
    """Rows that one generator learns together, as they may be told: how many of a hundred rows, and which.

    ``what`` names the levels of a stratum, which are the schema's; it is empty where the rows are merely alike.
    """

    name: str
    share: float = Field(ge=0, le=1, description="share of the training rows, to a hundredth")
    what: str = ""

    @property
    def said(self) -> str:
        """Which rows they are, in words."""
        about = f"about {100 * self.share:.0f} % of the rows"
        return f"{about}; {self.what}" if self.what else about


class Clustering(Division):
    """Disjoint clusters of rows, each of which has all ``columns``: the part of an ``Assignment`` that is published.

    Published are the number of clusters, their shares of the training rows to a hundredth, and the levels of strata.
    Which row is in which cluster, the exact sizes and the clusters' centres are private. None of it carries noise: it
    costs no budget, and a claim of differential privacy for the whole release cannot be made beside it. Such a claim
    would have to pay for the centres (a private k-means) or take strata, and for the sizes (noise of scale 1/epsilon in
    each); only then do the budgets of the clusters' generators count once and not add up, since nobody is in two.
    """

    by: Literal["rows"] = "rows"
    clusters: tuple[Cluster, ...] = Field(min_length=1)
    columns: tuple[str, ...]

    @model_validator(mode="after")
    def _named_apart(self) -> Self:
        if len(set(self.names)) != len(self.clusters):
            raise ValueError("two clusters have the same name")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(cluster.name for cluster in self.clusters)

    def columns_of(self, name: str) -> tuple[str, ...]:
        return self.columns

    @property
    def of_columns(self) -> Partition:
        return Partition(parts=(Part(name="all", columns=self.columns),), reason=self.reason)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that one generator learns together: which of the training rows they are, shape (training rows,). Private."""

    name: str
    chosen: Booleans

    def of(self, train: Table) -> Table:
        """What the generator learns."""
        return train.take(self.chosen)


@dataclass(frozen=True, eq=False)
class Assignment:
    """A clustering with the cluster of every training row: private, and never published.

    ``rows`` has shape (training rows,): positions in ``told.clusters``. Raises ValueError for others.
    """

    told: Clustering
    rows: Integers

    def __post_init__(self) -> None:
        if self.rows.ndim != 1 or not np.isin(self.rows, np.arange(len(self.told.clusters))).all():
            raise ValueError("a row is in none of the clusters")
        rows = self.rows.view()
        rows.setflags(write=False)
        object.__setattr__(self, "rows", rows)

    @property
    def names(self) -> tuple[str, ...]:
        return self.told.names

    @property
    def parts(self) -> tuple[Rows, ...]:
        return tuple(Rows(name, self.rows == place) for place, name in enumerate(self.names))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Training rows of each cluster."""
        return tuple(np.bincount(self.rows, minlength=len(self.names)).tolist())

    def quota(self, n: int) -> tuple[int, ...]:
        """``n`` rows in the clusters' proportions, by largest remainders; of equal ones the earlier cluster's."""
        return largest_remainders(self.sizes, n)


Divided = Partition | Assignment
"""A divided training table: the ``parts`` that one generator each learns, and what may be ``told`` of it."""


def division(said: object) -> Partition | Clustering:
    """What was told of a divided table, from its JSON."""
    either: TypeAdapter[Partition | Clustering] = TypeAdapter(
        Annotated[Partition | Clustering, Field(discriminator="by")]
    )
    return either.validate_python(said)


def largest_remainders(sizes: Sequence[int], n: int) -> tuple[int, ...]:
    """``n`` in whole numbers, in proportion to ``sizes``, of which one at least is positive."""
    total = sum(sizes)
    whole = [size * n // total for size in sizes]
    remainders = [size * n % total for size in sizes]
    first = sorted(range(len(sizes)), key=lambda place: (-remainders[place], place))[: n - sum(whole)]
    return tuple(count + (place in first) for place, count in enumerate(whole))
