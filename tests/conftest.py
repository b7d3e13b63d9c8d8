"""Fixtures that many tests share: worker processes, and a workspace after a whole run."""

import signal

import pytest
from small_world import run_stages, write_workspace

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
    spec = write_workspace(tmp_path_factory.mktemp("finished"))
    secret = load(spec).workspace.secret
    secret.mkdir(parents=True)
    (secret / "seed").write_text("7" * 64)
    run_stages(spec, crew)
    return load(spec)


IN_CLUSTERS = {
    "partition": {"by": "rows", "kind": "strata", "column": "sex"},
    "generators": {"cluster-2": "copula"},
    "join": "concatenation",
}


@pytest.fixture(scope="session")
def clustered(tmp_path_factory, crew):
    """The same with rows divided by sex, learned by two generators; not to be changed (copy it)."""
    spec = write_workspace(tmp_path_factory.mktemp("clustered"), **IN_CLUSTERS)
    secret = load(spec).workspace.secret
    secret.mkdir(parents=True)
    (secret / "seed").write_text("7" * 64)
    run_stages(spec, crew)
    return load(spec)
