"""Who can write a session's file chooses its noise: what `restore` asks for before it goes on."""

import json
import os

import pytest

import verifiable_dp as vdp
from verifiable_dp.core import statefile
from verifiable_dp.core.validate import InputError

pytest.importorskip("opendp")
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
    path.write_bytes(statefile.seal(record, key)[0])


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
    with pytest.raises(InputError, match=r"dp-se that promises 1\.0, 0\.0, not 0\.5, 0\.0"):
        vdp.restore(path, epsilon=0.5)
    with pytest.raises(InputError, match="not None"):
        vdp.restore(path, epsilon=None)
    edited(path, parameters={**ALGORITHM.parameters, "epsilon": 100.0})
    with pytest.raises(InputError, match=r"promises 100\.0"):
        vdp.restore(path, epsilon=1.0)
    with pytest.raises(InputError, match="has parameters"):
        ALGORITHM.restore(path)


def test_a_baseline_promises_nothing(tmp_path):
    session = vdp.make("ucb1", n_arms=2, horizon=50).session(seed=1)
    session.save(tmp_path / "s")
    assert vdp.restore(tmp_path / "s", epsilon=None, seeded=True).rounds == 0
    with pytest.raises(InputError, match="promises None"):
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
    with pytest.raises(InputError, match="everyone can replace files"):
        ALGORITHM.restore(path)
    path.parent.chmod(0o1777)  # as /tmp: files are their owners'
    assert ALGORITHM.restore(path).rounds == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_refused(path, monkeypatch):
    os.chown(path, 1234, -1)
    with pytest.raises(InputError, match="belongs to another user"):
        ALGORITHM.restore(path)


def test_the_file_itself_is_looked_at_and_not_its_name(path, monkeypatch):
    """Between a look at the name and opening it the file may be replaced."""
    monkeypatch.setattr(
        os, "stat", lambda name, **more: pytest.fail("the name") if str(name) == str(path) else REAL(name)
    )
    assert ALGORITHM.restore(path).rounds == 3


REAL = os.stat


def test_with_a_key_nobody_else_can_edit_the_file(path):
    session = ALGORITHM.restore(path)
    session.save(path, key=KEY)
    assert ALGORITHM.restore(path, key=KEY).rounds == vdp.restore(path, epsilon=1.0, key=KEY).rounds == 3
    with pytest.raises(InputError, match="was saved with a key; give it"):
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
