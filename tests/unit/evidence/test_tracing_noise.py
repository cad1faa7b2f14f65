"""Tracing of noise in chains, of noise with a shape, of sized draws with raw chances; and what it loses."""

from __future__ import annotations

import importlib.util
import math
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.evidence.check import in_words, judged
from verifiable_dp.evidence.tracing.examining import cost, examine
from verifiable_dp.evidence.tracing.laws import Law, difference, shaped, total
from verifiable_dp.evidence.tracing.ledger import NoteKind, Place
from verifiable_dp.evidence.tracing.replays import check, without
from verifiable_dp.evidence.tracing.subjects import TracedBandit

HORIZON = 16
PAIR = TablePair(np.zeros((HORIZON, 2)), 0, 0, 1.0)
FILES = frozenset([__file__])


def subject(function, files=FILES):
    return TracedBandit(function, 2, HORIZON, (0.0, 1.0), files)


def traced(function):
    done = subject(function).trace(PAIR, 0)
    assert not done.here.failure, done.here.failure
    return done


def checked(function, files=FILES):
    return check(examine(subject(function, files), 1.0, [PAIR], seed=0, examples=0), 1.0)


# ---------------------------------------------------------------- noise in chains


def by_means(add):
    """A bandit that plays the best mean of sums to which `add` adds a reward, and a draw if that is right."""

    def play(rewards, rng):
        sums, pulls, arms = [rng.laplace(0, 1.0) for _ in range(2)], [0, 0], []
        for t in range(len(rewards)):
            arm = t if t < 2 else int(np.argmax([sums[k] / pulls[k] for k in range(2)]))
            sums[arm] = add(sums[arm], rewards[t, arm], rng)
            pulls[arm] += 1
            arms.append(arm)
        return arms

    return play


@pytest.mark.parametrize(
    "add",
    [
        lambda total, reward, rng: total + reward + rng.laplace(0, 1.0),
        lambda total, reward, rng: total + rng.laplace(0, 1.0) + reward,
        lambda total, reward, rng: rng.laplace(0, 1.0) + (reward + total),
        lambda total, reward, rng: total + (reward + rng.laplace(0, 1.0)),
    ],
)
def test_fresh_noise_on_a_noisy_sum_is_noise(add):
    done = traced(by_means(add))
    assert done.loss.same_output
    assert cost(done) == pytest.approx(1.0)
    assert not done.leads


@pytest.mark.parametrize(
    "add",
    [
        lambda total, reward, rng: total + reward,  # one draw for all rewards of an arm
        lambda total, reward, rng: total + rng.laplace(0, 1.0) * 0 + reward,
    ],
)
def test_a_noisy_sum_that_gets_no_fresh_noise_leaks(add):
    done = checked(by_means(add))
    found = done.statistics
    assert not done.result["holds"]
    raw = any(lead["what"] == "argmax" and lead["open"] for lead in found["leads"])
    assert raw or found["divergence"] or float(found["max_cost"]) > 1


# ---------------------------------------------------------------- noise with a shape


def commit_with(noisy):
    def play(rewards, rng):
        half, arms = len(rewards) // 2, np.arange(len(rewards)) % 2
        sums = np.array([rewards[arm:half:2, arm].sum() for arm in range(2)])
        arms[half:] = np.argmax(noisy(sums, rng))
        return arms

    return play


@pytest.mark.parametrize(
    ("kind", "scale", "law"),
    [
        ("gamma 2.5", 2.0, stats.gamma(2.5, scale=2.0)),
        ("negative_binomial 2.5", 0.3, stats.nbinom(2.5, 0.3)),
        ("poisson 4.0", 1.0, stats.poisson(4.0)),
    ],
)
def test_log_ratios_are_those_of_the_law(kind, scale, law):
    z, mine = np.array([1.0, 4.0, 9.0]), Law(kind, np.full(3, scale), np.ones(3))
    density = law.logpdf if hasattr(law.dist, "pdf") else law.logpmf
    assert np.allclose(mine.log_density(z) - mine.log_density(z + 1), density(z) - density(z + 1))
    assert np.isinf(mine.most(np.ones(3))).all()


@pytest.mark.parametrize("shape", [0.5, 1.0, 2.5])
def test_differences_have_their_own_law(shape):
    """Their densities are sums over all ways to the difference."""
    grid = np.arange(-40, 41)
    one = stats.nbinom(shape, 0.5).pmf(np.arange(2000))
    by_hand = np.array([one[max(d, 0) :][: 2000 - abs(d)] @ one[max(-d, 0) :][: 2000 - abs(d)] for d in grid])
    kind = difference(f"negative_binomial {shape}")
    mine = np.exp(Law(kind, np.full(len(grid), 0.5), np.ones(len(grid))).log_density(grid.astype(float)))
    assert np.allclose(mine / mine.sum(), by_hand / by_hand.sum())
    points = np.array([0.5, 2.0])
    step = 1e-4
    whole = np.arange(step / 2, 60, step)
    by_hand = [
        (stats.gamma(shape).pdf(whole) * stats.gamma(shape).pdf(whole + d)).sum() * step for d in points
    ]
    mine = np.exp(Law(difference(shaped("gamma", shape)), np.ones(2), np.ones(2)).log_density(points))
    assert mine[0] / mine[1] == pytest.approx(by_hand[0] / by_hand[1], rel=2e-2 if shape < 1 else 1e-6)


def test_shapes_add_up():
    assert total("gamma 0.5", "gamma 0.5") == "exponential"
    assert total("gamma 0.5", "exponential") == "gamma 1.5"
    assert total("two_sided_polya 0.25", "two_sided_polya 0.75") == "discrete_laplace"
    assert total("laplace", "laplace") is None  # one of them may as well be seen
    assert total("gamma 0.5", "poisson 0.5") is None


GAMMA = [
    (lambda s, g: s + g.gamma(1.0, 2.0, 2) - g.gamma(1.0, 2.0, 2), 0.5),
    (lambda s, g: s + (g.gamma(3.0, 2.0, 2) - g.gamma(3.0, 2.0, 2)), 0.5),
    (lambda s, g: [x + g.gamma(1 / 5, 2.0, 5).sum() - g.gamma(1 / 5, 2.0, 5).sum() for x in s], 0.5),
    (lambda s, g: [x + np.sum(g.gamma(1 / 5, 2.0, 5) - g.gamma(1 / 5, 2.0, 5)) for x in s], 0.5),
    (lambda s, g: s + g.negative_binomial(1, 0.5, 2) - g.negative_binomial(1, 0.5, 2), math.log(2)),
    (
        lambda s, g: [
            x + np.sum(g.negative_binomial(0.2, 0.5, 5) - g.negative_binomial(0.2, 0.5, 5)) for x in s
        ],
        math.log(2),
    ),
    (lambda s, g: [x + g.laplace(0, 2.0, 5).sum() for x in s], 0.5),
    (lambda s, g: s + g.exponential(2.0, 2) + g.gamma(1.0, 2.0, 2) - g.exponential(2.0, 2), 0.5),
]
# Fewer parts than add up to a Laplace draw, one-sided noise, and parts that are seen one by one.
TOO_LITTLE = [
    lambda s, g: [x + g.gamma(1 / 5, 2.0, 4).sum() - g.gamma(1 / 5, 2.0, 4).sum() for x in s],
    lambda s, g: s + g.gamma(2.0, 2.0, 2),
    lambda s, g: s + g.poisson(50.0, 2),
    lambda s, g: s + g.negative_binomial(1, 0.5, 2),
    lambda s, g: s + (part := g.gamma(0.5, 2.0, 2)) - g.gamma(0.5, 2.0, 2) + (part > 1),
]


@pytest.mark.parametrize(("noisy", "paid"), GAMMA)
def test_parts_that_add_up_to_two_sided_noise(noisy, paid):
    done = traced(commit_with(noisy))
    assert done.loss.same_output
    assert cost(done) == pytest.approx(paid)
    assert not done.leads


@pytest.mark.parametrize("noisy", TOO_LITTLE)
def test_parts_that_are_too_few_have_no_bound(noisy):
    assert cost(traced(commit_with(noisy))) == math.inf


# ---------------------------------------------------------------- sized draws with raw chances


def told(bits):
    def play(rewards, rng):
        half, arms = len(rewards) // 2, np.arange(len(rewards)) % 2
        paid = np.array([rewards[t, arms[t]] for t in range(half)])
        drawn, *seen = bits((1 + paid * (math.e - 1)) / (1 + math.e), rng)
        arms[half:] = np.argmax([drawn[k::2].sum() for k in range(2)])
        arms[-1] = int(seen[0] < 0.5) if seen else 0
        return arms

    return play


def from_uniforms(p, rng, seen):
    draws = rng.random(len(p))
    return (draws < p, draws[0]) if seen else (draws < p,)


@pytest.mark.parametrize(
    "bits",
    [
        lambda p, rng: (rng.binomial(1, p),),
        lambda p, rng: (rng.binomial(1, p, size=len(p)),),
        lambda p, rng: from_uniforms(p, rng, False),
        lambda p, rng: (np.array([rng.random() < one for one in p]),),
    ],
)
def test_sized_draws_with_raw_chances_are_paid_for_each(bits):
    done = traced(told(bits))
    assert cost(done) == pytest.approx(1.0)
    assert not done.leads


def test_draws_that_are_seen_beside_their_outcome_hide_nothing():
    assert cost(traced(told(lambda p, rng: from_uniforms(p, rng, True)))) == math.inf
    number = traced(told(lambda p, rng: (np.array([(u := rng.random()) < p[0], u < 0.5, *p[2:] * 0]),)))
    assert cost(number) == math.inf


# ---------------------------------------------------------------- what is followed, wherever it lies

_HELPER = "import numpy as np\n\ndef best(values):\n    return np.argmax(list(values))\n"
_MAIN = "def play(rewards, rng):\n    {}\n    return [int(best(rewards.sum(axis=0)))] * len(rewards)\n"


@pytest.mark.parametrize(
    ("head", "inside"),
    [
        ("from faraway_helper import best\n", "pass"),
        ("import faraway_helper\nbest = faraway_helper.best\n", "pass"),
        ("", "from faraway_helper import best"),
    ],
)
def test_helpers_in_other_folders_are_followed(tmp_path, monkeypatch, head, inside):
    modules = {}
    texts = {"faraway_helper": _HELPER, "faraway_main": head + _MAIN.format(inside)}
    for name, text in texts.items():
        path = tmp_path / name / f"{name}.py"
        path.parent.mkdir()
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        modules[name] = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, modules[name])
        spec.loader.exec_module(modules[name])
    play, helper = modules["faraway_main"].play, modules["faraway_helper"].__file__
    done = subject(play, frozenset([play.__code__.co_filename])).trace(PAIR, 0)
    assert [(lead.what, lead.place) for lead in done.leads] == [("argmax", Place(helper, 4))]


def choosing(choose):
    return commit_with(lambda sums, rng: [sums + rng.laplace(0, 1.0, 2), choose(sums)][0])


LOST = [
    lambda s: s.view(np.ndarray).argmax(),
    lambda s: memoryview(s)[0],
    lambda s: s.tobytes(),
    lambda s: s.flat[0],
    lambda s: s.__array_interface__,
    lambda s: s.__reduce_ex__(4),
    lambda s: next(iter(np.nditer(s))),
    lambda s: pd.Series(s).idxmax(),
    lambda s: stats.rankdata(s),
]


@pytest.mark.parametrize("choose", LOST)
def test_what_is_not_followed_is_said_and_never_within_the_claim(choose):
    done = checked(choosing(choose))
    line = choose.__code__.co_firstlineno
    lost = [note for note in done.statistics["notes"] if note["kind"] == NoteKind.UNFOLLOWED]
    assert {note["line"] for note in lost} == {line}
    assert not done.result["holds"]
    assert judged("tracing", done.statistics) == done.result
    if not done.statistics["leads"]:
        words = in_words(done)
        assert f"not followed from line {line}" in words
        assert "lead" not in words


def test_what_is_followed_is_not_said_to_be_lost():
    for choose in (lambda s: np.frombuffer(s).sum(), lambda s: np.array(s) * 2, lambda s: s.copy()):
        done = checked(choosing(choose))
        assert done.result["holds"]
        assert not done.statistics["notes"]
    [lead] = traced(commit_with(lambda s, rng: [rng.laplace(), np.frombuffer(s).argmax()][1:])).leads
    assert lead.what == "argmax"


# ---------------------------------------------------------------- noise that does not depend on epsilon


def scaled_by(epsilon, draw):
    return commit_with(lambda sums, rng: draw(sums, epsilon, rng))


@pytest.mark.parametrize(
    ("draw", "fixed"),
    [
        (lambda s, e, rng: s + rng.laplace(1 / e, size=2), True),  # the scale is where the location is
        (lambda s, e, rng: s + rng.laplace(size=2), True),
        (lambda s, e, rng: s + rng.laplace(0, 1 / e, 2), False),
        (lambda s, e, rng: s * e + rng.laplace(size=2), False),
    ],
)
def test_noise_that_is_the_same_at_another_epsilon_is_named(draw, fixed):
    found = examine(subject(scaled_by(1.0, draw)), 1.0, [PAIR], seed=0, examples=0)
    other = subject(scaled_by(2.0, draw)).trace(found.pair, found.seed)
    notes = check(without(found, other, (1.0, 2.0)), 1.0).statistics["notes"]
    assert [(n["kind"] == NoteKind.FIXED, n["line"]) for n in notes] == [
        (True, draw.__code__.co_firstlineno)
    ] * fixed
