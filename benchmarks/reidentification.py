"""What the weight of re-identification buys: what an attacker learns of a sensitive column, and what remains of use.

    python benchmarks/reidentification.py --table TABLE.csv --sensitive COLUMN --target COLUMN [--test TEST.csv]
        [--without COLUMN ...] [--rows 1000] [--seeds 5] [--weights 0 0.3 1 3] [--plot FILE.svg]

HydraGAN learns at most ``--rows`` rows of the table with rising weights. The attacker is not one of its own: a random
forest that learned the sensitive column (one of levels) from synthetic rows and is asked about rows that no generator
saw, ``--test``'s or, without it, three tenths of the table. Columns ``--without`` are left out of everything. A line
per weight; ``-`` is the attack by the real training rows. Means over seeds with 95 % intervals (Student's t):

auc      the attacker's AUC, one level against the rest, mean over levels; a guess by the shares has 0.5
bits     how many bits likelier the true answers of unseen rows are to it than by the shares alone; a guess has 0
trained  the same of training rows: beyond ``bits``, it is what the release tells of those alone who are in it
useful   the AUC of the same forest for the target, the sensitive column left out
auc-gone, bits-gone  the share of the gain of weight 0 that is gone, ratio of means; cost  how much less useful (both
         by seed, against weight 0 of the same seed)
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pyarrow as pa
from hydragan import K, forest

from models.generators import catalog
from models.randomness import Seed
from models.schema import Role
from models.table import Floats, Table
from tasks.codec import encode
from tasks.profiles import draft
from tasks.sources import file_source

DRAWN = 2_000
"""So many synthetic rows are drawn at least: figures shall tell of the generator, not of one draw."""

SURE = 0.001
"""The attacker gives no level a smaller chance."""

FIGURES = ("auc", "bits", "trained", "useful")


@dataclass(frozen=True)
class Case:
    train: Table
    test: Table
    sensitive: str
    target: str

    @property
    def asked(self) -> tuple[str, str]:
        return self.sensitive, self.target

    @property
    def rest(self) -> list[str]:
        return [name for name in self.train.names if name != self.sensitive]

    def figures(self, learned: Table) -> list[float]:
        """The ``FIGURES`` of an attacker and a user who learned from these rows."""
        likelier = [bits(learned, asked, self.sensitive) for asked in (self.test, self.train)]
        useful = forest(learned.select(self.rest), self.test.select(self.rest), self.target)
        return [forest(learned, self.test, self.sensitive), *likelier, useful]

    def measured(self, weight: float, seeds: int) -> Floats:
        """Shape (seeds, figures)."""
        found = []
        for number in range(seeds):
            seed = Seed.of(number)
            generator = catalog.build({"kind": "hydragan", "reidentification": weight})
            sampler = generator.fit(self.train, seed.child("fit"))
            found.append(self.figures(sampler.sample(max(DRAWN, len(self.train)), seed.child("draw"))))
        return np.array(found)


def bits(learned: Table, asked: Table, name: str) -> float:
    """How many bits likelier the answers for ``name`` are to a forest than by the shares of the rows it learned."""
    from sklearn.ensemble import RandomForestClassifier

    others = [column for column in learned.names if column != name]
    known, unseen = (np.nan_to_num(table.select(others).values, nan=-1.0) for table in (learned, asked))
    model = RandomForestClassifier(300, min_samples_leaf=10, random_state=0).fit(known, learned[name])
    told = np.maximum(model.predict_proba(unseen), SURE)
    shares = np.array([(learned[name] == level).mean() for level in model.classes_])
    place = np.clip(np.searchsorted(model.classes_, asked[name]), 0, len(shares) - 1)
    met = model.classes_[place] == asked[name]
    return float(np.log2(told[np.arange(len(asked)), place] / shares[place])[met].mean())


def case(table: Path, test: Path | None, sensitive: str, target: str, without: Sequence[str], rows: int) -> Case:
    read = [file_source(path).read().drop_columns(list(without)) for path in (table, test) if path]
    schema, _ = draft(pa.concat_tables(read), K)
    roles = [Role.SENSITIVE if c.name == sensitive else Role.PLAIN for c in schema.columns]
    columns = tuple(c.model_copy(update={"role": role}) for c, role in zip(schema.columns, roles, strict=True))
    parts = [Table(columns, encode(each, schema).values) for each in read]
    order = Seed.of(0).child("rows").generator().permutation(len(parts[0]))
    unseen = 0 if test else round(0.3 * len(order))
    asked = parts[1] if test else parts[0].take(order[:unseen])
    learned, asked = (_known(part, sensitive, target) for part in (parts[0].take(order[unseen:]), asked))
    return Case(learned.take(slice(0, rows)), asked, sensitive, target)


def _known(table: Table, sensitive: str, target: str) -> Table:
    return table.take(~(np.isnan(table[sensitive]) | np.isnan(table[target])))


def half(values: Floats) -> Floats:
    """Half the width of the 95 % interval of the mean, by figure."""
    from scipy.stats import t

    if len(values) < 2:
        return np.zeros(values.shape[1:])
    return np.asarray(t.ppf(0.975, len(values) - 1) * values.std(axis=0, ddof=1) / len(values) ** 0.5)


def line(name: str, values: Floats, first: Floats | None) -> None:
    cells = [f"{mean:6.3f} ±{width:5.3f}" for mean, width in zip(values.mean(axis=0), half(values), strict=True)]
    if first is not None:
        chance = np.array([0.5, 0.0])
        gone = 1 - (values[:, :2].mean(axis=0) - chance) / (first[:, :2].mean(axis=0) - chance)
        cost = first[:, 3:] - values[:, 3:]
        cells += [*(f"{share:13.2f}" for share in gone), f"{cost.mean():6.3f} ±{half(cost)[0]:5.3f}"]
    print(f"{name:20}", *cells, flush=True)


WIDE, HIGH, LEFT, TOP = 270, 190, 62, 62
"""Of a panel, and where the first one begins."""

BESIDE, GAP = 140, 50
"""Room for what is said at the right of a panel, and for the numbers at the left of the next one."""

APART = 4
"""Two curves stand so far to the left and right of a weight, so that their intervals do not hide one another."""

STYLE = """
:root { --paper: #fdfdfc; --ink: #1b1f24; --soft: #59636e; --rule: #dfe3e8; --risk: #c62828; --use: #0b62c4; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e8ebee; --soft: #a0abb6; --rule: #333a42;
  --risk: #ff8078; --use: #6fb3ff; } }
.paper { fill: var(--paper); } text { font: 12px system-ui, sans-serif; fill: var(--soft); }
.title { font-size: 14px; font-weight: 600; fill: var(--ink); } .middle { text-anchor: middle; }
.end { text-anchor: end; } .rule { stroke: var(--rule); } .guess { stroke: var(--soft); stroke-dasharray: 4 3; }
.risk { stroke: var(--risk); } .use { stroke: var(--use); } .curve { fill: none; stroke-width: 2; }
.thin { stroke-dasharray: 6 3; }
circle.risk { fill: var(--risk); } circle.use { fill: var(--use); }
"""


@dataclass(frozen=True)
class Panel:
    """A plot of curves over the weights, evenly spaced, from ``low`` to ``high``."""

    left: int
    low: float
    high: float
    weights: tuple[float, ...]

    def x(self, place: int) -> float:
        return round(self.left + WIDE * (place + 0.5) / len(self.weights), 1)

    def y(self, value: float) -> float:
        return round(TOP + HIGH * (self.high - value) / (self.high - self.low), 1)

    def frame(self, title: str, step: float) -> list[str]:
        parts = [f'<text class="title" x="{self.left}" y="{TOP - 38}">{title}</text>']
        for value in np.arange(self.low, self.high + step / 2, step):
            y = self.y(float(value))
            parts.append(f'<line class="rule" x1="{self.left}" x2="{self.left + WIDE}" y1="{y}" y2="{y}"/>')
            parts.append(f'<text class="end" x="{self.left - 8}" y="{y + 4}">{value + 0.0:.2f}</text>')
        for place, weight in enumerate(self.weights):
            parts.append(f'<text class="middle" x="{self.x(place)}" y="{TOP + HIGH + 20}">{weight:g}</text>')
        middle = self.left + WIDE / 2
        return [*parts, f'<text class="middle" x="{middle}" y="{TOP + HIGH + 40}">weight of re-identification</text>']

    def level(self, value: float, said: str) -> list[str]:
        """A broken line across; what it is stands beside the panel, where no curve runs."""
        y, right = self.y(value), self.left + WIDE
        return [
            f'<line class="guess" x1="{self.left}" x2="{right}" y1="{y}" y2="{y}"/>',
            f'<text x="{right + 6}" y="{y + 4}">{said}</text>',
        ]

    def curve(self, values: Sequence[Floats], css: str, beside: int) -> list[str]:
        """Means over seeds, shape (seeds,) per weight, with their intervals, ``beside`` the weights."""
        parts, points = [], []
        for place, each in enumerate(values):
            x, mean, width = self.x(place) + beside, float(each.mean()), float(half(each[:, None])[0])
            ends = [self.y(float(np.clip(mean + way * width, self.low, self.high))) for way in (-1, 1)]
            parts.append(f'<line class="{css}" x1="{x}" x2="{x}" y1="{ends[0]}" y2="{ends[1]}"/>')
            parts.append(f'<circle class="{css}" cx="{x}" cy="{self.y(mean)}" r="3.5"/>')
            points.append(f"{x},{self.y(mean)}")
        return [f'<polyline class="curve {css}" points="{" ".join(points)}"/>', *parts]


def picture(found: Mapping[float, Floats], real: Floats, sensitive: str, target: str) -> str:
    """An SVG of two panels: the attacker's bits, and what can be told of the sensitive column and of the target."""
    weights, tables = tuple(found), list(found.values())
    told = np.concatenate([table[:, 1:3] for table in tables])
    step = 0.05 if told.max() < 0.3 else 0.1
    bounds = (np.floor(min(0.0, told.min()) / step) * step, np.ceil(told.max() / step) * step)
    risk = Panel(LEFT, float(bounds[0]), float(bounds[1]), weights)
    areas = Panel(LEFT + WIDE + BESIDE + GAP, 0.4, 1.0, weights)
    right = areas.left
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right + WIDE + BESIDE} {TOP + HIGH + 55}" role="img">',
        f"<title>{sensitive} and {target} by the weight of re-identification</title><style>{STYLE}</style>",
        '<rect class="paper" width="100%" height="100%"/>',
        *risk.frame("Bits that an attacker gains", step),
        f'<text x="{LEFT}" y="{TOP - 16}">{sensitive}: of unseen people; broken: of those learned from</text>',
        *risk.level(0.0, "by the shares alone"),
        *risk.curve([table[:, 1] for table in tables], "risk", -APART),
        *risk.curve([table[:, 2] for table in tables], "risk thin", APART),
        *areas.frame("AUC, learned from synthetic rows", 0.1),
        f'<text x="{right}" y="{TOP - 16}">{sensitive} (red) and {target} (blue), of unseen people</text>',
        *areas.level(0.5, "a guess"),
        *areas.level(float(real[3]), f"{target}, from real rows"),
        *areas.curve([table[:, 0] for table in tables], "risk", -APART),
        *areas.curve([table[:, 3] for table in tables], "use", APART),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--test", type=Path)
    parser.add_argument("--sensitive", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--weights", type=float, nargs="+", default=[0.0, 0.3, 1.0, 3.0])
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    asked = case(given.table, given.test, given.sensitive, given.target, given.without, given.rows)
    real = np.array([asked.figures(asked.train)])
    names = (*FIGURES, "auc-gone", "bits-gone", "cost")
    print(f"{'weight':20}", *(f"{name:>13}" for name in names))
    line("-", real, None)
    found: dict[float, Floats] = {}
    for weight in sorted({0.0, *given.weights}):
        found[weight] = asked.measured(weight, given.seeds)
        line(f"{weight:g}", found[weight], found[0.0])
        if given.plot:
            given.plot.write_text(picture(found, real[0], given.sensitive, given.target))


if __name__ == "__main__":
    main()
