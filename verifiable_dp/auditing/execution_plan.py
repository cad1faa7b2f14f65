"""What an audit of a user's code stands on: how many runs it may make, and how they may be made."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from verifiable_dp.auditing import independence
from verifiable_dp.auditing.independence import Sampling
from verifiable_dp.auditing.plans import LEAST_RUNS, ROWS, Allowance, Budget, Progress
from verifiable_dp.core import engine
from verifiable_dp.core.validate import Function, Given, InputError, Json
from verifiable_dp.evidence.tracing.foreign import GIVEN
from verifiable_dp.targets.far import draws_by_itself, exactly, is_process, there
from verifiable_dp.targets.probes import Probe
from verifiable_dp.targets.randomness import follower_of
from verifiable_dp.targets.seeds import origins_of


def _seconds(run: Callable[[int], object], most: int, patience: float) -> float:
    """Seconds that one run takes, the best of some calls that make at most `most` runs together.

    Slow code is called once or twice: what it loads or compiles at first, or a busy machine's first moments,
    are not counted if they last less than `patience` seconds.
    """
    count, made, best, start = 1, 0, math.inf, time.perf_counter()
    while True:
        begun = time.perf_counter()
        run(count)
        now, made = time.perf_counter(), made + count
        best, first = min(best, (now - begun) / count), best == math.inf
        if made + count > most or (now - start > 0.3 and not (first and now - start < patience)):
            return best
        count = min(4 * count if best < 0.02 else 1, most - made)


_EARLIER = "record: an earlier version of verifiable-dp wrote it; rerun it with that version"


class StageSizes:
    """Sizes of stages: computed once, kept in a checkpoint, noted for the record, which a rerun reads."""

    def __init__(self, pinned: Json | None) -> None:
        if pinned is not None and "sizes" not in pinned:
            raise InputError(_EARLIER)
        self._pinned = None if pinned is None else pinned["sizes"]
        self.capped = bool(pinned and pinned.get("capped"))
        self.found: dict[str, int] = {}
        self.prefix = ""

    def __call__(self, name: str, compute: Callable[[], int]) -> int:
        """The size of a stage: that of the record in a rerun, else as computed."""
        name = f"{self.prefix}{name}"
        if self._pinned is not None and name not in self._pinned:
            raise InputError(_EARLIER)
        size = int(engine.kept(f"size {name}", compute) if self._pinned is None else self._pinned[name])
        self.found[name] = size
        return size


def _allowance(
    size: Budget, kind: str, sizes: StageSizes, run: Callable[[int], object], progress: Progress
) -> Allowance:
    """How many runs the audit may make, said before they are made.

    Raises
    ------
    InputError
        If the cap on time leaves too few runs.
    """
    started, what = time.monotonic(), "draw" if kind.startswith("release") else "play"
    allowed = Allowance(0, math.inf)

    def compute() -> int:
        nonlocal allowed
        most, patience = max(2, min(64, size.runs // 20)) * ROWS[kind], min(max(2.0, size.seconds / 20), 15.0)
        allowed = Allowance.of(size, kind, _seconds(run, most, patience), started)
        about = duration(allowed.each * allowed.runs)
        if allowed.each * allowed.runs > 5:
            progress(
                f"one {what} takes {duration(allowed.each)}: this audit makes up to {allowed.runs}, "
                f"about {about} in total"
            )
        if allowed.runs < LEAST_RUNS:
            raise InputError(
                f"budget: one {what} takes {duration(allowed.each)}, so {size.seconds:g} seconds allow "
                f"only {allowed.runs}; an audit needs at least {LEAST_RUNS}, so give --budget "
                f"{math.ceil(LEAST_RUNS * allowed.each * 1.2)} or more"
            )
        return allowed.runs

    runs = sizes("runs", compute)
    capped = engine.kept("capped", lambda: allowed.capped)
    return allowed if allowed.runs else Allowance(runs, capped=capped)


def duration(seconds: float) -> str:
    """In words."""
    for unit, scale, least in (("h", 3600, 6000), ("min", 60, 100), ("s", 1, 0.1), ("ms", 1e-3, 1e-3)):
        if seconds >= least:
            return f"{seconds / scale:.2g} {unit}"
    return f"{seconds * 1e6:.2g} µs"


NO_POWER = "we could not measure power: "
ACCEPTED = "to accept an undecided audit, use expect=None in pytest or fail-on: refuted in CI"
NOT_GIVEN = (
    f"{NO_POWER}we measure it by reducing the noise of the generator that we pass to the code, but this code "
    "draws from a source that we cannot control, such as a clock; take all randomness from that generator; "
    f"{ACCEPTED}"
)
NOT_SCALED = f"{NO_POWER}the measurement needs noise_factor, which the process does not declare; {ACCEPTED}"
NOT_APART = f"{NO_POWER}a run depends on the one before it; {ACCEPTED}"
ROWS_DEPEND = (
    "runs of one call depend on each other, as if they shared a draw, so we made one call for each run"
)
OWN_RANDOMNESS = (
    "the program declares that it draws its noise from the system (own_randomness), so we did not compare "
    "its runs with those of fresh starts"
)

OTHER_LAW = (
    "runs have a different distribution if a call makes several, and we tested only calls for one run; give "
    "the function that makes one run (play or release_one), or give all runs of a call the same distribution"
)
UNLIKE = (
    "the results change if we reset the code's own generators for each run, as this audit does, so its "
    "draws depend on each other in an unknown way; draw from the generator that we pass"
)


@dataclass(frozen=True)
class Ground(Generic[Sampling]):
    """What an audit of a user's code may rely on.

    Attributes
    ----------
    sampler
        With one run a call where runs of one call depend on each other.
    parallel
        Whether workers may share the runs: only where nothing but the given generator decides them.
    notes
        For the record.
    no_power
        Why no power can be stated by scaling the noise; empty if it may be possible.
    draws
        Whether a run was seen to draw random numbers, be it that no two runs differ.
    carried
        Whether a run was seen to depend on the one before it.
    unlike
        Whether runs come out differently where the code's own generators are left as they are: then no upper
        bound is looked for, as paths replace them, too.
    law_of_calls
        Whether calls for several runs have another law than calls for one run, on which all else stands.
    followed
        Whether the code draws from elsewhere than the given generator.
    """

    sampler: Sampling
    parallel: bool = True
    notes: tuple[str, ...] = ()
    no_power: str = ""
    draws: bool = False
    carried: bool = False
    unlike: bool = False
    followed: bool = False
    law_of_calls: bool = False

    def doubts(self) -> list[str]:
        """Why what runs show does not speak for the claim, as far as that has shown."""
        return [
            *([UNLIKE] if self.unlike else []),
            *([OTHER_LAW] if self.law_of_calls else []),
            *(_doubts(self.sampler.function) if self.followed else []),
        ]

    def after(self, seen: Probe) -> Ground[Sampling]:
        """With what some runs have shown."""
        notes = tuple(dict.fromkeys([*self.notes, *seen.notes]))
        if seen.repeatable:
            return replace(self, notes=notes)
        # Each run a call of its own, so that runs of both inputs can take turns.
        sampler = self.sampler if self.sampler.together else replace(self.sampler, rows=1)
        return replace(
            self,
            sampler=sampler,
            parallel=False,
            notes=notes,
            no_power=self.no_power or (NOT_APART if seen.carried else NOT_GIVEN),
            carried=seen.carried,
        )


def grounded(
    sampler: Sampling,
    kind: str,
    size: Budget,
    sizes: StageSizes,
    run: Callable[[Sampling, int], object],
    inputs: Sequence[Given],
    progress: Progress,
) -> tuple[Allowance, Ground[Sampling]]:
    """How many runs may be made, and whether runs are independent of each other however they are made."""
    allowed = _allowance(size, kind, sizes, functools.partial(run, sampler), progress)
    fixed = "" if _scalable(sampler.function) else NOT_SCALED
    if is_process(sampler.function):
        notes_of = (OWN_RANDOMNESS,) if draws_by_itself(sampler.function) else ()
        return allowed, Ground(sampler, notes=notes_of, no_power=fixed)
    notes: list[str] = []
    apart = independence.CallLaw.ALIKE
    if sampler.together:
        progress("testing whether the runs of one call are independent")
        apart = independence.CallLaw(sizes("apart", lambda: int(independence.dependent(sampler, inputs))))
        if apart:
            notes.append(ROWS_DEPEND)
            sampler = replace(sampler, rows=1)
            single = "release_one" if kind == "release" else "play"
            sizes.prefix = "apart "
            allowed = _allowance(size, single, sizes, functools.partial(run, sampler), progress)
            sizes.prefix = ""
    law = apart == independence.CallLaw.OF_ANOTHER_LAW
    used = independence.used(sampler, inputs[0])
    others = [source for source in used if source != GIVEN]
    if _compiled(sampler.function):
        others.append("compiled code")
    if sizes("followed", lambda: int(bool(others))):
        notes.append(
            f"draws from {' and '.join(others)}, which we seed for each run; we assume that its seed is "
            "secret in production"
        )
        alone, sampler = sampler, replace(sampler, followed=True)
        return allowed, _followed(
            Ground(sampler, notes=tuple(notes), no_power=fixed, law_of_calls=law),
            alone,
            sizes,
            inputs,
            allowed,
        )
    return allowed, Ground(sampler, notes=tuple(notes), no_power=fixed, draws=bool(used), law_of_calls=law)


def _followed(
    ground: Ground[Sampling], alone: Sampling, sizes: StageSizes, inputs: Sequence[Given], allowed: Allowance
) -> Ground[Sampling]:
    """What code that draws from elsewhere stands on: are seeds secret, does it matter that it is followed?"""
    _follow(ground.sampler.function)
    runs = sizes("untouched", lambda: min(independence.UNTOUCHED, allowed.runs // 10))
    unlike = sizes("unlike", lambda: int(independence.unlike(alone, ground.sampler, inputs, runs)))
    allowed.spend(2 * runs)
    return replace(
        ground,
        draws=True,
        unlike=bool(unlike),
        # Draws that only some runs make are noticed in this process alone.
        parallel=ground.parallel and not _public(ground.sampler.function),
        followed=True,
    )


# ---------------------------------------------------------------- what is asked where the code is


@there(exactly(bool))
def _scalable(function: Function[object]) -> bool:
    """Whether its noise can be made smaller."""
    return bool(getattr(function, "scalable", True))


@there(exactly(bool))
def _compiled(function: Function[object]) -> bool:
    """Whether its modules have code that numba compiles."""
    return follower_of(function).compiled


@there(exactly(None))
def _follow(function: Function[object]) -> None:
    """Have its sources of randomness follow the generators of runs from now on."""
    follower_of(function).start(origins_of(function))


@there(exactly(bool))
def _public(function: Function[object]) -> bool:
    """Whether the seed of a source that it has was seen to be no secret."""
    return bool(follower_of(function).origins.known)


@there(exactly(list[str]))
def _doubts(function: Function[object]) -> list[str]:
    """See `randomness.Follower.doubts`."""
    return follower_of(function).doubts()
