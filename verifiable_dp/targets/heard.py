"""What an audit keeps of the runs of a target's process, to tell whether that process is to be believed.

Some of them are asked for again in a process that has made no others. And code can tell the runs from which
an event is chosen from those that are counted, by their number in a call if by nothing else: so some of both
are kept, and when all have been made it is drawn anew which of them choose and which are counted.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import hashlib
import math
import random
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from verifiable_dp.core.neighbours import ContextGame
from verifiable_dp.core.validate import Foreign, Given, IntArray, Json, JsonDict
from verifiable_dp.evidence.blackbox.curves import CURVE
from verifiable_dp.evidence.blackbox.events import EventSetting
from verifiable_dp.evidence.blackbox.run_parts import Part, worlds_of
from verifiable_dp.evidence.blackbox.statistics import p_value
from verifiable_dp.evidence.blackbox.test import PROBE, SELECT, SEQUENTIAL, TEST, coin_sizes
from verifiable_dp.targets.far import FarFunction
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.randomness import follower_of
from verifiable_dp.targets.releases import ReleaseSampler
from verifiable_dp.targets.seeds import origins_of

Sampling = PlaySampler | ReleaseSampler
UNLIKE = (
    "the runs that chose the event differ from the runs that were counted: random halves of all these runs "
    "refute the claim"
)
# How many parts are asked for again, of the runs that were counted and of those before them.
_KEPT = {TEST: 6, SEQUENTIAL: 6, CURVE: 2, SELECT: 2, PROBE: 2}
_SINGLE = 16  # runs of a part, where each is a call by itself
_MOST = 1 << 15  # runs of a part that are kept to be split anew, on each input
_MOST_BYTES = 1 << 26
_LEAST = 64  # runs on an input that are split
_DOUBTED = 4e-7  # chance that right code is said to be unlike itself
_BY_CHANCE = 1e-7  # of one order of runs, if all orders of them are as likely
_COMPARED, _ELSEWHERE = 256, 1 << 32  # runs with other seeds: how many, and where their numbers begin


@dataclass(frozen=True)
class Sample:
    """Some runs, and what came out of them: `world` of a pair, as `Sampler.sample` numbers them."""

    sampler: Sampling
    pair: Given
    world: int
    path: tuple[int, int]
    runs: IntArray
    digest: str = ""

    def entries(self) -> int:
        """How many values its data have; 0 if they cannot be counted."""
        with contextlib.suppress(Exception):  # data may be whatever the code takes
            return int(np.size(self.pair.worlds()[0]))
        return 0

    def made(self) -> Foreign:
        """What comes out of them here."""
        function = self.sampler.function
        if self.sampler.followed:
            follower_of(function).start(origins_of(function))
        return self.sampler.raw(self.pair, self.world, *self.path, self.runs)

    def again(self) -> str:
        """The digest of what comes out of them here."""
        return _digest(self.made())

    def with_other_seeds(self) -> list[SeedRuns]:
        """Some of these runs, and as many with other seeds."""
        runs = self.runs[:1] + np.arange(_COMPARED)
        return [SeedRuns(replace(self, runs=runs + other)) for other in (0, _ELSEWHERE)]


class FirstData(enum.Enum):
    """What a process gets to see before anything else: what it keeps of that must not show in later runs."""

    LOWEST, HIGHEST, MIXED = range(3)

    def of(self, one: Foreign, other: Foreign) -> Foreign:
        """Data like two neighbouring ones, with other values between theirs; as they are if not numbers."""
        sides = [np.asarray(side) for side in (one, other)]
        if any(side.dtype.kind not in "biuf" or not side.size for side in sides):
            return other if self is FirstData.HIGHEST else one
        low, high = min(side.min() for side in sides), max(side.max() for side in sides)
        if self is not FirstData.MIXED:
            return np.full_like(sides[0], low if self is FirstData.LOWEST else high)
        draw = np.random.Generator(np.random.Philox(sides[0].size))
        return (low + (high - low) * draw.random(sides[0].shape)).astype(sides[0].dtype)


@dataclass(frozen=True)
class SeedRuns:
    """Runs of a process that has made no others, in which nothing but secret noise may differ."""

    sample: Sample

    def again(self) -> str:
        """The digest of what comes out of them, in order; empty where other noise may make the same."""
        rows = self.sample.made()
        alike = Counter(row.tobytes() for row in rows).values()
        orders = math.lgamma(len(rows) + 1) - sum(math.lgamma(count + 1) for count in alike)
        return _digest(rows) if orders > -math.log(_BY_CHANCE) else ""


@dataclass(frozen=True)
class _FirstPair:
    """A pair of which one data set is played; `round` is that of the pair that it stands for."""

    data: Foreign
    round: int | None

    def worlds(self) -> tuple[Foreign, Foreign]:
        """It, for both."""
        return self.data, self.data


@dataclass(frozen=True)
class FirstRun:
    """A run of which only what it leaves behind matters: the first of a process."""

    sample: Sample
    data: FirstData

    def again(self) -> str:
        """Nothing, whatever comes out of it."""
        pair = self.sample.pair
        if not isinstance(pair, ContextGame):
            pair = _FirstPair(self.data.of(*pair.worlds()), getattr(pair, "round", None))
        with contextlib.suppress(Exception):  # what is wrong with the code shows in the runs that follow
            replace(self.sample, pair=pair, runs=self.sample.runs[:1]).again()
        return ""


@dataclass(eq=False)
class _Pool:
    """Some runs of a sampler on a pair: rows of either world, by where they come from."""

    sampler: Sampling
    pair: Given
    rows: tuple[dict[str, Foreign], dict[str, Foreign]] = field(default_factory=lambda: ({}, {}))
    stages: set[int] = field(default_factory=set)


@dataclass
class Heard:
    """Keeps some of the runs; see `far.Far.heard`.

    Parameters
    ----------
    seeds
        Of the runs on which a verdict rests; those of variants and leads have others.
    key
        From it follows what is left to chance; no code of the target has it. Empty: a new one.
    """

    seeds: Sequence[int]
    key: str = ""
    _samples: dict[int, list[Sample]] = field(default_factory=dict)
    _seen: dict[int, int] = field(default_factory=dict)
    _pools: list[_Pool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.key = self.key or secrets.token_hex(16)

    def _chance(self, *of: object) -> random.Random:
        return random.Random(repr((self.key, *of)))

    def __call__(
        self,
        sampler: Sampling,
        pair: Given,
        path: tuple[int, int],
        sizes: Sequence[int],
        part: Part,
        rows: Foreign,
    ) -> None:
        """Keep some of a part's rows, those of world 0 first."""
        own = isinstance(sampler.function, FarFunction) and sampler.function.own
        if not own or sampler.factor != 1.0 or sampler.seed not in self.seeds:
            return
        worlds = list(_worlds(part, rows))
        self._sample(sampler, pair, path, worlds)
        if path[0] in (SELECT, TEST, SEQUENTIAL):
            self._keep(sampler, pair, path, sizes, worlds)

    def _sample(
        self, sampler: Sampling, pair: Given, path: tuple[int, int], worlds: Sequence[_World]
    ) -> None:
        """Keep this part, by as much chance as any other of its stage."""
        stage, most = path[0], _KEPT.get(path[0], 0)
        number = self._seen[stage] = self._seen.get(stage, -1) + 1
        chance, kept = self._chance("sample", stage, number), self._samples.setdefault(stage, [])
        place = number if number < most else chance.randrange(number + 1)
        if place >= most:
            return
        world, runs, made = chance.choice([one for one in worlds if len(one[1])])
        some = np.arange(len(runs))
        single = sampler.rows == 1 or (isinstance(sampler, PlaySampler) and not sampler.many)
        if single and len(runs) > _SINGLE:
            some = np.array(chance.sample(range(len(runs)), _SINGLE))
        one = (
            replace(sampler, taught=None) if isinstance(sampler, PlaySampler) else replace(sampler, texts={})
        )
        kept[place : place + 1] = [Sample(one, pair, world, path, runs[some], _digest(made[some]))]

    def _keep(
        self,
        sampler: Sampling,
        pair: Given,
        path: tuple[int, int],
        sizes: Sequence[int],
        worlds: Sequence[_World],
    ) -> None:
        """Keep some rows, to be split anew."""
        pool = next((one for one in self._pools if one.pair is pair and one.sampler == sampler), None)
        if pool is None:
            pool = _Pool(sampler, pair)
            self._pools.append(pool)
        pool.stages.add(path[0])
        for world, runs, rows in worlds:
            if not len(rows):
                continue
            place = repr((*path, int(runs[0])))
            most = min(_MOST, _MOST_BYTES // max(rows[0].nbytes, 1))
            some = -(-len(rows) * min(most, sizes[world]) // sizes[world])
            mask = np.random.Generator(np.random.Philox(self._chance("kept", place, world).getrandbits(64)))
            pool.rows[world][place] = rows[mask.permutation(len(rows))[:some]]

    def samples(self) -> list[Sample]:
        """Runs to be asked for again, in any order."""
        found = [one for kept in self._samples.values() for one in kept]
        self._chance("again").shuffle(found)
        return found

    def doubts(self, draft: Json) -> list[str]:
        """Whether the claim would be refuted if other runs had chosen the event, and others been counted."""
        if any(check["result"]["verdict"] == "refuted" for check in draft["checks"]):
            return []
        pools = [one for one in self._pools if len(one.stages) > 1]
        epsilon, delta = (float(draft["claim"][name]) for name in ("epsilon", "delta"))
        level = _DOUBTED / max(len(pools), 1)
        counts = (found for pool in pools for found in self._split(pool, delta))
        return [UNLIKE] if any(p_value(*found, epsilon, delta) <= level for found in counts) else []

    def _split(self, pool: _Pool, delta: float) -> Iterator[tuple[int, int, int, int]]:
        """Counts k1, n1, k0, n0 of the event that a random half of the runs chooses, in the other half."""
        whole = [np.concatenate([side[place] for place in sorted(side)]) for side in pool.rows if side]
        half = min(map(len, whole), default=0) // 2
        if len(whole) < 2 or half < _LEAST:
            return
        seed = self._chance("split").getrandbits(64)
        draw = np.random.Generator(np.random.Philox(seed))
        whole = [rows[draw.permutation(len(rows))] for rows in whole]
        seen: Callable[[Foreign], Given] = functools.partial(pool.sampler.seen, pool.pair)
        # As in any test: the world of each run is tossed, here among fewer runs than there are.
        runs = half - int(3 * half**0.5)
        sizes = coin_sizes(runs, delta, seed, (0,))
        for event in EventSetting(runs, delta, boosted=False).events(*(seen(rows[:half]) for rows in whole)):
            hits = [
                event.hits(seen(rows[half : half + size])) for rows, size in zip(whole, sizes, strict=True)
            ]
            one, zero = (1, 0) if event.flipped else (0, 1)
            yield hits[one], sizes[one], hits[zero], sizes[zero]

    def noted(self, samples: Sequence[Sample]) -> JsonDict:
        """What a record keeps of it."""
        return {"asked_again": sum(len(one.runs) for one in samples), "key": self.key}


_World = tuple[int, IntArray, Foreign]  # its number, numbers of runs, rows


def _worlds(part: Part, rows: Foreign) -> Iterator[_World]:
    """The worlds of a part, those of world 0 first."""
    at = 0
    for world, runs in worlds_of(part):
        yield world, runs, rows[at : at + len(runs)]
        at += len(runs)


def _digest(made: Foreign) -> str:
    return hashlib.sha256(repr(made.shape).encode() + np.ascontiguousarray(made).tobytes()).hexdigest()
