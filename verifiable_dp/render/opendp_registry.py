"""A draft entry for OpenDP's registry of deployments, as YAML: what a record knows, and what is to do."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import power_words, questions, words
from verifiable_dp.record.model import Record
from verifiable_dp.render import page
from verifiable_dp.render.rendering import Rendering

if TYPE_CHECKING:
    from markupsafe import Markup

_MODELS = {"central": "Central", "local": "Local", "shuffle": "Shuffle", "federated": "Federated"}
_RELEASES = {
    "one release": "One release",
    "many releases": "Many releases",
    "continual release": "Many releases",
}
_CURVED = {"mu": "Gaussian DP", "rho": "Zero-concentrated DP"}
_UNWRITABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


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
    claim, declared, regret = record.claimed, record.declared, record.regret
    source, deployment = record.target.source, declared.get("deployment", {})
    told = (
        f"{claim.source.paper}, {claim.source.statement}" if claim.source else "the person who ran the audit"
    )
    outputs = declared.get("unprotected_outputs")
    names = ("epsilon", "delta", "rho", "mu")
    place = f", {source.path} (SHA-256 {source.sha256})" if source.path else ""
    claims = ", ".join(one.name for one in regret.claims) if regret else ""
    given: JsonDict = {
        "r": record,
        "said": words,
        "todo": _todo,
        "deployment": {"description": None, **deployment},
        "accounting": {"composition": None, "post_processing": None, **declared.get("accounting", {})},
        "unprotected": None if outputs is None else questions.in_words(outputs),
        "holes": questions.brief(questions.holes(record)),
        "variant": _CURVED[claim.curve[0]] if claim.curve else "Approximate DP" if claim.delta else "Pure DP",
        "parameters": [(key, float(value)) for key in names if (value := getattr(claim, key))],
        "details": f"Claimed by {told}. {_audit(record)}",
        "model": _MODELS.get(claim.trust_model),
        "actors": "; ".join(map(_actor, declared.get("actors", []))),
        "release": _RELEASES.get(deployment.get("release_type", "")),
        "data_source": deployment.get("data_source", "").capitalize(),
        "mechanisms": f"Audited implementation: {record.target.name}{place}; {_floats(record)}.",
        "utility": regret and f"Regret claims ({claims}): {regret.verdict or 'not checked'}.",
        "information": (
            f"Audit record of verifiable-dp {record.provenance.version}, digest {record.digest}, seed "
            f"{record.seed}. Not covered by the audit: {'; '.join(words.not_covered(record))}."
            f"{_declared(record)}"
        ),
    }
    return f"{page.environment(_scalar).get_template('opendp.yaml.jinja').render(given)}\n"


def _audit(record: Record) -> str:
    """What the audit says of the parameters, and what it does not."""
    if not record.checks:
        return words.verdict(record)
    least = f"epsilon is at least {digits(record.epsilon_lower)}"
    least = words.broken(record) if record.verdict == "refuted" else least
    lower = f"At confidence {digits(record.confidence)}, {least}."
    said = f"Audited: {words.verdict(record)} {lower}"
    return f"{said} {power_words.power(record)}" if record.power else said


def _declared(record: Record) -> str:
    """What was declared, and what is a hole of it."""
    said = [
        f"{one.question.brief} ({one.state}): {one.words}" for one in questions.answers(record) if one.given
    ]
    return f" Declared, not checked: {'; '.join(said)}." if said else ""


def _actor(actor: Json) -> str:
    trust = "trusted" if actor.get("trusted") else "not trusted"
    assumption = f": {actor['assumption']}" if actor.get("assumption") else ""
    return f"{actor.get('role', 'actor')} ({trust}){assumption}"


def _floats(record: Record) -> str:
    if record.provenance.idealized_numerics:
        return "the audit treats noise as ideal real numbers, so it does not cover the floating-point sampler"
    return "the audit also covers the floats of the sampler"


def _todo(hint: str) -> Markup:
    """A value that the record does not know."""
    return page.ours(f"null  # TODO: {hint}")


def _scalar(value: object) -> Markup:
    """JSON's strings are YAML's double-quoted ones, but for a few characters that YAML wants escaped."""
    if hasattr(value, "__html__"):  # it is written already
        return page.ours(str(value))
    written = json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        mantissa, power, exponent = written.partition("e")
        # YAML 1.1 takes 1e-06 for a string.
        return page.ours(f"{mantissa}.0e{exponent}" if power and "." not in mantissa else written)
    return page.ours(_UNWRITABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", written))


OPENDP = Rendering("opendp", lambda shown: to_opendp(shown.record), ending=".yaml")
