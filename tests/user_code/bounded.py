"""Right bandits whose noise is more than a Laplace draw, with the epsilon that each of them costs.

EPSILON = 1 is claimed of each for rewards in [0, 1]; `RIGHT` gives the least epsilon that is true of each, as
far as its form tells. They were written before the bounds were tried on them.
"""

from __future__ import annotations

import dataclasses
import math
import random

import numpy as np
from scipy.special import softmax
from scipy.stats import hypsecant

EPSILON = 1.0


def _explored(rewards):
    """Sums of the first half, arm by arm in turn; every reward counts once."""
    horizon, n_arms = rewards.shape
    sums = np.zeros(n_arms)
    for t in range(horizon // 2):
        sums[t % n_arms] += rewards[t, t % n_arms]
    return sums


def _committed(rewards, arm):
    horizon, n_arms = rewards.shape
    arms = np.arange(horizon) % n_arms
    arms[horizon // 2 :] = arm
    return arms


def noisy_max_laplace(rewards, rng):
    return _committed(rewards, np.argmax(_explored(rewards) + rng.laplace(0, 1 / EPSILON, rewards.shape[1])))


def noisy_max_exponential(rewards, rng):
    sums = _explored(rewards)
    return _committed(rewards, np.argmax(sums + rng.exponential(1 / EPSILON, len(sums))))


def gumbel_max(rewards, rng):
    sums = _explored(rewards)
    return _committed(rewards, np.argmax(EPSILON * sums + rng.gumbel(size=len(sums))))


def gumbel_max_from_uniforms(rewards, rng):
    sums = _explored(rewards)
    u = rng.random(len(sums))
    return _committed(rewards, np.argmax(EPSILON * sums - np.log(-np.log(u))))


def exponential_by_choice(rewards, rng):
    sums = _explored(rewards)
    weights = np.exp(EPSILON * sums)
    return _committed(rewards, rng.choice(len(sums), p=weights / weights.sum()))


def exponential_by_choice_shifted(rewards, rng):
    scores = EPSILON * _explored(rewards)
    weights = np.exp(scores - np.max(scores))
    chances = weights / np.sum(weights)
    return _committed(rewards, rng.choice(np.arange(len(scores)), p=chances))


def exponential_by_search(rewards, rng):
    scores = EPSILON * _explored(rewards)
    weights = np.exp(scores - scores.max())
    cumulative = np.cumsum(weights / weights.sum())
    return _committed(rewards, int(np.searchsorted(cumulative, rng.random())))


def exponential_by_loop(rewards, rng):
    scores = EPSILON * _explored(rewards)
    weights = [math.exp(s) for s in scores]
    total = sum(weights)
    u, reached, arm = rng.random(), 0.0, len(weights) - 1
    for i, w in enumerate(weights):
        reached += w / total
        if u < reached:
            arm = i
            break
    return _committed(rewards, arm)


def exponential_by_softmax(rewards, rng):
    chances = softmax(EPSILON * _explored(rewards))
    return _committed(rewards, rng.choice(rewards.shape[1], p=chances))


def permute_and_flip(rewards, rng):
    sums = _explored(rewards)
    best = sums.max()
    for arm in rng.permutation(len(sums)):
        if rng.random() < np.exp(EPSILON * (sums[arm] - best)):
            return _committed(rewards, arm)
    raise AssertionError("the best one is taken with certainty")


def rejection(rewards, rng):
    """Propose an arm, take it with a chance that grows with its last rewards: the exponential mechanism."""
    horizon, n_arms = rewards.shape
    half = horizon // 2
    sums = rewards[half - 4 : half].sum(axis=0)
    while True:
        arm = rng.integers(n_arms)
        if rng.random() < math.exp(EPSILON * (sums[arm] - 4)):
            return _committed(rewards, arm)


def response_of_reals(rewards, rng):
    """Every reward is told as a bit that is 1 with a chance that grows with it."""
    horizon, n_arms = rewards.shape
    low, high = 1 / (1 + math.exp(EPSILON)), math.exp(EPSILON) / (1 + math.exp(EPSILON))
    ones = np.zeros(n_arms)
    for t in range(horizon // 2):
        arm = t % n_arms
        ones[arm] += rng.random() < low + (high - low) * rewards[t, arm]
    return _committed(rewards, np.argmax(ones))


def response_by_binomial(rewards, rng):
    horizon, n_arms = rewards.shape
    keep = 1 / (1 + math.exp(-EPSILON))
    totals, arms = [0.0] * n_arms, []
    for t in range(horizon):
        arm = t % n_arms if t < 10 * n_arms else int(np.argmax(totals))
        bit = rng.binomial(1, (1 - keep) + (2 * keep - 1) * rewards[t, arm])
        totals[arm] += (bit - (1 - keep)) / (2 * keep - 1) - 0.5
        arms.append(arm)
    return arms


def inverse_laplace(rewards, rng):
    sums = _explored(rewards)
    u = rng.random(len(sums)) - 0.5
    noise = -(1 / EPSILON) * np.sign(u) * np.log(1 - 2 * np.abs(u))
    return _committed(rewards, np.argmax(sums + noise))


def inverse_laplace_by_cases(rewards, rng):
    sums = _explored(rewards)
    u = rng.uniform(0, 1, size=len(sums))
    noise = np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u))) / EPSILON
    return _committed(rewards, (sums + noise).argmax())


def inverse_laplace_one_by_one(rewards, rng):
    noisy = []
    for s in _explored(rewards):
        u = rng.uniform(-0.5, 0.5)
        noisy.append(s - math.copysign(1, u) * math.log1p(-2 * abs(u)) / EPSILON)
    return _committed(rewards, int(np.argmax(noisy)))


def _drawing(uniform, scale, least=1e-16):
    def draw():
        u = uniform() - 0.5
        return -scale * math.copysign(math.log1p(-min(2 * abs(u), 1 - least)), u)

    return draw


def inverse_laplace_in_a_closure(rewards, rng, least=1e-16):
    """The sign is that of the number that the size comes from."""
    noise = _drawing(rng.random, 1 / EPSILON, least)
    noisy = [s + noise() for s in _explored(rewards)]
    return _committed(rewards, max(range(len(noisy)), key=noisy.__getitem__))


def difference_of_exponentials(rewards, rng):
    sums = _explored(rewards)
    noise = rng.exponential(1 / EPSILON, len(sums)) - rng.exponential(1 / EPSILON, len(sums))
    noisy = (sums + noise).tolist()
    return _committed(rewards, noisy.index(max(noisy)))


def difference_of_logarithms(rewards, rng):
    sums = _explored(rewards)
    noisy = [s + (math.log(rng.random()) - math.log(rng.random())) / EPSILON for s in sums]
    return _committed(rewards, max(range(len(noisy)), key=lambda i: noisy[i]))


def logistic_noise(rewards, rng):
    sums = _explored(rewards)
    u = rng.random(sums.shape)
    return _committed(rewards, np.argmax(sums + np.log(u / (1 - u)) / EPSILON))


def sparse_vector(rewards, rng):
    """Stay with the first arm until a block of its rewards falls below a noisy threshold, at most once."""
    horizon = len(rewards)
    rho = rng.laplace(0, 2 / EPSILON)
    arms, arm, block = [], 0, 0.0
    for t in range(horizon):
        arms.append(arm)
        if arm == 0:
            block += rewards[t, 0]
            if t % 5 == 4:
                if -block + rng.laplace(0, 4 / EPSILON) >= -1 + rho:
                    arm = 1
                block = 0.0
    return np.array(arms)


def tree_of_sums(rewards, rng):
    """Running sums of the binary mechanism, one tree for each arm; actions follow the noisy means."""
    horizon, n_arms = rewards.shape
    levels = int(math.log2(horizon)) + 1
    scale = levels / EPSILON
    exact = [[0.0] * levels for _ in range(n_arms)]
    noisy = [[0.0] * levels for _ in range(n_arms)]
    pulls, sums, arms = np.zeros(n_arms), np.zeros(n_arms), []
    for t in range(horizon):
        arm = t if t < n_arms else int(np.argmax(sums / pulls + np.sqrt(2 * np.log(t + 1) / pulls)))
        pulls[arm] += 1
        n = int(pulls[arm])
        level = (n & -n).bit_length() - 1
        exact[arm][level] = sum(exact[arm][:level]) + rewards[t, arm]
        for below in range(level):
            exact[arm][below] = noisy[arm][below] = 0.0
        noisy[arm][level] = exact[arm][level] + rng.laplace(0, scale)
        sums[arm] = sum(noisy[arm][i] for i in range(levels) if n >> i & 1)
        arms.append(arm)
    return np.array(arms)


class LazyUCB:
    """Doubling batches: a batch of an arm is released once, with its own noise."""

    def __init__(self, n_arms, rng):
        self.n_arms, self.rng = n_arms, rng
        self.means, self.batch = {}, {arm: [] for arm in range(n_arms)}
        self.size = dict.fromkeys(range(n_arms), 1)
        self.t = 0

    def select(self):
        self.t += 1
        for arm in range(self.n_arms):
            if arm not in self.means:
                return arm
        width = {a: math.sqrt(2 * math.log(self.t) / self.size[a]) + 4 / self.size[a] for a in self.means}
        return max(self.means, key=lambda a: self.means[a] + width[a])

    def update(self, arm, reward):
        self.batch[arm].append(float(reward))
        if len(self.batch[arm]) >= self.size[arm]:
            total = sum(self.batch[arm]) + self.rng.laplace(scale=1 / EPSILON)
            self.means[arm] = total / len(self.batch[arm])
            self.size[arm] *= 2
            self.batch[arm] = []


def lazy_ucb(rewards, rng):
    horizon, n_arms = rewards.shape
    bandit, arms = LazyUCB(n_arms, rng), []
    for t in range(horizon):
        arms.append(bandit.select())
        bandit.update(arms[-1], rewards[t, arms[-1]])
    return arms


def thresholds_with_noise(rewards, rng):
    """Arms whose noisy sums reach a noisy bar stay; each sum is looked at once."""
    horizon, n_arms = rewards.shape
    sums = rewards[: horizon // 2].sum(axis=0) / 2
    good = [arm for arm in range(n_arms) if sums[arm] + rng.laplace(0, 1 / EPSILON) > horizon / 8]
    return _committed(rewards, good[0] if good else 0)


def follow_the_noisy_leader(rewards, rng):
    """Blocks of eight rounds; the block's sums get fresh Gumbel noise, and only the leader is seen."""
    horizon, n_arms = rewards.shape
    arms, arm = [], 0
    block = np.zeros(n_arms)
    for t in range(horizon):
        if t % 8 == 0 and t:
            arm = int(np.argmax(block * EPSILON + rng.gumbel(0, 1, n_arms)))
            block = np.zeros(n_arms)
        arms.append((arm + t) % n_arms if t % 4 else arm)
        block[arms[-1]] += rewards[t, arms[-1]]
    return arms


def exp3_in_blocks(rewards, rng):
    """A softmax of the last block's sums: every reward is in one block, and every block decides once."""
    horizon, n_arms = rewards.shape
    sums, arm, arms = [0.0] * n_arms, 0, []
    for t in range(horizon):
        if t and t % 10 == 0:
            weights = np.exp(np.array(sums) * EPSILON)
            arm = int(rng.choice(n_arms, p=weights / weights.sum()))
            sums = [0.0] * n_arms
        chosen = arm if t % 2 else t % n_arms
        sums[chosen] += rewards[t, chosen]
        arms.append(chosen)
    return np.array(arms)


def mixed_with_uniform(rewards, rng):
    sums = _explored(rewards)
    chances = np.exp(EPSILON * sums) / np.exp(EPSILON * sums).sum()
    chances = 0.9 * chances + 0.1 / len(sums)
    return _committed(rewards, rng.choice(len(sums), p=chances))


def median_with_noise(rewards, rng):
    """Medians of the explored rewards, which move by at most 1."""
    horizon, n_arms = rewards.shape
    medians = np.array([np.median(rewards[arm : horizon // 2 : n_arms, arm]) for arm in range(n_arms)])
    return _committed(rewards, np.argmax(medians + rng.laplace(0, 1 / EPSILON, n_arms)))


def incremental_means(rewards, rng):
    horizon, n_arms = rewards.shape
    means, pulls = np.zeros(n_arms), np.zeros(n_arms)
    for t in range(horizon // 2):
        arm = t % n_arms
        pulls[arm] += 1
        means[arm] += (rewards[t, arm] - means[arm]) / pulls[arm]
    return _committed(rewards, np.argmax(means + rng.laplace(0, 1 / (pulls * EPSILON))))


def counts_of_successes(rewards, rng):
    horizon, n_arms = rewards.shape
    counts = (rewards[: horizon // 2] > 0.5).sum(axis=0)
    p = 1 - math.exp(-EPSILON)
    noisy = counts + rng.geometric(p, n_arms) - rng.geometric(p, n_arms)
    return _committed(rewards, int(np.argmax(noisy)))


def counts_by_truth_values(rewards, rng):
    ones = [0, 0]
    for t in range(len(rewards) // 2):
        ones[t % 2] += bool(rewards[t, t % 2] > 0.5)
        ones[t % 2] += bool(rng.random() < rewards[t, t % 2])
    return _committed(rewards, int(np.argmax(np.array(ones) + rng.laplace(0, 2 / EPSILON, 2))))


def second_moment(rewards, rng):
    """Squares of the rewards, which lie in [0, 1], too."""
    horizon, n_arms = rewards.shape
    squares = np.square(rewards[: horizon // 2]).sum(axis=0)
    return _committed(rewards, np.argmin(squares + rng.laplace(0, 1 / EPSILON, n_arms)))


def product_of_two_factors(rewards, rng):
    """(1 + r)(2 + r) goes from 2 to 6, as both of its factors move."""
    horizon, n_arms = rewards.shape
    half = rewards[: horizon // 2]
    products = ((1 + half) * (2 + half)).sum(axis=0)
    return _committed(rewards, np.argmax(products + rng.laplace(0, 4 / EPSILON, n_arms)))


def discounted(rewards, rng):
    """Discounted sums, released once; the sensitivity is 1."""
    horizon, n_arms = rewards.shape
    sums = np.zeros(n_arms)
    for t in range(horizon // 2):
        sums *= 0.95
        sums[t % n_arms] += rewards[t, t % n_arms]
    noisy = np.asarray(sums) + rng.laplace(0, 1 / EPSILON, n_arms)
    order = np.argsort(-noisy)
    return _committed(rewards, order[0])


def two_budgets(rewards, rng):
    """A third of the budget on a first look, two thirds on a second one."""
    horizon, n_arms = rewards.shape
    arms = np.arange(horizon) % n_arms
    first = rewards[: horizon // 4].sum(0) + rng.laplace(0, 3 / EPSILON, n_arms)
    second = rewards[: horizon // 2].sum(0) + rng.laplace(0, 1.5 / EPSILON, n_arms)
    arms[horizon // 4 : horizon // 2] = first.argmax()
    arms[horizon // 2 :] = second.argmax()
    return arms


def softmax_of_released(rewards, rng):
    """Chances from sums that were released before: post-processing."""
    noisy = _explored(rewards) + rng.laplace(0, 1 / EPSILON, rewards.shape[1])
    chances = np.exp(noisy - noisy.max())
    return _committed(rewards, rng.choice(len(noisy), p=chances / chances.sum()))


def thompson_on_released(rewards, rng):
    horizon, n_arms = rewards.shape
    noisy = np.clip(_explored(rewards) + rng.laplace(0, 1 / EPSILON, n_arms), 0, horizon)
    arms = np.arange(horizon) % n_arms
    for t in range(horizon // 2, horizon):
        arms[t] = np.argmax(rng.beta(1 + noisy, 1 + np.maximum(horizon / 4 - noisy, 0)))
    return arms


def gumbel_from_clipped_uniforms(rewards, rng):
    """Clipped where doubles end, against log(0)."""
    sums = _explored(rewards)
    u = np.minimum(1.0 - rng.random(len(sums)), 1.0 - 1e-16)
    return _committed(rewards, np.argmax(EPSILON * sums - np.log(-np.log(u))))


def inverse_laplace_guarded(rewards, rng):
    sums = _explored(rewards)
    u = rng.random(len(sums)) - 0.5
    noise = -np.sign(u) * np.log(np.maximum(1 - 2 * np.abs(u), 1e-300)) / EPSILON
    return _committed(rewards, np.argmax(sums + noise))


def logarithm_of_a_quotient(rewards, rng):
    sums = _explored(rewards)
    u, v = 1 - rng.random(len(sums)), 1 - rng.random(len(sums))
    return _committed(rewards, np.argmax(sums + np.log(u / v) / EPSILON))


def secant_noise(rewards, rng):
    sums = _explored(rewards)
    return _committed(
        rewards, np.argmax(sums + hypsecant.rvs(scale=1 / EPSILON, size=len(sums), random_state=rng))
    )


def search_among_sums_of_weights(rewards, rng):
    scores = EPSILON * _explored(rewards)
    cumulative = np.cumsum(np.exp(scores - scores.max()))
    return _committed(rewards, int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")))


def coin_for_every_arm(rewards, rng):
    """An arm is taken with its share of the weights that are left: the chances of the coins multiply."""
    scores = EPSILON * _explored(rewards)
    top = max(scores)
    weights = [math.exp(s - top) for s in scores]
    rest = sum(weights)
    for arm in range(len(weights) - 1):
        if rng.random() < weights[arm] / rest:
            return _committed(rewards, arm)
        rest -= weights[arm]
    return _committed(rewards, len(weights) - 1)


def sign_times_exponential(rewards, rng):
    sums = _explored(rewards)
    noise = rng.choice([-1, 1], len(sums)) * rng.exponential(1 / EPSILON, len(sums))
    return _committed(rewards, np.argmax(sums + noise))


def python_generator_of_its_own(rewards, rng):
    coins = random.Random(int(rng.integers(2**62)))
    noisy = [s + coins.choice((-1, 1)) * coins.expovariate(EPSILON) for s in _explored(rewards)]
    return _committed(rewards, int(np.argmax(noisy)))


def python_module(rewards, rng):
    noisy = [s - math.log(-math.log(random.random())) / EPSILON for s in _explored(rewards)]
    return _committed(rewards, int(np.argmax(noisy)))


def _answer_of_several(winner, n_arms, rng):
    keep = math.exp(EPSILON) / (math.exp(EPSILON) + n_arms - 1)
    if rng.random() < keep:
        return winner
    other = int(rng.integers(n_arms - 1))
    return other + (other >= winner)


def response_of_the_best_arm(rewards, rng):
    """The arm with the largest exact sum, told by randomised response."""
    n_arms = rewards.shape[1]
    return _committed(rewards, _answer_of_several(int(np.argmax(_explored(rewards))), n_arms, rng))


def _bit_told(reward, rng):
    bit = rng.random() < reward
    return bit if rng.random() < math.exp(EPSILON) / (1 + math.exp(EPSILON)) else not bit


def response_to_a_coin(rewards, rng):
    """A bit with the chance of the reward, flipped by a second coin."""
    horizon, n_arms = rewards.shape
    ones = np.zeros(n_arms)
    for t in range(horizon // 2):
        ones[t % n_arms] += _bit_told(rewards[t, t % n_arms], rng)
    return _committed(rewards, np.argmax(ones))


_SYSTEM = random.SystemRandom()


def _level_told(reward):
    level = round(2 * float(reward))
    if _SYSTEM.random() < math.exp(EPSILON) / (math.exp(EPSILON) + 2):
        return level
    return _SYSTEM.choice([x for x in (0, 1, 2) if x != level])


def response_of_the_system(rewards, rng):
    """Three levels, with coins of the operating system; as long as there is room."""
    horizon, n_arms = rewards.shape
    arms, arm = [], 0
    while True:
        if len(arms) >= horizon:
            return np.array(arms)
        arms.append(arm)
        if _level_told(rewards[len(arms) - 1, arm]) == 0:
            arm = (arm + 1) % n_arms


@dataclasses.dataclass
class WithFactories:
    """Commits after 20 rounds; its `__init__`, which nobody wrote, asks whether it was given lists."""

    n_arms: int
    rng: np.random.Generator
    seen: list = dataclasses.field(default_factory=list)
    best: list = dataclasses.field(default_factory=list)

    def select(self):
        if len(self.seen) < 20:
            return len(self.seen) % self.n_arms
        if not self.best:
            sums = [sum(self.seen[arm :: self.n_arms]) for arm in range(self.n_arms)]
            self.best.append(int(np.argmax([value + self._noise() for value in sums])))
        return self.best[0]

    def _noise(self):
        return self.rng.laplace(0, 1 / EPSILON)

    def update(self, arm, reward):
        if len(self.seen) < 20:
            self.seen.append(reward)


RIGHT = {
    noisy_max_laplace: 1.0,
    noisy_max_exponential: 1.0,
    gumbel_max: 1.0,
    gumbel_max_from_uniforms: 1.0,
    exponential_by_choice: 1.0,
    exponential_by_choice_shifted: 1.0,
    exponential_by_search: 1.0,
    exponential_by_loop: 1.0,
    exponential_by_softmax: 1.0,
    permute_and_flip: 1.0,
    rejection: 1.0,
    response_of_reals: 1.0,
    response_by_binomial: 1.0,
    inverse_laplace: 1.0,
    inverse_laplace_by_cases: 1.0,
    inverse_laplace_one_by_one: 1.0,
    inverse_laplace_in_a_closure: 1.0,
    difference_of_exponentials: 1.0,
    difference_of_logarithms: 1.0,
    logistic_noise: 1.0,
    sparse_vector: 0.25,
    tree_of_sums: 1.0,
    lazy_ucb: 1.0,
    thresholds_with_noise: 0.5,
    follow_the_noisy_leader: 1.0,
    exp3_in_blocks: 1.0,
    mixed_with_uniform: 1.0,
    median_with_noise: 1.0,
    incremental_means: 1.0,
    counts_of_successes: 1.0,
    second_moment: 1.0,
    counts_by_truth_values: 1.0,
    product_of_two_factors: 1.0,
    discounted: 1.0,
    two_budgets: 1.0,
    softmax_of_released: 1.0,
    thompson_on_released: 1.0,
    gumbel_from_clipped_uniforms: 1.0,
    inverse_laplace_guarded: 1.0,
    logarithm_of_a_quotient: 1.0,
    secant_noise: 1.0,
    search_among_sums_of_weights: 1.0,
    coin_for_every_arm: 1.0,
    sign_times_exponential: 1.0,
    python_generator_of_its_own: 1.0,
    python_module: 1.0,
    response_of_the_best_arm: 1.0,
    response_to_a_coin: 1.0,
    response_of_the_system: 1.0,
}
