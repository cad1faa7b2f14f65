"""Populations of users with contexts: laws, orders, regret against the truth and against hindsight."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiable_dp.core.populations import LAWS, ORDERS, FiniteTypes, InHindsight, Linear, Logistic, Ordered
from verifiable_dp.core.validate import InputError

TYPES = FiniteTypes([[0.9, 0.2], [0.1, 0.6], [0.5, 0.4]], chances=[0.5, 0.3, 0.2])


def scored(seed, law, shared, kind=Linear, **options):
    """A population whose parameters are drawn."""
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal(4) if shared else rng.standard_normal((3, 4))
    theta /= np.linalg.norm(theta, axis=-1, keepdims=True)
    return kind(theta.tolist(), arms=3 if shared else None, law=law, **options)


POPULATIONS = [
    *(scored(1, law, shared) for law in LAWS for shared in (False, True)),
    scored(2, "ball", False, Logistic),
    scored(3, "sphere", True, Logistic, steepness=2.0),
    TYPES,
    FiniteTypes([[0.5, -0.5], [0.0, 1.0]], [[[0.6, 0.8], [1, 0]], [[0, 0.5], [0.1, 0]]], bounds=(-1, 1)),
    *(Ordered(scored(4, "sphere", False), order) for order in ORDERS),
    InHindsight(scored(7, "ball", True)),
]


@pytest.mark.parametrize("population", POPULATIONS)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), horizon=st.integers(1, 40))
def test_users_are_as_declared(population, seed, horizon):
    """Forms, norms and bounds, which the table of an audit insists on; gaps lie within the spread."""
    users = population.draw(np.random.default_rng(seed), horizon)
    table = population.form.table(users.contexts, users.rewards)
    assert table.shape == (horizon, population.form.width)
    low, high = population.bounds
    assert set(np.unique(users.rewards)) <= {low, high}
    assert (users.means >= low).all()
    assert (users.means <= high).all()
    assert users.gaps.max(initial=0.0) <= population.spread + 1e-9
    np.testing.assert_array_equal(users.means, population.means(users.contexts))


@pytest.mark.parametrize("population", POPULATIONS)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_play_has_less_regret_than_the_truth(population, seed):
    rng = np.random.default_rng(seed)
    users = population.draw(rng, 30)
    assert users.regret(users.best)[-1] == 0
    others = rng.integers(population.n_arms, size=30)
    regret = users.regret(others)
    assert (np.diff(regret, prepend=0.0) >= 0).all()
    assert regret[-1] == pytest.approx(users.means.max(axis=1).sum() - users.means[range(30), others].sum())


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), shared=st.booleans(), law=st.sampled_from(LAWS))
def test_the_greedy_rule_of_the_true_parameter_is_the_benchmark(seed, shared, law):
    population = scored(seed, law, shared)
    users = population.draw(np.random.default_rng(seed), 25)
    theta = np.array(population.theta)
    scores = users.contexts @ theta if shared else users.contexts @ theta.T
    np.testing.assert_array_equal(users.best, scores.argmax(axis=1))
    # Of the policies in hindsight it is one, and so is every fixed arm.
    played = population.policies(users.contexts).tolist()
    assert users.best.tolist() in played
    assert all([arm] * 25 in played for arm in range(3))
    assert population.hindsight_regret(users, users.best) >= 0
    assert population.hindsight(users) == max(users.paid(np.array(arms)) for arms in played)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_best_map_in_hindsight_is_the_best_of_all(seed):
    users = TYPES.draw(np.random.default_rng(seed), 12)
    types = TYPES.types(users.contexts)
    maps = itertools.product(range(2), repeat=3)
    assert TYPES.hindsight(users) == max(users.paid(np.array(one)[types]) for one in maps)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), order=st.sampled_from(ORDERS))
def test_an_order_is_a_permutation(seed, order):
    """The contexts are those of the population, each as often, and nobody's best arm changes."""
    inner = scored(5, "sphere", False)
    found = Ordered(inner, order).contexts(np.random.default_rng(seed), 20)
    drawn = inner.contexts(np.random.default_rng(seed), 20)
    assert sorted(map(tuple, found)) == sorted(map(tuple, drawn))
    means = inner.means(found)
    if order == "by_best_arm":
        assert (np.diff(means.argmax(axis=1)) >= 0).all()
    if order == "misleading":
        assert (np.diff(means[:, means.mean(axis=0).argmax()]) >= 0).all()
    if order == "by_direction":
        assert (np.diff(found[:, 0]) >= 0).all()


def test_an_order_misleads():
    """Following the leader of the first half costs the second half more than in the order drawn."""
    inner = FiniteTypes([[0.9, 0.1], [0.1, 0.8]], [[0.6], [0.5]])
    regrets = {}
    for name, population in (("drawn", inner), ("ordered", Ordered(inner, "misleading"))):
        users = population.draw(np.random.default_rng(0), 4000)
        leader = users.means[:2000].mean(axis=0).argmax()
        regrets[name] = users.gaps[2000:, leader].mean()
    assert regrets["ordered"] > regrets["drawn"] + 0.2


@pytest.mark.parametrize("law", LAWS)
def test_rewards_have_the_means_that_are_stated(law):
    """Within 6 standard errors of 1; a mean that is off by .05 lies outside."""
    population = scored(6, law, False)
    users = population.draw(np.random.default_rng(1), 40_000)
    assert abs((users.rewards - users.means).mean(axis=0)).max() < 6 / 200
    assert population.uniform_regret(100) == pytest.approx(100 * users.gaps.mean(), rel=0.05)


def test_the_spread_of_a_law_is_reached():
    """The stated range of means is that of the law: long searches come near to both ends."""
    assert len(LAWS) == 4
    for law in LAWS:
        theta = [0.6, -0.64] if law != "positive" else [0.6, 0.64]
        population = Linear(theta, arms=2, law=law)
        means = population.draw(np.random.default_rng(0), 20_000).means
        assert means.max() - means.min() == pytest.approx(population.spread, abs=0.02), law


@pytest.mark.parametrize(
    ("make_it", "words"),
    [
        (lambda: Linear([[0.9, 0.9], [0, 0]]), "theta must have a norm of at most 1"),
        (lambda: Linear([0.5, 0.5]), "arms must be given"),
        (lambda: Linear([[0.5, 0.5]] * 2, arms=2), "arms must be given"),
        (lambda: Linear([[0.5]]), "arms must be an integer"),
        (lambda: Linear([["a"]]), "theta must be finite numbers"),
        (lambda: Linear([[0.5], [0.2]], law="intercept"), "dimension of at least 2"),
        (lambda: Linear([[0.5], [0.2]], law="cube"), "law must be one of"),
        (lambda: Linear([[0.5], [0.2]], bounds=(0, 1)), "means must lie within the bounds"),
        (lambda: Logistic([[0.5], [0.2]], bounds=(-1, 1)), "bounds must be"),
        (lambda: Logistic([[0.5], [0.2]], steepness=0), "steepness"),
        (lambda: FiniteTypes([[0.5, 2.0]]), "type_means"),
        (lambda: FiniteTypes([[0.5, 0.2]] * 2, [[0.5], [0.5]]), "must differ"),
        (lambda: FiniteTypes([[0.5, 0.2]] * 2, [[0.5], [1.5]]), "norm of at most 1"),
        (lambda: FiniteTypes([[0.5, 0.2]] * 2, chances=[0.5, 0.4]), "chances"),
        (lambda: Ordered(TYPES, "random"), "order must be one of"),
        (lambda: Ordered(3), "population must be"),
        (lambda: TYPES.types([[0.5, 0.5, 0.0]]), "contexts must be those of the types"),
        (lambda: TYPES.draw(np.random.default_rng(0), 3).regret([0, 1]), "actions must be 3"),
        (lambda: TYPES.draw(np.random.default_rng(0), 2).regret([0, 2]), "actions must lie in"),
    ],
)
def test_what_does_not_fit_is_refused(make_it, words):
    with pytest.raises(InputError, match=words):
        make_it()
