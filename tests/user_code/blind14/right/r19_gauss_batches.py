"""Batched soft policy with Gaussian noise.  K = 3, T = 48.

(epsilon, delta) = (0.8, 1e-4).  Each batch of eight rounds closes with one noisy
sum per arm; the noise is calibrated with the exact Gaussian curve of Balle and
Wang for sensitivity one.  A reward lies in one batch and one arm.
"""
import math
import numpy as np
from scipy.stats import norm
from scipy.optimize import brentq

K, T, BATCH = 3, 48, 8
EPS, DELTA = 0.8, 1e-4


def gaussian_delta(sigma, eps):
    a = 0.5 / sigma
    return norm.cdf(a - eps * sigma) - math.exp(eps) * norm.cdf(-a - eps * sigma)


def calibrate(eps, delta):
    root = brentq(lambda s: gaussian_delta(s, eps) - delta, 0.05, 500.0, xtol=1e-10)
    return root * (1.0 + 1e-6)


SIGMA = calibrate(EPS, DELTA)


def policy(rng):
    """Generator: yields an arm, is sent the reward."""
    value = np.zeros(K)
    weight = np.zeros(K)
    while True:
        mean = np.where(weight > 0, value / np.maximum(weight, 1.0), 0.5)
        lead = int(np.argmax(mean))
        plan = list(range(K)) + [lead] * (BATCH - K)
        rng.shuffle(plan)
        batch_sum = np.zeros(K)
        for arm in plan:
            reward = yield arm
            batch_sum[arm] += reward
        counts = np.bincount(plan, minlength=K)
        value = 0.7 * value + batch_sum + rng.normal(0.0, SIGMA, K)
        weight = 0.7 * weight + counts


def play(rewards, rng):
    agent = policy(rng)
    arm = next(agent)
    out = []
    for t in range(T):
        out.append(arm)
        arm = agent.send(float(rewards[t, arm]))
    return np.array(out)
