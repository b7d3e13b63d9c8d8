"""Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field

from models.errors import Fault, SourceError
from tasks.files import content_version, matching, under
from tasks.sources import Source, Version

if TYPE_CHECKING:
    import pyarrow as pa


class Parquet(Source):
    """``path`` is a file, a folder of ``*.parquet`` (its ``key=value`` folders become columns), or a pattern.

    All files have the same columns and types.
    """

    kind: Literal["parquet"] = "parquet"
    path: str = Field(min_length=1)

    def below(self, folder: Path) -> Self:
        return self.model_copy(update={"path": under(folder, self.path)})

    def read(self) -> pa.Table:
        import pyarrow as pa
        import pyarrow.dataset as ds

        files = matching(self.path, "*.parquet")
        schema = _common_schema(files)
        root = self.path if Path(self.path).is_dir() else None
        dataset = ds.dataset(
            [str(file) for file in files],
            format="parquet",
            partitioning=ds.partitioning(flavor="hive") if root else None,
            partition_base_dir=root,
        )
        try:
            table = dataset.to_table()
        except (pa.ArrowInvalid, OSError):
            raise SourceError(
                Fault(self.path, "its data pages cannot be read", "it may be cut short: write it again")
            ) from None
        return table.replace_schema_metadata(schema.metadata)

    def version(self) -> Version:
        return content_version(self.kind, matching(self.path, "*.parquet"))


def _common_schema(files: list[Path]) -> pa.Schema:
    """The schema that all files share. Raises SourceError naming every file that cannot be read or has another one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schemas: dict[Path, pa.Schema] = {}
    faults = []
    for file in files:
        try:
            schemas[file] = pq.read_schema(file)
        except (pa.ArrowInvalid, OSError):
            faults.append(
                Fault(file.name, "no whole Parquet file", "it may be cut short or of another format: write it again")
            )
    first = next(iter(schemas), None)
    for file, schema in schemas.items():
        faults += _differences(file, schema, schemas[first], first.name) if first else []
    if faults:
        raise SourceError(faults)
    return schemas[files[0]]


def _differences(file: Path, schema: pa.Schema, expected: pa.Schema, first: str) -> list[Fault]:
    """What sets the columns of ``file`` apart from those of the ``first`` file."""
    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    faults = [
        Fault(file.name, f"{schema.names.count(name)} columns are called '{name}'", "rename all but one")
        for name in twice
    ]
    if twice or schema.equals(expected):
        return faults
    other = sorted(set(schema.names) ^ set(expected.names))
    typed = [
        f"'{name}' is {schema.field(name).type}, not {expected.field(name).type}"
        for name in expected.names
        if name in schema.names and schema.field(name).type != expected.field(name).type
    ]
    what = [f"'{name}' is in one of them only" for name in other] + typed
    return [
        Fault(
            file.name,
            f"its columns differ from those of {first}: {'; '.join(what) or 'their order'}",
            "write the files alike",
        )
    ]
