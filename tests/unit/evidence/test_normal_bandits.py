"""Bandits without contexts whose releases have normal noise: what they cost, and what must not pass."""

import copy
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import integrate, stats

import verifiable_dp as vdp
from tests.user_code import gaussian
from verifiable_dp import make
from verifiable_dp.algorithms.adac_ucb import AdaCUCB
from verifiable_dp.auditing.request import Promise, promised
from verifiable_dp.core import claims
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.claims import PrivacyClaim, gdp_delta, gdp_epsilon, zcdp_delta
from verifiable_dp.core.environments import Table
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.mechanisms.gaussian import Gaussian
from verifiable_dp.core.noise import Secure
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import certify, forced_runs, normal
from verifiable_dp.evidence.alignment import searching
from verifiable_dp.record import verify
from verifiable_dp.record.model import Record
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.mutants import noise_times

ABOUT = {"n_arms": 2, "rho": 0.1, "horizon": 15, "delta": 1e-3}
RIGHT = make("adac-ucb", **ABOUT)
PAIRS = registry.auditor("adac-ucb").pairs(RIGHT)


def test_the_certificate_is_what_the_costliest_pair_costs():
    """Both are mu-GDP with mu = sqrt(2 rho), less than rho-zCDP alone says."""
    bound = certify.certificate(RIGHT, RIGHT.claim, "alignment")
    least = gdp_epsilon(0.2**0.5, 1e-3)
    assert bound.certificate["form"] == "normal"
    assert bound.epsilon == pytest.approx(least, rel=1e-9)
    assert RIGHT.claim.epsilon == pytest.approx(least, rel=1e-9)
    assert max(normal.examine(RIGHT, pair, seed=0).mu for pair in PAIRS) == pytest.approx(0.2**0.5)


@pytest.mark.parametrize("factor", [0.5, 2**-0.5, 0.99])
def test_with_less_noise_the_certificate_exceeds_the_claim(factor):
    """The control; the wrapped mutant itself is not our own code and has none."""

    @dataclass(frozen=True)
    class Less(AdaCUCB):
        @property
        def mechanism(self):
            return Gaussian(factor, self.rho)  # what a change of 1 needs times the factor

    Less.__module__ = AdaCUCB.__module__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certify, "ours", lambda algorithm: True)
        bound = certify.certificate(Less(**ABOUT), RIGHT.claim, "alignment")
    assert bound.epsilon > 1.005 * RIGHT.claim.epsilon
    broken = noise_times(factor)(RIGHT)
    check, _ = normal.check(broken, RIGHT.claim, PAIRS[:2], 0)
    assert check.verdict == "refuted"


def test_normal_noise_has_no_pure_epsilon():
    """Alignment that counts |q - q'|/scale would say 0, and certify nothing as everything."""
    assert searching.examine(RIGHT, PAIRS[0], seed=0).cost == float("inf")
    pure = PrivacyClaim(5.0, observe="releases")
    assert certify.certificate(RIGHT, pure, "alignment") is None


RANDOMISED = 2 * stats.norm.ppf(math.e / (1 + math.e))  # the mu of a pure epsilon of 1


@pytest.mark.parametrize(
    ("function", "promise", "excess"),
    [
        (gaussian.right, {"rho": 0.5}, 1.0),
        (gaussian.a_little_less, {"rho": 0.5}, 0.99**-2),
        (gaussian.laplace, {"rho": 0.5}, 1.0),
        (gaussian.laplace_a_little_less, {"rho": 0.5}, 0.99**-2),
        (gaussian.right, {"mu": 1.0}, 1.0),
        (gaussian.a_little_less, {"mu": 1.0}, 1 / 0.99),
        (gaussian.laplace, {"mu": 1.0}, RANDOMISED),
    ],
)
def test_a_bound_is_held_against_the_curve_that_is_promised(function, promise, excess):
    """All keep the epsilon that is implied at this delta: a bound at that delta alone calls all fine."""
    report = vdp.audit(function, delta=1e-5, budget="smoke", runs=600, seed=0, **promise)
    check = next(check for check in report.record["checks"] if check["kind"] == "upper_bound")
    (name, value), held = next(iter(promise.items())), excess <= 1
    implied = {"rho": claims.zcdp_epsilon, "mu": gdp_epsilon}[name](value * excess, 1e-5)
    assert check["statistics"]["certificate"]["form"] == name
    assert check["result"]["epsilon_upper"] == pytest.approx(implied, rel=1e-9)
    assert check["result"]["verdict"] == ("not_refuted" if held else "inconclusive")
    assert report.verdict == ("not_refuted" if held else "inconclusive")
    bare = copy.deepcopy(report.record)
    for one in bare["checks"]:
        if one["kind"] == "upper_bound":
            one["statistics"]["certificate"] = one["statistics"]["certificate"]["of"]
    with pytest.raises(InputError, match=f"must state {name}, as the claim does"):
        verify._about_the_claim(Record.of(bare))


def test_a_promise_of_rho_and_mu_is_held_as_mu():
    claim = PrivacyClaim.normal(0.1, 1e-3)
    assert (claim.rho, claim.mu) == (0.1, pytest.approx(math.sqrt(0.2)))
    assert claim.curve == "mu"
    assert claims.group(claim, 2).rho == pytest.approx(0.4)
    assert claims.group(claim, 2).mu == pytest.approx(2 * math.sqrt(0.2))
    with pytest.raises(InputError, match="mu must be at most sqrt"):
        PrivacyClaim(9.0, 1e-3, rho=0.1, mu=0.448)
    check, _ = normal.check(RIGHT, PrivacyClaim.zcdp(0.1, 1e-3, observe="releases"), PAIRS[:2], 0)
    assert check.statistics["max_cost"] == pytest.approx(check.statistics["epsilon"], rel=1e-9)
    assert check.verdict == "not_refuted"
    less = noise_times(0.99)(RIGHT)
    check, _ = normal.check(less, PrivacyClaim.zcdp(0.1, 1e-3, observe="releases"), PAIRS[:2], 0)
    assert check.verdict == "inconclusive"  # its epsilon is kept, its rho is not
    assert normal.check(less, replace(claim, observe="releases"), PAIRS[:2], 0)[0].verdict == "refuted"


def test_noise_of_two_kinds_gets_neither_a_mu_nor_a_certificate(monkeypatch):
    """Sums with normal noise beside ones with Laplace noise: their costs do not add up in either unit."""

    class Both:
        scale = 1.0

        def release(self, value, noise, run, slot, where):
            first = where & (slot < 2)
            out = Gaussian(1.0, 0.1).release(value, noise, run, slot, where & ~first)
            other = Laplace(1.0, 1.0).release(value, noise, run, slot, first)
            return out if not first.any() else other

    @dataclass(frozen=True)
    class Mixed(AdaCUCB):
        @property
        def mechanism(self):
            return Both()

    monkeypatch.setattr(certify, "ours", lambda algorithm: True)
    mixed = Mixed(**ABOUT)
    assert certify.certificate(mixed, RIGHT.claim, "alignment") is None
    assert normal.examine(mixed, PAIRS[0], seed=0).mu == float("inf")
    with pytest.raises(forced_runs.NotOfFormError, match="neither all Laplace nor all normal"):
        certify.unfolded(mixed)


def test_secure_noise_refuses_it():
    """Secure sampling has Laplace noise only: no live session with it until it has more."""
    pytest.importorskip("opendp")
    with pytest.raises(InputError, match="secure sampling supports only Laplace noise"):
        play(RIGHT, Table(np.zeros((15, 2))), Secure(), np.zeros(1, np.int64))


def test_rho_is_the_promise():
    claim = RIGHT.claim
    assert claim.rho == 0.1
    assert claim.delta_at(claim.epsilon) <= claim.delta * (1 + 1e-6)
    with pytest.raises(InputError, match="rho"):
        make("adac-ucb", n_arms=2, rho=0.0, horizon=15)
    with pytest.raises(InputError, match="beta must be greater than 3"):
        make("adac-ucb", n_arms=2, rho=1.0, horizon=15, beta=3)
    with pytest.raises(InputError, match="rho must"):
        Gaussian(1.0, -1.0)


def test_noise_that_changes_its_kind_from_block_to_block_gets_no_certificate(monkeypatch):
    """Broken variant: the kind of the first block stands for all."""

    class Turns:
        scale = 1.0

        def release(self, value, noise, run, slot, where):
            kind = Laplace if slot.max() < 2 else Gaussian
            return kind(1.0, 0.1).release(value, noise, run, slot, where)

    @dataclass(frozen=True)
    class Mixed(AdaCUCB):
        @property
        def mechanism(self):
            return Turns()

    monkeypatch.setattr(certify, "ours", lambda algorithm: True)
    with pytest.raises(forced_runs.NotOfFormError, match="neither all Laplace nor all normal"):
        certify.unfolded(Mixed(**ABOUT))


def test_what_is_kept_between_blocks_takes_no_normal_noise(monkeypatch):
    """Nothing adds such noise today: the kind of its draws is changed here."""
    played = forced_runs.played_block
    monkeypatch.setattr(certify, "played_block", lambda *given: replace(played(*given), normal=True))
    with pytest.raises(
        forced_runs.NotOfFormError, match="adds normal noise to values that it keeps between blocks"
    ):
        certify.chained(make("dp-ucb", n_arms=2, epsilon=1.0, horizon=8))


# Promises of mu-GDP are held against their whole curve; a control keeps rho-zCDP, but not mu-GDP.


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
        (lambda: Promise(1.0, mu=1.0), "mu must be given without epsilon"),
        (lambda: Promise(delta=0.0, mu=1.0), "with mu"),
        (lambda: Promise(mu=-1.0), "mu must be finite"),
        (lambda: PrivacyClaim(0.1, 1e-5, mu=1.0), "which mu and delta imply"),
        (lambda: PrivacyClaim(9.0, mu=1.0), "mu-GDP, got 0"),
        (lambda: PrivacyClaim(1.0).epsilon_at(1e-5), "rho or mu"),
        (lambda: vdp.audit("dp-se", mu=1.0), "`mu` works only"),
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
