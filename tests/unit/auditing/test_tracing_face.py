"""The face of tracing: the way through the source, its excerpts, its plots, its lines for linters."""

from __future__ import annotations

import copy
import importlib.util
import itertools
import json
import linecache
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tests import formats, small_records
from tests.user_code import styles
from verifiable_dp.auditing import traced
from verifiable_dp.auditing.request import Inputs
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.evidence.check import Check, in_words
from verifiable_dp.evidence.judge.laws import epsilon_of_mu
from verifiable_dp.evidence.tracing import flow
from verifiable_dp.evidence.tracing.examining import _spread, examine
from verifiable_dp.evidence.tracing.flow import Step
from verifiable_dp.evidence.tracing.ledger import Place, ReplayEnd
from verifiable_dp.evidence.tracing.replays import check
from verifiable_dp.evidence.tracing.subjects import TracedBandit
from verifiable_dp.record import excerpts
from verifiable_dp.record.model import Record
from verifiable_dp.record.words import leads
from verifiable_dp.render import plots
from verifiable_dp.render.sarif import to_sarif
from verifiable_dp.targets.adapters import BanditClass

HORIZON = 60
PAIRS = [TablePair(np.zeros((HORIZON, 2)), 0, 0, 1.0)]
FILE = styles.__file__
LINES = Path(FILE).read_text("utf-8").splitlines()


def examined(function, epsilon=1.0):
    subject = TracedBandit(function, 2, HORIZON, (0.0, 1.0), frozenset([FILE]))
    return check(examine(subject, epsilon, PAIRS, seed=0, examples=6), epsilon)


class Checks(dict):
    """Of the styles, by name; each is made when it is first asked for, as tests are spread over processes."""

    def __missing__(self, name):
        self[name] = examined(getattr(styles, name))
        return self[name]


@pytest.fixture(scope="module")
def checks():
    return Checks()


def of_role(found, role):
    return [step for step in found.statistics["flow"] if step["role"] == role]


def leak_of(name):
    """The marked line of a leak."""
    start = LINES.index("class Greedy:" if name == "means_with_too_little" else f"def {name}(rewards, rng):")
    return next(i + 1 for i in range(start, len(LINES)) if LINES[i].endswith("# leak"))


# ---------------------------------------------------------------- the way through the source


@pytest.mark.parametrize("name", [f.__name__ for f in (*styles.RIGHT, *styles.LEAKS)])
def test_every_step_is_a_line_of_the_source_and_lies_in_an_excerpt(checks, name):
    numbers = checks[name].statistics
    shown = {
        (part["file"], line): text
        for part in numbers["excerpts"]
        for line, text in enumerate(part["lines"], part["first"])
    }
    assert 0 < len(shown) <= 60
    assert shown == {(FILE, line): LINES[line - 1] for _, line in shown}
    for step in numbers["flow"]:
        assert (step["file"], step["line"]) in shown
        assert step["source"] == LINES[step["line"] - 1].strip()
        assert ("cost" in step) == (step["role"] == "release")
    assert numbers["flow"] == sorted(numbers["flow"], key=lambda step: step["line"])
    assert of_role(checks[name], "action")
    assert bool(of_role(checks[name], "release")) == bool(numbers["releases"] or numbers["shares"])
    json.dumps(numbers, allow_nan=False)


# The one has no way; in the other no change of one reward changed an action, so that no coin paid.
_PAY_NOTHING = (styles.ignores_its_rewards, styles.randomised_response)


@pytest.mark.parametrize("name", [f.__name__ for f in styles.RIGHT if f not in _PAY_NOTHING])
def test_right_bandits_show_the_whole_way_and_no_open_decision(checks, name):
    assert of_role(checks[name], "reward")
    assert of_role(checks[name], "release")
    assert all("no harm" in step["words"] for step in of_role(checks[name], "raw"))


def test_what_ignores_its_rewards_has_no_reward_line(checks):
    assert [step["role"] for step in checks["ignores_its_rewards"].statistics["flow"]] == ["action"]


@pytest.mark.parametrize("name", [f.__name__ for f in styles.LEAKS])
def test_the_line_of_each_leak_is_marked(checks, name):
    at = leak_of(name)
    roles = {step["role"] for step in checks[name].statistics["flow"] if step["line"] == at}
    assert roles & {"raw", "release"}


def test_lines_counts_and_costs_by_hand(checks):
    rows = {
        (step["role"], step["line"] - styles.commit_in_loops.__code__.co_firstlineno): step
        for step in checks["commit_in_loops"].statistics["flow"]
    }
    assert list(rows) == [("reward", 6), ("release", 10), ("action", 13)]
    assert rows["reward", 6]["count"] == HORIZON // 2
    release = rows["release", 10]
    assert (release["words"], release["count"], release["cost"]) == ("Laplace noise is added", 2, 1.0)
    again = of_role(checks["looks_again_and_again"], "release")
    assert [(step["count"], step["cost"]) for step in again] == [(40, 40.0)]


def test_the_same_seed_gives_the_same_way(checks):
    for function in (styles.raw_tie_break, styles.elimination_as_a_class):
        assert examined(function).statistics == checks[function.__name__].statistics


def test_a_line_at_which_the_replay_cannot_follow_is_marked(checks):
    (step,) = of_role(checks["one_draw_for_all"], "raw")
    assert step["words"].startswith("one draw is added")
    assert flow.diverging(ReplayEnd("3 fewer releases than on the neighbouring input")) == []


def test_where_functions_return():
    def play(rewards, rng):
        if rng is None:
            return [0]
        [None for _ in rewards]
        return [
            1,
            2,
        ]

    def learn(rewards):
        rewards.sum()

    first = play.__code__.co_firstlineno
    assert [place.line - first for place in flow.returns_of([play])] == [2, 4]
    assert flow.returns_of([learn]) == ()


HELPER = "def noisy(values, rng):\n    return values + rng.laplace(0, 1.0, len(values))\n"
CLASS = """import numpy as np
from face_helper import noisy


class Bandit:
    def __init__(self, n_arms, rng):
        self.sums, self.t, self.rng, self.best = np.zeros(n_arms), 0, rng, 0

    def select(self):
        if self.t == 20:
            self.best = int(np.argmax(noisy(self.sums, self.rng)))
        return self.t % 2 if self.t < 20 else self.best

    def update(self, arm, reward):
        if self.t < 20:
            self.sums[arm] += reward
        self.t += 1
"""


def test_classes_and_helpers_in_other_files(tmp_path, monkeypatch):
    folder = tmp_path / "code"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(folder))
    for name, text in (("face_helper", HELPER), ("face_main", CLASS)):
        (folder / f"{name}.py").write_text(text, "utf-8")
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
    found, _ = traced.trace(
        BanditClass(module.Bandit),
        "code/face_main.py:Bandit",
        1.0,
        Inputs(2, HORIZON, pairs=PAIRS),
        0,
        traced.Effort(4),
    )
    rows = [(step["role"], step["file"], step["line"]) for step in found.statistics["flow"]]
    assert rows == [
        ("release", "code/face_helper.py", 2),
        ("action", "code/face_main.py", 12),
        ("reward", "code/face_main.py", 16),
    ]
    shown = excerpts.files(found.statistics)
    assert [file["file"] for file in shown] == ["code/face_helper.py", "code/face_main.py"]
    assert str(tmp_path) not in json.dumps(found.statistics)


def test_files_are_renamed_beside_their_target_but_their_text_is_not():
    given = {
        "leads": [{"file": "/x/y/a.py", "source": "open('/x/y/b.txt')"}],
        "divergence": {"what": "more", "file": "/x/y/sub/b.py", "line": 3},
        "excerpts": [{"file": "/x/y/a.py", "lines": ["'/x/y/'"]}],
        "epsilon": 1.0,
    }
    found = traced.renamed(given, "/x/y/a.py", "a.py")
    assert found["leads"] == [{"file": "a.py", "source": "open('/x/y/b.txt')"}]
    assert found["divergence"] == {"what": "more", "file": "sub/b.py", "line": 3}
    assert found["excerpts"] == [{"file": "a.py", "lines": ["'/x/y/'"]}]
    assert traced.renamed({"a": "/x/y/b.py"}, "/x/y/a.py", "pkg/a.py") == {"a": "pkg/b.py"}
    assert traced.renamed({"a": "/b.py: /c"}, "/a.py", "a.py") == {"a": "/b.py: /c"}


# ---------------------------------------------------------------- excerpts


@pytest.fixture
def long_file(tmp_path):
    path = tmp_path / "long.py"
    lines = [f"x{n} = {n}" for n in range(1, 301)]
    lines[99:102] = ["", "", "y = '" + "é" * 400 + "'"]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    linecache.clearcache()
    return str(path)


def spans(file, *numbers, **kwargs):
    found = flow.excerpts([Step(Place(file, n), "raw", "w") for n in numbers], **kwargs)
    return [(part.first, part.first + len(part.lines) - 1) for part in found]


def test_near_lines_merge_and_far_ones_do_not(long_file):
    assert spans(long_file, 50) == [(47, 53)]
    assert spans(long_file, 50, 56) == [(47, 59)]
    assert spans(long_file, 50, 58) == [(47, 53), (55, 61)]
    assert spans(long_file, 1, 300) == [(1, 4), (297, 300)]
    assert spans(long_file, 98) == [(95, 99)]  # two blank lines end a definition
    assert spans(long_file, 103) == [(102, 106)]


def test_what_does_not_fit_is_left_out_least_important_first(long_file):
    numbers = [*range(120, 290, 2)]
    found = spans(long_file, *numbers, most=60)
    assert sum(last - first + 1 for first, last in found) == 60
    covered = {n for first, last in found for n in range(first, last + 1)}
    assert set(numbers[:60]) <= covered
    assert numbers[-1] not in covered
    few = spans(long_file, 10, 30, 50, most=9)
    assert few == [(9, 11), (29, 31), (49, 51)]


def test_long_lines_are_cut(long_file):
    (part,) = flow.excerpts([Step(Place(long_file, 102), "raw", "w")], around=0)
    assert len(part.lines[0]) == 200
    assert part.lines[0].endswith("…")


def test_rows_of_a_page_have_gaps_and_marks():
    step = {
        "file": "a.py",
        "line": 5,
        "role": "release",
        "words": "noise",
        "source": "",
        "count": 3,
        "cost": 2.0,
    }
    numbers = {
        "flow": [{**step, "role": "reward", "words": "rewards enter", "count": 1}, step],
        "excerpts": [
            {"file": "a.py", "first": 4, "lines": ["four", "five"]},
            {"file": "a.py", "first": 9, "lines": ["nine"]},
            {"file": "b.py", "first": 1, "lines": ["one"]},
        ],
    }
    del numbers["flow"][0]["cost"]
    first, second = excerpts.files(numbers)
    assert [row["line"] for row in first["rows"]] == [4, 5, None, 9]
    marks = first["rows"][1]["marks"]
    assert [(m["sign"], m["words"]) for m in marks] == [
        ("→", "Rewards enter, once"),
        ("+", "Release: noise, cost 2.0, 3 times"),
    ]
    assert second["file"] == "b.py"
    assert excerpts.files({}) == []
    assert len(set(excerpts.SIGNS.values())) == len(excerpts.SIGNS) == len(flow.ROLES)


# ---------------------------------------------------------------- plots


def record_of(attribution, spent=(), epsilon=1.0, horizon=HORIZON, releases=1):
    costs = dict.fromkeys(("max_cost", "loss", "rho"), 0.0)
    statistics = {
        "epsilon": epsilon,
        "attribution": attribution,
        "spent": list(spent),
        "releases": releases,
        "examined": 1,
        "failure": "",
        "coins": {},
        "draws": 0,
        "seed": 0,
        "pair": None,
        **costs,
        "divergence": None,
        "same_output": True,
        "leads": [],
        "notes": [],
        "shares": [],
    }
    record = small_records.small()
    record["checks"] = [Check.of("tracing", "tracing", statistics).as_dict()]
    record["target"]["parameters"] = {"horizon": horizon}
    return Record.of(record)


def test_costs_add_up_and_stay_few():
    def spent(costs, rho=np.inf, **asked):
        return flow.spent(np.array([(cost, rho) for cost in costs]).reshape(-1, 2), **asked)

    assert spent([0.5, 0.0, 0.25]) == [(1, 0.5), (3, 0.75)]
    assert spent([]) == []
    many = spent([0.1] * 10_000)
    assert len(many) <= 64
    assert many[-1] == (10_000, pytest.approx(1000.0))
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in itertools.pairwise(many))
    assert spent([1.0, np.inf, 1.0])[-1] == (2, np.inf)
    # Normal noise is charged at delta: mu 1 after two of four releases of rho 1/4, sqrt 2 after all of them.
    normal = spent([np.inf] * 4, rho=0.25, delta=1e-3)
    assert [n for n, _ in normal] == [1, 2, 3, 4]
    assert [normal[1][1], normal[3][1]] == [epsilon_of_mu(mu, 1e-3) for mu in (1.0, 2**0.5)]
    assert spent([np.inf] * 4, rho=0.25) == [(1, np.inf)]  # at delta 0 it has no bound
    assert spent([1.0, np.inf], delta=1e-3)[-1] == (2, np.inf)  # nor beside other noise


def test_bins_keep_the_largest_of_each():
    points = [(float(x), 5.0 if x == 777 else x % 3) for x in range(2000)]
    found = plots.binned(points, 120)
    assert len(found) <= 120
    assert (777.0, 5.0) in found
    assert found == sorted(found)
    assert plots.binned(points[:100], 120) == points[:100]


def test_long_horizons_stay_small_and_drawn_alike():
    rows = [[t, t % 10, 1.0 if t % 7 else "inf"] for t in range(2000)]
    record = record_of(rows, [[n, n / 2] for n in range(1, 2001)], horizon=2000, releases=2000)
    for draw in (plots.budget, plots.spending):
        svg = draw(record)
        assert len(svg.encode()) < 60_000
        assert svg == draw(record)
        assert svg.startswith("<svg viewBox=")


def test_few_rounds_are_spread_over_the_horizon():
    assert _spread(2000, 2) == [0, 1999]
    assert _spread(1, 2) == [0]
    for most in (2, 3, 6, 48):
        found = _spread(2000, most)
        assert len(found) <= most
        assert (found[0], found[-1]) == (0, 1999)


def heights(svg, color):
    """Where straight lines of this colour begin and end; the axis points down."""
    found = re.findall(rf'd="m([^"cz]+)"[^>]*style="[^"]*stroke: {color}', svg)
    steps = [[float(n) for n in re.findall(r"-?[0-9.]+", path)][1::2] for path in found]
    return [y for path in steps for y in itertools.accumulate(path)]


def test_the_plot_shows_cost_against_the_claim():
    claim, cost = "#b45309", "#2563a8"
    below, above = (plots.budget(record_of([[0, 0, c], [9, 1, c / 2]])) for c in (0.5, 4.0))
    # The lowest line in the colour of the claim is the claim; the others belong to the legend.
    assert min(heights(below, cost)) > max(heights(below, claim))
    assert min(heights(above, cost)) < max(heights(above, claim))
    assert plots.budget(record_of([[0, 0, "inf"]])) != plots.budget(record_of([[0, 0, 1.2]]))


def test_without_numbers_there_is_no_plot():
    assert plots.budget(record_of([])) is None
    assert plots.spending(record_of([], [[1, 0.5], [2, 1.0]])) is None
    assert plots.spending(record_of([], [[1, 0.5], [2, 1.0], [3, 2.0]], releases=3))
    untraced = Record.of(small_records.small())
    assert plots.budget(untraced) is None
    assert plots.spending(untraced) is None


# ---------------------------------------------------------------- lines for linters


def lines_of(found):
    return leads(Check.read(found.as_dict()))


def test_leads_and_costly_releases_are_written_like_a_linters(checks):
    at = leak_of("looks_again_and_again")
    (line,) = lines_of(checks["looks_again_and_again"])
    assert line.startswith(f"{FILE}:{at}: releases here cost 40 (40 times): arm = int(np.argmax(")
    (line,) = lines_of(checks["raw_tie_break"])
    assert line.startswith(
        f"{FILE}:{leak_of('raw_tie_break')}: raw rewards decide which position is chosen: "
    )
    (line,) = lines_of(checks["one_draw_for_all"])
    assert line.startswith(f"{FILE}:{leak_of('one_draw_for_all')}: one draw is added")
    for name in ("plain_ucb", "half_noise", "sees_all_arms", "in_place_sums", "writes_rewards_out"):
        found = lines_of(checks[name])
        assert any(line.startswith(f"{FILE}:{leak_of(name)}: ") for line in found)
        assert all(re.match(r"[^:\s][^:]*:\d+: ", line) for line in found)


@pytest.mark.parametrize("name", [f.__name__ for f in styles.RIGHT if f is not styles.with_exponential_noise])
def test_right_bandits_get_no_line(checks, name):
    assert lines_of(checks[name]) == []


def test_what_tracing_holds_against_a_claim_is_called_a_lead(checks):
    leaky = checks["looks_again_and_again"].as_dict()
    assert leaky["result"]["verdict"] == "not_refuted"
    assert not leaky["result"]["holds"]
    cost, runs = leaky["statistics"]["max_cost"], leaky["statistics"]["examined"]
    said = f"largest cost {cost:g} in {runs} replayed runs, claimed 1; this is a lead, not proof"
    assert in_words(Check.read(leaky)) == said
    right = checks[styles.RIGHT[0].__name__].as_dict()
    assert "lead" not in in_words(Check.read(right))
    # What refutes is no lead, nor is a run in which nothing was examined.
    refuted = {**leaky, "result": {**leaky["result"], "verdict": "refuted"}}
    assert "lead" not in in_words(Check.read(refuted))
    nothing = {**leaky, "statistics": {**leaky["statistics"], "examined": 0}}
    assert "lead" not in in_words(Check.read(nothing))


def test_draws_that_cannot_be_repeated_are_named():
    found = examined(styles.commit).as_dict()
    assert leads(Check.read(found)) == []
    found["statistics"]["notes"] = [
        {"kind": "unrepeatable", "what": "draws from np.random", "file": "a.py", "line": 3}
    ]
    assert leads(Check.read(found)) == ["a.py:3: draws from np.random"]


@pytest.mark.parametrize(("file", "lines"), [("a b/c.py", ["a b/c.py:12: fewer"]), ("", [])])
def test_where_a_replay_ended_is_named_if_it_is_known(file, lines):
    found = examined(styles.commit).as_dict()
    found["statistics"]["divergence"] = {"what": "fewer", "file": file, "line": 12}
    assert leads(Check.read(found)) == lines


def sarif_of(found, verdict="refuted"):
    record = small_records.small()
    record["target"] |= {"name": "x", "kind": "play", "role": "user", "plays": "arms", "note": ""}
    record["target"] |= {"parameters": {}}
    record["target"]["source"] |= {"path": "my code.py", "line": 1}
    record |= {"checks": [found.as_dict()], "verdict": verdict, "counterexamples": []}
    record |= {"epsilon_upper": None, "detectable": None, "power": None}
    (run,) = formats.sarif(to_sarif(Record.of(record)))["runs"]
    return run


def test_sarif_carries_both_to_their_lines(checks):
    found = copy.deepcopy(checks["looks_again_and_again"])
    for row in (*found.statistics["shares"], *found.statistics["flow"]):
        row["file"] = "my code/styles.py"
    run = sarif_of(found)
    refuted, result = run["results"]
    assert (refuted["ruleId"], refuted["level"]) == ("DP100", "error")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20code/styles.py"
    assert place["region"] == {"startLine": leak_of("looks_again_and_again")}
    assert (result["ruleId"], result["level"]) == ("DP102", "warning")
    assert result["message"]["text"].startswith("releases here cost 40 (40 times): ")
    rules = {rule["id"]: rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"]}
    assert rules["DP102"].endswith(".")
    _, raw = sarif_of(checks["raw_tie_break"])["results"]
    assert raw["ruleId"] == "DP101"
    assert raw["ruleId"] in rules
    assert raw["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///")
    kept = [result["ruleId"] for result in sarif_of(found, "not_refuted")["results"]]
    assert kept == ["DP302"]  # of a record in which nothing says what would have been caught
