"""Tracing as the first thing that an audit of a user's bandit tries."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any

from verifiable_dp.auditing.targets import Source, guarded
from verifiable_dp.claims import PrivacyClaim
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.tracing.audit import Found, Subject, check, examine
from verifiable_dp.neighbours import TablePair


def trace(
    function: Callable[..., Any],
    name: str,
    claim: PrivacyClaim,
    pairs: Sequence[TablePair],
    *,
    n_arms: int,
    horizon: int,
    bounds: tuple[float, float],
    seed: int,
    examples: int,
) -> tuple[Check, Found] | None:
    """Trace `play(rewards, rng)` on neighbouring tables; None where its source is not Python's.

    Files are written as the target names them, so that the check does not depend on the folder.
    """
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:
        file = None
    if file is None or not isinstance(file, str):
        return None
    subject = Subject(function, n_arms, horizon, bounds, frozenset([file]))
    with guarded():
        found = examine(subject, claim.epsilon, pairs, seed=seed, examples=examples)
    made = check(found, claim.epsilon)
    source = Source.of(function, name)
    shown = json.dumps(made.statistics).replace(json.dumps(file)[1:-1], source.path or file)
    return Check.of(made.name, made.kind, json.loads(shown)), found


def counterexample(found: Check) -> dict[str, Any]:
    """What a check that refutes has found, as a transcript without releases."""
    numbers = found.statistics
    return {
        "check": found.name,
        "pair": numbers["pair"],
        "seed": numbers["seed"],
        "sign": 0,
        "turned": False,
        "cost": "inf",
        "loss": "inf",
        "divergence": "nothing random comes between the rewards and the actions, which differ",
        "releases": [],
    }
