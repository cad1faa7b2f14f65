"""Events are chosen, and their hits counted, in the process that asked for an audit: where no code of it ran.

The child makes runs and sends what came out of them, as plain numbers, in the parts that follow from the
seed and the sizes; the parent checks their form, chooses the event and counts. What a check of a draft states
has to be what was counted here. Of the runs that were counted the parent keeps digests of a few, and asks for
them again in a process that has made no others.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

import numpy as np
from joblib import delayed

from verifiable_dp.core import engine
from verifiable_dp.core.neighbours import ContextGame, TablePair
from verifiable_dp.core.validate import (
    FloatArray,
    Foreign,
    Function,
    Given,
    InputError,
    IntArray,
    Json,
    JsonDict,
)
from verifiable_dp.evidence.blackbox.curves import CurveSetting, Grid
from verifiable_dp.evidence.blackbox.events import Event, EventSetting
from verifiable_dp.evidence.blackbox.scores import MetScore, Rounds
from verifiable_dp.evidence.blackbox.test import EventRule, Part, counted_by, hits_of, parts_of, sides
from verifiable_dp.targets.child import Ask, Asking, Frame, StoppedError
from verifiable_dp.targets.load import PlaySampler, ReleaseSampler, ToldPair
from verifiable_dp.targets.process import Exec, ProcessTarget
from verifiable_dp.targets.randomness import follower_of
from verifiable_dp.targets.seeds import origins_of

Sampling = PlaySampler | ReleaseSampler
Rows = FloatArray | IntArray  # what came out of runs, one row each
COUNTED = ("black_box", "between", "sequential", "curve")  # kinds of checks that are counted here
_MOST_RUNS = 1 << 26  # on an input, of one question
_MOST_SHARD = 1 << 22
_MOST_SEED = 1 << 256
_MOST_WIDTH = 1 << 17  # numbers that come out of a run
_MOST_KEPT = 1 << 31  # bytes of the runs from which an event is chosen
_KEPT = 4  # samples of an event that may be asked again
_SINGLE = 16  # runs of one sample, where each is a call by itself
_LARGEST_DATA = 1 << 20  # entries of data that are sent along
_NUMBERS = "biuf"  # kinds of arrays that are: truth values, whole numbers, floats
_PLAIN = ("many", "n_arms", "horizon", "seed", "factor", "shard", "rows", "followed", "joint")


# ---------------------------------------------------------------- in the child


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
        self._known += [(event, number) for number, event in found]
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

    def _asked(
        self, sampler: Sampling, pair: Given, path: tuple[int, int], asked: JsonDict, workers: int
    ) -> Foreign:
        """What the parent answers, once it has the runs."""
        told = {"sampler": _told(sampler), "pair": _of_pair(sampler, pair), "path": list(path)}
        parts = parts_of(sampler, path, tuple(asked["sizes"]), tuple(asked["starts"]))
        tasks = [delayed(_raw)(sampler, pair, part) for part in parts]
        said = engine.within_stage(len(parts))

        def frames() -> Iterator[Frame]:
            made = engine.run(engine.called, tasks, workers=workers)
            for done, (number, (width, content)) in enumerate(made, 1):
                yield {"part": number, "width": width}, content
                said(done)

        return self._ask({**told, **asked}, frames())


def _elsewhere(ask: Ask) -> AbstractContextManager[None]:
    """Within this block, in the child, events are chosen and counted by the parent."""
    return counted_by(Elsewhere(ask))


def _raw(sampler: Sampling, pair: Given, part: Part) -> tuple[int, bytes]:
    """What comes out of a part: numbers in a row, and all rows in bytes."""
    how, arguments = part
    made = sampler.raw_mixed(pair, *arguments) if how == "mixed" else [sampler.raw(pair, *arguments)]
    whole = np.concatenate(made)
    return whole.shape[1], whole.tobytes()


def _told(sampler: Sampling) -> JsonDict:
    plain = {name: getattr(sampler, name) for name in _PLAIN if hasattr(sampler, name)}
    return {**plain, "process": isinstance(sampler.function, ProcessTarget)}


def _of_pair(sampler: Sampling, pair: Given) -> JsonDict:
    one = pair if isinstance(pair, TablePair) else None
    place = getattr(pair, "round", None) if isinstance(sampler, PlaySampler) else None
    data = None if isinstance(pair, ContextGame) else [_plain(side) for side in pair.worlds()]
    known = data if data and None not in data else None
    return {"words": pair.describe(), "round": place, "arm": one and one.arm, "data": known}


def _plain(data: Given) -> JsonDict | None:
    """Data as JSON: an array of numbers, or a number; None for anything else."""
    if type(data) in (float, int):
        return {"number": data}
    small = type(data) is np.ndarray and data.dtype.kind in _NUMBERS and data.size <= _LARGEST_DATA
    return (
        {"shape": list(data.shape), "of": data.dtype.str, "values": data.ravel().tolist()} if small else None
    )


def _rule(rule: EventRule) -> JsonDict:
    if isinstance(rule, CurveSetting):
        grid = {"epsilons": list(rule.grid.epsilons), "deltas": list(rule.grid.deltas)}
        return {**grid, "delta": rule.delta, "test_runs": rule.test_runs}
    assert isinstance(rule, EventSetting)
    plain = {name: getattr(rule, name) for name in ("test_runs", "delta", "level", "boosted")}
    offered = None
    if rule.offered is not None:
        assert isinstance(rule.offered, MetScore)
        assert isinstance(rule.offered.score, Rounds)
        offered = {"slopes": rule.offered.score.slopes.tolist(), "made": rule.offered.score.made}
    return {**plain, "offered": offered}


# ---------------------------------------------------------------- in the parent


@dataclass(frozen=True)
class Sample:
    """Some runs that were counted, and what came out of them.

    Attributes
    ----------
    sampler, data, path, runs
        What was run: told by the child, for another one to run again.
    digest
        SHA-256 of what came out.
    """

    sampler: Json
    data: Json
    path: tuple[int, int, int]
    runs: tuple[int, ...]
    digest: str

    def again(self, function: Function[object], timeout: float) -> str:
        """The digest of what comes out of the function now."""
        sampler = replace(_sampler(self.sampler, function), timeout=timeout)
        if sampler.followed:
            follower_of(function).start(origins_of(function))
        runs, data = np.array(self.runs, np.int64), _data(self.data)
        made = sampler.actions if isinstance(sampler, PlaySampler) else sampler.values
        return _digest(made(data, self.path, runs))


@dataclass
class _Chosen:
    """An event that was chosen here: of what, and the counts so far, by sampler and stage.

    `looks` are all counts in their order, hits and runs of either world; `last` says of which runs.
    """

    event: Event
    pair: Json
    sampler: JsonDict
    looks: list[IntArray] = field(default_factory=list)  # [[k, n], [k, n]] by world
    last: tuple[JsonDict, list[int], list[int]] | None = None
    samples: list[Sample] = field(default_factory=list)

    def counted(self, sampler: JsonDict, path: list[int], starts: list[int], look: IntArray) -> None:
        """Note a count: it goes on with the last one, or begins anew, so that no run counts twice.

        Raises
        ------
        InputError
            If it does neither.
        """
        ends = [start + int(runs) for start, runs in zip(starts, look[:, 1], strict=True)]
        if self.last is not None and self.last == (sampler, path, starts):
            look = look + self.looks[-1]
        elif self.last is not None and self.last[:2] == (sampler, path) and any(starts):
            raise InputError("target: its process had runs counted that do not follow the last ones")
        self.last = sampler, path, ends
        self.looks.append(look)

    def fits(self, pair: Json, sampler: JsonDict) -> bool:
        """Whether it was chosen on this pair, by a sampler that differs in seed and size of calls alone."""
        free = {"seed": 0, "rows": None}
        return (pair, {**sampler, **free}) == (self.pair, {**self.sampler, **free})

    @property
    def direction(self) -> str:
        """As a check states it."""
        one, zero = (1, 0) if self.event.flipped else (0, 1)
        return f"world {one} over world {zero}"

    def rows(self) -> list[list[int]]:
        """All looks as [k1, n1, k0, n0]."""
        turn = -1 if self.event.flipped else 1
        return [look[::turn].ravel().tolist() for look in self.looks]

    def named(self, stated: Json, pair: str) -> bool:
        """Whether a check speaks of it."""
        return (self.pair["words"], self.event.describe(), self.direction) == (
            pair,
            stated["event"],
            stated["direction"],
        )


@dataclass
class Counting:
    """The parent's part of one audit: what was chosen and counted."""

    asking: Asking = _elsewhere
    chosen: list[_Chosen] = field(default_factory=list)
    used: list[_Chosen] = field(default_factory=list)  # by checks of the draft
    chance: random.Random = field(default_factory=random.SystemRandom)

    def answer(self, asked: Json, frames: Iterator[Frame]) -> object:
        """What a question of the child comes to; `frames` gives what it sends next.

        Raises
        ------
        InputError
            If it asks for what cannot be, or sends anything but what its question says.
        StoppedError
            If its code raised something.
        """
        try:
            return self._answer(asked, frames)
        except (InputError, StoppedError):
            raise
        except Exception as error:  # values of a stranger, in whatever form
            raise InputError(f"target: its process sent runs that cannot be read: {error!r}"[:200]) from None

    def _answer(self, asked: Json, frames: Iterator[Frame]) -> object:
        told, pair = dict(asked["sampler"]), _pair(asked["pair"])
        sampler = _sampler(told, None)
        (stage, number), sizes, starts = (
            (_whole(x), _whole(y)) for x, y in (asked["path"], asked["sizes"], asked["starts"])
        )
        if not 0 < sum(sizes) <= _MOST_RUNS:
            raise InputError("target: its process asked for more runs than there can be, or none")
        parts = parts_of(sampler, (stage, number), sizes, starts)
        if "rule" in asked:
            rule, seen = _rule_of(asked["rule"]), dict[int, Given]()
            kept = 0
            for place, made in _made(sampler, parts, frames):
                seen[place] = _seen(sampler, pair, parts[place], made)
                kept += sum(side.nbytes for side in made)
                if kept > _MOST_KEPT:
                    raise InputError(f"target: its process sent runs of more than {_MOST_KEPT >> 20} MiB")
            events = rule.events(*sides(parts, [seen[place] for place in range(len(parts))]))
            first = len(self.chosen)
            self.chosen += [_Chosen(event, asked["pair"], told) for event in events]
            return list(enumerate(events, first))
        named = [self.chosen[_whole(number)] for number in asked["events"]]
        if not all(one.fits(asked["pair"], told) for one in named):
            raise InputError("target: its process had an event counted that was chosen on other runs")
        events, hits = [one.event for one in named], np.zeros((len(named), 2), np.int64)
        kept, data = self.chance.randrange(len(parts)), asked["pair"]["data"]
        for place, made in _made(sampler, parts, frames):
            hits += hits_of(parts[place], _seen(sampler, pair, parts[place], made), events)
            if place == kept and data is not None and len(named[0].samples) < _KEPT:
                named[0].samples += self._samples(sampler, told, data, parts[place], made)
        for one, row in zip(named, hits, strict=True):
            one.counted(told, [stage, number], list(starts), np.stack([row, np.array(sizes)], axis=1))
        return [(left, right) for left, right in hits.tolist()]

    def _samples(
        self, sampler: Sampling, told: Json, data: Json, part: Part, made: Sequence[Rows]
    ) -> Iterator[Sample]:
        """Some of a part's runs: a few of those that are calls by themselves, else all."""
        how, arguments = part
        stage, number = arguments[:2] if how == "mixed" else arguments[1:3]
        sides = enumerate(arguments[2]) if how == "mixed" else [(arguments[0], arguments[3])]
        single = sampler.rows == 1 or (isinstance(sampler, PlaySampler) and not sampler.many)
        for (world, runs), rows in zip(sides, made, strict=True):
            places = np.arange(len(runs))
            if single and len(runs) > _SINGLE:
                places = np.array(self.chance.sample(range(len(runs)), _SINGLE), np.int64)
            if len(places):
                path, some = (int(stage), int(number), int(world)), tuple(runs[places].tolist())
                yield Sample(told, data[world], path, some, _digest(rows[places]))

    def held(self, draft: Json) -> None:
        """Hold the checks of a draft against what was counted.

        Raises
        ------
        InputError
            If a check states other counts, or none was counted.
        """
        for check in draft["checks"]:
            if check["kind"] in COUNTED and not self._is_counted(check["kind"], check["statistics"]):
                raise InputError(
                    f"target: the counts of {check['name']!r} are not those of the runs that its process sent"
                )
        if not self.used:
            raise InputError("target: its process had none of its runs counted; nothing was concluded")
        parameters = draft["target"]["parameters"]
        for name in ("n_arms", "horizon"):
            if any(one.sampler.get(name) != parameters.get(name) for one in self.used):
                raise InputError(f"target: its process made runs of another {name} than was asked")

    def _is_counted(self, kind: str, stated: Json) -> bool:
        found: list[_Chosen | None]
        if kind == "curve":
            found = [
                self._of(point, stated["pair"], [[point["k1"], stated["runs"], point["k0"], stated["runs"]]])
                for point in stated["points"]
            ]
        elif kind == "sequential":
            bets = [bet for row in stated["rounds"] for bet in row["candidates"]]
            found = [self._of(bet, bet["pair"], bet["counts"], bet) for bet in bets]
        else:
            counts = [stated[name] for name in ("k1", "n1", "k0", "n0")]
            found = [self._of(stated, stated["pair"], [counts])]
        self.used += [one for one in found if one is not None]
        return None not in found

    def _of(
        self, stated: Json, pair: str, counts: Sequence[Sequence[int]], bet: Json | None = None
    ) -> _Chosen | None:
        """The event that a check speaks of, with such counts among its looks, by the code as it is."""
        for one in self.chosen:
            rows = one.rows()
            known = one.named(stated, pair) and all(list(row) in rows for row in counts)
            shares = bet is None or (list(bet["shares"]), bet["held"]) == (
                [float(share) for share in one.event.shares],
                one.event.held,
            )
            if known and shares and one.sampler["factor"] == 1.0:
                return one
        return None

    def samples(self) -> list[Sample]:
        """Runs behind the checks of the draft, to be asked again, in any order."""
        found = [sample for one in {id(one): one for one in self.used}.values() for sample in one.samples]
        self.chance.shuffle(found)
        return found


def _seen(sampler: Sampling, pair: ToldPair, part: Part, made: Sequence[Foreign]) -> Given:
    """What the sampler's own method would give of a part."""
    if part[0] == "sample":
        return sampler.seen(pair, made[0])
    return tuple(sampler.seen(pair, side) if len(side) else None for side in made)


def _made(
    sampler: Sampling, parts: Sequence[Part], frames: Iterator[Frame]
) -> Iterator[tuple[int, list[Rows]]]:
    """What came out of all parts, each once, in the order in which they arrive: numbers of the right form."""
    left, width = set(range(len(parts))), None
    kind: type = sampler.small if isinstance(sampler, PlaySampler) else np.float64
    while left:
        header, content = next(frames)
        place, wide = _whole(header["part"]), _whole(header["width"], _MOST_WIDTH)
        how, arguments = parts[place]
        runs = [len(side) for side in arguments[2]] if how == "mixed" else [len(arguments[3])]
        width = (sampler.horizon if isinstance(sampler, PlaySampler) else wide) if width is None else width
        values: Rows = np.frombuffer(content, kind)
        if place not in left or wide != width or len(values) != sum(runs) * width:
            raise InputError("target: its process sent runs of another form than it was asked for")
        arms = sampler.n_arms if isinstance(sampler, PlaySampler) else 0
        if arms and values.size and not (values.min() >= 0 and values.max() < arms):
            raise InputError("target: its process sent arms that there are not")
        left.remove(place)
        table = values.reshape(sum(runs), width)
        yield place, [table[: runs[0]], *([table[runs[0] :]] if len(runs) > 1 else [])]


def _whole(value: object, most: int = 1 << 32) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise InputError("target: its process sent a number that is none")
    return value


def _pair(told: Json) -> ToldPair:
    places = [None if told[name] is None else _whole(told[name]) for name in ("round", "arm")]
    return ToldPair(str(told["words"]), *places)


def _sampler(told: Json, function: Function[Foreign] | None) -> Sampling:
    """A sampler as another process told of it, around a function or, where no code is, around none."""
    if set(told) - {*_PLAIN, "process"} or not isinstance(told["factor"], float):
        raise InputError("target: its process told of a sampler that there is not")
    nothing: Foreign = ProcessTarget(Exec("none"), "play") if told["process"] is True else _absent
    sizes = ("shard", "n_arms", "horizon")
    numbers: JsonDict = {name: _whole(told[name]) for name in sizes if name in told}
    numbers["seed"] = _whole(told["seed"], _MOST_SEED)
    truths: JsonDict = {name: told[name] is True for name in ("many", "followed", "joint") if name in told}
    rows = None if told["rows"] is None else _whole(told["rows"])
    if not 1 <= numbers["shard"] <= _MOST_SHARD or 0 in (rows, numbers.get("n_arms"), numbers.get("horizon")):
        raise InputError("target: its process told of a sampler that there is not")
    kind = PlaySampler if "n_arms" in told else ReleaseSampler
    return kind(function or nothing, **numbers, **truths, rows=rows, factor=told["factor"])


def _absent(*arguments: object) -> None:
    raise AssertionError("no code of the target is here")


def _rule_of(told: Json) -> EventRule:
    numbers = float(told["delta"]), _whole(told["test_runs"])
    if "epsilons" in told:
        grid = Grid(*(tuple(float(x) for x in told[name]) for name in ("epsilons", "deltas")))
        return CurveSetting(grid, *numbers)
    offered = None
    if told["offered"] is not None:
        slopes = np.array(told["offered"]["slopes"], np.float64)
        if slopes.ndim != 2 or not np.isfinite(slopes).all():
            raise InputError("target: its process offered a score that is none")
        offered = MetScore(Rounds(slopes, str(told["offered"]["made"])))
    return EventSetting(
        numbers[1], numbers[0], float(told["level"]), boosted=told["boosted"] is True, offered=offered
    )


def _data(told: Json) -> Foreign:
    if "number" in told:
        return told["number"]
    kind = np.dtype(str(told["of"]))
    if kind.kind not in _NUMBERS:
        raise InputError("target: its process told of data that are no numbers")
    return np.array(told["values"], kind).reshape(told["shape"])


def _digest(made: Rows) -> str:
    return hashlib.sha256(repr(made.shape).encode() + np.ascontiguousarray(made).tobytes()).hexdigest()
