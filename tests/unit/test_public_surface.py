"""The names that outside code calls, and the documentation of everything public."""

import ast
import dataclasses
import importlib
import inspect
import math
import os
import pkgutil
import pty
import re
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

import verifiable_dp as vdp
from tests import commands
from verifiable_dp import api
from verifiable_dp._links import LINKS, check_links
from verifiable_dp.auditing import rates
from verifiable_dp.auditing.regret import Asked
from verifiable_dp.auditing.request import Inputs, Promise, Settings, split
from verifiable_dp.campaign.origin import RecordOrigin
from verifiable_dp.cli import demo, listed, main
from verifiable_dp.cli.shell import SECTIONS
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.environments import Discrete
from verifiable_dp.core.mechanisms.tree import SLOT_BITS, Tree
from verifiable_dp.core.neighbours import GroupPair, UserPair
from verifiable_dp.core.plot import Plot
from verifiable_dp.core.reactions import Reaction
from verifiable_dp.core.statefile import pack, unpack
from verifiable_dp.evidence.regret import comparison, linear_in_log
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.study import Line
from verifiable_dp.render import glossary

PROMISED = ["catalogue", "make", "simulate", "audit", "check_regret", "environments"]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(vdp.__path__, "verifiable_dp.")
    if not module.name.rpartition(".")[2].startswith("_")
)


def test_promised_names():
    assert set(PROMISED) <= set(vdp.__all__)
    for name in vdp.__all__:
        assert getattr(vdp, name) is not None
        assert name in dir(vdp)
    with pytest.raises(AttributeError, match="no_such"):
        _ = vdp.no_such


def test_no_public_name_hides_a_module_of_the_package():
    modules = {module.name for module in pkgutil.iter_modules(vdp.__path__)}
    assert modules
    assert vdp.__all__
    for name in set(vdp.__all__) & modules:
        assert inspect.ismodule(getattr(vdp, name))


def test_the_catalogue_is_a_table():
    table = vdp.catalogue()
    assert list(table.columns) == ["name", "paper", "model", "claims"]
    assert len(table) == len(registry.names()) + len(registry.contextual())
    assert (table["claims"] != "").all()


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_is_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for key, thing in vars(module).items():
        if key.startswith("_") or getattr(thing, "__module__", None) != name:
            continue
        if not (inspect.isclass(thing) or inspect.isfunction(thing)) or "<locals>" in thing.__qualname__:
            continue  # a constant that another function made is told of by a comment
        assert thing.__doc__, f"{name}.{key}"
        for method, function in vars(thing).items() if inspect.isclass(thing) else ():
            if not method.startswith("_") and inspect.isfunction(function):
                assert inspect.getdoc(getattr(thing, method)), f"{name}.{key}.{method}"


@pytest.mark.parametrize("name", ["audit", "check_regret", "simulate"])
def test_entry_points_state_arguments_results_and_errors(name):
    function = getattr(vdp, name)
    text = function.__doc__
    for section in ("Parameters", "Returns", "Raises", "InputError"):
        assert section in text
    for argument in inspect.signature(function).parameters:
        assert argument in text, argument


def names_of(*kinds):
    return {one.name for kind in kinds for one in dataclasses.fields(kind)}


def test_options_are_what_a_request_is_made_of():
    """Each by name and in words."""
    audit, regret = set(vdp.AuditOptions.__annotations__), set(vdp.RegretOptions.__annotations__)
    apart = {"request", "cage"}  # which file it answers and where its code runs are no part of what is asked
    assert apart < audit & regret
    audit, regret = audit - apart, regret - apart
    assert audit == names_of(Promise, Inputs, Settings) - {"plan", "trusted", "power", "parameters"}
    assert regret == names_of(Asked)
    for options, function in ((vdp.AuditOptions, vdp.audit), (vdp.RegretOptions, vdp.check_regret)):
        assert set(options.__annotations__) < set(api.arguments(function))
        named = re.findall(r"^    (\w.*)$", options.__doc__, re.MULTILINE)
        assert {name for line in named for name in line.split(", ")} >= set(options.__annotations__)
    given = {"delta": 0.1, "horizon": 9, "bounds": None, "timeout": None, "alpha": 0.01}
    promise, inputs, settings = split(given)
    assert (promise.delta, inputs.horizon, inputs.bounds) == (0.1, 9, (0.0, 1.0))
    assert (settings.alpha, settings.timeout) == (0.01, Settings().timeout)


def test_importing_is_cheap():
    """Neither numba nor pandas is loaded before it is needed."""
    code = "import sys, verifiable_dp.cli; print([m for m in ('numba', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# What a public function cannot use is refused in one line, of whatever kind it is.


WRONG = (
    *(None, True, -1, 0, 1.5, math.nan, math.inf, 10**400, 1j),
    *("", "x", "x:y", "a.py:b", "no-such", b"x"),
    *([], [1], [[]], {}, {"a": 1}, {1: 2}, (1, 2), {"x"}, object(), int),
)


def release(data, size, rng):
    """What gets through ends at the first run, with the same error: nothing is audited here."""
    raise vdp.InputError("reached")


def play(rewards, rng):
    raise vdp.InputError("reached")


def values():
    """Things of our own that belong elsewhere, too."""
    return *WRONG, vdp.environments.bernoulli([0.5, 0.1]), vdp.make("ucb1", n_arms=2, horizon=9), release


RIGHT = {
    "audit": {"target": release, "epsilon": 1.0, "runs": 400, "in_process": True},
    "check_regret": {"target": play, "bound": 5, "n_arms": 2, "horizon": 30, "runs": 2, "in_process": True},
    "simulate": {
        "algorithm": play,
        "environment": lambda: vdp.environments.bernoulli([0.5, 0.1]),
        "horizon": 9,
        "runs": 2,
    },
    "make": {"name": "ucb1", "n_arms": 2, "horizon": 9},
    "restore": {"path": "none", "epsilon": 1.0},
    "verify": {"given": "none"},
}
BY_PLACE = {"simulate": ("algorithm", "environment")}
ARGUMENTS = [
    (name, argument)
    for name, given in RIGHT.items()
    for argument in dict.fromkeys([*given, *api.arguments(getattr(vdp, name))])
    # Names of parameters are not arguments, and how code runs is no question of its kind.
    if argument not in ("parameters", "in_process", "rerun") or name not in ("make", "audit", "verify")
    if not (name == "check_regret" and argument == "in_process")
]


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_it_is_refused_in_one_line(name, argument, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tried = list(values())
    assert len(tried) == 28
    for wrong in tried:
        given = {**RIGHT[name], argument: wrong}
        if callable(given.get("environment")) and argument != "environment":
            given["environment"] = given["environment"]()
        first = [given.pop(one) for one in BY_PLACE.get(name, tuple(RIGHT[name])[:1])]
        said, refused = "", True
        try:
            getattr(vdp, name)(*first, **given)
        except Exception as error:
            said, refused = f"{type(error).__name__}: {error}", isinstance(error, vdp.InputError)
        assert refused, (wrong, said)
        assert "\n" not in said, (wrong, said)


@pytest.mark.parametrize("name", [*RIGHT, "ask", "ask_regret", "evidence", "ask_evidence"])
def test_an_argument_that_there_is_not_is_refused_in_one_line(name):
    """With what may have been meant, or all that there are. Broken variant: Python's TypeError."""
    function = getattr(api, name, None) or getattr(vdp, name)
    sized = name in ("make", "audit", "check_regret", "ask", "ask_regret")
    for wrong, end in (
        ("arms", r"did you mean n_arms\?$" if sized else "accepted: "),
        ("qqqq", "accepted: "),
    ):
        with pytest.raises(vdp.InputError, match=rf" has no \w+ '?{wrong}'?; {end}") as error:
            function("ucb1" if name == "make" else "none", **{wrong: 2})
        assert "\n" not in str(error.value)


def test_a_catalogue_name_stands_for_an_algorithm_wherever_one_is_played():
    environment = vdp.environments.bernoulli([0.5, 0.1])
    named = vdp.simulate("dp-se", environment, runs=2, horizon=64, parameters={"epsilon": 2.0})
    made = vdp.simulate(api.instance("dp-se", n_arms=2, horizon=64, epsilon=2.0), environment, runs=2)
    assert (named.regret == made.regret).all()
    assert vdp.simulate("dp-se", environment, runs=2, points=3).pulls.shape == (2, 2)
    with pytest.raises(vdp.InputError, match="has no parameter sigma"):
        vdp.simulate("dp-se", environment, parameters={"sigma": 1})


def test_so_does_a_file_that_holds_one(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(
        "import verifiable_dp as vdp\n"
        "def make(n_arms, horizon):\n    return vdp.make('ucb1', n_arms=n_arms, horizon=horizon)\n"
    )
    monkeypatch.chdir(tmp_path)
    environment = vdp.environments.bernoulli([0.5, 0.1])
    found = vdp.simulate("own.py:make", environment, horizon=30, runs=2)
    made = vdp.simulate(vdp.make("ucb1", n_arms=2, horizon=30), environment, runs=2)
    assert (found.regret == made.regret).all()


# The smallest input that is refused, the nearest one that is not, and words of the refusal.
ZEROS = np.zeros((3, 2))
SMALLEST = [
    (lambda x: Discrete(((0.0, 1.0),) * 2, ((0.5, 0.5), (0.5, x))), 0.6, 0.5, "chances must sum to 1"),
    (
        lambda x: Contexts(2, (3,)).table(np.zeros((4, 3)), np.zeros((4, x))),
        3,
        2,
        "rewards must have 2 columns",
    ),
    (lambda x: GroupPair(ZEROS, ((0, 0, 1.0), (0, x, 1.0))), 0, 1, "may be changed only once"),
    (lambda x: UserPair(ZEROS, np.array([0, 1, 0]), 0, np.ones((x, 2))), 3, 2, "values must have shape"),
    (lambda x: Reaction("aim", x), 1, True, "spiteful must be True or False"),
    (lambda x: Tree(x, 1.0), 1 << SLOT_BITS, (1 << SLOT_BITS) - 1, "leaves must be below 2"),
    (lambda x: RecordOrigin(commit=x), "a" * 39 + "g", "a" * 40, "commit must be a full hash"),
    (lambda x: RecordOrigin(commit=x), "a" * 39, "a" * 40, "commit must be a full hash"),
    (lambda x: RecordOrigin(max_age=x), "30", "30d", "max_age must be a time such as"),
    (lambda x: Line("a", ("b", "c"), x), (1.0,), (1.0, 2.0), "as many xs as cells"),
    (lambda x: Line("a", x), (), ("b",), "must have cells"),
    (lambda x: rates.claim_of("T", x), (0.5, 0.1, 0.1), (0.5, 0.1), "scaling: T must be"),
    (lambda x: rates.claim_of("T", x), True, 1, "scaling: T must be"),
    (lambda x: rates.claim_of("T", x), 10.5, 10.0, "an exponent in "),
    (lambda x: rates.claim_of(x, "log"), "epsilon", "K", "works only with T and K"),
    (
        lambda x: unpack("a", x, ZEROS[0]),
        3,
        pack("a", ZEROS[0], ZEROS[0]),
        "must have the same form as in a fresh session",
    ),
    (lambda x: comparison.comparison("a", [1.0, 2.0], [x, 2.0], factor=1.0), -2.0, -1.9, "means above 0"),
    (lambda x: comparison.comparison("a", [x, 2.0], [1.0, 2.0], factor=1.0), -2.0, -1.9, "means above 0"),
    (
        lambda x: linear_in_log.linear_in_log("a", [(n, [1.0, 2.0]) for n in range(1, x)], slope=1.0),
        5,
        6,
        "at least 5 different x",
    ),
]


@pytest.mark.parametrize(("make", "wrong", "right", "words"), SMALLEST)
def test_the_smallest_wrong_value_is_refused_and_the_nearest_right_one_is_not(make, wrong, right, words):
    with pytest.raises(vdp.InputError, match=words) as error:
        make(wrong)
    assert "\n" not in str(error.value)
    make(right)


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", LINKS)
def test_text_file_in_place_of_a_link(tmp_path, name):
    (tmp_path / name).write_text(f"../{name}")
    with pytest.raises(ImportError, match=rf"^verifiable_dp/{name} is .*core\.symlinks=true clone.*$"):
        check_links(tmp_path)


def test_folders_and_links_pass(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "algorithms").mkdir()
    (tmp_path / "auditors").symlink_to("real")
    check_links(tmp_path)


@pytest.mark.parametrize("name", LINKS)
def test_top_level_import_gives_a_hint(monkeypatch, name):
    if not (ROOT / name).is_dir():
        pytest.skip("not a checkout")
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ImportError, match=f"import verifiable_dp.{name}"):
        importlib.import_module(name)


@pytest.mark.parametrize("name", LINKS)
def test_subpackage_imports(name):
    assert importlib.import_module(f"verifiable_dp.{name}").__doc__


# The table of attacks in SECURITY.md names tests that there are, and that run by day.


TABLE = (ROOT / "SECURITY.md").read_text("utf-8").partition("## Attacks, and what we do")[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TABLE.splitlines()
    if line.startswith("| ") and not line.startswith("| attack")
]


def problems(rows):
    """What is wrong with rows of the table."""
    found = []
    for row in rows:
        attack, done, _, tests = row
        named = re.findall(r"`([\w/.]+)::(\w+)`", tests)
        if not (attack and done and named):
            found.append(f"{attack!r} says not what is done, or names no test")
        for file, name in named:
            path = ROOT / "tests" / file
            defined = ast.parse(path.read_text("utf-8")).body if path.is_file() else []
            tree = {part.name: part for part in defined if isinstance(part, ast.FunctionDef)}
            if name not in tree:
                found.append(f"{file}::{name} does not exist")
            elif any("mark.slow" in ast.unparse(mark) for mark in tree[name].decorator_list):
                found.append(f"{file}::{name} is run at night only")
    return found


def test_every_row_names_its_tests():
    assert len(ROWS) >= 16
    assert all(len(row) == 4 for row in ROWS)
    assert problems(ROWS) == []


def test_a_test_that_is_gone_is_noticed():
    gone = [["a", "b", "", "`unit/test_public_surface.py::gone`"], ["a", "b", "", "`unit/none.py::test_x`"]]
    assert len(problems([*gone, ["a", "b", "", ""]])) == 3
    assert (
        problems([["a", "b", "", "`unit/test_public_surface.py::test_a_test_that_is_gone_is_noticed`"]]) == []
    )


# How results show themselves, what help and colours look like, and which targets public functions take.


REPORT = vdp.Report.load(ROOT / "reports" / "dp-se" / "record.json")


@pytest.fixture(scope="module")
def simulation():
    arms = vdp.environments.bernoulli([0.7, *[0.5] * 11])
    return vdp.simulate(vdp.make("ucb1", n_arms=12, horizon=100), arms, runs=3)


@pytest.fixture(params=["report", "simulation"])
def result(request, simulation):
    return REPORT if request.param == "report" else simulation


def test_a_result_is_one_line_in_a_session_and_ten_printed(result):
    assert len(repr(result).splitlines()) == 1
    assert len(repr(result)) < 200
    assert 1 < len(str(result).splitlines()) <= 10


def test_a_result_is_a_table_and_a_plot(result, tmp_path):
    pytest.importorskip("matplotlib")
    assert len(result.to_frame()) > 2
    drawing = result.plot()
    assert isinstance(drawing, Plot)
    assert len(repr(drawing).splitlines()) == 1
    place = drawing.save(tmp_path / "x.svg")
    assert place.read_text() == drawing._repr_svg_()
    assert "<svg" in place.read_text()[:600]
    with pytest.raises(vdp.InputError, match=r"path must end in \.svg"):
        drawing.save(tmp_path / "x.png")


def test_tables_say_that_they_need_pandas(simulation, monkeypatch):
    tables = (vdp.catalogue, simulation.curve, simulation.to_frame, REPORT.to_frame)
    assert all(len(table()) > 1 for table in tables)
    monkeypatch.setitem(sys.modules, "pandas", None)  # as where it is not installed
    for table in tables:
        with pytest.raises(vdp.InputError, match=r'pip install "verifiable-dp\[frames\]"'):
            table()
    assert isinstance(simulation.plot(), Plot)


def test_a_frame_holds_what_the_simulation_holds(simulation):
    frame = simulation.to_frame()
    assert frame["regret"].tolist() == simulation.regret.tolist()
    assert (frame[[f"pulls_{arm}" for arm in range(12)]].to_numpy() == simulation.pulls).all()


# ---------------------------------------------------------------- targets

CODE = """
from verifiable_dp import InputError

def play(rewards, rng):
    raise InputError("reached")

def play_many(rewards, n_runs, rng):
    raise InputError("reached")

class Bandit:
    def __init__(self, n_arms):
        pass
    def select(self):
        raise InputError("reached")
    def update(self, arm, reward):
        pass

def release(data, size, rng):
    raise InputError("reached")

def release_one(data, rng):
    raise InputError("reached")
"""
NAMES = ("play", "play_many", "Bandit", "release", "release_one")
FORMS = {
    **{name: lambda made, name=name: made[name] for name in NAMES},
    **{f"file:{name}": lambda made, name=name: f"{made['folder']}/own_forms.py:{name}" for name in NAMES},
    "module": lambda made: "own_forms:play",
    "object": lambda made: vdp.make("tree-sum", horizon=16, epsilon=1.0),
    "command": lambda made: vdp.Exec("false"),
    "unknown": lambda made: "no-such-algorithm",
}
SIZES = {"n_arms": 2, "horizon": 12}
TAKES = {  # what is public and takes a target
    "audit": lambda it: vdp.audit(it, epsilon=1.0, runs=400, in_process=True, **SIZES),
    "check_regret": lambda it: vdp.check_regret(it, bound=5, runs=2, in_process=True, **SIZES),
    "simulate": lambda it: vdp.simulate(it, vdp.environments.bernoulli([0.5, 0.1]), horizon=12, runs=2),
    "ask": lambda it: api.ask(it, epsilon=1.0, **SIZES),
    "ask_regret": lambda it: api.ask_regret(it, bound=5, **SIZES),
}
MECHANISMS = ("release", "release_one")


@pytest.fixture
def made(tmp_path, monkeypatch):
    (tmp_path / "own_forms.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_forms", raising=False)
    import own_forms

    yield {"folder": tmp_path, **{name: getattr(own_forms, name) for name in NAMES}}
    sys.modules.pop("own_forms", None)


def test_every_public_function_that_takes_a_target_is_here():
    functions = {name: one for name, one in vars(api).items() if inspect.isfunction(one)}
    takes = {name for name, one in functions.items() if "target" in one.__annotations__}
    assert {name for name in takes if not name.startswith("_")} - TAKES.keys() == {
        "can_rerun",
        "resolve",
        "question",
    }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("takes", TAKES)
def test_every_form_of_target_is_taken_or_refused_in_one_line(takes, form, made):
    target = FORMS[form](made)
    try:
        TAKES[takes](target)
    except vdp.InputError as error:
        said = str(error)
        assert "\n" not in said
        runs = form.rpartition(":")[2] in NAMES or form == "module"
        bandit = form.rpartition(":")[2] not in MECHANISMS
        if runs and bandit and not takes.startswith("ask"):
            assert "reached" in said  # the code was run: the form was taken
    else:
        assert takes.startswith("ask") or form == "object"


# ---------------------------------------------------------------- the command line


def test_help_is_in_sections_with_every_command_once(tmp_path):
    said = commands.run(tmp_path, "--help").stdout
    for section in SECTIONS:
        assert f"\n{section}:\n" in said
    for name in main.commands:
        assert len(re.findall(rf"^  {name} ", said, re.MULTILINE)) == 1
    assert re.search(r"^  broken variant ", said, re.MULTILINE)


def test_what_suits_all_targets_is_an_option_of_audit():
    """The names that `audit` without a target takes are options that there are."""
    assert {*listed._OF_ALL} < {one.name for one in main.commands["audit"].params}
    assert "epsilon" not in listed._OF_ALL  # the control


def test_a_command_without_a_section_is_noticed(monkeypatch, tmp_path):
    monkeypatch.setitem(main.commands, "stray", click.Command("stray"))
    assert commands.run(tmp_path, "--help").exit_code == 70


def test_options_stand_under_headings_and_examples_parse(tmp_path):
    said = commands.run(tmp_path, "audit", "--help").stdout
    places = [said.index(f"\n{heading}:\n") for heading in ("Your code", "The claim", "The test", "Output")]
    assert places == sorted(places)
    for name, command in main.commands.items():
        for example in command.examples:
            first, *words = example.split()
            assert first == name
            with click.Context(command, info_name=name, resilient_parsing=True) as context:
                command.parse_args(context, words)
    with pytest.raises(click.NoSuchOption):  # the control
        main.commands["audit"].make_context("audit", ["--no-such"])


def test_short_descriptions_are_whole(tmp_path):
    """None ends in dots: the list of commands shows the first sentence of each."""
    assert len(main.commands) > 10
    for command in main.commands.values():
        assert not command.get_short_help_str(70).endswith("..."), command.name


def in_terminal(folder, *words, **more):
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    call = [sys.executable, "-m", "verifiable_dp", *words]
    with subprocess.Popen(
        call,
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "TERM": "xterm", **more},
    ):
        os.close(theirs)
        said = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
    os.close(ours)
    return said.decode()


def test_colours_are_for_terminals_that_want_them(tmp_path):
    words = ("audit", "tree-sum", "--budget", "0.02")
    assert "\x1b[32mtarget tree-sum" in in_terminal(tmp_path, *words)
    plain = in_terminal(tmp_path, *words, NO_COLOR="1")
    assert "target tree-sum" in plain
    assert "\x1b[3" not in plain.partition("target tree-sum")[2]


def test_quiet_is_one_line(tmp_path):
    words = ("audit", "tree-sum", "--budget", "0.02")
    done = commands.run(tmp_path, *words, "--quiet")
    assert (done.exit_code, len(done.stdout.splitlines()), done.stderr) == (0, 1, "")
    assert len(commands.run(tmp_path, *words).stdout.splitlines()) > 1  # the control


def test_the_demo_tells_the_right_bandit_from_the_leaking_one(tmp_path, monkeypatch):
    done = commands.run(tmp_path, "demo", "--out", "d", "--no-open")
    assert done.exit_code == 0, done.stderr
    assert "target bandits.py:right" in done.stdout
    assert re.search(r"bandits.py:leaking +refuted", done.stdout)
    assert (tmp_path / "d" / "reports" / "index.html").is_file()
    # The control: two right ones are not told apart, and the status says so.
    settings = demo._SETTINGS.replace("bandits.py:leaking", "bandits.py:right")
    monkeypatch.setattr(demo, "_SETTINGS", settings)
    assert commands.run(tmp_path, "demo", "--out", "e", "--no-open").exit_code == 1


# ---------------------------------------------------------------- words


def test_the_glossary_is_short_and_has_one_home():
    words = [word for word, _ in glossary.rows()]
    assert len(words) == len(set(words)) <= 25
    assert (ROOT / "docs" / "glossary.md").read_text("utf-8") == glossary.markdown()


def test_a_meaning_fits_two_lines():
    assert max(len(meaning) for _, meaning in glossary.rows()) < 180
    assert np.all([meaning.endswith(".") for _, meaning in glossary.rows()])
