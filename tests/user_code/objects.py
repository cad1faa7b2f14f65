"""Scales that objects keep, one of which a draw chooses; EPSILON = 1 is claimed of each program.

In `LEAKS` one of 4096 has a scale of nearly 0.
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


# What gives one of many objects another scale.
LEAKS = {
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
