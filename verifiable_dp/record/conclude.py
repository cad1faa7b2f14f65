"""What follows from the checks of a record: pure functions, for writing it and for verifying it."""

from __future__ import annotations

from collections.abc import Sequence

from verifiable_dp.evidence import origins, upper
from verifiable_dp.evidence.alignment.replay import exceeds
from verifiable_dp.evidence.blackbox.statistics import DETECT
from verifiable_dp.evidence.check import Check
from verifiable_dp.record.model import BoundEntry

BETWEEN = (
    "values strictly between the bounds cost at least {:.4g}, but {:g} is claimed, and values at the bounds "
    "cost less: state which data the mechanism takes in its attribute neighbours, a list of pairs that "
    "differ in one entry"
)


def privacy(checks: Sequence[Check], detect: float = DETECT) -> str:
    """``refuted``, ``not_refuted`` or ``inconclusive``; see `conclusion`."""
    return conclusion(checks, detect)[0]


def conclusion(checks: Sequence[Check], detect: float = DETECT) -> tuple[str, str | None]:
    """The verdict on privacy and, where it is inconclusive, why.

    Refuted if any check is. Not refuted if nothing speaks against the claim and either an upper bound lies
    within it, or a true epsilon of `detect` times the claim would have been refuted with probability .95 on
    inputs that were seen to make a difference. Else inconclusive:

    - ``lead``: something speaks against the claim (see `lead`);
    - ``unsearched``: no pair of inputs changed what comes out;
    - ``weak``: only a larger epsilon would have been detected.
    """
    verdicts = [check.verdict for check in checks]
    if "refuted" in verdicts:
        return "refuted", None
    if lead(checks):
        return "inconclusive", "lead"
    if bounded(checks):
        return "not_refuted", None
    if any(v != "not_refuted" for v, c in zip(verdicts, checks, strict=True) if c.kind != upper.KIND):
        return "inconclusive", "weak"
    sampled = [check for check in checks if check.form.decisive]
    if not sampled:  # exact bounds decide without any runs
        exact = any(check.kind == "shuffle" for check in checks)
        return ("not_refuted", None) if exact else ("inconclusive", "unsearched")
    if not any(_differs(check) for check in _telling(checks)):
        return "inconclusive", "unsearched"
    least, claimed = detectable(checks), float(sampled[0].statistics["epsilon"])
    if least is not None and not exceeds(float(least), detect * claimed):
        return "not_refuted", None
    return "inconclusive", "weak"


def detectable(checks: Sequence[Check]) -> float | str | None:
    """The least true epsilon that a test would have refuted with probability .95; None without such tests."""
    found = [c.result["detectable"] for c in _telling(checks) if "detectable" in c.result]
    return min(found, key=float, default=None)


def bounded(checks: Sequence[Check], *scopes: str) -> bool:
    """Whether an upper bound, of one of these scopes if they are given, lies within the claim."""
    found = epsilon_upper(checks)
    within = found is not None and _named(checks)[found.check].verdict == "not_refuted"
    return within and (not scopes or (found is not None and found.scope in scopes))


def epsilon_upper(checks: Sequence[Check]) -> BoundEntry | None:
    """The least upper bound whose premises hold.

    A premise holds if the check that tests it is there, is not against the claim and has nothing left open.
    """
    named = _named(checks)
    standing = [
        check
        for check in checks
        if check.kind == upper.KIND
        and all(_holds(named.get(p["tested_by"])) for p in check.statistics["premises"] if p["tested_by"])
    ]
    if not standing:
        return None
    least = min(standing, key=lambda check: float(check.result["epsilon_upper"]))
    numbers = least.statistics
    return BoundEntry(
        epsilon=least.result["epsilon_upper"],
        delta=numbers["delta"],
        scope=numbers["scope"],
        paths=numbers["paths"],
        check=least.name,
    )


def _named(checks: Sequence[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}


def _holds(check: Check | None) -> bool:
    return bool(check and check.verdict == "not_refuted" and check.result.get("holds", True))


def lead(checks: Sequence[Check]) -> str:
    """What speaks against a claim that no check refutes, in words; empty if nothing does.

    That is a cost above the claim (without delta: with it, single runs may cost more), an upper bound above
    it, raw data that decides, or a lower bound above the claim that is not significant at the level of a
    refutation. Such a lower bound is a fluke where every loss was computed and none is above the claim, or
    the instance has a certificate. What only values between the bounds of a mechanism's data show speaks
    against it as long as nobody said which data it takes. Noise that others may know does, too.
    """
    computed = bounded(checks, "certified") or any(
        check.kind == "alignment" and check.statistics["visible"] and check.verdict == "not_refuted"
        for check in checks
    )
    pure = not any(float(check.statistics.get("delta", 0.0)) > 0 for check in checks)
    for check in checks:
        numbers, result = check.statistics, check.result
        epsilon, lower = float(numbers.get("epsilon", 0.0)), check.epsilon_lower
        if check.kind == "alignment" and check.verdict == "inconclusive":
            return f"{check.name} found a cost of {float(numbers['max_cost']):.4g}, claimed {epsilon:g}"
        if check.kind == "tracing" and not bounded(checks) and (found := _traced(check, pure)):
            return found
        if check.form.decisive and not computed and exceeds(lower, epsilon):
            return f"the lower bound of {check.name}, {lower:.4g}, is above the claim of {epsilon:g}"
        if check.kind == "positions" and not result["holds"]:
            return f"some runs of a call are distributed differently from the rest: {numbers['where']}"
        if check.kind == origins.KIND and check.verdict == "inconclusive":
            return origins.in_words(numbers, result)
        if check.kind == "between" and check.verdict == "inconclusive":
            return BETWEEN.format(lower, epsilon)
    least = epsilon_upper(checks)
    if least is not None and not bounded(checks):
        return f"the upper bound, {float(least.epsilon):.4g}, lies above the claim"
    return ""


def _traced(check: Check, pure: bool) -> str:
    """What tracing saw against the claim."""
    numbers = check.statistics
    epsilon, dearest = float(numbers["epsilon"]), float(numbers["max_cost"])
    if not numbers.get("same_output", True):
        return "tracing saw different actions on neighbouring inputs although all releases were equal"
    for found in numbers.get("leads", ()):
        at = f"{found['file']}:{found['line']}"
        if found["open"] and found.get("what") == "shared":
            return f"at {at}, one draw hides rewards of several rounds"
        if found["open"] and found.get("what") == "seeds":
            return f"at {at}, noise takes only a few values, because its generator has few possible seeds"
        if found["open"] and found.get("what") == "unsettled":
            return f"we cannot tell whether noise hides the values that decide at {at}"
        if found["open"] and found.get("what") == "unfollowed":
            return f"we cannot follow {at}, so rare runs may reveal more than we saw; rewrite that line"
        if found["open"]:
            return f"raw data decide at {at}"
    if pure and exceeds(dearest, epsilon):
        return f"tracing found a cost of {dearest:.4g}, claimed {epsilon:g}"
    if "attained" in numbers and not check.result["holds"]:
        return "tracing could not follow every report"
    return ""


def epsilon_lower(checks: Sequence[Check]) -> float | str:
    """Largest lower bound on epsilon of any check; ``inf`` as a string."""
    bounds = [check.result.get("epsilon_lower", 0.0) for check in _testing(checks)]
    return max(bounds, key=float, default=0.0)


def _testing(checks: Sequence[Check]) -> list[Check]:
    """The checks that can refute: values between the bounds only lead."""
    return [check for check in checks if check.kind != "between" and check.form.counts]


def _telling(checks: Sequence[Check]) -> list[Check]:
    """The checks that tell how strong an audit is: those that can refute, if inputs made a difference.

    A median of data at the bounds does not change with one of them; values between the bounds tell then.
    """
    testing, between = _testing(checks), [c for c in checks if c.kind == "between" and _differs(c)]
    return testing if any(map(_differs, testing)) or not between else between


def _differs(check: Check) -> bool:
    return check.epsilon_lower > 0


def constant(checks: Sequence[Check]) -> str:
    """How often the events that were tested happened on either input, ``every`` or ``no`` run; else empty.

    An event without a contrary tells nothing, whatever loss it would have shown.
    """
    seen = [check.statistics for check in checks if check.form.sampled and "k0" in check.statistics]
    for often, counts in (("every", ("n0", "n1")), ("no", ("", ""))):
        if seen and all((s["k0"], s["k1"]) == tuple(s.get(n, 0) for n in counts) for s in seen):
            return often
    return ""


def regret(checks: Sequence[Check]) -> str | None:
    """``consistent``, ``contradicted``, ``vacuous`` or ``inconclusive``; None without checks.

    One contradiction decides. Vacuous checks say nothing beside others that do.
    """
    verdicts = [check.verdict for check in checks]
    if not verdicts:
        return None
    if "contradicted" in verdicts:
        return "contradicted"
    telling = [v for v in verdicts if v != "vacuous"]
    if not telling:
        return "vacuous"
    return "consistent" if all(v == "consistent" for v in telling) else "inconclusive"


def mutant(breaks: str, checks: Sequence[Check]) -> str:
    """Verdict on a mutant that breaks ``privacy`` or ``regret``, from its checks."""
    verdicts = [check.verdict for check in checks]
    if breaks == "privacy":
        return "refuted" if "refuted" in verdicts else "not_refuted"
    return "contradicted" if "contradicted" in verdicts else "not_contradicted"
