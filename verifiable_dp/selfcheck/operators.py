"""Named operators that break an algorithm: each puts one fault into any algorithm of the framework's form.

An operator wraps an algorithm and changes what passes through its doors: the noise that a release draws
(`ChangedNoise`), the answers that a release gets (`ChangedAnswer`), what is asked of the rewards
(`ChangedAsk`), or when blocks end (`Overlapping`, `Driven`). It knows nothing of the algorithm but what a few
runs show (`Traits`), so that it applies to third parties' algorithms as to ours.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from verifiable_dp.core import plugins
from verifiable_dp.core.algorithm import Algorithm, Ask, Memory, Query, State, Truncated, play
from verifiable_dp.core.neighbours import AnyPair, TablePair
from verifiable_dp.core.noise import Draw, Noise, Recorder, Replayer, Seeded
from verifiable_dp.core.validate import FloatArray, InputError, IntArray
from verifiable_dp.evidence.alignment.replay import worlds
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.auditor import Mutant
from verifiable_dp.registry.wrapped import AlteredNoise, Wrapped

GROUP = "verifiable_dp.operators"
FAMILIES = ("scale", "law", "sharing", "answer", "truncation", "schedule")
_FAR = 50  # bits: slots of re-drawn noise lie beyond those of any mechanism
_RUNS = 4
_PAIRS = 4
_LAST = 3  # of four slots, the one that "skipped" leaves without noise

# ---------------------------------------------------------------- what an algorithm does


@dataclass(frozen=True)
class Traits:
    """What an algorithm asks of its source of noise, as a few runs on some neighbours show.

    Attributes
    ----------
    observe
        What the adversary of its claim sees.
    laplace, reports, hidden
        Whether it releases values, releases sums of reports, keeps noise to itself.
    width
        Most values that are released together.
    blocks
        Most blocks of a run that release something.
    entries
        Most released values that one reward was seen to enter.
    truncated
        Whether truncated sums are asked for.
    """

    observe: str
    laplace: bool
    reports: bool
    hidden: bool
    width: int
    blocks: int
    entries: int
    truncated: bool

    @property
    def visible(self) -> bool:
        """Whether all noise belongs to values that the adversary sees."""
        return not self.hidden and self.observe in ("releases", "reports")

    @property
    def shuffled(self) -> bool:
        """Whether reports reach the adversary in random order."""
        return self.observe == "shuffled"


@dataclass
class _Notes:
    """Passes noise on and notes what was asked for."""

    inner: Noise
    laplaces: int = 0
    summed: int = 0
    kept: int = 0
    width: int = 0
    blocks: int = 0
    truncated: bool = False

    def __call__(self, draw: Draw) -> FloatArray:
        asked = int(draw.where.any())
        if draw.hidden is not None:
            self.kept += asked
        else:
            self.width = max(self.width, int(draw.where.sum(axis=1).max(initial=0)))
            self.laplaces += asked * (draw.count is None)
            self.summed += asked * (draw.count is not None)
        return np.asarray(self.inner(draw))

    def block(self, position: IntArray, query: Query) -> None:
        """See `algorithm.Watch`."""
        self.blocks += bool(query.complete.any())
        self.truncated |= isinstance(query.ask, Truncated)


def neighbours(algorithm: Algorithm) -> list[AnyPair]:
    """The auditor's neighbours of an algorithm; without an auditor the first reward low against high."""
    found = registry.find(algorithm)
    if found is not None:
        return list(found.pairs(algorithm))[:_PAIRS]
    low, high = algorithm.search_bounds
    shape = (algorithm.horizon, algorithm.n_arms)
    levels = (low, (low + high) / 2, high)
    return [
        TablePair(np.full(shape, level), 0, 0, high if level < high else low, (low, high)) for level in levels
    ]


@functools.lru_cache(maxsize=256)
def traits(algorithm: Algorithm) -> Traits:
    """Play some runs and look on."""
    run = np.arange(_RUNS)
    notes = _Notes(Seeded(0))
    entries = 0
    blocks = 0
    for pair in neighbours(algorithm):
        left, right = worlds(pair, algorithm.n_arms, _RUNS)
        recorder = Recorder(Seeded(0))
        notes.inner, notes.blocks = recorder, 0
        play(algorithm, left, notes, run, keep=(), watch=notes)
        blocks = max(blocks, notes.blocks)
        tape = recorder.tape()
        again = Recorder(Replayer(tape, _RUNS))
        play(algorithm, right, again, run, keep=())
        entries = max(entries, _moved(tape.rows(), again.tape().rows()))
    claim = algorithm.claim
    return Traits(
        claim.observe if claim else "actions",
        notes.laplaces > 0,
        notes.summed > 0,
        notes.kept > 0,
        notes.width,
        blocks,
        entries,
        notes.truncated,
    )


def _moved(there: Sequence[dict[str, float]], here: Sequence[dict[str, float]]) -> int:
    """Most releases of a run whose exact values differ."""
    values = {(row["run"], row["slot"]): row["value"] for row in there}
    counts: dict[float, int] = {}
    for row in here:
        was = values.get((row["run"], row["slot"]), row["value"])
        if abs(was - row["value"]) > 1e-9:
            counts[row["run"]] = counts.get(row["run"], 0) + 1
    return max(counts.values(), default=0)


# ---------------------------------------------------------------- the operator


Number = Callable[[Traits], float | None]
Break = Callable[[Algorithm], Algorithm]


@dataclass(frozen=True)
class Operator:
    """A fault that can be put into algorithms.

    Parameters
    ----------
    name
        Short and unique.
    fault
        What is wrong with a mutant, in a sentence.
    family
        What is broken: ``scale``, ``law`` or ``sharing`` of the noise, the ``answer`` that gets noise, the
        ``truncation`` of rewards, or the ``schedule``.
    make
        Turns an algorithm into the broken one; parameters stay.
    fits
        `fits(traits)`: whether the fault changes anything in an algorithm of this kind.
    factor
        `factor(traits)`: what the fault multiplies the privacy loss of the worst inputs by, where that
        follows from the mechanism; None where it has to be measured. Infinite if exact data leak.

    Raises
    ------
    InputError
        If the family is unknown.
    """

    name: str
    fault: str
    family: str
    make: Break
    fits: Callable[[Traits], bool]
    factor: Number

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise InputError(f"family must be one of {', '.join(FAMILIES)}, got {self.family!r}")

    def applies(self, algorithm: Algorithm) -> bool:
        """Whether the fault changes what this algorithm does."""
        return algorithm.claim is not None and self.fits(traits(algorithm))

    def effect(self, algorithm: Algorithm, loss: float) -> float | None:
        """The mutant's true epsilon, if it follows from the algorithm's own largest `loss`; else None."""
        factor = self.factor(traits(algorithm))
        # Exact data leak whatever the algorithm loses by itself.
        return factor if factor is None or np.isinf(factor) else factor * loss

    def mutant(self) -> Mutant:
        """As an auditor lists its own."""
        return Mutant(self.name, self.fault, self.make)


def _noisy(found: Traits) -> bool:
    return found.laplace or found.reports or found.hidden


def _released(found: Traits) -> bool:
    """Values with noise of their own; of sums of reports every report would have to be broken."""
    return found.laplace and not found.shuffled


def _summed(found: Traits) -> bool:
    return (found.laplace or found.reports) and not found.shuffled


def _always(factor: float) -> Number:
    """The factor on every visible loss; hidden noise leaves it open unless it is infinite."""

    def known(found: Traits) -> float | None:
        return factor if found.visible or np.isinf(factor) else None

    return known


def _unknown(found: Traits) -> None:
    return None


# ---------------------------------------------------------------- noise


@dataclass(frozen=True)
class ChangedNoise(Wrapped):
    """An algorithm whose source of noise is changed on the way.

    Parameters
    ----------
    inner
        The algorithm.
    change
        `change(noise, state)` gives the source that its release gets.
    """

    change: Callable[[Noise, State], Noise]

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, with the changed noise."""
        return super().release(state, memory, query, answer, self.change(noise, state))


def _noise(change: Callable[[Noise, State], Noise]) -> Break:
    return lambda algorithm: ChangedNoise(algorithm, change)


def _asked(change: Callable[[Draw, State], Draw], *, hidden: bool = False) -> Break:
    """`change(draw, state)` of what is asked of the source; of noise that stays hidden only if `hidden`."""

    def changed(noise: Noise, state: State) -> Noise:
        return lambda draw: noise(change(draw, state) if hidden or draw.hidden is None else draw)

    return _noise(changed)


def _scaled(factor: Callable[[Draw, State], float | FloatArray], *, hidden: bool = False) -> Break:
    """Scales times `factor(draw, state)`, which broadcasts to (n, m)."""
    return _asked(lambda draw, state: replace(draw, scale=draw.scale * factor(draw, state)), hidden=hidden)


def _slots(reslot: Callable[[IntArray], IntArray]) -> Break:
    """Slots of visible draws (n, m) mapped to slots; equal slots share one draw."""
    return _asked(lambda draw, state: replace(draw, slot=reslot(draw.slot)))


def _not_largest(draw: Draw, state: State) -> FloatArray:
    """0 for the largest of the values that are released together, 1 for the others."""
    best = np.where(draw.where, draw.value, -np.inf).argmax(axis=1)
    return np.where(np.arange(draw.value.shape[1]) == best[:, None], 0.0, 1.0)


def averaged(draws: int, far: int = _FAR) -> Break:
    """The mean of `draws` fresh releases of each value, each with the noise of one."""

    def changed(noise: Noise, state: State) -> Noise:
        def source(draw: Draw) -> FloatArray:
            if draw.hidden is not None:
                return noise(draw)
            copies = [noise(replace(draw, slot=draw.slot + (number << far))) for number in range(draws)]
            return np.asarray(np.mean(copies, axis=0))

        return source

    return _noise(changed)


Reshape = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def _law(reshape: Reshape) -> Break:
    """What comes of Laplace noise is changed with the exact value at hand: `reshape(value, noise, scale)`.

    The law of the release is then another one; used for faults that make the loss infinite.
    """

    def changed(noise: Noise, state: State) -> Noise:
        def source(draw: Draw) -> FloatArray:
            out = noise(draw)
            if draw.hidden is not None or draw.count is not None:
                return out
            return np.where(draw.where, reshape(draw.value, out - draw.value, draw.scale), out)

        return source

    return _noise(changed)


def _one_sided(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    return np.asarray(value + np.abs(noise))


def _uniform(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    """Noise of the same variance, uniform on [-sqrt 6 b, sqrt 6 b]."""
    share = -np.expm1(-np.abs(noise) / np.where(scale > 0, scale, 1.0))
    return np.asarray(value + np.sign(noise) * share * np.sqrt(6) * scale)


def _normal(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    """Noise of the same variance, normal."""
    tail = 0.5 * np.exp(-np.abs(noise) / np.where(scale > 0, scale, 1.0))
    return np.asarray(value - np.sign(noise) * special.ndtri(tail) * np.sqrt(2) * scale)


def _single(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    """The sum in single precision, whose last bits tell the value."""
    return (value.astype(np.float32) + noise.astype(np.float32)).astype(np.float64)


def _coarse(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    grid = np.where(scale > 0, scale, 1.0) / 3
    return np.asarray(value + np.round(noise / grid) * grid)


def _signed(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    return np.where(value > 0, 1.0, -1.0) * np.abs(value + noise)


def _silent_zero(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
    return np.where(value == 0, 0.0, value + noise)


def _clipped(limit: float) -> Reshape:
    def reshape(value: FloatArray, noise: FloatArray, scale: FloatArray) -> FloatArray:
        return np.asarray(value + np.clip(noise, -limit * scale, limit * scale))

    return reshape


def _times(factor: float) -> Operator:
    return Operator(
        f"scale x{factor:g}",
        f"every noise value is {factor:g} times as large as the proof needs",
        "scale",
        lambda algorithm: AlteredNoise(algorithm, factor),
        _noisy,
        _always(1 / factor),
    )


def _redraw(draws: int) -> Operator:
    # The mean of m draws has tails with the slope m / b, up to a power of the distance.
    return Operator(
        f"re-drawn x{draws}",
        f"{draws} noisy copies of each value are averaged, each with the budget of one",
        "sharing",
        averaged(draws),
        _summed,
        _always(float(draws)),
    )


def _unsplit(share: Callable[[int], float]) -> Break:
    """Noise multiplied by `share(number of releases that a reward enters)`."""
    return lambda algorithm: AlteredNoise(algorithm, share(traits(algorithm).entries))


def _split(found: Traits) -> bool:
    return found.visible and found.entries > 1


def _scale_operators() -> list[Operator]:
    inf = _always(np.inf)
    return [
        *(_times(factor) for factor in (0.95, 0.9, 0.8, 0.75, 0.5, 0.25)),
        Operator(
            "no noise",
            "exact values are released and compared",
            "scale",
            lambda algorithm: AlteredNoise(algorithm, 0.0),
            _noisy,
            inf,
        ),
        Operator(
            "budget not split",
            "each release gets the whole budget, though a reward enters several",
            "scale",
            _unsplit(lambda entries: 1 / entries),
            _split,
            lambda found: float(found.entries),
        ),
        Operator(
            "off by one depth",
            "the budget is split among one release less than a reward enters",
            "scale",
            _unsplit(lambda entries: (entries - 1) / entries),
            _split,
            lambda found: found.entries / (found.entries - 1),
        ),
        Operator(
            "first block bare",
            "the first block is released without noise",
            "scale",
            _scaled(lambda draw, state: (state.t > 0)[:, None].astype(np.float64)),
            _noisy,
            lambda found: np.inf if found.visible or found.shuffled else None,
        ),
        Operator(
            "fading noise",
            "the noise of a block that starts at round t is divided by 1 + log2(1 + t)",
            "scale",
            _scaled(lambda draw, state: 1 / (1 + np.log2(1 + state.t))[:, None], hidden=True),
            lambda found: _noisy(found) and found.blocks > 1,
            _unknown,
        ),
        Operator(
            "skipped draws",
            "one in four draws is left out",
            "scale",
            _scaled(lambda draw, state: np.where(draw.slot % 4 == _LAST, 0.0, 1.0)),
            lambda found: found.width * found.blocks > 3 and (found.laplace or found.reports),
            _unknown,
        ),
        Operator(
            "largest value bare",
            "of the values that are released together the largest gets no noise",
            "scale",
            _scaled(_not_largest),
            lambda found: _summed(found) and found.width > 1,
            inf,
        ),
        Operator(
            "scale follows the data",
            "the scale of the noise grows with the exact value",
            "scale",
            _scaled(lambda draw, state: 1 + 0.1 * np.abs(draw.value)),
            lambda found: _summed(found) and found.visible,
            inf,
        ),
        *_hidden_operators(),
    ]


def _hidden_operators() -> list[Operator]:
    """Of noise that nobody sees: that of comparisons."""
    changes: list[tuple[str, str, Callable[[Draw, State], float]]] = [
        (
            "hidden noise x0.5",
            "the noise of comparisons is half as large as the proof needs",
            lambda draw, state: 0.5 if draw.hidden else 1.0,
        ),
        (
            "threshold noise omitted",
            "the threshold of the comparisons gets no noise",
            lambda draw, state: 0.0 if _of_threshold(draw) else 1.0,
        ),
        (
            "query noise omitted",
            "what is compared with the threshold gets no noise",
            lambda draw, state: float(not draw.hidden or _of_threshold(draw)),
        ),
    ]
    return [
        Operator(name, fault, "scale", _scaled(factor, hidden=True), lambda found: found.hidden, _unknown)
        for name, fault, factor in changes
    ]


_LAWS: tuple[tuple[str, str, Reshape], ...] = (
    ("one-sided noise", "only the absolute value of the noise is added", _one_sided),
    ("uniform noise", "noise of the right variance, but uniform", _uniform),
    ("normal noise", "noise of the right variance, but normal: no pure epsilon", _normal),
    ("clipped noise x3", "noise beyond three scales is cut off", _clipped(3.0)),
    ("clipped noise x8", "noise beyond eight scales, one draw in three thousand, is cut off", _clipped(8.0)),
    ("coarse noise", "the noise, not the release, is rounded to thirds of its scale", _coarse),
    ("float32", "value and noise are added in single precision: the last bits tell the value", _single),
    ("sign kept", "the release gets the sign of the exact value", _signed),
    ("zeros bare", "a sum of zero is released without noise", _silent_zero),
)


def _law_operators() -> list[Operator]:
    inf = _always(np.inf)
    return [Operator(name, fault, "law", _law(reshape), _released, inf) for name, fault, reshape in _LAWS]


def _sharing_operators() -> list[Operator]:
    return [
        Operator(
            "noise once per run",
            "all releases of a run share one draw",
            "sharing",
            _slots(lambda slot: 0 * slot),
            lambda found: _summed(found) and found.width * found.blocks > 1,
            _unknown,
        ),
        Operator(
            "shared by two",
            "draws with neighbouring numbers are one draw",
            "sharing",
            _slots(lambda slot: slot // 2),
            lambda found: _summed(found) and found.width * found.blocks > 1,
            _unknown,
        ),
        Operator(
            "shared in a block",
            "the values that are released together share one draw",
            "sharing",
            _slots(lambda slot: np.broadcast_to(slot[:, :1], slot.shape)),
            lambda found: _summed(found) and found.width > 1,
            _unknown,
        ),
        Operator(
            "shared between blocks",
            "every block draws the same noise again",
            "sharing",
            _slots(lambda slot: np.broadcast_to(np.arange(slot.shape[1]), slot.shape)),
            lambda found: _summed(found) and found.blocks > 1,
            _unknown,
        ),
        _redraw(2),
        _redraw(8),
        Operator(
            "seed reuse",
            "the generator is seeded anew for each run, so that every run draws the same noise",
            "sharing",
            _asked(lambda draw, state: replace(draw, run=0 * draw.run), hidden=True),
            lambda found: _noisy(found) and not found.shuffled,
            _always(np.inf),
        ),
    ]


def _of_threshold(draw: Draw) -> bool:
    """Whether it is hidden noise of which nothing comes by itself."""
    return draw.hidden is not None and draw.hidden.outcome is None


# ---------------------------------------------------------------- answers


@dataclass(frozen=True)
class ChangedAnswer(Wrapped):
    """An algorithm whose release gets changed answers: `change(answer, query)`."""

    change: Callable[[FloatArray, Query], FloatArray]

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, with the changed answer."""
        return super().release(state, memory, query, self.change(answer, query), noise)


@dataclass(frozen=True)
class Kept:
    """Private side of a run that keeps answers: the memory underneath, and one past answer of each shape."""

    inner: Memory
    past: tuple[FloatArray, ...] = ()

    def take(self, index: IntArray) -> Kept:
        """The rows `index`."""
        return Kept(self.inner.take(index), tuple(part[index] for part in self.past))

    def of(self, answer: FloatArray) -> FloatArray:
        """The past answer of this shape, zero at first."""
        alike = [part for part in self.past if part.shape == answer.shape]
        return alike[0] if alike else np.zeros_like(answer)

    def keep(self, inner: Memory, answer: FloatArray) -> Kept:
        """After another answer."""
        return Kept(inner, (*(part for part in self.past if part.shape != answer.shape), answer))


@dataclass(frozen=True)
class Lingering(Wrapped):
    """Rewards of earlier blocks enter later ones: all of them, or those of the block before alone."""

    everything: bool

    def private(self, run: IntArray) -> Memory:
        """Nothing kept."""
        return Kept(super().private(run))

    def release(
        self, state: State, memory: Kept, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, of more rewards."""
        more = answer + memory.of(answer)
        after, released = super().release(state, memory.inner, query, more, noise)
        return memory.keep(after, more if self.everything else answer), released


@dataclass(frozen=True)
class Cached(Wrapped):
    """A release is looked up by the exact value: what equals the value before is answered as that was."""

    def private(self, run: IntArray) -> Memory:
        """Nothing cached."""
        return Kept(super().private(run))

    def release(
        self, state: State, memory: Kept, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, unless it is in the cache."""
        values: list[FloatArray] = []

        def source(draw: Draw) -> FloatArray:
            if draw.hidden is None:
                values.append(draw.value)
            return noise(draw)

        after, released = super().release(state, memory.inner, query, answer, source)
        value = values[-1] if values else None
        if value is None or value.shape != released.shape:
            return Kept(after, memory.past), released
        if memory.past and memory.past[0].shape == value.shape:
            before, then = memory.past
            alike = (before == value) & ~np.isnan(then) & ~np.isnan(released)
            released = np.where(alike, then, released)
        return Kept(after, (value, released)), released


@dataclass(frozen=True)
class Logged(Wrapped):
    """The exact answers are published beside the releases."""

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Releases, and the exact answers in further columns."""
        after, released = super().release(state, memory, query, answer, noise)
        return after, np.column_stack([released, answer.reshape(len(answer), -1)])

    def decide(self, state: State, query: Query, released: FloatArray) -> State:
        """As the algorithm underneath, of its own columns."""
        further = int(np.prod(_size_of(query)))
        return super().decide(state, query, released[:, :-further])


def _size_of(query: Query) -> tuple[int, ...]:
    arms = query.active.shape[1]
    return (arms, 1 if query.ask is None else query.ask.size)


def _multiplied(factor: float) -> Operator:
    return Operator(
        f"sensitivity x{factor:g}",
        f"rewards are weighed {factor:g} times before the noise is added: the sensitivity is wrong",
        "answer",
        lambda algorithm: ChangedAnswer(algorithm, lambda answer, query: factor * answer),
        lambda found: _summed(found) or found.hidden,
        _always(factor),
    )


def _answer_operators() -> list[Operator]:
    return [
        *(_multiplied(factor) for factor in (1.1, 1.5, 2.0, 4.0)),
        Operator(
            "no forgetting",
            "the rewards of all earlier blocks enter each release",
            "answer",
            lambda algorithm: Lingering(algorithm, True),
            lambda found: (_summed(found) or found.hidden) and found.blocks > 1,
            _unknown,
        ),
        Operator(
            "late leak",
            "the rewards of a block enter its release and the next one",
            "answer",
            lambda algorithm: Lingering(algorithm, False),
            lambda found: (_summed(found) or found.hidden) and found.blocks > 1,
            _unknown,
        ),
        Operator(
            "cached releases",
            "a value that equals the one before is answered with the release of that",
            "answer",
            Cached,
            lambda found: _summed(found) and found.visible and found.blocks > 1,
            _unknown,
        ),
        Operator(
            "exact log",
            "exact answers are published beside the releases",
            "answer",
            Logged,
            lambda found: _summed(found) and found.visible,
            _always(np.inf),
        ),
    ]


# ---------------------------------------------------------------- truncation


@dataclass(frozen=True)
class ChangedAsk(Wrapped):
    """An algorithm that asks something else of its rewards where it asks for truncated sums.

    Parameters
    ----------
    inner
        The algorithm.
    ask
        `ask(truncated)` gives what is asked instead; None for the plain sum.
    after
        `after(answer, query)` changes the answer, `query` being that of the algorithm underneath.
    """

    ask: Callable[[Truncated], Ask | None]
    after: Callable[[FloatArray, Query], FloatArray] | None = None

    def query(self, state: State) -> Query:
        """As the algorithm underneath, asking something else."""
        query = super().query(state)
        return replace(query, ask=self.ask(query.ask)) if isinstance(query.ask, Truncated) else query

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, of the changed answer."""
        own = super().query(state)
        if self.after is not None and isinstance(own.ask, Truncated):
            answer = self.after(answer, own)
        return super().release(state, memory, own, answer, noise)


@dataclass(frozen=True)
class OutsideNoise(Truncated):
    """Sums of x - centre over the rewards with abs(x - centre) > limit: the wrong side."""

    def values(self, rewards: FloatArray, row: IntArray, arm: IntArray) -> FloatArray:
        """See `Ask.values`."""
        moved = rewards - self.centre[row, arm]
        return np.where(np.abs(moved) > self.limit[row, arm], moved, 0.0)


@dataclass(frozen=True)
class AllButLast(Truncated):
    """As `Truncated`, but for the last reward of an arm in the block, which is not truncated."""

    def values(self, rewards: FloatArray, row: IntArray, arm: IntArray) -> FloatArray:
        """See `Ask.values`; all rewards are of one arm, or each is of its own row."""
        inside = super().values(rewards, row, arm)
        last = np.append(row[1:] != row[:-1], True) if len(row) else np.zeros(0, bool)
        return np.where(last, rewards - self.centre[row, arm], inside)


@dataclass(frozen=True)
class Upper(Truncated):
    """Sums of x - centre over the rewards with x - centre <= limit: the lower side is forgotten."""

    def values(self, rewards: FloatArray, row: IntArray, arm: IntArray) -> FloatArray:
        """See `Ask.values`."""
        moved = rewards - self.centre[row, arm]
        return np.where(moved <= self.limit[row, arm], moved, 0.0)


def _clip_sum(answer: FloatArray, query: Query) -> FloatArray:
    """The sum clipped at as many limits as there were rewards."""
    assert isinstance(query.ask, Truncated)
    most = query.ask.limit * np.maximum(query.pulls(), 1)
    return np.clip(answer, -most, most)


def _ask(
    ask: Callable[[Truncated], Ask | None], after: Callable[[FloatArray, Query], FloatArray] | None = None
) -> Break:
    return lambda algorithm: ChangedAsk(algorithm, ask, after)


def _truncates(found: Traits) -> bool:
    return found.truncated and not found.shuffled


def _truncation_operators() -> list[Operator]:
    return [
        Operator(
            "truncation left out",
            "rewards are added up as they are, whatever their size",
            "truncation",
            _ask(lambda ask: None),
            _truncates,
            _always(np.inf),
        ),
        Operator(
            "clipped after summing",
            "the sum of n rewards is clipped at n limits instead of each reward at one",
            "truncation",
            _ask(lambda ask: None, _clip_sum),
            lambda found: _truncates(found),
            _unknown,
        ),
        Operator(
            "wrong truncation side",
            "rewards within the limit are left out, those beyond are added up",
            "truncation",
            _ask(lambda ask: OutsideNoise(ask.limit, ask.centre)),
            _truncates,
            _always(np.inf),
        ),
        Operator(
            "lower side not truncated",
            "only large rewards are truncated, not those far below",
            "truncation",
            _ask(lambda ask: Upper(ask.limit, ask.centre)),
            _truncates,
            _always(np.inf),
        ),
        Operator(
            "last reward not truncated",
            "the last reward of an arm in a block is added as it is",
            "truncation",
            _ask(lambda ask: AllButLast(ask.limit, ask.centre)),
            _truncates,
            _always(np.inf),
        ),
        Operator(
            "limit x2",
            "rewards are truncated at twice the limit that the noise is made for",
            "truncation",
            _ask(lambda ask: Truncated(2 * ask.limit, ask.centre)),
            _truncates,
            _always(2.0),
        ),
    ]


# ---------------------------------------------------------------- schedule


@dataclass(frozen=True)
class Overlapping(Wrapped):
    """Blocks reach into the next one by a sweep of the arms: those rewards enter twice."""

    def query(self, state: State) -> Query:
        """The block, and the first rounds of the next one."""
        query = super().query(state)
        further = np.where(query.rounds > 0, np.maximum(query.active.sum(axis=1), 1), 0)
        further = np.minimum(further, np.maximum(self.horizon - query.start - query.rounds, 0))
        counts = query.counts
        if counts is not None:  # the arms follow one another, and the last one goes on
            last = query.active.shape[1] - 1 - query.active[:, ::-1].argmax(axis=1)
            counts = counts + further[:, None] * (np.arange(query.active.shape[1]) == last[:, None])
        return replace(query, rounds=query.rounds + further, counts=counts)

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, which takes the answer for that of its own block."""
        return super().release(state, memory, super().query(state), answer, noise)

    def decide(self, state: State, query: Query, released: FloatArray) -> State:
        """As the algorithm underneath: the next block starts where it should."""
        return super().decide(state, super().query(state), released)


@dataclass(frozen=True)
class Driven(Wrapped):
    """Exact answers reach the schedule, as a further public column: a run ends, or skips a round.

    Parameters
    ----------
    inner
        The algorithm.
    stops
        Whether the run ends where an exact answer lies high; else it skips a round there.
    """

    stops: bool

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Releases, and whether an exact answer lies in the upper half of its range."""
        after, released = super().release(state, memory, query, answer, noise)
        low, high = self.search_bounds
        sums = answer.reshape(len(answer), self.n_arms, -1)[:, :, 0]
        middle = query.pulls() * (low + high) / 2
        return after, np.column_stack([released, (sums > middle).any(axis=1)])

    def decide(self, state: State, query: Query, released: FloatArray) -> State:
        """As the algorithm underneath, then on to another round where the column says so."""
        after = super().decide(state, query, released[:, :-1])
        # Index policies go through the first K rounds together.
        further = (released[:, -1] > 0) & (after.t >= self.n_arms)
        moved = np.minimum(after.t + (self.horizon if self.stops else 1), self.horizon)
        return replace(after, t=np.where(further, np.maximum(moved, after.t), after.t))


def _schedule_operators() -> list[Operator]:
    return [
        Operator(
            "early peek",
            "a block also reads the first rounds of the next one, which reads them again",
            "schedule",
            Overlapping,
            lambda found: (_summed(found) or found.hidden) and found.blocks > 1,
            _unknown,
        ),
        Operator(
            "data-dependent batch length",
            "a round is skipped after a block whose exact sum lies in the upper half of its range",
            "schedule",
            lambda algorithm: Driven(algorithm, False),
            lambda found: not found.shuffled,
            _always(np.inf),
        ),
        Operator(
            "early stop",
            "the run ends after a block whose exact sum lies in the upper half of its range",
            "schedule",
            lambda algorithm: Driven(algorithm, True),
            lambda found: not found.shuffled,
            _always(np.inf),
        ),
    ]


@functools.cache
def operators() -> tuple[Operator, ...]:
    """All operators, by family: ours, and those that other packages register."""
    found = [
        *_scale_operators(),
        *_law_operators(),
        *_sharing_operators(),
        *_answer_operators(),
        *_truncation_operators(),
        *_schedule_operators(),
        *(plugins.registered(GROUP, name, Operator) for name in plugins.names(GROUP)),
    ]
    for name, times in Counter(operator.name for operator in found).items():
        if times > 1:
            raise InputError(f"operator: {name!r} is registered {times} times; names must be distinct")
    return tuple(sorted(found, key=lambda operator: FAMILIES.index(operator.family)))


def operator(name: str) -> Operator:
    """The operator of that name.

    Raises
    ------
    InputError
        If there is none.
    """
    known = {each.name: each for each in operators()}
    if name not in known:
        raise InputError(f"operator: unknown name {name!r}, known are {', '.join(known)}")
    return known[name]
