"""The validator's join of disjoint-generation, on parts that lie in the folder of the command line.

``real-K.csv`` and ``pool-K.csv`` hold part K of the training rows and the drawn rows, ``asked.json`` how many parts
there are, how many rows are wanted, and which of the package's behaviours. Leaves ``joined-BEHAVIOUR.csv`` and, in
``answer.json``, the processor seconds of fitting the validator and of joining, and the rows.

The package's own front door imports its generators, and with them torch, which joining does not use; the two modules
that join are therefore imported without it. Each behaviour gets a validator of its own, since a validator keeps the
threshold that it last used.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType

import pandas as pd

NAME = "disjoint_generation"


def without_generators() -> None:
    package = ModuleType(NAME)
    package.__path__ = [str(distribution("disjoint-generation").locate_file(NAME))]
    sys.modules[NAME] = package


def main(folder: Path) -> None:
    without_generators()
    from disjoint_generation.utils.joining_strategies import UsingJoiningValidator
    from disjoint_generation.utils.joining_validator import JoiningValidator
    from sklearn.ensemble import RandomForestClassifier

    asked = json.loads((folder / "asked.json").read_text())
    real, pool = (
        {f"part-{k}": pd.read_csv(folder / f"{name}-{k}.csv") for k in range(asked["parts"])}
        for name in ("real", "pool")
    )
    answer = {}
    for behaviour in asked["behaviours"]:
        validator = JoiningValidator(RandomForestClassifier(n_estimators=100, max_depth=5), verbose=False)
        with contextlib.redirect_stdout(io.StringIO()):
            started = time.process_time()
            validator.fit_classifier(real, num_batches_of_bad_joins=2)
            fitted = time.process_time()
            strategy = UsingJoiningValidator(validator, behaviour=behaviour, max_size=asked["rows"])
            joined = strategy.join({name: part.copy() for name, part in pool.items()})
            ended = time.process_time()
        joined.to_csv(folder / f"joined-{behaviour}.csv", index=False)
        answer[behaviour] = {"fit": fitted - started, "join": ended - fitted}
    (folder / "answer.json").write_text(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
