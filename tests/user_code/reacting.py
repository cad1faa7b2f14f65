"""Bandits with contexts whose leak hides behind a condition that only adaptive users are likely to meet."""

import numpy as np

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
