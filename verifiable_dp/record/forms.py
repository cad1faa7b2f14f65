"""The JSON Schema of records, made of the record's types and of what each kind of check says of its numbers.

``make schema`` writes it, and that of certificates; readers of records, here and elsewhere, take it from its
file. What no type of ours describes stands in ``schema/forms.json`` (neighbouring inputs, parameters) and in
`questions` (what a user declares).
"""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Meta

from verifiable_dp.core.validate import Json, JsonDict, JsonValue
from verifiable_dp.evidence.check import Check, Kind, kinds
from verifiable_dp.evidence.fields import Recorded, RegretStatistics, Verdict
from verifiable_dp.evidence.judge import certificate
from verifiable_dp.record import questions
from verifiable_dp.record.model import Counterexample, Power, Record
from verifiable_dp.record.requests import RequestEntry
from verifiable_dp.record.sealing import SCHEMAS, text

_FOLDER = Path(__file__).parent / "schema"
_COUNTED = ("event", "looks_at", "p_value", "delta_lower", "epsilon_lower")
_REPLAYED = ("seed", "sign", "run", "turned", "cost", "loss", "divergence", "releases")
_TRANSCRIPT = ("seed", "sign", "turned", "cost", "loss", "divergence", "releases")
_OF_KIND = "A check of a kind that another package registers; its judge says what its numbers mean."


def _form(required: tuple[str, ...], without: tuple[str, ...]) -> Json:
    return {"required": list(required), "properties": dict.fromkeys(without, False)}


# Which values of an entry stand together.
_SHAPES: dict[type, Json] = {
    Counterexample: {
        "oneOf": [
            _form(("event", "epsilon_lower", "p_value", "looks_at"), ("delta_lower", *_REPLAYED)),
            _form(("event", "epsilon_lower", "delta_lower"), ("p_value", "looks_at", *_REPLAYED)),
            _form(_TRANSCRIPT, _COUNTED),
        ]
    },
    Power: {
        "oneOf": [
            {"required": ["largest"], "properties": {"by": {"const": "alignment"}}},
            {"required": ["noise_divided_by"], "properties": {"by": {"const": "exact"}}},
            {
                "required": ["noise_divided_by", "every_batch_at"],
                "properties": {"by": {"const": "shuffle"}},
            },
            {
                "required": ["variant"],
                "properties": {"by": {"const": "black_box"}, "black_box": {"type": "object"}},
            },
        ]
    },
}


def record_schema() -> JsonDict:
    """The schema of records, with those of all kinds of checks that are installed here."""
    roots: list[type[Recorded]] = [Record, RegretStatistics]
    roots += [form for kind in kinds() for form in (kind.statistics, kind.result) if form]
    _, made = msgspec.json.schema_components(roots, ref_template="#/$defs/{name}")
    types = {kind.__name__: kind for root in roots for kind in _entries(root)}
    defined = {
        _snake(name): _entry(form, types.get(name)) for name, form in made.items() if name != Check.__name__
    }
    whole = defined.pop("record")
    defined |= json.loads((_FOLDER / "forms.json").read_text("utf-8"))
    defined["declarations"] = questions.form()
    defined |= {
        "privacy_check": {"$ref": "#/$defs/check", "allOf": [*map(_asked, kinds("privacy")), _other()]},
        "regret_check": {"$ref": "#/$defs/any_regret_check", "allOf": [*map(_asked, kinds("regret"))]},
        "any_table": _table(defined["check"]),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:verifiable-dp:record:4",
        "title": "Record of a privacy and regret audit",
        **whole,
        "$defs": defined,
    }


def request_schema() -> JsonDict:
    """The schema of requests."""
    _, made = msgspec.json.schema_components([RequestEntry], ref_template="#/$defs/{name}")
    types = {kind.__name__: kind for kind in _entries(RequestEntry)}
    defined = {_snake(name): _entry(form, types.get(name)) for name, form in made.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:verifiable-dp:request:1",
        "title": "What is asked of a privacy and regret audit",
        **defined.pop("request_entry"),
        "$defs": defined,
    }


def _entries(kind: type[Recorded], seen: tuple[type, ...] = ()) -> Iterator[type[Recorded]]:
    """A struct and those that its fields hold."""
    if kind in seen:
        return
    yield kind
    for hint in typing.get_type_hints(kind).values():
        for part in _parts(hint):
            if isinstance(part, type) and issubclass(part, Recorded):
                yield from _entries(part, (*seen, kind))


def _parts(hint: object) -> Iterator[object]:
    yield hint
    for part in typing.get_args(hint):
        yield from _parts(part)


def _entry(form: Json, kind: type[Recorded] | None) -> JsonDict:
    """What is said of a struct or an enumeration; what may be left out is no null."""
    found = {key: _plain(value) for key, value in form.items() if key != "title"}
    if "description" in found:  # which versions of msgspec indent differently
        found["description"] = inspect.cleandoc(str(found["description"]))
    if kind is None:
        return found
    hints = typing.get_type_hints(kind, include_extras=True)
    for name, value in found["properties"].items():
        if "default" in value:
            del value["default"]
            kept = [one for one in value.get("anyOf", ()) if one != {"type": "null"}]
            value |= {"anyOf": kept}
            if len(kept) == 1:
                del value["anyOf"]
                value |= {**kept[0], **value}
        checks = _named(hints.get(name))
        if checks:
            value["items"] = {"$ref": f"#/$defs/{checks}"}
    if not kind.__struct_config__.forbid_unknown_fields:
        found["additionalProperties"] = _plain(msgspec.json.schema(kind.rest))
    if kind.either:
        found["oneOf"] = [{"required": [name]} for name in kind.either]
    return {**found, **_SHAPES.get(kind, {})}


def _named(hint: object) -> str:
    """Which definition the checks of a field follow; empty where it holds none."""
    for part in _parts_of_checks(hint):
        return part
    return ""


def _parts_of_checks(hint: object) -> Iterator[str]:
    metadata = getattr(hint, "__metadata__", ())
    if getattr(hint, "__origin__", None) is Check:
        for one in metadata:
            if isinstance(one, Meta) and one.extra_json_schema:
                yield str(one.extra_json_schema["$ref"]).rpartition("/")[2]
    for part in (*typing.get_args(hint), getattr(hint, "__origin__", None)):
        if part is not None and part is not hint:
            yield from _parts_of_checks(part)


def _plain(value: JsonValue) -> JsonValue:
    """References by our names, and enumerations of one value as constants."""
    if isinstance(value, dict):
        found = {key: _plain(item) for key, item in value.items()}
        if "$ref" in found:
            found["$ref"] = "#/$defs/" + _snake(found["$ref"].rpartition("/")[2])
            found.pop("type", None)
        return found
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _asked(kind: Kind) -> JsonDict:
    """What a check of a kind holds, where the kind says it."""
    return {"if": {"properties": {"kind": {"const": kind.name}}}, "then": {"properties": _numbers(kind)}}


def _numbers(kind: Kind) -> JsonDict:
    forms = {"statistics": kind.statistics, "result": kind.result}
    return {name: {"$ref": f"#/$defs/{_snake(form.__name__)}"} for name, form in forms.items() if form}


def _table(check: Json) -> JsonDict:
    """A table, which has no verdict."""
    known = {"kind": {"enum": [kind.name for kind in kinds("table")]}, "result": {"type": "object"}}
    return {**check, "properties": {**check["properties"], **known}, "allOf": [*map(_asked, kinds("table"))]}


def _other() -> JsonDict:
    """A check of privacy of another package."""
    verdict = {"verdict": {"enum": list(typing.get_args(Verdict))}}
    return {
        "description": _OF_KIND,
        "if": {"properties": {"kind": {"not": {"enum": [kind.name for kind in kinds("privacy")]}}}},
        "then": {
            "properties": {
                "kind": {"$ref": "#/$defs/kind"},
                "result": {"required": ["verdict"], "properties": verdict},
            }
        },
    }


if __name__ == "__main__":
    made = {SCHEMAS[0]: record_schema(), "certificate-1": certificate.schema(), "request-1": request_schema()}
    for name, form in made.items():
        (_FOLDER / f"{name}.json").write_text(text(form), "utf-8")
