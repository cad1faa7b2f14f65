"""Report-noisy-max, one-sided exponential noise of scale 1/eps, in phases of 3, 6, 12, 24 rounds of exploration.

The data of a phase decide one winner, then are dropped; the winner is what the next phase opens with, and its
remaining rounds.  One coordinate moves by at most 1:  P(a wins) by shifting a's noise, P(b wins) by shifting b's
noise, either costs e^{eps}.  A reward belongs to one phase => eps-DP.
"""
import numpy as np


def play(rewards, rng):
    horizon, n = rewards.shape
    eps = 1.0
    arms = []
    length, t = n, 0
    while t < horizon:
        acc = np.zeros(n)
        stop = min(t + length, horizon)
        while t < stop:
            i = (t - stop) % n
            arms.append(i)
            acc[i] += rewards[t, i]
            t += 1
        if t >= horizon:
            break
        winner = int(np.argmax(acc + rng.exponential(1 / eps, n)))
        arms.append(winner)  # its reward is not looked at
        t += 1
        length *= 2
    return np.array(arms[:horizon])
