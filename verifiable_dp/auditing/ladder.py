"""Data of several sizes for a mechanism: a promise to one record has to hold however many there are."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Annotated

import numpy as np
from msgspec import Meta

from verifiable_dp.auditing.refusals import Refusals
from verifiable_dp.core.validate import FloatArray, Function, InputError
from verifiable_dp.evidence.blackbox import trials
from verifiable_dp.evidence.exclusions import Exclusion, Left
from verifiable_dp.evidence.tracing.reach import functions_of, scopes_of
from verifiable_dp.targets.far import exactly, there
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

SIZES = (0, 1, 2, 3, 4, 5, 8, 16)  # that are always tried
LARGEST = 1024  # size that is tried because a number of the code says so
# Draws of either side with equal noise, by which pairs are told apart: of 64, a coin that comes up in one of
# ten changes some but for one time in 800.
_FEWEST, _MOST = 4, 64
_KEPT = 24  # pairs that are kept
_LOADS = ("LOAD_CONST", "LOAD_SMALL_INT", "RETURN_CONST")
_PATH = 0x1ADD  # of the streams used here


@dataclass
class Ladder:
    """What trying data of several sizes came to.

    Attributes
    ----------
    tried
        Sizes that the code took.
    asked
        What it refused, by size.
    pairs
        Neighbours that came out otherwise than any before them, with equal noise.
    draws
        How many were made.
    named
        Sizes that the code names.
    each
        Draws of either side of a pair.
    """

    tried: set[int] = field(default_factory=set)
    asked: dict[int, Refusals] = field(default_factory=dict)
    pairs: list[DataPair] = field(default_factory=list)
    draws: int = 0
    named: list[int] = field(default_factory=list)
    each: int = _MOST

    @property
    def refused(self) -> set[int]:
        """Sizes at which the code raised."""
        return {size for size, found in self.asked.items() if found.refused}

    def of(self, data: FloatArray) -> Refusals:
        """What is refused of data of this size."""
        size = int(np.size(data))
        return self.asked.setdefault(size, Refusals(taken=size in self.tried))

    def doubts(self) -> list[str]:
        """Why what was refused does not speak for the claim."""
        return [doubt for found in self.asked.values() for doubt in found.doubts()]

    def not_covered(self) -> list[Exclusion]:
        """What the audit says nothing about."""
        found = [Exclusion(Left.DATA_SIZES, {"sizes": sorted(self.tried)})]
        if self.refused:
            found.append(Exclusion(Left.REFUSED_SIZES, {"sizes": sorted(self.refused)}))
        return found


@there(exactly(list[Annotated[int, Meta(ge=0, le=LARGEST + 1)]]))
def sizes_in(function: Function[object]) -> list[int]:
    """Sizes near the whole numbers that the code holds, and near the inverse of its shares; smallest first.

    What the code compares a size with is one of them, however it is written.
    """
    found: set[int] = set()
    for number in _numbers(function):
        if type(number) is float and 0 < number < 1:
            number = round(1 / number)
        if type(number) is int and 0 < number <= LARGEST:
            found |= {number - 1, number, number + 1}
    return sorted(found - set(SIZES))


def _numbers(function: Function[object]) -> Iterator[object]:
    """What stands in the code of a function, and of those of the user's that it names."""
    files, queue, seen = scopes_of(function), list(functions_of(function)), set[int]()
    while queue:
        one = queue.pop()
        if id(one) in seen or one.__code__.co_filename not in files:
            continue
        seen.add(id(one))
        yield from one.__defaults__ or ()
        yield from (one.__kwdefaults__ or {}).values()
        codes = [one.__code__]
        while codes:
            code = codes.pop()
            steps = (step for step in dis.get_instructions(code) if step.opname in _LOADS)
            for value in (step.argval for step in steps):
                yield from value if isinstance(value, tuple) else (value,)
            codes += [part for part in code.co_consts if isinstance(part, CodeType)]
            for name in code.co_names:
                named = one.__globals__.get(name)
                yield named
                queue += [named] if isinstance(named, FunctionType) else []
                queue += functions_of(named) if isinstance(named, type) else []


def climb(
    function: Function[object],
    sampler: ReleaseSampler,
    pairs: Sequence[DataPair],
    bounds: tuple[float, float],
    kind: str,
    most: int,
) -> Ladder:
    """Neighbours of all `SIZES`, and of those that the code names as long as `most` draws go.

    Equal noise tells which of them are worth more: a pair that comes out alike on both sides, or as another
    one does but for a shift of both, shows nothing that is not looked at already.
    """
    each = _MOST if sampler.together else int(np.clip(most // (8 * len(SIZES)), _FEWEST, _MOST))
    ladder, seen = Ladder(named=sizes_in(function), each=each), set[bytes]()
    for pair in pairs:
        seen.add(_seen(ladder, sampler, pair))
    found: list[tuple[float, DataPair]] = []
    for size in (*SIZES, *ladder.named):
        if size not in SIZES and ladder.draws >= most:
            break
        for pair in neighbours(size, bounds, kind):
            mark = _seen(ladder, sampler, pair)
            if mark and mark not in seen:
                seen.add(mark)
                found.append((_told(ladder, sampler, pair), pair))
    found.sort(key=lambda one: -one[0])
    ladder.pairs = [pair for _, pair in found[:_KEPT]]
    return ladder


def neighbours(size: int, bounds: tuple[float, float], kind: str) -> Iterator[DataPair]:
    """Neighbours of which the larger has `size` entries, the last of which is like all others, or is not."""
    for others, own in ((x, y) for x in bounds for y in bounds):
        base = np.full(size, others)
        base[-1:] = own
        if size:
            left, right = trials.changed(base, size - 1, bounds[own == bounds[0]], kind)
            if not np.array_equal(left, right):
                yield DataPair(left, right)


def _sides(ladder: Ladder, sampler: ReleaseSampler, pair: DataPair) -> tuple[FloatArray, FloatArray]:
    """Outputs of both with equal noise."""
    runs = np.arange(ladder.each, dtype=np.int64)
    left, right = (sampler.values(side, (_PATH,), runs) for side in pair.worlds())
    return left, right


def _seen(ladder: Ladder, sampler: ReleaseSampler, pair: DataPair) -> bytes:
    """What tells a pair from others; empty if both sides come out alike, or the code refuses one."""
    sizes = {np.size(side) for side in pair.worlds()}
    if sizes & ladder.refused:
        for side in pair.worlds():  # all of a size, or else which of them tells of the data
            ladder.of(side).ask(sampler, side, tries=1)
        return b""
    ladder.draws += 2 * ladder.each
    try:
        left, right = _sides(ladder, sampler, pair)
    except InputError as error:
        taken = [ladder.of(side).ask(sampler, side) for side in pair.worlds()]
        if all(taken):
            ladder.of(pair.left).failed(pair.left, error)
        return b""
    ladder.tried |= sizes
    for size in sizes:
        if size in ladder.asked:
            ladder.asked[size].taken = True
    if np.array_equal(left, right, equal_nan=True):
        return b""
    noise, moved = left - left[0], right - left if left.shape == right.shape else right
    shown = [np.round(part, 6) + 0.0 for part in (noise, moved)]
    return b"".join(str(part.shape).encode() + part.tobytes() for part in shown)


def _told(ladder: Ladder, sampler: ReleaseSampler, pair: DataPair) -> float:
    """How far apart the sides are in units of what noise does to them; infinite where they differ in form."""
    left, right = _sides(ladder, sampler, pair)
    if left.shape != right.shape or not np.isfinite(left).all() or not np.isfinite(right).all():
        return np.inf
    spread = min(np.ptp(left, axis=0).min(), np.ptp(right, axis=0).min())
    return float(np.abs(right - left).max() / spread) if spread else np.inf
