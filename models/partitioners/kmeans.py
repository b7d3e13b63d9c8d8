"""Rows that are alike kept together, so that each generator learns one kind of row."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from models.clusters import MOST, Placing, alike, assigned, by_centres, cluster_names
from models.errors import Fault, SpecError
from models.partition import Assignment
from models.partitioners import RowPartitioner
from models.randomness import Seed
from models.table import Table


class Kmeans(RowPartitioner):
    """Clusters of rows that are alike, by k-means on the encoded table, in which every column counts alike.

    ``k`` clusters are sought. Without it, up to ``most`` are tried and the elbow of the within-cluster sum of squares
    is taken: the number at which the curve lies farthest below the chord from its first to its last point, both axes
    from 0 to 1 (Satopaa et al., "Finding a Kneedle in a Haystack", ICDCSW 2011). There always is one unless all rows
    are alike, so that it tells how many clusters are worth having, not whether the rows have any.

    Clusters of fewer than 50 rows, or of less than 5 % of them, go to the nearest other one, so that there may be fewer
    than were sought; the largest comes first. The idea is that of HydraGAN (arXiv 2111.07015), which splits the rows
    among the heads of one generator. What is published of clusters is told in ``models.partition.Clustering``.
    """

    kind: Literal["kmeans"] = "kmeans"
    k: int | None = Field(default=None, ge=1, le=MOST, description="clusters; by default the elbow says how many")
    most: int = Field(default=8, ge=3, le=MOST, description="the elbow is looked for among so many")

    def partition(self, table: Table, seed: Seed) -> Assignment:
        """Raises SpecError for more clusters than rows."""
        if self.k is not None and self.k > len(table):
            wrong = f"{self.k} clusters for {len(table):,} rows"
            raise SpecError(Fault("partitioner", wrong, f"ask for at most {len(table):,} clusters"))
        found = alike(table, self.k, self.most, seed)
        groups, sizes = np.unique(found.labels, return_counts=True)
        order = [group for _, group in sorted(zip(-sizes, groups, strict=True))]
        return assigned(table, found.labels, order, self._reason(found.sought, len(order)))

    def placing(self, train: Table, assignment: Assignment) -> Placing:
        return by_centres(train, assignment)

    def names(self) -> tuple[str, ...]:
        return cluster_names(self.k or self.most)

    def _reason(self, sought: int, found: int) -> str:
        if self.k is None:
            how = "by the elbow of the within-cluster sum of squares"
        else:
            how = "as asked" if sought == self.k else f"for want of {self.k} different rows"
        lost = f", {sought - found} of them too small and given to the nearest" if found < sought else ""
        told = f"{sought} sought {how}{lost}"
        if found == 1:
            return f"one cluster holds all rows, and one generator learns the undivided table: {told}"
        return f"rows that are alike kept together in {found} clusters: {told}"
