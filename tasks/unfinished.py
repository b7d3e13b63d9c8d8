"""Training that was ended before its time, kept so that the next run goes on with it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from models.errors import StateError
from models.state import State
from tasks.store import read_json, read_state, whole_folder, write_json, write_state

log = logging.getLogger("parquetry")


@dataclass(frozen=True)
class Unfinished:
    """A keeper of unfinished training in ``folder``. That of a fit with another ``key`` is not taken up."""

    folder: Path
    key: str

    def load(self) -> State | None:
        try:
            if read_json(self.folder / "of.json") != {"key": self.key}:
                return None
            state = read_state(self.folder / "state")
        except StateError:
            return None
        log.info("training goes on where it was ended")
        return state

    def save(self, state: State) -> None:
        with whole_folder(self.folder, replace=True) as beside:
            write_state(state, beside / "state")
            write_json({"key": self.key}, beside / "of.json")
