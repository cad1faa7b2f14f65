"""Bounds of every path: which programs have them, and what of it another look would miss.

Broken variants, each seen to fail here: a chooser to which nothing is open; one run in place of two; leaves
that are not looked at in all ways.
"""

import shutil

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.commands import finished
from tests.user_code import leaves as programs
from verifiable_dp.evidence.judge.values import Value
from verifiable_dp.evidence.premises import Taken
from verifiable_dp.evidence.symbolic import bounded_programs, leaves, paths
from verifiable_dp.evidence.symbolic.choosers import Chooser, Deciding


def explored(program):
    return paths.explore(bounded_programs.Program(program, (12, 2), (0.0, 1.0)), 2, most=6)


@pytest.mark.parametrize(("program", "number"), programs.ALL)
def test_a_few_decisions_have_as_many_paths(program, number):
    found = explored(program)
    assert found.every
    numbers = [path.number for path in found.paths if path.number >= leaves._FIRST]
    assert len(numbers) == len({*numbers}) == number
    made = found.bound()
    assert made.scope == "every path"
    assert made.epsilon == pytest.approx(1.0)
    assert Taken.OTHER_PATHS not in {premise.id for premise in made.premises}


@pytest.mark.parametrize("program", programs.MORE)
def test_other_programs_are_bounded_on_tested_paths_at_most(program):
    found = explored(program)
    assert not found.every
    assert found.bound().scope == "n paths"
    assert Taken.OTHER_PATHS in {premise.id for premise in found.bound().premises}


def test_the_outputs_of_all_paths_are_all_outputs():
    found = explored(programs.commit_twice)
    last = [int(path.output[-1]) for path in found.paths if path.number >= leaves._FIRST]
    assert sorted(last) == [0, 0, 1]


def test_a_second_run_notices_what_no_chooser_was_asked_of(monkeypatch):
    """Where a number of many were taken for nothing open."""
    monkeypatch.setattr(Deciding, "level", Chooser.level)
    monkeypatch.setattr(Value, "varies", False)
    assert not explored(programs.wider_by_chance).every
    # Without the second run it would be taken for the only path.
    monkeypatch.setattr(leaves, "sums", lambda costs: {})
    assert explored(programs.wider_by_chance).every


@pytest.mark.parametrize(
    ("program", "least"), [(programs.opposite_signs, 1.146), (programs.more_signs, 1.183)]
)
def test_the_dearest_way_to_decide_counts(program, least):
    """Also where it is one of 64, and where there are too many ways to try: true costs from below."""
    assert explored(program).epsilon() >= least


def test_too_many_paths_are_not_all_run():
    made = []

    def run(number, chooser):
        made.append(number)
        for _ in range(leaves._DEEPEST):
            chooser.winner(0, range(9))
        return bounded_programs.Path(number, {})

    assert leaves.leaves(run, 2, np.inf) is None
    assert len(made) <= 2


def test_it_gives_up_after_so_many_operations():
    def run(number, chooser):
        chooser.winner(0, range(4))
        return bounded_programs.Path(number, {}, events=100)

    assert len(leaves.leaves(run, 2, np.inf)) == len(leaves.leaves(run, 2, 600)) == 4
    assert leaves.leaves(run, 2, 599) is None


def test_a_path_without_a_bound_ends_it():
    def run(number, chooser):
        words = "raw" if chooser.answer(True) else ""
        return bounded_programs.Path(number, {}, paths.Failure(words))

    assert leaves.leaves(run, 2, np.inf) is None


def test_the_scope_reaches_the_record():
    report = vdp.audit(programs.commit, epsilon=1.0, n_arms=2, horizon=12, budget="smoke", in_process=True)
    assert report.verdict == "not_refuted"
    assert report.record["epsilon_upper"]["scope"] == "every path"
    assert "on every path" in report.summary()
    assert np.isclose(report.record["epsilon_upper"]["epsilon"], 1.0)


@pytest.mark.parametrize(
    ("program", "require", "status"),
    [
        ("commit", "every-path", 0),
        ("commit", "certified", 3),
        ("greedy", "tested-paths", 0),
        ("greedy", "every-path", 3),
    ],
)
def test_the_command_asks_for_what_is_required(program, require, status, tmp_path):
    """One who asks for more than there is gets exit status 3 and is told why."""
    shutil.copy(programs.__file__, tmp_path / "leaving.py")
    asked = (
        "audit",
        f"leaving.py:{program}",
        "--arms",
        "2",
        "--horizon",
        "12",
        "--epsilon",
        "1",
        "--budget",
        "smoke",
    )
    assert finished(tmp_path, *asked, "--ask", "request.json").returncode == 0
    answer = ("--request", "request.json", "--json", "record.json")
    done = finished(tmp_path, *asked, *answer, "--require", require)
    assert done.returncode == status
    found = "every-path" if program == "commit" else "tested-paths"
    said = f"is not refuted, but its evidence is only {found}; --require asks for {require}"
    assert (said in done.stderr) == (status == 3)
    judged = finished(tmp_path, "judge", ".", f"leaving.py:{program}", "--require", require)
    assert (judged.returncode, said in judged.stderr) == (status, status == 3)


def test_a_campaign_asks_for_what_is_required(tmp_path):
    shutil.copy(programs.__file__, tmp_path / "leaving.py")
    targets = [
        f"[[targets]]\nname = '{name}'\ntarget = 'leaving.py:{name}'\narms = 2\nhorizon = 12\n"
        for name in ("commit", "greedy")
    ]
    defaults = "[defaults]\nepsilon = 1.0\nbudget = 'smoke'\n"
    (tmp_path / "all.toml").write_text(defaults + "".join(targets), encoding="utf-8")
    done = finished(tmp_path, "campaign", "all.toml", "--require", "every-path")
    assert done.returncode == 3
    assert (
        "greedy is not refuted, but its evidence is only tested-paths; --require asks for every-path"
        in done.stderr
    )
    assert "commit is not refuted, but" not in done.stderr
    again = finished(tmp_path, "campaign", "all.toml", "--require", "tested-paths", "--resume")
    assert again.returncode == 0


def test_a_test_asks_for_what_is_required(pytester):
    shutil.copy(programs.__file__, pytester.path / "leaving.py")
    given = "epsilon=1.0, n_arms=2, horizon=12, budget='smoke', require='every-path'"
    pytester.makepyfile(
        "import leaving\n"
        f"def test_enough(privacy_audit):\n    privacy_audit(leaving.commit, {given})\n"
        f"def test_short(privacy_audit):\n    privacy_audit(leaving.greedy, {given})\n"
        "def test_unknown(privacy_audit):\n    privacy_audit(leaving.greedy, epsilon=1.0, require='all')\n"
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*resting on tested-paths, and every-path is required*"])
    result.stdout.fnmatch_lines(["*require must be one of detectable, tested-paths, every-path, certified*"])
