"""Streams have names, do not depend on order, and a seed never shows itself."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from models.randomness import Seed, one_thread, torch_stream


def test_a_stream_is_the_same_whatever_was_drawn_before():
    seed = Seed.of(1)
    alone = seed.child("fit/money").generator().random(3)
    seed.child("fit/people").generator().random(1000)
    assert np.array_equal(alone, seed.child("fit/money").generator().random(3))


def test_streams_of_two_names_and_of_two_seeds_differ():
    first = Seed.of(1).child("a").generator().random()
    assert first != Seed.of(1).child("b").generator().random()
    assert first != Seed.of(2).child("a").generator().random()


def test_a_drawn_seed_comes_from_the_operating_system_and_is_never_the_same():
    assert Seed.draw().key != Seed.draw().key


def test_a_seed_does_not_show_its_key():
    seed = Seed.of(1)
    assert seed.key.hex() not in repr(seed) + str(seed) + seed.commitment()


def test_a_commitment_tells_seeds_apart():
    assert Seed.of(1).commitment() == Seed.of(1).commitment() != Seed.of(2).commitment()


def test_a_seed_of_another_length_is_refused():
    with pytest.raises(ValueError, match="32 bytes, not 3"):
        Seed(b"abc")


def test_an_integer_fits_into_32_bits():
    assert 0 <= Seed.of(3).integer() < 2**32


def test_torch_draws_from_the_named_stream_and_its_own_stream_is_left_as_it_was():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    expected_outside = torch.rand(1)
    torch.manual_seed(0)
    with torch_stream(Seed.of(1)):
        first = torch.rand(1)
    assert torch.equal(torch.rand(1), expected_outside)
    with torch_stream(Seed.of(1)):
        assert torch.equal(torch.rand(1), first)


def test_without_torch_in_the_process_nothing_is_imported(monkeypatch):
    import sys

    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with torch_stream(Seed.of(1)):
        pass
    assert "torch" not in sys.modules


def test_on_one_thread_no_library_has_more_and_afterwards_all_have_theirs_again():
    before = [pool["num_threads"] for pool in threadpool_info()]
    with one_thread():
        assert before
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert [pool["num_threads"] for pool in threadpool_info()] == before
