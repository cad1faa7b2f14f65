import math
import random


class WSLS:
    """Private win-stay/lose-shift: `step` is given what happened last and says what to do now."""

    def __init__(self, n_arms, epsilon=1.0):
        self.n_arms = n_arms
        self.top = math.exp(epsilon) / (1.0 + math.exp(epsilon))

    def step(self, last_reward=None, last_arm=None):
        if last_reward is None:
            return random.randrange(self.n_arms)
        stay = 1 - self.top + (2 * self.top - 1) * last_reward
        if random.random() < stay:
            return last_arm
        return (last_arm + 1) % self.n_arms


if __name__ == "__main__":
    b, r, a = WSLS(2), None, None
    for _ in range(40):
        a = b.step(r, a)
        r = float(random.random() < [0.3, 0.7][a])
    print(a)
