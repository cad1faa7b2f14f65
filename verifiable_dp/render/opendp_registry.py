"""A draft entry for OpenDP's registry of deployments, as YAML: what a record knows, and what is to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from verifiable_dp.core.validate import InputError, Json, JsonDict, JsonValue
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.render.rendering import Rendering

_MODELS = {"central": "Central", "local": "Local", "shuffle": "Shuffle", "federated": "Federated"}
_RELEASES = {
    "one release": "One release",
    "many releases": "Many releases",
    "continual release": "Many releases",
}
_SOURCES = {"static": "Static", "dynamic": "Dynamic"}
_UNWRITABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


@dataclass(frozen=True)
class Todo:
    """A value that the record does not know."""

    hint: str


def to_opendp(record: Record) -> str:
    """The draft: one YAML document in the layout of the registry.

    Facts of the deployment come from the record's declarations. What they do not say is null with a comment
    ``TODO``, so that the registry's own check refuses the entry until it is filled in. Nothing is invented.

    Raises
    ------
    InputError
        If the record states no privacy claim, or the target makes no privacy promise.

    Source
    ------
    Field names and allowed values: github.com/opendp/deployments-registry-data,
    schemas/deployments-schema.yaml at commit 057e5d81cf60150dd3307e0cf4504b957802fb3b.
    """
    if not record.claim or words.is_baseline(record):
        raise InputError("to: an OpenDP registry entry needs a privacy claim, and this record states none")
    return "\n".join([*_comments(record), *_lines(_entry(record), 0)]) + "\n"


def _comments(record: Record) -> list[str]:
    """What has to be read before the draft is sent."""
    lines = [
        "# Draft for github.com/opendp/deployments-registry-data, from an audit record of verifiable-dp.",
        "# An audit knows an algorithm, not its deployment: fill in every TODO, and read what is filled in.",
    ]
    if record.verdict == "refuted":
        lines.append("# The audit REFUTES the privacy parameters below: do not publish them as they are.")
    return lines


def _entry(record: Record) -> JsonDict:
    declared = record.declared
    return {
        "url_slug": Todo("short and stable, such as product-curator-year"),
        "deployment": {
            "basic": _basic(declared),
            "dp_variant": _variant(record, declared),
            "privacy_loss": _loss(record),
            "deployment_model": _model(record, declared),
            "implementation": _implementation(record, declared),
            "administrative": {
                "status": "Draft",
                "registry_authors": [Todo("who fills in this entry")],
                "tier": Todo("1, 2 or 3: how much is filled in"),
            },
        },
    }


def _basic(declared: Json) -> JsonDict:
    return {
        "name": Todo("of the data product"),
        "data_curators": [
            {
                "data_curator_name": Todo("who publishes the data product"),
                "data_curator_type": Todo("Government, Industry or Nonprofit"),
            }
        ],
        "description": Todo("of the data product"),
        "intended_use": declared.get("deployment", {}).get("description") or Todo("of the data product"),
        "data_product_type": Todo(
            "Summary statistics, Machine learning model, Dataset, Synthetic data, Interactive API "
            "or SQL queries"
        ),
        "data_product_region": Todo("that the data describe, or whose laws apply"),
        "data_product_sector": Todo(
            "Technology, Healthcare, Education, Government, Energy or Finance; leave out if none fits"
        ),
        "publication_date": Todo("quoted, YYYY-MM-DD; of the first publication"),
    }


def _variant(record: Record, declared: Json) -> JsonDict:
    claim, unprotected = record.claimed, declared.get("unprotected_outputs")
    curved = {"mu": "Gaussian DP", "rho": "Zero-concentrated DP"}
    name = curved[claim.curve[0]] if claim.curve else "Approximate DP" if claim.delta else "Pure DP"
    return {
        "variant_name": name,
        "data_domain": Todo("which data sets are protected"),
        "unprotected_quantities": (
            Todo("what is published without noise, such as logs or parameters")
            if unprotected is None
            else "; ".join(unprotected) or "None are declared."
        ),
    }


def _loss(record: Record) -> JsonDict:
    claim, source = record.claimed, record.claimed.source
    parameters = {name: getattr(claim, name) for name in ("epsilon", "delta", "rho", "mu")}
    told = (
        f"Claimed by {source.paper}, {source.statement}."
        if source
        else "Claimed by the person who ran the audit."
    )
    return {
        "privacy_unit": words.unit(record),
        "privacy_unit_details": f"Neighbouring inputs: {words.neighbours(record)}.",
        "number_of_privacy_units": Todo("such as rounds or users; approximate if it is not public"),
        "privacy_parameters": {key: float(value) for key, value in parameters.items() if value},
        "privacy_parameters_details": f"{told} {_audit(record)}",
    }


def _audit(record: Record) -> str:
    """What the audit says of the parameters, and what it does not."""
    if not record.checks:
        return words.verdict(record)
    least = f"epsilon is at least {digits(record.epsilon_lower)}"
    least = words.broken(record) if record.verdict == "refuted" else least
    lower = f"At confidence {digits(record.confidence)}, {least}."
    said = f"Audited: {words.verdict(record)} {lower}"
    return f"{said} {words.power(record)}" if record.power else said


def _model(record: Record, declared: Json) -> JsonDict:
    claim, deployment = record.claimed, declared.get("deployment", {})
    known = _MODELS.get(claim.trust_model)
    return {
        "model_name": known or Todo("Local, Central, Shuffle, Federated or Varies"),
        "model_name_details": f"The claim is about an adversary who sees: {claim.observe}.",
        "trust_assumptions": Todo("who is trusted with what, and why"),
        "actors": (
            "; ".join(map(_actor, declared.get("actors", [])))
            or Todo("everyone who may see the data or the data product")
        ),
        "release_type": (
            _RELEASES.get(deployment.get("release_type", "")) or Todo("One release or Many releases")
        ),
        "release_type_details": Todo("when the privacy budget starts anew, if it does"),
        "data_source_type": (_SOURCES.get(deployment.get("data_source", "")) or Todo("Static or Dynamic")),
        "access_type": Todo("Interactive or Non-interactive"),
    }


def _actor(actor: Json) -> str:
    trust = "trusted" if actor.get("trusted") else "not trusted"
    assumption = f": {actor['assumption']}" if actor.get("assumption") else ""
    return f"{actor.get('role', 'actor')} ({trust}){assumption}"


def _implementation(record: Record, declared: Json) -> JsonDict:
    accounting = declared.get("accounting", {})
    target, provenance = record.target, record.provenance
    source = target.source
    place = f", {source.path} (SHA-256 {source.sha256})" if source.path else ""
    floats = (
        "noise was audited as idealised real numbers, so that its floating-point sampler is not covered"
        if provenance.idealized_numerics
        else "the floats of its sampler were audited, too"
    )
    uncovered = "; ".join(words.not_covered(record))
    return {
        "preprocessing_and_hyperparameter_tuning": Todo(
            "what was done with the data before, and its privacy loss"
        ),
        "mechanisms": f"Audited implementation: {target.name}{place}; {floats}.",
        "composition": (
            accounting.get("composition") or Todo("how the loss of several queries or releases adds up")
        ),
        "post_processing": accounting.get("post_processing") or Todo("what is done with the noisy outputs"),
        "justification": Todo("why these parameters and mechanisms"),
        "utility": _utility(record),
        "additional_information": (
            f"Audit record of verifiable-dp {provenance.version}, digest {record.digest}, seed "
            f"{record.seed}. Not covered by the audit: {uncovered}."
        ),
    }


def _utility(record: Record) -> Todo | str:
    regret = record.regret
    if not regret:
        return Todo("metrics, if there are any")
    names = ", ".join(claim.name for claim in regret.claims)
    return f"Regret claims ({names}): {regret.verdict or 'not checked'}."


def _lines(value: JsonValue, depth: int) -> Iterator[str]:
    """Block style; the keys are ours, every value is a double-quoted scalar, a number or null."""
    indent = "  " * depth
    items = value.items() if isinstance(value, Mapping) else (("-", item) for item in value)
    for key, item in items:
        head = f"{indent}-" if key == "-" else f"{indent}{key}:"
        if isinstance(item, Mapping | list):
            yield head
            yield from _lines(item, depth + 1)
        elif isinstance(item, Todo):
            yield f"{head} null  # TODO: {item.hint}"
        else:
            yield f"{head} {_scalar(item)}"


def _scalar(value: JsonValue) -> str:
    """JSON's strings are YAML's double-quoted ones, but for a few characters that YAML wants escaped."""
    written = json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        mantissa, power, exponent = written.partition("e")
        # YAML 1.1 takes 1e-06 for a string.
        return f"{mantissa}.0e{exponent}" if power and "." not in mantissa else written
    return _UNWRITABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


OPENDP = Rendering("opendp", lambda shown: to_opendp(shown.record))
