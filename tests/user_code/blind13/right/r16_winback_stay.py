"""Win-back campaign: stay with the offer that worked, otherwise try another one.

The result of a contact is turned into one bit by randomised rounding and randomised response
(keep probability e^eps / (1 + e^eps)); only this bit steers the next offer.  Each reward feeds exactly
one bit and the bit steers one step.  Claims epsilon = 2.0 for one reward of one round.
"""
import math
import numpy as np

EPSILON = 2.0


def randomised_bit(value, epsilon, rng):
    """One epsilon-LDP bit of a value in [0, 1]."""
    value = min(1.0, max(0.0, value))
    rounded = rng.random() < value
    keep = 1.0 / (1.0 + math.exp(-epsilon))
    return bool(rounded) if rng.random() < keep else not rounded


def other_offer(current, n_offers, rng):
    step = int(rng.integers(1, n_offers))
    return (current + step) % n_offers


def play(rewards, rng):
    n_rounds, n_offers = rewards.shape
    offer = int(rng.integers(n_offers))
    shown = []
    kpi = {"stays": 0, "moves": 0}
    for t in range(n_rounds):
        shown.append(offer)
        happy = randomised_bit(float(rewards[t, offer]), EPSILON, rng)
        if happy:
            kpi["stays"] += 1
        else:
            kpi["moves"] += 1
            offer = other_offer(offer, n_offers, rng)
    return np.array(shown, dtype=int)
