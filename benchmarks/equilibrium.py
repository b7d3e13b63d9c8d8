"""What becomes of a generator and its critic under the sum of their losses, and under steps of their own.

    python benchmarks/equilibrium.py

The smallest pair there is: a generator that is one number g, a critic of slope c, real rows of mean 1. The critic
wants L = c (g - 1) small, the generator wants -L small: a zero-sum pair, whose only equilibrium is c = 0, g = 1. Both
start at c = 0.5, g = 3 and take 2,000 steps of 0.05. A line per way: the gradient's norm at the start, where it ends
and how far that is from the equilibrium. ``sum`` has both follow L + (-L), the literal cooperative loss; ``together``
has each follow its own loss at once, ``in turn`` the generator after the critic. With ``penalty``, c² / 2 is added to
the critic's loss: half the square of its slope, a gradient penalty around 0 (R1).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

STEPS = 2000
RATE = 0.05
START = (0.5, 3.0)
REAL = 1.0


@dataclass(frozen=True)
class Way:
    name: str
    summed: bool = False
    turns: bool = False
    penalty: float = 0.0

    def slopes(self, critic: Tensor, generator: Tensor) -> tuple[Tensor, Tensor]:
        """The gradient that each of the two follows."""
        lost = critic * (generator - REAL)
        losses = (lost + self.penalty * critic**2 / 2, -lost)
        asked = (sum(losses),) * 2 if self.summed else losses
        pair = zip(asked, (critic, generator), strict=True)
        first, second = (torch.autograd.grad(loss, own, retain_graph=True)[0] for loss, own in pair)
        return first, second

    def run(self) -> tuple[float, float, float]:
        """The norm of the first gradient, and the critic and the generator at the end."""
        critic, generator = (torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in START)
        first = float(torch.stack(self.slopes(critic, generator)).norm())
        for _ in range(STEPS):
            slopes = self.slopes(critic, generator)
            with torch.no_grad():
                critic -= RATE * slopes[0]
            if self.turns:
                slopes = self.slopes(critic, generator)
            with torch.no_grad():
                generator -= RATE * slopes[1]
        return first, critic.item(), generator.item()


WAYS = (
    Way("sum", summed=True),
    Way("together"),
    Way("in turn", turns=True),
    Way("penalty, together", penalty=1.0),
    Way("penalty, in turn", turns=True, penalty=1.0),
)


def main() -> None:
    print(f"{'way':18} {'gradient':>8} {'c':>9} {'g':>9} {'distance':>9}")
    for way in WAYS:
        gradient, critic, generator = way.run()
        distance = (critic**2 + (generator - REAL) ** 2) ** 0.5
        print(f"{way.name:18} {gradient:8.3f} {round(critic, 3) + 0.0:9.3f} {generator:9.3f} {distance:9.3f}")


if __name__ == "__main__":
    main()
