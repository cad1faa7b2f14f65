"""In each phase: 8 rounds by turns, the true leader of THIS phase goes through 4-ary randomised response, the report is
played twice.  The leader may change in any way with one reward; the report's chances are e^eps : 1 : 1 : 1, so a phase is
eps-DP, and phases share no data.
"""
import numpy as np


def play(rewards, rng):
    T, K = rewards.shape
    eps = 1.0
    keep = np.exp(eps) / (np.exp(eps) + K - 1)
    seq = []
    for p in range(T // 10):
        block = rewards[10 * p:10 * p + 8]
        own = block[np.arange(8), np.arange(8) % K]
        leader = int(own.reshape(2, K).sum(0).argmax())
        if rng.random() < keep:
            report = leader
        else:
            report = int(rng.choice([k for k in range(K) if k != leader]))
        seq += list(np.arange(8) % K) + [report, report]
    return np.array(seq)
