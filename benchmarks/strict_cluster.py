"""What a stricter policy for one cluster of rows does there, and what it leaves of the others.

    python benchmarks/strict_cluster.py --table TABLE.csv --strata COLUMN --sensitive COLUMN --target COLUMN
        [--test TEST.csv] [--without COLUMN ...] [--rows 1400] [--seeds 5] [--weight 1]

At most ``--rows`` rows are divided by the strata of a column. First all clusters share one training of HydraGAN; then
the last one has a training of its own, with ``--weight`` of re-identification, and the others share theirs. A line for
each cluster and way, with its share of the rows. The figures are those of ``benchmarks/reidentification.py``, of
attackers and users who learned the synthetic rows of the cluster and are asked about unseen rows of the same cluster;
``auc-gone``, ``bits-gone`` and ``cost`` compare with the same cluster before, seed by seed. ``-`` are real rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from reidentification import DRAWN, FIGURES, Case, case, line

from models import generators, joins, partitioners
from models.generators import Generator
from models.partition import Assignment
from models.partitioners import Partitioner, RowPartitioner
from models.randomness import Seed
from models.synthesis import Recipe, fitted
from models.table import Floats, Table


@dataclass(frozen=True)
class Clusters:
    """The strata of a column, and of each its training and its unseen rows."""

    whole: Table
    partitioner: Partitioner
    assignment: Assignment
    cases: tuple[Case, ...]

    @classmethod
    def of(cls, whole: Case, strata: str) -> Self:
        partitioner = partitioners.catalog.build({"by": "rows", "kind": "strata", "column": strata})
        assert isinstance(partitioner, RowPartitioner)
        assignment = partitioner.partition(whole.train, Seed.of(0))
        unseen = partitioner.placing(whole.train, assignment)(whole.test)
        cases = [
            Case(whole.train.take(assignment.rows == each), whole.test.take(unseen == each), *whole.asked)
            for each in range(len(assignment.names))
        ]
        return cls(whole.train, partitioner, assignment, tuple(cases))

    def measured(self, own: Mapping[str, Generator], seeds: int) -> dict[str, Floats]:
        """By cluster, shape (seeds, figures), where some have generators of their ``own``."""
        join = joins.catalog.build("concatenation")
        recipe = Recipe(self.partitioner, generators.catalog.build("hydragan"), own, join)
        found: dict[str, list[list[float]]] = {name: [] for name in self.assignment.names}
        for number in range(seeds):
            pools = fitted(self.whole, self.assignment, recipe, Seed.of(number))
            made = pools(0, [DRAWN] * len(self.cases))
            for name, each, drawn in zip(found, self.cases, made, strict=True):
                found[name].append(each.figures(drawn))
        return {name: np.array(figures) for name, figures in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--test", type=Path)
    parser.add_argument("--strata", required=True)
    parser.add_argument("--sensitive", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--rows", type=int, default=1400)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--weight", type=float, default=1.0)
    given = parser.parse_args()
    clusters = Clusters.of(
        case(given.table, given.test, given.sensitive, given.target, given.without, given.rows), given.strata
    )
    names, told = clusters.assignment.names, clusters.assignment.told.clusters
    for name, cluster, each in zip(names, told, clusters.cases, strict=True):
        print(f"{name}: {cluster.what}, {len(each.train):,} rows and {len(each.test):,} unseen ones")
    print(f"{'':20}", *(f"{name:>13}" for name in (*FIGURES, "auc-gone", "bits-gone", "cost")))
    for name, each in zip(names, clusters.cases, strict=True):
        line(f"{name}, -", np.array([each.figures(each.train)]), None)
    before = clusters.measured({}, given.seeds)
    for name, figures in before.items():
        line(f"{name}, shared", figures, None)
    strict = generators.catalog.build({"kind": "hydragan", "reidentification": given.weight})
    for name, figures in clusters.measured({names[-1]: strict}, given.seeds).items():
        line(f"{name}, {'strict' if name == names[-1] else 'other'}", figures, before[name])


if __name__ == "__main__":
    main()
