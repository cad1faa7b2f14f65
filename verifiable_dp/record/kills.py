"""Broken variants in a record: those that its audit tried, and what the kill table says of its algorithm.

What the table says is part of the record, so that pages follow from the record alone, wherever it lies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verifiable_dp.core.validate import InputError, Json
from verifiable_dp.record import words
from verifiable_dp.record.differences import first_difference
from verifiable_dp.record.model import Caught, KillTable, MutantEntry, Passed, Record

OWN = "auditor"  # the origin of mutants that belong to an auditor; a record tries some of these itself
_PROMISE = ("epsilon", "delta", "observe")


def of_table(table: Json, record: Record) -> KillTable | None:
    """What a kill table says of the algorithm and the promise of a record, as the record keeps it.

    None where the table has no mutant of this algorithm with this promise, and for a listing as printed.
    """
    target, claim = record.target, record.claim
    if target.kind != "algorithm" or claim is None or words.is_printed(record):
        return None
    rows = [
        row
        for row in table["mutants"]
        if row["algorithm"] == target.name and all(row[key] == getattr(claim, key) for key in _PROMISE)
    ]
    own = [row["outcome"] == "killed" for row in rows if row["origin"] == OWN]
    made = [row["outcome"] == "killed" for row in rows if row["origin"] != OWN]
    passed = [row for row in rows if row["outcome"] != "killed"]
    found = KillTable(
        digest=table["digest"],
        caught=Caught(auditor=sum(own), operators=sum(made)),
        others=tuple(Passed(**{name: row[name] for name in Passed.__struct_fields__}) for row in passed),
    )
    return found if rows else None


def compared(record: Record, tables: Mapping[str, Json]) -> str:
    """What is known of the suite's results in a record, which no rerun of its audit makes; empty without.

    Parameters
    ----------
    record
        A record that holds.
    tables
        The kill tables beside it that hold, by their names.

    Raises
    ------
    InputError
        If the table that the record names says something else.
    """
    stated = record.kill_table
    if stated is None:
        return ""
    tried = stated.caught.auditor + stated.caught.operators + len(stated.others)
    what = f"results of the suite's {tried} broken variants"
    for name, table in tables.items():
        if table["digest"] == stated.digest:
            try:
                found = of_table(table, record)
            except (KeyError, TypeError) as error:  # values of a stranger, in whatever form
                raise InputError(
                    f"record: {name} is not a table of broken variants: {error!r}"[:200]
                ) from None
            expected = None if found is None else found.as_dict()
            if difference := first_difference(stated.as_dict(), expected, "kill_table"):
                raise InputError(f"the record's results on broken variants differ from {name}: {difference}")
            return f"{what} as in {name}"
    return f"{what} not compared: no mutants.json with their digest next to the record"


# What became of a broken variant, in words: what a suite's file calls each outcome is its key.
OUTCOMES = {
    "killed": "caught",
    "survived": "missed",
    "within_the_claim": "within the claim",
    "undecided": "undecided",
}
UNDECIDED = (
    "no test caught these, and we do not know how much they leak: each may or may not keep the promise"
)


def others(record: Record) -> Sequence[Passed]:
    """Mutants of the kill table that the audit did not catch; none where the record has nothing of it."""
    return record.kill_table.others if record.kill_table else ()


def survived(record: Record) -> list[Passed]:
    """Those of them that break the promise."""
    return [row for row in others(record) if row.outcome == "survived"]


def own_missed(record: Record) -> list[MutantEntry]:
    """Mutants of the record's own audit that it did not catch."""
    return [mutant for mutant in record.mutants if not mutant.caught]


def missed(record: Record) -> list[str]:
    """Names of the broken variants that passed: the record's own mutants, and those of the kill table."""
    return [
        *(mutant.name for mutant in own_missed(record)),
        *(row.mutant for row in survived(record)),
    ]


def missed_of_bounding(record: Record) -> list[str]:
    """Names of those whose fault is in how one contribution is bounded."""
    own = [mutant.name for mutant in own_missed(record) if mutant.bounding]
    return [*own, *(row.mutant for row in survived(record) if row.origin == "truncation")]


def undecided(record: Record) -> list[str]:
    """Names of mutants of the kill table that neither were caught nor are known to keep the promise."""
    return [row.mutant for row in others(record) if row.outcome == "undecided"]


def counted(record: Record) -> str:
    """Mutants caught of those that were tried, in a few characters; empty without any."""
    own, table = record.mutants, record.kill_table
    if not own and not table:
        return ""
    # The kill table holds the auditor's own mutants, too: those of the record count once.
    passed = [row for row in survived(record) if row.origin != OWN or not own]
    beyond = (table.caught.operators + (0 if own else table.caught.auditor)) if table else 0
    return f"{words.caught(own) + beyond} of {len(own) + beyond + len(passed)}"


def of_own(mutants: Sequence[MutantEntry]) -> str:
    """How many of its own broken variants an audit caught."""
    found, count = words.caught(mutants), len(mutants)
    if count and found == count:
        return "its only broken variant" if count == 1 else f"all {count} of its broken variants"
    return f"{found} of its {count} broken variants"


def tried(record: Record) -> str:
    """How many mutants came out how; names those that were missed."""
    own, table = record.mutants, record.kill_table
    kinds = dict.fromkeys([*(mutant.breaks for mutant in own), *(["privacy"] if table else [])])
    said = f"Each of these versions of the algorithm has one planted fault, in its {' or '.join(kinds)}. "
    said += "The audit must catch those that break the promise. "
    said += f"This audit caught {of_own(own)}"
    if table:
        caught, outcomes = (
            table.caught.auditor + table.caught.operators,
            [row.outcome for row in table.others],
        )
        parts = [f"{caught} caught"] if caught else []
        for outcome in ("within_the_claim", "undecided"):
            parts += [f"{outcomes.count(outcome)} {OUTCOMES[outcome]}"] if outcome in outcomes else []
        parts.append(f"{outcomes.count('survived')} missed")
        size = caught + len(outcomes)
        said += f". The catalogue's suite overlaps with these. Of its {size} broken variants: "
        said += ", ".join(parts)
    parts = [f"Missed: {'; '.join(names)}"] if (names := missed(record)) else []
    parts += [f"Undecided: {'; '.join(names)} ({UNDECIDED})"] if (names := undecided(record)) else []
    return f"{said}. {'. '.join(parts) or 'None was missed'}."
