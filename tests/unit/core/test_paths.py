"""Where modules are looked for: nothing beside a target is found, until its code runs."""

import os
import re
import sys
import tomllib
from importlib.machinery import PathFinder
from pathlib import Path

import numpy as np
import pytest

from verifiable_dp.core import crash, engine, paths

HOME = paths._HOME


@pytest.fixture
def looked(tmp_path, monkeypatch):
    """A path of the current folder, one of PYTHONPATH, and one that is installed."""
    here, named, others = (tmp_path / name for name in ("here", "named", "others"))
    for folder in (here, named, others):
        folder.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(named), str(tmp_path / "absent")]))
    monkeypatch.setenv("PYTHONSAFEPATH", "")  # as it was before, it is after a test
    monkeypatch.delenv("PYTHONSAFEPATH")
    monkeypatch.setattr(sys, "path", ["", str(named), str(others)])
    monkeypatch.setattr(paths, "_PROCESS", paths._Process())
    return "", str(named), str(others)


def variables():
    return os.environ.get("PYTHONSAFEPATH"), os.environ.get("PYTHONPATH")


def test_the_folders_of_targets_are_not_on_the_path(looked):
    """Broken variants: they go last; one of both kinds stays; other folders go, too; workers look there."""
    paths.leave_out()
    assert sys.path == [looked[2]]
    assert variables() == ("1", None)
    assert paths.left_out() == [*looked[:2]]


@pytest.mark.parametrize("place", ["src", "..", "src/site-packages", ".venv/../src"])
def test_nothing_of_the_tree_is_on_the_path(place, looked, monkeypatch):
    """However it came there, such as by the .pth file of what was installed for development."""
    Path(place, "a-1.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [os.path.abspath(place), looked[2]])
    paths.leave_out()
    assert sys.path == [looked[2]]


@pytest.mark.parametrize("place", ["env/site-packages", "env/site-packages/more"])
def test_an_environment_in_the_tree_stays(place, looked, monkeypatch):
    """Control: one that nothing was installed into goes. Broken variant: what is in the tree always goes."""
    monkeypatch.setattr(sys, "path", [os.path.abspath(place), os.path.abspath("env/others")])
    monkeypatch.setattr(paths, "_INSTALLED", {os.path.abspath("env/site-packages")})
    paths.leave_out()
    assert sys.path == [os.path.abspath(place)]


def test_what_python_was_installed_into_stays_from_within_it(looked, monkeypatch):
    """Where the target is installed code. Broken variant: what holds the current folder always goes."""
    monkeypatch.setattr(paths, "_INSTALLED", {os.path.dirname(os.getcwd())})
    monkeypatch.setattr(sys, "path", ["", os.path.dirname(os.getcwd())])
    paths.leave_out()
    assert sys.path == [os.path.dirname(os.getcwd())]


def test_what_this_package_was_imported_from_stays(looked, monkeypatch):
    """Where it was; it is left to workers. Broken variant: all that PYTHONPATH names goes, or goes last."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([HOME, looked[1]]))
    monkeypatch.setattr(sys, "path", [HOME, *looked])
    monkeypatch.chdir(HOME)
    paths.leave_out()
    assert sys.path == [HOME, "", looked[2]]  # "" is that, too
    assert variables() == ("1", HOME)


def test_nothing_of_pythonpath_stays(looked):
    """Also if pip installed into it. Broken variant: a folder that is called `x.dist-info` keeps it there."""
    Path(looked[1], "numpy-2.0.dist-info").mkdir()
    paths.leave_out()
    assert sys.path == [looked[2]]


def test_what_this_package_needs_is_had_from_pythonpath(looked):
    """Where nothing else has it, and last. Broken variants: it goes; it stays first; it stays anyhow."""
    Path(looked[1], "numpy.py").touch()
    paths.leave_out()
    assert sys.path == [looked[2], looked[1]]
    assert variables() == ("1", looked[1])
    paths.restore()
    Path(looked[2], "numpy.py").touch()
    paths.leave_out()
    assert sys.path == [looked[2]]


def test_what_is_needed_is_what_the_package_depends_on():
    pinned = tomllib.loads(Path(__file__).parents[3].joinpath("pyproject.toml").read_text())["project"]
    names = [re.split(r"[^\w-]", one)[0] for one in pinned["dependencies"]]
    assert [name.replace("markdown-it-py", "markdown_it") for name in names] == [*paths.REQUIRED]


@pytest.mark.parametrize("named", ["PYTHONPATH", ""])
def test_nothing_of_the_repository_is_on_the_path(named, looked, tmp_path, monkeypatch):
    """From its top on: a folder beside the current one holds code of the repository, too.

    Broken variant: the tree begins at the current folder. Control: without a repository it does.
    """
    monkeypatch.setenv("PYTHONPATH", looked[1] if named else "")
    Path(looked[1], "numpy.py").touch()
    paths.leave_out()
    assert looked[1] in sys.path
    paths.restore()
    (tmp_path / ".git").mkdir()
    paths.leave_out()
    assert not {*looked[:2]} & {*sys.path}


@pytest.mark.parametrize("word", ["{}/a.py:right", "{}/c.toml", "module:right"])
def test_nor_is_anything_of_the_repository_of_a_target(word, looked, tmp_path, monkeypatch):
    """Wherever the command is run. Control: one that names nothing there."""
    other = tmp_path / "other"
    (other / "src").mkdir(parents=True)
    (other / ".git").touch()
    for name in ("a.py", "c.toml", "src/module.py"):
        (other / name).touch()
    monkeypatch.setattr(sys, "path", [str(other / "src"), looked[2]])
    monkeypatch.setattr(sys, "argv", ["x", "audit", "json:x", "--json", str(tmp_path / "b.py")])
    paths.leave_out()
    assert sys.path == [str(other / "src"), looked[2]]
    paths.restore()
    monkeypatch.setattr(sys, "argv", ["x", "audit", word.format(other)])
    paths.leave_out()
    assert sys.path == [looked[2]]


def test_python_says_what_is_installed(tmp_path, monkeypatch):
    """Broken variant: a folder of that name is."""
    assert paths.installed(np.__file__)
    assert paths.installed(os.__file__)
    assert not paths.installed(str(tmp_path / "lib/site-packages/a.py"))
    assert paths.of_python(os.__file__)
    assert not paths.of_python(np.__file__)
    assert not paths.of_python(str(tmp_path / "a.py"))


def test_the_path_of_targets_is_the_one_that_was_given(looked):
    assert paths.of_targets() == [*looked]
    paths.leave_out()
    assert paths.of_targets() == [*looked]
    sys.path.insert(0, "late")
    assert paths.of_targets() == ["late", *looked]
    assert paths.environment()["PYTHONPATH"].startswith(looked[1])
    assert "PYTHONSAFEPATH" not in paths.environment()


def test_what_libraries_set_is_not_given_to_the_code_of_targets(looked, monkeypatch):
    """Broken variant: a command gets what a library that we import has put into our environment."""
    given = dict(os.environ)
    paths.leave_out()
    monkeypatch.setenv("SET_BY_A_LIBRARY", "1")
    assert paths.environment() == given


def test_it_is_given_back_where_their_code_runs(looked):
    """A command may start another: what is left out twice is left out once."""
    before = variables()
    for _ in range(2):
        paths.leave_out()
        paths.leave_out()
        assert sys.path == [looked[2]]
        paths.restore()
        assert (sys.path, variables()) == ([*looked], before)


def test_a_worker_of_a_command_knows_the_path_of_targets(looked):
    """Broken variant: a worker takes over nothing; then code of targets is not found in its children."""
    before = variables()
    paths.leave_out()
    found = paths.given()
    paths._PROCESS = paths._Process()  # as in one that was just started
    paths.take_over(found)
    paths.restore()
    assert (sys.path, variables()) == ([*looked], before)


def test_workers_of_a_users_own_process_start_safely(looked):
    """Its path is its own. Controls: within a command nothing changes, nor where code of targets runs."""
    before = variables()
    with paths.safe_starts():
        assert variables() == ("1", before[1])
        assert sys.path == [*looked]
        assert "PYTHONSAFEPATH" not in paths.environment()
    assert variables() == before
    paths.leave_out()
    with paths.safe_starts():
        pass
    assert variables() == ("1", None)
    paths.restore()
    with paths.safe_starts():
        assert variables() == before


def test_a_file_of_the_current_folder_does_not_run_as_workers_start(tmp_path, monkeypatch):
    """In a user's own process. Broken variant: the folder comes first there, as `python -m` has it."""
    (tmp_path / "joblib.py").write_text("raise SystemExit(open('seen', 'w').write('x'))\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    engine.close()
    try:
        assert dict(engine.run(len, ["a", "bc"], workers=2, apart=True)) == {0: 1, 1: 2}
    finally:
        engine.close()
    assert not Path("seen").exists()


def test_without_a_folder_of_targets_the_path_stays(looked, monkeypatch):
    """Control; an empty PYTHONPATH names no folder."""
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr(sys, "path", [*looked[1:]])
    paths.leave_out()
    assert sys.path == [*looked[1:]]


def test_a_library_that_is_only_beside_a_target_is_named(looked):
    """In one line that says what to do. Control: of one that is nowhere nothing is said."""
    Path("numpy.py").touch()
    paths.leave_out()
    assert paths.missing("numpy") == "."
    assert paths.missing("pandas") == ""


@pytest.mark.parametrize(("module", "status"), [("numpy", 2), ("pandas", 70)])
def test_what_is_missing_for_that_reason_is_no_error_of_ours(module, status, looked, capsys):
    """Broken variant: both end as errors of this program."""
    Path("numpy.py").touch()
    paths.leave_out()
    with pytest.raises(SystemExit) as ended:
        crash.crashed(ModuleNotFoundError(name=module))
    (line,) = capsys.readouterr().err.splitlines()
    assert ended.value.code == status
    assert ("module numpy is only in '.'" in line) == (status == 2)


def test_what_is_installed_comes_before_what_lies_beside_a_target(tmp_path, monkeypatch):
    """Also where code of targets runs, whose folder is the first. Control: outside of the block it is."""
    (tmp_path / "numba.py").write_text("raise SystemExit\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = [*sys.path]

    def place():
        return Path(PathFinder.find_spec("numba").origin).parent

    assert place() == tmp_path
    with paths.elsewhere():
        assert place().name == "numba"
    assert sys.path == before
