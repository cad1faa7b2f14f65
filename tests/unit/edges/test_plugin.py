"""What the fixtures of pytest pass and fail, and that the command line decides: nothing is audited here."""

import json
import pathlib
import tempfile
from types import SimpleNamespace
from unittest import mock

import pytest

import verifiable_dp
from verifiable_dp import pytest_plugin as plugin
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.model import Record

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


def report(privacy="not_refuted", regret="consistent"):
    """A report with these verdicts, which cannot be written anywhere."""
    record = json.loads(RECORD.read_text("utf-8"))
    record["provenance"].pop("request", None)
    return SimpleNamespace(
        verdict=privacy,
        regret_verdict=regret,
        record=record,
        parsed=Record.of(record),
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
    assert ("this audit made at most 16 000 runs" in text) == (verdict == "inconclusive")
    assert text.count("again: again") == 1


@pytest.mark.parametrize("kept", ["", "reports"])
@pytest.mark.parametrize("fixture", ["_audits", "_regret_checks"])
def test_a_failure_names_the_record_that_was_saved_or_keeps_one(fixture, kept):
    """Where the command line asks for reports the record is there; else it is kept for the failure."""
    asked = []

    def again(request, report, target, path):
        asked.append(path)
        return "again"

    audit = {"_audits": "audit", "_regret_checks": "check_regret"}[fixture]
    options = {"report": kept} if kept else {}
    with (
        mock.patch.object(verifiable_dp, audit, return_value=report("refuted", "contradicted")),
        mock.patch.object(plugin, "_again", again),
        mock.patch.object(plugin, "_check_known"),
        mock.patch.object(plugin, "_regret_failure", return_value="failure"),
        mock.patch.object(plugin, "_kept", return_value="kept.json"),
        pytest.raises(pytest.fail.Exception),
    ):
        getattr(plugin, fixture)(request(**options))("dp-se")
    [path] = asked
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
        ("budget", (None, "smoke", "quick", "10", "0.5"), ("0", "-1", "fast", "nan", "inf")),
        ("seed", (None, 0, 7), (-1,)),
        ("alpha", (None, 0.01, 0.99), (0.0, 1.0, -0.5, float("nan"))),
        ("detect", (None, 1.01, 100.0), (1.0, 0.5, float("inf"), float("nan"))),
        ("report", (None, "folder-that-is-not-there"), ()),
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
