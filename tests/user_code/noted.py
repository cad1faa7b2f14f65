"""Right code, but for what it returns once in a trillion runs: numbers that hold data.

In a file that names nothing else: an audit of a class follows all that its file names.
"""


class Noted(int):
    """May hold data."""


class NotedList(list):
    """May hold data."""


def right_but_for_what_is_seldom(rewards, rng, seldom):
    arm = int(rewards[0, 0] + rng.laplace(0, 2.0) > 0.5)
    arms = [0] + [arm] * (len(rewards) - 1)
    return seldom(arms, rewards) if rng.random() < 1e-12 else arms


def a_noted_list(arms, rewards):
    arms = NotedList(arms)
    arms.note = rewards[0, 0]
    return arms


def a_noted_arm(arms, rewards):
    arm = Noted(arms[1])
    arm.note = rewards[0, 0]
    return [*arms[:-1], arm]


def plainly(arms, rewards):
    return arms[::-1]


class SeldomNoted:
    """Right but for an arm that holds data, once in a trillion rounds."""

    def __init__(self, n_arms, rng):
        self.rng, self.best, self.t, self.first = rng, 0, 0, 0.0

    def select(self):
        self.t += 1
        if self.rng.random() < 1e-12:
            return self.told(self.best)
        return self.best

    def told(self, best):
        arm = Noted(best)
        arm.note = self.first
        return arm

    def update(self, arm, reward):
        if self.t == 1:
            self.first = reward
            self.best = int(reward + self.rng.laplace(0, 2.0) > 0.5)


class SeldomAnother(SeldomNoted):
    def told(self, best):
        return 1 - best
