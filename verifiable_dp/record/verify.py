"""Verification: does a record say what its own numbers say, and do its numbers come out again?"""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from verifiable_dp.core import files, plugins
from verifiable_dp.core.validate import InputError, Json, JsonDict, JsonValue, named, named_arguments
from verifiable_dp.evidence import premises, rounding, upper
from verifiable_dp.evidence.alignment.replay import TOLERANCE
from verifiable_dp.evidence.check import Check, in_words, judged, limits_of
from verifiable_dp.evidence.exclusions import settles
from verifiable_dp.record import conclude, declarations, kills, questions, words
from verifiable_dp.record.differences import CHECK_KEYS, shortened
from verifiable_dp.record.differences import GONE as GONE
from verifiable_dp.record.differences import Apart as Apart
from verifiable_dp.record.differences import apart as apart
from verifiable_dp.record.differences import first_difference as first_difference
from verifiable_dp.record.model import Record
from verifiable_dp.record.provenance import installed
from verifiable_dp.record.requests import asked_of
from verifiable_dp.record.sealing import SCHEMA_VERSION, SCHEMAS, canonical, digest, plain, schema
from verifiable_dp.targets import variables

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

LARGEST = 64 << 20  # bytes of a file
_DIGITS = 300  # of a whole number: what reads it takes a float
_DEEPEST = 64
# What a rerun does not make: when and where it ran, and what others say or have tried.
_FREE = ("provenance", "digest", "declarations", "kill_table")
_SHOWN = 100  # errors of the schema that are looked at
_OF_INSTANCE = ("instance", "epsilon", "rounds")  # of a counterexample: where it was found
_WORDS = ("words", "event", "pair")


@dataclass(frozen=True)
class Verified:
    """A record that holds.

    Attributes
    ----------
    record : dict
        What was read.
    checks : int
        Number of checks that were judged again.
    rerun : bool
        Whether it was also run again, with equal counts.
    signature : str
        What is known of its signature, in words; empty if none was looked for.
    suite : str
        What is known of the results of the suite of broken variants, in words (`kills.compared`).
    """

    record: Json
    checks: int
    rerun: bool
    signature: str = ""
    suite: str = ""

    @functools.cached_property
    def parsed(self) -> Record:
        """The record as a type."""
        return Record.of(self.record)

    def summary(self) -> str:
        """In one line."""
        record = self.parsed
        regret = record.regret.verdict if record.regret else "not checked"
        resumed = "; resumed from a checkpoint" if record.provenance.resumed else ""
        read = variables.said(record.provenance.target.opened or {})
        asked = f"; the code asked for these environment variables: {read}" if read else ""
        bounds = (upper.examined(c.statistics, rerun=self.rerun) for c in record.of_kind(upper.KIND))
        parts = "".join(f"; upper bound: {found}" for found in bounds if found)
        suite = self.suite or kills.compared(record, {})
        if open_ := questions.holes(record):
            parts = f"; declared holes: {questions.brief(open_)}{parts}"
        return (
            f"record of {named(record.target.name)}: digest and schema are valid, {self.checks} checks "
            f"were judged again; privacy {record.verdict}, regret {regret}{resumed}{asked}{parts}; "
            f"{said_of(self.signature, self.rerun)}{f'; {suite}' if suite else ''}"
        )


def said_of(signature: str, rerun: bool, numbers: str = "count") -> str:
    """What is known of a signature, and whether a file was run again: what neither digest nor schema say."""
    signed = signature or "no signature was looked for"
    return f"{signed}; {f'rerun: every {numbers} is the same' if rerun else 'the runs were not repeated'}"


Given = str | Path | Json


def read(given: Given) -> JsonDict:
    """Read a record without trusting it; what was read already is taken as it is.

    Raises
    ------
    InputError
        If there is no such file, it is not a regular one, too large or too deep, holds too many values or no
        JSON object; if a key stands twice in an object, or a number is not finite.
    """
    if isinstance(given, Mapping):
        return dict(given)
    return parsed(given, files.content("record", given, LARGEST))


def parsed(path: str | Path, content: bytes) -> JsonDict:
    """As `read`, of the content of the file `path`."""
    place = Path(path)
    files.check_values(f"record: {str(place)!r}", content)
    try:
        loaded = json.loads(
            content.decode("utf-8"),
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_whole,
            object_pairs_hook=_without_repeats,
        )
    except InputError:
        raise
    # A ValueError is also what a number of too many digits is refused with.
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError) and not error.pos:
            raise InputError(
                f"record: {str(place)!r} is not JSON, so it is not a record; give a file that --json has "
                "written, or run the code with `audit`"
            ) from None
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"record: {str(place)!r} is corrupted: {reason}") from None
    if not isinstance(loaded, dict):
        raise InputError(f"record: {str(place)!r} is not a JSON object")
    if _depth(loaded) > _DEEPEST:
        raise InputError(f"record: {str(place)!r} is nested too deeply")
    try:
        canonical(loaded).encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            f"record: {str(place)!r} is corrupted: it contains half of a surrogate pair"
        ) from None
    return loaded


def _refuse(word: str) -> None:
    raise InputError(f"record: corrupted ({word} is not a JSON number)")


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise InputError(f"record: corrupted ({word[:30]} is not a finite number)")
    return number


def _whole(word: str) -> int:
    if len(word) > _DIGITS:
        raise InputError(f"record: corrupted ({word[:30]}... is too large for a float)")
    return int(word)


def _without_repeats(pairs: list[tuple[str, JsonValue]]) -> JsonDict:
    """An object whose keys differ: of two equal ones, readers take one or the other."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InputError(f"record: corrupted (key {twice[:60]!r} occurs twice in one object)")
    return found


def _depth(value: JsonValue) -> int:
    deepest, stack = 0, [(value, 1)]
    while stack:
        item, level = stack.pop()
        deepest = max(deepest, level)
        if isinstance(item, dict):
            stack.extend((child, level + 1) for child in item.values())
        elif isinstance(item, list):
            stack.extend((child, level + 1) for child in item)
    return deepest


def suite_beside(found: Record, path: Path) -> str:
    """What the kill tables beside a record say of it; of those the digest alone is checked."""
    tables: dict[str, Json] = {}
    for name in ("mutants.json", "../mutants.json") if found.kill_table else ():
        with suppress(InputError):
            table = read(path.parent / name)
            check_digest(table, "mutants")
            tables[name] = table
    return kills.compared(found, tables)


def check_digest(whole: Json, what: str = "record") -> None:
    """Refuse a record, or another data file, whose digest is missing or is not that of its values.

    Raises
    ------
    InputError
        In that case.
    """
    stated, found = whole.get("digest"), digest(whole)
    if stated != found:
        raise InputError(
            f"{what}: edited or corrupted (its digest is {shortened(stated)}, but the digest of its "
            f"values is {found})"
        )


def judged_again(checks: Sequence[Json]) -> list[JsonDict]:
    """Checks with the results that follow from their statistics."""
    return [{**c, "result": plain(judged(c["kind"], c["statistics"]))} for c in checks]


def verify_sealed(given: Given, what: str, version: str, again: Callable[[Json], Json]) -> JsonDict:
    """Read a data file that is not a record and compute anew what follows from its numbers; return it.

    Parameters
    ----------
    given
        Path of the JSON file, or what `read` returned for it.
    what
        Its name in messages.
    version
        The ``schema_version`` it must have.
    again
        Makes the values anew: those of the file, with everything that follows from numbers in it.

    Raises
    ------
    InputError
        If it is unreadable, was edited, or says what its numbers do not.
    """
    whole = read(given)
    if whole.get("schema_version") != version:
        raise InputError(
            f"{what}: schema_version must be {version}, got {shortened(whole.get('schema_version'))}"
        )
    _fits(whole, "data-1", what)
    check_digest(whole, what)
    try:
        expected = plain(again(whole))
        _word(expected)
    except InputError:
        raise
    except Exception as error:  # values of a stranger, in whatever form
        raise InputError(f"{what}: the values cannot be judged: {error!r}"[:200]) from None
    difference = first_difference(whole, expected)
    if difference:
        raise InputError(_otherwise(what, whole, difference))
    return whole


def validate(record: Json) -> None:
    """Check a record against the schema.

    Raises
    ------
    InputError
        If the version is unknown or a field does not fit: the first such field, and why.
    """
    version = record.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InputError(f"record: schema_version must be {SCHEMA_VERSION}, got {shortened(version)}")
    _fits(record)


def _fits(values: Json, name: str = SCHEMAS[0], what: str = "record") -> None:
    """Hold values against a schema, or against its definition of `what`."""
    found = itertools.islice(_validator(name, what).iter_errors(values), _SHOWN)
    errors = sorted(found, key=lambda error: list(map(str, error.absolute_path)))
    if errors:
        first = errors[0]
        place = ".".join(str(part) for part in first.absolute_path) or "top level"
        raise InputError(
            f"{what}: the JSON does not fit the schema: {place}: {' '.join(first.message.split())[:200]}"
        )


@functools.cache
def _validator(name: str, what: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    ours = schema(name)
    known = [(form["$id"], Resource.from_contents(form)) for form in (ours, schema())]
    form = ours if name == SCHEMAS[0] else {"$ref": f"{ours['$id']}#/$defs/{what}"}
    return Draft202012Validator(form, registry=Registry().with_resources(known))


def _word(value: JsonValue) -> None:
    """Make the sentence of every check in some values, so that no page fails to."""
    if isinstance(value, Mapping):
        if value.keys() >= CHECK_KEYS:
            in_words(Check.read(value))
        for item in value.values():
            _word(item)
    elif isinstance(value, list):
        for item in value:
            _word(item)


def _all_checks(record: Record) -> Iterator[tuple[str, Check, str]]:
    """Each with its place and what it has to be about."""
    for i, check in enumerate(record.checks):
        yield f"checks.{i}", check, "privacy"
    for i, mutant in enumerate(record.mutants):
        for j, check in enumerate(mutant.checks):
            yield f"mutants.{i}.checks.{j}", check, mutant.breaks
    for i, check in enumerate(record.regret_checks):
        yield f"regret.checks.{i}", check, "regret"
    for i, table in enumerate(record.tables):
        yield f"regret.tables.{i}", table, "table"


def _about_the_claim(record: Record) -> None:
    """Refuse checks that say something of another claim, and what names a check that does not say it."""
    for i, check in enumerate(record.checks):
        keys = ("epsilon",) if check.form.decisive else ()
        for key in ("epsilon", "delta") if check.kind == upper.KIND else keys:
            stated, asked = check.statistics.get(key), getattr(record.claimed, key)
            if stated != asked:
                place = f"checks.{i}.statistics.{key}"
                raise InputError(f"record: {place} must agree with the claim, {asked!r}, got {stated!r}")
    curve = record.claim.value.curve if record.claim else ""
    for i, check in enumerate(record.of_kind(upper.KIND)):
        if curve and upper.stated_as(check.statistics["certificate"]) != curve:
            raise InputError(
                f"record: upper bound {i + 1}: its certificate must state {curve}, as the claim does"
            )
        if why := upper.unfounded(check.statistics):
            raise InputError(f"record: upper bound {i + 1}: {why}")
    names = [check.name for check in record.checks]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"record: checks must have distinct names, got {twice[0]!r} twice")
    refuted = {check.name for check in record.checks if check.verdict == "refuted"}
    for i, example in enumerate(record.counterexamples):
        if example.check not in refuted:
            raise InputError(
                f"record: counterexamples.{i}.check must name a check that refutes, got {example.check!r}"
            )
    for i, left in enumerate(record.not_covered):
        settled = settles(left.id)
        if left.settled_by not in (settled, None):  # a record of earlier may leave it open
            raise InputError(
                f"record: not_covered.{i}.settled_by must be {settled!r}, got {left.settled_by!r}"
            )


def _powered(record: Record) -> None:
    """Refuse a power that is not that of the check, or of the variant, that it names."""
    power, claim = record.power, record.claim
    if power is None or claim is None:
        return
    if power.by == "alignment":
        runs = [c for c in record.of_kind("alignment") if c.statistics["visible"]]
        costs = [c.statistics["max_cost"] for c in runs if c.verdict == "not_refuted"]
        least = claim.epsilon * (1 + TOLERANCE)
        same = math.isclose(float(power.smallest_epsilon), least, rel_tol=rounding.TOLERANCE)
        if power.largest not in costs or not same:
            raise InputError("record: power must agree with alignment, which finds any excess over the claim")
    found = power.black_box
    if found is None:
        return
    rows = [row for row in found.tried if row[0] == found.noise_divided_by]
    # With delta the epsilon of a variant is not known: then that of the event is stated.
    stated = [row for row in rows if row[1] in (found.smallest_epsilon, "nan")]
    if not stated or float(stated[0][2]) < found.probability:
        raise InputError("record: power.black_box must belong to a variant that was tried")
    nominal = power.by == "black_box" and power.variant is not None and power.variant.stated != "event"
    if nominal and (power.smallest_epsilon, power.probability) != (found.smallest_epsilon, found.probability):
        raise InputError("record: power must agree with power.black_box")


def _worded(record: Record) -> None:
    """Make every sentence of a record, so that no rendering fails to."""
    for _, check, _ in _all_checks(record):
        in_words(check)
    for check in record.checks:
        for premise in check.statistics.get("premises", ()):
            premises.in_words(premise)
            premises.briefly(premise)
        limits_of(check)
    if record.audited:
        words.not_covered(record)
        words.verdict(record)
        words.interval(record)
    for example in record.counterexamples:
        words.counterexample(example, record)


def _conclude(record: Record, values: Json) -> None:
    """Refuse conclusions that do not follow from the checks."""
    verdict, reason = conclude.conclusion(record.checks, record.detect)
    bound = conclude.epsilon_upper(record.checks)
    _same("verdict", record.verdict, verdict, values)
    _same("reason", record.reason, reason, values)
    _same("detectable", record.detectable, conclude.detectable(record.checks), values)
    _same("epsilon_lower", record.epsilon_lower, conclude.epsilon_lower(record.checks), values)
    _same("epsilon_upper", values["epsilon_upper"], bound and bound.as_dict(), values)
    if record.regret:
        _same("regret.verdict", record.regret.verdict, conclude.regret(record.regret.checks), values)
    for i, mutant in enumerate(record.mutants):
        again = conclude.mutant(mutant.breaks, mutant.checks)
        _same(f"mutants.{i}.verdict", mutant.verdict, again, values)


def _rejudge(record: Record, values: Json) -> int:
    count = 0
    for place, check, about in _all_checks(record):
        try:
            if check.form.about != about:
                raise InputError(
                    f"record: {place}.kind must be a kind of check about {about}, but {check.kind!r} is "
                    f"about {check.form.about}"
                )
            recorded = check.as_dict()
            (again,) = judged_again([recorded])
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"record: {place}.statistics cannot be judged: {error!r}") from None
        _same(place, recorded, again, values)
        count += 1
    return count


def _comparable(record: Json) -> JsonDict:
    """What two runs of one audit share; of draws that are never the same again the verdict."""
    kept = {key: value for key, value in record.items() if key not in _FREE}
    return {**kept, "checks": [_verdict_of(check) if _unseeded(check) else check for check in kept["checks"]]}


def _unseeded(check: Json) -> bool:
    return "sampler" in check["statistics"]


def _verdict_of(check: Json) -> JsonDict:
    return {"name": check["name"], "kind": check["kind"], "verdict": check["result"]["verdict"]}


def _across_versions(record: Json) -> JsonDict:
    """Without what may change from version to version of this package: how things are described.

    These are the words of pairs and events, and where counterexamples say that they were found.
    """
    bare: JsonDict = _wordless(record)
    for found in [
        *bare["counterexamples"],
        *(mutant.get("counterexample", {}) for mutant in bare["mutants"]),
    ]:
        for key in _OF_INSTANCE:
            found.pop(key, None)
    return bare


def _wordless(value: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        kept = {key: item for key, item in value.items() if key not in _WORDS or not isinstance(item, str)}
        return {key: _wordless(item) for key, item in kept.items()}
    return [_wordless(item) for item in value] if isinstance(value, list) else value


def _same(place: str, recorded: JsonValue, again: JsonValue, record: Json) -> None:
    difference = first_difference(recorded, again, place)
    if difference:
        raise InputError(_otherwise("record", record, difference))


def _otherwise(what: str, whole: Json, found: str) -> str:
    """The message of a file whose digest holds and that is not what its numbers give here."""
    return (
        f"{what}: its digest is valid, but {found}; {_libraries(whole)}. Either these versions compute "
        "differently (verify with the versions that wrote the file), or the file was edited before its "
        "digest was made"
    )


def _libraries(whole: Json) -> str:
    """With which versions of numerical libraries a file was written, and which are here."""
    facts = whole.get("provenance")
    written = facts.get("packages") if isinstance(facts, Mapping) else None
    versions = {str(k): str(v) for k, v in written.items()} if isinstance(written, Mapping) else {}
    here = {name: installed(name) for name in versions}
    if versions and versions == here:
        return f"the file was written with the library versions installed here ({_listed(here)})"
    return (
        f"the file was written with {_listed(versions) or 'unknown library versions'}; installed here: "
        f"{_listed(here) or 'others'}"
    )


def _listed(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items() if version)[:300]


@named_arguments
def verify(given: Given, *, rerun: Callable[[Json], Json] | None = None) -> Verified:
    """Check a record: schema, digest, results (from their numbers) and verdicts (from the results).

    Parameters
    ----------
    given
        Path of the JSON file, or what `read` returned for it.
    rerun
        A function that reruns the record and returns the new one (`api.rerun`). The counts in both must be
        equal, and other numbers as close as `first_difference` requires; provenance may differ. Without this
        function, we neither run nor import the target's code.

    Raises
    ------
    InputError
        If anything is invalid; the message names the first problem.
    """
    record = read(given)
    count = examine(record)
    if rerun is not None:
        again = rerun(record)
        expected, found = _comparable(record), _comparable(again)
        if record["provenance"].get("code") != again["provenance"].get("code"):
            expected, found = _across_versions(expected), _across_versions(found)
        if difference := first_difference(expected, found):
            raise InputError(f"record: a rerun differs: {difference}")
    return Verified(record, count, rerun is not None)


def examine(record: Json) -> int:
    """Check values of a record as `verify` does those of a file; nothing is run.

    Returns
    -------
    int
        Number of checks that were judged again.

    Raises
    ------
    InputError
        If anything is invalid; the message names the first problem.
    """
    validate(record)
    check_digest(record)
    asked_of(record)
    with plugins.judging(record["target"]["name"], record["target"]["source"]["path"]):
        return _examined(record)


def _examined(record: Json) -> int:
    if record["checks"] and record["claim"] is None:
        raise InputError("record: claim must be given, because there are checks of the claim")
    parsed = Record.of(record)
    count = _rejudge(parsed, record)
    _about_the_claim(parsed)
    _powered(parsed)
    try:
        _conclude(parsed, record)
        _worded(parsed)
    except InputError:
        raise
    except Exception as error:  # values of a stranger, in whatever form
        raise InputError(f"record: the values allow no conclusion ({repr(error)[:150]})") from None
    if (declared := record["declarations"]) is not None:
        _same("declarations", declared, declarations.checked(declared), record)
    return count
