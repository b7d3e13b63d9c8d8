"""What becomes of a generator and its critic under the sum of their losses, and under steps of their own.

    python benchmarks/equilibrium.py

The smallest pair there is: a generator that is one number g, a critic of slope c, real rows of mean 1. The critic
wants L = c (g - 1) small, the generator wants -L small: a zero-sum pair, whose only equilibrium is c = 0, g = 1. Both
start at c = 0.5, g = 3 and take 2,000 steps of 0.05. A line per way: the gradient's norm at the start, where it ends
and how far that is from the equilibrium. ``sum`` has both follow L + (-L), the literal cooperative loss; ``together``
has each follow its own loss at once, ``in turn`` the generator after the critic. With ``penalty 0``, c² / 2 is added to
the critic's loss: half the square of its slope, a gradient penalty around 0 (R1); with ``penalty 1``, (|c| - 1)² / 2,
around 1 (WGAN-GP).

Then a pair that has something to learn: a generator m + s z of standard normal z, from m = 0, s = 1, and a Wasserstein
critic of 16 hidden units, the mean square of whose slope is added to its loss; real rows are normal with mean 2 and
deviation 0.5. A line per way: the norm of the generator's first gradient, m and s after 600 steps of Adam, and the
earth mover's distance between the two normals (1,001 quantiles). ``sum`` comes twice, as the penalty may be let depend
on the generator: its points lie between real and generated rows. The critic takes two steps to the generator's one.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

STEPS = 2000
RATE = 0.05
START = (0.5, 3.0)
REAL = 1.0

LEARNING = 600
BATCH = 256
MEAN, DEVIATION = 2.0, 0.5


@dataclass(frozen=True)
class Way:
    name: str
    summed: bool = False
    turns: bool = False
    penalty: float = 0.0
    around: float = 0.0

    def slopes(self, critic: Tensor, generator: Tensor) -> tuple[Tensor, Tensor]:
        """The gradient that each of the two follows."""
        lost = critic * (generator - REAL)
        losses = (lost + self.penalty * (critic.abs() - self.around) ** 2 / 2, -lost)
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


class Normals:
    """A normal generator and its critic; ``through`` lets the penalty's gradient reach the generator."""

    def __init__(self, *, summed: bool, through: bool = False):
        torch.manual_seed(0)
        self.summed, self.through = summed, through
        self.place, self.scale = (nn.Parameter(torch.tensor(value)) for value in (0.0, 1.0))
        self.critic = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))

    def losses(self) -> tuple[Tensor, Tensor]:
        """The critic's and the generator's, on rows drawn anew."""
        real, fake = MEAN + DEVIATION * torch.randn(BATCH, 1), self.place + self.scale * torch.randn(BATCH, 1)
        between = torch.lerp(fake if self.through else fake.detach(), real, torch.rand(BATCH, 1))
        if not between.requires_grad:
            between.requires_grad_()
        (slope,) = torch.autograd.grad(self.critic(between).sum(), between, create_graph=True)
        penalty = (slope**2).mean()
        told = self.critic(fake).mean() - self.critic(real).mean()
        return told + penalty, -told

    def run(self) -> float:
        """Trains; the norm of the generator's first gradient."""
        sides = (list(self.critic.parameters()), [self.place, self.scale])
        optimisers = [
            torch.optim.Adam(side, rate, betas=(0.5, 0.9)) for side, rate in zip(sides, (0.02, 0.01), strict=True)
        ]
        first = 0.0
        for step in range(LEARNING):
            for turn in (0, 0, 1):
                losses = self.losses()
                loss = sum(losses) if self.summed else losses[turn]
                slopes = torch.autograd.grad(loss, sides[turn], materialize_grads=True)
                for weight, slope in zip(sides[turn], slopes, strict=True):
                    weight.grad = slope
                optimisers[turn].step()
                if step == 0 and turn == 1:
                    first = float(torch.stack(slopes).norm())
        return first

    @torch.no_grad()
    def distance(self) -> float:
        normal = torch.distributions.Normal(0.0, 1.0).icdf((torch.arange(1001) + 0.5) / 1001)
        own = (self.place + self.scale * normal).sort().values
        return float((own - MEAN - DEVIATION * normal).abs().mean())


WAYS = (
    Way("sum", summed=True),
    Way("together"),
    Way("in turn", turns=True),
    Way("penalty 0, together", penalty=1.0),
    Way("penalty 0, in turn", turns=True, penalty=1.0),
    Way("penalty 1, together", penalty=1.0, around=1.0),
    Way("penalty 1, in turn", turns=True, penalty=1.0, around=1.0),
)


def main() -> None:
    torch.set_num_threads(1)
    print(f"{'way':28} {'gradient':>8} {'c':>9} {'g':>9} {'distance':>9}")
    for way in WAYS:
        gradient, critic, generator = way.run()
        distance = (critic**2 + (generator - REAL) ** 2) ** 0.5
        print(f"{way.name:28} {gradient:8.3f} {round(critic, 3) + 0.0:9.3f} {generator:9.3f} {distance:9.3f}")
    print(f"\n{'way':28} {'gradient':>8} {'m':>9} {'s':>9} {'distance':>9}")
    pairs = {
        "sum": Normals(summed=True),
        "sum, through the penalty": Normals(summed=True, through=True),
        "in turn, own losses": Normals(summed=False),
    }
    print(f"{'at the start':28} {'':8} {0:9.3f} {1:9.3f} {Normals(summed=True).distance():9.3f}")
    for name, pair in pairs.items():
        torch.manual_seed(1)
        gradient = pair.run()
        print(f"{name:28} {gradient:8.3f} {pair.place.item():9.3f} {pair.scale.item():9.3f} {pair.distance():9.3f}")


if __name__ == "__main__":
    main()
