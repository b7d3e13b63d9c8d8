"""The objectives that settings ask for, built for a table. Importing this module imports torch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from models.hydra.encoding import Encoded, Encoding
from models.hydra.networks import Blocks, Critic
from models.hydra.objectives import Accuracy, Distribution, Diversity, Objective, Question, Realism, Reidentification
from models.hydra.settings import Settings
from models.schema import Role
from models.table import Integers

LOOKED_AT = 10_000
"""So many rows tell the spread of features."""


@dataclass(frozen=True, eq=False)
class Aims:
    """What objectives are built from; ``heads`` in number, and ``rows`` to learn from."""

    settings: Settings
    encoding: Encoding
    encoded: Encoded
    rows: Integers
    heads: int
    blocks: Blocks

    def objectives(self) -> list[Objective]:
        """The objectives of a weight, on the settings' device; one that asks nothing of this table is left out."""
        settings = self.settings
        found: list[Objective] = []
        if settings.realism:
            found.append(self._realism())
        if settings.distribution:
            found.append(self._distribution())
        if settings.reidentification and (asked := self.questions(Role.SENSITIVE)):
            found.append(Reidentification(settings.reidentification, asked, settings.attack))
        if settings.diversity:
            found.append(Diversity(settings.diversity, self.blocks))
        if settings.accuracy and (asked := self.questions(Role.TARGET)):
            found.append(Accuracy(settings.accuracy, asked))
        return [objective.to(settings.device) for objective in found]

    def questions(self, role: Role) -> list[Question]:
        """One for each column of the role; a column that has a single value, or stands alone, poses none."""
        owners = self.encoded.layout.owners
        return [
            self._question(j)
            for j, field in enumerate(self.encoding.fields)
            if field.codes.column.role is role and (not field.hot or field.width > 1) and (owners != j).any()
        ]

    def _question(self, column: int) -> Question:
        field, layout = self.encoding.fields[column], self.encoded.layout
        mine, others = (np.flatnonzero(which) for which in (layout.owners == column, layout.owners != column))
        answer, around = torch.from_numpy(mine if field.hot else mine[:1]), torch.from_numpy(others)
        return Question(answer, around, field.hot).to(self.settings.device)

    def _realism(self) -> Realism:
        settings, layout = self.settings, self.encoded.layout
        inputs, alone = layout.width + len(layout.hot), settings.critic == "conditional"
        critic = Critic(
            self.heads, inputs, settings.hidden, settings.packing, settings.critic_form, conditional=alone
        )  # fmt: skip
        return Realism(settings.realism, critic, self.blocks, settings.lipschitz)

    def _distribution(self) -> Distribution:
        rows = self.encoded.rows(self.rows[:: max(1, len(self.rows) // LOOKED_AT)], 0.5)
        means, deviations = (torch.from_numpy(each) for each in (rows.mean(axis=0), rows.std(axis=0)))
        return Distribution(self.settings.distribution, means, deviations)
