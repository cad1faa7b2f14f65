"""Two arms, exponential noise of mean 1/epsilon on both totals.

What decides is the difference of the noises, which is Laplace of scale 1/epsilon; the difference of the totals moves by at most
1. So epsilon, though neither noisy total is private by itself: nobody sees them.
"""


def play(rewards, rng, epsilon=1.0):
    horizon = len(rewards)
    left = sum(float(rewards[t, 0]) for t in range(0, 12, 2)) + rng.exponential(1 / epsilon)
    right = sum(float(rewards[t, 1]) for t in range(1, 12, 2)) + rng.exponential(1 / epsilon)
    return [t % 2 for t in range(12)] + [int(right > left)] * (horizon - 12)
