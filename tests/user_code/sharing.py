"""Programs that write into an array, or into what was made of it, and tell what changed in the other."""

import numpy as np

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
