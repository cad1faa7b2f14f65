"""Tracing bandits with contexts: what is computed from released matrices is public, from others it is not."""

import numpy as np
import pytest

from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import ContextPair
from verifiable_dp.evidence.tracing.examining import cost, examine
from verifiable_dp.evidence.tracing.replays import check
from verifiable_dp.evidence.tracing.subjects import TracedBandit, TracedUsers

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


def traced(play, joint=True):
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
    loss = traced(linucb(noisy)).loss
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
    loss = traced(linucb(without_symmetry)).loss
    assert loss.same_output
    assert loss.rho > 0


@pytest.mark.parametrize("solved", [by_solve, by_cholesky, by_eigh])
def test_what_is_computed_from_released_matrices_is_public(solved):
    done = traced(linucb(plus_transpose, solved))
    assert done.loss.same_output
    assert np.isclose(done.loss.rho, traced(linucb(plus_transpose)).loss.rho)


def test_the_users_own_action_is_hidden_under_joint_privacy_only():
    """Negative control: the same program under plain privacy."""
    play = linucb(plus_transpose)
    assert traced(play).loss.same_output
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

    assert np.isinf(cost(traced(play)))
