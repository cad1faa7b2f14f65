"""Scales that objects keep, one of which a draw chooses; EPSILON = 1 is claimed of each program.

In `RIGHT` all objects have the same scale. In `LEAKS` one of 4096 has a scale of nearly 0.
"""

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


RIGHT = {
    "one_call": program(MANY),
    "one_helper": program("cells = [made(1.0, rng) for _ in range(4096)]", HELPER),
    "two_calls_alike": program(f"{MANY}; cells[700:701] = [Cell(1.0, rng)]"),
    "one_name": program(
        "size = 1.0; cells = [Cell(size, rng) for _ in range(4096)]; cells.append(Cell(size, rng))"
    ),
}
THROUGH = "def through(size, rng):\n    return made(size, rng)\n\n\n"
# What gives one of many objects another scale.
LEAKS = {
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
