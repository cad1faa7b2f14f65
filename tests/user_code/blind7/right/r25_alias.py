"""The exponential mechanism drawn through an alias table.

Right. After each epoch an arm is drawn with probability proportional to exp(EPSILON * S_a), where one
reward changes one S_a by at most 1: a factor of at most e^EPSILON. Vose's table draws from exactly these
probabilities. Each epoch starts with empty sums and is asked once.
"""

import numpy as np

EPSILON = 1.5


class Alias:
    def __init__(self, probabilities):
        n = len(probabilities)
        scaled = [p * n for p in probabilities]
        self.keep, self.other = [1.0] * n, list(range(n))
        small = [i for i, s in enumerate(scaled) if s < 1]
        large = [i for i, s in enumerate(scaled) if s >= 1]
        while small and large:
            low, high = small.pop(), large.pop()
            self.keep[low], self.other[low] = scaled[low], high
            scaled[high] -= 1 - scaled[low]
            (small if scaled[high] < 1 else large).append(high)

    def draw(self, rng):
        i = int(rng.integers(len(self.keep)))
        return i if rng.random() < self.keep[i] else self.other[i]


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions, sums, favourite = [], np.zeros(n_arms), None
    span = 3 * n_arms
    for t in range(horizon):
        epoch, step = divmod(t, span)
        if step == 0 and epoch % 2 == 1:
            weights = np.exp(EPSILON * (sums - sums.max()))
            favourite = Alias(weights / weights.sum()).draw(rng)
            sums = np.zeros(n_arms)
        arm = favourite if epoch % 2 else step % n_arms
        if epoch % 2 == 0:
            sums[arm] += rewards[t, arm]
        actions.append(arm)
    return np.array(actions)
