"""The command line: the API's words, one command each. Results go to stdout, progress to stderr.

Exit status: 0 not refuted, 1 refuted, 2 unusable input, 3 inconclusive.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from verifiable_dp._links import check_links

EXIT = {"not_refuted": 0, "refuted": 1, "inconclusive": 3}
REGRET_EXIT = {"consistent": 0, "contradicted": 1, "vacuous": 3, "inconclusive": 3}
_PATIENCE = 2.0  # seconds before progress is shown


class _Group(click.Group):
    """Turns unusable input into one line on stderr and exit status 2."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """As click's, without usage text and tracebacks."""
        from verifiable_dp._validate import InputError

        kwargs["standalone_mode"] = False
        try:
            sys.exit(super().main(*args, **kwargs))
        except click.ClickException as error:
            _fail(error.format_message(), 2)
        except InputError as error:
            _fail(str(error), 2)
        except (click.Abort, KeyboardInterrupt):
            _fail("interrupted; nothing was written", 130)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)


def _fail(message: str, status: int) -> None:
    click.echo(f"verifiable-dp: {' '.join(message.split())}", err=True)
    sys.exit(status)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A spinner with the current stage on stderr, from the third second on.

    An interrupt that some library underneath loses is raised again at the next stage.
    """
    from rich.console import Console

    console = Console(stderr=True)
    status = console.status("")
    start, shown, last, interrupted = time.monotonic(), False, "", False

    def interrupt(number: int, frame: Any) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    def show(message: str) -> None:
        nonlocal shown, last
        if interrupted:
            raise KeyboardInterrupt
        if time.monotonic() - start > _PATIENCE:
            if console.is_terminal:
                if not shown:
                    status.start()
                status.update(f"{message} … {time.monotonic() - start:.0f} s")
            elif message != last:
                console.print(f"{message} … {time.monotonic() - start:.0f} s", highlight=False)
            shown, last = True, message

    ours = threading.current_thread() is threading.main_thread()  # others cannot set handlers
    before = signal.signal(signal.SIGINT, interrupt) if ours else None
    try:
        yield show
        if interrupted:
            raise KeyboardInterrupt
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
        if shown and console.is_terminal:
            status.stop()


class Budget(click.ParamType[Any]):
    """quick, standard, thorough or seconds."""

    name = "quick|standard|thorough|SECONDS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Checked by the API."""
        return value


def _common(function: Any) -> Any:
    options = [
        click.option("--seed", type=int, default=0, show_default=True, help="Decides every count."),
        click.option(
            "--workers", type=int, default=1, show_default=True, help="Processes; results stay the same."
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


_PATH = click.Path(dir_okay=False, path_type=Path)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="verifiable-dp")
def main() -> None:
    """Test the privacy and regret promises of bandit algorithms.

    Exit status: 0 not refuted, 1 refuted, 2 unusable input, 3 inconclusive.
    """
    check_links(Path(__file__).parent)


@main.command("list")
@click.option("--claims", is_flag=True, help="Every claim, with its source, formula, domain and verdict.")
@click.option(
    "--reports",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reports"),
    show_default=True,
    help="Records that the verdicts are taken from.",
)
def list_(claims: bool, reports: Path) -> None:
    """List the catalogue."""
    from verifiable_dp.auditing import registry

    if claims:
        from verifiable_dp import campaign

        for row in campaign.claims(reports):
            click.echo(f"{row['algorithm']}: {row['claim']}, {row['source']}: {row['verdict']}")
            for part in ("statement", "formula", "domain"):
                if row[part]:
                    click.echo(f"  {part}: {row[part]}")
        return
    table = registry.catalogue()
    width = max(len(name) for name in table["name"]) + 2
    for entry in table.itertuples():
        click.echo(f"{entry.name:<{width}}{entry.model:<9}{entry.paper}")


def _outputs(function: Any) -> Any:
    options = [
        click.option("--json", "json_path", type=_PATH, help="Write the record here."),
        click.option("--html", "html_path", type=_PATH, help="Write a self-contained page here."),
        click.option("--sarif", "sarif_path", type=_PATH, help="Write findings in SARIF 2.1.0 here."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def _check_writable(*paths: Path | None) -> None:
    """Refuse unwritable paths before any work is done."""
    from verifiable_dp.reporting.record import check_writable

    for path in paths:
        if path is not None:
            check_writable(path)


def _write(
    report: Any, json_path: Path | None, html_path: Path | None, sarif_path: Path | None = None
) -> None:
    from verifiable_dp.reporting.record import write_text

    if json_path is not None:
        write_text(json_path, report.to_json())
    if html_path is not None:
        write_text(html_path, report.to_html())
    if sarif_path is not None:
        from verifiable_dp.reporting.sarif import to_sarif

        write_text(sarif_path, to_sarif(report.record))


def _target(target: str | None, command: str | None, timeout: float | None) -> Any:
    from verifiable_dp._validate import InputError

    if (target is None) == (command is None):
        raise InputError("target must be given, or --exec COMMAND, and not both")
    if command is None:
        if timeout is not None:
            raise InputError("exec_timeout goes with --exec COMMAND only")
        return target
    from verifiable_dp.auditing.process import Exec

    return Exec(command) if timeout is None else Exec(command, timeout)


@main.command()
@click.argument("target", required=False)
@click.option("--exec", "command", metavar="COMMAND", help="Audit a program that speaks JSON lines.")
@click.option("--numerics", is_flag=True, help="Audit the floats of a mechanism's sampler, too.")
@click.option("--exec-timeout", type=float, help="Seconds that each of its answers may take (60).")
@click.option("--epsilon", type=float, help="The promise; needed for your own code.")
@click.option(
    "--delta", type=float, help="Of the promise; 0 for your own code, the claim's for a listed one."
)
@click.option("--arms", "n_arms", type=int, help="K; needed for play and play_many.")
@click.option("--horizon", type=int, help="T; needed for play and play_many.")
@click.option("--bounds", type=float, nargs=2, metavar="LO HI", help="Range of rewards or data (0 1).")
@click.option(
    "--observe",
    type=click.Choice(["actions", "releases", "reports", "shuffled"]),
    help="What the adversary sees.",
)
@click.option("--budget", type=Budget(), default="quick", show_default=True)
@click.option("--sequential", is_flag=True, help="Stop as soon as the evidence refutes the claim.")
@click.option("--group", type=int, metavar="K", help="Audit what the claim implies for K rewards.")
@click.option("--rho", type=float, help="The promise of a mechanism: rho-zCDP, in place of epsilon.")
@click.option("--curve", is_flag=True, help="Bound delta at many epsilons, epsilon at many deltas.")
@_common
@_outputs
def audit(
    target: str | None,
    command: str | None,
    numerics: bool,
    exec_timeout: float | None,
    epsilon: float | None,
    delta: float | None,
    n_arms: int | None,
    horizon: int | None,
    bounds: tuple[float, float] | None,
    observe: str | None,
    budget: Any,
    sequential: bool,
    group: int | None,
    rho: float | None,
    curve: bool,
    seed: int,
    workers: int,
    json_path: Path | None,
    html_path: Path | None,
    sarif_path: Path | None,
) -> None:
    """Audit TARGET: a catalogue name, file.py:callable or package.module:callable, or --exec COMMAND."""
    from verifiable_dp import api

    audited = _target(target, command, exec_timeout)
    _check_writable(json_path, html_path, sarif_path)
    with _progress() as progress:
        report = api.audit(
            audited,
            epsilon=epsilon,
            delta=delta,
            n_arms=n_arms,
            horizon=horizon,
            bounds=bounds,
            observe=observe,
            budget=budget,
            seed=seed,
            workers=workers,
            numerics=numerics,
            sequential=sequential,
            group=group,
            rho=rho,
            curve=curve,
            progress=progress,
        )
    _write(report, json_path, html_path, sarif_path)
    click.echo(report.summary())
    sys.exit(EXIT[report.verdict])


@main.command()
@click.argument("name")
@click.option(
    "--budget", type=click.Choice(["quick", "standard", "thorough"]), default="quick", show_default=True
)
@_common
@_outputs
def regret(
    name: str,
    budget: str,
    seed: int,
    workers: int,
    json_path: Path | None,
    html_path: Path | None,
    sarif_path: Path | None,
) -> None:
    """Check the regret theorems of the catalogue algorithm NAME.

    Exit status: 0 consistent, 1 contradicted, 3 vacuous or inconclusive.
    """
    from verifiable_dp import api

    _check_writable(json_path, html_path, sarif_path)
    with _progress() as progress:
        report = api.check_regret(name, budget=budget, seed=seed, workers=workers, progress=progress)
    _write(report, json_path, html_path, sarif_path)
    click.echo(report.summary())
    sys.exit(REGRET_EXIT[str(report.regret_verdict)])


@main.command()
@click.argument("name")
@click.option(
    "--setting", default="C1", show_default=True, help="C1 to C4 of Sajed & Sheffet, or means: .9,.5,.1"
)
@click.option("--epsilon", type=float, default=1.0, show_default=True)
@click.option("--arms", "n_arms", type=int, default=5, show_default=True)
@click.option("--horizon", type=int, default=1_000_000, show_default=True)
@click.option("--runs", type=int, default=30, show_default=True)
@click.option("--csv", "csv_path", type=_PATH, help="Write the regret curve here.")
@_common
def simulate(
    name: str,
    setting: str,
    epsilon: float,
    n_arms: int,
    horizon: int,
    runs: int,
    csv_path: Path | None,
    seed: int,
    workers: int,
) -> None:
    """Simulate the bandit NAME and print its mean regret."""
    from verifiable_dp import environments
    from verifiable_dp._validate import InputError
    from verifiable_dp.auditing import registry
    from verifiable_dp.simulation import simulate as run_simulation

    _check_writable(csv_path)
    if setting.upper() in ("C1", "C2", "C3", "C4"):
        environment = environments.s1(setting.upper(), n_arms)
    else:
        try:
            means = [float(mean) for mean in setting.split(",")]
        except ValueError:
            raise InputError(
                f"setting must be C1, C2, C3, C4 or means such as .9,.5, got {setting!r}"
            ) from None
        environment = environments.bernoulli(means)
        n_arms = len(means)
    takes = registry.auditor(name).algorithm.__dataclass_fields__  # type: ignore[attr-defined]
    if "n_arms" not in takes:
        raise InputError(f"name: {name} is no bandit with arms")
    given = {"n_arms": n_arms, "horizon": horizon, **({"epsilon": epsilon} if "epsilon" in takes else {})}
    algorithm = registry.make(name, **given)
    with _progress() as progress:
        progress("simulating")
        result = run_simulation(algorithm, environment, runs=runs, seed=seed, workers=workers)
    spread = result.regret.std(ddof=1) if runs > 1 else 0.0
    click.echo(
        f"{name}, T = {horizon}, {runs} runs: mean regret {result.regret.mean():.6g}, "
        f"standard deviation {spread:.4g}"
    )
    if csv_path is not None:
        from verifiable_dp.reporting.record import write_text

        write_text(csv_path, result.curve().to_csv(index=False))


@main.command()
@click.option(
    "--budget", type=click.Choice(["quick", "standard", "thorough"]), default="quick", show_default=True
)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("reports"), show_default=True
)
@click.option("--only", multiple=True, metavar="NAME", help="Only these algorithms.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--workers", type=int, default=lambda: min(2, os.cpu_count() or 1), help="Algorithms at a time."
)
def report(budget: str, out: Path, only: tuple[str, ...], seed: int, workers: int) -> None:
    """Audit the catalogue and write a record and a page for each algorithm, with an index.

    Exit status 1 if a private algorithm is refuted or a regret theorem contradicted, 3 if something that
    promises privacy is inconclusive.
    """
    from verifiable_dp import campaign

    with _progress() as progress:
        reports = campaign.run(
            budget=budget, out=out, only=only, seed=seed, workers=workers, progress=progress
        )
    for item in reports:
        click.echo(item.line())
    click.echo(f"written: {out / 'index.html'}")
    sys.exit(campaign.exit_status(reports))


@main.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.option(
    "--rerun", is_flag=True, help="Run it again and compare every count; imports the target's code."
)
@click.option("--workers", type=int, default=1, show_default=True)
def verify(record: Path, rerun: bool, workers: int) -> None:
    """Check RECORD: schema, digest, and every verdict from its counts. Exit status 2 if anything is off."""
    from verifiable_dp.reporting.errata import is_errata, verify_errata
    from verifiable_dp.reporting.mutation import is_mutants, verify_mutants
    from verifiable_dp.reporting.verify import read
    from verifiable_dp.reporting.verify import verify as check

    if is_errata(read(record)):
        _verify_errata(verify_errata(record), rerun, workers)
        return
    if is_mutants(read(record)):
        _verify_mutants(verify_mutants(record), rerun, workers)
        return
    with _progress() as progress:
        again = None
        if rerun:
            from verifiable_dp import api

            def again(found: Any) -> Any:
                if found["target"]["parameters"].get("exec"):
                    click.echo(f"runs the command: {found['target']['parameters']['exec']}", err=True)
                return api.rerun(found, workers=workers, progress=progress)

        result = check(record, rerun=again)
    click.echo(result.summary())


def _verify_errata(whole: Any, rerun: bool, workers: int) -> None:
    if rerun:
        from verifiable_dp import campaign
        from verifiable_dp._validate import InputError
        from verifiable_dp.reporting.verify import first_difference

        with _progress() as progress:
            progress("errata")
            again = campaign.errata(
                [row["name"] for row in whole["errata"]], seed=whole["seed"], workers=workers
            )
        difference = first_difference(whole["errata"], again["errata"], "errata")
        if difference:
            raise InputError(f"errata: a re-run gives something else: {difference}")
    said = "; run again, every count is the same" if rerun else ""
    click.echo(f"errata: digest holds, {len(whole['errata'])} rows judged again{said}")


def _verify_mutants(whole: Any, rerun: bool, workers: int) -> None:
    if rerun:
        from verifiable_dp import campaign
        from verifiable_dp._validate import InputError
        from verifiable_dp.reporting.verify import first_difference

        names = list(dict.fromkeys(row["algorithm"] for row in whole["mutants"]))
        with _progress() as progress:
            again = campaign.mutants(
                names, budget=whole["budget"], seed=whole["seed"], workers=workers, progress=progress
            )
        difference = first_difference(whole["mutants"], again["mutants"], "mutants")
        if difference:
            raise InputError(f"mutants: a re-run gives something else: {difference}")
    said = "; run again, every count is the same" if rerun else ""
    click.echo(f"mutants: digest holds, {len(whole['mutants'])} rows judged again{said}")


@main.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--workers", type=int, default=1, show_default=True)
@click.option("--json", "json_path", type=_PATH, help="Write the rows here.")
def errata(names: tuple[str, ...], seed: int, workers: int, json_path: Path | None) -> None:
    """Show that statements of the papers fail as printed and hold as corrected; all if no NAME is given.

    Exit status 1 if the evidence does not confirm one of them.
    """
    from verifiable_dp import campaign
    from verifiable_dp.reporting.errata import line
    from verifiable_dp.reporting.page import measured

    _check_writable(json_path)
    with _progress() as progress:
        progress("errata")
        whole = campaign.errata(names, seed=seed, workers=workers)
    for row in whole["errata"]:
        click.echo(line(row))
        if names:
            click.echo(f"  printed: {row['printed']}")
            for check in row["checks_of_printed"]:
                click.echo(f"    {check['result']['verdict']}: {check['name']}: {measured(check)}")
            click.echo(f"  right: {row['right']}")
            for check in row["checks_of_right"]:
                click.echo(f"    {check['result']['verdict']}: {check['name']}: {measured(check)}")
    if json_path is not None:
        from verifiable_dp.reporting.record import text, write_text

        write_text(json_path, text(whole))
    sys.exit(1 if any(row["outcome"] == "not_confirmed" for row in whole["errata"]) else 0)


@main.command()
@click.option("--only", multiple=True, metavar="NAME", help="Only mutants of these algorithms.")
@click.option(
    "--budget", type=click.Choice(["quick", "standard", "thorough"]), default="quick", show_default=True
)
@_common
@click.option("--json", "json_path", type=_PATH, help="Write the kill table here.")
@click.option("--html", "html_path", type=_PATH, help="Write it as a self-contained page here.")
def mutants(
    only: tuple[str, ...],
    budget: str,
    seed: int,
    workers: int,
    json_path: Path | None,
    html_path: Path | None,
) -> None:
    """Break the private algorithms in many ways and audit each mutant: the kill table.

    Exit status 1 if a mutant survives whose true epsilon is at least 1.25 times the claim.
    """
    from verifiable_dp import campaign
    from verifiable_dp.reporting.mutation import line, render, summary_lines

    _check_writable(json_path, html_path)
    with _progress() as progress:
        whole = campaign.mutants(only, budget=budget, seed=seed, workers=workers, progress=progress)
    for row in whole["mutants"]:
        click.echo(line(row))
    for text_line in summary_lines(whole):
        click.echo(text_line)
    from verifiable_dp.reporting.record import text, write_text

    if json_path is not None:
        write_text(json_path, text(whole))
    if html_path is not None:
        write_text(html_path, render(whole))
    sys.exit(1 if whole["summary"]["clear_missed"] else 0)


@main.command()
@click.option(
    "--budget",
    type=Budget(),
    default="quick",
    show_default=True,
    help="2, 10 or 50 million test draws a control; a number: as many million.",
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--only", multiple=True, metavar="NAME", help="Only these controls.")
@click.option("--json", "json_path", type=_PATH, help="Write the outcomes here.")
def selftest(budget: Any, seed: int, only: tuple[str, ...], json_path: Path | None) -> None:
    """Audit mechanisms whose true epsilon is known. Exit status 0 if all come out as their truth says.

    Beside each bound stands that of the best event, which the known law gives at as many draws.
    """
    import json

    from verifiable_dp import controls

    _check_writable(json_path)
    with _progress() as progress:
        started = time.time()
        outcomes = controls.selftest(budget=budget, seed=seed, only=only, progress=progress)
    for line in controls.table(outcomes):
        click.echo(line)
    if json_path is not None:
        from verifiable_dp.reporting.record import write_text

        whole = controls.record(outcomes, budget=budget, seed=seed, started=started)
        write_text(json_path, json.dumps(whole, indent=1, allow_nan=False) + "\n")
    sys.exit(0 if all(o.right for o in outcomes) else 1)


if __name__ == "__main__":
    main()
