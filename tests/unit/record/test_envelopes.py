"""Envelopes and manifests: one signature of a statement for other tools, and one of a whole folder."""

import base64
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.commands import run

pytest.importorskip("cryptography")

from cryptography.hazmat.primitives import serialization

from verifiable_dp.core.validate import InputError
from verifiable_dp.record import dsse, manifest, signing

REPORTS = Path(__file__).parents[3] / "reports"


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    place = tmp_path_factory.mktemp("keys")
    for name in ("alice", "bob"):
        signing.keygen(place / name)
    return place


@pytest.fixture
def folder(tmp_path):
    for name in ("tree-sum", "dp-se"):
        (tmp_path / name).mkdir()
        shutil.copy(REPORTS / name / "record.json", tmp_path / name)
    return tmp_path


def test_the_encoding_is_that_of_the_specification():
    """Its example, from protocol.md of secure-systems-lab/dsse."""
    found = dsse.encoded("http://example.com/HelloWorld", b"hello world")
    assert found == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_an_envelope_is_what_another_program_checks(folder, keys):
    """As a reader of the specification would: with nothing of ours but the file and the key."""
    assert (
        run(folder, "sign", "tree-sum/record.json", "--key", keys / "alice.pem", "--to", "dsse").exit_code
        == 0
    )
    whole = json.loads((folder / "tree-sum/record.dsse.json").read_text())
    payload, kind = base64.b64decode(whole["payload"]), whole["payloadType"]
    signed = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
    public = serialization.load_pem_public_key((keys / "alice.pub").read_bytes())
    public.verify(base64.b64decode(whole["signatures"][0]["sig"]), signed)
    assert json.loads(payload)["_type"] == "https://in-toto.io/Statement/v1"


def test_an_envelope_is_of_its_record_and_its_key(folder, keys):
    path = "tree-sum/record.json"
    assert run(folder, "sign", path, "--key", keys / "alice.pem", "--to", "dsse").exit_code == 0
    signature = ("--signature", "tree-sum/record.dsse.json")
    holds = run(folder, "verify", path, *signature, "--key", keys / "alice.pub", "--key", keys / "bob.pub")
    assert holds.exit_code == 0, holds.stderr
    assert "of alice, DSSE envelope" in holds.stdout
    assert run(folder, "verify", path, *signature, "--key", keys / "bob.pub").exit_code == 2
    other = run(folder, "verify", "dp-se/record.json", *signature, "--key", keys / "alice.pub")
    assert (other.exit_code, "belongs to another record" in other.stderr) == (2, True)
    whole = json.loads((folder / "tree-sum/record.dsse.json").read_text())
    edits = [{"payloadType": "text/plain"}, {"payload": "!"}, {"signatures": 3}, {"signatures": []}]
    edits += [{"payload": base64.b64encode(b"{}").decode()}]
    for edit in edits:
        (folder / "x.json").write_text(json.dumps({**whole, **edit}))
        with pytest.raises(InputError):
            dsse.opened(folder / "x.json", {"alice": keys / "alice.pub"})


def test_provenance_is_signed_in_an_envelope(folder, keys):
    """Of a record that holds a request. Control: another record's does not pass for it."""
    (folder / "a.py").write_text("def right(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n")
    for seed in (0, 1):
        asked = ("--runs", 400, "--seed", seed, "--json", f"{seed}.json")
        assert run(folder, "audit", "a.py:right", "--epsilon", 1, *asked).exit_code in (0, 3)
    sign = ("sign", "0.json", "--key", keys / "alice.pem", "--to", "dsse-slsa")
    assert run(folder, *sign).exit_code == 0
    whole = json.loads((folder / "0.slsa.dsse.json").read_text())
    assert json.loads(base64.b64decode(whole["payload"]))["predicateType"].startswith("https://slsa.dev/")
    check = ("--signature", "0.slsa.dsse.json", "--key", keys / "alice.pub")
    assert "of alice, DSSE envelope" in run(folder, "verify", "0.json", *check).stdout
    done = run(folder, "verify", "1.json", *check)
    assert (done.exit_code, "belongs to another record" in done.stderr) == (2, True)
    assert run(folder, "sign", "tree-sum/record.json", *sign[2:]).exit_code in (0, 2)


def changed(folder):
    (folder / "dp-se/record.json").write_bytes((folder / "tree-sum/record.json").read_bytes())


def added(folder):
    shutil.copytree(folder / "tree-sum", folder / "more")


def removed(folder):
    shutil.rmtree(folder / "dp-se")


def swapped(folder):
    changed(folder)
    (folder / "manifest.json").write_text(json.dumps(manifest.of(folder)))


@pytest.mark.parametrize("change", [changed, added, removed, swapped])
def test_a_manifest_speaks_of_every_file(change, folder, keys):
    key = ("--key", keys / "alice.pub")
    assert run(folder, "verify", ".", *key).exit_code == 2  # nothing is signed
    assert run(folder, "sign", ".", "--key", keys / "alice.pem").exit_code == 0
    done = run(folder, "verify", ".", *key)
    assert done.exit_code == 0, done.stderr
    assert "2 of 2 files have a valid signature, by the manifest (valid signature" in done.stdout
    assert run(folder, "verify", ".", "--key", keys / "bob.pub").exit_code == 2
    change(folder)
    assert run(folder, "verify", ".", *key).exit_code == 2
    # Without a key a manifest that was written anew cannot be told from the one that was signed, but for its
    # signature, which names the digest of the other.
    assert run(folder, "verify", ".").exit_code == 2


def test_a_link_or_a_pipe_has_no_digest(folder, keys):
    (folder / "link").symlink_to(folder / "dp-se")
    with pytest.raises(InputError, match="is a link"):
        manifest.of(folder)
    (folder / "link").unlink()
    os.mkfifo(folder / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        manifest.of(folder)
