"""Options of the pytest plugin, in pytests of their own; what it costs where it is not used."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

import verifiable_dp as vdp
from verifiable_dp import pytest_plugin
from verifiable_dp.auditing.request import Settings
from verifiable_dp.campaign.judge import judge
from verifiable_dp.cli import main
from verifiable_dp.evidence.blackbox.test import ALPHA
from verifiable_dp.record.requested import beside, is_request

MECHANISMS = """
def right(data, size, rng):
    return data + rng.laplace(0, 1, size)

def little_too_little(data, size, rng):
    return data + rng.laplace(0, 0.96, size)
"""
HEAVY = ("numpy", "numba", "hypothesis", "pandas", "scipy", "matplotlib", "verifiable_dp.api")


def run(pytester, test, *options):
    pytester.makepyfile(mechanisms=MECHANISMS, test_it="import mechanisms\n" + test)
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)


def records(folder):
    return [json.loads(path.read_text("utf-8")) for path in paths(folder)]


def paths(folder):
    """Records; a request lies beside each."""
    found = sorted(path for path in folder.glob("*.json") if not is_request(path))
    assert all(beside(path).is_file() for path in found)
    return found


def test_options_arrive_where_audits_are_made(pytester, monkeypatch):
    """Every option of the command line takes the place of what the test gives."""
    asked = []

    def audit(target, **options):
        options.pop("progress")
        asked.append(options)
        return SimpleNamespace(verdict="not_refuted", decision=SimpleNamespace(holes=(), ground=None))

    monkeypatch.setattr(vdp, "audit", audit, raising=False)
    test = (
        "def test_it(privacy_audit, monkeypatch):\n"
        "    import verifiable_dp.pytest_plugin as plugin\n"
        "    monkeypatch.setattr(plugin, '_check_known', lambda *_: None)\n"
        "    privacy_audit(mechanisms.right, epsilon=1.0, seed=3, alpha=0.25, detect=3, budget='thorough')\n"
    )
    run(pytester, test).assert_outcomes(passed=1)
    options = ("--dp-seed", "11", "--dp-alpha", "0.5", "--dp-detect", "1.5", "--dp-budget", "smoke")
    options += ("--dp-in-process",)
    run(pytester, test, *options).assert_outcomes(passed=1)
    assert asked == [
        {"epsilon": 1.0, "seed": 3, "alpha": 0.25, "detect": 3, "budget": "thorough"},
        {"epsilon": 1.0, "seed": 11, "alpha": 0.5, "detect": 1.5, "budget": "smoke", "in_process": True},
    ]


def test_code_that_is_handed_over_gets_few_runs_unless_it_is_sized(pytester, monkeypatch):
    asked = []

    def audit(target, **options):
        options.pop("progress")
        asked.append(options)
        return SimpleNamespace(verdict="not_refuted", decision=SimpleNamespace(holes=(), ground=None))

    monkeypatch.setattr(vdp, "audit", audit, raising=False)
    test = (
        "def test_it(privacy_audit, monkeypatch):\n"
        "    import verifiable_dp as vdp, verifiable_dp.pytest_plugin as plugin\n"
        "    monkeypatch.setattr(plugin, '_check_known', lambda *_: None)\n"
        "    listed = vdp.make('ucb1', n_arms=2, horizon=9)\n"
        "    for target in (mechanisms.right, 'file.py:play', listed):\n"
        "        privacy_audit(target)\n"
        "    privacy_audit(mechanisms.right, runs=500)\n"
        "    privacy_audit(mechanisms.right, budget='standard')\n"
    )
    run(pytester, test).assert_outcomes(passed=1)
    quick = {"budget": "quick"}
    sized = [{**quick, "runs": 500}, {"budget": "standard"}]
    assert asked == [{**quick, "runs": 16_000}, quick, quick, *sized]
    del asked[:]
    run(pytester, test, "--dp-budget", "smoke").assert_outcomes(passed=1)
    assert asked[0] == {"budget": "smoke"}


@pytest.mark.slow
def test_options_override_what_tests_give(pytester):
    # The true epsilon is 1/.96. So few runs refute that at level .5, and never at 1e-300.
    result = run(
        pytester,
        "import verifiable_dp as vdp\n"
        "TARGET = mechanisms.little_too_little\n"
        "def test_overridden(privacy_audit):\n"
        "    report = privacy_audit(TARGET, epsilon=1.0, budget=9, seed=3, alpha=1e-300, expect='refuted')\n"
        "    assert report.record['seed'] == 11\n"
        "    assert report.record['plan']['alpha'] == 0.5\n"
        "    assert report.record['plan']['budget'] == 'smoke'\n"
        "    plain = vdp.audit(TARGET, epsilon=1.0, budget='smoke', seed=11, alpha=1e-300)\n"
        "    assert plain.verdict != 'refuted'\n"
        "def test_seconds_leave_regret_checks_alone(regret_check):\n"
        "    assert regret_check('nas', seed=3).record['plan']['budget'] == 'quick'\n",
        *("--dp-seed", "11", "--dp-alpha", "0.5", "--dp-budget", "smoke", "--dp-report", "audits"),
    )
    result.assert_outcomes(passed=2)
    assert [record["seed"] for record in records(pytester.path / "audits")] == [11, 11]
    # The level is part of what the verdict is judged by.
    for path in paths(pytester.path / "audits"):
        vdp.verify(path)


@pytest.mark.parametrize(
    "options",
    [
        ("--dp-budget", "lots"),
        ("--dp-budget", "nan"),
        ("--dp-seed", "-1"),
        ("--dp-seed", "x"),
        ("--dp-alpha", "0"),
    ],
)
def test_a_bad_option_is_refused_before_any_test(pytester, options):
    result = run(pytester, "def test_it():\n    pass\n", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert options[0] in result.stderr.str()
    assert "Traceback" not in result.stderr.str()


@pytest.mark.slow
def test_workers_keep_every_record_once(pytester):
    # The names differ in a character that no file name keeps, in case, and beyond the length that is kept.
    result = run(
        pytester,
        "import pytest\n"
        "NAMES = ['a/b', 'a b', 'A b', 'x' * 300, 'x' * 301]\n"
        "@pytest.mark.parametrize('seed', range(5), ids=NAMES)\n"
        "def test_right(privacy_audit, seed, tmp_path, monkeypatch):\n"
        "    monkeypatch.chdir(tmp_path)\n"
        "    privacy_audit(mechanisms.right, epsilon=1.0, budget='smoke', expect=None, seed=seed)\n",
        *("--dp-report", "audits", "--strict-markers", "-n", "2"),
    )
    result.assert_outcomes(passed=5)
    found = records(pytester.path / "audits")
    assert sorted(record["seed"] for record in found) == [0, 1, 2, 3, 4]
    assert len({path.name.casefold() for path in (pytester.path / "audits").iterdir()}) == 15


@pytest.mark.slow
def test_workers_that_run_the_same_tests_keep_their_own_records(pytester):
    pytester.makeconftest(
        "import pytest, types, verifiable_dp\n"
        "from verifiable_dp import pytest_plugin\n"
        "class Report:\n"
        "    verdict = 'not_refuted'\n"
        "    decision = types.SimpleNamespace(holes=(), ground=None)\n"
        "    def save(self, folder, stem):\n"
        "        folder.mkdir(exist_ok=True)\n"
        "        (folder / f'{stem}.json').write_text('{}')\n"
        "        return folder / f'{stem}.json', None\n"
        "@pytest.fixture(autouse=True)\n"
        "def quick(monkeypatch):\n"
        "    monkeypatch.setattr(verifiable_dp, 'audit', lambda *_, **__: Report(), raising=False)\n"
        "    monkeypatch.setattr(pytest_plugin, '_check_known', lambda *_: None)\n"
    )
    test = "def test_it(privacy_audit):\n" + "    privacy_audit(mechanisms.right, epsilon=1.0)\n" * 2
    result = run(pytester, test, "--dp-report", "audits", "--dist", "each", "--tx", "2*popen")
    result.assert_outcomes(passed=2)
    assert len(records(pytester.path / "audits")) == 4


def test_a_run_leaves_no_answer_of_the_run_before(pytester):
    """Its code cannot be imported any more. Broken variant: `judge` accepts the record of the day before."""
    test = "def test_it(privacy_audit):\n    privacy_audit(mechanisms.right, epsilon=1.0, budget='smoke')\n"
    folder = pytester.path / "audits"
    run(pytester, test, "--dp-report", "audits").assert_outcomes(passed=1)
    for name in ("mine.json", "mine.request.json"):  # of somebody else
        (folder / name).write_text("{}")
    run(pytester, test, "--dp-report", "audits", "--collect-only")
    assert len(list(folder.iterdir())) == 5
    run(pytester, f"import not_installed\n{test}", "--dp-report", "audits").assert_outcomes(errors=1)
    assert sorted(path.name for path in folder.iterdir()) == ["mine.json", "mine.request.json"]


def loaded(pytester, test):
    """Heavy modules that a run of pytest has loaded by its end."""
    pytester.makepyfile(test_it=test)
    program = (
        "import sys, pytest\n"
        # hypothesis has a plugin of its own, which loads it.
        "status = pytest.main(['-q', '-p', 'no:cacheprovider', '-p', 'no:hypothesispytest'])\n"
        f"print('loaded:', *[name for name in {HEAVY} if name in sys.modules])\n"
        "sys.exit(status)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=pytester.path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.rpartition("loaded:")[2].split()


def test_unused_it_loads_nothing_heavy(pytester):
    test = (
        "import sys\n"
        "def test_it(pytestconfig):\n"
        "    assert pytestconfig.pluginmanager.has_plugin('verifiable_dp')\n"
        "    assert 'verifiable_dp.pytest_plugin' in sys.modules\n"
    )
    assert loaded(pytester, test) == []


def test_what_an_audit_loads_is_noticed(pytester):
    assert {"numpy", "numba", "verifiable_dp.api"} <= set(
        loaded(pytester, "import verifiable_dp as vdp\ndef test_it():\n    assert vdp.audit\n")
    )


def test_the_command_line_has_the_level_of_the_api():
    (option,) = (found for found in main.commands["audit"].params if found.name == "alpha")
    assert option.default == ALPHA == Settings().alpha


def test_a_verdict_that_there_is_not_is_refused_before_the_audit(pytester):
    result = run(
        pytester,
        "def test_it(privacy_audit):\n"
        "    privacy_audit(mechanisms.right, epsilon=1.0, budget=1e6, expect='private')\n",
    )
    result.assert_outcomes(failed=1)
    said = "expect must be one of not_refuted, refuted, inconclusive or None, got 'private'"
    result.stdout.fnmatch_lines([f"*{said}"])


def test_judge_knows_tests_that_have_audited_nothing(pytester, monkeypatch):
    """Broken variant: the records of the others passed. Controls: what is skipped, or asked for."""
    decision = SimpleNamespace(holes=(), ground=None)
    done = SimpleNamespace(verdict="not_refuted", decision=decision, save=lambda place, name: (place, None))
    monkeypatch.setattr(vdp, "audit", lambda *_, **__: done, raising=False)
    monkeypatch.setattr(pytest_plugin, "_check_known", lambda *_: None)
    test = (
        "import pytest\n"
        "def test_asked(privacy_audit):\n"
        "    privacy_audit(mechanisms.right, epsilon=1.0)\n"
        "    assert False\n"
        "def test_caught(privacy_audit):\n"
        "    with pytest.raises(ValueError):\n"
        "        privacy_audit(mechanisms.right, epsilon=-1.0)\n"
        "def test_skipped(privacy_audit):\n"
        "    pytest.skip('not today')\n"
        "def test_gone(privacy_audit):\n"
        "    privacy_audit(mechanisms.right, epsilon=1.0)\n"
        "    privacy_audit('gone.py:release', epsilon=1.0)\n"
        "def test_broken():\n"
        "    assert False\n"
        "def test_never_run(privacy_audit):\n"
        "    privacy_audit(mechanisms.right, epsilon=1.0)\n"
    )
    options = ("--dp-report", "audits", "--maxfail", "3")
    run(pytester, test, *options).assert_outcomes(passed=1, skipped=1, failed=3)
    asked = [path.name for path in (pytester.path / "audits").iterdir() if is_request(path)]
    assert sorted(name[:-22] for name in asked) == ["test_it.py-test_asked", "test_it.py-test_gone"]
    noted = [line for line in judge(pytester.path / "audits").failed if "it has not audited" in line]
    assert [line.partition(": ")[0] for line in noted] == [
        "test_it.py::test_gone",
        "test_it.py::test_never_run",
    ]
    run(pytester, "def test_it():\n    pass\n", *options).assert_outcomes(passed=1)
    assert not [*(pytester.path / "audits").iterdir()]


def test_a_test_that_audits_nothing_fails(pytester):
    """Unless it is skipped, or fails itself. Control: a call counts, whatever comes of it."""
    result = run(
        pytester,
        "import pytest\n"
        "def test_none(privacy_audit):\n"
        "    for file in ():\n"
        "        privacy_audit(file, epsilon=1.0)\n"
        "def test_one_of_two(privacy_audit, regret_check):\n"
        "    with pytest.raises(ValueError):\n"
        "        privacy_audit(mechanisms.right, epsilon=-1.0)\n"
        "def test_skipped(privacy_audit):\n"
        "    pytest.skip('not today')\n"
        "def test_wrong(privacy_audit):\n"
        "    assert False\n"
        "def test_called(privacy_audit):\n"
        "    with pytest.raises(ValueError):\n"
        "        privacy_audit(mechanisms.right, epsilon=-1.0)\n",
    )
    result.assert_outcomes(passed=1, skipped=1, failed=3)
    lines = result.stdout.lines
    said = [
        line for line in lines if "was never called, so nothing was audited" in line and "FAILED" not in line
    ]
    assert [line.split(" was ")[0] for line in said] == ["privacy_audit", "regret_check"]


@pytest.mark.parametrize("mark", ["skip", "xfail"])
def test_a_test_without_parameters_fails(pytester, mark):
    """Whatever pytest makes of it. Controls: it has no fixture of ours, or is skipped."""
    result = run(
        pytester,
        "import pytest\n"
        "none = pytest.mark.parametrize('file', [])\n"
        "@none\n"
        "@pytest.mark.parametrize('other', [1])\n"
        "def test_none(privacy_audit, file, other):\n"
        "    pass\n"
        "@pytest.fixture(params=[])\n"
        "def made(request):\n"
        "    pass\n"
        "def test_fixture(regret_check, made):\n"
        "    pass\n"
        "@none\n"
        "def test_others(file):\n"
        "    pass\n"
        "@pytest.mark.skip('not today')\n"
        "@none\n"
        "def test_skipped(privacy_audit, file):\n"
        "    pass\n",
        *("-o", f"empty_parameter_set_mark={mark}"),
    )
    result.assert_outcomes(errors=2, skipped=1 + (mark == "skip"), xfailed=int(mark == "xfail"))
    said = "no parameters: nothing was audited; give some or skip the test"
    assert result.stdout.lines.count(said) == 2


def test_a_report_folder_that_is_a_file_is_refused_before_any_test(pytester):
    pytester.path.joinpath("audits").write_text("")
    result = run(pytester, "def test_it(privacy_audit):\n    assert False\n", "--dp-report", "audits")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--dp-report must be a folder, got the file 'audits'"])
