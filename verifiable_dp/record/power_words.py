"""How much an audit would have caught, in sentences."""

from __future__ import annotations

from verifiable_dp.evidence.words import digits
from verifiable_dp.record import conclude
from verifiable_dp.record.model import Power, Record, SampledPower

# Which leaks the stated power is about: a test sees others only where they show at the event that it chose.
KIND = "from less noise of the same form"
SHORT = "too little noise"
BRIEFLY = f"({SHORT})"


def unmoved(record: Record) -> str:
    """What the tests saw where no inputs made a difference."""
    often = conclude.constant(record.checks)
    if often:
        return f"the tested event happened in {often} run, so sampling shows nothing"
    return "sampling shows no difference between the inputs that we tried"


def detected(record: Record) -> str:
    """The least true epsilon that a test of the audit would have refuted."""
    seen = record.detectable
    if record.verdict == "refuted":
        return "Not needed: the claim is refuted."
    if seen is None:
        return "No sampling test was made, so the exact bounds alone decide."
    if float(seen) == float("inf"):
        return "At the tested event, no true epsilon would have been detected."
    if conclude.constant(record.checks):
        return f"{unmoved(record)[:1].upper()}{unmoved(record)[1:]}."
    tried = record.power.black_box if record.power else None
    if tried and record.power and not record.power.of_event:
        return f"{_sampled(tried)}; smaller leaks, and leaks of another kind, may pass."
    return (
        f"Samples would show a loss of {digits(seen)} or more at the tested event with 95 % probability. A "
        "leak of that size that shows only at other events may go unnoticed."
    )


def power(record: Record) -> str:
    """Which reduction of the noise the audit would have detected."""
    found = record.power
    if not found:
        refuted = record.verdict == "refuted"
        return "Not needed: the claim is refuted." if refuted else "No reduction of the noise was tried."
    if found.by == "alignment":
        runs = [c.statistics for c in record.of_kind("alignment")]
        largest, bounded = max(float(run["max_loss"]) for run in runs), conclude.bounded(record.checks)
        said = (
            f"We computed the loss exactly in {sum(int(run['examined']) for run in runs)} replayed runs. The "
            f"largest was {digits(largest)}; the claim is {digits(record.claimed.epsilon)}. "
            f"{'Only the upper bound covers other inputs' if bounded else 'Other inputs were not examined'}."
        )
        return f"{said} {_sampled(found.black_box)}." if found.black_box else said
    if found.by in ("exact", "shuffle"):
        least = digits(found.smallest_epsilon)
        return f"Without sampling, we would detect epsilon {least}: {_exactly(found)}."
    tried = found.black_box
    assert tried, "power by samples says what they caught"
    often = f"was refuted in {tried.repeats_refuted} of {tried.repeats} repeated audits"
    if found.of_event:
        return (
            f"Samples alone would detect {variant(found)} with {_chance(found)}; it {often}. Its epsilon is "
            f"not known: by the binomial distribution, a loss of {digits(found.smallest_epsilon)} at delta "
            f"{record.claimed.delta:g} would show at the tested event."
        )
    nominal = found.variant is not None and found.variant.stated == "nominal"
    stated = ". That epsilon is nominal: the claim times that factor" if nominal else ""
    return f"{_sampled(found)}: {variant(found)} {often}{stated}."


def _exactly(found: Power) -> str:
    """Which reduction of the noise exact computation refutes."""
    divided, each = f"noise divided by {found.noise_divided_by:.4g}", found.every_batch_at
    if found.by == "exact":
        return f"with {divided}, the exact epsilon of the actions exceeds the claim"
    one = f"with {divided} in all batches, a lower bound on delta exceeds the claim in one of them"
    if not each:
        return one
    return f"{one}. In a single batch, only noise divided by {each:.3g} or more is certain to be detected"


def variant(power: Power) -> str:
    """The least broken variant that samples caught."""
    found, what = power.black_box, power.variant
    assert found, "power by samples says what they caught"
    assert what, "and on which variants"
    factor = f"{found.noise_divided_by:g}"
    made = f"the code made for {factor} times its epsilon"
    return {
        "algorithm": f"noise divided by {factor}",
        "generator": f"noise of the generator divided by {factor}",
        "parameter": f"{made} (parameter {what.parameter})",
        "configuration": f"{made} (its configuration)",
    }[what.changed]


def _sampled(found: Power | SampledPower) -> str:
    least = digits(found.smallest_epsilon)
    return f"Samples alone would detect epsilon {least} {BRIEFLY} with {_chance(found)}"


def _chance(found: Power | SampledPower) -> str:
    return f"{100 * found.probability:.4g} % probability"
