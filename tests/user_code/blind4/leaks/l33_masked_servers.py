"""Arm totals from three servers, each masking its part with Laplace noise."""
import numpy as np

EPS = 1.0
SERVERS = 3


def server_views(values, rng):
    parts = rng.dirichlet(np.ones(SERVERS), size=len(values))
    shares = (parts * np.asarray(values)[:, None]).sum(axis=0)
    noise = rng.laplace(0, 1 / EPS, SERVERS)
    return shares + noise - np.roll(noise, 1)


def play(rewards, rng):
    T, K = rewards.shape
    acts, m = [], 8
    score = []
    for arm in range(K):
        rows = rewards[len(acts):len(acts) + m, arm]
        acts.extend([arm] * m)
        score.append(round(float(server_views(rows, rng).sum()), 9))
    acts.extend([int(np.argmax(score))] * (T - len(acts)))
    return acts
