"""Proposals for the judge: neighbours of a run, and how far its noise moves so that they show the same.

The run is traced on data S, and again on a neighbour S' where everything that was shown comes out as before.
How far each sum of data has moved then is read off the two, and a linear program gives the cheapest shifts of
the noise that make up for it. The judge tries them on the plain program (`judge.replay`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from msgspec import structs

from verifiable_dp.core.limits import limited
from verifiable_dp.core.validate import FloatArray, Foreign, InputError
from verifiable_dp.evidence.judge import laws
from verifiable_dp.evidence.judge.arithmetic import Paid, judged
from verifiable_dp.evidence.judge.certificate import Belief, Frame, MovedEntry, Pattern, TracedCertificate
from verifiable_dp.evidence.judge.laws import epsilon_of
from verifiable_dp.evidence.judge.neighbours import Hiding, MovedGroup, hidden
from verifiable_dp.evidence.judge.replay import Key, Maker, Move, ReplayResult, Sides, alike, replayed
from verifiable_dp.evidence.symbolic import libraries
from verifiable_dp.evidence.symbolic.alignments import Cost, SharedGroup, costs_of, groups_of, rows_of
from verifiable_dp.evidence.symbolic.atoms import Atom, Part, Row, SymbolicDraw
from verifiable_dp.evidence.symbolic.bounded_programs import Path, PathFound, Program, certified
from verifiable_dp.evidence.symbolic.choosers import Chooser
from verifiable_dp.evidence.symbolic.doubts import doubtful, lines
from verifiable_dp.evidence.symbolic.ends import Failure
from verifiable_dp.evidence.symbolic.paths import TracedRun, traced
from verifiable_dp.evidence.symbolic.randoms import system_seeded
from verifiable_dp.evidence.symbolic.states import kept
from verifiable_dp.evidence.symbolic.terms import Term
from verifiable_dp.evidence.tracing.foreign import noted, reproducible_globals
from verifiable_dp.evidence.tracing.reach import scopes_of

_FIRST, _DOUBTED = 700_000, 700_900  # numbers that no path has
_WORK, _ASKED = 150_000, 256  # operations of runs that look for data, and what is asked in one of them
_STILL = 1e-9
_ANYWHERE = ("laplace", "normal", "logistic", "cauchy", "hypsecant", "gumbel")  # noise that may be any number
_CLOSE = 1e-3  # of the scale of its noise, by which what is close leads
_ROUNDED = 1e-6  # of losses that the search and the judge add up apart


class OtherPathError(Exception):
    """A neighbour does not go on as the run did."""


class Recording(Chooser):
    """Lets a run take its course, and notes what is told on the way."""

    def __init__(self, number: int, n_arms: int, above: float | None = None) -> None:
        super().__init__(number, n_arms)
        self.natural, self.rounds = True, False
        self.tightens, self.above = above is not None, above or 0.0
        self.pushed: dict[SymbolicDraw, float] = {}
        self._sides = np.random.default_rng(number)
        self.told: list[Foreign] = []

    def tighten(self, lead: Term) -> None:
        """As far as noise that may take any value can do it: there a change that is not hidden shows."""
        if not self.tightens:
            return
        value = lead.value()
        for draw, weight in lead.noise.items():
            free = draw.origin is not None and draw.kind in _ANYWHERE and not draw.used
            if free and draw not in self.pushed and weight and math.isfinite(value):
                close = math.copysign(_CLOSE * weight, 1 if self._sides.random() < self.above else -1)
                self._push(draw, (close - value) / weight)
                return

    def _push(self, draw: SymbolicDraw, by: float) -> None:
        self.pushed[draw] = by
        draw.value += by

    def _note(self, value: Foreign) -> Foreign:
        self.told.append(value)
        return value

    def shown(self, term: Term) -> float:
        """As it is."""
        return float(self._note(term.value()))

    def compared(self, natural: bool) -> bool:
        """As it is."""
        return bool(self._note(natural))

    def leader(self, natural: int, rivals: Sequence[int]) -> int:
        """As it is."""
        return int(self._note(natural))

    def answer(self, natural: bool) -> bool:
        """As it is."""
        return bool(self._note(natural))

    def winner(self, natural: int, rivals: Sequence[int]) -> int:
        """As it is."""
        return int(self._note(natural))


class Repeating(Recording):
    """Tells what another run has told."""

    def __init__(self, other: Recording, n_arms: int) -> None:
        super().__init__(other.number, n_arms, other.above if other.tightens else None)
        self._pushes = {_place(draw): by for draw, by in other.pushed.items()}
        self._left = list(reversed(other.told))

    def tighten(self, lead: Term) -> None:
        """As it was."""
        for draw in lead.noise if self.tightens else ():
            by = None if draw.origin is None else self._pushes.pop(_place(draw), None)
            if by is not None:
                self._push(draw, by)

    def _next(self, kind: type) -> Foreign:
        if not self._left or type(self._left[-1]) is not kind:
            raise OtherPathError
        return self._left.pop()

    def shown(self, term: Term) -> float:
        """As it was."""
        return float(self._next(float))

    def compared(self, natural: bool) -> bool:
        """As it was."""
        return bool(self._next(bool))

    def leader(self, natural: int, rivals: Sequence[int]) -> int:
        """As it was."""
        return int(self._next(int))

    def answer(self, natural: bool) -> bool:
        """As it was: a coin that falls otherwise is no shift."""
        if self._next(bool) != natural:
            raise OtherPathError
        return natural

    def winner(self, natural: int, rivals: Sequence[int]) -> int:
        """As it was: so is an outcome."""
        if self._next(int) != natural:
            raise OtherPathError
        return natural

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to be told."""
        return not self._left


_UNITS = 4  # neighbours of a run
_TYPICAL, _LOW, _HIGH = None, 0, 1
# Runs: their data, and how often a comparison, made a close one, comes out as larger; None: as it is.
_LOOKS = ((_TYPICAL, None), (_TYPICAL, 0.5), (_LOW, 0.0), (_LOW, 1.0), (_HIGH, 0.0), (_HIGH, 1.0))
_APART = "a replay on plain code: {}"


def confirmed(program: Program, n_arms: int, found: PathFound, delta: float) -> PathFound:
    """What paths came to, once the judge has replayed some; without a bound if one does not hold."""
    if not math.isfinite(found.epsilon(delta)):
        return found
    try:
        epsilon = judged(certified(found.paths), delta)
    except InputError as reason:
        return replace(found, failure=Failure(str(reason)))

    def within(loss: float, squared: float) -> bool:
        return epsilon_of(loss, squared, delta) <= epsilon * (1 + _ROUNDED) + _ROUNDED

    scopes = scopes_of(program.function)

    def holds(path: Seen) -> bool:
        return judged(path.certificate, delta) <= epsilon * (1 + _ROUNDED) + _ROUNDED

    with kept(scopes):
        held, missing, wrong = _judged(program, n_arms, scopes, within, holds)
    return replace(
        found, failure=Failure(_APART.format(wrong)) if wrong else found.failure, replays=(held, missing)
    )


def _judged(
    program: Program,
    n_arms: int,
    scopes: Foreign,
    within: Callable[[float, float], bool],
    holds: Callable[[Seen], bool],
) -> tuple[int, int, str]:
    """How many neighbours of a few runs held, how many could not be replayed, and what did not hold."""
    held = missing = 0
    looks = [
        (program.values(_FIRST + run) if corner is None else program.corner(corner), above, _UNITS)
        for run, (corner, above) in enumerate(_LOOKS)
    ]
    for run, (values, above, units) in enumerate([*looks, *_doubted(program, n_arms, scopes)]):
        number = _FIRST + run
        chooser = Recording(number, n_arms, above)
        first = traced(program, values, number, chooser, scopes)
        pushes = {_place(draw): _move(draw, 0.0, by) for draw, by in chooser.pushed.items()}
        pushed = {key: move for key, move in pushes.items() if move is not None}
        if first.world.failure or len(pushed) < len(pushes):
            missing += 1
            continue
        around, seen = _around(scopes, number, first.drawn), Seen.of(first, chooser, values)
        if not holds(seen):
            return held, missing, "its path costs more than the bound"
        if run >= len(looks):
            alone = _replayed(
                program, Sides(values, values, number, {}, around, first.output, 1.0, pushed), within
            )
            if alone.tried and alone.wrong:
                return held, missing, alone.wrong
        for other in program.neighbours(values, run, units):
            proposed = _proposal(program, seen, other, n_arms, scopes)
            if proposed is None:
                missing += 1
                continue
            if proposed.wrong:
                return held, missing, proposed.wrong
            sides = Sides(
                values, other, number, proposed.moves, around, first.output, proposed.chance, pushed
            )
            found = _replayed(program, sides, proposed.capped(within))
            if found.tried and found.wrong:
                return held, missing, found.wrong
            held, missing = held + found.tried, missing + (not found.tried)
    return held, missing, ""


def _doubted(program: Program, n_arms: int, scopes: Foreign) -> Iterator[tuple[FloatArray, float, int]]:
    """Data on which what is asked of raw numbers comes out otherwise, as looks; none if nothing is asked."""
    if not all(map(math.isfinite, program.bounds)) or type(program) is not Program:
        return
    spent = 0

    def asked(values: FloatArray) -> Sequence[float] | None:
        nonlocal spent
        run = traced(program, values, _DOUBTED, Recording(_DOUBTED, n_arms), scopes)
        spent += run.world.events
        return None if run.world.failure or spent > _WORK else run.world.doubts[:_ASKED]

    ways = lines(program.shape, *program.bounds)
    yield from ((values, 0.5, 1) for values in doubtful(asked, ways))


def _replayed(program: Program, sides: Sides, within: Callable[[float, float], bool]) -> ReplayResult:
    def play(data: FloatArray, rng: np.random.Generator) -> Foreign:
        with limited(), reproducible_globals():
            return np.asarray(program.seen(program.function(data, rng)))

    try:
        return replayed(play, sides, within)
    except Exception as error:  # which the run that was traced has not raised
        return ReplayResult(f"a run ends with {type(error).__name__}")


def _around(scopes: Foreign, number: int, drawn: tuple[Foreign, ...]) -> Foreign:
    """The surroundings of plain runs that are compared with a traced one."""

    @contextmanager
    def around(make: Maker) -> Iterator[None]:
        with ExitStack() as stack:
            stack.enter_context(system_seeded(scopes, number, make))
            stack.enter_context(libraries.patched(libraries.Replayed(drawn)))
            yield

    return around


_TOGETHER = frozenset((Belief.PLACES, Belief.SUBSAMPLED, Belief.USERS))  # what stands for several groups


@dataclass(frozen=True)
class Seen:
    """A run that is replayed.

    Attributes
    ----------
    run, told, values
        The run, what was told on the way, and its data.
    groups
        What it has shown, by the draws that it shares, with the rows.
    certificate
        Of its path.
    patterns
        Where patterns stand there, by their frames and themselves.
    charged
        Units that pay for groups of theirs by a charge (`_TOGETHER`), with the patterns that they pay for
        besides.
    """

    run: TracedRun
    told: Recording
    values: FloatArray
    groups: tuple[tuple[SharedGroup, list[Row]], ...]
    certificate: TracedCertificate
    patterns: Mapping[tuple[Frame, Pattern], int]
    charged: Mapping[int, frozenset[int]]

    def place(self, unit: int | None, cost: Cost | None) -> int | None:
        """Where the pattern of a group stands that a unit pays for; None if a charge stands for it."""
        at = None if cost is None or cost.pattern is None else self.patterns.get(cost.pattern)
        besides = None if unit is None else self.charged.get(unit)
        return None if besides is not None and at not in besides else at

    @classmethod
    def of(cls, run: TracedRun, told: Recording, values: FloatArray) -> Seen:
        """Of a run without a failure."""
        made = certified((Path(told.number, costs_of(run.world)),))
        groups = groups_of(run.world.seen)
        places = {
            (made.frames[pattern.frame], structs.replace(pattern, frame=0)): i
            for i, pattern in enumerate(made.patterns)
        }
        shared = tuple((SharedGroup.of(group), rows_of(group)) for group in groups)
        profiles = {unit: made.profiles[at] for at, units in made.paths[0].units for unit in units}
        charged = {
            unit: frozenset(pattern for pattern, *_ in profile.groups)
            for unit, profile in profiles.items()
            if any(charge.what in _TOGETHER for charge in profile.charges)
        }
        return cls(run, told, values, shared, made, places, charged)


@dataclass(frozen=True)
class Proposal:
    """How far draws move for a neighbour.

    Attributes
    ----------
    moves
        The draws.
    chance
        That what changes counts.
    wrong
        Why the certificate does not say it; empty if it does.
    most
        What it may cost by the certificate of the path; None where no pattern stands for it.
    """

    moves: dict[Key, Move] = field(default_factory=dict)
    chance: float = 1.0
    wrong: str = ""
    most: Paid | None = None

    def capped(self, within: Callable[[float, float], bool]) -> Callable[[float, float], bool]:
        """Within the bound, and within what the certificate says of the unit."""
        most = self.most
        if most is None:
            return within

        def both(loss: float, squared: float) -> bool:
            own = _at_most(loss, most.loss) and _at_most(squared, most.squared)
            return own and within(loss, squared)

        return both


def _at_most(paid: float, most: float) -> bool:
    return paid <= most * (1 + _ROUNDED) + _ROUNDED


def _proposal(
    program: Program, seen: Seen, other: FloatArray, n_arms: int, scopes: Foreign
) -> Proposal | None:
    """How far draws move for a neighbour; None if that is not known.

    Where the neighbour draws more or less often, as a sampler does that turns down, shifts do not hide it.
    """
    first, told = seen.run, seen.told
    chooser = Repeating(told, n_arms)
    second = traced(program, other, told.number, chooser, scopes)
    if second.world.failure or not chooser.is_done or _states(first) != _states(second):
        return None
    if not alike(
        first.output, second.output
    ):  # what is told leaves something open, as within a piece of a law
        return None
    theirs = [rows_of(group) for group in groups_of(second.world.seen)]
    if [len(rows) for _, rows in seen.groups] != [len(rows) for rows in theirs]:
        return None
    chance = _chance([*zip(first.world.seen, second.world.seen, strict=True)])
    moved = _changes([rows for _, rows in seen.groups], theirs)
    if chance is None or moved is None:
        return None
    unit = program.replaced(seen.values, other)
    parts = {key for atom in moved for key in atom.moves if getattr(key, "unit", key) == unit}
    part = next(iter(parts)) if len(parts) == 1 else None
    draws: dict[Key, SymbolicDraw] = {}
    groups, open_ = list[MovedGroup](), list[tuple[list[Row], list[Row]]]()

    def move(key: Key, shift: float) -> Move | None:
        return _move(draws[key], shift, told.pushed.get(draws[key], 0.0))

    for (group, rows), neighbour in zip(seen.groups, theirs, strict=True):
        at = seen.place(unit, group.costs.get(part))
        if at is not None:
            keys = tuple(draw.origin.key if draw.origin else None for draw in group.draws)
            draws |= {key: draw for key, draw in zip(keys, group.draws, strict=True) if key is not None}
            deltas = _deltas(group.moved[part], rows, moved)
            if any(deltas):
                groups.append(MovedGroup(at, deltas, keys))
            continue
        open_.append((rows, neighbour))
    said = hidden(seen.certificate, unit, groups, move) if groups and unit is not None else Hiding()
    if said.wrong:
        return Proposal(wrong=said.wrong)
    every = [(rows, neighbour) for (_, rows), neighbour in zip(seen.groups, theirs, strict=True)]
    besides = _solved(open_ if said.moves is not None else every, told)
    if besides is None:
        return None
    return Proposal(besides | (said.moves or {}), chance, "", None if said.moves is None else said.most)


def _solved(groups: Sequence[tuple[Sequence[Row], Sequence[Row]]], told: Recording) -> dict[Key, Move] | None:
    """Moves that make up for how far rows have moved, where no certificate says them; None if none do."""
    found: dict[Key, Move] = {}
    for rows, neighbour in groups:
        shifts = _shifts(rows, neighbour)
        if shifts is None:
            return None
        for draw, shift in shifts.items():
            made = _move(draw, shift, told.pushed.get(draw, 0.0))
            if made is None or draw.origin is None:
                return None
            found[draw.origin.key] = made
    return found


def _changes(ours: Sequence[Sequence[Row]], theirs: Sequence[Sequence[Row]]) -> dict[Atom, float] | None:
    """How far each number moves that does; None where rows are made of other numbers."""
    found: dict[Atom, float] = {}
    for one, other in zip(ours, theirs, strict=True):
        for row, neighbour in zip(one, other, strict=True):
            if [*row.raw.values()] != [*neighbour.raw.values()]:
                return None
            for atom, changed in zip(row.raw, neighbour.raw, strict=True):
                if changed.value != atom.value:
                    found[atom] = changed.value - atom.value
    return found


def _deltas(
    moved: Sequence[tuple[Atom, MovedEntry]], rows: Sequence[Row], changes: Mapping[Atom, float]
) -> tuple[float, ...]:
    """How far the entries of a group move: one row has one, which is all that it moves by."""
    if len(rows) > 1:
        return tuple(changes.get(atom, 0.0) for atom, _ in moved)
    ((_, weight),) = moved[0][1].weights
    return (math.fsum(own * changes.get(atom, 0.0) for atom, own in rows[0].raw.items()) / weight,)


def _states(run: TracedRun) -> list[object]:
    """How far generators have come."""
    return [noted(state) for _, state in run.world.states()]


def _chance(pairs: Sequence[tuple[Foreign, Foreign]]) -> float | None:
    """The chance that what changes counts; None if it hangs on several coins."""
    coins = {
        part.source: part.chance
        for one, other in pairs
        for row, changed in zip(rows_of([one]), rows_of([other]), strict=True)
        for atom, neighbour in zip(row.raw, changed.raw, strict=False)
        if atom.value != neighbour.value
        for part in atom.moves
        if isinstance(part, Part)
    }
    return None if len(coins) > 1 else next(iter(coins.values()), 1.0)


def _value(raw: Mapping[Foreign, float]) -> float:
    return math.fsum(weight * atom.value for atom, weight in raw.items())


def _shifts(rows: Sequence[Row], others: Sequence[Row]) -> dict[SymbolicDraw, float] | None:
    """The cheapest shifts of draws that make up for how far sums of data have moved; None if none do."""
    if [row.relation for row in rows] != [row.relation for row in others]:
        return None
    gaps = np.array([_value(b.raw) - _value(a.raw) for a, b in zip(rows, others, strict=True)])
    sizes = np.array([max(1.0, abs(_value(row.raw))) for row in rows])
    gaps[np.abs(gaps) <= _STILL * sizes] = 0.0
    if not gaps.any():
        return {}
    draws = sorted({draw for row in rows for draw in row.noise if draw.origin is not None}, key=_place)
    matrix = np.array([[row.noise.get(draw, 0.0) for draw in draws] for row in rows])
    equal = np.array([row.relation == "=" for row in rows])
    if not draws or (not equal.any() and not (gaps < 0).any()):
        return {} if not equal.any() and not (gaps < 0).any() else None
    if all(draw.kind == "normal" for draw in draws):
        found = np.linalg.lstsq(matrix, -gaps, rcond=None)[0]
        missed = np.abs(matrix @ found + gaps)
        return None if (missed > _STILL * sizes).any() else _some(draws, found)
    return _cheapest(draws, matrix, equal, gaps)


def _cheapest(
    draws: Sequence[SymbolicDraw], matrix: Foreign, equal: Foreign, gaps: Foreign
) -> dict[SymbolicDraw, float] | None:
    from scipy.optimize import linprog

    prices = [
        (1.0, 1.0) if draw.kind == "normal" else laws.law_of(draw.kind, draw.step)[:2] for draw in draws
    ]
    columns, costs, owners = [], [], []
    for i, both in enumerate(prices):
        for sign, price in zip((1.0, -1.0), both, strict=True):
            if math.isfinite(price):
                columns.append(sign * matrix[:, i])
                costs.append(price)
                owners.append((i, sign))
    if not columns:
        return None
    left, above = np.array(columns).T, ~equal
    found = linprog(
        costs,
        A_ub=-left[above] if above.any() else None,
        b_ub=gaps[above] if above.any() else None,
        A_eq=left[equal] if equal.any() else None,
        b_eq=-gaps[equal] if equal.any() else None,
        integrality=[int(draws[i].kind == "geometric") for i, _ in owners],
        method="highs",
    )
    if found.status != 0:
        return None
    shifts = np.zeros(len(draws))
    for (i, sign), size in zip(owners, found.x, strict=True):
        shifts[i] += sign * size
    return _some(draws, shifts)


def _some(draws: Sequence[SymbolicDraw], shifts: Foreign) -> dict[SymbolicDraw, float]:
    return {draw: float(shift) for draw, shift in zip(draws, shifts, strict=True) if abs(shift) > 1e-12}


def _place(draw: SymbolicDraw) -> Key:
    assert draw.origin is not None
    return draw.origin.key


def _move(draw: SymbolicDraw, shift: float, pushed: float = 0.0) -> Move | None:
    """What becomes of the number behind a draw, that is pushed on both sides; None if that cannot be told."""
    origin = draw.origin
    if origin is None:
        return None
    if draw.kind == "geometric":
        shift = float(round(shift))
    if origin.through is None:
        return Move(shift * origin.scale, push=pushed * origin.scale)
    instead = _inverse(origin.through, origin.uniform, (pushed + shift) * origin.scale)
    return None if instead is None else Move(shift, instead, draw.kind, draw.step, pushed)


def _inverse(function: Callable[[Foreign], Foreign], uniform: float, by: float) -> float | None:
    """The number at which a monotone function is larger by so much than at another one; None if nowhere."""
    ends = 2.0**-60, 1.0 - 2.0**-53
    with np.errstate(all="ignore"):
        wanted = float(function(np.float64(uniform))) + by
        low, high = (float(function(np.float64(end))) for end in ends)
        sign = 1.0 if high > low else -1.0

        def first(strictly: bool) -> float:
            """Where the function reaches what is wanted, or exceeds it."""
            left, right = ends
            for _ in range(200):
                middle = left / 2 + right / 2
                gap = sign * (float(function(np.float64(middle))) - wanted)
                left, right = (left, middle) if gap > 0 or (gap == 0 and not strictly) else (middle, right)
            return right

        found = first(False) / 2 + first(True) / 2
        reached = float(function(np.float64(found)))
    near = abs(reached - wanted) <= 1e-6 * max(1.0, abs(wanted))
    return found if near else None
