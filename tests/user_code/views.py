"""Tables of which one entry is changed through something that shares their memory; each claims epsilon 1.

Of 1024 scales one is 0, so that rewards come out without noise once in a thousand runs. No statement
writes that entry by the name under which it is looked up.
"""

import numpy as np


def _scaled(rewards, table, rng):
    row, column = (int(np.argmax(rng.laplace(0, 1.0, 32))) for _ in range(2))  # no numbers that were drawn
    scale = np.reshape(table, (32, 32))[row, column]
    s = rewards[0, 0] + scale * rng.laplace(0, 1.0)
    return np.array([int(s > 0.5)] + [0] * (len(rewards) - 1))


# Statements that change an entry of `t`, a square table of ones; and such as change none.
CHANGES = {
    "swapped_axes": "_set(np.swapaxes(t, 0, 1))",
    "reshaped": "_set(np.reshape(t, (32, 32)))",
    "moved_axes": "_set(np.moveaxis(t, 0, 1))",
    "turned": "_set(np.rot90(t))",
    "back_to_front": "_set(np.flip(t))",
    "windows": "np.lib.stride_tricks.sliding_window_view(t, (2, 2), writeable=True)[7, 7].fill(0.0)",
    "real_part": "_set(np.real(t))",
    "transposed": "_set(t.T)",
    "raveled": "operator.setitem(t.ravel(), 231, 0.0)",
    "field": "_set(t.getfield(np.float64))",
    "part": "t[7:8, 7:8].fill(0.0)",
    "whole_part": "operator.itemgetter(slice(7, 8))(t).__setitem__((0, 7), 0.0)",
    "matrix": "_set(np.asmatrix(t))",
    "put": "np.put(t, 231, 0.0)",
    "copied_to": "np.copyto(t[7:8, 7:8], 0.0)",
    "place": "np.place(t, np.arange(1024).reshape(32, 32) == 231, [0.0])",
    "out": "np.multiply(t[7:8, 7:8], 0.0, out=t[7:8, 7:8])",
    "out_by_place": "np.multiply(t[7:8, 7:8], 0.0, t[7:8, 7:8])",
    "clipped_out": "np.clip(t[7:8, 7:8], 0.0, 0.0, t[7:8, 7:8])",
    "at": "np.subtract.at(t, (7, 7), 1.0)",
    "operator": "operator.setitem(t, (7, 7), 0.0)",
    "dunder": "t.__setitem__((7, 7), 0.0)",
    "in_place": "t.__imul__(np.arange(1024).reshape(32, 32) != 231)",
    "partial": "functools.partial(np.put, t)(231, 0.0)",
    "by_map": "list(itertools.starmap(t.__setitem__, [((7, 7), 0.0)]))",
    "folded": "functools.reduce(lambda a, b: operator.setitem(a, (7, 7), b) or a, [0.0], t)",
    "returned": "_set(_itself(t))",
    "yielded": "[_set(one) for one in _yielding(t)]",
    "starred": "_first_of(t)",
    "named": "_of_a_name(table=t)",
    "unpacked": "_first_of(*[t])",
    "rows": "[row for row in t][7].put(7, 0.0)",
    "rows_by_key": "{i: row for i, row in enumerate(t)}[7].put(7, 0.0)",
    "nested": "_set([[[[[t]]]]][0][0][0][0][0])",
    "lists": "_set(([t] + [t])[1])",
    "chained": "_set([*itertools.chain([t])][0])",
    "by_keys": "_set(dict.fromkeys(range(2), t)[1])",
    "added_lists": "_set(sum([[t]], [])[0])",
}


RIGHT = {
    "nothing": "pass",
    "copied": "_set(t.copy())",
    "copied_by_numpy": "_set(np.copy(t))",
    "added_up": "t.sum() + np.max(t) + np.exp(t).sum()",
    "another": "_set(np.ones((32, 32)))",
    "made_of_it": "_set(2.0 * t)",
    "chosen_of_it": "_set(np.where(t > 2.0, 1.0, t))",
}

PROGRAM = """
import functools
import itertools
import operator

import numpy as np


def _scaled(rewards, table, rng):
    row, column = (int(np.argmax(rng.laplace(0, 1.0, 32))) for _ in range(2))  # no numbers that were drawn
    scale = np.reshape(table, (32, 32))[row, column]
    s = rewards[0, 0] + scale * rng.laplace(0, 1.0)
    return np.array([int(s > 0.5)] + [0] * (len(rewards) - 1))


def _set(table):
    table[7, 7] = 0.0


def _itself(table):
    return table


def _yielding(table):
    yield table


def _first_of(*tables):
    tables[0][7, 7] = 0.0


def _of_a_name(**tables):
    tables["table"][7, 7] = 0.0


def play(rewards, rng):
    t = np.ones((32, 32))
    {}
    return _scaled(rewards, t, rng)
"""


def _itself(table):
    return table


def assigned_part(rewards, rng):
    table = np.ones((32, 32))
    part = table[7:8, 7:8]
    part[:] = 0.0
    return _scaled(rewards, table, rng)


def multiplied_part(rewards, rng):
    table = np.ones((32, 32))
    part = table[7:8, 7:8]
    part *= 0.0
    return _scaled(rewards, table, rng)


def called_and_assigned(rewards, rng):
    table = np.ones((32, 32))
    _itself(table)[7, 7] = 0.0
    return _scaled(rewards, table, rng)


def part_by_part(rewards, rng):
    table = np.ones((32, 32))
    part = table[7, 7:8]
    for i in range(len(part)):
        part[i] = 0.0
    return _scaled(rewards, table, rng)


def matched(rewards, rng):
    table = np.ones((32, 32))
    match [table]:
        case [one]:
            one[7, 7] = 0.0
    return _scaled(rewards, table, rng)


def raised(rewards, rng):
    table = np.ones((32, 32))
    try:
        raise KeyError(table)
    except KeyError as error:
        error.args[0][7, 7] = 0.0
    return _scaled(rewards, table, rng)


def part_of_a_loop(rewards, rng):
    """A loop over a public range that is not all of the table."""
    table = np.ones((32, 32))
    for i in range(7, 8):
        table[i, i] = 0.0
    return _scaled(rewards, table, rng)


def data_in_a_part(rewards, rng):
    """One of a thousand entries is a reward, without noise."""
    made = np.zeros((32, 32))
    for i in range(7, 8):
        made[i, i] = rewards[0, 0]
    found = made[int(rng.integers(32)), int(rng.integers(32))]
    return np.array([int(found > 0.5)] + [0] * (len(rewards) - 1))


def keys_of_others(rewards, rng):
    table = dict.fromkeys(range(1024), 1.0)
    table.update({231: 0.0})
    scale = table[32 * int(rng.integers(32)) + int(rng.integers(32))]
    s = rewards[0, 0] + scale * rng.laplace(0, 1.0)
    return np.array([int(s > 0.5)] + [0] * (len(rewards) - 1))


class Scale:
    def __init__(self):
        self.gain = 1.0


def what_holds_the_names(rewards, rng):
    """One of a thousand objects is changed without an assignment to its attribute."""
    made = [Scale() for _ in range(1024)]
    made[77].__dict__["gain"] = 0.0
    gain = made[32 * int(rng.integers(32)) + int(rng.integers(32))].gain
    s = rewards[0, 0] + gain * rng.laplace(0, 1.0)
    return np.array([int(s > 0.5)] + [0] * (len(rewards) - 1))


def inserted(rewards, rng):
    rows = [[1.0] * 32 for _ in range(31)]
    list.insert(rows, 7, [0.0] * 32)
    return _scaled(rewards, np.array(rows), rng)


LEAKS = [
    *(assigned_part, multiplied_part, called_and_assigned, part_by_part, matched, part_of_a_loop),
    *(data_in_a_part, keys_of_others, what_holds_the_names, inserted, raised),
]
