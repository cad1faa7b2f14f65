"""Entries that are drawn without replacement and of which nobody sees which ones they were.

A few of n positions, each set of them as likely as another: from `choice(n, m, replace=False)`, or the first
few in the order of uniform draws. A sum over them holds each entry with probability m / n. Replacing one
entry changes the sum in the runs that hold it, and a run that holds it is one that holds another in its
place with that entry replaced: so a unit pays log(1 + m / n (e^c - 1)), where c is what a change within
the range of the entries costs, which is the same for all of them (Balle, Barthe & Gaboardi, 2018).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.symbolic import boxes, draws, uniform_draws
from verifiable_dp.evidence.symbolic.array_functions import where_chosen
from verifiable_dp.evidence.symbolic.array_protocol import calling, on_arrays
from verifiable_dp.evidence.symbolic.terms import is_term
from verifiable_dp.evidence.symbolic.world import World
from verifiable_dp.evidence.tracing.python_operators import ARITHMETIC

_ALONG = (None, -1, 1)


class Sampled:
    """The entries of an array that coins keep: in their sum an entry is 0 where its coin is against it.

    Whatever else is asked of them shows the coins.

    Parameters
    ----------
    mask
        The coins, of the same shape.
    box
        All entries.
    """

    __array_priority__ = 6000.0

    def __init__(self, mask: boxes.Box, box: boxes.Box) -> None:
        self._mask, self._box = mask, box

    @property  # type: ignore[misc]
    def __class__(self) -> Foreign:
        """An array's."""
        return np.ndarray

    def again(self, box: boxes.Box) -> Sampled:
        """Other entries that the same coins keep."""
        return Sampled(self._mask, box)

    def shown(self) -> Foreign:
        """The entries whose coins fell for them."""
        return self._box[boxes.decided(self._box.world, self._mask)]

    def sum(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As an array's."""
        if args or kwargs:
            return self.shown().sum(*args, **kwargs)
        return calling(
            self._box.world, np.sum, (where_chosen(self._box.world, self._mask, self._box, 0.0),), {}
        )

    def __array_ufunc__(self, ufunc: Foreign, method: str, *inputs: Foreign, **kwargs: Foreign) -> Foreign:
        if method == "__call__" and not kwargs and not any(np.ndim(v) for v in inputs if v is not self):
            values = [self._box if v is self else v for v in inputs]
            return self.again(on_arrays(self._box.world, ufunc, method, values, None, {}))
        values = [v.shown() if isinstance(v, Sampled) else v for v in inputs]
        return on_arrays(self._box.world, ufunc, method, values, kwargs.pop("out", None), kwargs)

    def __array_function__(
        self, function: Foreign, types: Foreign, args: Foreign, kwargs: Foreign
    ) -> Foreign:
        if function is np.sum and len(args) == 1 and not kwargs:
            return self.sum()
        if function is np.clip and args[0] is self and not any(map(np.ndim, (*args[1:], *kwargs.values()))):
            return self.again(calling(self._box.world, function, (self._box, *args[1:]), kwargs))
        args = [v.shown() if isinstance(v, Sampled) else v for v in args]
        return calling(self._box.world, function, args, kwargs)

    def clip(self, *args: Foreign, **kwargs: Foreign) -> Foreign:
        """As an array's."""
        return self.__array_function__(np.clip, (), (self, *args), kwargs)

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.shown(), name)


def of_shown(name: str) -> Foreign:
    """A method that shows what is hidden first."""
    return lambda self, *args, **kwargs: getattr(self.shown(), name)(*args, **kwargs)


def _of_sampled(ufunc: Foreign, turned: bool) -> Foreign:
    return lambda self, other: self.__array_ufunc__(
        ufunc, "__call__", *((other, self) if turned else (self, other))
    )


for _name in (
    *("len", "iter", "getitem", "contains", "bool", "float", "int", "array", "repr", "deepcopy"),
    *("eq", "ne", "lt", "le", "gt", "ge", "pow", "neg", "abs"),
):
    setattr(Sampled, f"__{_name}__", of_shown(f"__{_name}__"))
for _name in ("add", "sub", "mul", "truediv"):
    for _side in ("", "r"):
        setattr(Sampled, f"__{_side}{_name}__", _of_sampled(ARITHMETIC[_name], bool(_side)))


@dataclass(eq=False)
class Drawing:
    """Positions in the order in which they were drawn, all of them.

    Parameters
    ----------
    world
        The run.
    order
        The positions, of shape (n,) or (1, n).
    public
        Gives as public numbers what was drawn.
    sources
        The uniform draws that they are the order of, if they are.
    cuts
        How many of the first may be asked for; None for any number.
    coins
        Which tell for each position whether it counts, once entries were taken.
    """

    world: World
    order: Foreign
    public: Callable[[], Foreign]
    sources: Sequence[Foreign] = ()
    cuts: range | None = None
    coins: list[Foreign] = field(default_factory=list)

    def hide(self, many: int) -> list[Foreign] | None:
        """The coins, the first time that they are asked for; None if something else was done."""
        if self.coins or not all(source.is_unused for source in self.sources):
            return None
        for source in self.sources:
            source.take()
        size, chosen = self.order.size, {*self.order.ravel()[:many].tolist()}
        self.coins = [draws.coin_of(self.world, many / size, i in chosen) for i in range(size)]
        return self.coins

    def shown(self) -> Foreign:
        """What was drawn, public from here on."""
        if self.coins:
            for source in self.sources:
                source.state = None
            for coin in self.coins:
                coin.source.is_public = True
        return self.public()


class Subset:
    """The first `many` of positions that were drawn.

    Parameters
    ----------
    drawing
        All of them.
    many
        How many count.
    keys
        What was asked of all of them to get these.
    """

    shows = True  # whatever is done but to take entries
    __array_priority__ = 6000.0

    def __init__(self, drawing: Drawing, many: int, keys: tuple[Foreign, ...] = ()) -> None:
        self._drawing, self._many, self._keys = drawing, many, keys
        self._coins: list[Foreign] | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> Foreign:
        """An array's."""
        return np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """As an array's."""
        return (*self._drawing.order.shape[:-1], self._many)

    def shown(self) -> Foreign:
        """The positions as public numbers."""
        return functools.reduce(lambda found, key: found[key], self._keys, self._drawing.shown())

    def __getitem__(self, key: Foreign) -> Foreign:
        parts, drawing = key if type(key) is tuple else (key,), self._drawing
        last = parts[-1] if len(parts) == drawing.order.ndim else None
        whole = all(type(part) is slice and part == slice(None) for part in parts[:-1])
        if not (type(last) is slice and whole and last.start in (None, 0) and last.step in (None, 1)):
            return self.shown()[key]
        many = len(range(self._many)[last])
        if not many or self._coins is not None or (drawing.cuts is not None and many not in drawing.cuts):
            return self.shown()[key]
        return Subset(drawing, many, (*self._keys, key))

    def taken(self, box: boxes.Box) -> Foreign:
        """The entries at these positions."""
        size, values = self._drawing.order.size, box.data.ravel().tolist()
        raw = all(is_term(value) and value.raw and not value.noise for value in values)
        ends = {value.range() for value in values} if raw and box.shape == (size,) else set()
        if not self._many or len(ends) != 1 or not all(map(math.isfinite, *ends)):
            return box[self.shown()]
        every = self._many == size
        self._coins = self._coins or ([True] * size if every else self._drawing.hide(self._many))
        if self._coins is None:
            return box[self.shown()]
        mask = boxes.Box(self._drawing.world, boxes.objects(self._coins, (size,)), "b")
        return ChosenSubset(mask, box.copy(), self)

    def __array_ufunc__(self, ufunc: Foreign, method: str, *inputs: Foreign, **kwargs: Foreign) -> Foreign:
        return getattr(ufunc, method)(*(v.shown() if type(v) is Subset else v for v in inputs), **kwargs)

    def __array_function__(
        self, function: Foreign, types: Foreign, args: Foreign, kwargs: Foreign
    ) -> Foreign:
        return function(*(v.shown() if type(v) is Subset else v for v in args), **kwargs)

    def __getattr__(self, name: str) -> Foreign:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.shown(), name)


for _name in (
    *("iter", "contains", "bool", "int", "index", "array", "repr", "deepcopy", "setitem"),
    *(f"{side}{name}" for name in ("add", "sub", "mul", "floordiv", "mod") for side in ("", "r")),
    *("eq", "ne", "lt", "le", "gt", "ge"),
):
    setattr(Subset, f"__{_name}__", of_shown(f"__{_name}__"))
Subset.__len__ = lambda self: self.shape[0]  # type: ignore[attr-defined]


class ChosenSubset(Sampled):
    """The entries at hidden positions: their sum and their mean hide which they are.

    Parameters
    ----------
    mask, box
        As of `Sampled`.
    subset
        The positions.
    """

    def __init__(self, mask: boxes.Box, box: boxes.Box, subset: Subset) -> None:
        super().__init__(mask, box)
        self._subset = subset

    shape = property(lambda self: self._subset.shape)
    size = property(lambda self: self.shape[-1])
    ndim = property(lambda self: len(self.shape))

    def again(self, box: boxes.Box) -> ChosenSubset:
        """As `Sampled`'s."""
        return ChosenSubset(self._mask, box, self._subset)

    def shown(self) -> Foreign:
        """The entries."""
        return self._box[self._subset.shown()]

    def sum(self, axis: Foreign = None, **kwargs: Foreign) -> Foreign:
        """As an array's."""
        if kwargs or axis not in (_ALONG if self.ndim == 2 else (None, -1, 0)):
            return self.shown().sum(axis, **kwargs)
        found = super().sum()
        if self.ndim == 1 or axis is None:
            return found
        return boxes.Box.of(self._box.world, boxes.objects([found], (1,)))

    def mean(self, axis: Foreign = None, **kwargs: Foreign) -> Foreign:
        """As an array's."""
        return self.sum(axis, **kwargs) / self.size

    def __array_function__(
        self, function: Foreign, types: Foreign, args: Foreign, kwargs: Foreign
    ) -> Foreign:
        if function in (np.sum, np.mean) and len(args) <= 2 and {*kwargs} <= {"axis"}:
            return (self.sum if function is np.sum else self.mean)(*args[1:], **kwargs)
        return super().__array_function__(function, types, args, kwargs)

    def __len__(self) -> int:
        return int(self.shape[0])


def ordered(
    world: World, function: Foreign, args: Foreign, kwargs: Foreign, otherwise: Callable[[], Foreign]
) -> Foreign:
    """The order of uniform draws, by `argsort` or `argpartition`; None if they are something else."""
    keys, names = args[0], ("kth", "axis") if function is np.argpartition else ("axis",)
    values = keys.data.ravel().tolist() if type(keys) is boxes.Box else []
    if world.oracle is not None or len(values) < 2 or len(keys) != (1 if keys.ndim == 2 else len(values)):
        return None
    parts = {"axis": -1} | dict(zip(names, args[1:], strict=False)) | kwargs
    if parts.pop("axis") not in (-1, keys.ndim - 1):
        return None
    kth = parts.pop("kth", None)
    fresh = all(type(v) is uniform_draws.UniformDraw and v.is_bare and v.source.is_unused for v in values)
    if parts or not fresh or (function is np.argpartition and type(kth) is not int):
        return None
    plain = np.array([float(v.source.value) for v in values]).reshape(keys.shape)
    order = np.argsort(plain) if kth is None else np.argpartition(plain, kth)
    cuts = None if kth is None else range(kth, kth + 2)
    return Subset(Drawing(world, order, otherwise, [v.source for v in values], cuts), len(values))
