"""Randomised response on single rewards or on decisions; at large epsilon nearly all runs are the same."""

import math

import numpy as np


def follow_the_reports(rewards, rng, epsilon=1.0):
    """Epsilon 1: each reward is seen once, as a bit that is told truly with probability e / (1 + e), e =
    exp(epsilon); all actions are computed from such bits.
    """
    horizon, n_arms = rewards.shape
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    ones = np.ones(n_arms)
    pulls = np.full(n_arms, 2.0)
    actions = np.empty(horizon, dtype=int)
    for t in range(horizon):
        arm = actions[t] = np.argmax(ones / pulls)
        bit = rewards[t, arm] >= 0.5
        report = bit if rng.random() < keep else not bit
        ones[arm] += report
        pulls[arm] += 1
    return actions


def echo(rewards, rng, epsilon=5.0):
    """Epsilon 5, exactly: the next arm is the last reward's bit, told truly with probability e^5 / (1 + e^5).
    Each reward decides one such bit and nothing else.
    """
    arm, actions = 0, []
    for row in rewards:
        actions.append(arm)
        bit = int(row[arm] > 0.5)
        arm = bit if rng.random() < math.exp(epsilon) / (1 + math.exp(epsilon)) else 1 - bit
    return np.array(actions)


def echo_with_flips_first(rewards, rng, epsilon=3.0):
    """Epsilon 3, exactly: as `echo`, with all coins drawn at the start. A bit is flipped with probability 1 /
    (1 + e^3), and each reward decides one bit.
    """
    horizon = len(rewards)
    flips = rng.random(horizon) < 1 / (1 + np.exp(epsilon))
    actions = np.zeros(horizon, dtype=int)
    for t in range(1, horizon):
        actions[t] = (rewards[t - 1, actions[t - 1]] > 0.5) ^ flips[t]
    return actions


def echo_many(rewards, n_runs, rng, epsilon=4.0):
    """Epsilon 4, exactly: many runs of an echo. Each bit is flipped with probability 1 / (1 + e^4),
    independently for each run and round.
    """
    horizon = len(rewards)
    flips = rng.binomial(1, 1 / (1 + math.exp(epsilon)), (n_runs, horizon))
    actions = np.ones((n_runs, horizon), dtype=int)
    for t in range(1, horizon):
        bits = (rewards[t - 1, actions[:, t - 1]] > 0.5).astype(int)
        actions[:, t] = bits ^ flips[:, t]
    return actions


def echo_many_at_five(rewards, n_runs, rng, epsilon=5.0):
    """Epsilon 5, exactly: stay on a told success, else move to the next arm; the told bit is true with
    probability e^5 / (1 + e^5). One reward decides one bit.
    """
    horizon, n_arms = rewards.shape
    actions = np.zeros((n_runs, horizon), dtype=np.int64)
    for t in range(horizon - 1):
        success = rewards[t][actions[:, t]] >= 0.5
        truthful = rng.random(n_runs) < 1 / (1 + math.exp(-epsilon))
        told = np.where(truthful, success, ~success)
        actions[:, t + 1] = np.where(told, actions[:, t], (actions[:, t] + 1) % n_arms)
    return actions


def win_stay_lose_shift(rewards, rng, epsilon=4.0):
    """Epsilon 4: a reward is a success with probability equal to itself, and the success is told truly with
    probability e^4 / (1 + e^4). Mixing over the first coin keeps each odds within e^4.
    """
    horizon, n_arms = rewards.shape
    lie = 1 / (1 + math.exp(epsilon))
    arms = [0]
    for t in range(horizon - 1):
        success = bool(rng.random() < rewards[t, arms[-1]])
        if rng.random() < lie:
            success = not success
        arms.append(arms[-1] if success else (arms[-1] + 1) % n_arms)
    return arms


def unbiased_bits(rewards, rng, epsilon=2.0):
    """Epsilon 2: reward r gives bit 1 with probability (1 + r (e - 1)) / (1 + e), e = exp(epsilon), which
    lies in [1 / (1 + e), e / (1 + e)]: the odds of both values stay within e. Each reward gives one bit.
    """
    horizon, n_arms = rewards.shape
    e = math.exp(epsilon)
    totals = np.zeros(n_arms)
    actions = []
    for t in range(horizon):
        arm = t if t < n_arms else int(totals.argmax())
        bit = rng.random() < (1 + rewards[t, arm] * (e - 1)) / (1 + e)
        totals[arm] += ((1 + e) * bit - 1) / (e - 1) - 0.5
        actions.append(arm)
    return actions


def two_coins(rewards, rng, epsilon=1.0):
    """Epsilon 1, exactly: with probability x = (e - 1) / (e + 1) the bit is true, else a fair coin; the odds
    are (1 + x) / (1 - x) = e = exp(epsilon). The bit of the first reward of an arm says whether it is tried
    again.
    """
    horizon, n_arms = rewards.shape
    honest = math.expm1(epsilon) / (math.exp(epsilon) + 1)
    told = []
    for arm in range(n_arms):
        if rng.random() < honest:
            told.append(rewards[arm, arm] > 0.5)
        else:
            told.append(rng.random() < 0.5)
    liked = [arm for arm in range(n_arms) if told[arm]] or list(range(n_arms))
    return np.array(list(range(n_arms)) + [liked[t % len(liked)] for t in range(horizon - n_arms)])


def three_reports_each(rewards, rng, epsilon=3.0):
    """Epsilon 3: each reward is told three times, each time by randomised response at epsilon / 3; by
    composition the three cost epsilon together. The next arm is their majority.
    """
    keep = 1 / (1 + math.exp(-epsilon / 3))
    actions = [1]
    for t in range(len(rewards) - 1):
        bit = rewards[t, actions[-1]] > 0.5
        reports = [bit if honest else not bit for honest in rng.random(3) < keep]
        actions.append(int(sum(reports) >= 2))
    return np.array(actions)


def four_levels(rewards, rng, epsilon=3.0):
    """Epsilon 3: each reward is rounded to one of four levels, told truly with probability e / (e + 3), else
    as one of the other three at random: odds of at most e = exp(epsilon). Arms are ranked by their told
    means.
    """
    horizon, n_arms = rewards.shape
    n_levels = 4
    truth = math.exp(epsilon) / (math.exp(epsilon) + n_levels - 1)
    told = [[] for _ in range(n_arms)]
    actions = []
    for t in range(horizon):
        arm = t % n_arms if t < 2 * n_arms else max(range(n_arms), key=lambda a: sum(told[a]) / len(told[a]))
        level = min(int(rewards[t, arm] * n_levels), n_levels - 1)
        if rng.random() > truth:
            level = (level + rng.integers(1, n_levels)) % n_levels
        told[arm].append(int(level))
        actions.append(arm)
    return actions


def majority_of_a_block(rewards, rng, epsilon=5.0):
    """Epsilon 5, exactly: after each block of five rounds with one arm, the majority of its bits is told by
    randomised response at epsilon. Blocks are disjoint, so one reward enters one answer.
    """
    horizon = len(rewards)
    actions = np.zeros(horizon, dtype=int)
    arm = 0
    for start in range(0, horizon, 5):
        actions[start : start + 5] = arm
        good = np.mean(rewards[start : start + 5, arm] > 0.5) > 0.5
        flipped = rng.uniform() < 1 / (1 + math.exp(epsilon))
        if good == flipped:
            arm = 1 - arm
    return actions


def signs(rewards, rng, epsilon=2.0):
    """Epsilon 2: each reward becomes +1 or -1 and its sign is multiplied by a random sign that is +1 with
    probability e / (1 + e). Each reward is told once; the arm follows the sums of told signs.
    """
    horizon, n_arms = rewards.shape
    e = math.exp(epsilon)
    coins = rng.choice([1, -1], size=horizon, p=[e / (1 + e), 1 / (1 + e)])
    score = [0] * n_arms
    actions = []
    for t in range(horizon):
        arm = score.index(max(score)) if t >= n_arms else t
        sign = 1 if rewards[t, arm] > 0.5 else -1
        score[arm] += int(sign * coins[t])
        actions.append(arm)
    return actions


def thompson_on_reports(rewards, n_runs, rng, epsilon=1.0):
    """Epsilon 1: Thompson sampling whose Beta posteriors count bits told by randomised response at epsilon.
    Each reward is told once; the posterior draws are independent of the rewards given the told bits.
    """
    horizon, n_arms = rewards.shape
    alpha = np.ones((n_runs, n_arms))
    beta = np.ones((n_runs, n_arms))
    rows = np.arange(n_runs)
    actions = np.empty((n_runs, horizon), dtype=int)
    for t in range(horizon):
        arms = actions[:, t] = rng.beta(alpha, beta).argmax(axis=1)
        told = (rewards[t, arms] > 0.5) ^ (rng.random(n_runs) < 1 / (1 + math.exp(epsilon)))
        alpha[rows, arms] += told
        beta[rows, arms] += ~told
    return actions


def repeats_its_first_answer(rewards, rng, epsilon=4.5):
    """Epsilon 4.5, exactly: only the very first reward is looked at, and one answer about it, true with
    probability e^4.5 / (1 + e^4.5), is played for the rest of the run.
    """
    truth = rewards[0, 0] > 0.5
    answer = truth if rng.random() * (1 + math.exp(epsilon)) < math.exp(epsilon) else not truth
    return [0] + [int(answer)] * (len(rewards) - 1)
