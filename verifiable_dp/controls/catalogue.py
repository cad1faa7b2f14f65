"""The controls: mechanisms, right and broken, each with a pair of neighbouring inputs.

Answers change by at most 1 between the two inputs of a pair, of a histogram one count, of a data set or
stream one item.

Sources: Dwork & Roth, "The algorithmic foundations of differential privacy", 2014 (Laplace, histogram,
report noisy max, randomised response); Ding, Wang, Wang, Zhang, Kifer, "Detecting violations of differential
privacy", CCS 2018 (the broken ones and the pairs); Lyu, Su, Li, "Understanding the sparse vector technique
for differential privacy", VLDB 2017 (the six variants); Ghosh, Roughgarden, Sundararajan, "Universally
utility-maximizing privacy mechanisms", STOC 2009 (truncated geometric); Wu, Zhou, Tao, Wang, "On private and
robust bandits", NeurIPS 2023, Algorithm 2 (PRM); Chan, Shi, Song, "Private and continual release of
statistics", 2010 (tree).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from verifiable_dp.controls import laws
from verifiable_dp.controls.laws import Exponential, LaplaceLaw, Laws
from verifiable_dp.core.mechanisms.tree import Tree
from verifiable_dp.core.validate import BoolArray, FloatArray, Function, IntArray

Outputs = FloatArray | IntArray | BoolArray | npt.NDArray[np.int8]
Release = Function[Outputs]  # of (data, size, rng); each takes the data of its own pair


@dataclass(frozen=True)
class Control:
    """A mechanism with known truth.

    Attributes
    ----------
    name
        Short.
    release
        `release(data, size, rng) -> (size, ...)`.
    pair
        Neighbouring data.
    claimed
        The epsilon that is tested.
    law
        Makes the law of the output on either input of the pair.
    words
        What it is.
    """

    name: str
    release: Release
    pair: tuple[npt.ArrayLike, npt.ArrayLike]
    claimed: float
    law: Callable[[], Laws]
    words: str

    @functools.cached_property
    def laws(self) -> Laws:
        """Law of the output on either input."""
        return self.law()

    @property
    def truth(self) -> float:
        """True epsilon on the pair; may be infinite."""
        return self.laws.epsilon

    @property
    def mass_apart(self) -> float:
        """Probability of outputs that one input alone can give: above 0 where the truth is infinite."""
        return self.laws.mass_apart

    @property
    def expected(self) -> str:
        """The right verdict."""
        return "refuted" if self.truth > self.claimed * (1 + 1e-9) else "not_refuted"

    def best_bound(self, runs: int, level: float) -> float:
        """Lower bound on epsilon of the best event, `runs` draws a side, at its median counts."""
        return self.laws.best_bound(runs, level)


# ---------------------------------------------------------------- mechanisms


def _laplace(scale: float) -> Release:
    def release(data: npt.ArrayLike, size: int, rng: np.random.Generator) -> Outputs:
        data = np.asarray(data, dtype=np.float64)
        return data + rng.laplace(0, scale, (size, *data.shape))

    return release


def _noisy_max(noise: str, scale: float, *, value: bool = False) -> Release:
    def release(data: FloatArray, size: int, rng: np.random.Generator) -> Outputs:
        noisy = data + getattr(rng, noise)(scale=scale, size=(size, len(data)))
        return np.asarray(noisy.max(axis=1) if value else noisy.argmax(axis=1))

    return release


def _sparse_vector(
    threshold: float, rho: float, nu: float, *, limit: bool = True, value: bool = False
) -> Release:
    """Answers by 1 (above) and 0, -1 after the first 1 under the limit; its noisy value in a last column."""

    def stopped(queries: int) -> npt.NDArray[np.int8]:
        """Rows of answers by the place of the 1, and one without any."""
        return (np.eye(queries + 1, queries) - np.triu(np.ones((queries + 1, queries)), 1)).astype(np.int8)

    def release(data: FloatArray, size: int, rng: np.random.Generator) -> Outputs:
        noisy = rng.laplace(0, nu, (size, len(data))) if nu else np.zeros((size, len(data)))
        noisy += data
        above = noisy >= threshold + rng.laplace(0, rho, (size, 1))
        if not limit:
            return above
        first, found = above.argmax(axis=1), above.any(axis=1)
        answers = stopped(len(data))[np.where(found, first, len(data))]
        if not value:
            return answers
        return np.column_stack([answers, np.where(found, noisy[np.arange(size), first], np.nan)])

    return release


def _response(keep: float) -> Release:
    def release(data: int, size: int, rng: np.random.Generator) -> Outputs:
        return np.where(rng.random(size) < keep, data, 1 - data)

    return release


def _geometric(epsilon: float, most: int) -> Release:
    def release(data: int, size: int, rng: np.random.Generator) -> Outputs:
        ratio = -math.expm1(-epsilon)
        noise = rng.geometric(ratio, size) - rng.geometric(ratio, size)
        return (data + noise).clip(0, most)

    return release


def _robust_mean(limit: float, scale: float) -> Release:
    """PRM for raw moments: the mean of x 1{abs(x) <= M}, plus Laplace noise."""

    def release(data: FloatArray, size: int, rng: np.random.Generator) -> Outputs:
        kept = np.where(np.abs(data) <= limit, data, 0.0)
        return np.asarray(kept.mean() + rng.laplace(0, scale, size))

    return release


def _tree(scale: float) -> Release:
    """All nodes of the tree mechanism over a stream: item i completes that of items (i - lowbit(i), i]."""

    def release(data: FloatArray, size: int, rng: np.random.Generator) -> Outputs:
        end = np.arange(1, len(data) + 1)
        sums = np.append(0.0, np.cumsum(data))
        return np.asarray(sums[end] - sums[end - (end & -end)] + rng.laplace(0, scale, (size, len(data))))

    return release


# ---------------------------------------------------------------- families


def _additive() -> list[Control]:
    counts = np.array([10.0, 20.0, 30.0, 40.0, 50.0])
    changed = counts + np.array([1.0, 0, 0, 0, 0])

    def shift(scale: float) -> Callable[[], Laws]:
        return lambda: laws.laplace(1.0, scale)

    return [
        Control("laplace", _laplace(1.0), (0.0, 1.0), 1.0, shift(1.0), "Lap(1/epsilon)"),
        Control(
            "laplace-half", _laplace(0.5), (0.0, 1.0), 1.0, shift(0.5), "half the noise: Lap(1/(2 epsilon))"
        ),
        Control(
            "histogram", _laplace(1.0), (counts, changed), 1.0, shift(1.0), "five counts, Lap(1/epsilon) each"
        ),
        Control(
            "histogram-half", _laplace(0.5), (counts, changed), 1.0, shift(0.5), "five counts, half the noise"
        ),
        Control(
            "histogram-claim",
            _laplace(0.5),
            (counts, changed),
            0.5,
            shift(0.5),
            "five counts, Lap(.5), .5 claimed",
        ),
    ]


def _maxima() -> list[Control]:
    ones, twos = np.ones(5), np.full(5, 2.0)
    raised = np.array([0.0, 2, 2, 2, 2])
    laplace, exponential = LaplaceLaw(2.0), Exponential(2.0)

    def index(noise: LaplaceLaw | Exponential) -> Callable[[], Laws]:
        return lambda: laws.noisy_max(ones.tolist(), raised.tolist(), noise, noise.scale)

    def largest(noise: LaplaceLaw | Exponential) -> Callable[[], Laws]:
        return lambda: laws.largest(ones.tolist(), twos.tolist(), noise, noise.scale)

    pair, value = (ones, raised), (ones, twos)
    return [
        Control(
            "noisy-max-laplace",
            _noisy_max("laplace", 2.0),
            pair,
            1.0,
            index(laplace),
            "index of the largest of five answers + Lap(2/epsilon)",
        ),
        Control(
            "noisy-max-laplace-half",
            _noisy_max("laplace", 1.0),
            pair,
            1.0,
            index(LaplaceLaw(1.0)),
            "the same with half the noise",
        ),
        Control(
            "noisy-max-exponential",
            _noisy_max("exponential", 2.0),
            pair,
            1.0,
            index(exponential),
            "the same with exponential noise of scale 2/epsilon",
        ),
        Control(
            "noisy-max-laplace-value",
            _noisy_max("laplace", 2.0, value=True),
            value,
            1.0,
            largest(laplace),
            "returns the noisy maximum itself",
        ),
        Control(
            "noisy-max-exponential-value",
            _noisy_max("exponential", 2.0, value=True),
            value,
            1.0,
            largest(exponential),
            "the same with exponential noise: values below all answers of one input",
        ),
    ]


def _sparse_vectors(epsilon: float = 1.0) -> list[Control]:
    """Ten queries, c = 1; epsilon1 = epsilon2 = epsilon/2, except in variant 4."""
    half = epsilon / 2
    first, rest = epsilon / 4, 3 * epsilon / 4
    limited = (np.ones(10), np.repeat([2.0, 0.0], 5))
    swapped = (np.repeat([1.0, 0.0], 5), np.repeat([0.0, 1.0], 5))

    def one(
        number: int, which: Function[Laws], threshold: float, rho: float, nu: float, words: str
    ) -> Control:
        unlimited = which is laws.all_above
        left, right = swapped if unlimited else limited
        release = _sparse_vector(
            threshold, rho, nu, limit=not unlimited, value=which is laws.first_value_above
        )
        law = functools.partial(which, left.tolist(), right.tolist(), threshold, rho, nu)
        return Control(f"sparse-vector-{number}", release, (left, right), epsilon, law, words)

    return [
        one(
            1,
            laws.first_above,
            0.5,
            1 / half,
            2 / half,
            "Lyu et al. Algorithm 1: threshold + Lap(1/epsilon1), answers + Lap(2c/epsilon2)",
        ),
        one(2, laws.first_above, 1.0, 1 / half, 2 / half, "Algorithm 2: threshold + Lap(c/epsilon1)"),
        one(
            3,
            laws.first_value_above,
            1.0,
            1 / half,
            1 / half,
            "Algorithm 3: answers + Lap(c/epsilon2), the noisy answer is released",
        ),
        one(
            4,
            laws.first_above,
            1.0,
            1 / first,
            1 / rest,
            "Algorithm 4: epsilon1 = epsilon/4, answers + Lap(1/epsilon2)",
        ),
        one(
            5,
            laws.all_above,
            1.0,
            1 / half,
            0.0,
            "Algorithm 5: answers without noise, any number of positives",
        ),
        one(
            6,
            laws.all_above,
            1.0,
            1 / half,
            1 / half,
            "Algorithm 6: answers + Lap(1/epsilon2), any number of positives",
        ),
    ]


def _discrete() -> list[Control]:
    keep = math.e / (1 + math.e)

    def clipped(epsilon: float) -> Callable[[], Laws]:
        return lambda: laws.geometric(epsilon, 10, 4, 5)

    return [
        Control(
            "randomised-response",
            _response(keep),
            (0, 1),
            1.0,
            lambda: laws.response(keep),
            "a bit, reported truthfully with probability e/(1 + e)",
        ),
        Control(
            "randomised-response-bold",
            _response(0.85),
            (0, 1),
            1.0,
            lambda: laws.response(0.85),
            "reported truthfully with probability .85",
        ),
        Control(
            "truncated-geometric",
            _geometric(1.0, 10),
            (4, 5),
            1.0,
            clipped(1.0),
            "a count in 0 .. 10, two-sided geometric noise, clipped",
        ),
        Control(
            "truncated-geometric-half", _geometric(2.0, 10), (4, 5), 1.0, clipped(2.0), "noise for 2 epsilon"
        ),
    ]


def _means_and_sums() -> list[Control]:
    n, limit = 20, 2.0
    data = np.linspace(-3.0, 3.0, n)  # the outer ones are truncated
    low, high = data.copy(), data.copy()
    low[n // 2], high[n // 2] = -limit, limit
    pair = (low, high)
    scale = 2 * limit / n
    # The tree of the library: its first item enters floor(log2 T) + 1 nodes.
    right, shallow = Tree(8, 1.0), Tree(8, 1.0, budget="log2")
    stream = (np.array([0.0, 1, 0, 1, 1, 0, 1, 0]), np.array([1.0, 1, 0, 1, 1, 0, 1, 0]))
    nodes = right.nodes_of(1)

    def mean(of: float) -> Callable[[], Laws]:
        return lambda: laws.laplace(2 * limit / n, of)

    def tree(of: float) -> Callable[[], Laws]:
        return lambda: laws.laplace_many(nodes, 1.0, of)

    return [
        Control(
            "prm",
            _robust_mean(limit, scale),
            pair,
            1.0,
            mean(scale),
            "mean of 20 values truncated at M + Lap(2M/(n epsilon))",
        ),
        Control(
            "prm-half",
            _robust_mean(limit, scale / 2),
            pair,
            1.0,
            mean(scale / 2),
            "sensitivity taken for M/n",
        ),
        Control(
            "tree",
            _tree(right.scale),
            stream,
            1.0,
            tree(right.scale),
            "nodes over 8 items, Lap(levels/epsilon) each, 4 levels",
        ),
        Control(
            "tree-depth",
            _tree(shallow.scale),
            stream,
            1.0,
            tree(shallow.scale),
            "depth off by one: Lap(log2(T)/epsilon) each",
        ),
        Control("tree-half", _tree(right.scale / 2), stream, 1.0, tree(right.scale / 2), "half the noise"),
    ]


def controls() -> list[Control]:
    """All controls; epsilon 1 is claimed, except of histogram-claim."""
    return [*_additive(), *_maxima(), *_sparse_vectors(), *_discrete(), *_means_and_sums()]
