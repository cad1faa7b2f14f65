"""Record one run of a user's bandit, replay it on the neighbour with the same releases, read off the loss."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np

from verifiable_dp.core.limits import limited
from verifiable_dp.core.validate import FloatArray, Foreign, Function
from verifiable_dp.evidence.tracing.arrays import Raw, base, is_tracked, tainted
from verifiable_dp.evidence.tracing.flow import returns_of
from verifiable_dp.evidence.tracing.foreign import global_states, reproducible_globals, watched_calls
from verifiable_dp.evidence.tracing.generator import TrackedGenerator
from verifiable_dp.evidence.tracing.ledger import (
    SAME,
    Chosen,
    DivergedError,
    Lead,
    Ledger,
    Note,
    NoteKind,
    Place,
    Release,
    ReplayEnd,
    Told,
    in_order,
    same,
    same_answer,
)
from verifiable_dp.evidence.tracing.reach import functions_of, scopes_of
from verifiable_dp.evidence.tracing.standin import standing_in

SHARED = "one draw is added to sums that change by different amounts, so their difference is exact"
HALF = "half of a two-sided draw is used again"
CHANCES = "draws that are compared with probabilities from raw data are also used for something else"
COINS = "coins that decide whether an answer is true are also used for something else"
OTHER = "the draws returned differ from those on the neighbouring input"
Flipped = tuple[tuple[Place, float], ...]  # coins that were turned, with the cost of each


@dataclass(frozen=True)
class Run:
    """One traced run.

    Attributes
    ----------
    ledger
        What it wrote down.
    output
        What it returned, plain; None if it failed.
    failure
        Why it could not be traced to its end; None if it was.
    """

    ledger: Ledger
    output: Foreign
    failure: ReplayEnd | None = None


def _plain_output(values: Foreign) -> Foreign:
    """Numbers and lists without tracking."""
    if isinstance(values, list | tuple):
        return [_plain_output(v) for v in values]
    return base(values) if is_tracked(values) else values


def _failed(error: Exception, files: frozenset[str]) -> ReplayEnd:
    """The error in one line, with the innermost line of the traced code."""
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    place = Place(lines[-1].filename, lines[-1].lineno or 0) if lines else None
    words = (str(error).strip().splitlines() or [""])[0]
    return ReplayEnd(f"{type(error).__name__}: {words}".rstrip(": "), place)


def _start_of(function: Foreign) -> Place:
    """The line on which its code begins."""
    code = next((found.__code__ for found in functions_of(function)), None)
    return Place(code.co_filename, code.co_firstlineno) if code else Place("", 0)


def _return_of(function: Foreign) -> Place:
    """The last line that returns something."""
    places = returns_of(functions_of(function)[:1])
    return places[-1] if places else Place("", 0)


def run(
    function: Function[Foreign],
    rewards: FloatArray,
    bits: np.random.BitGenerator,
    ledger: Ledger,
    scopes: Mapping[str, dict[str, object]] | None = None,
    *,
    watch: bool = False,
) -> Run:
    """Call `function(rewards, rng)` with tracked rewards and a tracked generator.

    Parameters
    ----------
    function
        `play(rewards, rng) -> actions`.
    rewards : (T, K) float
        What it is given.
    bits
        A bit generator.
    ledger
        What happens is written there.
    scopes
        Globals of the traced code, see `standin.scopes_of`; looked up if None.
    watch
        Whether to note calls of libraries to which raw rewards are given, which takes time.
    """
    raw = Raw.of(rewards, ledger)
    raw.given = True
    generator = TrackedGenerator.of(bits, ledger)
    scopes = scopes_of(function) if scopes is None else scopes
    with reproducible_globals():
        states = global_states()
        try:
            with limited(), standing_in(scopes, ledger), watched_calls(ledger) if watch else nullcontext():
                returned = function(raw, generator)
            output = np.asarray(_plain_output(returned))
        except DivergedError as error:
            return Run(ledger, None, error.ended)
        except Exception as error:  # whatever the traced code or a library it calls does not take
            return Run(ledger, None, _failed(error, ledger.files))
        if states != global_states() and not ledger.notes:
            words = "draws from a process-wide generator, so we cannot reproduce the draws from the seed"
            ledger.notes.setdefault(Note(NoteKind.UNREPEATABLE, words), _start_of(function))
    if tainted(returned):
        place = getattr(returned, "place", None) or _return_of(function)
        ledger.leads.setdefault(("output", place), Lead("output", place, 1, len(ledger.leads)))
    return Run(ledger, output)


@dataclass(frozen=True)
class Loss:
    """What one transcript gives away.

    Attributes
    ----------
    total
        Log-likelihood ratio of the releases, recorded input over its neighbour; inf if the replay could not
        follow.
    bound
        The most that these releases could give away, whatever their noise; inf where it has no bound.
    rho
        Cost in zero-concentrated differential privacy if all noise is normal; else inf where data moved.
    each
        Loss, bound and rho of each release, (n, 3).
    divergence
        Why the replay left the recorded run; None if it did not.
    same_output
        Whether both runs returned the same.
    """

    total: float
    bound: float
    rho: float
    each: FloatArray
    divergence: ReplayEnd | None
    same_output: bool


@dataclass(frozen=True)
class Traced:
    """A recorded run and its replay.

    Attributes
    ----------
    here, there, loss, leads
        Recorded run, replay, what it gives away, and the leads of both.
    flipped
        Coin comparisons that the replay answered the other way round to follow, as (place, cost).
    moved
        Leads, as (what, place), whose answers differed between the two runs.
    """

    here: Run
    there: Run
    loss: Loss
    leads: list[Lead] = field(default_factory=list)
    flipped: Flipped = ()
    moved: frozenset[tuple[str, Place]] = frozenset()

    @property
    def coins(self) -> Mapping[str, int]:
        """Kinds of coins that were tossed, with their number."""
        kinds = [coin.kind for coin in self.here.ledger.coins]
        return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}


def _loss(here: Run, there: Run, flipped: Flipped = ()) -> Loss:
    known: dict[int, float] = {}
    rows = []
    divergence = there.failure
    seen = here.ledger.seen | there.ledger.seen
    for a, b in zip(here.ledger.releases, there.ledger.releases, strict=False):
        if isinstance(a, Chosen) or isinstance(b, Chosen):
            loss, bound, wrong = _of_outcome(a, b, seen)  # type: ignore[arg-type]
            rho = math.inf if bound > 0 else 0.0
        elif isinstance(a, Told) or isinstance(b, Told):
            loss, bound, wrong = _of_told(a, b, seen)  # type: ignore[arg-type]
            rho = math.inf if bound > 0 else 0.0
        else:
            loss, bound, rho, wrong = _of_release(a, b, known)
        if wrong and not divergence:
            divergence = ReplayEnd(wrong, a.place)
        rows.append((loss, bound, rho))
    missing = len(here.ledger.releases) - len(there.ledger.releases)
    if missing > 0 and not divergence:
        divergence = ReplayEnd(f"{missing} fewer releases than on the neighbouring input")
    each = np.array(rows, dtype=np.float64).reshape(-1, 3)
    equal = not divergence and same(here.output, there.output)
    extra = sum(cost for _, cost in flipped)
    total, bound = (math.inf,) * 2 if divergence else (float(each[:, i].sum()) + extra for i in (0, 1))
    rho = math.inf if extra else float(each[:, 2].sum())
    return Loss(total, bound, rho, each, divergence, equal)


def _of_outcome(a: Chosen, b: Chosen, seen: set[int]) -> tuple[float, float, str]:
    """Loss and bound of outcomes drawn with raw chances, and what is wrong with draws that are seen, too."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(a.chances == b.chances, 0.0, np.log(a.chances) - np.log(b.chances))
    drawn = ratios[np.arange(len(ratios)), a.outcome]
    known = ratios.any() and not seen.isdisjoint(a.draws.tolist())
    wrong = CHANCES if known else ""
    return float(drawn.sum()), float(np.abs(ratios).max(axis=1).sum()), wrong


def _of_told(a: Told, b: Told, seen: set[int]) -> tuple[float, float, str]:
    """Loss and bound of bits that were told by coins, and what is wrong with coins that are seen, too."""
    turned = a.truth != b.truth
    chances = np.where(a.truth, a.flips.chances, 1 - a.flips.chances)[turned]
    with np.errstate(divide="ignore"):
        terms = np.log(chances) - np.log1p(-chances)
    known = not seen.isdisjoint(a.flips.draws[turned].tolist())
    wrong = COINS if known else ""
    return float(terms.sum()), float(np.abs(terms).sum()), wrong


def _shift(here: FloatArray, there: FloatArray) -> FloatArray:
    """How far exact parts move, (m,): infinitely where only one is NaN or infinite, which no noise hides."""
    with np.errstate(invalid="ignore"):
        moved = there - here
    alike = (here == there) | (np.isnan(here) & np.isnan(there))
    return np.asarray(np.where(alike, 0.0, np.where(np.isnan(moved), np.inf, moved)))


def _of_release(a: Release, b: Release, known: dict[int, float]) -> tuple[float, float, float, str]:
    """Loss, bound and rho of one release; and what is wrong with a draw that is used again."""
    shift, spread = _shift(a.exact, b.exact), a.law.spread
    draws, wrong, fresh = a.draws.tolist(), "", np.ones(len(shift), bool)
    still = not shift.any() and np.array_equal(spread, b.law.spread)
    # What has to be added to a draw for the same release: one number for each draw, wherever it is used.
    with np.errstate(invalid="ignore", divide="ignore"):
        moves = ([0.0] * len(draws)) if still else (shift / a.law.factor).tolist()
        sizes = np.abs(a.out / a.law.factor).tolist()
    # What a draw has to move by is known where the replay gives out the same draw, entry by entry.
    alike = a.draws == b.draws
    for i, draw in enumerate(draws):
        before = known.get(draw)
        if before is None:
            if alike[i]:
                known[draw] = moves[i]
        else:
            fresh[i] = False
            if abs(moves[i] - before) > SAME * (1 + abs(before) + sizes[i]):
                wrong = SHARED if alike[i] else OTHER
    if still:
        return 0.0, 0.0, 0.0, wrong
    if (a.spoilt or b.spoilt) and shift.any():
        wrong = HALF
    with np.errstate(invalid="ignore", divide="ignore"):
        terms = a.law.log_density(a.out - a.exact) - b.law.log_density(b.out - b.exact)
    # The noise moves by what the exact part moves: to the last bit nothing where that is nothing.
    terms = np.where(np.isnan(terms) | ((shift == 0) & (spread == b.law.spread)), 0.0, terms)
    terms = np.where(np.isinf(shift), np.inf, terms)
    scales = np.abs(spread - b.law.spread) > SAME * np.maximum(spread, b.law.spread)
    # The loss of this release is exact: a bound below it would be none.
    bounds = np.maximum(np.where(scales, np.inf, a.law.most(shift)), np.abs(terms))
    normal = a.law.kind == "normal"
    rhos = a.law.concentrated(shift) if normal else np.where(shift == 0, 0.0, np.inf)
    rhos = np.where(scales, np.inf, rhos)
    return float(terms[fresh].sum()), float(bounds[fresh].sum()), float(rhos[fresh].sum()), wrong


def _moved(here: Ledger, there: Ledger) -> tuple[frozenset[tuple[str, Place]], list[int]]:
    """Leads whose answers differ, and the coins nearest to the first such answer."""
    answers: dict[tuple[str, Place], list[list[object]]] = {}
    for world, ledger in enumerate((here, there)):
        for decision in ledger.decided:
            answers.setdefault((decision.what, decision.place), [[], []])[world].append(decision.outcome)
    moved = {
        key
        for key, (left, right) in answers.items()
        if len(left) != len(right) or not all(same_answer(x, y) for x, y in zip(left, right, strict=True))
    }
    for a, b in zip(here.decided, there.decided, strict=False):
        if (a.what, a.place) != (b.what, b.place):
            break
        if not same_answer(a.outcome, b.outcome):
            return frozenset(moved), [a.compared, a.compared - 1]
    return frozenset(moved), []


def _same_coins(here: Ledger, there: Ledger) -> bool:
    """Whether the same coins were tossed, and the same comparisons made of them."""
    return (
        here.compared == there.compared
        and len(here.coins) == len(there.coins)
        and all(
            (a.kind, a.place) == (b.kind, b.place) and (a.value is b.value or same(a.value, b.value))
            for a, b in zip(here.coins, there.coins, strict=True)
        )
    )


def trace(
    function: Function[Foreign],
    left: FloatArray,
    right: FloatArray,
    bits: Callable[[], np.random.BitGenerator],
    files: frozenset[str],
    scopes: Mapping[str, dict[str, object]] | None = None,
    *,
    watch: bool = False,
) -> Traced:
    """Record on `left`, replay on `right`.

    Parameters
    ----------
    function
        `play(rewards, rng) -> actions`.
    left, right : (T, K) float
        Neighbouring rewards.
    bits
        Makes the bit generator, the same each time.
    files
        Files whose lines are named in leads.
    scopes, watch
        See `run`.
    """
    scopes = scopes_of(function) if scopes is None else scopes
    files = files | frozenset(scopes)
    here = run(function, left, bits(), Ledger(files), scopes, watch=watch)
    there = run(function, right, bits(), Ledger(files, here.ledger), scopes)
    moved, near = _moved(here.ledger, there.ledger)
    flipped: Flipped = ()
    loss = _loss(here, there)
    if not here.failure and not loss.divergence and not _same_coins(here.ledger, there.ledger):
        loss = _replaced(loss, ReplayEnd("the coins tossed differ from those on the neighbouring input"))
    for coin in near if not loss.same_output else ():
        aligned = _flipped(function, right, bits, here, coin, files, scopes)
        if aligned is not None:
            there, loss, flipped = aligned
            break
    leads = {**there.ledger.leads, **here.ledger.leads}
    return Traced(here, there, loss, in_order(leads.values()), flipped, moved)


def _replaced(loss: Loss, divergence: ReplayEnd) -> Loss:
    return Loss(math.inf, math.inf, math.inf, loss.each, divergence, False)


def _flipped(
    function: Function[Foreign],
    right: FloatArray,
    bits: Callable[[], np.random.BitGenerator],
    here: Run,
    coin: int,
    files: frozenset[str],
    scopes: Mapping[str, dict[str, object]],
) -> tuple[Run, Loss, Flipped] | None:
    """The replay with one coin turned, if it follows the recorded run then: randomised response."""
    if not 0 <= coin < len(here.ledger.compared):
        return None
    place, chance = here.ledger.compared[coin]
    if not 0 < chance < 1:
        return None
    flipped = ((place, abs(math.log(chance) - math.log1p(-chance))),)
    there = run(function, right, bits(), Ledger(files, here.ledger, frozenset((coin,))), scopes)
    loss = _loss(here, there, flipped)
    follows = loss.same_output and _same_coins(here.ledger, there.ledger)
    return (there, loss, flipped) if follows else None
