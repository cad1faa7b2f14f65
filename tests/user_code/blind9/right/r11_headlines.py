"""Headline test by successive elimination, kept in a pandas table.
Every phase shows each live headline PULLS times and adds Laplace(1/EPSILON) to the fresh total.
Proof: a reward enters one total of one phase (sensitivity 1), so that total is EPSILON-DP.
Which headlines live and for how long depends on earlier noisy totals only (adaptive parallel
composition over disjoint rewards), the rest is post-processing."""
import numpy as np
import pandas as pd
EPSILON = 0.8
PULLS = 4


def play(rewards, rng):
    T, K = rewards.shape
    live, log = list(range(K)), []
    while len(log) < T:
        block = pd.DataFrame({"arm": np.repeat(live, PULLS)[: T - len(log)]})
        block["t"] = np.arange(len(log), len(log) + len(block))
        block["click"] = rewards[block["t"].to_numpy(), block["arm"].to_numpy()]
        log.extend(block["arm"])
        total = block.groupby("arm")["click"].sum().reindex(live, fill_value=0.0)
        score = (total + rng.laplace(0, 1 / EPSILON, len(total))) / PULLS
        if len(live) > 1:
            live = score[score > score.max() - 0.3].index.tolist()
    return np.array(log, dtype=int)
