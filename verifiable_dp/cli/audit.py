"""Commands that test a target: audit, regret, selftest."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verifiable_dp.cli.listed import audit_listed
from verifiable_dp.cli.shell import (
    PATH,
    Outputs,
    cage_option,
    check_outputs,
    checkpoint_option,
    declarations_option,
    falls_short,
    forget,
    in_process_option,
    main,
    output_options,
    progressing,
    request_options,
    require_option,
    say,
    scheduler_option,
    seeded,
    write_request,
)
from verifiable_dp.core.validate import Function, Given, InputError, JsonDict

if TYPE_CHECKING:
    from verifiable_dp.targets.process import Exec


def _target(target: str | None, command: str | None, timeout: float | None) -> str | Exec:
    if target is not None and command is None:
        if timeout is not None:
            raise InputError("exec_timeout needs --exec COMMAND")
        return target
    if command is None or target is not None:
        raise InputError("target must be given, or --exec COMMAND, and not both")
    from verifiable_dp.targets.process import Exec

    return Exec(command) if timeout is None else Exec(command, timeout)


def _pairs(name: str, items: tuple[str, ...]) -> JsonDict:
    """NAME=VALUE options as a mapping; numbers become numbers, true and false truth values."""
    found: JsonDict = {}
    for item in items:
        key, sign, value = item.partition("=")
        if not (sign and key and value):
            raise InputError(f"{name} must be NAME=VALUE, got {item!r}")
        found[key] = _plain_value(value)
    return found


def _plain_value(text: str) -> float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def _scaling(items: tuple[str, ...]) -> JsonDict | None:
    """T=0.5, T=log or, with a margin, T=0.5:0.1."""
    found: JsonDict = {}
    for over, claim in _pairs("scaling", items).items():
        rate, colon, margin = str(claim).partition(":")
        found[over] = (_plain_value(rate), _plain_value(margin)) if colon else claim
    return found or None


def _numbers(name: str, text: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise InputError(f"{name} must be numbers such as .9,.5,.1, got {text!r}") from None


def _means(items: tuple[str, ...]) -> list[list[float]] | None:
    return [_numbers("means", item) for item in items] or None


def _values(items: tuple[str, ...]) -> dict[str, list[float]] | None:
    return {over: _numbers("values", str(xs)) for over, xs in _pairs("values", items).items()} or None


def _parameters(items: tuple[str, ...]) -> JsonDict | None:
    return _pairs("set", items) or None


def _several(
    *names: str, parse: Function[object], **more: Given
) -> Callable[[Function[None]], Function[None]]:
    """An option that may be given several times, and what is made of all of them."""
    return click.option(*names, multiple=True, callback=lambda _, option, typed: parse(typed), **more)


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
@_several("--set", "parameters", parse=_parameters, metavar="NAME=VALUE", help="A parameter of the target.")
@click.option(
    "--contexts",
    metavar="D|KxD",
    help="Your own code takes contexts: their dimension D, or KxD with one for each arm.",
)
@click.option("--context-norm", type=float, help="Largest Euclidean norm of a context (1).")
@click.option(
    "--model",
    type=click.Choice(["central", "joint", "local"]),
    help="All actions are seen (central), every noisy report of a reward (local), or with contexts the "
    "actions of all others (joint).",
)
@click.option(
    "--protects",
    type=click.Choice(["context", "reward"]),
    help="With contexts: context and reward of a user (context), or the reward alone.",
)
@click.option(
    "--reward",
    metavar="FILE.PY:NAME",
    help="Function of your own code that pays a reward; the audit pays in its place.",
)
@click.option("--epsilon-parameter", metavar="NAME", help="Parameter of your own code that is epsilon.")
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
@click.option(
    "--adjacency",
    type=click.Choice(["replace", "add-remove", "zero-out"]),
    help="What neighbouring inputs of your own code are.",
)
@click.option("--group", type=int, metavar="K", help="Audit what the claim implies for K rewards.")
@click.option("--rho", type=float, help="The promise of a mechanism: rho-zCDP, in place of epsilon.")
@click.option("--mu", type=float, help="The promise of a mechanism: mu-GDP, in place of epsilon.")
@click.option("--curve", is_flag=True, help="Bound delta at many epsilons, epsilon at many deltas.")
@click.option(
    "--alpha", type=float, default=1e-6, show_default=True, help="Family-wise level of a refutation."
)
@click.option(
    "--detect",
    type=float,
    default=2.0,
    show_default=True,
    metavar="FACTOR",
    help="Without an upper bound, call a claim not refuted only if FACTOR times it would have been detected.",
)
@require_option
@click.option("--write-baseline", is_flag=True, help="Without TARGET: make all findings known, see settings.")
@request_options
@declarations_option
@checkpoint_option
@in_process_option
@cage_option
@seeded
@scheduler_option
@output_options
@click.pass_context
def audit(
    context: click.Context,
    /,
    target: str | None,
    command: str | None,
    exec_timeout: float | None,
    scheduler: str | None,
    outputs: Outputs,
    require: str,
    write_baseline: bool,
    **asked: Given,
) -> None:
    """Audit TARGET: a catalogue name, file.py:callable or package.module:callable, or --exec COMMAND.

    Without a TARGET, audit those that [tool.verifiable-dp] in pyproject.toml lists.
    """
    from verifiable_dp import api

    if target is None and command is None and asked["ask"] is None:
        audit_listed(context, {**context.params})
    if write_baseline:
        raise InputError("write_baseline works only without a TARGET, with those in pyproject.toml")
    audited, ask = _target(target, command, exec_timeout), asked.pop("ask")
    if ask is not None:
        runs = ("checkpoint", "request", "in_process", "cage")
        write_request(api.ask(audited, **{k: v for k, v in asked.items() if k not in runs}), ask)
        return
    outputs.check()
    with progressing(scheduler) as progress:
        report = api.audit(audited, **asked, progress=progress)
    outputs.conclude(report)
    forget(asked["checkpoint"])
    sys.exit(report.decision.exit_code or 3 * falls_short(report, require))


@main.command()
@click.argument("target")
@click.option("--bound", help="A number or file.py:function of (gaps, horizon, ...).")
@_several(
    "--scaling", parse=_scaling, metavar="Q=RATE", help="T=log, T=sqrt, epsilon=-1, K=1:0.1 (with a margin)."
)
@click.option("--better-than", metavar="TARGET", help="Claim less regret than this, see --factor.")
@click.option("--factor", type=float, default=1.0, show_default=True, help="Of --better-than.")
@_several(
    "--rival-set",
    "rival_parameters",
    parse=_parameters,
    metavar="NAME=VALUE",
    help="A parameter of --better-than that is to differ from TARGET's.",
)
@click.option("--arms", "n_arms", type=int, help="K; needed for your own code.")
@click.option("--horizon", type=int, help="T; needed for your own code.")
@_several("--set", "parameters", parse=_parameters, metavar="NAME=VALUE", help="A parameter of TARGET.")
@_several("--means", "environments", parse=_means, metavar="M,M,...", help="An instance of Bernoulli arms.")
@click.option("--contexts", metavar="D|KxD", help="Your own code takes contexts of this form.")
@click.option(
    "--population",
    type=click.Choice(["linear", "logistic", "types", "misleading"]),
    multiple=True,
    help="With contexts: the users it plays for (linear).",
)
@_several("--values", parse=_values, metavar="Q=X,X,...", help="Where a rate is measured.")
@click.option("--gap", type=float, help="Of the instance of rates.")
@click.option("--runs", type=int, help="Of every point; by --budget if not given.")
@click.option("--beta", type=float, help="Each run may exceed the bound with this probability.")
@click.option(
    "--budget", type=click.Choice(["quick", "standard", "thorough"]), default="quick", show_default=True
)
@request_options
@in_process_option
@cage_option
@seeded
@scheduler_option
@output_options
def regret(
    target: str,
    population: tuple[str, ...],
    scheduler: str | None,
    outputs: Outputs,
    ask: Path | None,
    **asked: Given,
) -> None:
    """Check the regret of TARGET: a catalogue name, file.py:name or package.module:name.

    Without --bound, --scaling and --better-than the theorems of a catalogue algorithm are checked. Exit
    status: 0 consistent, 1 contradicted, 3 vacuous or inconclusive.
    """
    from verifiable_dp import api

    outputs.check()
    if population:
        asked["environments"] = [*(asked["environments"] or ()), *population]
    if ask is not None:
        runs = ("workers", "request", "in_process", "cage")
        write_request(api.ask_regret(target, **{k: v for k, v in asked.items() if k not in runs}), ask)
        return
    with progressing(scheduler) as progress:
        report = api.check_regret(target, **asked, progress=progress)
    outputs.conclude(report)
    sys.exit(report.decision.exit_code)


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
def selftest(budget: str, seed: int, only: tuple[str, ...], json_path: Path | None) -> None:
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
        say(line)
    if json_path is not None:
        from verifiable_dp.core.files import write_text

        whole = controls.record(outcomes, budget=budget, seed=seed, started=started)
        write_text(json_path, json.dumps(whole, indent=1, allow_nan=False) + "\n")
    sys.exit(0 if all(o.right for o in outcomes) else 1)
