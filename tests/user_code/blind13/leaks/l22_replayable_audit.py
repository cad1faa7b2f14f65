"""Recommender with replayable audit slots.

AuditedRecommender(n_arms, horizon, epsilon, rng), default epsilon = 2.0.  Feedback is stored with
Laplace(1/epsilon) noise and the greedy item follows the noisy averages.  Every fourth round is an audit slot
that serves a random item; audit draws can be replayed from the journal by the compliance team.
"""
import json
import zlib

import numpy as np


class Journal:
    """Append-only event log; the checksum identifies its state."""

    def __init__(self):
        self._chain = 0

    def append(self, **event):
        line = json.dumps(event, sort_keys=True).encode()
        self._chain = zlib.crc32(line, self._chain)

    @property
    def checksum(self):
        return self._chain


class AuditedRecommender:
    AUDIT_EVERY = 4

    def __init__(self, n_arms=4, horizon=40, epsilon=2.0, rng=None):
        self.n_arms = n_arms
        self.scale = 1.0 / epsilon
        self.rng = rng if rng is not None else np.random.default_rng()
        self.journal = Journal()
        self.sums, self.counts = np.zeros(n_arms), np.zeros(n_arms)
        self.round = 0

    def _audit_item(self):
        replay = np.random.default_rng(self.journal.checksum)
        return int(replay.integers(self.n_arms))

    def select(self):
        if self.round % self.AUDIT_EVERY == self.AUDIT_EVERY - 1:
            return self._audit_item()
        untried = np.flatnonzero(self.counts == 0)
        if untried.size:
            return int(untried[0])
        return int(np.argmax(self.sums / self.counts))

    def update(self, arm, reward):
        noisy = float(reward) + self.rng.laplace(0.0, self.scale)
        self.sums[arm] += noisy
        self.counts[arm] += 1
        self.journal.append(round=self.round, item=int(arm), score=round(float(reward), 2))
        self.round += 1
