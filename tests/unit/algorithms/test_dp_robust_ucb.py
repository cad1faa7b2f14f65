"""The compiled loop of DP Robust UCB."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from verifiable_dp.algorithms.dp_robust_ucb import BLOCK, DPRobustUCB
from verifiable_dp.auditors.errata.tao import growing_loss
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Drawn, Pulled, TwoPoint
from verifiable_dp.core.noise import Seeded, key_of
from verifiable_dp.core.simulation import simulate
from verifiable_dp.core.validate import InputError

ARMS = TwoPoint((0.3, 0.0, 0.1), -1.0, 1.0)


@pytest.mark.parametrize("constants", [0.003, 0.02, 0.1, "proof"])
@pytest.mark.parametrize("epsilon", [1.0, 20.0])
def test_it_plays_the_definition_draw_for_draw(constants, epsilon):
    """From a leader that stays for a thousand rounds to arms in turn."""
    algorithm = DPRobustUCB(3, epsilon, 3000, 0.9, 1.0, constants=constants)
    run, times = np.arange(3), np.array([1, 700, 3000])
    pulls, at, output = algorithm.kernel(ARMS, 9, run, times)
    rewards = Pulled(ARMS, key_of(9, (1,)), np.zeros((3, 3), np.int64))
    outcome = play(algorithm, rewards, Seeded(9, (0,)), run)
    assert np.array_equal(pulls, outcome.pulls)
    assert np.array_equal(at[:, -1], pulls)
    assert (at[:, :2].sum(axis=2) == times[:2]).all()
    assert output.shape == (3, 0)


def test_a_leader_that_stays_crosses_blocks():
    """More pulls of an arm than are drawn ahead at once."""
    algorithm = DPRobustUCB(2, 20.0, 3 * BLOCK, 1.0, 1.0, constants=0.001)
    done = simulate(algorithm, TwoPoint((0.9, -0.9), -1.0, 1.0), runs=2, points=5)
    assert (done.pulls.sum(axis=1) == 3 * BLOCK).all()
    assert done.pulls.max() > 2 * BLOCK


@dataclass(frozen=True)
class Listed(Drawn):
    """Arms that pay listed rewards (K, n) in order, also as a source of answers."""

    rewards: np.ndarray
    name: str = "listed"
    taken: dict = field(default_factory=dict)

    @property
    def means(self):
        return tuple(self.rewards.mean(axis=1))

    def draw(self, generator, arm, count):
        first = self.taken.get(arm, 0)
        self.taken[arm] = first + count
        return np.resize(self.rewards[arm], first + count)[first:]

    def answer(self, query, run):
        arm = int(query.active.argmax())
        asked = np.zeros(query.active.shape)
        asked[0, arm] = query.ask.values(self.draw(None, arm, 1), np.zeros(1, int), np.array([arm]))[0]
        return asked


@pytest.mark.parametrize(("epsilon", "v", "u"), [(50.0, 1.0, 0.02), (50.0, 1.0, 0.2), (200.0, 0.5, 0.02)])
def test_it_plays_the_definition_on_heavy_tails(epsilon, v, u):
    """Rewards of either sign, many of them beyond the truncation."""
    horizon, run = 2000, np.zeros(1, np.int64)
    rng = np.random.default_rng(1)
    rewards = rng.pareto(1.1, (2, horizon)) * rng.choice([-0.4, 1.0], (2, horizon)) * [[0.4], [0.5]]
    algorithm = DPRobustUCB(2, epsilon, horizon, v, u, constants=0.1)
    limit = algorithm.mechanism.limit(np.arange(1, horizon + 1))
    assert 20 < (np.abs(rewards[0]) > limit).sum() < horizon / 2
    pulls, _, _ = algorithm.kernel(Listed(rewards), 3, run, np.array([horizon]))
    outcome = play(algorithm, Listed(rewards), Seeded(3, (0,)), run)
    assert pulls.tolist() == outcome.pulls.tolist()
    # Negative control: other rewards, other pulls.
    other, _, _ = algorithm.kernel(Listed(rewards[::-1].copy()), 3, run, np.array([horizon]))
    assert other.tolist() != pulls.tolist()


def test_an_environment_that_cannot_draw_is_refused():
    class Nothing:
        n_arms = 3

    with pytest.raises(InputError, match="must be able to draw"):
        DPRobustUCB(3, 1.0, 30, 1.0, 1.0).kernel(Nothing(), 0, np.arange(1), np.array([30]))


def test_the_index_of_round_t_has_log_2t4():
    """Line 12 of Algorithm 1: in the first round after one pull of each of two arms t is 3."""
    rule = DPRobustUCB(2, 1.0, 50, 1.0, 1.0)
    state = rule.start(np.zeros(1, np.int64))
    state = replace(state, t=state.t + 2, pulls=state.pulls + 1)
    expected = 18 * math.sqrt(math.log(2 * 3**4) * math.log(50) ** 2.5)
    assert rule.index(state) == pytest.approx(np.full((1, 2), expected))


@pytest.mark.parametrize("log", ["natural", "binary"])
def test_the_budget_as_printed_by_the_base_of_the_logarithm(log):
    """Theorem 1 of Tao et al.: with log2 and growing limits it holds for T >= 8, with the natural log not."""
    costs = []
    for horizon in (8, 16, 100, 256):
        for v in (0.5, 1.0):
            tree = DPRobustUCB(2, 1.0, horizon, v, 1.0, variant="printed", log=log).mechanism
            costs.append(tree.cost(tree.worst()))
            divisor = math.log(horizon) if log == "natural" else math.log2(horizon)
            assert costs[-1] == pytest.approx(growing_loss(horizon, 1 / (1 + v), divisor))
    assert (max(costs) <= 1) == (log == "binary")
    assert min(costs) > 1 or log == "binary"
    right = DPRobustUCB(2, 1.0, 256, 1.0, 1.0, log=log).mechanism
    assert right.cost(right.worst()) < 1


def test_the_base_of_the_logarithm_is_that_of_the_whole_listing():
    natural, binary = (DPRobustUCB(2, 1.0, 1000, 1.0, 1.0, log=log) for log in ("natural", "binary"))
    t, pulls = np.array(7.0), np.array(4.0)
    expected = 18 * math.sqrt(math.log2(2 * 7**4) * math.log2(1000) ** 2.5 / 4)
    assert binary.bonus(t, pulls) == pytest.approx(expected)
    assert natural.bonus(t, pulls) < binary.bonus(t, pulls)
    assert binary.mechanism.limit(9) == pytest.approx(math.sqrt(9 / math.log2(1000) ** 1.5))
    with pytest.raises(InputError, match="log"):
        DPRobustUCB(2, 1.0, 1000, 1.0, 1.0, log="decimal")
