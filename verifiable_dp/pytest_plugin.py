"""The pytest plugin: fixtures `privacy_audit` and `regret_check`, options `--dp-budget` and `--dp-report`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from verifiable_dp.reporting.record import Report


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options; they share the prefix ``--dp-``."""
    group = parser.getgroup("verifiable-dp", "privacy and regret audits")
    group.addoption(
        "--dp-budget",
        default=None,
        metavar="B",
        help="quick, standard, thorough or seconds; overrides the tests'",
    )
    group.addoption(
        "--dp-report", default=None, metavar="DIR", help="write a record and a page for each audit here"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks."""
    config.addinivalue_line("markers", "privacy: audits a privacy promise")
    config.addinivalue_line("markers", "regret: checks a regret theorem")


def _save(request: pytest.FixtureRequest, report: Report) -> str:
    folder = request.config.getoption("--dp-report")
    if folder is None:
        return ""
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", request.node.nodeid).strip("-")
    saved = len(request.node.stash.setdefault(_COUNT, []))
    request.node.stash[_COUNT].append(stem)
    json_path, _ = report.save(folder, stem if saved == 0 else f"{stem}-{saved + 1}")
    return str(json_path)


_COUNT = pytest.StashKey[list[str]]()


def _budget(request: pytest.FixtureRequest, given: Any) -> Any:
    chosen = request.config.getoption("--dp-budget")
    if chosen is None:
        return given
    return chosen if chosen in ("quick", "standard", "thorough") else float(chosen)


@pytest.fixture
def privacy_audit(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """Audit a target and fail the test if its promise is refuted.

    `privacy_audit(target, epsilon=…, …, expect="not_refuted")` takes the arguments of
    `verifiable_dp.audit` and returns the report. It fails if the verdict is ``refuted``, or with
    `expect="refuted"` if it is not. ``inconclusive`` fails too, unless `expect` is None.
    """

    def check(target: Any, *, expect: str | None = "not_refuted", **options: Any) -> Report:
        import verifiable_dp

        options["budget"] = _budget(request, options.get("budget", "quick"))
        report: Report = verifiable_dp.audit(target, **options)
        path = _save(request, report)
        if expect is None or report.verdict == expect:
            return report
        again = (
            f"verifiable-dp verify {path} --rerun"
            if path
            else "pytest --dp-report DIR keeps a record to re-run"
        )
        pytest.fail(
            f"expected {expect}, the audit says {report.verdict}\n{report.summary()}\n{again}", pytrace=False
        )

    return check


@pytest.fixture
def regret_check(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """Check the regret theorems of a catalogue algorithm and fail the test if one is contradicted.

    `regret_check(algorithm, …)` takes the arguments of `verifiable_dp.check_regret` and returns the report.
    """

    def check(target: Any, **options: Any) -> Report:
        import verifiable_dp

        options["budget"] = _budget(request, options.get("budget", "quick"))
        report: Report = verifiable_dp.check_regret(target, **options)
        path = _save(request, report)
        if report.regret_verdict == "contradicted":
            again = f"verifiable-dp verify {path} --rerun" if path else ""
            pytest.fail(f"a regret theorem is contradicted\n{report.summary()}\n{again}", pytrace=False)
        return report

    return check
