"""Signatures have four states wherever they are spoken of: none, not checked, holds, does not hold."""

import json
import shutil
from pathlib import Path

import pytest

from tests.commands import run

pytest.importorskip("cryptography")

from verifiable_dp.core.validate import InputError
from verifiable_dp.record import signing

RECORD = Path(__file__).parents[3] / "reports/tree-sum/record.json"
NONE = "no signature found"
NOT_CHECKED = "a signature file was found that names the key"
HOLDS = "signature holds: Ed25519 key"
NOT = "does not hold"


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """A record signed by alice, keys of alice and bob, and one forged: it names the key of alice."""
    place = tmp_path_factory.mktemp("signed")
    (place / "keys").mkdir()
    for name in ("alice", "bob"):
        signing.keygen(place / name)
        shutil.copy(place / f"{name}.pub", place / "keys")
    shutil.copy(RECORD, place / "r.json")
    assert run(place, "sign", "r.json", "--key", "alice.pem").exit_code == 0
    assert run(place, "sign", "r.json", "--key", "bob.pem", "--out", "forged.sig").exit_code == 0
    named = json.loads((place / "r.json.sig").read_text())["public_key"]
    forged = {**json.loads((place / "forged.sig").read_text()), "public_key": named}
    (place / "forged.sig").write_text(json.dumps(forged))
    return place


# Signature file, keys, what is said and with which status a folder is verified.
STATES = [
    ("", [], NONE, 0),
    ("", ["keys"], NONE, 2),
    ("r.json.sig", [], NOT_CHECKED, 0),
    ("forged.sig", [], NOT_CHECKED, 0),
    ("r.json.sig", ["keys"], HOLDS, 0),
    ("r.json.sig", ["alice.pub", "bob.pub"], HOLDS, 0),
    ("r.json.sig", ["bob.pub"], NOT, 2),
    ("forged.sig", ["alice.pub"], NOT, 2),
    ("forged.sig", ["keys"], HOLDS, 0),  # by bob, whatever the file says
]


@pytest.mark.parametrize(("file", "keys", "said", "status"), STATES)
def test_the_four_states(file, keys, said, status, signed, tmp_path):
    (tmp_path / "x").mkdir()
    shutil.copy(RECORD, tmp_path / "x/record.json")
    if file:
        shutil.copy(signed / file, tmp_path / "x/record.json.sig")
    options = [word for key in keys for word in ("--key", signed / key)]
    folder = run(tmp_path, "verify", "x", *options)
    assert folder.exit_code == status
    single = run(tmp_path, "verify", "x/record.json", *options)
    assert single.exit_code == status
    if status == 0:
        assert said in single.stdout
    for to in ("html", "compliance", "markdown"):
        page = run(tmp_path, "render", "x/record.json", "--to", to, *options)
        assert page.exit_code == 0
        if to == "html":
            assert said in page.stdout if file else "Nobody (unsigned)" in page.stdout
            assert ("check with verify --key" in page.stdout) == (said in (NONE, NOT_CHECKED))
    portfolio = run(tmp_path, "portfolio", "x", "--out", "index.html", *options)
    assert portfolio.exit_code == (2 if said == NOT else 0)
    index = (tmp_path / "index.html").read_text("utf-8")
    assert said in index or not file  # a column for signatures is left out where there is none
    assert [one in index for one in (NOT_CHECKED, HOLDS, NOT)].count(True) == (said != NONE)


def test_who_signed_is_named(signed, tmp_path):
    whole = json.loads(RECORD.read_text("utf-8"))
    ring = signing.keyring([signed / "keys"])
    assert signing.state(signed / "r.json.sig", whole, ring).words.endswith(" of alice")
    assert signing.state(signed / "forged.sig", whole, ring).words.endswith(" of bob")
    assert "alice, bob" in signing.state(signed / "forged.sig", {**whole, "seed": 9}, ring).words


def test_a_ring_of_keys_that_cannot_be_one_is_refused(signed, tmp_path):
    shutil.copy(signed / "bob.pub", tmp_path / "alice.pub")
    with pytest.raises(InputError, match="two keys are called 'alice'"):
        signing.keyring([signed / "keys", tmp_path])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no public keys"):
        signing.keyring([tmp_path / "empty"])
    with pytest.raises(InputError, match="is a private key"):
        signing.keyring([signed / "alice.pem"])
