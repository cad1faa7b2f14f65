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


# Programs that write into an array, or into what was made of it, and tell what changed in the other.


SHAPES = ((6,), (2, 3), (1, 4), (2, 3, 2))
MAKERS = {
    "floats": lambda shape: np.arange(np.prod(shape)).reshape(shape) * 1.0,
    "whole": lambda shape: np.arange(np.prod(shape)).reshape(shape),
    "bits": lambda shape: np.arange(np.prod(shape)).reshape(shape) % 2 > 0,
    "columns": lambda shape: (np.arange(np.prod(shape)).reshape(shape[::-1]) * 1.0).T,
    "every_other": lambda shape: np.zeros((*shape[:-1], 2 * shape[-1]))[..., ::2],
    "backwards": lambda shape: np.zeros(shape)[::-1],
    "turned": lambda shape: np.zeros((*shape, 2)).swapaxes(0, -1)[0],
}
WAYS = {
    "array": lambda x: np.array(x),
    "array_without_copy": lambda x: (
        np.array(x, copy=None) if np.__version__ >= "2" else np.array(x, copy=False)
    ),
    "asarray": lambda x: np.asarray(x),
    "asarray_of_floats": lambda x: np.asarray(x, dtype=float),
    "asarray_of_float64": lambda x: np.asarray(x, np.float64),
    "asarray_of_whole": lambda x: np.asarray(x, dtype=np.int64),
    "asarray_in_columns": lambda x: np.asarray(x, order="F"),
    "asanyarray": lambda x: np.asanyarray(x, dtype=np.float64),
    "ascontiguousarray": lambda x: np.ascontiguousarray(x),
    "asfortranarray": lambda x: np.asfortranarray(x),
    "require": lambda x: np.require(x, np.float64, ["C"]),
    "astype": lambda x: x.astype(float),
    "astype_without_copy": lambda x: x.astype(np.float64, copy=False),
    "astype_whole_without_copy": lambda x: x.astype(np.int64, copy=False),
    "ravel": lambda x: x.ravel(),
    "ravel_in_columns": lambda x: x.ravel("F"),
    "np_ravel": lambda x: np.ravel(x),
    "flatten": lambda x: x.flatten(),
    "reshape": lambda x: x.reshape(-1),
    "np_reshape": lambda x: np.reshape(x, (-1, 1)),
    "reshape_in_columns": lambda x: x.reshape(-1, order="F"),
    "transpose": lambda x: x.T,
    "np_transpose": lambda x: np.transpose(x),
    "swapaxes": lambda x: np.swapaxes(x, 0, -1),
    "method_swapaxes": lambda x: x.swapaxes(0, -1),
    "moveaxis": lambda x: np.moveaxis(x, 0, -1),
    "rollaxis": lambda x: np.rollaxis(x, x.ndim - 1),
    "squeeze": lambda x: x.squeeze(),
    "np_squeeze": lambda x: np.squeeze(x),
    "expand_dims": lambda x: np.expand_dims(x, 0),
    "new_axis": lambda x: x[np.newaxis],
    "atleast_1d": lambda x: np.atleast_1d(x),
    "atleast_2d": lambda x: np.atleast_2d(x),
    "atleast_3d": lambda x: np.atleast_3d(x),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, *x.shape)),
    "diagonal": lambda x: x.reshape(len(x), -1).diagonal(),
    "diag": lambda x: np.diag(x.reshape(len(x), -1)),
    "view": lambda x: x.view(),
    "view_of_whole": lambda x: x.view(np.int64),
    "real": lambda x: x.real,
    "np_real": lambda x: np.real(x),
    "conj": lambda x: x.conj(),
    "np_conj": lambda x: np.conj(x),
    "part": lambda x: x[1:],
    "backwards": lambda x: x[::-1],
    "row": lambda x: x[0],
    "whole_row": lambda x: x[...],
    "chosen": lambda x: x[[0]],
    "masked": lambda x: x[x == x],
    "take": lambda x: x.take([0], axis=0),
    "copy": lambda x: x.copy(),
    "np_copy": lambda x: np.copy(x),
    "split": lambda x: np.split(x, 1)[0],
    "array_split": lambda x: np.array_split(x, 2)[0],
    "flip": lambda x: np.flip(x),
    "fliplr": lambda x: np.fliplr(x.reshape(len(x), -1)),
    "rot90": lambda x: np.rot90(x.reshape(len(x), -1)),
    "roll": lambda x: np.roll(x, 1),
    "repeat": lambda x: x.repeat(2),
    "tile": lambda x: np.tile(x, 1),
    "sort": lambda x: np.sort(x),
    "clip": lambda x: x.clip(-9, 9),
    "round": lambda x: x.round(),
    "positive": lambda x: +x,
    "abs": lambda x: abs(x),
    "plus_0": lambda x: x + 0,
    "where": lambda x: np.where(True, x, x),
    "concatenate": lambda x: np.concatenate([x]),
    "stack": lambda x: np.stack([x])[0],
    "nan_to_num": lambda x: np.nan_to_num(x, copy=False),
    "out": lambda x: np.add(x, 0, out=x, casting="unsafe"),
    "out_by_place": lambda x: np.multiply(x, x, x),
    "cumsum": lambda x: np.cumsum(x),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x.reshape(-1), 2),
    "entries": lambda x: np.array([x])[0],
    "asarray_of_a_list": lambda x: np.asarray(x.tolist()),
    "of_nothing": lambda x: np.broadcast_arrays(x, np.zeros(x.shape))[0],
    "meshgrid": lambda x: np.meshgrid(x.reshape(-1), copy=False)[0],
    "nonzero": lambda x: np.atleast_1d(x, x)[1],
}


def writing(make, way, shape, *, noisy, forth):
    """A program that makes an array, and of that another, writes into one and tells of the other."""

    def play(rewards, rng):
        first = make(shape)
        if noisy:
            first = first + rng.laplace(0, 1, first.shape)
        other = way(first)
        written, seen = (other, first) if forth else (first, other)
        try:
            written[...] = 7
        except ValueError:
            return [9]
        return [int(v == 7) for v in seen.reshape(-1)]

    return play
