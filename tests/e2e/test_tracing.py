"""Tracing through the command line: leads like a linter's, SARIF on their lines, classes as targets."""

import copy
import json
import re
import shutil
import sysconfig
from pathlib import Path

import jsonschema
import pytest

from tests import formats
from tests.commands import finished as run
from tests.e2e.test_browser import measure, needs_browser
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import schema
from verifiable_dp.render.page import render

CODE = Path(__file__).parents[1] / "user_code"
SCRIPT = str(Path(sysconfig.get_path("scripts")) / "verifiable-dp")
CLASS = '''
import numpy as np


class Committing:
    """Looks once at noisy sums."""

    def __init__(self, n_arms, rng, scale={scale}):
        self.sums, self.t, self.rng, self.scale = np.zeros(n_arms), 0, rng, scale

    def select(self):
        if self.t == 20:
            self.best = int(np.argmax(self.sums + self.rng.laplace(0, self.scale, len(self.sums))))
        return self.t % len(self.sums) if self.t < 20 else self.best

    def update(self, arm, reward):
        if self.t < 20:
            self.sums[arm] += reward
        self.t += 1
'''


@pytest.fixture
def folder(tmp_path):
    shutil.copy(CODE / "styles.py", tmp_path)
    (tmp_path / "right.py").write_text(CLASS.format(scale=1.0), "utf-8")
    (tmp_path / "wrong.py").write_text(CLASS.format(scale=0.2), "utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def leaking(tmp_path_factory):
    """Record and page of a leak, and the folder they were made in, with the source gone."""
    place = tmp_path_factory.mktemp("leaking")
    shutil.copy(CODE / "styles.py", place)
    audit(place, "styles.py:raw_tie_break")
    (place / "styles.py").unlink()
    return json.loads((place / "r.json").read_text("utf-8")), (place / "r.html").read_text("utf-8"), place


def audit(folder, target, runs=12_000):
    common = ("--epsilon", 1, "--arms", 2, "--horizon", 60, "--runs", runs, "-v")
    return run(folder, "audit", target, *common, "--json", "r.json", "--sarif", "r.sarif", "--html", "r.html")


def marked(name):
    """Line of the leak of a bandit, as styles.py marks it."""
    lines = (CODE / "styles.py").read_text("utf-8").splitlines()
    start = lines.index(f"def {name}(rewards, rng):")
    return next(i + 1 for i in range(start, len(lines)) if lines[i].endswith("# leak"))


@pytest.mark.parametrize(
    "name",
    [
        "plain_ucb",
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("raw_tie_break", "peeks_at_the_first")),
    ],
)
def test_a_leak_is_refuted_and_its_line_is_named(name, folder):
    done = audit(folder, f"styles.py:{name}")
    assert done.returncode == 1, done.stdout + done.stderr
    line = marked(name)
    assert re.search(rf"^  at styles\.py:{line}: \S", done.stdout, re.MULTILINE)  # where editors look for it
    results = formats.sarif(folder / "r.sarif")["runs"][0]["results"]
    leads = [r for r in results if r["ruleId"] == "DP101"]
    places = [r["locations"][0]["physicalLocation"] for r in leads]
    assert {"artifactLocation": {"uri": "styles.py"}, "region": {"startLine": line}} in places
    assert f"styles.py:{line}" in (folder / "r.html").read_text("utf-8").replace("<wbr/>", "")
    assert run(folder, "verify", "r.json").returncode == 0


@pytest.mark.slow
def test_without_any_randomness_tracing_leads_the_black_box_refutes_and_it_re_runs(folder):
    """Tracing does not see every source of randomness, so what it finds in actions is a lead only."""
    done = audit(folder, "styles.py:plain_ucb")
    assert done.returncode == 1, done.stdout + done.stderr
    record = json.loads((folder / "r.json").read_text("utf-8"))
    tracing, *others = record["checks"]
    assert (tracing["kind"], tracing["result"]["verdict"]) == ("tracing", "not_refuted")
    assert not tracing["result"]["holds"]
    assert not tracing["statistics"]["same_output"]
    assert (others[0]["kind"], others[0]["result"]["verdict"]) == ("black_box", "refuted")
    assert {found["check"] for found in record["counterexamples"]} == {others[0]["name"]}
    again = run(folder, "verify", "r.json", "--rerun")
    assert again.returncode == 0, again.stderr
    assert "every count is the same" in again.stdout


@pytest.mark.slow
def test_a_class_is_a_target(folder):
    right, wrong = audit(folder, "right.py:Committing"), audit(folder, "wrong.py:Committing")
    traced = re.search(r"^  check tracing: (.*)$", right.stdout, re.MULTILINE)
    assert traced
    assert re.fullmatch(r"not refuted, largest cost 1 in \d+ replayed runs, claimed 1", traced[1])  # no lead
    bound = r"^  check upper bound: not refuted, epsilon at most 1 if its premises hold \("
    assert re.search(bound, right.stdout, re.MULTILINE)
    assert right.returncode in (0, 3), right.stdout + right.stderr
    assert "largest cost 5 in" in wrong.stdout
    assert "this is a lead, not proof" in wrong.stdout
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr
    costly_releases_are_named_in_all_forms(folder, wrong.stdout)


def text_of(page):
    return re.sub(r"<[^>]+>", " ", re.sub(r"<(style|svg).*?</\1>", "", page, flags=re.DOTALL))


def costly_releases_are_named_in_all_forms(folder, out):
    line = 1 + CLASS.splitlines().index(next(x for x in CLASS.splitlines() if "laplace" in x))
    assert re.search(rf"^  at wrong\.py:{line}: release costs 5 \(once\): ", out, re.MULTILINE)
    results = formats.sarif(folder / "r.sarif")["runs"][0]["results"]
    (found,) = [r for r in results if r["ruleId"] == "DP102"]
    place = {"artifactLocation": {"uri": "wrong.py"}, "region": {"startLine": line}}
    assert found["locations"] == [{"physicalLocation": place}]
    text = text_of((folder / "r.html").read_text("utf-8"))
    for words in ("Rewards enter, 20 times", "Release: Laplace noise is added, cost 5, once", "Action comes"):
        assert words in text


def test_a_leak_has_a_page_with_its_way_and_its_budget(leaking):
    record, page, folder = leaking
    for words in ("Cost of the reward of each round", "Lower bounds on epsilon"):
        assert f'aria-label="{words}' in page
    text = text_of(page)
    for words in ("From reward to release to action", "Raw rewards decide which position is chosen, once"):
        assert words in text
    assert render(Record.of(record)) == page
    assert record["checks"][0]["statistics"]["excerpts"][0]["file"] == "styles.py"
    assert str(folder) not in json.dumps(record["checks"][0])


def test_source_is_escaped_and_bad_rows_are_refused(leaking):
    record = leaking[0]
    evil = copy.deepcopy(record)
    numbers = evil["checks"][0]["statistics"]
    numbers["excerpts"][0]["lines"][0] = numbers["flow"][0]["words"] = "<script>alert(1)</script>"
    numbers["excerpts"][0]["file"] = numbers["flow"][0]["file"] = '"><img src=x>'
    page = render(Record.of(evil))
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "<img" not in page
    check = jsonschema.Draft202012Validator(schema()).is_valid
    assert check(record)
    for key, row in (("flow", {"file": "a"}), ("excerpts", {"file": "a", "first": 0, "lines": ["x"]})):
        broken = copy.deepcopy(record)
        broken["checks"][0]["statistics"][key].append(row)
        assert not check(broken)
    for key, row in (("attribution", [0, 0, "<b>"]), ("spent", ["1", 2.0])):
        broken = copy.deepcopy(record)
        broken["checks"][0]["statistics"][key].append(row)
        assert not check(broken)


@needs_browser
def test_the_page_fits_a_telephone(leaking, tmp_path):
    found = measure(leaking[1], 360, tmp_path)
    assert found["scroll"] <= found["width"] <= 360
    assert found["wide"] == []
    assert found["loaded"] == []
    assert len(found["plots"]) >= 2
    assert all(height > 50 for height in found["plots"] if height)  # 0: of the layout for a desktop


GLOBAL = """
import random

import numpy as np


def play(rewards, rng):
    sums, arms = [0.0, 0.0], []
    for t, row in enumerate(rewards):
        arm = random.randrange(2) if np.random.random() < 0.1 else int(sums[1] > sums[0])
        sums[arm] += row[arm]
        arms.append(arm)
    return arms
"""


@pytest.mark.slow
def test_process_wide_generators_are_told_of(folder):
    (folder / "shared.py").write_text(GLOBAL, "utf-8")
    done = audit(folder, "shared.py:play")
    assert done.returncode == 1, done.stdout + done.stderr
    record = json.loads((folder / "r.json").read_text("utf-8"))
    notes = record["checks"][0]["statistics"]["notes"]
    assert [(note["file"], note["line"]) for note in notes] == [("shared.py", 10)] * 2
    for source in ("np.random", "the module random"):
        words = (
            f"draws from {source}, not the generator that we pass, so we cannot repeat these draws from its "
            "seed"
        )
        assert f"shared.py:10: {words}" in done.stdout
        assert words in [note["what"] for note in notes]
    note = record["target"]["note"]
    assert "a process-wide generator: it is made to follow the generator of each run" in note
    assert "not repeatable" not in note
    again = run(folder, "verify", "r.json", "--rerun")
    assert again.returncode == 0, again.stderr
    assert "every count is the same" in again.stdout


def test_a_right_bandit_gives_no_findings(folder):
    done = audit(folder, "styles.py:commit")
    assert done.returncode in (0, 3), done.stdout + done.stderr
    assert not re.search(r"^  at \S+\.py:\d+: ", done.stdout, re.MULTILINE)
    text = text_of((folder / "r.html").read_text("utf-8"))
    assert "Release: Laplace noise is added, cost 1, once" in text
    assert "The budget over the horizon" in text
    assert "Raw rewards decide" not in text
    results = formats.sarif(folder / "r.sarif")["runs"][0]["results"]
    assert not [r for r in results if r["ruleId"] == "DP101"]
    # The code was traced: what is not covered does not say that only its outputs were seen.
    left = {each["id"] for each in json.loads((folder / "r.json").read_text("utf-8"))["not_covered"]}
    assert "unseen-code" not in left
