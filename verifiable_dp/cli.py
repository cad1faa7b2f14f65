"""The command line: the API's words, one command each. Results go to stdout, progress to stderr.

Exit status: 0 not refuted, 1 refuted, 2 unusable input, 3 inconclusive, 70 an error of this program.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from verifiable_dp._crash import crashed
from verifiable_dp._links import check_links

EXIT = {"not_refuted": 0, "refuted": 1, "inconclusive": 3}
REGRET_EXIT = {"consistent": 0, "contradicted": 1, "vacuous": 3, "inconclusive": 3}
DIFF_EXIT = {"same": 0, "better": 0, "worse": 1, "differs": 1, "not_comparable": 3}
_PATIENCE = 2.0  # seconds before progress is shown
_PAUSE = 5.0  # seconds between lines of one stage in a log


class _NoReader(Exception):
    """Whoever read the output has gone."""


class _Group(click.Group):
    """Turns unusable input into one line on stderr and exit status 2, and what is not expected into 70."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's; without a command it shows the help and exits with 2, as click does from 8.2 on."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
        ctx.obj = shlex.join(["verifiable-dp", *args])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """As click's, which would exit with 1, "refuted", if nobody reads the output any more."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _NoReader from None

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """As click's, without usage text and tracebacks."""
        from verifiable_dp._validate import InputError

        kwargs["standalone_mode"] = False
        if sys.stdout is None:  # closed by whoever started this; the verdict is in the exit status
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        try:
            sys.exit(super().main(*args, **kwargs))
        except SystemExit as error:
            _check_own(error)
            raise
        except click.ClickException as error:
            _fail(error.format_message(), 2)
        except InputError as error:
            _fail(str(error), 2)
        except (click.Abort, KeyboardInterrupt):
            _fail("interrupted; nothing was written", 130)
        except (_NoReader, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(141)  # as shells say of a program that SIGPIPE ended
        except Exception as error:  # Python's own status would be 1, refuted
            crashed(error)


def _check_own(error: SystemExit) -> None:
    """Refuse an exit that code of the target asked for: its status is no verdict."""
    frames = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    if frames[-1] != __file__:
        _fail(f"target: code of it ended the program in {frames[-1]} (SystemExit: {error.code})", 2)


def _safe(text: str) -> str:
    """Text of a record, which no terminal is to obey."""
    from verifiable_dp._validate import printable

    return printable(text)


def _aside(line: str) -> None:
    """Say a line that stays, on stderr."""
    click.echo(_safe(line), err=True)


def _fail(message: str, status: int) -> None:
    click.echo(f"verifiable-dp: {_safe(' '.join(message.split()))}", err=True)
    sys.exit(status)


@contextmanager
def _results_apart() -> Iterator[None]:
    """What is written to the descriptor of stdout meanwhile, as by C code, goes to stderr."""
    import ctypes

    sys.stdout.flush()
    try:
        ours = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # closed
        yield
        return
    try:
        yield
    finally:
        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).fflush(None)
        os.dup2(ours, 1)
        os.close(ours)


@contextmanager
def _progress(scheduler: str | None = None) -> Iterator[Callable[[str], None]]:
    """A spinner with the current stage on stderr, from the third second on; work goes to the scheduler.

    A log gets the first line of a stage, which its first word tells from others, then few, and the last.
    An interrupt that some library underneath loses is raised again at the next stage.
    """
    from rich.console import Console
    from rich.markup import escape

    from verifiable_dp import engine
    from verifiable_dp._validate import printable

    console = Console(stderr=True)
    status = console.status("")
    start, shown, interrupted = time.monotonic(), False, False
    stage, said, waiting = "", 0.0, ""

    def interrupt(number: int, frame: Any) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    def show(message: str) -> None:
        nonlocal shown, stage, said, waiting
        if interrupted:
            raise KeyboardInterrupt
        now = time.monotonic()
        if now - start <= _PATIENCE:
            return
        line, words = f"{escape(printable(message))} … {now - start:.0f} s", message.split(maxsplit=1)
        if console.is_terminal:
            if not shown:
                status.start()
            status.update(line)
        elif words[:1] != [stage] or now - said >= _PAUSE:
            log(line)
            stage, said, waiting = words[0] if words else "", now, ""
        else:
            waiting = line
        shown = True

    def log(line: str) -> None:
        console.print(line, highlight=False, soft_wrap=True)

    ours = threading.current_thread() is threading.main_thread()  # others cannot set handlers
    before = signal.signal(signal.SIGINT, interrupt) if ours else None
    try:
        with _results_apart(), engine.on(scheduler):
            yield show
        if interrupted:
            raise KeyboardInterrupt
        if waiting:
            log(waiting)
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)
        if shown and console.is_terminal:
            status.stop()


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


def _scheduler(function: Any) -> Any:
    return click.option(
        "--scheduler", metavar="ADDRESS", help="Of a Dask scheduler, whose workers are used instead."
    )(function)


_PATH = click.Path(dir_okay=False, path_type=Path)
_FILE = click.Path(path_type=Path)  # what is wrong with it is said by whoever reads it


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="verifiable-dp")
def main() -> None:
    """Test the privacy and regret promises of bandit algorithms.

    Exit status: 0 not refuted, 1 refuted, 2 unusable input, 3 inconclusive, 70 an error of this program.
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

        if not any(reports.glob("*/record.json")):
            click.echo(_safe(f"no record in {reports.resolve()}; --reports names another folder"), err=True)
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


def _declarations(function: Any) -> Any:
    return click.option(
        "--declarations",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="TOML file of what you declare of the deployment; `init` starts one.",
    )(function)


def _check_writable(*paths: Path | None) -> None:
    """Refuse unwritable paths before any work is done."""
    from verifiable_dp._files import check_writable

    for path in paths:
        if path is not None:
            check_writable(path)


def _write(
    report: Any, json_path: Path | None, html_path: Path | None, sarif_path: Path | None = None
) -> None:
    from verifiable_dp._files import write_text

    if json_path is not None:
        write_text(json_path, report.to_json())
    if html_path is not None:
        write_text(html_path, report.to_html())
    if sarif_path is not None:
        from verifiable_dp.render.sarif import to_sarif

        write_text(sarif_path, to_sarif(report.record))


def _target(target: str | None, command: str | None, timeout: float | None) -> Any:
    from verifiable_dp._validate import InputError

    if (target is None) == (command is None):
        raise InputError("target must be given, or --exec COMMAND, and not both")
    if command is None:
        if timeout is not None:
            raise InputError("exec_timeout needs --exec COMMAND")
        return target
    from verifiable_dp.auditing.process import Exec

    return Exec(command) if timeout is None else Exec(command, timeout)


_checkpoint = click.option(
    "--checkpoint",
    type=_PATH,
    metavar="FILE",
    help="Keep finished steps here while it runs; the same command goes on after them.",
)


def _forget(checkpoint: Path | None) -> None:
    """Remove a checkpoint whose result is saved."""
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)


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
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of a listed one.")
@click.option("--bounds", type=float, nargs=2, metavar="LO HI", help="Range of rewards or data (0 1).")
@click.option(
    "--observe",
    type=click.Choice(["actions", "releases", "reports", "shuffled"]),
    help="What the adversary sees.",
)
@click.option(
    "--budget",
    metavar="smoke|quick|standard|thorough|SECONDS",
    default="quick",
    show_default=True,
    help="How many runs; of your own code 4000 (smoke), 80 000, 720 000, 4.8 million (thorough), or "
    "4000 for each of SECONDS, which it may not take longer than.",
)
@click.option("--runs", type=int, metavar="N", help="Runs of your own code in all, in place of the budget's.")
@click.option("--timeout", type=float, metavar="SECONDS", help="That one run of your own code may take (60).")
@click.option("--sequential", is_flag=True, help="Stop as soon as the evidence refutes the claim.")
@click.option("--group", type=int, metavar="K", help="Audit what the claim implies for K rewards.")
@click.option("--rho", type=float, help="The promise of a mechanism: rho-zCDP, in place of epsilon.")
@click.option("--curve", is_flag=True, help="Bound delta at many epsilons, epsilon at many deltas.")
@click.option(
    "--alpha", type=float, default=1e-6, show_default=True, help="Family-wise level of a refutation."
)
@_declarations
@_checkpoint
@_common
@_scheduler
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
    parameters: tuple[str, ...],
    bounds: tuple[float, float] | None,
    observe: str | None,
    budget: Any,
    runs: int | None,
    timeout: float | None,
    sequential: bool,
    group: int | None,
    rho: float | None,
    curve: bool,
    alpha: float,
    declarations: Path | None,
    checkpoint: Path | None,
    seed: int,
    workers: int,
    scheduler: str | None,
    json_path: Path | None,
    html_path: Path | None,
    sarif_path: Path | None,
) -> None:
    """Audit TARGET: a catalogue name, file.py:callable or package.module:callable, or --exec COMMAND."""
    from verifiable_dp import api

    audited = _target(target, command, exec_timeout)
    _check_writable(json_path, html_path, sarif_path)
    with _progress(scheduler) as progress:
        report = api.audit(
            audited,
            epsilon=epsilon,
            delta=delta,
            n_arms=n_arms,
            horizon=horizon,
            parameters=_pairs("set", parameters) or None,
            bounds=bounds,
            observe=observe,
            budget=budget,
            runs=runs,
            timeout=timeout,
            seed=seed,
            workers=workers,
            numerics=numerics,
            sequential=sequential,
            group=group,
            rho=rho,
            curve=curve,
            alpha=alpha,
            declarations=declarations,
            checkpoint=checkpoint,
            progress=progress,
        )
    _write(report, json_path, html_path, sarif_path)
    click.echo(report.summary(json_path, again=None if json_path else click.get_current_context().obj))
    _forget(checkpoint)
    sys.exit(EXIT[report.verdict])


def _pairs(name: str, items: tuple[str, ...]) -> dict[str, Any]:
    """NAME=VALUE options as a mapping; numbers become numbers, true and false truth values."""
    from verifiable_dp._validate import InputError

    found: dict[str, Any] = {}
    for item in items:
        key, sign, value = item.partition("=")
        if not (sign and key and value):
            raise InputError(f"{name} must be NAME=VALUE, got {item!r}")
        found[key] = _plain_value(value)
    return found


def _plain_value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def _scaling(items: tuple[str, ...]) -> dict[str, Any] | None:
    """T=0.5, T=log or, with a margin, T=0.5:0.1."""
    found: dict[str, Any] = {}
    for over, claim in _pairs("scaling", items).items():
        rate, colon, margin = str(claim).partition(":")
        found[over] = (_plain_value(rate), _plain_value(margin)) if colon else claim
    return found or None


def _numbers(name: str, text: str) -> list[float]:
    from verifiable_dp._validate import InputError

    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise InputError(f"{name} must be numbers such as .9,.5,.1, got {text!r}") from None


@main.command()
@click.argument("target")
@click.option("--bound", help="A number or file.py:function of (gaps, horizon, ...).")
@click.option(
    "--scaling", multiple=True, metavar="Q=RATE", help="T=0.5, T=log, epsilon=-1, K=1:0.1 (with a margin)."
)
@click.option("--better-than", metavar="TARGET", help="Claim less regret than this, see --factor.")
@click.option("--factor", type=float, default=1.0, show_default=True, help="Of --better-than.")
@click.option("--arms", "n_arms", type=int, help="K; needed for your own code.")
@click.option("--horizon", type=int, help="T; needed for your own code.")
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of TARGET.")
@click.option("--means", multiple=True, metavar="M,M,...", help="An instance of Bernoulli arms.")
@click.option("--values", multiple=True, metavar="Q=X,X,...", help="Where a rate is measured.")
@click.option("--gap", type=float, help="Of the instance of rates.")
@click.option("--runs", type=int, help="Of every point; by --budget if not given.")
@click.option("--beta", type=float, help="Each run may exceed the bound with this probability.")
@click.option(
    "--budget", type=click.Choice(["quick", "standard", "thorough"]), default="quick", show_default=True
)
@_common
@_scheduler
@_outputs
def regret(
    target: str,
    bound: str | None,
    scaling: tuple[str, ...],
    better_than: str | None,
    factor: float,
    n_arms: int | None,
    horizon: int | None,
    parameters: tuple[str, ...],
    means: tuple[str, ...],
    values: tuple[str, ...],
    gap: float | None,
    runs: int | None,
    beta: float | None,
    budget: str,
    seed: int,
    workers: int,
    scheduler: str | None,
    json_path: Path | None,
    html_path: Path | None,
    sarif_path: Path | None,
) -> None:
    """Check the regret of TARGET: a catalogue name, file.py:name or package.module:name.

    Without --bound, --scaling and --better-than the theorems of a catalogue algorithm are checked. Exit
    status: 0 consistent, 1 contradicted, 3 vacuous or inconclusive.
    """
    from verifiable_dp import api

    _check_writable(json_path, html_path, sarif_path)
    claimed: dict[str, Any] = {
        "bound": bound,
        "scaling": _scaling(scaling),
        "better_than": better_than,
        "factor": factor,
        "n_arms": n_arms,
        "horizon": horizon,
        "parameters": _pairs("set", parameters) or None,
        "environments": [_numbers("means", item) for item in means] or None,
        "values": {q: _numbers("values", str(xs)) for q, xs in _pairs("values", values).items()} or None,
        "gap": gap,
        "runs": runs,
        "beta": beta,
    }
    with _progress(scheduler) as progress:
        report = api.check_regret(
            target, **claimed, budget=budget, seed=seed, workers=workers, progress=progress
        )
    _write(report, json_path, html_path, sarif_path)
    click.echo(report.summary(json_path, again=None if json_path else click.get_current_context().obj))
    sys.exit(REGRET_EXIT[str(report.regret_verdict)])


@main.command()
@click.argument("name")
@click.option(
    "--setting",
    help="Means such as .9,.5,.1, or a setting of a study; by default one arm of .75, others of .7.",
)
@click.option("--epsilon", type=float, default=1.0, show_default=True)
@click.option("--arms", "n_arms", type=int, default=5, show_default=True)
@click.option("--horizon", type=int, default=1_000_000, show_default=True)
@click.option("--runs", type=int, default=30, show_default=True)
@click.option("--csv", "csv_path", type=_PATH, help="Write the regret curve here.")
@_common
def simulate(
    name: str,
    setting: str | None,
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
    from verifiable_dp.auditing import registry, study
    from verifiable_dp.simulation import simulate as run_simulation

    _check_writable(csv_path)
    if setting is None:
        environment: environments.Environment = environments.bernoulli([0.75, *[0.7] * (n_arms - 1)])
    else:
        try:
            means = [float(mean) for mean in setting.split(",")]
        except ValueError:
            known = study.settings()
            if setting.upper() not in known:
                raise InputError(
                    f"setting must be {', '.join(known)} or means such as .9,.5, got {setting!r}"
                ) from None
            environment = known[setting.upper()](n_arms)
        else:
            environment, n_arms = environments.bernoulli(means), len(means)
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
        from verifiable_dp._files import write_text

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
@click.option("--resume", is_flag=True, help="Keep records in --out that are those asked for.")
@_scheduler
@_declarations
def report(
    budget: str,
    out: Path,
    only: tuple[str, ...],
    seed: int,
    workers: int,
    resume: bool,
    scheduler: str | None,
    declarations: Path | None,
) -> None:
    """Audit the catalogue and write a record and a page for each algorithm, with an index.

    Exit status 1 if a private algorithm is refuted or a regret theorem contradicted, 3 if something that
    promises privacy is inconclusive.
    """
    from verifiable_dp import campaign

    with _progress(scheduler) as progress:
        reports = campaign.run(
            budget=budget,
            out=out,
            only=only,
            seed=seed,
            workers=workers,
            declarations=declarations,
            resume=resume,
            progress=progress,
            say=_aside,
        )
    for item in reports:
        click.echo(item.line())
    click.echo(f"written: {out / 'index.html'}")
    sys.exit(campaign.exit_status(reports))


@main.command()
@click.argument("file", type=_FILE)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("campaign"), show_default=True
)
@click.option("--workers", type=int, default=1, show_default=True, help="Targets at a time.")
@_scheduler
@click.option("--resume", is_flag=True, help="Keep what an earlier run into --out has finished.")
def campaign(file: Path, out: Path, workers: int, scheduler: str | None, resume: bool) -> None:
    """Audit all targets of the campaign FILE (TOML) and write a record and a page for each, with an index.

    Exit status: 2 if a target could not be audited, else 1 if one is refuted, 3 if one is inconclusive, 0.
    """
    from verifiable_dp import campaign_file

    found = campaign_file.read(file)
    with _progress(scheduler) as progress:
        done = campaign_file.run(
            found, out=out, workers=workers, resume=resume, progress=progress, say=_aside
        )
    for name, item in done.reports.items():
        click.echo(f"{name}: {item.line()}")
    for name, reason in done.failed.items():
        click.echo(_safe(f"verifiable-dp: {name}: {' '.join(reason.split())}"), err=True)
    click.echo(f"written: {done.index}")
    sys.exit(done.exit_status)


@main.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--scale", type=float, default=1.0, show_default=True, help="In (0, 1]: horizons and runs shrink."
)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("reproduced"), show_default=True
)
@click.option("--cells", type=click.Path(file_okay=False, path_type=Path), help="Folder of finished cells.")
@click.option("--scheduler", metavar="ADDRESS", help="Of a Dask scheduler that runs the cells.")
@_common
def reproduce(
    names: tuple[str, ...],
    scale: float,
    out: Path,
    cells: Path | None,
    scheduler: str | None,
    seed: int,
    workers: int,
) -> None:
    """Remake the experiments of papers (S1 to S4; all if no NAME is given): figures, tables, verdicts.

    Finished cells are kept, so that an interrupted run goes on where it was. Exit status 1 if, at full size,
    a statement is contradicted that is not known to be, or the other way round; else 0.
    """
    from verifiable_dp import reproduction
    from verifiable_dp.auditing import study
    from verifiable_dp.render.study import lines, surprising

    surprises = False
    for name in names or study.names():
        with _progress(scheduler) as progress:
            whole = reproduction.reproduce(
                name, out=out, scale=scale, seed=seed, workers=workers, cells=cells, progress=progress
            )
        click.echo(f"{whole['study']}: {whole['title']}")
        for line in lines(whole):
            click.echo(f"  {line}")
        if scale < 1:
            click.echo(f"scale {scale:g}: not the paper's sizes; verdicts may differ from those at full size")
        click.echo(f"written: {out / whole['study'] / 'index.html'}")
        surprises |= scale == 1 and surprising(whole)
    sys.exit(1 if surprises else 0)


@main.command()
@click.argument("path", type=click.Path(path_type=Path), default=Path("declarations.toml"))
def init(path: Path) -> None:
    """Write a commented file of declarations to PATH (declarations.toml); nothing is overwritten."""
    from verifiable_dp.record.declarations import starter

    click.echo(f"written: {starter(path)}")


@main.command()
@click.argument("record", type=_FILE)
@click.argument("declarations", type=_FILE)
@click.option("--json", "json_path", type=_PATH, required=True, help="Write the new record here.")
@click.option("--html", "html_path", type=_PATH, help="Write its self-contained page here.")
def declare(record: Path, declarations: Path, json_path: Path, html_path: Path | None) -> None:
    """Verify RECORD and write it anew with DECLARATIONS, a TOML file as `init` starts one; no code is run.

    They replace those that RECORD has. Counts, verdicts and provenance stay, the digest is new. RECORD itself
    is never overwritten: others may hold its digest or its signature.
    """
    from verifiable_dp.report import Report

    written = [path for path in (json_path, html_path) if path is not None]
    _check_apart(written, {"RECORD": record, "DECLARATIONS": declarations})
    _check_writable(*written)
    report = Report.load(record).declare(declarations)
    _write(report, json_path, html_path)
    stated = ", ".join(report.record["declarations"]) or "nothing, for the file holds nothing but comments"
    click.echo(_safe(f"{report.line()}\ndeclared: {stated}"))
    for path in written:
        click.echo(f"written: {path}")


def _check_apart(written: list[Path], kept: dict[str, Path]) -> None:
    """Refuse to write over what is read, or twice to one place."""
    from verifiable_dp._validate import InputError

    for number, path in enumerate(written):
        for name, other in kept.items():
            linked = path.exists() and other.exists() and path.samefile(other)
            if linked or path.resolve() == other.resolve():
                raise InputError(f"path: {str(path)!r} is {name}, which is not overwritten")
        if path.resolve() in [before.resolve() for before in written[:number]]:
            raise InputError(f"path: {str(path)!r} is given twice")


@main.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.option(
    "--rerun", is_flag=True, help="Run it again and compare every count; imports the target's code."
)
@click.option("--workers", type=int, default=1, show_default=True)
@_scheduler
@click.option("--key", type=_FILE, help="Check its signature with this Ed25519 public key (PEM).")
@click.option("--signature", type=_FILE, help="The signature file (RECORD.sig).")
def verify(
    record: Path,
    rerun: bool,
    workers: int,
    scheduler: str | None,
    key: Path | None,
    signature: Path | None,
) -> None:
    """Check RECORD: schema, digest, and every verdict from its counts. Exit status 2 if anything is off.

    With --key also its signature, before anything is run. If RECORD is a folder, every record below it is
    checked, and the errata, the kill table and the studies in it.
    """
    if record.is_dir():
        _verify_folder(record, alone=rerun or key is not None or signature is not None)
    from verifiable_dp.record.verify import read
    from verifiable_dp.record.verify import verify as check

    _verify_signature(record, key, signature)
    kind = _data_file(read(record))
    if kind is not None:
        click.echo(_verify_data_file(record, kind, rerun, workers, scheduler))
        return
    with _progress(scheduler if rerun else None) as progress:
        again = None
        if rerun:
            from verifiable_dp import api

            def again(found: Any) -> Any:
                for line in api.will_run(found):
                    click.echo(_safe(line), err=True)
                return api.rerun(found, workers=workers, progress=progress)

        result = check(record, rerun=again)
    click.echo(_safe(result.summary()))


def _verify_folder(folder: Path, *, alone: bool) -> None:
    """Verify all data files of a folder, name those that do not hold, and exit."""
    from verifiable_dp._validate import InputError
    from verifiable_dp.render import portfolio

    if alone:
        raise InputError("record: --rerun, --key and --signature need a single file, not a folder")
    found = portfolio.find(folder)
    for path, why in found.broken.items():
        _aside(f"does not hold: {path}: {why}")
    holding = [*found.records, *(w for w in (found.errata, found.mutants) if w), *found.studies]
    if not holding and not found.broken:
        raise InputError(f"record: no record below {str(folder)!r}")
    click.echo(f"{len(holding)} of {len(holding) + len(found.broken)} files hold")
    sys.exit(2 if found.broken else 0)


def _verify_signature(record: Path, key: Path | None, signature: Path | None) -> None:
    if key is None:
        if signature is not None:
            from verifiable_dp._validate import InputError

            raise InputError("signature needs --key PUBLIC.pem")
        return
    from verifiable_dp.record import signing
    from verifiable_dp.record.verify import read

    found = signing.check(read(record), key, signature or Path(f"{record}.sig"))
    click.echo(f"signature holds: Ed25519 key {found}")


@main.command()
@click.argument("record", type=_FILE)
@click.option("--key", type=_FILE, required=True, help="Ed25519 private key: PEM, without a password.")
@click.option("--out", type=_PATH, help="Where the signature goes (RECORD.sig).")
def sign(record: Path, key: Path, out: Path | None) -> None:
    """Verify RECORD and write a detached signature of it."""
    from verifiable_dp._files import write_text
    from verifiable_dp.record import signing

    path = out or Path(f"{record}.sig")
    _check_writable(path)
    write_text(path, signing.sign(_verified(record), key))
    click.echo(f"written: {path}")


def _verified(path: Path) -> Any:
    """A record, or another data file, that holds; nothing is run."""
    from verifiable_dp.record.verify import read
    from verifiable_dp.record.verify import verify as check

    kind = _data_file(read(path))
    return check(path).record if kind is None else kind.verify(path)


@main.command()
@click.argument("record", type=_FILE)
@click.option(
    "--to",
    required=True,
    metavar="FORMAT",
    help="html, markdown, pdf, sarif, in-toto, opendp, junit or compliance.",
)
@click.option("--out", type=_PATH, help="Write it here rather than to stdout.")
@click.option("--url", default="", help="Of the run of CI, for in-toto; the record's by default.")
def render(record: Path, to: str, out: Path | None, url: str) -> None:
    """Verify RECORD and show it as a page, a document or findings for other tools.

    Exit status 0 whatever the verdict is, 2 if the record does not hold.
    """
    from verifiable_dp._files import write_bytes
    from verifiable_dp._validate import InputError
    from verifiable_dp.render import renderings

    _check_writable(out)
    if to == "pdf" and out is None:
        raise InputError("out must be given: PDF is not for terminals")
    content = renderings.render(record, to, url=url)
    if out is None:
        click.echo(content, nl=False)
        return
    write_bytes(out, content)
    click.echo(f"written: {out}")


@main.command()
@click.argument("old", type=_FILE)
@click.argument("new", type=_FILE)
@click.option("--json", "json_path", type=_PATH, help="Write the changes here.")
@click.option("--without", multiple=True, metavar="PATTERN", help="Files or folders that are not compared.")
def diff(old: Path, new: Path, json_path: Path | None, without: tuple[str, ...]) -> None:
    """Verify the records OLD and NEW and say what changed: verdicts, claims, checks, mutants, numbers.

    Exit status: 0 same or better, 1 worse, 2 a record does not hold, 3 the two cannot be compared: they are
    of different targets, or their claims are of different kinds.

    Of two folders it says for every file whether it is the same but for what names the run. Exit status: 0 if
    all are, 1 if anything else differs, also in a single byte.
    """
    import json

    from verifiable_dp._files import write_text

    _check_writable(json_path)
    found = _difference(old, new, without)
    if json_path is not None:
        write_text(json_path, json.dumps(found.as_dict(), indent=1, ensure_ascii=False) + "\n")
    for line in found.lines():
        click.echo(line)
    sys.exit(DIFF_EXIT[found.outcome])


def _difference(old: Path, new: Path, without: tuple[str, ...]) -> Any:
    """Of two records, or of two folders."""
    from verifiable_dp._validate import InputError
    from verifiable_dp.record.verify import verify as check
    from verifiable_dp.render import diff as records
    from verifiable_dp.render import folders

    if old.is_dir() and new.is_dir():
        return folders.compare(old, new, without=without)
    if old.is_dir() or new.is_dir():
        other = new if old.is_dir() else old
        raise InputError(f"old and new must be two records or two folders; {str(other)!r} is no folder")
    if without:
        raise InputError("without works only with two folders")
    held = []
    for path in (old, new):
        try:
            held.append(check(path).record)
        except InputError as error:
            raise InputError(f"{str(path)!r} does not hold: {error}") from None
    return records.compare(*held)


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--out", type=_PATH, help="Of the page (FOLDER/index.html).")
def portfolio(folder: Path, out: Path | None) -> None:
    """Verify every record below FOLDER and write one page over all, with filters.

    Exit status 2 if a record does not hold: the page names it, with the reason.
    """
    from verifiable_dp.render.portfolio import write

    _check_writable(out)
    page, found = write(folder, out)
    for path, why in found.broken.items():
        click.echo(f"does not hold: {path}: {why}", err=True)
    click.echo(f"written: {page} ({len(found.records)} records)")
    sys.exit(2 if found.broken else 0)


@dataclass(frozen=True)
class _DataFile:
    """How a data file that is no record is verified, and run again: what of it must come out as it is."""

    what: str
    verify: Callable[[Path], dict[str, Any]]
    again: Callable[[Any, int, Callable[[str], None]], Any]
    part: str
    items: str = "rows"
    numbers: str = "count"


def _data_file(whole: Any) -> _DataFile | None:
    """The kind of a data file; None for the record of an audit."""
    from verifiable_dp.render.errata import ERRATA_VERSION, verify_errata
    from verifiable_dp.render.mutation import MUTANTS_VERSION, verify_mutants
    from verifiable_dp.render.study import STUDY_VERSION, verify_study

    kinds = {
        ERRATA_VERSION: _DataFile("errata", verify_errata, _errata_again, "errata"),
        MUTANTS_VERSION: _DataFile("mutants", verify_mutants, _mutants_again, "mutants"),
        STUDY_VERSION: _DataFile("study", verify_study, _study_again, "statements", "statements", "number"),
    }
    return kinds.get(str(whole.get("schema_version")))


def _errata_again(whole: Any, workers: int, progress: Callable[[str], None]) -> Any:
    from verifiable_dp import campaign

    progress("errata")
    return campaign.errata([row["name"] for row in whole["errata"]], seed=whole["seed"], workers=workers)


def _mutants_again(whole: Any, workers: int, progress: Callable[[str], None]) -> Any:
    from verifiable_dp import campaign

    names = list(dict.fromkeys(row["algorithm"] for row in whole["mutants"]))
    asked = {"budget": whole["budget"], "seed": whole["seed"]}
    return campaign.mutants(names, **asked, workers=workers, progress=progress)


def _study_again(whole: Any, workers: int, progress: Callable[[str], None]) -> Any:
    import tempfile

    from verifiable_dp import reproduction

    asked = {"scale": whole["scale"], "seed": whole["seed"]}
    with tempfile.TemporaryDirectory() as folder:
        return reproduction.reproduce(whole["study"], out=folder, **asked, workers=workers, progress=progress)


def _verify_data_file(path: Path, kind: _DataFile, rerun: bool, workers: int, scheduler: str | None) -> str:
    whole, said = kind.verify(path), ""
    if rerun:
        from verifiable_dp._validate import InputError
        from verifiable_dp.record.verify import first_difference

        with _progress(scheduler) as progress:
            again = kind.again(whole, workers, progress)
        difference = first_difference(whole[kind.part], again[kind.part], kind.part)
        if difference:
            raise InputError(f"{kind.what}: a re-run gives something else: {difference}")
        said = f"; run again, every {kind.numbers} is the same"
    return f"{kind.what}: digest holds, {len(whole[kind.part])} {kind.items} judged again{said}"


@main.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--workers", type=int, default=1, show_default=True)
@_scheduler
@_checkpoint
@click.option("--json", "json_path", type=_PATH, help="Write the rows here.")
def errata(
    names: tuple[str, ...],
    seed: int,
    workers: int,
    scheduler: str | None,
    checkpoint: Path | None,
    json_path: Path | None,
) -> None:
    """Show that statements of the papers fail as printed and hold as corrected; all if no NAME is given.

    Exit status 1 if the evidence does not confirm one of them.
    """
    from verifiable_dp import campaign
    from verifiable_dp.record import words
    from verifiable_dp.render.errata import line

    _check_writable(json_path)
    with _progress(scheduler) as progress:
        progress("errata")
        whole = campaign.errata(names, seed=seed, workers=workers, steps=checkpoint, progress=progress)
    for row in whole["errata"]:
        click.echo(line(row))
        if names:
            click.echo(f"  printed: {row['printed']}")
            for check in row["checks_of_printed"]:
                click.echo(f"    {words.line(check)}")
            click.echo(f"  right: {row['right']}")
            for check in row["checks_of_right"]:
                click.echo(f"    {words.line(check)}")
    if json_path is not None:
        from verifiable_dp._files import write_text
        from verifiable_dp.record.sealing import text

        write_text(json_path, text(whole))
    _forget(checkpoint)
    sys.exit(1 if any(row["outcome"] == "not_confirmed" for row in whole["errata"]) else 0)


@main.command()
@click.option("--only", multiple=True, metavar="NAME", help="Only mutants of these algorithms.")
@click.option(
    "--budget", type=click.Choice(["quick", "standard", "thorough"]), default="quick", show_default=True
)
@_common
@_scheduler
@_checkpoint
@click.option("--json", "json_path", type=_PATH, help="Write the kill table here.")
@click.option("--html", "html_path", type=_PATH, help="Write it as a self-contained page here.")
def mutants(
    only: tuple[str, ...],
    budget: str,
    seed: int,
    workers: int,
    scheduler: str | None,
    checkpoint: Path | None,
    json_path: Path | None,
    html_path: Path | None,
) -> None:
    """Break the private algorithms in many ways and audit each mutant: the kill table.

    Exit status 1 if a mutant survives whose true epsilon is at least 1.25 times the claim.
    """
    from verifiable_dp import campaign
    from verifiable_dp.render.mutation import line, render, summary_lines

    _check_writable(json_path, html_path)
    with _progress(scheduler) as progress:
        whole = campaign.mutants(
            only, budget=budget, seed=seed, workers=workers, steps=checkpoint, progress=progress
        )
    for row in whole["mutants"]:
        click.echo(line(row))
    for text_line in summary_lines(whole):
        click.echo(text_line)
    from verifiable_dp._files import write_text
    from verifiable_dp.record.sealing import text

    if json_path is not None:
        write_text(json_path, text(whole))
    if html_path is not None:
        write_text(html_path, render(whole))
    _forget(checkpoint)
    sys.exit(1 if whole["summary"]["clear_missed"] else 0)


@main.command()
@click.option(
    "--budget",
    metavar="quick|standard|thorough|SECONDS",
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
        from verifiable_dp._files import write_text

        whole = controls.record(outcomes, budget=budget, seed=seed, started=started)
        write_text(json_path, json.dumps(whole, indent=1, allow_nan=False) + "\n")
    sys.exit(0 if all(o.right for o in outcomes) else 1)


if __name__ == "__main__":
    main()
