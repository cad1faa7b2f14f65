"""The hazards that NIST SP 800-226 names, and what a record has to say about each.

Source: NIST SP 800-226 (initial public draft, December 2023), Guidelines for Evaluating Differential Privacy
Guarantees. Titles are ours, sections are the draft's; the final version of March 2025 numbers some of them
differently.

Each rule is a pure function of a record with its blocks, and tells what was tested or computed from what only
restates the claim; a declaration is marked as one, and what is left is open, with what the reader has to do.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.record import kills, questions, words
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import pointer
from verifiable_dp.record.worth import AnswerState

DOCUMENT = "NIST SP 800-226 (initial public draft, December 2023)"
FRAMEWORK = {"id": "NIST.SP.800-226", "version": "initial public draft, December 2023"}
EDITION = (
    "We did not have the final edition (March 2025): every row is from the draft. We had only the headings "
    "of ISO/IEC 27559; see the documentation on records, which also covers Article 72 of the EU AI Act."
)
STATUSES = ("tested", "computed", "stated", "declared", "open", "hole", "not_applicable")
UNSETTLED = ("hole", "open")  # what asks for an action
WARN_EPSILON, FLAG_EPSILON = 1.0, 10.0
MOST_DELTA = 1e-5
_CLOSE = (
    "Change the deployment (or correct the answer, if it is wrong) so that it no longer voids the promise, "
    "then declare again."
)
_NO_CLAIM = "the target itself makes no privacy claim"
_VERDICT_FIRST = "Settle the verdict on the claim first."
_ASIDE = {"refuted": "the claim is refuted", "inconclusive": "the audit decided nothing"}


@dataclass(frozen=True)
class Assessment:
    """What a record has to say about a hazard.

    Attributes
    ----------
    status
        One of `STATUSES`.
    note
        Why, in one sentence.
    evidence, declared
        JSON pointers into the record: to what was measured or computed, and to what was declared.
    action
        What to do, where that is not what the hazard leaves to do in general.
    """

    status: str
    note: str
    evidence: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    action: str = ""


class Reviewed(Record, frozen=True):
    """A record with its blocks (`blocks.of`)."""

    blocks: Json

    @classmethod
    def with_blocks(cls, record: Record, blocks: Json) -> Reviewed:
        """The record with these blocks."""
        values = {name: getattr(record, name) for name in Record.__struct_fields__}
        return cls(**values, blocks=blocks)


Rule = Callable[[Reviewed], Assessment]


@dataclass(frozen=True)
class Hazard:
    """A hazard: its rule, and what ``nist.toml`` says of it.

    `declarable` tells whether a declaration can close it; else it stays open, a limit of the evidence.
    """

    id: str
    section: str
    title: str
    brief: str
    bears: str
    declarable: bool
    action: str
    rule: Rule

    def row(self, record: Reviewed) -> JsonDict:
        """As it stands in a record."""
        found = self.rule(record)
        return {
            "id": self.id,
            "section": self.section,
            "title": self.title,
            "status": found.status,
            "note": found.note,
            "action": found.action or {"open": self.action, "hole": _CLOSE}.get(found.status, ""),
            "evidence": list(found.evidence),
            "declared": list(found.declared),
        }


def assess(record: Reviewed) -> list[JsonDict]:
    """The rows of all hazards for a record with its blocks and declarations."""
    return [hazard.row(record) for hazard in HAZARDS]


def guidance(record: Record, rounds: int | None, groups: Sequence[Json]) -> list[dict[str, str]]:
    """Flags of the guidance on epsilon and delta.

    Parameters
    ----------
    record
        Its core.
    rounds
        Declared most rounds of one person; None if not declared.
    groups
        Rows of the group-privacy table.

    Returns
    -------
    list of dict
        ``level`` (``warn`` or ``flag``), ``about`` and ``words``.
    """
    claim, found = record.claimed, []
    found += _epsilon_flags(claim.epsilon)
    for row in groups:
        if rounds is not None and rounds > 1 and row["rounds"] == rounds:
            found += _epsilon_flags(float(row["epsilon"]), f" of the {rounds} rounds of one person")
    delta, n = claim.delta, _rounds(record)
    if delta > MOST_DELTA:
        found.append(_flag("flag", "delta", f"delta {delta:g} is above {MOST_DELTA:g}"))
    if n is not None and delta > n**-2:
        found.append(_flag("warn", "delta", f"delta {delta:g} is above 1/n^2 = {n**-2:.3g}, n = {n}"))
    return found


def _flag(level: str, about: str, words: str) -> dict[str, str]:
    return {"level": level, "about": about, "words": words}


def _epsilon_flags(epsilon: float, whose: str = "") -> list[dict[str, str]]:
    if epsilon >= FLAG_EPSILON:
        return [_flag("flag", "epsilon", f"epsilon {epsilon:g}{whose} is {FLAG_EPSILON:g} or more")]
    if epsilon > WARN_EPSILON:
        return [_flag("warn", "epsilon", f"epsilon {epsilon:g}{whose} is above {WARN_EPSILON:g}")]
    return []


def _rounds(record: Record) -> int | None:
    """n: the rounds of the horizon; None where the target has none."""
    horizon = record.target.parameters.get("horizon")
    return int(horizon) if isinstance(horizon, int | float) and horizon >= 1 else None


# ---------------------------------------------------------------- what rules share


def _if_held(record: Reviewed, status: str, note: str, *evidence: str) -> Assessment:
    """The given status where no violation was found; else the verdict stands against it."""
    if record.held:
        return Assessment(status, note, evidence)
    aside = f"{note}; but {_ASIDE[record.verdict]}"
    return Assessment("open", aside, (*evidence, "/verdict"), action=_VERDICT_FIRST)


def _claimed(rule: Rule) -> Rule:
    """The rule, where there is a claim."""

    def found(record: Reviewed) -> Assessment:
        return rule(record) if record.blocks["guarantee"] else Assessment("not_applicable", _NO_CLAIM)

    return found


def _mechanism(record: Reviewed) -> bool:
    """Whether the target is a mechanism of the user's: what it is for is not known."""
    return record.target.kind == "release"


def _always(status: str, note: str, *evidence: str) -> Rule:
    """The same for every record."""
    return lambda _: Assessment(status, note, evidence)


def _declared(record: Record, missing: str, *ids: str) -> Assessment:
    """What the answers to these questions leave of a hazard that only a declaration can close.

    It is a hole where one answer is, and open where one is, or none is given.
    """
    found = [one for one in questions.answers(record) if one.question.id in ids and one.given]
    if not found:
        return Assessment("open", missing)
    worst = max((one.state for one in found), key=_WORST.index)
    note = "; ".join(dict.fromkeys(one.why for one in found if one.state is worst))
    places = tuple(pointer("declarations", *one.question.id.split(".")) for one in found)
    return Assessment(_STATUS[worst], note, (), places)


_WORST = (AnswerState.ACCEPTABLE, AnswerState.OPEN, AnswerState.HOLE)
_STATUS = dict(zip(_WORST, ("declared", "open", "hole"), strict=True))


def _declaration(missing: str, *ids: str) -> Rule:
    """A hazard that only the answers to these questions can close."""
    return lambda record: _declared(record, missing, *ids)


def _outside(reason: str) -> Rule:
    """Not applicable, unless the target is a mechanism, of which that is not known."""

    def found(record: Reviewed) -> Assessment:
        if _mechanism(record):
            return Assessment("open", "the audit does not know what the mechanism is used for")
        return Assessment("not_applicable", reason)

    return found


# ---------------------------------------------------------------- part 2: parameters and unit


def _large_epsilon(record: Reviewed) -> Assessment:
    epsilon = record.claimed.epsilon
    places = ("/claim/epsilon", "/guarantee/guidance")
    if epsilon <= WARN_EPSILON:
        return _if_held(record, "stated", f"epsilon {epsilon:g} is at most {WARN_EPSILON:g}", *places)
    (flag,) = _epsilon_flags(epsilon)
    aside = "" if record.held else f"; {_ASIDE[record.verdict]}"
    return Assessment("open", f"stated and flagged: {flag['words']}{aside}", places)


def _delta(record: Reviewed) -> Assessment:
    claim = record.claimed
    delta, n = claim.delta, _rounds(record)
    if claim.curve:
        name = claim.curve[0]
        note = (
            f"the native parameter is {name}; delta is needed only to state the epsilon that {name} implies"
        )
        return _if_held(record, "stated", note, f"/claim/{name}", "/claim/delta")
    if delta == 0:
        note = "delta 0 allows no probability of failure"
        return _if_held(record, "stated", note, "/claim/delta")
    too_large = _too_large(delta, n)
    if too_large:
        return Assessment("open", too_large, ("/claim/delta", "/guarantee/guidance"))
    note = f"delta {delta:g} is at most {MOST_DELTA:g} and 1/n^2, n = {n}"
    return _if_held(record, "stated", note, "/claim/delta")


def _too_large(delta: float, n: int | None) -> str:
    """Why a delta is not small enough for the guidance; empty if it is."""
    if delta > MOST_DELTA:
        return f"delta {delta:g} is above {MOST_DELTA:g}"
    if n is None:
        return f"delta {delta:g} is at most {MOST_DELTA:g}; the size n of the data is not known for 1/n^2"
    return f"delta {delta:g} is above 1/n^2 = {n**-2:.3g}, n = {n}" if delta > n**-2 else ""


def _harm(record: Reviewed) -> Assessment:
    rows = record.blocks["guarantee"]["threat_hypotheses"]
    missing = "no threat hypothesis (two worlds that must look the same to everyone) is declared"
    found = _declared(record, missing, "threat_hypotheses")
    if not rows:
        return found
    declared, evidence = tuple(row["declaration"] for row in rows), ("/guarantee/threat_hypotheses",)
    if apart := apart_worlds(record):
        note = f"{len(apart)} of {len(rows)} pairs of worlds are not neighbouring: {'; '.join(apart)}"
        return Assessment(found.status, note, evidence, declared)
    checked = sum(row["neighbours"] is True for row in rows)
    note = f"{checked} of {len(rows)} pairs of worlds were checked to be neighbouring"
    return Assessment(found.status, note, evidence, declared)


def apart_worlds(record: Reviewed) -> list[str]:
    """Declared worlds that are no neighbouring inputs of the claim: the harm, and why they are not."""
    rows = (record.blocks["guarantee"] or {}).get("threat_hypotheses") or []
    declared = record.declared.get("threat_hypotheses", [])
    return [
        f"{pair.get('harm') or f'pair {number}'} ({row['reason']})"
        for number, (pair, row) in enumerate(zip(declared, rows, strict=True), 1)
        if row["neighbours"] is False
    ]


def _event_level(record: Reviewed) -> Assessment:
    guarantee = record.blocks["guarantee"]
    if guarantee["neighboring_relation"] == "replace_user":
        return _if_held(record, "stated", "the unit is one user, with a cap on rounds", "/claim/relation")
    table = ("/guarantee/group_privacy",) if guarantee["group_privacy"] else ("/claim/relation",)
    rounds = guarantee["contribution_bounds"]["max_rounds_per_user"]
    if rounds is None:
        unit = "one round of a user, not all of them" if _contextual(record) else "events, not people"
        note = f"the unit is {unit}; the number of rounds per person is not declared"
        return Assessment("open", note, table)
    found = _declared(record, "", "contribution.max_rounds_per_user", "contribution.enforced_by")
    return replace(found, evidence=table)


def _conversion(record: Reviewed) -> Assessment:
    if not record.blocks["accounting"]["conversions"]:
        return Assessment(
            "not_applicable", "nothing was converted: the stated parameters are the native ones"
        )
    places, delta = ("/accounting/conversions", "/claim/delta"), record.claimed.delta
    too_large = _too_large(delta, _rounds(record)) if delta > 0 else ""
    if too_large:
        return Assessment("open", f"native parameters are stated, but {too_large}", places)
    return Assessment("computed", f"native parameters and the delta used, {delta:g}, are stated", places)


# ---------------------------------------------------------------- part 3: algorithms, utility, bias


def _silent(record: Reviewed) -> bool:
    """Whether the target is an algorithm that draws no noise."""
    return record.target.kind == "algorithm" and record.target.model == "none"


def _custom(record: Reviewed) -> Assessment:
    if _silent(record):
        return Assessment("not_applicable", "a baseline draws no noise")
    if production := words.of_production(record):
        note = f"a live session draws from OpenDP, {production}; its timing was not tested"
        return Assessment("open", note, ("/subject/sampler", "/checks"))
    if record.target.kind == "algorithm":
        note = (
            "the production sampler was not audited: audited runs use this package's seeded generator, and "
            "live sessions use OpenDP unless they are given a seed"
        )
        return Assessment("open", note, ("/subject/sampler",))
    said = "no violation was found" if record.held else _ASIDE[record.verdict]
    audited = f"which was audited: {said}" if record.checks else "whose privacy was not audited"
    note = (
        f"the user's own code, {audited}; we do not know which library draws its noise, or whether "
        "production uses the same one"
    )
    return Assessment("open", note, ("/subject/sampler", "/verdict"))


def _systemic_bias(record: Reviewed) -> Assessment:
    if _mechanism(record):
        return Assessment("open", "nothing was measured for separate groups of people")
    return Assessment("open", "the test data have no groups of people; assess this at deployment")


def _interventions(record: Reviewed) -> Assessment:
    found = _declared(
        record, "clipping or rounding of released values is not declared", "accounting.post_processing"
    )
    if found.status == "open" and _truncates(record):
        return Assessment("open", "rewards are truncated; the effect was not measured", _TRUNCATION)
    return found


_TRUNCATION = ("/subject/parameters",)


def _truncates(record: Reviewed) -> bool:
    """Whether the target is an algorithm for rewards of bounded moments, which truncates them."""
    return record.target.kind == "algorithm" and bool({"moments", "v"} & record.target.parameters.keys())


def _statistical_bias(record: Reviewed) -> Assessment:
    if _truncates(record):
        return Assessment(
            "open", "truncation of rewards biases their means; the bias was not measured", _TRUNCATION
        )
    if record.blocks["utility_claims"]:
        note = f"{words.measured(record).lower()} was measured, but the bias of estimates was not"
        return Assessment("open", note, ("/utility_claims",))
    return Assessment("open", "the bias of estimates was not measured")


def _contribution(record: Reviewed) -> Assessment:
    limits = record.blocks["guarantee"]["contribution_bounds"]["reward_range"]
    if limits is None:
        return Assessment("open", "the range of one contribution is not recorded")
    finite = all(math.isfinite(float(limit)) for limit in limits)
    within = f"changes within [{limits[0]}, {limits[1]}]"
    if not finite:
        within = "rewards of any size, which are truncated" if _truncates(record) else "changes of any size"
    place = "/guarantee/contribution_bounds/reward_range"
    exact = [
        i
        for i, check in enumerate(record.checks)
        if check.kind in ("alignment", "exact", "shuffle") and check.verdict == "not_refuted"
    ]
    passed = kills.missed_of_bounding(record)
    if passed:
        note = f"the audit missed a fault in how contributions are bounded: {'; '.join(passed)}"
        return Assessment("open", note, (place,))
    if exact:
        return _if_held(
            record,
            "tested",
            f"the noise was checked against {within}, by exact computation",
            place,
            f"/checks/{exact[0]}/result",
        )
    if not record.checks:
        return Assessment("open", "privacy was not audited")
    aside = "" if record.held else f"; {_ASIDE[record.verdict]}"
    note = f"the noise was checked against {within}, on sampled runs only{aside}"
    return Assessment("open", note, (place, "/checks/0/result"))


def _bins(record: Reviewed) -> Assessment:
    parameters = record.target.parameters
    for key in ("n_arms", "actions"):
        if parameters.get(key) is not None:
            note = "the arms are a parameter, fixed before any reward is seen"
            if (
                parameters.get("moments") == "central"
            ):  # estimates that look for the mean in a histogram first
                note += "; so is the range of the bins in which its estimates count rewards"
            return Assessment("stated", note, (f"/subject/parameters/{key}",))
    if _mechanism(record):
        return Assessment("open", "we do not know whether outputs have bins, or where the bins come from")
    return Assessment("not_applicable", "its parameters include neither arms nor bins")


def _learning(record: Reviewed) -> Assessment:
    if record.target.parameters.get("actions") is not None and record.blocks["guarantee"]:
        note = "only the audited output reveals the target's model of the rewards"
        return _if_held(record, "stated", note, "/guarantee/protected_output", "/summary/verdict")
    if _contextual(record):
        note = "only the audited output reveals the target's model of rewards given contexts"
        if record.claim and not words.is_baseline(record):
            return _if_held(record, "stated", note, "/guarantee/protected_output", "/summary/verdict")
        return Assessment("open", "it fits a model of rewards given contexts, and promises no privacy")
    return _outside("no context model is trained")(record)


def _contextual(record: Reviewed) -> bool:
    """Whether what changes between neighbours is a context with its rewards."""
    return record.claim is not None and bool(record.claim.protects)


# ---------------------------------------------------------------- part 4: deployment


def _interactive(record: Reviewed) -> Assessment:
    if _mechanism(record):
        return Assessment("not_applicable", "the audited target answers once")
    games = [
        i
        for i, check in enumerate(record.checks)
        if "adversary" in check.statistics or "strategies" in check.statistics
    ]
    output = "/guarantee/protected_output"
    if games:
        note = "the output is the whole sequence, and we tried rewards that react to it"
        return _if_held(record, "tested", note, output, *(f"/checks/{i}/result" for i in games))
    note = "the output is the whole sequence; we did not try rewards that react to it"
    return Assessment("open", note, (output,))


def _trust(record: Reviewed) -> Assessment:
    found = _declared(record, "no actors are declared", "actors", "deployment.model")
    if found.status == "declared" and not record.declared.get("actors"):
        found = replace(found, status="open", note="no actors are declared")
    return replace(found, evidence=("/claim/trust_model",) if record.claim else ())


def _implementation(record: Reviewed) -> Assessment:
    tested = [i for i, check in enumerate(record.checks) if check.kind == "numerics"]
    if tested:
        verdict = record.checks[tested[0]].result["verdict"].replace("_", " ")
        note = f"the last bits of the outputs were tested: {verdict}; timing was not"
        return Assessment("open", note, (f"/checks/{tested[0]}/result", "/not_covered"))
    if _silent(record):
        note = "a baseline draws no noise; its timing was not tested"
        return Assessment("open", note, ("/not_covered",), action="Test its timing.")
    if record.target.kind == "algorithm":
        note = "the audit assumes perfect real-valued noise; floating-point and timing leaks were not tested"
        return Assessment("open", note, ("/subject/sampler", "/not_covered"))
    note = "neither the last bits of the outputs nor timing were tested"
    return Assessment("open", note, ("/not_covered",))


# What an open hazard can do, gravest first. The order is this project's: NIST ranks none.
BEARS = ("Can void the promise", "Can weaken the promise", "Concern fairness, accuracy and good practice")
_NO_SYNTHETIC = _outside("no synthetic data are released, only the outputs that the guarantee names")
_RULES = {
    "NIST-H01": _claimed(_large_epsilon),
    "NIST-H02": _claimed(_delta),
    "NIST-H03": _claimed(_harm),
    "NIST-H04": _claimed(_event_level),
    "NIST-H05": _claimed(
        _always(
            "stated",
            "the measure and delta are stated, and the record makes no comparison with other guarantees",
            "/guarantee/measure",
            "/guarantee/privacy_parameters/delta",
        )
    ),
    "NIST-H06": _claimed(
        _always(
            "stated",
            "the unit is stated, and the record makes no comparison with other guarantees",
            "/guarantee/privacy_unit",
            "/guarantee/neighboring_relation",
        )
    ),
    "NIST-H07": _claimed(_conversion),
    "NIST-H08": _declaration(
        "outputs that the guarantee does not cover are not declared", "unprotected_outputs"
    ),
    "NIST-H09": _custom,
    "NIST-H10": _systemic_bias,
    "NIST-H11": _interventions,
    "NIST-H12": _statistical_bias,
    "NIST-H13": _claimed(_contribution),
    "NIST-H14": _bins,
    "NIST-H15": _learning,
    "NIST-H16": _NO_SYNTHETIC,
    "NIST-H17": _NO_SYNTHETIC,
    "NIST-H18": _always("not_applicable", "the data are arrays of numbers"),
    "NIST-H19": _claimed(_interactive),
    "NIST-H20": _trust,
    "NIST-H21": _implementation,
    "NIST-H22": _declaration(
        "data security is not declared", "data_security.statement", "data_security.encrypted"
    ),
    "NIST-H23": _declaration(
        "access control is not declared", "access_control.statement", "access_control.readers"
    ),
    "NIST-H24": _declaration(
        "data minimisation is not declared", "data_minimisation.statement", "data_minimisation.kept_days"
    ),
}
HAZARDS = tuple(
    Hazard(rule=_RULES[row["id"]], **row)
    for row in tomllib.loads(Path(__file__).with_name("nist.toml").read_text("utf-8"))["hazard"]
)
