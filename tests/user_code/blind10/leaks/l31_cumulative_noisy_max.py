"""Four phases of exploration, each closed by report-noisy-max with Laplace(1/EPSILON) on the sums of all phases so far.

Fault: the sums are carried over, so a reward of phase 1 is used by four noisy maxima at EPSILON each and no budget is
split.  Pair (K = 2, M = 4): in phase 1 arm 1 pays 1 each time, arm 0 pays 0 each time or once 1; in the later phases
both pay 0.5.  The gap is 4 or 3 in all four phases.  Event: arm 0 wins all four.  Given the data the draws are
independent and P(win, gap d) = e^{-EPSILON d} (1 + EPSILON d / 2) / 2, so at EPSILON = 0.5 the loss is
4 (0.5 - ln(2 / 1.75)) = 1.466 = 2.93 EPSILON (P = 0.00034 against 0.00145).
"""
import numpy as np

EPSILON = 0.5
M = 4
BLOCK = 2


def report_noisy_max(values, rng):
    return int(np.argmax(values + rng.laplace(0.0, 1.0 / EPSILON, size=len(values))))


def play(rewards, rng):
    T, K = rewards.shape
    totals = np.zeros(K)
    trace = []
    leader = 0
    while len(trace) + K * M <= T:
        for arm in np.repeat(np.arange(K), M):
            totals[arm] += rewards[len(trace), arm]
            trace.append(int(arm))
        leader = report_noisy_max(totals, rng)
        trace += [leader] * min(BLOCK, T - len(trace))
    trace += [leader] * (T - len(trace))
    return np.asarray(trace)
