"""The controls' draws against their laws, and the audits' errors on them. Seeds are fixed.

Counts are held against the binomial law at 1e-9 each, some hundred of them; a law that is off by a tenth of
the noise has to fail. Levels and coverage are counted at raised levels, where there is something to count.
"""

import dataclasses
from unittest import mock

import numpy as np
import pytest
from scipy import stats

from tests.asking import places_alike
from verifiable_dp.auditing import traced
from verifiable_dp.controls import controls, laws, run
from verifiable_dp.evidence.blackbox.test import Plan

ALL = {control.name: control for control in controls()}
LEVEL = 1e-9


# ---------------------------------------------------------------- what is counted

# For each control: the number of the outcome that an output belongs to, -1 if it is not counted, and the
# probabilities (2, m) of the outcomes on the two inputs, from the law.


def _place(answers, control=None):
    """Place of the first positive; the number of queries if there is none."""
    return np.where((answers[:, :10] == 1).any(axis=1), (answers[:, :10] == 1).argmax(axis=1), 10)


def _low_values(found, control):
    """Sparse vector 3: values below 0 by place, and none."""
    place = _place(found)
    return np.where((found[:, 10] < 0) | (place == 10), place, -1)


def _low_value_chances(law):
    """The first cell of each place holds the values below 0; the last of all is none."""
    sides = np.exp(np.stack([law.log_p, law.log_q]))
    return np.column_stack([sides[:, :-1].reshape(2, 10, -1)[:, :, 0], sides[:, -1]])


def _low_nodes(found, control):
    """All nodes that hold the first item are at most the first input's."""
    return np.where((found[:, [0, 1, 3, 7]] <= [0.0, 1.0, 2.0, 4.0]).all(axis=1), 0, -1)


def _steps(found, control):
    """Sparse vector 5: outputs in the order of truth values."""
    first, last = found[:, 0], found[:, 9]
    assert (found[:, :5] == found[:, :1]).all()
    assert (found[:, 5:] == found[:, 9:]).all()
    return np.where(first & last, 3, np.where(first, 2, np.where(last, 1, 0)))


def _below(limit):
    return lambda found, control: np.where(found <= limit, 0, -1)


def _first(law):
    return np.exp([[law.log_p[0]], [law.log_q[0]]])


def _all(law):
    return np.exp(np.stack([law.log_p, law.log_q]))


def _apart(law):
    return np.array([[np.exp(law.log_p[law.log_q == -np.inf]).sum()], [0.0]])


def _robust_mean(data):
    return np.where(np.abs(data) <= 2, data, 0).mean()


COUNTED = {
    **dict.fromkeys(("laplace", "laplace-half"), (_below(0), _first)),
    **dict.fromkeys(
        ("histogram", "histogram-half", "histogram-claim"),
        (lambda found, control: np.where(found[:, 0] <= 10, 0, -1), _first),
    ),
    **dict.fromkeys(
        ("noisy-max-laplace", "noisy-max-laplace-half", "noisy-max-exponential"),
        (lambda found, control: found, _all),
    ),
    "noisy-max-laplace-value": (_below(1), _first),
    "noisy-max-exponential-value": (_below(2), _apart),
    **dict.fromkeys(("sparse-vector-1", "sparse-vector-2", "sparse-vector-4"), (_place, _all)),
    "sparse-vector-3": (_low_values, _low_value_chances),
    "sparse-vector-5": (_steps, _all),
    "sparse-vector-6": (lambda found, control: 6 * found[:, 5:].sum(axis=1) + found[:, :5].sum(axis=1), _all),
    # The law's first outcome is the first input's bit, 0.
    **dict.fromkeys(
        (
            "randomised-response",
            "randomised-response-bold",
            "truncated-geometric",
            "truncated-geometric-half",
        ),
        (lambda found, control: found, _all),
    ),
    **dict.fromkeys(
        ("prm", "prm-half"),
        (
            lambda found, control: np.where(found <= _robust_mean(np.asarray(control.pair[0])), 0, -1),
            _first,
        ),
    ),
    **dict.fromkeys(("tree", "tree-depth", "tree-half"), (_low_nodes, _first)),
}


def _p_values(control, law, size, seed=11, batch=100_000):
    """Two-sided p-values of the counts of all outcomes on both inputs, `size` draws of each."""
    outcome, chances = COUNTED[control.name]
    found = []
    for world, (data, chance) in enumerate(zip(control.pair, chances(law), strict=True)):
        rng = np.random.default_rng((seed, world))
        counts = np.zeros(len(chance), np.int64)
        for _ in range(size // batch):
            number = np.asarray(outcome(np.asarray(control.release(data, batch, rng)), control))
            counts += np.bincount(number[number >= 0], minlength=len(chance))
        for k, p in zip(counts.tolist(), chance.tolist(), strict=True):
            found.append(float(stats.binomtest(k, size, p).pvalue) if p > 0 else float(k == 0))
    return np.array(found)


@pytest.mark.parametrize("name", ALL)
def test_draws_follow_the_law(name):
    found = _p_values(ALL[name], ALL[name].laws, 200_000)
    assert len(found) >= 2
    assert found.min() > LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_ten_million_draws_follow_the_law(name):
    found = _p_values(ALL[name], ALL[name].laws, 10_000_000, seed=12)
    assert found.min() > LEVEL


ONES, MIXED, FIRST, LAST = [1.0] * 10, [2.0] * 5 + [0.0] * 5, [1.0] * 5 + [0.0] * 5, [0.0] * 5 + [1.0] * 5
WRONG = {
    "laplace": laws.laplace(1.0, 1.1),
    "noisy-max-laplace": laws.noisy_max([1.0] * 5, [0.0, 2, 2, 2, 2], laws.LaplaceLaw(2.2), 2.2),
    "noisy-max-exponential": laws.noisy_max([1.0] * 5, [0.0, 2, 2, 2, 2], laws.Exponential(2.2), 2.2),
    "noisy-max-laplace-value": laws.largest([1.0] * 5, [2.0] * 5, laws.LaplaceLaw(2.2), 2.2),
    "noisy-max-exponential-value": laws.largest([1.0] * 5, [2.0] * 5, laws.Exponential(2.2), 2.2),
    "sparse-vector-1": laws.first_above(ONES, MIXED, 0.5, 2.2, 4.0),
    "sparse-vector-2": laws.first_above(ONES, MIXED, 1.0, 2.0, 4.4),
    "sparse-vector-3": laws.first_value_above(ONES, MIXED, 1.0, 2.0, 2.2),
    "sparse-vector-4": laws.first_above(ONES, MIXED, 1.0, 4.4, 4 / 3),
    "sparse-vector-5": laws.all_above(FIRST, LAST, 1.0, 2.2, 0.0),
    "sparse-vector-6": laws.all_above(FIRST, LAST, 1.0, 2.0, 2.2),
    "randomised-response": laws.response(0.72),
    "truncated-geometric": laws.geometric(1.1, 10, 4, 5),
    "prm": laws.laplace(0.2, 0.22),
    "tree": laws.laplace_many(4, 1.0, 4.4),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_law_that_is_off_by_a_tenth_is_rejected(name):
    """The negative control."""
    assert _p_values(ALL[name], WRONG[name], 500_000).min() < LEVEL


# ---------------------------------------------------------------- audits of the controls

AUDITS = 20
SMALL = Plan(24, 1500, 3000)
QUICK = (
    *("laplace", "noisy-max-laplace", "noisy-max-exponential", "randomised-response", "truncated-geometric"),
    *("prm", "laplace-half", "noisy-max-laplace-value", "randomised-response-bold", "prm-half"),
)


@pytest.fixture(
    scope="module", params=[QUICK, pytest.param(tuple(ALL), marks=pytest.mark.slow)], ids=["some", "all"]
)
def audits(request):
    """Without upper bounds, which follow from the code, not from samples: what is counted is refuted."""
    off = mock.patch.object(traced, "bound_of_neighbours", return_value=(None, "switched off"))
    with off, places_alike():
        return _audits(request)


def _audits(request):
    return [run(ALL[name], SMALL, seed=seed, alpha=0.05) for name in request.param for seed in range(AUDITS)]


def _most(audits, level=0.05):
    """What as many independent events of probability `level` exceed with probability 1e-7."""
    return stats.binom.isf(1e-7, audits, level)


def test_correct_controls_are_refuted_at_the_stated_level_at_most(audits):
    null = [o for o in audits if o.control.expected == "not_refuted"]
    assert len(null) >= 100
    assert sum(o.false_alarm for o in null) <= _most(len(null))
    # The negative control: broken ones are refuted far more often.
    broken = [o for o in audits if o.control.expected == "refuted"]
    assert sum(o.verdict == "refuted" for o in broken) > 2 * _most(len(broken))


def test_bounds_exceed_the_truth_at_the_stated_level_at_most(audits):
    finite = [o for o in audits if np.isfinite(o.control.truth)]
    assert sum(o.bound > o.control.truth for o in finite) <= _most(len(finite))
    # The negative control: a truth that is told a fifth too small is exceeded.
    told = sum(o.bound > 0.8 * o.control.truth for o in finite)
    assert told > _most(len(finite))


def test_a_control_whose_truth_is_told_wrong_fails_the_selftest():
    told = dataclasses.replace(ALL["laplace-half"], law=lambda: laws.laplace(1.0, 1.0))
    outcome = run(told, Plan(24, 20_000, 50_000))
    assert outcome.false_alarm
    assert not outcome.right
