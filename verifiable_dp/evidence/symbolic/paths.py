"""An upper bound on epsilon for users' code: what its paths give away, over all rewards in bounds.

The code is run with rewards that stand for any value, once for every path; which path it takes follows from
noise and coins alone, else there is no bound. Those are chosen so that runs differ as much as they can.
"""

from __future__ import annotations

import gc
import math
import os
import traceback
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.core import outputs
from verifiable_dp.core.filled import note_placed, noting
from verifiable_dp.core.limits import limited
from verifiable_dp.core.validate import FloatArray, Foreign
from verifiable_dp.evidence.judge.replay import CHANGES_DATA, GIVEN, alike
from verifiable_dp.evidence.symbolic import array_protocol, boxes, libraries, subsets
from verifiable_dp.evidence.symbolic.accept_reject import Proposals
from verifiable_dp.evidence.symbolic.alignments import costs_held, costs_of
from verifiable_dp.evidence.symbolic.bounded_programs import HUNT, Path, PathFound, Program
from verifiable_dp.evidence.symbolic.branch_forcing import BranchFlips, forced
from verifiable_dp.evidence.symbolic.called import taken_of_calls
from verifiable_dp.evidence.symbolic.choosers import NATURAL, Chooser, Extreme
from verifiable_dp.evidence.symbolic.coverage import Coverage, compares
from verifiable_dp.evidence.symbolic.draws import FollowedGenerator
from verifiable_dp.evidence.symbolic.ends import Ends, Failure, Unbounded
from verifiable_dp.evidence.symbolic.leaves import coinciding, leaves, sums
from verifiable_dp.evidence.symbolic.numpy_mirror import standing_in
from verifiable_dp.evidence.symbolic.outside import reading
from verifiable_dp.evidence.symbolic.randoms import system_seeded
from verifiable_dp.evidence.symbolic.rewriting import rewritten, unasked
from verifiable_dp.evidence.symbolic.source import asserts
from verifiable_dp.evidence.symbolic.states import KeptState, as_now, kept
from verifiable_dp.evidence.symbolic.terms import is_term
from verifiable_dp.evidence.symbolic.world import MOST_EVENTS, Scaling, World
from verifiable_dp.evidence.tracing.flow import returns_of
from verifiable_dp.evidence.tracing.foreign import global_states, plain_run, reproducible_globals
from verifiable_dp.evidence.tracing.ledger import Place, same
from verifiable_dp.evidence.tracing.reach import functions_of, scopes_of

_LEAST, _MOST, _WORK = 12, 60, 600_000  # paths, and operations on terms of all of them
_LEAST_OF_LEAVES = 20_000  # operations, where every path is looked for
_APART = 1003  # numbers that no other path has


@contextmanager
def _uncollected() -> Iterator[None]:
    """While it lasts, nobody looks for cycles among the many terms of a path: that takes as long as it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@dataclass
class WorkMeter:
    """Operations that a search for a bound has taken: the same on every machine, however busy it is.

    Attributes
    ----------
    most
        After how many it gives up, between two runs.
    spent
        Instructions of the traced code, and operations on tracked numbers, which count `_DEAR` times.
    each
        What a plain run counts, of which only a part is watched: as many instructions as a traced one took.
    """

    most: float = math.inf
    spent: int = 0
    each: int = 0

    def is_spent(self) -> bool:
        """Whether to give up."""
        return self.spent > self.most

    def words(self) -> str:
        """That it gave up."""
        return f"we gave up after {self.most:,.0f} operations"


_DEAR = 20


@dataclass(frozen=True)
class TracedRun:
    """One run with numbers that stand for others.

    Attributes
    ----------
    world
        What was seen.
    output
        What it returned.
    drawn
        Outputs of mechanisms of libraries.
    crashed
        Whether an exception of the code's ended it, or it took forever.
    """

    world: World
    output: Foreign
    drawn: tuple[Foreign, ...]
    crashed: bool


@_uncollected()
def traced(
    program: Program,
    values: FloatArray,
    number: int,
    chooser: Chooser,
    scopes: Foreign,
    coverage: Coverage | None = None,
    flips: BranchFlips | None = None,
) -> TracedRun:
    """Run once on data that have these values."""
    world = World(frozenset(scopes), chooser, array_protocol, flips=flips, subsets=subsets)
    world.known, world.disclosed, world.local = program.known, program.disclosed, program.local
    world.asserts = program.asserts
    output, library, crashed = None, libraries.Followed(world), False
    generator = FollowedGenerator.of(np.random.Philox(number), world, GIVEN)
    try:
        if math.prod(program.shape) > MOST_EVENTS:
            raise world.stop("a run has too many rewards for us to follow", Place("", 0))
        data = program.data(world, values)
        given = boxes.entries(world, data)
        world.given = frozenset(atom for v in given if is_term(v) for atom in v.raw)
        with reproducible_globals(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numbers that only a forced path has
            states = global_states()
            stands = rewritten(scopes, world), standing_in(scopes, world), libraries.patched(library)
            with limited(), stands[0], stands[1], stands[2], reading(world):
                if coverage is None:
                    returned = program.function(data, generator)
                else:
                    with coverage.watching(world.stop, unasked):
                        returned = program.function(data, generator)
                    coverage.note(world)
            chooser.returned = True
            if any(one is not now for one, now in zip(given, boxes.entries(world, data), strict=True)):
                raise world.stop(CHANGES_DATA, _last_return(world.files, program))
            output = _returned(world, program, returned)
            for finish in world.finishing:
                finish()
            if global_states() != states:
                raise world.stop("draws from a process-wide generator")
    except Unbounded as reason:
        world.stop(reason.failure.words, why=reason.failure.why)
        handed = world.at is not None and (not world.at.line or world.at.file.startswith(_OWN))
        if handed:  # what it handed over ended the bound
            world.at = _last_return(world.files, program) or world.at
        crashed = reason.failure.why is Ends.ENDLESS
    except Exception as error:  # whatever the traced code or a library it calls does not take
        crashed = True
        world.stop(f"{type(error).__name__}: {error}".splitlines()[0][:200], _line_of(error, world.files))
    return TracedRun(world, output, tuple(library.told()), crashed)


def run(
    program: Program,
    number: int,
    chooser: Chooser,
    scopes: Foreign,
    coverage: Coverage | None,
    flips: BranchFlips | None = None,
    meter: WorkMeter | None = None,
) -> Path:
    """One path; what it takes is counted by the meter."""
    made = traced(program, program.values(number), number, chooser, scopes, coverage, flips)
    world = made.world
    if meter is not None:
        meter.spent += _DEAR * world.events + (coverage.taken if coverage is not None else 0)
    with _uncollected():
        costs = {} if world.failure else costs_of(world)
        held = None if world.failure else costs_held(world)
    if coverage is not None:
        coverage.scales |= world.scales  # those of noise that hides data, too
    owners = (getattr(finish, "__self__", None) for finish in world.finishing)
    contested = next((owner.place for owner in owners if isinstance(owner, Proposals)), None)
    return Path(
        number,
        costs,
        world.failure,
        world.at,
        world.events,
        made.output,
        chooser.natural,
        contested,
        world.beyond,
        made.drawn,
        made.crashed,
        world.unseen,
        held,
        frozenset(Scaling(spots, divided) for _, spots, divided in world.held),
    )


_OWN = os.path.dirname(os.path.dirname(outputs.__file__))  # what is ours


def _last_return(files: Collection[str], program: Program) -> Place | None:
    """The last line on which the first function of a program's own code returns something."""
    functions = (one for one in functions_of(program.function) if one.__code__.co_filename in files)
    return next(iter(returns_of([*functions][:1])[-1:]), None)


def _returned(world: World, program: Program, returned: Foreign) -> Foreign:
    """What an observer sees of what is returned, as plain numbers."""
    what = "raw {data} are returned"
    world.back = _last_return(world.files, program)
    try:
        outputs.form(returned, outputs.of_followed)
    except outputs.OddError as odd:
        raise world.stop(f"the code returns {odd}", world.back) from None
    value = program.seen(returned)
    try:
        found = np.asarray(boxes.plain(world, value, what))
        return np.array([boxes.plain(world, v, what) for v in found]) if found.dtype == object else found
    except Unbounded:
        if world.at is None or world.at.file not in world.files:
            world.at = world.back or world.at
        raise


def _line_of(error: Exception, files: frozenset[str]) -> Place:
    """The innermost line of the traced code."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in files]
    return Place(frames[-1].filename, frames[-1].lineno or 0) if frames else Place("", 0)


def explore(program: Program, n_arms: int, most: int = _MOST, work: float = math.inf) -> PathFound:
    """Run paths until the work is done or one has no bound.

    Parameters
    ----------
    program
        What is bounded.
    n_arms
        Units are counted arm by arm.
    most
        Paths.
    work
        Operations after which it gives up; then there is no bound.
    """
    scopes = scopes_of(program.function)
    with kept(scopes), noting() as filled:
        note_placed(program.function, "data", "generator")
        first = _warmed(program, n_arms, scopes)
        memory = KeptState(scopes)
        meter, found = WorkMeter(work), list[PathFound]()
        for _ in range(_TELLINGS):
            coverage = Coverage(frozenset(scopes), filled=filled, disclosed=program.disclosed)
            made = _explored(program, n_arms, most, meter, scopes, coverage)
            found.append(made if made.failure else _as_scaled(made, coverage, scopes))
            spots = coverage.spots(scopes) if found[-1].outside else None
            if not spots:
                break
            program = replace(program, disclosed=program.disclosed | spots)
        told = found[-1]
        told = found[0] if told.failure or coverage.replaced() else told
        untold = not told.failure or (told.failure.why is Ends.OTHER and told.at is None)
        outlives = memory.changed() if untold else ""
        if outlives or (first and not told.failure):
            return replace(told, failure=Failure(_OUTLIVES.format(outlives) if outlives else first))
        taken = () if told.failure else taken_of_calls(program, scopes, coverage)
        if not told.failure and (sized := _sized(program, scopes)):
            return replace(told, failure=Failure(_SIZED.format(sized)))
        if not told.failure and program.asserts and any(map(asserts, coverage.steps)):
            told = _optimised(told, explore(replace(program, asserts=False), n_arms, most, work))
        return replace(told, taken=taken)


_OUTLIVES = "{} changes from run to run, so a run may reveal data that an earlier run left there"


_SIZED = "{} changes with the size of the data or of the call, so a run depends on which sizes came before"

_FIRST = "{} still contains what the first run stored, which may reveal that run's data"
_COLD = "the first run in a process gives different results from later runs, because it sets {}"


def _warmed(program: Program, n_arms: int, scopes: Foreign) -> str:
    """Plain runs, so that what is made once, as a table or a cache, is made; what is wrong with the first.

    A traced run that goes the same way has to leave the same, which is then made of nothing that it follows.
    """
    wrong = ""

    def plain() -> Foreign:
        with suppress(Exception), system_seeded(scopes, number):  # the audit tells of it where it plays
            return program.seen(plain_run(program.function, program.values(number), np.random.Philox(number)))

    for number in range(2):
        before, put_back = KeptState(scopes), as_now(scopes)
        cold = plain()
        left = before.left()
        if left and not wrong:
            put_back()
            traced(program, program.values(number), number, Chooser(number, n_arms), scopes)
            told = before.left()
            way = next((way for way in {**left, **told} if left.get(way) != told.get(way)), "")
            wrong = _FIRST.format(way) if way else ""
            put_back()
            plain()
            if not (wrong or alike(cold, plain())):
                wrong = _COLD.format(next(iter(left)))
    return wrong


_OPTIMISED = "the code behaves differently without its assert statements, which python -O removes ({})"
_DELTA = 1e-5


def _optimised(found: PathFound, bare: PathFound) -> PathFound:
    """A bound, if that without asserts is the same."""
    if bare.failure:
        return replace(found, failure=Failure(_OPTIMISED.format(bare.failure)), at=bare.at)
    if not math.isclose(found.epsilon(_DELTA), bare.epsilon(_DELTA)):
        return replace(found, failure=Failure(_OPTIMISED.format("its bound is different")))
    return found


def _sized(program: Program, scopes: Foreign) -> str:
    """What runs of another size change that is kept; empty if nothing."""
    KeptState(scopes).forget()
    memory = KeptState(scopes)
    for axis in range(len(program.shape)):
        with suppress(Exception):  # not all code takes all sizes
            shape = [size + (i == axis) for i, size in enumerate(program.shape)]
            data = replace(program, shape=tuple(shape)).values(0)
            plain_run(program.function, data, np.random.Philox(0))
    with suppress(Exception):
        plain_run(program.function.larger, program.values(0), np.random.Philox(0))  # type: ignore[attr-defined]
    memory.forget()
    return memory.changed()


_TELLINGS = 3  # times that more is disclosed


def _explored(
    program: Program, n_arms: int, most: int, meter: WorkMeter, scopes: Foreign, coverage: Coverage
) -> PathFound:
    found, events = _typical(program, n_arms, most, meter, scopes, coverage)
    found = found if found.failure else _alike(program, n_arms, found.paths, meter, scopes, coverage)
    if found.failure:
        return found
    paths = found.paths
    outside = coverage.outside(scopes)
    if outside is not None:
        at = Place(outside.file, outside.line)
        return PathFound(paths, Failure(outside.words), at, outside=True)
    jumping = coverage.jumping(scopes)
    if jumping is not None:
        return PathFound(paths, Failure(_VARYING), jumping)
    strict = any(path.contested for path in paths)
    missed = coverage.missed(scopes, strict=strict)

    def turn(number: int, flips: BranchFlips, steps: Coverage | None) -> Path:
        if meter.is_spent():
            return Path(number, {}, Failure(meter.words()))
        number += most  # numbers that no other path has
        if steps is not None:
            steps.files, steps.filled, steps.said = coverage.files, coverage.filled, coverage.said
        path = run(program, number, Chooser(number, n_arms), scopes, steps, flips, meter)
        if path.crashed and path.failure.why is not Ends.ENDLESS:
            return replace(path, crashed=_crashes(program, path, scopes, flips))
        return path

    def rest(steps: Coverage) -> list[tuple[Place, Foreign]]:
        both = coverage.both() | steps.both()
        missed = steps.missed(scopes, strict=strict)
        return [(place, at) for place, at in missed if (place.file, at) not in both]

    more, unseen, closed = forced(missed, turn, rest)
    if unseen is None and closed:
        meter.each = coverage.most
        unseen = _open(program, scopes, closed, meter)
    if unseen is not None and meter.is_spent():
        return PathFound((*paths, *more), Failure(meter.words()))
    if unseen is not None:
        return PathFound((*paths, *more), Failure("no traced runs take both sides of this branch"), unseen)
    work = max(2 * events, _LEAST_OF_LEAVES)

    def play(number: int, chooser: Chooser) -> Path:
        return run(program, number, chooser, scopes, None, meter=meter)

    every = leaves(play, n_arms, work)
    if every is None:
        met = coinciding(play, n_arms, work)
        made = PathFound((*paths, *more, *met), closed=tuple(place for place, _ in closed))
        for path in met:
            if path.failure and not path.beyond:
                return replace(made, failure=path.failure, at=path.at)
        return made
    return PathFound((*paths, *more, *every), every=True)


def _as_scaled(found: PathFound, coverage: Coverage, scopes: Foreign) -> PathFound:
    """Paths as dear as they are whatever numbers scale data and noise, where draws say which."""
    held = tuple(path.as_held() for path in found.paths)
    each = (zip(*map(Path.most, paths), strict=True) for paths in (found.paths, held))
    before, after = ([*map(max, ends)] for ends in each)
    if all(more <= least * (1 + 1e-9) for least, more in zip(before, after, strict=True)):
        return found
    at = coverage.varying(scopes, frozenset[Scaling]().union(*(path.scaled for path in held)))
    if at is None:
        return found
    made = replace(found, paths=held)
    return made if all(map(math.isfinite, after)) else replace(made, failure=Failure(_VARYING), at=at)


def _typical(
    program: Program, n_arms: int, most: int, meter: WorkMeter, scopes: Foreign, coverage: Coverage
) -> tuple[PathFound, int]:
    """Paths that typical public draws take, until the work is done or one has no bound; and their work."""
    paths, events = list[Path](), 0
    for number in range(most):
        if meter.is_spent():
            return PathFound(tuple(paths), Failure(meter.words())), events
        if number >= _LEAST and events > _WORK:
            break
        chooser = Chooser(number, n_arms)
        steps = Coverage(frozenset(scopes)) if chooser.rounds else coverage
        path = run(program, number, chooser, scopes, steps, meter=meter)
        events += path.events
        if path.beyond and path.failure:
            continue  # it has no chance, and what it has reached does not count as looked at
        coverage.add(steps)
        paths.append(path)
        if path.failure:
            return PathFound(tuple(paths), path.failure, path.at), events
        if number < NATURAL and not _as_plain(program, path, scopes):
            wrong = Failure("a traced run and a plain run return different values")
            return PathFound(tuple(paths), wrong), events
        asked = path.contested and not path.natural
        if asked and not _same_without(program, n_arms, path, scopes, coverage, meter):
            wrong = Failure("the number of rejected proposals affects what follows")
            return PathFound(tuple(paths), wrong, path.contested), events
    return PathFound(tuple(paths)), events


def _alike(
    program: Program,
    n_arms: int,
    before: Sequence[Path],
    meter: WorkMeter,
    scopes: Foreign,
    coverage: Coverage,
) -> PathFound:
    """Those before, and the paths where all public draws are alike."""
    paths = list(before)
    for way in range(Extreme.WAYS):
        steps = Coverage(frozenset(scopes))  # does not count: what is alike is no typical look at a branch
        path = run(program, _APART + way, Extreme(_APART + way, n_arms, way), scopes, steps, meter=meter)
        if path.failure and path.beyond:
            continue
        paths.append(path)
        if path.failure:
            return PathFound(tuple(paths), path.failure, path.at)
        coverage.scales |= steps.scales
        coverage.weights |= steps.weights
        coverage.sums |= steps.sums
        coverage.drawn |= steps.drawn
    return PathFound(tuple(paths))


def _crashes(program: Program, path: Path, scopes: Foreign, flips: BranchFlips) -> bool:
    """Whether an exception ends a plain run, too, where conditions are turned about, and only then."""
    for last in (0, flips.last):
        turned = BranchFlips(flips.sites, flips.first, last)
        world = World(
            frozenset(scopes), Chooser(path.number, 1), array_protocol, flips=turned, subsets=subsets
        )
        try:
            with rewritten(scopes, world), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                plain_run(program.function, program.values(path.number), np.random.Philox(path.number))
        except Exception:  # whatever the code does not take
            return last > 0
    return False


_VARYING = "the amount of noise, or the weight of the data, may depend on a random draw"


def _open(
    program: Program, scopes: Foreign, sites: Sequence[tuple[Place, Foreign]], meter: WorkMeter
) -> Place | None:
    """A line with a branch that plain runs take both ways, or hardly come to; None if there is none."""
    (low, high), horizon = program.bounds, program.shape[0]
    arms = np.arange(program.shape[-1])
    tables = [np.full(program.shape, value) for value in (low, high, (low + high) / 2)]
    tables += [np.where(arms == arm, high, low) * np.ones(program.shape) for arm in arms]
    tables += [
        np.where(np.arange(horizon) * 2 < horizon, table.T, (low + high) - table.T).T for table in tables[:5]
    ]
    rounds = np.arange(horizon)[:, None] if len(program.shape) > 1 else np.arange(horizon)
    turns = [rounds // every % 2 == first for every in (1, 2, 3, 5) for first in (0, 1)]
    tables += [np.where(np.broadcast_to(turn, program.shape), high, low) for turn in turns]
    tables += [program.values(number) for number in range(6)]
    keys = {(place.file, at): place for place, at in sites}
    files, came = frozenset(place.file for place, _ in sites), dict.fromkeys(keys, 0)
    for number, data in enumerate(tables):
        coverage = Coverage(files, frozenset(keys))
        for run_ in range(-(-HUNT // len(tables))):
            if meter.is_spent():
                return sites[0][0]
            meter.spent += meter.each
            try:
                with coverage.watching():
                    plain_run(program.function, data, np.random.Philox([number, run_]))
            except Exception:  # the audit tells of it where it plays
                return sites[0][0]
        asked, both = coverage.sides()
        for key in asked & keys.keys():
            came[key] += 1
            if key in both:
                return keys[key]
    return next((keys[key] for key, often in came.items() if often * 2 < len(tables)), None)


_WATCHED = 4  # plain runs of each table


def behind(found: PathFound) -> Place | None:
    """Where a path that had to be forced ended for the sake of raw data: replays may never come there."""
    last = found.paths[-1] if found.failure and found.paths else None
    return last.at if last is not None and not last.natural and last.failure.why.raw else None


def unsettled(program: Program, found: PathFound) -> bool:
    """Whether raw data decides something that replays on neighbouring data cannot settle.

    A plain comparison of raw data may be what is asked before coins or noise hide the answer, and replays
    tell. But where it is a part of a larger condition, or where plain data leave another branch one-sided,
    neighbours may never have met in what counts.
    """
    if found.failure.why not in (Ends.BRANCH, Ends.POSITION) or found.at is None:
        return False
    if not compares(found.at):
        return True
    scopes = scopes_of(program.function)
    coverage, (low, high) = Coverage(frozenset(scopes)), program.bounds
    levels = [np.full(program.shape, value) for value in (low, (low + high) / 2, high)]
    try:
        with coverage.watching():
            for number in range(_WATCHED):
                for data in (program.values(0), *levels):
                    plain_run(program.function, data, np.random.Philox(number))
    except Exception:  # the audit tells of it where it plays
        return False
    return bool(coverage.missed(scopes, strict=False))


def _same_without(
    program: Program, n_arms: int, path: Path, scopes: Foreign, coverage: Coverage, meter: WorkMeter
) -> bool:
    """Whether a path goes on in the same way when other numbers of proposals are turned down before."""
    for failures in (1, 7, 1500) if path.number < NATURAL + 3 else (2,):
        watched = coverage if failures == 1 else None
        other = run(
            program, path.number, Chooser(path.number, n_arms, failures), scopes, watched, meter=meter
        )
        if other.failure or not same(other.output, path.output) or sums(other.costs) != sums(path.costs):
            return False
    return True


def _as_plain(program: Program, path: Path, scopes: Foreign) -> bool:
    """Whether a run with plain numbers returns the same."""
    try:
        with system_seeded(scopes, path.number), libraries.patched(libraries.Replayed(path.drawn)):
            output = plain_run(program.function, program.values(path.number), np.random.Philox(path.number))
        return same(output, path.output)
    except Exception:  # the audit tells of it where it plays; or it kept what is tracked
        return False
