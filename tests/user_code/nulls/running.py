"""Bandits that keep learning: trees of partial sums, sparse vector, elimination, phases, local noise."""

import math

import numpy as np


def eager_tree(rewards, rng, epsilon=2.0):
    """Epsilon 2: each arm has a binary tree over its pulls. All nodes get their noise at the start; a reward
    is in one node of each of L levels, with noise of scale L / epsilon. Prefix sums are made of noisy nodes.
    """
    horizon, n_arms = rewards.shape
    levels = math.ceil(math.log2(horizon)) + 1
    tree = rng.laplace(0, levels / epsilon, (n_arms, levels, 2 ** (levels - 1)))
    pulls = [0] * n_arms
    actions = []
    for t in range(horizon):
        if t < n_arms:
            arm = t
        else:
            index = []
            for a in range(n_arms):
                total, start = 0.0, 0
                for level in reversed(range(levels)):
                    if pulls[a] & (1 << level):
                        total += tree[a, level, start >> level]
                        start += 1 << level
                index.append(total / pulls[a] + math.sqrt(2 * math.log(horizon) / pulls[a]))
            arm = index.index(max(index))
        for level in range(levels):
            tree[arm, level, pulls[arm] >> level] += rewards[t, arm]
        pulls[arm] += 1
        actions.append(arm)
    return actions


def lazy_tree(rewards, rng, epsilon=3.0):
    """Epsilon 3: the tree mechanism of Chan, Shi & Song: noise is drawn when a partial sum is complete, and a
    reward is in at most one partial sum of each of L levels, with noise of scale L / epsilon.
    """
    horizon, n_arms = rewards.shape
    levels = horizon.bit_length()
    alpha = np.zeros((n_arms, levels))
    noisy = np.zeros((n_arms, levels))
    count = np.zeros(n_arms, dtype=int)
    actions = np.empty(horizon, dtype=int)
    for t in range(horizon):
        if t < n_arms:
            arm = t
        else:
            bits = (count[:, None] >> np.arange(levels)) & 1
            arm = int(np.argmax((noisy * bits).sum(axis=1) / count))
        actions[t] = arm
        count[arm] += 1
        i = int(count[arm] & -count[arm]).bit_length() - 1
        alpha[arm, i] = alpha[arm, :i].sum() + rewards[t, arm]
        alpha[arm, :i] = noisy[arm, :i] = 0
        noisy[arm, i] = alpha[arm, i] + rng.laplace(0, levels / epsilon)
    return actions


def sparse_vector(rewards, rng, epsilon=1.0):
    """Epsilon 1: arms alternate until the lead of arm 1, which one reward moves by at most 1, is seen above 1
    by the sparse vector technique: noise 2 / epsilon on the threshold and 4 / epsilon on each query, then it
    stops.
    """
    horizon = len(rewards)
    threshold = 1 + rng.laplace(0, 2 / epsilon)
    lead, actions = 0.0, []
    switched = False
    for t in range(horizon):
        arm = 1 if switched else t % 2
        actions.append(arm)
        if not switched:
            lead += rewards[t, arm] if arm else -rewards[t, arm]
            switched = bool(t % 2 and lead + rng.laplace(0, 4 / epsilon) >= threshold)
    return actions


def sparse_vector_of_counts(rewards, rng, epsilon=2.0):
    """Epsilon 2: one arm is played until its total passes a noisy threshold. A reward moves all totals the
    same way, by at most 1; for such monotone queries noise 2 / epsilon on threshold and queries suffices
    (Lyu, Su & Li 2017).
    """
    horizon = len(rewards)
    bar = 3 + rng.laplace(0, 2 / epsilon)
    total = 0.0
    for t in range(horizon):
        total += rewards[t, 0]
        if total + rng.laplace(0, 2 / epsilon) >= bar:
            return [0] * (t + 1) + [1] * (horizon - t - 1)
    return [0] * horizon


def successive_elimination(rewards, rng, epsilon=1.0):
    """Epsilon 1: each epoch forgets all earlier rewards, pulls the remaining arms n times each and releases
    their means with Laplace noise of scale 1 / (n epsilon). A reward is in one mean.
    """
    horizon, n_arms = rewards.shape
    viable = list(range(n_arms))
    actions = []
    epoch = 1
    while len(viable) > 1:
        pulls = 2**epoch
        if len(actions) + pulls * len(viable) > horizon:
            break
        means = {}
        for arm in viable:
            start = len(actions)
            actions += [arm] * pulls
            means[arm] = rewards[start : start + pulls, arm].mean() + rng.laplace(0, 1 / (pulls * epsilon))
        gap = 2.0**-epoch
        viable = [arm for arm in viable if means[arm] >= max(means.values()) - gap]
        epoch += 1
    return actions + [viable[t % len(viable)] for t in range(horizon - len(actions))]


def doubling_phases(rewards, rng, epsilon=2.0):
    """Epsilon 2: phase p plays 2^p rounds with the arm whose last released mean is largest; a phase releases
    its own sum once, with noise of scale 1 / epsilon. Phases are disjoint.
    """
    horizon, n_arms = rewards.shape
    estimate = [math.inf] * n_arms
    actions, phase = [], 1
    while len(actions) < horizon:
        arm = max(range(n_arms), key=estimate.__getitem__)
        rounds = range(len(actions), min(len(actions) + 2**phase, horizon))
        total = sum(float(rewards[t, arm]) for t in rounds) + rng.laplace(0, 1 / epsilon)
        estimate[arm] = total / len(rounds)
        actions.extend([arm] * len(rounds))
        phase += 1
    return np.array(actions)


def windows(rewards, rng, epsilon=3.0):
    """Epsilon 3: every six rounds the sums of that window are released with Laplace noise of scale 1 /
    epsilon; windows and arms are disjoint. Half of the next window goes to the winner, by public coins.
    """
    horizon, n_arms = rewards.shape
    actions = np.empty(horizon, dtype=int)
    favourite = 0
    for start in range(0, horizon, 6):
        stop = min(start + 6, horizon)
        public = rng.integers(n_arms, size=stop - start)
        actions[start:stop] = np.where(rng.random(stop - start) < 0.5, favourite, public)
        sums = np.zeros(n_arms)
        np.add.at(sums, actions[start:stop], rewards[np.arange(start, stop), actions[start:stop]] - 0.5)
        favourite = int(np.argmax(sums + rng.laplace(0, 1 / epsilon, n_arms)))
    return actions


def private_greedy(rewards, rng, epsilon=1.0):
    """Epsilon 1: epsilon-greedy on one release: rewards of the first rounds enter one noisy sum for each arm,
    scale 1 / epsilon; exploring later is decided by coins that are independent of all rewards.
    """
    horizon, n_arms = rewards.shape
    start = 3 * n_arms
    head = rewards[:start].reshape(3, n_arms, n_arms)
    noisy = head.diagonal(axis1=1, axis2=2).sum(axis=0) + rng.laplace(0, 1 / epsilon, n_arms)
    explore = rng.random(horizon) < 0.2
    actions = np.where(explore, rng.integers(0, n_arms, horizon), noisy.argmax())
    actions[:start] = np.arange(start) % n_arms
    return actions


def local_ucb(rewards, rng, epsilon=3.0):
    """Epsilon 3: every reward gets Laplace noise of scale 1 / epsilon as soon as it is seen, once; UCB runs
    on what comes out.
    """
    horizon, n_arms = rewards.shape
    totals, pulls = np.zeros(n_arms), np.zeros(n_arms)
    actions = np.arange(horizon)
    for t in range(horizon):
        if t >= n_arms:
            actions[t] = np.argmax(totals / pulls + np.sqrt(2 * np.log(t) / pulls))
        arm = actions[t]
        totals[arm] += rewards[t, arm] + rng.laplace(0, 1 / epsilon)
        pulls[arm] += 1
    return actions


def local_exp3(rewards, rng, epsilon=2.0, rate=0.1):
    """Epsilon 2: EXP3 on rewards that got Laplace noise of scale 1 / epsilon once each; the weights and the
    draws are computed from noisy rewards and independent coins.
    """
    horizon, n_arms = rewards.shape
    weight = np.zeros(n_arms)
    actions = []
    for t in range(horizon):
        p = np.exp(weight - weight.max())
        p = 0.9 * p / p.sum() + 0.1 / n_arms
        arm = int(rng.choice(n_arms, p=p / p.sum()))
        noisy = rewards[t, arm] + rng.laplace(0, 1 / epsilon)
        weight[arm] += rate * noisy / p[arm]
        actions.append(arm)
    return actions


def gradient_many(rewards, n_runs, rng, epsilon=1.5):
    """Epsilon 1.5: a gradient bandit for many runs; each reward is used once, with Laplace noise of scale 1 /
    epsilon, in the step of its round. Preferences hold nothing else.
    """
    horizon, n_arms = rewards.shape
    preference = np.zeros((n_runs, n_arms))
    actions = np.zeros((n_runs, horizon), dtype=int)
    rows = np.arange(n_runs)
    for t in range(horizon):
        policy = np.exp(preference - preference.max(axis=1, keepdims=True))
        policy /= policy.sum(axis=1, keepdims=True)
        arms = (rng.random((n_runs, 1)) > policy.cumsum(axis=1)[:, :-1]).sum(axis=1)
        step = rewards[t, arms] - 0.5 + rng.laplace(0, 1 / epsilon, n_runs)
        preference -= 0.2 * step[:, None] * policy
        preference[rows, arms] += 0.2 * step
        actions[:, t] = arms
    return actions


def looks_four_times(rewards, rng, epsilon=2.0):
    """Epsilon 2: the same sums are released at four public rounds with fresh noise of scale 4 / epsilon; by
    composition a reward pays at most 4 times epsilon / 4. Rewards after the exploration are not used.
    """
    horizon, n_arms = rewards.shape
    explore = 2 * n_arms
    looks = 4
    actions = np.arange(horizon) % n_arms
    sums = [rewards[arm:explore:n_arms, arm].sum() for arm in range(n_arms)]
    for part in np.array_split(np.arange(explore, horizon), looks):
        actions[part] = np.argmax(sums + rng.laplace(0, looks / epsilon, n_arms))
    return actions


def spends_geometrically(rewards, rng, epsilon=4.0):
    """Epsilon 4: all rewards of the past are released again in each epoch, the k-th time at epsilon / 2^k:
    one reward pays at most epsilon / 2 + epsilon / 4 + ... < epsilon.
    """
    horizon, n_arms = rewards.shape
    sums = np.zeros(n_arms)
    pulls = np.zeros(n_arms)
    actions, favourite = [], 0
    for k, size in enumerate([2 * n_arms, 4, 5, horizon], start=1):
        size = min(size, horizon - len(actions))
        for i in range(size):
            arm = i % n_arms if k == 1 or i == 0 else favourite
            sums[arm] += rewards[len(actions), arm]
            pulls[arm] += 1
            actions.append(arm)
        released = sums + rng.laplace(0, 2**k / epsilon, n_arms)
        favourite = int(np.argmax(released / pulls))
    return actions


def factored_prefix_sums(rewards, rng, epsilon=1.0):
    """Epsilon 1: the lead of arm 1 in pairs of rounds goes through the matrix mechanism: noise is put on
    overlapping block sums, each pair is in 3 of them, and their noise has scale 3 / epsilon. A reward moves
    its pair by at most 1.
    """
    horizon = len(rewards)
    pairs = 4
    leads = np.array([rewards[2 * i + 1, 1] - rewards[2 * i, 0] for i in range(pairs)])
    blocks = np.array(
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]]
    )
    noisy = blocks @ leads + rng.laplace(0, 3 / epsilon, len(blocks))
    prefixes = [noisy[0], noisy[4], noisy[4] + noisy[2], noisy[6]]
    quarter = np.array_split(np.arange(2 * pairs, horizon), pairs)
    actions = np.tile([0, 1], horizon)[:horizon]
    for part, prefix in zip(quarter, prefixes, strict=True):
        actions[part] = prefix > 0
    return actions
