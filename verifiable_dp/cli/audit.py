"""Commands that test a target: audit, regret, selftest."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verifiable_dp.cli.listed import audit_listed
from verifiable_dp.cli.shell import (
    CATALOGUE,
    PATH,
    YOURS,
    Option,
    Outputs,
    cage_option,
    check_outputs,
    checkpoint_option,
    declarations_option,
    falls_short,
    forget,
    grouped,
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
from verifiable_dp.record.provenance import begun

if TYPE_CHECKING:
    from verifiable_dp.record.requests import RequestEntry
    from verifiable_dp.targets.process import Exec


def _target(target: str | None, command: str | None, timeout: float | None) -> str | Exec:
    if target is not None and command is None:
        if timeout is not None:
            raise InputError("--exec-timeout needs --exec COMMAND")
        return target
    if command is None or target is not None:
        raise InputError("target: give TARGET or --exec COMMAND, not both")
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


_CODE = "Your code"
_code, _claim, _test = grouped(_CODE), grouped("The claim"), grouped("The test")


@main.command(
    section=YOURS,
    examples=(
        "audit mine.py:play --epsilon 1 --arms 2 --horizon 40",
        "audit mine.py:noisy_sum --epsilon 1 --html page.html",
        "audit NAME --budget smoke",
        "audit",
    ),
)
@click.argument("target", required=False)
@_code("--exec", "command", metavar="COMMAND", help="Audit a program that reads and writes JSON lines.")
@_code(
    "--exec-timeout",
    type=float,
    metavar="SECONDS",
    help="Time limit for each answer from the program (default 60).",
)
@_code("--arms", "n_arms", type=int, metavar="K", help="Number of arms (required for your own bandit).")
@_code("--horizon", type=int, metavar="T", help="Number of rounds (required for your own bandit).")
@_several(
    "--set",
    "parameters",
    parse=_parameters,
    cls=Option,
    heading=_CODE,
    metavar="NAME=VALUE",
    help="Set a parameter of TARGET.",
)
@_code("--bounds", type=float, nargs=2, metavar="LO HI", help="Range of the rewards or data (default 0 1).")
@_code(
    "--contexts",
    metavar="D|KxD",
    help="Dimension of the contexts that your bandit takes: D, or KxD for one context per arm.",
)
@_code("--context-norm", type=float, help="Largest Euclidean norm of a context (default 1).")
@_code(
    "--reward",
    metavar="FILE.PY:NAME",
    help="Function in your code that returns a reward; the audit replaces it.",
)
@_code("--epsilon-parameter", metavar="NAME", help="Parameter of your code that sets epsilon.")
@_claim("--epsilon", type=float, help="Claimed epsilon (required for your own code).")
@_claim(
    "--delta",
    type=float,
    help="Claimed delta (default 0; catalogue algorithms use their own).",
)
@_claim("--rho", type=float, help="Claim rho-zCDP instead of epsilon (mechanisms only).")
@_claim("--mu", type=float, help="Claim mu-GDP instead of epsilon (mechanisms only).")
@_claim(
    "--observe",
    type=click.Choice(["actions", "releases", "reports", "shuffled"]),
    help="What the adversary sees.",
)
@_claim(
    "--adjacency",
    type=click.Choice(["replace", "add-remove", "zero-out"]),
    help="How neighbouring inputs to your own code differ.",
)
@_claim(
    "--model",
    type=click.Choice(["central", "joint", "local"]),
    help="Trust model: the adversary sees all actions (central), every noisy report (local) or, with "
    "contexts, all other users' actions (joint).",
)
@_claim(
    "--protects",
    type=click.Choice(["context", "reward"]),
    help="With contexts: protect a user's context and reward (context), or only the reward (reward).",
)
@_claim("--group", type=int, metavar="K", help="Audit what the claim implies for a group of K rewards.")
@_test(
    "--budget",
    metavar="smoke|quick|standard|thorough|SECONDS",
    default="quick",
    show_default=True,
    help="Number of runs of your own code: 4,000 (smoke), 80,000 (quick), 720,000 (standard), 4.8 million "
    "(thorough), or 4,000 per second if you give SECONDS, which is then also the time limit.",
)
@_test("--runs", type=int, metavar="N", help="Total number of runs of your own code; overrides --budget.")
@_test(
    "--timeout", type=float, metavar="SECONDS", help="Time limit for one run of your own code (default 60)."
)
@_test("--sequential", is_flag=True, help="Stop as soon as the evidence refutes the claim.")
@_test("--curve", is_flag=True, help="Also bound delta at many epsilons, and epsilon at many deltas.")
@_test("--numerics", is_flag=True, help="Also audit the floating-point output of a mechanism's sampler.")
@_test(
    "--own-neighbours",
    is_flag=True,
    help="Test on the neighbouring data that the mechanism's own code supplies.",
)
@_test(
    "--alpha",
    type=float,
    default=1e-6,
    show_default=True,
    help="Maximum probability that the whole audit rejects a true claim.",
)
@_test(
    "--detect",
    type=float,
    default=2.0,
    show_default=True,
    metavar="FACTOR",
    help="Without a proved upper bound, accept a claim only if the tests would have caught a loss of FACTOR "
    "times its epsilon at the tested event.",
)
@require_option
@_test("--write-baseline", is_flag=True, help="Without a TARGET: write all warnings to the baseline file.")
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
    **asked: Given,
) -> None:
    """Audit the privacy claim of TARGET.

    TARGET is file.py:name, package.module:name or a catalogue name; for a program, give --exec COMMAND
    instead. With neither, audits the targets that pyproject.toml lists under [tool.verifiable-dp].
    """
    from verifiable_dp import api
    from verifiable_dp.core.files import write_text
    from verifiable_dp.record import requests

    if target is None and command is None and asked["ask"] is None:
        audit_listed(context, {**context.params})
    require = asked.pop("require")
    if asked.pop("write_baseline"):
        raise InputError("--write-baseline works only without a TARGET, for the targets in pyproject.toml")
    audited, ask = _target(target, command, exec_timeout), asked.pop("ask")
    question = {k: v for k, v in asked.items() if k not in api.CONDUCT}
    place = asked["request"]

    def wanted() -> RequestEntry:
        return requests.requiring(api.ask(audited, **question), require)

    if ask is not None:
        write_request(wanted(), ask)
        return
    outputs.check()
    if require != requests.REQUIRED[0]:  # the record says so, and what is made of it
        if place is None:
            asked["request"] = wanted()
        elif not os.path.lexists(place):
            write_text(place, wanted().written())
    with progressing(scheduler, outputs.quiet) as progress:
        report = api.audit(audited, **asked, progress=progress)
    outputs.conclude(report)
    forget(asked["checkpoint"])
    short = falls_short(report, require, report.decision.require)
    sys.exit(report.decision.exit_code or 3 * short)


@main.command(
    section=YOURS,
    examples=(
        "regret mine.py:play --arms 2 --horizon 3000 --scaling T=log",
        "regret NAME",
    ),
)
@click.argument("target")
@click.option("--bound", help="Claim that regret is at most this: a number, or file.py:function.")
@_several(
    "--scaling",
    parse=_scaling,
    metavar="Q=RATE",
    help="Claim a growth rate, such as T=log, T=sqrt or, with a margin, K=1:0.1.",
)
@click.option("--better-than", metavar="TARGET", help="Claim less regret than this rival.")
@click.option(
    "--factor",
    type=float,
    default=1.0,
    show_default=True,
    help="Claim that the rival has at least this many times the regret of TARGET.",
)
@_several(
    "--rival-set",
    "rival_parameters",
    parse=_parameters,
    metavar="NAME=VALUE",
    help="Set a parameter of the rival to a value other than TARGET's.",
)
@click.option("--arms", "n_arms", type=int, help="Number of arms (required for your own code).")
@click.option("--horizon", type=int, help="Number of rounds (required for your own code).")
@_several("--set", "parameters", parse=_parameters, metavar="NAME=VALUE", help="Set a parameter of TARGET.")
@_several(
    "--means",
    "environments",
    parse=_means,
    metavar="M,M,...",
    help="Measure on Bernoulli arms with these means.",
)
@click.option(
    "--contexts",
    metavar="D|KxD",
    help="Dimension of the contexts that your own code takes: D, or KxD for one context per arm.",
)
@click.option(
    "--population",
    type=click.Choice(["linear", "logistic", "types", "misleading"]),
    multiple=True,
    help="With contexts: how users and their rewards are drawn (default: linear).",
)
@_several("--values", parse=_values, metavar="Q=X,X,...", help="Measure the rate at these values of Q.")
@click.option("--gap", type=float, help="Gap between the best arm and the others when a rate is measured.")
@click.option("--runs", type=int, help="Runs at each point (default: set by --budget).")
@click.option("--beta", type=float, help="Maximum probability that a run exceeds --bound.")
@click.option(
    "--budget",
    type=click.Choice(["quick", "standard", "thorough"]),
    default="quick",
    show_default=True,
    help="How many runs to make.",
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
    """Check claims about the regret of TARGET.

    TARGET is file.py:name, package.module:name or a catalogue name. For a catalogue algorithm, checks the
    theorems in its papers unless you give --bound, --scaling or --better-than. Exit status: 0 consistent, 1
    contradicted, 3 vacuous or inconclusive.
    """
    from verifiable_dp import api

    outputs.check()
    if population:
        asked["environments"] = [*(asked["environments"] or ()), *population]
    if ask is not None:
        runs = ("workers", "request", "in_process", "cage")
        write_request(api.ask_regret(target, **{k: v for k, v in asked.items() if k not in runs}), ask)
        return
    with progressing(scheduler, outputs.quiet) as progress:
        report = api.check_regret(target, **asked, progress=progress)
    outputs.conclude(report)
    sys.exit(report.decision.exit_code)


@main.command(section=CATALOGUE)
@click.option(
    "--budget",
    metavar="quick|standard|thorough|MILLIONS",
    default="quick",
    show_default=True,
    help="Test draws per control: 2 million (quick), 10 million (standard), 50 million (thorough), or "
    "MILLIONS.",
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--only", multiple=True, metavar="NAME", help="Run only these controls.")
@click.option("--json", "json_path", type=PATH, help="Write the results to this file.")
def selftest(budget: str, seed: int, only: tuple[str, ...], json_path: Path | None) -> None:
    """Audit mechanisms whose true epsilon is known.

    Shows each bound next to the best bound possible with the same number of draws. Exit status: 0 if every
    verdict is right, else 1.
    """
    import json

    from verifiable_dp import controls

    check_outputs(json_path)
    with progressing() as progress:
        started = begun()
        outcomes = controls.selftest(budget=budget, seed=seed, only=only, progress=progress)
    for line in controls.table(outcomes):
        say(line)
    if json_path is not None:
        from verifiable_dp.core.files import write_text

        whole = controls.record(outcomes, budget=budget, seed=seed, started=started)
        write_text(json_path, json.dumps(whole, indent=1, allow_nan=False) + "\n")
    sys.exit(0 if all(o.right for o in outcomes) else 1)
