"""How results show themselves, what help and colours look like, and which targets public functions take."""

import inspect
import os
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
from verifiable_dp.cli import demo, listed, main
from verifiable_dp.cli.shell import SECTIONS
from verifiable_dp.core.plot import Plot
from verifiable_dp.render import glossary

ROOT = Path(__file__).parents[2]
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
