"""What the fixtures of pytest pass and fail, and that the command line decides: nothing is audited here."""

import contextlib
import functools
import hashlib
import io
import json
import os
import pathlib
import tempfile
import time
from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

import pytest

import verifiable_dp
from verifiable_dp import api
from verifiable_dp import pytest_plugin as plugin
from verifiable_dp import pytest_reports as files
from verifiable_dp.campaign.judge import judge
from verifiable_dp.core.units import Role
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import requested, words
from verifiable_dp.record.decision import Decision
from verifiable_dp.record.model import Record
from verifiable_dp.render import regrets

PRIVACY = ("not_refuted", "refuted", "inconclusive")
REGRET = ("consistent", "contradicted", "vacuous", "inconclusive")
RECORD = pathlib.Path(__file__).parents[3] / "reports" / "tree-sum" / "record.json"


def request(**options):
    """A request of a test that was started with these options of the command line."""
    folder = pathlib.Path(tempfile.gettempdir())
    config = SimpleNamespace(
        getoption=lambda name: options.get(name.removeprefix("--dp-").replace("-", "_")),
        invocation_params=SimpleNamespace(dir=folder),
        stash=pytest.Stash(),
        rootpath=folder,
    )
    node = SimpleNamespace(nodeid="test_it.py::test_it", path=folder / "test_it.py", stash=pytest.Stash())
    return SimpleNamespace(config=config, node=node, getfixturevalue=lambda name: folder)


def report(privacy="not_refuted", regret="consistent", holes=()):
    """A report with these verdicts, which cannot be written anywhere."""
    record = json.loads(RECORD.read_text("utf-8"))
    record["provenance"].pop("request", None)
    return SimpleNamespace(
        verdict=privacy,
        regret_verdict=regret,
        record=record,
        parsed=Record.of(record),
        decision=Decision(privacy, regret, "strong", None, None, Role.USER, 1.0, (), 0, (), None, holes),
        name="x",
        summary=lambda **_: "summary",
        save=lambda place, stem: (place / f"{stem}.json", place / f"{stem}.html"),
    )


def outcome(made, audit, target, **options):
    """Whether a fixture's function passes, and what it gave to the audit."""
    given = {}

    def audited(target, **arguments):
        given.update(arguments)
        return made

    with (
        mock.patch.object(verifiable_dp, audit, audited),
        mock.patch.object(plugin, "_check_known", return_value=None),
        mock.patch.object(plugin, "_again", return_value="again"),
        mock.patch.object(plugin, "_regret_failure", return_value="failure"),
    ):
        try:
            assert target(**options) is made
        except pytest.fail.Exception:
            return False, given
    return True, given


@pytest.mark.parametrize("verdict", PRIVACY)
@pytest.mark.parametrize("expected", ["not given", None, *PRIVACY])
def test_privacy_audit(verdict, expected):
    """Not refuted is what is expected if nothing is said; with None any verdict passes."""
    options = {} if expected == "not given" else {"expect": expected}
    call = plugin._audits(request())
    passed, _ = outcome(report(verdict), "audit", lambda **more: call("dp-se", **more), **options)
    assert passed == (expected is None or verdict == {"not given": "not_refuted"}.get(expected, expected))


@pytest.mark.parametrize(("options", "passes"), [({}, False), ({"expect": None}, True)])
def test_declarations_that_void_the_promise_fail(options, passes):
    """As they end the command with 1; where nothing is expected they do not. Control: the test above."""
    call = plugin._audits(request())
    made = report("not_refuted", holes=("trust-model",))
    passed, _ = outcome(made, "audit", lambda **more: call("dp-se", **more), **options)
    assert passed is passes


@pytest.mark.parametrize("verdict", [*REGRET, None])
@pytest.mark.parametrize("expected", ["not given", None, *REGRET])
def test_regret_check(verdict, expected):
    """Consistent is what is expected if nothing is said; with None only a contradiction fails."""
    options = {} if expected == "not given" else {"expect": expected}
    call = plugin._regret_checks(request())
    made = report(regret=verdict)
    passed, _ = outcome(made, "check_regret", lambda **more: call("ucb1", **more), **options)
    wanted = {"not given": "consistent"}.get(expected, expected)
    assert passed == (verdict != "contradicted" if expected is None else verdict == wanted)


@pytest.mark.parametrize(
    ("fixture", "audit", "names"),
    [("_audits", "audit", ("seed", "alpha", "detect")), ("_regret_checks", "check_regret", ("seed",))],
)
def test_the_command_line_decides(fixture, audit, names):
    """A seed of 0 is one too; what is not given is left to the test, and what it cannot take is left out."""
    for values in ({"seed": 7, "alpha": 0.25, "detect": 3.0}, {"seed": 0}, {}):
        call = getattr(plugin, fixture)(request(**values))
        _, given = outcome(report(), audit, lambda **more: call("dp-se", **more), seed=5)  # noqa: B023
        taken = {name: value for name, value in values.items() if name in names}
        assert {name: given.get(name) for name in ("seed", "alpha", "detect")} == {
            "seed": 5,
            "alpha": None,
            "detect": None,
        } | taken


@pytest.mark.parametrize("fixture", ["_audits", "_regret_checks"])
@pytest.mark.parametrize("in_process", [True, False])
def test_an_audit_in_this_process_may_be_asked_for(fixture, in_process):
    audit = {"_audits": "audit", "_regret_checks": "check_regret"}[fixture]
    call = getattr(plugin, fixture)(request(in_process=in_process))
    _, given = outcome(report(), audit, lambda: call("dp-se"))
    assert given.get("in_process") == (True if in_process else None)


@pytest.mark.parametrize(
    ("options", "runs", "budget"),
    [({}, 16_000, "quick"), ({"budget": "smoke"}, None, "smoke"), ({"runs": 400}, 400, "quick")],
)
def test_code_of_others_gets_few_runs_unless_it_is_sized(options, runs, budget):
    call = plugin._audits(request())
    _, given = outcome(report(), "audit", lambda **more: call(lambda: None, **more), **options)
    assert (given.get("runs"), given["budget"]) == (runs, budget)


@pytest.mark.parametrize(
    ("budget", "seconds", "own"),
    [("quick", "quick", "quick"), ("0.5", 0.5, "test's"), ("smoke", "smoke", "test's")],
)
def test_the_budget_of_the_command_line(budget, seconds, own):
    """Seconds and smoke size no regret check."""
    assert plugin._budget(request(budget=budget), "test's") == seconds
    assert plugin._budget(request(budget=budget), "test's", seconds=False) == own
    assert plugin._budget(request(), "test's") == "test's"


@pytest.mark.parametrize(("given", "taken"), [({}, "quick"), ({"budget": "thorough"}, "thorough")])
def test_the_budget_of_a_regret_check(given, taken):
    call = plugin._regret_checks(request())
    _, found = outcome(report(), "check_regret", lambda **more: call("ucb1", **more), **given)
    assert found["budget"] == taken


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("arms", "did you mean n_arms?"),
        ("K", "did you mean n_arms?"),
        ("T", "did you mean horizon?"),
        ("epsilo", "did you mean epsilon?"),
        ("zzz", "accepted: target, parameters, declarations, "),
    ],
)
def test_an_argument_that_there_is_not_is_refused(given, meant):
    with pytest.raises(TypeError) as error:
        plugin._audits(request())("dp-se", **{given: 2})
    assert str(error.value).startswith(f"privacy_audit does not take an argument {given!r}; {meant}")
    with pytest.raises(TypeError, match=f"^regret_check does not take an argument '{given}'"):
        plugin._regret_checks(request())("dp-se", **{given: 2})


@pytest.mark.parametrize(
    ("ground", "require", "short"),
    [
        ("detectable", None, ""),
        ("detectable", "detectable", ""),
        ("detectable", "tested-paths", "detectable"),
        ("every path", "every-path", ""),
        ("every path", "certified", "every-path"),
        ("certified", "certified", ""),
        (None, "certified", ""),  # refuted, as expected
    ],
)
def test_less_evidence_than_is_required_fails(ground, require, short):
    made = report()
    made.decision = replace(made.decision, ground=ground)
    options = {} if require is None else {"require": require}
    passed, _ = outcome(made, "audit", lambda: plugin._audits(request())("dp-se", **options))
    assert passed is not bool(short)
    if short:
        assert f"the evidence is only {short}, but {require} is required" in failed(made, **options)


def failed(made, **options):
    """What is said where an audit fails."""
    with (
        mock.patch.object(verifiable_dp, "audit", return_value=made),
        mock.patch.object(plugin, "_check_known"),
        mock.patch.object(plugin, "_again", return_value="again"),
        pytest.raises(pytest.fail.Exception) as failure,
    ):
        plugin._audits(request())("dp-se", **options)
    return str(failure.value)


@pytest.mark.parametrize(("fixture", "wrong"), [("_audits", "consistent"), ("_regret_checks", "refuted")])
def test_a_verdict_that_there_is_not_is_refused(fixture, wrong):
    with pytest.raises(InputError, match="expect must be one of"):
        getattr(plugin, fixture)(request())("dp-se", expect=wrong)


@pytest.mark.parametrize("verdict", ["inconclusive", "refuted"])
def test_more_runs_are_advised_where_few_decided_nothing(verdict):
    with (
        mock.patch.object(verifiable_dp, "audit", return_value=report(verdict)),
        mock.patch.object(plugin, "_check_known", return_value=None),
        mock.patch.object(plugin, "_again", return_value="again"),
        pytest.raises(pytest.fail.Exception) as failure,
    ):
        plugin._audits(request())(lambda: None)
    text = str(failure.value)
    assert ("this audit made at most 16,000 runs" in text) == (verdict == "inconclusive")
    assert text.count("again: again") == 1


@pytest.mark.parametrize("kept", ["", "reports"])
@pytest.mark.parametrize("fixture", ["_audits", "_regret_checks"])
def test_a_failure_names_the_record_that_was_saved_or_keeps_one(fixture, kept):
    """Where the command line asks for reports the record is there; else it is kept for the failure."""
    asked, told = [], []

    def again(request, report, target, path):
        assert (request.node.nodeid, report.name, target) == ("test_it.py::test_it", "x", "dp-se")
        asked.append(path)
        return "again"

    audit = {"_audits": "audit", "_regret_checks": "check_regret"}[fixture]
    options = {"report": kept} if kept else {}
    with (
        mock.patch.object(verifiable_dp, audit, return_value=report("refuted", "contradicted")),
        mock.patch.object(plugin, "_again", again),
        mock.patch.object(plugin, "_check_known"),
        mock.patch.object(plugin, "_regret_failure", lambda *given: told.append(given) or "failure"),
        mock.patch.object(files, "ask", return_value="stem"),
        mock.patch.object(files, "note"),
        mock.patch.object(files, "keep", return_value="kept.json"),
        pytest.raises(pytest.fail.Exception),
    ):
        getattr(plugin, fixture)(request(**options))("dp-se")
    [path] = asked
    for report_, expect, shown, place, again_ in told:
        assert (report_.name, expect, shown, again_[0]) == ("x", "consistent", path, "again")
        assert place == pathlib.Path(tempfile.gettempdir(), path)
    assert bool(told) == (fixture == "_regret_checks")
    assert path.startswith("reports") if kept else path == "kept.json"


@pytest.mark.parametrize("summary", ["one\ntwo", "one: RUN IT", "RUN IT\nthree"])
def test_a_failure_says_once_how_to_run_it_again(summary):
    made = report("refuted")
    made.summary = lambda **_: summary
    with (
        mock.patch.object(verifiable_dp, "audit", return_value=made),
        mock.patch.object(plugin, "_again", return_value="RUN IT"),
        mock.patch.object(plugin, "_check_known"),
        pytest.raises(pytest.fail.Exception) as failure,
    ):
        plugin._audits(request())("dp-se")
    assert str(failure.value).count("RUN IT") == 1


@pytest.mark.parametrize(
    ("option", "taken", "refused"),
    [
        (
            "budget",
            (None, "smoke", "quick", "10", "0.5", "1e6"),
            ("0", "-1", "fast", "nan", "inf", "1000001"),
        ),
        ("seed", (None, 0, 7), (-1,)),
        ("alpha", (None, 0.01, 0.99), (0.0, 1.0, -0.5, float("nan"))),
        ("detect", (None, 1.01, 100.0), (1.0, 0.5, float("inf"), float("nan"))),
        ("report", (None, "folder-that-is-not-there"), ("",)),
    ],
)
def test_options_are_checked_before_any_test_runs(option, taken, refused):
    assert None in taken
    for value in taken:
        plugin._check_options(request(**{option: value}).config)
    for value in refused:
        with pytest.raises(pytest.UsageError, match=f"^--dp-{option} must "):
            plugin._check_options(request(**{option: value}).config)


def test_a_report_goes_to_a_folder():
    with tempfile.NamedTemporaryFile() as file:
        name = pathlib.Path(file.name).name
        with pytest.raises(pytest.UsageError, match="--dp-report must be a folder, got the file"):
            plugin._check_options(request(report=name).config)


# ---------------------------------------------------------------- files and commands


def of_test(nodeid="tests/test_a.py::test_b[x y]", worker=None, folder=None, **options):
    """A request of another test, in a worker of pytest-xdist or not, started in a folder."""
    found = request(**options)
    if folder is not None:
        found.config.invocation_params.dir = folder
    found.node.nodeid = nodeid
    found.node.path = found.config.invocation_params.dir / nodeid.partition("::")[0]
    if worker is not None:
        found.config.workerinput = {"workerid": "gw3", "verifiable_dp_each": worker}
    return found


def test_files_of_a_test_have_its_name_and_no_other_tests():
    name, long = "tests/test_a.py::test_b[x y]", f"test_it.py::test[{'x' * 200}]"
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    assert stem(name) == f"tests-test_a.py-test_b-x-y-{mark}"
    assert stem(name, worker=False) == f"tests-test_a.py-test_b-x-y-{mark}"
    assert stem(name, worker=True) == f"tests-test_a.py-test_b-x-y-{mark}-gw3"
    assert len(stem(long)) == 109
    assert len({stem(other) for other in (name, name.upper(), f"{name}!", long)}) == 4


def stem(nodeid, **more):
    asked = of_test(nodeid, **more)
    return files.stem(asked.config, nodeid)


def test_each_audit_of_a_test_has_files_of_its_own():
    """They are named from where pytest was started, if they lie there."""
    asked = of_test(folder=pathlib.Path("/somewhere"))
    name = files.stem(asked.config, asked.node.nodeid)
    assert [files.ask(asked, None, {}) for _ in range(3)] == [name, f"{name}-2", f"{name}-3"]
    assert files.save(asked, report(), name) == ""
    assert files.save(asked, report(), name, pathlib.Path("/b")) == f"/b/{name}.json"
    for folder in ("reports", "/elsewhere"):
        asked = of_test(folder=pathlib.Path("/somewhere"), report=folder)
        assert files.save(asked, report(), "x") == f"{folder}/x.json"


@pytest.mark.parametrize(("fixture", "audit"), [("_audits", "audit"), ("_regret_checks", "check_regret")])
def test_a_question_is_written_before_any_code_runs(fixture, audit, tmp_path):
    """So `judge` misses the answer of an audit that fails. Broken variant: it was written with the answer."""
    asked = of_test(folder=tmp_path, report="reports")
    expected = tmp_path / "reports" / f"{files.stem(asked.config, asked.node.nodeid)}.request.json"

    def broken(target, request, **options):
        assert requested.read(expected) == request
        raise OSError("broken")

    options = {"bound": 1.0} if audit == "check_regret" else {"epsilon": 1, "require": "certified"}
    with (
        mock.patch.object(verifiable_dp, audit, broken),
        mock.patch.object(plugin, "_check_known"),
        pytest.raises(OSError, match="broken"),
    ):
        getattr(plugin, fixture)(asked)(lambda rewards, rng: 0, n_arms=2, horizon=9, **options)
    assert requested.read(expected).require == options.get("require")
    assert judge(tmp_path / "reports").exit_status == 2


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({}, ""),
        ({"seed": 0, "budget": "smoke"}, " --dp-budget=smoke --dp-seed=0"),
        ({"alpha": 0.25, "detect": 3.0, "report": "a"}, " --dp-alpha=0.25 --dp-detect=3.0"),
    ],
)
def test_the_command_that_runs_a_test_again(options, more):
    asked = of_test("tests/test_a.py::test_b[x y]", **options)
    test = f"pytest 'tests/test_a.py::test_b[x y]'{more}"
    assert plugin._test(asked) == test
    for can, command in ((True, "verifiable-dp verify 'a b.json' --rerun"), (False, test)):
        with mock.patch.object(api, "can_rerun", lambda record, target, can=can: target == "x" and can):
            assert plugin._again(asked, report(), "x", "a b.json") == command
        why = plugin._why_the_test(asked, command)
        assert bool(why) is not can
        assert all(line.endswith("tests/test_a.py::test_b[x y]") for line in why)


@pytest.mark.parametrize(
    ("pair", "shown"),
    [
        (None, None),
        ({"type": "data", "left": [0], "right": [1], "words": "w"}, "pairs=[([0], [1])]"),
        ({"type": "table", "left": [0]}, "pairs=[vdp.neighbours.pair_of({'type': 'table', 'left': [0]})]"),
        ({"type": "data", "left": "x" * 295, "right": "y" * 301}, f"pairs=[({'x' * 295}, {'y' * 301})]"),
        ({"type": "data", "left": "x" * 295, "right": "y" * 302}, "see the record"),
    ],
)
def test_inputs_that_fail_are_shown_if_they_are_short(pair, shown):
    found = [] if pair is None else [SimpleNamespace(pair=pair), SimpleNamespace(pair={"type": "other"})]
    made = SimpleNamespace(parsed=SimpleNamespace(counterexamples=found, seed=7))
    assert plugin._inputs(made) == ["  seed: 7", *([f"  inputs: {shown}"] if shown else [])]


def test_which_marks_a_test_gets():
    for fixtures, marked, added in (
        (("privacy_audit",), (), ["privacy"]),
        (("regret_check", "privacy_audit"), (), ["privacy", "regret"]),
        (("privacy_audit",), ("privacy",), []),
        (("tmp_path",), (), []),
    ):
        found = []
        item = SimpleNamespace(
            fixturenames=fixtures,
            get_closest_marker=lambda name, marked=marked: name if name in marked else None,
            add_marker=found.append,
        )
        plugin.pytest_itemcollected(item)
        assert found == added


@pytest.mark.parametrize(("dist", "each"), [("each", True), ("load", False), ("no", False)])
def test_workers_hear_whether_all_run_the_same_tests(dist, each):
    options = {"dist": dist}
    node = SimpleNamespace(workerinput={}, config=SimpleNamespace(getoption=options.get))
    plugin.pytest_configure_node(node)
    assert node.workerinput == {"verifiable_dp_each": each}


# ---------------------------------------------------------------- times


def test_seconds_by_phase():
    """A phase lasts from its first line to that of another one; lines go on to who wants them."""
    lines = []
    with mock.patch.object(time, "monotonic", side_effect=[10.0, 11.0, 13.0, 16.0, 20.0]):
        phases = plugin._Phases(lines.append)
        for line in ("plan: 7 runs", "search", "plan: again"):
            phases(line)
        phases.end()
    assert phases.seconds == {"start": 1.0, "plan": 2.0 + 4.0, "search": 3.0}
    assert (phases.first, lines) == ("plan: 7 runs", ["plan: 7 runs", "search", "plan: again"])
    assert plugin._summed([{"a": 1.0, "b": 2.0}, {"b": 0.5}]) == {"a": 1.0, "b": 2.5}


def test_what_an_audit_took_is_noted():
    asked, heard = request(), []
    with (
        mock.patch.object(time, "monotonic", side_effect=[1.0, 1.0, 2.0, 4.0, 5.0]),
        mock.patch.object(os, "times", side_effect=[(1, 2, 3, 4, 99), (2, 4, 6, 8, 999)]),
    ):
        options = {"progress": heard.append, "seed": 1}
        made = plugin._timed(asked, lambda phases: phases("test: 1") or report(), options, "regret_verdict")
    assert (made.name, options, heard) == ("x", {"seed": 1}, ["test: 1"])
    assert asked.node.stash[plugin._SPENT] == [(4.0, 10, "consistent", {"start": 1.0, "test": 2.0})]


def test_the_plan_is_printed_once():
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        progress = plugin._announced(plugin._Phases(None))
        for line in ("plan: 7 runs", "search: 1"):
            progress(line)
    assert printed.getvalue() == "plan: 7 runs\n"


def summary(*audits):
    """What is said at the end of a run whose tests made these audits."""
    said = []
    reports = [SimpleNamespace(nodeid=f"t{i}", dp_audits=each) for i, each in enumerate(audits)]
    reporter = SimpleNamespace(
        stats={"passed": reports, "": [SimpleNamespace(nodeid="other")]},
        write_sep=lambda sign, text: said.append(sign + text),
        write_line=said.append,
    )
    plugin.pytest_terminal_summary(reporter)
    return said


def test_the_summary_names_the_longest_audits_first():
    assert summary() == summary([]) == []
    one = (1.0, 0.5, "refuted", {"test": 0.75})
    assert summary([one]) == [
        "=verifiable-dp: 1 audit in 1.0 s (0.5 s of processor time)",
        "by phase: test 0.8 s",
        "     1.0 s (0.5 s)  refuted       t0",
    ]
    assert summary([one, (2.0, 0.25, "vacuous", {})], [(1.0, 0.75, "x", {"test": 1, "a": 3})]) == [
        "=verifiable-dp: 3 audits in 4.0 s (1.5 s of processor time)",
        "by phase: a 3.0 s, test 1.8 s",
        "     2.0 s (0.2 s)  vacuous       t0",
        "     1.0 s (0.8 s)  x             t1",
        "     1.0 s (0.5 s)  refuted       t0",
    ]
    ties = [(1.0, 0.5, verdict, {}) for verdict in ("first", "second")]
    assert [line.split()[4] for line in summary(ties)[1:]] == ["first", "second"]
    many = [(float(i), 0.0, "x", {f"p{i}": float(i)}) for i in range(1, 13)]
    said = summary(many)
    assert said[1] == "by phase: " + ", ".join(f"p{i} {i}.0 s" for i in range(12, 6, -1))
    assert [line[:8].strip() for line in said[2:-1]] == [f"{i}.0" for i in range(12, 2, -1)]
    assert said[-1] == "            and 2 more that took less time"
    assert summary([(1.0, 0.0, "x", {})] * 10)[-1].endswith("t0")


# ---------------------------------------------------------------- failures of regret checks


@functools.cache
def _ucb1():
    path = RECORD.parents[1] / "ucb1" / "record.json"
    return Record.of(json.loads(path.read_text("utf-8")))


@pytest.mark.parametrize(
    ("expect", "verdicts", "named", "more"),
    [
        ("consistent", ("consistent", "contradicted", "vacuous"), [1], 0),
        (None, ("inconclusive", "contradicted"), [0, 1], 0),
        ("contradicted", ("contradicted", "vacuous"), [0, 1], 0),  # none is odd: all are shown
        ("consistent", ("contradicted",) * 6, range(6), 0),
        ("consistent", ("contradicted",) * 8, range(6), 2),
    ],
)
def test_a_failed_regret_check_names_what_is_not_as_expected(expect, verdicts, named, more):
    checks = [SimpleNamespace(verdict=verdict, name=f"c{i}") for i, verdict in enumerate(verdicts)]
    made = SimpleNamespace(
        name="x", parsed=SimpleNamespace(regret_checks=checks), regret_verdict="contradicted"
    )
    with (
        mock.patch.object(words, "line", lambda check: check.name),
        mock.patch.object(regrets, "svg", return_value=""),
    ):
        said = plugin._regret_failure(made, expect, "a.json", pathlib.Path("b.json"), ["one", "two", "three"])
    wanted = "no contradiction" if expect is None else expect
    assert said.splitlines() == [
        f"regret of x: expected {wanted}, got contradicted",
        *(f"  check c{i}" for i in named),
        *([f"  and {more} more (see the record)"] if more else []),
        "record: a.json",
        "again:  one",
        "   or:  two",
    ]


def test_a_failed_regret_check_draws_its_figure():
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name, "r.json")
        made = SimpleNamespace(name="ucb1", parsed=_ucb1(), regret_verdict="consistent")
        said = plugin._regret_failure(made, "contradicted", "here/r.json", place, ["one"])
        assert "figure: here/r.svg" in said.splitlines()
        assert place.with_suffix(".svg").read_text("utf-8").startswith("<svg")


def test_a_worker_in_place_of_another_notes_nothing_about_tests_that_have_asked(tmp_path):
    """Broken variant: `judge` is told that they have audited nothing. Control: what has not asked stays."""
    config = SimpleNamespace(
        getoption=lambda _: "audits", invocation_params=SimpleNamespace(dir=tmp_path), workerinput={}
    )
    for _ in range(2):  # the second worker begins when the first has crashed
        for test in ("test_it.py::test_asked", "test_it.py::test_later"):
            files.note(config, test, anew=False)
        files.settle(config, "test_it.py::test_asked")
    files.note(config, "test_it.py::test_asked", anew=False)
    files.finish(config)
    (left,) = (tmp_path / "audits").iterdir()
    assert left.read_text("utf-8").startswith("test_it.py::test_later\t")
    files.note(config, "test_it.py::test_asked")  # which asks once more
    assert len([*(tmp_path / "audits").iterdir()]) == 2
    files.clear(config)
    assert not [*(tmp_path / "audits").iterdir()]
