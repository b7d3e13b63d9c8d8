"""Delimited text files."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, field_validator

from models.errors import Fault, SourceError, SpecError
from tasks.files import content_version, matching, opened, under
from tasks.sources import Source, Version, suffix_kind

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A")
WHOLE = r"^-?(0|[1-9][0-9]{0,17})$"
NUMBER = r"^-?((0|[1-9][0-9]{0,14})(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$|^-?(inf|Inf|INF|infinity|Infinity)$"
TRUTH = r"^(true|false)$"
SHOWN = 5
CHUNK = 1 << 20
OTHER_DELIMITERS = (";", "\t", "|")


class Csv(Source):
    """``path`` is a file, or a pattern such as ``exports/*.csv`` whose files have one header; ``.gz`` is unpacked.

    A column is read as numbers or as true/false only if every one of its cells is written so; text that merely looks
    like a number (``00123``) stays text. ``null_values`` are the texts that stand for a missing cell. A column without
    a name is called ``unnamed_1`` after its place.
    """

    kind: Literal["csv"] = "csv"
    path: str = Field(min_length=1)
    delimiter: str = ","
    encoding: str = "utf8"
    null_values: tuple[str, ...] = MISSING
    decimal_point: Literal[".", ","] = "."

    @field_validator("delimiter")
    @classmethod
    def _one_character(cls, delimiter: str) -> str:
        if len(delimiter) != 1:
            raise ValueError("a delimiter is one character ('\\t' for a tab)")
        return delimiter

    @field_validator("encoding")
    @classmethod
    def _known(cls, encoding: str) -> str:
        try:
            codecs.lookup(encoding)
        except LookupError:
            raise ValueError("no such encoding is known; try utf8, latin-1, cp1252 or utf16") from None
        return encoding

    def below(self, folder: Path) -> Self:
        return self.model_copy(update={"path": under(folder, self.path)})

    def read(self) -> pa.Table:
        import pyarrow as pa

        files = matching(self.path, "*.csv")
        texts = [self._texts(file) for file in files]
        strangers = [
            file.name for file, table in zip(files, texts, strict=True) if table.column_names != texts[0].column_names
        ]
        if strangers:
            raise SourceError(
                Fault(name, f"its columns are not those of {files[0].name}", "give all files one header")
                for name in strangers
            )
        together = pa.concat_tables(texts)
        return pa.table([typed(cells, self.decimal_point) for cells in together.columns], names=together.column_names)

    def version(self) -> Version:
        return content_version(self.kind, matching(self.path, "*.csv"))

    def texts_read_as_missing(self) -> dict[str, dict[str, int]]:
        """Which of ``null_values``, other than nothing at all, stand in how many cells of which columns."""
        import pyarrow as pa
        import pyarrow.compute as pc

        as_it_is = self.model_copy(update={"null_values": ("",)})
        table = pa.concat_tables([as_it_is._texts(file) for file in matching(self.path, "*.csv")])
        found: dict[str, dict[str, int]] = {}
        for name, cells in zip(table.column_names, table.columns, strict=True):
            for text in filter(None, self.null_values):
                if cells_so := int(pc.sum(pc.equal(cells, text)).as_py() or 0):
                    found.setdefault(name, {})[text] = cells_so
        return found

    def unnamed(self) -> list[str]:
        """The columns that are called after their place, since the header has no name for them."""
        names = self._header(matching(self.path, "*.csv")[0])
        return [called for name, called in zip(names, _all_named(names), strict=True) if not name]

    def _texts(self, file: Path) -> pa.Table:
        """All cells of one file as text; missing ones as null."""
        import pyarrow as pa
        import pyarrow.csv as csv

        names = self._header(file)
        try:
            with opened(file) as stream:
                table = csv.read_csv(stream, **self._options(names))
        except (pa.ArrowInvalid, UnicodeError, OSError):
            raise SourceError(self._unreadable(file, names)) from None
        if _swallowed(table, file):
            fault = Fault(file.name, f"a quote that opens in row {table.num_rows + 1:,} is never closed", "close it")
            raise SourceError(fault)
        return table.rename_columns(_all_named(names))

    def _header(self, file: Path) -> list[str]:
        """The names in the first row. Refused: one that occurs twice, two that are missing, a single one that holds a
        delimiter.
        """
        import pyarrow as pa
        import pyarrow.csv as csv

        try:
            with opened(file) as stream:
                codecs.getincrementaldecoder(self.encoding)().decode(stream.read(CHUNK))
            with opened(file) as stream, csv.open_csv(stream, **self._options([], [])) as beginning:
                names = list(beginning.schema.names)
        except (pa.ArrowInvalid, UnicodeError, OSError):
            raise SourceError(self._unreadable(file)) from None
        if len(names) == 1 and (likely := _likelier_delimiter(names[0], self.delimiter)):
            remedy = "use --delimiter, or set 'delimiter' in the source"
            raise SourceError(Fault(file.name, f"the delimiter seems to be {likely!r}, not {self.delimiter!r}", remedy))
        faults = list(_header_faults(file, names))
        if faults:
            raise SourceError(faults)
        return names

    def _options(self, names: list[str], ragged: list[int] | None = None) -> dict[str, Any]:
        """Everything as text, one thread (so that rows have numbers). Ragged rows are refused, or their numbers go into
        ``ragged``, which is for text that can be decoded: of other text Arrow would print an error of its own.
        """
        import pyarrow as pa
        import pyarrow.csv as csv

        numbers = [] if ragged is None else ragged

        def skip(row: csv.InvalidRow) -> str:
            numbers.append(row.number or 0)
            return "skip"

        return {
            "read_options": csv.ReadOptions(use_threads=False, encoding=self.encoding),
            "parse_options": csv.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=True,
                invalid_row_handler=None if ragged is None else skip,
            ),
            "convert_options": csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=True,
                null_values=list(self.null_values),
            ),
        }

    def _ragged_rows(self, file: Path, names: list[str]) -> list[int]:
        import pyarrow as pa
        import pyarrow.csv as csv

        ragged: list[int] = []
        with opened(file) as stream, suppress(pa.ArrowInvalid):
            csv.read_csv(stream, **self._options(names, ragged))
        return ragged

    def _likelier_encodings(self, file: Path) -> str:
        with opened(file) as stream:
            return "utf16" if stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin-1 or cp1252"

    def _unreadable(self, file: Path, names: list[str] | None = None) -> Fault:
        """Why Arrow could not read the file, found out anew: its own message would quote cells."""
        try:
            with opened(file) as stream:
                position = _undecodable(stream, self.encoding)
                empty = stream.tell() == 0
        except OSError:
            return Fault(file.name, "cannot be unpacked or read", "check that the file is whole")
        if empty:
            return Fault(file.name, "the file is empty", "export it again")
        if position is not None:
            return Fault(
                file.name,
                f"byte {position:,} is not {self.encoding}",
                f"use --encoding, or set 'encoding' in the source, for example to {self._likelier_encodings(file)}",
            )
        ragged = self._ragged_rows(file, names) if names else []
        if names and ragged:
            return _ragged_fault(file, ragged, len(names))
        return Fault(
            file.name,
            "cannot be read as rows of text",
            f"check the quotes, and that '{self.delimiter}' parts the columns",
        )


@dataclass(frozen=True)
class AsWritten:
    """How CSV files are written, as far as a command says it; ``\\t`` is a tab."""

    delimiter: str | None = None
    encoding: str | None = None
    decimal_point: str | None = None

    def settings(self, files: Iterable[Path]) -> dict[str, str]:
        """The settings of the CSV files among ``files``. Raises SpecError where something is said and none is one."""
        given = {key: said for key, said in asdict(self).items() if said is not None}
        if given and "csv" not in map(suffix_kind, files):
            raise SpecError(Fault(f"--{key.replace('_', '-')}", "is for CSV files", "leave it out") for key in given)
        return {key: "\t" if said == "\\t" else said for key, said in given.items()}


AS_USUAL = AsWritten()


def _all_named(names: list[str]) -> list[str]:
    return [name or f"unnamed_{place}" for place, name in enumerate(names, start=1)]


def _header_faults(file: Path, names: list[str]) -> Iterable[Fault]:
    nameless = [place for place, name in enumerate(names, start=1) if not name]
    if len(nameless) > 1:
        places = ", ".join(map(str, nameless[:SHOWN])) + (", ..." if len(nameless) > SHOWN else "")
        found = f"the header has no name for {len(nameless)} of {len(names)} columns: column {places}"
        yield Fault(file.name, found, "name them in its first row, or remove the columns if they are empty")
    for name, times in sorted(Counter(_all_named(names)).items()):
        if times > 1:
            yield Fault(file.name, f"{times} columns are called '{name}'", "rename all but one")


def _likelier_delimiter(header: str, delimiter: str) -> str | None:
    return next((mark for mark in OTHER_DELIMITERS if mark in header and mark != delimiter), None)


def _undecodable(stream: pa.NativeFile, encoding: str) -> int | None:
    """The position of the first byte that is not ``encoding``, counted from 0, or None."""
    decoder = codecs.getincrementaldecoder(encoding)()
    position = 0
    while chunk := stream.read(CHUNK):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as error:
            return position - pending + error.start
        position += len(chunk)
    pending = len(decoder.getstate()[0])
    return position - pending if pending else None


def _swallowed(table: pa.Table, file: Path) -> bool:
    """Whether the last cell holds the rest of the file, because its quote was never closed."""
    last = table.column(-1)[-1].as_py() if table.num_rows and table.num_columns else None
    if last is None or not last.endswith("\n"):
        return False
    with opened(file) as stream:
        return sum(chunk.count(b'"') for chunk in iter(lambda: stream.read(CHUNK), b"")) % 2 == 1


def _ragged_fault(file: Path, rows: list[int], width: int) -> Fault:
    numbers = ", ".join(f"{row:,}" for row in sorted(rows)[:SHOWN]) + (", ..." if len(rows) > SHOWN else "")
    return Fault(
        file.name,
        f"{len(rows):,} row{'' if len(rows) == 1 else 's'} with more or fewer than {width} cells: row {numbers}",
        "put cells that hold the delimiter in quotes, or set another delimiter (the header is row 1)",
    )


def typed(cells: pa.ChunkedArray, decimal_point: str) -> pa.ChunkedArray:
    """Text as whole numbers, numbers or true/false where all of it is; as it is otherwise."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if cells.null_count == len(cells):
        return pa.chunked_array([pa.nulls(len(cells))])
    numbers = cells
    if decimal_point == ",":
        numbers = pc.if_else(pc.match_substring(cells, "."), cells, pc.replace_substring(cells, ",", "."))
    for pattern, kind in ((WHOLE, pa.int64()), (NUMBER, pa.float64()), (TRUTH, pa.bool_())):
        if pc.all(pc.match_substring_regex(numbers, pattern)).as_py():
            return numbers.cast(kind)
    return cells
