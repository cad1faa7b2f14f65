"""What is asked of an audit, as JSON values: made before any code of the target runs, and read back.

Nothing of the target is imported to tell it; its files are read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import fields
from pathlib import Path

import numpy as np

from verifiable_dp.auditing import identity, record_parts
from verifiable_dp.auditing.bounds import GivenBound
from verifiable_dp.auditing.regret import Asked
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise, Settings
from verifiable_dp.core import engine
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.contexts import words_of
from verifiable_dp.core.files import checkout
from verifiable_dp.core.neighbours import pair_of
from verifiable_dp.core.validate import Given, InputError, Json, JsonDict, JsonValue
from verifiable_dp.evidence.doors import ours
from verifiable_dp.registry import entries as registry
from verifiable_dp.targets.process import Exec
from verifiable_dp.targets.source import code_of, file_of, way_of

_LEVEL = ("alpha", "confidence")
_PLAN = (
    "budget",
    "runs",
    "timeout",
    "detect",
    "sequential",
    "curve",
    "mutants",
    "numerics",
    "own_neighbours",
)
OBJECTS = "objects of Python"  # stands for what was given so and cannot be written down


def of_audit(target: Given, name: str, asked: AuditRequest, parameters: Json) -> JsonDict:
    """The question of an audit: what, for which promise, on which inputs, how, at which level.

    `parameters` are those that a catalogue algorithm was given.
    """
    return {
        "question": "audit",
        "target": {**_named(target, name, parameters), "files": _files(target, asked.inputs.reward)},
        "claim": _given(asked.promise, [one.name for one in fields(Promise)]),
        "inputs": _inputs(asked.inputs),
        "plan": {**_given(asked.settings, _PLAN), "budget": str(asked.settings.budget)},
        "level": _given(asked.settings, _LEVEL),
        "seed": asked.settings.seed,
        **_by(),
    }


def of_regret(target: Given, name: str, asked: Asked, budget: str, seed: int) -> JsonDict:
    """The question of a check of claims about regret."""
    code = (target, asked.bound, asked.better_than)
    claims = {one.name: _plain(getattr(asked, one.name)) for one in fields(asked)}
    claims["bound"] = None if asked.bound is None else called(asked.bound)
    apart = ("parameters", "n_arms", "horizon", "contexts", "environments", "values")
    return {
        "question": "regret",
        "target": {**_named(target, name, asked.parameters or {}), "files": _files(*code)},
        "claim": {key: value for key, value in claims.items() if value is not None and key not in apart},
        "inputs": {key: claims[key] for key in apart[1:] if claims[key] is not None},
        "plan": {"budget": budget},
        "level": {},
        "seed": seed,
        **_by(),
    }


def of_evidence(name: str, printed: bool, settings: Settings) -> JsonDict:
    """The question of the whole evidence for an algorithm of the catalogue."""
    return {
        "question": "evidence",
        "target": {**_named(name, name, {"variant": "printed"} if printed else {}), "files": _files(name)},
        "claim": {},
        "inputs": {},
        "plan": {"budget": str(settings.budget), "mutants": settings.mutants},
        "level": _given(settings, _LEVEL),
        "seed": settings.seed,
        **_by(),
    }


def question(values: Json) -> AuditRequest:
    """What `of_audit` was made of, as far as an answer is compared with it."""
    inputs = dict(values["inputs"])
    if "bounds" in inputs:
        inputs["bounds"] = tuple(inputs["bounds"])
    if inputs.get("pairs") is not None:  # what they are says whose claim it is
        inputs["pairs"] = list(map(_pair, inputs["pairs"]))
    known = values["target"]
    parameters = known["parameters"] if known["kind"] in ("code", "object") else {}
    return AuditRequest(
        known["name"],
        known["name"],
        Promise(**values["claim"]),
        Inputs(**inputs, parameters=parameters),
        Settings(**values["plan"], **values["level"], seed=values["seed"]),
    )


def _pair(stated: JsonValue) -> Given:
    """A pair as it was given; of an adversary that is a function, or of data, what is stated."""
    try:
        return pair_of(stated) if isinstance(stated, Mapping) else stated
    except InputError:
        return stated


def _named(target: Given, name: str, parameters: Json) -> JsonDict:
    """Name, kind and parameters of a target."""
    if isinstance(target, Exec):
        parameters = {"exec_timeout": target.timeout}
    elif isinstance(target, Algorithm):
        parameters = record_parts.plain_parameters(target)
    return {
        "name": name,
        "kind": _kind(target),
        "parameters": {key: _plain(value) for key, value in parameters.items()},
    }


_READ = ContextVar("read", default=True)


@contextlib.contextmanager
def unread() -> Iterator[None]:
    """Questions that are made in this block name no files of the code: it need not be there."""
    token = _READ.set(False)
    try:
        yield
    finally:
        _READ.reset(token)


def _files(*code: Given) -> dict[str, str]:
    """The files that run when code is loaded, by their digests."""
    return identity.reached(*(place for part in code for place in _places(part))) if _READ.get() else {}


def root_of(*code: Given) -> str:
    """The folder of which code may read files: its repository; else where we are, or the code's own.

    It is ours where the code is below it; empty where the code has no file.
    """
    return next((root_at(place) for part in code for place in _places(part)), "")


def root_at(file: Path) -> str:
    """As `root_of`, of code that begins in a file."""
    folder, here = file.resolve().parent, Path.cwd()
    return str(checkout(folder) or (here if folder.is_relative_to(here) else folder))


def files_of(asked: Json) -> dict[str, str]:
    """The files that would run now for a request, by their digests; they are looked up where we are.

    Raises
    ------
    InputError
        If a file that it names is not there.
    """
    return _files(*_named_in(asked))


def root_in(asked: Json) -> str:
    """As `root_of`, of a request, and of where we are."""
    return root_of(*_named_in(asked))


def places_in(asked: Json) -> list[Path]:
    """Where the code that a request names begins, as seen from where we are."""
    return [place for named in _named_in(asked) for place in _places(named)]


def _named_in(asked: Json) -> list[Given]:
    """The code that a request names."""
    target, claim = asked["target"], asked["claim"]
    named: list[Given] = [target["name"]]
    if target["kind"] == "command":
        named = [Exec(target["name"])]
    elif target["kind"] == "object":
        raise InputError(f"source: {target['name']} was given as an object, so its file is unknown")
    others = (asked["inputs"].get("reward"), claim.get("bound"), claim.get("better_than"))
    return [*named, *(one for one in others if isinstance(one, str) and ":" in one)]


def _kind(target: Given) -> str:
    if isinstance(target, str):
        return "code" if ":" in target else "catalogue"
    if isinstance(target, Algorithm):
        return "catalogue" if ours(target) else "algorithm"
    return "command" if isinstance(target, Exec) else "object"


def _places(target: Given) -> list[Path]:
    """Where the code of a target begins; nothing of it is imported."""
    if isinstance(target, str) and ":" in target:
        return way_of(target)
    if isinstance(target, str):  # a package's auditor, from where its algorithm is reached
        return way_of(registry.module_of(target)) if registry.outside(target) else []
    if isinstance(target, Exec):
        return list(target.files)
    if isinstance(target, Algorithm) and ours(target):
        return []
    return [Path(file_of(code_of(target)))] if callable(target) or isinstance(target, Algorithm) else []


def called(bound: Given) -> str:
    """The name of a bound; what it names is not imported."""
    return bound if isinstance(bound, str) and ":" in bound else GivenBound.of(bound).name


def _inputs(inputs: Inputs) -> JsonDict:
    found = _given(inputs, [one.name for one in fields(Inputs) if one.name != "parameters"])
    if inputs.contexts is not None:
        found["contexts"] = words_of(inputs.contexts)
    return {key: value for key, value in found.items() if value != ""}


def _given(record: Given, names: Sequence[str]) -> JsonDict:
    """Fields that are not None."""
    found = {name: _plain(getattr(record, name)) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _plain(value: Given) -> JsonValue:
    """A value as JSON has it; of other objects a digest of what they say of themselves, if they do."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Exec):
        return value.command
    stated = getattr(value, "as_dict", None)
    if callable(stated):
        return _plain(stated())
    return str(getattr(value, "__qualname__", OBJECTS))


def _by() -> JsonDict:
    """What answers it: this package's code, and the packages that are present."""
    return {"code": engine.code_digest(), "packages": identity.packages()}
