"""The command that judges the records of audits."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from verifiable_dp.cli.shell import (
    FILE,
    RECORDS,
    aside,
    falls_short,
    key_option,
    lack_privacy,
    main,
    origin_options,
    require_option,
    say,
)
from verifiable_dp.core.validate import Given


@main.command(section=RECORDS, examples=("judge audit-reports mine.py:play",))
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--campaign", type=FILE, help="Campaign file (or pyproject.toml) whose results are in FOLDER.")
@click.option(
    "--request",
    "requests",
    multiple=True,
    metavar="FILE|FOLDER|sha256:…",
    help="Requests that the records must answer, or their digests (default: the requests in FOLDER).",
)
@click.option(
    "--check",
    type=click.Choice(["audit", "regret"]),
    default="audit",
    show_default=True,
    help="Kind of record that each TARGET needs: about its privacy (audit) or its regret (regret).",
)
@key_option
@origin_options
@require_option
def judge(
    folder: Path,
    targets: tuple[str, ...],
    campaign: Path | None,
    requests: tuple[str, ...],
    check: str,
    key: tuple[Path, ...],
    require: str,
    **origin: Given,
) -> None:
    """Verify the records in FOLDER, and exit with their status.

    Runs no audited code. Next to each request there must be a valid record that answers it, and every record
    must have a request. Each TARGET, and each target of the campaign, needs a record. Exit status: 2 if
    anything is missing or invalid; otherwise 1 if a claim is refuted or contradicted, 3 if a result is
    inconclusive, 0 if neither.
    """
    from verifiable_dp.campaign import judge as judges
    from verifiable_dp.campaign.origin import RecordOrigin
    from verifiable_dp.campaign.run import promise, verdict
    from verifiable_dp.targets import variables

    expected = judges.Expected(requests, RecordOrigin(**origin), check, require, key)
    judged = judges.judge(folder, targets, campaign, expected)
    for name, report in judged.reports:
        say(f"{verdict(report)}: {name}{promise(report)}")
        if read := variables.said(report.parsed.provenance.target.opened or {}):
            aside(f"note: {name}: the code asked for these environment variables: {read}")
    for line in judged.failed:
        aside(f"verifiable-dp: {line}")
    if not judged.reports:
        aside("verifiable-dp: nothing was judged: no record in FOLDER answers a request")
    for name, one in judged.reports:
        falls_short(one, judged.required.get(name, require))
    lack_privacy((one for _, one in judged.reports), judged.require)
    sys.exit(judged.exit_status)
