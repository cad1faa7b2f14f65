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


# Scales that objects keep, one of which a draw chooses; EPSILON = 1 is claimed of each program.
#
# In `RIGHT` all objects have the same scale. In `LEAKS` one of 4096 has a scale of nearly 0.


PROGRAM = """
import functools


class Cell:
    {above}def __init__(self, scale, rng):
        self.scale, self.rng = 1.0 * scale, rng

    def told(self, reward):
        return reward + self.rng.laplace(0, self.scale)


{helpers}def play(rewards, rng):
    {cells}
    cell = cells[int(rng.random() * len(cells))]
    return [int(cell.told(rewards[0, 0]) > 0.5)] * len(rewards)
"""
MANY = "cells = [Cell(1.0, rng) for _ in range(4096)]"
HELPER = "def made(scale, rng):\n    return Cell(scale, rng)\n\n\n"


def program(cells, helpers="", above=""):
    return PROGRAM.format(cells=cells, helpers=helpers, above=above)


OBJECTS = {
    "one_call": program(MANY),
    "one_helper": program("cells = [made(1.0, rng) for _ in range(4096)]", HELPER),
    "two_calls_alike": program(f"{MANY}; cells[700:701] = [Cell(1.0, rng)]"),
    "one_name": program(
        "size = 1.0; cells = [Cell(size, rng) for _ in range(4096)]; cells.append(Cell(size, rng))"
    ),
}
THROUGH = "def through(size, rng):\n    return made(size, rng)\n\n\n"
# What gives one of many objects another scale.
OBJECTS_THAT_LEAK = {
    "by_default": program(
        "cells = [made(rng) for _ in range(4096)]; cells[700:701] = [made(rng, 1e-6)]",
        "def made(rng, scale=1.0):\n    return Cell(scale, rng)\n\n\n",
    ),
    "by_a_name_that_is_set_again": program(
        "size = 1.0; cells = [Cell(size, rng) for _ in range(4096)]; size = 1e-6\n"
        "    cells[700:701] = [Cell(size, rng)]"
    ),
    "by_one_call_of_two": program(
        "cells = [through(1.0, rng) for _ in range(4096)]; cells[700:701] = [through(1e-6, rng)]",
        HELPER + THROUGH,
    ),
    "by_one_call_of_a_library": program(
        "cells = [*map(through, [1.0] * 700 + [1e-6] + [1.0] * 3395, [rng] * 4096)]", HELPER + THROUGH
    ),
    "from_above": program(
        f"{MANY}; cells[700:701] = [Below(rng)]",
        "class Below(Cell):\n    def __init__(self, rng):\n        super().__init__(1e-6, rng)\n\n\n",
    ),
    "by_its_whole_name": program(f"{MANY}; cells[700]._Cell__scale = 1e-6").replace(
        "self.scale", "self.__scale"
    ),
    "another_call": program(f"{MANY}; cells[700:701] = [Cell(1e-6, rng)]"),
    "another_call_of_a_helper": program(
        "cells = [made(1.0, rng) for _ in range(4096)]; cells[700:701] = [made(1e-6, rng)]", HELPER
    ),
    "by_number": program("cells = [Cell(1.0 if n != 700 else 1e-6, rng) for n in range(4096)]"),
    "set_anew": program(f"{MANY}; cells[700].scale = 1e-6"),
    "in_part": program(f"{MANY}; cells[700:701] = [functools.partial(Cell, 1e-6)(rng)]"),
    "its_class": program(f"{MANY}; cells[700:701] = [cells[0].__class__(1e-6, rng)]"),
    "its_type": program(f"{MANY}; cells[700:701] = [type(cells[0])(1e-6, rng)]"),
    "by_map": program(f"{MANY}; cells[700:701] = [*map(Cell, [1e-6], [rng])]"),
    "by_another_name": program(f"{MANY}; other = Cell; cells[700:701] = [other(1e-6, rng)]"),
    "begun_again": program(f"{MANY}; cells[700].__init__(1e-6, rng)"),
    "below": program(f"{MANY}; cells[700:701] = [Below(1e-6, rng)]", "class Below(Cell):\n    pass\n\n\n"),
}
