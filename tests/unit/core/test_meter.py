"""The meter: what a live session spends, held against replays; what breaks a promise shows nothing."""

import dataclasses
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.live import Blocks, Counted, feed, finish, small
from verifiable_dp.core.claims import PrivacyClaim, Relation
from verifiable_dp.core.meter import ROWS, Meter, metered
from verifiable_dp.core.noise import Seeded, altered
from verifiable_dp.core.query import NoMemory
from verifiable_dp.core.rights import BudgetError
from verifiable_dp.core.tapes import Recorder, Replayer
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import Wrapped

PRIVATE = [name for name in registry.names() if small(name).claim is not None]
METERED = [name for name in PRIVATE if metered(small(name).claim)]
ROUNDING = 1e-9


class Source:
    """Seeded noise that a session does not take for that."""

    def __init__(self, seed=0):
        self.inner = Seeded(seed)

    def __call__(self, draw):
        return self.inner(draw)


def tables(algorithm):
    """Rewards at either bound, and mixed."""
    low, high = algorithm.search_bounds
    size = algorithm.horizon
    return [np.full(size, low), np.full(size, high), np.random.default_rng(5).choice([low, high], size)]


def played(session, table):
    while not session.finished:
        session.update(float(table[session.rounds]))
    return session


# ---------------------------------------------------------------- the catalogue


def test_which_algorithms_are_metered():
    no_pure_epsilon = {"shuffled-linear", "shuffled-se", "adac-gope", "adac-ucb", "gaussian-ts"}
    assert set(PRIVATE) - set(METERED) == no_pure_epsilon
    assert finish(small("shuffled-linear").session(noise=Source())).spent is None
    assert small("dp-se").session(seed=1).spent is None


@pytest.mark.parametrize("name", METERED)
def test_a_live_run_spends_at_most_epsilon(name):
    algorithm = small(name)
    given = list(tables(algorithm))
    assert len(given) == 3
    for table in given:
        session = played(algorithm.session(noise=Source()), table)
        assert 0 < session.spent <= algorithm.claim.epsilon * (1 + ROUNDING)
        steps = session.spending()
        assert [spent for _, spent in steps] == sorted({spent for _, spent in steps})
        assert steps[-1][1] == session.spent


@pytest.mark.parametrize(
    "name", ["dp-se", "dp-ucb", "tree-sum", "dist-dp-se", "ldp-ucb", "adap-ucb", "dp-linear"]
)
def test_a_live_run_spends_what_the_worst_reward_costs(name):
    algorithm = small(name)
    session = finish(algorithm.session(noise=Source()))
    assert session.spent == pytest.approx(algorithm.claim.epsilon, rel=1e-9)


SLOTS = "secure noise ignores slots, so the session draws afresh"
ONCE = "a report gets its noise once, when it arrives; what is done with it later costs nothing"
SHORT = "of this length the run does not spend more than is promised"
NO_LEAK = {
    **dict.fromkeys(
        [
            *("noise of an arm is not reset", "one draw for everything", "noise reused as a coin"),
            *("one draw for all nodes", "one draw for all arms", "one draw for all epochs"),
            *("one draw for all actions", "one draw for all batches", "one draw for two steps"),
        ],
        SLOTS,
    ),
    ("ldp-robust-se", "no forgetting"): ONCE,
    ("dp-robust-ucb", "budget log T"): SHORT,
    ("dp-robust-ucb", "re-drawn"): SHORT,
}
LONGER = {"dp-se": 7200, "dp-se-doubling": 12400}  # until there is a second epoch, which forgets nothing
MUTANTS = [
    pytest.param(name, mutant, id=f"{name}-{mutant.name}")
    for name in METERED
    for mutant in registry.auditor(name).mutants
    if mutant.breaks == "privacy"
]


def stopped(algorithm, table):
    """Whether a run is stopped; before that nothing is shown that costs more than is promised."""
    session = algorithm.session(noise=Source())
    while not session.finished:
        before = session._now
        try:
            session.update(float(table[session.rounds]))
        except BudgetError:
            assert session._now is before
            return True
        assert session.spent <= algorithm.claim.epsilon * (1 + ROUNDING)
    return False


@pytest.mark.parametrize(("name", "mutant"), MUTANTS)
def test_a_mutant_is_stopped_before_it_shows_anything(name, mutant):
    """Or it is listed, with why it leaks nothing in a live session."""
    longer = mutant.name == "no forgetting" and name in LONGER
    algorithm = mutant.make(small(name, **({"horizon": LONGER[name]} if longer else {})))
    found = any(stopped(algorithm, table) for table in tables(algorithm))
    assert found == (mutant.name not in NO_LEAK and (name, mutant.name) not in NO_LEAK)


def test_every_listed_mutant_is_one():
    known = {(param.values[0], param.values[1].name) for param in MUTANTS}
    for entry in NO_LEAK:
        assert entry in known if isinstance(entry, tuple) else entry in {name for _, name in known}


# ---------------------------------------------------------------- against replays


WITHOUT_MEMORY = ["dp-se", "dist-dp-se", "adap-ucb", "dp-linear", "dp-robust-se"]


def replayed(algorithm, tape, table):
    """Cost of a run on other rewards whose releases are forced to be those of a tape."""
    replayer = Replayer(tape, 1)
    session = algorithm.session(noise=replayer)
    while not session.finished:
        session.update(table[session.rounds, session.select()])
    replayer.finish()
    return float(replayer.cost[0])


@given(
    st.sampled_from(WITHOUT_MEMORY),
    st.integers(0, 2**32 - 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.booleans(),
)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_the_meter_is_at_least_the_cost_of_every_neighbour(name, seed, where, value, end):
    """A reward of a round that is played changes; between the ends of its range that costs no more."""
    algorithm, rng = small(name), np.random.default_rng(seed)
    low, high = algorithm.search_bounds
    table = rng.uniform(low, high, (algorithm.horizon, algorithm.n_arms))
    changed = int(where * (algorithm.horizon - 1))
    table[changed] = low if end else table[changed]
    recorder = Recorder(Seeded(seed))
    session = algorithm.session(noise=recorder)
    while not session.finished:
        session.update(table[session.rounds, session.select()])
    other = table.copy()
    other[changed] = high if end else low + (high - low) * value
    cost = replayed(algorithm, recorder.tape(), other)
    assert cost <= session.spent * (1 + 1e-6)


@pytest.mark.parametrize("name", [*WITHOUT_MEMORY, "dp-ucb", "tree-sum", "adap-klucb", "lazy-dp-ts"])
def test_the_meter_is_the_cost_of_the_worst_neighbour(name):
    """One reward after the other goes from one end to the other one."""
    algorithm = small(name)
    low, high = algorithm.search_bounds
    table = np.full((algorithm.horizon, algorithm.n_arms), low)
    recorder = Recorder(Seeded(2))
    session = algorithm.session(noise=recorder)
    while not session.finished:
        session.update(table[session.rounds, session.select()])
    found = [0.0]
    for changed in range(0, algorithm.horizon, max(1, algorithm.horizon // 24)):
        other = table.copy()
        other[changed] = high
        found.append(replayed(algorithm, recorder.tape(), other))
    if name == "dp-robust-se":  # of unbounded rewards the ends of the search are not those of the truncation
        assert max(found) <= session.spent * (1 + ROUNDING)
    else:
        assert max(found) == pytest.approx(session.spent, rel=1e-9)


# ---------------------------------------------------------------- whatever an algorithm does


@dataclass(frozen=True)
class Leaking(Blocks):
    """Blocks of five that leak in some way."""

    how: str = ""
    block: int = 5

    def release(self, state, memory, query, answer, noise):
        how, more = self.how, {}
        if how == "scale":
            noise = altered(noise, 1.0 + (answer > 2.0))
        memory, out = super().release(state, memory, query, answer, noise)
        if how == "exact":
            out = answer.copy()
        elif how == "one bit":
            out = out + 1e-9 * (answer > 2.0)
        elif how == "twice":
            more = {"slot": 1 << 40}
        elif how == "nan":
            out = np.where(answer > 2.0, np.nan, out)
        if more or (how == "perhaps twice" and bool((answer > 2.0).any())):
            super().release(replace(state, t=state.t + (1 << 40)), memory, query, answer, noise)
        return memory, out


LEAKS = ["scale", "exact", "one bit", "twice", "nan", "perhaps twice"]


@pytest.mark.parametrize("how", LEAKS)
@pytest.mark.parametrize("place", [False, True])
def test_a_leak_is_stopped_and_the_session_stays_as_it_was(how, place, quick):
    path = quick / "s" if place else None
    session = feed(Leaking(20, how=how).session(noise=Source(), path=path), 4, 0.45)
    written = path.read_bytes() if path else b""
    for _ in range(2):
        with pytest.raises(BudgetError, match="nothing was released, and the session is unchanged"):
            session.update(0.4)
    assert (session.rounds, session.spent, session.state.seen.shape) == (4, 0.0, (1, 0))
    assert (path.read_bytes() if path else b"") == written


def test_without_a_leak_it_goes_on():
    session = finish(Leaking(20).session(noise=Source()))
    assert session.spent == pytest.approx(1.0)


@dataclass(frozen=True)
class Kept(NoMemory):
    """Claims to be nothing, and holds a sum."""

    total: np.ndarray


@dataclass(frozen=True)
class Remembering(Blocks):
    """Each release is the sum of the rewards so far, at the price of one block."""

    def private(self, run):
        return Kept(run, np.zeros((len(run), 1)))

    def release(self, state, memory, query, answer, noise):
        total = memory.total + answer
        _, out = super().release(state, memory, query, total, noise)
        return Kept(memory.run, total), out


def test_a_memory_that_says_it_is_none_is_followed():
    session = feed(Remembering(20).session(noise=Source()), 1)
    assert session.spent == pytest.approx(1.0)
    with pytest.raises(BudgetError, match="would cost 2, more than the 1 that blocks promises"):
        session.update(0.5)


@dataclass(frozen=True)
class Cheap(Wrapped):
    """Noise a little too small."""

    share: float = 0.99

    def release(self, state, memory, query, answer, noise):
        return super().release(state, memory, query, answer, altered(noise, self.share))


@pytest.mark.parametrize("name", ["dp-se", "dp-ucb", "ldp-ucb", "dp-linear"])
def test_noise_that_is_a_little_too_small_is_stopped(name):
    with pytest.raises(BudgetError):
        finish(Cheap(small(name)).session(noise=Source()))
    finish(Cheap(small(name), 1.0).session(noise=Source()))


def test_rounding_is_no_loophole():
    """Sums of floats may leave 1e-9 of the claim, and not more."""
    for share, stops in ((1 - 1e-10, False), (1 - 1e-8, True)):
        session = Cheap(small("dp-se"), share).session(noise=Source())
        if stops:
            with pytest.raises(BudgetError):
                finish(session)
        else:
            assert finish(session).spent > 1


def test_promises_that_do_not_add_up_are_not_metered():
    for claim in (
        None,
        PrivacyClaim(1.0, 1e-6),
        PrivacyClaim.zcdp(0.5, 1e-6),
        small("shuffled-linear").claim,
        PrivacyClaim(1.0, relation=Relation("group", 2)),
    ):
        assert not metered(claim)
    assert metered(PrivacyClaim(1.0))


# ---------------------------------------------------------------- kept


def test_at_most_so_many_rewards_are_followed():
    @dataclass(frozen=True)
    class Long(Remembering):
        def release(self, state, memory, query, answer, noise):
            small_noise = altered(noise, float(self.horizon))
            return super().release(state, memory, query, answer, small_noise)

    session = finish(Long(200).session(noise=Source()))
    assert len(session._now.meter.cost) == ROWS + 1
    assert session.spent == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("name", ["dp-se", "dp-ucb", "tree-sum", "dp-nas", "dp-linear", "ldp-ucb", "adap-tt"])
def test_the_meter_is_saved_and_restored(name, quick):
    """At every round, bit for bit; so a session that was restored stops where the other one does."""
    algorithm, path, noise = small(name), quick / "s", Source()
    session = algorithm.session(noise=noise, path=path)
    assert not session.finished
    for _ in range(min(algorithm.horizon, 30)):
        if session.finished:
            break
        session.update(0.5)
        before = session._now.meter
        session.close()
        session = algorithm.restore(path, noise=noise)
        after = session._now.meter
        assert (after.spent, after.base) == (before.spent, before.base)
        assert np.array_equal(after.cost, before.cost)
        assert (after.rows is None) == (before.rows is None)
        for field in dataclasses.fields(before.rows) if before.rows is not None else ():
            one, two = (getattr(meter.rows, field.name) for meter in (before, after))
            assert np.array_equal(one, two, equal_nan=True)


def test_a_restored_session_stops_where_the_other_one_does(quick):
    algorithm, noise = Remembering(20), Counted()
    with algorithm.session(noise=noise, path=quick / "s") as session:
        feed(session, 1)
    session = algorithm.restore(quick / "s", noise=noise)
    assert session.spent == pytest.approx(1.0)
    with pytest.raises(BudgetError, match="would cost 2"):
        session.update(0.5)
    forgetful = Meter(rows=session._now.meter.rows.take([0]), cost=np.zeros(1))
    session._now = replace(session._now, meter=forgetful)  # the broken variant
    session.update(0.5)
