"""What a few runs tell about a user's target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from verifiable_dp.core.validate import FloatArray, Foreign, IntArray
from verifiable_dp.targets.far import is_process
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.releases import ReleaseSampler

DETERMINISTIC = "deterministic output: no noise was used"


@dataclass(frozen=True)
class Probe:
    """What a few runs tell about a user's target.

    Attributes
    ----------
    deterministic
        Whether every run on an input was alike.
    repeatable
        Whether the same generator gives the same output again.
    notes
        Lines for the record.
    carried
        Whether a run was seen to depend on the one before it.
    """

    deterministic: bool
    repeatable: bool
    notes: tuple[str, ...] = field(default=())
    carried: bool = False

    @property
    def varied(self) -> bool:
        """Whether two runs on one input differed, if only with the same generator."""
        return not (self.deterministic and self.repeatable)


def probe_play(sampler: PlaySampler, tables: Sequence[FloatArray], runs: int = 12) -> Probe:
    """Play some tables a few times: are runs alike, and does the generator decide all?"""
    numbers, alike, repeatable = np.arange(runs, dtype=np.int64), True, True
    for i, table in enumerate(tables):
        first = sampler.actions(table, (9, i), numbers)
        alike = alike and bool((first == first[0]).all())
        # Backwards where each run has a generator of its own: an order that matters is a shared state.
        turn = 1 if sampler.together else -1
        again = sampler.actions(table, (9, i), numbers[::turn])[::turn]
        repeatable = repeatable and bool((first == again).all())
    carried = not repeatable and sampler.in_turn and _carried(sampler.actions, tables)
    return Probe(alike, repeatable, _notes(repeatable, carried), carried)


def probe_release(sampler: ReleaseSampler, data: Sequence[Foreign], runs: int = 64) -> Probe:
    """As `probe_play` for a mechanism."""
    numbers, alike, repeatable = np.arange(runs, dtype=np.int64), True, True
    for i, item in enumerate(data):
        first = sampler.values(item, (9, i), numbers)
        alike = alike and bool((first == first[0]).all())
        again = sampler.values(item, (9, i), numbers)
        repeatable = repeatable and np.array_equal(first, again, equal_nan=True)
    single = None if sampler.together or is_process(sampler.function) else replace(sampler, rows=1)
    carried = not repeatable and single is not None and _carried(single.values, data)
    return Probe(alike, repeatable, (*_notes(repeatable, carried), *_legend(sampler.texts)), carried)


_BEFORE, _AGAIN = 6, 3


def _carried(
    made: Callable[[Foreign, tuple[int, ...], IntArray], Foreign], inputs: Sequence[Foreign]
) -> bool:
    """Whether one run is another after another one: alike each time after the same, and not after all."""
    found = []
    for before in range(_BEFORE):
        after = []
        for _ in range(_AGAIN):
            made(inputs[before % len(inputs)], (9, len(inputs)), np.array([before], np.int64))
            after.append(made(inputs[0], (9, len(inputs) + 1), np.zeros(1, np.int64)).tobytes())
        if len(set(after)) > 1:
            return False
        found.append(after[0])
    return len(set(found)) > 1


def _legend(texts: Mapping[int, str]) -> tuple[str, ...]:
    some = [f"{number} is {text[:40]!r}" for number, text in sorted(texts.items())[:12]]
    return (f"we replaced released text with its CRC-32: {', '.join(some)}",) if some else ()


CARRIED = (
    "each run depends on the one before it: we mixed the runs of both inputs at random, and did not test "
    "what a run reveals through the next one"
)


def _notes(repeatable: bool, carried: bool = False) -> tuple[str, ...]:
    if repeatable:
        return ()
    if carried:
        return (CARRIED,)
    return (
        "not repeatable: the same generator gave different outputs; the target keeps state between runs or "
        "draws from another source, so a rerun may give different counts",
    )
