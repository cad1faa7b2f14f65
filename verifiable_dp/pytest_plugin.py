"""The pytest plugin: fixtures `privacy_audit` and `regret_check`, options that begin with ``--dp-``.

Every run of pytest loads it, so it imports nothing heavy before a fixture is used.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.compat import NOTSET

from verifiable_dp import pytest_reports as reports

if TYPE_CHECKING:
    from verifiable_dp.api import Target
    from verifiable_dp.campaign.entries import Campaign
    from verifiable_dp.core.validate import Function, Given, JsonDict
    from verifiable_dp.report import Report


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options; they share the prefix ``--dp-``."""
    group = parser.getgroup("verifiable-dp", "privacy and regret audits")
    group.addoption(
        "--dp-budget",
        default=None,
        metavar="B",
        help="quick, standard, thorough or (for privacy audits) seconds; overrides the budgets in the tests",
    )
    group.addoption(
        "--dp-report", default=None, metavar="DIR", help="write a record and a page for each audit here"
    )
    group.addoption(
        "--dp-seed",
        type=int,
        default=None,
        metavar="S",
        help="seed of every audit; overrides the seeds in the tests",
    )
    group.addoption(
        "--dp-alpha",
        type=float,
        default=None,
        metavar="A",
        help="maximum probability that a privacy audit refutes a true claim; overrides the value in the "
        "tests",
    )
    group.addoption(
        "--dp-detect",
        type=float,
        default=None,
        metavar="F",
        help="without a proved bound, a loss of F times the claim must be detectable; overrides the value in "
        "the tests",
    )
    group.addoption(
        "--dp-in-process",
        action="store_true",
        help="run audited code in this process instead of a child process, for debugging",
    )
    group.addoption(
        "--dp-help", action="store_true", help="explain the fixtures, options and marks, and exit"
    )


_HELP = """\
Fixtures
  privacy_audit(target, epsilon=1, ...)   audit a claim; the test passes only if the claim is not refuted
  regret_check(target, scaling={{"T": 0.5}}, ...)   check claims about regret
  Both take a function, a class, "file.py:name", a catalogue name, or the name of a target in
  [tool.verifiable-dp] of pyproject.toml. Both also take expect="refuted", None, ...

Options
{options}

Marks
{marks}

Example
  def test_my_bandit(privacy_audit):
      privacy_audit(my_bandit, epsilon=1, n_arms=2, horizon=40)
"""


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Show ``--dp-help`` in place of a run."""
    if not config.getoption("--dp-help"):
        return None
    group = config._parser.getgroup("verifiable-dp")
    options = [f"  {'/'.join(one.names()):<18}{one.attrs()['help']}" for one in group.options]
    marks = [f"  {name:<18}{said}" for name, said in _MARKS.items()]
    print(_HELP.format(options="\n".join(options), marks="\n".join(marks)), end="")
    return 0


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks and refuse options that no audit would take."""
    _check_options(config)
    for name, said in _MARKS.items():
        config.addinivalue_line("markers", f"{name}: {said}")


def _used(item: pytest.Item) -> list[str]:
    """The fixtures of ours that a test has."""
    return [name for name in _FIXTURES if name in getattr(item, "fixturenames", ())]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remove what an earlier run left in ``--dp-report``: a test that fails, or is gone, leaves no answer."""
    config = session.config
    if not (config.option.collectonly or hasattr(config, "workerinput")):
        reports.clear(config)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note for `judge` which tests are to audit something: it knows those that never run, too."""
    for item in [] if session.config.option.collectonly else session.items:
        if _used(item):
            reports.note(session.config, item.nodeid, anew=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove the notes about tests that have audited something, once all workers have ended."""
    if not hasattr(session.config, "workerinput"):
        reports.finish(session.config)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests by the fixture that they use, so ``-m "not regret"`` works without marks in the tests."""
    for mark in (_FIXTURES[fixture] for fixture in _used(item)):
        if item.get_closest_marker(mark) is None:
            item.add_marker(mark)


def _check_options(config: pytest.Config) -> None:
    """Refuse what no audit would take, before any test runs.

    Raises
    ------
    pytest.UsageError
        If an option is out of range: one line that names it.
    """
    budget, seed, alpha = (config.getoption(f"--dp-{name}") for name in ("budget", "seed", "alpha"))
    if budget is not None and budget not in _BUDGETS and not _positive(budget):
        words = ", ".join(_BUDGETS)
        raise pytest.UsageError(
            f"--dp-budget must be {words} or a number of seconds up to {_MOST_SECONDS:.0f}, got {budget!r}"
        )
    if seed is not None and seed < 0:
        raise pytest.UsageError(f"--dp-seed must be an integer of at least 0, got {seed}")
    if alpha is not None and not 0 < alpha < 1:
        raise pytest.UsageError(f"--dp-alpha must lie in the open interval (0, 1), got {alpha:g}")
    detect = config.getoption("--dp-detect")
    if detect is not None and not 1 < detect < float("inf"):
        raise pytest.UsageError(f"--dp-detect must be finite and greater than 1, got {detect:g}")
    folder = config.getoption("--dp-report")
    if folder == "":
        raise pytest.UsageError("--dp-report must be a folder, got ''")
    if folder is not None and Path(config.invocation_params.dir, folder).is_file():
        raise pytest.UsageError(f"--dp-report must be a folder, got the file {folder!r}")


def _positive(text: str) -> bool:
    try:
        return 0 < float(text) <= _MOST_SECONDS
    except ValueError:
        return False


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Given) -> None:
    """Tell a worker of pytest-xdist whether all workers run the same tests (``--dist each``)."""
    node.workerinput["verifiable_dp_each"] = node.config.getoption("dist", "no") == "each"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test with one of the fixtures and no parameters, which pytest skips, unless you skip it."""
    case: Given = getattr(item, "callspec", None)
    empty = case is not None and any(value is NOTSET for value in case.params.values())
    skipped = empty and any(mark not in case.marks for mark in item.iter_markers("skip"))
    if empty and not skipped and _used(item):
        pytest.fail("no parameters: nothing was audited; give some or skip the test", pytrace=False)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that passes without calling its fixture: nothing was audited."""
    result = yield
    idle = " and ".join(name for name, called in item.stash.get(_CALLED, {}).items() if not called)
    if idle:
        pytest.fail(
            f"{idle} was never called, so nothing was audited; call it or skip the test", pytrace=False
        )
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the time that audits took to their test's report, which pytest-xdist sends to the main process."""
    report = yield
    if report.skipped or (call.when == "call" and report.passed):
        reports.settle(item.config, item.nodeid)
    if call.when == "call" and _SPENT in item.stash:
        vars(report)["dp_audits"] = item.stash[_SPENT]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how long audits took, the longest first."""
    ended = (report for of in terminalreporter.stats.values() for report in of)
    spent = [(*found, one.nodeid) for one in ended for found in getattr(one, "dp_audits", ())]
    phases = _summed(row[3] for row in spent)
    if not spent:
        return
    spent.sort(key=lambda row: row[:2], reverse=True)
    audits = "1 audit" if len(spent) == 1 else f"{len(spent)} audits"
    seconds, processor = (sum(row[column] for row in spent) for column in (0, 1))
    terminalreporter.write_sep(
        "=", f"verifiable-dp: {audits} in {seconds:.1f} s ({processor:.1f} s of processor time)"
    )
    if phases:
        slowest = sorted(phases, key=phases.__getitem__, reverse=True)[:_PHASES]
        shown = ", ".join(f"{name} {phases[name]:.1f} s" for name in slowest)
        terminalreporter.write_line(f"by phase: {shown}")
    for wall, own, verdict, _, nodeid in spent[:_LONGEST]:
        terminalreporter.write_line(f"{wall:8.1f} s ({own:.1f} s)  {verdict:<12}  {nodeid}")
    if len(spent) > _LONGEST:
        terminalreporter.write_line(f"{'':12}and {len(spent) - _LONGEST} more that took less time")


def _announced(progress: _Phases) -> Callable[[str], None]:
    """Progress whose first line, the plan, is printed: pytest shows it with -s, and where a test fails."""

    def call(line: str) -> None:
        if not progress.first:
            print(line)
        progress(line)

    return call


class _Phases:
    """Seconds by phase: what a line of progress says before its first colon. `first` is the first line."""

    def __init__(self, progress: Callable[[str], None] | None) -> None:
        self._others, self._began, self._name = progress, time.monotonic(), "start"
        self.seconds: dict[str, float] = {}
        self.first = ""

    def __call__(self, line: str) -> None:
        if self._others is not None:
            self._others(line)
        self.first = self.first or line
        self.end()
        self._name = line.partition(":")[0]

    def end(self) -> None:
        """Count the phase that goes on so far."""
        now = time.monotonic()
        self.seconds[self._name] = self.seconds.get(self._name, 0.0) + now - self._began
        self._began = now


def _summed(several: Iterable[Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for one in several:
        for name, seconds in one.items():
            found[name] = found.get(name, 0.0) + seconds
    return found


def _timed(
    request: pytest.FixtureRequest, audit: Callable[[_Phases], Report], options: JsonDict, verdict: str
) -> Report:
    """The report of an audit; seconds, processor seconds, the `verdict` of that name and phases are noted."""
    started, before, phases = time.monotonic(), os.times(), _Phases(options.pop("progress", None))
    report = audit(phases)
    phases.end()
    processor = sum(os.times()[:4]) - sum(before[:4])  # with children that have ended
    row = (time.monotonic() - started, processor, str(getattr(report, verdict)), phases.seconds)
    request.node.stash.setdefault(_SPENT, []).append(row)
    return report


def _again(request: pytest.FixtureRequest, report: Report, target: Target, path: str) -> str:
    """The command that runs it again: the test itself where a record cannot say what was audited."""
    from verifiable_dp.api import can_rerun

    if can_rerun(report.record, target):
        return f"verifiable-dp verify {shlex.quote(path)} --rerun"
    return _test(request)


def _why_the_test(request: pytest.FixtureRequest, again: str) -> list[str]:
    """Why the command `again` runs the test, if it does: a line."""
    return [_NO_RERUN.format(request.node.nodeid)] if again == _test(request) else []


_NO_RERUN = (
    "  its record cannot be rerun: a lambda, a closure, an object or pairs made inside a test exist only "
    "inside that test, {}"
)


def _test(request: pytest.FixtureRequest) -> str:
    """The command that runs the test again, from where pytest was started and with its options."""
    started = request.config.invocation_params.dir
    own = request.node.nodeid.partition("::")[2]
    given = {name: request.config.getoption(f"--dp-{name}") for name in _ANY}
    options = [f"--dp-{name}={value}" for name, value in given.items() if value is not None]
    return shlex.join(["pytest", f"{os.path.relpath(request.node.path, started)}::{own}", *options])


_ANY = ("budget", "seed", "alpha", "detect")
_SETTINGS = pytest.StashKey[dict[Path, "Campaign | None"]]()  # by the folder of the tests
_MARKS = {
    "privacy": "audits a privacy claim",
    "regret": "checks a claim about regret",
    "dp_slow": "a long audit or regret check; -m 'not dp_slow' skips it",
}
_FIXTURES = {"privacy_audit": "privacy", "regret_check": "regret"}
_CALLED = pytest.StashKey[dict[str, bool]]()  # whether a test has called the fixtures that it has
_SPENT = pytest.StashKey[list[tuple[float, float, str, dict[str, float]]]]()
_LONGEST, _PHASES = 10, 6  # audits and phases in the summary
_BUDGETS = ("smoke", "quick", "standard", "thorough")
_MOST_SECONDS = 1e6


def _budget(request: pytest.FixtureRequest, given: Given, *, seconds: bool = True) -> Given:
    """The budget of the command line, or the test's; without `seconds` only that of a regret check."""
    chosen = request.config.getoption("--dp-budget")
    if chosen is None or (chosen not in _BUDGETS[1:] and not seconds):
        return given
    return chosen if chosen in _BUDGETS else float(chosen)


def _plain_runs(target: Target, options: JsonDict) -> dict[str, int]:
    """Runs of a user's code where neither the test nor the command line sizes its audit."""
    from verifiable_dp.core.algorithm import Algorithm
    from verifiable_dp.targets.process import Exec

    kinds = (str, Algorithm, Exec)  # sized by their budget: most code of others is slow to start
    sized = options.get("budget") is not None or options.get("runs") is not None
    return {} if sized or isinstance(target, kinds) else {"runs": _RUNS}


_MORE_RUNS = (
    '  this audit made at most 16,000 runs; budget="quick" (or --dp-budget quick) allows up to 80,000'
)
_RUNS = 16_000  # a fifth of "quick": below 10 seconds of processor time for a bandit of some 40 rounds


def _overridden(request: pytest.FixtureRequest, *names: str) -> JsonDict:
    """Arguments that the command line decides in place of the test."""
    given = {name: request.config.getoption(f"--dp-{name}") for name in names}
    here = {"in_process": True} if request.config.getoption("--dp-in-process") else {}
    return here | {name: value for name, value in given.items() if value is not None}


def _listed(
    request: pytest.FixtureRequest, target: Target, options: JsonDict
) -> tuple[Target, JsonDict, Path, str]:
    """Target, options, working directory and what is required of a target that the project's settings name.

    These are nearest to the test's file, as `verifiable-dp audit` takes those nearest to its folder. Options
    of the test override those in ``[tool.verifiable-dp]``. Any other target stays as it is.
    """
    import difflib

    from verifiable_dp.campaign import entries, file, settings
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.record.passing import REQUIRED
    from verifiable_dp.targets.process import Exec

    known, here = request.config.stash.setdefault(_SETTINGS, {}), request.node.path.parent
    if isinstance(target, str) and here not in known:
        place = settings.nearest(here)
        known[here] = entries.read(place) if place else None
    found = known.get(here)
    entry = next((one for one in (found.entries if found else ()) if one.name == target), None)
    if found is None or entry is None:
        listed = [one.name for one in found.entries] if found else []
        near = difflib.get_close_matches(target, listed, n=1) if isinstance(target, str) else []
        if near and ":" not in str(target):
            raise InputError(
                f"target: no target in pyproject.toml is called {target!r}; did you mean {near[0]!r}?"
            )
        texts = [one for one in (target, *options.values()) if isinstance(one, str)]
        files = target.arguments if isinstance(target, Exec) else []
        return target, options, settings.start(here, texts, files), REQUIRED[0]
    named, own = file.arguments(entry)
    return named, {**own, **options}, found.folder, entry.require


def _check_known(function: Function[Report], fixture: str, options: JsonDict) -> None:
    """Refuse arguments that there are not, and say what may have been meant: options differ in name."""
    from verifiable_dp.core.validate import arguments, instead

    known = arguments(function)
    for name in options:
        if name not in known:
            raise UsageError(f"{fixture} does not take an argument {name!r}; {instead(name, known)}")


def _check_expected(expect: str | None, *verdicts: str) -> None:
    """Refuse a verdict that there is not, before an audit is spent on it."""
    if expect is not None and expect not in verdicts:
        from verifiable_dp.core.validate import InputError

        raise InputError(f"expect must be one of {', '.join(verdicts)} or None, got {expect!r}")


@pytest.fixture
def privacy_audit(request: pytest.FixtureRequest) -> Function[Report]:
    """Audit a target and fail the test if its promise is refuted.

    `privacy_audit(target, epsilon=…, …, expect="not_refuted")` takes the arguments of `verifiable_dp.audit`
    and returns the report. Functions and classes get 16 000 runs, a fifth of those of ``quick``, unless
    `budget` or `runs` is given. It fails if the verdict is ``refuted``, or with `expect="refuted"` if it is
    not. ``inconclusive`` fails too; with `expect=None` no verdict fails. A verdict of ``not_refuted`` fails,
    too, if it rests on less evidence than `require`: ``detectable``, ``tested-paths``, ``every-path`` or
    ``certified``.
    """
    return _audits(request)


def _audits(request: pytest.FixtureRequest) -> Function[Report]:
    """The function that `privacy_audit` gives to a test."""

    def check(
        target: Target, *, expect: str | None = "not_refuted", require: str | None = None, **options: Given
    ) -> Report:
        import verifiable_dp
        from verifiable_dp import api
        from verifiable_dp.core import validate
        from verifiable_dp.record import passing, words

        _check_expected(expect, "not_refuted", "refuted", "inconclusive")
        _check_known(verifiable_dp.audit, "privacy_audit", options)
        target, options, folder, required = _listed(request, target, options)
        require = required if require is None else require
        validate.choice("require", require, passing.REQUIRED)
        options["budget"] = _budget(request, options.get("budget"))
        few = _plain_runs(target, options)
        options |= few
        options["budget"] = options["budget"] or "quick"
        options |= _overridden(request, "seed", "alpha", "detect")
        with contextlib.chdir(folder):
            question = {key: item for key, item in options.items() if key not in api.CONDUCT}
            stem = reports.ask(request, lambda: api.ask(target, **question), options, require)
            report = _timed(
                request,
                lambda progress: verifiable_dp.audit(target, progress=progress, **options),
                options,
                "verdict",
            )
        path = reports.save(request, report, stem)
        short = report.decision.ground and report.decision.short_of(require)
        void = expect == "not_refuted" and bool(report.decision.holes)
        if passing.passes(report.verdict, expect) and not short and not void:
            return report
        again = _again(request, report, target, path or reports.keep(request, report, stem))
        # The summary of pytest shows how this begins.
        found = f"{report.verdict}: {words.interval(report.parsed)}"
        asked = f"the evidence is only {short}, but {require} is required" if short else f"expected {expect}"
        asked = "the declarations make the promise void" if void else asked
        lines = [f"{found} ({asked})", report.summary(again=again)]
        lines += [] if again in lines[-1] else [f"  again: {again}"]
        lines += _why_the_test(request, again)
        lines += _inputs(report)
        lines += [_MORE_RUNS] if few and report.verdict == "inconclusive" else []
        pytest.fail("\n".join(lines), pytrace=False)

    return _brief(request, "privacy_audit", check)


def _brief(request: pytest.FixtureRequest, fixture: str, check: Function[Report]) -> Function[Report]:
    """A check whose errors about wrong arguments show the test's line, and none of ours; calls are noted."""
    called = request.node.stash.setdefault(_CALLED, {})
    called[fixture] = False

    @functools.wraps(check)
    def checked(*args: Given, **options: Given) -> Report:
        __tracebackhide__ = True
        called[fixture] = True
        reports.note(request.config, request.node.nodeid)
        try:
            return check(*args, **options)
        except Exception as error:
            from verifiable_dp.core.validate import InputError

            if isinstance(error, InputError | UsageError):
                raise error.with_traceback(None) from None
            raise

    return checked


class UsageError(TypeError):
    """An argument that a fixture does not take."""


@pytest.fixture
def regret_check(request: pytest.FixtureRequest) -> Function[Report]:
    """Check claims about regret and fail the test unless they are consistent with what is measured.

    `regret_check(algorithm, bound=…, scaling={"T": 0.5}, …)` takes the arguments of
    `verifiable_dp.check_regret` and returns the report; a catalogue algorithm brings its theorems. It fails
    unless the verdict is `expect`; with `expect=None` only if a claim is contradicted. A failure says what
    was measured, against what, and where the figure and the record are.
    """
    return _regret_checks(request)


def _regret_checks(request: pytest.FixtureRequest) -> Function[Report]:
    """The function that `regret_check` gives to a test."""

    def check(target: Target, *, expect: str | None = "consistent", **options: Given) -> Report:
        import verifiable_dp
        from verifiable_dp import api
        from verifiable_dp.record import passing

        _check_expected(expect, "consistent", "contradicted", "vacuous", "inconclusive")
        _check_known(verifiable_dp.check_regret, "regret_check", options)
        target, options, folder, _ = _listed(request, target, options)
        options["budget"] = _budget(request, options.get("budget", "quick"), seconds=False)
        options |= _overridden(request, "seed")
        with contextlib.chdir(folder):
            question = {key: item for key, item in options.items() if key not in (*api.CONDUCT, "workers")}
            stem = reports.ask(request, lambda: api.ask_regret(target, **question), options)
            report = _timed(
                request,
                lambda progress: verifiable_dp.check_regret(target, progress=_announced(progress), **options),
                options,
                "regret_verdict",
            )
        path = reports.save(request, report, stem)
        if passing.passes(report.regret_verdict, expect):
            return report
        path = path or reports.keep(request, report, stem)
        again = dict.fromkeys([_again(request, report, target, path), _test(request)])
        place = Path(request.config.invocation_params.dir, path)
        failure = _regret_failure(report, expect, path, place, list(again))
        pytest.fail("\n".join([failure, *_why_the_test(request, *list(again)[:1])]), pytrace=False)

    return _brief(request, "regret_check", check)


def _inputs(report: Report) -> list[str]:
    """The seed, and the first failing inputs as an argument of another audit, if they are short."""
    found = report.parsed.counterexamples
    lines = [f"  seed: {report.parsed.seed}"]
    if found:
        plain = {key: value for key, value in found[0].pair.items() if key != "words"}
        data = plain.get("type") == "data"
        shown = f"({plain['left']}, {plain['right']})" if data else f"vdp.neighbours.pair_of({plain})"
        lines.append(f"  inputs: pairs=[{shown}]" if len(shown) <= _LONG else "  inputs: see the record")
    return lines


_LONG = 600  # characters of inputs that a failure shows


def _regret_failure(report: Report, expect: str | None, path: str, place: Path, again: list[str]) -> str:
    """What failed, measured against claimed; then figure, record and the commands that run it again."""
    from verifiable_dp.core.files import write_text
    from verifiable_dp.core.validate import named, on_one_line
    from verifiable_dp.record import words
    from verifiable_dp.render import regrets, svg

    checks = report.parsed.regret_checks
    wanted = f"expected {expect}" if expect else "expected no contradiction"
    odd = [c for c in checks if c.verdict not in (expect, "vacuous")] or checks
    lines = [f"regret of {named(report.name)}: {wanted}, got {report.regret_verdict}"]
    lines += [on_one_line(f"  check {words.line(c)}") for c in odd[:_SHOWN]]
    lines += [f"  and {len(odd) - _SHOWN} more (see the record)"] if len(odd) > _SHOWN else []
    drawn = regrets.svg(report.parsed)
    if drawn:
        write_text(place.with_suffix(".svg"), svg.alone(drawn, white=True))
        lines.append(f"figure: {Path(path).with_suffix('.svg')}")
    signs = ("again:  ", "   or:  ")
    return "\n".join([*lines, f"record: {path}", *map("".join, zip(signs, again, strict=False))])


_SHOWN = 6  # checks named where a test fails
