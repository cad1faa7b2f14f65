"""The command that says what an audit would make of a target."""

from __future__ import annotations

import sys

import click

from verifiable_dp.cli.audit import _pairs
from verifiable_dp.cli.shell import YOURS, main, say
from verifiable_dp.core.validate import Given


@main.command("inspect", section=YOURS, examples=("inspect mine.py:play --arms 2 --horizon 40",))
@click.argument("target")
@click.option("--epsilon", type=float, default=1.0, show_default=True, help="Claimed epsilon.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="Claimed delta.")
@click.option("--arms", "n_arms", type=int, default=2, show_default=True, help="Number of arms.")
@click.option("--horizon", type=int, default=60, show_default=True, help="Number of rounds.")
@click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", help="Set a parameter of TARGET.")
@click.option(
    "--reward", default="", metavar="FILE.PY:NAME", help="Function in your code that returns a reward."
)
@click.option(
    "--contexts",
    metavar="D|KxD",
    help="Dimension of the contexts that TARGET takes: D, or KxD for one context per arm.",
)
@click.option(
    "--play",
    is_flag=True,
    help="Also run TARGET to find the shortest horizon at which rewards change actions, and why there is no "
    "upper bound.",
)
def inspect_(target: str, n_arms: int, horizon: int, contexts: str | None, play: bool, **told: Given) -> None:
    """Show how an audit would call TARGET, and what is missing.

    Imports your own code and, if TARGET is a class, creates one instance. Runs TARGET only with --play. Exit
    status: 0 if TARGET can be audited, 2 if something is missing.
    """
    from verifiable_dp.core.contexts import Contexts, shape_of
    from verifiable_dp.core.validate import InputError, arms_and_horizon
    from verifiable_dp.targets import roles
    from verifiable_dp.targets.inspection import inspect_target
    from verifiable_dp.targets.source import load

    if ":" not in target:
        raise InputError(
            f"target must be file.py:name or package.module:name of your own code, got {target!r}; "
            "`list` shows the catalogue"
        )
    arms_and_horizon(n_arms, horizon)
    thing = load(target)
    if not callable(thing):
        raise InputError(f"target: {target} is not callable")
    form = None if contexts is None else Contexts(n_arms, shape_of(contexts))
    parameters = _pairs("set", told.pop("parameters"))
    given = roles.GivenRole(parameters=parameters, contexts=form, **told)  # epsilon, delta, reward
    found = inspect_target(thing, given, n_arms, horizon, play=play)
    for line in found.lines():
        say(line)
    sys.exit(2 if found.add else 0)
