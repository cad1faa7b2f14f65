"""Samplers whose last bits tell inputs apart are refuted; those made for it are not.

Level of each audit of a right sampler: 1e-7 for what is claimed (`ALPHA`), so that no test here fails by
chance with a probability above 1e-6.
"""

import numpy as np
import pytest
from scipy import stats

from tests.user_code import samplers
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.noise import Draw, Secure, Seeded
from verifiable_dp.evidence.blackbox import numerics
from verifiable_dp.evidence.blackbox.test import Plan, Terms
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

ALPHA = 1e-7
ONE = DataPair(0.0, 1.0)
VECTOR = DataPair(np.zeros(5), np.array([1.0, 0, 0, 0, 0]))


def check(function, pair=ONE, plan=None, seed=0, epsilon=1.0, delta=0.0, alpha=ALPHA):
    found, _ = numerics.check(
        function if hasattr(function, "values") else ReleaseSampler(function, seed),
        [pair],
        plan or Plan(1000, 20_000, 40_000),
        Terms(PrivacyClaim(epsilon, delta), seed, alpha=alpha),
    )
    return found


@pytest.mark.parametrize(
    ("function", "pair", "least"),
    [
        (samplers.laplace, ONE, 6),
        (samplers.entries, VECTOR, 6),
        (samplers.total, VECTOR, 6),
        (samplers.single, DataPair(0.3, 1.3), 6),
        (samplers.exponentials, ONE, 4),
        (samplers.laplace, DataPair(5.0, 6.0), 3),
        (samplers.laplace, DataPair(0.3, 1.3), 6),
        (samplers.laplace, DataPair(100.0, 101.0), 1.5),
    ],
)
def test_sums_in_floating_point_are_refuted(function, pair, least):
    found = check(function, pair)
    assert found.verdict == "refuted"
    assert found.result["epsilon_lower"] > least


def test_gaussian_noise_in_floating_point_is_refuted():
    assert check(samplers.normal, epsilon=1.0, delta=1e-4).verdict == "refuted"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("function", [samplers.coarse, samplers.geometric, samplers.grid])
def test_outputs_on_a_public_lattice_are_not_refuted(function, seed):
    found = check(function, seed=seed)
    assert found.verdict == "not_refuted"
    assert found.result["control_epsilon_lower"] > 4


def test_where_even_the_naive_sampler_passes_nothing_is_said():
    """At 2^40 a double has no bits below 2^-12 left: what could leak is rounded away."""
    found = check(samplers.laplace, DataPair(2.0**40, 2.0**40 + 1))
    assert found.verdict == "inconclusive"


class Source:
    """Releases of a source of `noise`; one run a draw."""

    shard = 1 << 17

    def __init__(self, make):
        self.make = make

    def values(self, data, path, runs):
        ones = np.ones((len(runs), 1))
        return self.make(path)(Draw(data * ones, ones, runs, np.zeros((len(runs), 1), np.int64), ones > 0))


def test_the_seeded_source_is_idealised():
    assert check(Source(lambda path: Seeded(3, path))).verdict == "refuted"


def test_the_secure_source_is_not_refuted():
    pytest.importorskip("opendp")
    source = Secure()
    plan = Plan(100, 2500, 5000)
    found = check(Source(lambda path: source), plan=plan)
    assert found.verdict == "not_refuted"
    assert check(Source(lambda path: Seeded(3, path)), plan=plan).verdict == "refuted"


def test_false_alarms_keep_the_level():
    """100 audits of an exact sampler at level .02: more than 13 alarms have probability 2e-8 at that level.

    Negative control: claimed is half of what it has, and most audits alarm.
    """

    def alarms(audits, epsilon):
        plan = Plan(100, 2000, 4000)
        found = (check(samplers.grid, ONE, plan, i, epsilon, alpha=0.02).verdict for i in range(audits))
        return sum(verdict == "refuted" for verdict in found)

    assert stats.binom.sf(13, 100, 0.02) < 2e-8
    assert alarms(100, 1.0) <= 13
    assert alarms(20, 0.5) > 10
