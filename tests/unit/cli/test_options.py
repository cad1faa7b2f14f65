"""Every option of every command is set once, to a value that is not its default, and has to arrive.

What a command calls is replaced by a recorder. A command or an option that is added needs a row here.
"""

import contextlib
import itertools
import json
import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

import verifiable_dp.campaign.judge
import verifiable_dp.campaign.origin
import verifiable_dp.record.signing
import verifiable_dp.record.verify
import verifiable_dp.render.diff
import verifiable_dp.render.folders
import verifiable_dp.render.portfolio
import verifiable_dp.render.renderings
import verifiable_dp.render.site
import verifiable_dp.render.study
from tests import commands
from verifiable_dp import api, controls, report
from verifiable_dp.campaign import claim_index, entries, papers, reproduction
from verifiable_dp.campaign import file as campaign_file
from verifiable_dp.campaign import run as campaign
from verifiable_dp.campaign.judge import Expected
from verifiable_dp.campaign.origin import RecordOrigin
from verifiable_dp.cli import main, shell
from verifiable_dp.core import engine, simulation
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.units import Role
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import declarations, requests
from verifiable_dp.record.decision import Decision
from verifiable_dp.render import errata, mutation, sarif
from verifiable_dp.targets import inspection, source
from verifiable_dp.targets.process import Exec
from verifiable_dp.targets.roles import GivenRole

QUIET = ["-q", "--quiet"]  # tests/unit/test_public_surface.py


class Replaced:
    """Takes the place of functions: keeps what they were called with, and returns what it was told to."""

    def __init__(self, monkeypatch):
        self._monkeypatch = monkeypatch
        self.calls = {}

    def put(self, module, name, result=None):
        """Replace `module.name`; what it was called with is in `calls` under the name."""

        def call(*given, **named):
            self.calls[name] = (given, {k: v for k, v in named.items() if not callable(v)})
            return result

        self._monkeypatch.setattr(module, name, call)


@pytest.fixture
def replaced(monkeypatch):
    return Replaced(monkeypatch)


@pytest.fixture
def schedulers(monkeypatch):
    """The schedulers that work was sent to."""
    asked = []

    @contextlib.contextmanager
    def on(scheduler):
        asked.append(scheduler)
        yield

    monkeypatch.setattr(engine, "on", on)
    return asked


def decided(privacy=None, regret=None):
    ground = "n paths" if privacy == "not_refuted" else None
    return Decision(privacy, regret, "strong", None, None, Role.USER, 1.0, (), 0, (), ground)


REPORT = SimpleNamespace(
    name="target",
    decision=decided("not_refuted"),
    verdict="not_refuted",
    regret_verdict="consistent",
    record={"declarations": {"unit": {}}, "digest": "", "provenance": {}},
    parsed=SimpleNamespace(
        declarations={"unit": {}}, digest="", provenance=SimpleNamespace(target=SimpleNamespace(opened={}))
    ),
    to_json=lambda: "{}",
    to_html=lambda: "<html>",
    brief=lambda path, again="": f"summary {path}",
    summary=lambda path, again="": f"every check of {path}",
    line=lambda: "line",
)


def missing(name, arguments, *others):
    """Options of a command that none of the calls set."""
    given = {word for row in (arguments, *others) for word in row}
    return [
        p.opts
        for p in main.commands[name].params
        if not given & set(p.opts) and p.param_type_name == "option"
    ]


AUDIT = {
    "--numerics": (None, {"numerics": True}),
    "--own-neighbours": (None, {"own_neighbours": True}),
    "--epsilon": ("1.5", {"epsilon": 1.5}),
    "--delta": ("0.01", {"delta": 0.01}),
    "--arms": ("7", {"n_arms": 7}),
    "--horizon": ("70", {"horizon": 70}),
    "--set": ("beta=0.25", {"parameters": {"beta": 0.25}}),
    "--contexts": ("7x3", {"contexts": "7x3"}),
    "--context-norm": ("2.5", {"context_norm": 2.5}),
    "--model": ("joint", {"model": "joint"}),
    "--protects": ("reward", {"protects": "reward"}),
    "--reward": ("shop.py:pay", {"reward": "shop.py:pay"}),
    "--epsilon-parameter": ("level", {"epsilon_parameter": "level"}),
    "--bounds": ("-2 3", {"bounds": (-2.0, 3.0)}),
    "--observe": ("reports", {"observe": "reports"}),
    "--budget": ("0.75", {"budget": "0.75"}),
    "--runs": ("77", {"runs": 77}),
    "--timeout": ("2.5", {"timeout": 2.5}),
    "--sequential": (None, {"sequential": True}),
    "--adjacency": ("zero-out", {"adjacency": "zero-out"}),
    "--group": ("3", {"group": 3}),
    "--rho": ("0.125", {"rho": 0.125}),
    "--mu": ("0.25", {"mu": 0.25}),
    "--curve": (None, {"curve": True}),
    "--alpha": ("0.001", {"alpha": 0.001}),
    "--detect": ("1.5", {"detect": 1.5}),
    "--declarations": ("d.toml", {"declarations": Path("d.toml")}),
    "--checkpoint": ("c.json", {"checkpoint": Path("c.json")}),
    "--in-process": (None, {"in_process": True}),
    "--seed": ("11", {"seed": 11}),
    "--workers": ("4", {"workers": 4}),
    "--request": ("q.json", {"request": Path("q.json")}),
    "--cage": ("best", {"cage": "best"}),
}
UNSET = {
    "request": None,
    "cage": "none",
    "numerics": False,
    "own_neighbours": False,
    "epsilon": None,
    "delta": None,
    "n_arms": None,
    "horizon": None,
    "parameters": None,
    "contexts": None,
    "context_norm": None,
    "model": None,
    "protects": None,
    "reward": None,
    "epsilon_parameter": None,
    "bounds": None,
    "observe": None,
    "budget": "quick",
    "runs": None,
    "timeout": None,
    "sequential": False,
    "adjacency": None,
    "group": None,
    "rho": None,
    "mu": None,
    "curve": False,
    "alpha": 1e-6,
    "detect": 2.0,
    "declarations": None,
    "checkpoint": None,
    "in_process": False,
    "seed": 0,
    "workers": 1,
}
OUTPUTS = ("--json", "r.json", "--html", "r.html", "--sarif", "r.sarif")


def words(options):
    """Options as they are typed."""
    return [w for name, (value, _) in options.items() for w in (name, *(value.split() if value else []))]


def merged(options):
    return {name: value for _, given in options.values() for name, value in given.items()}


def written(folder):
    """Contents of the three outputs, which are then removed."""
    found = [(folder / name).read_text() for name in ("r.json", "r.html", "r.sarif")]
    for name in ("r.json", "r.html", "r.sarif"):
        (folder / name).unlink()
    return found


@pytest.fixture
def holding(replaced):
    """What is written is not a record, and is said to hold."""
    replaced.put(verifiable_dp.record.verify, "verify", REPORT)
    replaced.put(verifiable_dp.record.verify, "examine")


def test_audit(replaced, holding, schedulers, tmp_path):
    replaced.put(api, "audit", REPORT)
    replaced.put(sarif, "to_sarif", "sarif")
    (tmp_path / "c.json").write_text("steps")
    typed = ["dp-se", *words(AUDIT), "--scheduler", "tcp://there:1", *OUTPUTS]
    done = commands.run(tmp_path, "audit", *typed)
    assert done.exit_code == 0, done.stderr
    assert replaced.calls["audit"] == (("dp-se",), merged(AUDIT))
    assert schedulers == ["tcp://there:1"]
    assert written(tmp_path) == ["{}", "<html>", "sarif"]
    assert done.stdout == "summary r.json\n"
    assert not (tmp_path / "c.json").exists()
    # What is required is in the request, so that whatever is made of the record knows it.
    replaced.put(api, "ask", "asked")
    replaced.put(requests, "requiring", "requiring")
    command = ["--exec", "run me", "--exec-timeout", "2.5", "-v", "--require", "certified"]
    done = commands.run(tmp_path, "audit", *command)
    assert done.stdout == "every check of None\n"
    assert (
        done.exit_code,
        "the evidence is only tested-paths; certified is required" in done.stderr,
    ) == (3, True)
    assert replaced.calls["requiring"] == (("asked", "certified"), {})
    assert replaced.calls["audit"] == ((Exec("run me", 2.5),), {**UNSET, "request": "requiring"})
    # Without a target: tests/unit/campaign/test_campaign_file.py.
    assert missing("audit", typed, command) == [["--write-baseline"], ["--ask"], QUIET]


@pytest.mark.parametrize("option", AUDIT)
def test_each_option_of_audit_by_itself(option, replaced, holding, tmp_path):
    """One at a time, so that none stands in for another."""
    replaced.put(api, "audit", REPORT)
    commands.run(tmp_path, "audit", "dp-se", *words({option: AUDIT[option]}))
    assert replaced.calls["audit"] == (("dp-se",), {**UNSET, **AUDIT[option][1]})


REGRET = {
    "--bound": ("7.5", {"bound": "7.5"}),
    "--scaling": ("T=0.5:0.1", {"scaling": {"T": (0.5, 0.1)}}),
    "--better-than": ("ucb1", {"better_than": "ucb1"}),
    "--factor": ("2.5", {"factor": 2.5}),
    "--rival-set": ("beta=0.1", {"rival_parameters": {"beta": 0.1}}),
    "--arms": ("7", {"n_arms": 7}),
    "--horizon": ("70", {"horizon": 70}),
    "--set": ("beta=0.25", {"parameters": {"beta": 0.25}}),
    "--means": (".9,.5", {"environments": [[0.9, 0.5]]}),
    "--population": ("logistic", {"environments": ["logistic"]}),
    "--contexts": ("7x3", {"contexts": "7x3"}),
    "--values": ("T=10,20", {"values": {"T": [10.0, 20.0]}}),
    "--gap": ("0.125", {"gap": 0.125}),
    "--runs": ("17", {"runs": 17}),
    "--beta": ("0.2", {"beta": 0.2}),
    "--budget": ("standard", {"budget": "standard"}),
    "--in-process": (None, {"in_process": True}),
    "--seed": ("11", {"seed": 11}),
    "--workers": ("4", {"workers": 4}),
    "--request": ("q.json", {"request": Path("q.json")}),
    "--cage": ("best", {"cage": "best"}),
}
ASKED = SimpleNamespace(digest="sha256:1", written=lambda: "{}")


@pytest.mark.parametrize(("command", "name"), [("audit", "ask"), ("regret", "ask_regret")])
def test_what_is_asked_is_written_and_nothing_is_run(command, name, replaced, tmp_path):
    replaced.put(api, name, ASKED)
    done = commands.run(tmp_path, command, "dp-se", "--ask", "q.json", "--seed", "3")
    assert (done.exit_code, done.stdout) == (0, "sha256:1  q.json\n")
    (target,), given = replaced.calls[name]
    assert (target, given["seed"]) == ("dp-se", 3)
    assert (tmp_path / "q.json").read_text() == "{}"
    again = commands.run(tmp_path, command, "dp-se", "--ask", "q.json")
    assert (again.exit_code, "already exists" in again.stderr) == (2, True)


def test_regret(replaced, holding, schedulers, tmp_path):
    replaced.put(api, "check_regret", REPORT)
    replaced.put(sarif, "to_sarif", "sarif")
    typed = ["dp-se", *words(REGRET), "--scheduler", "tcp://there:1", *OUTPUTS, "-v"]
    done = commands.run(tmp_path, "regret", *typed)
    assert done.exit_code == 0, done.stderr
    both = {"environments": [[0.9, 0.5], "logistic"]}
    assert replaced.calls["check_regret"] == (("dp-se",), merged(REGRET) | both)
    assert schedulers == ["tcp://there:1"]
    assert written(tmp_path) == ["{}", "<html>", "sarif"]
    assert missing("regret", typed) == [["--ask"], QUIET]


@pytest.mark.parametrize("option", REGRET)
def test_each_option_of_regret_by_itself(option, replaced, holding, tmp_path):
    unset = dict.fromkeys(merged(REGRET)) | {"factor": 1.0, "budget": "quick", "seed": 0, "workers": 1}
    unset |= {"in_process": False, "cage": "none"}
    replaced.put(api, "check_regret", REPORT)
    commands.run(tmp_path, "regret", "dp-se", *words({option: REGRET[option]}))
    assert replaced.calls["check_regret"] == (("dp-se",), {**unset, **REGRET[option][1]})


def test_inspect(replaced, tmp_path):
    replaced.put(source, "load", dict)
    replaced.put(inspection, "inspect_target", SimpleNamespace(lines=lambda: ["said"], add="an option"))
    typed = ["a.py:f", "--epsilon", "0.5", "--delta", "0.01", "--arms", "4", "--horizon", "9"]
    typed += ["--set", "beta=0.25", "--reward", "a.py:pay", "--contexts", "4x3", "--play"]
    done = commands.run(tmp_path, "inspect", *typed)
    assert (done.exit_code, done.stdout) == (2, "said\n")
    given = GivenRole(0.5, 0.01, {"beta": 0.25}, "a.py:pay", Contexts(4, (4, 3)))
    assert replaced.calls["inspect_target"] == ((dict, given, 4, 9), {"play": True})
    assert missing("inspect", typed) == []


def test_simulate(replaced, tmp_path):
    import numpy as np
    import pandas as pd

    curve = pd.DataFrame({"t": [1], "regret": [2.0]})
    found = SimpleNamespace(regret=np.array([1.0, 3.0]), curve=lambda: curve, times=[900], hindsight=None)
    replaced.put(simulation, "simulate", found)
    typed = ["dp-ucb", "--setting", "C3", "--epsilon", "0.5", "--arms", "4", "--horizon", "900"]
    typed += ["--runs", "2", "--csv", "c.csv", "--seed", "11", "--workers", "3"]
    done = commands.run(tmp_path, "simulate", *typed)
    (algorithm, environment), named = replaced.calls["simulate"]
    assert (algorithm.name, algorithm.epsilon, algorithm.n_arms, algorithm.horizon) == ("dp-ucb", 0.5, 4, 900)
    assert (environment.name, environment.n_arms) == ("C3", 4)
    assert named == {"runs": 2, "seed": 11, "workers": 3, "points": 200}
    assert "mean regret 2, standard deviation 1.414" in done.stdout
    assert (tmp_path / "c.csv").read_text() == "t,regret\n1,2.0\n"
    replaced.put(api, "simulate", found)
    told = ["a.py:f", "--contexts", "3", "--population", "logistic", "--arms", "4", "--horizon", "9"]
    done = commands.run(tmp_path, "simulate", *told)
    (name, users), named = replaced.calls["simulate"]
    assert (name, type(users).__name__, users.n_arms, named["horizon"]) == ("a.py:f", "Logistic", 4, 9)
    assert missing("simulate", typed, told) == []


def test_report(replaced, schedulers, tmp_path):
    replaced.put(campaign, "run", [REPORT])
    replaced.put(campaign, "exit_status", 3)
    typed = ["--budget", "thorough", "--out", "o", "--only", "dp-se", "--only", "se", "--seed", "11"]
    typed += ["--workers", "3", "--resume", "--scheduler", "tcp://there:1", "--declarations", "d.toml"]
    done = commands.run(tmp_path, "report", *typed)
    assert done.exit_code == 3
    (wanted,), named = replaced.calls["run"]
    assert vars(wanted) == {"budget": "thorough", "declarations": Path("d.toml"), "seed": 11}
    assert named == {"only": ("dp-se", "se"), "out": Path("o"), "resume": True, "workers": 3}
    assert schedulers == ["tcp://there:1"]
    assert missing("report", typed) == []


def test_campaign(replaced, schedulers, tmp_path):
    listed = [SimpleNamespace(name="a", require="detectable")]
    found = SimpleNamespace(entries=listed, baseline=None, unaudited=[], require="certified")
    replaced.put(entries, "read", found)
    done_with = SimpleNamespace(
        reports={"a": REPORT}, failed={"b": "why"}, index="i.html", exit_status=2, excused=()
    )
    replaced.put(campaign_file, "run", done_with)
    typed = ["f.toml", "--out", "o", "--workers", "3", "--scheduler", "tcp://there:1", "--resume"]
    typed += ["--cage", "best", "--require", "certified"]
    done = commands.run(tmp_path, "campaign", *typed)
    assert done.exit_code == 2
    assert replaced.calls["read"] == ((Path("f.toml"), "certified"), {})
    how = {"out": Path("o"), "workers": 3, "resume": True, "cage": "best"}
    assert replaced.calls["run"] == ((found,), how)
    assert schedulers == ["tcp://there:1"]
    replaced.put(campaign_file, "ask", {Path("o/request.json"): ASKED})
    asking = ["f.toml", "--out", "o", "--ask"]
    assert commands.run(tmp_path, "campaign", *asking).stdout == "sha256:1  o/request.json\n"
    assert missing("campaign", typed, asking) == []


def test_reproduce(replaced, schedulers, tmp_path):
    replaced.put(reproduction, "reproduce", {"study": "S2", "title": "t"})
    replaced.put(verifiable_dp.render.study, "lines", [])
    replaced.put(verifiable_dp.render.study, "surprising", True)
    typed = ["S2", "--scale", "0.5", "--out", "o", "--cells", "c", "--seed", "11", "--workers", "3"]
    typed += ["--scheduler", "tcp://there:1"]
    done = commands.run(tmp_path, "reproduce", *typed)
    assert replaced.calls["reproduce"] == (
        ("S2",),
        {"out": Path("o"), "scale": 0.5, "seed": 11, "workers": 3, "cells": Path("c")},
    )
    assert schedulers == ["tcp://there:1"]
    assert done.exit_code == 0  # below full size nothing surprises
    assert commands.run(tmp_path, "reproduce", "S2").exit_code == 1
    assert missing("reproduce", typed) == []


def test_init_and_declare(replaced, tmp_path):
    replaced.put(declarations, "starter", Path("mine.toml"))
    assert commands.run(tmp_path, "init", "mine.toml").stdout == "written: mine.toml\n"
    assert replaced.calls["starter"] == ((Path("mine.toml"),), {})
    asked = []
    loaded = SimpleNamespace(declare=lambda path: asked.append(path) or REPORT)
    replaced.put(report.Report, "load", loaded)
    typed = ["r.json", "d.toml", "--json", "new.json", "--html", "new.html"]
    done = commands.run(tmp_path, "declare", *typed)
    assert done.exit_code == 0, done.stderr
    assert replaced.calls["load"] == ((Path("r.json"),), {})
    assert asked == [Path("d.toml")]
    assert [(tmp_path / f"new.{end}").read_text() for end in ("json", "html")] == ["{}", "<html>"]
    assert missing("declare", typed) == []


@dataclass(frozen=True)
class Held:
    """What a check of a record has found."""

    signature: str | None = None
    suite: str = ""
    parsed: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(kill_table=None))

    def summary(self):
        return f"holds, {self.signature}"


def test_verify(replaced, schedulers, tmp_path, monkeypatch):
    replaced.put(verifiable_dp.record.verify, "read", {"schema_version": "4.0.0"})
    replaced.put(verifiable_dp.record.signing, "check", "key")
    replaced.put(api, "will_run", ["runs this"])
    replaced.put(api, "rerun", {})
    replaced.put(verifiable_dp.campaign.origin, "refuse_expired", None)

    def check(path, *, rerun):
        replaced.calls["verify"] = path
        assert rerun is not None
        rerun({"seed": 0})
        return Held()

    monkeypatch.setattr(verifiable_dp.record.verify, "verify", check)
    typed = ["r.json", "--rerun", "--workers", "3", "--scheduler", "tcp://there:1", "--key", "k.pem"]
    typed += ["--signature", "s.sig", "--cage", "best"]
    done = commands.run(tmp_path, "verify", *typed)
    assert done.exit_code == 0, done.stderr
    assert replaced.calls["verify"] == {"schema_version": "4.0.0"}  # read once, and passed on
    assert replaced.calls["check"][0][1:] == (Path("k.pem"), Path("s.sig"))
    assert replaced.calls["rerun"] == (({"seed": 0},), {"workers": 3, "cage": "best"})
    assert schedulers == ["tcp://there:1"]
    assert "runs this" in done.stderr
    expected = [["--max-age"], ["--commit"], ["--source"], ["--request"]]  # unit/campaign/test_origin.py
    assert sorted(missing("verify", typed)) == sorted(expected)


def test_sign_and_render(replaced, tmp_path):
    whole = {"schema_version": "4.0.0"}
    replaced.put(verifiable_dp.record.verify, "read", whole)
    replaced.put(verifiable_dp.record.verify, "verify", SimpleNamespace(record=whole))
    replaced.put(verifiable_dp.record.signing, "sign", "signature")
    typed = ["r.json", "--key", "k.pem", "--out", "s.sig", "--to", "detached"]
    assert commands.run(tmp_path, "sign", *typed).stdout == "written: s.sig\n"
    assert replaced.calls["sign"] == ((whole, Path("k.pem")), {})
    assert (tmp_path / "s.sig").read_text() == "signature"
    assert missing("sign", typed) == []
    replaced.put(verifiable_dp.record.signing, "keygen", (Path("k.pem"), Path("k.pub")))
    assert commands.run(tmp_path, "keygen", "k").stdout == "written: k.pem\nwritten: k.pub\n"
    assert replaced.calls["keygen"] == ((Path("k"),), {})
    replaced.put(verifiable_dp.render.renderings, "render", b"page")
    replaced.put(verifiable_dp.record.signing, "keyring", "ring")
    (tmp_path / "k.pub").touch()
    typed = ["r.json", "--to", "in-toto", "--out", "p.json", "--url", "https://ci", "--key", "k.pub"]
    commands.run(tmp_path, "render", *typed)
    assert replaced.calls["render"] == (
        (Path("r.json"), "in-toto"),
        {"url": "https://ci", "out": Path("p.json"), "keys": "ring"},
    )
    assert (tmp_path / "p.json").read_bytes() == b"page"
    assert missing("render", typed) == []


@pytest.mark.parametrize(
    ("outcome", "status"), [("same", 0), ("better", 0), ("worse", 1), ("differs", 1), ("not_comparable", 3)]
)
def test_diff(outcome, status, replaced, tmp_path):
    found = SimpleNamespace(outcome=outcome, as_dict=lambda: {"outcome": outcome}, lines=lambda: ["line"])
    replaced.put(verifiable_dp.render.folders, "compare", found)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    typed = ["a", "b", "--json", "d.json", "--without", "*.html", "--without", "studies"]
    done = commands.run(tmp_path, "diff", *typed)
    assert done.exit_code == status
    assert replaced.calls["compare"] == ((Path("a"), Path("b")), {"without": ("*.html", "studies")})
    assert json.loads((tmp_path / "d.json").read_text()) == {"outcome": outcome}
    assert missing("diff", typed) == []


@pytest.mark.parametrize(("broken", "status"), [({}, 0), ({"r.json": "why"}, 2)])
def test_portfolio(broken, status, replaced, tmp_path):
    found = (Path("p.html"), SimpleNamespace(broken=broken, records=[1, 2]))
    replaced.put(verifiable_dp.render.portfolio, "write", found)
    replaced.put(verifiable_dp.render.portfolio, "signatures", {})
    replaced.put(verifiable_dp.record.signing, "keyring", "ring")
    (tmp_path / "k.pub").touch()
    typed = ["f", "--out", "p.html", "--key", "k.pub"]
    assert commands.run(tmp_path, "portfolio", *typed).exit_code == status
    assert replaced.calls["write"] == ((Path("f"), Path("p.html"), "ring"), {})
    assert missing("portfolio", typed) == []


@pytest.mark.parametrize(
    ("broken", "lost", "status"), [({}, [], 0), ({"r": "why"}, [], 2), ({}, [("p", "l")], 2)]
)
def test_site(broken, lost, status, replaced, tmp_path):
    held = SimpleNamespace(broken=broken, records=[1, 2])
    found = SimpleNamespace(portfolio=held, broken=lost, heavy=["p"], pages=[1, 2, 3])
    replaced.put(verifiable_dp.render.site, "write", found)
    (tmp_path / "d").mkdir()
    typed = ["f", "o", "--docs", "d", "--edit-url", "https://x/"]
    done = commands.run(tmp_path, "site", *typed)
    assert (done.exit_code, done.stdout) == (status, "written: o (3 pages, 2 records)\n")
    assert "more than 400 kB: p" in done.stderr
    given = {"documents": Path("d"), "items": [], "edit": "https://x/"}
    assert replaced.calls["write"] == ((Path("f"), Path("o")), given)
    assert missing("site", typed) == []


@pytest.mark.parametrize(("privacy", "role"), [("refuted", Role.BASELINE), ("refuted", Role.PRINTED)])
def test_what_is_required_leaves_other_statuses_alone(privacy, role, replaced, tmp_path):
    """A baseline, or a listing that comes out as its auditor expects, is refuted and passes."""
    report = SimpleNamespace(**{**vars(REPORT), "decision": replace(decided(privacy), role=role)})
    found = SimpleNamespace(
        reports=[("x", report)], failed=[], exit_status=0, required={}, require="certified"
    )
    replaced.put(verifiable_dp.campaign.judge, "judge", found)
    replaced.put(verifiable_dp.campaign.run, "verdict", privacy)
    replaced.put(verifiable_dp.campaign.run, "promise", "")
    assert commands.run(tmp_path, "judge", "f", "--require", "certified").exit_code == 0


@pytest.mark.parametrize("status", [0, 1, 2, 3])
def test_judge(status, replaced, tmp_path):
    found = SimpleNamespace(
        reports=[("x", REPORT)],
        failed=["y: why"],
        exit_status=status,
        required={},
        require="tested-paths",
    )
    replaced.put(verifiable_dp.campaign.judge, "judge", found)
    replaced.put(verifiable_dp.campaign.run, "verdict", "not_refuted")
    replaced.put(verifiable_dp.campaign.run, "promise", ": epsilon 1")
    typed = [
        "f",
        "a.py:x",
        "b.py:y",
        "--campaign",
        "c.toml",
        "--require",
        "tested-paths",
        "--check",
        "regret",
    ]
    typed += ["--request", "sha256:1", "--source", ".", "--commit", "ab" * 20, "--max-age", "3d"]
    typed += ["--key", "k.pub"]
    done = commands.run(tmp_path, "judge", *typed)
    assert (done.exit_code, done.stdout) == (status, "not_refuted: x: epsilon 1\n")
    assert done.stderr == "verifiable-dp: y: why\n"
    origin = RecordOrigin(Path("."), "ab" * 20, "3d")
    expected = Expected(("sha256:1",), origin, "regret", "tested-paths", (Path("k.pub"),))
    assert replaced.calls["judge"] == ((Path("f"), ("a.py:x", "b.py:y"), Path("c.toml"), expected), {})
    assert missing("judge", typed) == []


@pytest.mark.parametrize(("outcome", "status"), [("confirmed", 0), ("by_reading", 0), ("not_confirmed", 1)])
def test_errata(outcome, status, replaced, schedulers, tmp_path):
    row = {"outcome": outcome, "printed": "", "right": "", "checks_of_printed": [], "checks_of_right": []}
    row["quotes"] = []
    replaced.put(campaign, "errata", {"errata": [row]})
    replaced.put(errata, "line", "line")
    typed = ["tree", "--seed", "11", "--workers", "3", "--scheduler", "tcp://there:1", "--checkpoint", "c"]
    typed += ["--json", "e.json"]
    assert commands.run(tmp_path, "errata", *typed).exit_code == status
    assert replaced.calls["errata"] == ((("tree",),), {"seed": 11, "workers": 3, "steps": Path("c")})
    assert schedulers == ["tcp://there:1"]
    assert json.loads((tmp_path / "e.json").read_text()) == {"errata": [row]}
    assert missing("errata", typed) == []


@pytest.mark.parametrize(("missed", "status"), [([], 0), (["one"], 1)])
def test_mutants(missed, status, replaced, schedulers, tmp_path):
    whole = {"mutants": [], "summary": {"clear_missed": missed}}
    replaced.put(campaign, "mutants", whole)
    replaced.put(mutation, "summary_lines", [])
    replaced.put(mutation, "render", "<html>")
    replaced.put(mutation, "before", [])
    replaced.put(campaign, "save_kill_table", ["dp-se"])
    typed = ["--reports", "r", "--only", "dp-se", "--budget", "standard", "--seed", "11", "--workers", "3"]
    typed += ["--scheduler", "tcp://there:1", "--checkpoint", "c", "--json", "m.json", "--html", "m.html"]
    typed += ["--against", "old.json"]
    done = commands.run(tmp_path, "mutants", *typed)
    assert done.exit_code == status
    assert replaced.calls["save_kill_table"][0][:2] == (whole, Path("r"))
    assert done.stdout.endswith("mutants.json; records updated: dp-se\n")
    asked = {"budget": "standard", "seed": 11, "workers": 3, "steps": Path("c")}
    assert replaced.calls["mutants"] == ((("dp-se",),), asked)
    assert schedulers == ["tcp://there:1"]
    assert json.loads((tmp_path / "m.json").read_text()) == whole
    assert (tmp_path / "m.html").read_text() == "<html>"
    assert missing("mutants", typed) == []


@pytest.mark.parametrize(("right", "status"), [(True, 0), (False, 1)])
def test_selftest(right, status, replaced, tmp_path):
    replaced.put(controls, "selftest", [SimpleNamespace(right=True), SimpleNamespace(right=right)])
    replaced.put(controls, "table", [])
    replaced.put(controls, "record", {"kept": True})
    typed = ["--budget", "standard", "--seed", "11", "--only", "laplace", "--json", "s.json"]
    assert commands.run(tmp_path, "selftest", *typed).exit_code == status
    assert replaced.calls["selftest"] == ((), {"budget": "standard", "seed": 11, "only": ("laplace",)})
    _, named = replaced.calls["record"]
    assert (named["budget"], named["seed"]) == ("standard", 11)
    assert json.loads((tmp_path / "s.json").read_text()) == {"kept": True}
    assert missing("selftest", typed) == []


def test_list(replaced, tmp_path):
    row = dict.fromkeys(("algorithm", "claim", "source", "verdict", "statement", "formula", "domain"), "x")
    replaced.put(claim_index, "claims", [row])
    typed = ["--claims", "--reports", "there"]
    assert "x: x, x: x" in commands.run(tmp_path, "list", *typed).stdout
    assert replaced.calls["claims"] == ((Path("there"),), {})
    item = {"paper": "p, q", "number": "Theorem 1", "code": "a.py:1", "remark": "r"}
    entry = {"claim": "c", "says": "s", "check": "k", "verdict": "v"}
    replaced.put(papers, "rows", [{**item, "entries": [entry]}])
    pages = ["--papers", "--reports", "there", "--html", "p.html"]
    assert commands.run(tmp_path, "list", *pages).stdout == "p, Theorem 1: a.py:1\n  r\n  c: v (k)\n"
    assert replaced.calls["rows"] == ((Path("there"),), {})
    assert "Theorem 1" in (tmp_path / "p.html").read_text("utf-8")
    assert missing("list", typed, pages) == []


# ---------------------------------------------------------------- exit statuses


def test_every_command_is_here():
    """And none has an option that is hidden from `missing`."""
    tested = {name.removeprefix("test_").partition("_")[0] for name in globals() if name.startswith("test_")}
    assert set(main.commands) - tested == {"declare", "demo", "keygen", "render"}  # test_manners.py has demo
    assert all(isinstance(p, click.Option | click.Argument) for c in main.commands.values() for p in c.params)


def test_an_empty_value_is_refused():
    """A variable that a job lacks must not switch off what was asked (`--commit "$CI_COMMIT_SHA"`).

    Broken variant: `--commit ""` accepts the record of any commit, with exit status 0.
    """
    tried = 0
    for command in main.commands.values():
        for one in command.params:
            if not getattr(one, "is_flag", False):
                given = [""] * max(1, one.nargs)
                words = [one.opts[-1], *given] if isinstance(one, click.Option) else given
                with pytest.raises(click.UsageError, match="must not be empty"):
                    command.make_context(command.name, words)
                tried += 1
    assert tried > 100


@pytest.mark.parametrize(("verdict", "status"), [("not_refuted", 0), ("refuted", 1), ("inconclusive", 3)])
def test_the_status_of_an_audit_is_its_verdict(verdict, status, replaced, holding, tmp_path):
    replaced.put(api, "audit", SimpleNamespace(**{**vars(REPORT), "decision": decided(privacy=verdict)}))
    assert commands.run(tmp_path, "audit", "dp-se").exit_code == status


@pytest.mark.parametrize(
    ("verdict", "status"), [("consistent", 0), ("contradicted", 1), ("vacuous", 3), ("inconclusive", 3)]
)
def test_the_status_of_a_regret_check_is_its_verdict(verdict, status, replaced, holding, tmp_path):
    replaced.put(
        api, "check_regret", SimpleNamespace(**{**vars(REPORT), "decision": decided(regret=verdict)})
    )
    assert commands.run(tmp_path, "regret", "dp-se").exit_code == status


def test_unusable_input_is_no_refutation(monkeypatch, tmp_path):
    def refuse(*given, **named):
        raise InputError("epsilon must be positive, got -1")

    monkeypatch.setattr(api, "audit", refuse)
    line = commands.refused(tmp_path, "audit", "dp-se")  # exit status 2
    assert line == "verifiable-dp: epsilon must be positive, got -1"
    assert commands.refused(tmp_path, "audit", "dp-se", "--nonsense")


# Progress of the command line without a terminal: few lines, none of them the last that is lost.


@pytest.fixture
def shown(monkeypatch, capfd):
    """Lines that messages at given seconds leave on stderr."""

    def lines(messages):
        clock = [0.0]
        monkeypatch.setattr(shell.time, "monotonic", lambda: clock[0])
        with shell.progressing() as progress:
            for second, message in messages:
                clock[0] = second
                progress(message)
        return capfd.readouterr().err.splitlines()

    return lines


def test_eleven_lines_a_second_become_one_in_five_seconds(shown):
    lines = shown(
        (second, f"mutants: {round(11 * second)} of 660") for second in (i / 11 for i in range(661))
    )
    seconds = [int(re.fullmatch(r"mutants: \d+ of 660 … (\d+) s", line)[1]) for line in lines]
    assert lines[-1] == "mutants: 660 of 660 … 60 s"
    assert len(lines) == 13
    assert min(b - a for a, b in itertools.pairwise(seconds[:-1])) >= 5


def test_each_stage_and_what_is_said_of_the_checkpoint_is_shown(shown):
    said = ["black box: 200 runs", "checkpoint: 'c' cannot be written any more", "power on mutants"]
    assert len(shown((3 + i / 10, message) for i, message in enumerate(said))) == 3


def test_what_is_quick_says_nothing(shown):
    assert shown([(0.1, "first runs"), (1.9, "tracing")]) == []


def test_what_is_written_to_stdout_meanwhile_goes_to_stderr(capfd):
    """As by C code, past `sys.stdout`: results alone are there."""
    with shell.progressing():
        os.write(1, b"meanwhile\n")
    os.write(1, b"afterwards\n")
    said = capfd.readouterr()
    assert (said.out, "meanwhile" in said.err) == ("afterwards\n", True)
