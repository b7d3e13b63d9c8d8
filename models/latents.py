"""Gaussian latents behind codes: a code is the stretch of the normal scale in which its latent lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from models.randomness import Seed
from models.table import Booleans, Floats, Integers

TERMS = 20
"""Terms of the series that links a latent correlation to the covariance of scores."""

HALVINGS = 12
"""How often the interval in which a latent correlation lies is halved: it is found to 0.0005."""

FEW = 10
"""A correlation that fewer rows could tell is 0."""

LEAST = 1e-4
"""The smallest eigenvalue that a correlation matrix is left with."""

SWEEPS = 20
"""So many times each latent of a known answer is drawn again, given the others."""


@dataclass(frozen=True, eq=False)
class Scale:
    """A normal latent cut into answers 0, 1, ... of the given ``shares`` (positive, of sum 1)."""

    shares: Floats

    @cached_property
    def cuts(self) -> Floats:
        """Where one answer ends and the next begins, shape (answers - 1,)."""
        from scipy.special import ndtri

        cuts: Floats = ndtri(np.clip(np.cumsum(self.shares)[:-1], 1e-12, 1 - 1e-12))
        return cuts

    @cached_property
    def scores(self) -> Floats:
        """The latent's mean within each answer: normal scores of what is known only to lie in an interval."""
        density = np.concatenate([[0.0], _density(self.cuts), [0.0]])
        scores: Floats = (density[:-1] - density[1:]) / self.shares
        return scores

    @property
    def coefficients(self) -> Floats:
        """The first TERMS coefficients (from degree 1) of scores by latent, in normalised Hermite polynomials.

        The integral of He_k times the normal density from a to b is He_(k-1)(a) phi(a) - He_(k-1)(b) phi(b). Summed
        by parts over the answers, only the steps of the scores at the cuts are left.
        """
        steps = np.diff(self.scores)
        before, current = np.zeros(len(self.cuts)), _density(self.cuts)
        found = np.empty(TERMS)
        for k in range(1, TERMS + 1):
            found[k - 1] = steps @ current / np.sqrt(k)
            before, current = current, (self.cuts * current - np.sqrt(k - 1) * before) / np.sqrt(k)
        return found

    def answers(self, latents: Floats) -> Integers:
        return np.searchsorted(self.cuts, latents, side="right")

    def stretches(self, answers: Integers) -> tuple[Floats, Floats]:
        """The two ends between which each latent lies; infinite where its answer is not known, -1."""
        ends = np.concatenate([[-np.inf], self.cuts, [np.inf]])
        return np.where(answers >= 0, ends[answers], -np.inf), np.where(answers >= 0, ends[answers + 1], np.inf)


def correlations(scores: Floats, scales: Sequence[Scale], apart: Booleans) -> Floats:
    """The latents' correlations, shape (latents, latents), from their scores, shape (rows, latents), NaN for unknown.

    Scores vary less than the latents do, so their own correlations are too small. The covariance of scores that a
    latent correlation rho makes is the sum over k of rho^k times both coefficients of degree k (Mehler's formula), and
    is solved for rho; for scales of two answers that is the tetrachoric correlation. Pairs marked in ``apart``, and
    those known together in fewer than FEW rows, are 0. Then the matrix is shrunk and made positive definite.
    """
    known = (~np.isnan(scores)).astype(np.float64)
    filled = np.nan_to_num(scores)
    rows, sums = known.T @ known, filled.T @ known
    weight = 1 / np.maximum(rows, 1.0)
    covariance = weight * (filled.T @ filled - weight * sums * sums.T)
    found = _solved(covariance, np.array([scale.coefficients for scale in scales]))
    found[apart | (rows < FEW)] = 0.0
    return _definite(_shrunk(found, rows))


def within(low: Floats, high: Floats, together: Floats, seed: Seed) -> Floats:
    """Latents of the correlations ``together`` that lie between ``low`` and ``high``, shape (rows, latents).

    Drawn by Gibbs sampling: from a start in which they do not depend on one another, each in turn given the others.
    """
    rng = seed.generator()
    precision = np.linalg.inv(together)
    own = np.diag(precision)
    slopes, spreads = np.eye(len(own)) - precision / own[:, None], 1 / np.sqrt(own)
    latents = _truncated(low, high, rng)
    for _ in range(SWEEPS):
        for j, (slope, spread) in enumerate(zip(slopes, spreads, strict=True)):
            middle = latents @ slope
            ends = (low[:, j] - middle) / spread, (high[:, j] - middle) / spread
            latents[:, j] = middle + spread * _truncated(*ends, rng)
    return latents


def _truncated(low: Floats, high: Floats, rng: np.random.Generator) -> Floats:
    """A standard normal number between each two ends; in the lower tail, where shares are told most finely."""
    from scipy.special import ndtr, ndtri

    above = low > 0
    low, high = np.where(above, -high, low), np.where(above, -low, high)
    first, last = ndtr(low), ndtr(high)
    share = first + rng.random(low.shape) * (last - first)
    drawn: Floats = np.clip(ndtri(np.clip(share, 1e-300, 1 - 1e-16)), low, high)
    return np.where(above, -drawn, drawn)


def _density(values: Floats) -> Floats:
    density: Floats = np.exp(-(values**2) / 2) / np.sqrt(2 * np.pi)
    return density


def _solved(covariance: Floats, coefficients: Floats) -> Floats:
    """rho with sum_k rho^k a_ik a_jk = covariance_ij, between -1 and 1, by halving: the sum grows with rho."""
    low, high = np.full(covariance.shape, -1.0), np.full(covariance.shape, 1.0)
    for _ in range(HALVINGS):
        rho = (low + high) / 2
        made = np.zeros(covariance.shape)
        for degree in coefficients.T[::-1]:
            made = (made + np.outer(degree, degree)) * rho
        low, high = np.where(made < covariance, rho, low), np.where(made < covariance, high, rho)
    middle: Floats = (low + high) / 2
    return middle


def _shrunk(found: Floats, rows: Floats) -> Floats:
    """As much nearer to no correlation as chance makes the squares too large (Schaefer and Strimmer, 2005, Eq. 10).

    Stat. Appl. Genet. Mol. Biol. 4(1), doi 10.2202/1544-6115.1175.
    """
    off = found - np.diag(np.diag(found))
    noise = np.where(off != 0, (1 - off**2) ** 2 / np.maximum(rows, 1.0), 0.0).sum()
    kept = 1.0 - min(1.0, noise / max(float((off**2).sum()), 1e-12))
    shrunk: Floats = kept * off + np.eye(len(found))
    return shrunk


def _definite(matrix: Floats) -> Floats:
    """The matrix with no eigenvalue below LEAST, scaled back to a diagonal of 1."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= LEAST:
        return matrix
    raised = (vectors * np.maximum(values, LEAST)) @ vectors.T
    scale = 1 / np.sqrt(np.diag(raised))
    definite: Floats = raised * scale[:, None] * scale[None, :]
    return definite
