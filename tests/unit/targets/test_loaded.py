"""What a file imports is what it would import in production: refused otherwise.

Broken variant of each: nothing is compared after a file is loaded, so that a fork of this process, which has
other modules of these names, audits other code than runs elsewhere.
"""

import importlib
import sys
import types

import pytest

from tests.commands import run
from verifiable_dp.core import paths
from verifiable_dp.core.validate import InputError
from verifiable_dp.targets import loaded, opened, source

RIGHT = "def right(data, size, rng):\n    return data + rng.laplace(0, {}, size)\n"


@pytest.fixture(autouse=True)
def no_tests(monkeypatch):
    """The tests that this process has loaded are none of the code's modules; all of them would be read."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder from which modules are found, whose modules are forgotten afterwards."""
    known, path = {**sys.modules}, [*sys.path]
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.path[:] = path
    for name in {*sys.modules} - {*known}:
        del sys.modules[name]


def checked(place, reference):
    importlib.invalidate_caches()
    thing = source.load(f"{place}/{reference}" if reference.partition(":")[0].endswith(".py") else reference)
    loaded.check()
    return thing


def test_a_relative_import_without_a_package_is_told_what_to_name(place, monkeypatch):
    """Controls: that name works; another error gets no advice; a file in no folder has no such name."""
    folder = place / "a_package" / "inner"
    folder.mkdir(parents=True)
    (folder / "noise.py").write_text("SCALE = 1.0\n")
    for file in (folder / "own.py", place / "alone.py"):
        file.write_text("from .noise import SCALE\n" + RIGHT.format("SCALE"))
    (folder / "other.py").write_text("import not_there\nfrom .noise import SCALE\n")
    monkeypatch.chdir(place)
    said = "; relative imports need a package"
    for name, advice in (
        ("a_package/inner/own.py", f"{said}: name it a_package.inner.own:right"),
        ("alone.py", said),
        ("a_package/inner/other.py", ""),
    ):
        with pytest.raises(InputError) as error:
            source.load(f"{name}:right")
        assert str(error.value).partition(":1)")[2] == advice
    assert callable(source.load("a_package.inner.own:right"))


def test_modules_that_are_found_once_are_taken(place):
    """Controls: imports that may fail or wait, of types, of Python and of libraries."""
    (place / "beside.py").write_text("SCALE = 1.0\n")
    lines = ["import json, numpy", "from beside import SCALE", "from typing import TYPE_CHECKING"]
    lines += [
        "if TYPE_CHECKING:\n    import never\n    from . import types",
        "try:\n    import not_there\nexcept ImportError:\n    pass",
    ]
    lines += ["if SCALE > 2:\n    import seldom", "def later():\n    import later_on"]
    lines += [RIGHT.format("SCALE")]
    (place / "mine.py").write_text("\n".join(lines))
    for name in ("never", "seldom", "later_on"):
        (place / f"{name}.py").write_text("")
    checked(place, "mine.py:right")


WAYS = (
    "try:\n    from {0} import SCALE\nexcept ImportError:\n    SCALE = 1.0\n",
    "def scale():\n    try:\n        from {0} import SCALE\n    except ImportError:\n        return 1.0\n"
    "    return SCALE\nSCALE = scale()\n",
)


@pytest.mark.parametrize("way", WAYS)
def test_a_module_in_the_place_of_one_that_we_need_is_refused(way, tmp_path):
    (tmp_path / "click.py").write_text("SCALE = 0.0\n")
    (tmp_path / "mine.py").write_text(way.format("click") + RIGHT.format("SCALE"))
    done = run(tmp_path, "audit", "mine.py:right", "--epsilon", 1, "--runs", 400)
    assert (done.exit_code, "imports click, which its search path finds in" in done.stderr) == (2, True)
    assert "but the module loaded here under this name is" in done.stderr


@pytest.mark.parametrize("way", WAYS)
def test_a_module_in_the_place_of_one_of_python_is_what_runs(way, tmp_path, monkeypatch):
    """Broken variant: the child keeps the module that the process before it had loaded."""
    (tmp_path / "random.py").write_text("SCALE = 0.0\n")
    (tmp_path / "mine.py").write_text(way.format("random") + RIGHT.format("SCALE"))
    asked = ("audit", "mine.py:right", "--epsilon", 1, "--runs", 400)
    done = run(tmp_path, *asked)
    assert done.exit_code == 1, done.stderr
    monkeypatch.setattr(loaded, "_is_found_elsewhere", lambda name: False)
    assert run(tmp_path, *asked).exit_code == 2


PARTS = ("from .cuda import noise", "from . import cuda", "import pkg.cuda", "from pkg import cuda as fast")


@pytest.mark.parametrize("step", PARTS)
@pytest.mark.parametrize(
    ("needs", "top", "missing"),
    [("no_such_library", "", ["pkg.cuda"]), ("math", "", []), ("math", "cuda = None\n", [])],
)
def test_a_part_that_could_not_be_loaded_is_noted(step, needs, top, missing, place):
    """Broken variant: `from . import cuda` is not looked at.

    Controls: a part whose library is there, and a name of the package that is not that part.
    """
    package(place, f"try:\n    {step}\nexcept ImportError:\n    pass\nSCALE = 1.0\n")
    (place / "pkg/__init__.py").write_text(top)
    (place / "pkg/cuda.py").write_text(f"import {needs}\nnoise = 1\n")
    with opened.noted(str(place)) as found:
        checked(place, "pkg.mine:right")
    assert opened.missed(found, opened.UNLOADED) == missing


@pytest.mark.parametrize("lazy", [False, True])
def test_code_that_goes_on_without_a_part_of_it_is_a_lead(lazy, tmp_path):
    """It was refused without a record. Broken variant: other noise where the library is there passes.

    Control: with it.
    """
    (tmp_path / "cuda.py").write_text("import needed\nSCALE = 0.0\n")
    text = WAYS[lazy].format("cuda")
    (tmp_path / "mine.py").write_text(text + RIGHT.format("SCALE"))
    asked = ("audit", "mine.py:right", "--epsilon", 1, "--runs", 400)
    done = run(tmp_path, *asked, "--json", "r.json", "--request", "request.json")
    assert done.exit_code == 3, done.stderr
    assert "imports modules that exist but could not be loaded (cuda), continues without them" in done.stdout
    assert run(tmp_path, "verify", "r.json", "--source", ".").exit_code == 0
    assert run(tmp_path, "verify", "r.json", "--rerun").exit_code == 0
    (tmp_path / "needed.py").write_text("")
    assert run(tmp_path, *asked).exit_code == 1


def package(place, text, name="pkg"):
    (place / name).mkdir()
    (place / name / "__init__.py").write_text("")
    (place / name / "settings.py").write_text("SCALE = 1.0\n")
    (place / name / "mine.py").write_text(text + RIGHT.format("SCALE"))


IMPORTS = (
    "from .settings import SCALE",
    "try:\n    from .settings import SCALE\nexcept ImportError:\n    SCALE = 1.0",
    "def scale():\n    from .settings import SCALE\n    return SCALE\nSCALE = scale()",
)


@pytest.mark.parametrize("imports", IMPORTS)
@pytest.mark.parametrize("name", ["pkg/mine.py:right", "pkg.mine:right"])
def test_a_file_of_a_package_is_loaded_with_it(name, imports, place, monkeypatch):
    """Broken variant: a file is a script wherever it lies, so that its own folder is searched."""
    package(place, f"{imports}\n")
    assert checked(place, name).__module__ == "pkg.mine"
    del sys.modules["pkg"], sys.modules["pkg.mine"]
    monkeypatch.setattr(source, "_place_of", lambda file: (file.stem, file.parent))
    if name.endswith(".py:right"):
        with pytest.raises(InputError, match=r"relative import|package\.module:NAME"):
            checked(place, name)


@pytest.mark.parametrize("imports", IMPORTS[1:], ids=["caught", "inside"])
def test_a_file_that_imports_from_where_no_package_is_is_refused(imports, place):
    """Also where it does so while it runs: as a script it would catch that nothing is found."""
    package(place, f"SCALE = 1.0\ndef later():\n    {imports.replace(chr(10), chr(10) + '    ')}\n")
    (place / "pkg/__init__.py").unlink()
    with pytest.raises(InputError, match=r"imports from its own package, .*; give package\.module:NAME"):
        checked(place, "pkg/mine.py:right")


def test_what_may_be_another_module_elsewhere_is_refused(place, monkeypatch):
    """Control: the same from the folder of the file."""
    package(place, "def later():\n    from settings import SCALE\nSCALE = 1.0\n")
    (place / "pkg/__init__.py").unlink()
    (place / "settings.py").write_text("SCALE = 0.0\n")
    monkeypatch.chdir(place)
    with pytest.raises(InputError, match=r"imports settings, which is '.*' here, but may be '.*' elsewhere"):
        checked(place, "pkg/mine.py:right")
    monkeypatch.chdir(place / "pkg")
    checked(place, "pkg/mine.py:right")


@pytest.mark.parametrize("beside", ["conf.py", "src/conf.py"])
def test_what_is_not_found_here_and_may_be_elsewhere_is_refused(beside, tmp_path, monkeypatch):
    """The command looks beside a file, and `python -m` in the current folder. Control: nothing is there."""
    (tmp_path / "services").mkdir()
    text = "try:\n    from conf import SCALE\nexcept ImportError:\n    SCALE = 1.0\n"
    (tmp_path / "services/mine.py").write_text(text + RIGHT.format("SCALE"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    checked(tmp_path, "services/mine.py:right")
    (tmp_path / beside).parent.mkdir(exist_ok=True)
    (tmp_path / beside).write_text("SCALE = 0.0\n")
    with pytest.raises(InputError, match=r"imports conf, which is not found here, but may be '.*' elsewhere"):
        checked(tmp_path, "services/mine.py:right")


@pytest.mark.parametrize("test", ["DEBUG", "TYPE_CHECKING", "os.DEBUG"])
def test_only_what_is_for_types_is_passed_over(test, place):
    """Broken variant: whatever is false here is false elsewhere."""
    text = f"import os\nos.DEBUG = DEBUG = TYPE_CHECKING = False\nif {test}:\n    from . import settings\n"
    (place / "mine.py").write_text(text + RIGHT.format("1.0"))
    with pytest.raises(InputError, match="imports from its own package"):
        checked(place, "mine.py:right")


def test_the_folder_of_a_file_is_looked_into_first(tmp_path, monkeypatch):
    """Broken variant: one that is on the path already stays behind others."""
    for folder, scale in (("mine", 1.0), ("other", 0.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "looked_up.py").write_text(f"SCALE = {scale}\n")
    text = "from looked_up import SCALE\n" + RIGHT.format("SCALE")
    (tmp_path / "mine/first.py").write_text(text)
    twice = [str(tmp_path / "mine")] * 2
    monkeypatch.setattr(sys, "path", [str(tmp_path / "other"), *twice, *sys.path])
    assert checked(tmp_path, "mine/first.py:right").__globals__["SCALE"] == 1.0


def test_a_file_is_one_module(place):
    package(place, "SCALE = 1.0\nimport box.more\n", "box")
    (place / "box/__init__.py").unlink()
    (place / "box/more.py").write_text("from box import mine\nmine.SCALE = 0.0\n")
    with pytest.raises(InputError, match=r"is loaded as two modules, '.*mine' and '.*mine'"):
        checked(place, "box/mine.py:right")


def test_what_is_no_module_is_passed_over(monkeypatch):
    monkeypatch.setitem(sys.modules, "odd_one", types.SimpleNamespace(__file__="odd.py"))
    loaded.check()


@pytest.mark.parametrize("folder", [".", "src", "packages/noise/src"])
@pytest.mark.parametrize("name", ["stale/__init__.py", "stale_alone.py"])
def test_an_installed_copy_is_that_of_the_repository_or_refused(folder, name, place, monkeypatch):
    """Broken variant: it is taken, whatever the repository has. Controls: the same there, and none."""
    site, root = place / "site", place / "root"
    (root / "audits").mkdir(parents=True)
    for top in (site, root / folder):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
    (site / name).write_text("SCALE = 1.0\n")
    module = name.partition("/")[0].removesuffix(".py")
    (root / "audits" / "mine.py").write_text(f"from {module} import SCALE\n" + RIGHT.format("SCALE"))
    monkeypatch.setattr(paths, "_INSTALLED", {*paths._INSTALLED, str(site)})
    monkeypatch.syspath_prepend(str(site))
    twin = root / folder / name
    for text in (None, "SCALE = 1.0\n"):
        if text:
            twin.write_text(text)
        with opened.noted(str(root), tracked=[f"{folder}/{name}"]) as found:
            checked(root / "audits", "mine.py:right")
        assert (twin.relative_to(root).as_posix() in found) == bool(text)
    twin.write_text("SCALE = 0.0\n")
    with (
        opened.noted(str(root), tracked=[f"{folder}/{name}"]),
        pytest.raises(InputError, match=r"in the repository differs from that file"),
    ):
        checked(root / "audits", "mine.py:right")


def test_runs_begin_in_the_folder_that_an_import_enters(tmp_path):
    """As in production. Broken variant: in that of the audit, where another file has the name."""
    (tmp_path / "services").mkdir()
    (tmp_path / "scale.txt").write_text("1")
    (tmp_path / "services/scale.txt").write_text("0")
    text = "import os\nos.chdir(os.path.dirname(os.path.abspath(__file__)))\n"
    text += RIGHT.format("float(open('scale.txt').read())")
    (tmp_path / "services/mine.py").write_text(text)
    done = run(tmp_path, "audit", "services/mine.py:right", "--epsilon", 1, "--runs", 400, "--json", "r")
    assert done.exit_code == 1, done.stderr
    assert (tmp_path / "r").exists()


ASKED = (
    "try:\n    from conf import SCALE\nexcept ImportError:\n    SCALE = 1.0\n",
    "import importlib\ntry:\n    SCALE = importlib.import_module('conf').SCALE\n"
    "except ImportError:\n    SCALE = 1.0\n",
    "from importlib import util\nSCALE = 0.0 if util.find_spec('conf') else 1.0\n",
    "import importlib.resources as r\ntry:\n    r.files('conf')\nexcept ImportError:\n    SCALE = 1.0\n",
)


@pytest.mark.parametrize("asks", ASKED)
@pytest.mark.parametrize(
    ("there", "missing"),
    [
        ("app/conf.py", ["conf"]),
        ("lib/conf/__init__.py", ["conf"]),
        ("lib/pkg/conf.py", []),
        ("app/my_conf.py", []),
    ],
)
def test_a_module_that_production_may_find_is_noted(asks, there, missing, place):
    """By whatever call it is asked for. Broken variants: only by statements; only at the top or in src.

    Controls: a module of a package, and another name.
    """
    root = place / "root"
    for name in ("services/mine.py", there):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("SCALE = 0.0\n")
    (root / "services/mine.py").write_text(asks + RIGHT.format("SCALE"))
    if "pkg" in there:
        (root / "lib/pkg/__init__.py").write_text("")
    with opened.noted(str(root), tracked=[there]) as found:
        checked(root, "services/mine.py:right")
    assert opened.missed(found, opened.UNLOADED) == missing


FAILING = (
    ASKED[1],
    "def scale():\n    try:\n        import conf\n    except ImportError:\n        return 1.0\nscale()\n",
    "if max([1]) > 0:\n    try:\n        import conf\n    except ImportError:\n        SCALE = 1.0\n",
)


@pytest.mark.parametrize("way", FAILING)
def test_a_module_that_fails_is_noted_wherever_it_is_imported(way, place, monkeypatch):
    """Broken variant: only statements that always run count. Control: with what it needs."""
    (place / "conf.py").write_text("import needed_here\nSCALE = 1.0\n")
    (place / "mine.py").write_text("SCALE = 1.0\n" + way + RIGHT.format("SCALE"))
    monkeypatch.chdir(place)
    for missing in (["conf"], []):
        with opened.noted(str(place)) as found:
            checked(place, "mine.py:right")
        assert opened.missed(found, opened.UNLOADED) == missing
        (place / "needed_here.py").write_text("")
        for name in ("mine", "conf", "needed_here"):
            sys.modules.pop(name, None)


@pytest.mark.parametrize("top", ["", "src/"])
@pytest.mark.parametrize("here", [True, False])
@pytest.mark.parametrize("form", ["from conf.settings import SCALE", "import conf.settings"])
def test_a_folder_without_a_file_is_a_package_too(form, here, top, place, monkeypatch):
    """Broken variants: only its first part is looked for, which has no file; src only as a last resort."""
    text = f"try:\n    {form}\nexcept ImportError:\n    pass\nSCALE = 1.0\n"
    for folder in (f"{top}conf", *["services/conf"] * here, "services"):
        (place / folder).mkdir(parents=True, exist_ok=True)
        (place / folder / "settings.py").write_text("SCALE = 1.0\n")
    (place / "services/mine.py").write_text(text + RIGHT.format("SCALE"))
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one not in ("", str(place))])
    with pytest.raises(InputError, match=r"imports conf\.settings, which is .* but may be '.*' elsewhere"):
        checked(place, "services/mine.py:right")


@pytest.mark.parametrize(("place", "exit_code"), [("/proc/uptime", 3), ("/dev/zero", 3), ("{here}/scale", 0)])
def test_what_an_import_reads_elsewhere_ends_the_bound(place, exit_code, tmp_path):
    """Broken variant: whatever is in a file is code. Control: a file of the repository."""
    (tmp_path / "scale").write_text("1")
    text = (
        f"with open({place.format(here=tmp_path)!r}, 'rb') as file:\n    SCALE = float(bool(file.read(1)))\n"
    )
    (tmp_path / "mine.py").write_text(text + RIGHT.format("SCALE"))
    asked = ("audit", "mine.py:right", "--epsilon", 1, "--runs", 400, "--require", "every-path")
    done = run(tmp_path, *asked)
    assert done.exit_code == exit_code, done.stderr
    assert ("is not a file of its repository" in done.stdout) == bool(exit_code)


@pytest.mark.parametrize(
    ("asks", "heard"),
    [
        ("sys.path[0]", True),
        ("[*sys.path]", True),
        ("next(iter(sys.path))", True),
        ("sys.path.insert(0, sys.path.pop(0))", False),
        ("'x' in sys.path", False),
        ("__import__('colorsys')", False),
    ],
)
def test_code_that_asks_for_the_folder_of_the_program_is_heard(asks, heard, tmp_path, monkeypatch):
    """It is ours, and another one in production. Broken variant: what lies there is absent."""
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    before = sys.path
    loaded.hear_path()
    assert sys.path == before
    with opened.noted(str(tmp_path)) as found:
        exec(compile(asks, "/somewhere/target.py", "exec"), {"sys": sys})
        assert [*paths.of_targets()]
    assert opened.missed(found, opened.BESIDE) == ["sys.path"] * heard
