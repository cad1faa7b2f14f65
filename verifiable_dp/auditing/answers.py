"""Whether a draft answers what was asked: code of a target, which ran where it was made, asks nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from verifiable_dp.auditing import bandits, mechanisms
from verifiable_dp.auditing.bounds import GivenBound
from verifiable_dp.auditing.plans import ROWS
from verifiable_dp.auditing.regret import Asked
from verifiable_dp.auditing.request import AuditRequest, Inputs, promised
from verifiable_dp.core.validate import Given, InputError, Json, JsonValue
from verifiable_dp.evidence.blackbox.statistics import DETECT

Row = tuple[str, JsonValue, JsonValue]  # what, as it was asked, as it was answered


def of_audit(draft: Json, name: str, asked: AuditRequest, parameters: Json) -> None:
    """Compare the draft of an audit of the target `name` with what was asked.

    `parameters` are those that a catalogue algorithm was given.

    Raises
    ------
    InputError
        If it answers anything else: the first difference.
    """
    plan, settings = draft["plan"], asked.settings
    rows: list[Row] = [
        ("target", name, draft["target"]["name"]),
        ("seed", settings.seed, draft["seed"]),
        ("budget", str(settings.budget), plan["budget"]),
        ("alpha", settings.alpha, plan["alpha"]),
        ("confidence", settings.confidence, plan["confidence"]),
        ("pairs", asked.inputs.pairs is not None, plan["given_pairs"]),
        ("detect", settings.detect, plan.get("detect", DETECT)),
        ("sequential", settings.sequential, plan.get("sequential", False)),
        ("group", asked.promise.group, plan.get("group")),
    ]
    own = _of_algorithm if draft["target"]["kind"] == "algorithm" else _of_code
    _compare([*rows, *own(draft, asked, parameters)])


def of_regret(draft: Json, name: str, asked: Asked, budget: str, seed: int) -> None:
    """As `of_audit`, of a check of claims about regret."""
    plan = draft["plan"]
    claimed = plan.get("regret")
    rows: list[Row] = [
        ("target", name, draft["target"]["name"]),
        ("seed", seed, draft["seed"]),
        ("budget", budget, plan["budget"]),
        ("claims of your own", asked.own, claimed is not None),
    ]
    if claimed is not None:
        bound = claimed["bound"] or {}
        rows += [
            ("bound", None if asked.bound is None else _called(asked.bound), bound.get("name")),
            ("scaling", sorted(asked.scaling or ()), sorted(rate["over"] for rate in claimed["rates"])),
            ("better_than", asked.better_than is not None, claimed["rival"] is not None),
            ("factor", float(asked.factor), claimed["factor"]),
            ("beta", asked.beta, claimed["beta"]),
        ]
        given = {name: getattr(asked, name) for name in ("runs", "gap")}
        rows += [(name, value, claimed[name]) for name, value in given.items() if value is not None]
        found = draft["target"]["parameters"]
        rows += _given(found, {"n_arms": asked.n_arms, "horizon": asked.horizon, **(asked.parameters or {})})
    _compare(rows)


def _called(bound: Given) -> str:
    """The name of a bound; what it names is not imported here."""
    return bound if isinstance(bound, str) and ":" in bound else GivenBound.of(bound).name


def _compare(rows: list[Row]) -> None:
    for what, wanted, found in rows:
        if wanted != found:
            raise InputError(
                f"target: another question was answered: {what} {found!r}, asked was {wanted!r}; "
                "nothing is concluded"
            )


def _of_code(draft: Json, asked: AuditRequest, parameters: Json) -> Iterator[Row]:
    """Of a user's code, whose claim is the one that is asked."""
    plan, target, promise, inputs = draft["plan"], draft["target"], asked.promise, asked.inputs
    releases = target["kind"].startswith("release")
    claim = mechanisms.claim_of(promise) if releases else bandits.claim_of(promise, inputs)
    for name, value in claim.as_dict().items():
        yield f"claim's {name}", value, draft["claim"].get(name)
    yield "claim", len(claim.as_dict()), len(draft["claim"])
    curve = asked.settings.curve or (releases and promise.curved)
    yield "timeout", asked.settings.timeout, plan["timeout"]
    yield "curve", curve, plan.get("curve", False)
    yield "numerics", asked.settings.numerics, plan.get("numerics", False)
    runs, most = plan["sizes"].get("runs"), asked.settings.sizes.runs
    if runs is not None:
        rows = [count for kind, count in ROWS.items() if kind.startswith("release") == releases]
        fits = any(runs == most * row or (plan.get("capped") and runs < most * row) for row in rows)
        yield "runs", fits, True
    found = Inputs.read({k: v for k, v in target["parameters"].items() if k not in ("exec", "exec_timeout")})
    for name in (one.name for one in fields(Inputs)):
        wanted, answered = getattr(inputs, name), getattr(found, name)
        if name == "bounds":
            wanted, answered = [*map(float, wanted)], [*map(float, answered)]
        if name == "pairs" or (releases and name in ("n_arms", "horizon")):
            continue
        yield name, wanted, answered


def _of_algorithm(draft: Json, asked: AuditRequest, parameters: Json) -> Iterator[Row]:
    """Of an algorithm, which brings the part of the claim that is not asked."""
    promise, found = asked.promise, promised(draft["plan"], draft["claim"])
    for name in ("epsilon", "delta", "observe"):
        wanted = getattr(promise, name)
        answered = draft["claim"]["observe"] if name == "observe" else getattr(found, name)
        if wanted is not None:
            yield name, wanted, answered
    if promise.model is not None:
        yield "model", promise.model, found.model
    yield "mutants", asked.settings.mutants, draft["plan"]["mutants"]
    yield from _given(draft["target"]["parameters"], parameters)


def _given(found: Json, wanted: Json) -> list[Row]:
    """Parameters that were given, by name."""
    return [(name, value, found.get(name)) for name, value in wanted.items() if value is not None]
