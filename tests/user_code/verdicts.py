"""Right programs at EPSILON = 1 whose states have names and whose cases are all there are."""

from __future__ import annotations

import numpy as np

EPSILON = 1.0


def _patience(rng):
    limit, loss, verdict = 2.0 + rng.laplace(0, 1), 0.0, "stay"
    while True:
        reward = yield verdict
        loss += 1 - reward
        verdict = "leave" if loss + rng.laplace(0, 1) >= limit else "stay"


def _opened(rng):
    made = _patience(rng)
    next(made)
    return made


def verdicts_by_name(rewards, rng):
    """The last case is the one that is left: a generator yields no other."""
    horizon, n_arms = rewards.shape
    arms, arm, test = [], 0, _opened(rng)
    for t in range(horizon):
        arms.append(arm)
        match test.send(rewards[t, arm]):
            case "stay":
                continue
            case "leave":
                arm = (arm + 1) % n_arms
                test = _opened(rng)
    return arms


def states_in_tuples(rewards, rng):
    """The last case always fits."""
    horizon, n_arms = rewards.shape
    state, total, best, arms = ("try", 0), [0.0] * n_arms, 0, []

    def chosen():
        match state:
            case ("try", n):
                return n % n_arms
            case ("use", _):
                return best

    for t in range(horizon):
        arm = chosen()
        arms.append(arm)
        match state:
            case ("try", n) if n + 1 < 2 * n_arms:
                total[arm] += rewards[t, arm]
                state = ("try", n + 1)
            case ("try", _):
                total[arm] += rewards[t, arm]
                best = int(np.argmax([s + rng.laplace(0, 1 / EPSILON) for s in total]))
                total, state = [0.0] * n_arms, ("use", 1)
            case ("use", n) if n < 4:
                state = ("use", n + 1)
            case ("use", _):
                state = ("try", 0)
    return arms


UNFOLLOWED = (verdicts_by_name, states_in_tuples)
