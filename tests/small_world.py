"""A small workspace of people who do not exist, and a way to run all its stages without a Prefect server."""

import shutil
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.parallel import Crew
from tasks.spec import Plan, load
from tasks.stages import STAGES
from tasks.step import Job, carry_out, job_for
from tasks.versions import prepare
from tasks.yaml_files import yaml_text

CANARY_NAME = "CANARY-PERSON-"
CANARY_INCOME = 77_731.0

SCHEMA = {
    "columns": [
        {"name": "person", "kind": "identifier", "role": "identifier", "dtype": "string", "format": "P-#####"},
        {"name": "age", "kind": "integer", "role": "quasi-identifier", "dtype": "int64", "bounds": [10, 100]},
        {"name": "sex", "kind": "categorical", "role": "quasi-identifier", "dtype": "string", "levels": ["f", "m"]},
        {
            "name": "income",
            "kind": "continuous",
            "role": "sensitive",
            "dtype": "double",
            "nullable": True,
            "bounds": [0, 100_000],
            "decimals": 0,
        },
        {"name": "smoker", "kind": "boolean", "dtype": "bool"},
        {
            "name": "visit",
            "kind": "date",
            "dtype": "date32[day]",
            "resolution": "day",
            "bounds": ["2020-01-01", "2021-12-31"],
        },
    ],
}
SPEC = {
    "name": "people",
    "source": {"kind": "parquet", "path": "people.parquet"},
    "schema": "schema.yaml",
    "split": {"holdout": 0.3, "entity": "person"},
    "partition": {"kind": "given", "parts": {"money": ["age", "income"], "habits": ["sex", "smoker", "visit"]}},
    "generator": "marginal",
    "join": "shuffled",
    # 180 held-out people decide little: whatever the seed, these limits let a table pass that resembles nobody.
    "audit": {
        "preset": "internal",
        "preconditions": {"closer": 0.8, "apart": 0.8},
        "membership": {"closer": 0.8, "attack": 0.8, "named": None, "exposed": None},
        "copies": {"whole": {"exact": 0.05, "near": 0.2}, "parts": {"exact": None, "near": None}},
        "unique_values": {"limit": None},
        "singling_out": {"limit": None},
        "linkability": {"limit": None},
        "inference": {"limit": None},
        "reassembly": {"limit": None},
        "small_cells": {"cells": None},
    },
}


def people(rows=600, seed=0):
    """``rows`` people; the first one is a canary: their name and income occur nowhere else."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    sex = rng.choice(["f", "m"], rows)
    income = np.round(np.clip(rng.normal(20_000 + 500 * age, 8_000), 0, 99_000), -2)
    income[0] = CANARY_INCOME
    income_or_gap = [None if gap else value for gap, value in zip(rng.random(rows) < 0.1, income, strict=True)]
    income_or_gap[0] = CANARY_INCOME
    return pa.table(
        {
            "person": [f"{CANARY_NAME}{number:04d}" for number in range(rows)],
            "age": age,
            "sex": sex,
            "income": pa.array(income_or_gap, pa.float64()),
            "smoker": rng.random(rows) < np.where(sex == "m", 0.4, 0.2),
            "visit": pa.array((18_262 + rng.integers(0, 700, rows)).astype("int32"), pa.date32()),
        }
    )


def write_workspace(folder: Path, *, table=None, schema=SCHEMA, **spec) -> Path:
    """people.parquet, schema.yaml and spec.yaml in ``folder``; ``spec`` overrides sections. The path of the spec."""
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(people() if table is None else table, folder / "people.parquet")
    (folder / "schema.yaml").write_text(yaml_text(schema))
    (folder / "spec.yaml").write_text(yaml_text({**SPEC, **spec}))
    return folder / "spec.yaml"


def with_seed(spec: Path, seed: str) -> Path:
    """The same spec, once its workspace has this seed."""
    secret = load(spec).workspace.secret
    secret.mkdir(parents=True)
    (secret / "seed").write_text(seed)
    return spec


def copied(plan: Plan, folder: Path) -> Path:
    """The spec of a copy of a workspace, which lies in ``folder``."""
    shutil.copytree(plan.workspace.root, folder / "workspace")
    return folder / "workspace" / plan.path.name


def run_stages(spec: Path, crew: Crew, stages=STAGES) -> list[str]:
    """Carry out ``stages`` in this process; the names of those that had something to do."""
    plan = load(spec)
    with plan.workspace.held():
        prepare(plan, STAGES)
        job: Job = job_for(spec, crew, uuid4())
        return [stage.name for stage in stages if not carry_out(stage, job).fresh]
