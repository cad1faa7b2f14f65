"""Batches as long as draws say, noise around what is disclosed, and cases; EPSILON = 1 is claimed of each."""

BATCHES = """
import numpy as np


class play:
    def __init__(self, n_arms, horizon, epsilon, rng):
        self.rng, self.arm, self.mean = rng, 0, [9.0] * n_arms
        self.sizes, self.sums, self.filled = [{first}] * n_arms, [0.0] * n_arms, [0] * n_arms

    def select_arm(self):
        if self.filled[self.arm] == 0:
            self.arm = max(range(len(self.mean)), key=lambda a: self.mean[a])
        return self.arm

    def update(self, arm, reward):
        self.sums[arm] += reward
        self.filled[arm] += 1
        n = {size}
        if self.filled[arm] >= n:
            self.mean[arm] = {mean}
            self.sums[arm], self.filled[arm] = 0.0, 0
            self.sizes[arm] = {then}
"""
MEAN = "self.sums[arm] / n + self.rng.laplace(0, 1 / n)"


def batches(mean=MEAN, size="self.sizes[arm]", first="1", then="2 * n"):
    return BATCHES.format(mean=mean, size=size, first=first, then=then)


POSTERIOR = """
import numpy as np


def play(rewards, rng):
    sums, seen, actions = [0.5, 0.5], [1, 1], []
    for t in range(len(rewards)):
        drawn = [{drawn} for a in range(2)]
        arm = int(np.argmax(drawn))
        actions.append(arm)
        sums[arm] += rewards[t, arm] + {noise}
        seen[arm] += 1
    return actions
"""


def posterior(drawn="rng.normal(sums[a] / seen[a], seen[a] ** -0.5)", noise="rng.laplace(0, 1)"):
    return POSTERIOR.format(drawn=drawn, noise=noise)


CASES = """
def play(rewards, rng):
    value, actions = {first}, [0]
    for t in range(1, len(rewards)):
        match {subject}:
            case {case}:
                value = {then}
            case _:
                actions.append(0)
        actions = actions[:t] + [0]
    actions[-1] = int(value + rng.laplace(0, 1) > 0.5)
    return actions
"""


def cases(subject="int(rng.random() < 0.5)", case="1", then="0.0", first="1000.0 * rewards[0, 0]"):
    return CASES.format(subject=subject, case=case, then=then, first=first)


RIGHT = {
    "batches": batches(),
    "batches_of_a_power": batches(then="n ** 2 + 1"),
    "largest": batches(
        "self.sums[arm] / n + self.rng.laplace(0.0, scale=1.0 / n)", "max(self.sizes[arm], 1)", then="n + n"
    ),
    "posterior": posterior(),
    "posterior_beside": posterior("sums[a] / seen[a] + rng.normal(0.0, 1 / seen[a])"),
    "cases": cases("t % 3", "0 | 1", "value + 0.0", "rewards[0, 0]"),
}
# What a rare draw makes of it.
LEAKS = {
    "another_power": batches("self.sums[arm] / n + self.rng.laplace(0, 1 / n ** 2)"),
    "another_name": batches("self.sums[arm] / n + self.rng.laplace(0, 1 / self.sizes[arm])"),
    "of_no_noise": batches("(self.sums[arm] / n + self.sums[arm] / n) + self.rng.laplace(0, 2)"),
    "around_another": batches("self.sums[arm] / n + self.rng.laplace(self.sums[arm], 1 / n)"),
    "maybe_0": batches(then="2 * n - 1"),
    "maybe_0_at_first": batches(first="np.float64(0)", then="2 * n"),
    "another_type": batches(size="np.float64(self.sizes[arm])"),
    "noise_of_varying_scale": posterior(noise="rng.laplace(0, 1 / seen[arm])"),
    "no_noise_beneath": posterior(noise="0.0"),
    "kept_by_chance": cases(),
    "kept_by_a_guard": cases("0", "_ if rng.random() < 0.5"),
    "kept_in_a_tuple": cases("(t, int(rng.random() < 0.5))", "(_, 1)"),
}
