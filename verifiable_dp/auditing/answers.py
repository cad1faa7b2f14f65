"""Whether a draft answers what was asked: code of a target, which ran where it was made, asks nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from verifiable_dp.auditing import asking, bandits, mechanisms
from verifiable_dp.auditing.plans import ROWS
from verifiable_dp.auditing.rates import claim_of
from verifiable_dp.auditing.request import AuditRequest, Inputs, promised
from verifiable_dp.core import paths
from verifiable_dp.core.units import Role
from verifiable_dp.core.validate import InputError, Json, JsonValue
from verifiable_dp.evidence.blackbox.statistics import DETECT
from verifiable_dp.evidence.exclusions import EVERY, Left
from verifiable_dp.targets.source import file_digest

Row = tuple[str, JsonValue, JsonValue]  # what, as it was asked, as it was answered
# What code of a target may answer; all else of a record is made where none of it runs.
_PARTS = {
    *("target", "claim", "plan", "checks", "pairs", "confidence", "power", "counterexamples", "mutants"),
    *("not_covered", "unbounded", "regret", "seed"),
}


def of_request(answer: Json, asked: Json) -> None:
    """Compare an answer, a draft or a record, with a request (`asking`).

    Raises
    ------
    InputError
        If it answers anything else: the first difference.
    """
    try:
        _answers(answer, asked)
    except InputError:
        raise
    except Exception as error:  # values of a stranger, in whatever form
        raise InputError(f"target: its answer cannot be compared with the request: {error!r}"[:200]) from None


def _answers(answer: Json, asked: Json) -> None:
    target = asked["target"]
    kind, name = target["kind"], target["name"]
    if asked["question"] == "audit":
        parameters = target["parameters"] if kind in ("catalogue", "algorithm") else {}
        of_audit(answer, name, asking.question(asked), parameters)
    elif asked["question"] == "regret":
        of_regret(answer, asked)
    else:
        printed = bool(target["parameters"])
        found = answer["target"]["role"] == Role.PRINTED
        plan = [(key, asked["plan"][key], answer["plan"].get(key)) for key in ("budget", "mutants")]
        rows: list[Row] = [("target", name, answer["target"]["name"]), ("printed", printed, found), *plan]
        _compare([*rows, ("seed", asked["seed"], answer["seed"])])
    if kind in ("code", "command", "object"):
        _compare([*_of_strangers(answer, asked)])
    if kind == "catalogue":
        _compare([("of the catalogue", True, answer["target"]["role"] != Role.USER)])
    if "provenance" in answer:  # a record, not a draft
        _compare([("the code of this package", asked["code"], answer["provenance"]["code"])])


def _of_strangers(answer: Json, asked: Json) -> Iterator[Row]:
    """What code of a user may not say of itself."""
    target = answer["target"]
    yield "kind algorithm", False, target["kind"] == "algorithm"
    yield "role", str(Role.USER), target["role"]
    yield "paper", "", target["paper"]
    yield "model", "local" if asked["claim"].get("model") == "local" else "central", target["model"]
    yield "mutants", 0, len(answer["mutants"])
    source, files = target["source"], asked["target"]["files"].values()
    begun = source.get("loads", {}).get(asked["target"]["name"].rpartition(":")[0], source["sha256"])
    yield "the digest of its file", begun, begun if begun in (*files, "") else "not in the request"
    if asked["question"] == "audit":
        left = {str(one["id"]) for one in answer["not_covered"]}
        every = {str(one.id) for one in EVERY} - ({str(Left.SAMPLER)} if asked["plan"]["numerics"] else set())
        yield "missing from what is not covered", [], sorted(every - left)
        yield "regret", None, answer.get("regret")


def of_strangers(draft: Json, asked: Json) -> None:
    """Refuse what code of a user may not say, where it has just run: more than was found, or of other files.

    Raises
    ------
    InputError
        In that case.
    """
    _compare([("part", "", name) for name in sorted(draft.keys() - _PARTS)])
    source, known = draft["target"]["source"], set(asked["target"]["files"].values())
    stated = {**source.get("loads", {}), source["path"]: source["sha256"]}
    for place, digest in stated.items():
        if digest and digest not in known and digest != _digest_of(place):
            raise InputError(
                f"target: its process names {place!r} as its code, but that is not a file that we run"
            )


def _digest_of(place: str) -> str:
    """Of a file, or of a module of an installed package, that was not among the files of the request."""
    module = Path(*place.split(".")) if not place.endswith(".py") else Path(place)
    forms = [module] if place.endswith(".py") else [module.with_suffix(".py"), module / "__init__.py"]
    found = (Path(folder, form) for folder in ("", *paths.of_targets()) for form in forms)
    return next((file_digest(file) for file in found if file.is_file()), "")


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
        ("confidence of the bound", settings.confidence, draft["confidence"]),
        ("pairs", asked.inputs.pairs is not None, plan["given_pairs"]),
        ("detect", settings.detect, plan.get("detect", DETECT)),
        ("sequential", settings.sequential, plan.get("sequential", False)),
        ("group", asked.promise.group, plan.get("group")),
    ]
    own = _of_algorithm if draft["target"]["kind"] == "algorithm" else _of_code
    _compare([*rows, *own(draft, asked, parameters)])


def of_regret(draft: Json, asked: Json) -> None:
    """As `of_audit`, of a check of claims about regret and its request."""
    plan, claims, inputs = draft["plan"], asked["claim"], asked["inputs"]
    claimed = plan.get("regret")
    own = any(name in claims for name in ("bound", "scaling", "better_than"))
    rows: list[Row] = [
        ("target", asked["target"]["name"], draft["target"]["name"]),
        ("seed", asked["seed"], draft["seed"]),
        ("budget", asked["plan"]["budget"], plan["budget"]),
        ("claims of your own", own, claimed is not None),
    ]
    if claimed is not None:
        scaling = claims.get("scaling", {})
        wanted = sorted([over, *claim_of(over, claim)] for over, claim in scaling.items())
        keys = ("over", "exponent", "log_power", "margin")
        rows += [
            ("bound", claims.get("bound"), (claimed["bound"] or {}).get("name")),
            ("scaling", wanted, sorted([rate[key] for key in keys] for rate in claimed["rates"])),
            ("better_than", "better_than" in claims, claimed["rival"] is not None),
            ("factor", float(claims["factor"]), claimed["factor"]),
            ("beta", claims.get("beta"), claimed["beta"]),
        ]
        rows += [(name, claims[name], claimed[name]) for name in ("runs", "gap") if name in claims]
        given = {**inputs, **asked["target"]["parameters"]}
        apart = ("contexts", "environments", "values")
        rows += _given(draft["target"]["parameters"], {k: v for k, v in given.items() if k not in apart})
    _compare(rows)


def _compare(rows: list[Row]) -> None:
    for what, wanted, found in rows:
        if wanted != found:
            raise InputError(
                f"target: its process answered a different question: {what} is {found!r} instead of "
                f"{wanted!r}; there is no verdict"
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
    yield "a bandit", inputs.bandit, not releases
    yield "timeout", asked.settings.timeout, plan["timeout"]
    yield "curve", curve, plan.get("curve", False)
    yield "numerics", asked.settings.numerics, plan.get("numerics", False)
    runs, most = plan["sizes"].get("runs"), asked.settings.sizes.runs
    if runs is not None:
        rows = [count for kind, count in ROWS.items() if kind.startswith("release") == releases]
        fits = any(runs == most * row or (plan.get("capped") and runs < most * row) for row in rows)
        yield "runs", fits, True
    apart, known = ("exec", "exec_timeout"), {one.name for one in fields(Inputs)}
    recorded = {key: value for key, value in target["parameters"].items() if key not in apart}
    _compare([("parameter", "", key) for key in sorted(recorded) if ":" not in key and key not in known])
    found = Inputs.read(recorded)
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
