"""Live sessions: exact values meet noise in the source alone; neighbouring values have the same outputs."""

import ast
import math
import sys
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from verifiable_dp import make
from verifiable_dp.core import session as sessions
from verifiable_dp.core import turns
from verifiable_dp.core.algorithm import Algorithm, NoMemory, Query, State, Truncated
from verifiable_dp.core.environments import Table
from verifiable_dp.core.mechanisms import AboveThreshold, tree
from verifiable_dp.core.noise import Draw, Hidden, Secure, Seeded, altered, enlarged, grid, rounding
from verifiable_dp.core.validate import InputError
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import Wrapped

ROOT = Path(__file__).parents[2]
RUN = np.zeros(1, np.int64)


def small(name, **other):
    auditor = registry.auditor(name)
    return auditor.algorithm(**{**auditor.instance, **auditor.small, **other})


# Secure noise is Laplace noise: promises of rho, which need normal noise, have no live session with it.
PROMISES = {name: small(name).claim for name in registry.names()}
PRIVATE = [name for name, claim in PROMISES.items() if claim is not None and not claim.curved]
RAW = {"moments": "raw", "contamination": 0.0}  # the other half of dp-robust-elimination
LIVE = [*((name, {}) for name in PRIVATE), ("dp-robust-elimination", RAW)]


# ---------------------------------------------------------------- who adds noise to what


class Tagged(np.ndarray):
    """Knows whether it was computed from exact values or from noise; refuses both at once."""

    def __array_finalize__(self, other):
        self.tags = getattr(other, "tags", frozenset())

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **others):
        given = (*inputs, *(out or ()), *others.values())
        plain = {**others, **({"out": tuple(map(stripped, out))} if out else {})}
        return marked(getattr(ufunc, method)(*map(stripped, inputs), **plain), met(given))

    def __array_function__(self, function, types, args, others):
        return marked(
            function(*map(stripped, args), **{k: stripped(v) for k, v in others.items()}), met(args)
        )


class Met(Exception):
    """An exact value has met noise outside the source."""


def met(values):
    """Tags of all values together."""
    found = frozenset()
    for value in values:
        found |= met(value) if isinstance(value, tuple | list) else getattr(value, "tags", frozenset())
    if len(found) > 1:
        raise Met
    return found


def stripped(value):
    if isinstance(value, tuple | list):
        return type(value)(map(stripped, value))
    return value.view(np.ndarray) if isinstance(value, Tagged) else value


def marked(value, tags):
    if isinstance(value, tuple | list):
        return type(value)(marked(part, tags) for part in value)
    if not isinstance(value, np.ndarray | np.generic):
        return value
    view = np.array(value).view(Tagged)
    view.tags = frozenset(tags)
    return view


def tags(value):
    return getattr(value, "tags", frozenset())


def with_floats(record, change):
    """A memory with its arrays of floats changed; those of whole numbers count what is public."""
    parts = {f.name: getattr(record, f.name) for f in fields(record)}
    return replace(record, **{k: change(v) for k, v in parts.items() if v.dtype.kind == "f"})


def followed(algorithm, monkeypatch, seed=0):
    """Play a run with exact values and noise marked; the number of values that were drawn."""
    compiled, drawn = tree._close_nodes, 0
    monkeypatch.setattr(
        tree, "_close_nodes", lambda *args: marked(compiled(*map(stripped, args)), met(args) or {"exact"})
    )

    def noise(draw):
        nonlocal drawn
        drawn += int(stripped(draw.where).sum())
        assert "noise" not in tags(draw.value), "noise meets noise that was drawn before"
        assert not (stripped(draw.value)[stripped(draw.where)].any() and not tags(draw.value)), "lost track"
        assert "exact" not in tags(draw.scale) | tags(draw.where), (
            "exact values decide how much noise there is"
        )
        return marked(Seeded(seed)(replace(draw, value=stripped(draw.value))), {"noise"})

    rng = np.random.default_rng(seed)
    low, high = algorithm.search_bounds
    data = Table(rng.uniform(low, high, (algorithm.horizon, algorithm.n_arms)))
    state, memory = algorithm.start(RUN), algorithm.private(RUN)
    memory = memory if isinstance(memory, NoMemory) else with_floats(memory, lambda v: marked(v, {"exact"}))
    while int((query := algorithm.query(state)).rounds[0]):
        answer = marked(data.answer(query, RUN), {"exact"})
        memory, released = algorithm.release(state, memory, query, answer, noise)
        assert "exact" not in tags(released), "an exact value is released"
        state = algorithm.decide(state, query, stripped(released))
    return drawn


@pytest.mark.parametrize(("name", "other"), LIVE)
def test_only_the_source_adds_noise_to_exact_values(name, other, monkeypatch):
    for seed in (0, 1):
        assert followed(small(name, **other), monkeypatch, seed) > 0


class AddsItself(Wrapped):
    """Negative control: asks for noise alone, and adds it to the sums."""

    def release(self, state, memory, query, answer, noise):
        def source(draw):
            return draw.value + noise(replace(draw, value=np.zeros(draw.value.shape)))

        return super().release(state, memory, query, answer, source)


@pytest.mark.parametrize(("name", "other"), LIVE)
def test_an_algorithm_that_adds_noise_itself_is_found(name, other, monkeypatch):
    with pytest.raises(Met):
        followed(AddsItself(small(name, **other)), monkeypatch)


# ---------------------------------------------------------------- the set of possible outputs


class Noted:
    """Seeded noise, with the place of each call; the third comparison of a stopping rule says yes."""

    def __init__(self):
        self.calls, self.compared = [], 0

    def __call__(self, draw):
        frame = sys._getframe(1)
        while frame.f_code.co_filename in (
            sessions.__file__,
            turns.__file__,
        ):  # beyond the session: where the algorithm asks
            frame = frame.f_back
        out = Seeded(1)(draw)
        if draw.hidden is not None and draw.hidden.outcome is not None:
            self.compared += 1
            out = np.full(out.shape, 1e9) if self.compared == 3 else out - 1e9
        self.calls.append(((frame.f_code.co_filename, frame.f_lineno), draw, out))
        return out


class Repeated:
    """Gives another input what the first one was given."""

    def __init__(self, calls):
        self.left, self.draws = list(calls), []

    def __call__(self, draw):
        _, there, out = self.left.pop(0)
        assert np.array_equal(draw.where, there.where)
        self.draws.append((there, draw))
        return out


def played(session, rewards):
    while not session.finished:
        session.update(float(rewards[session.rounds]))


def neighbours(algorithm, rewards, numbers, reward):
    """Draws of a live run, with those on inputs that have another reward in one round, and their places."""
    noted = Noted()
    played(algorithm.session(noise=noted), rewards)
    for number in numbers:
        other = rewards.copy()
        other[number] = reward
        repeated = Repeated(noted.calls)
        played(algorithm.session(noise=repeated), other)
        yield [(place, *both) for (place, *_), both in zip(noted.calls, repeated.draws, strict=True)]


def releases(algorithm):
    """By place: a draw of two neighbouring live sessions whose exact value differs, and which entry."""
    found = {}
    rewards, high = np.zeros(algorithm.horizon), algorithm.search_bounds[1]
    numbers = range(0, algorithm.horizon, max(1, algorithm.horizon // 24))
    for pairs in neighbours(algorithm, rewards, numbers, high):
        for place, one, two in pairs:
            differs = one.where & (one.value != two.value)
            few = 0 if one.count is None else int(one.count[differs].min(initial=1 << 30))
            if differs.any() and (place not in found or few < found[place][0]):
                index = tuple(int(i) for i in np.argwhere(differs)[0])
                found[place] = few, one, two, index
    return [part[1:] for part in found.values()]


def samples(source, draw, index, runs):
    """The same draw many times."""

    def many(array):
        return np.full((runs, 1), array[index])

    count = None if draw.count is None else many(draw.count)
    excess = float(np.broadcast_to(draw.excess, draw.value.shape)[index])
    every, zero = np.ones((runs, 1), bool), np.zeros((runs, 1), np.int64)
    one = Draw(many(draw.value), many(draw.scale), zero[:, 0], zero, every, count, draw.hidden, excess=excess)
    return source(one)[:, 0]


class Naive(Secure):
    """Negative control: draws the noise from OpenDP and adds it to the exact value, as sessions once did."""

    def __call__(self, draw):
        return draw.value + super().__call__(replace(draw, value=0 * draw.value))


LEAST = 20  # outputs near 0: at least 3 in 4 have finer bits, so that none has with probability 4^-20
PATIENCE = 100  # batches, of which a few have that many


def fine(source, draw, index, value):
    """Whether outputs near 0 have bits below the last ones that a sum of noise and `value` can have."""
    near = np.zeros(0)
    for _ in range(PATIENCE):
        out = samples(source, draw, index, 200)
        near = np.append(near, out[np.abs(out) < abs(value) / 8])
        if len(near) >= LEAST:
            return bool((near % (np.spacing(abs(value)) / 2) != 0).any())
    pytest.fail("too few outputs near 0")


def outputs(source, one, two, index):
    """The same in both worlds, for the larger value."""
    value = max(one.value[index], two.value[index], key=abs)
    return [fine(source, draw, index, value) for draw in (one, two)]


@pytest.mark.parametrize(("name", "other"), LIVE)
def test_neighbouring_values_have_the_same_outputs(name, other):
    """Of every place where a live session of the catalogue releases or compares a value.

    Where the value is far from 0 in both worlds, as beside the centre of a histogram, adding shows nothing
    either; of that place the raw moments tell.
    """
    pytest.importorskip("opendp")
    counted = 0
    for one, two, index in releases(small(name, **other, epsilon=2.0)):
        if one.hidden is not None:
            step = 2.0 ** grid(float(one.scale[index]))
            for draw in (one, two):
                assert not (samples(Secure(), draw, index, 200) % step).any()
            assert (samples(Naive(), two, index, 200) % step).any()
        elif min(abs(draw.value[index]) for draw in (one, two)) == 0:
            assert outputs(Secure(), one, two, index) == [True, True]
            assert False in outputs(Naive(), one, two, index)
        else:
            continue
        counted += 1
    assert counted >= (2 if name in ("dp-nas", "dp-exponential-nas") else 1)


@dataclass(frozen=True)
class Asking(Wrapped):
    """Writes down where noise is asked for; reports have got theirs when the block is released."""

    reached: set

    def release(self, state, memory, query, answer, noise):
        def source(draw):
            frame = sys._getframe(1)
            self.reached.add((Path(frame.f_code.co_filename).resolve(), frame.f_lineno))
            return noise(draw)

        return super().release(state, memory, query, answer, source)


def test_live_sessions_reach_every_place_that_asks_for_noise():
    """So none is left out above; those without a promise release exact values."""
    reached = set()
    for name, other in [*LIVE, *((name, {}) for name in registry.names() if name not in PRIVATE)]:
        algorithm = Asking(small(name, **other), reached)
        played(algorithm.session(noise=Noted()), np.zeros(algorithm.horizon))
    asking = [
        (path.resolve(), node.lineno, node.end_lineno)
        for folder in (ROOT / "algorithms", ROOT / "verifiable_dp" / "core" / "mechanisms")
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "noise"
    ]
    assert len(asking) >= 12
    for path, first, last in asking:
        assert any((path, line) in reached for line in range(first, last + 1)), (path.name, first)


# ---------------------------------------------------------------- what it costs, in fractions


def rewards_of(algorithm, seed):
    """Rewards with full mantissas."""
    low, high = algorithm.search_bounds
    return np.random.default_rng(seed).uniform(low, high, algorithm.horizon)


def cost(pairs, scales):
    """What the change of each draw costs, in exact arithmetic; `scales` gives those of a draw."""
    found = []
    for _, one, two in pairs:
        for index in map(tuple, np.argwhere(one.where)):
            moved = abs(Fraction(float(one.value[index])) - Fraction(float(two.value[index])))
            if moved:
                found.append(moved / Fraction(float(scales(one)[index])))
    return found


VISIBLE = [
    (name, other) for name, other in LIVE if small(name, **other).claim.observe in ("releases", "reports")
]


def worst(name, other, epsilon):
    """The largest cost over epsilon, exactly, of a reward that goes from one bound to the other.

    With the scales that sessions draw at, and with those that are only rounded to nearest.
    """
    algorithm = small(name, **other, epsilon=epsilon)
    local, found = algorithm.claim.observe == "reports", []
    for number in (0, 1, algorithm.horizon // 3):
        rewards = rewards_of(algorithm, number)
        rewards[number], high = algorithm.search_bounds
        (pairs,) = neighbours(algorithm, rewards, [number], high)
        costs = [cost(pairs, scales) for scales in (enlarged, nearest)]
        found.append([max(each, default=Fraction(0)) if local else sum(each) for each in costs])
    return [max(each) / Fraction(epsilon) for each in zip(*found, strict=True)]


def nearest(draw):
    return draw.scale


def test_a_live_run_costs_at_most_epsilon_in_exact_arithmetic():
    """Negative control: without the enlargement of scales some algorithms exceed epsilon by a rounding."""
    costs = {(name, *other, e): worst(name, other, e) for name, other in VISIBLE for e in (0.3, 0.7)}
    assert len(costs) == 2 * len(VISIBLE) >= 36
    assert not {named: float(drawn) for named, (drawn, _) in costs.items() if drawn > 1}
    assert 1 < max(plain for _, plain in costs.values()) < 1 + Fraction(2) ** -40


def crafted(horizon):
    """Rewards whose float sums differ by more than their first one does: Casacuberta et al. 2022.

    The 0/1 rewards reach 2048 with the first one and 2047 without it, so that what follows is rounded to
    units of 2^-41 and of 2^-42.
    """
    rewards = np.full(horizon, 1.25 * 2.0**-42)
    rewards[:2048] = 1.0
    return rewards


@dataclass(frozen=True)
class OneSum(Algorithm):
    """Release the sum of all rewards."""

    horizon: int = 6000
    n_arms: int = 1
    name = "one-sum"
    claim = make("dp-se", n_arms=2, epsilon=1.0, horizon=10).claim

    def start(self, run):
        return State(run, np.zeros(len(run), np.int64))

    def query(self, state):
        rounds = self.horizon - state.t
        return Query(state.t, rounds, np.ones((len(rounds), 1), bool), np.ones(len(rounds), bool))

    def release(self, state, memory, query, answer, noise):
        scale = np.ones(answer.shape)
        return memory, noise(Draw(answer, scale, state.run, np.zeros(answer.shape, np.int64), scale > 0))

    def decide(self, state, query, released):
        return State(state.run, state.t + query.rounds)


def moved(make_session):
    """How much one reward moves the sum that is handed to the source."""
    sums = []
    for first in (1.0, 0.0):
        rewards = crafted(6000)
        rewards[0] = first
        seen = []
        played(make_session(seen), rewards)
        sums.append(Fraction(float(seen[0])))
    return abs(sums[0] - sums[1])


def test_sums_of_a_live_session_are_exact():
    def live(seen):
        return OneSum().session(noise=lambda draw: (seen.append(draw.value[0, 0]), draw.value)[1])

    def seeded(seen):
        session = live(seen)
        session._turns.unit = 0.0
        return session

    assert moved(live) == 1
    assert moved(seeded) > 1 + Fraction(2) ** -32  # what floats make of it: far beyond the spare of the scale


def test_rewards_are_rounded_within_their_bounds():
    class Narrow(OneSum):
        bounds = (2.1, 2.3)

    for reward in (2.1, 2.2, 2.3):
        seen = []
        session = Narrow(horizon=1).session(
            noise=lambda draw, seen=seen: (seen.append(draw.value), draw.value)[1]
        )
        session.update(reward)
        assert 2.1 <= seen[0][0, 0] <= 2.3
        assert seen[0][0, 0] % session._turns.unit == 0
        assert abs(seen[0][0, 0] - reward) <= session._turns.unit


class Unbounded(OneSum):
    bounds = (-math.inf, math.inf)

    def query(self, state):
        limit = np.full((len(state.t), 1), 3.0)
        return replace(super().query(state), ask=Truncated(limit, 0 * limit))


def test_what_a_reward_adds_to_a_sum_must_be_bounded():
    with pytest.raises(InputError, match="override `contribution`"):
        Unbounded().session()
    Unbounded().session(seed=0).update(5.0)

    class Stated(Unbounded):
        contribution = 3.0

    class TooSmall(Unbounded):
        contribution = 2.5

    Stated().session().update(2.9)
    session = TooSmall().session()
    with pytest.raises(InputError, match=r"adds more to a sum than 2\.5"):
        session.update(2.9)
    assert session.rounds == 0


def test_a_promise_is_not_kept_without_noise():
    @dataclass(frozen=True)
    class Bare(Wrapped):
        def release(self, state, memory, query, answer, noise):
            return super().release(state, memory, query, answer, altered(noise, 0.0))

    session = Bare(OneSum(horizon=1)).session()
    with pytest.raises(InputError, match="promises epsilon 1 and asks for noise of scale 0"):
        session.update(0.5)
    make("ucb1", n_arms=2, horizon=4).session().update(0.5)  # no promise


# ---------------------------------------------------------------- the source


class Scripted(Secure):
    """Writes down what OpenDP is asked for, and answers with numbers."""

    def __init__(self):
        self.asked = []

    def _add(self, value, scale, k=None):
        self.asked.append((value, scale, k))
        return 2.0 ** -len(self.asked)


def entry(value, scale, count=None, hidden=None, excess=0.0):
    one = np.ones((1, 1))
    number = None if count is None else np.full((1, 1), count)
    where, slot = one > 0, np.zeros((1, 1), np.int64)
    return Draw(value * one, scale * one, RUN, slot, where, number, hidden, excess=excess)


def test_opendp_receives_the_value_once():
    source = Scripted()
    assert source(entry(0.75, 2.0, count=3)) == 0.5 + 0.25 + 0.125
    assert [value for value, _, _ in source.asked] == [0.75, 0.0, 0.0]
    assert {k for _, _, k in source.asked} == {None}
    assert all(scale > 2 for _, scale, _ in source.asked)


def test_the_scale_is_rounded_up_and_the_excess_is_charged():
    for scale in (1 / 3, 0.1, 7e5):
        for excess in (0.0, 1e-3):
            more = Fraction(float(enlarged(entry(0.0, scale, excess=excess))[0, 0]))
            assert more >= Fraction(scale) * (1 + Fraction(excess)) * (1 + Fraction(2) ** -41)
            assert more <= Fraction(scale) * (1 + Fraction(excess)) * (1 + Fraction(2) ** -39)
    assert enlarged(entry(0.0, 0.0, excess=1.0)) == 0


def test_what_is_compared_lies_on_a_grid_and_within_reach():
    source, hidden = Scripted(), Hidden(lambda shown: 0.0)
    for value in (0.3, 1e30, -1e30):
        source(entry(value, 3.0, hidden=hidden))
    assert [k for *_, k in source.asked] == [grid(3.0)] * 3
    assert grid(3.0) == 1 - 24
    near, far, below = (value for value, *_ in source.asked)
    assert near == 0.3
    assert far == -below
    assert np.spacing(far) <= 2.0 ** grid(3.0)  # rounding moves it by less than a step


@pytest.mark.parametrize("scales", [(12.0, 12.0), (2.0, 4.0), (1000.0, 0.3)])
def test_comparisons_cost_what_they_state(scales):
    """The rounded gap, moved by whole steps of the coarser grid, at the scales that OpenDP gets."""
    mechanism = AboveThreshold(1.0, *scales)
    drawn = []
    rho = mechanism.threshold_noise(lambda draw: (drawn.append(draw), draw.value)[1], RUN, RUN)
    mechanism.answer(
        np.array([0.3]), rho, lambda draw: (drawn.append(draw), draw.value)[1], RUN, RUN, RUN == 0
    )
    threshold, query = (Fraction(float(enlarged(draw)[0, 0])) for draw in drawn)
    reached = 1 + Fraction(rounding(*scales))
    paid = reached / threshold + 2 * reached / query
    assert paid <= Fraction(1) / Fraction(scales[0]) + 2 / Fraction(scales[1])
    nominal = reached / Fraction(scales[0]) + 2 * reached / Fraction(scales[1])
    assert nominal > Fraction(1) / Fraction(scales[0]) + 2 / Fraction(scales[1])  # the control


def test_what_cannot_be_hidden_is_refused():
    pytest.importorskip("opendp")
    for value, scale in ((math.nan, 1.0), (math.inf, 1.0), (0.0, math.inf), (0.0, math.nan), (0.0, -1.0)):
        with pytest.raises(InputError, match="noise: "):
            Secure()(entry(value, scale))
