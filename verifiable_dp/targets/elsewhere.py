"""In the process of a target: runs are made there and sent to its parent, which chooses events and counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

import numpy as np
from joblib import delayed

from verifiable_dp.core import engine
from verifiable_dp.core.neighbours import ContextGame, TablePair
from verifiable_dp.core.validate import Foreign, Given, IntArray, JsonDict
from verifiable_dp.evidence.blackbox.curves import CurveSetting
from verifiable_dp.evidence.blackbox.events import Event, EventSetting
from verifiable_dp.evidence.blackbox.scores import MetScore, Rounds
from verifiable_dp.evidence.blackbox.test import PROBE, EventRule, Part, counted_by, parts_of
from verifiable_dp.targets.candidates import digest_of_pair
from verifiable_dp.targets.child import Ask, Frame
from verifiable_dp.targets.load import PlaySampler, ReleaseSampler
from verifiable_dp.targets.process import ProcessTarget
from verifiable_dp.targets.sent import as_json

Sampling = PlaySampler | ReleaseSampler
PLAIN = ("many", "n_arms", "horizon", "seed", "factor", "shard", "rows", "followed", "joint")
_TOLD = 1 << 12  # entries of data that are told of a pair that is only ranked


class Elsewhere:
    """Has the parent choose and count: an `evidence.blackbox.test.EventCounter`.

    Parameters
    ----------
    ask
        Sends the parent a message and frames, and returns what it answers.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: list[tuple[Event, int]] = []

    def takes(self, sampler: object) -> bool:
        """See `EventCounter.takes`."""
        return isinstance(sampler, PlaySampler | ReleaseSampler)

    def events(
        self, sampler: Sampling, pair: Given, path: tuple[int, int], runs: int, rule: EventRule, workers: int
    ) -> list[Event]:
        """See `EventCounter.events`."""
        asked = {"rule": _rule(rule), "sizes": [runs, runs], "starts": [0, 0]}
        found: list[tuple[int, Event]] = self._asked(sampler, pair, path, asked, workers)
        self._known += [(event, number) for number, event in found if path[0] != PROBE]
        return [event for _, event in found]

    def count(
        self,
        sampler: Sampling,
        pair: Given,
        path: tuple[int, int],
        events: Sequence[Event],
        sizes: tuple[int, int],
        starts: tuple[int, int],
        workers: int,
    ) -> list[tuple[int, int]]:
        """See `EventCounter.count`."""
        numbers = [next(number for known, number in self._known if known is event) for event in events]
        asked = {"events": numbers, "sizes": list(sizes), "starts": list(starts)}
        found: list[tuple[int, int]] = self._asked(sampler, pair, path, asked, workers)
        return found

    def played(self, sampler: Sampling, plays: Sequence[tuple[tuple[int, ...], IntArray]]) -> None:
        """See `EventCounter.played`."""
        told = [{"path": list(path), "runs": len(arms)} for path, arms in plays]
        frames = (
            ({"part": place, "width": arms.shape[1]}, arms.tobytes()) for place, (_, arms) in enumerate(plays)
        )
        if told:
            self._ask({"sampler": _told(sampler), "plays": told}, frames)

    def _asked(
        self, sampler: Sampling, pair: Given, path: tuple[int, int], asked: JsonDict, workers: int
    ) -> Foreign:
        """What the parent answers, once it has the runs."""
        told = {"sampler": _told(sampler), "pair": _of_pair(sampler, pair, path[0]), "path": list(path)}
        parts = parts_of(sampler, path, tuple(asked["sizes"]), tuple(asked["starts"]))
        tasks = [delayed(_raw)(sampler, pair, part) for part in parts]
        said = engine.within_stage(len(parts))

        def frames() -> Iterator[Frame]:
            made = engine.run(engine.called, tasks, workers=workers)
            for done, (number, (width, content)) in enumerate(made, 1):
                yield {"part": number, "width": width}, content
                said(done)

        return self._ask({**told, **asked}, frames())


def elsewhere(ask: Ask) -> AbstractContextManager[None]:
    """Within this block, in the child, events are chosen and counted by the parent."""
    return counted_by(Elsewhere(ask))


def _raw(sampler: Sampling, pair: Given, part: Part) -> tuple[int, bytes]:
    """What comes out of a part: numbers in a row, and all rows in bytes."""
    how, arguments = part
    made = sampler.raw_mixed(pair, *arguments) if how == "mixed" else [sampler.raw(pair, *arguments)]
    whole = np.concatenate(made)
    return whole.shape[1], whole.tobytes()


def _told(sampler: Sampling) -> JsonDict:
    plain = {name: getattr(sampler, name) for name in PLAIN if hasattr(sampler, name)}
    return {**plain, "process": isinstance(sampler.function, ProcessTarget)}


def _of_pair(sampler: Sampling, pair: Given, stage: int) -> JsonDict:
    """What is told of a pair: of one that is only ranked by a digest of its data, else with them."""
    one = pair if isinstance(pair, TablePair) else None
    place = getattr(pair, "round", None) if isinstance(sampler, PlaySampler) else None
    sides = () if isinstance(pair, ContextGame) else pair.worlds()
    told_of = stage != PROBE or (isinstance(sampler, ReleaseSampler) and sum(map(np.size, sides)) <= _TOLD)
    data = [as_json(side) for side in sides] if told_of else []
    known = data if data and None not in data else None
    told = {"words": pair.describe(), "round": place, "arm": one and one.arm, "data": known}
    return {**told, "digest": digest_of_pair(pair)}


def _rule(rule: EventRule) -> JsonDict:
    if isinstance(rule, CurveSetting):
        grid = {"epsilons": list(rule.grid.epsilons), "deltas": list(rule.grid.deltas)}
        return {**grid, "delta": rule.delta, "test_runs": rule.test_runs}
    assert isinstance(rule, EventSetting)
    plain = {name: getattr(rule, name) for name in ("test_runs", "delta", "level", "caution", "boosted")}
    offered = None
    if rule.offered is not None:
        assert isinstance(rule.offered, MetScore)
        assert isinstance(rule.offered.score, Rounds)
        offered = {"slopes": rule.offered.score.slopes.tolist(), "made": rule.offered.score.made}
    return {**plain, "offered": offered}
