"""Explore, then commit to the arm with the larger noisy sum: the same algorithm with many kinds of noise.

The exploration is a public schedule, so one reward enters one sum and moves it by at most 1.
"""

import math

import numpy as np


def laplace_sums(rewards, rng, epsilon=1.0):
    """Epsilon 1: one changed reward moves one of the sums by at most 1, and each has Laplace noise of scale 1
    / epsilon. The sums are of disjoint rewards, and the winner is computed from the noisy sums alone.
    """
    horizon, n_arms = rewards.shape
    explore = horizon // 2
    actions = np.arange(horizon) % n_arms
    sums = np.array([rewards[arm:explore:n_arms, arm].sum() for arm in range(n_arms)])
    actions[explore:] = np.argmax(sums + rng.laplace(0, 1 / epsilon, n_arms))
    return actions


def laplace_in_loops(rewards, rng, epsilon=2.0):
    """Epsilon 2: as `laplace_sums`, in plain Python. Each sum has sensitivity 1 and noise of scale 1 /
    epsilon, and no reward is in two sums.
    """
    horizon, n_arms = len(rewards), len(rewards[0])
    per_arm = 3
    totals = [0.0] * n_arms
    actions = []
    for _ in range(per_arm):
        for arm in range(n_arms):
            totals[arm] += float(rewards[len(actions)][arm])
            actions.append(arm)
    noisy = [total + rng.laplace(scale=1 / epsilon) for total in totals]
    best = max(range(n_arms), key=noisy.__getitem__)
    while len(actions) < horizon:
        actions.append(best)
    return actions


def difference_of_exponentials(rewards, rng, epsilon=1.0):
    """Epsilon 1: the difference of two independent exponentials of scale 1 / epsilon is Laplace of that
    scale, and each sum has sensitivity 1.
    """
    horizon, n_arms = rewards.shape
    explore = 4 * n_arms
    actions = np.tile(np.arange(n_arms), horizon)[:horizon]
    mask = np.equal.outer(actions[:explore], np.arange(n_arms))
    sums = (rewards[:explore] * mask).sum(axis=0)
    noise = rng.exponential(1 / epsilon, n_arms) - rng.exponential(1 / epsilon, n_arms)
    actions[explore:] = (sums + noise).argmax()
    return actions


def inverse_of_the_cdf(rewards, rng, epsilon=3.0):
    """Epsilon 3: -sign(u) log(1 - 2|u|) is Laplace of scale 1 for u uniform on [-1/2, 1/2). Sums over
    disjoint rewards of sensitivity 1 get it at scale 1 / epsilon.
    """
    horizon, n_arms = rewards.shape
    explore = horizon // n_arms
    actions = np.arange(horizon) % n_arms
    sums = np.bincount(actions[:explore], rewards[np.arange(explore), actions[:explore]], n_arms)
    u = rng.random(n_arms) - 0.5
    actions[explore:] = np.argmax(sums - np.sign(u) * np.log1p(-2 * np.abs(u)) / epsilon)
    return actions


def two_geometrics(rewards, rng, epsilon=4.0):
    """Epsilon 4: the counts of rewards above 1/2 are whole numbers that one reward moves by at most 1, and
    the difference of two geometrics with p = 1 - exp(-epsilon) has P(z + 1) / P(z) = exp(-epsilon) or its
    inverse.
    """
    horizon, n_arms = rewards.shape
    explore = 2 * n_arms
    actions = np.arange(horizon) % n_arms
    counts = np.array([np.count_nonzero(rewards[arm:explore:n_arms, arm] > 0.5) for arm in range(n_arms)])
    p = 1 - math.exp(-epsilon)
    actions[explore:] = np.argmax(counts + rng.geometric(p, n_arms) - rng.geometric(p, n_arms))
    return actions


def shares_of_gammas(rewards, rng, epsilon=2.0):
    """Epsilon 2: n shares Gamma(1/n, b) - Gamma(1/n, b) add up to Exp(b) - Exp(b), which is Laplace of scale
    b = 1 / epsilon. Only the total of an arm is used; it has sensitivity 1. No single share is published.
    """
    horizon, n_arms = rewards.shape
    per_arm = 4
    explore = per_arm * n_arms
    actions = np.arange(horizon) % n_arms
    totals = np.zeros(n_arms)
    for t in range(explore):
        share = rng.gamma(1 / per_arm, 1 / epsilon) - rng.gamma(1 / per_arm, 1 / epsilon)
        totals[actions[t]] += rewards[t, actions[t]] + share
    actions[explore:] = totals.argmax()
    return actions


def secret_shares(rewards, rng, epsilon=1.5):
    """Epsilon 1.5: rewards above 1/2 are counted through additive shares modulo 2^16 that three parties hold;
    they open only the count plus a two-sided geometric of ratio exp(-epsilon). A count has sensitivity 1; the
    shares cancel, and nobody sees them.
    """
    modulus = 1 << 16
    horizon, n_arms = rewards.shape
    rounds = 6
    opened = []
    for arm in range(n_arms):
        parties = [0, 0, 0]
        for t in range(arm, rounds, n_arms):
            bit = int(rewards[t, arm] > 0.5)
            a, b = (int(share) for share in rng.integers(0, modulus, 2))
            for party, share in enumerate((a, b, (bit - a - b) % modulus)):
                parties[party] = (parties[party] + share) % modulus
        p = 1 - math.exp(-epsilon)
        count = (sum(parties) + int(rng.geometric(p)) - int(rng.geometric(p))) % modulus
        opened.append(count - modulus if count > modulus // 2 else count)
    actions = [t % n_arms for t in range(rounds)]
    return actions + [opened.index(max(opened))] * (horizon - rounds)


def noisy_means(rewards, rng, epsilon=1.0):
    """Epsilon 1: the mean of n rewards has sensitivity 1/n, and noise of scale 1 / (n epsilon); the means are
    of disjoint rewards.
    """
    horizon, n_arms = rewards.shape
    n = 5
    means = [rewards[arm * n : (arm + 1) * n, arm].mean() for arm in range(n_arms)]
    noisy = [rng.laplace(mean, 1 / (n * epsilon)) for mean in means]
    return np.concatenate([np.repeat(np.arange(n_arms), n), np.full(horizon - n * n_arms, np.argmax(noisy))])


def clamped_sums(rewards, rng, epsilon=2.0):
    """Epsilon 2: sums of sensitivity 1 with Laplace noise of scale 1 / epsilon are clamped to [0, n]
    afterwards, and ties go to the first arm: both are functions of what is private already.
    """
    horizon, n_arms = rewards.shape
    n = 4
    actions = np.arange(horizon) % n_arms
    sums = np.array([rewards[arm : n * n_arms : n_arms, arm].sum() for arm in range(n_arms)])
    private = np.clip(sums + rng.laplace(0, 1 / epsilon, n_arms), 0, n)
    actions[n * n_arms :] = np.flatnonzero(private == private.max())[0]
    return actions


def staircase_noise(rewards, rng, epsilon=3.0):
    """Epsilon 3: the staircase density (Geng & Viswanath 2014) falls by exp(-epsilon) over each unit and is
    constant on the two steps within a unit, so a shift by at most 1 changes it by at most exp(epsilon). Sums
    move by at most 1.
    """
    horizon, n_arms = rewards.shape
    explore = 3 * n_arms
    actions = np.arange(horizon) % n_arms
    fall = math.exp(-epsilon)
    gamma = 1 / (1 + math.exp(epsilon / 2))
    noisy = []
    for arm in range(n_arms):
        sign = 1 if rng.random() < 0.5 else -1
        unit = rng.geometric(1 - fall) - 1
        high_step = rng.random() < gamma / (gamma + (1 - gamma) * fall)
        within = gamma * rng.random() if high_step else gamma + (1 - gamma) * rng.random()
        noisy.append(rewards[arm:explore:n_arms, arm].sum() + sign * (unit + within))
    actions[explore:] = np.argmax(noisy)
    return actions


def discounted(rewards, rng, epsilon=1.0):
    """Epsilon 1: each reward has a weight of at most 1 in one discounted sum, so that the sum moves by at
    most 1; its Laplace noise has scale 1 / epsilon.
    """
    horizon, n_arms = rewards.shape
    explore = horizon // 2
    actions = np.arange(horizon) % n_arms
    weights = 0.9 ** np.arange(explore)[::-1]
    sums = [
        np.dot(weights[arm::n_arms], rewards[arm:explore:n_arms, arm]) + rng.laplace(0, 1 / epsilon)
        for arm in range(n_arms)
    ]
    actions[explore:] = int(np.argmax(sums))
    return actions


def sampled_rewards(rewards, rng, epsilon=1.0, rate=0.5):
    """Epsilon 1: each reward counts with probability q, by a coin nobody sees, in sums that are
    epsilon0-private. Sampling gives log(1 + q (exp(epsilon0) - 1)), which is epsilon for epsilon0 = log(1 +
    (exp(epsilon) - 1) / q): leaving a reward out also moves a sum by at most 1.
    """
    horizon, n_arms = rewards.shape
    explore = 4 * n_arms
    before_sampling = math.log1p(math.expm1(epsilon) / rate)
    actions = np.arange(horizon) % n_arms
    kept = rng.random(explore) < rate
    played = rewards[np.arange(explore), actions[:explore]]
    sums = np.bincount(actions[:explore], played * kept, n_arms)
    actions[explore:] = np.argmax(sums + rng.laplace(0, 1 / before_sampling, n_arms))
    return actions


def determinant(rewards, rng, epsilon=2.0):
    """Epsilon 2: n1 n2 + n3 n4 of four independent standard normals is Laplace of scale 1 (the determinant of
    a Gaussian matrix). Sums of disjoint rewards of sensitivity 1 get it times 1 / epsilon.
    """
    horizon, n_arms = rewards.shape
    explore = horizon // 2
    actions = np.arange(horizon) % n_arms
    a, b, c, d = rng.standard_normal((4, n_arms))
    sums = np.array([rewards[arm:explore:n_arms, arm].sum() for arm in range(n_arms)])
    actions[explore:] = np.argmax(sums + (a * b + c * d) / epsilon)
    return actions


def many_at_once(rewards, n_runs, rng, epsilon=1.0):
    """Epsilon 1: every row is an explore-then-commit run with fresh Laplace noise of scale 1 / epsilon on
    sums of sensitivity 1.
    """
    horizon, n_arms = rewards.shape
    explore = horizon // 2
    sums = np.array([rewards[arm:explore:n_arms, arm].sum() for arm in range(n_arms)])
    winners = np.argmax(sums + rng.laplace(0, 1 / epsilon, (n_runs, n_arms)), axis=1)
    actions = np.tile(np.arange(horizon) % n_arms, (n_runs, 1))
    actions[:, explore:] = winners[:, None]
    return actions


def many_by_log_ratio(rewards, n_runs, rng, epsilon=4.0):
    """Epsilon 4: log(u / v) of two uniforms is Laplace of scale 1; only the difference of the two arms' sums
    is published, which has sensitivity 1, so that the winner costs at most epsilon.
    """
    horizon = len(rewards)
    rounds = 6
    lead = rewards[1:rounds:2, 1].sum() - rewards[0:rounds:2, 0].sum()
    u, v = 1 - rng.random((2, n_runs))
    winners = (lead + np.log(u / v) / epsilon > 0).astype(int)
    return np.hstack(
        [np.tile([0, 1], (n_runs, rounds // 2)), np.repeat(winners[:, None], horizon - rounds, axis=1)]
    )


def in_another_order(rewards, rng, epsilon=1.0):
    """Epsilon 1: the noise is drawn first and rewards are added to it one by one, so that floats add up in
    another order. In exact arithmetic this is the sum with Laplace noise of scale 1 / epsilon; its
    sensitivity is 1.
    """
    horizon, n_arms = rewards.shape
    totals = [rng.laplace(0, 1 / epsilon) for _ in range(n_arms)]
    actions = []
    for t in range(horizon):
        if t < 9:
            arm = t % n_arms
            totals[arm] = totals[arm] + rewards[t, arm]
        else:
            arm = max(enumerate(totals), key=lambda pair: pair[1])[0]
        actions.append(arm)
    return np.array(actions)


def exact_sums(rewards, rng, epsilon=2.0):
    """Epsilon 2: `math.fsum` over rewards that are clipped to [0, 1] first, Laplace noise of scale 1 /
    epsilon, and ranks by sorting. One reward moves one of the sums by at most 1.
    """
    horizon, n_arms = rewards.shape
    clipped = np.clip(rewards, 0.0, 1.0).tolist()
    n = 5
    schedule = [t % n_arms for t in range(n * n_arms)]
    noisy = {
        arm: math.fsum(clipped[t][arm] for t, chosen in enumerate(schedule) if chosen == arm)
        + float(rng.laplace(0.0, 1.0 / epsilon))
        for arm in range(n_arms)
    }
    ranking = sorted(noisy, key=noisy.get, reverse=True)
    return np.asarray(schedule + [ranking[0]] * (horizon - len(schedule)), dtype=np.int8)


def one_response_at_the_end(rewards, rng, epsilon=3.0):
    """Epsilon 3, exactly: the arm with the larger sum is told with probability e / (e + K - 1), e =
    exp(epsilon), and each other arm with 1 / (e + K - 1). Whatever the rewards, two probabilities differ by
    at most the factor e.
    """
    horizon, n_arms = rewards.shape
    explore = 2 * n_arms
    actions = np.arange(horizon) % n_arms
    best = int(np.argmax([rewards[arm:explore:n_arms, arm].sum() for arm in range(n_arms)]))
    if rng.random() >= math.exp(epsilon) / (math.exp(epsilon) + n_arms - 1):
        best = (best + 1 + int(rng.integers(n_arms - 1))) % n_arms
    actions[explore:] = best
    return actions


def one_flip_at_the_end(rewards, rng, epsilon=5.0):
    """Epsilon 5, exactly: the better of two arms is kept with probability e^5 / (1 + e^5), else swapped. The
    odds of either answer on two tables differ by at most e^5.
    """
    horizon = len(rewards)
    half = horizon // 2
    better = int(rewards[1:half:2, 1].sum() > rewards[0:half:2, 0].sum())
    swap = rng.random() < 1 / (1 + math.exp(epsilon))
    return np.r_[np.arange(half) % 2, np.full(horizon - half, better ^ swap)]
