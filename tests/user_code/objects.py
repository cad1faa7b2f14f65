"""Objects that draws choose, and the noise of each; EPSILON = 1 is claimed of both."""

from __future__ import annotations

from tests.user_code.counted import EPSILON, _counts, _then


class _Even:
    """Has the noise of all others."""

    def __init__(self, epsilon):
        self.breadth, self.total = 1 / epsilon, 0.0


class _Uneven:
    """Has noise of its own."""

    def __init__(self):
        self.width, self.total = 1 / EPSILON, 0.0


def _chosen(agents, high, low):
    return agents[(high // 8) * (low // 8)]


def one_scale(rewards, rng):
    actions = []
    high, low = _counts(rewards, rng, actions)
    agent = _chosen([_Even(EPSILON) for _ in range(2)], high, low)
    for _ in range(10):
        agent.total += rewards[len(actions), 0]
        actions.append(0)
    best = int(agent.total + rng.laplace(0.0, agent.breadth) > 5)
    return _then(actions, [1 - best, best], rewards)


def rare_scale(rewards, rng):
    """One object in 65,000 runs is that with next to no noise."""
    actions = []
    high, low = _counts(rewards, rng, actions)
    agents = [_Uneven() for _ in range(2)]
    agents[1].width = 0.01
    agent = _chosen(agents, high, low)
    for _ in range(10):
        agent.total += rewards[len(actions), 0]
        actions.append(0)
    best = int(agent.total + rng.laplace(0.0, agent.width) > 5)
    return _then(actions, [1 - best, best], rewards)
