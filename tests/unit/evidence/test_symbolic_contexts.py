"""Upper bounds for code that is told contexts: what one user moves at most, over all contexts in a ball."""

import itertools

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.user_code import crowds
from verifiable_dp.auditing.request import Inputs, Promise
from verifiable_dp.auditing.traced import bound
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.evidence.judge.laws import epsilon_of
from verifiable_dp.evidence.symbolic import users
from verifiable_dp.evidence.symbolic.terms import Atom
from verifiable_dp.targets.adapters import contextual

DELTA = 1e-5


def found(target, norm=2.0, horizon=2, **promise):
    """The upper bound under joint privacy, or why there is none; d = 2, two arms."""
    function = contextual(target, Contexts(2, (2, 2), norm))[1]
    inputs = Inputs(2, horizon, (0.0, 1.0), contexts=(2, 2), context_norm=norm)
    made, why, _ = bound(function, target.__name__, inputs, DELTA, Promise(**{"model": "joint", **promise}))
    return why.what if made is None else made.epsilon


def test_noisy_sums_of_clipped_contexts_cost_their_claim():
    assert found(crowds.laplace) == pytest.approx(1.0)


def test_contexts_that_are_not_clipped_cost_more_where_they_may_be_longer():
    """The Gram matrix four times as much, the vector twice."""
    assert found(crowds.unclipped) == pytest.approx(0.5 * 4 + 0.5 * 2)


@pytest.mark.slow
def test_normal_noise_costs_the_distance_of_matrices():
    """|xx' - yy'|^2 <= 2 and |rx - sy|^2 <= 4 over a variance of 64; 16 and 4 times that without clipping."""
    assert found(crowds.gaussian) == pytest.approx(epsilon_of(0.0, (2 + 4) / 64, DELTA))
    expected = epsilon_of(0.0, (2 * 16 + 4 * 4) / 64, DELTA)
    assert found(crowds.unclipped_gaussian) == pytest.approx(expected)


@pytest.mark.parametrize("leak", [crowds.bare_gram, crowds.leaves])
def test_sums_without_noise_have_no_bound(leak):
    assert "raw rewards has no bound" in found(leak, horizon=3)


def test_what_another_user_brought_decides_nothing():
    assert "raw rewards decide which position is chosen" in found(crowds.follower)


def test_plain_privacy_has_no_bound_where_users_choose_by_what_they_bring():
    assert "raw rewards decide which position is chosen" in found(crowds.laplace, model="central")


def test_rewards_alone_cost_less():
    """r x moves by |x| <= 1 instead of by 2."""
    assert found(crowds.fixed_arm, protects="reward") == pytest.approx(0.25)
    assert found(crowds.fixed_arm) == pytest.approx(0.5)


@pytest.mark.slow
def test_trees_cost_their_depth():
    """Of five users the first stands in three nodes that are used."""
    assert found(crowds.tree, horizon=5) == pytest.approx(1.0)
    assert found(crowds.shallow, horizon=5) == pytest.approx(3.0)


@pytest.mark.slow
def test_an_audit_of_noisy_sums_ends_with_the_bound():
    report = vdp.audit(
        crowds.laplace,
        contexts="2x2",
        context_norm=2,
        model="joint",
        epsilon=1,
        n_arms=2,
        horizon=3,
        budget="smoke",
        in_process=True,
    )
    assert report.verdict == "not_refuted"
    assert report.epsilon_upper == pytest.approx(1.0)


def drawn(rng, size, radius):
    x = rng.standard_normal(size)
    return x * radius * rng.random() ** 0.3 / np.linalg.norm(x)


@pytest.mark.parametrize("seed", range(6))
def test_no_two_users_differ_by_more_than_is_charged(seed):
    """Weighted sums and squares of all products, for random weights and the best of many pairs of users."""
    rng = np.random.default_rng(seed)
    d, radius = 3, 1.5
    owner, reward = users.Vector(0, radius, d), users.Number(0, 2.0, 1.0)
    x = [Atom(0.0, -radius, radius, lambda: {0: (-2 * radius, 2 * radius)}, of=owner) for _ in range(d)]
    r = Atom(0.0, -1.0, 1.0, lambda: {0: (-2.0, 2.0)}, of=reward)
    pairs = [*itertools.combinations_with_replacement([*x, r], 2)]
    products = [Atom(0.0, -9, 9, lambda: {0: (-9.0, 9.0)}, factors=pair) for pair in pairs]
    weights = rng.random(len(products) + d + 1)
    for normal in (False, True):
        releases = [
            users.UserRelease({a: w}, normal) for a, w in zip([*products, *x, r], weights, strict=True)
        ]
        charged = users.paid(releases)[0][normal]
        most = 0.0
        for _ in range(400):
            moved = [brought(rng, d, radius, seed % 2) for _ in range(2)]
            change = abs(moved[0] - moved[1]) * weights
            most = max(most, float((change**2).sum() if normal else change.sum()))
        assert most <= charged
        assert charged < 12 * most  # it is no idle bound


def brought(rng, d, radius, far):
    """All products and entries of one user, in the order of the atoms above."""
    x = drawn(rng, d, radius)
    x = radius * np.sign(x) / d**0.5 if far else x
    r = rng.choice([-1.0, 1.0])
    values = [*x, r]
    products = [a * b for a, b in itertools.combinations_with_replacement(values, 2)]
    return np.array([*products, *values])
