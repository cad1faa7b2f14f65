"""Where the epsilon of a record lies, and what that rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from verifiable_dp.core.validate import Json
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.premises import briefly
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import words
from verifiable_dp.record.decision import decision
from verifiable_dp.record.model import Record
from verifiable_dp.render import limits
from verifiable_dp.render.parameters import settings
from verifiable_dp.render.strength import capital, many, variants


def taken(record: Record) -> Sequence[Json]:
    """What the upper bound that stands takes for granted."""
    upper = record.epsilon_upper
    named = [c for c in record.of_kind("upper_bound") if upper and c.name == upper.check]
    return named[0].statistics["premises"] if named else ()


# What a certificate is, and who vouches for it.
_CERTIFIED = ("proved", "by this tool; nobody else has checked")


def assumed(record: Record) -> str:
    """Under which condition the upper bound that stands holds, to follow what it says."""
    found = taken(record)
    untested = [_briefly(premise, record) for premise in found if not premise["tested_by"]]
    named = f" ({len(untested)} of them untested: {', '.join(untested)})" if untested else ""
    return f"if {many(len(found), 'assumption')} hold{'s' if len(found) == 1 else ''}{named}"


def _briefly(premise: Json, record: Record) -> str:
    return briefly(premise, "value" if words.is_stream(record) else "reward")


def interval(record: Record) -> str:
    """Where epsilon lies, and what that rests on; empty if privacy was not audited."""
    if not record.checks:
        return ""
    upper = record.epsilon_upper
    if upper is None or float(upper.epsilon) == math.inf:
        least = f"epsilon is at least {digits(words.least(record))}"
        if record.verdict == "refuted" and not words.is_baseline(record):
            least = words.broken(record)
        return f"{capital(least)}: {_seen(record)}.{_again(record)} {_unbounded(record)}"
    sure, by = _CERTIFIED if upper.scope == "certified" else ("bounded", "over what was traced")
    least, most = words.ends(record)
    delta = f" at delta {digits(upper.delta)}" if upper.delta else ""
    if least == most:
        same = f"the {_how(record)} lower bound equals the upper bound ({sure} {by})"
        return f"Epsilon is {most}{delta}: {same}, {assumed(record)}."
    delta = f", both{delta}" if delta else ""
    return (
        f"Epsilon lies between {least} ({_how(record)}) and {most} ({sure} {by}){delta}, {assumed(record)}."
    )


def _how(record: Record) -> str:
    """Whether the lower bound is a limit from samples or was computed."""
    return (
        "observed" if words.least(record) in [c.epsilon_lower for c in words.sampling(record)] else "computed"
    )


# Checks that test premises, in other words than their names.
_TESTS = {"alignment": "replaying runs", "alignment of one report": "replaying runs of one report"}


def premises(record: Record) -> str:
    """What the upper bound that stands rests on, and which checks tested that."""
    if not record.checks:
        return ""
    found = taken(record)
    if not found:
        for check in record.of_kind("upper_bound"):
            most, rests = digits(check.result["epsilon_upper"]), check.statistics["premises"]
            below = f"its {many(len(rests), 'premise')} {'is' if len(rests) == 1 else 'are'} below"
            return f"The bound of {most} does not count; {below}."
        return "No upper bound was found, so there are no premises to state."
    groups: dict[str, list[str]] = {}
    for premise in found:
        by = premise["tested_by"]
        how = f"tested by {_TESTS.get(by, by)}" if by else "not tested"
        groups.setdefault(how, []).append(_briefly(premise, record))
    said = [f"{len(names)} {how} ({', '.join(names)})" for how, names in groups.items()]
    passed = [name for name, _ in decision(record).passed]
    but = f" These tests missed {variants(len(passed))}: {', '.join(passed)}." if passed else ""
    return f"{many(len(found), 'assumption')}: {', '.join(said)}.{but}"


def _seen(record: Record) -> str:
    """What the lower bound rests on, and which instance: a loss that was computed, a limit from samples."""
    least, claim = words.least(record), record.claimed.epsilon
    limit = max(
        (
            (c.epsilon_lower, float(c.statistics["confidence"]))
            for c in words.sampling(record)
            if "confidence" in c.statistics
        ),
        default=(0.0, 0.0),
    )
    from_runs = f"the {100 * limit[1]:.4g} % lower limit from sampled runs of the audited instance"
    bounds = [c.epsilon_lower for c in words.sampling(record)]
    if float(record.epsilon_lower) == least and least in bounds:
        return from_runs if limit[0] > claim else "that much was seen"
    shows = least * (1 - 1e-6)
    kept = [e for e in record.counterexamples if e.replayed and limits.shown(e, claim) >= shows]
    other = words.elsewhere(kept[0], record) if kept else {}
    here = _here(record)
    exact = "a replayed run of this instance has exactly that loss"
    if not kept:
        exact = exact if here else "we computed that loss in a run that the record does not contain"
    elif other and not here:
        exact = (
            f"we computed a loss of {digits(abs(float(kept[0].loss or 0.0)))} on another instance of the "
            f"same code ({settings(other, record)}), {digits(least / claim)} times what that instance claims"
        )
    if limit[0] <= least:
        return exact
    # Which of the two numbers to quote: the limit may be above the truth, the computed loss cannot.
    once = f"may exceed the truth in 1 audit of {round(1 / (1 - limit[1]))}"
    said = f"{capital(from_runs)} is {digits(limit[0])}, but such a limit {once}"
    return f"{exact}. {said}, so quote {digits(least)}"


def _here(record: Record) -> bool:
    """Whether the costliest transcript of the audited instance, if its course is recorded, has the bound."""
    shows = words.least(record) * (1 - 1e-6)
    courses = [c.statistics.get("spent") for c in record.of_kind("alignment")]
    return any(course and abs(float(course[-1][2])) >= shows for course in courses)


def _again(record: Record) -> str:
    """Which run the page shows as a counterexample, and how it is run again; empty if none was replayed."""
    runs = [e for e in limits.strongest_first(record) if e.replayed and not e.divergence]
    if not runs:
        return ""
    other, claim = words.elsewhere(runs[0], record), record.claimed.epsilon
    shown = limits.shown(runs[0], claim) >= words.least(record) * (1 - 1e-6)
    if shown and not (other and _here(record)):
        return " It is the counterexample below, and can be run again: verify --rerun."
    where = f", with {settings(other, record)}" if other else ""
    loss, claimed = abs(float(runs[0].loss or 0.0)), float(runs[0].epsilon or claim)
    said = f"{where}: loss {digits(loss)}, claimed {digits(claimed)}"
    return f" The record contains another run, shown below{said}. Both can be run again: verify --rerun."


def _unbounded(record: Record) -> str:
    """Why no upper bound stands."""
    for check in record.of_kind("upper_bound"):
        if record.epsilon_upper is None:
            most = digits(check.result["epsilon_upper"])
            return f"We computed an upper bound of {most}. {uncounted(record, check)}"
    return "There is no upper bound; other inputs may show more."


def uncounted(record: Record, check: Check) -> str:
    """Why an upper bound does not count where the check that tests its premises refuted the claim.

    A cost above the claim contradicts no premise; a replay that left its run does.
    """
    tests = {premise["tested_by"] for premise in check.statistics["premises"]} - {""}
    if any(one.statistics.get("divergence") for one in record.checks if one.name in tests):
        return (
            f"It does not count: the {' and '.join(sorted(tests))} check, which tests its premises, failed."
        )
    return "It is above the claim, so the record does not count it; nothing contradicts its premises."
