"""Randomness has names: every stream is derived from one secret seed and the path of what it is for.

``seed.child("fit/money")`` is the same stream whatever else was drawn before it, in whichever process and order.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, repr=False)
class Seed:
    """A 32-byte secret. Whoever knows it, the spec and a candidate record can replay a release against that record.

    It therefore never appears in a log, a message or a manifest; ``commitment`` does.
    """

    key: bytes

    def __post_init__(self) -> None:
        if len(self.key) != 32:
            raise ValueError(f"a seed has 32 bytes, not {len(self.key)}")

    def __repr__(self) -> str:
        return "Seed(secret)"

    @classmethod
    def draw(cls) -> Seed:
        """A new seed from the operating system's source."""
        return cls(secrets.token_bytes(32))

    @classmethod
    def of(cls, number: int) -> Seed:
        """A guessable seed, for tests and for trying things out; never for a release."""
        return cls(hashlib.sha256(f"parquetry/number/{number}".encode()).digest())

    def child(self, name: str) -> Seed:
        """The stream called ``name`` below this one (HMAC-SHA256 of the name under this seed)."""
        return Seed(hmac.new(self.key, name.encode(), hashlib.sha256).digest())

    def generator(self) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(int.from_bytes(self.key, "big")))

    def integer(self) -> int:
        """A 32-bit number, for libraries that take no more."""
        return int.from_bytes(self.key[:4], "big")

    def commitment(self) -> str:
        """What a manifest may say of the seed: it can be checked by who has the seed and reveals nothing of it."""
        return hashlib.sha256(b"parquetry/commitment/" + self.key).hexdigest()


@contextmanager
def torch_stream(seed: Seed) -> Iterator[None]:
    """Within it, torch draws from ``seed`` alone; outside, torch's global stream is as it was.

    It is the stream of the CPU: what goes to another device is drawn there first, so that a GPU that is not asked for
    is not touched. Without torch in the process there is nothing to fork and nothing happens.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed.integer())
        yield


def one_thread() -> AbstractContextManager[object]:
    """Within it sums are taken in one order: threads would change their last digits from run to run."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits
