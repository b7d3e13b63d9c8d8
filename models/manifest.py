"""The manifest of a release: which source, code, spec, seed, models and audit made these files.

It holds no wall-clock time and no run id: the same spec, source, code and seed make the same manifest byte for byte.
When a run happened stands in the lineage events and in the version history. Nor does it hold a hash of anything that
holds real rows: such a hash would let anybody test whether a table they have is the source.
"""

from __future__ import annotations

from typing import Any, Literal

from models.column_trace import ColumnTrace
from models.finding import Override
from models.ledger import Link, Standing
from models.policy import Preset
from models.schema import Frozen

FORMAT: Literal[1] = 1


class PublishedFile(Frozen):
    path: str
    sha256: str
    bytes: int


class SourceFacts(Frozen):
    """What may be said of the source: its kind, its size, and a commitment to its version token.

    ``version`` is HMAC-SHA256 of the token under the seed: the owner can check it, nobody else can guess at it.
    """

    kind: str
    rows: int
    training_rows: int
    holdout_rows: int
    version: str


class IndexEntry(Link):
    """A line of the index of all versions: the SHA-256 of a version's manifest."""

    version: int
    manifest: str


class CodeFacts(Frozen):
    """The code that ran: version of Parquetry, git revision (None outside git), whether files differed from it."""

    version: str
    revision: str | None
    modified: bool
    digest: str
    packages: dict[str, str]


class Manifest(Frozen):
    """All that a release says of itself.

    ``preset`` says whom the audit's limits are for, ``overrides`` are the decisions of persons to publish although a
    check did not pass, and ``audits`` tells how many audits of the data set there were.
    """

    format: Literal[1] = FORMAT
    name: str
    version: int
    rows: int
    files: tuple[PublishedFile, ...]
    source: SourceFacts
    spec_digest: str
    schema_digest: str
    seed_commitment: str
    partition: dict[str, Any]
    generators: dict[str, dict[str, Any]]
    join: dict[str, Any]
    verdict: str
    reason: str
    preset: Preset = Preset.PUBLIC
    overrides: tuple[Override, ...] = ()
    audits: Standing | None = None
    code: CodeFacts
    columns: tuple[ColumnTrace, ...]
    epsilon: float | None = None
    privacy_statement: str = (
        "No end-to-end differential privacy is claimed: what joins the parts, and any split of columns or "
        "rows that looks at them, read real rows without noise."
    )
