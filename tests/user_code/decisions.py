"""Right bandits whose decisions take many draws, with leaking twins; EPSILON = 1 is claimed of all.

`RIGHT` gives the least epsilon that is true of each as far as its form tells; no twin keeps EPSILON.
"""

from __future__ import annotations

EPSILON = 1.0


# ---------------------------------------------------------------- long sparse vectors


def _until_above(rewards, rng, threshold, noise):
    """Stay with arm 0 until what it failed to earn lies above a threshold; then arm 1 for good."""
    missed, arm, arms = 0.0, 0, []
    for row in rewards:
        arms.append(arm)
        if arm == 0:
            missed += 0.5 - row[0]
            arm = int(missed + noise(rng) >= threshold(rng))
    return arms


def long_sparse_vector(rewards, rng, half=2 / EPSILON, noise=4 / EPSILON):
    """All queries move the same way: up costs the threshold's move, down that of the last query."""
    hidden = 3.0 + rng.laplace(0, half)
    return _until_above(rewards, rng, lambda rng: hidden, lambda rng: rng.laplace(0, noise))


def window_of_a_sparse_vector(rewards, rng, half=2 / EPSILON, noise=4 / EPSILON):
    """A reward has left the window by the time of the last query."""
    hidden, recent, arm, arms = 4.5 + rng.laplace(0, half), [], 0, []
    for row in rewards:
        arms.append(arm)
        if arm == 0:
            recent = [*recent, row[0]][-8:]
            arm = int(sum(1 - x for x in recent) + rng.laplace(0, noise) >= hidden)
    return arms


def threshold_drawn_each_time(rewards, rng):
    draw = lambda rng: 3.0 + rng.laplace(0, 2 / EPSILON)  # noqa: E731
    return _until_above(rewards, rng, draw, lambda rng: rng.laplace(0, 4 / EPSILON))


def queries_without_noise(rewards, rng):
    hidden = 3.0 + rng.laplace(0, 2 / EPSILON)
    return _until_above(rewards, rng, lambda rng: hidden, lambda rng: 0.0)


def threshold_without_noise(rewards, rng):
    return _until_above(rewards, rng, lambda rng: 3.0, lambda rng: rng.laplace(0, 4 / EPSILON))


def one_draw_for_all_queries(rewards, rng):
    """The threshold and the queries share what should be drawn anew."""
    draw = rng.laplace(0, 1 / EPSILON)
    return _until_above(rewards, rng, lambda rng: 3.0 + draw, lambda rng: draw)


def every_crossing_told(rewards, rng):
    hidden, missed, arms = 3.0 + rng.laplace(0, 2 / EPSILON), 0.0, []
    for row in rewards:
        missed += 0.5 - row[0]
        arms.append(int(missed + rng.laplace(0, 4 / EPSILON) >= hidden))
    return arms


def threshold_told(rewards, rng):
    """The last round tells on which side the threshold was."""
    hidden = 3.0 + rng.laplace(0, 2 / EPSILON)
    arms = _until_above(rewards, rng, lambda rng: hidden, lambda rng: rng.laplace(0, 4 / EPSILON))
    return [*arms[:-1], int(hidden > 3)]


RIGHT = {
    long_sparse_vector: 0.5,
    window_of_a_sparse_vector: 0.75,
}
LEAKS = [
    threshold_drawn_each_time,
    queries_without_noise,
    threshold_without_noise,
    one_draw_for_all_queries,
    every_crossing_told,
    threshold_told,
]
