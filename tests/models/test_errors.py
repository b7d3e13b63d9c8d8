"""Errors carry all faults, survive a trip between processes, and end a command with their own code."""

import pickle

from models import errors
from models.errors import Fault, SourceError, SpecError, nearest


def test_an_error_tells_every_fault_with_its_remedy():
    error = SpecError([Fault("age", "two bounds", "give one"), Fault("sex", "no level")])
    assert str(error) == "age: two bounds (give one); sex: no level"


def test_an_error_comes_back_from_a_worker_process_as_it_went():
    error = SourceError(Fault("warehouse", "does not answer"), transient=True)
    back = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (type(back), back.faults, back.transient) == (SourceError, error.faults, True)


def test_every_kind_of_error_has_an_exit_code_of_its_own():
    codes = [kind.exit_code for kind in errors.KINDS]
    assert len(set(codes)) == len(codes)
    assert not {0, 1, 2} & set(codes)


def test_the_nearest_valid_name_is_offered():
    assert nearest("crat", ["cart", "copula"]) == "did you mean 'cart'? valid: cart, copula"
    assert nearest("zzz", ["cart", "copula"]) == "valid: cart, copula"


def test_of_many_valid_names_the_first_are_listed():
    names = [f"column {number:03d}" for number in range(100)]
    said = nearest("incone", [*names, "income"])
    assert said.startswith("did you mean 'income'? valid: column 000, column 001, ")
    assert said.endswith("column 029, and 71 more")
