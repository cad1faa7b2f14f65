"""Edges of the arithmetic of certificates, and of the judge of upper bounds.

Costs follow by hand: change over scale for Laplace noise, the closed forms of `core.claims` for normal noise.
"""

import json
import math

import numpy as np
import pytest
from scipy import stats

from verifiable_dp.core.claims import gdp_epsilon, zcdp_epsilon
from verifiable_dp.core.mechanisms import shuffle, wishart
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import upper
from verifiable_dp.evidence.check import judged
from verifiable_dp.evidence.judge import arithmetic, laws
from verifiable_dp.evidence.judge.arithmetic import Paid
from verifiable_dp.evidence.judge.certificate import (
    Corners,
    Frame,
    LinearShifts,
    MovedEntry,
    Pattern,
    TracedCertificate,
    TracedTable,
)
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
    with pytest.raises(InputError, match=f"the form {form} does not give rho"):
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
        with pytest.raises(InputError, match="epsilon must be the certificate's epsilon"):
            made()


@pytest.mark.parametrize("method", [method for method in Method if method.traced])
def test_a_bound_of_traced_code_is_the_judges(method):
    """A certificate of sums says nothing of code: of that the judge makes one of rows, or its digest."""
    digest = {"form": "digest", "epsilon": 0.5, "of": "paths"}
    for certificate in (digest, {**digest, "of": "rho"}, of_rows()):
        assert UpperBound.of(certificate, method=method, premises=()).method == method
    for certificate in (states("sums", [(1, 2, 1)]), {**digest, "of": "sums"}):
        with pytest.raises(InputError, match=f"certificate must be of the form paths for {method}"):
            UpperBound.of(certificate, method=method, premises=())


@pytest.mark.parametrize("change", [{"scope": "always"}, {"method": "guesswork"}, {"delta": 1.0}])
def test_what_a_bound_refuses(change):
    given = {"epsilon": 0.5, "delta": 0.0, "scope": "certified", "method": Method.STATES} | change
    with pytest.raises(InputError, match=next(iter(change))):
        UpperBound(**given, paths=None, premises=(), certificate=states("sums", [(1, 2, 1)]))


# ---------------------------------------------------------------- rows of certificates

LAPLACE = Frame((("laplace", 0.0),), (("=", ((0, 2.0),)),))
ONE_ENTRY = MovedEntry(0.0, 1.0, ((0, 1.0),))
HIDES = LinearShifts(((0, 0.0, ((0, -0.5),)),))
STILL = LinearShifts()


def pattern(frame=LAPLACE, entries=(ONE_ENTRY,), up=HIDES, down=HIDES, otherwise=None):
    return arithmetic.both(frame, Pattern(0, entries, up, down, otherwise))


def test_a_sum_with_noise_costs_what_its_noise_has_to_move():
    assert pattern() == (Paid(0.5), Paid(0.5))
    ends = (Corners(((), ((0, -0.5),))), Corners((((0, 0.5),), ())))
    assert pattern(up=ends[0], down=ends[1]) == (Paid(0.5), Paid(0.5))


@pytest.mark.parametrize(
    "up",
    [
        LinearShifts(((0, 0.0, ((0, 0.5),)),)),  # one sign off
        LinearShifts(((0, 0.0, ((0, -0.5 + 1e-8),)),)),
        LinearShifts(((0, 1e-9, ((0, -0.5),)),)),
        LinearShifts(),
        Corners(((), ((0, 0.5),))),
        Corners(((), ())),
        Corners((((0, 1e-9),), ((0, -0.5),))),
    ],
)
def test_a_shown_number_may_not_move(up):
    at = " at a corner of the bounds" * isinstance(up, Corners)
    with pytest.raises(InputError, match=f"^certificate: constraint 0 changes{at}$"):
        pattern(up=up)


def test_a_comparison_may_rise_and_not_fall_whichever_way_it_came_out():
    frame = Frame((("laplace", 0.0),), ((">", ((0, 2.0),)),))
    rises, falls = LinearShifts(((0, 0.5, ()),)), LinearShifts(((0, -0.5, ()),))
    right = {"frame": frame, "up": STILL, "down": rises, "otherwise": (falls, STILL)}
    assert pattern(**right) == (Paid(0.5), Paid(0.5))
    # The other answer, turned: its lead falls if the unit rises, and noise has to go down.
    for wrong in ({"down": STILL}, {"down": falls}, {"otherwise": (STILL, STILL)}):
        with pytest.raises(InputError, match="constraint 0 falls below 0"):
            pattern(**{**right, **wrong})
    assert pattern(**{**right, "up": rises, "otherwise": (falls, falls)}) == (Paid(0.5), Paid(0.5))


def test_a_maximum_counts_its_dearer_direction():
    rows = ((">", ((0, 1.0), (1, -1.0))), (">", ((0, 1.0), (2, -1.0))))
    winner = MovedEntry(0.0, 1.0, ((0, 1.0), (1, 1.0)))
    draws = (("exponential", 0.0),) * 3
    up, down = LinearShifts(), LinearShifts(((0, 1.0, ()),))
    for maximum, paid in ((True, Paid(1.0)), (False, Paid())):
        assert pattern(Frame(draws, rows, maximum), (winner,), up, down) == (paid, Paid(1.0))
        assert pattern(Frame(draws, rows, maximum), (winner.turned(),), down, up) == (Paid(1.0), paid)


def test_noise_on_whole_numbers_moves_by_whole_numbers():
    step = laws.parameter_of("geometric", 0.25)
    frame = Frame((("geometric", step), ("geometric", step)), (("=", ((0, 1.0), (1, -1.0))),))
    whole, part = MovedEntry(0.0, 2.0, ((0, 1.0),), True), MovedEntry(0.0, 2.0, ((0, 1.0),))
    ways = LinearShifts(((1, 0.0, ((0, 1.0),)),)), LinearShifts(((0, 0.0, ((0, -1.0),)),))
    assert pattern(frame, (whole,), *ways)[0].loss == pytest.approx(2 * step)
    ends = Corners(((), ((1, 2.0),))), Corners((((0, 2.0),), ()))
    assert pattern(frame, (whole,), *ends)[1].loss == pytest.approx(2 * step)
    for entries, shifts in (((part,), ways), ((part,), ends), ((whole, whole), ways)):
        with pytest.raises(InputError):
            pattern(frame, entries, *shifts)
    half = Frame(frame.draws, (("=", ((0, 2.0), (1, -2.0))),))  # a step of the noise hides two of the data
    halves = Corners(((), ((1, 1.0),))), Corners((((0, 1.0),), ()))
    with pytest.raises(InputError, match="whole numbers"):
        pattern(half, (whole,), *halves)


WHOLE, REAL = MovedEntry(-1.0, 2.0, (), True), MovedEntry(-1.0, 2.0, ())
UNMOVED = MovedEntry(0.0, 2.0, (), True)


@pytest.mark.parametrize(
    ("entries", "shifts", "right"),
    [
        ((WHOLE,), LinearShifts(((0, 3.0, ((0, 2.0),)),)), True),
        ((WHOLE,), LinearShifts(((0, 3.5, ()),)), False),
        ((WHOLE,), LinearShifts(((0, 3.0, ((0, 0.5),)),)), False),
        ((REAL,), LinearShifts(((0, 3.0, ((0, 2.0),)),)), False),
        ((REAL,), LinearShifts(((1, 3.5, ((0, 0.5),)),)), True),  # the other draw takes any value
        ((WHOLE, REAL), LinearShifts(((0, 0.0, ((0, 1.0),)), (1, 0.0, ((1, 0.5),)))), True),
        ((WHOLE, REAL), LinearShifts(((1, 0.0, ((1, 0.5),)), (0, 0.0, ((0, 1.0), (1, 1.0))))), False),
        ((WHOLE,), Corners((((0, -3.0),), ((0, 4.0),))), True),  # 3 and 2 times the end
        ((WHOLE,), Corners((((0, -3.0),), ((0, 3.0),))), False),
        ((REAL,), Corners((((0, -3.0),), ((0, 4.0),))), False),
        ((REAL,), Corners((((1, -3.5),), ((1, 4.5),))), True),
        ((UNMOVED,), Corners((((0, 0.0),), ((0, 4.0),))), True),
        ((UNMOVED,), Corners((((0, 1.0),), ((0, 4.0),))), False),
        ((WHOLE, WHOLE), Corners((((0, 2.0),), (), (), ())), False),
        ((WHOLE, WHOLE), Corners((((1, 2.0),), (), (), ())), True),
        ((), Corners((((1, 2.0),),)), True),
        ((), Corners((((0, 2.0),),)), True),  # nothing moves
    ],
)
def test_where_noise_on_whole_numbers_moves_by_a_part(entries, shifts, right):
    frame = Frame((("geometric", 0.5), ("laplace", 0.0)), ())
    said = "" if right else "noise that takes whole numbers is shifted by a fraction"
    assert arithmetic.wrong(frame, entries, shifts) == said


TINY = 1e-9


@pytest.mark.parametrize(
    ("number", "size", "zero"),
    [
        (TINY, 1.0, True),
        (-TINY, 1.0, True),
        (1.01 * TINY, 1.0, False),
        (0.0, 0.0, True),
        (1e-300, 0.0, False),
    ],
)
def test_what_counts_as_zero(number, size, zero):
    assert arithmetic.is_zero(number, size) == zero


def test_how_far_a_row_or_a_draw_moves():
    """Each entry by its own end, whatever the sign of its weight: 2 + 3 [-1, 2] - [0, 4]."""
    entries = MovedEntry(-1.0, 2.0, ()), MovedEntry(0.0, 4.0, ())
    assert arithmetic._range(2.0, ((0, 3.0), (1, -1.0)), entries) == (-5.0, 8.0)
    assert arithmetic._reach({-1: 2.0, 0: 3.0, 1: 0.5}, entries) == 2 + 3 * 2 + 0.5 * 4
    assert arithmetic._reach({0: 3.0}, (MovedEntry(-4.0, 1.0, ()),)) == 12


NOISE = Frame((("laplace", 0.0), ("exponential", 0.0), ("normal", 0.0)), ())
BOX = MovedEntry(-1.0, 2.0, ()), MovedEntry(0.0, 4.0, ())


@pytest.mark.parametrize(
    ("shifts", "paid"),
    [
        (STILL, Paid()),
        (LinearShifts(((0, 1.0, ((0, -2.0),)),)), Paid(3.0)),  # from -3 to 3
        (LinearShifts(((0, 0.5, ((0, -2.0),)),)), Paid(3.5)),  # from -3.5 to 2.5
        (LinearShifts(((1, 1.0, ((0, 1.0),)),)), Paid(3.0)),
        (LinearShifts(((1, 0.5, ((0, 1.0),)),)), Paid(math.inf)),  # down to -.5
        (LinearShifts(((2, 1.0, ((0, 1.0),)),)), Paid(0.0, 9.0)),
        (LinearShifts(((2, -1.0, ((0, 1.0),)), (0, 0.0, ((1, 1.0),)))), Paid(4.0, 4.0)),
        (LinearShifts(((2, 1.0, ()), (0, 1.0, ()), (1, 2.0, ()))), Paid(3.0, 1.0)),
        (Corners(((), ((0, 1.0),), ((0, -3.0), (1, 1.0)), ())), Paid(4.0)),
        (Corners((((0, 1.0),), ((2, 3.0),), (), ())), Paid(1.0, 9.0)),  # each where it is largest
        (Corners((((2, 3.0),), ((0, 1.0), (2, 1.0)), (), ())), Paid(1.0, 9.0)),
    ],
)
def test_what_shifts_cost(shifts, paid):
    assert arithmetic.cost(NOISE, BOX, shifts, arithmetic.priced(NOISE)) == paid


@pytest.mark.parametrize(
    ("left", "right", "dearer"),
    [
        (Paid(1.0, 2.0), Paid(3.0, 1.0), Paid(3.0, 2.0)),
        (Paid(3.0, 1.0), Paid(1.0, 2.0), Paid(3.0, 2.0)),
        (Paid(), Paid(), Paid()),
    ],
)
def test_the_dearer_of_two(left, right, dearer):
    assert left.dearer(right) == dearer


# A second row falls by `less` times its second entry, while its first is hidden but for rounding.
@pytest.mark.parametrize(
    ("relation", "less", "said", "at_corners"),
    [
        (">", 0.0, "", ""),
        ("=", 0.0, "", ""),
        (">", 1.5e-7, "", ""),  # less than a billionth of all that is added up, 202
        (">", 2.5e-7, "constraint 1 falls below 0", "constraint 1 falls below 0 at a corner of the bounds"),
        ("=", 1.5e-7, "constraint 1 changes", ""),  # each entry by itself
        ("=", 2.5e-7, "constraint 1 changes", "constraint 1 changes at a corner of the bounds"),
        (">", -1.0, "", ""),
        ("=", -1.0, "constraint 1 changes", "constraint 1 changes at a corner of the bounds"),
    ],
)
def test_a_row_is_held_against_the_size_of_what_it_adds_up(relation, less, said, at_corners):
    frame = Frame((("laplace", 0.0), ("laplace", 0.0)), (("=", ()), (relation, ((0, 1.0), (1, 2.0)))))
    entries = MovedEntry(-1.0, 1.0, ((1, 100.0),)), MovedEntry(0.0, 1.0, ((1, 1.0),))
    shifts = LinearShifts(((0, 0.0, ((0, -100.0),)), (1, 0.0, ((1, -0.5 - less / 2),))))
    assert arithmetic.wrong(frame, entries, shifts) == said
    values = tuple(
        ((0, -100.0 * one), (1, (-0.5 - less / 2) * two)) for one, two in arithmetic.corners(entries)
    )
    assert arithmetic.wrong(frame, entries, Corners(values)) == at_corners


def test_a_constant_hides_what_it_is_larger_than():
    """A lead that falls by at most 2 stays where noise raises it by 2."""
    frame = Frame((("laplace", 0.0),), ((">", ((0, 1.0),)),))
    entry = MovedEntry(-2.0, 1.0, ((0, 1.0),))
    for constant, said in (
        (2.0, ""),
        (2.5, ""),
        (1.9, "constraint 0 falls below 0"),
        (-2.0, "constraint 0 falls below 0"),
    ):
        assert arithmetic.wrong(frame, (entry,), LinearShifts(((0, constant, ()),))) == said
        ends = Corners((((0, constant),), ((0, constant),)))
        assert arithmetic.wrong(frame, (entry,), ends) == (
            f"{said} at a corner of the bounds" if said else ""
        )


def test_noise_that_does_not_move_hides_nothing():
    frame = Frame((("laplace", 0.0),) * 2, (("=", ((0, 2.0), (1, 1.0))),))
    for shifts in (HIDES, Corners(((), ((0, -0.5),)))):
        assert arithmetic.wrong(frame, (ONE_ENTRY,), shifts) == ""


def test_corners_of_a_box():
    assert [*arithmetic.corners(BOX)] == [(-1.0, 0.0), (-1.0, 4.0), (2.0, 0.0), (2.0, 4.0)]


def test_the_other_way_and_the_other_answer():
    entry = MovedEntry(-1.0, 2.0, ((0, 3.0), (1, -4.0)), True)
    assert entry.turned() == MovedEntry(-2.0, 1.0, ((0, 3.0), (1, -4.0)), True)
    assert entry.negated() == MovedEntry(-1.0, 2.0, ((0, -3.0), (1, 4.0)), True)
    frame = Frame((("laplace", 0.0),), ((">", ((0, 2.0),)), ("=", ((0, -1.0),))), True)
    assert frame.turned() == Frame(frame.draws, ((">", ((0, -2.0),)), ("=", ((0, 1.0),))), True)
    shapes = [((">", ()),), (("=", ()),), ((">", ()), (">", ())), ()]
    assert [Frame((), rows).is_compared for rows in shapes] == [True, False, False, False]


@pytest.mark.parametrize(
    ("entries", "shifts", "deltas", "found"),
    [
        (BOX, LinearShifts(((0, 1.0, ((0, 2.0), (1, -1.0))), (2, 0.5, ()))), (1.0, 3.0), {0: 0.0, 2: 0.5}),
        # One entry goes a part of the way to the end on its side.
        (BOX[:1], Corners((((0, 1.0),), ((0, -6.0),))), (-0.25,), {0: 0.25}),
        (BOX[:1], Corners((((0, 1.0),), ((0, -6.0),))), (0.25,), {0: -0.75}),
        (BOX[:1], Corners((((0, 1.0),), ((0, -6.0),))), (0.0,), {}),
        ((MovedEntry(-2.0, 0.0, ()),), Corners((((0, 1.0),), ())), (-1.0,), {0: 0.5}),
        # Several go by shares: a third of the way up, a quarter of the way.
        (
            BOX,
            Corners((((0, 12.0),), ((0, 24.0),), ((0, 36.0),), ((1, 12.0),))),
            (0.0, 1.0),
            {0: 19.0, 1: 1.0},
        ),
    ],
)
def test_how_far_draws_move_within_a_box(entries, shifts, deltas, found):
    assert arithmetic.moved(entries, shifts, deltas) == pytest.approx(found)


def test_an_entry_without_width_is_at_its_end():
    assert arithmetic._shares(MovedEntry(1.0, 1.0, ()), 1.0) == (0.0, 1.0)
    assert arithmetic._shares(MovedEntry(-1.0, 3.0, ()), 2.0) == (0.25, 0.75)


# ---------------------------------------------------------------- whole certificates

CHARGES = [{"what": "law", "line": 1, "up": 0.25}, {"what": "bits", "line": 1, "down": 0.5}]


def of_rows(**more):
    """A sum with noise that each unit pays twice, .5 each time, and a charge."""
    made = {
        "form": "paths",
        "version": 1,
        "frames": [{"draws": [["laplace", 0.0]] * 2, "rows": [["=", [[0, 2.0]]]]}],
        "patterns": [
            {
                "frame": 0,
                "entries": [[0.0, 1.0, [[0, 1.0]]]],
                "up": {"type": "linear", "terms": [[0, 0.0, [[0, -0.5]]]]},
                "down": {"type": "linear", "terms": [[0, 0.0, [[0, -0.5]]]]},
            }
        ],
        "profiles": [{"groups": [[0, 1, 2]], "charges": CHARGES[:1]}],
        "paths": [{"path": 0, "units": [[0, [0]]]}],
    }
    return {**made, **more}


def changed(path, value):
    """The certificate with another value at a place."""
    made = json.loads(json.dumps(of_rows()))
    at = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return made


def test_what_rows_come_to():
    assert evaluated(of_rows(), 0.0) == 1.25
    assert evaluated(changed(("profiles", 0, "groups"), []), 0.0) == 0.25
    assert evaluated(changed(("profiles", 0, "charges"), CHARGES), 0.0) == 1.5  # the dearer way
    assert evaluated({"form": "rho", "of": of_rows()}, DELTA) == zcdp_epsilon(1.25**2 / 2, DELTA)
    with pytest.raises(InputError, match="constraint 0 changes"):
        evaluated(changed(("frames", 0, "rows", 0, 1, 0, 1), 1.0), 0.0)
    with pytest.raises(InputError, match="constraint 0 changes"):
        evaluated({"form": "rho", "of": changed(("frames", 0, "rows", 0, 1, 0, 1), 1.0)}, DELTA)
    # The dearest unit of the dearest path; nothing for a path without units, too much for no path.
    units = {"profiles": [{"groups": [[0, 1, times]]} for times in (1, 3, 2)]}
    paths = [[[0, [0]], [1, [1]]], [[2, [0]]], []]
    for some, cost in ((paths, 1.5), (paths[::-1], 1.5), (paths[1:], 1.0), (paths[2:], 0.0), ([], math.inf)):
        made = of_rows(**units, paths=[{"path": i, "units": each} for i, each in enumerate(some)])
        assert evaluated(made, 0.0) == cost
        rho = zcdp_epsilon(cost**2 / 2, DELTA) if 0 < cost < math.inf else cost
        assert evaluated({"form": "rho", "of": made}, DELTA) == rho
    matrices = changed(("profiles", 0, "charges"), [{**CHARGES[0], "matrices": [[0.5, 50, 2, 3]]}, *CHARGES])
    assert evaluated({"form": "rho", "of": matrices}, DELTA) == math.inf
    # Rows of all patterns; a charge that two profiles share counts once.
    twice = of_rows(patterns=of_rows()["patterns"] * 2, profiles=of_rows()["profiles"] * 2)
    assert arithmetic.counted(TracedCertificate.of(twice)) == (2, 1)


ENTRY = ("patterns", 0, "entries", 0)
CORNERS = {"type": "corners", "values": [[], [[0, -0.5]]]}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            ("frames", 0, "rows", 0, 1),
            [[2, 2.0]],
            "frames.0: each row must name draws of its frame, each once",
        ),
        (("frames", 0, "rows", 0, 1), [[0, 1.0], [0, 1.0]], "frames.0: each row must name draws"),
        (("patterns", 0, "frame"), 1, "patterns.0: there is no frame 1"),
        (("frames", 0, "rows"), [["=", [[2, 2.0]]], ["=", []]], "frames.0: each row must name draws"),
        (("patterns", 0, "entries"), [[1.5, 1.0, []], [0.0, 1.0, []]], "patterns.0: an entry must"),
        ((*ENTRY, 0), 1.5, "patterns.0: an entry must have least <= most, and name rows of the frame"),
        ((*ENTRY, 0), 1.0, ""),
        ((*ENTRY, 2), [[1, 1.0]], "patterns.0: an entry must"),
        ((*ENTRY, 2), [[0, 1.0], [0, 1.0]], "patterns.0: an entry must"),
        (
            ("patterns", 0, "otherwise"),
            [{"type": "linear"}] * 2,
            "patterns.0: shifts for the other answer are required",
        ),
        (
            ("frames", 0, "rows", 0, 0),
            ">",
            "patterns.0: shifts for the other answer are required for a comparison",
        ),
        (("patterns", 0, "up", "terms", 0, 0), 2, "patterns.0: shifts must name draws and entries that"),
        (
            ("patterns", 0, "down", "terms", 0, 2),
            [[1, 1.0]],
            "patterns.0: shifts must name draws and entries",
        ),
        (
            ("patterns", 0, "up", "terms"),
            [[0, 1.0, []]] * 2,
            "patterns.0: shifts must name draws and entries",
        ),
        (("patterns", 0, "up"), CORNERS, ""),
        (
            ("patterns", 0, "up"),
            {**CORNERS, "values": [[]]},
            "patterns.0: corners must be all corners of at most 10",
        ),
        (
            ("patterns", 0, "up"),
            {**CORNERS, "values": [[], [], []]},
            "patterns.0: corners must be all corners of",
        ),
        (
            ("patterns", 0, "up"),
            {**CORNERS, "values": [[], [[2, 1.0]]]},
            "patterns.0: shifts must name draws that",
        ),
        (
            ("patterns", 0, "up", "terms"),
            [[0, 0.0, []], [1, 0.0, [[1, 1.0]]]],
            "patterns.0: shifts must name",
        ),
        (("profiles", 0, "groups"), [[1, 1, 1]], "profiles.0: a pattern is missing"),
        (("paths", 0, "units"), [[1, [0]]], "paths.0: each unit must have one profile that exists"),
        (
            ("paths", 0, "units"),
            [[0, [0]], [0, [0]]],
            "paths.0: each unit must have one profile that exists",
        ),
        (("paths", 0, "units"), [[0, [0, 1]]], ""),
        (("version",), 2, "version must be 1, got 2; older versions do not verify the costs"),
        (("frames",), 3, "Expected `array`, got `int` - at `$.frames`"),
    ],
)
def test_what_is_no_certificate_of_rows(path, value, said):
    made = changed(path, value)
    if not said:
        assert TracedCertificate.of(made).as_dict().keys() == made.keys()
        return
    with pytest.raises(InputError) as error:
        TracedCertificate.of(made)
    assert str(error.value).startswith(f"certificate: {said}")


@pytest.mark.parametrize(("entries", "taken"), [(10, True), (11, False)])
def test_corners_of_so_many_entries_are_listed(entries, taken):
    one = [[0.0, 1.0, []]] * entries
    shifts = {"type": "corners", "values": [[]] * 2**entries}
    made = changed(("patterns", 0), {"frame": 0, "entries": one, "up": shifts, "down": shifts})
    if taken:
        assert TracedCertificate.of(made).calls == ()
    else:
        with pytest.raises(InputError, match="corners must be all corners of at most 10 entries"):
            TracedCertificate.of(made)


def test_equal_values_are_listed_once():
    table = TracedTable()
    assert [table.place(value) for value in "abacb"] == [0, 1, 0, 2, 1]
    assert table.rows == ["a", "b", "c"]


# ---------------------------------------------------------------- laws


@pytest.mark.parametrize(
    ("name", "parameter", "law"),
    [
        ("laplace", 0.0, (1.0, 1.0, False)),
        ("exponential", 0.0, (1.0, math.inf, False)),
        ("gumbel", 0.0, (1.0, math.inf, False)),
        ("geometric", 0.5, (0.5, math.inf, True)),
        ("geometric", 0.0, (math.inf, math.inf, True)),
        ("geometric", -1.0, (math.inf, math.inf, True)),
        ("two_sided_geometric", 0.5, (0.5, 0.5, True)),
        ("two_sided_geometric", 0.0, (math.inf, math.inf, False)),
        ("unpriced", 0.0, (math.inf, math.inf, True)),
        ("student", 4.0, (1.25, 1.25, False)),  # (4 + 1) / (2 sqrt(4))
        ("student", 0.25, (1.25, 1.25, False)),
        ("student", 0.0, (math.inf, math.inf, False)),
        ("no law", 1.0, (math.inf, math.inf, False)),
    ],
)
def test_what_a_shift_by_one_costs(name, parameter, law):
    assert laws.law_of(name, parameter) == law


@pytest.mark.parametrize(
    ("name", "shift", "parameter", "price"),
    [
        ("no law", 0.0, 0.0, (0.0, 0.0)),
        ("normal", -0.5, 0.0, (0.0, 0.25)),
        ("laplace", -2.5, 0.0, (2.5, 0.0)),
        ("exponential", 2.5, 0.0, (2.5, 0.0)),
        ("exponential", -1e-9, 0.0, (math.inf, 0.0)),
        ("geometric", 3.0, 0.25, (0.75, 0.0)),
        ("geometric", 0.5, 0.25, (math.inf, 0.0)),
        ("geometric", -1.0, 0.25, (math.inf, 0.0)),
        ("two_sided_geometric", -3.0, 0.25, (0.75, 0.0)),
        ("two_sided_geometric", 0.5, 0.25, (math.inf, 0.0)),
        ("student", 1.0, 4.0, (1.25, 0.0)),
        ("student", 1.0, 0.0, (math.inf, 0.0)),
    ],
)
def test_what_a_shift_costs(name, shift, parameter, price):
    assert laws.price(name, shift, parameter) == price


def test_parameters_of_methods():
    assert laws.parameter_of("geometric", 0.25) == pytest.approx(math.log(4 / 3))
    assert laws.parameter_of("student", 5.0) == 5.0


@pytest.mark.parametrize(
    ("epsilon", "rho", "mu"),
    [
        (0.0, 0.0, 0.0),
        (0.5, 0.125, pure(0.5)),
        (499.0, 499.0**2 / 2, 62.905),  # the tail of the normal law at e^-499
        (500.0, 500.0**2 / 2, math.inf),
        (math.inf, math.inf, math.inf),
    ],
)
def test_what_a_pure_loss_is_as_rho_and_as_mu(epsilon, rho, mu):
    assert laws.of_pure(epsilon, "rho") == rho
    assert laws.of_pure(epsilon, "mu") == pytest.approx(mu, rel=1e-3, abs=1e-12)
