"""What changed between two records, in the terms that decide whether a change of the code may go in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import msgspec

from verifiable_dp.compliance import blocks, nist
from verifiable_dp.core.validate import Json, JsonDict, JsonValue, named, on_one_line
from verifiable_dp.evidence import exclusions
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import kills, questions
from verifiable_dp.record.decision import EXIT, decision
from verifiable_dp.record.entries import RecordEntry
from verifiable_dp.record.model import Claim, Record
from verifiable_dp.record.requests import REQUIRED
from verifiable_dp.record.verify import first_difference

# What two runs of one audit may differ in.
_FREE = ("provenance", "digest")
_RANKS = {1: 0, 3: 1, 0: 2}  # of verdicts by their exit status: what was not checked is open
_NIST = f"({nist.DOCUMENT}, section 2.5)"
_WIDEST = 200  # characters of a value in a line
_PARAMETERS = ("epsilon", "delta", "rho", "mu")
_UNIT = ("protects", "unit", "adjacency", "relation")
_SEEN = ("observe", "trust_model")
# Settings with which an audit may pass that would not pass otherwise: whether more of it asks for less.
_ASKS_LESS = {"detect": True, "given_pairs": True, "alpha": False, "numerics": False, "mutants": False}
# Of what is asked: how much is run, or what has a direction of its own; and what the claim in a record says.
_HOW_MUCH = ("budget", "runs", "timeout", "sequential", "curve", *_ASKS_LESS)
_CLAIMED = (*_PARAMETERS, *_UNIT, *_SEEN, "model")
# What is said against one claim.
_OF_PRIVACY = ("result", "exit_status", "verdict", "strength", "checks.", "mutants.", "kill_table.")


@dataclass(frozen=True)
class Change:
    """One thing that differs.

    Attributes
    ----------
    what
        Such as ``verdict``, ``claim.epsilon`` or ``checks.alignment``.
    old, new
        JSON values; None where there is none.
    direction
        ``better``, ``worse`` or ``neutral``.
    note
        What follows, in words; empty if nothing has to be said.
    """

    what: str
    old: JsonValue
    new: JsonValue
    direction: str = "neutral"
    note: str = ""

    def line(self) -> str:
        """In one line."""
        mark = {"worse": "worse: ", "better": "better: ", "neutral": ""}[self.direction]
        old, new = _shown(self.old), _shown(self.new)
        if old == new:  # they differ beyond what is rounded or cut
            old, new = repr(self.old), repr(self.new)
        return unbroken(f"{mark}{self.what}: {old} -> {new}{f' ({self.note})' if self.note else ''}")


@dataclass(frozen=True)
class Difference:
    """Two records beside each other.

    Attributes
    ----------
    old, new
        Target and digest of each.
    changes
        What differs, the gravest first.
    provenance
        Versions, commit, times: what says nothing about the target.
    not_comparable
        Why the numbers of the two say nothing about each other; empty if they do.
    same_evidence
        Whether nothing but provenance differs.
    """

    old: Mapping[str, str]
    new: Mapping[str, str]
    changes: tuple[Change, ...]
    provenance: tuple[Change, ...]
    not_comparable: tuple[str, ...]
    same_evidence: bool

    @property
    def outcome(self) -> str:
        """``worse``, ``not_comparable``, ``better`` or ``same``: the first that applies."""
        directions = {change.direction for change in self.changes}
        if "worse" in directions:
            return "worse"
        if self.not_comparable:
            return "not_comparable"
        return "better" if "better" in directions else "same"

    def lines(self) -> list[str]:
        """For a terminal."""
        names = [f"{named(side['target'])} ({side['digest'][:19]}…)" for side in (self.old, self.new)]
        found = [unbroken(f"records {names[0]} -> {names[1]}: {self.outcome.replace('_', ' ')}")]
        found += [unbroken(f"  not comparable: {reason}") for reason in self.not_comparable]
        found += [f"  {change.line()}" for change in self.changes]
        if self.same_evidence:
            found.append("  only provenance differs" if self.provenance else "  nothing differs")
        found += [f"  provenance: {change.line()}" for change in self.provenance]
        return found

    def as_dict(self) -> JsonDict:
        """JSON values."""
        return {
            "old": dict(self.old),
            "new": dict(self.new),
            "outcome": self.outcome,
            "same_evidence": self.same_evidence,
            "not_comparable": list(self.not_comparable),
            "changes": [asdict(change) for change in self.changes],
            "provenance": [asdict(change) for change in self.provenance],
        }


def compare(old: Record, new: Record) -> Difference:
    """Compare two records, which have been verified.

    Worse are: a lower verdict on privacy or regret, overall or of a check (refuted and contradicted are
    lowest, then inconclusive, vacuous and not checked), a check that held and is gone, a mutant that is no
    longer caught, a claim that promises less or is gone, a hole in the declarations that was not there, less
    evidence that is required, and whatever else makes the result or the exit status worse. Numbers alone
    decide nothing.

    Records of targets with different names are not comparable: what differs is listed, and nothing of it is
    better or worse. Of one target, privacy is compared only if both claims are of one measure, delta and unit
    of privacy: guarantees that differ in these cannot be compared. Regret is, nevertheless.

    Source
    ------
    NIST SP 800-226, initial public draft, section 2.5 (hazards H05 and H06 in `nist`).
    """
    others = tuple(_other_target(old, new))
    claims, instances = tuple(_incomparable(old.claim, new.claim)), tuple(_other_instance(old, new))
    reasons = (*others, *claims, *instances, *_other_question(old, new))
    found = [
        *_target(old, new),
        *_verdicts(old, new),
        *_strengths(old, new),
        *_claim(old.claim, new.claim, bool(others or claims)),
        *_checks(old, new),
        *_mutants(old, new),
        *_kill_tables(old, new),
        *([] if others or claims else _numbers(old, new)),
        *_uncovered(old, new),
        *_settings(old, new),
        *_declared(old, new),
        *_holes(old, new),
    ]
    found = [*_decided(old, new, found), *found]
    if others:
        found = [_undirected(change) for change in found]
    elif reasons and old.claim and new.claim:  # a claim that is gone stays worse than one that is there
        of_privacy = [c for c in found if c.what.startswith(_OF_PRIVACY)]
        apart = [
            c for c in of_privacy if claims or c.direction == "better"
        ]  # on another instance worse stays
        found = [_undirected(c) if c in apart else c for c in found]
    place = first_difference(_evidence(old), _evidence(new))
    if place and not found and not reasons:
        found.append(Change(place, None, None, note="nothing that decides a verdict"))
    order = ("worse", "better", "neutral")
    return Difference(
        old=_side(old),
        new=_side(new),
        changes=tuple(sorted(found, key=lambda change: order.index(change.direction))),
        provenance=tuple(_provenance(old, new)),
        not_comparable=reasons,
        same_evidence=not place,
    )


def _evidence(record: Record) -> JsonDict:
    """What a record holds beside provenance; no declarations are empty ones."""
    held = {key: value for key, value in record.as_dict().items() if key not in _FREE}
    return {**held, "declarations": record.declared}


def _side(record: Record) -> dict[str, str]:
    return {"target": record.target.name, "digest": str(record.digest)}


def _shown(value: JsonValue) -> str:
    if value is None:
        return "none"
    words = digits(value) if isinstance(value, float) else str(value)
    words = " ".join(words.split())
    return words if len(words) <= _WIDEST else f"{words[: _WIDEST - 1]}…"


def unbroken(line: str) -> str:
    """Without line breaks and what steers a terminal."""
    return on_one_line("".join(c if c.isprintable() else " " for c in line))


def _rank(verdict: str | None) -> int:
    return _RANKS[EXIT.get(verdict or "", 3)]


def _direction(old: str, new: str) -> str:
    before, after = _rank(old), _rank(new)
    return "worse" if after < before else "better" if after > before else "neutral"


def _measure(claim: Claim) -> str:
    if claim.mu is not None:
        return "trade-off function of Gaussian differential privacy (mu)"
    if claim.rho is not None:
        return "zero-concentrated divergence (rho)"
    return "hockey-stick divergence (epsilon, delta)" if claim.delta else "max divergence (epsilon)"


def _other_target(old: Record, new: Record) -> Iterator[str]:
    names = [record.target.name for record in (old, new)]
    if names[0] != names[1]:
        yield f"their targets differ: {names[0]} and {names[1]}"


def _undirected(change: Change) -> Change:
    """Neither better nor worse, and without the words for that."""
    return change if change.direction == "neutral" else replace(change, direction="neutral", note="")


def _incomparable(old: Claim | None, new: Claim | None) -> Iterator[str]:
    if old is None or new is None:
        if (old is None) != (new is None):
            yield "only one of the records states a privacy claim"
        return
    if _measure(old) != _measure(new):
        yield f"the measures differ: {_measure(old)} and {_measure(new)} {_NIST}"
    elif old.delta != new.delta:
        deltas = f"{old.delta:g} and {new.delta:g}"
        yield f"guarantees with different delta cannot be compared: {deltas} {_NIST}"
    for key in (*_UNIT, *_SEEN):
        before, after = (claim.as_dict().get(key) for claim in (old, new))
        if before != after:
            units = f"{_shown(before)} and {_shown(after)}"
            yield f"guarantees with different {key} cannot be compared: {units} {_NIST}"


def _other_instance(old: Record, new: Record) -> Iterator[str]:
    """What was audited differs in a parameter, a size or a bound: nobody knows which of the two asks more.

    What is promised is compared as the claim.
    """
    promised = _PARAMETERS if old.claim and new.claim else ()
    for change in _by_key("", old.target.parameters, new.target.parameters, free=promised):
        yield f"they differ in {change.what}: {_shown(change.old)} and {_shown(change.new)}"


def _other_question(old: Record, new: Record) -> Iterator[str]:
    """What else was asked differs, such as the neighbours: only what says how much is run may do so."""
    before, after = (record.provenance.request for record in (old, new))
    if before is None or after is None or before.question != after.question:
        return
    instance = (*old.target.parameters, *new.target.parameters)
    promised = () if before.question == "regret" else _CLAIMED
    for what, free in (("claim", promised), ("inputs", instance), ("plan", _HOW_MUCH)):
        for change in _by_key("", getattr(before, what), getattr(after, what), free=free):
            values = f"{_shown(change.old)} against {_shown(change.new)}"
            yield f"they answer different questions: {change.what} is {values}; ask both the same {what}"


def _target(old: Record, new: Record) -> Iterator[Change]:
    named = (_held(r.target, "name", "kind", "role", "note") for r in (old, new))
    files = ({"sha256": r.target.source.sha256[:12] or None} for r in (old, new))
    yield from _by_key("target", *named)
    yield from _by_key("target.parameters", old.target.parameters, new.target.parameters)
    yield from _by_key("target.source", *files)


def _held(part: RecordEntry, *keys: str) -> JsonDict:
    """Values of a part of a record as the record has them; none where they are empty or left out."""
    values = part.as_dict()
    return {key: values[key] for key in keys if values.get(key) not in (None, "")}


def _by_key(what: str, old: Json, new: Json, *, free: Sequence[str] = ()) -> Iterator[Change]:
    """What differs under the keys of two mappings; `what` is their name, if they have one."""
    for key in dict.fromkeys([*old, *new]):
        left, right, place = old.get(key), new.get(key), f"{what}.{key}" if what else key
        if key in free or left == right:
            continue
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            yield from _by_key(place, left, right)
        else:
            yield Change(place, left, right)


def _privacy(record: Record) -> str:
    return str(record.verdict) if record.checks else "not_checked"


def _regret(record: Record) -> str:
    return str((record.regret.verdict if record.regret else None) or "not_checked")


def _verdicts(old: Record, new: Record) -> Iterator[Change]:
    for what, of in (("verdict", _privacy), ("regret.verdict", _regret)):
        before, after = of(old), of(new)
        if before != after:
            yield Change(what, before, after, _direction(before, after))


_RESULTS = ("failed", "undecided", "passed")


def _decided(old: Record, new: Record, found: Sequence[Change]) -> Iterator[Change]:
    """What the two come to for a gate, where nothing that was found says that it is worse, or better."""
    if old.claim is None or new.claim is None:  # that it is gone says more, and of regret its verdict
        return
    before, after, said = decision(old), decision(new), {change.direction for change in found}
    for what, left, right, ranks in (
        ("result", before.result, after.result, [_RESULTS.index(one.result) for one in (before, after)]),
        ("exit_status", before.exit_code, after.exit_code, [_RANKS[d.exit_code] for d in (before, after)]),
    ):
        direction = "worse" if ranks[1] < ranks[0] else "better"
        if ranks[0] != ranks[1] and direction not in said:
            yield Change(what, left, right, direction)


def _holes(old: Record, new: Record) -> Iterator[Change]:
    """Answers in the declarations that void the promise: a new one does so whatever is compared."""
    before, after = ([hole.question.id for hole in questions.holes(record)] for record in (old, new))
    for one in [one for one in after if one not in before]:
        yield Change(f"holes.{one}", None, "hole", "worse", "it voids the promise")
    for one in [one for one in before if one not in after]:
        yield Change(f"holes.{one}", "hole", None, "better", "closed")


def _strengths(old: Record, new: Record) -> Iterator[Change]:
    """Of audits that found nothing; where a claim is refuted the verdict says it."""
    if old.claim is None or new.claim is None:
        return
    before, after = decision(old).strength, decision(new).strength
    if {before, after} == {"strong", "weak"}:
        yield Change("strength", before, after, "worse" if after == "weak" else "better")


def _claim(old: Claim | None, new: Claim | None, apart: bool) -> Iterator[Change]:
    """What is promised: a larger epsilon is a weaker promise where the two can be compared."""
    if old is None or new is None:
        if old is not None:
            yield Change("claim", f"epsilon {digits(old.epsilon)}", None, "worse", "the claim is missing")
        if new is not None:
            yield Change("claim", None, f"epsilon {digits(new.epsilon)}")
        return
    for key in _PARAMETERS:
        before, after = (getattr(c, key) for c in (old, new))
        if before == after:
            continue
        if apart or before is None or after is None:
            yield Change(f"claim.{key}", before, after)
        elif after > before:
            yield Change(f"claim.{key}", before, after, "worse", "a weaker promise")
        else:
            yield Change(f"claim.{key}", before, after, "better", "a stronger promise")
    for change in _by_key("claim", *(_held(claim, *_UNIT, *_SEEN) for claim in (old, new))):
        seen = change.what == "claim.observe"
        yield replace(change, note="an adversary who sees something else") if seen else change


def _listed(record: Record, group: str) -> dict[str, Check]:
    """Checks by name; a name that comes again gets its number."""
    checks = record.checks if group == "checks" else record.regret_checks
    found: dict[str, Check] = {}
    for check in checks:
        name, count = check.name, 2
        while name in found:
            name, count = f"{check.name} #{count}", count + 1
        found[name] = check
    return found


def _checks(old: Record, new: Record) -> Iterator[Change]:
    same = old.target.name == new.target.name
    for group in ("checks", "regret.checks"):
        before, after = _listed(old, group), _listed(new, group)
        if not before or not after:
            continue  # the verdict says it: not checked
        for name in dict.fromkeys([*before, *after]):
            left, right = (side[name].verdict if name in side else None for side in (before, after))
            what = f"{group}.{name}"
            if left is not None and right is not None and left != right:
                yield Change(what, left, right, _direction(left, right))
            elif right is None:
                gone = "worse" if same and _rank(left) == 2 else "neutral"
                yield Change(what, left, None, gone, "this check is missing")
            elif left is None:
                yield Change(what, None, right, "worse" if _rank(right) == 0 else "neutral", "a new check")


def _mutants(old: Record, new: Record) -> Iterator[Change]:
    before, after = ({m.name: m.verdict for m in record.mutants} for record in (old, new))
    if bool(before) != bool(after):
        yield Change(
            "mutants", len(before), len(after), note="broken variants were audited in only one of the records"
        )
        return
    for name in dict.fromkeys([*before, *after]):
        left, right = before.get(name), after.get(name)
        if left == right:
            continue
        caught = [_rank(verdict) == 0 for verdict in (left, right)]
        if left is None or right is None:
            yield Change(f"mutants.{name}", left, right, note="in only one of the records")
        elif caught[0] != caught[1]:
            note = "no longer caught" if caught[0] else "caught now"
            yield Change(f"mutants.{name}", left, right, "worse" if caught[0] else "better", note)
        else:
            yield Change(f"mutants.{name}", left, right)


def _kill_tables(old: Record, new: Record) -> Iterator[Change]:
    """Mutants of the kill table that were not caught before or are not now."""
    if (old.kill_table is None) != (new.kill_table is None):
        note = "one of the records has no results of a suite of broken variants"
        left, right = (r.kill_table.digest if r.kill_table else None for r in (old, new))
        yield Change("kill_table", left, right, note=note)
        return
    before, after = ({row.mutant: row.outcome for row in kills.others(r)} for r in (old, new))
    for name in dict.fromkeys([*before, *after]):
        left, right = before.get(name), after.get(name)
        if left == right:
            continue
        worse, better = right == "survived", left == "survived"
        yield Change(
            f"kill_table.{name}",
            kills.OUTCOMES.get(left or "", "not among the missed"),
            kills.OUTCOMES.get(right or "", "not among the missed"),
            "worse" if worse else "better" if better else "neutral",
        )


def _numbers(old: Record, new: Record) -> Iterator[Change]:
    """Bound and power: they are shown and decide nothing, for chance and the budget move them, too."""
    if old.checks and new.checks:
        before, after = float(old.epsilon_lower), float(new.epsilon_lower)
        if before != after:
            note = "" if old.claimed.observe == new.claimed.observe else "of different adversaries"
            yield Change("epsilon_lower", before, after, note=note)
    bounds = [{"epsilon_upper": r.epsilon_upper.epsilon if r.epsilon_upper else None} for r in (old, new)]
    yield from _by_key("", *bounds)
    powers = [
        {
            "by": r.power.by,
            "smallest_epsilon": float(r.power.smallest_epsilon),
            "probability": float(r.power.probability),
        }
        if r.power
        else {}
        for r in (old, new)
    ]
    yield from _by_key("power", *powers)


def _uncovered(old: Record, new: Record) -> Iterator[Change]:
    before, after = ([exclusions.in_words(one.id, one.values) for one in r.not_covered] for r in (old, new))
    yield from (Change("not_covered", None, line) for line in after if line not in before)
    yield from (Change("not_covered", line, None) for line in before if line not in after)


def _settings(old: Record, new: Record) -> Iterator[Change]:
    yield from _by_key("", *({"seed": r.seed, "confidence": r.confidence} for r in (old, new)))
    for change in _by_key("plan", old.plan.as_dict(), new.plan.as_dict()):
        name, values = change.what.removeprefix("plan."), (change.old or 0, change.new or 0)
        if name in _ASKS_LESS and values[1] != values[0]:
            less = (values[1] > values[0]) == _ASKS_LESS[name]
            note = "the audit asks for less" if less else "the audit asks for more"
            change = replace(change, direction="worse" if less else "better", note=note)
        yield change
    requests = (record.provenance.request for record in (old, new))
    asked = [(one.require if one else None) or REQUIRED[0] for one in requests]
    if asked[0] != asked[1]:
        less = REQUIRED.index(asked[1]) < REQUIRED.index(asked[0])
        note = "the audit asks for less" if less else "the audit asks for more"
        yield Change("require", asked[0], asked[1], "worse" if less else "better", note)


def _declared(old: Record, new: Record) -> Iterator[Change]:
    """Declarations, and the hazards whose status follows from them."""
    before, after = old.declared, new.declared
    yield from _by_key("declarations", before, after)
    if before != after:
        left, right = (
            blocks.of(msgspec.structs.replace(new, declarations=stated))["hazards"]
            for stated in (before, after)
        )
        yield from _by_key("hazards", _statuses(left), _statuses(right))


def _statuses(hazards: Sequence[Json]) -> JsonDict:
    return {row["id"]: row["status"] for row in hazards}


def _provenance(old: Record, new: Record) -> Iterator[Change]:
    """Versions, machine and commit; times differ always."""
    left, right = old.provenance.as_dict(), new.provenance.as_dict()
    yield from _by_key("packages", left["packages"], right["packages"])
    yield from _by_key("", left, right, free=("packages", "started", "finished", "cpu_seconds"))
    yield from _by_key("", *({"started": side["started"]} for side in (left, right)))
