"""The catalogue and many targets: list, simulate, report, campaign, reproduce, errata, mutants."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verifiable_dp.cli.listed import conclude
from verifiable_dp.cli.shell import (
    CATALOGUE,
    FILE,
    PATH,
    YOURS,
    aside,
    cage_option,
    check_outputs,
    checkpoint_option,
    declarations_option,
    forget,
    main,
    progressing,
    require_option,
    say,
    scheduler_option,
    seeded,
)
from verifiable_dp.core.validate import Given, JsonDict

if TYPE_CHECKING:
    from verifiable_dp.core.algorithm import Algorithm
    from verifiable_dp.core.environments import Environment
    from verifiable_dp.core.populations import Population


@main.command("list", section=CATALOGUE)
@click.option("--claims", is_flag=True, help="Show every claim with its source, formula, domain and verdict.")
@click.option(
    "--papers", is_flag=True, help="Show every item in the papers with its code, claims and checks."
)
@click.option(
    "--reports",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reports"),
    show_default=True,
    help="Take verdicts from the records in this folder.",
)
@click.option("--html", "html_path", type=PATH, help="With --papers: write a page to this file.")
def list_(claims: bool, papers: bool, reports: Path, html_path: Path | None) -> None:
    """List the published algorithms in the catalogue."""
    if html_path is not None and not papers:
        raise click.UsageError("--html needs --papers")
    check_outputs(html_path)
    from verifiable_dp.registry import entries as registry

    if (claims or papers) and not any(reports.glob("*/record.json")):
        aside(
            f"{reports.resolve()} contains no record, so no verdicts are shown; write records with "
            "`verifiable-dp report --out FOLDER` (the installed package contains none), then give --reports "
            "FOLDER"
        )
    if papers:
        from verifiable_dp.campaign import papers as items
        from verifiable_dp.core.files import write_text
        from verifiable_dp.render.page import render_papers

        found = items.rows(reports)
        for row in found:
            for line in items.line(row).splitlines():
                say(line)
        if html_path is not None:
            write_text(html_path, render_papers(found))
    if claims:
        from verifiable_dp.campaign.claim_index import claims as claims_of

        for row in claims_of(reports):
            say(f"{row['algorithm']}: {row['claim']}, {row['source']}: {row['verdict']}")
            for part in ("statement", "formula", "domain"):
                if row[part]:
                    say(f"  {part}: {row[part]}")
    if claims or papers:
        return
    table = registry.listed()
    width = max(len(entry["name"]) for entry in table) + 2
    for entry in table:
        say(f"{entry['name']:<{width}}{entry['model']:<9}{entry['paper']}")


@main.command(section=CATALOGUE, examples=("simulate NAME --arms 3 --horizon 100000 --epsilon 1",))
@click.argument("name")
@click.option(
    "--contexts",
    metavar="D|KxD",
    help="Dimension of the contexts that your own code takes: D, or KxD for one context per arm.",
)
@click.option(
    "--population",
    type=click.Choice(["linear", "logistic", "types", "misleading"]),
    default="linear",
    show_default=True,
    help="With contexts: how users and their rewards are drawn.",
)
@click.option(
    "--setting",
    help="Means of the arms, such as .9,.5,.1, or the name of a study's setting (default: .75 for one arm, "
    ".7 for the others).",
)
@click.option("--epsilon", type=float, default=1.0, show_default=True)
@click.option("--arms", "n_arms", type=int, default=5, show_default=True)
@click.option("--horizon", type=int, default=1_000_000, show_default=True)
@click.option("--runs", type=int, default=30, show_default=True)
@click.option("--csv", "csv_path", type=PATH, help="Write the regret curve to this file.")
@seeded
def simulate(
    name: str, setting: str | None, csv_path: Path | None, contexts: str | None, **asked: Given
) -> None:
    """Simulate your own bandit or one from the catalogue.

    Prints the mean regret.
    """
    from verifiable_dp.api import simulate as run_simulation

    check_outputs(csv_path)
    size = {key: asked.pop(key) for key in ("runs", "seed", "workers")}
    environment = _met(setting, contexts, asked.pop("population"), asked["n_arms"])
    with progressing() as progress:
        progress("simulating")
        if contexts is None and ":" not in name:
            made = _listed(name, {**asked, "n_arms": environment.n_arms})
            result = run_simulation(made, environment, **size)
        else:
            result = run_simulation(name, environment, horizon=asked["horizon"], **size)
    spread = result.regret.std(ddof=1) if size["runs"] > 1 else 0.0
    say(
        f"{name}, T = {result.times[-1]}, {size['runs']} runs: mean regret {result.regret.mean():.6g}, "
        f"standard deviation {spread:.4g}"
    )
    if result.hindsight is not None:
        say(f"mean regret against the best policy in hindsight: {result.hindsight.mean():.6g}")
    if csv_path is not None:
        from verifiable_dp.core.files import write_text

        write_text(csv_path, result.curve().to_csv(index=False))


def _met(setting: str | None, contexts: str | None, population: str, n_arms: int) -> Environment | Population:
    """The environment, or the population if there are contexts."""
    from verifiable_dp.core.contexts import Contexts, shape_of
    from verifiable_dp.core.populations import usual
    from verifiable_dp.core.validate import InputError

    if contexts is None:
        return _environment(setting, n_arms)
    if setting is not None:
        raise InputError("--setting works only without contexts; give --population")
    return usual(population, n_arms, Contexts(n_arms, shape_of(contexts)).shape)


def _listed(name: str, instance: JsonDict) -> Algorithm:
    """The catalogue's algorithm of this name, with what it takes of the instance."""
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.registry import entries as registry

    takes = registry.auditor(name).algorithm.__dataclass_fields__  # type: ignore[attr-defined]
    if "n_arms" not in takes:
        raise InputError(f"name: {name} is not a multi-armed bandit")
    return registry.make(name, **{key: value for key, value in instance.items() if key in takes})


def _environment(setting: str | None, n_arms: int) -> Environment:
    """From means, or the setting of a study with as many arms."""
    from verifiable_dp.core.environments import bernoulli
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.registry import study

    if setting is None:
        return bernoulli([0.75, *[0.7] * (n_arms - 1)])
    try:
        return bernoulli([float(mean) for mean in setting.split(",")])
    except InputError:
        raise
    except ValueError:
        known = study.settings()
        if setting.upper() in known:
            return known[setting.upper()](n_arms)
        raise InputError(
            f"setting must be {', '.join(known)} or means such as .9,.5, got {setting!r}"
        ) from None


@main.command(section=CATALOGUE)
@click.option(
    "--budget",
    type=click.Choice(["quick", "standard", "thorough"]),
    default="quick",
    show_default=True,
    help="How many runs each audit makes.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reports"),
    show_default=True,
    help="Write to this folder.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Audit only these algorithms.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--workers",
    type=int,
    default=lambda: min(2, os.cpu_count() or 1),
    help="Number of algorithms audited at once.",
)
@click.option("--resume", is_flag=True, help="Keep valid records that are already in --out.")
@scheduler_option
@declarations_option
def report(
    out: Path, only: tuple[str, ...], workers: int, resume: bool, scheduler: str | None, **asked: Given
) -> None:
    """Audit every algorithm in the catalogue.

    Writes a record and a page for each algorithm, and an index. Exit status: 1 if a claim is refuted or
    contradicted, 3 if a result is inconclusive, else 0.
    """
    from verifiable_dp.campaign import run as campaign

    with progressing(scheduler) as progress:
        reports = campaign.run(
            campaign.Wanted(**asked),
            out=out,
            only=only,
            workers=workers,
            resume=resume,
            progress=progress,
            say=aside,
        )
    for item in reports:
        say(item.line())
    say(f"written: {out / 'index.html'}")
    sys.exit(campaign.exit_status(reports))


@main.command(section=YOURS, examples=("campaign audits.toml --out reports",))
@click.argument("file", type=FILE)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("campaign"),
    show_default=True,
    help="Write to this folder.",
)
@click.option("--workers", type=int, default=1, show_default=True, help="Number of targets audited at once.")
@scheduler_option
@click.option("--resume", is_flag=True, help="Continue an earlier run that wrote to --out.")
@click.option("--ask", is_flag=True, help="Write the requests and stop without running any code.")
@cage_option
@require_option
def campaign(file: Path, out: Path, scheduler: str | None, ask: bool, require: str, **how: Given) -> None:
    """Audit every target listed in a TOML FILE.

    Writes a record and a page for each target, and an index. FILE may be a pyproject.toml. Exit status: 2 if
    a target could not be audited; otherwise 1 if a target is refuted, 3 if a target is inconclusive or its
    evidence is weaker than --require, 0 if neither.
    """
    from verifiable_dp.campaign import entries
    from verifiable_dp.campaign import file as campaign_file

    with campaign_file.noted(out):
        found = entries.read(file, require)
    if ask:
        for path, request in campaign_file.ask(found, out=out).items():
            say(f"{request.digest}  {path}")
        return
    with progressing(scheduler) as progress:
        done = campaign_file.run(found, out=out, **how, progress=progress, say=aside)
    conclude(found, done, require)


@main.command(section=CATALOGUE)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--scale",
    type=float,
    default=1.0,
    show_default=True,
    help="Multiply the horizons and numbers of runs by this factor (above 0, at most 1).",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduced"),
    show_default=True,
    help="Write to this folder.",
)
@click.option(
    "--cells",
    type=click.Path(file_okay=False, path_type=Path),
    help="Save each finished cell (the runs behind one point in a figure) in this folder.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Use the workers of the Dask scheduler at this address.")
@seeded
def reproduce(
    names: tuple[str, ...],
    scale: float,
    out: Path,
    cells: Path | None,
    scheduler: str | None,
    seed: int,
    workers: int,
) -> None:
    """Repeat the experiments in the papers, and our own (S1 to S6).

    Without a NAME, repeats all of them. Writes figures, tables and verdicts. If interrupted, run the same
    command again to continue. Exit status: 1 if a verdict differs from the known full-size verdict, else 0.
    """
    from verifiable_dp.campaign import reproduction
    from verifiable_dp.registry import study
    from verifiable_dp.render.study import lines, surprising

    surprises = False
    for name in names or study.names():
        with progressing(scheduler) as progress:
            whole = reproduction.reproduce(
                name, out=out, scale=scale, seed=seed, workers=workers, cells=cells, progress=progress
            )
        say(f"{whole['study']}: {whole['title']}")
        for line in lines(whole):
            say(f"  {line}")
        if scale < 1:
            say(f"scale {scale:g}: smaller than in the paper, so verdicts may differ from those at full size")
        say(f"written: {out / whole['study'] / 'index.html'}")
        surprises |= scale == 1 and surprising(whole)
    sys.exit(1 if surprises else 0)


@main.command(section=CATALOGUE)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--workers", type=int, default=1, show_default=True)
@scheduler_option
@checkpoint_option
@click.option("--json", "json_path", type=PATH, help="Write the rows to this file.")
def errata(
    names: tuple[str, ...],
    seed: int,
    workers: int,
    scheduler: str | None,
    checkpoint: Path | None,
    json_path: Path | None,
) -> None:
    """Show statements in the papers that are false as printed.

    Each statement is true once corrected. Without a NAME, shows all of them. Exit status: 1 if the evidence
    fails to confirm an erratum, else 0.
    """
    from verifiable_dp.campaign import run as campaign
    from verifiable_dp.evidence.check import Check
    from verifiable_dp.record import words
    from verifiable_dp.registry.errata import excerpt
    from verifiable_dp.render.errata import line

    check_outputs(json_path)
    with progressing(scheduler) as progress:
        progress("errata")
        whole = campaign.errata(names, seed=seed, workers=workers, steps=checkpoint, progress=progress)
    for row in whole["errata"]:
        say(line(row))
        if names:
            for quote in row["quotes"]:
                say(f"  {quote['place']}: {excerpt(quote['text'])}")
            say(f"  printed: {row['printed']}")
            for check in row["checks_of_printed"]:
                say(f"    {words.line(Check.read(check))}")
            say(f"  corrected: {row['right']}")
            for check in row["checks_of_right"]:
                say(f"    {words.line(Check.read(check))}")
    if json_path is not None:
        from verifiable_dp.core.files import write_text
        from verifiable_dp.record.sealing import text

        write_text(json_path, text(whole))
    forget(checkpoint)
    sys.exit(1 if any(row["outcome"] == "not_confirmed" for row in whole["errata"]) else 0)


def _told_lost(names: Sequence[str], against: Path | None) -> int:
    """Say which kills of an older table are lost; the exit status of that."""
    for name in names:
        say(f"lost: {name} was caught in {against}, but is missed now")
    return 3


@main.command(section=CATALOGUE)
@click.option(
    "--only", multiple=True, metavar="NAME", help="Audit only the broken variants of these algorithms."
)
@click.option(
    "--budget",
    type=click.Choice(["quick", "standard", "thorough"]),
    default="quick",
    show_default=True,
    help="How many runs each audit makes.",
)
@seeded
@scheduler_option
@checkpoint_option
@click.option(
    "--against",
    type=PATH,
    help="Compare with this older table; fail if a variant caught there is missed now.",
)
@click.option("--json", "json_path", type=PATH, help="Write the table to this file.")
@click.option("--html", "html_path", type=PATH, help="Write a self-contained page to this file.")
@click.option(
    "--reports",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the table and its page to this report folder, and update the records there.",
)
def mutants(
    only: tuple[str, ...],
    scheduler: str | None,
    checkpoint: Path | None,
    json_path: Path | None,
    html_path: Path | None,
    reports: Path | None,
    **asked: Given,
) -> None:
    """Audit broken variants, and count how many are caught.

    With --reports, adds the results of each algorithm to its record in that folder. This changes the record's
    digest, so sign the record again.

    Exit status: 1 if a missed variant has a true epsilon of at least 1.25 times the claim, else 0. With
    --against: 3, and nothing is written, if a variant caught in the older table is missed now.
    """
    from verifiable_dp.campaign import run as campaign
    from verifiable_dp.render.mutation import before, line, render, summary_lines
    from verifiable_dp.selfcheck.mutation import lost

    check_outputs(json_path, html_path)
    against = asked.pop("against")
    older = before(against) if against else []
    with progressing(scheduler) as progress:
        whole = campaign.mutants(only, **asked, steps=checkpoint, progress=progress)
    for row in whole["mutants"]:
        say(line(row))
    for text_line in summary_lines(whole):
        say(text_line)
    from verifiable_dp.core.files import write_text
    from verifiable_dp.record.sealing import text

    if gone := lost(older, whole["mutants"]):
        sys.exit(_told_lost(gone, against))
    if json_path is not None:
        write_text(json_path, text(whole))
    if html_path is not None:
        write_text(html_path, render(whole))
    if reports is not None:
        sealed = campaign.save_kill_table(whole, reports, aside)
        say(f"written: {reports / 'mutants.json'}; records updated: {', '.join(sealed) or 'none'}")
    forget(checkpoint)
    sys.exit(1 if whole["summary"]["clear_missed"] else 0)
