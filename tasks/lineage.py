"""Lineage: what every stage read and wrote, as OpenLineage events. The only importer of openlineage.

Events of a run are appended to one file below the workspace, and sent to a collector as well where ``OPENLINEAGE_URL``
names one. They tell names, types, counts and hashes, never a value; what a collector gets holds no hash of anything
private, since by such a hash a table could be tested for being the source.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID, uuid5

from models.column_trace import ColumnTrace
from models.errors import Fault, ParquetryError, StateError
from models.manifest import Manifest

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent

PRODUCER = "urn:parquetry"
FACETS = "urn:parquetry:facet"

log = logging.getLogger("parquetry")

What = Literal["START", "COMPLETE", "FAIL"]


@dataclass(frozen=True)
class Run:
    """One run of a pipeline. ``source`` is the name of the data set that the source is; ``folder`` takes the file."""

    id: UUID
    namespace: str
    source: str
    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / f"{self.id}.ndjson"


@dataclass(frozen=True)
class Dataset:
    """A table or file that a stage read or wrote. ``columns`` are names with Arrow types, ``path`` is relative to the
    workspace. ``manifest`` belongs to what is released, and only that is not ``private``."""

    name: str
    path: str
    sha256: str | None = None
    rows: int | None = None
    columns: tuple[tuple[str, str], ...] = ()
    private: bool = True
    manifest: Manifest | None = None


def emit(
    run: Run,
    stage: str,
    what: What,
    *,
    inputs: Sequence[Dataset] = (),
    outputs: Sequence[Dataset] = (),
    error: BaseException | None = None,
) -> None:
    """Tell that a stage began, completed or failed. A collector that does not answer is logged, and stops nothing."""
    from openlineage.client.transport.file import FileConfig, FileTransport

    run.folder.mkdir(parents=True, exist_ok=True)
    event = _event(run, stage, what, inputs, outputs, error)
    FileTransport(FileConfig(log_file_path=str(run.file), append=True)).emit(event)
    if os.environ.get("OPENLINEAGE_URL") and os.environ.get("OPENLINEAGE_DISABLED", "").strip().lower() != "true":
        _send(_event(run, stage, what, _unhashed(inputs), _unhashed(outputs), error))


def _unhashed(datasets: Sequence[Dataset]) -> list[Dataset]:
    return [replace(one, sha256=None) if one.private else one for one in datasets]


def _send(event: RunEvent) -> None:
    """To the collector, by the variables that every OpenLineage client knows."""
    from openlineage.client.transport.http import HttpConfig, HttpTransport
    from requests.exceptions import RequestException

    key = os.environ.get("OPENLINEAGE_API_KEY")
    config = {
        "url": os.environ["OPENLINEAGE_URL"],
        "endpoint": os.environ.get("OPENLINEAGE_ENDPOINT", "api/v1/lineage"),
        "retry": {"total": 1},
        **({"auth": {"type": "api_key", "apiKey": key}} if key else {}),
    }
    try:
        HttpTransport(HttpConfig.from_dict(config)).emit(event)
    except RequestException as error:
        log.warning("The lineage collector did not take an event (%s); it stands in data/lineage", type(error).__name__)


def _event(
    run: Run,
    stage: str,
    what: What,
    inputs: Sequence[Dataset],
    outputs: Sequence[Dataset],
    error: BaseException | None,
) -> RunEvent:
    from openlineage.client import event_v2 as ol
    from openlineage.client.facet_v2 import error_message_run, job_type_job, parent_run

    parent = parent_run.ParentRunFacet(
        run=parent_run.Run(runId=str(run.id)), job=parent_run.Job(namespace=run.namespace, name="parquetry")
    )
    told: dict[str, Any] = {"parent": parent}
    if error is not None:
        message = error_message_run.ErrorMessageRunFacet(message=_message(error), programmingLanguage="Python")
        told["errorMessage"] = message
    kind = job_type_job.JobTypeJobFacet(processingType="BATCH", integration="PARQUETRY", jobType="STAGE")
    return ol.RunEvent(
        eventTime=datetime.now(UTC).isoformat(),
        eventType=ol.RunState[what],
        run=ol.Run(runId=str(uuid5(run.id, stage)), facets=told),
        job=ol.Job(namespace=run.namespace, name=f"parquetry.{stage}", facets={"jobType": kind}),
        inputs=[_input(run, one) for one in inputs],
        outputs=[_output(run, one) for one in outputs],
        producer=PRODUCER,
    )


def _message(error: BaseException) -> str:
    """Our own errors in their words; of any other the type, because its message may quote a cell."""
    return str(error) if isinstance(error, ParquetryError) else type(error).__name__


def _input(run: Run, one: Dataset) -> Any:
    from openlineage.client import event_v2 as ol
    from openlineage.client.facet_v2 import input_statistics_input_dataset as statistics

    counted = statistics.InputStatisticsInputDatasetFacet(rowCount=one.rows)
    facets = {} if one.rows is None else {"inputStatistics": counted}
    return ol.InputDataset(run.namespace, one.name, facets=_facets(run, one), inputFacets=facets)


def _output(run: Run, one: Dataset) -> Any:
    from openlineage.client import event_v2 as ol
    from openlineage.client.facet_v2 import output_statistics_output_dataset as statistics

    counted = statistics.OutputStatisticsOutputDatasetFacet(rowCount=one.rows)
    facets = {} if one.rows is None else {"outputStatistics": counted}
    return ol.OutputDataset(run.namespace, one.name, facets=_facets(run, one), outputFacets=facets)


def _facets(run: Run, one: Dataset) -> dict[str, Any]:
    from openlineage.client.facet_v2 import dataset_version_dataset, datasource_dataset, schema_dataset

    place = datasource_dataset.DatasourceDatasetFacet(name=one.name, uri=f"file:{one.path}")
    facets: dict[str, Any] = {"dataSource": place}
    if one.columns:
        fields = [schema_dataset.SchemaDatasetFacetFields(name=name, type=dtype) for name, dtype in one.columns]
        facets["schema"] = schema_dataset.SchemaDatasetFacet(fields=fields)
    if one.sha256 is not None:
        facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(datasetVersion=f"sha256:{one.sha256}")
    if one.manifest is not None:
        verdict, privacy = _own_facets()
        said = one.manifest
        facets["parquetry_verdict"] = verdict(verdict=said.verdict, reason=said.reason)
        facets["parquetry_privacy"] = privacy(epsilon=said.epsilon, statement=said.privacy_statement)
        released = {name for name, _ in one.columns}
        facets["columnLineage"] = _column_lineage(run, [trace for trace in said.columns if trace.name in released])
    return facets


def _column_lineage(run: Run, traces: Sequence[ColumnTrace]) -> Any:
    """From which source column each released column was learned, in which part or clusters and by which generator.

    A column that is made anew has no input. Which rows there are depends on all modelled columns: the parts were joined
    by what was seen of all of them, and rows are in a cluster because of all their cells.
    """
    from openlineage.client.facet_v2 import column_lineage_dataset as lineage

    def source(name: str, kind: str, subtype: str, description: str) -> Any:
        how = lineage.Transformation(type=kind, subtype=subtype, description=description, masking=True)
        return lineage.InputField(namespace=run.namespace, name=run.source, field=name, transformations=[how])

    def field(trace: ColumnTrace) -> Any:
        if not trace.how:
            return lineage.Fields([], transformationDescription=trace.treatment, transformationType="MASKED")
        own = source(trace.name, "DIRECT", "TRANSFORMATION", trace.how)
        described = f"{trace.treatment}; {trace.how}"
        return lineage.Fields([own], transformationDescription=described, transformationType="MASKED")

    modelled = [
        source(trace.name, "INDIRECT", "JOIN", "clusters joined" if trace.clusters else "parts joined")
        for trace in traces
        if trace.how
    ]
    return lineage.ColumnLineageDatasetFacet(fields={trace.name: field(trace) for trace in traces}, dataset=modelled)


@cache
def _own_facets() -> tuple[type[Any], type[Any]]:
    """The facets that OpenLineage does not know: the audit's verdict, and what is said of privacy."""
    import attr
    from openlineage.client.facet_v2 import DatasetFacet

    @attr.define
    class VerdictFacet(DatasetFacet):
        verdict: str
        reason: str

        @staticmethod
        def _get_schema() -> str:
            return f"{FACETS}:verdict:1"

    @attr.define
    class PrivacyFacet(DatasetFacet):
        epsilon: float | None
        statement: str

        @staticmethod
        def _get_schema() -> str:
            return f"{FACETS}:privacy:1"

    return VerdictFacet, PrivacyFacet


def read_events(folder: Path) -> list[dict[str, Any]]:
    """All events below ``folder`` in the order of their times; none where there is no such folder.

    Raises StateError naming every line that is no event.
    """
    events, faults = [], list[Fault]()
    for path in sorted(folder.glob("*.ndjson")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            event = _parsed(line)
            if event is None:
                faults.append(Fault(f"{path}, line {number}", "is no lineage event", "remove the line"))
            else:
                events.append(event)
    if faults:
        raise StateError(faults)
    return sorted(events, key=lambda event: str(event["eventTime"]))


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except json.JSONDecodeError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("eventTime"), str) else None
