"""Claims about the regret of a user's own bandit: the page about it, in pytest and on the command line."""

import json
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests import formats
from tests.commands import PATIENCE

PAGE = Path(__file__).parents[2] / "docs" / "check-regret.md"
SCRIPT = str(Path(sysconfig.get_path("scripts")) / "verifiable-dp")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S))


@pytest.fixture
def folder(tmp_path):
    for name, body in FILES.items():
        (tmp_path / name).write_text(body, encoding="utf-8")
    return tmp_path


def run(folder, *arguments):
    done = subprocess.run([SCRIPT, *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    assert "Traceback" not in done.stderr
    return done


def in_pytest(pytester, *options):
    pytester.makepyfile(**{name.removesuffix(".py"): body for name, body in FILES.items()})
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", "--strict-markers", *options)


@pytest.mark.slow
def test_the_page_in_pytest(pytester):
    """Negative control: constant exploration has linear regret and is contradicted; level 1e-6 a check."""
    result = in_pytest(pytester, "--dp-report", "kept", "-k", "bound or greedy")
    result.assert_outcomes(passed=1, failed=1, deselected=2)
    result.stdout.fnmatch_lines(
        [
            "regret of Greedy: expected consistent, got contradicted",
            "  check bound on wide gaps: contradicted, mean * at T = 2000, claimed at most 233.2",
            "  check rate in T: contradicted, exponent 0.8* after a factor log T * 2000, claimed 0 ± 0.15",
            "figure: *kept/*greedy*.svg",
            "record: *kept/*greedy*.json",
            "again:  verifiable-dp verify *kept/*greedy*.json --rerun",
            "   or:  pytest test_news.py::test_greedy",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    (figure,) = (pytester.path / "kept").glob("*.svg")
    assert figure.read_text("utf-8").startswith("<svg xmlns=")
    (record,) = (pytester.path / "kept").glob("*greedy*.json")
    assert json.loads(record.read_text("utf-8"))["regret"]["verdict"] == "contradicted"


@pytest.mark.slow
def test_the_rates_of_the_page(pytester):
    in_pytest(pytester, "-k", "rate").assert_outcomes(passed=2, deselected=2)


@pytest.mark.slow
def test_marks_keep_tests_apart(pytester):
    for mark, deselected in (("not regret", 4), ("not dp_slow and not privacy", 1)):
        result = in_pytest(pytester, "-m", mark, "--collect-only", "-q")
        assert f"{deselected} deselected" in result.stdout.str(), mark


@pytest.mark.slow
def test_vacuous_and_inconclusive_fail_unless_expected(pytester):
    pytester.makepyfile(
        test_it="from news import UCB\n"
        "HERE = dict(n_arms=2, horizon=50, runs=64)\n"
        "def test_vacuous(regret_check):\n    regret_check(UCB, **HERE, bound=1000)\n"
        "def test_expected(regret_check):\n    regret_check(UCB, **HERE, bound=1000, expect='vacuous')\n"
        "def test_any(regret_check):\n    regret_check(UCB, **HERE, bound=1000, expect=None)\n"
        "def test_wrong(regret_check):\n    regret_check(UCB, **HERE, bound=0.1, expect=None)\n",
        news=FILES["news.py"],
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--basetemp", "here")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["regret of UCB: expected consistent, it is vacuous"])
    result.stdout.fnmatch_lines(["regret of UCB: expected no contradiction, got contradicted"])
    # Without --dp-report the figure is in the test's own folder.
    # A set, because pytest's summary repeats a failure's lines whole where CI is set.
    figures = set(re.findall(r"^figure: (.*)$", result.stdout.str(), re.M))
    assert len(figures) == 2
    assert all("here" in figure and (pytester.path / figure).is_file() for figure in figures)


@pytest.mark.slow
def test_a_bound_on_the_command_line(folder):
    done = run(
        folder, "regret", "news.py:UCB", "--arms", "3", "--horizon", "1000", "--runs", "8",
        "--bound", "news.py:bound", "--set", "width=0.5", "--means", ".9,.2,.2",
        "--better-than", "news.py:Greedy",
        "--json", "r.json", "--html", "r.html", "--sarif", "r.sarif",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bound on gaps 0, 0.7, 0.7: consistent, mean " in done.stdout
    record = json.loads((folder / "r.json").read_text("utf-8"))
    assert record["target"]["kind"] == "user"
    assert record["target"]["parameters"] == {"n_arms": 3, "horizon": 1000, "width": 0.5}
    assert formats.sarif(folder / "r.sarif")["runs"][0]["results"] == []
    assert "rate" not in (folder / "r.sarif").read_text("utf-8")
    assert "comparison on gaps 0, 0.7, 0.7" in (folder / "r.html").read_text("utf-8")
    assert run(folder, "verify", "r.json", "--rerun").returncode == 0
    (folder / "news.py").write_text(FILES["news.py"] + "\n# changed\n", "utf-8")
    done = run(folder, "verify", "r.json", "--rerun")
    assert done.returncode == 2
    assert "has changed since the audit" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["news.py:UCB", "--bound", "1e9"], 3, "vacuous"),
        (["news.py:UCB", "--bound", "1e-9"], 1, "contradicted"),
        (["news.py:UCB", "--bound", "0"], 2, "bound must be a number greater than 0"),
        (["ucb1", "--bound", "news.py:bound", "--better-than", "se"], 0, "consistent"),
        (["news.py:UCB"], 2, "bound, scaling or better_than must be given"),
        (["news.py:UCB", "--scaling", "T=fast"], 2, "scaling: T must be an exponent"),
    ],
)
def test_exit_statuses(folder, options, status, said):
    done = run(folder, "regret", *options, "--arms", "2", "--horizon", "200", "--runs", "64")
    assert done.returncode == status, done.stdout + done.stderr
    assert re.search(said, done.stdout + done.stderr)
    if status == 2:
        assert done.stderr.count("\n") == 1
