"""Keeps a log as a data frame; looks at it once a phase."""
import numpy as np
import pandas as pd


class FrameBandit:
    def __init__(self, n_arms=3, horizon=54, epsilon=1.0, rng=None):
        self.rng = rng if rng is not None else np.random.default_rng()
        self.n_arms = n_arms
        self.epsilon = epsilon
        self.phase = max(2 * n_arms, horizon // 3)
        self.rows = []
        self.leader = None

    def select(self):
        i = len(self.rows)
        if self.leader is None or i % 2 == 0:
            return (i // 2 if self.leader is not None else i) % self.n_arms
        return self.leader

    def update(self, arm, reward):
        self.rows.append({"arm": arm, "reward": reward})
        if len(self.rows) == self.phase:
            frame = pd.DataFrame(self.rows)
            per_arm = frame.groupby("arm")["reward"].agg(["sum", "count"])
            per_arm = per_arm.reindex(range(self.n_arms), fill_value=0)
            noisy = per_arm["sum"] + self.rng.laplace(0, 1 / self.epsilon, self.n_arms)
            self.leader = int((noisy / per_arm["count"].clip(lower=1)).idxmax())
            self.rows = []
