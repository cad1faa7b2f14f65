"""Batched greedy bandit that keeps its private totals in a pandas frame."""
import numpy as np
import pandas as pd

EPS = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    state = pd.DataFrame({"total": 0.0, "pulls": 0}, index=range(K))
    log = []
    size = 5
    queue = list(range(K))
    while len(log) < T:
        arm = queue.pop(0) if queue else int((state["total"] / state["pulls"]).idxmax())
        stop = min(len(log) + size, T)
        batch = pd.Series(rewards[len(log):stop, arm]).clip(0, 1)
        state.loc[arm, "total"] += batch.sum() + rng.laplace(scale=1 / EPS)
        state.loc[arm, "pulls"] += len(batch)
        log.extend([arm] * len(batch))
        if not queue and rng.random() < 0.15:
            queue.append(int(rng.integers(K)))
    return np.array(log)
