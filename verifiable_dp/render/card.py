"""The first screen of a record: what was promised, whether it held, how sure that is, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from verifiable_dp.compliance.nist import apart_worlds
from verifiable_dp.core.claims import GIVEN
from verifiable_dp.core.validate import Json, JsonValue
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import words
from verifiable_dp.render import limits

WEAK = 1.5  # a leak of so many times the claim that could pass makes an audit weak
_EMPTY = 10.0  # a leak of so many times the claim empties the meter
_CAVEATS = 3


@dataclass(frozen=True)
class Around:
    """What lies beside a record, and what its page says of it.

    Attributes
    ----------
    links
        Words and relative address of each page or file beside it.
    kills
        Rows of the kill table on this algorithm, none for a listing as printed.
    signer
        Fingerprint of the key that the signature file beside the record names; the page has not checked it.
    """

    links: tuple[tuple[str, str], ...] = ()
    kills: tuple[Json, ...] = ()
    signer: str = ""


ALONE = Around()


@dataclass(frozen=True)
class Strength:
    """How small a leak the audit catches.

    Attributes
    ----------
    words
        In one line.
    state
        ``strong``, ``weak`` or ``none`` where the question does not arise.
    full
        Of the meter, in percent: 100 where any excess over the claim is caught.
    """

    words: str
    state: str
    full: int = 0


@dataclass(frozen=True)
class Card:
    """What the first screen says.

    Attributes
    ----------
    promise, interval, regret, following
        A sentence each: what was claimed, where epsilon lies, what of regret agrees, what to do next.
        `regret` is empty if it was not measured.
    strength
        How small a leak the audit catches.
    audited
        Labels and words: what was audited, when, by whom.
    caveats
        The largest, with the anchor of the section that says more.
    """

    promise: str
    interval: str
    strength: Strength
    audited: tuple[tuple[str, str], ...]
    caveats: tuple[tuple[str, str], ...]
    following: str
    regret: str


def of(record: Json, around: Around = ALONE) -> Card:
    """The card of a record with its blocks (`blocks.of`)."""
    return Card(
        promise(record),
        interval(record),
        strength(record, around.kills),
        tuple(_audited(record, around)),
        tuple(_caveats(record, around.kills))[:_CAVEATS],
        following(record, around.kills),
        regret(record),
    )


def promise(record: Json) -> str:
    """The claim and its unit."""
    claim = record["claim"]
    if claim is None or not record["checks"]:
        return "Privacy was not audited."
    if words.is_baseline(record):
        return f"None. The audit holds this baseline against epsilon {digits(claim['epsilon'])}."
    delta = f" and delta {digits(claim['delta'])}" if claim["delta"] else ""
    return (
        f"Epsilon {digits(claim['epsilon'])}{delta} for changing {words.changed(record)}, against "
        f"anyone who sees {words.seen(record)}."
    )


def interval(record: Json) -> str:
    """Where epsilon lies, and what that rests on; empty if privacy was not audited."""
    if not record["checks"]:
        return ""
    lower, upper = digits(record["epsilon_lower"]), record["epsilon_upper"]
    if upper is None or float(upper["epsilon"]) == math.inf:
        return f"Epsilon is at least {lower}: {_seen(record)}. {_unbounded(record)}"
    most = float(upper["epsilon"])
    least = digits(min(float(record["epsilon_lower"]), most))
    scope = {
        "certified": "certified for every input and every run of this instance, under the premises listed",
        "every path": "for every input on every path of the code",
        "n paths": f"for every input on the {upper['paths']} paths that were examined; other paths were not",
    }[upper["scope"]]
    delta = f" at delta {digits(upper['delta'])}" if upper["delta"] else ""
    return f"Epsilon lies between {least} (that much was seen) and {digits(most)}{delta} ({scope})."


def _seen(record: Json) -> str:
    """What the lower bound rests on: a limit from samples, which may exceed an exact loss, or such a loss."""
    limits_ = [c for c in record["checks"] if c["kind"] in words.SAMPLED]
    bound = float(record["epsilon_lower"])
    found = [c for c in limits_ if float(c["result"].get("epsilon_lower", 0.0)) == bound]
    if not found or "confidence" not in found[0]["statistics"]:
        return "that much was seen"
    said = f"the {100 * float(found[0]['statistics']['confidence']):.4g} % lower limit of the sampled runs"
    losses = [c["statistics"] for c in record["checks"] if c["kind"] == "alignment"]
    exact = max((float(s["max_loss"]) for s in losses if s["visible"]), default=0.0)
    if not float(record["claim"]["epsilon"]) < exact < bound:
        return said
    return f"{said}, which may lie slightly too high; the exact loss in the replayed runs is {digits(exact)}"


def _unbounded(record: Json) -> str:
    """Why no upper bound stands."""
    for check in record["checks"]:
        if check["kind"] == "upper_bound" and record["epsilon_upper"] is None:
            tests = sorted({p["tested_by"] for p in check["statistics"]["premises"]} - {""})
            most = digits(check["result"]["epsilon_upper"])
            tested = f"its premises are tested by the {' and '.join(tests)} check, which found a violation"
            return f"No upper bound stands: {most} was computed, but {tested}."
    return "There is no upper bound; other inputs may show more."


def strength(record: Json, kills: Sequence[Json] = ()) -> Strength:
    """How small a leak the audit catches: weak where one of more than 1.5 times the claim could pass."""
    if not record["checks"]:
        return Strength("Privacy was not audited.", "none")
    if record["verdict"] == "refuted":
        return Strength("Does not matter here: a counterexample decides.", "none")
    ratio, said = _caught(record)
    missed = [row for row in _missed(kills) if _true(row) > WEAK * float(row["epsilon"])]
    if missed:
        ratio = max(_true(row) / float(row["epsilon"]) for row in missed)
        names = "; ".join(f"{row['mutant']} (epsilon {digits(_true(row))})" for row in missed)
        said = f"{_many(len(missed), 'broken variant')} passed the same audit: {names}. {said}"
    least = 0.05 if missed or not math.isinf(ratio) else 0.0
    full = round(100 * max(least, 1 - math.log(max(ratio, 1.0), _EMPTY)))
    return Strength(said, "weak" if missed or ratio > WEAK else "strong", full)


def _caught(record: Json) -> tuple[float, str]:
    """The smallest leak that is caught, in units of the claim, and the sentence on it."""
    power, claim = record["power"], float(record["claim"]["epsilon"])
    if not power:
        seen = record["detectable"]
        if seen is None or float(seen) == math.inf:
            return math.inf, "No leak, however large, is known to be caught by the tests."
        said = f"The test that was made would catch epsilon {digits(seen)}{_times(seen, claim)}."
        return float(seen) / claim, said
    least, sampled = float(power["smallest_epsilon"]), power.get("black_box")
    if power["by"] == "alignment":
        runs = sum(int(c["statistics"]["examined"]) for c in record["checks"] if c["kind"] == "alignment")
        said = (
            f"Any excess over the claim on the {runs} replayed runs is caught; other inputs were not examined"
        )
        said += "." if record["epsilon_upper"] is None else " by it: they rest on the upper bound."
        if sampled:
            least_ = sampled["smallest_epsilon"]
            said += f" Sampling alone catches epsilon {digits(least_)}{_times(least_, claim)}."
        return least / claim, said
    if power["by"] == "exact":
        return least / claim, f"Exact computation catches epsilon {digits(least)}{_times(least, claim)}."
    chance = f"{100 * float(power['probability']):.4g} % probability"
    said = f"Sampling catches epsilon {digits(least)}{_times(least, claim)} with {chance}."
    if least > WEAK * claim:
        said += " The tests could pass a smaller leak"
        bounded = record["epsilon_upper"] is not None
        said += "; only the upper bound, under its premises, speaks against one." if bounded else "."
    return least / claim, said


def _times(value: JsonValue, claim: float) -> str:
    ratio = float(value) / claim
    return f" ({ratio:.3g} times the claim)" if ratio > 1.005 else ""


def _many(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


# ---------------------------------------------------------------- mutants


def of_algorithm(record: Json, rows: Sequence[Json]) -> tuple[Json, ...]:
    """Rows of the kill table on the algorithm of a record; none for a listing as printed."""
    if record["target"]["kind"] != "algorithm" or words.is_printed(record):
        return ()
    return tuple(row for row in rows if row["algorithm"] == record["target"]["name"])


def _missed(kills: Sequence[Json]) -> list[Json]:
    """Rows of a kill table whose mutant broke the promise and passed."""
    return [row for row in kills if row["outcome"] == "survived"]


def _true(row: Json) -> float:
    return float(row["at_least"] if row["true_epsilon"] is None else row["true_epsilon"])


def undecided(kills: Sequence[Json]) -> int:
    """How many mutants of a kill table neither were caught nor are known to keep the promise."""
    return sum(row["outcome"] == "undecided" for row in kills)


def missed(record: Json, kills: Sequence[Json] = ()) -> list[str]:
    """Names of the broken variants that passed: the record's own mutants, and those of the kill table."""
    own = [str(m["name"]) for m in record["mutants"] if m["verdict"] not in ("refuted", "contradicted")]
    return [*own, *(str(row["mutant"]) for row in _missed(kills))]


def counted(record: Json, kills: Sequence[Json] = ()) -> str:
    """Mutants caught of those that were tried, in a few characters."""
    own = len(record["mutants"])
    if not own and not kills:
        return ""
    # The kill table holds the auditor's own mutants, too: those of the record count once.
    outcomes = [row["outcome"] for row in kills if row["origin"] != "auditor" or not own]
    beyond = outcomes.count("killed") + outcomes.count("survived")
    return f"{words.caught(record['mutants']) + outcomes.count('killed')} of {own + beyond}"


def tried(record: Json, kills: Sequence[Json] = ()) -> str:
    """How many mutants came out how; names those that were missed."""
    caught = words.caught(record["mutants"])
    said = f"{caught} of {len(record['mutants'])} mutants of this audit were caught"
    counts = {"killed": "caught", "within_the_claim": "within the claim", "undecided": "undecided"}
    if kills:
        outcomes = [row["outcome"] for row in kills]
        parts = [f"{n} {counts[key]}" for key in counts if (n := outcomes.count(key))]
        parts.append(f"{len(_missed(kills))} missed")
        said += f"; of {len(kills)} in the kill table, {', '.join(parts)}"
    names = missed(record, kills)
    return f"{said}. {'Missed: ' + '; '.join(names) + '.' if names else 'None was missed.'}"


# ---------------------------------------------------------------- what was audited


def _audited(record: Json, around: Around) -> list[tuple[str, str]]:
    target, facts = record["target"], record["provenance"]
    model = "no promise of privacy" if target["model"] == "none" else f"{target['model']} model"
    what = f"{words.title(record)} ({target['kind']}, {model})"
    found = [("Target", what), ("Variant", _variant(record))]
    source = (record["claim"] or {}).get("source")
    if source:
        found.append(("Promise from", ": ".join(filter(None, (source["statement"], source["note"])))))
    if target["parameters"]:
        found.append(("Instance", ", ".join(f"{k} = {_short(v)}" for k, v in target["parameters"].items())))
    commit = str(facts.get("commit") or "unknown")[:12]
    dirty = ", with uncommitted changes" if facts.get("dirty") and facts.get("commit") else ""
    found.append(("When", f"{str(facts['finished'])[:10]}, commit {commit}{dirty}"))
    authors = "; ".join(record["administrative"]["authors"])
    ci = "in continuous integration" if facts.get("ci") else "outside continuous integration"
    by = f"{authors} (as declared), with " if authors else "no auditor is named; "
    found.append(("Audited by", f"{by}{facts['tool']} {facts['version']}, {ci}; self-attested"))
    tier = record.get("tier")
    if tier:
        found.append(("Tier", f"{tier} (as declared)"))
    signed = f"a signature file names the key {around.signer}" if around.signer else "this page knows of none"
    found.append(("Signature", f"{signed}; check with verify --key"))
    return found if words.is_baseline(record) else [*found, ("Noise", sampler(record))]


def _variant(record: Json) -> str:
    variant = record["target"]["parameters"].get("variant")
    if words.is_printed(record):
        return "as printed in the paper"
    if variant == "corrected":
        return "corrected: differs from the listing as printed"
    return str(variant) if variant else "the only one"


_SHOWN = 3  # numbers of a list that are written out


def _short(value: JsonValue) -> str:
    if isinstance(value, list):
        numbers = len(value) <= _SHOWN and all(isinstance(x, int | float) for x in value)
        return f"[{', '.join(map(_short, value))}]" if numbers else f"{len(value)} of them"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return digits(value) if isinstance(value, float) else str(value)


def sampler(record: Json) -> str:
    """Whether the noise of the audit is that of production."""
    if record["target"]["kind"] == "algorithm":
        return (
            "the audit drew seeded, ideal noise of this package; a live session draws from OpenDP, "
            "which was not audited here"
        )
    return "the audit drew the target's own noise; whether production draws the same is not known"


# ---------------------------------------------------------------- caveats and what follows


def _caveats(record: Json, kills: Sequence[Json]) -> list[tuple[str, str]]:
    """The largest first; each with the section that says more."""
    if not record["checks"]:
        return [("Privacy was not audited: only regret was measured", "not-covered")]
    found: list[tuple[str, str]] = []
    names = missed(record, kills)
    if names:
        found.append(
            (f"{_many(len(names), 'broken variant')} passed this audit: {'; '.join(names)}", "mutants")
        )
    if record["verdict"] == "inconclusive":
        found.append((f"The audit could not decide: {words.why(record)}", "evidence"))
    ratio = _caught(record)[0] if record["verdict"] != "refuted" else 0.0
    if ratio > WEAK:
        size = "any size" if math.isinf(ratio) else f"up to {ratio:.3g} times the claim"
        found.append((f"The tests could pass a leak of {size}", "power"))
    if record["verdict"] == "refuted" and not words.is_baseline(record):
        shown = limits.strongest_first(record)
        other = words.elsewhere(shown[0], record) if shown else {}
        named = ", ".join(f"{k} = {_short(v)}" for k, v in other.items() if not isinstance(v, list))
        where = f"the input shown, which is of another instance ({named})" if other else "the input shown"
        found.append(
            (f"The claim is false on {where}; nothing that follows from it holds", "counterexamples")
        )
    guarantee = record["guarantee"]
    if guarantee:
        found += [
            (f"Guidance: {row['words']}", "guarantee")
            for row in guarantee["guidance"]
            if row["level"] == "flag"
        ]
        found += [(said, "guarantee") for said in of_a_person(record)]
        apart = apart_worlds(record)
        found += [
            (f"Declared worlds are not neighbours under the claim: {said}", "hazards") for said in apart
        ]
    if record["target"]["kind"] == "algorithm" and not words.is_baseline(record):
        found.append(
            ("The sampler of production was not audited: the audit drew its own ideal noise", "hazards")
        )
    found.append(("Only this instance was audited; other sizes and parameters were not", "claim"))
    found += [(_capital(line), "not-covered") for line in words.not_covered(record)]
    return found


_ROUNDS = 10  # of a person, whom the card speaks of


def of_a_person(record: Json) -> list[str]:
    """What the promise about one event leaves a person with several.

    Empty where it is about more already, where it is false, and where the data are given as pairs.
    """
    if record["verdict"] == "refuted" or record["claim"]["unit"] == GIVEN:
        return []
    most = min(_ROUNDS, int(record["target"]["parameters"].get("horizon") or _ROUNDS))
    what = "entries" if record["target"]["kind"].startswith("release") else "rounds"
    rows = [row for row in record["guarantee"]["group_privacy"] if 1 < row["rounds"] <= most]
    return [_of_rounds(row, what) for row in rows[-1:]]


def _of_rounds(row: Json, what: str) -> str:
    if float(row["delta"]) >= 1:
        return f"Nothing is promised to a person with {row['rounds']} {what}: delta is 1"
    delta = f" and delta {digits(row['delta'])}" if float(row["delta"]) else ""
    return f"A person with {row['rounds']} {what} has only epsilon {digits(row['epsilon'])}{delta}"


def _capital(line: str) -> str:
    return line[:1].upper() + line[1:]


def following(record: Json, kills: Sequence[Json] = ()) -> str:
    """What to do next."""
    if not record["checks"]:
        return "Audit privacy, too: this record says nothing about it."
    if words.is_baseline(record):
        return (
            "Do not use it on data that need privacy: it promises none, and the audit shows that it has none."
        )
    if record["verdict"] == "refuted":
        fixed = (
            "use the corrected variant" if words.is_printed(record) else "repair the code and audit it again"
        )
        return f"Do not rely on this claim. Run the counterexample again (verify --rerun), then {fixed}."
    if record["verdict"] == "inconclusive":
        return (
            "Do not rely on this claim yet. Audit again with a larger budget, or name pairs of inputs to try."
        )
    todo = sum(row["status"] == "open" for row in record["hazards"])
    first = "Look for the faults that were missed in the code by hand. " if missed(record, kills) else ""
    if _caught(record)[0] > WEAK:
        first += "Audit again with a larger budget, which catches smaller leaks. "
    open_ = _many(todo, "open hazard")
    return f"{first}Settle the {open_} before you rely on the claim; each row names your action."


def regret(record: Json) -> str:
    """How many checks of regret agree, and which do not; empty if none was made."""
    checks = record["regret"]["checks"] if record["regret"] else []
    if not checks:
        return ""
    agree = sum(c["result"]["verdict"] == "consistent" for c in checks)
    said = [f"{agree} of {_many(len(checks), 'check')} agree{'s' if agree == 1 else ''} with the theorems"]
    for verdict, text in (("contradicted", "contradicted"), ("inconclusive", "undecided")):
        names = [str(c["name"]) for c in checks if c["result"]["verdict"] == verdict]
        said += [f"{text}: {', '.join(names)}"] if names else []
    vacuous = [c for c in checks if c["result"]["verdict"] == "vacuous"]
    if vacuous:
        below = [
            float(c["statistics"]["least_horizon"]) for c in vacuous if c["statistics"].get("least_horizon")
        ]
        what = "one bound is vacuous" if len(vacuous) == 1 else f"{len(vacuous)} bounds are vacuous"
        said.append(f"{what}{f' below T = {min(below):.2g}' if below else ''}")
    loose = sum(any(line.startswith("loose") for line in limits.of(c)) for c in checks)
    if loose:
        said.append(f"{_many(loose, 'check')} {'is' if loose == 1 else 'are'} loose")
    return f"{'; '.join(said)}."
