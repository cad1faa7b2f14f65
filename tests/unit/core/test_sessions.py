"""Sessions: what is written and when, what a second draw of one value would cost, and updates that fail."""

import contextlib
import errno
import json
import os
import stat
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifiable_dp as vdp
from tests.live import Blocks, Counted, feed, first_release, small
from verifiable_dp import make
from verifiable_dp.core import rights, statefile
from verifiable_dp.core.algorithm import Algorithm, Batch, Query, State
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.noise import Secure, Seeded, altered
from verifiable_dp.core.rights import FileCounter
from verifiable_dp.core.tapes import Divergence, Recorder, Replayer
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
    assert "in the middle of" in said[1]
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
    with pytest.raises(InputError, match="is open in another session"):
        algorithm.restore(path, noise=noise)
    feed(session, 1).close()
    with algorithm.restore(path, noise=noise) as back:
        assert back.state.seen.tolist() == session.state.seen.tolist()


def test_places_that_cannot_be_written_are_refused(tmp_path, monkeypatch):
    for session in (small("dp-se").session(seed=0), small("dp-se").session(noise=Counted())):
        for place, match in (
            (tmp_path, "is a folder|exists"),
            (tmp_path / "missing" / "session", "cannot be written: (No such file|no folder)"),
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
    with pytest.raises(InputError, match="exists; restore the session in it"):
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
        (Tally(2, 6, "list"), "private must be arrays in dataclasses to be saved, got list"),
        (Tally(2, 6, "object"), "private.reward must be an array like"),
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
    with pytest.raises(InputError, match="private must stay a Seen to be saved, got State"):
        session.save(path)
