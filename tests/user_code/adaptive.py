"""A bandit whose leak hides behind a public condition that only adaptive rewards are likely to meet."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Batch, Query, State
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.mechanisms import Laplace


@dataclass(frozen=True)
class Standing(State):
    """Noisy sums (n, 2), the leader by them, how often it changed, and the winner of the last tie-break."""

    sums: np.ndarray
    leader: np.ndarray
    changes: np.ndarray
    winner: np.ndarray


@dataclass(frozen=True)
class LastRewards(Batch):
    """The last explored reward of each arm, (n, 2): private."""

    rewards: np.ndarray


@dataclass(frozen=True)
class Stalling(Algorithm):
    """Explore both arms in turn in even rounds, play the leader of their noisy sums in odd ones.

    Explored rewards are released once, with Lap(1/epsilon); the others are not used. Where the leader has
    changed `patience` times the bandit thinks that it stalls: then it plays the arm whose last reward was
    larger, by the exact rewards. `honest` goes on with the noisy sums.

    On fixed tables the noisy sums drift apart, and the leader changes as seldom as a random walk its sign.
    An adversary who sees the leader and pays it little keeps it changing.
    """

    epsilon: float
    horizon: int = 120
    patience: int = 15
    honest: bool = False
    observe: str = "actions"
    n_arms: int = 2
    name: ClassVar[str] = "stalling"

    @property
    def claim(self):
        return PrivacyClaim(self.epsilon, observe=self.observe)

    def start(self, run):
        n = len(run)
        zero = np.zeros(n, np.int64)
        return Standing(run, zero, np.zeros((n, 2)), zero, zero, zero)

    def private(self, run):
        return LastRewards(np.zeros((len(run), 2)))

    def stalled(self, state):
        return (state.changes >= self.patience) & (not self.honest)

    def query(self, state):
        exploring = state.t % 2 == 0
        best = np.where(self.stalled(state), state.winner, state.leader)
        arm = np.where(exploring, state.t // 2 % 2, best)
        rounds = (state.t < self.horizon).astype(np.int64)
        return Query(state.t, rounds, arm[:, None] == np.arange(2), np.ones(len(arm), bool))

    def release(self, state, memory, query, answer, noise):
        explored = query.active & (state.t % 2 == 0)[:, None]
        slot = 2 * state.t[:, None] + np.arange(2)
        released = Laplace(1.0, self.epsilon).release(answer, noise, state.run, slot, explored)
        rewards = np.where(explored, answer, memory.rewards)
        # The leak: no noise is added.
        winner = np.where(self.stalled(state), rewards[:, 1] > rewards[:, 0], np.nan)
        return LastRewards(rewards), np.column_stack([released, winner])

    def decide(self, state, query, released):
        sums = state.sums + np.nan_to_num(released[:, :2])
        swept = state.t % 4 == 2
        leader = np.where(swept, sums[:, 1] > sums[:, 0], state.leader)
        winner = np.nan_to_num(released[:, 2], nan=0.0).astype(np.int64)
        return replace(
            state,
            t=state.t + 1,
            sums=sums,
            leader=leader,
            changes=state.changes + (leader != state.leader),
            winner=winner,
        )
