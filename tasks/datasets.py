"""What the files of a stage are to lineage: tables with their columns, folders, and published versions."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from tasks.lineage import Dataset, Run
from tasks.spec import Plan
from tasks.store import sha256_of


def run_of(plan: Plan, id: UUID) -> Run:
    """The run ``id`` of a plan; events are kept in the workspace and name the data set."""
    return Run(id, plan.spec.name, source_name(plan), plan.workspace.lineage)


def source_name(plan: Plan) -> str:
    return f"{plan.spec.name}.source"


def source(plan: Plan) -> Dataset:
    """The source with the columns that the schema says it has. Where it lies is told by its kind alone."""
    columns = tuple((column.name, column.dtype) for column in plan.schema.columns)
    return Dataset(source_name(plan), plan.source.kind, columns=columns)


def found(plan: Plan, paths: tuple[Path, ...]) -> list[Dataset]:
    """The data sets at ``paths``: the tables of a folder one by one, a folder without tables as a whole."""
    return [one for path in paths if path.exists() for one in _at(plan, path)]


def _at(plan: Plan, path: Path) -> list[Dataset]:
    if path == plan.workspace.released:
        return _published(plan)
    tables = sorted(path.glob("*.parquet")) if path.is_dir() else [path] if path.suffix == ".parquet" else []
    if tables:
        return [_table(plan, table) for table in tables]
    relative = path.relative_to(plan.workspace.root).as_posix()
    return [Dataset(_name(plan, path), relative, sha256_of(path))]


def _table(plan: Plan, path: Path) -> Dataset:
    """A table with its columns; of a damaged file only the hash, since the stage that reads it says what is wrong."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    relative = path.relative_to(plan.workspace.root).as_posix()
    try:
        described = pq.read_metadata(path)
    except (pa.ArrowInvalid, OSError):
        return Dataset(_name(plan, path), relative, sha256_of(path))
    columns = tuple((field.name, str(field.type)) for field in described.schema.to_arrow_schema())
    return Dataset(_name(plan, path), relative, sha256_of(path), described.num_rows, columns)


def _published(plan: Plan) -> list[Dataset]:
    """The newest published version, with its manifest."""
    from tasks.release import latest, read_manifest

    newest = latest(plan.workspace, plan.spec.name)
    if newest is None:
        return []
    manifest = read_manifest(newest.folder)
    table = _table(plan, newest.folder / "synthetic.parquet")
    name = f"{newest.name}@v{newest.version}"
    return [Dataset(name, table.path, table.sha256, table.rows, table.columns, private=False, manifest=manifest)]


def _name(plan: Plan, path: Path) -> str:
    """``nhanes.raw.train`` for data/raw/train.parquet."""
    parts = path.relative_to(plan.workspace.data).with_suffix("").parts
    return ".".join((plan.spec.name, *parts))
