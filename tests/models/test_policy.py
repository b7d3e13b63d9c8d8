"""A policy is a preset, changed by what the spec says."""

import pytest
from pydantic import ValidationError

from models.canaries import CanarySettings
from models.errors import SpecError
from models.measures import catalog
from models.policy import Policy, Preset, merged


def test_every_kind_of_measure_is_asked_with_the_limits_for_the_public():
    policy = Policy.of({})
    assert policy.preset is Preset.PUBLIC
    assert policy.measures == {kind: catalog.build(kind) for kind in catalog.kinds()}


@pytest.mark.parametrize("preset", [preset for preset in Preset if preset is not Preset.PUBLIC])
def test_a_preset_changes_only_settings_that_a_measure_has(preset):
    policy = Policy.of({"preset": str(preset)})
    assert policy.measures != Policy.of({}).measures
    assert set(policy.measures) == set(catalog.kinds())


@pytest.mark.parametrize("kind", catalog.kinds())
def test_no_measure_has_limits_for_a_preset_that_does_not_exist(kind):
    assert set(catalog.settings(kind).presets) <= set(Preset) - {Preset.PUBLIC}


def test_what_the_spec_says_goes_before_the_preset():
    policy = Policy.of({"preset": "internal", "membership": {"attack": 0.51}})
    assert policy.measures["membership"].attack == 0.51


def test_settings_within_settings_are_merged():
    assert merged({"whole": {"exact": 1, "near": 2}}, {"whole": {"near": 3}}) == {"whole": {"exact": 1, "near": 3}}


def test_all_faults_are_told_at_once():
    with pytest.raises(SpecError) as error:
        Policy.of({"copeis": {}, "membership": {"attcak": 1}, "pairs": 3})
    told = str(error.value)
    assert "audit.copeis: unknown key (did you mean 'copies'" in told
    assert "attcak" in told
    assert "audit.pairs: is no mapping of settings to values" in told


def test_an_unknown_preset_is_refused():
    with pytest.raises(ValidationError, match="preset"):
        Policy.of({"preset": "pubilc"})


def test_canaries_are_planted_only_where_the_spec_says_so():
    assert Policy.of({}).canaries is None
    assert Policy.of({"canaries": {"epsilon": 1.5}}).canaries == CanarySettings(epsilon=1.5)


def test_an_override_needs_a_name_and_a_reason():
    with pytest.raises(ValidationError):
        Policy.of({"overrides": [{"check": "Membership attack", "by": "", "reason": "no"}]})


def test_an_override_is_found_by_name_and_place():
    said = {"check": "Exact copies", "where": "part-1", "by": "The data board", "reason": "the part is public"}
    policy = Policy.of({"overrides": [said]})
    assert policy.override_of("Exact copies", "part-1").by == "The data board"
    assert policy.override_of("Exact copies", "") is None
