"""What can be set about the multi-head generator's networks, objectives and training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from models.errors import Fault
from models.schema import Column, Frozen, Role

STEPS = 40
"""So many steps per square root of the number of rows, unless they are given."""

FEWEST_STEPS = 20
MOST_STEPS = 4000


class Settings(Frozen):
    """Weights are shares in the generator's loss; 0 leaves an objective out."""

    clusters: int | None = Field(
        default=None,
        ge=1,
        description="heads, one per cluster of rows where the rows are not divided already; null finds their number by "
        "the elbow, 8 at most, and takes one where the rows form no groups",
    )
    steps: int | None = Field(
        default=None, ge=1, description="training steps; null takes 40 per square root of the rows, 4,000 at most"
    )
    seconds: float | None = Field(
        default=None,
        gt=0,
        description="training ends after so many seconds even if steps are left; what comes out then depends on the "
        "machine and cannot be made again",
    )
    batch: int = Field(default=256, ge=2, description="rows per step, of all heads together, at most")
    hidden: int = Field(default=128, ge=1, description="width of the generator's and the critics' hidden layers")
    noise: int = Field(default=64, ge=1, description="random numbers that a row is made from")
    packing: int = Field(default=1, ge=1, le=16, description="rows that a critic judges together")
    learning_rate: float = Field(default=2e-3, gt=0, description="Adam's, at the start; it falls to 2 % in a line")
    critic_steps: int = Field(default=1, ge=1, description="steps of the agents per step of the generator")
    averaging: float = Field(default=0.99, ge=0, lt=1, description="how much of the averaged weights a step keeps")
    temperature: float = Field(default=0.3, gt=0, description="Gumbel-softmax: smaller is closer to one level")
    activation: Literal["relu", "signed-log", "log-leaks"] = Field(
        default="relu", description="of the generator; the last two are candidates for HydraGAN's Equation 1"
    )
    critic: Literal["conditional", "per-head"] = Field(
        default="conditional", description="one critic that is told the head, or one for each head"
    )
    critic_form: Literal["dense", "convolution"] = Field(
        default="dense", description="dense layers, or HydraGAN's convolution over the features before them"
    )
    lipschitz: Literal["penalty", "clipping"] = Field(
        default="penalty", description="what keeps critics from growing steep: a gradient penalty, or clipped weights"
    )
    realism: float = Field(default=1.0, ge=0, description="weight: a critic cannot tell generated rows from real ones")
    distribution: float = Field(
        default=1.0, ge=0, description="weight: means and second moments of batches agree, head by head"
    )
    reidentification: float = Field(
        default=0.0,
        ge=0,
        description="weight: attackers cannot tell columns of the role 'sensitive' from the others; up to 1 it is also "
        "the share of the rows to learn from in which those columns are another row's",
    )
    diversity: float = Field(default=0.0, ge=0, description="weight: columns vary as much as real ones")
    accuracy: float = Field(
        default=0.0, ge=0, description="weight: columns of the role 'target' follow from the others as they really do"
    )
    attack: Literal["gain", "marginal", "quadratic"] = Field(
        default="gain",
        description="what re-identification asks for: generated answers no likelier to the attackers than by their "
        "shares, predictions like the shares, or (the paper's) predictions far from the answers",
    )
    gate: Literal["relative", "absolute", "none"] = Field(
        default="relative",
        description="re-identification starts once the earth mover's distance has halved, is below 0.3, or at once",
    )
    scalarisation: Literal["weights", "hypervolume"] = Field(
        default="weights", description="how the objectives become one loss; hypervolume favours the worst one"
    )
    held_out: float = Field(
        default=0.15, ge=0, le=0.5, description="share of the training rows that are kept to choose a checkpoint by"
    )
    checkpoints: int = Field(default=5, ge=1, description="so often a checkpoint is scored, evenly over the steps")
    k: int = Field(default=10, ge=1, description="so many training rows a range of numbers has at least, peaks apart")
    device: Literal["cpu", "cuda", "auto"] = Field(
        default="cpu",
        description="where to train; results differ between devices, of which auto takes cuda if it is there",
    )

    @property
    def loose(self) -> float:
        """In what share of the rows to learn from sensitive columns have nothing to do with the others: the weight of
        re-identification, 1 at most. The paper's attackers know rows as they are, and nothing else is done there.
        """
        return 0.0 if self.attack == "quadratic" else min(1.0, self.reidentification)

    def faults(self, columns: Sequence[Column]) -> list[Fault]:
        """What makes the settings impossible for a table of ``columns``."""
        asked = (
            ("reidentification", self.reidentification, Role.SENSITIVE),
            ("accuracy", self.accuracy, Role.TARGET),
        )
        found = [
            Fault(
                name,
                f"no column has the role '{role.value}'",
                f"give a column of this part the role '{role.value}', or set '{name}' to 0",
            )
            for name, weight, role in asked
            if weight and not any(column.role is role for column in columns)
        ]
        if not any((self.realism, self.distribution)):
            wrong = "neither realism nor distribution has a weight, so nothing would draw rows towards the table"
            found.append(Fault("realism", wrong, "give one of them a weight"))
        return found

    def steps_for(self, rows: int) -> int:
        return self.steps or int(min(max(STEPS * rows**0.5, FEWEST_STEPS), MOST_STEPS))

    def batch_of(self, heads: int, rows: int) -> int:
        """Rows per head and step: two packs at least, and an even number of packs."""
        pair = 2 * self.packing
        return max(pair, min(self.batch, max(32, rows)) // heads // pair * pair)
