"""CTGAN or TVAE of SDV's library ``ctgan``, on the training rows in the folder of the command line.

``train.csv`` holds the rows and ``asked.json`` the model's name, the levelled columns, how many rows are wanted, a seed
and the processor seconds that fitting may take: epochs go on until they are over. Leaves ``synthetic.csv`` and, in
``answer.json``, the processor seconds that fitting took, its preparation of the rows among them, and the epochs.
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ctgan
import numpy as np
import pandas as pd
import torch
from tables import seconds

MOST = 10_000


class Clock:
    """Stands in for the progress bar around the library's loop over epochs, and ends the loop when time is up."""

    def __init__(self, limit: float):
        self.limit, self.epochs = seconds() + limit, 0

    def __call__(self, epochs: range, **_: Any) -> Iterator[int]:
        for epoch in epochs:
            if seconds() > self.limit:
                return
            self.epochs += 1
            yield epoch


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    asked = json.loads((folder / "asked.json").read_text())
    for sow in (random.seed, np.random.seed, torch.manual_seed):
        sow(asked["seed"])
    train = pd.read_csv(folder / "train.csv", dtype=dict.fromkeys(asked["levelled"], str), keep_default_na=False)
    model = getattr(ctgan, asked["model"])(epochs=MOST, enable_gpu=False)
    started, clock = seconds(), Clock(asked["seconds"])
    sys.modules[type(model).__module__].tqdm = clock  # type: ignore[attr-defined]
    model.fit(train, asked["levelled"])
    answer = {"seconds": seconds() - started, "epochs": clock.epochs}
    model.sample(asked["rows"]).to_csv(folder / "synthetic.csv", index=False)
    (folder / "answer.json").write_text(json.dumps(answer))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
