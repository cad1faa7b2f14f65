"""Saved sessions: what is written, what is refused, and what a second draw of one value would cost."""

import contextlib
import errno
import json
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifiable_dp as vdp
from verifiable_dp import make
from verifiable_dp.core import files, statefile
from verifiable_dp.core.algorithm import Algorithm, Batch, Query, State
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.noise import Divergence, Recorder, Replayer, Secure, Seeded, altered
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.alignment import replay as alignment
from verifiable_dp.evidence.alignment.replay import one_sided
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import Wrapped

HYPOTHESIS = settings(max_examples=300, deadline=None, derandomize=True)
FRESH = 1 << 50  # far from the slots of any algorithm


def small(name):
    auditor = registry.auditor(name)
    return auditor.algorithm(**{**auditor.instance, **auditor.small})


def feed(session, rounds, reward=0.5):
    """Take `rounds` more rewards."""
    for _ in range(rounds):
        session.select()
        session.update(reward)
    return session


def first_release(algorithm):
    """Round of the first release."""
    return int(algorithm.query(algorithm.start(np.zeros(1, np.int64))).rounds[0])


class Counted:
    """Counts the values that are drawn."""

    def __init__(self):
        self.inner, self.draws = Seeded(0), 0

    def __call__(self, draw):
        self.draws += 0 if draw.hidden else int(draw.where.sum())
        return self.inner(draw)


EPSILON = {name: small(name).claim.epsilon for name in ("dp-se", "dp-ucb", "dp-nas", "dp-linear")}


def restored(path):
    """A seeded session with the promise that the algorithm has in these tests."""
    epsilon = 1.0
    with contextlib.suppress(OSError, ValueError, TypeError, LookupError, RecursionError):
        content = Path(path).read_bytes() if Path(path).is_file() else b""
        epsilon = EPSILON[json.loads(content)["algorithm"]]
    return vdp.restore(path, epsilon=epsilon, seeded=True)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "session.json"


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
    assert record["parameters"] == session._algorithm.parameters
    assert record["rounds"] == record["block"]["done"] == 10
    assert record["noise"] == {"kind": "seeded", "seed": 3, "path": []}
    sums = [float.fromhex(value) for value in record["block"]["sums"]["values"]]
    assert sums == session._sums[0].tolist()
    assert sum(sums) == pytest.approx(1.0)


def test_a_catalogue_algorithm_is_restored_by_its_name(path):
    session = feed(small("dp-linear").session(seed=1), 7)
    session.save(str(path))
    again = restored(path)
    assert again._algorithm == session._algorithm
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


# ---------------------------------------------------------------- secure noise


def past_release(algorithm):
    """A session with secure noise one round after its first release; one in eighty of dp-nas stops there."""
    for _ in range(40):
        session = feed(algorithm.session(), first_release(algorithm), 0.0)
        if not session.finished:
            return feed(session, 1, 0.0)
    pytest.fail("every session stopped at its first release")


def test_secure_noise_is_kept_and_not_drawn_again(path):
    """The hidden noise of a threshold and released nodes come back as they were."""
    for name, where in (("dp-nas", "_memory"), ("dp-ucb", "_state"), ("tree-sum", "_memory")):
        algorithm = small(name)
        session = past_release(algorithm)
        session.save(path)
        back = algorithm.restore(path, seeded=True)
        assert isinstance(back._noise, Secure)
        kept, now = getattr(session, where), getattr(back, where)
        for key, value in vars(kept).items():
            assert np.array_equal(value, getattr(now, key), equal_nan=True)
        if name == "dp-nas":
            assert np.isfinite(kept.threshold_noise).all()


def test_a_source_that_was_given_has_to_be_given_again(path):
    algorithm = small("dp-se")
    feed(algorithm.session(noise=Counted()), 3).save(path)
    with pytest.raises(InputError, match="noise: the saved session's source is given"):
        algorithm.restore(path, seeded=True)
    algorithm.restore(path, noise=Counted())
    feed(algorithm.session(seed=0), 3).save(path)
    with pytest.raises(InputError, match="noise: the saved session's source is seeded"):
        algorithm.restore(path, noise=Counted())


@pytest.fixture
def forks(path):
    """A session saved right before its first release, and its source."""
    algorithm, noise = small("dp-se"), Counted()
    session = feed(algorithm.session(noise=noise), first_release(algorithm) - 1)
    session.save(path)
    return algorithm, noise, session


def test_of_two_copies_only_one_draws(path, forks):
    algorithm, noise, _ = forks
    one, two = (algorithm.restore(path, noise=noise) for _ in range(2))
    feed(one, 1)
    assert noise.draws == 2
    before = (two.rounds, two.select(), two._sums.copy())
    for _ in range(2):
        with pytest.raises(InputError, match="another session may have gone on"):
            two.update(0.5)
    assert (two.rounds, two.select()) == before[:2]
    assert np.array_equal(two._sums, before[2])
    for target in (path, path.with_name("other")):
        with pytest.raises(InputError, match="another session may have gone on"):
            two.save(target)
    assert os.listdir(path.parent) == [path.name + ".used"]
    assert noise.draws == 2


def test_the_saved_session_and_its_copy_are_two_copies(path, forks):
    algorithm, noise, session = forks
    feed(algorithm.restore(path, noise=noise), 1)
    with pytest.raises(InputError, match="another session may have gone on"):
        session.update(0.5)
    assert noise.draws == 2


def test_a_file_is_used_once_its_session_draws(path, forks):
    algorithm, noise, session = forks
    feed(session, 1)
    used = path.with_name(path.name + ".used")
    for name in (path, used):
        with pytest.raises(InputError, match="again=True"):
            algorithm.restore(name, noise=noise)
    for name in (path, used):
        back = algorithm.restore(name, noise=noise, again=True)
        assert back.rounds == session.rounds - 1
    feed(back, 1)
    assert noise.draws == 4  # what `again` says: two values were released twice


def test_a_session_goes_on_from_its_newest_file(path, forks):
    algorithm, noise, session = forks
    feed(session, 1)
    session.save(path)
    assert os.listdir(path.parent) == [path.name]  # the used file is gone
    later = path.with_name("later.json")
    session.save(later)
    with pytest.raises(InputError, match="again=True"):
        algorithm.restore(path, noise=noise)
    back = algorithm.restore(later, noise=noise)
    feed(back, algorithm.horizon - back.rounds)
    whole = Counted()
    feed(algorithm.session(noise=whole), algorithm.horizon)
    assert noise.draws == whole.draws


def test_rounds_without_a_release_cost_nothing_twice(path):
    """Within a block nothing is drawn, so that the file stays good."""
    algorithm, noise = small("dp-se"), Counted()
    session = algorithm.session(noise=noise)
    session.save(path)
    for _ in range(2):
        feed(session, first_release(algorithm) - 1)
        session = algorithm.restore(path, noise=noise)
    assert session.rounds == noise.draws == 0


def test_a_seeded_file_is_never_used_up(path):
    algorithm = small("dp-ucb")
    feed(algorithm.session(seed=5), 2).save(path)
    ends = [
        feed(algorithm.restore(path, seeded=True), algorithm.horizon - 2).state.estimate for _ in range(2)
    ]
    assert np.array_equal(*ends)
    assert os.listdir(path.parent) == [path.name]


# ---------------------------------------------------------------- what a second draw costs


def transcript(algorithm, noise, table, path, how):
    """Play a table, interrupted around its releases; `how` says what is drawn after the interruption."""
    stop = first_release(algorithm) - 1

    def go_on(session, until):
        while not session.finished and session.rounds < until:
            session.update(table[session.rounds, session.select()])
        return session

    session = go_on(algorithm.session(noise=noise), stop)
    session.save(path)
    if how == "saved after the release":
        go_on(session, stop + 1).save(path)
        return go_on(algorithm.restore(path, noise=noise), algorithm.horizon)
    go_on(session, algorithm.horizon)
    after = altered(noise, reslot=lambda slot: slot + FRESH) if how == "fresh noise" else noise
    return go_on(algorithm.restore(path, noise=after, again=True), algorithm.horizon)


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
def test_drawing_again_costs_epsilon_again(name, path):
    """An old file costs 2 epsilon; one saved after the release, or noise of the same seed, epsilon."""
    algorithm = small(name)
    # The tree's budget is spent where the first reward enters every level.
    pair, epsilon = registry.auditor(name).pairs(algorithm)[0], algorithm.claim.epsilon
    right = cost(algorithm, pair, path, "saved after the release")
    assert right == pytest.approx((epsilon, epsilon))
    assert cost(algorithm, pair, path, "fresh noise") == pytest.approx((2 * epsilon, 2 * epsilon))
    assert cost(algorithm, pair, path, "the same noise") == pytest.approx((epsilon, epsilon))


def test_the_same_noise_for_other_rewards_costs_everything(path):
    """A seed is for experiments: after an interruption other rewards may come, under the same noise."""
    algorithm = small("tree-sum")

    def twice(noise, reward):
        session = algorithm.session(noise=noise)
        session.save(path)
        feed(session, 1, reward)
        feed(algorithm.restore(path, noise=noise, again=True), 1, 0.0)
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
        instance = alignment.Instance(restored, epsilon)
        check, _ = alignment.check(instance, instance, pairs, alignment.Search(0, 10), visible=True)
        outcomes.append((check.verdict, check.statistics["max_cost"]))
    (right, spent), (wrong, twice) = outcomes
    assert (right, wrong) == ("not_refuted", "refuted")
    assert spent == pytest.approx(epsilon)
    assert twice == pytest.approx(2 * epsilon)


# ---------------------------------------------------------------- what is refused


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Folder with one file for each of three kinds of session, mid-way; names by algorithm."""
    folder = tmp_path_factory.mktemp("saved")
    for name in ("dp-se", "dp-ucb", "dp-nas"):
        feed(small(name).session(seed=2), 5).save(folder / name)
    return folder


def refused(path, match="session: "):
    with pytest.raises(InputError, match=match) as error:
        restored(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["dp-se", "dp-ucb", "dp-nas"])
def test_every_flipped_bit_is_found(name, saved, path):
    good = (saved / name).read_bytes()
    path.write_bytes(good)
    assert restored(path).rounds == 5
    for index in range(len(good)):
        bad = bytearray(good)
        bad[index] ^= 1 << index % 8
        path.write_bytes(bad)
        refused(path)


@given(st.data())
@HYPOTHESIS
def test_every_edit_is_found(saved, data):
    good = (saved / data.draw(st.sampled_from(["dp-se", "dp-ucb", "dp-nas"]))).read_bytes()
    first = data.draw(st.integers(0, len(good)))
    last = data.draw(st.integers(first, len(good)))
    bad = good[:first] + data.draw(st.binary(max_size=8)) + good[last:]
    path = saved / "edited"
    path.write_bytes(bad)
    with contextlib.nullcontext() if bad == good else pytest.raises(InputError, match="session: "):
        restored(path)


def test_every_truncation_is_found(saved, path):
    good = (saved / "dp-se").read_bytes()
    for length in range(len(good)):
        path.write_bytes(good[:length])
        refused(path)


@pytest.mark.parametrize(
    "contents",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"1" * 5000,
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"digest":NaN}',
        b'{"digest":1}',
    ],
)
def test_other_files_are_refused(contents, path):
    path.write_bytes(contents)
    refused(path, "not a session file, or damaged|digest")


def test_the_same_record_in_another_spelling_is_refused(saved, path):
    """Spaces and repeated keys change no value, but nobody wrote them."""
    good = (saved / "dp-se").read_text()
    for bad in (
        json.dumps(json.loads(good)),
        good.replace('"version":2', '"version":2,"version":2'),
        good + " ",
    ):
        path.write_text(bad)
        refused(path, "digest")


def forge(source, target, change):
    """A changed record under a right digest."""
    record = json.loads(source.read_bytes())
    del record["digest"]
    record = change(record) or record
    target.write_bytes(statefile.seal(record)[0])


def setter(*keys, value):
    def change(record):
        for key in keys[:-1]:
            record = record[key]
        if value is None:
            del record[keys[-1]]
        else:
            record[keys[-1]] = value

    return change


NAN, ONE = {"dtype": "<f8", "shape": [1, 2], "values": ["nan", "0x0p0"]}, "0x1p0"


def whole(*values):
    return {"dtype": "<i8", "shape": [len(values)], "values": list(values)}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (setter("format", value="other"), "format"),
        (setter("version", value=1), "version 2, got 'verifiable-dp session', 1"),
        (setter("version", value="2"), "version"),
        (setter("noise", value=None), "must hold"),
        (lambda r: {**r, "extra": 1}, "must hold"),
        (lambda r: dict(reversed(r.items())), "must hold"),
        (setter("algorithm", value="dp-see"), "dp-see"),
        (setter("algorithm", value="ucb1"), "ucb1"),
        (setter("algorithm", value=7), "algorithm"),
        (setter("parameters", value=[1]), "parameters"),
        (setter("parameters", "epsilon", value=-1.0), "epsilon"),
        (setter("parameters", "epsilon", value="1"), "epsilon"),
        (setter("parameters", "colour", value=1), "colour"),
        (setter("parameters", "n_arms", value=3), "public.active must be an array like"),
        (setter("parameters", "horizon", value=100), "block is not the one"),
        (setter("noise", value=[]), "noise"),
        (setter("noise", "kind", value="other"), "noise"),
        (setter("noise", "seed", value=-1), "noise"),
        (setter("noise", "seed", value=1.5), "noise"),
        (setter("noise", "path", value=None), "noise"),
        (setter("noise", "kind", value="given"), "noise"),
        (setter("rounds", value=6), "rounds"),
        (setter("rounds", value="5"), "rounds"),
        (setter("public", value=[]), "public must be"),
        (setter("public", "epoch", value=None), "public must hold run, t, epoch, active"),
        (setter("public", "epoch", value=whole(10**6)), "public state is not valid"),
        (setter("public", "epoch", value=whole(3)), "block is not the one"),
        (setter("public", "epoch", value=whole()), "public.epoch must be an array like"),
        (setter("public", "epoch", value=whole(1, 1)), "public.epoch must be an array like"),
        (setter("public", "epoch", value=whole(2**63)), "public.epoch is not an array"),
        (setter("public", "epoch", value=whole(True)), "public.epoch is not an array"),
        (setter("public", "epoch", value=whole(1.0)), "public.epoch is not an array"),
        (
            setter("public", "epoch", value={"dtype": "<f8", "shape": [1], "values": [ONE]}),
            "must be an array like",
        ),
        (setter("public", "epoch", value={"dtype": "O", "shape": [1], "values": [1]}), "not an array"),
        (setter("public", "epoch", value={"dtype": "<i8", "shape": [2], "values": [1]}), "not an array"),
        (setter("public", "epoch", value={"dtype": "<i8", "shape": [-1], "values": [1]}), "not an array"),
        (setter("public", "epoch", value={"dtype": "<i8", "shape": 1, "values": [1]}), "not an array"),
        (setter("public", "epoch", value=7), "public.epoch must be"),
        (setter("public", "run", value=whole(1)), "rounds"),
        (setter("public", "t", value=whole(10**9)), "block is not the one"),
        (setter("public", "t", value=whole(-5)), "block is not the one"),
        (setter("private", value=None), "must hold"),
        (setter("private", "run", value=None), "private must hold run"),
        (setter("block", value=1), "block must be an object"),
        (setter("block", "done", value=-1), "block.done"),
        (setter("block", "done", value=10**6), "block.done"),
        (setter("block", "done", value=5.0), "block.done"),
        (setter("block", "done", value=None), "block.done"),
        (setter("block", "done", value=4), "rounds"),
        (setter("block", "sums", value=NAN), "block.sums must not hold NaN"),
        (setter("block", "sums", value={**NAN, "shape": [2, 1]}), "block.sums must be an array like"),
        (setter("block", "sums", value={**NAN, "values": ["x", ONE]}), "block.sums is not an array"),
        (setter("block", "sums", value=None), "block.sums must be"),
        (setter("block", "active", value=None), "block is not the one"),
    ],
)
def test_a_record_that_is_none_is_refused_under_any_digest(change, match, saved, path):
    forge(saved / "dp-se", path, lambda record: record)
    assert path.read_bytes() == (saved / "dp-se").read_bytes()
    forge(saved / "dp-se", path, change)
    refused(path, match)


def test_a_nan_is_refused_where_a_fresh_session_has_none(saved, path):
    record = json.loads((saved / "dp-ucb").read_bytes())
    for part, field in (("private", "open"), ("public", "estimate"), ("public", "nodes")):
        stored = record[part][field]
        bad = {**stored, "values": ["nan", *stored["values"][1:]]}
        forge(saved / "dp-ucb", path, setter(part, field, value=bad))
        refused(path, f"{part}.{field} must not hold NaN")
    estimate = json.loads((saved / "dp-nas").read_bytes())["public"]["estimate"]
    assert estimate["values"] == ["nan"]  # the rule has not halted


def test_another_algorithm_or_other_parameters_are_refused(saved):
    algorithm = small("dp-se")
    assert algorithm.restore(saved / "dp-se", seeded=True).rounds == 5
    with pytest.raises(InputError, match="has algorithm 'dp-se', not 'dp-ucb'"):
        small("dp-ucb").restore(saved / "dp-se")
    with pytest.raises(InputError, match="has parameters"):
        replace(algorithm, epsilon=2.0).restore(saved / "dp-se")


@pytest.mark.parametrize("bad", [None, 7, "", "a\0b", b"", 1.5])
def test_a_bad_path_is_refused(bad):
    algorithm = small("dp-se")
    for call in (algorithm.session(seed=0).save, algorithm.restore, restored):
        with pytest.raises(InputError, match="path must be"):
            call(bad)


def test_files_that_cannot_be_read_are_refused(tmp_path, monkeypatch):
    refused(tmp_path / "missing", "cannot be read: No such file")
    refused(tmp_path, "cannot be read: Is a directory")
    refused(tmp_path / "missing" / "session", "cannot be read")
    loop, pipe, large = (tmp_path / name for name in ("loop", "pipe", "large"))
    loop.symlink_to(loop)
    refused(loop, "cannot be read")
    os.mkfifo(pipe)
    refused(pipe, "not a regular file")
    with large.open("wb") as file:
        file.truncate(statefile.MOST_BYTES + 1)
    refused(large, "at most 67108864 bytes")

    def forbidden(*arguments):
        raise PermissionError(errno.EACCES, "Permission denied")

    large.write_bytes(b"{}")
    monkeypatch.setattr(statefile.files, "opened", forbidden)
    refused(large, "cannot be read: Permission denied")


# ---------------------------------------------------------------- saving fails


@pytest.mark.parametrize("step", ["write", "fsync", "replace", "mkstemp"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_save_that_fails_leaves_everything_as_it_was(step, error, path, monkeypatch):
    algorithm, noise = small("dp-se"), Counted()
    session = feed(algorithm.session(noise=noise), 3)
    session.save(path)
    before = path.read_bytes()
    feed(session, 2)

    def fail(*arguments, **named):
        raise error

    class Full:
        """A file on a full disk."""

        def __init__(self, handle, mode):
            self.file = os.fdopen(handle, mode)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

        write = fail

    def opening(file, mode):
        return Full(file, mode) if isinstance(file, int) else open(file, mode)

    with monkeypatch.context() as patch:
        if step == "write":
            patch.setattr(files, "open", opening, raising=False)
        elif step == "mkstemp":
            patch.setattr(files.tempfile, "mkstemp", fail)
        else:
            patch.setattr(files.os, step, fail)
        expected = InputError if isinstance(error, OSError) else KeyboardInterrupt
        with pytest.raises(expected, match="cannot be written: No space" if expected is InputError else None):
            session.save(path)
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == before
    assert algorithm.restore(path, noise=noise).rounds == 3
    session.save(path)
    assert algorithm.restore(path, noise=noise).rounds == 5


def test_places_that_cannot_be_written_are_refused(tmp_path, monkeypatch):
    session = small("dp-se").session(seed=0)
    for place, match in (
        (tmp_path, "not a regular file"),
        (tmp_path / "missing" / "session", "cannot be written: No such file"),
        (tmp_path / "session.used", "must not end with .used"),
    ):
        with pytest.raises(InputError, match=match):
            session.save(place)
    monkeypatch.setattr(statefile, "MOST_BYTES", 500)
    with pytest.raises(InputError, match="at most 500 bytes"):
        session.save(tmp_path / "session")
    assert os.listdir(tmp_path) == []


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
    assert session._memory.reward.tolist() == [[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]]
    with pytest.raises(InputError, match="unknown name 'tally'"):
        restored(path)


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


# ---------------------------------------------------------------- an update that fails


def test_an_update_that_fails_changes_nothing(path):
    """A source that fails leaves the reward out, and the session as it was."""

    class Failing(Counted):
        broken = True

        def __call__(self, draw):
            if self.broken:
                raise RuntimeError("no entropy")
            return super().__call__(draw)

    algorithm, noise = small("dp-se"), Failing()
    session = feed(algorithm.session(noise=noise), first_release(algorithm) - 1)
    sums = session._sums.copy()
    with pytest.raises(RuntimeError, match="entropy"):
        session.update(1.0)
    assert np.array_equal(session._sums, sums)
    assert session.rounds == first_release(algorithm) - 1
    noise.broken = False
    feed(session, 1)
    assert noise.draws == 2
