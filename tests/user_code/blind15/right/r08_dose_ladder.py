"""Biased-coin up-and-down dose finding on locally privatised responses.

Arms are doses in rising order and a reward is a toxicity score in [0, 1].  The
score gets Laplace(1/epsilon) noise at the bedside; a noisy score above one half
steps one dose down, otherwise a coin decides between one dose up and a repeat.
Claims epsilon = 1.2 (pure) per patient.
"""
import math

EPSILON = 1.2
UP = 0.7


def laplace(scale, rng):
    """Laplace noise by inversion of the distribution function."""
    u = rng.random() - 0.5
    while u == -0.5:
        u = rng.random() - 0.5
    return -scale * math.copysign(1.0, u) * math.log1p(-2.0 * abs(u))


def ladder(n_doses, rng):
    """Coroutine: yields a dose, is sent the private score."""
    dose = n_doses // 2
    while True:
        score = yield dose
        if score > 0.5:
            dose = max(dose - 1, 0)
        elif rng.random() < UP:
            dose = min(dose + 1, n_doses - 1)


def play(rewards, rng):
    T, K = rewards.shape
    course = ladder(K, rng)
    dose = next(course)
    out = []
    for t in range(T):
        out.append(dose)
        dose = course.send(rewards[t, dose] + laplace(1.0 / EPSILON, rng))
    return out
