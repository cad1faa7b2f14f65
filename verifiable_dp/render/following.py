"""The largest caveats of a record, what is open, and what to do next."""

from __future__ import annotations

import math
from dataclasses import dataclass

from verifiable_dp.compliance.nist import BEARS, HAZARDS, UNSETTLED, Reviewed, apart_worlds
from verifiable_dp.core.validate import Json
from verifiable_dp.evidence import exclusions
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import kills, questions, words
from verifiable_dp.record.decision import WEAK, caught, decision
from verifiable_dp.render import advice
from verifiable_dp.render.promised import of_a_person
from verifiable_dp.render.strength import capital, could_pass, many, variants


@dataclass(frozen=True)
class Open:
    """Open hazards that a declaration can close, or those that none can.

    Attributes
    ----------
    head
        How many they are, and who can settle them.
    groups
        What they can do, those that can void the promise first, with identifier and short name of each.
    """

    head: str
    groups: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

    @property
    def count(self) -> int:
        """How many they are."""
        return sum(len(rows) for _, rows in self.groups)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """Identifier and short name of each, the gravest first."""
        return [row for _, rows in self.groups for row in rows]

    @property
    def names(self) -> list[str]:
        """Their short names, the gravest first."""
        return [name for _, name in self.rows]

    @property
    def words(self) -> str:
        """Who can settle them, and which they are."""
        named = [f"{capital(what)}: {', '.join(name for _, name in rows)}" for what, rows in self.groups]
        return f"{self.head}. {'. '.join(named)}."

    @property
    def grave(self) -> int:
        """How many of them can void the promise."""
        return sum(len(rows) for what, rows in self.groups if what == BEARS[0].lower())


def caveats(record: Reviewed) -> list[tuple[str, str]]:
    """The largest first; each with the section that says more."""
    if not record.checks:
        return [("Privacy was not audited: only regret was measured", "not-covered")]
    found: list[tuple[str, str]] = []
    names, decided = kills.missed(record), decision(record)
    if names and len(names) > len(decided.passed):  # else the strength names them all
        found.append((f"{variants(len(names))} missed by this audit: {'; '.join(names)}", "mutants"))
    if record.verdict == "inconclusive":
        found.append((f"The audit could not decide: {words.why(record)}", "evidence"))
    unknown = any(size is None for _, size in decided.passed)  # of a leak that passed
    ratio = math.inf if unknown else decided.ratio if record.verdict != "refuted" else 0.0
    if record.plan.capped:
        found.append(("The time limit made this audit smaller than its budget", "power"))
    if ratio > WEAK and (names or record.verdict != "not_refuted"):  # else the headline says so
        found.append((capital(could_pass(record, ratio)), "power"))
    if record.verdict == "refuted" and not words.is_baseline(record):
        false = "The claim is false: nobody has the protection that it promises, with one round or several"
        found.append((false, "counterexamples"))
    guarantee = record.blocks["guarantee"]
    if guarantee:
        found += [
            (_guided(row, record.claimed.delta), "guarantee")
            for row in guarantee["guidance"]
            if row["level"] == "flag"
        ]
        found += [(said, "guarantee") for said in of_a_person(record)]
        apart = apart_worlds(record)
        found += [
            (f"Declared worlds are not neighbours under the claim: {said}", "hazards") for said in apart
        ]
    if record.claimed.observe == "shuffled":
        found.append(("The shuffler was trusted, not tested", "premises"))
    audited = bool(words.of_production(record))
    if record.target.kind == "algorithm" and not words.is_baseline(record) and not audited:
        found.append(("The noise generator that you will run was not tested", "hazards"))
    # The sentence under the verdict names these where there is a bound.
    bounded = record.epsilon_upper and record.verdict != "refuted"
    lines = words.not_covered(record, without=exclusions.EVERY if bounded else (), implied=False)
    return [*found, *((capital(line), "not-covered") for line in lines)]


def _guided(row: Json, delta: float) -> str:
    """A flag of the guidance; of delta also what it means."""
    means = (
        f": the probability of any event may be {digits(delta)} higher than epsilon allows"
        if row["about"] == "delta"
        else ""
    )
    return f"{capital(row['words'])} (NIST's draft guidance){means}"


def following(record: Reviewed, brief: bool = False, terse: int = 0) -> str:
    """What to do next; brief with what can void the promise alone.

    The names of limits are left out from `terse` 2 on, from 3 on those of questions, too.
    """
    if holes := questions.holes(record):
        return f"Do not deploy this as declared. Close {many(len(holes), 'hole')} first, then declare again."
    if not record.checks:
        return "Also audit privacy; this record says nothing about it."
    if words.is_baseline(record):
        return "Do not use this baseline on data that need privacy: it promises none, and it has none."
    if record.verdict == "refuted":
        fixed = (
            "use the corrected variant" if words.is_printed(record) else "repair the code and audit it again"
        )
        return f"Do not rely on this claim. Run the counterexample again (verify --rerun), then {fixed}."
    if record.verdict == "inconclusive":
        helps = advice.undecided(record, brief=brief)
        more = f"Audit again with more runs ({advice.more_runs(record)}) or named pairs of inputs"
        more = f"{capital(helps)}." if helps else f"{more}; this sharpens the test but gives no upper bound."
        if (ended := record.unbounded) and ended.file:
            at = f"{ended.file}:{ended.line}" if ended.line else ended.file
            first = f"First obstacle to an upper bound: {at} ({ended.what})"
            sharpen = (
                "only sharpen the test" if record.reason == "lead" else "may decide, but exclude no leak"
            )
            more = f"{first}. {more if helps else f'More runs ({advice.more_runs(record)}) {sharpen}.'}"
        return f"Do not rely on this claim yet. {more}"
    names = kills.missed(record)
    faults = "missed fault" if len(names) == 1 else f"{len(names)} missed faults"
    first = f"Check by hand for the {faults}. " if names else ""
    if words.is_printed(record):
        return f"{first}Use the corrected variant, not this printed listing: the errata say what it corrects."
    if words.keeps_own_action(record):
        first += "Keep users' actions from the operator. "
    if caught(record) > WEAK:
        option = advice.more_runs(record)
        runs = f" ({option})" if brief else f" with more runs ({option}: runs, not epsilon)"
        none = "and gives no upper bound" if record.epsilon_upper is None else "and tests no assumption"
        first += f"Audit again{runs}: this only sharpens the test{'' if brief else f' {none}'}. "
    return first + _settle(*parted(record), brief=brief, terse=max(terse, 3 if brief and first else 0))


def _settle(yours: Open, left: Open, *, brief: bool, terse: int) -> str:
    """What a declaration settles, and what it leaves."""
    grave = ", ".join(left.names[: left.grave])
    limits = f"{many(left.count, 'limit')} remain{'s' if left.count == 1 else ''}"
    limits += f", {left.grave} of which can void the promise: {grave}" if grave else ""
    if not yours.count:
        return f"Consider the hazards that no declaration settles: {limits}."
    asked, void = f"Answer {many(yours.count, 'question')}", f"{yours.grave} can void the promise"
    if not brief:
        return f"{asked}{f' ({void})' if yours.grave else ''}: {', '.join(yours.names)}. {capital(limits)}."
    if terse > 2 and yours.grave and grave:
        return f"{asked}; {yours.grave} of them and {many(left.grave, 'limit')} can void the promise."
    which = f": {', '.join(yours.names[: yours.grave])}" if terse < 3 else ""
    asked += f" ({void}{which})" if yours.grave else ""
    if not grave:
        return f"{asked}."
    if terse > 1:
        of_all = f"{left.grave} of " if terse < 3 else ""
        limits = many(left.count if of_all else left.grave, "limit")
        return f"{asked}. {capital(of_all + limits)} can {'also ' if yours.grave else ''}void the promise."
    return f"{asked}. {capital(grave)} can void the promise whatever you answer."


def open_hazards(record: Reviewed) -> tuple[Open, ...]:
    """The open hazards; none where no promise stands."""
    return () if record.verdict == "refuted" else tuple(part for part in parted(record) if part.count)


def parted(record: Reviewed) -> tuple[Open, Open]:
    """The open hazards that a declaration can close, and those that none can, which limit the evidence."""
    status = {row["id"]: row["status"] for row in record.blocks["hazards"]}
    still = {name: found for name, found in status.items() if found in UNSETTLED}
    parts = []
    for declarable, head in (
        (True, "hazards for your team to settle in a declaration (verifiable-dp declare)"),
        (False, "limits of this evidence that no declaration removes: test or accept them"),
    ):
        found = [h for h in HAZARDS if h.declarable == declarable and h.id in still]
        if holes := sum(still[h.id] == "hole" for h in found):
            head = f"{head}, {holes} of them declared as {'a hole' if holes == 1 else 'holes'}"
        groups = ((bears, tuple((h.id, h.brief) for h in found if h.bears == bears)) for bears in BEARS)
        parts.append(Open(f"{len(found)} {head}", tuple((b.lower(), rows) for b, rows in groups if rows)))
    return parts[0], parts[1]
