"""LinUCB: regression and index against linear algebra, the compiled loop, parameters."""

import json
import math

import numpy as np
import pytest

from verifiable_dp import simulate
from verifiable_dp.algorithms._linear import on_sphere
from verifiable_dp.algorithms.linucb import LinUCB
from verifiable_dp.auditors.linucb import outside, regret_bound
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Pulled, Table, TwoPoint
from verifiable_dp.core.noise import Seeded, key_of
from verifiable_dp.core.validate import InputError

AXES = ((1.0, 0.0), (0.0, 1.0))


class Rounds:
    """Keeps the arms of one run."""

    def __init__(self):
        self.arms = []

    def block(self, position, query):
        self.arms.append(int(query.active[0].argmax()))


@pytest.mark.parametrize(("k", "d"), [(2, 1), (7, 3), (30, 5)])
@pytest.mark.parametrize("ridge", [0.1, 1.0, 10.0])
def test_the_state_is_that_of_a_ridge_regression(k, d, ridge):
    algorithm = LinUCB(on_sphere(k, d, 0), 300, ridge=ridge, beta=0.05)
    actions = np.array(algorithm.actions)
    table = np.random.default_rng(1).uniform(-1, 1, (300, k))
    rounds = Rounds()
    final = play(algorithm, Table(table), Seeded(0), np.zeros(1, np.int64), watch=rounds).final
    played = actions[rounds.arms]
    paid = table[np.arange(300), rounds.arms]
    matrix = ridge * np.eye(d) + played.T @ played
    assert final.inverse[0] == pytest.approx(np.linalg.inv(matrix), rel=1e-8, abs=1e-12)
    assert final.moment[0] == pytest.approx(played.T @ paid)
    assert final.log_ratio[0] == pytest.approx(np.linalg.slogdet(matrix / ridge)[1])
    radius = math.sqrt(2 * math.log(1 / 0.05) + np.linalg.slogdet(matrix / ridge)[1]) + math.sqrt(ridge)
    assert algorithm.radius(final)[0] == pytest.approx(radius)
    theta = np.linalg.solve(matrix, played.T @ paid)
    norms = np.sqrt(np.einsum("ki,ij,kj->k", actions, np.linalg.inv(matrix), actions))
    assert final.norms[0] == pytest.approx(norms**2, rel=1e-8)
    assert algorithm.index(final)[0] == pytest.approx(actions @ theta + radius * norms)


def test_the_first_action_is_the_longest_and_ties_go_to_the_first():
    for actions, first in ((AXES, 0), (((0.5, 0.0), (0.0, 1.0), (1.0, 0.0)), 1)):
        algorithm = LinUCB(actions, 10)
        query = algorithm.query(algorithm.start(np.zeros(1, np.int64)))
        assert int(query.active[0].argmax()) == first


@pytest.mark.parametrize("seed", range(5))
def test_the_kernel_plays_the_definition(seed):
    """More actions and dimensions than in the contract."""
    algorithm = LinUCB(on_sphere(12, 4, seed), 400, ridge=0.5)
    means = np.array(algorithm.actions) @ np.array([0.5, -0.3, 0.2, 0.6])
    environment = TwoPoint(tuple(means), -1.0, 1.0)
    run = np.arange(6)
    pulls, at, _ = algorithm.kernel(environment, seed, run, np.array([1, 57, 400]))
    rewards = Pulled(environment, key_of(seed, (1,)), np.zeros((6, 12), np.int64))
    assert np.array_equal(pulls, play(algorithm, rewards, Seeded(seed, (0,)), run, keep=()).pulls)
    assert at.sum(axis=2).tolist() == [[1, 57, 400]] * 6


@pytest.mark.slow
def test_the_regret_grows_as_a_root_at_most():
    """Twelve actions on the circle: a hundred times the rounds cost less than ten times the regret."""
    actions = on_sphere(12, 2, 3)
    environment = TwoPoint(tuple(np.array(actions) @ np.array([0.6, 0.8])), -1, 1)
    short, long = (
        simulate(LinUCB(actions, t), environment, runs=20, seed=0, points=2).regret.mean()
        for t in (3000, 300_000)
    )
    assert long < 10 * short
    assert long < regret_bound(environment.gaps, LinUCB(actions, 300_000))


def test_the_ellipsoid_holds_theta_and_a_tenth_of_it_does_not():
    algorithm = LinUCB(on_sphere(10, 2, 0), 500, beta=0.1)
    assert outside(algorithm, 0, 200, 0).mean() <= 0.1

    class Tenth(LinUCB):
        def radius(self, state):
            return super().radius(state) / 10

    assert outside(Tenth(**algorithm.parameters), 0, 200, 0).mean() > 0.5


def test_parameters_survive_json():
    algorithm = LinUCB([[1, 0], [0, 1]], 100)
    assert LinUCB(**json.loads(json.dumps(algorithm.parameters))) == algorithm


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("actions", ((1.0, 0.0),)),
        ("actions", ((2.0, 0.0), (0.0, 1.0))),
        ("horizon", 1),
        ("ridge", 0.0),
        ("ridge", math.inf),
        ("ridge", None),
        ("beta", 1.0),
    ],
)
def test_a_bad_parameter_is_refused_in_one_line(field, value):
    with pytest.raises(InputError, match=field) as error:
        LinUCB(**{"actions": AXES, "horizon": 100, field: value})
    assert "\n" not in str(error.value)
