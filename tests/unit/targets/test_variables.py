"""What is heard of the variables that code asks for."""

import os
import subprocess
import sys
import tempfile

import pytest

from verifiable_dp.targets import opened, variables


def code(text, **names):
    """Run text as code of a target, which is in a file that is neither ours nor installed."""
    exec(compile(text, "/somewhere/target.py", "exec"), {"os": os, **names})


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Some variables, of which `DP_ABSENT` is none."""
    for name in ("DP_PASS", "GITHUB_ENV", "DP_ABSENT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DP_SCALE", "0.4")


@pytest.mark.parametrize(
    ("ask", "noted"),
    [
        ("os.environ['DP_SCALE']", ["DP_SCALE"]),
        ("os.environ.get('DP_ABSENT')", ["DP_ABSENT"]),
        ("os.getenv('DP_ABSENT', '1')", ["DP_ABSENT"]),
        ("'DP_SCALE' in os.environ", ["DP_SCALE"]),
        ("os.environb.get(b'DP_SCALE')", ["DP_SCALE"]),
        ("os.environ.pop('DP_SCALE')", ["DP_SCALE"]),
        ("os.environ.setdefault('DP_SCALE', '1')", ["DP_SCALE"]),
        ("os.path.expandvars('${DP_SCALE}/x')", ["DP_SCALE"]),
        ("[one for one in os.environ if one.startswith('DP_')]", ["*"]),
        ("os.environ['DP_SCALE'] = '1'; os.environ['DP_SCALE']", []),
        ("del os.environ['DP_SCALE']; os.getenv('DP_SCALE')", []),
        ("subprocess.run(['true']); tempfile.mkdtemp(); os.path.expanduser('~')", []),
        ("os.environ.get('VERIFIABLE_DP_CALLS')", []),
    ],
)
def test_a_variable_that_the_code_asks_for_is_noted_without_its_value(ask, noted, tmp_path, monkeypatch):
    """Controls: what the code sets itself, what Python asks for by itself, and what is of ours."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    with opened.noted(str(tmp_path)) as found, variables.heard():
        code(ask, subprocess=subprocess, tempfile=tempfile)
    assert list(variables.of(found)) == noted
    assert opened.read(found) == {}
    assert "0.4" not in str(found)
    assert [one for one in found.values() if one == opened.ABSENT] == [opened.ABSENT] * ("ABSENT" in ask)
    assert variables.said(found) == ", ".join(noted).replace("*", "all variables")


def test_what_code_asked_for_is_compared_with_what_is_there(tmp_path, monkeypatch):
    """Broken variant: a variable that is not set is not compared. Control: another one."""
    with opened.noted(str(tmp_path)) as found, variables.heard():
        code("os.environ['DP_SCALE'], os.getenv('DP_ABSENT')\nos.environ['DP_ABSENT'] = 'own'")
        assert variables.changed(found) == ""  # what the code has set since does not count
    assert os.environ.pop("DP_ABSENT") == "own"
    monkeypatch.setenv("DP_OTHER", "1")
    assert variables.changed(found) == ""
    for name, value in (("DP_SCALE", "0.5"), ("DP_ABSENT", "")):
        with monkeypatch.context() as changes:
            changes.setenv(name, value)
            assert variables.changed(found) == name
    with opened.noted(str(tmp_path)) as found, variables.heard():
        code("list(os.environ)")
    monkeypatch.setenv("DP_NEW", "1")
    assert variables.changed(found) == "*"


@pytest.mark.parametrize(
    ("asks", "noted"),
    [
        ("library.own()", []),
        ("library.get('DP_SCALE')", ["DP_SCALE"]),
        ("library.get('_'.join(['DP', 'SCALE']))", ["DP_SCALE"]),
        ("NAME = 'DP_SCALE'; library.own()", ["DP_SCALE"]),
        ("import library.more", []),
    ],
)
def test_what_a_library_asks_for_is_its_own_unless_the_code_names_it(asks, noted, tmp_path, monkeypatch):
    """Broken variant: all that a library asks for is the code's."""
    folder = tmp_path / "installed" / "library"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(
        "import os\ndef get(name):\n    return os.environ.get(name)\n"
        "def own():\n    return get('DP' + '_SCALE')\n"
    )
    (folder / "more.py").write_text("from library import own\nown()\n")
    monkeypatch.setattr(opened.paths, "_INSTALLED", {*opened.paths._INSTALLED, str(folder.parent)})
    monkeypatch.syspath_prepend(str(folder.parent))
    with opened.noted(str(tmp_path)) as found, variables.heard():
        code(f"import library\n{asks}")
    for name in ("library", "library.more"):
        sys.modules.pop(name, None)
    assert list(variables.of(found)) == noted


@pytest.mark.parametrize(
    ("ask", "noted"),
    [
        (lambda: os.environ.get("DP_PASS"), ["DP_PASS"]),
        (lambda: os.getenv("DP_PASS", "1"), ["DP_PASS"]),
        (lambda: "GITHUB_ENV" in os.environ, ["GITHUB_ENV"]),
        (lambda: os.environb.get(b"DP_PASS"), ["DP_PASS"]),
        (lambda: os.environ.pop("DP_PASS", None), ["DP_PASS"]),
        (lambda: dict(os.environ), ["DP_PASS"]),
        (lambda: os.environ.copy(), ["DP_PASS"]),
        (lambda: [name for name, _ in os.environ.items()], ["DP_PASS"]),
        (lambda: (os.environ.get("DP"), os.environ["PATH"], "HOME" in os.environ), []),
    ],
)
def test_a_variable_that_the_code_asks_for_and_does_not_get_is_noted(ask, noted, tmp_path):
    """What steers a job is of no use to code that reads all of them. Control: what is there, or nowhere."""
    with opened.noted(str(tmp_path)) as found, variables.heard(["DP_PASS", "GITHUB_ENV"]):
        ask()
    for name in variables.of(found):
        del found[f"./${name}"]
    assert found == {f"./${name}": opened.WITHHELD for name in noted}
    assert opened.missed(found, opened.WITHHELD) == noted
