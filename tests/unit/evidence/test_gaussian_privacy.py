"""Promises of mu-GDP are held against their whole curve; a control keeps rho-zCDP, but not mu-GDP."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

import verifiable_dp as vdp
from tests.user_code import gaussian
from verifiable_dp.auditing.request import Promise, promised
from verifiable_dp.core import claims
from verifiable_dp.core.claims import PrivacyClaim, gdp_delta, gdp_epsilon, zcdp_delta
from verifiable_dp.core.validate import InputError


@pytest.mark.parametrize(("mu", "epsilon"), [(1.0, 0.0), (1.0, 1.0), (0.3, 0.5), (4.0, 2.0), (2.0, 9.0)])
def test_the_delta_of_gaussian_privacy_is_that_of_normal_noise(mu, epsilon):
    def above(x):
        return max(0.0, stats.norm.pdf(x - mu) - math.exp(epsilon) * stats.norm.pdf(x))

    crossing = epsilon / mu + mu / 2
    truth, _ = integrate.quad(above, crossing, crossing + 12, epsabs=1e-13, epsrel=1e-10, limit=200)
    assert gdp_delta(mu, epsilon) == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("mu", [0.01, 0.5, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.1])
def test_its_epsilon_is_the_least_at_which_the_delta_holds(mu, delta):
    epsilon = gdp_epsilon(mu, delta)
    assert gdp_delta(mu, epsilon) <= delta * (1 + 1e-6)
    assert epsilon < 1e-11 or gdp_delta(mu, 0.999 * epsilon) > delta
    # Normal noise is mu^2/2-zCDP, which implies less.
    assert gdp_delta(mu, epsilon) <= zcdp_delta(mu * mu / 2, epsilon) * (1 + 1e-9)


def test_a_group_multiplies_mu():
    claim = claims.group(PrivacyClaim.gdp(0.5, 1e-5), 3)
    assert (claim.mu, claim.delta, claim.rho) == (1.5, 1e-5, None)
    assert claim.epsilon == gdp_epsilon(1.5, 1e-5)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda: Promise(mu=1.0, rho=0.5), "not be given together"),
        (lambda: Promise(1.0, mu=1.0), "mu must stand alone"),
        (lambda: Promise(delta=0.0, mu=1.0), "with mu"),
        (lambda: Promise(mu=-1.0), "mu must be finite"),
        (lambda: PrivacyClaim(0.1, 1e-5, mu=1.0), "which mu and delta imply"),
        (lambda: PrivacyClaim(9.0, mu=1.0), "mu-GDP, got 0"),
        (lambda: PrivacyClaim(1.0).epsilon_at(1e-5), "rho or mu"),
        (lambda: vdp.audit("dp-se", mu=1.0), "mu works only"),
    ],
)
def test_what_means_nothing_is_refused(asked, words):
    with pytest.raises(InputError, match=words):
        asked()


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("function", "promise", "verdict"),
    [
        (gaussian.randomised_response, {"mu": 1.0}, "refuted"),
        pytest.param(gaussian.randomised_response, {"rho": 0.5, "delta": 0.01}, "not_refuted", marks=SLOW),
        pytest.param(gaussian.right, {"mu": 1.0, "delta": 0.01}, "not_refuted", marks=SLOW),
        pytest.param(gaussian.too_little, {"mu": 1.0}, "refuted", marks=SLOW),
    ],
)
def test_a_promise_of_mu_is_held_against_its_whole_curve(function, promise, verdict):
    report = vdp.audit(function, runs=1000, seed=0, **promise)
    assert report.verdict == verdict
    record = report.record
    for name in promise.keys() & claims.CURVED:
        value = promise[name]
        curve = next(check for check in record["checks"] if check["kind"] == "curve")
        assert record["claim"][name] == record["plan"][name] == curve["statistics"][name] == value
        assert getattr(promised(record["plan"], record["claim"]), name) == value


def test_a_curve_of_gaussian_privacy_lies_below_that_of_zcdp():
    gaussian_claim, concentrated = PrivacyClaim.gdp(1.0, 1e-5), PrivacyClaim.zcdp(0.5, 1e-5)
    for epsilon in np.linspace(0, 5, 11).tolist():
        assert gaussian_claim.delta_at(epsilon) < concentrated.delta_at(epsilon)
    # Randomised response with epsilon 1 lies between the two at 0.
    assert gaussian_claim.delta_at(0.0) < (math.e - 1) / (math.e + 1) < concentrated.delta_at(0.0)
