"""Canaries are learned once more, by what makes the release, and leave no trace but their finding."""

import pytest
from crowd import ONE_PART, TWO_PARTS, crowd
from small_world import SPEC, run_stages

from models import generators, joins, partitioners
from models.canaries import CanarySettings
from models.errors import Fault, SynthesisError
from models.finding import Verdict
from models.generators import Generator, Sampler
from models.joins import Join, Joined, Joiner
from models.randomness import Seed
from models.synthesis import Recipe
from tasks.audit import read_audit
from tasks.canaries import canary_run
from tasks.spec import load
from tasks.stages import AUDIT
from tasks.yaml_files import yaml_text

TRAIN = crowd(600, 1)
CLAIM = CanarySettings(epsilon=1.0)


class Memory(Sampler):
    """Gives training rows back."""

    def __init__(self, table):
        self.columns = table.columns
        self.table = table

    def sample(self, n, seed):
        return self.table.take(seed.generator().integers(0, len(self.table), n))

    def state(self):
        raise NotImplementedError

    @classmethod
    def restore(cls, state, columns):
        raise NotImplementedError


class Memorising(Generator):
    kind: str = "memorising"

    def fit(self, table, seed):
        return Memory(table)


class Refusing(Generator):
    kind: str = "refusing"

    def fit(self, table, seed):
        raise SynthesisError(Fault("age", "cannot be learned"))


class Barren(Join):
    """Its joiner accepts no row."""

    kind: str = "barren"

    def fit(self, parts, seed):
        return AcceptsNothing()


class AcceptsNothing(Joiner):
    def join(self, draw, n, seed):
        (part,) = draw(0, 0)
        return Joined(part, proposed=n, accepted=0, shortfall=n)


def planted(generator, *, join="shuffled", partition=ONE_PART, settings=CLAIM, seed=1):
    built = joins.catalog.build(join)
    how = Recipe(partitioners.catalog.build("clustered"), generators.catalog.build(generator), {}, built)
    return canary_run(TRAIN, partition, how, settings, rows=len(TRAIN), seed=Seed.of(seed))


@pytest.mark.parametrize("partition", [ONE_PART, TWO_PARTS], ids=["one part", "two parts"])
def test_a_generator_that_memorises_is_refuted(partition):
    found = planted(Memorising(), partition=partition)
    assert found.verdict is Verdict.FAIL
    assert found.estimate > 1.5


@pytest.mark.parametrize("kind", generators.catalog.kinds())
def test_the_generators_that_there_are_show_next_to_nothing_of_canaries(kind):
    found = planted(kind)
    assert found.estimate < 0.5
    assert found.verdict is Verdict.PASS


def test_the_same_seed_gives_the_same_finding_and_another_seed_plants_others():
    one, again, other = (planted("marginal", settings=CanarySettings(guesses=100), seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one.reason != other.reason


@pytest.mark.parametrize("said", [{"kind": "kmeans", "k": 3}, {"kind": "strata", "column": "ill"}])
def test_canaries_go_to_the_clusters_of_people_like_them(said):
    partitioner = partitioners.catalog.build(said)
    how = Recipe(partitioner, Memorising(), {}, joins.catalog.build("concatenation"))
    partition = partitioner.partition(TRAIN, Seed.of(1))
    found = canary_run(TRAIN, partition, how, CLAIM, rows=len(TRAIN), seed=Seed.of(1))
    assert found.verdict is Verdict.FAIL
    calm = Recipe(partitioner, generators.catalog.build("cart"), {}, how.join)
    assert canary_run(TRAIN, partition, calm, CLAIM, rows=len(TRAIN), seed=Seed.of(1)).verdict is Verdict.PASS


def test_a_refused_training_is_told_and_passes_nothing():
    found = planted(Refusing())
    assert (found.verdict, found.estimate) == (Verdict.INCONCLUSIVE, None)
    assert found.remark == "age: cannot be learned"


def test_a_join_that_accepts_no_row_is_told_and_passes_nothing():
    found = planted("marginal", join=Barren())
    assert (found.verdict, found.remark) == (Verdict.INCONCLUSIVE, "0 of 600 rows were joined")


def test_the_audit_tells_of_canaries_where_the_spec_asks_and_keeps_nothing_else_of_them(finished, workspace, crew):
    plain = read_audit(finished)
    assert not [finding for finding in plain["findings"] if finding["measure"] == "canaries"]
    before = files(workspace.parent)
    workspace.write_text(yaml_text({**SPEC, "audit": {**SPEC["audit"], "canaries": {"epsilon": 2.0}}}))
    run_stages(workspace, crew, (AUDIT,))
    said = read_audit(load(workspace))
    (found,) = [finding for finding in said["findings"] if finding["measure"] == "canaries"]
    assert (found["title"], found["limit"], found["verdict"], found["group"]) == ("Canaries", 2.0, "pass", "linking")
    assert said["gated"] == plain["gated"] + 1
    assert files(workspace.parent) == before


def files(folder):
    """What lies in a workspace, lineage events and the history of versions apart."""
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in names if not any(part in name for part in (".git/", ".dvc/", "data/lineage/"))}
