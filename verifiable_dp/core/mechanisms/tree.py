"""The tree (binary) mechanism: all prefix sums of a stream, each item in about log2 T releases."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from verifiable_dp.core import validate
from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.validate import BoolArray, FloatArray, InputError, IntArray

SLOT_BITS = 40  # slot = column << SLOT_BITS | number of the item


@dataclass(frozen=True)
class TreeMemory:
    """Private memory of n runs with w trees each: exact sums of the open nodes.

    Attributes
    ----------
    count : (n, w) int
        Items inserted so far.
    open : (n, w, levels) float
        Exact sum of the node of each level that is waiting for its sibling.
    """

    count: IntArray
    open: FloatArray

    def take(self, index: IntArray) -> TreeMemory:
        """The rows `index`."""
        return TreeMemory(self.count[index], self.open[index])


@dataclass(frozen=True)
class Nodes:
    """A stream whose items each enter one node of every level of a tree; a node is released when it is full.

    Each item releases one node: that of the largest dyadic block that the item completes. The prefix
    sum after i items is the sum of the released nodes at the set bits of i.

    Parameters
    ----------
    leaves
        Largest number of items T, at least 1.
    """

    normal: ClassVar[bool] = False  # noise, and not Laplace
    leaves: int

    def __post_init__(self) -> None:
        validate.integer("leaves", self.leaves, least=1)
        if self.leaves >= 1 << SLOT_BITS:
            raise InputError(f"leaves must be below 2^{SLOT_BITS}, got {self.leaves}")

    @property
    def degrees(self) -> int:
        """Degrees of freedom of Wishart noise; 0 for other noise."""
        return 0

    @property
    def levels(self) -> int:
        """Number of levels, floor(log2 T) + 1: the most nodes that one item enters."""
        return self.leaves.bit_length()

    @property
    def scale(self) -> float:
        """Scale of the noise of each node."""
        raise NotImplementedError

    def nodes_of(self, item: int) -> int:
        """How many released nodes hold item number `item` (from 1) once all T items are in."""
        validate.integer("item", item, least=1, most=self.leaves)
        end, count = item, 1
        while end + (end & -end) <= self.leaves:
            end += end & -end
            count += 1
        return count

    def start(self, runs: int, width: int) -> TreeMemory:
        """Memory of `runs` runs with `width` empty trees each."""
        return TreeMemory(np.zeros((runs, width), np.int64), np.zeros((runs, width, self.levels)))

    def insert(
        self, memory: TreeMemory, item: FloatArray, noise: Noise, run: IntArray, where: BoolArray
    ) -> tuple[TreeMemory, FloatArray]:
        """Insert `item` (n, w) where `where` (n, w); return the new memory and the released nodes (n, w)."""
        count = memory.count + where
        value, opened = _close_nodes(memory.open, count, item, where)
        slot = (np.arange(item.shape[1], dtype=np.int64) << SLOT_BITS) | count
        drawn = Draw(value, self.scales(count), run, slot, where, normal=self.normal, freedom=self.degrees)
        released = noise(drawn)
        return replace(memory, count=count, open=opened), released

    def scales(self, number: IntArray) -> FloatArray:
        """Scale of the node that item `number`, an array of any shape, completes."""
        return np.full(number.shape, self.scale)


@dataclass(frozen=True)
class Tree(Nodes):
    """The tree mechanism with Laplace noise.

    The first item enters floor(log2 T) + 1 nodes, so the budget must be divided by that number.

    Parameters
    ----------
    leaves
        Largest number of items T, at least 1.
    epsilon
        Privacy budget of the whole stream, above 0.
    sensitivity
        Largest change of one item, above 0.
    budget
        ``levels``: each node gets epsilon / (floor(log2 T) + 1), which makes the stream epsilon-DP. ``log``:
        epsilon / log T (natural), as printed by Tao et al. 2022, Algorithm 2: too large by a factor of
        (floor(log2 T) + 1) / log T. ``log2``: epsilon / log2 T.

    Raises
    ------
    InputError
        If a number is out of range; `leaves` must be at least 2 for the logarithmic budgets.

    Notes
    -----
    Alignment: every node that holds the changed item moves its noise by the change.

    Source: Chan, Shi, Song, "Private and continual release of statistics", 2010; Dwork, Naor,
    Pitassi, Rothblum, "Differential privacy under continual observation", STOC 2010.
    """

    epsilon: float
    sensitivity: float = 1.0
    budget: str = "levels"

    def __post_init__(self) -> None:
        validate.choice("budget", self.budget, ("levels", "log", "log2"))
        super().__post_init__()
        validate.integer("leaves", self.leaves, least=1 if self.budget == "levels" else 2)
        validate.positive("epsilon", self.epsilon)
        validate.positive("sensitivity", self.sensitivity)

    @property
    def divisor(self) -> float:
        """Number by which the budget of the stream is divided for one node."""
        if self.budget == "levels":
            return float(self.levels)
        return math.log(self.leaves) if self.budget == "log" else math.log2(self.leaves)

    @property
    def scale(self) -> float:
        """Scale of the noise of each node."""
        return self.sensitivity * self.divisor / self.epsilon

    def cost(self, item: int = 1) -> float:
        """Privacy loss when item number `item` changes by the sensitivity; the first is the worst."""
        return self.nodes_of(item) * self.sensitivity / self.scale


@dataclass(frozen=True)
class NormalTree(Nodes):
    """The tree mechanism with normal noise in every column of a vector, such as a matrix's entries.

    Parameters
    ----------
    leaves
        Largest number of items T, at least 1.
    mu
        The mu that the whole stream promises, in Gaussian differential privacy, above 0.
    sensitivity
        Largest Euclidean change of one item, above 0.

    Raises
    ------
    InputError
        If a number is out of range.

    Notes
    -----
    Losses of normal noise add up by their squares: an item that is in `levels` nodes, each with standard
    deviation sensitivity sqrt(levels) / mu, costs mu (Dong, Roth & Su, Gaussian Differential Privacy, 2022).
    """

    normal: ClassVar[bool] = True
    mu: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.positive("mu", self.mu)
        validate.positive("sensitivity", self.sensitivity)

    @property
    def scale(self) -> float:
        """Standard deviation of the noise of each entry of a node."""
        return self.sensitivity * math.sqrt(self.levels) / self.mu


@dataclass(frozen=True)
class AdaptiveTree(Tree):
    """A tree for items that grow: item number n lies in [-B_n, B_n], where B_n = factor n^power.

    A node gets noise for the largest item that it may hold, Lap(2 B_n divisor/epsilon) where item n completes
    it. An item spends less on later nodes, so if power > 0, the whole stream costs less than epsilon.

    Parameters
    ----------
    factor
        B_1, above 0.
    power
        At least 0.

    Raises
    ------
    InputError
        If a number is out of range.

    Notes
    -----
    Source: Tao et al. 2022, Algorithm 2 and Lemma 2, which print epsilon/log T (``log``) for a node.
    """

    factor: float = 1.0
    power: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.positive("factor", self.factor)
        if not self.power >= 0:
            raise InputError(f"power must be at least 0, got {self.power!r}")

    def limit(self, number: npt.ArrayLike) -> FloatArray:
        """B_n; `number` is a number or an array."""
        return self.factor * np.maximum(number, 1) ** self.power

    def scales(self, number: IntArray) -> FloatArray:
        """2 B_n divisor / epsilon."""
        return np.asarray(2 * self.limit(number) * self.divisor / self.epsilon)

    def cost(self, item: int = 1, items: int | None = None) -> float:
        """Privacy loss when item number `item` moves from -B to B and `items` are inserted (all if None)."""
        last = self.leaves if items is None else validate.integer("items", items, least=1, most=self.leaves)
        validate.integer("item", item, least=1, most=last)
        end, total = item, 0.0
        while end <= last:
            total += float(self.limit(item) / self.limit(end))
            end += end & -end
        return total * self.epsilon / self.divisor

    def worst(self, items: int | None = None) -> int:
        """Number of the item whose change costs most when `items` are inserted (all if None)."""
        last = self.leaves if items is None else items
        return max(range(1, last + 1), key=lambda item: self.cost(item, last)) if self.power else 1


@kernel
def _close_nodes(opened, count, item, where):  # type: ignore[no-untyped-def]
    """Exact sums of the completed nodes (n, w), and the open nodes after them (n, w, levels)."""
    value = np.zeros(item.shape)
    after = opened.copy()
    for i in range(item.shape[0]):
        for a in range(item.shape[1]):
            if not where[i, a]:
                continue
            level, total = 0, item[i, a]
            while (count[i, a] >> level) & 1 == 0:
                total += after[i, a, level]
                after[i, a, level] = 0.0
                level += 1
            after[i, a, level] = total
            value[i, a] = total
    return value, after


def update_nodes(nodes: FloatArray, number: IntArray, released: FloatArray) -> FloatArray:
    """Public side: nodes (n, levels) after item `number` (n,) released its node `released` (n,).

    The noisy prefix sum is the sum over the last axis.
    """
    kept: FloatArray = _set_node(nodes, number, released)
    return kept


@kernel
def _set_node(nodes, number, released):  # type: ignore[no-untyped-def]
    kept = nodes.copy()
    for i in range(len(number)):
        level = 0
        while (number[i] >> level) & 1 == 0:
            kept[i, level] = 0.0
            level += 1
        kept[i, level] = released[i]
    return kept
