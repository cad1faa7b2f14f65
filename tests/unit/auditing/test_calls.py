"""Code that makes several runs in a call: a bound of one run alone speaks for no other."""

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.records import read_all
from verifiable_dp.evidence.blackbox import positions
from verifiable_dp.record import conclude

PLAYED = {"n_arms": 2, "horizon": 8, "epsilon": 1.0, "seed": 0}


def _played(rewards, noise):
    """Two rounds of each arm, then the better one by noisy sums."""
    sums = np.array([rewards[0:4:2, 0].sum(), rewards[1:4:2, 1].sum()])
    best = np.argmax(sums + noise, axis=1)
    actions = np.empty((len(best), 8), int)
    actions[:, :4] = [0, 1, 0, 1]
    actions[:, 4:] = best[:, None]
    return actions


def even(rewards, n_runs, rng):
    return _played(rewards, rng.laplace(0, 1.0, (n_runs, 2)))


def first_of_many(rewards, n_runs, rng):
    """Run 201 of a call is not hidden."""
    noise = rng.laplace(0, 1.0, (n_runs, 2))
    noise[200:201] *= 1e-6
    return _played(rewards, noise)


def each_third(rewards, n_runs, rng):
    noise = rng.laplace(0, 1.0, (n_runs, 2))
    noise[2::3] *= 1e-6
    return _played(rewards, noise)


def half_in_company(rewards, n_runs, rng):
    return _played(rewards, rng.laplace(0, 1.0, (n_runs, 2)) / (1 if n_runs == 1 else 2))


def test_right_code_keeps_a_bound_that_names_its_calls():
    report = vdp.audit(even, budget="smoke", **PLAYED)
    assert report.verdict == "not_refuted"
    assert "of calls for 1, 2 or 3 runs" in report.line()
    (left,) = (left for left in report.record["not_covered"] if left["id"] == "call-sizes")
    assert left["values"]["sizes"][:3] == [1, 2, 3]
    # The bound rests on the comparison: without it, or where it fails, it does not stand.
    checks = [check for check in report.record["checks"] if check["kind"] != "positions"]
    assert conclude.epsilon_upper(read_all(report.record["checks"])) is not None
    assert conclude.epsilon_upper(read_all(checks)) is None


# The last one takes long, and which calls a bound names is held by those above.
LEAKS = [first_of_many, each_third, pytest.param(half_in_company, marks=pytest.mark.slow)]


@pytest.mark.parametrize("leak", LEAKS, ids=lambda f: f.__name__)
def test_runs_with_less_noise_have_no_bound_and_are_not_acquitted(leak):
    report = vdp.audit(leak, runs=2000, **PLAYED)
    assert report.verdict != "not_refuted"
    assert not conclude.bounded(read_all(report.record["checks"]))


def release(data, size, rng):
    noise = rng.laplace(0, 1.0, size)
    noise[100:101] *= 1e-3
    return np.sum(data) + noise


def test_a_draw_with_less_noise_is_no_better():
    report = vdp.audit(release, epsilon=1.0, budget="smoke", seed=0)
    assert report.verdict != "not_refuted"
    assert not conclude.bounded(read_all(report.record["checks"]))


def _draw(odd):
    def draw(first, calls, runs):
        made = [np.random.default_rng(first + call).normal(size=(runs, 1)) for call in range(calls)]
        values = np.stack(made)
        values[:, odd] *= 0.05
        return values

    return draw


@pytest.mark.parametrize(
    ("odd", "holds"), [(slice(0), True), (slice(41, 42), False), (slice(6, None, 7), False)]
)
def test_places_are_compared_exactly(odd, holds):
    """The level is 1e-6, shared by all comparisons; a place without noise is 64 of 64 against a half."""
    check = positions.check(_draw(odd), [1, 2, 3, 60])
    assert check.result["holds"] is holds
    assert check.verdict == ("not_refuted" if holds else "inconclusive")


def test_each_call_is_asked_for_once(monkeypatch):
    """In lots of a few runs. Broken variants: a lot is asked for again; only the last one counts."""
    asked, sizes = [], [1, 2, 3, 60]

    def draw(first, calls, runs):
        asked.extend(range(first, first + calls))
        return _draw(slice(0))(first, calls, runs)

    whole = positions.check(draw, sizes)
    monkeypatch.setattr(positions, "_AT_ONCE", 100)
    assert positions.check(draw, sizes).statistics == whole.statistics
    assert asked == 2 * [*range(1 + 4 * positions.CALLS)]


def test_the_exact_test_is_that_of_fisher():
    from scipy import stats

    for k1, n1, k0, n0 in ((5, 8, 20, 90), (0, 6, 4, 10), (64, 64, 300, 640)):
        sides = [
            stats.fisher_exact([[k1, n1 - k1], [k0, n0 - k0]], alternative=side)[1]
            for side in ("less", "greater")
        ]
        assert positions.fisher(k1, n1, k0, n0) == pytest.approx(min(1.0, 2 * min(sides)), rel=1e-9)
