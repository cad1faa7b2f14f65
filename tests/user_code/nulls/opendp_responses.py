"""Randomised response by OpenDP, with noise from the operating system: `rng` is not used."""

import functools
import math

import opendp.prelude as dp

dp.enable_features("contrib")


@functools.cache
def response(epsilon):
    """OpenDP's randomised response of one bit: true with probability e / (1 + e)."""
    return dp.m.make_randomized_response_bool(prob=1 / (1 + math.exp(-epsilon)))


def opendp_echo_at_three(rewards, rng, epsilon=3.0):
    """Epsilon 3, exactly: the next arm is OpenDP's randomised response on the bit of the last reward; each
    reward is asked once.
    """
    arms = [0]
    for row in rewards[:-1]:
        arms.append(int(response(epsilon)(bool(row[arms[-1]] > 0.5))))
    return arms


def opendp_echo_at_five(rewards, rng, epsilon=5.0):
    """Epsilon 5, exactly: as at three, with odds of e^5: the told bit is wrong once in 149 rounds."""
    tell = response(epsilon)
    arms = [0]
    for t in range(len(rewards) - 1):
        arms.append(int(tell(bool(rewards[t, arms[t]] >= 0.5))))
    return arms


def opendp_choice_at_five(rewards, rng, epsilon=5.0):
    """Epsilon 5, exactly: which of two arms had the larger sum in a public exploration is told once, by
    OpenDP's randomised response.
    """
    horizon = len(rewards)
    half = horizon // 2
    second = bool(rewards[1:half:2, 1].sum() > rewards[0:half:2, 0].sum())
    return [t % 2 for t in range(half)] + [int(response(epsilon)(second))] * (horizon - half)


def opendp_counts(rewards, rng, epsilon=3.0):
    """Epsilon 3: the counts of rewards above 1/2 over two disjoint sets of rewards get OpenDP's discrete
    Laplace noise at scale 1 / epsilon; a count has sensitivity 1.
    """
    horizon = len(rewards)
    half = horizon // 2
    noisy = [discrete_laplace(epsilon)(int((rewards[arm:half:2, arm] > 0.5).sum())) for arm in range(2)]
    return [t % 2 for t in range(half)] + [int(noisy[1] > noisy[0])] * (horizon - half)


@functools.cache
def discrete_laplace(epsilon):
    """OpenDP's Laplace noise on whole numbers."""
    return dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1 / epsilon)
