"""Edges of the arithmetic of certificates, and of the judge of upper bounds.

Costs follow by hand: change over scale for Laplace noise, the closed forms of `core.claims` for normal noise.
"""

import math

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.core.claims import gdp_epsilon, zcdp_epsilon
from verifiable_dp.core.mechanisms import shuffle, wishart
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import upper
from verifiable_dp.evidence.check import judged
from verifiable_dp.evidence.judge import laws
from verifiable_dp.evidence.upper import Method, UpperBound, evaluated

DELTA = 1e-5


def states(form, *terms, **more):
    return {"form": form, "states": [{"state": "s", "terms": list(each)} for each in terms], **more}


def traced(*charges):
    """A certificate of paths, each with one unit that pays (line, loss, squared shift) and more."""
    return {
        "form": "paths",
        "version": 1,
        "frames": [],
        "patterns": [],
        "profiles": [{"groups": [], "charges": list(each)} for each in charges],
        "paths": [{"path": i, "units": [[i, [0]]]} for i in range(len(charges))],
    }


HALVES = [{"what": "law", "line": 1, "up": 0.25}], [{"what": "bits", "line": 1, "down": 0.5}]


def path(*terms, **more):
    costs = [(line, {"up": loss, "down": 0.0, "squared": squared}) for line, loss, squared in terms]
    charges = [{"what": "outcome", "line": line, **numbers} for line, numbers in costs]
    return traced([*charges[:-1], {**charges[-1], **more}] if charges else [])


@pytest.mark.parametrize(
    ("certificate", "epsilon"),
    [
        (states("sums"), 0.0),
        (states("sums", []), 0.0),
        (states("sums", [(1, 2, 1)]), 0.5),
        (states("sums", [(1, 2, 3), (2, 4, 1)], [(1, 2, 3)]), 2.0),  # the largest state
        (states("sums", [(1, 2, 3)], [(1, 2, 3), (2, 4, 1)]), 2.0),
        (states("sums", [(1, 0, 1)]), math.inf),  # a change without noise
        (states("sums", [(1e-300, 0, 1)]), math.inf),
        (states("sums", [(0, 0, 1)]), 0.0),  # no change, or none that happens
        (states("sums", [(1, 0, 0)]), 0.0),
        (states("sums", [(2, 1, 1)]), 2.0),
        (states("sums", [(1, 1, 1)]), 1.0),
        (path(), 0.0),
        (path((1, 0.25, 0), (2, 0.5, 0)), 0.75),
        (traced(), math.inf),
        (traced([], []), 0.0),
        ({**traced([]), "paths": [{"path": 0, "units": []}]}, 0.0),
        ({**traced(*HALVES), "paths": [{"path": 0, "units": [[0, [3]], [1, [1, 2]]]}]}, 0.5),
        (traced(*HALVES), 0.5),
        ({"form": "group", "size": 3, "of": states("sums", [(1, 2, 1)])}, 1.5),
        ({"form": "digest", "epsilon": 0.0}, 0.0),
        ({"form": "digest", "epsilon": 0.25, "sha256": ""}, 0.25),
    ],
)
def test_what_a_certificate_costs_without_delta(certificate, epsilon):
    assert evaluated(certificate, 0.0) == epsilon


@pytest.mark.parametrize(
    ("certificate", "delta"),
    [
        (states("sums", [(-1e-9, 1, 1)]), 0.0),
        (states("sums", [(1, -1e-9, 1)]), 0.0),
        (states("sums", [(1, 1, -1)]), 0.0),
        (states("sums", [(math.nan, 1, 1)]), 0.0),
        ({"form": "digest", "epsilon": -1e-9}, 0.0),
        ({"form": "digest", "epsilon": math.nan}, 0.0),
        ({"form": "hearsay"}, 0.0),
        ({}, 0.0),
        ({"form": "group", "size": 2, "of": states("sums", [(1, 2, 1)])}, 1e-300),
        (states("wishart", [(1, 1, 1.5, 9)], size=2), DELTA),
        (states("wishart", [(1, 1, 1, 9.5)], size=2), DELTA),
        (states("wishart", [(1, 1, 1, -1)], size=2), DELTA),
    ],
)
def test_certificates_that_are_refused(certificate, delta):
    with pytest.raises(InputError, match="certificate"):
        evaluated(certificate, delta)


@pytest.mark.parametrize("term", [(-1e-9, 1, 1), (1, -1e-9, 1), (1, 1, -1e-9), (math.nan, 1, 1)])
def test_terms_below_zero_are_refused(term):
    with pytest.raises(InputError, match="change, scale and times must be at least 0"):
        upper._cost(term)


# mu^2 = 3 (1/2)^2 + (2/4)^2 = 1.
@pytest.mark.parametrize(
    ("certificate", "delta", "epsilon"),
    [
        (states("normal"), 0.0, 0.0),
        (states("normal", [(0, 1, 1)]), 0.0, 0.0),
        (states("normal", [(1, 2, 3), (2, 4, 1)]), 0.0, math.inf),
        (states("normal", [(1, 2, 3), (2, 4, 1)]), DELTA, gdp_epsilon(1.0, DELTA)),
        (states("normal", [(1, 2, 1)], [(1, 1, 1)]), DELTA, gdp_epsilon(1.0, DELTA)),
        (states("normal", [(1, 1, 1)], [(1, 2, 1)]), DELTA, gdp_epsilon(1.0, DELTA)),
        (states("normal", [(1, 0, 1)]), DELTA, math.inf),
        (states("normal", [(3, 1, 2), (0, 1, 0)]), DELTA, gdp_epsilon(math.sqrt(18), DELTA)),
        (path((1, 0.25, 1.0), (2, 0.0, 3.0)), DELTA, 0.25 + gdp_epsilon(2.0, DELTA)),
        (path((1, 0.25, 1.0)), 0.0, math.inf),
        # Normal noise has half its squared shift of rho.
        (path((1, 0.25, 1.0), rho=0.5), DELTA, 0.25 + zcdp_epsilon(1.0, DELTA)),
        (path((1, 0.25, 0.0), rho=0.5), DELTA, 0.25 + zcdp_epsilon(0.5, DELTA)),
        (path((1, 0.25, 0.0), rho=0.5), 0.0, math.inf),
        (
            path((1, 0.25, 0.0), matrices=[(0.5, 50, 2, 3)]),
            DELTA,
            0.25 + wishart.epsilon_of((wishart.WishartRelease(0.5, 50, 2, 3),), DELTA),
        ),
        (
            path((1, 0.25, 1.0), matrices=[(0.5, 50, 2, 3)]),
            DELTA,
            0.25 + wishart.epsilon_of((wishart.WishartRelease(0.5, 50, 2, 3),), DELTA, mu=1.0),
        ),
        (path((1, 0.25, 0.0), matrices=[(0.5, 50, 2, 3)]), 0.0, math.inf),
        (path((1, 0.25, 0.0), matrices=[(0.5, 50, 2, 3)], rho=0.1), DELTA, math.inf),  # no rule adds the two
    ],
)
def test_what_a_certificate_costs_at_a_delta(certificate, delta, epsilon):
    assert evaluated(certificate, delta) == pytest.approx(epsilon, rel=1e-9)


def pure(epsilon):
    """The mu of randomised response: two normal laws that far apart are split by their middle as well."""
    return 2 * stats.norm.ppf(math.exp(epsilon) / (1 + math.exp(epsilon)))


@pytest.mark.parametrize(
    ("certificate", "rho", "mu"),
    [
        (states("sums", [(1, 2, 1)]), 1 / 8, pure(0.5)),
        (states("sums", [(999, 1, 1)]), 999**2 / 2, math.inf),
        (states("sums", [(1, 0, 1)]), math.inf, math.inf),
        (states("normal"), 0.0, 0.0),
        (states("normal", [(1, 2, 3), (2, 4, 1)]), 0.5, 1.0),
        (states("normal", [(1, 2, 1)], [(1, 1, 1)]), 0.5, 1.0),
        (states("normal", [(1, 0, 1)]), math.inf, math.inf),
        (path((1, 0.25, 1.0), (2, 0.0, 3.0)), 1 / 32 + 2.0, math.sqrt(4 + pure(0.25) ** 2)),
        (path((2, 0.25, 0.5)), 1 / 32 + 0.25, math.sqrt(0.5 + pure(0.25) ** 2)),
        (path((2, 0.25, 0.5), rho=0.5), 1 / 32 + 0.25 + 0.5, math.inf),
        (path((1, 0.25, 0.0), matrices=[(0.5, 50, 2, 3)]), math.inf, math.inf),
        ({"form": "clones", "batches": [[9, 0.5]]}, 1 / 8, pure(0.5)),  # what a report costs alone
    ],
)
def test_what_a_certificate_costs_as_rho_and_as_mu(certificate, rho, mu):
    """Epsilons of rho-zCDP or mu-GDP, as such a promise has them: they exceed it if rho or mu does."""
    for name, value, implied in (("rho", rho, zcdp_epsilon), ("mu", mu, gdp_epsilon)):
        stated = {"form": name, "of": certificate}
        expected = implied(value, DELTA) if 0 < value < math.inf else value
        assert evaluated(stated, DELTA) == pytest.approx(expected, rel=1e-9)
        assert evaluated(stated, 0.0) == (math.inf if value else 0.0)


def test_a_pure_loss_has_no_more_rho_or_mu_in_parts():
    """As rho and mu^2 are convex in it."""
    at = np.linspace(0.0, 40.0, 2001)
    mu = np.array([laws.of_pure(epsilon, "mu") for epsilon in at])
    assert (np.diff(mu**2, 2) > 0).all()
    # The trade-off curve of normal noise passes below the corner of that of randomised response.
    corner = 1 / (1 + np.exp(at))
    assert stats.norm.cdf(stats.norm.isf(corner) - mu) == pytest.approx(corner, rel=1e-6)


@pytest.mark.parametrize("form", ["digest", "rho", "mu"])
def test_what_has_no_rho_is_refused(form):
    inside = {"form": form, "epsilon": 0.1, "of": states("normal")}
    with pytest.raises(InputError, match=f"the form {form} gives no rho"):
        evaluated({"form": "rho", "of": inside}, DELTA)


@pytest.mark.parametrize(
    ("mu", "delta", "epsilon"),
    [
        (0.0, 0.0, 0.0),
        (0.0, 0.1, 0.0),
        (1e-3, 0.0, math.inf),
        (math.inf, 0.1, math.inf),
        (1.0, 0.1, gdp_epsilon(1.0, 0.1)),
    ],
)
def test_the_epsilon_of_normal_noise(mu, delta, epsilon):
    assert laws.epsilon_of_mu(mu, delta) == epsilon


ONE, FEW, MANY = (0.5, 1, 1, 50), (0.5, 1, 2, 50), (0.5, 1, 4, 50)
RELEASES = {terms: wishart.WishartRelease(0.5, 50, 2, terms[2]) for terms in (ONE, FEW, MANY)}


@pytest.mark.parametrize("places", [(ONE, FEW, MANY), (MANY, FEW, ONE), (MANY,), (MANY, MANY)])
def test_the_costliest_state_of_wishart_noise(places):
    certificate = states("wishart", *[[place] for place in places], size=2)
    assert evaluated(certificate, DELTA) == wishart.epsilon_of((RELEASES[MANY],), DELTA)
    assert evaluated(certificate, 0.0) == math.inf


def test_wishart_noise_without_states_or_of_other_kinds():
    assert evaluated(states("wishart", size=2), DELTA) == 0.0
    other = (0.75, 1, 1, 50)
    certificate = states("wishart", [ONE], [other], size=2)
    assert evaluated(certificate, DELTA) == wishart.epsilon_of(
        (wishart.WishartRelease(0.75, 50, 2, 1),), DELTA
    )
    # A change of 1 over a scale of 2 is one of 1/2; 0 degrees of freedom is a whole number.
    assert upper._released((1, 2, 3, 50), 2) == wishart.WishartRelease(0.5, 50, 2, 3)
    assert upper._released((0, 1, 3, 0), 2) == wishart.WishartRelease(0.0, 0, 2, 3)


@pytest.mark.parametrize("freedom", [-1, 0.5, math.nan])
def test_degrees_of_freedom_are_whole_numbers_of_at_least_zero(freedom):
    with pytest.raises(InputError, match="must be whole numbers"):
        upper._released((1, 2, 3, freedom), 2)


def release(times, change=0.5, freedom=50):
    return wishart.WishartRelease(change, freedom, 2, times)


@pytest.mark.parametrize(
    ("left", "right", "fewer"),
    [
        ((release(1),), (release(2),), True),
        ((release(2),), (release(1),), False),
        ((release(1),), (release(1),), False),  # the same are not fewer
        ((release(1),), (release(1, 0.75),), False),
        ((release(1),), (release(1), release(1, 0.75)), True),
        ((release(1), release(1, 0.75)), (release(1),), False),
        ((release(1), release(3, 0.75)), (release(2), release(2, 0.75)), False),
        ((), (release(1),), True),
        ((release(0),), (release(1, 0.75),), True),
    ],
)
def test_releases_that_are_fewer(left, right, fewer):
    assert upper._fewer(left, right) == fewer


def test_reports_that_are_shuffled():
    """The epsilon of the costliest batch is the least at which the reduction to clones has delta."""
    batch = {"form": "clones", "batches": [[500, 1.0]]}
    found = evaluated(batch, DELTA)
    assert 0 < found < 1
    assert shuffle.clones_delta(500, 1.0, found) <= DELTA
    assert shuffle.clones_delta(500, 1.0, found * 0.999) > DELTA
    for batches in ([[500, 1.0], [5_000, 1.0]], [[5_000, 1.0], [500, 1.0]]):
        assert evaluated({"form": "clones", "batches": batches}, DELTA) == found
    assert evaluated({"form": "clones", "batches": [[500, math.inf]]}, DELTA) == math.inf


# ---------------------------------------------------------------- the bound and its judge


@pytest.mark.parametrize(
    ("cost", "verdict"),
    [
        (0.0, "not_refuted"),
        (1.0, "not_refuted"),
        (1 + 0.99e-9, "not_refuted"),  # a billionth of the claim is rounding
        (1 + 1.01e-9, "inconclusive"),
        (2.0, "inconclusive"),
        (math.inf, "inconclusive"),
    ],
)
def test_an_upper_bound_against_the_claim(cost, verdict):
    certificate = {"form": "digest", "epsilon": cost}
    found = judged("upper_bound", {"epsilon": 1.0, "delta": 0.0, "certificate": certificate})
    assert found == {"verdict": verdict, "epsilon_upper": cost if cost < math.inf else "inf"}


def test_the_judge_evaluates_at_the_delta_of_the_bound():
    numbers = {"epsilon": 4.0, "delta": DELTA, "certificate": states("normal", [(1, 2, 1)])}
    assert judged("upper_bound", numbers)["verdict"] == "not_refuted"
    assert judged("upper_bound", numbers | {"delta": 0.0})["verdict"] == "inconclusive"


@pytest.mark.parametrize(("epsilon", "taken"), [(0.5, True), (0.5 + 4e-10, True), (0.5 + 6e-10, False)])
def test_a_bound_must_be_what_its_certificate_gives(epsilon, taken):
    def made():
        return UpperBound(epsilon, 0.0, "certified", None, Method.STATES, (), states("sums", [(1, 2, 1)]))

    if taken:
        assert made().epsilon == epsilon
    else:
        with pytest.raises(InputError, match="epsilon must be what the certificate gives"):
            made()


@pytest.mark.parametrize("change", [{"scope": "always"}, {"method": "guesswork"}, {"delta": 1.0}])
def test_what_a_bound_refuses(change):
    given = {"epsilon": 0.5, "delta": 0.0, "scope": "certified", "method": Method.STATES} | change
    with pytest.raises(InputError, match=next(iter(change))):
        UpperBound(**given, paths=None, premises=(), certificate=states("sums", [(1, 2, 1)]))
