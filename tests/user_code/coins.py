"""Noise and answers that are made with coins: signs, loops, levels.

`RIGHT` gives the true cost of each; no leak has a bound within EPSILON.
"""

import math
import random
from fractions import Fraction

import numpy as np

from tests.user_code.pieces import twin

EPSILON = 1.0
MORE = math.exp(-EPSILON)


def told(rewards, noise):
    """The sum of each arm with noise decides what is played: how large it is, not only which is larger."""
    half = len(rewards) // 2
    sums = [sum(rewards[t, a] for t in range(half) if t % 2 == a) for a in range(2)]
    return levels(rewards, [value + noise() for value in sums])


def levels(rewards, noisy):
    half = len(rewards) // 2
    return [t % 2 for t in range(half)] + [int(noisy[t % 2] > t / 4) for t in range(half, len(rewards))]


# ---------------------------------------------------------------- signs


def sign_in_an_expression(rewards, rng, scale=1.0):
    return told(rewards, lambda: rng.exponential(scale) * (1 if rng.random() < 0.5 else -1))


def _turned(rng, scale, fair):
    size = -scale * math.log(1 - rng.random())
    if rng.random() < fair:
        size = -size
    return size


def sign_in_a_branch(rewards, rng, scale=1.0, fair=0.5):
    return told(rewards, lambda: _turned(rng, scale, fair))


def _returned(rng, scale):
    size = rng.exponential(scale)
    if rng.random() >= 0.5:
        return size
    return -size


def sign_in_what_is_returned(rewards, rng, scale=1.0):
    return told(rewards, lambda: _returned(rng, scale))


def sign_of_a_choice(rewards, rng, scale=1.0):
    return told(rewards, lambda: rng.exponential(scale) * rng.choice([-1, 1]))


def sign_told(rewards, rng):
    coin = rng.random()
    sign = 1 if coin < 0.5 else -1
    return [*told(rewards, lambda: rng.exponential(1.0) * sign)[:-1], int(coin < 0.5)]


def size_with_two_signs(rewards, rng):
    size = rng.exponential(1.0)
    return told(rewards, lambda: size * (1 if rng.random() < 0.5 else -1))


def size_told(rewards, rng):
    size = rng.exponential(1.0)
    noise = size if rng.random() < 0.5 else -size
    sums = rewards[: len(rewards) // 2].sum(axis=0)
    return [*levels(rewards, [sums[0] + noise, rng.laplace()])[:-1], int(size > 1)]


# ---------------------------------------------------------------- loops of coins


def counted(rewards, noise):
    """As `told`, of rewards that coins have rounded."""
    half = len(rewards) // 2
    ones = [sum(rewards[t, a] > 0.5 for t in range(half) if t % 2 == a) for a in range(2)]
    return levels(rewards, [value + noise() for value in ones])


def _heads(rng, more):
    n = 0
    while rng.random() < more:
        n += 1
    return n


def heads_less_heads(rewards, rng, more=MORE):
    return counted(rewards, lambda: _heads(rng, more) - _heads(rng, more))


def _until_tails(rng, more):
    for n in range(1000):
        u = rng.random()
        if u >= more:
            return n
    return 1000


def heads_with_a_cap(rewards, rng, more=MORE):
    return counted(rewards, lambda: _until_tails(rng, more) - _until_tails(rng, more))


def heads_in_place(rewards, rng, more=MORE):
    half, noisy = len(rewards) // 2, []
    for a in range(2):
        up = down = 0
        while rng.random() < more:
            up += 1
        while True:
            u = rng.random()
            if u > more:
                break
            down += 1
        noisy.append(int((rewards[:half] > 0.5)[a::2, a].sum()) + up - down)
    return levels(rewards, noisy)


class _Noise:
    def __init__(self, rng, more):
        self.rng, self.more = rng, more

    def coin(self):
        return self.rng.random() < self.more

    def heads(self):
        n = 0
        while self.coin():
            n += 1
        return n


def heads_of_an_object(rewards, rng, more=MORE):
    noise = _Noise(rng, more)
    return counted(rewards, lambda: noise.heads() - noise.heads())


def _with_a_sign(rng, more, again=True):
    while True:
        sign = 1 if rng.random() < 0.5 else -1
        size = 0
        while rng.random() < more:
            size += 1
        if again and size == 0 and sign < 0:
            continue
        return sign * size


def heads_with_a_sign(rewards, rng, more=MORE, again=True):
    return counted(rewards, lambda: _with_a_sign(rng, more, again))


def _bernoulli(rng, gamma):
    k = 1
    while rng.integers(gamma.denominator * k) < gamma.numerator:
        k += 1
    return k % 2 == 1


def _exact(rng, scale):
    """Canonne, Kamath & Steinke, 2020."""
    while True:
        u = int(rng.integers(scale))
        if not _bernoulli(rng, Fraction(u, scale)):
            continue
        v = 0
        while _bernoulli(rng, Fraction(1, 1)):
            v += 1
        value, negative = u + scale * v, rng.integers(2) == 1
        if negative and value == 0:
            continue
        return -value if negative else value


def exact_discrete_laplace(rewards, rng, scale=1, times=1):
    return counted(rewards, lambda: times * _exact(rng, scale))


def geometric_by_logarithms(rewards, rng, scale=1.0):
    def one():
        return int(np.floor(np.log(rng.random()) / -1.0 * scale))

    def other():
        return int(-math.log(1 - rng.random()) * scale)

    return counted(rewards, lambda: one() - other())


def _staircase(rng, epsilon, inner):
    b = math.exp(-epsilon)
    gamma = 1 / (1 + math.exp(epsilon / 2))
    sign = 1 if rng.random() < 0.5 else -1
    step, u = int(rng.geometric(1 - b)) - 1, rng.random()
    if rng.random() < inner * gamma / (gamma + (1 - gamma) * b):
        size = step + gamma * u
    else:
        size = step + gamma + (1 - gamma) * u
    return sign * size


def staircase(rewards, rng, epsilon=EPSILON, inner=1.0):
    return told(rewards, lambda: _staircase(rng, epsilon, inner))


def heads_of_a_seeded_generator(rewards, rng):
    coins = random.Random(int(rng.integers(2**62)))
    return counted(rewards, lambda: _with_a_sign(coins, MORE, True))


def geometric_used_again(rewards, rng, p=1 - MORE):
    """Two decisions look at the same noisy counts."""
    half = len(rewards) // 2
    ones = (rewards[:half] > 0.5).sum(axis=0)
    noisy = [c + int(rng.geometric(p)) - int(rng.geometric(p)) for c in ones]
    return [0, *levels(rewards, noisy)[:-2], int(np.argmax(noisy))]


def heads_told(rewards, rng):
    heads = [_heads(rng, MORE) for _ in range(4)]
    ones = (rewards[: len(rewards) // 2] > 0.5).sum(axis=0)
    noisy = [c + heads[i] - heads[i + 2] for i, c in enumerate(ones)]
    return [*levels(rewards, noisy)[:-1], int(heads[0] > 0)]


def same_heads(rewards, rng):
    heads = _heads(rng, MORE) - _heads(rng, MORE)
    return counted(rewards, lambda: heads)


def _early(rng):
    for n in range(5):
        if rng.random() >= MORE:
            return n
    return 5


def cap_that_shows(rewards, rng):
    return counted(rewards, lambda: _early(rng) - _early(rng))


def heads_on_one_side(rewards, rng):
    return counted(rewards, lambda: _heads(rng, MORE))


def heads_of_two_kinds(rewards, rng):
    return counted(rewards, lambda: _heads(rng, MORE) - _heads(rng, math.exp(-2 * EPSILON)))


def heads_on_reals(rewards, rng):
    return told(rewards, lambda: _heads(rng, MORE) - _heads(rng, MORE))


def heads_by_rewards(rewards, rng):
    """Raw data set the chance of a coin."""
    more = MORE * rewards[0, 0]
    return counted(rewards, lambda: _heads(rng, more) - _heads(rng, more))


def heads_that_are_kept(rewards, rng):
    """How long a loop ran is kept beside what it made."""
    ones, tosses, noisy = (rewards[: len(rewards) // 2] > 0.5).sum(axis=0), 0, []
    for c in ones:
        n = 0
        while rng.random() < MORE:
            n += 1
            tosses += 1
        noisy.append(c + n - _heads(rng, MORE))
    return [*levels(rewards, noisy)[:-1], int(tosses > 1)]


# ---------------------------------------------------------------- answers


def answered(rewards, answer):
    """The bits of an arm are told one by one."""
    ones = [0, 0]
    for t in range(len(rewards) // 2):
        ones[t % 2] += answer(int(rewards[t, t % 2] > 0.5))
    return levels(rewards, ones)


def _coin(p, rng):
    return int(rng.integers(p.denominator)) < p.numerator


def _fraction(bit, truth, rng):
    return bit if _coin(truth, rng) else 1 - bit


def answer_by_fractions(rewards, rng, truth=Fraction(3, 4)):
    return answered(rewards, lambda bit: _fraction(bit, truth, rng))


def answer_turned_by_a_bit(rewards, rng, flip=0.25):
    ones = [0, 0]
    for t in range(len(rewards) // 2):
        click = int(rewards[t, t % 2] > 0.5)
        click ^= int(rng.uniform() < flip)
        ones[t % 2] += click
    return levels(rewards, ones)


def answer_by_a_difference(rewards, rng, flip=0.25):
    ones = [0, 0]
    for t in range(len(rewards) // 2):
        bit = rewards[t, t % 2] > 0.5
        bit = abs(int(bit) - int(rng.random() < flip))
        ones[t % 2] += bit
    return levels(rewards, ones)


def _level(value, rng, keep):
    u = rng.random()
    if u < keep:
        return value
    if u < (1 + keep) / 2:
        return (value + 1) % 3
    return (value + 2) % 3


def level_by_one_number(rewards, rng, keep=0.6):
    """One uniform number is compared twice."""
    told = [0, 0]
    for t in range(len(rewards) // 2):
        told[t % 2] += _level(int(np.floor(rewards[t, t % 2] * 2.99)), rng, keep)
    return levels(rewards, told)


def answer_by_a_kept_coin(rewards, rng, keep=0.75):
    ones = [0, 0]
    for t in range(len(rewards) // 2):
        bit = rewards[t, t % 2] > 0.5
        truth = rng.random() < keep
        ones[t % 2] += int(bit if truth else not bit)
    return levels(rewards, ones)


def answer_by_unequal(rewards, rng, flip=0.25):
    ones = [0, 0]
    for t in range(len(rewards) // 2):
        ones[t % 2] += int((rewards[t, t % 2] > 0.5) != (rng.random() < flip))
    return levels(rewards, ones)


def answer_by_turns(rewards, rng, keep=0.5):
    """The truth half of the time, else what a coin says."""
    ones = [0, 0]
    for t in range(len(rewards) // 2):
        bit = int(rewards[t, t % 2] > 0.5)
        if rng.random() < keep:
            told = bit
        elif rng.random() < 0.5:
            told = 1
        else:
            told = 0
        ones[t % 2] += told
    return levels(rewards, ones)


def answer_changed_by_a_name(rewards, rng, flip=0.25):
    ones = [0, 0]
    for t in range(len(rewards) // 2):
        bit, u = int(rewards[t, t % 2] > 0.5), rng.random()
        if u < flip:
            bit = 1 - bit
        ones[t % 2] += bit
    return levels(rewards, ones)


def changed_by_a_told_name(rewards, rng):
    ones, last = [0, 0], 0.0
    for t in range(len(rewards) // 2):
        bit, u = int(rewards[t, t % 2] > 0.5), rng.random()
        if u < 0.25:
            bit = 1 - bit
        ones[t % 2] += bit
        last = u
    return [*levels(rewards, ones)[:-1], int(last < 0.25)]


def kept_coin_used_again(rewards, rng):
    ones = [0, 0]
    for t in range(0, len(rewards) // 2, 2):
        first, second = (rewards[t + a, a] > 0.5 for a in range(2))
        truth = rng.random() < 0.75
        ones[0] += int(first if truth else not first)
        ones[1] += int(second if truth else not second)
    return levels(rewards, ones)


def kept_coin_told(rewards, rng):
    ones, last = [0, 0], 0
    for t in range(len(rewards) // 2):
        bit = rewards[t, t % 2] > 0.5
        truth = rng.random() < 0.75
        ones[t % 2] += int(bit if truth else not bit)
        last = int(truth)
    return [*levels(rewards, ones)[:-1], last]


def turned_by_a_told_bit(rewards, rng):
    ones = [0, 0]
    for t in range(len(rewards) // 2):
        click, u = int(rewards[t, t % 2] > 0.5), rng.random()
        click ^= int(u < 0.25)
        ones[t % 2] += click
    return [*levels(rewards, ones)[:-1], int(u < 0.25)]


def _loud(p, rng):
    _HEARD.append(rng.random())
    return _HEARD.pop() < p


def _overheard(bit, rng):
    return bit if _loud(0.75, rng) else 1 - bit


_HEARD: list[float] = []


def answer_with_an_effect(rewards, rng):
    """What is called does more than to answer: there is no bound, though nothing is told."""
    return answered(rewards, lambda bit: _overheard(bit, rng))


def _lopsided(value, rng):
    u = rng.random()
    if u < 0.6:
        return value
    return (value + 1) % 3 if u < 0.99 else (value + 2) % 3


def level_that_is_rare(rewards, rng):
    told = [0, 0]
    for t in range(len(rewards) // 2):
        told[t % 2] += _lopsided(int(np.floor(rewards[t, t % 2] * 2.99)), rng)
    return levels(rewards, told)


SIGNS = (sign_in_an_expression, sign_in_a_branch, sign_in_what_is_returned, sign_of_a_choice)
HEADS = (heads_less_heads, heads_with_a_cap, heads_of_an_object, heads_with_a_sign)
UNFOLLOWED = (heads_in_place,)  # right, in a loop that is no function

ANSWERS = (answer_by_fractions, answer_turned_by_a_bit, answer_by_a_difference)

RIGHT = {
    **dict.fromkeys(ANSWERS, math.log(3)),
    level_by_one_number: math.log(3),
    answer_by_turns: math.log(3),
    answer_by_a_kept_coin: math.log(3),
    answer_by_unequal: math.log(3),
    answer_changed_by_a_name: math.log(3),
    **dict.fromkeys((*SIGNS, *HEADS, exact_discrete_laplace, staircase, geometric_used_again), EPSILON),
    heads_of_a_seeded_generator: EPSILON,
    geometric_by_logarithms: EPSILON,
    twin(exact_discrete_laplace, scale=3): EPSILON / 3,
    twin(heads_with_a_sign, again=False): EPSILON + math.log(2),  # 0 has twice its chance
}
LEAKS = [
    *(twin(answer_by_fractions, truth=Fraction(9, 10)), twin(level_by_one_number, keep=0.9)),
    *(twin(f, flip=0.1) for f in (answer_turned_by_a_bit, answer_by_a_difference)),
    *(
        twin(answer_by_a_kept_coin, keep=0.9),
        twin(answer_by_unequal, flip=0.1),
        twin(answer_by_turns, keep=0.9),
    ),
    *(twin(answer_changed_by_a_name, flip=0.1), changed_by_a_told_name),
    *(kept_coin_used_again, kept_coin_told, twin(geometric_by_logarithms, scale=0.5)),
    *(turned_by_a_told_bit, answer_with_an_effect, level_that_is_rare),
    *(twin(f, scale=0.5) for f in SIGNS),
    *(twin(sign_in_a_branch, fair=0.4), sign_told, size_with_two_signs, size_told),
    *(twin(f, more=math.exp(-2 * EPSILON)) for f in HEADS),
    *(
        twin(staircase, epsilon=2 * EPSILON),
        twin(staircase, inner=1.1),
        twin(exact_discrete_laplace, times=2),
    ),
    *(twin(geometric_used_again, p=1 - math.exp(-2 * EPSILON)), heads_told, same_heads, cap_that_shows),
    *(heads_on_one_side, heads_of_two_kinds, heads_on_reals, heads_by_rewards, heads_that_are_kept),
]
