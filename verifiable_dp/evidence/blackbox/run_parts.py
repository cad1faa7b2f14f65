"""Which runs of which input each call of a sampler makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard

import numpy as np

from verifiable_dp.core.validate import Given, IntArray
from verifiable_dp.evidence.blackbox.events import Observation, join


class Sampler(Protocol):
    """Runs a target on either input of a pair."""

    @property
    def shard(self) -> int:
        """Runs that are sampled together; fixed, so that results do not depend on workers."""
        ...

    def sample(self, pair: Given, world: int, stage: int, number: int, runs: IntArray) -> Observation:
        """What the adversary sees of runs with numbers `runs` on input `world` of `pair`.

        `stage` and `number` (of the pair) keep the randomness of different uses apart.
        """
        ...


class TestTurns(Protocol):
    """A sampler whose runs are calls of their own, so that runs of both worlds can take turns.

    Code with a memory then meets either world after either world, and what it remembers speaks for none.
    """

    seed: int
    shard: int

    def mixed(
        self, pair: Given, stage: int, number: int, runs: tuple[IntArray, IntArray], order: IntArray
    ) -> tuple[Observation | None, Observation | None]:
        """What `Sampler.sample` gives of runs of either world, made as `order` says whose turn it is."""
        ...


def shards(count: int, size: int) -> list[IntArray]:
    """Run numbers 0 .. count - 1 in shards of fixed size: results do not depend on who runs them."""
    return [np.arange(i, min(i + size, count), dtype=np.int64) for i in range(0, count, size)]


def takes_turns(sampler: Sampler | TestTurns) -> TypeGuard[TestTurns]:
    """Whether runs of both worlds can take turns."""
    return bool(getattr(sampler, "in_turn", False))


def tossed(
    sampler: TestTurns, path: tuple[int, int], sizes: tuple[int, int], starts: tuple[int, int] = (0, 0)
) -> list[tuple[tuple[IntArray, IntArray], IntArray]]:
    """Numbers of the runs of either world, and whose turn it is, in shards of fixed size.

    `sizes[w]` runs from number `starts[w]` on; the order follows from the seed alone.
    """
    words = np.random.SeedSequence(sampler.seed, spawn_key=(*path, 3, *starts))  # 3 is not a world
    whose = np.repeat(np.arange(2, dtype=np.int8), sizes)
    np.random.Generator(np.random.Philox(words)).shuffle(whose)
    (left, right), found = starts, list[tuple[tuple[IntArray, IntArray], IntArray]]()
    for part in shards(len(whose), sampler.shard):
        order = whose[part].astype(np.int64)
        ends = left + int((order == 0).sum()), right + int(order.sum())
        runs: tuple[IntArray, IntArray] = np.arange(left, ends[0]), np.arange(right, ends[1])
        found.append((runs, order))
        left, right = ends
    return found


Part = tuple[str, tuple[Given, ...]]  # the method of a sampler, and its arguments after the pair


def parts_of(
    sampler: Sampler, path: tuple[int, int], sizes: tuple[int, int], starts: tuple[int, int] = (0, 0)
) -> list[Part]:
    """The calls of a sampler that make `sizes[w]` runs on each input, numbered from `starts[w]`.

    `path` is the stage and the number of the pair.
    """
    if takes_turns(sampler):
        return [("mixed", (*path, *part)) for part in tossed(sampler, path, sizes, starts)]
    return [
        ("sample", (world, *path, part + starts[world]))
        for world, size in enumerate(sizes)
        for part in shards(size, sampler.shard)
    ]


def worlds_of(part: Part) -> list[tuple[int, IntArray]]:
    """The worlds of a part with the numbers of their runs, in the order in which their rows come out."""
    how, arguments = part
    return list(enumerate(arguments[2])) if how == "mixed" else [(arguments[0], arguments[3])]


def sides(parts: Sequence[Part], seen: list[Given]) -> tuple[Observation, Observation]:
    """What was seen on each input, of what each part gave."""
    if parts[0][0] == "mixed":
        left, right = (join([side for one in seen if (side := one[w]) is not None]) for w in (0, 1))
        return left, right
    first = sum(arguments[0] == 0 for _, arguments in parts)
    left = join(seen[:first])
    del seen[:first]  # memory: the parts of a world go before the other world's are joined
    return left, join(seen)
