"""The command that shows what an audit is: a correct and a leaking bandit, side by side."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path

import click

from verifiable_dp.cli.shell import YOURS, aside, main, progressing, say

_CODE = Path(__file__).with_name("bandits.py.txt")
_SETTINGS = """[defaults]
epsilon = 1
arms = 2
horizon = 20
budget = "smoke"

[[targets]]
name = "right"
target = "bandits.py:right"

[[targets]]
name = "leaking"
target = "bandits.py:leaking"
"""


@main.command(section=YOURS, examples=("demo",))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("verifiable-dp-demo"),
    show_default=True,
    help="Write code and reports to this folder.",
)
@click.option(
    "--open/--no-open",
    "opened",
    default=None,
    help="Open the page in a browser (default: only on a terminal).",
)
def demo(out: Path, opened: bool | None) -> None:
    """Audit a correct and a leaking bandit, side by side.

    Takes about 20 seconds. Exit status: 0 if only the leaking bandit is refuted, else 1.
    """
    from verifiable_dp.campaign import file as campaign
    from verifiable_dp.core.files import make_folder, write_text

    make_folder("out", out)
    write_text(out / "bandits.py", _CODE.read_text("utf-8"))
    settings = write_text(out / "audits.toml", _SETTINGS)
    say(f"Two bandits that claim epsilon 1: {out / 'bandits.py'}")
    with progressing() as progress:
        done = campaign.run(settings, out=out / "reports", progress=progress, say=aside)
    for name, report in done.reports.items():
        say("")
        say(f"{name}:")
        click.echo(report.brief(out / "reports" / name / "record.json"))
    say("")
    say(f"page: {done.index.resolve().as_uri()}")
    say(f"next: verifiable-dp audit {out / 'bandits.py'}:right --epsilon 1 --arms 2 --horizon 20")
    if sys.stdout.isatty() if opened is None else opened:
        webbrowser.open(done.index.resolve().as_uri())
    verdicts = {name: report.verdict for name, report in done.reports.items()}
    sys.exit(0 if verdicts == {"right": "not_refuted", "leaking": "refuted"} else 1)
