"""Fixtures that many tests share: worker processes, and a workspace after a whole run."""

import signal

import pytest
from small_world import copied, run_stages, with_seed, write_workspace

from tasks.parallel import Crew
from tasks.spec import load

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it, and so would its children


@pytest.fixture(scope="session")
def crew():
    """Worker processes that are started once."""
    with Crew() as workers:
        yield workers


@pytest.fixture(scope="session")
def finished(tmp_path_factory, crew):
    """A workspace after a whole run that published v1; not to be changed (copy it).

    Its seed is fixed: with one in a hundred seeds a drawn row equals a real one by chance, and nothing is published.
    """
    spec = with_seed(write_workspace(tmp_path_factory.mktemp("finished")), "7" * 64)
    run_stages(spec, crew)
    return load(spec)


@pytest.fixture
def workspace(finished, tmp_path):
    """A copy of the finished workspace that a test may change: its spec."""
    return copied(finished, tmp_path)


IN_CLUSTERS = {
    "partition": {"by": "rows", "kind": "strata", "column": "sex"},
    "generators": {"cluster-2": "copula"},
    "join": "concatenation",
}


@pytest.fixture(scope="session")
def clustered(tmp_path_factory, crew):
    """The same with rows divided by sex, learned by two generators; not to be changed (copy it)."""
    spec = with_seed(write_workspace(tmp_path_factory.mktemp("clustered"), **IN_CLUSTERS), "7" * 64)
    run_stages(spec, crew)
    return load(spec)
