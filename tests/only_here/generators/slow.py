"""A generator that takes its time."""

import time
from typing import Literal

from models.generators import Generator
from models.generators.marginal import Marginal, MarginalSampler
from models.randomness import Seed
from models.table import Table


class Slow(Generator):
    """Learns as ``marginal`` does, but not before so many seconds have passed."""

    kind: Literal["slow"] = "slow"
    seconds: float

    sampler = MarginalSampler

    def fit(self, table: Table, seed: Seed) -> MarginalSampler:
        time.sleep(self.seconds)
        return Marginal().fit(table, seed)
