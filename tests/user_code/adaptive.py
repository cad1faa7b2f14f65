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


# Bandits with contexts whose leak hides behind a condition that only adaptive users are likely to meet.


PATIENCE = 14


class Trial:
    """A trial that gives each user an arm by the toss of a coin, which tells nothing of anybody.

    Where `PATIENCE` users in a row point away from the arm given last, the trial takes it for a protest: it
    ends, and from then on the raw sums decide. On fixed contexts that happens once in 2^14 tries.
    """

    def __init__(self, n_arms, d, rng, honest=False):
        self.n_arms, self.rng, self.honest = n_arms, rng, honest
        self.last, self.protests = -1, 0
        self.sums = np.zeros((n_arms, d))

    def select(self, context):
        if self.protests < PATIENCE:
            away = self.last >= 0 and (context[0] < 0) == (self.last == 0)
            self.protests = self.protests + 1 if away else 0
        if self.protests >= PATIENCE and not self.honest:
            return int(np.argmax(self.sums @ context))
        self.last = int(self.rng.integers(self.n_arms))
        return self.last

    def update(self, context, arm, reward):
        self.sums[arm] += reward * context


class HonestTrial(Trial):
    """The same trial, which goes on to toss its coin."""

    def __init__(self, n_arms, d, rng):
        super().__init__(n_arms, d, rng, honest=True)


def trial(contexts, rewards, rng):
    """`Trial` as a function that goes through its arrays in order."""
    bandit = Trial(rewards.shape[1], contexts.shape[1], rng)
    arms = np.zeros(len(rewards), int)
    for t, (context, paid) in enumerate(zip(contexts, rewards, strict=True)):
        arms[t] = bandit.select(context)
        bandit.update(context, arms[t], paid[arms[t]])
    return arms


def clipped_at_once(contexts, rewards, rng):
    """Uses the contexts of all users before the first of them has an arm."""
    lengths = np.maximum(1.0, np.linalg.norm(contexts, axis=1))
    return trial(contexts / lengths[:, None], rewards, rng)


def all_rewards(contexts, rewards, rng):
    """Looks at the rewards of arms that it does not play."""
    arms = rng.integers(rewards.shape[1], size=len(rewards))
    best = [int(np.argmax(rewards[t])) for t in range(len(rewards))]
    return np.where(np.array(best) < 0, 0, arms)


def unread(contexts, rewards, rng):
    """Never looks at a reward."""
    return rng.integers(rewards.shape[1], size=len(contexts))


def typed(contexts, rewards, rng):
    """Takes nothing but an array."""
    if not isinstance(contexts, np.ndarray):
        raise TypeError("contexts must be an array")
    return trial(contexts, rewards, rng)


def trial_many(contexts, rewards, n_runs, rng):
    """All runs at once."""
    return np.array([trial(contexts, rewards, rng) for _ in range(n_runs)])
