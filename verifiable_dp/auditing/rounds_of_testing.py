"""Looks at a user's code: a pair and an event are chosen on some runs and put to the test on fresh ones."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import NormalDist
from typing import Any, Final, Generic

import numpy as np
from joblib import delayed

from verifiable_dp.auditing import power as powers
from verifiable_dp.auditing import record_parts, refusals
from verifiable_dp.auditing.execution_plan import Ground, StageSizes
from verifiable_dp.auditing.independence import Sampling
from verifiable_dp.auditing.pipeline import Case, CaseState
from verifiable_dp.auditing.plans import Allowance
from verifiable_dp.auditing.traced import Ended
from verifiable_dp.core import engine
from verifiable_dp.core.neighbours import Pair
from verifiable_dp.core.units import Plays, Role
from verifiable_dp.core.validate import Function, JsonDict
from verifiable_dp.evidence import origins, upper
from verifiable_dp.evidence.blackbox import curves, positions, sequential
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.events import LEVEL, Event
from verifiable_dp.evidence.blackbox.observations import Observation
from verifiable_dp.evidence.blackbox.statistics import approximate_power, rejection_power
from verifiable_dp.evidence.blackbox.test import TUNE, Plan, Terms
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exclusions import Exclusion, Left
from verifiable_dp.targets.far import exactly, there
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.probes import DETERMINISTIC, Probe
from verifiable_dp.targets.process import Exec
from verifiable_dp.targets.releases import DataPair
from verifiable_dp.targets.source import NOT_FOUND, CodeSource, code_of, in_cell

APART = 0x5EED  # how far the seeds of the runs of two looks are apart
INTERACTIVE = 3  # number of the look at adversaries over contexts; the others come before it
_SAME = 128
BEYOND = 2  # budgets that a test whose estimate lies above the claim may take besides what is left
_STEPS = 2  # in which a test goes on: it ends where the first one refutes
_OF_CHANCE = 15  # values of a log ratio that stand for its law
ALIKE = (
    "the few runs that we compared gave the same output, although the code drew random numbers; a larger "
    "budget may show more"
)
UNCONFIRMED = (
    "runs that share a call refuted the claim, but runs with separate calls did not, so that test counted "
    "only runs with separate calls"
)
WORKERS_DIFFER = "runs made in another process gave different results, so we repeated the test in one process"
ON_A_LEAD = (
    "an event had an estimate above the claim, so we tested it again with the runs meant for measuring power"
)
CAPPED = (
    "the time limit of {:g} seconds made this audit smaller than its budget: on a faster or slower machine, "
    "its sample sizes and its verdict may differ"
)


@dataclass(frozen=True)
class Levels:
    """Error rates of an audit, shared by `tests` tests, of which `looks` choose a pair anew.

    `trusted` says that runs of one call are known to be independent.
    """

    alpha: float
    confidence: float
    tests: int
    looks: int = 1
    trusted: bool = False


@dataclass(frozen=True)
class Look:
    """What a look came to: its checks, the pair and event tested, and the candidates, best first.

    `number` and `workers` are those it was made with, `alone` says whether each run had a call of its own.
    `parts` are the tests among which its share of the level is divided where it goes on.
    """

    checks: list[Check]
    chosen: blackbox.Selected
    best: Sequence[Pair | DataPair]
    notes: tuple[str, ...] = ()
    number: int = 0
    workers: int = 1
    alone: bool = False
    parts: int = 1

    @property
    def refuted(self) -> bool:
        """Whether a check refutes the claim."""
        return any(check.verdict == "refuted" for check in self.checks)

    @property
    def counted(self) -> bool:
        """Whether its test has counted one event."""
        return "k1" in self.checks[0].statistics

    @property
    def above(self) -> bool:
        """Whether the estimate lies above the claim, wherever the bound lies."""
        first = self.checks[0]
        return float(first.result.get("epsilon_point", 0.0)) > float(first.statistics["epsilon"])

    @property
    def excess(self) -> float:
        """How far the lower bound lies above the claim."""
        first = self.checks[0]
        return float(first.result["epsilon_lower"]) - float(first.statistics["epsilon"])

    def chance(self, runs: int) -> float:
        """The chance that a test of `runs` runs a side refutes at the same event, by what was counted so far.

        The log ratio of the event's probabilities is taken to be normal around its estimate; 1 of a
        sequential test, which has no counts to go by.
        """
        numbers = self.checks[0].statistics
        if not self.counted:
            return 1.0
        k1, k0 = (int(numbers[name]) + 0.5 for name in ("k1", "k0"))
        delta, p = float(numbers["delta"]), k1 / (int(numbers["n1"]) + 1)
        law = NormalDist(math.log(k1 / k0), math.sqrt(1 / k1 + 1 / k0))
        held = float(numbers["epsilon"]), float(numbers["alpha"]) / int(numbers["tests"])
        found = 0.0
        for number in range(_OF_CHANCE):
            q = p * math.exp(-law.inv_cdf((number + 0.5) / _OF_CHANCE))
            if delta > 0:
                found += approximate_power(p, q, runs, held[0], delta, held[1])
            else:
                found += rejection_power(p, q, runs, *held)
        return found / _OF_CHANCE


@dataclass(kw_only=True)
class UserCaseState(CaseState):
    """What rungs change in the audit of a user's code.

    Attributes
    ----------
    varied
        Whether runs on one input ever differed.
    last, lead, near
        The last look; None before the first. The look whose lower bound lies farthest above the claim; of
        those whose estimate does, the one that is most likely to refute if it goes on.
    black_boxes
        Tests that the looks have made.
    no_power
        Why no power is stated.
    unbounded
        Why there is no upper bound on epsilon, with its place; None if there is one, or none was sought.
    used
        Runs that were made, and whether the cap has cut any size, when the state was taken.
    measured
        Sizes of stages then.
    narrow
        Whether the code refuses all data strictly between the bounds.
    """

    varied: bool
    last: Look | None = None
    lead: Look | None = None
    near: Look | None = None
    black_boxes: int = 0
    no_power: str = ""
    unbounded: Ended | None = None
    used: tuple[int, bool] = (0, False)
    measured: dict[str, int] = field(default_factory=dict)
    narrow: bool = False


@dataclass(kw_only=True)
class UserCase(UserCaseState, Case, Generic[Sampling]):
    """The audit of a user's code, which is known by its outputs.

    Attributes
    ----------
    function
        What is called.
    pairs
        Candidate neighbours, in the order in which they were thought of.
    ground, allowed, sizes
        What the audit stands on, see `auditing.ground`.
    levels
        Error rates.
    seen
        What the first runs told.
    """

    kind: Final[str] = "release"
    function: Final[Function[object]]
    pairs: Sequence[Pair | DataPair]
    ground: Ground[Sampling]  # mypy takes nothing generic as final
    allowed: Final[Allowance]
    sizes: Final[StageSizes]
    levels: Final[Levels]
    seen: Final[Probe]

    def state(self) -> CaseState:
        """See `Case.state`; with what has become of the allowance and the sizes."""
        self.used, self.measured = (self.allowed.spent, self.allowed.capped), self.sizes.found
        return super().state()

    def resume(self, state: CaseState) -> None:
        """See `Case.resume`."""
        super().resume(state)
        (self.allowed.spent, self.allowed.capped), self.sizes.found = self.used, self.measured

    @property
    def capped(self) -> bool:
        """Whether a cap has cut any size, here or in the audit that this one reruns, which has no cap."""
        return self.allowed.capped or self.sizes.capped

    @property
    def workers(self) -> int:
        """Processes that may share the runs."""
        return self.request.settings.workers if self.ground.parallel else 1

    @property
    def terms(self) -> Terms:
        """Of each of its tests."""
        seed, shared = self.request.settings.seed, self.levels
        levels = shared.alpha, shared.confidence, shared.tests
        return Terms(self.claim, seed, self.workers, *levels, self.ground.carried)

    @property
    def sampler(self) -> Sampling:
        """What makes runs."""
        return self.ground.sampler

    @property
    def apart(self) -> str:
        """Why runs of a call for one run, or at one place, say nothing of others; empty if they may."""
        for check in self.checks:
            if check.kind == positions.KIND and not check.result["holds"]:
                where = check.statistics["where"]
                return f"some runs of a call are distributed differently from the rest ({where})"
        return ""

    def teaching(self, sampler: Sampling, plan: Plan, pairs: int) -> Sampling:
        """The sampler with what learns scores by tracing; itself if nothing does."""
        return sampler

    @property
    def hoped(self) -> int | None:
        """Runs a side that a test may go on to; None if no more than its plan has."""
        return None

    def hope(self, look: Look) -> tuple[float, float]:
        """What look to go on with: by its chance to refute, then by how near its bound comes to the claim."""
        return (round(look.chance(self.hoped), 2) if self.hoped else 0.0), look.excess

    def take(self, look: Look, *, aside: bool = False) -> None:
        """Keep what a look came to; one that is made aside does not say what later ones go on with."""
        if not aside:
            self.last = look
        if look.excess > (self.lead.excess if self.lead else 0.0):
            self.lead = look
        if look.above and (self.near is None or self.hope(look) > self.hope(self.near)):
            self.near = look
        self.black_boxes += len(look.checks)
        self.found(look.checks, look.chosen)

    def found(self, checks: Sequence[Check], chosen: blackbox.Selected | None = None) -> None:
        """Add checks, and the counterexamples of those that refute, on the pair `chosen` or the last one."""
        self.checks += checks
        chosen = chosen or (self.last.chosen if self.last else None)
        self.counterexamples += record_parts.counterexamples(checks, {}, chosen)

    def failed(self, doubts: Sequence[str]) -> None:
        """Add a check that says which runs failed where others did not, if any did: it acquits nobody."""
        if doubts:
            before = [one for one in self.checks if one.name == origins.FAILED]
            self.checks = [one for one in self.checks if one.name != origins.FAILED]
            known = [doubt for one in before for doubt in one.statistics["doubts"]]
            self.found([origins.failures([*dict.fromkeys([*known, *doubts])])])

    def parameters(self) -> JsonDict:
        """What the record says of the inputs."""
        raise NotImplementedError

    def notes(self) -> list[str]:
        """What a reader has to know of the target before anything else."""
        looked, undecided = self.last.notes if self.last else (), not self.refuted
        alike = ALIKE if self.ground.draws else DETERMINISTIC
        return [
            *self.ground.notes,
            *([NOT_FOUND] if _in_cell(self.function) else []),
            *([] if self.varied else [alike]),
            *looked,
            *([self.no_power] if self.no_power and undecided else []),
            *([CAPPED.format(self.request.settings.sizes.seconds)] if self.capped else []),
        ]

    def ended(self) -> JsonDict | None:
        """See `Case.ended`."""
        return None if self.unbounded is None else asdict(self.unbounded)

    def target(self) -> JsonDict:
        """See `Case.target`."""
        command, notes = self.request.target, self.notes()
        parameters = {**self.parameters(), **self.request.inputs.recorded()}
        if isinstance(command, Exec):
            parameters |= {"exec": command.command, "exec_timeout": command.timeout}
            restarted = _restarted(self.function)
            notes += [f"the process {restarted}; we restarted it and continued"] if restarted else []
        return {
            "name": self.request.name,
            "kind": self.kind,
            "parameters": parameters,
            "source": _source(self.function, self.request.name),
            "role": Role.USER,
            "plays": Plays.DATA if self.kind == "release" else Plays.ARMS,
            "note": "; ".join(notes),
            "paper": "",
            "model": "local" if self.request.promise.model == "local" else "central",
        }

    def noted(self) -> JsonDict:
        """See `Case.noted`."""
        promise, settings = self.request.promise, self.request.settings
        return {
            "sizes": self.sizes.found,
            "timeout": settings.timeout,
            **({"capped": True} if self.capped else {}),
            **self.request.noted(promise.epsilon or 0.0, promise.delta or 0.0),
        }

    def words(self) -> list[str]:
        """See `Case.words`."""
        return [pair.describe() for pair in self.pairs]

    def not_covered(self) -> list[Exclusion]:
        """See `Case.not_covered`."""
        said = [
            Exclusion(Left.CALL_SIZES, {"sizes": list(check.statistics["sizes"])})
            for check in self.checks
            if check.kind == positions.KIND
        ]
        local = [Exclusion(Left.OTHER_REPORTS)] if self.request.promise.model == "local" else []
        return [*super().not_covered(), *self._unseen(), *said, *local, Exclusion(Left.DATA_TYPES)]

    def _unseen(self) -> list[Exclusion]:
        """What of the code no check looked into."""
        if any(c.kind == upper.KIND and c.statistics["scope"] != "n paths" for c in self.checks):
            return []
        if any(c.kind == "tracing" and not c.statistics["failure"] for c in self.checks):
            return [Exclusion(Left.UNTRACED_CODE)]
        return [Exclusion(Left.UNSEEN_CODE)]


# ---------------------------------------------------------------- looks


def looks_of(seed: int) -> list[int]:
    """Seeds of the runs of all looks, that of the first one first."""
    return [seed + APART * number for number in range(INTERACTIVE + 1)]


def look(
    case: UserCase[Sampling], candidates: Sequence[Pair | DataPair], plan: Plan, *, number: int = 0
) -> Look:
    """Choose among the candidates and test; looks of one audit draw from streams of their own.

    A refutation by runs that were made together is made again by runs that share no call, at the same level:
    only where both refute is the claim refuted. Else the whole look is made again, one run a call.
    """
    return _look(case, case.sampler, candidates, plan, number, case.workers)


def more(case: UserCase[Sampling], lead: Look, runs: int) -> Look:
    """Go on with the test of a look, by `runs` runs on both inputs.

    Its first runs made it the look to go on with, among all that there were: it has a look's share of the
    level, divided among them.
    """
    sampler = replace(case.sampler, rows=1) if lead.alone else case.sampler
    return _look(case, sampler, lead.best, Plan(0, 0, runs // 2), lead.number, lead.workers, lead)


def go_on(case: UserCase[Sampling], promising: Look, runs: int) -> None:
    """Go on with the test of a look, in steps: what it comes to stands for what it came to."""
    case.no_power = ON_A_LEAD
    case.request.progress(f"an estimate is above the claim: {runs} more runs")
    promising = replace(promising, parts=_STEPS * case.black_boxes)
    for step in range(_STEPS):
        before = [check.name for check in promising.checks]
        case.checks = [check for check in case.checks if check.name not in before]
        promising = more(case, promising, (runs + step) // _STEPS)
        case.take(promising)
        if case.refuted:
            return


def enough(promising: Look, most: int) -> int:
    """Runs that a test goes on by: no more than are nearly as likely to refute as `most`."""
    best, fewer = promising.chance(most // 2), [most // part for part in (8, 4, 2) if promising.counted]
    return next((n for n in fewer if promising.chance(n // 2) > 0.97 * best), most)


def _look(
    case: UserCase[Sampling],
    sampler: Sampling,
    candidates: Sequence[Pair | DataPair],
    plan: Plan,
    number: int,
    workers: int,
    lead: Look | None = None,
) -> Look:
    claim, levels = case.claim, case.levels
    own = case.request.settings.seed + APART * number
    source = replace(sampler, seed=own)
    # Runs of a user's bandit are few: what they are to show is a refutation, if there is one.
    level = levels.alpha if isinstance(sampler, PlaySampler) else LEVEL
    terms = replace(case.terms, seed=own, workers=workers)
    test = "sequential test" if plan.sequential and lead is None else "black box"
    name = f"{test}, look {number + 1}" if levels.looks > 1 else test
    if number == INTERACTIVE:
        name = f"interactive {test}"
    if lead is None:
        checks, chosen, ranked = sequential.conduct(
            source,
            lambda part: blackbox.select(
                case.teaching(source, part, len(candidates)),
                candidates,
                replace(part, beyond=case.hoped or 0),
                delta=claim.delta,
                workers=workers,
                level=level,
            ),
            plan,
            terms,
            name=name,
        )
        alone = getattr(sampler, "rows", None) == 1
        found = Look(
            checks, chosen[0], [candidates[i] for i in ranked], number=number, workers=workers, alone=alone
        )
    else:
        name = f"{name} goes on"
        earlier = next((check for check in lead.checks if check.kind == "black_box"), None)
        if earlier is not None:
            terms = replace(terms, tests=levels.tests * lead.parts)
        checks = blackbox.put_to_test(source, [lead.chosen], plan, terms, name=name, earlier=earlier)
        found = replace(lead, checks=checks)
        plan = replace(plan, test=sum(int(checks[0].statistics[n]) for n in ("n0", "n1")) // 2)
    if not found.refuted:
        return found
    if source.together and not levels.trusted:
        single = replace(source, rows=1)
        size = _confirming(found.chosen, plan, terms)
        [single_run] = blackbox.put_to_test(
            single, [found.chosen], replace(plan, test=size), terms, name=f"{name}, one run per call"
        )
        if single_run.verdict == "refuted":
            return replace(found, checks=[*checks, single_run])
        if lead is not None:
            return replace(lead, checks=[single_run], notes=(*lead.notes, UNCONFIRMED), alone=True)
        fewer = replace(plan, probe=min(plan.probe, size), select=min(plan.select, size), test=size)
        again = _look(case, single, candidates, fewer, number, workers)
        return replace(again, notes=(*again.notes, UNCONFIRMED))
    if workers > 1 and not _same_here(source, found.chosen):
        again = _look(case, sampler, candidates, plan, number, 1)
        return replace(again, notes=(*again.notes, WORKERS_DIFFER))
    return found


def doubt(case: UserCase[Sampling]) -> None:
    """Why what the runs have shown does not speak for the claim: readers of the code may know its noise."""
    case.found([origins.check(case.ground.doubts())])


def restarts(case: UserCase[Sampling]) -> None:
    """That a process ended during a request, which was made again: an observer sees that it ended."""
    restarted = _restarted(case.function)
    case.failed([refusals.now_and_then("a request that we had to repeat", restarted)] if restarted else [])


def _confirming(chosen: blackbox.Selected, plan: Plan, terms: Terms) -> int:
    """Runs a side that confirm a refutation with probability .999, at most those of the plan."""
    p, q = chosen.event.careful_shares()
    fixed, size = replace(plan, sequential=False), 500
    while size < plan.test:
        if powers.rejection(p, q, replace(fixed, test=size), terms.claim, terms.alpha / terms.tests) > 0.999:
            return size
        size *= 2
    return plan.test


@there(exactly(bool))
def _same_here(sampler: Sampling, chosen: blackbox.Selected) -> bool:
    """Whether some runs of the test come out in this process as in another one."""
    runs = np.arange(min(sampler.shard, _SAME), dtype=np.int64)
    task = functools.partial(sampler.sample, chosen.pair, 0, TUNE, chosen.number, runs)
    # The first pass may load or fill what a program keeps between its runs: the second is compared.
    here = [chosen.event.hits(task()) for _ in range(2)]
    there = engine.ordered(engine.called, [delayed(_hits_of)(task, chosen.event)] * 2, workers=2)
    return bool(here[1] == there[0] == there[1])


def _hits_of(task: Callable[[], Observation], event: Event) -> int:
    return event.hits(task())


@there(exactly(bool))
def _in_cell(function: Function[object]) -> bool:
    """Whether the code was typed into a cell of a notebook."""
    return in_cell(code_of(function))


@there(exactly(str))
def _restarted(function: Function[object]) -> str:
    """Why the processes of a command were started again; empty if they were not."""
    return str(getattr(function, "restarted", ""))


@there(exactly(dict[str, Any]))
def _source(function: Function[object], name: str) -> JsonDict:
    """Where the code is, as a record has it."""
    return CodeSource.named(function, name).as_dict()


def hits_needed(epsilon: float, level: float) -> int:
    """Runs a side that refute `epsilon` at `level` if all of one side are in an event and none of the other.

    An epsilon-DP program gives n such runs with probability at most (e^epsilon / (1 + e^epsilon))^n. Sides
    are tossed by a coin, so that some more are needed.
    """
    hits = math.log(1 / level) / math.log1p(math.exp(-epsilon)) if epsilon < 30 else math.inf
    return math.ceil(hits + 6 * math.sqrt(hits)) if hits < 1e9 else 1 << 30


# ---------------------------------------------------------------- the rungs that users' code of all kinds has


def curve(case: UserCase[Sampling]) -> None:
    """The hockey-stick curve on the pair of the last look, its events chosen on the runs of that look."""
    seed, levels = case.request.settings.seed, case.levels
    if case.black_boxes > 1 and levels.looks > 1:
        seed += APART
    assert case.last is not None
    source, terms = replace(case.sampler, seed=seed), replace(case.terms, seed=seed)
    case.found([curves.check(source, case.last.chosen, case.plan, terms)])
