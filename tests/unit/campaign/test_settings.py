"""Which settings are used: the nearest, in the folder where they are named, and never almost those."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from verifiable_dp import pytest_plugin
from verifiable_dp.campaign import entries, settings
from verifiable_dp.core.validate import InputError
from verifiable_dp.targets.process import Exec

LISTED = """
[[tool.verifiable-dp.targets]]
name = "mine"
target = "own.py:{name}"
epsilon = 1
"""


def write(folder, name="release", table="verifiable-dp"):
    """A folder with settings that list a function of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.py").write_text("")
    (folder / "pyproject.toml").write_text(LISTED.format(name=name).replace("verifiable-dp", table))
    return folder


def test_a_test_uses_the_settings_nearest_to_its_file(tmp_path):
    write(tmp_path, "top")
    request = SimpleNamespace(config=SimpleNamespace(stash=pytest.Stash(), rootpath=tmp_path))
    for folder, name in ((write(tmp_path / "a", "a"), "a"), (tmp_path, "top")):
        request.node = SimpleNamespace(path=folder / "test_it.py")
        target, _, place, _ = pytest_plugin._listed(request, "mine", {})
        assert (target, place) == (f"own.py:{name}", folder.resolve())


@pytest.mark.parametrize("settings", [True, False])
@pytest.mark.parametrize("target", ["own.py:release", "own:release", Exec("python own.py"), None])
def test_what_a_test_audits_does_not_depend_on_where_pytest_starts(target, settings, tmp_path, monkeypatch):
    """Broken variant: own.py of the folder in which pytest started was audited, in place of the test's."""
    here = write(tmp_path / "a") if settings else tmp_path / "a"
    (here / "tests").mkdir(parents=True)
    node = SimpleNamespace(path=(here / "tests" if settings else here) / "test_it.py")
    config = SimpleNamespace(stash=pytest.Stash())
    (here / "own.py").write_text("")
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path / "b")
    options = {"reward": "own.py:reward"} if target is None else {}
    asked = SimpleNamespace(config=config, node=node)

    def start():
        return pytest_plugin._listed(asked, target or len, options)[2].resolve()

    assert start() == here.resolve()
    (tmp_path / "b" / "own.py").write_text("")
    with pytest.raises(InputError, match=r"both '.*b/own\.py' and '.*a/own\.py' exist; write the path"):
        start()
    (here / "own.py").unlink()
    assert start() == (tmp_path / "b").resolve()
    monkeypatch.chdir(here)
    (here / "own.py").symlink_to("../b/own.py")
    assert start() == here.resolve()


@pytest.mark.parametrize("name", ["verifiable_dp", "Verifiable-DP", "verifiabledp", "verifable-dp"])
def test_almost_the_name_of_the_table_is_refused(tmp_path, name):
    """Beside a table that is right, too; nothing above is used instead."""
    write(tmp_path)
    place = write(tmp_path / "a", table=name) / "pyproject.toml"
    almost = place.read_text()
    for text in (almost, almost + LISTED.format(name="release")):
        place.write_text(text)
        for look in (lambda: settings.nearest(place.parent), lambda: settings.table(place)):
            with pytest.raises(InputError, match=rf"\[tool.{name}\]; rename it to \[tool.verifiable-dp\]$"):
                look()


def test_a_list_of_tables_of_this_name_is_refused(tmp_path):
    (write(tmp_path) / "pyproject.toml").write_text('[[tool.verifiable-dp]]\ntarget = "own.py:release"\n')
    with pytest.raises(InputError, match=r"tool\.verifiable-dp must be a table"):
        settings.nearest(tmp_path)


@pytest.mark.parametrize("name", ["verify", "verifiable-dp-other", "dp"])
def test_tables_of_others_are_left_alone(tmp_path, name):
    assert settings.nearest(write(write(tmp_path) / "a", table=name)) == tmp_path / "pyproject.toml"


def test_settings_above_the_repository_are_not_used(tmp_path):
    write(tmp_path)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert settings.nearest(below) == tmp_path / "pyproject.toml"  # the control
    (tmp_path / "a" / ".git").mkdir()
    assert settings.nearest(below) is None
    assert settings.nearest(write(tmp_path / "a")) == tmp_path / "a" / "pyproject.toml"


def test_a_name_means_one_target(tmp_path):
    """Controls: an algorithm under its own name, with parameters; a name that only begins so."""
    place = write(tmp_path) / "pyproject.toml"
    text = place.read_text()
    place.write_text(text.replace('"mine"', '"dp-se"'))
    with pytest.raises(InputError, match=r"target 1: the name 'dp-se' belongs to a catalogue algorithm"):
        entries.read(place)
    for name, target in (("dp-se", "dp-se"), ("dp-se-own", "own.py:release")):
        own = "epsilon = 1" if ":" in target else "parameters = { epsilon = 2 }"
        place.write_text(f'[[tool.verifiable-dp.targets]]\nname = "{name}"\ntarget = "{target}"\n{own}\n')
        assert entries.read(place).entries[0].name == name


def test_a_workflow_is_written_where_github_looks_for_it(tmp_path, monkeypatch):
    """It audits in the folder of the settings. Controls: at the top; in no repository; at a given path."""
    yaml = pytest.importorskip("yaml")
    package = write(tmp_path / "packages" / "b c")
    (package / "src").mkdir()
    (tmp_path / ".git").mkdir()
    top = tmp_path / ".github" / "workflows" / "verifiable-dp.yml"
    for folder in (package, package / "src"):
        monkeypatch.chdir(folder)
        assert settings.write_workflow().resolve() == top.resolve()
        (step,) = yaml.safe_load(top.read_text())["jobs"]["audit"]["steps"][1:]
        assert step["with"] == {"working-directory": "packages/b c"}
        top.unlink()
    given = settings.write_workflow(Path("own.yml"))
    assert (given, "packages/b c" in given.read_text()) == (Path("own.yml"), True)
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert settings.write_workflow() == Path(".github", "workflows", "verifiable-dp.yml")
    assert "with:" not in top.read_text()
    (tmp_path / ".git").rmdir()
    monkeypatch.chdir(package)
    assert settings.write_workflow() == Path(".github", "workflows", "verifiable-dp.yml")
    assert Path(".github", "workflows", "verifiable-dp.yml").read_text() == top.read_text()


def test_targets_are_looked_up_where_the_settings_are_named(tmp_path, monkeypatch):
    write(tmp_path / "a")
    link = write(tmp_path / "b") / "pyproject.toml"
    link.unlink()
    link.symlink_to(Path("..", "a", "pyproject.toml"))
    assert entries.read(link).folder == (tmp_path / "b").resolve()
    monkeypatch.chdir(link.parent)
    assert entries.read(link.name).folder == (tmp_path / "b").resolve()
    Path("own.py").unlink()
    with pytest.raises(InputError, match=r"no file 'own\.py' in '.*b'"):
        entries.read(link)
