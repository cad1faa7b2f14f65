"""The exact law against simulation: counts of every path within its interval; one per cent off is rejected.

Level: an interval for each path and input, shared within `LEVEL`; the seeds are fixed. Power of the negative
controls: at 5 10^6 runs one per cent of the noise moves a probability near .3 by .002, ten standard errors.
"""

import collections
import functools

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.core.environments import Table
from verifiable_dp.evidence.blackbox.machine import Machine
from verifiable_dp.evidence.exact import law as exact
from verifiable_dp.evidence.exact import limits, worst
from verifiable_dp.evidence.exact.race import survivors_in_general
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import AlteredNoise

LEVEL = 1e-8
RUNS = 5_000_000
CASES = [  # name, arms, number of the pair
    ("dp-se", 2, 2),
    ("dp-se", 3, 0),
    ("dp-se", 5, 2),
    ("dp-se-doubling", 2, 2),
    ("dp-robust-se", 2, 0),
]


def subject(name, n_arms):
    auditor = registry.auditor(name)
    horizon = {"horizon": 20_000} if n_arms == 5 else {}  # two epochs
    return auditor.algorithm(**{**auditor.instance, "n_arms": n_arms, **horizon}), auditor.pairs


def least_p_value(counts, probabilities, runs):
    """Bonferroni's p-value of all counts (m,) together, from exact two-sided binomial tests."""
    law = stats.binom(runs, np.clip(probabilities, 0, 1))
    sides = 2 * np.minimum(law.cdf(counts), law.sf(counts - 1))
    return float(min(1.0, sides.min() * len(counts)))


def counted(algorithm, pair, runs, seed, chunk=10_000_000):
    """Runs by path (codes), on both inputs."""
    found = []
    for world, table in enumerate(pair.worlds()):
        machine = Machine(algorithm, Table(table))
        counts = collections.Counter()
        for first in range(0, runs, chunk):
            part = np.arange(first, min(first + chunk, runs))
            for leaf, count in machine.counts(seed, (world,), part).items():
                counts[machine.nodes[leaf].codes] += count
        assert counts.total() == runs
        found.append(counts)
    return found


def p_value(counts, known):
    """Of the counts of all paths on both inputs, against a law."""
    followed = [path for path, prefix in zip(known.paths, known.prefix, strict=True) if not prefix]
    assert {path for part in counts for path in part} <= set(followed)  # the others are below 1e-28
    found = []
    for part, log_p in zip(counts, (known.log_p, known.log_q), strict=True):
        numbers = np.array([part[path] for path in followed])
        found.append(least_p_value(numbers, np.exp(log_p[~known.prefix]), part.total()))
    return min(1.0, 2 * min(found))


@functools.cache
def simulated(name, n_arms, which):
    """Algorithm, pair and counts of a case."""
    algorithm, pairs = subject(name, n_arms)
    pair = pairs(algorithm)[which]
    return algorithm, pair, counted(algorithm, pair, RUNS, 11)


@pytest.mark.parametrize("case", CASES)
def test_simulated_paths_agree_with_the_law(case):
    algorithm, pair, counts = simulated(*case)
    assert p_value(counts, exact.law(algorithm, pair)) > LEVEL


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_noise_that_is_off_by_one_percent_is_rejected(case, factor):
    """Negative control: the same counts against the law of other noise."""
    algorithm, pair, counts = simulated(*case)
    assert p_value(counts, exact.law(AlteredNoise(algorithm, factor), pair)) < LEVEL


@pytest.mark.slow
def test_simulated_paths_agree_where_five_arms_are_near_the_threshold():
    algorithm, _ = subject("dp-se", 5)
    pair = worst.worst_pairs(algorithm, algorithm.claim, 1000)[0]
    known = exact.law(algorithm, pair)
    assert (np.exp(known.log_p) > 1e-4).sum() >= 8  # many sets of survivors
    counts = counted(algorithm, pair, RUNS, 12)
    assert p_value(counts, known) > LEVEL
    assert p_value(counts, exact.law(AlteredNoise(algorithm, 1.01), pair)) < LEVEL


@pytest.mark.slow
@pytest.mark.parametrize(("n_arms", "which"), [(2, 2), (3, 0), (5, 0)])
def test_a_hundred_million_runs_agree_with_the_law(n_arms, which):
    algorithm, pairs = subject("dp-se", n_arms)
    pair = pairs(algorithm)[which]
    counts = counted(algorithm, pair, 100_000_000, 13)
    assert p_value(counts, exact.law(algorithm, pair)) > LEVEL
    # A quarter of a per cent of the noise is seen with that many.
    assert p_value(counts, exact.law(AlteredNoise(algorithm, 1.0025), pair)) < LEVEL


def test_the_stated_bound_is_the_median_of_audits_bounds():
    """Level: the share of 4000 audits that come out higher is within 6 standard errors of a half."""
    algorithm, pairs = subject("dp-se", 2)
    known = exact.law(algorithm, pairs(algorithm)[2])
    audits, runs = 4000, 100_000
    best = known.best_event(runs)
    generator = np.random.Generator(np.random.Philox(31))
    one, zero = (best.q, best.p) if best.flipped else (best.p, best.q)
    # Each of 2 n runs: this world and a hit, the other and a hit, or neither.
    hits = generator.multinomial(2 * runs, [one / 2, zero / 2, 1 - (one + zero) / 2], size=audits)
    bounds = limits.lower_bounds(hits[:, 0], hits[:, 1])
    error = np.sqrt(0.25 / audits)
    assert abs((bounds > best.bound).mean() - 0.5) < 6 * error
    # Its confidence: the true log-ratio is exceeded in at most one of twenty.
    assert (bounds > np.log(one / zero)).mean() < 0.05 + 6 * np.sqrt(0.05 * 0.95 / audits)
    # Negative control: at twice the runs the median is another.
    assert abs((bounds > known.best_event(2 * runs).bound).mean() - 0.5) > 6 * error


RACES = [
    ([0.0, -1.0, -2.1], [1, 1, 2], 2.0, [0, 0, 0]),
    ([0.0, -1.0, -2.0, 0.5], [1, 2, 1, 0], 1.5, [0, 0, 1, 2]),
    ([0.0, -1.0, -2.0, 0.5], [1, 2, 1, 1.5], 1.5, [0, 0, 1, 1]),
    ([0.0, 0.2, 0.1], [0, 0, 2], 0.5, [0, 1, 2]),
    ([0.0, 1.0, 2.0, 3.0, 4.0], [1, 2, 3, 1, 1], 4.0, [0, 0, 0, 1, 1]),
]


def race_p_value(values, scales, margin, slots, law, runs=1_000_000):
    """P-value of simulated sets of survivors against `law` (2^m,)."""
    generator = np.random.Generator(np.random.Philox(21))
    draws = generator.laplace(size=(runs, max(slots) + 1))[:, slots]
    released = np.array(values) + np.array(scales) * draws
    kept = released.max(axis=1, keepdims=True) - released <= margin
    counts = np.bincount(kept @ (1 << np.arange(len(values))), minlength=len(law))
    return least_p_value(counts, np.exp(law), runs)


@pytest.mark.parametrize(("values", "scales", "margin", "slots"), RACES)
def test_shared_and_missing_noise_agrees_with_simulation(values, scales, margin, slots):
    def law(factor, of_slots):
        return survivors_in_general(np.array(values), factor * np.array(scales), margin, np.array(of_slots))

    assert race_p_value(values, scales, margin, slots, law(1.0, slots)) > LEVEL
    assert race_p_value(values, scales, margin, slots, law(1.02, slots)) < LEVEL
    if len(set(slots)) < len(slots):
        apart = law(1.0, range(len(slots)))
        assert race_p_value(values, scales, margin, slots, apart) < LEVEL
