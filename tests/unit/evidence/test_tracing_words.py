"""Each sentence of tracing that accuses a line: a leak of which it is said, a right twin without it."""

from __future__ import annotations

import importlib.util
import math
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from verifiable_dp.auditing import traced
from verifiable_dp.auditing.request import Inputs, Promise
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import ContextPair, TablePair
from verifiable_dp.evidence.check import Check, in_words, judged
from verifiable_dp.evidence.tracing import ledger, trace
from verifiable_dp.evidence.tracing.examining import cost, examine
from verifiable_dp.evidence.tracing.laws import Law, difference, shaped, total
from verifiable_dp.evidence.tracing.ledger import NoteKind, Place
from verifiable_dp.evidence.tracing.replays import check, without
from verifiable_dp.evidence.tracing.subjects import TracedBandit, TracedUsers
from verifiable_dp.record import words

HORIZON = 6


def arms(choice):
    return np.full(HORIZON, int(choice))


def branch(rewards, rng):
    return arms(1 if rewards[0, 0] > 0.5 else 0)


def branch_right(rewards, rng):
    return arms(1 if rewards[0, 0] + rng.laplace() > 0.5 else 0)


def index(rewards, rng):
    return arms(np.array([1, 0])[rewards[0, 0].astype(int)])


def index_right(rewards, rng):
    noisy = rewards[0, 0] + rng.laplace()
    return arms(np.array([1, 0])[int(noisy > 0.5)])


def argmax(rewards, rng):
    return arms(np.argmax(rewards[:2].sum(axis=0)))


def argmax_right(rewards, rng):
    return arms(np.argmax(rewards[:2].sum(axis=0) + rng.laplace(0, 1, 2)))


def rows_in_place(rewards, rng):
    """Noise, then data, then more noise, row by row in place: each sum is seen after its noise alone."""
    sums = np.zeros((2, 2))
    for round_ in range(2):
        for arm in range(2):
            sums[arm] += rng.laplace(0, 4, 2)
        sums[round_ % 2] += rewards[round_, 0] * np.array([1.0, 0.5])
    return arms(np.argmax(sums.sum(axis=1)))


def rows_in_place_bare(rewards, rng):
    """As `rows_in_place`, but one row is never hidden."""
    sums = np.zeros((2, 2))
    sums[0] += rng.laplace(0, 4, 2)
    for round_ in range(2):
        sums[round_ % 2] += rewards[round_, 0] * np.array([1.0, 0.5])
    return arms(np.argmax(sums[1]) if rng.random() < 2 else 0)


def returned(rewards, rng):
    return np.where(rewards[:, 0] > 0.5, 1, 0)


def returned_right(rewards, rng):
    return np.where(rewards[:, 0] + rng.laplace(0, 1, HORIZON) > 0.5, 1, 0)


def chance(rewards, rng):
    return arms(rng.poisson(rewards[0, 0] * 5) > 2)


def chance_right(rewards, rng):
    return arms(rng.poisson(5 * max(0.0, float(rewards[0, 0] + rng.laplace()))) > 2)


def text(rewards, rng):
    return arms(f"{rewards[0, 0]:.0f}" == "1")


def text_right(rewards, rng):
    return arms(f"{rewards[0, 0] + rng.laplace():.0f}" == "1")


def number(rewards, rng):
    return arms(float(rewards[0, 0]) > 0.5)


def number_right(rewards, rng):
    return arms(float(rewards[0, 0] + rng.laplace()) > 0.5)


def one_draw_twice_told(rewards, rng):
    noise = rng.laplace()
    first, second = float(rewards[0, 0] + noise), float(2 * rewards[0, 0] + noise)
    return arms(second - first > 0.5)


def draws_of_their_own(rewards, rng):
    noise = rng.laplace(0, 3, 2)
    first, second = float(rewards[0, 0] + noise[0]), float(2 * rewards[0, 0] + noise[1])
    return arms(second - first > 0.5)


def half_used(rewards, rng):
    one, other = rng.exponential(), rng.exponential()
    first, second = float(rewards[0, 0] + (one - other)), float(rewards[0, 0] + other)
    return arms(first - second > 0)


def half_right(rewards, rng):
    one, other = rng.exponential(), rng.exponential()
    first, second = float(rewards[0, 0] + (one - other)), float(rng.exponential())
    return arms(first - second > 0)


def told(rewards, rng):
    coin = rng.random(HORIZON) < 0.7
    bits = rewards[:, 0] > 0.5
    return np.where(coin, bits, ~bits).astype(int) * 0 + coin.astype(int)


def told_right(rewards, rng):
    coin = rng.random(HORIZON) < 0.73
    bits = rewards[:, 0] > 0.5
    return np.where(coin, bits, ~bits).astype(int)


def chances(rewards, rng):
    coin = rng.random()
    bit = coin < 0.4 + 0.2 * rewards[0, 0]
    return arms(int(bit) if coin < 0.9 else 0)


def chances_right(rewards, rng):
    bit = rng.random() < 0.4 + 0.2 * rewards[0, 0]
    return arms(int(bit) if rng.random() < 0.9 else 0)


SENTENCES = [
    (ledger.words_of("branch"), branch, branch_right),
    (ledger.words_of("index"), index, index_right),
    (ledger.words_of("argmax"), argmax, argmax_right),
    (ledger.words_of("argmax"), rows_in_place_bare, rows_in_place),
    (ledger.words_of("output"), returned, returned_right),
    (ledger.words_of("chance"), chance, chance_right),
    (ledger.words_of("text"), text, text_right),
    (ledger.words_of("number"), number, number_right),
    (trace.SHARED, one_draw_twice_told, draws_of_their_own),
    (trace.HALF, half_used, half_right),
    (trace.COINS, told, told_right),
    (trace.CHANCES, chances, chances_right),
]


INPUTS = Inputs(2, HORIZON)


def said(function, inputs=INPUTS, **promised):
    promise = Promise(epsilon=1.0, **promised)
    check, _ = traced.trace(function, "it", 1.0, inputs, 0, traced.Effort(10, most=20), promise)
    return "\n".join(words.leads(Check.read(check.as_dict()))), check


@pytest.mark.parametrize(
    ("sentence", "leak", "right"), SENTENCES, ids=[leak.__name__ for _, leak, _ in SENTENCES]
)
def test_a_sentence_is_said_of_a_leak_and_of_no_right_twin(sentence, leak, right):
    """Control of each other: they differ in what stands before the data is used."""
    assert sentence in said(leak)[0]
    assert said(right)[0] == ""


def test_every_sentence_that_accuses_has_a_twin():
    """But `unsettled` and `unfollowed`, which accuse nobody; the other two have theirs in `unit/auditing`."""
    accusing = {*map(ledger.words_of, ledger.WORDS), trace.SHARED, trace.HALF, trace.COINS, trace.CHANCES}
    assert {sentence for sentence, _, _ in SENTENCES} == accusing - {
        ledger.words_of(one) for one in ("unsettled", "unfollowed", "shared", "seeds")
    }


def test_noise_before_data_hides_it_by_itself():
    """The cost is that of data before noise: L1 norm 1.5 at scale 4, once."""
    _, check = said(rows_in_place)
    assert check.statistics["max_cost"] == pytest.approx(1.5 / 4)


def table(contexts, rewards, rng):
    """One noisy table; a user's own context picks the row that is read for it."""
    half, value, chosen = len(contexts) // 2, np.zeros((2, 2)), rng.integers(2, size=len(contexts))
    for t in range(half):
        value[int(contexts[t, 0] > 0), chosen[t]] += rewards[t, chosen[t]] - 0.5
    value = value + rng.laplace(0, 1, value.shape)
    for t in range(half, len(contexts)):
        chosen[t] = int(np.argmax(value[int(contexts[t, 0] > 0)]))
    return chosen


def test_other_entries_of_a_draw_are_not_the_same_draw():
    """Where a user's own row is read, other cells come out than on the neighbouring input."""
    text, check = said(table, Inputs(2, 8, contexts=2), model="joint")
    assert trace.SHARED not in text  # control: `one_draw_twice_told`, of which it is said
    assert check.verdict == "not_refuted"
    assert not check.result["holds"]


@pytest.mark.parametrize(("scale", "within"), [(5.0, True), (1.0, False)])
def test_normal_noise_is_charged_at_the_delta_of_the_claim(scale, within):
    """It costs inf at delta 0 however large it is; at 1e-5 a scale of 5 costs .78, a scale of 1 above 1."""

    def play(rewards, rng):
        return arms(float(rewards[0, 0] + rng.normal(0, scale)) > 0.5)

    text, check = said(play, delta=1e-5)
    assert "costs inf" not in text
    assert (text == "") == within
    assert check.result["holds"] == within
    pure, _ = said(play)
    assert "costs inf" in pure  # control: of a claim without delta that is true


# Tracing bandits with contexts: what is computed from released matrices is public, from others it is not.


T, K, D = 6, 2, 2
FORM = Contexts(K, (K, D))
OWN = frozenset([__file__])
SIGMA = 3.0
BASE = np.tile(FORM.unit(0), (T, 1, 1))
PAIR = ContextPair(FORM, BASE, np.zeros((T, K)), 1, context=BASE[0][::-1] * 0.5, reward=[1.0, 1.0])


def linucb(noisy, solved=lambda V, x: x @ np.linalg.inv(V), gram=True):
    """LinUCB on matrices that `noisy(matrix, rng)` gives out each round."""

    def play(table, rng):
        contexts, rewards = FORM.split(table)
        V, u, actions = 40.0 * np.eye(D), np.zeros(D), []
        for x, paid in zip(contexts, rewards, strict=True):
            arm = int(np.argmax(solved(V, x) @ u))
            actions.append(arm)
            outer = np.outer(x[arm], x[arm])
            V = V + (noisy(outer, rng) if gram else outer)
            u = u + paid[arm] * x[arm] + rng.normal(0.0, SIGMA, D)
        return actions

    return play


def plus_transpose(matrix, rng):
    noise = rng.normal(0.0, SIGMA, matrix.shape)
    return matrix + (noise + noise.T) / np.sqrt(2)


def triangle(matrix, rng):
    noise = np.triu(rng.normal(0.0, SIGMA, matrix.shape))
    return matrix + noise + np.triu(noise, 1).T


def of_laplace(matrix, rng):
    noise = np.triu(rng.laplace(0.0, SIGMA, matrix.shape))
    return matrix + noise + np.triu(noise, 1).T


def entry_by_entry(matrix, rng):
    noise = np.zeros(matrix.shape)
    for i in range(len(noise)):
        for j in range(i, len(noise)):
            noise[i, j] = noise[j, i] = rng.normal(0.0, SIGMA)
    return matrix + noise


def without_symmetry(matrix, rng):
    return matrix + rng.normal(0.0, SIGMA, matrix.shape)


def by_solve(V, x):
    return np.linalg.solve(V, x.T).T


def by_cholesky(V, x):
    root = np.linalg.cholesky(V @ V.T)
    return x @ np.linalg.inv(root @ root.T) @ V


def by_eigh(V, x):
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    return x @ vectors / values @ vectors.T


def traced_of_contexts(play, joint=True):
    users = TracedUsers(FORM, joint)
    done = TracedBandit(play, K, T, (0.0, 1.0), OWN, (), users).trace(PAIR, 0)
    assert not done.here.failure, done.here.failure
    return done


def by_hand(diagonal, off):
    """rho of one round: of the moment, and of the matrix whose entries have these deviations."""
    left, right = (FORM.split(world)[0][1] for world in PAIR.worlds())
    found = []
    for mine in (0, 1):
        for theirs in (0, 1):
            moved = np.outer(right[theirs], right[theirs]) - np.outer(left[mine], left[mine])
            matrix = moved[0, 0] ** 2 / diagonal**2 + moved[1, 1] ** 2 / diagonal**2
            matrix += moved[0, 1] ** 2 / off**2
            moment = np.sum((1.0 * right[theirs]) ** 2) / SIGMA**2
            found.append((matrix + moment) / 2)
    return found


@pytest.mark.parametrize(
    ("noisy", "diagonal", "off"),
    [
        (plus_transpose, np.sqrt(2) * SIGMA, SIGMA),
        (triangle, SIGMA, SIGMA),
        (entry_by_entry, SIGMA, SIGMA),
    ],
)
def test_symmetric_noise_is_one_draw_for_both_entries(noisy, diagonal, off):
    loss = traced_of_contexts(linucb(noisy)).loss
    assert loss.same_output
    assert not loss.divergence
    assert np.isclose(loss.rho, by_hand(diagonal, off), rtol=1e-9).any(), (loss.rho, by_hand(diagonal, off))


def test_laplace_noise_on_a_triangle_costs_each_entry_once():
    """The context has equal entries, so that all entries of x x' move."""
    pair = ContextPair(FORM, BASE, np.zeros((T, K)), 1, context=FORM.even())
    loss = (
        TracedBandit(linucb(of_laplace), K, T, (0.0, 1.0), OWN, (), TracedUsers(FORM, True))
        .trace(pair, 0)
        .loss
    )
    assert loss.same_output
    paid = sum(bound for _, bound, _ in loss.each.tolist() if np.isfinite(bound))
    # x x' is (1, 0; 0, 0) or (0, 0; 0, 1) before, (.5, .5; .5, .5) after: three entries of the triangle.
    assert np.isclose(paid, 3 * 0.5 / SIGMA, rtol=1e-6)


def test_noise_of_one_draw_an_entry_costs_both_entries():
    loss = traced_of_contexts(linucb(without_symmetry)).loss
    assert loss.same_output
    assert loss.rho > 0


@pytest.mark.parametrize("solved", [by_solve, by_cholesky, by_eigh])
def test_what_is_computed_from_released_matrices_is_public(solved):
    done = traced_of_contexts(linucb(plus_transpose, solved))
    assert done.loss.same_output
    assert np.isclose(done.loss.rho, traced_of_contexts(linucb(plus_transpose)).loss.rho)


def test_the_users_own_action_is_hidden_under_joint_privacy_only():
    """Negative control: the same program under plain privacy."""
    play = linucb(plus_transpose)
    assert traced_of_contexts(play).loss.same_output
    subject = TracedBandit(play, K, T, (0.0, 1.0), OWN, (), TracedUsers(FORM, joint=False))
    others = [subject.trace(PAIR, seed) for seed in range(6)]
    assert any(not done.loss.same_output for done in others)


def test_a_raw_gram_matrix_is_named_and_a_noisy_one_has_no_open_lead():
    def found(play):
        subject = TracedBandit(play, K, T, (0.0, 1.0), OWN, (), TracedUsers(FORM, joint=True))
        return check(examine(subject, 1.0, [PAIR], seed=0, examples=20), 1.0).statistics

    right, leaking = found(linucb(plus_transpose)), found(linucb(plus_transpose, by_solve, gram=False))
    assert not right["failure"]
    assert not leaking["failure"]
    assert right["same_output"]
    assert not [lead for lead in right["leads"] if lead["open"]], right["leads"]
    assert [lead["source"] for lead in leaking["leads"] if lead["open"]] == [
        "arm = int(np.argmax(solved(V, x) @ u))"
    ]
    assert "contexts or rewards" in leaking["leads"][0]["words"]


def test_a_draw_of_symmetric_noise_that_is_used_again_hides_nothing():
    """The difference of two releases is exact: one more entry of the noise hangs on each."""

    def play(table, rng):
        contexts, _ = FORM.split(table)
        noise = rng.normal(0.0, SIGMA, (D, D))
        symmetric = (noise + noise.T) / np.sqrt(2)
        first = np.outer(contexts[1, 0], contexts[1, 0]) + symmetric
        second = contexts[1, 0, 0] + noise[0, 1]
        return [int(first[0, 1] + second > 0)] * T

    assert np.isinf(cost(traced_of_contexts(play)))


# Tracing of noise in chains, of noise with a shape, of sized draws with raw chances; and what it loses.


HORIZON_OF_NOISE = 16
PAIR_OF_NOISE = TablePair(np.zeros((HORIZON_OF_NOISE, 2)), 0, 0, 1.0)
FILES = frozenset([__file__])


def subject(function, files=FILES):
    return TracedBandit(function, 2, HORIZON_OF_NOISE, (0.0, 1.0), files)


def traced_of_noise(function):
    done = subject(function).trace(PAIR_OF_NOISE, 0)
    assert not done.here.failure, done.here.failure
    return done


def checked(function, files=FILES):
    return check(examine(subject(function, files), 1.0, [PAIR_OF_NOISE], seed=0, examples=0), 1.0)


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
    done = traced_of_noise(by_means(add))
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
    done = traced_of_noise(commit_with(noisy))
    assert done.loss.same_output
    assert cost(done) == pytest.approx(paid)
    assert not done.leads


@pytest.mark.parametrize("noisy", TOO_LITTLE)
def test_parts_that_are_too_few_have_no_bound(noisy):
    assert cost(traced_of_noise(commit_with(noisy))) == math.inf


# ---------------------------------------------------------------- sized draws with raw chances


def told_of_noise(bits):
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
    done = traced_of_noise(told_of_noise(bits))
    assert cost(done) == pytest.approx(1.0)
    assert not done.leads


def test_draws_that_are_seen_beside_their_outcome_hide_nothing():
    assert cost(traced_of_noise(told_of_noise(lambda p, rng: from_uniforms(p, rng, True)))) == math.inf
    number = traced_of_noise(
        told_of_noise(lambda p, rng: (np.array([(u := rng.random()) < p[0], u < 0.5, *p[2:] * 0]),))
    )
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
    done = subject(play, frozenset([play.__code__.co_filename])).trace(PAIR_OF_NOISE, 0)
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
        assert f"could not follow the code from line {line}" in words
        assert "lead" not in words


def test_what_is_followed_is_not_said_to_be_lost():
    for choose in (lambda s: np.frombuffer(s).sum(), lambda s: np.array(s) * 2, lambda s: s.copy()):
        done = checked(choosing(choose))
        assert done.result["holds"]
        assert not done.statistics["notes"]
    [lead] = traced_of_noise(commit_with(lambda s, rng: [rng.laplace(), np.frombuffer(s).argmax()][1:])).leads
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
    found = examine(subject(scaled_by(1.0, draw)), 1.0, [PAIR_OF_NOISE], seed=0, examples=0)
    other = subject(scaled_by(2.0, draw)).trace(found.pair, found.seed)
    notes = check(without(found, other, (1.0, 2.0)), 1.0).statistics["notes"]
    assert [(n["kind"] == NoteKind.FIXED, n["line"]) for n in notes] == [
        (True, draw.__code__.co_firstlineno)
    ] * fixed
