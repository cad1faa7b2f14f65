r"""The commands and programs that README.md and the `PAGES` of docs show are run.

```console  lines that begin with `$ verifiable-dp` (or `$ openssl`, which makes keys) run in order in one
            empty folder; the last one must exit with the status in a comment `<!-- exit: 1 -->` right before
            the block (default 0), the others 0. A line may be continued with a backslash.
```python   blocks run as they are. A comment `<!-- file: mine.py -->` right before a block also puts it
            under that name into the folder of every block.
```perl     and ```toml blocks with such a comment are files, too.

All of them run by day: the quick blocks of README.md as they are, the others smaller (`lighter`) and in one
process, for most of the time of a command is the start of Python. What a smaller block says may differ from
its page: its exit status and first lines are those in `blocks_by_day.json`, numbers aside, which
`python -m tests.packaging.test_readme` makes anew. At night all run as they are, each command in a process
of its own.
"""

import ast
import contextlib
import hashlib
import importlib
import importlib.util
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import click
import pytest

from tests.commands import PATIENCE, finished
from verifiable_dp.cli import main

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
_NAMES = (
    "live-sessions.md",
    "targets.md",
    "delta-and-groups.md",
    "sequential-audits.md",
    "adaptive-adversaries.md",
    "audit-your-bandit.md",
    "contexts.md",
    "check-regret.md",
    "reproduce.md",
    "settings.md",
    "campaigns.md",
    "continuous-integration.md",
    "pytest.md",
    "mutation-suite.md",
    "renderings.md",
    "records.md",
)
PAGES = [ROOT / "docs" / name for name in _NAMES]
BLOCK = re.compile(
    r"^(?:<!-- *(?P<key>\w+): *(?P<value>\S+) *-->\n\s*)?"
    r"```(?P<language>console|python|perl|toml)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
RUN = ("$ verifiable-dp", "$ openssl")
SCRIPT = str(Path(sysconfig.get_path("scripts")) / "verifiable-dp")


def read(text):
    """Commands of each console block with its exit status, python blocks, and the named files."""
    consoles, programs, files = [], [], {}
    for block in BLOCK.finditer(text):
        key, value, body = block["key"], block["value"], block["body"]
        if block["language"] == "console":
            lines = body.replace("\\\n", " ").splitlines()
            commands = [shlex.split(line[2:]) for line in lines if line.startswith(RUN)]
            if commands:
                consoles.append((commands, int(value) if key == "exit" else 0))
        else:
            if block["language"] == "python":
                programs.append(body)
            if key == "file":
                files[value] = body
    return consoles, programs, files


def quick(block, page):
    """The block as a parameter, slow unless it is one of README.md."""
    # The first audit of README.md is one of `init`'s block, too.
    by_day = page == README and not re.search(r"selftest|'--budget', '\d+'|budget=\d|'40'\]\]", str(block))
    given = block if isinstance(block, tuple) else (block,)
    return pytest.param(*given, marks=() if by_day else pytest.mark.slow)


CONSOLES, PROGRAMS, FILES = [], [], {}
for page in (README, *PAGES):
    consoles, programs, files = read(page.read_text(encoding="utf-8"))
    CONSOLES += [quick(console, page) for console in consoles]
    PROGRAMS += [quick(program, page) for program in programs]
    FILES |= files


@pytest.fixture
def folder(tmp_path):
    for name, body in FILES.items():
        (tmp_path / name).write_text(body, encoding="utf-8")
    return tmp_path


def run(command, folder):
    nothing = subprocess.DEVNULL
    return subprocess.run(
        command, cwd=folder, stdin=nothing, capture_output=True, text=True, timeout=PATIENCE
    )


def test_readme_shows_commands_and_programs():
    consoles, programs, _ = read(README.read_text(encoding="utf-8"))
    assert consoles, "README.md shows no `$ verifiable-dp` command in a ```console block"
    assert programs, "README.md shows no ```python block"
    assert len(CONSOLES) >= 30
    assert len(PROGRAMS) >= 15


def parsed(command):
    """What a command line means; click says what is wrong with it."""
    name, *arguments = command[1:]
    return main.commands[name].make_context(name, list(arguments)).params


@pytest.mark.parametrize("commands", [console.values[0] for console in CONSOLES])
def test_commands_are_understood(commands):
    assert commands
    for command in commands:
        if command[0] == "verifiable-dp":
            target = str(parsed(command).get("target") or "")
            file, _, name = target.partition(":")
            assert not file.endswith(".py") or f" {name}" in FILES[file], command


def test_commands_that_are_not_understood_are_named():
    for command in (["audit", "x", "--no-such"], ["verify"], ["audit", "x", "--epsilon", "one"]):
        with pytest.raises(click.UsageError):
            parsed(["verifiable-dp", *command])


@pytest.mark.parametrize("program", [program.values[0] for program in PROGRAMS])
def test_programs_are_python(program):
    compile(program, "page", "exec")


BY_DAY = Path(__file__).parent / "blocks_by_day.json"
FIRST, WIDTH = 2, 80  # lines of an output that are held, and how much of each


def said(output, folder):
    """How the first lines of an output begin, with neither numbers, digests nor the name of its folder."""
    lines = [" ".join(line.split()) for line in output.replace(str(folder), "FOLDER").splitlines()]
    plain = [re.sub(r"\bsha256:[0-9a-f]+…?", "DIGEST", line) for line in lines if line][:FIRST]
    return [re.sub(r"(?<![A-Za-z\d])[-+]?\d[\d.]*(e[-+]?\d+)?", "#", line)[:WIDTH] for line in plain]


def key_of(block):
    """What names a block in `blocks_by_day.json`: its commands, or the end of a program."""
    if isinstance(block, str):
        return f"python {hashlib.sha256(block.encode()).hexdigest()[:8]}: {block.splitlines()[-1].strip()}"
    return " && ".join(shlex.join(command[1:]) for command in block)


def held(block, found):
    """Fail unless a block said by day what it is known to say."""
    known = json.loads(BY_DAY.read_text("utf-8")).get(key_of(block))
    assert found == known, f"{key_of(block)}\nif this is meant: python -m tests.packaging.test_readme"


def lighter(command):
    """A command with fewer runs; what it says of its target may be another verdict."""
    program, name, *rest = command
    if program != "verifiable-dp":
        return command
    own = ":" in " ".join(rest) or "--exec" in rest
    sizes = {
        "audit": ["--budget", "smoke", *(["--runs", "400"] if own else [])],
        "selftest": ["--budget", "0.01"],
        "regret": ["--runs", "4"],
    }.get(name, [])
    for option in ("--budget", "--runs") if sizes else ():
        if option in rest:
            at = rest.index(option)
            del rest[at : at + 2]
    return [program, name, *rest, *sizes]


def missing(commands):
    """Programs of the system that commands need and this machine lacks."""
    words = {word for command in commands for one in command for word in one.split()}
    return [tool for tool in ("perl", "openssl") if tool in words and shutil.which(tool) is None]


def with_few_runs(commands, folder):
    """Exit status and first lines of each command of a block that is made smaller."""
    for name, body in FILES.items():
        small = re.sub(r"^budget = .*", "budget = 0.05", body, flags=re.MULTILINE)
        (folder / name).write_text(small if name.endswith(".toml") else body, encoding="utf-8")
    found = []
    for command in map(lighter, commands):
        done = finished(folder, *command[1:]) if command[0] == "verifiable-dp" else run(command, folder)
        assert done.returncode in (0, 1, 3), f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
        found.append([done.returncode, *said(done.stdout, folder)])
    return found


def program_with_few_runs(program, folder):
    """First lines of what a program prints, in this process; as `__main__`, for which nothing has a file."""
    for name, body in FILES.items():
        (folder / name).write_text(body, encoding="utf-8")
    small = compile(re.sub(r"budget=[\d.]+", "budget=0.05", program), "page", "exec")
    known, printed = set(sys.modules), io.StringIO()
    with pytest.MonkeyPatch.context() as patched, contextlib.redirect_stdout(printed):
        patched.chdir(folder)
        patched.syspath_prepend(str(folder))
        patched.setattr(sys, "argv", ["-c"])
        patched.setattr(sys, "stdin", io.StringIO())
        try:
            exec(small, {"__name__": "page"})
        finally:
            for name in set(sys.modules) - known:
                if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(folder):
                    del sys.modules[name]
    return said(printed.getvalue(), folder)


def smaller(blocks):
    """Blocks that run as they are at night only."""
    return [block.values[0] for block in blocks if block.marks]


@pytest.mark.parametrize("commands", smaller(CONSOLES))
def test_commands_with_few_runs(commands, tmp_path):
    if lacking := missing(commands):
        pytest.skip(f"no {' or '.join(lacking)}")
    held(commands, with_few_runs(commands, tmp_path))


def test_every_block_is_known_by_day_and_no_other():
    blocks = [*smaller(CONSOLES), *smaller(PROGRAMS)]
    known = json.loads(BY_DAY.read_text("utf-8"))
    assert [key_of(block) for block in blocks] == [*known]
    told = [found for found in known.values() if isinstance(found[0] if found else "", list)]
    assert len(told) == len(smaller(CONSOLES)) > 30
    assert all(len(command) > 1 or command[0] == 0 for found in told for command in found)


def test_what_a_block_says_is_held_but_for_numbers_and_its_folder(tmp_path):
    (key, found), *_ = json.loads(BY_DAY.read_text("utf-8")).items()
    block = next(block for block in smaller(CONSOLES) if key_of(block) == key)
    held(block, found)
    for wrong in (
        [[found[0][0] + 1, *found[0][1:]]],
        [[found[0][0], "another line", *found[0][2:]]],
        [found[0][:-1]],
        [],
    ):
        with pytest.raises(AssertionError, match="python -m tests"):
            held(block, wrong)
    output = f"\nepsilon in [0.5, 1e-05] of a2 \nwritten: {tmp_path}/r.json\nthird\n"
    assert said(output, tmp_path) == ["epsilon in [#, #] of a2", "written: FOLDER/r.json"]


def test_commands_are_made_smaller():
    for whole, small in (
        (
            "audit a.py:x --budget 9 --epsilon 1 --runs 9",
            "audit a.py:x --epsilon 1 --budget smoke --runs 400",
        ),
        ("audit dp-se --json r.json", "audit dp-se --json r.json --budget smoke"),
    ):
        assert lighter(["verifiable-dp", *whole.split()]) == ["verifiable-dp", *small.split()]
    for same in ("openssl x --budget 3", "verifiable-dp verify r.json --rerun"):
        assert lighter(shlex.split(same)) == shlex.split(same)


@pytest.mark.parametrize(("commands", "status"), CONSOLES)
def test_commands(commands, status, folder, request):
    assert commands
    apart = status or request.node.get_closest_marker("slow")
    for number, command in enumerate(commands, start=1):
        if any(word.startswith("perl ") for word in command) and shutil.which("perl") is None:
            pytest.skip("no perl")
        if shutil.which("openssl") is None and command[0] == "openssl":
            pytest.skip("no openssl")
        if command[0] == "verifiable-dp" and not apart:
            done = finished(folder, *command[1:])
        else:
            done = run([SCRIPT if command[0] == "verifiable-dp" else command[0], *command[1:]], folder)
        expected = status if number == len(commands) else 0
        assert done.returncode == expected, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("program", smaller(PROGRAMS))
def test_programs_with_few_runs(program, tmp_path):
    held(program, program_with_few_runs(program, tmp_path))


NAMED = [
    (page.name, node.module, alias.name)
    for page in (README, *sorted({*(ROOT / "docs").glob("*.md")} - {ROOT / "docs" / "api.md"}))  # signatures
    for block in BLOCK.finditer(page.read_text(encoding="utf-8"))
    if block["language"] == "python"
    for node in ast.walk(ast.parse(block["body"]))
    if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "verifiable_dp"
    for alias in node.names
]


@pytest.mark.parametrize(("page", "module", "name"), NAMED)
def test_what_a_page_imports_of_us_exists(page, module, name):
    """On every page, also where its programs are no whole ones."""
    home = importlib.import_module(module)
    assert hasattr(home, name) or importlib.util.find_spec(f"{module}.{name}")


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program, folder):
    done = run([sys.executable, "-c", program], folder)
    assert done.returncode == 0, done.stderr


def test_the_simulation_that_the_readme_shows_has_a_spread():
    """Arms so far apart that all runs drop the worse one at the same time would print a deviation of 0."""
    _, programs, _ = read(README.read_text(encoding="utf-8"))
    shown = next(program for program in programs if "vdp.simulate" in program)
    steps = [line for line in shown.splitlines() if line.startswith(("import", "algorithm =", "run ="))]
    assert len(steps) == 3
    names = {}
    exec("\n".join(steps), names)
    assert names["run"].regret.std() > 0


def test_reader_of_blocks():
    text = (
        "<!-- file: mine.py -->\n```python\nx = 1\n```\n\n"
        "<!-- exit: 1 -->\n```console\n$ verifiable-dp audit mine.py:play \\\n    --seed 0\n"
        "refuted\n$ echo\n```\n"
        "```console\n$ pip install .\n```\n```console\n$ verifiable-dp list\n```\n"
    )
    consoles, programs, files = read(text)
    assert consoles == [
        ([["verifiable-dp", "audit", "mine.py:play", "--seed", "0"]], 1),
        ([["verifiable-dp", "list"]], 0),
    ]
    assert programs == ["x = 1\n"]
    assert files == {"mine.py": "x = 1\n"}


def make():
    """Write what the blocks say by day; nothing that they need may be missing."""
    known = {}
    with tempfile.TemporaryDirectory() as place:  # workers that a block started stay in its folder
        for number, block in enumerate((*smaller(CONSOLES), *smaller(PROGRAMS))):
            folder = Path(place, str(number)).resolve()
            folder.mkdir()
            made = program_with_few_runs if isinstance(block, str) else with_few_runs
            known[key_of(block)] = made(block, folder)
            print(key_of(block), flush=True)
    BY_DAY.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    make()
