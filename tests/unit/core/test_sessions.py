"""Sessions: what is written and when, what a second draw of one value would cost, and updates that fail."""

import contextlib
import copy
import errno
import json
import math
import os
import stat
import traceback
from contextlib import nullcontext
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import verifiable_dp as vdp
from tests.live import Blocks, Counted, Logged, feed, first_release, small
from verifiable_dp import make
from verifiable_dp.core import kept_session, rights, statefile, turns
from verifiable_dp.core import session as sessions
from verifiable_dp.core.algorithm import Algorithm, Batch, Query, State
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.noise import Draw, Secure, Seeded, altered
from verifiable_dp.core.rights import FileCounter, Stamped
from verifiable_dp.core.session import Session
from verifiable_dp.core.tapes import Divergence, Recorder, Replayer
from verifiable_dp.core.units import TrustModel
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.alignment import checking
from verifiable_dp.evidence.alignment.replay import one_sided
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import Wrapped

HYPOTHESIS = settings(max_examples=300, deadline=None, derandomize=True)
FRESH = 1 << 50  # far from the slots of any algorithm


@pytest.fixture
def path(quick):
    return quick / "session.json"


# ---------------------------------------------------------------- what is written


def test_the_file_is_its_owners_and_json(path):
    path.write_text("something else")
    path.chmod(0o644)
    session = feed(make("dp-se", n_arms=2, epsilon=1.0, horizon=900).session(seed=3), 10, 0.1)
    session.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == [path.name]
    record = json.loads(path.read_bytes())
    assert record["algorithm"] == "dp-se"
    assert record["parameters"] == session._turns.algorithm.parameters
    assert record["rounds"] == record["block"]["done"] == 10
    assert record["noise"] == {"kind": "seeded", "seed": 3, "path": []}
    sums = [float.fromhex(value) for value in record["block"]["sums"]["values"]]
    assert sums == session._now.sums[0].tolist()
    assert sum(sums) == pytest.approx(1.0)


def test_a_catalogue_algorithm_is_restored_by_its_name(path):
    session = feed(small("dp-linear").session(seed=1), 7)
    session.save(str(path))
    again = vdp.restore(path, epsilon=session._turns.algorithm.claim.epsilon, seeded=True)
    assert again._turns.algorithm == session._turns.algorithm
    assert again.rounds == 7
    assert again.select() == session.select()


def test_the_digest_tells_equal_sessions_from_others(path):
    files = []
    for reward in (0.5, 0.5, 0.25):
        feed(small("dp-ucb").session(seed=1), 3, reward).save(path)
        files.append(path.read_bytes())
    assert files[0] == files[1] != files[2]


@given(
    st.lists(st.floats(width=64) | st.just(-0.0), max_size=6),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=6),
    st.lists(st.booleans(), max_size=6),
)
@HYPOTHESIS
def test_arrays_come_back_bit_for_bit(floats, integers, truths):
    for values, dtype in ((floats, np.float64), (integers, np.int64), (truths, np.bool_)):
        array = np.array(values, dtype)
        like = np.full(array.shape, np.nan) if dtype is np.float64 else array
        stored = json.loads(json.dumps(statefile.pack("x", array, like)))
        back = statefile.unpack("x", stored, like)
        assert back.dtype == array.dtype
        number = array == array  # a NaN has many patterns
        assert back[number].tobytes() == array[number].tobytes()
        assert np.isnan(back[~number].astype(float)).all()


# ---------------------------------------------------------------- noise of its own


def past_release(algorithm, path):
    """A session with secure noise one round after its first release; one in eighty of dp-nas stops there."""
    for _ in range(40):
        session = feed(algorithm.session(), first_release(algorithm), 0.0)
        if not session.finished:
            feed(session, 1, 0.0).save(path)
            return session
    pytest.fail("every session stopped at its first release")


@pytest.mark.parametrize(
    ("name", "where"), [("dp-nas", "memory"), ("dp-ucb", "state"), ("tree-sum", "memory")]
)
def test_secure_noise_is_kept_and_not_drawn_again(name, where, path):
    """The hidden noise of a threshold and released nodes come back as they were; so does what was spent."""
    pytest.importorskip("opendp")
    algorithm = small(name)
    session = past_release(algorithm, path)
    kept, spent = getattr(session._now, where), session.spent
    session.close()
    with algorithm.restore(path) as back:
        assert isinstance(back._turns.noise, Secure)
        for key, value in vars(kept).items():
            assert np.array_equal(value, getattr(getattr(back._now, where), key), equal_nan=True)
        assert back.spent == spent
    if name == "dp-nas":
        assert np.isfinite(kept.threshold_noise).all()


def test_a_source_that_was_given_has_to_be_given_again(path):
    algorithm = small("dp-se")
    with algorithm.session(noise=Counted(), path=path) as session:
        feed(session, 3)
    with pytest.raises(InputError, match="noise: the saved session's source is given"):
        algorithm.restore(path, seeded=True)
    algorithm.restore(path, noise=Counted()).close()
    path.unlink()
    feed(algorithm.session(seed=0), 3).save(path)
    with pytest.raises(InputError, match="noise: the saved session's source is seeded"):
        algorithm.restore(path, noise=Counted())


def test_each_update_is_in_the_file_before_it_returns(path):
    """Restored from a copy of the file after each round, the state is the one that was shown."""
    algorithm, noise, copy = Blocks(12, 3), Counted(), path.with_name("copy")
    with algorithm.session(noise=noise, path=path) as session:
        while not session.finished:
            feed(session, 1)
            copy.write_bytes(path.read_bytes())
            copy.chmod(0o600)
            with algorithm.restore(copy, noise=noise) as back:
                assert back.rounds == session.rounds
                assert np.array_equal(back.state.seen, session.state.seen)
                assert np.array_equal(back._now.sums, session._now.sums)
    assert noise.draws == 4


def test_all_is_flushed_before_anything_is_shown(path, monkeypatch):
    """The file and its name, then those of the counter: a loss of power leaves one of both states."""
    other, steps = path.parent / "elsewhere", []
    other.mkdir()
    session = feed(Blocks(30).session(noise=Counted(), path=path, counter=FileCounter(other / "c")), 1)
    flush, rename = os.fsync, os.replace

    def fsync(handle):
        steps.append(("flush", os.readlink(f"/proc/self/fd/{handle}"), session.state.seen.shape[1]))
        flush(handle)

    def replaced(one, two):
        steps.append(("rename", str(one), session.state.seen.shape[1]))
        steps.append(("to", str(two), session.state.seen.shape[1]))
        rename(one, two)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replaced)
    session.update(0.5)
    assert {seen for *_, seen in steps} == {1}
    new = steps[0][1]
    assert [step[:2] for step in steps] == [
        *(("flush", new), ("rename", new), ("to", str(path)), ("flush", str(path.parent))),
        *(("flush", str(other / "c.new")), ("rename", str(other / "c.new")), ("to", str(other / "c"))),
        ("flush", str(other)),
    ]


def test_a_batch_is_written_once_and_before_each_release(path):
    algorithm = Blocks(12, 3)
    session = algorithm.session(noise=Counted(), path=path)
    with session.batch():
        feed(session, 2)
        assert session.generation == 1
        feed(session, 1)
        assert session.generation == 2  # a release
        with session.batch():
            feed(session, 2)
        assert session.generation == 2  # the inner one is part of the outer one
    assert session.generation == 3
    with session.batch():
        pass
    assert session.generation == 3
    session.close()
    assert algorithm.restore(path, noise=Counted()).rounds == 5


def test_a_batch_that_fails_is_written(path):
    session = Blocks(12, 9).session(noise=Counted(), path=path)

    def fail():
        with session.batch():
            feed(session, 2)
            raise RuntimeError("other")

    with pytest.raises(RuntimeError, match="other"):
        fail()
    assert json.loads(path.read_bytes())["rounds"] == 2  # at once, not when it is closed
    session.close()
    assert Blocks(12, 9).restore(path, noise=Counted()).rounds == 2


def test_closing_within_a_batch_writes_what_came_before(path):
    session = Blocks(12, 9).session(noise=Counted(), path=path)
    with session.batch():
        feed(session, 2)
        session.close()
    assert Blocks(12, 9).restore(path, noise=Counted()).rounds == 2


def test_a_signal_while_a_batch_is_written_puts_nothing_under_an_older_state(path, monkeypatch):
    """A handler that updates the session would show a value that the batch then writes over."""
    session, noise, said = Blocks(60, 2).session(noise=Counted(), path=path), Counted(), []
    flush = os.fsync

    def interrupted(handle):
        flush(handle)
        if not said:
            said.append("")
            try:
                session.update(0.5)
                said.append("taken")
            except InputError as error:
                said.append(str(error))

    with session.batch():
        feed(session, 3)
        monkeypatch.setattr(os, "fsync", interrupted)
    assert "being updated or saved" in said[1]
    shown = session.state.seen.tolist()
    session.close()
    with Blocks(60, 2).restore(path, noise=noise) as back:
        assert (back.rounds, back.state.seen.tolist()) == (3, shown)


def test_a_session_with_a_seed_does_not_live_in_a_file(path):
    with pytest.raises(InputError, match="path: a session with a seed"):
        Blocks(4).session(seed=1, path=path)
    assert os.listdir(path.parent) == []
    algorithm = small("dp-ucb")
    feed(algorithm.session(seed=5), 2).save(path)
    before = path.read_bytes()
    ends = [
        feed(algorithm.restore(path, seeded=True), algorithm.horizon - 2).state.estimate for _ in range(2)
    ]
    assert np.array_equal(*ends)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


# ---------------------------------------------------------------- what a second draw costs


def transcript(algorithm, noise, table, path, how):
    """Play a table, interrupted around its first release; `how` says what is drawn after the interruption."""
    stop = first_release(algorithm) - 1

    def go_on(session, until):
        while not session.finished and session.rounds < until:
            session.update(table[session.rounds, session.select()])
        return session

    path.unlink(missing_ok=True)
    session = go_on(algorithm.session(noise=noise, path=path), stop)
    backup = path.read_bytes()
    if how == "restored as it was":
        go_on(session, stop + 1).close()
        return go_on(algorithm.restore(path, noise=noise), algorithm.horizon).close()
    go_on(session, algorithm.horizon).close()
    path.write_bytes(backup)  # no counter tells
    after = altered(noise, reslot=lambda slot: slot + FRESH) if how == "fresh noise" else noise
    return go_on(algorithm.restore(path, noise=after), algorithm.horizon).close()


def cost(algorithm, pair, path, how):
    """Cost and loss of the worst transcript, the first input forced on the second."""
    left, right = (world.reshape(algorithm.horizon, -1) for world in pair.worlds())
    recorder = Recorder(one_sided(Seeded(0), 1 if (right - left).sum() < 0 else -1))
    transcript(algorithm, recorder, left, path, how)
    replayer = Replayer(recorder.tape(), 1)
    transcript(algorithm, replayer, right, path, how)
    replayer.finish()
    return replayer.cost[0], abs(replayer.loss[0])


@pytest.mark.parametrize("name", ["dp-se", "tree-sum", "dp-ucb"])
def test_a_backup_that_no_counter_refuses_costs_epsilon_again(name, path):
    """An old file costs 2 epsilon; the file itself, or noise of the same seed, epsilon."""
    algorithm = small(name)
    # The tree's budget is spent where the first reward enters every level.
    pair, epsilon = registry.auditor(name).pairs(algorithm)[0], algorithm.claim.epsilon
    right = cost(algorithm, pair, path, "restored as it was")
    assert right == pytest.approx((epsilon, epsilon))
    assert cost(algorithm, pair, path, "fresh noise") == pytest.approx((2 * epsilon, 2 * epsilon))
    assert cost(algorithm, pair, path, "the same noise") == pytest.approx((epsilon, epsilon))


def test_the_same_noise_for_other_rewards_costs_everything(path):
    """A seed is for experiments: after an interruption other rewards may come, under the same noise."""
    algorithm = small("tree-sum")

    def twice(noise, reward):
        path.unlink(missing_ok=True)
        session = algorithm.session(noise=noise, path=path)
        backup = path.read_bytes()
        feed(session, 1, reward).close()
        path.write_bytes(backup)
        with algorithm.restore(path, noise=noise) as again:
            feed(again, 1, 0.0)
        return noise

    recorder = twice(Recorder(Seeded(0)), 0.0)
    replayer = twice(Replayer(recorder.tape(), 1), 1.0)
    assert replayer.cost[0] == np.inf
    assert replayer.diverged == {0: Divergence.REUSED_NOISE}
    same = twice(Replayer(recorder.tape(), 1), 0.0)
    assert same.cost[0] == 0


@dataclass(frozen=True)
class Redrawn(Wrapped):
    """Interrupted after each release and restored from before it: every value is released twice."""

    def release(self, state, memory, query, answer, noise):
        super().release(state, memory, query, answer, altered(noise, reslot=lambda slot: slot + FRESH))
        return super().release(state, memory, query, answer, noise)


@pytest.mark.parametrize("name", ["dp-se", "dp-se-doubling", "tree-sum", "dp-ucb", "dp-linear"])
def test_the_alignment_check_refutes_a_restore_that_draws_again(name):
    auditor, algorithm = registry.auditor(name), small(name)
    pairs, epsilon = auditor.pairs(algorithm), algorithm.claim.epsilon
    outcomes = []
    for restored in (algorithm, Redrawn(algorithm)):
        instance = checking.Instance(restored, epsilon)
        check, _ = checking.check(instance, instance, pairs, checking.Search(0, 10), visible=True)
        outcomes.append((check.verdict, check.statistics["max_cost"]))
    (right, spent), (wrong, twice) = outcomes
    assert (right, wrong) == ("not_refuted", "refuted")
    assert spent == pytest.approx(epsilon)
    assert twice == pytest.approx(2 * epsilon)


# ---------------------------------------------------------------- writing fails


def broken(patch, step, error):
    """Let a step of writing fail."""

    def fail(*arguments, **named):
        raise error

    where = {"mkstemp": rights.tempfile, "settle": rights.files, "flock": rights.fcntl}
    patch.setattr(where.get(step, rights.os), step, fail)


@pytest.mark.parametrize("step", ["mkstemp", "write", "fsync", "flock", "replace", "settle"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("how", ["update", "save", "batch"])
def test_what_cannot_be_written_is_not_shown_and_loses_nothing(how, step, error, path, monkeypatch):
    algorithm, noise = Blocks(30, 3), Counted()
    session = feed(algorithm.session(noise=noise, path=path), 4)
    shown = session.state.seen.tolist()

    def act(patch):
        with session.batch() if how == "batch" else contextlib.nullcontext():
            feed(session, 1)
            broken(patch, step, error)
            if how == "save":
                session.save(path)
            else:
                session.update(0.5)

    expected = (InputError, "No space") if isinstance(error, OSError) else (KeyboardInterrupt, None)
    with monkeypatch.context() as patch, pytest.raises(expected[0], match=expected[1]):
        act(patch)
    assert session.rounds == 5
    assert session.state.seen.tolist() == shown
    feed(session, 1)
    assert len(session.state.seen[0]) == 2
    shown = session.state.seen.tolist()
    session.close()
    assert os.listdir(path.parent) == [path.name]
    with algorithm.restore(path, noise=noise) as back:
        assert back.rounds == 6
        assert back.state.seen.tolist() == shown


def test_a_disk_that_takes_a_few_bytes_at_a_time_gets_all_of_them(path, monkeypatch):
    write, session = os.write, feed(Blocks(30).session(noise=Counted(), path=path), 2)
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:100]))
    feed(session, 1).close()
    assert Blocks(30).restore(path, noise=Counted()).rounds == 3


def test_rewards_of_a_batch_whose_release_was_not_written_are_written_later(path, monkeypatch):
    """The release fails, then the disk is free again: closing writes what came before."""
    session = Blocks(30, 3).session(noise=Counted(), path=path)
    with session.batch():
        feed(session, 2)
        with monkeypatch.context() as patch:
            broken(patch, "replace", OSError(errno.ENOSPC, "No space left on device"))
            with pytest.raises(InputError, match="No space"):
                session.update(0.5)
    session.close()
    assert Blocks(30, 3).restore(path, noise=Counted()).rounds == 2


def test_an_interrupt_right_after_the_renaming_does_not_end_the_session(path, monkeypatch):
    """The file is the new state, which nobody saw; the session goes on from the old one."""
    algorithm, noise, rename = Blocks(30), Counted(), os.replace
    session = feed(algorithm.session(noise=noise, path=path), 2)

    def interrupted(*names):
        rename(*names)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(rights.os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.update(0.5)
    assert session.rounds == 2
    with pytest.raises(InputError, match="is in use by another session"):
        algorithm.restore(path, noise=noise)
    feed(session, 1).close()
    with algorithm.restore(path, noise=noise) as back:
        assert back.state.seen.tolist() == session.state.seen.tolist()


def test_places_that_cannot_be_written_are_refused(tmp_path, monkeypatch):
    for session in (small("dp-se").session(seed=0), small("dp-se").session(noise=Counted())):
        for place, match in (
            (tmp_path, "is a folder|exists"),
            (tmp_path / "missing" / "session", "cannot be written: (No such file|there is no folder)"),
        ):
            with pytest.raises(InputError, match=match):
                session.save(place)
        with monkeypatch.context() as patch:
            patch.setattr(statefile, "MOST_BYTES", 500)
            with pytest.raises(InputError, match="at most 500 bytes"):
                session.save(tmp_path / "session")
    assert os.listdir(tmp_path) == []


def test_another_file_is_not_written_over(path):
    """A session on the same data from the start would spend its budget again."""
    algorithm = Blocks(9)
    with algorithm.session(noise=Counted(), path=path) as session:
        feed(session, 2)
    before = path.read_bytes()
    with pytest.raises(InputError, match="exists; restore the session from it"):
        algorithm.session(noise=Counted(), path=path)
    assert path.read_bytes() == before


# ---------------------------------------------------------------- algorithms of third parties


@dataclass(frozen=True)
class Seen(Batch):
    """Private: all rewards, a memory that grows."""

    reward: np.ndarray


@dataclass(frozen=True)
class Tally(Algorithm):
    """Rounds in turn, each release the sum of all rewards so far; not in the catalogue."""

    n_arms: int
    horizon: int
    kind: str = "batch"
    weigh: Any = None
    name: ClassVar[str] = "tally"

    def start(self, run):
        return State(run, np.zeros(len(run), np.int64))

    def private(self, run):
        seen = np.zeros((len(run), 0))
        return {"batch": Seen(seen), "list": [seen], "object": Seen(seen.astype(object))}[self.kind]

    def query(self, state):
        active = (state.t % self.n_arms)[:, None] == np.arange(self.n_arms)
        left = (state.t < self.horizon).astype(np.int64)
        return Query(state.t, left, active, np.ones(len(left), bool))

    def release(self, state, memory, query, answer, noise):
        seen = np.column_stack([memory.reward, answer.sum(axis=1)])
        total = seen.sum(axis=1, keepdims=True)
        where = np.ones(total.shape, bool)
        return Seen(seen), Laplace(1.0, 1.0).release(total, noise, state.run, state.t[:, None], where)

    def decide(self, state, query, released):
        return replace(state, t=state.t + 1)


def test_an_algorithm_outside_the_catalogue_is_saved_and_restored(path):
    algorithm = Tally(2, 6)
    session = algorithm.session(seed=0)
    while not session.finished:
        session.update(session.rounds / 10)
        session.save(path)
        session = algorithm.restore(path, seeded=True)
    assert session._now.memory.reward.tolist() == [[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]]
    with pytest.raises(InputError, match="unknown name 'tally'"):
        vdp.restore(path, epsilon=None, seeded=True)


class Plain(Tally):
    """Overrides nothing, but is not a frozen dataclass of its own kind of parameters."""

    @property
    def parameters(self):
        raise TypeError("Plain must be a dataclass, or override `parameters`")


@pytest.mark.parametrize(
    ("algorithm", "match"),
    [
        (Tally(2, 6, "list"), "private must consist of arrays in dataclasses to be saved, got list"),
        (Tally(2, 6, "object"), "private.reward must be an array with the same form"),
        (Tally(2, 6, weigh=len), "parameter weigh cannot be saved"),
        (Tally(2, 6, weigh=float("inf")), "parameter weigh cannot be saved"),
        (Redrawn(Tally(2, 6)), "parameter inner cannot be saved"),
        (Plain(2, 6), "Plain must be a dataclass"),
    ],
)
def test_what_cannot_be_saved_is_refused_in_one_line(algorithm, match, path):
    session = algorithm.session(seed=0)
    with pytest.raises(InputError, match=match) as error:
        session.save(path)
    assert "\n" not in str(error.value)
    assert os.listdir(path.parent) == []


@dataclass(frozen=True)
class Turning(Tally):
    """Its memory becomes something else on the way."""

    def release(self, state, memory, query, answer, noise):
        return State(state.run, state.t), answer


def test_a_memory_that_changes_its_type_is_refused(path):
    session = feed(Turning(2, 6).session(seed=0), 1)
    with pytest.raises(InputError, match="private must have the type Seen to be saved, got State"):
        session.save(path)


# Small refusals of live sessions, each by itself: what is saved, where, and what a file holds.


@pytest.mark.parametrize("value", [0, 3])
def test_whole_numbers(value):
    assert kept_session._whole("rounds", value) == value


@pytest.mark.parametrize("value", [-1, 1.0, True, "1", None])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(InputError, match="session: rounds must be a whole number, got "):
        kept_session._whole("rounds", value)


def test_the_stamps_before_a_state_are_a_list_of_whole_numbers():
    mark = {"generation": 3, "stamp": 9, "follows": [0, 5]}
    assert kept_session.mark(mark) == Stamped(3, 9, (0, 5))
    for follows, words in (
        (5, "`follows` must be a list, got int"),
        ([5, -1], "follows must be a whole number, got -1"),
    ):
        with pytest.raises(InputError, match=f"session: {words}"):
            kept_session.mark({**mark, "follows": follows})


def test_what_is_no_object_is_refused():
    assert kept_session.fields_of("block", {"a": 1}) == {"a": 1}
    with pytest.raises(InputError, match="session: block must be an object, got list"):
        kept_session.fields_of("block", [])


def algorithm(contribution=1.0, horizon=8, claim=True):
    return SimpleNamespace(
        name="it", horizon=horizon, contribution=contribution, claim=PrivacyClaim(1.0) if claim else None
    )


@pytest.mark.parametrize(
    ("given", "unit"),
    [
        (algorithm(), 2.0 ** (4 - 52)),  # a sum of 8 lies below 2^4
        (algorithm(contribution=0.5, horizon=6), 2.0 ** (2 - 52)),
        (algorithm(contribution=math.inf, claim=False), 0.0),
    ],
)
def test_the_grid_of_what_is_summed(given, unit):
    assert turns._unit(given) == unit


def test_a_reward_that_nothing_bounds_is_refused():
    with pytest.raises(InputError, match="session: it does not bound what a reward adds to a sum"):
        turns._unit(algorithm(contribution=math.inf))


class Unplain:
    name = "it"

    @property
    def parameters(self):
        raise TypeError("parameter f is a function")


def test_an_algorithm_that_cannot_be_written_is_refused():
    with pytest.raises(InputError, match="session: the algorithm cannot be saved: parameter f is a function"):
        kept_session.identity(Unplain())


def test_a_file_of_another_algorithm_is_refused():
    mine = small("dp-se")
    stored = kept_session.identity(mine) | {"noise": {}}
    for name in ("algorithm", "parameters"):
        with pytest.raises(InputError, match=f"session: 'here' has {name} 'other', not "):
            Session._of(mine, "here", stored | {name: "other"}, None, True, 0.0)


def test_a_seed_that_nobody_expects_is_refused(quick):
    mine, path = small("dp-se"), quick / "s"
    feed(mine.session(seed=2), 3).save(path)
    with pytest.raises(InputError, match="has a seed, so the noise can be computed"):
        mine.restore(path)
    assert mine.restore(path, seeded=True).rounds == 3


def test_a_session_is_saved_where_it_lives(quick):
    with small("dp-se").session(path=quick / "s") as mine:
        mine.save(quick / "s")
        with pytest.raises(
            InputError, match=r"the session is stored in .*; to move it, close the session, move the file"
        ):
            mine.save(quick / "other")
    assert not (quick / "other").exists()


# Reports get their noise when they arrive: files hold no raw reward that is not named, and laws stay.


PRIVATE = [name for name in registry.names() if small(name).claim is not None]
LOCAL = [name for name in PRIVATE if small(name).claim.trust_model != TrustModel.CENTRAL]
LEVEL = 1e-6  # of each test of a law


def numbers(value):
    """All numbers of a JSON value."""
    if isinstance(value, dict):
        return [number for part in value.values() for number in numbers(part)]
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    if isinstance(value, str) and "0x" in value:
        return [float.fromhex(value)]
    return [float(value)] if isinstance(value, int | float) else []


class Given:
    """What was given: each reward, and the sums over each block and over each arm."""

    def __init__(self):
        self.found, self._block, self._arm = [], {}, {}

    def add(self, arm, reward, ended):
        self._block[arm] = self._block.get(arm, 0.0) + reward
        self._arm[arm] = self._arm.get(arm, 0.0) + reward
        self.found += [reward, self._block[arm], self._arm[arm], *np.cumsum(list(self._block.values()))]
        if ended:
            self._block = {}


def holds(path, given, tolerance=1e-9):
    """Whether a file holds anything that was given."""
    there = np.array(numbers(json.loads(path.read_bytes())))
    return bool((np.abs(there[:, None] - np.array(given.found)) < tolerance).any())


def searched(algorithm, path, batch=1):
    """In how many rounds the file of a run holds a raw reward or a sum of some."""
    rng, given, found = np.random.default_rng(1), Given(), 0
    low, high = algorithm.search_bounds
    session = algorithm.session(noise=Logged(), path=path)
    while not session.finished and session.rounds < 120:
        with session.batch():
            for _ in range(batch):
                if session.finished:
                    break
                arm, reward, before = session.select(), float(rng.uniform(low, high)), session._now.query
                session.update(reward)
                given.add(arm, reward, session._now.query is not before)
        found += holds(path, given)
    return found


@pytest.mark.parametrize("name", LOCAL)
@pytest.mark.parametrize("batch", [1, 7])
def test_the_file_of_a_local_model_never_holds_a_raw_reward(name, batch, quick):
    assert searched(small(name), quick / "s", batch) == 0


@pytest.mark.parametrize("name", ["dp-se", "dp-linear", "tree-sum"])
def test_that_of_a_central_one_does(name, quick):
    """Negative control: the sums of a block, which need no noise before it ends."""
    assert searched(small(name), quick / "s") > 0


def test_nothing_of_a_local_session_in_memory_is_raw():
    assert LOCAL
    for name in LOCAL:
        session = small(name).session(noise=Logged())
        low, high = session._turns.algorithm.search_bounds
        reward = low + (high - low) * 0.765432101
        while not session.finished and session.rounds < 60:
            session.update(reward)
            assert not (np.abs(session._now.sums % reward) < 1e-9)[session._now.sums != 0].any()
        assert session.rounds >= 15, name


# ---------------------------------------------------------------- what is raw


class Kept:
    """Keeps what was drawn, and gives another run the same."""

    def __init__(self, answers=None):
        self.answers, self._again = [] if answers is None else list(answers), answers is not None

    def __call__(self, draw):
        if self._again:
            return self.answers.pop(0)
        out = Seeded(len(self.answers))(draw)
        if draw.hidden is not None and draw.hidden.outcome is not None:
            out = out - 1e9  # rules do not stop
        self.answers.append(out)
        return out


def files(algorithm, noise, seed, path):
    """What the file of a run holds after each round."""
    rng = np.random.default_rng(seed)
    low, high = algorithm.search_bounds
    with algorithm.session(noise=noise, path=path) as session:
        while not session.finished and session.rounds < 150:
            session.update(float(rng.uniform(low, high)))
            yield json.loads(path.read_bytes())


@pytest.mark.parametrize("name", PRIVATE)
def test_what_is_said_to_be_raw_is_what_follows_from_rewards_beside_the_noise(name, quick):
    """Two runs on other rewards are answered the same: what differs in their files is raw, and is named."""
    algorithm, noise = small(name), Kept()
    one = list(files(algorithm, noise, 1, quick / "one"))
    two = list(files(algorithm, Kept(noise.answers), 2, quick / "two"))
    assert len(one) == len(two) > 6
    differing, named = set(), set()
    for here, there in zip(one, two, strict=True):
        assert here["raw"] == there["raw"]
        parts = {"block.sums": lambda record: record["block"]["sums"]}
        parts |= {key: lambda record, key=key: record[key] for key in ("private", "meter")}
        differ = {key for key, part in parts.items() if part(here) != part(there)}
        assert differ <= set(here["raw"])
        same = [key for key in here if key not in ("digest", "private", "meter", "block")]
        if name in LOCAL:
            same += ["private", "meter"]
        assert [here[key] for key in same] == [there[key] for key in same]
        differing |= differ
        named |= set(here["raw"])
    unmetered = {"meter"} if algorithm.claim.curved else set()  # of normal noise no cost is kept
    assert differing - unmetered == named - unmetered
    assert (name in LOCAL) <= (named == set())


# ---------------------------------------------------------------- laws


@dataclass(frozen=True)
class Reports(Blocks):
    """The sum of a block of reports, each with noise of its own."""

    block: int = 3

    @property
    def claim(self):
        return PrivacyClaim(self.epsilon, trust_model="local", observe="reports")

    def release(self, state, memory, query, answer, noise):
        where, slot = np.ones(answer.shape, bool), state.t[:, None]
        scale, count = np.full(answer.shape, 1 / self.epsilon), query.pulls()
        return memory, noise(Draw(answer, scale, state.run, slot, where, count))


def released(algorithm, noise):
    """Noise of all releases of a run on zeros."""
    session = algorithm.session(noise=noise)
    return feed(session, algorithm.horizon, 0.0).state.seen[0]


def before(blocks, count):
    """The noise as it was drawn at the end of a block: by one call, of a sum of reports."""
    shape = (1, blocks)
    draw = Draw(
        *(np.zeros(shape), np.ones(shape), np.zeros(1, np.int64), np.arange(blocks)[None]),
        *(np.ones(shape, bool), np.full(shape, count)),
    )
    return Seeded(11)(draw)[0]


def test_the_law_of_a_released_sum_is_what_it_was():
    """Two-sample tests, each at level 1e-6; the control has the noise of two reports instead of three."""
    found = released(Reports(12_000), Logged(5))
    assert len(found) == 4000
    assert stats.ks_2samp(found, before(20_000, 3)).pvalue > LEVEL
    assert stats.ks_2samp(found, before(20_000, 2)).pvalue < LEVEL


def test_the_law_of_secure_reports_is_what_it_was():
    """The noise has no seed: the control, of one report instead of three, passes once in 10^9 runs."""
    pytest.importorskip("opendp")
    found = released(Reports(9_000), None)
    assert stats.ks_2samp(found, before(20_000, 3)).pvalue > LEVEL
    assert stats.ks_2samp(found, before(20_000, 1)).pvalue < LEVEL


def test_a_report_is_drawn_once_and_the_release_draws_nothing():
    noise = Logged()
    session = feed(Reports(30).session(noise=noise), 2)
    assert len(noise.slots) == 2
    feed(session, 1)
    assert len(noise.slots) == 3
    assert session.state.seen.shape == (1, 1)
    assert session.spent == pytest.approx(1.0)


@dataclass(frozen=True)
class Elsewhere(Reports):
    """Asks for other noise at the end of a block than at its beginning."""

    def release(self, state, memory, query, answer, noise):
        doubled = 1.0 + (answer != 0)
        where, slot = np.ones(answer.shape, bool), state.t[:, None]
        return memory, noise(Draw(answer, doubled / self.epsilon, state.run, slot, where, query.pulls()))


@dataclass(frozen=True)
class Whole(Blocks):
    """Says that it is of the local model, and releases a sum with one noise."""

    block: int = 3

    @property
    def claim(self):
        return PrivacyClaim(self.epsilon, trust_model="local", observe="reports")


def test_reports_that_cannot_get_their_noise_when_they_arrive_are_refused():
    session = feed(Elsewhere(30).session(noise=Logged()), 2)
    with pytest.raises(InputError, match="asks for different noise at the end of a block"):
        session.update(0.5)
    with pytest.raises(InputError, match="must release one sum of reports per block"):
        Whole(30).session(noise=Logged())


# Updates: those that fail change nothing and quote no reward; with a tick they return at its multiples.


def test_an_update_that_fails_changes_nothing():
    """A source that fails leaves the reward out, and the session as it was."""

    class Failing(Counted):
        broken = True

        def __call__(self, draw):
            if self.broken:
                raise RuntimeError("no entropy")
            return super().__call__(draw)

    algorithm, noise = small("dp-se"), Failing()
    session = feed(algorithm.session(noise=noise), first_release(algorithm) - 1)
    before = session._now
    with pytest.raises(RuntimeError, match="entropy"):
        session.update(1.0)
    assert session._now is before
    noise.broken = False
    feed(session, 1)
    assert noise.draws == 2


@dataclass(frozen=True)
class Total(Batch):
    """Private: what the rewards add up to."""

    total: np.ndarray


@dataclass(frozen=True)
class Pure(Blocks):
    """Each release is the sum of all rewards so far."""

    def private(self, run):
        return Total(np.zeros((len(run), 1)))

    def release(self, state, memory, query, answer, noise):
        total = memory.total + answer
        return Total(total), super().release(state, memory, query, total, altered(noise, self.horizon))[1]


class InPlace(Pure):
    """The same, and nothing that it is given stays as it was."""

    def release(self, state, memory, query, answer, noise):
        def source(draw):
            out = noise(draw)
            for array in (draw.value, draw.scale):
                array += 1.0
            return out

        _, out = super().release(state, memory, query, answer, source)
        memory.total[:] += answer
        for array in (answer, state.seen, out):
            array += 0.0 if array is out else 1.0
        state.t[:] += 7
        return memory, out

    def decide(self, state, query, released):
        after = super().decide(state, query, released.copy())
        for array in (state.t, state.seen, released):
            array += 1
        return after


@pytest.mark.parametrize("saved", [False, True])
def test_an_algorithm_that_works_in_place_changes_nothing_of_the_session(saved, quick, monkeypatch):
    """Else a reward would count twice, once for an update that failed: in the source, or on the disk."""

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    class Failing(Counted):
        broken = False

        def __call__(self, draw):
            found = super().__call__(draw)
            if self.broken:
                raise RuntimeError("no entropy")
            return found

    both = []
    for number, kind in enumerate((Pure, InPlace)):
        noise = Failing()
        session = kind(6).session(noise=noise, path=quick / f"s{number}" if saved else None)
        both.append(session)
        while not session.finished:
            noise.broken = True
            with pytest.raises(RuntimeError, match="entropy"):
                session.update(0.5)
            noise.broken = False
            with monkeypatch.context() as patch, pytest.raises(InputError) if saved else nullcontext():
                patch.setattr(os, "fsync", full)
                session.update(0.5)
            if saved:
                session.update(0.5)
    pure, other = both
    assert pure._now.memory.total.tolist() == other._now.memory.total.tolist() == [[3.0]]
    assert pure.state.seen.tolist() == other.state.seen.tolist()
    assert pure.spent == pytest.approx(1.0)
    assert other.spending() == pure.spending()


class Spoiling(Wrapped):
    """Leaves nothing of what it is given."""

    def release(self, state, memory, query, answer, noise):
        return spoiled(self.inner.release(state, memory, query, answer, noise), state, memory, query, answer)

    def decide(self, state, query, released):
        return spoiled(self.inner.decide(state, query, released), state, query, released)


def spoiled(found, *given):
    """A copy of what was found, before all arrays that were given are overwritten."""
    found, given = copy.deepcopy(found), list(given)
    while given:
        one = given.pop()
        if is_dataclass(one):
            given += [getattr(one, field.name) for field in fields(one)]
        elif isinstance(one, np.ndarray) and one.flags.writeable:
            one[...] = 0
    return found


@pytest.mark.parametrize("name", ["dp-se", "dp-ucb", "tree-sum", "lazy-dp-ts", "ldp-ucb", "ldp-linear"])
def test_an_algorithm_may_overwrite_what_it_is_given(name):
    """With a memory and without; reports of a block ask for their noise at its start."""
    ends = []
    for algorithm in (small(name), Spoiling(small(name))):
        session = algorithm.session(noise=Counted())
        while not session.finished and session.rounds < 400:
            session.update(0.5)
        ends.append(json.dumps(statefile.pack("x", session.state, session.state)))
    assert ends[0] == ends[1]


class Loud(float):
    def __format__(self, spec):
        return "0.7654321"

    __str__ = __repr__ = lambda self: "0.7654321"


SECRETS = [
    *(1.7654321, np.float64(-0.7654321), Loud(7.0), "0.7654321", [0.7654321], 10**400, -(10**400), None),
    *(np.array([0.7654321]), np.complex128(0.7654321 + 1j), complex(0.7654321), Fraction(7654321, 10**7)),
    *(Decimal("0.7654321"), float("inf"), float("nan"), np.str_("0.7654321"), b"0.7654321"),
]


@pytest.mark.parametrize("reward", SECRETS, ids=lambda reward: type(reward).__name__)
@pytest.mark.parametrize("name", ["dp-se", "ldp-ucb", "dp-robust-se"])
def test_a_refused_reward_is_not_quoted(name, reward):
    session = small(name).session(noise=Counted())
    if session._turns.algorithm.bounds[1] == math.inf and isinstance(reward, float) and math.isfinite(reward):
        return  # every number is within the bounds
    with pytest.raises(InputError, match="reward must be finite and lie within") as error:
        session.update(reward)
    said = "".join(traceback.format_exception(error.value))
    assert "7654321" not in said
    assert "e+400" not in said
    assert "0" * 100 not in said
    assert error.value.__cause__ is None
    assert session.rounds == 0


def test_a_reward_that_adds_too_much_is_not_quoted():
    class Lying(Blocks):
        contribution = 0.25

    session = Lying(4).session(noise=Counted())
    with pytest.raises(InputError, match=r"more to a sum than 0\.25") as error:
        session.update(0.7654321)
    assert "7654321" not in str(error.value)


# ---------------------------------------------------------------- ticks


class Clock:
    """A clock of its own: each look takes some time, and sleeping takes no time of ours."""

    def __init__(self, look):
        self.now, self.look = 0.0, look

    def monotonic(self):
        self.now += self.look
        return self.now

    def sleep(self, seconds):
        assert seconds >= 0
        self.now += seconds


@pytest.mark.parametrize("look", [0.0, 0.003, 0.0499, 0.05, 0.07, 0.3])
def test_an_update_returns_at_ticks(look, monkeypatch):
    """At whole multiples of the tick after its call, also when it is refused."""
    clock = Clock(look)
    monkeypatch.setattr(sessions, "time", clock)
    session = Blocks(20, 2).session(noise=Counted(), tick=0.05)
    for reward in (0.5, 0.5, 7.0, 0.5, "no", 0.5):
        begun = clock.now + look  # the first look
        try:
            session.update(reward)
        except InputError:
            assert reward in (7.0, "no")
        took = clock.now - begun
        assert took == pytest.approx(0.05 * round(took / 0.05), abs=1e-9)
        assert took >= look - 1e-9
    assert session.rounds == 4


@pytest.mark.parametrize("tick", [-1e-9, float("nan"), float("inf"), 60.001, "1", None])
def test_a_tick_is_some_seconds(tick):
    for most in (0, 60):
        assert Blocks(4).session(noise=Counted(), tick=most).rounds == 0
    with pytest.raises(InputError, match="tick must be a number of seconds from 0 to 60"):
        Blocks(4).session(noise=Counted(), tick=tick)
