"""`render`, `sign`, `verify --key` and `diff`: files, exit statuses, one line for what is wrong.

In one process, for most of the time of a command is the start of Python; tests/packaging/test_readme.py runs
docs/renderings.md in processes of its own.
"""

import json
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests import formats
from tests.commands import PATIENCE, refused, run

REPORTS = Path(__file__).parents[2] / "reports"
SCRIPT = str(Path(sysconfig.get_path("scripts")) / "verifiable-dp")


@pytest.fixture
def folder(tmp_path):
    """With two records of one algorithm, right and wrong, and an edited one."""
    for name, source in {"right.json": "dp-linear", "wrong.json": "dp-linear-printed"}.items():
        shutil.copy(REPORTS / source / "record.json", tmp_path / name)
    edited = json.loads((tmp_path / "wrong.json").read_text("utf-8"))
    edited["verdict"] = "not_refuted"
    (tmp_path / "edited.json").write_text(json.dumps(edited), "utf-8")
    return tmp_path


def test_render_writes_every_format(folder):
    reads = {
        "html": lambda text: text.startswith("<!doctype html>"),
        "markdown": lambda text: text.startswith("# dp-linear"),
        "sarif": lambda text: len(formats.sarif(text)["runs"][0]["results"]) == 2,
        "in-toto": lambda text: formats.intoto(text)["predicate"]["result"] == "FAILED",
        "opendp": lambda text: "\ndeployment:\n" in text,
        "junit": lambda text: formats.junit(text).get("failures") == "2",
    }
    for to, holds in reads.items():
        done = run(folder, "render", "wrong.json", "--to", to, "--out", f"out.{to}")
        assert (done.exit_code, done.stdout, done.stderr) == (0, f"written: out.{to}\n", "")
        written = (folder / f"out.{to}").read_text("utf-8")
        assert holds(written)
        assert run(folder, "render", "wrong.json", "--to", to).stdout == written
    together = [word for to in reads for word in ("--to", to, "--out", f"again.{to}")]
    assert run(folder, "render", "wrong.json", *together).exit_code == 0
    for to in reads:
        assert (folder / f"again.{to}").read_bytes() == (folder / f"out.{to}").read_bytes(), to
    pytest.importorskip("weasyprint")
    assert run(folder, "render", "wrong.json", "--to", "pdf", "--out", "out.pdf").exit_code == 0
    assert (folder / "out.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["edited.json", "--to", "html", "--out", "o"], "edited or corrupted"),
        (["none.json", "--to", "html", "--out", "o"], "cannot be read"),
        (["wrong.json", "--to", "docx", "--out", "o"], "to must be one of compliance, dpia, github, html"),
        (["wrong.json", "--to", "pdf"], "--out must be given"),
        (["wrong.json", "--to", "html", "--out", "wrong.json/o"], "cannot be created: File exists"),
        (
            ["wrong.json", "--to", "html", "--to", "junit", "--out", "o"],
            "out must be given once for each --to",
        ),
        (["wrong.json", "--to", "html", "--out", "o", "--to", "docx", "--out", "p"], "to must be one of"),
        (
            ["wrong.json", "--to", "sarif", "--url", "https://x", "--out", "o"],
            "`url` works only with a format that names",
        ),
        (["wrong.json"], "--to"),
    ],
)
def test_render_refuses(arguments, words, folder):
    before = sorted(folder.iterdir())
    assert words in refused(folder, "render", *arguments)
    assert sorted(folder.iterdir()) == before


@pytest.fixture
def keys(folder):
    pytest.importorskip("cryptography")
    if shutil.which("openssl") is None:
        pytest.skip("no openssl")
    for name in ("own", "other"):
        for command in (
            f"openssl genpkey -algorithm ed25519 -out {name}.pem",
            f"openssl pkey -in {name}.pem -pubout -out {name}.pub",
        ):
            subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder


def test_sign_and_verify(keys):
    assert run(keys, "sign", "wrong.json", "--key", "own.pem").stdout == "written: wrong.json.sig\n"
    done = run(keys, "verify", "wrong.json", "--key", "own.pub")
    assert done.exit_code == 0
    assert done.stdout.startswith("valid signature: Ed25519 key sha256:")
    assert "3 checks were judged again" in done.stdout
    run(keys, "sign", "wrong.json", "--key", "own.pem", "--out", "apart.sig")
    again = run(keys, "verify", "wrong.json", "--key", "own.pub", "--signature", "apart.sig")
    assert again.exit_code == 0
    # Other layout, same record.
    (keys / "wrong.json").write_text(
        json.dumps(json.loads((keys / "wrong.json").read_text("utf-8"))), "utf-8"
    )
    assert run(keys, "verify", "wrong.json", "--key", "own.pub").exit_code == 0


def test_signatures_that_do_not_hold(keys):
    run(keys, "sign", "wrong.json", "--key", "own.pem")
    assert "with a key other than" in refused(keys, "verify", "wrong.json", "--key", "other.pub")
    assert "right.json.sig' cannot be read" in refused(keys, "verify", "right.json", "--key", "own.pub")
    wrong_place = ("verify", "right.json", "--key", "own.pub", "--signature", "wrong.json.sig")
    assert "for another record" in refused(keys, *wrong_place)
    assert "private key" in refused(keys, "verify", "wrong.json", "--key", "own.pem")
    assert "--key PUBLIC.pem" in refused(keys, "verify", "wrong.json", "--signature", "wrong.json.sig")
    shutil.copy(keys / "wrong.json.sig", keys / "edited.json.sig")
    assert "edited or corrupted" in refused(keys, "verify", "edited.json", "--key", "own.pub")
    assert "edited or corrupted" in refused(keys, "sign", "edited.json", "--key", "own.pem")
    assert "--key" in refused(keys, "sign", "wrong.json")


def test_the_signature_is_checked_before_anything_is_run(keys, monkeypatch):
    run(keys, "sign", "wrong.json", "--key", "own.pem")
    monkeypatch.setattr("verifiable_dp.api.rerun", lambda *_, **__: pytest.fail("something was run"))
    line = refused(keys, "verify", "wrong.json", "--rerun", "--key", "other.pub")
    assert "with a key other than" in line


def test_other_data_files_are_signed_too(keys):
    for name in ("errata.json", "mutants.json"):
        shutil.copy(REPORTS / name, keys / name)
        assert run(keys, "sign", name, "--key", "own.pem").exit_code == 0
    assert run(keys, "verify", "errata.json", "--key", "own.pub").exit_code == 0
    assert "with a key other than" in refused(keys, "verify", "errata.json", "--key", "other.pub")


@pytest.mark.slow
def test_a_document_goes_through_a_pipe(folder):
    done = subprocess.run(
        [SCRIPT, "render", "wrong.json", "--to", "markdown"],
        cwd=folder,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().startswith("# dp-linear as printed: audit record\n")


def test_diff(folder):
    done = run(folder, "diff", "right.json", "wrong.json", "--json", "d.json")
    assert done.exit_code == 1
    assert "worse: verdict: not_refuted -> refuted" in done.stdout
    found = json.loads((folder / "d.json").read_text("utf-8"))
    assert found["outcome"] == "worse"
    assert found["changes"][0]["what"] == "verdict"
    assert run(folder, "diff", "wrong.json", "right.json").exit_code == 0
    same = run(folder, "diff", "right.json", "right.json")
    assert same.exit_code == 0
    assert "nothing differs" in same.stdout
    other = run(folder, "diff", "right.json", REPORTS / "shuffled-linear" / "record.json")
    assert "NIST SP 800-226" in other.stdout
    assert other.exit_code == 3
    assert "epsilon_lower" not in other.stdout
    assert "edited or corrupted" in refused(folder, "diff", "right.json", "edited.json")
    assert run(folder, "diff", "right.json", "wrong.json", "--json", "new/d.json").exit_code == 1
    assert (folder / "new/d.json").is_file()
