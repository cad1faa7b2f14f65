"""Events are chosen, and their hits counted, in the process that asked for an audit: where no code of it ran.

The child makes runs and sends what came out of them, as plain numbers, in the parts that follow from the
seed and the sizes; the parent checks their form, chooses the event and counts. What a check of a draft states
has to be what was counted here. Of the runs that were counted the parent keeps digests of a few, and asks for
them again in a process that has made no others.
"""

from __future__ import annotations

import functools
import hashlib
import random
import secrets
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

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
from verifiable_dp.evidence.blackbox.curves import CURVE, CurveSetting, Grid
from verifiable_dp.evidence.blackbox.events import Event, EventSetting
from verifiable_dp.evidence.blackbox.scores import MetScore, Rounds
from verifiable_dp.evidence.blackbox.test import (
    PROBE,
    SELECT,
    SEQUENTIAL,
    TEST,
    Part,
    hits_of,
    parts_of,
    sides,
)
from verifiable_dp.evidence.check import judged
from verifiable_dp.evidence.exclusions import Left
from verifiable_dp.targets.candidates import TOO_FEW, Candidates, Designed, digest_of_pair, name_of
from verifiable_dp.targets.child import Asking, Frame, StoppedError
from verifiable_dp.targets.chosen import ChosenEvent, CountedRuns
from verifiable_dp.targets.count_terms import INTERACTIVE, CountTerms
from verifiable_dp.targets.elsewhere import PLAIN, Sampling, elsewhere
from verifiable_dp.targets.load import PlaySampler, ReleaseSampler, ToldPair
from verifiable_dp.targets.process import Exec, ProcessTarget
from verifiable_dp.targets.randomness import follower_of
from verifiable_dp.targets.resplit import Pool
from verifiable_dp.targets.seeds import origins_of
from verifiable_dp.targets.sent import as_json, digest_of, of_json

Rows = FloatArray | IntArray  # what came out of runs, one row each
COUNTED = ("black_box", "between", "sequential", "curve")  # kinds of checks that are counted here
_MOST_RUNS = 1 << 26  # on an input, of one question
_MOST_SHARD = 1 << 22
_MOST_SEED = 1 << 256
_MOST_WIDTH = 1 << 17  # numbers that come out of a run
_MOST_KEPT = 1 << 31  # bytes of the runs from which an event is chosen
UNLIKE = (
    "runs split at random refute the claim: those that chose the event are unlike those that were counted"
)
LEFT_OUT = "counts that speak against the claim were left out"
MADE_AGAIN = "counts that speak against the claim were made again, and came out differently"
_DOUBTED = (
    4e-7  # chance that counts of right code are said to be left out, and that they are said to be unlike
)
_KEPT = 4  # samples of an event that may be asked again
_SINGLE = 16  # runs of one sample, where each is a call by itself


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
    path: tuple[int, ...]
    runs: tuple[int, ...]
    digest: str

    def again(self, function: Function[object], timeout: float) -> str:
        """The digest of what comes out of the function now."""
        sampler = replace(_sampler(self.sampler, function), timeout=timeout)
        if sampler.followed:
            follower_of(function).start(origins_of(function))
        runs, data = np.array(self.runs, np.int64), of_json(self.data)
        made = sampler.actions if isinstance(sampler, PlaySampler) else sampler.values
        return _digest(made(data, self.path, runs))


@dataclass
class Counting:
    """The parent's part of one audit: what was chosen and counted.

    Attributes
    ----------
    terms
        What the checks are held to.
    key
        From it follows what is left to chance. It is made when the first runs arrive: the process of the
        target is a copy of this one, from before.
    designed
        The neighbours that follow from what was asked; None where that is not known here.
    compared
        How many of them the first look had; 0 where the code itself states which data are neighbours.
    """

    terms: CountTerms
    key: str = ""
    designed: Designed | None = None
    compared: int | None = None
    asking: Asking = elsewhere
    chosen: list[ChosenEvent] = field(default_factory=list)
    used: list[tuple[ChosenEvent, list[CountedRuns]]] = field(default_factory=list)  # by checks of the draft
    pools: list[Pool] = field(default_factory=list)
    looks: list[Candidates] = field(default_factory=list)  # in their order
    plays: list[tuple[JsonDict, list[int], Rows]] = field(default_factory=list)
    plain: list[Sample] = field(default_factory=list)  # of the runs that the plain neighbours follow from
    wanted: Sequence[Sequence[Given]] = ()  # neighbours, of which one row has to be there
    asked: int = 0  # questions so far

    def _chance(self, *of: object) -> random.Random:
        self.key = self.key or secrets.token_hex(16)
        return random.Random(repr((self.key, *of)))

    def _of_target(self, look: CountedRuns) -> bool:
        """Whether a count is of the target itself."""
        tested = look.path[0] in (TEST, SEQUENTIAL, CURVE)
        return tested and look.sampler["factor"] == 1.0 and look.sampler["seed"] in self.terms.seeds

    def _pool(self, pair: Json, told: JsonDict, rule: EventSetting | CurveSetting) -> Pool | None:
        """The runs of a sampler on a pair that will be split anew; None if events are not chosen so there."""
        known = next((one for one in self.pools if (one.pair, one.told) == (pair, told)), None)
        own = told["factor"] == 1.0 and told["seed"] in self.terms.seeds
        if known is None and own and isinstance(rule, EventSetting):
            known = Pool(pair, told, rule)
            self.pools.append(known)
        return known

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
        self.asked += 1
        told = dict(asked["sampler"])
        sampler = _sampler(told, None)
        if "plays" in asked:
            self._played(sampler, told, asked["plays"], frames)
            return None
        pair = _pair(asked["pair"])
        (stage, number), sizes, starts = (
            (_whole(x), _whole(y)) for x, y in (asked["path"], asked["sizes"], asked["starts"])
        )
        if not 0 < sum(sizes) <= _MOST_RUNS:
            raise InputError("target: its process asked for more runs than there can be, or none")
        parts = parts_of(sampler, (stage, number), sizes, starts)
        if "rule" in asked:
            rule, seen = _rule_of(asked["rule"]), dict[int, Given]()
            kept, pool = 0, None if stage == PROBE else self._pool(asked["pair"], told, rule)
            for place, made in _made(sampler, parts, frames):
                if pool is not None:
                    pool.keep(self.asked, parts[place], made, sizes, self._chance)
                seen[place] = _seen(sampler, pair, parts[place], made)
                kept += sum(side.nbytes for side in made)
                if kept > _MOST_KEPT:
                    raise InputError(f"target: its process sent runs of more than {_MOST_KEPT >> 20} MiB")
            events = rule.events(*sides(parts, [seen[place] for place in range(len(parts))]))
            first = len(self.chosen)
            among = self._among(stage, number, asked["pair"], told, sizes[0], rule, events[0])
            if stage != PROBE:
                self.chosen += [
                    ChosenEvent(event, asked["pair"], told, rule, number, among) for event in events
                ]
            return list(enumerate(events, first))
        named = [self.chosen[_whole(number)] for number in asked["events"]]
        if not all(one.fits(asked["pair"], told) for one in named):
            raise InputError("target: its process had an event counted that was chosen on other runs")
        events, hits = [one.event for one in named], np.zeros((len(named), 2), np.int64)
        chance = self._chance(asked["path"], starts, asked["pair"]["words"])
        kept, data = chance.randrange(len(parts)), asked["pair"]["data"]
        pool = self._pool(asked["pair"], told, named[0].rule)
        for place, made in _made(sampler, parts, frames):
            if pool is not None:
                pool.keep(self.asked, parts[place], made, sizes, self._chance)
            hits += hits_of(parts[place], _seen(sampler, pair, parts[place], made), events)
            if place == kept and data is not None and len(named[0].samples) < _KEPT:
                if digest_of([of_json(side) for side in data]) != asked["pair"]["digest"]:
                    raise InputError("target: its process told of other data than those of its runs")
                named[0].samples += self._samples(sampler, told, data, parts[place], made, chance)
        for one, row in zip(named, hits, strict=True):
            if one.among is not None and stage in (TEST, SEQUENTIAL):
                one.among.closed = True
            one.counted(told, [stage, number], list(starts), np.stack([row, np.array(sizes)], axis=1))
        return [(left, right) for left, right in hits.tolist()]

    def _among(
        self,
        stage: int,
        number: int,
        pair: Json,
        told: JsonDict,
        runs: int,
        rule: EventSetting | CurveSetting,
        event: Event,
    ) -> Candidates | None:
        """The look that a pair was ranked for, or its event chosen."""
        if isinstance(rule, CurveSetting) or stage not in (PROBE, SELECT):
            return None
        found = next((one for one in self.looks if one.told == told and not one.closed), None)
        if found is None:
            found = Candidates(told)
            self.looks.append(found)
        found.note(number, pair, runs, float(event.promise), probe=stage == PROBE)
        return found

    def _played(
        self, sampler: Sampling, told: JsonDict, plays: Sequence[Json], frames: Iterator[Frame]
    ) -> None:
        """Keep the runs from which the plain neighbours follow."""
        sizes = [_whole(play["runs"], _SINGLE) for play in plays]
        parts: list[Part] = [("sample", (0, 0, 0, np.arange(size))) for size in sizes]
        made = dict(_made(sampler, parts, frames))
        paths = [[_whole(step) for step in play["path"]] for play in plays]
        self.plays = [(told, path, made[place][0]) for place, path in enumerate(paths)]

    def _play(self, table: FloatArray, runs: int) -> IntArray:
        """What the code played on a table, where the plain neighbours follow from it; it is asked again."""
        if not self.plays or len(self.plays[0][2]) != runs:
            raise InputError("target: its process did not tell what its plain neighbours follow from")
        told, path, arms = self.plays.pop(0)
        data = as_json(table)
        if data is not None:
            self.plain.append(Sample(told, data, tuple(path), tuple(range(runs)), _digest(arms)))
        return np.asarray(arms)

    def _samples(
        self,
        sampler: Sampling,
        told: Json,
        data: Json,
        part: Part,
        made: Sequence[Rows],
        chance: random.Random,
    ) -> Iterator[Sample]:
        """Some of a part's runs: a few of those that are calls by themselves, else all."""
        how, arguments = part
        stage, number = arguments[:2] if how == "mixed" else arguments[1:3]
        sides = enumerate(arguments[2]) if how == "mixed" else [(arguments[0], arguments[3])]
        single = sampler.rows == 1 or (isinstance(sampler, PlaySampler) and not sampler.many)
        for (world, runs), rows in zip(sides, made, strict=True):
            places = np.arange(len(runs))
            if single and len(runs) > _SINGLE:
                places = np.array(chance.sample(range(len(runs)), _SINGLE), np.int64)
            if len(places):
                path, some = (int(stage), int(number), int(world)), tuple(runs[places].tolist())
                yield Sample(told, data[world], path, some, _digest(rows[places]))

    def held(self, draft: Json) -> list[str]:
        """Hold the checks of a draft against what was asked, and what was counted; what remains in doubt.

        Raises
        ------
        InputError
            If a check states other counts or levels, or none was counted.
        """
        checks = [check for check in draft["checks"] if check["kind"] in COUNTED]
        sizes: dict[bool, set[int]] = {True: set(), False: set()}
        tested = list[ChosenEvent]()
        for check in checks:
            stated = check["statistics"]
            found = self._counted(check["kind"], stated)
            if not found:
                raise InputError(
                    f"target: the counts of {check['name']!r} are not those of the runs that its process sent"
                )
            tests = self.terms.most_tests(draft["target"]["kind"], len(checks))
            most = 2 * tests if any(look.goes_on for _, looks in found for look in looks) else tests
            if unlike := self.terms.unlike(check["kind"], stated, draft["claim"], most):
                raise InputError(f"target: {check['name']!r} states another {unlike} than was asked for")
            self.used += found
            tested += [one for one, _ in found if check["kind"] in ("black_box", "sequential")]
            sizes[check["kind"] == "between"] |= {one.rule.test_runs for one, _ in found}
        if not self.used:
            raise InputError("target: its process had none of its runs counted; nothing was concluded")
        parameters = draft["target"]["parameters"]
        for name in ("n_arms", "horizon"):
            if any(one.sampler.get(name) != parameters.get(name) for one, _ in self.used):
                raise InputError(f"target: its process made runs of another {name} than was asked")
        for one, looks in self.used:
            if any(look.sampler.get("joint", self.terms.joint) != self.terms.joint for look in looks):
                raise InputError("target: its process made runs of which others are seen than was asked")
            sides = one.pair["data"]
            if sides is not None and sides[0] == sides[1]:
                raise InputError("target: its process made runs on neighbours that are the same")
            if one.rule.delta != draft["claim"]["delta"]:
                raise InputError("target: its process had events chosen for another delta than was asked")
        leads = sizes[True] - sizes[False]
        doubts = self._compared(draft, tested)
        return [*doubts, *self._left_out(draft, leads), *self._split_anew(draft, leads)]

    def _compared(self, draft: Json, tested: Sequence[ChosenEvent]) -> list[str]:
        """Hold the pairs that were tested against those that had to be compared.

        The first look has all that follow from what was asked, and each later one that which was tested in
        the one before. Adversaries who react are compared besides.
        """
        if self.designed is None:
            return []
        doubts, before = list[str](), None
        if any(one.among is None for one in tested):
            raise InputError("target: its process tested an event that was not chosen on runs of a look")
        curved = {name_of(one.pair) for one, _ in self.used if one.curved}
        if not curved <= {name_of(one.pair) for one in tested}:
            raise InputError("target: its process measured the curve on a pair of inputs that was not tested")
        for look in self.looks:
            mine = [one for one in tested if one.among is look]
            if not mine or look.told["seed"] == self.terms.seeds[INTERACTIVE]:
                continue
            if not look.best({one.number for one in mine}):
                raise InputError("target: its process did not test the pair of inputs that promised most")
            sizes = [min(one.looks[0].counts[:, 1].tolist()) for one in mine if one.varied]
            doubts += [TOO_FEW] if any(map(look.too_few, sizes)) else []
            if look.told["seed"] == self.terms.seed:
                self._hold(draft, look)
            elif before is None or not before & look.names.keys():
                raise InputError("target: its process did not compare the pair of inputs that it had tested")
            before = {name_of(one.pair) for one in mine}
        if before is None:
            raise InputError("target: its process did not compare the pairs of inputs that it was asked for")
        return doubts

    def _hold(self, draft: Json, look: Candidates) -> None:
        """Hold the pairs of the first look against those that had to be there."""
        assert self.designed is not None
        bandit = "n_arms" in look.told
        if not self.wanted and bandit:
            runs = draft["plan"]["sizes"].get("runs", _MOST_RUNS)
            self.wanted = [self.designed.of_bandit(self._play, runs)]
        elif not self.wanted:
            self.wanted = self.designed.of_mechanism()
        left = [one["id"] for one in draft["not_covered"]]
        self.compared = 0
        if bandit or not self.designed.open or Left.OTHER_DATA not in left:
            names = [[digest_of_pair(pair) or pair.describe() for pair in pairs] for pairs in self.wanted]
            self.compared = look.hold(names, (lambda pair: True) if bandit else self._of_size)

    def _of_size(self, pair: Json) -> bool:
        assert self.designed is not None
        data = None if pair["data"] is None else [of_json(side) for side in pair["data"]]
        return data is not None and digest_of(data) == pair["digest"] and self.designed.of_size(data)

    def _counted(self, kind: str, stated: Json) -> list[tuple[ChosenEvent, list[CountedRuns]]]:
        """What the counts of a check are of; none if some were not counted here."""
        found: list[tuple[ChosenEvent, list[CountedRuns]] | None]
        if kind == "curve":
            found = [
                self._of(
                    point,
                    stated["pair"],
                    [[point["k1"], stated["runs"], point["k0"], stated["runs"]]],
                    curved=True,
                )
                for point in stated["points"]
            ]
        elif kind == "sequential":
            bets = [bet for row in stated["rounds"] for bet in row["candidates"]]
            found = [self._of(bet, bet["pair"], bet["counts"], bet) for bet in bets]
        else:
            counts = [stated[name] for name in ("k1", "n1", "k0", "n0")]
            found = [self._of(stated, stated["pair"], [counts])]
        known = [one for one in found if one is not None]
        return known if len(known) == len(found) else []

    def _of(
        self,
        stated: Json,
        pair: str,
        counts: Sequence[Sequence[int]],
        bet: Json | None = None,
        curved: bool = False,
    ) -> tuple[ChosenEvent, list[CountedRuns]] | None:
        """The event that a check speaks of, with such counts of the code as it is."""
        wanted = [list(row) for row in counts]
        for one in self.chosen:
            shares = bet is None or (list(bet["shares"]), bet["held"]) == (
                [float(share) for share in one.event.shares],
                one.event.held,
            )
            if shares and one.named(stated, pair) and one.curved == curved:
                looks = [look for look in one.looks if self._of_target(look) and one.row(look) in wanted]
                if all(row in map(one.row, looks) for row in wanted):
                    return one, looks
        return None

    def _left_out(self, draft: Json, leads: Collection[int]) -> Iterator[str]:
        """Counts that speak against the claim and are in no check: it is in doubt why.

        A count is left out rightly if it went on, if others of the same event speak in its place, if runs
        that share no call have not confirmed it, or if it could only lead: `leads` are such plans' runs.
        """
        told = {one.states(look) for one, looks in self.used for look in looks}
        made = sum(len(one.looks) for one in self.chosen)
        for place, one in enumerate(self.chosen):
            if one.rule.test_runs in leads:
                continue
            for number, look in enumerate(one.looks):
                later = one.looks[number + 1 :]
                if one.states(look) in told or not self._of_target(look) or (later and later[0].goes_on):
                    continue
                if not self._surely(one, look, draft, made):
                    continue
                if any(one.states(other) in told and self._speaks(one, other, draft) for other in one.looks):
                    continue
                alone = [other for other in later if other.sampler["rows"] == 1 != look.sampler["rows"]]
                unsure = [other for other in alone if self._unconfirmed(one, look, other, draft)]
                if any(one.states(other) in told for other in unsure) or (
                    unsure and one.pair["words"] in [used.pair["words"] for used, _ in self.used]
                ):
                    continue
                again = any(other.fits(one.pair, one.sampler) for other in self.chosen[place + 1 :])
                yield MADE_AGAIN if unsure or again else LEFT_OUT

    def _surely(self, one: ChosenEvent, look: CountedRuns, draft: Json, made: int) -> bool:
        """Whether one of so many counts lies above the claim, and by no chance: right code is not doubted."""
        if one.curved:  # its events are not all about the claim; a check of the curve has every one
            return True
        return bool(self._judged(one.numbers(look), draft, _DOUBTED / made)["verdict"] == "refuted")

    def _speaks(self, one: ChosenEvent, look: CountedRuns, draft: Json) -> bool:
        """Whether the bound of a count lies above the claim."""
        if one.curved:
            return True
        return bool(self._judged(one.numbers(look), draft)["epsilon_lower"] > draft["claim"]["epsilon"])

    def _unconfirmed(self, one: ChosenEvent, look: CountedRuns, alone: CountedRuns, draft: Json) -> bool:
        """Whether runs that share no call do not confirm a count, though they are as many as that takes."""
        k1, n1, k0, n0 = one.row(look)
        _, m1, _, m0 = one.row(alone)
        like = {"k1": round(m1 * k1 / max(n1, 1)), "n1": m1, "k0": round(m0 * k0 / max(n0, 1)), "n0": m0}
        enough = m1 + m0 >= n1 + n0 or self._judged(like, draft)["verdict"] == "refuted"
        return enough and not self._speaks(one, alone, draft)

    def _judged(self, numbers: Json, draft: Json, alpha: float | None = None) -> JsonDict:
        terms, claim = self.terms, draft["claim"]
        held = {"epsilon": claim["epsilon"], "delta": claim["delta"], "tests": 1}
        return judged(
            "black_box", {**numbers, **held, "alpha": alpha or terms.alpha, "confidence": terms.confidence}
        )

    def _split_anew(self, draft: Json, leads: Collection[int]) -> Iterator[str]:
        """Whether the claim would be refuted if other runs had chosen the event, and others been counted."""
        if any(check["result"]["verdict"] == "refuted" for check in draft["checks"]):
            return
        used = [
            (one.pair, look.sampler)
            for one, looks in self.used
            if not one.curved and one.rule.test_runs not in leads
            for look in looks
        ]
        pools = [pool for pool in self.pools if (pool.pair, pool.told) in used]
        for pool in pools:
            sampler, pair = _sampler(pool.told, None), _pair({**pool.pair, "arm": None})
            for numbers in pool.counts(functools.partial(sampler.seen, pair), draft["claim"], self._chance):
                if self._judged(numbers, draft, _DOUBTED / len(pools))["verdict"] == "refuted":
                    yield UNLIKE

    def noted(self) -> JsonDict:
        """What a record keeps of it."""
        compared = {} if self.compared is None else {"neighbours": self.compared}
        return {"key": self.key, **compared}

    def samples(self) -> list[Sample]:
        """Runs behind the checks of the draft, to be asked again, in any order."""
        chosen = [sample for one in {id(one): one for one, _ in self.used}.values() for sample in one.samples]
        found = [*self.plain, *chosen]
        self._chance("again").shuffle(found)
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
    if set(told) - {*PLAIN, "process"} or not isinstance(told["factor"], float):
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


def _rule_of(told: Json) -> EventSetting | CurveSetting:
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
        numbers[1],
        numbers[0],
        float(told["level"]),
        float(told["caution"]),
        boosted=told["boosted"] is True,
        offered=offered,
    )


def _digest(made: Rows) -> str:
    return hashlib.sha256(repr(made.shape).encode() + np.ascontiguousarray(made).tobytes()).hexdigest()
