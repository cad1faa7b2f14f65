"""The command that says what audits came to."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from verifiable_dp.cli.shell import FILE, aside, falls_short, main, require_option, say


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--campaign", type=FILE, help="File of a campaign that was run into FOLDER.")
@require_option
def judge(folder: Path, targets: tuple[str, ...], campaign: Path | None, require: str) -> None:
    """Verify the records in FOLDER and give the exit status of the audits that left them; no code is run.

    Each TARGET, and each target of the campaign, needs a record that holds. Exit status: 2 if one has none or
    anything in FOLDER does not hold, else 1 if a promise is refuted or a claim about regret contradicted, 3
    if one is undecided, 0.
    """
    from verifiable_dp.campaign import judge as judges
    from verifiable_dp.campaign.run import verdict

    judged = judges.judge(folder, targets, campaign)
    for name, report in judged.reports:
        say(f"{verdict(report)}: {name}")
    for line in judged.failed:
        aside(f"verifiable-dp: {line}")
    if not judged.reports:
        aside("verifiable-dp: nothing was judged: name a TARGET or --campaign FILE")
    short = [falls_short(report, require) for _, report in judged.reports]
    sys.exit(judged.exit_status or 3 * any(short))
