"""Composition with delta, held against the privacy loss distributions of dp-accounting.

They come in two forms, rounded up and rounded down, between which the true epsilon lies.
"""

import math

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.core.mechanisms.wishart import WishartRelease, epsilon_of
from verifiable_dp.evidence.judge import laws
from verifiable_dp.evidence.upper import evaluated

pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
DELTA, STEP = 1e-5, 1e-3


def between(parts, delta=DELTA):
    """Least and largest epsilon of `parts`, functions of whether to round up."""
    ends = []
    for pessimistic in (False, True):
        whole = None
        for part in parts:
            one = part(pessimistic)
            whole = one if whole is None else whole.compose(one)
        ends.append(whole.get_epsilon_for_delta(delta))
    return ends


def normal(mu):
    return lambda up: pld.from_gaussian_mechanism(
        1.0, sensitivity=mu, value_discretization_interval=STEP, pessimistic_estimate=up
    )


def laplace(cost):
    return lambda up: pld.from_laplace_mechanism(
        1.0, sensitivity=cost, value_discretization_interval=STEP, pessimistic_estimate=up
    )


@pytest.mark.parametrize("mus", [(1.0,), (0.3, 0.4), (0.2,) * 6])
def test_releases_with_normal_noise(mus):
    terms = [[mu, 1.0, 1] for mu in mus]
    certificate = {"form": "normal", "states": [{"state": "all", "terms": terms}]}
    found = evaluated(certificate, DELTA)
    low, high = between([normal(mu) for mu in mus])
    assert low - 1e-3 <= found <= high + 1e-3
    assert low > evaluated({**certificate, "states": [{"state": "all", "terms": terms[:-1]}]}, DELTA) - 1e-9
    squared = math.fsum(mu**2 for mu in mus)
    assert laws.epsilon_of(0.0, squared, DELTA) == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize(("costs", "mus"), [((0.5,), (0.5,)), ((0.2, 0.3), (0.3, 0.1)), ((1.0,), (0.05,))])
def test_pure_losses_beside_normal_noise_are_never_charged_too_little(costs, mus):
    """What is pure is added whole: more than it takes, and no more than that."""
    parts = [*map(laplace, costs), *map(normal, mus)]
    pure, squared = math.fsum(costs), math.fsum(mu**2 for mu in mus)
    found = laws.epsilon_of(pure, squared, DELTA)
    low, _ = between(parts)
    assert found >= low
    assert found <= pure + between([normal(mu) for mu in mus])[1] + 1e-3
    assert laws.epsilon_of(0.0, squared, DELTA) < low  # without the pure part it is charged too little


def test_the_curve_of_rho_is_never_below_that_of_normal_noise():
    mu = 0.4
    found = laws.epsilon_of(0.0, 0.0, DELTA, (), mu**2 / 2)
    low, _ = between([normal(mu)])
    assert low <= found <= 1.4 * low


@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_chi_square_noise_beside_normal_noise(mu):
    """Of 1 x 1 matrices, cut into cells: that tells less, and nearly as much."""
    freedom, change, times, delta = 40, 2.0, 2, 1e-3
    ends = stats.chi2.ppf(np.linspace(0, 1, 4001), freedom)
    ends = np.unique(np.append(ends, ends + change))
    upper, lower = (np.diff(stats.chi2.cdf(ends - shift, freedom)) for shift in (change, 0.0))
    logs = [{i: float(np.log(mass)) for i, mass in enumerate(world) if mass > 0} for world in (upper, lower)]

    def cells(up):
        return pld.from_two_probability_mass_functions(
            *logs, symmetric=True, pessimistic_estimate=up, value_discretization_interval=STEP
        )

    parts = [cells] * times + ([normal(mu)] if mu else [])
    low, _ = between(parts, delta)
    release = (WishartRelease(change, freedom, 1, times),)
    found = max(epsilon_of(release, delta, kinds=(kind,), mu=mu) for kind in ("add", "remove"))
    assert low <= found <= 1.03 * low
