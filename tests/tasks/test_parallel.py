"""Work goes to processes of one thread; every failure is named, no foreign message passes, and no process is left."""

import itertools
import logging
import os
import signal
import time
from concurrent.futures import CancelledError

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


def die_or_sleep(what):
    return die(what) if what == "die" else sleep(what)


def sleep(seconds):
    time.sleep(seconds)
    return seconds


def speak(rounds):
    for number in range(rounds):
        logging.getLogger("parquetry").info("step %d of %d", number + 1, rounds)
    logging.getLogger("parquetry").debug("nothing that anybody would want to know")
    logging.getLogger("another").warning("CANARY-7431")
    logging.getLogger("parquetry").warning("a head has collapsed")
    return rounds


def stick(rounds):
    """Longer than a test waits, if there are many rounds; no other thread of the process can do anything meanwhile."""
    return sum(itertools.repeat(0, rounds))


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
    assert "part-3: stopped by KeyError in test_parallel.py, line" in told
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


def test_what_a_piece_logs_is_logged_here_after_its_name(crew, caplog):
    with caplog.at_level("DEBUG"):
        assert crew(speak, [2], ["money"]) == [2]
    told = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "parquetry"]
    assert told == [
        ("INFO", "money: step 1 of 2"), ("INFO", "money: step 2 of 2"), ("WARNING", "money: a head has collapsed"),
    ]  # fmt: skip
    assert "CANARY" not in caplog.text


def test_a_piece_that_logs_all_the_time_is_ended_in_time_all_the_same():
    with Crew(size=1) as workers, pytest.raises(SynthesisError, match="took longer than 1 s"):
        workers(speak, [10**9], ["chatty"], seconds=1)


def test_there_are_no_more_processes_than_pieces_and_no_more_than_the_size(started):
    with Crew(size=3) as workers:
        workers(sleep, [0.5], ["a"])
        assert len(started()) == 1
        workers(sleep, [0.5] * 4, list("abcd"))
        assert len(started()) == 3


def test_a_process_that_is_killed_is_told_with_a_remedy():
    with (
        Crew(size=1) as workers,
        pytest.raises(SynthesisError, match=r"money: its process was killed.*make parts smaller"),
    ):
        workers(die, [None], ["money"])


def test_a_process_that_is_killed_takes_no_other_piece_with_it(caplog):
    caplog.set_level(logging.INFO, "parquetry")
    with Crew(size=2) as workers:
        with pytest.raises(SynthesisError, match=r"^money: its process was killed"):
            workers(die_or_sleep, ["die", 1, 1], ["money", "habits", "health"], "trained")
        assert sorted(caplog.messages)[0].startswith("trained habits (")
        assert len(caplog.messages) == 2
        assert workers(square, [1, 2, 3], list("abc")) == [1, 4, 9]


def test_a_process_that_is_killed_while_it_is_idle_is_replaced(started):
    with Crew(size=1) as workers:
        workers(square, [1], ["a"])
        (idle,) = started()
        idle.kill()  # it may be seen as alive for a moment more
        assert workers(square, [2], ["b"]) == [4]


def test_a_piece_that_takes_too_long_is_ended_whatever_it_does_and_the_others_are_done(started, caplog):
    caplog.set_level(logging.INFO, "parquetry")
    with Crew(size=2) as workers:
        began = time.monotonic()
        with pytest.raises(SynthesisError) as refusal:
            workers(stick, [10**10, 10, 10], ["money", "habits", "health"], "trained", seconds=1)
        assert time.monotonic() - began < 10
        (fault,) = refusal.value.faults
        assert (fault.where, fault.found) == ("money", "took longer than 1 s and was ended")
        assert fault.remedy.startswith("raise limits.part_seconds, or make parts smaller")
        assert {message.split(" (")[0] for message in caplog.messages} == {"trained habits", "trained health"}
        assert len(started()) <= 1
    assert not started()


def test_waiting_for_a_free_process_does_not_count_as_time_taken():
    with Crew(size=1) as workers:
        assert workers(sleep, [0.7, 0.7, 0.7], list("abc"), seconds=2) == [0.7, 0.7, 0.7]


def test_a_crew_that_was_dismissed_begins_with_nothing_more(started):
    with Crew(size=1) as workers:
        workers._dismiss()
        with pytest.raises(CancelledError):
            workers(square, [1], ["a"])
    assert not started()


def test_an_error_ends_the_processes_at_once_without_waiting_for_their_work(started):
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Crew(size=1) as workers:
        workers.submit(sleep, [30, 30], ["a", "b"])
        raise KeyboardInterrupt
    assert time.monotonic() - began < 10
    assert not started()


def test_the_place_of_an_error_is_file_and_line():
    with pytest.raises(KeyError) as caught:
        fail("foreign")
    assert place_of(caught.value).startswith("in test_parallel.py, line")
    assert place_of(ParquetryError(())) == "in a worker process"
