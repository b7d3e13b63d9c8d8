"""Work goes to processes of one thread; every failure is named, and no foreign message passes."""

import os

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


@pytest.fixture(scope="module")
def crew():
    with Crew(size=2) as workers:
        yield workers


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


def test_the_place_of_an_error_is_file_and_line():
    try:
        fail("foreign")
    except KeyError as error:
        assert place_of(error).startswith("in test_parallel.py, line")
    assert place_of(ParquetryError(())) == "in a worker process"
