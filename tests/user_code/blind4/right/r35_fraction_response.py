"""Exact-rational randomised response (truth with probability 2/3) and empirical means."""
from fractions import Fraction

TRUTH = Fraction(2, 3)
EPSILON = 1.0       # ln(2) is what one answer costs


def coin(p, rng):
    return int(rng.integers(p.denominator)) < p.numerator


def answer(bit, rng):
    return bit if coin(TRUTH, rng) else 1 - bit


def play(rewards, rng):
    T, K = rewards.shape
    ones = [0] * K
    pulls = [0] * K
    acts = []
    for t in range(T):
        if t < 3 * K or coin(Fraction(1, 10), rng):
            a = t % K
        else:
            a = max(range(K), key=lambda i: Fraction(ones[i], pulls[i]))
        bit = 1 if rng.random() < rewards[t, a] else 0
        ones[a] += answer(bit, rng)
        pulls[a] += 1
        acts.append(a)
    return acts
