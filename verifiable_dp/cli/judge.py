"""The command that says what audits came to."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from verifiable_dp.cli.shell import FILE, aside, falls_short, main, origin_options, require_option, say
from verifiable_dp.core.validate import Given


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--campaign", type=FILE, help="File of a campaign that was run into FOLDER.")
@click.option(
    "--request",
    "requests",
    multiple=True,
    metavar="FILE|FOLDER|sha256:…",
    help="What was asked, kept where no code of a target has been, or its digest; by default what lies in "
    "FOLDER.",
)
@origin_options
@require_option
def judge(
    folder: Path,
    targets: tuple[str, ...],
    campaign: Path | None,
    requests: tuple[str, ...],
    require: str,
    **origin: Given,
) -> None:
    """Verify the records in FOLDER and give the exit status of the audits that left them; no code is run.

    Every request needs a record beside it that answers it and holds, every record a request, and each TARGET
    and each target of the campaign a request. Exit status: 2 if one has none or anything in FOLDER does not
    hold, else 1 if a promise is refuted or a claim about regret contradicted, 3 if one is undecided, 0.
    """
    from verifiable_dp.campaign import judge as judges
    from verifiable_dp.campaign.origin import RecordOrigin
    from verifiable_dp.campaign.run import verdict

    expected = judges.Expected(requests, RecordOrigin(**origin))
    judged = judges.judge(folder, targets, campaign, expected)
    for name, report in judged.reports:
        say(f"{verdict(report)}: {name}")
    for line in judged.failed:
        aside(f"verifiable-dp: {line}")
    if not judged.reports:
        aside("verifiable-dp: nothing was judged: no record in FOLDER answers a request")
    short = [falls_short(one, require, judged.required.get(name, require)) for name, one in judged.reports]
    sys.exit(judged.exit_status or 3 * any(short))
