"""Detached signatures: keys of openssl, altered records, wrong keys; openssl can check them, too."""

import base64
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import commands
from tests.commands import run
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import signing
from verifiable_dp.record.sealing import canonical, digest

pytest.importorskip("cryptography")
openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl")
RECORD = Path(__file__).parents[3] / "reports" / "dp-linear-printed" / "record.json"


def make(folder, name, algorithm="ed25519", *options):
    """A key pair as the documentation says to make one."""
    private, public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
    for command in (
        ["openssl", "genpkey", "-algorithm", algorithm, *options, "-out", str(private)],
        ["openssl", "pkey", "-in", str(private), "-pubout", "-out", str(public), "-passin", "pass:x"],
    ):
        subprocess.run(command, check=True, capture_output=True)
    return private, public


@pytest.fixture
def record():
    return json.loads(RECORD.read_text("utf-8"))


@pytest.fixture
def keys(tmp_path):
    return make(tmp_path, "own")


@pytest.fixture
def signature(record, keys, tmp_path):
    path = tmp_path / "record.json.sig"
    path.write_text(signing.sign(record, keys[0]), "utf-8")
    return path


def refused(record, key, signature, words):
    with pytest.raises(InputError, match=words) as caught:
        signing.check(record, key, signature)
    assert "\n" not in str(caught.value)


@openssl
def test_a_signature_holds(record, keys, signature):
    found = json.loads(signature.read_text("utf-8"))
    assert set(found) == {"algorithm", "signs", "digest", "public_key", "signature"}
    assert found["digest"] == record["digest"]
    assert len(base64.b64decode(found["signature"])) == 64
    assert signing.check(record, keys[1], signature) == found["public_key"]


@openssl
def test_openssl_checks_it_without_us(record, keys, signature, tmp_path):
    content, raw = tmp_path / "canonical.json", tmp_path / "raw.sig"
    content.write_bytes(canonical(record).encode())
    raw.write_bytes(base64.b64decode(json.loads(signature.read_text("utf-8"))["signature"]))

    def check():
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(keys[1]), "-rawin"]
        files = ["-in", str(content), "-sigfile", str(raw)]
        return subprocess.run([*command, *files], capture_output=True, text=True).returncode

    assert check() == 0
    content.write_bytes(canonical(record | {"seed": record["seed"] + 1}).encode())
    assert check() != 0


@openssl
@pytest.mark.skipif(shutil.which("python3") is None, reason="no python3 in the path")
def test_the_documented_way_without_this_package(record, keys, tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "renderings.md").read_text("utf-8")
    (script,) = [part for part in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "openssl" in part]
    shutil.copy(RECORD, tmp_path / "record.json")
    (tmp_path / "record.json.sig").write_text(signing.sign(record, keys[0]), "utf-8")
    shutil.copy(keys[1], tmp_path / "public.pem")
    command = ["sh", "-e", "-c", script]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    edited = RECORD.read_text("utf-8").replace('"seed": 0', '"seed": 1')
    (tmp_path / "record.json").write_text(edited, "utf-8")
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode != 0


@openssl
def test_layout_does_not_matter_and_every_value_does(record, keys, signature):
    turned = json.loads(json.dumps(dict(reversed(record.items())), indent=7))
    signing.check(turned, keys[1], signature)
    for key in sorted(set(record) - {"digest"}):
        altered = record | {key: "other"}
        refused(altered, keys[1], signature, "edited or corrupted")
        refused(altered | {"digest": digest(altered)}, keys[1], signature, "for another record")
    refused(record | {"digest": "sha256:" + "0" * 64}, keys[1], signature, "edited or corrupted")
    refused({k: v for k, v in record.items() if k != "digest"}, keys[1], signature, "edited or corrupted")


@openssl
def test_another_key_is_refused(record, keys, signature, tmp_path):
    _, other = make(tmp_path, "other")
    refused(record, other, signature, "a key other than sha256:")


@openssl
def test_an_altered_signature_is_refused(record, keys, signature):
    found = json.loads(signature.read_text("utf-8"))
    raw = base64.b64decode(found["signature"])
    for bit in range(0, 512, 37):
        flipped = bytearray(raw)
        flipped[bit // 8] ^= 1 << bit % 8
        found["signature"] = base64.b64encode(flipped).decode()
        signature.write_text(json.dumps(found), "utf-8")
        refused(record, keys[1], signature, "does not fit the record")
    for value, words in {"": "does not fit", "%%": "Base64", "AAAA": "does not fit"}.items():
        signature.write_text(json.dumps(found | {"signature": value}), "utf-8")
        refused(record, keys[1], signature, words)


@openssl
def test_what_the_signature_file_says_of_itself_is_not_believed(record, keys, signature, tmp_path):
    """A signature of another key stays one, whatever fingerprint and digest stand beside it."""
    private, public = make(tmp_path, "mallory")
    forged = json.loads(signing.sign(record, private))
    forged["public_key"] = json.loads(signature.read_text("utf-8"))["public_key"]
    signature.write_text(json.dumps(forged), "utf-8")
    refused(record, keys[1], signature, "does not fit the record")
    signing.check(record, public, signature)


@openssl
def test_files_that_are_no_signatures(record, keys, signature):
    refused(record, keys[1], signature.with_name("none.sig"), "signature: .* cannot be read: No such file")
    for content in ("", "[]", "{}", '{"signature": 1}', "\x00", "[" * 50_000):
        signature.write_text(content, "utf-8")
        refused(record, keys[1], signature, "not a signature file")
    signature.write_text('{"signature": "", "algorithm": "none"}', "utf-8")
    refused(record, keys[1], signature, "algorithm must be Ed25519, got 'none'")
    signature.write_bytes(b" " * 10**5)
    refused(record, keys[1], signature, "larger than 64 KiB")


@openssl
def test_keys_that_cannot_be_used(record, keys, signature, tmp_path):
    private, public = keys
    refused(record, private, signature, "is a private key; verify needs the public one")
    refused(record, tmp_path / "none.pem", signature, "key: .* cannot be read")
    garbage = tmp_path / "garbage.pem"
    garbage.write_text("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "utf-8")
    refused(record, garbage, signature, "not a public PEM key")
    p256, p256_public = make(tmp_path, "p256", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    refused(record, p256_public, signature, "must be an Ed25519 key")
    locked, _ = make(tmp_path, "locked", "ed25519", "-aes-256-cbc", "-pass", "pass:x")
    for key, words in {
        p256: "must be an Ed25519 key",
        locked: "encrypted",
        garbage: "not a private PEM key",
        public: "not a private PEM key",
        tmp_path: "cannot be read",
    }.items():
        with pytest.raises(InputError, match=words):
            signing.sign(record, key)


@openssl
def test_an_edited_record_is_not_signed(record, keys):
    with pytest.raises(InputError, match="edited or corrupted"):
        signing.sign(record | {"seed": 7}, keys[0])


def test_without_cryptography_the_extra_is_named(record, tmp_path, monkeypatch):
    for name in ("cryptography.hazmat.primitives", "cryptography.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)
    for call in (
        lambda: signing.sign(record, tmp_path / "k.pem"),
        lambda: signing.check(record, tmp_path / "k.pem", tmp_path / "s"),
    ):
        with pytest.raises(InputError, match=r"verifiable-dp\[sign\]"):
            call()


@openssl
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_private_key_that_others_can_read_is_refused(mode, record, keys):
    keys[0].chmod(mode)
    with pytest.raises(InputError, match=r"others can read .*chmod 600"):
        signing.sign(record, keys[0])
    keys[0].chmod(0o600)
    assert signing.sign(record, keys[0])


def test_a_key_pair_is_made_and_signs(tmp_path):
    """Control: the key of another pair does not verify."""
    private, public = signing.keygen(tmp_path / "own")
    _, other = signing.keygen(tmp_path / "other")
    assert private.stat().st_mode & 0o777 == 0o600
    record = {"a": 1}
    record["digest"] = digest(record)
    (tmp_path / "r.sig").write_text(signing.sign(record, private), "utf-8")
    assert signing.check(record, public, tmp_path / "r.sig").startswith("sha256:")
    with pytest.raises(InputError, match="a key other"):
        signing.check(record, other, tmp_path / "r.sig")


@pytest.mark.parametrize("name", ["own.pem", "own.pub"])
def test_a_key_is_never_overwritten(name, tmp_path):
    (tmp_path / name).write_text("kept", "utf-8")
    with pytest.raises(InputError, match="already exists; we do not overwrite it"):
        signing.keygen(tmp_path / "own")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with pytest.raises(InputError, match="cannot be written"):
        signing.keygen(tmp_path / "none" / "own")


def test_verify_says_what_it_knows_of_a_signature(tmp_path):
    """None, found but not checked, holds, does not hold: with another key, and of another record."""
    path = tmp_path / "r.json"
    shutil.copy(RECORD, path)
    for name in ("own", "other"):
        signing.keygen(tmp_path / name)

    def verify(*options):
        return commands.run(tmp_path, "verify", "r.json", *options)

    assert "; no signature found; the runs were not repeated" in verify().stdout
    commands.run(tmp_path, "sign", "r.json", "--key", "own.pem")
    found = verify()
    assert found.exit_code == 0
    assert "; a signature file was found that names the key sha256:" in found.stdout
    assert (
        "but it was not checked (verify --key PUBLIC.pem checks it); the runs were not repeated"
        in found.stdout
    )
    assert "; valid signature: Ed25519 key sha256:" in verify("--key", "own.pub").stdout
    wrong = verify("--key", "other.pub")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "is not valid: it was made with a key other" in wrong.stderr
    assert commands.run(tmp_path, "verify", ".").stdout.startswith(
        "1 of 1 files are valid; signatures found: 1, not checked; "
    )
    shutil.copy(RECORD.parents[1] / "dp-se" / "record.json", path)
    for stale in (verify(), verify("--key", "own.pub"), commands.run(tmp_path, "verify", ".")):
        assert stale.exit_code == 2
        assert "not valid: it is for another record" in stale.stderr
    assert not any("unsigned" in done.stdout for done in (found, wrong, stale))


# Signatures have four states wherever they are spoken of: none, not checked, holds, does not hold.


RECORD_OF_KEYRING = Path(__file__).parents[3] / "reports/tree-sum/record.json"
NONE = "no signature found"
NOT_CHECKED = "a signature file was found that names the key"
HOLDS = "valid signature: Ed25519 key"
NOT = "is not valid"


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """A record signed by alice, keys of alice and bob, and one forged: it names the key of alice."""
    place = tmp_path_factory.mktemp("signed")
    (place / "keys").mkdir()
    for name in ("alice", "bob"):
        signing.keygen(place / name)
        shutil.copy(place / f"{name}.pub", place / "keys")
    shutil.copy(RECORD_OF_KEYRING, place / "r.json")
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
    shutil.copy(RECORD_OF_KEYRING, tmp_path / "x/record.json")
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
            assert ("check with verify" in page.stdout) == (said in (NONE, NOT_CHECKED))
    portfolio = run(tmp_path, "portfolio", "x", "--out", "index.html", *options)
    assert portfolio.exit_code == (2 if said == NOT else 0)
    index = (tmp_path / "index.html").read_text("utf-8")
    assert said in index or not file  # a column for signatures is left out where there is none
    assert [one in index for one in (NOT_CHECKED, HOLDS, NOT)].count(True) == (said != NONE)


def test_who_signed_is_named(signed, tmp_path):
    whole = json.loads(RECORD_OF_KEYRING.read_text("utf-8"))
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
