"""Packages that are installed where audits are judged: no record has their code run there."""

import json
import os
import subprocess
import sys

import pytest

from tests.commands import PATIENCE, SCRIPT, run

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux")

# A target that registers a kind of check, an operator and an auditor; what imports it is noted.
TARGET = """
import os
from verifiable_dp.evidence.check import Check, Kind

with open(os.environ["IMPORTED"], "a") as file:
    file.write(open(f"/proc/{os.getppid()}/comm").read())

def right(data, size, rng):
    return data + rng.laplace(0, 1, size)

def play(rewards, rng):
    return (rng.random(len(rewards)) < 0.5).astype(int)

MINE = Kind("mine", "privacy")

@MINE.judged_by()
def _judge(numbers):
    return {"verdict": "not_refuted"}

@MINE.worded_by
def _in_words(numbers, result):
    return "all is well"

from verifiable_dp.targets import child
send = child._send

def other(channel, message):
    if "answer" in message:
        message["answer"]["draft"]["checks"].append(Check.of("mine", "mine", {}).as_dict())
    send(channel, message)

child._send = other
"""
POINTS = """
[verifiable_dp.checks]
mine = installed_target:MINE
[verifiable_dp.operators]
mine = installed_target:MINE
[verifiable_dp.errata]
mine = installed_target:MINE
[verifiable_dp.auditors]
mine = installed_target:MINE
"""


def installed(site, name="installed_target", points=POINTS, code=TARGET):
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)
    (info / "top_level.txt").write_text(f"{name}\n")
    (site / f"{name}.py").write_text(code)


def site_of(folder):
    """A folder of PYTHONPATH that lies beside the one of the target, and is not part of it."""
    return folder.with_name(f"{folder.name}-site")


@pytest.fixture
def command(tmp_path):
    """Runs a command where the target is installed; what came in which process is in the file `imported`."""
    installed(site_of(tmp_path))
    path = os.pathsep.join(filter(None, [str(site_of(tmp_path)), os.environ.get("PYTHONPATH")]))

    def made(*words, **more):
        env = {**os.environ, "PYTHONPATH": path, "IMPORTED": str(tmp_path / "imported"), **more}
        return subprocess.run(
            [SCRIPT, *map(str, words)],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    return made


QUICK = ("--epsilon", 1, "--runs", 400, "--json", "r.json")
REGRET = ("--bound", 50, "--arms", 2, "--horizon", 20, "--runs", 9, "--json", "r.json")


def imports(folder):
    """How many processes have imported it, and forget it."""
    place = folder / "imported"
    found = len(place.read_text().splitlines()) if place.exists() else 0
    place.unlink(missing_ok=True)
    return found


def test_a_target_does_not_judge_itself(command, tmp_path):
    """Nor if its package is allowed. Control: what it finds is judged where it registers nothing."""
    done = command("regret", "installed_target:play", *REGRET)
    assert (done.returncode, imports(tmp_path)) == (2, 1), done.stderr
    assert "'mine'" in done.stderr or "installed_target:MINE is not imported" in done.stderr
    done = command("regret", "installed_target:play", *REGRET, VERIFIABLE_DP_PLUGINS="installed-target")
    assert (done.returncode, imports(tmp_path)) == (2, 1), done.stderr
    assert "is being audited, and must not judge itself" in done.stderr
    assert not (tmp_path / "r.json").exists()
    code = (site_of(tmp_path) / "installed_target.py").read_text()
    (site_of(tmp_path) / "installed_target.py").write_text(code.replace('"answer" in message', "False"))
    assert command("regret", "installed_target:play", *REGRET).returncode in (0, 3)


def test_a_record_does_not_name_what_is_imported(command, tmp_path):
    """In `verify`, `render` and `judge`; with leave it is judged, unless it is the package under audit."""
    (tmp_path / "a.py").write_text("def right(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n")
    asked = ("audit", "a.py:right", "--epsilon", 1, "--runs", 400)
    wanted = ("--request", "out/1/request.json", "--json", "out/1/record.json")
    assert run(tmp_path, *asked, *wanted).exit_code in (0, 3)
    place = tmp_path / "out/1/record.json"
    record = json.loads(place.read_text())
    mine = {"name": "mine", "kind": "mine", "statistics": {}, "result": {"verdict": "not_refuted"}}

    def put(**target):
        from verifiable_dp.record.sealing import sealed

        named = {**record["target"], **target}
        place.write_text(json.dumps(sealed({**record, "target": named, "checks": [*record["checks"], mine]})))

    put()
    for words in (
        ("verify", place),
        ("render", place, "--to", "html"),
        ("judge", "out"),
        ("list", "--papers"),
    ):
        done = command(*words)
        assert (done.returncode, imports(tmp_path)) == (0 if words[0] == "list" else 2, 0), words
        assert words[0] == "list" or "runs only if you allow it" in done.stderr + done.stdout
    leave = {"VERIFIABLE_DP_PLUGINS": "Installed_Target"}
    done = command("verify", place, **leave)
    assert (done.returncode, imports(tmp_path)) == (0, 1), done.stderr
    put(name="installed_target:right")
    done = command("verify", place, **leave)
    assert (done.returncode, imports(tmp_path)) == (2, 0), done.stderr


def test_a_listed_algorithm_of_a_package_is_imported_in_the_child_only(command, tmp_path):
    """Control: with leave its name is looked at in this process."""
    for words in (
        ("audit", "mine", "--json", "r.json"),
        ("list",),
        ("report", "--only", "mine", "--out", "o"),
    ):
        command(*words)
        assert imports(tmp_path) == (words[0] == "audit"), words
    command("list", VERIFIABLE_DP_PLUGINS="*")
    assert imports(tmp_path) == 1


# What our libraries and Python start, import or look for; many of them are not installed as a rule.
BESIDE = (
    *("joblib", "loky", "multiprocessing", "argparse", "lz4", "Cython", "numpy", "pandas", "rich", "yaml"),
    *(
        "fqdn",
        "idna",
        "isoduration",
        "jsonpointer",
        "rfc3339_validator",
        "rfc3987",
        "uri_template",
        "webcolors",
    ),
)
NOTE = """
import os, sys
guard = sys.modules.get("verifiable_dp.targets.guard")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "seen"), "a") as file:
    file.write(f"{__name__} {bool(guard and guard.Child.inside)}\\n")
"""
CAMPAIGN = """
[defaults]
epsilon = 1
budget = "smoke"
[[targets]]
name = "a"
target = "a.py:right"
[[targets]]
name = "b"
target = "a.py:same"
"""


@pytest.fixture
def beside(tmp_path):
    """What was imported from beside a target, and whether in a child; it looks for all that is there."""
    for name in (*BESIDE, "mine"):
        (tmp_path / f"{name}.py").write_text(NOTE)
    code = "import mine\n\ndef right(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n"
    (tmp_path / "a.py").write_text(f"{code}\nsame = right\n")
    (tmp_path / "c.toml").write_text(CAMPAIGN)

    def seen():
        place = tmp_path / "seen"
        found = {tuple(line.split()) for line in place.read_text().splitlines()} if place.exists() else set()
        place.unlink(missing_ok=True)
        return found

    return seen


@pytest.mark.parametrize("by", ["python -m", "PYTHONPATH"])
def test_files_beside_a_target_are_not_imported_where_it_is_judged(by, tmp_path, beside):
    """As if they were libraries. Control: the target itself imports what lies beside it.

    Broken variants: the current folder comes last, or that of PYTHONPATH; a Python that is started looks
    there.
    """
    # What Python itself imports from there as it starts nobody can help: those are left out.
    for name in ("pathlib", "tempfile") if by == "python -m" else ():
        (tmp_path / f"{name}.py").write_text(NOTE)
    start = [sys.executable, "-m", "verifiable_dp"] if by == "python -m" else [SCRIPT]
    place = os.environ.get("PYTHONPATH", "")
    late = {"PYTHONPATH": f"{place}:{tmp_path}".strip(":")} if by == "PYTHONPATH" else {}

    def command(*words):
        done = subprocess.run(
            [*start, *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, **late},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode in (0, 3), done.stderr
        return beside()

    code = "a:right" if late else "a.py:right"
    assert command("audit", code, *QUICK) == {("mine", "True")}
    assert command("verify", "r.json") == set()
    assert command("render", "r.json", "--to", "html", "--out", "r.html") == set()
    if late:
        assert command("campaign", "c.toml", "--out", "out", "--workers", 2) == {("mine", "True")}
        assert command("judge", "out", "--campaign", "c.toml") == set()


SHOP = """
import os, subprocess, sys

given = os.environ.get("PYTHONSAFEPATH"), os.environ["PYTHONPATH"].split(os.pathsep)[-1]
assert given == (None, "src"), given
subprocess.run([sys.executable, "-c", "import shelf"], check=True)
subprocess.run([sys.executable, "-m", "beside"], check=True)

def right(data, size, rng):
    return data + rng.laplace(0, 1, size)

same = right
"""


def test_code_of_targets_finds_what_it_found_before(tmp_path):
    """By PYTHONPATH, in workers of a campaign; what it starts looks into the current folder, too.

    Broken variants: a worker is not told the path of targets; variables are not put back in a child.
    """
    (tmp_path / "src").mkdir()
    (tmp_path / "src/shop.py").write_text(SHOP)
    (tmp_path / "src/shelf.py").touch()
    (tmp_path / "beside.py").touch()
    (tmp_path / "c.toml").write_text(CAMPAIGN.replace("a.py:", "shop:"))
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), "src"]))
    env = {**os.environ, "PYTHONPATH": path}
    words = [SCRIPT, "campaign", "c.toml", "--out", "out"]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr


READ = """
import sys
from verifiable_dp.core import kernels
kernels.njit(lambda: 0)()
from numba.core import config
config.reload_config()
from verifiable_dp.render import plots
shown = plots.inline("x", (2, 2), lambda figure: figure.add_subplot().text(0, 0, "a"))
print(config.CACHE_DIR, shown)
"""


def test_settings_of_libraries_beside_a_target_do_not_count(tmp_path):
    """Numba runs code of the folder that they name; matplotlib draws as they say, by other programs."""
    pytest.importorskip("numba")
    pytest.importorskip("yaml")
    said = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-P", "-c", READ], cwd=tmp_path, capture_output=True, text=True
        )
        said.append((done.stdout, done.stderr))
        (tmp_path / ".numba_config.yaml").write_text("cache_dir: ./planted\n")
        (tmp_path / "matplotlibrc").write_text("text.usetex: True\ntext.color: white\nno such key: 1\n")
    assert "<svg" in said[0][0]
    assert said[0] == said[1]
