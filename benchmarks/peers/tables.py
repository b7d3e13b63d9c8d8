"""The three tables of a planted leak, as a peer's own environment reads them, and the clock it is timed by.

Runs inside the peers' environments: pandas and the standard library only.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd


@dataclass(frozen=True)
class Tables:
    """Three tables of the same columns. Cells of the ``levelled`` ones are text, ``parts`` are two disjoint halves."""

    train: pd.DataFrame
    holdout: pd.DataFrame
    synthetic: pd.DataFrame
    levelled: list[str]
    known: list[str]
    parts: tuple[list[str], list[str]]
    secret: str
    target: str

    @classmethod
    def at(cls, folder: Path) -> Tables:
        said = json.loads((folder / "columns.json").read_text())
        types = dict.fromkeys(said["levelled"], str)
        read = [
            pd.read_csv(folder / f"{name}.csv", dtype=types, keep_default_na=False).astype(dict.fromkeys(types, object))
            for name in ("train", "holdout", "synthetic")
        ]
        return cls(*read, **said)


def seconds() -> float:
    """Processor seconds so far, of this process, its threads and its finished children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def answer(peer: str, figures: Callable[[Tables], Mapping[str, float]]) -> None:
    """Writes ``PEER.json`` into each folder of the command line: the figures and the processor seconds they took."""
    for folder in map(Path, sys.argv[1:]):
        tables = Tables.at(folder)
        started = seconds()
        found = {name: float(value) for name, value in figures(tables).items()}
        said = {"figures": found, "seconds": seconds() - started}
        (folder / f"{peer}.json").write_text(json.dumps(said))
