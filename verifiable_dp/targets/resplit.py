"""Runs that were sent, split anew: which of them choose an event and which are counted is left to chance.

Code can tell the runs from which an event is chosen from those that are counted, by their number in a call if
by nothing else. So the parent keeps some of both, and when all have been made it draws anew which of them
choose and which are counted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from verifiable_dp.core.validate import Foreign, Given, Json, JsonDict
from verifiable_dp.evidence.blackbox.events import EventSetting
from verifiable_dp.evidence.blackbox.test import Part, coin_sizes

_MOST = 1 << 15  # runs of a question that are kept, on each input
_MOST_BYTES = 1 << 26
_LEAST = 64  # runs on an input that are split


class Chance(Protocol):
    """Random numbers that follow from a key that no code of the target has."""

    def __call__(self, *of: object) -> random.Random:
        """Those for one purpose."""


@dataclass
class Pool:
    """Some runs of a sampler on a pair, from all that was asked of it.

    Attributes
    ----------
    pair, told
        On what, and what made them.
    rule
        By which events are chosen.
    rows
        Runs of either world, by where they come from.
    """

    pair: Json
    told: JsonDict
    rule: EventSetting
    rows: tuple[dict[str, Foreign], dict[str, Foreign]] = field(default_factory=lambda: ({}, {}))

    def keep(
        self, asked: int, part: Part, made: Sequence[Foreign], sizes: Sequence[int], chance: Chance
    ) -> None:
        """Keep some runs of a part of a question, by its number, that asks for so many of either world."""
        how, arguments = part
        numbers = arguments[2] if how == "mixed" else [arguments[3]]
        for world, (runs, rows) in enumerate(
            zip(numbers, made, strict=True), how != "mixed" and arguments[0]
        ):
            if not len(rows):
                continue
            path = arguments[:2] if how == "mixed" else arguments[1:3]
            place = repr((asked, *path, int(runs[0])))
            most = min(_MOST, _MOST_BYTES // max(rows[0].nbytes, 1))
            some = -(-len(rows) * min(most, sizes[world]) // sizes[world])
            mask = np.random.Generator(np.random.Philox(chance("kept", place, world).getrandbits(64)))
            self.rows[world][place] = rows[mask.permutation(len(rows))[:some]]

    def counts(self, seen: Callable[[Foreign], Given], claim: Json, chance: Chance) -> Iterator[JsonDict]:
        """Counts of the event that a random half of the runs chooses, in the other half."""
        whole = [np.concatenate([side[place] for place in sorted(side)]) for side in self.rows if side]
        half = min(map(len, whole), default=0) // 2
        if len(whole) < 2 or half < _LEAST:
            return
        seed = chance("split").getrandbits(64)
        draw = np.random.Generator(np.random.Philox(seed))
        whole = [rows[draw.permutation(len(rows))] for rows in whole]
        # As in any test: the world of each run is tossed, here among fewer runs than there are.
        runs = half - int(3 * half**0.5)
        sizes = coin_sizes(runs, float(claim["delta"]), seed, (0,))
        # As they are chosen by default, whatever the process of the target asked for.
        rule = EventSetting(runs, float(claim["delta"]), boosted=False, offered=self.rule.offered)
        for event in rule.events(*(seen(rows[:half]) for rows in whole)):
            hits = [
                event.hits(seen(rows[half : half + size])) for rows, size in zip(whole, sizes, strict=True)
            ]
            one, zero = (1, 0) if event.flipped else (0, 1)
            yield {"k1": hits[one], "n1": sizes[one], "k0": hits[zero], "n0": sizes[zero]}
