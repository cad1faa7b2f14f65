"""What `restore` asks for: who can write a session's file chooses its noise, and damage is found."""

import contextlib
import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifiable_dp as vdp
from tests.live import feed, small
from verifiable_dp.core import rights, statefile
from verifiable_dp.core.validate import InputError

pytest.importorskip("opendp")
HYPOTHESIS = settings(max_examples=300, deadline=None, derandomize=True)
EPSILON = {name: small(name).claim.epsilon for name in ("dp-se", "dp-ucb", "dp-nas", "dp-linear")}


def restored(path):
    """A seeded session with the promise that the algorithm has in these tests."""
    epsilon = 1.0
    with contextlib.suppress(OSError, ValueError, TypeError, LookupError, RecursionError):
        content = Path(path).read_bytes() if Path(path).is_file() else b""
        epsilon = EPSILON[json.loads(content)["algorithm"]]
    return vdp.restore(path, epsilon=epsilon, seeded=True)


# ---------------------------------------------------------------- damage


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
    refused(path, "not a session file, or is damaged|digest")


def test_the_same_record_in_another_spelling_is_refused(saved, path):
    """Spaces and repeated keys change no value, but nobody wrote them."""
    good = (saved / "dp-se").read_text()
    for bad in (
        json.dumps(json.loads(good)),
        good.replace('"version":4', '"version":4,"version":4'),
        good + " ",
    ):
        path.write_text(bad)
        refused(path, "digest")


def forge(source, target, change):
    """A changed record under a right digest."""
    record = json.loads(source.read_bytes())
    del record["digest"]
    record = change(record) or record
    target.write_bytes(statefile.seal(record))


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
        (setter("version", value=2), "version 4, got 'verifiable-dp session', 2"),
        (setter("version", value="3"), "version"),
        (setter("noise", value=None), "must contain"),
        (lambda r: {**r, "extra": 1}, "must contain"),
        (lambda r: dict(reversed(r.items())), "must contain"),
        (setter("algorithm", value="dp-see"), "dp-see"),
        (setter("algorithm", value="ucb1"), "ucb1"),
        (setter("algorithm", value=7), "algorithm"),
        (setter("parameters", value=[1]), "parameters"),
        (setter("parameters", "epsilon", value=-1.0), "epsilon"),
        (setter("parameters", "epsilon", value="1"), "epsilon"),
        (setter("parameters", "colour", value=1), "colour"),
        (setter("parameters", "n_arms", value=3), "public.active must be an array with the same form"),
        (setter("parameters", "horizon", value=100), "block does not follow"),
        (setter("noise", value=[]), "noise"),
        (setter("noise", "kind", value="other"), "noise"),
        (setter("noise", "seed", value=-1), "noise"),
        (setter("noise", "seed", value=1.5), "noise"),
        (setter("noise", "path", value=None), "noise"),
        (setter("noise", "kind", value="given"), "noise"),
        (setter("rounds", value=6), "rounds"),
        (setter("rounds", value="5"), "rounds"),
        (setter("public", value=[]), "public must have the same form"),
        (setter("public", "epoch", value=None), "public must contain run, t, epoch, active"),
        (setter("public", "epoch", value=whole(10**6)), "public state is not valid"),
        (setter("public", "epoch", value=whole(3)), "block does not follow"),
        (setter("public", "epoch", value=whole()), "public.epoch must be an array with the same form"),
        (setter("public", "epoch", value=whole(1, 1)), "public.epoch must be an array with the same form"),
        (setter("public", "epoch", value=whole(2**63)), "public.epoch is not an array"),
        (setter("public", "epoch", value=whole(True)), "public.epoch is not an array"),
        (setter("public", "epoch", value=whole(1.0)), "public.epoch is not an array"),
        (
            setter("public", "epoch", value={"dtype": "<f8", "shape": [1], "values": [ONE]}),
            "must be an array with the same form",
        ),
        (setter("public", "epoch", value={"dtype": "O", "shape": [1], "values": [1]}), "not an array"),
        (setter("public", "epoch", value={"dtype": "<i8", "shape": [2], "values": [1]}), "not an array"),
        (setter("public", "epoch", value={"dtype": "<i8", "shape": [-1], "values": [1]}), "not an array"),
        (setter("public", "epoch", value={"dtype": "<i8", "shape": 1, "values": [1]}), "not an array"),
        (setter("public", "epoch", value=7), "public.epoch must have the same form"),
        (setter("public", "run", value=whole(1)), "rounds"),
        (setter("public", "t", value=whole(10**9)), "block does not follow"),
        (setter("public", "t", value=whole(-5)), "block does not follow"),
        (setter("private", value=None), "must contain"),
        (setter("private", "run", value=None), "private must contain run"),
        (setter("block", value=1), "block must be an object"),
        (setter("block", "done", value=-1), "block.done"),
        (setter("block", "done", value=10**6), "block.done"),
        (setter("block", "done", value=5.0), "block.done"),
        (setter("block", "done", value=None), "block.done"),
        (setter("block", "done", value=4), "rounds"),
        (setter("block", "sums", value=NAN), "block.sums must not contain NaN"),
        (
            setter("block", "sums", value={**NAN, "shape": [2, 1]}),
            "block.sums must be an array with the same form",
        ),
        (setter("block", "sums", value={**NAN, "values": ["x", ONE]}), "block.sums is not an array"),
        (setter("block", "sums", value=None), "block.sums must have the same form"),
        (setter("block", "active", value=None), "block does not follow"),
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
        refused(path, f"{part}.{field} must not contain NaN")
    estimate = json.loads((saved / "dp-nas").read_bytes())["public"]["estimate"]
    assert estimate["values"] == ["nan"]  # the rule has not halted


def test_another_algorithm_or_other_parameters_are_refused(saved):
    algorithm = small("dp-se")
    assert algorithm.restore(saved / "dp-se", seeded=True).rounds == 5
    with pytest.raises(InputError, match="has algorithm 'dp-se', not 'dp-ucb'"):
        small("dp-ucb").restore(saved / "dp-se")
    with pytest.raises(InputError, match="has parameters"):
        replace(algorithm, epsilon=2.0).restore(saved / "dp-se")


@pytest.mark.parametrize("bad", [None, 7, "", ".", "/", "a\0b", b"", 1.5])
def test_a_bad_path_is_refused(bad):
    algorithm = small("dp-se")
    for call in (algorithm.session(seed=0).save, algorithm.restore, restored):
        with pytest.raises(InputError, match="path must be"):
            call(bad)


def test_files_that_cannot_be_read_are_refused(tmp_path, monkeypatch):
    refused(tmp_path / "missing", "cannot be read: No such file")
    refused(tmp_path, "Is a directory|not a regular file")
    refused(tmp_path / "missing" / "session", "cannot be read")
    loop, pipe, large = (tmp_path / name for name in ("loop", "pipe", "large"))
    loop.symlink_to(loop)
    refused(loop, "cannot be read")
    os.mkfifo(pipe)
    refused(pipe, "not a regular file")
    with large.open("wb") as file:
        file.truncate(statefile.MOST_BYTES + 1)
    refused(large, "larger than 64 MiB")
    with pytest.raises(InputError, match="larger than 64 MiB"):
        ALGORITHM.restore(large)

    def forbidden(*arguments):
        raise PermissionError(errno.EACCES, "Permission denied")

    large.write_bytes(b"{}")
    with monkeypatch.context() as patch:
        patch.setattr(rights.os, "open", forbidden)
        refused(large, "cannot be read: Permission denied")


# ---------------------------------------------------------------- who wrote it

KEY = b"a secret of more than 16 bytes"
ALGORITHM = vdp.make("dp-se", n_arms=2, epsilon=1.0, horizon=300)


@pytest.fixture
def path(tmp_path):
    """The file of a session with secure noise."""
    session = ALGORITHM.session()
    for _ in range(3):
        session.select()
        session.update(0.5)
    session.save(tmp_path / "session.json")
    return tmp_path / "session.json"


def edited(path, key=None, **changes):
    """What somebody who can write the file makes of it: other values under a digest that fits."""
    record = {**json.loads(path.read_bytes()), **changes}
    record.pop("digest")
    path.write_bytes(statefile.seal(record, key))


SEED = {"kind": "seeded", "seed": 7, "path": []}


def test_secure_noise_that_was_edited_to_a_seed_is_refused(path):
    edited(path, noise=SEED)
    for restore in (lambda: ALGORITHM.restore(path), lambda: vdp.restore(path, epsilon=1.0)):
        with pytest.raises(InputError, match=r"has a seed, .*seeded=True"):
            restore()
    assert vdp.restore(path, epsilon=1.0, seeded=True).rounds == 3
    assert ALGORITHM.restore(path, seeded=True).rounds == 3


def test_the_expected_epsilon_is_asked_for(path):
    with pytest.raises(TypeError, match="epsilon"):
        vdp.restore(path)
    with pytest.raises(InputError, match=r"must be 1\.0, 0\.0, as dp-se promises, .*; got 0\.5, 0\.0"):
        vdp.restore(path, epsilon=0.5)
    with pytest.raises(InputError, match="got None"):
        vdp.restore(path, epsilon=None)
    edited(path, parameters={**ALGORITHM.parameters, "epsilon": 100.0})
    with pytest.raises(InputError, match=r"must be 100\.0, 0\.0, as dp-se promises"):
        vdp.restore(path, epsilon=1.0)
    with pytest.raises(InputError, match="has parameters"):
        ALGORITHM.restore(path)


def test_a_baseline_promises_nothing(tmp_path):
    session = vdp.make("ucb1", n_arms=2, horizon=50).session(seed=1)
    session.save(tmp_path / "s")
    assert vdp.restore(tmp_path / "s", epsilon=None, seeded=True).rounds == 0
    with pytest.raises(InputError, match="as ucb1 promises"):
        vdp.restore(tmp_path / "s", epsilon=1.0, seeded=True)


@pytest.mark.parametrize("mode", [0o660, 0o602, 0o666, 0o620])
def test_a_file_that_others_can_write_is_refused(mode, path):
    path.chmod(mode)
    for restore in (lambda: ALGORITHM.restore(path), lambda: vdp.restore(path, epsilon=1.0)):
        with pytest.raises(InputError, match="others can write"):
            restore()
    path.chmod(0o600)
    assert ALGORITHM.restore(path).rounds == 3


def test_a_folder_in_which_everyone_replaces_files_is_refused(path):
    path.parent.chmod(0o777)
    with pytest.raises(InputError, match="can be replaced: everyone can write to the folder"):
        ALGORITHM.restore(path)
    path.parent.chmod(0o1777)  # as /tmp: files are their owners'
    ALGORITHM.restore(path).close()


def test_a_folder_that_everyone_can_put_another_one_in_the_place_of_is_refused(path):
    place = path.parent / "a" / "b" / path.name
    place.parent.mkdir(parents=True)
    path.rename(place)
    place.parent.parent.chmod(0o777)
    with pytest.raises(InputError, match=r"everyone can write to the folder .*/a'"):
        ALGORITHM.restore(place)
    place.parent.parent.chmod(0o755)
    assert ALGORITHM.restore(place).rounds == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_refused(path, monkeypatch):
    os.chown(path, 1234, -1)
    with pytest.raises(InputError, match="belongs to another user"):
        ALGORITHM.restore(path)


def test_the_file_itself_is_looked_at_and_not_its_name(path, monkeypatch):
    """Between a look at the name and reading it the file may be replaced: by one that others can write."""
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.chmod(0o666)
    looked, look = [], rights._check

    def check(what, name, handle):
        looked.append(handle)
        look(what, name, handle)
        if len(looked) == 1:
            os.replace(other, name)

    monkeypatch.setattr(rights, "_check", check)
    with pytest.raises(InputError, match="others can write"):
        ALGORITHM.restore(path)
    assert len(looked) == 2


def test_with_a_key_nobody_else_can_edit_the_file(path):
    with ALGORITHM.restore(path) as session:
        session.save(path, key=KEY)
        session.update(0.5)  # with the key, too
    for restore in (ALGORITHM.restore, lambda path, key: vdp.restore(path, epsilon=1.0, key=key)):
        with restore(path, key=KEY) as session:
            assert session.rounds == 4
    with pytest.raises(InputError, match="was saved with a key; pass the key"):
        ALGORITHM.restore(path)
    with pytest.raises(InputError, match="made with another key"):
        ALGORITHM.restore(path, key=KEY + b"x")
    good = path.read_bytes()
    edited(path, key=b"another key, of the attacker", rounds=3)
    with pytest.raises(InputError, match="made with another key"):
        ALGORITHM.restore(path, key=KEY)
    path.write_bytes(good)
    edited(path)  # without a key: anyone can
    with pytest.raises(InputError, match="was saved without a key"):
        ALGORITHM.restore(path, key=KEY)


@pytest.mark.parametrize("key", [b"", b"short", "a text of more than 16 letters", 7])
def test_a_key_must_be_bytes_enough(key, path):
    with pytest.raises(InputError, match="key must be at least 16 bytes"):
        ALGORITHM.session(seed=1).save(path.with_name("other"), key=key)
    assert not path.with_name("other").exists()


def test_arms_that_are_no_whole_number_are_refused(path):
    parameters = json.loads(path.read_bytes())["parameters"]
    edited(path, parameters=parameters | {"n_arms": 2.0})
    with pytest.raises(InputError, match=r"n_arms must be an integer of at least 2, got 2\.0"):
        vdp.restore(path, epsilon=1.0)
