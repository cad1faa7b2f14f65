"""Commands that test a target: audit, regret, selftest."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from verifiable_dp.cli.shell import (
    PATH,
    check_outputs,
    checkpoint_option,
    declarations_option,
    forget,
    in_process_option,
    main,
    outputs,
    progressing,
    scheduler_option,
    seeded,
    write_report,
)

EXIT = {"not_refuted": 0, "refuted": 1, "inconclusive": 3}
REGRET_EXIT = {"consistent": 0, "contradicted": 1, "vacuous": 3, "inconclusive": 3}


def _target(target: str | None, command: str | None, timeout: float | None) -> Any:
    from verifiable_dp.core.validate import InputError

    if (target is None) == (command is None):
        raise InputError("target must be given, or --exec COMMAND, and not both")
    if command is None:
        if timeout is not None:
            raise InputError("exec_timeout needs --exec COMMAND")
        return target
    from verifiable_dp.targets.process import Exec

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
@declarations_option
@checkpoint_option
@in_process_option
@seeded
@scheduler_option
@outputs
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
    in_process: bool,
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
    check_outputs(json_path, html_path, sarif_path)
    with progressing(scheduler) as progress:
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
            in_process=in_process,
            progress=progress,
        )
    _conclude(report, json_path, html_path, sarif_path)
    forget(checkpoint)
    sys.exit(EXIT[report.verdict])


def _conclude(report: Any, json_path: Path | None, html_path: Path | None, sarif_path: Path | None) -> None:
    """Write a report and show it, if its record holds as it is read again."""
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.record import verify

    write_report(report, json_path, html_path, sarif_path)
    if json_path is None:
        verify.examine(report.record)
    elif verify.verify(json_path).record["digest"] != report.record["digest"]:
        raise InputError(f"json: {str(json_path)!r} no longer holds the record that was written to it")
    click.echo(report.summary(json_path, again=None if json_path else click.get_current_context().obj))


def _pairs(name: str, items: tuple[str, ...]) -> dict[str, Any]:
    """NAME=VALUE options as a mapping; numbers become numbers, true and false truth values."""
    from verifiable_dp.core.validate import InputError

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
    from verifiable_dp.core.validate import InputError

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
@in_process_option
@seeded
@scheduler_option
@outputs
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
    in_process: bool,
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

    check_outputs(json_path, html_path, sarif_path)
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
        "in_process": in_process,
    }
    with progressing(scheduler) as progress:
        report = api.check_regret(
            target, **claimed, budget=budget, seed=seed, workers=workers, progress=progress
        )
    _conclude(report, json_path, html_path, sarif_path)
    sys.exit(REGRET_EXIT[str(report.regret_verdict)])


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
@click.option("--json", "json_path", type=PATH, help="Write the outcomes here.")
def selftest(budget: Any, seed: int, only: tuple[str, ...], json_path: Path | None) -> None:
    """Audit mechanisms whose true epsilon is known. Exit status 0 if all come out as their truth says.

    Beside each bound stands that of the best event, which the known law gives at as many draws.
    """
    import json

    from verifiable_dp import controls

    check_outputs(json_path)
    with progressing() as progress:
        started = time.time()
        outcomes = controls.selftest(budget=budget, seed=seed, only=only, progress=progress)
    for line in controls.table(outcomes):
        click.echo(line)
    if json_path is not None:
        from verifiable_dp.core.files import write_text

        whole = controls.record(outcomes, budget=budget, seed=seed, started=started)
        write_text(json_path, json.dumps(whole, indent=1, allow_nan=False) + "\n")
    sys.exit(0 if all(o.right for o in outcomes) else 1)
