"""One private choice of the arm to commit to: exponential mechanism, Gumbel noise, permute-and-flip, noisy
maxima.

Scores are sums over disjoint rewards of a public exploration: a changed reward moves one score by at most 1.
"""

import bisect
import itertools
import math
import random

import numpy as np


def explored(rewards, per_arm):
    """Arms of the exploration and the sum of rewards of each arm."""
    n_arms = rewards.shape[1]
    arms = np.arange(per_arm * n_arms) % n_arms
    return arms, np.bincount(arms, rewards[np.arange(len(arms)), arms], n_arms)


def exponential_mechanism(rewards, rng, epsilon=2.0):
    """Epsilon 2: the exponential mechanism, weights exp(epsilon score / 2) for scores of sensitivity 1."""
    arms, scores = explored(rewards, 3)
    weights = np.exp(epsilon / 2 * (scores - scores.max()))
    best = rng.choice(len(scores), p=weights / weights.sum())
    return np.append(arms, np.full(len(rewards) - len(arms), best))


def full_exponent(rewards, rng, epsilon=4.0):
    """Epsilon 4: weights exp(epsilon score) suffice here, as one reward moves one score only: with weights w
    and rest R the odds of w / (w + R) and of each other arm change by at most the factor exp(epsilon).
    """
    arms, scores = explored(rewards, 2)
    weights = np.exp(epsilon * scores)
    second = rng.random() < weights[1] / weights.sum()
    return np.append(arms, np.full(len(rewards) - len(arms), int(second)))


def gumbel_max(rewards, rng, epsilon=1.0):
    """Epsilon 1: the maximum of epsilon score / 2 plus standard Gumbel noise is a draw of the exponential
    mechanism.
    """
    arms, scores = explored(rewards, 4)
    best = np.argmax(epsilon * scores / 2 + rng.gumbel(size=len(scores)))
    return np.append(arms, np.full(len(rewards) - len(arms), best))


def permute_and_flip(rewards, rng, epsilon=2.0):
    """Epsilon 2: permute-and-flip (McKenna & Sheldon 2020) with scores of sensitivity 1 takes, in random
    order, the first arm whose coin of bias exp(epsilon (score - maximum) / 2) shows heads; that is
    epsilon-private.
    """
    arms, scores = explored(rewards, 3)
    best = scores.max()
    for arm in rng.permutation(len(scores)):
        if rng.random() < math.exp(epsilon / 2 * (scores[arm] - best)):
            break
    return list(arms) + [arm] * (len(rewards) - len(arms))


def noisy_maximum_exponential(rewards, rng, epsilon=3.0):
    """Epsilon 3: report noisy max with exponential noise of mean 2 / epsilon is permute-and-flip by another
    name (Ding et al. 2021): epsilon-private for scores of sensitivity 1.
    """
    arms, scores = explored(rewards, 3)
    winner = (scores + rng.exponential(2 / epsilon, len(scores))).argmax()
    return np.append(arms, np.repeat(winner, len(rewards) - len(arms)))


def noisy_maximum_laplace(rewards, rng, epsilon=2.0):
    """Epsilon 2: report noisy max with Laplace noise of scale 2 / epsilon on scores of sensitivity 1; here
    only one score moves, so the true loss is at most half of the claim.
    """
    arms, scores = explored(rewards, 4)
    noisy = scores + rng.laplace(0, 2 / epsilon, len(scores))
    return np.append(arms, np.repeat(noisy.argmax(), len(rewards) - len(arms)))


def logistic_difference(rewards, rng, epsilon=3.0):
    """Epsilon 3, in the limit: the second arm wins with probability 1 / (1 + exp(-epsilon d)), d the
    difference of two sums that one reward moves by at most 1; the derivative of its log odds in d is epsilon.
    """
    arms, scores = explored(rewards, 3)
    second = scores[1] - scores[0] + rng.logistic(0, 1 / epsilon) > 0
    return np.append(arms, np.repeat(int(second), len(rewards) - len(arms)))


def batch_after_batch(rewards, rng, epsilon=1.0):
    """Epsilon 1: rounds come in batches of 8; in each the arms are tried twice and one is chosen for the rest
    of the batch by Gumbel noise on that batch's sums alone. Batches are disjoint, so that a reward pays once.
    """
    horizon, n_arms = rewards.shape
    actions = np.arange(horizon) % n_arms
    for start in range(0, horizon, 8):
        tried = np.arange(start, min(start + 2 * n_arms, horizon))
        arms = actions[tried] = (tried - start) % n_arms
        sums = np.bincount(arms, rewards[tried, arms], n_arms)
        actions[start + 2 * n_arms : start + 8] = np.argmax(epsilon / 2 * sums + rng.gumbel(0, 1, n_arms))
    return actions


def alias_table(rewards, rng, epsilon=3.0):
    """Epsilon 3: a draw from the exponential mechanism's weights exp(epsilon score / 2) through Walker's
    alias table, which gives each arm exactly its weight. Scores have sensitivity 1.
    """
    arms, scores = explored(rewards, 2)
    n_arms = len(scores)
    weights = np.exp(epsilon / 2 * (scores - scores.max()))
    share = weights * n_arms / weights.sum()
    alias = list(range(n_arms))
    small = [i for i in range(n_arms) if share[i] < 1]
    large = [i for i in range(n_arms) if share[i] >= 1]
    while small and large:
        i, j = small.pop(), large[-1]
        alias[i] = j
        share[j] -= 1 - share[i]
        if share[j] < 1:
            small.append(large.pop())
    column = int(rng.integers(n_arms))
    best = column if rng.random() < share[column] else alias[column]
    return np.append(arms, np.full(len(rewards) - len(arms), best))


def rejection_sampling(rewards, rng, epsilon=2.0):
    """Epsilon 2: propose an arm at random and accept it with probability exp(epsilon (score - n) / 2), n a
    public bound of the scores: the accepted arm is a draw of the exponential mechanism. Nobody sees how many
    were proposed.
    """
    n = 3
    arms, scores = explored(rewards, n)
    while True:
        arm = rng.integers(len(scores))
        if rng.random() < math.exp(epsilon / 2 * (scores[arm] - n)):
            return np.append(arms, np.full(len(rewards) - len(arms), arm))


def search_in_cumulative_weights(rewards, n_runs, rng, epsilon=5.0):
    """Epsilon 5: the exponential mechanism by inversion of the cumulative weights exp(epsilon score / 2), for
    many runs at once. Scores have sensitivity 1; the true loss is below the claim.
    """
    arms, scores = explored(rewards, 4)
    cumulative = np.exp(epsilon / 2 * (scores - scores.max())).cumsum()
    winners = np.searchsorted(cumulative, rng.random(n_runs) * cumulative[-1], side="right")
    rest = np.repeat(winners[:, None], len(rewards) - len(arms), axis=1)
    return np.hstack([np.tile(arms, (n_runs, 1)), rest])


def standard_library(rewards, rng, epsilon=1.0):
    """Epsilon 1: `random.Random.choices` with the weights of the exponential mechanism, exp(epsilon score /
    2); the source is seeded from `rng` for each run. Scores have sensitivity 1.
    """
    coins = random.Random(int(rng.integers(2**63)))
    arms, scores = explored(rewards, 4)
    best = coins.choices(range(len(scores)), [math.exp(epsilon * score / 2) for score in scores])[0]
    return arms.tolist() + [best] * (len(rewards) - len(arms))


def a_little_each_round(rewards, rng, epsilon=3.0):
    """Epsilon 3: each of T rounds chooses by weights exp(epsilon / T sum), the sums of all rewards so far.
    One reward moves one sum, so a round costs at most epsilon / T (see `full_exponent`), and T rounds at most
    epsilon.
    """
    horizon, n_arms = rewards.shape
    sums = [0.0] * n_arms
    actions = []
    for t in range(horizon):
        cumulative = list(itertools.accumulate(math.exp(epsilon / horizon * s) for s in sums))
        arm = min(bisect.bisect(cumulative, rng.random() * cumulative[-1]), n_arms - 1)
        sums[arm] += rewards[t, arm]
        actions.append(arm)
    return actions


def two_stages(rewards, rng, epsilon=2.0):
    """Epsilon 2: the first choice and the second use the same sums at epsilon / 2 each, together epsilon:
    permute-and- flip for the arm of the next five rounds, then an exponential mechanism over the arms for the
    rest.
    """
    horizon, n_arms = rewards.shape
    arms, scores = explored(rewards, 2)
    first = np.argmax(scores + rng.exponential(4 / epsilon, n_arms))
    second = np.argmax(scores + rng.gumbel(0, 4 / epsilon, n_arms))
    return np.concatenate([arms, np.full(5, first), np.full(horizon - len(arms) - 5, second)])
