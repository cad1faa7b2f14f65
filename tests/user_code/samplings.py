"""Right bandits that sample in other ways, each with leaking twins; EPSILON = 1 is claimed of all.

They were written before the bounds were tried on them. `RIGHT` gives the least epsilon that is true of
each as far as its form tells, `UNFOLLOWED` are right, too, but have no bound yet; no twin keeps EPSILON.
"""

from __future__ import annotations

import math
import random

import numpy as np
from scipy.special import logsumexp
from scipy.stats import expon, gumbel_r

EPSILON = 1.0
MODULUS = 10007
STOP = 1 - math.exp(-EPSILON)
KEEP = math.exp(EPSILON) / (1 + math.exp(EPSILON))


def explored(rewards):
    """Sums of the first half as Python's floats, arm by arm in turn."""
    horizon, n_arms = rewards.shape
    sums = [0.0] * n_arms
    for t in range(horizon // 2):
        sums[t % n_arms] += rewards[t, t % n_arms]
    return sums


def counts(rewards):
    """How often each arm paid more than .5 in the first half."""
    return (rewards[: len(rewards) // 2] > 0.5).sum(axis=0)


def committed(rewards, arm):
    horizon, n_arms = rewards.shape
    return [t % n_arms if t < horizon // 2 else int(arm) for t in range(horizon)]


# ---------------------------------------------------------------- chances


def by_logits(rewards, rng, steep=1.0):
    logits = steep * EPSILON * np.array(explored(rewards))
    return committed(rewards, rng.choice(len(logits), p=np.exp(logits - logsumexp(logits))))


def by_a_choice_of_one(rewards, rng, steep=1.0):
    weights = np.exp(steep * EPSILON * np.array(explored(rewards)))
    return committed(rewards, int(rng.choice(len(weights), 1, p=weights / weights.sum())[0]))


def chosen_twice_at_once(rewards, rng):
    """Two draws of one call: twice epsilon."""
    weights = np.exp(EPSILON * np.array(explored(rewards)))
    first, second = rng.choice(np.arange(len(weights)), size=(1, 2), p=weights / weights.sum())[0]
    actions = list(committed(rewards, int(first)))
    return [*actions[:-1], int(second)]


def guarded_by_a_chain(rewards, rng, scale=1.0):
    """The second comparison of a chain jumps to what raises."""
    noisy = np.array(explored(rewards)) + rng.laplace(0, scale / EPSILON, rewards.shape[1])
    distinct = len(set(rng.integers(0, 1 << 30, 8).tolist()))
    if not 0 <= distinct < 9:
        raise ValueError("eight draws have at most eight values")
    return committed(rewards, np.argmax(noisy))


def masked_by_bits(rewards, rng, scale=1.0):
    """Public numbers are shifted and masked, as the nodes of a tree are chosen."""
    noisy = np.array(explored(rewards)) + rng.laplace(0, scale / EPSILON, rewards.shape[1])
    bits = (5 >> np.arange(rewards.shape[1])) & 1
    return committed(rewards, np.argmax(noisy + (bits << 1)))


def bare_behind_a_chain(rewards, rng):
    """Where the draws are alike, as they are seldom, nothing is hidden."""
    noisy = np.array(explored(rewards)) + rng.laplace(0, 1 / EPSILON, rewards.shape[1])
    distinct = len(set(rng.integers(0, 1 << 30, 8).tolist()))
    if not 8 <= distinct < 9:
        noisy = np.array(explored(rewards))
    return committed(rewards, np.argmax(noisy))


def by_logaddexp(rewards, rng, steep=1.0):
    logits = steep * EPSILON * np.array(explored(rewards))
    chances = np.exp(logits - np.logaddexp.reduce(logits))
    return committed(rewards, rng.choice(np.arange(len(logits)), p=chances))


def by_multinomial(rewards, rng, steep=1.0):
    weights = np.exp(steep * EPSILON * np.array(explored(rewards)))
    return committed(rewards, np.argmax(rng.multinomial(1, weights / weights.sum())))


def by_choices(rewards, rng, steep=1.0):
    weights = [math.exp(steep * EPSILON * s) for s in explored(rewards)]
    return committed(rewards, random.choices(range(len(weights)), weights=weights)[0])


def by_bisection(rewards, rng, steep=1.0):
    weights = np.exp(steep * EPSILON * np.array(explored(rewards)))
    edges = np.append(0.0, np.cumsum(weights) / np.sum(weights))
    u = rng.random()
    return committed(rewards, max(a for a in range(len(weights)) if edges[a] <= u))


def mixed_with_integers(rewards, rng, steep=1.0):
    """Every tenth run any arm, else the exponential mechanism."""
    n_arms = rewards.shape[1]
    if rng.random() < 0.1:
        return committed(rewards, rng.integers(n_arms))
    weights = np.exp(steep * EPSILON * np.array(explored(rewards)))
    return committed(rewards, rng.choice(n_arms, p=weights / weights.sum()))


def alias_table(rewards, rng, steep=1.0):
    """Walker's method: a column, then the column's arm or its alias."""
    weights = np.exp(steep * EPSILON * np.array(explored(rewards)))
    n_arms = len(weights)
    shares = n_arms * weights / weights.sum()
    keep, alias = np.ones(n_arms), np.arange(n_arms)
    small = [a for a in range(n_arms) if shares[a] < 1]
    large = [a for a in range(n_arms) if shares[a] >= 1]
    while small and large:
        low, high = small.pop(), large.pop()
        keep[low], alias[low] = shares[low], high
        shares[high] -= 1 - shares[low]
        (small if shares[high] < 1 else large).append(high)
    column = rng.integers(n_arms)
    return committed(rewards, column if rng.random() < keep[column] else alias[column])


# ---------------------------------------------------------------- orders


def flip_in_shuffled_order(rewards, rng, steep=1.0):
    sums = explored(rewards)
    best = max(sums)
    order = list(range(len(sums)))
    rng.shuffle(order)
    for arm in order:
        if rng.random() < math.exp(steep * EPSILON * (sums[arm] - best)):
            return committed(rewards, arm)
    raise AssertionError("the best one is taken with certainty")


def flip_in_permuted_list(rewards, rng, steep=1.0):
    sums = np.array(explored(rewards))
    chances = np.exp(steep * EPSILON * (sums - sums.max()))
    for arm in rng.permutation(len(sums)).tolist():
        if rng.uniform() <= chances[arm]:
            return committed(rewards, arm)
    raise AssertionError("the best one is taken with certainty")


def rejection_of_floats(rewards, rng, steep=1.0):
    """A proposal is a uniform number that is cut into arms."""
    horizon, n_arms = rewards.shape
    sums = rewards[horizon // 2 - 4 : horizon // 2].sum(axis=0)
    while True:
        arm = int(rng.random() * n_arms)
        if rng.random() < math.exp(steep * EPSILON * (sums[arm] - 4)):
            return committed(rewards, arm)


# ---------------------------------------------------------------- noise


def gamma_shares(rewards, rng, parties=5, scale=1.0):
    """Each of five parties adds a difference of gamma draws: together they are Laplace."""
    n_arms = rewards.shape[1]
    noise = np.zeros(n_arms)
    for _ in range(parties):
        noise += rng.gamma(0.2, scale / EPSILON, n_arms) - rng.gamma(0.2, scale / EPSILON, n_arms)
    return committed(rewards, np.argmax(np.array(explored(rewards)) + noise))


def gamma_shares_of_each(rewards, rng, scale=1.0):
    """One party a reward: its share of the noise goes with it."""
    horizon, n_arms = rewards.shape
    parties = len(range(0, horizon // 2, n_arms))
    sums = [0.0] * n_arms
    for t in range(parties * n_arms):
        plus, minus = rng.gamma(1 / parties, size=2)
        sums[t % n_arms] += rewards[t, t % n_arms] + scale * (plus - minus) / EPSILON
    return committed(rewards, np.argmax(sums))


def exponentials_from_scipy(rewards, rng, scale=1.0):
    sums = np.array(explored(rewards))
    size = len(sums)
    noise = expon.rvs(scale=scale / EPSILON, size=size, random_state=rng)
    noise = noise - expon.rvs(scale=scale / EPSILON, size=size, random_state=rng)
    return committed(rewards, (sums + noise).argmax())


def gumbel_from_scipy(rewards, rng, scale=1.0):
    scores = explored(rewards)
    told = [s + gumbel_r.rvs(scale=scale / EPSILON, random_state=rng) for s in scores]
    return committed(rewards, told.index(max(told)))


def gumbel_in_a_key(rewards, rng, scale=1.0):
    scores = {arm: s + scale * rng.gumbel() / EPSILON for arm, s in enumerate(explored(rewards))}
    return committed(rewards, max(scores, key=scores.get))


def geometric_by_logarithm(rewards, rng, scale=1.0):
    """Whole numbers by the inverse distribution function: two of them make two-sided noise."""

    def drawn():
        return math.floor(-math.log(1 - rng.random()) * scale / EPSILON)

    return committed(rewards, np.argmax([c + drawn() - drawn() for c in counts(rewards).tolist()]))


def geometric_of_arrays(rewards, rng, scale=1.0):
    size = rewards.shape[1]
    up, down = (np.floor(np.log(rng.random(size)) / (-EPSILON / scale)) for _ in range(2))
    return committed(rewards, (counts(rewards) + up - down).argmax())


def discrete_by_steps(rewards, rng, scale=1.0):
    """Whole numbers by walking along the distribution function of two-sided geometric noise."""
    alpha = math.exp(-EPSILON / scale)

    def drawn():
        u, value, reached = rng.random(), 0, (1 - alpha) / (1 + alpha)
        while u > reached and value < 200:
            value = -value if value > 0 else 1 - value
            reached += (1 - alpha) / (1 + alpha) * alpha ** abs(value)
        return value

    return committed(rewards, np.argmax([c + drawn() for c in counts(rewards).tolist()]))


# ---------------------------------------------------------------- shares, samples, trees


def shares_of_noisy_counts(rewards, rng, p=STOP):
    """Each count gets noise, then it is split in two shares that are uniform modulo a prime."""
    noisy = counts(rewards) + rng.geometric(p, rewards.shape[1]) - rng.geometric(p, rewards.shape[1])
    first = rng.integers(0, MODULUS, len(noisy))
    second = (noisy - first) % MODULUS
    found = (first + second) % MODULUS
    found = np.where(found > MODULUS // 2, found - MODULUS, found)
    return committed(rewards, np.argmax(found))


def shares_then_noise(rewards, rng, scale=1.0):
    """The exact counts are shared; noise comes to the sum of the shares."""
    first = rng.integers(0, MODULUS, rewards.shape[1])
    second = (counts(rewards) - first) % MODULUS
    found = (first + second) % MODULUS
    return committed(rewards, np.argmax(found + rng.laplace(0, scale / EPSILON, len(found))))


def shares_one_by_one(rewards, rng, scale=1.0):
    """Every bit is shared among two servers, which add up what they have modulo a prime."""
    horizon, n_arms = rewards.shape
    servers = [[0, 0] for _ in range(n_arms)]
    for t in range(horizon // 2):
        bit = int(rewards[t, t % n_arms] > 0.5)
        mask = int(rng.integers(MODULUS))
        servers[t % n_arms][0] = (servers[t % n_arms][0] + mask) % MODULUS
        servers[t % n_arms][1] = (servers[t % n_arms][1] + bit - mask) % MODULUS
    told = [(a + b) % MODULUS + rng.laplace(0, scale / EPSILON) for a, b in servers]
    return committed(rewards, np.argmax(told))


def shares_with_noise(rewards, rng, step=0.01, servers=3, parts=3):
    """Each server adds a part of two-sided geometric noise; what lies above the middle is below 0."""
    horizon, n_arms = rewards.shape
    told = []
    for arm in range(n_arms):
        held = [0] * servers
        for t in range(arm, horizon // 2, n_arms):
            masks = [int(rng.integers(MODULUS)) for _ in range(servers - 1)]
            shares = [*masks, (int(100 * rewards[t, arm]) - sum(masks)) % MODULUS]
            held = [(a + b) % MODULUS for a, b in zip(held, shares, strict=True)]
        for sign in (1, -1):
            noise = rng.negative_binomial(1 / parts, -math.expm1(-EPSILON * step), servers)
            held = [(a + sign * int(b)) % MODULUS for a, b in zip(held, noise, strict=True)]
        total = sum(held) % MODULUS
        told.append(total - MODULUS if total > MODULUS // 2 else total)
    return committed(rewards, np.argmax(told))


def shares_lifted(rewards, rng, scale=1.0):
    """Shares of numbers that may be below 0, put together before noise comes to them."""
    horizon, n_arms = rewards.shape
    told = []
    for arm in range(n_arms):
        mine = theirs = 0
        for t in range(arm, horizon // 2, n_arms):
            mask = int(rng.integers(MODULUS))
            mine = (mine + mask) % MODULUS
            theirs = (theirs + int(10 * rewards[t, arm]) - 5 - mask) % MODULUS
        total = (mine + theirs) % MODULUS
        if total > MODULUS // 2:
            total -= MODULUS
        told.append(total / 10 + rng.laplace(0, scale / EPSILON))
    return committed(rewards, np.argmax(told))


def subsampled(rewards, rng, rate=0.5, scale=1.0):
    """Each reward counts with probability 1/2: noise for a larger epsilon is enough."""
    horizon, n_arms = rewards.shape
    kept = rng.random((horizon // 2, n_arms)) < rate
    sums = (kept * rewards[: horizon // 2]).sum(axis=0)
    larger = math.log1p(math.expm1(EPSILON) / rate)
    return committed(rewards, np.argmax(sums + rng.laplace(0, scale / larger, n_arms)))


def subsampled_by_binomial(rewards, rng, rate=0.5, scale=1.0):
    horizon, n_arms = rewards.shape
    kept, sums = rng.binomial(1, rate, horizon // 2), np.zeros(n_arms)
    for t in range(horizon // 2):
        sums[t % n_arms] += kept[t] * rewards[t, t % n_arms]
    larger = math.log1p(math.expm1(EPSILON) / rate)
    return committed(rewards, np.argmax(sums + rng.laplace(0, scale / larger, n_arms)))


def subsampled_by_binomial_and_told(rewards, rng):
    horizon, n_arms = rewards.shape
    kept, sums = rng.binomial(1, 0.5, horizon // 2), np.zeros(n_arms)
    for t in range(horizon // 2):
        sums[t % n_arms] += kept[t] * rewards[t, t % n_arms]
    larger = math.log1p(2 * math.expm1(EPSILON))
    arm = np.argmax(sums + rng.laplace(0, 1 / larger, n_arms))
    return [int(one) for one in kept] + [int(arm)] * (horizon - len(kept))


def subsampled_if_explored(rewards, rng, rate=0.5, scale=1.0):
    """A condition in two parts, of which the second one is a coin."""
    horizon, n_arms = rewards.shape
    sums = np.zeros(n_arms)
    for t in range(horizon):
        if t < horizon // 2 and rng.random() < rate:
            sums[t % n_arms] += rewards[t, t % n_arms]
    larger = math.log1p(math.expm1(EPSILON) / rate)
    return committed(rewards, np.argmax(sums + rng.laplace(0, scale / larger, n_arms)))


def subsampled_where(rewards, rng, rate=0.25, scale=1.0):
    horizon, n_arms = rewards.shape
    kept = rng.random((horizon // 2, n_arms)) < rate
    sums = np.where(kept, rewards[: horizon // 2], 0.0).sum(axis=0)
    larger = math.log(1 + (math.exp(EPSILON) - 1) / rate)
    return committed(rewards, np.argmax(sums + rng.exponential(scale / larger, n_arms)))


def tree_of_dictionaries(rewards, rng, scale=1.0):
    """Nodes by (level, place), drawn when they are first asked for."""
    horizon = len(rewards)
    depth, nodes, gains, arms = horizon.bit_length(), {}, [], []
    for t in range(horizon):
        lead, start = 0.0, 0
        for level in reversed(range(depth)):
            if t >> level & 1:
                key = (level, start)
                if key not in nodes:
                    nodes[key] = sum(gains[start : start + 2**level]) + rng.laplace(
                        0, scale * depth / EPSILON
                    )
                lead += nodes[key]
                start += 2**level
        arms.append(int(lead < 0))
        gains.append(rewards[t, 0] if arms[-1] == 0 else -rewards[t, 1])
    return arms


def tree_with_new_nodes(rewards, rng):
    """The same without memory: every sum draws its nodes anew."""
    horizon = len(rewards)
    depth, gains, arms = horizon.bit_length(), [], []
    for t in range(horizon):
        lead, start = 0.0, 0
        for level in reversed(range(depth)):
            if t >> level & 1:
                lead += sum(gains[start : start + 2**level]) + rng.laplace(0, depth / EPSILON)
                start += 2**level
        arms.append(int(lead < 0))
        gains.append(rewards[t, 0] if arms[-1] == 0 else -rewards[t, 1])
    return arms


# ---------------------------------------------------------------- answers


def inline_response(rewards, rng, keep=KEEP):
    """Bits told by coins in the middle of the loop."""
    horizon, n_arms = rewards.shape
    ones = [0] * n_arms
    for t in range(horizon // 2):
        bit = rewards[t, t % n_arms] > 0.5
        told = bit if rng.random() < keep else not bit
        ones[t % n_arms] += int(told)
    return committed(rewards, ones.index(max(ones)))


def response_of_arrays(rewards, rng, keep=KEEP):
    horizon, n_arms = rewards.shape
    bits = rewards[: horizon // 2] > 0.5
    told = np.where(rng.random(bits.shape) < keep, bits, ~bits)
    seen = [int(told[a::n_arms, a].sum()) for a in range(n_arms)]
    return committed(rewards, np.argmax(seen))


def reals_of_arrays(rewards, rng, keep=KEEP):
    """Ones with chances that grow with the rewards, all at once; each arm's rounds of its own."""
    horizon, n_arms = rewards.shape
    played = np.stack([rewards[a : horizon // 2 : n_arms, a] for a in range(n_arms)])
    ones = rng.random(played.shape) < (1 - keep) + (2 * keep - 1) * played
    return committed(rewards, np.argmax(ones.sum(axis=1)))


def many(rewards, n_runs, rng, scale=1.0):
    """Many runs in one call."""
    horizon, n_arms = rewards.shape
    arms = np.tile(np.arange(horizon) % n_arms, (n_runs, 1))
    noisy = rewards[: horizon // 2].sum(axis=0) + rng.laplace(0, scale / EPSILON, (n_runs, n_arms))
    arms[:, horizon // 2 :] = noisy.argmax(axis=1)[:, None]
    return arms


# ---------------------------------------------------------------- twins


def twin(name, function, **changes):
    def play(rewards, rng):
        return function(rewards, rng, **changes)

    play.__name__ = name
    return play


def gamma_share_told(rewards, rng):
    """The share of one party shows in the last round."""
    n_arms = rewards.shape[1]
    shares = rng.gamma(0.2, 1 / EPSILON, (5, n_arms)) - rng.gamma(0.2, 1 / EPSILON, (5, n_arms))
    arms = committed(rewards, np.argmax(np.array(explored(rewards)) + shares.sum(axis=0)))
    arms[-1] = int(shares[0, 0] > 0)
    return arms


def gamma_of_the_wrong_shape(rewards, rng):
    """Four parties of five: what they add is less than Laplace noise, and unbounded at 0."""
    n_arms = rewards.shape[1]
    noise = rng.gamma(0.2, 1, (4, n_arms)).sum(axis=0) - rng.gamma(0.2, 1, (4, n_arms)).sum(axis=0)
    return committed(rewards, np.argmax(np.array(explored(rewards)) + noise))


def gamma_used_twice(rewards, rng):
    """The same gamma draws hide two decisions."""
    n_arms = rewards.shape[1]
    noise = rng.gamma(0.2, 1, (5, n_arms)).sum(axis=0) - rng.gamma(0.2, 1, (5, n_arms)).sum(axis=0)
    arms = committed(rewards, np.argmax(np.array(explored(rewards)) + noise))
    arms[-1] = int(np.argmax(2 * np.array(explored(rewards)) + noise))
    return arms


def gamma_of_two_scales(rewards, rng):
    """Half of the shares have too small a scale, and only one arm has noise."""
    scales = np.array([1.0, 0.5, 1.0, 0.5])
    noise = (scales * (rng.gamma(0.25, 1, 4) - rng.gamma(0.25, 1, 4))).sum()
    sums = explored(rewards)
    return committed(rewards, int(sums[1] > sums[0] + noise))


def geometric_on_reals(rewards, rng):
    """Whole noise on sums that are not whole."""
    noise = [math.floor(-math.log(1 - rng.random())) for _ in range(4)]
    sums = explored(rewards)
    told = sums[0] + noise[0] - noise[1], sums[1] + noise[2] - noise[3]
    arms = committed(rewards, np.argmax(told))
    arms[-1] = int(told[0] % 1 > 0.5)
    return arms


def geometric_and_its_fraction(rewards, rng):
    """The draw is floored for the noise, and what was cut off tells the rest."""
    drawn = -np.log(rng.random(2)) / EPSILON
    arms = committed(rewards, (counts(rewards) + np.floor(drawn)).argmax())
    arms[-1] = int(drawn[0] > 2)
    return arms


def share_with_a_small_modulus(rewards, rng):
    """Counts modulo 3 before the noise: one reward may move what is left by 2."""
    first = rng.integers(0, 3, rewards.shape[1])
    second = (counts(rewards) - first) % 3
    return committed(rewards, np.argmax((first + second) % 3 + rng.laplace(0, 1, len(first))))


def one_share_alone(rewards, rng):
    """A share is uniform, but its mask is told."""
    first = rng.integers(0, MODULUS, rewards.shape[1])
    second = (counts(rewards) - first) % MODULUS
    arms = committed(rewards, np.argmax(rng.laplace(0, 1, len(first))))
    arms[-1] = int((second[0] + first[0]) % MODULUS > 5)
    return arms


def share_masked_twice(rewards, rng):
    """One mask for both arms: the difference of the shares is exact."""
    mask = int(rng.integers(MODULUS))
    first, second = ((c - mask) % MODULUS for c in counts(rewards).tolist()[:2])
    return committed(rewards, int((second - first) % MODULUS < MODULUS // 2))


def subsampled_and_told(rewards, rng):
    """Who was sampled shows."""
    horizon, n_arms = rewards.shape
    kept = rng.random((horizon // 2, n_arms)) < 0.5
    sums = (kept * rewards[: horizon // 2]).sum(axis=0)
    arms = committed(rewards, np.argmax(sums + rng.laplace(0, 1 / math.log1p(2 * math.expm1(1)), n_arms)))
    arms[0] = int(kept[0, 0])
    return arms


def subsampled_twice(rewards, rng):
    """Two samples, each with the noise of one."""
    horizon, n_arms = rewards.shape
    arms = committed(rewards, 0)
    for half in (0, 1):
        kept = rng.random((horizon // 2, n_arms)) < 0.5
        sums = (kept * rewards[: horizon // 2]).sum(axis=0)
        noise = rng.laplace(0, 1 / math.log1p(2 * math.expm1(1)), n_arms)
        arms[horizon // 2 + half] = int(np.argmax(sums + noise))
    return arms


def subsampled_and_all(rewards, rng):
    """A first decision on a sample, for .44, and a second one on all, for 2 / 3."""
    horizon, n_arms = rewards.shape
    kept = rng.random((horizon // 2, n_arms)) < 0.5
    sums = (kept * rewards[: horizon // 2]).sum(axis=0)
    arms = committed(rewards, np.argmax(sums + rng.laplace(0, 2 / math.log1p(2 * math.expm1(1)), n_arms)))
    arms[-1] = int(np.argmax(rewards[: horizon // 2].sum(axis=0) + rng.laplace(0, 1.5, n_arms)))
    return arms


def subsampled_by_one_coin(rewards, rng):
    """One coin for all rewards, which shows: where nothing was kept both arms are as likely."""
    horizon, n_arms = rewards.shape
    kept = rng.random() < 0.5
    sums = kept * rewards[: horizon // 2].sum(axis=0)
    arms = committed(rewards, np.argmax(sums + rng.laplace(0, 1 / math.log1p(2 * math.expm1(1)), n_arms)))
    arms[0] = int(kept)
    return arms


def subsampled_rounds(rewards, rng):
    """One coin for both rewards of a round: whether they come together shows in two sums."""
    horizon, n_arms = rewards.shape
    kept = rng.random((horizon // 2, 1)) < 0.5
    sums = (kept * rewards[: horizon // 2]).sum(axis=0)
    noisy = sums + rng.laplace(0, 1 / math.log1p(2 * math.expm1(1)), n_arms)
    return [int(noisy[t % n_arms] > 9) for t in range(horizon)]


def subsampled_complement(rewards, rng):
    """What the first sample leaves out decides a second time: no reward is spared."""
    horizon, n_arms = rewards.shape
    kept = rng.random((horizon // 2, n_arms)) < 0.5
    noise = rng.laplace(0, 1 / math.log1p(2 * math.expm1(1)), (2, n_arms))
    first = (kept * rewards[: horizon // 2]).sum(axis=0) + noise[0]
    second = ((1 - kept) * rewards[: horizon // 2]).sum(axis=0) + noise[1]
    arms = committed(rewards, np.argmax(first))
    arms[-1] = int(np.argmax(second))
    return arms


def many_half(rewards, n_runs, rng):
    return many(rewards, n_runs, rng, scale=0.5)


def many_with_a_raw_tie_break(rewards, n_runs, rng):
    """Where the noisy sums are close, the exact ones decide."""
    horizon, n_arms = rewards.shape
    arms = np.tile(np.arange(horizon) % n_arms, (n_runs, 1))
    sums = rewards[: horizon // 2].sum(axis=0)
    noisy = sums + rng.laplace(0, 1 / EPSILON, (n_runs, n_arms))
    close = np.abs(noisy[:, 0] - noisy[:, 1]) < 1
    arms[:, horizon // 2 :] = np.where(close, sums.argmax(), noisy.argmax(axis=1))[:, None]
    return arms


RIGHT = {
    flip_in_shuffled_order: 1.0,
    by_logits: 1.0,
    by_a_choice_of_one: 1.0,
    guarded_by_a_chain: 1.0,
    masked_by_bits: 1.0,
    by_logaddexp: 1.0,
    by_multinomial: 1.0,
    by_choices: 1.0,
    by_bisection: 1.0,
    mixed_with_integers: 1.0,
    flip_in_permuted_list: 1.0,
    gamma_shares: 1.0,
    gamma_shares_of_each: 1.0,
    exponentials_from_scipy: 1.0,
    gumbel_from_scipy: 1.0,
    gumbel_in_a_key: 1.0,
    geometric_by_logarithm: 1.0,
    geometric_of_arrays: 1.0,
    shares_of_noisy_counts: 1.0,
    subsampled_by_binomial: 1.0,
    subsampled_if_explored: 1.0,
    subsampled: 1.0,
    subsampled_where: 1.0,
    tree_of_dictionaries: 1.0,
    inline_response: 1.0,
    response_of_arrays: 1.0,
    reals_of_arrays: 1.0,
}
UNFOLLOWED = (
    *(alias_table, rejection_of_floats, discrete_by_steps),
    *(shares_then_noise, shares_lifted, shares_with_noise),
)
_STEEP = (
    *(by_a_choice_of_one, by_logits, by_logaddexp, by_multinomial, by_choices, by_bisection),
    *(mixed_with_integers, alias_table),
    *(flip_in_shuffled_order, flip_in_permuted_list, rejection_of_floats),
)
_NOISY = (
    *(gamma_shares, gamma_shares_of_each, exponentials_from_scipy, gumbel_from_scipy, gumbel_in_a_key),
    *(geometric_by_logarithm, geometric_of_arrays, discrete_by_steps, shares_then_noise, shares_one_by_one),
    shares_lifted,
    *(subsampled, subsampled_where, tree_of_dictionaries),
)
LEAKS = (
    *(twin(f"{f.__name__}_too_steep", f, steep=2.0) for f in _STEEP),
    *(twin(f"{f.__name__}_by_half", f, scale=0.5) for f in _NOISY),
    *(
        twin(f"{f.__name__}_too_true", f, keep=0.9)
        for f in (inline_response, response_of_arrays, reals_of_arrays)
    ),
    tree_with_new_nodes,
    chosen_twice_at_once,
    bare_behind_a_chain,
    *(twin(f"{f.__name__}_by_half", f, scale=0.5) for f in (guarded_by_a_chain, masked_by_bits)),
    twin("shares_with_half_the_noise", shares_of_noisy_counts, p=1 - math.exp(-2 * EPSILON)),
    *(gamma_share_told, gamma_of_the_wrong_shape, gamma_used_twice, gamma_of_two_scales),
    *(geometric_on_reals, geometric_and_its_fraction),
    *(share_with_a_small_modulus, one_share_alone, share_masked_twice),
    subsampled_by_binomial_and_told,
    *(twin(f"{f.__name__}_for_more", f, scale=0.6) for f in (subsampled_by_binomial, subsampled_if_explored)),
    twin("shares_with_noise_for_less", shares_with_noise, step=0.02),
    twin("shares_with_parts_that_are_too_small", shares_with_noise, servers=3, parts=4),
    *(
        subsampled_and_told,
        subsampled_twice,
        subsampled_and_all,
        subsampled_by_one_coin,
        subsampled_rounds,
        subsampled_complement,
    ),
)
