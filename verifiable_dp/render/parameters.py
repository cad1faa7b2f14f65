"""The parameters of a record: those that were audited, and others with which regret was measured."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from verifiable_dp.core.validate import Json, JsonValue
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.render.strength import many


@dataclass(frozen=True)
class Differs:
    """A parameter with which regret was measured, and what it is in the audited instance.

    Attributes
    ----------
    name, measured, audited
        The parameter and its two values, in words.
    private
        Whether it says how much privacy is promised.
    at
        At how many rounds that is promised, where it depends on them.
    """

    name: str
    measured: str
    audited: str
    private: bool = False
    at: str = ""


def apart(record: Record) -> str:
    """Which parameters regret was measured with, where these are not the audited ones; else empty."""
    found = differing(record)
    if not found:
        return ""
    leads = ["audited: "] + [""] * len(found)
    named = [
        f"{one.name} {one.measured}{one.at} ({lead}{one.audited})"
        for one, lead in zip(found, leads, strict=False)
    ]
    return (
        f"{words.measured(record)} was measured with different parameters: {', '.join(named)}, unless a "
        "check states its own. This says nothing about the audited parameters."
    )


def at_other_privacy(record: Record, *, brief: bool = False) -> str:
    """At which epsilon, rho or mu regret was measured, where another is promised; else empty."""
    found = [one for one in differing(record) if one.private and one.name != "delta"]
    return ", ".join(f"{one.name} {one.measured}{'' if brief else f', not {one.audited}'}" for one in found)


def differing(record: Record) -> list[Differs]:
    """Parameters with which regret was measured that are not the audited ones, those of privacy first."""
    if record.regret is None or not (record.checks and record.regret.checks):
        return []
    measured, audited = dict(record.regret.parameters), dict(record.target.parameters)
    found = [*_of_privacy(record, measured, audited)]
    known = {one.name for one in found} | {"horizon"}
    for name in {**measured, **audited}:
        there, here = measured.get(name), audited.get(name)
        if name not in known and there != here:
            found.append(Differs(_called(name, record), _value(there), _value(here)))
    rounds, horizon = {int(h) for check in record.regret_checks for h in _horizons(check)} - {0}, "horizon"
    if rounds - {audited.get(horizon)}:
        least, most = digits(min(rounds)), digits(max(rounds))
        where = f"{least} to {most}" if least != most else least
        of_it = " among them" if audited.get(horizon) in rounds else ""
        found.append(Differs(horizon, where, f"{_value(audited.get(horizon))}{of_it}"))
    return found


def _of_privacy(record: Record, measured: Json, audited: Json) -> Iterator[Differs]:
    """What is promised there and here; from the parameters alone where a record does not hold the promise."""
    claim, promise = record.claim, record.regret.promise if record.regret else None
    if claim is None or not words.promises(record):
        return
    names = (claim.curve[0] if claim.curve else "epsilon", "delta")
    for name in names:
        there = measured.get(name) if promise is None else getattr(promise, name)
        here = getattr(claim, name)
        own = {value for check in record.regret_checks for value in _own(check, name)} - {_value(there)}
        if there is None or _value(here) in (_value(there), *own):
            continue
        # What no parameter states follows from others, such as the number of rounds.
        stated = name in measured or name == "delta" or bool(own)
        rounds = "" if stated else f" at {_value(measured.get('horizon'))} rounds"
        every = sorted({_value(there), *own}, key=float) if own else [_value(there)]
        yield Differs(name, "/".join(every), _value(here), private=True, at=rounds)


def _own(check: Check, name: str) -> list[str]:
    """What a check of regret names as its own value of a parameter."""
    told = re.findall(rf"\b{name} = ([-+.e\d]*\d)", str(check.statistics.get("instance", "")))
    return [_value(float(value)) for value in told]


def _value(value: JsonValue) -> str:
    return "none" if value is None else _short(value)


def _called(name: str, record: Record) -> str:
    return settings({name: 0}, record).partition(" = ")[0]


def _horizons(check: Check) -> list[float]:
    """The horizons of a check of regret: one, or those of the points over which a rate was measured."""
    numbers = check.statistics
    if "points" in numbers and not numbers.get("over"):
        return [float(point[0]) for point in numbers["points"]]
    return [float(numbers.get("horizon") or 0)]


def settings(parameters: Json, record: Record) -> str:
    """Parameters with short values; those of the catalogue in words, names that a user chose as they are."""
    named = {key: key for key in parameters}
    if record.target.kind == "algorithm":
        named = {key: key.removeprefix("n_").replace("_", " ") for key in parameters}
        named["budget"] = "split of epsilon"
    return ", ".join(f"{named[k]} = {_short(v)}" for k, v in parameters.items())


_SHOWN = 3  # numbers of a list that are written out


def _short(value: JsonValue) -> str:
    if isinstance(value, list):
        if len(value) <= _SHOWN and all(isinstance(x, int | float) for x in value):
            return f"[{', '.join(map(_short, value))}]"
        return many(len(value), "vector" if all(isinstance(x, list) for x in value) else "value")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return digits(value) if isinstance(value, float) else str(value)
