"""What `campaign`, and `audit` without a TARGET, do with the targets that a file lists."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
from click.core import ParameterSource

from verifiable_dp.cli.shell import aside, falls_short, lack_privacy, progressing, say
from verifiable_dp.core.validate import Function, Given

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verifiable_dp.campaign.entries import Campaign
    from verifiable_dp.campaign.file import Done
    from verifiable_dp.report import Report

_OUT = Path("audit-reports")
_OF_ALL = ("cage", "require", "scheduler", "workers", "write_baseline")  # options that suit every target


def conclude(found: Campaign, done: Done, require: str) -> NoReturn:
    """Say what became of each target, and exit with the status of all."""
    required = {entry.name: entry.require for entry in found.entries}
    for name, item in done.reports.items():
        known = " (known: all its findings are in the baseline)" if name in done.excused else ""
        say(f"entry {name}: {item.line()}{known}")
    for name, reason in done.failed.items():
        aside(f"verifiable-dp: {name}: {' '.join(reason.split())}")
    _say_baseline(found, done.reports)
    say(f"written: {done.index}")
    for name in found.unaudited:
        left = f"only its regret was checked, so {', '.join(found.described)} in [defaults] had no effect"
        aside(f"entry {name}: {left}; to audit its privacy, list the target again without regret")
    short = [falls_short(item, require, required[name]) for name, item in done.reports.items()]
    short.append(lack_privacy(done.reports.values(), found.require))
    raise SystemExit(done.exit_status or 3 * any(short))


def _say_baseline(found: Campaign, reports: Mapping[str, Report]) -> None:
    if found.baseline is None:
        return
    for name, report in reports.items():
        for one in found.baseline.new(name, report):
            say(f"new: {one.words} is not in the baseline; fix it, or add it with --write-baseline")
    for one in found.baseline.gone(reports.items()):
        say(f"gone: {one.words} no longer occurs; --write-baseline removes it from the baseline")


def _not_pushed(asked: Campaign, reports: Mapping[str, Report]) -> dict[str, str]:
    """Why records and settings are not of the commit that is being pushed; none if this is no hook of a push.

    The tool pre-commit says what is pushed; what is audited is what is checked out.
    """
    import contextlib
    import functools

    from verifiable_dp.campaign.origin import RecordOrigin
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.record import provenance

    pushed = os.environ.get("PRE_COMMIT_TO_REF") or os.environ.get("PRE_COMMIT_LOCAL_BRANCH", "")
    checks: dict[str, Function[None]] = {
        name: functools.partial(RecordOrigin.check, record=report.parsed) for name, report in reports.items()
    }
    checks[asked.path.name] = functools.partial(RecordOrigin.check_settings, asked=asked.files)
    found = dict[str, str]()
    with contextlib.chdir(asked.folder):
        for name, check in checks.items() if pushed else ():
            try:
                check(RecordOrigin(commit=provenance.commit_at(asked.folder, pushed)))
            except InputError as error:
                found[name] = str(error)
    return found


def audit_listed(context: click.Context, given: Mapping[str, Given]) -> NoReturn:
    """Audit the targets that the settings of the project list.

    Raises
    ------
    InputError
        If there are no settings, or an option was given that describes one target.
    """
    from dataclasses import replace

    from verifiable_dp.campaign import entries, settings
    from verifiable_dp.campaign import file as campaign_file
    from verifiable_dp.campaign.baseline import Baseline
    from verifiable_dp.campaign.examples import Examples
    from verifiable_dp.core.files import make_ignored_folder
    from verifiable_dp.core.validate import InputError

    with campaign_file.noted(_OUT):
        place = settings.nearest(Path.cwd())
    if place is None:
        raise InputError(
            "target: give TARGET or --exec COMMAND, or list targets under "
            f"[[tool.{settings.TABLE}.targets]] in {settings.FILE} (none found in {str(Path.cwd())!r} or "
            "the folders above it)"
        )
    for name in context.params:
        if name not in _OF_ALL and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise InputError(
                f"{name} needs a TARGET; for the targets in {settings.FILE}, set {name} in that file, for "
                f"one target or in [tool.{settings.TABLE}.defaults]"
            )
    with campaign_file.noted(_OUT):
        found = entries.read(place, given["require"])
    if given["write_baseline"] and found.baseline is None:
        raise InputError(
            f'--write-baseline needs a baseline file; name it in {settings.FILE}: baseline = "privacy.json"'
        )
    aside(f"settings: {place}")
    make_ignored_folder("out", _OUT)
    examples = Examples(found)
    with progressing(given["scheduler"]) as progress:
        replayed = {}
        for entry in found.entries:
            progress(f"replaying counterexamples of {entry.name}")
            report = examples.replay(entry, given["cage"])
            if report is not None:
                replayed[entry.name] = report
                aside(f"replayed: {entry.name}: its last counterexample still refutes the claim")
        how = {"workers": given["workers"], "cage": given["cage"], "progress": progress, "say": aside}
        ended = campaign_file.run(found, out=_OUT, replayed=replayed, **how)
    other = _not_pushed(found, ended.reports)
    reports = {name: report for name, report in ended.reports.items() if name not in other}
    failed = {**ended.failed, **other}
    done = replace(ended, reports=reports, failed=failed, excused=found.excused(reports))
    for name, report in done.reports.items():
        examples.keep(name, report)
    if given["write_baseline"] and found.baseline is not None:
        held = found.baseline.write(done.reports.items())
        say(f"written: {found.baseline.path} ({held} known findings)")
        found = replace(found, baseline=Baseline.at(found.baseline.path, found.folder))
        done = replace(done, excused=found.excused(done.reports))
    conclude(found, done, given["require"])
