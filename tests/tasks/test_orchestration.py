"""What a flow and a task run tell Prefect: states instead of exceptions, and retries only where they can help."""

import pytest
from command_line import free_port
from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES, get_current_settings, temporary_settings
from prefect.states import Failed

from models.errors import ContractError, Fault, SourceError, WithheldError
from tasks.orchestration import _may_come_back, ends


@pytest.fixture
def spec(tmp_path):
    return str(tmp_path / "spec.yaml")


@pytest.fixture(autouse=True)
def gone():
    """Prefect's settings name a server that does not answer."""
    gone = f"http://127.0.0.1:{free_port()}/api"
    with temporary_settings({PREFECT_API_URL: gone, PREFECT_CLIENT_MAX_RETRIES: 3}):
        yield


def ended(spec, error):
    @ends
    def room(path, run):
        raise error

    return room(spec, "a run")


def test_a_room_that_ends_well_returns_what_it_returns(spec):
    @ends
    def room(path, run):
        """What the room does."""
        return path, run

    assert room(spec, "a run") == (spec, "a run")
    assert (room.__name__, room.__doc__) == ("room", "What the room does.")


def test_a_refusal_is_a_failed_state_with_all_its_faults_for_a_message(spec):
    refusal = ContractError([Fault("age", "3 rows out of bounds"), Fault("sex", "2 levels unknown")])
    state = ended(spec, refusal)
    assert (state.type, state.name) == (Failed().type, "Failed")
    assert state.message == "The data broke its contract: age: 3 rows out of bounds; sex: 2 levels unknown"
    assert state.result(raise_on_failure=False) is refusal


def test_a_withheld_release_is_a_state_of_that_name(spec):
    state = ended(spec, WithheldError(Fault("people", "verdict 'fail': copies")))
    assert (state.type, state.name, state.message) == (Failed().type, "Withheld", "people: verdict 'fail': copies")


def test_an_error_of_another_make_is_told_by_type_and_place(spec, tmp_path):
    state = ended(spec, KeyError("CANARY-7431"))
    assert state.message.startswith("A fault in Parquetry: room: KeyError in test_orchestration.py, line")
    assert "CANARY" not in state.message
    assert "CANARY-7431" in (tmp_path / "data" / "secret" / "fault-room.txt").read_text()


def test_a_server_that_is_gone_is_asked_once_only_from_then_on(spec):
    ended(spec, ContractError(Fault("age", "3 rows out of bounds")))
    assert get_current_settings().client.max_retries == 3
    ended(spec, ConnectionError())
    assert get_current_settings().client.max_retries == 0


def test_an_interrupt_passes(spec):
    with pytest.raises(KeyboardInterrupt):
        ended(spec, KeyboardInterrupt())


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (SourceError(Fault("warehouse", "no connection"), transient=True), True),
        (SourceError(Fault("people.csv", "no such file")), False),
        (ContractError(Fault("age", "3 rows out of bounds")), False),
    ],
)
def test_only_a_source_that_may_come_back_is_asked_again(error, again, caplog):
    assert _may_come_back(None, None, Failed(data=error)) is again
    assert ("it is asked again after 5 and 30 s" in caplog.text) is again
