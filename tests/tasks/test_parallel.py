"""Work goes to processes of one thread; every failure is named, no foreign message passes, and no process is left."""

import logging
import os
import signal
import time

import psutil
import pytest

from models.errors import Fault, ParquetryError, SourceError, SynthesisError
from tasks.parallel import Crew, place_of


def square(number):
    return number * number


def whose(_):
    return os.getpid(), os.environ["OMP_NUM_THREADS"]


def fail(kind):
    if kind == "ours":
        raise SourceError(Fault("column age", "3 rows out of bounds"))
    if kind == "foreign":
        raise KeyError("CANARY-7431")
    return kind


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(seconds):
    time.sleep(seconds)


@pytest.fixture(scope="module")
def crew():
    with Crew(size=2) as workers:
        yield workers


@pytest.fixture
def started():
    """The worker processes that were started since the test began and still are there."""
    before = set(psutil.Process().children())
    return lambda: [
        child for child in set(psutil.Process().children()) - before if "spawn_main" in " ".join(child.cmdline())
    ]


def test_results_come_in_the_order_of_the_work(crew):
    assert crew(square, [3, 1, 2], ["a", "b", "c"]) == [9, 1, 4]


def test_work_is_done_in_other_processes_with_one_thread(crew):
    ((process, threads),) = crew(whose, [None], ["a"])
    assert process != os.getpid()
    assert threads == "1"


def test_all_failures_are_named_and_a_foreign_message_is_not_told(crew):
    with pytest.raises(SynthesisError) as refusal:
        crew(fail, ["ours", "fine", "foreign"], ["part-1", "part-2", "part-3"])
    told = str(refusal.value)
    assert "part-1: column age: 3 rows out of bounds" in told
    assert "part-3: stopped by KeyError" in told
    assert "part-2" not in told
    assert "CANARY" not in told


def test_no_work_is_no_trouble(crew):
    assert crew(square, [], []) == []


def test_every_piece_that_is_done_is_told_if_there_is_a_word_for_it(crew, caplog):
    caplog.set_level(logging.INFO, "parquetry")
    with pytest.raises(SynthesisError):
        crew(fail, ["fine", "ours", "fine"], ["a", "b", "c"], "trained")
    assert sorted(caplog.messages)[0].startswith("trained a (")
    assert all(message.endswith(" of 3)") for message in caplog.messages)
    assert len(caplog.messages) == 2
    crew(square, [1], ["silent"])
    assert len(caplog.messages) == 2


def test_there_are_no_more_processes_than_pieces_and_no_more_than_the_size(started):
    with Crew(size=3) as workers:
        workers(square, [1], ["a"])
        assert len(started()) == 1
        workers(square, [1, 2, 3, 4], list("abcd"))
        assert len(started()) == 3


def test_a_process_that_is_killed_is_told_with_a_remedy():
    with (
        Crew(size=1) as workers,
        pytest.raises(SynthesisError, match=r"money: its process was killed.*make parts smaller"),
    ):
        workers(die, [None], ["money"])


def test_an_error_ends_the_processes_at_once_without_waiting_for_their_work(started):
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Crew(size=1) as workers:
        workers.submit(sleep, [30])
        raise KeyboardInterrupt
    assert time.monotonic() - began < 10
    assert not started()


def test_the_place_of_an_error_is_file_and_line():
    with pytest.raises(KeyError) as caught:
        fail("foreign")
    assert place_of(caught.value).startswith("in test_parallel.py, line")
    assert place_of(ParquetryError(())) == "in a worker process"
