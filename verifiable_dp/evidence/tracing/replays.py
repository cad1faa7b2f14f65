"""Rung 1 for a user's bandit: traced runs on neighbouring rewards, the costliest, and what leaks where."""

from __future__ import annotations

import ast
import linecache
from dataclasses import replace

from verifiable_dp.core.neighbours import ContextPair
from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.alignment.checking import cost_scales
from verifiable_dp.evidence.alignment.replay import at_least, exceeds
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.tracing import flow, laws
from verifiable_dp.evidence.tracing.examining import MOST_LEADS, TracingFound, shares
from verifiable_dp.evidence.tracing.ledger import (
    DATA,
    OF_USERS,
    Chosen,
    Lead,
    Note,
    NoteKind,
    Place,
    Release,
    words_of,
)
from verifiable_dp.evidence.tracing.numbers import TracingResult, TracingStatistics
from verifiable_dp.evidence.tracing.trace import Traced
from verifiable_dp.evidence.words import digits

FIXED = "the noise does not depend on epsilon"


TRACING = Kind(
    "tracing",
    "privacy",
    "randomness alignment of traced code: tracked rewards and noise, same releases",
    "Zhang & Kifer, LightDP: Towards Automating Differential Privacy Proofs, POPL 2017",
    short="tracing",
    rank=30,
    counts=True,
    statistics=TracingStatistics,
    result=TracingResult,
)


def without(found: TracingFound, other: Traced, epsilons: tuple[float, float]) -> TracingFound:
    """With a note of each line whose noise is the same where the code is made for another epsilon.

    `other` is the worst pair of runs of the code made for the second of the two epsilons.
    """
    assert found.worst is not None
    here, there = (_noise_of(traced) for traced in (found.worst, other))
    same = [place for place, seen in here.items() if there.get(place) == seen]
    notes = tuple(
        (
            Note(
                NoteKind.FIXED,
                f"{FIXED}: the release here costs {digits(here[place][0])}, and its noise has the same "
                f"scale, {digits(here[place][1][0])}, for epsilon {epsilons[0]:g} and for {epsilons[1]:g}",
            ),
            place,
        )
        for place in same
    )
    return replace(found, notes=(*found.notes, *notes))


def _noise_of(traced: Traced) -> dict[Place, tuple[float, tuple[float, ...]]]:
    """What one release of each line costs at most, and the scales of its noise; of lines that cost."""
    costs: dict[Place, float] = {}
    scales: dict[Place, set[float]] = {}
    for release, row in zip(traced.here.ledger.releases, traced.loss.each.tolist(), strict=False):
        if isinstance(release, Release):
            costs[release.place] = max(costs.get(release.place, 0.0), float(f"{row[1]:.9g}"))
            spread = {float(f"{one:.9g}") for one in release.law.spread.tolist()}
            scales[release.place] = scales.get(release.place, set()) | spread
    return {place: (paid, tuple(sorted(scales[place]))) for place, paid in costs.items() if paid > 0}


# ---------------------------------------------------------------- the check


def _attained(found: TracingFound) -> bool:
    """Whether the cost of a pair of runs is one that its reports attain: it is no bound that may be loose.

    Reports are the first noisy values of a reward. Where the function that adds the noise, or one called
    `report`, makes something else of them before it returns, they are not what leaves it. Where a run does
    not repeat, something unseen decides it.
    """
    worst = found.worst
    if worst is None or worst.loss.divergence or not worst.loss.same_output or worst.flipped:
        return False
    ledger, inside = worst.here.ledger, _reporting(found.files, found.actions)
    unseen = [note for note in ledger.notes if note.kind in (NoteKind.UNFOLLOWED_DRAWS, NoteKind.COMPILED)]
    if unseen or not found.repeats:
        return False
    for release, row in zip(ledger.releases, worst.loss.each.tolist(), strict=False):
        if row[1] <= 0 or not isinstance(release, Release):
            continue
        user, maker = inside.get(release.at, ""), inside.get(release.place, "")
        changed = user and (user == maker or user.startswith("report:"))
        if changed or laws.family(release.law.kind) in ("two_sided_gamma", "two_sided_polya"):
            return False
    # Other randomness may go into what is reported, and a report then hides more than its noise alone.
    if any(isinstance(one, Release) and one.pure and one.at not in found.choosing for one in ledger.releases):
        return False
    coins = [coin for coin in ledger.coins if coin.place not in found.choosing]
    return len(coins) <= sum(isinstance(release, Chosen) for release in ledger.releases)


def _reporting(files: frozenset[str], actions: tuple[Place, ...]) -> dict[Place, str]:
    """By line the function that it belongs to, if that returns a value; not those that return actions."""
    found: dict[Place, str] = {}
    for file in files:
        try:
            nodes = list(ast.walk(ast.parse("".join(linecache.getlines(file)))))
        except SyntaxError:
            continue
        for node in nodes:  # what is inside comes after what is around it
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{node.name}:{node.lineno}" if _returns(node) else ""
                found |= {Place(file, line): name for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    choosing = {found.get(place, "") for place in actions}
    return {place: name for place, name in found.items() if name and name not in choosing}


def _returns(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function returns something."""
    return any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(function))


def _shared(found: TracingFound) -> list[Lead]:
    """Lines at which one draw hides rewards of several rounds."""
    rounds: dict[tuple[int, Place], set[int]] = {}
    for payment in found.payments:
        for drawn in payment.draws:
            rounds.setdefault(drawn, set()).add(payment.round)
    places = {place for (_, place), paid in rounds.items() if len(paid) > 1}
    return [Lead("shared", place) for place in sorted(places, key=lambda place: (place.file, place.line))]


def check(
    found: TracingFound, epsilon: float, *, name: str = "tracing", local: bool = False, delta: float = 0.0
) -> Check:
    """What tracing says of a claim about actions, or in the local model about the report of each reward."""
    worst = found.worst
    if local:
        found = replace(found, leads=(*_shared(found), *found.leads))
    data = OF_USERS if isinstance(found.pair, ContextPair) else DATA
    statistics: JsonDict = {
        "epsilon": epsilon,
        **({"delta": delta} if delta > 0 else {}),
        "examined": found.examined,
        "failure": found.failure,
        "releases": 0,
        "coins": {},
        "draws": 0,
        "max_cost": 0.0,
        "loss": 0.0,
        "rho": plain(found.rho),
        "divergence": None,
        "same_output": True,
        "leads": [
            {**lead_as_dict(lead, data), "open": (lead.what, lead.place) not in found.covered}
            for lead in found.leads
        ],
        "notes": [
            {"kind": str(note.kind), "what": note.words, "file": at.file, "line": at.line}
            for note, at in found.notes
        ],
        "attribution": [
            [one.round, one.arm, plain(flow.charged(one.cost, one.rho, delta))] for one in found.payments
        ],
        "shares": [],
        "spent": [],
        "flow": [],
        "excerpts": [],
        "pair": found.pair.as_dict() if found.pair is not None else None,
        "seed": found.seed,
    }
    if worst is not None:
        statistics |= {
            "releases": len(worst.here.ledger.releases),
            "coins": dict(worst.coins),
            "draws": worst.here.ledger.draws,
            "max_cost": plain(worst.loss.bound),
            "loss": plain(worst.loss.total),
            "divergence": worst.loss.divergence.as_dict() if worst.loss.divergence else None,
            "same_output": worst.loss.same_output,
            "shares": [
                {
                    "file": share.place.file,
                    "line": share.place.line,
                    "releases": len(share.releases),
                    "cost": plain(share.cost),
                }
                for share in shares(worst, delta)[:MOST_LEADS]
            ],
            "spent": [[n, plain(paid)] for n, paid in flow.spent(worst.loss.each[:, 1:], delta)],
            **_way(found, worst, data, delta),
        }
    if local:
        statistics["attained"] = _attained(found)
    return Check.of(name, "tracing", statistics)


def _way(found: TracingFound, worst: Traced, data: str, delta: float) -> JsonDict:
    """The way from reward to release to action, and the lines of source that show it."""
    leads = [(lead, (lead.what, lead.place) not in found.covered) for lead in found.leads]
    costs = {share.place: share.cost for share in shares(worst, delta)}
    ended = worst.loss.divergence
    steps = flow.steps(worst.here.ledger, costs, leads, found.actions, found.files, ended, data)
    return {
        "flow": [step.as_dict() for step in flow.in_order(steps)],
        "excerpts": [excerpt.as_dict() for excerpt in flow.excerpts(steps)],
    }


def lead_as_dict(lead: Lead, data: str = DATA) -> JsonDict:
    """A lead as it stands in a check, but for whether it is open."""
    return {
        "what": lead.what,
        "words": words_of(lead.what, data),
        "file": lead.place.file,
        "line": lead.place.line,
        "source": linecache.getline(lead.place.file, lead.place.line).strip(),
        "count": lead.count,
    }


def dearest(numbers: Json) -> float:
    """The largest cost of a check's transcripts; at the delta of the claim where all noise is normal.

    That has no bound on the loss of a run, so that its cost at delta 0 is infinite however large it is.
    """
    paid, rho, delta = float(numbers["max_cost"]), float(numbers["rho"]), float(numbers.get("delta", 0.0))
    return flow.charged(paid, rho, delta) if numbers["same_output"] else paid


@TRACING.judged_by(cost_scales)
def _judge(statistics: Json) -> JsonDict:
    """Where only actions are seen, tracing refutes nothing: it leads the black box, whose level is known.

    A cost above epsilon bounds what the actions give away. Other actions without any noise that was seen may
    still come from a source that tracing does not see, such as a file or another program. `holds` says
    whether the transcripts examined stay within the claim, with no lead open and all of the code followed.
    """
    epsilon, paid = float(statistics["epsilon"]), dearest(statistics)
    over = exceeds(paid, epsilon)
    holds = (
        statistics["examined"]
        and not statistics["failure"]
        and statistics["same_output"]
        and not any(lead["open"] for lead in statistics["leads"])
        and not _unfollowed(statistics)
        and not over
    )
    # In the local model the reports are seen: what one of them costs is exact where their law attains it.
    exact = bool(statistics.get("attained")) and statistics["examined"] and not statistics["failure"]
    local = {"detectable": epsilon} if exact and holds else {}
    # With delta a run may cost more than epsilon; what normal noise costs at delta is exact.
    exact = exact and not (float(statistics.get("delta", 0.0)) > 0 and paid == float(statistics["max_cost"]))
    return {
        "verdict": "refuted" if exact and over else "not_refuted",
        "holds": bool(holds),
        "epsilon_lower": plain(at_least(paid, epsilon)) if exact else 0.0,
        "cost_over_epsilon": plain(paid / epsilon),
        **local,
    }


def _unfollowed(statistics: Json) -> list[Json]:
    """Where rewards go where they are not followed."""
    return [note for note in statistics["notes"] if note["kind"] == NoteKind.UNFOLLOWED]


@TRACING.worded_by
def _tracing_in_words(numbers: Json, result: Json) -> str:
    if numbers["failure"]:
        return f"the code could not be traced: {numbers['failure']}"
    runs = f"{numbers['examined']} replayed runs"
    if numbers["same_output"]:
        of = " of the reports of one reward" if "attained" in numbers else ""
        paid, claimed = dearest(numbers), digits(numbers["epsilon"])
        at = "" if paid == float(numbers["max_cost"]) else f" at delta {digits(numbers['delta'])}"
        found = f"largest cost{of} {digits(paid)}{at} in {runs}, claimed {claimed}"
    elif numbers["divergence"]:
        found = f"the replay could not follow the code in {runs}"
    else:
        found = f"the actions differ between the two inputs in {runs}"
    if is_lead(numbers, result):
        return f"{found}; this is a lead, not proof"
    lost = [f"line {note['line']} of {note['file']}" for note in _unfollowed(numbers)]
    return (
        f"{found}; we could not follow the code from {', '.join(lost)}, which may leak more"
        if lost
        else found
    )


def is_lead(numbers: Json, result: Json) -> bool:
    """Whether tracing says something against the claim that refutes nothing: only the actions are seen."""
    seen = numbers["examined"] and not numbers["failure"]
    followed = {**numbers, "notes": [n for n in numbers["notes"] if n not in _unfollowed(numbers)]}
    return bool(seen and result["verdict"] != "refuted" and not _judge(followed)["holds"])
