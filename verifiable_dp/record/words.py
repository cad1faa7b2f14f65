"""What a record says, in sentences that every rendering shares; those of a check stand beside its judge."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.tapes import Divergence
from verifiable_dp.core.units import Adjacency, Observed, Plays, Protected, Role, TrustModel, Unit
from verifiable_dp.core.validate import Json
from verifiable_dp.evidence import exclusions, upper
from verifiable_dp.evidence.acting import Acting
from verifiable_dp.evidence.alignment.replay import exceeds
from verifiable_dp.evidence.blackbox import curves
from verifiable_dp.evidence.check import Check, in_words
from verifiable_dp.evidence.exclusions import Exclusion, Implied, Left
from verifiable_dp.evidence.words import digits, one_of, p_value
from verifiable_dp.record import conclude, excerpts
from verifiable_dp.record.model import Claim, Counterexample, MutantEntry, Record
from verifiable_dp.record.power_words import KIND, unmoved
from verifiable_dp.record.worlds import ranged
from verifiable_dp.targets import variables

_ARMLESS = {
    "actions": "the halting round and the released estimate",
    "releases": "every noisy partial sum",
}
NON_CLAIMS = (
    "does not prove that a deployment satisfies differential privacy",
    "does not cover the items under Not covered",
    "does not cover outputs that are declared as unprotected",
    "copies declarations and does not check them",
)
EVERYTHING = "every input and every run of this instance"  # what a certificate covers
_OUTSIDE = "other instances, noise in production, rounding or side channels"
_PLAYED = {"adversary", "strategies"}  # in statistics of what played against inputs that react


def is_baseline(record: Record) -> bool:
    """Whether the target makes no privacy promise."""
    return bool(record.target.role == Role.BASELINE)


def is_printed(record: Record) -> bool:
    """Whether the target is a listing as printed that the default variant corrects."""
    return bool(record.target.role == Role.PRINTED)


_CHECK = (  # what `verify` does with a record, and what it does not notice
    "Without --rerun, it checks the digest, recomputes every verdict from the recorded counts and runs none "
    "of the target's code; with --rerun, it runs the audit again and compares the counts. Neither detects a "
    "fault in this tool, a false untested assumption, or different code in production. Anyone can "
    "also write a new digest; then only --rerun exposes changed counts{}, and only a signature "
    "exposes changed words, dates and declarations."
)
_SUITE = (
    " Results on broken variants are copied: we compare them with a mutants.json next to the record (digest "
    "{}), and verify mutants.json --rerun repeats them."
)


def check(record: Record) -> str:
    """What `verify` does with a record, and what it does not notice."""
    table = record.kill_table
    return _CHECK.format(" of this audit") + _SUITE.format(table.digest) if table else _CHECK.format("")


def note(record: Record) -> str:
    """What a reader has to know of the target before anything else."""
    printed = "the algorithm as printed; the faults that the default variant corrects (see the errata)"
    said = {
        Role.BASELINE: "non-private baseline: it makes no promise",
        Role.PRINTED: f"{printed} {'may be' if record.verdict == 'refuted' else 'need not be'} leaks",
    }.get(record.target.role)
    return "; ".join(filter(None, (said, record.target.note, unbounded(record))))


def unbounded(record: Record) -> str:
    """Why there is no upper bound, with the line; empty if there is one, or the claim is refuted."""
    ended = record.unbounded
    if not ended or record.verdict == "refuted":
        return ""
    at = f"{ended.file}:{ended.line}: " if ended.line else ""
    return f"no upper bound on epsilon: {at}{ended.what}"


def found_again(record: Record) -> bool:
    """Whether a command can run the record again: not where its code stands in no file."""
    return bool(record.target.source.path or "exec" in record.target.parameters)


def promises(record: Record) -> bool:
    """Whether there is a privacy claim of the target's own."""
    return record.claim is not None and not is_baseline(record)


def caught(mutants: Sequence[MutantEntry]) -> int:
    """How many mutants were caught."""
    return sum(mutant.caught for mutant in mutants)


def decided_by(mutant: MutantEntry) -> str:
    """What caught a mutant: a kind of check in words, or names of regret checks as they are."""
    found = str(mutant.decided_by)
    return found.replace("_", " ") if mutant.breaks == "privacy" else found


def title(record: Record) -> str:
    """Name of the target; a listing as printed says so."""
    return f"{record.target.name}{' as printed' if is_printed(record) else ''}"


# ---------------------------------------------------------------- the whole record


def verdict(record: Record, brief: bool = False) -> str:
    """What the audit concludes on privacy, and what that does not mean; brief beside a headline."""
    if not record.checks:
        return "Privacy was not audited."
    if is_baseline(record):
        return (
            "This baseline makes no privacy promise. We measure it against a yardstick, epsilon "
            f"{digits(record.claimed.epsilon)}, to show that the audit detects it; a refutation is "
            f"expected. Epsilon is at least {digits(least(record))}."
        )
    if record.verdict == "refuted":
        apart = " We audited the listing as printed." if is_printed(record) else ""
        return (
            f"The claim of {promised(record)} is refuted: {broken(record)}. The counterexample "
            f"can be run again.{apart}"
        )
    if record.verdict == "not_refuted":
        return _acquitted(record, brief)
    return f"The audit is inconclusive about {promised(record)}: {why(record)}."


def _acquitted(record: Record, brief: bool) -> str:
    """What stands behind a verdict of not refuted."""
    if conclude.bounded(record.checks):
        if brief:
            return f"No violation was found. {covered(record)}"
        most = digits(record.bound.epsilon)
        found = f"No violation of {promised(record)} was found"
        return f"{found}, and epsilon is at most {most} if the premises hold. {covered(record)}"
    detected = f" {_detected(record)}" if record.detectable is not None else ""
    found = f"No violation of {promised(record)} was found{ranged(record)}"
    return f"{found}.{detected} This is not a proof of privacy."


def catches(record: Record) -> tuple[float, str]:
    """The least leak that samples catch, and of which kind: as measured, else what one event has to show."""
    if record.power and record.power.black_box and not record.power.of_event:
        return float(record.power.black_box.smallest_epsilon), KIND
    seen = record.detectable
    return math.inf if seen is None else float(seen), "at the tested event"


def _detected(record: Record) -> str:
    """The least leak that the test would have caught, of which kind, and which leaks may pass."""
    seen, kind = catches(record)
    claim = record.claimed.epsilon
    above = digits(seen) == digits(claim) or seen < claim
    leak = f"Any epsilon above {digits(claim)}" if above else f"Epsilon {digits(seen)}"
    return (
        f"{leak} {kind} would have been detected with 95 % probability; leaks of another "
        "kind, such as rare ones, may go unnoticed."
    )


def promised(record: Record) -> str:
    """What is claimed: rho, mu, or epsilon with its delta, and for how many rewards if for several."""
    claim = record.claimed
    if claim.curve:
        return f"{claim.curve[0]} {digits(claim.curve[1])}"
    delta = f" at delta {digits(claim.delta)}" if claim.delta else ""
    return f"epsilon {digits(claim.epsilon)}{delta}{_of_several(claim)}"


def claimed(record: Record) -> str:
    """What is claimed, for a column: the epsilon alone, but of a whole curve."""
    return promised(record) if record.claimed.curve else digits(record.claimed.epsilon)


def shown(record: Record) -> str:
    """The lower bound on epsilon for a column beside `claimed`; the point that breaks a whole curve."""
    apart = record.verdict == "refuted" and not is_baseline(record)
    alike = not apart or exceeds(least(record), record.claimed.epsilon)
    return digits(least(record)) if alike and not (apart and record.claimed.curve) else broken(record)


def _of_several(claim: Claim) -> str:
    if claim.relation is None or claim.size == 1:
        return ""
    several = {"group": "a group of {} rewards", "user": "a user with at most {} rewards"}
    return f" for {several[claim.relation.kind].format(claim.size)}"


def broken(record: Record) -> str:
    """The point at which a refuted claim fails: what was measured there, beside what was promised.

    A curve may refute at another point than that at which epsilon is stated.
    """
    claim, found = record.claimed, least(record)
    curve = [c for c in record.checks if c.kind == "curve" and c.verdict == "refuted"]
    if curve and not exceeds(found, claim.epsilon):
        return curves.breaking(curve[0].statistics, curve[0].result)
    if not claim.curve:
        return f"epsilon is at least {_apart(found, claim.epsilon)[0]}"
    more, most = _apart(found, claim.epsilon)
    return f"epsilon is at least {more} at delta {digits(claim.delta)}, promised at most {most}"


def covered(record: Record) -> str:
    """What the upper bound of a record covers, and what lies outside it."""
    upper = record.bound
    what, beyond = {
        "certified": (f"The certificate covers {EVERYTHING}", ""),
        "every path": (
            f"The upper bound covers every input on every path{of_calls(record) or ' of the code'}",
            "larger calls, " if of_calls(record) else "",
        ),
        "n paths": (
            f"The upper bound covers every input on {upper.paths} traced paths{of_calls(record)}",
            f"other paths, {'larger calls, ' if of_calls(record) else ''}",
        ),
    }[upper.scope]
    what = f"{what},{ranged(record)}," if ranged(record) else what
    return (
        f"{what} if its premises hold. It does not cover {beyond}{_OUTSIDE}, so it does not prove "
        "that a deployment satisfies differential privacy."
    )


def of_calls(record: Record) -> str:
    """Which calls an upper bound is about, where calls make several runs."""
    name = record.bound.check
    bounds = [c for c in record.checks if c.kind == "upper_bound" and c.name == name]
    sizes = upper.inner(bounds[0].statistics["certificate"]).get("calls") if bounds else None
    if not sizes:
        return ""
    return " of calls for one run" if sizes == [1] else f" of calls for {one_of(sizes)} runs"


def least(record: Record) -> float:
    """The lower bound on epsilon to show: an exact loss above the claim, not a limit of samples beyond it."""
    bound = float(record.epsilon_lower)
    sampled = any(c.epsilon_lower == bound for c in sampling(record))
    losses = [c.statistics for c in record.of_kind("alignment")]
    exact = max((float(s["max_loss"]) for s in losses if s["visible"]), default=0.0)
    return exact if sampled and record.claimed.epsilon < exact < bound else bound


def sampling(record: Record) -> list[Check]:
    """The checks on privacy that count sampled runs."""
    return [check for check in record.checks if check.form.sampled]


def why(record: Record) -> str:
    """Why a verdict is inconclusive."""
    if record.reason == "lead":
        return conclude.lead(record.checks)
    if record.reason == "unsearched":
        horizon, sizes = record.target.parameters.get("horizon"), record.plan.sizes
        return Acting.of(horizon or 0, sizes or {}).words() or unmoved(record)
    if any(check.statistics.get("carried") for check in record.checks):
        return "each run depends on the one before it, so counts of runs decide nothing"
    seen = record.detectable
    if seen is None or float(seen) == float("inf"):
        return "no true epsilon would have been detected at the tested event"
    needed = record.detect * record.claimed.epsilon
    if float(seen) > needed:
        asked = f"a loss of {digits(needed)} ({digits(record.detect)} times the claim)"
        return f"the audit must be able to detect {asked}, but it would detect only {digits(seen)} or more"
    return "not every check could decide"


def interval(record: Record) -> str:
    """Between which bounds epsilon lies, or what would have been detected, in a few words."""
    lower, upper, (seen, kind) = least(record), record.epsilon_upper, catches(record)
    delta = record.claimed.delta
    at = f" at delta {digits(delta)}" if delta else ""
    if upper is not None and float(upper.epsilon) < float("inf") and record.verdict != "refuted":
        paths = f"{upper.paths} paths{of_calls(record)}"
        scope = f"on {paths if upper.scope == 'n paths' else upper.scope + of_calls(record)}"
        scope = "certified" if upper.scope == "certified" else scope
        low, high = ends(record)
        where = high if low == high else f"in [{low}, {high}]"
        return f"epsilon {where} {scope}{at}"
    claim = record.claimed
    if is_baseline(record):
        return f"epsilon >= {digits(lower)}; no claim, epsilon {digits(claim.epsilon)} is a yardstick{at}"
    if record.verdict == "refuted":
        if claim.curve or not exceeds(lower, claim.epsilon):
            return f"{broken(record)}; claimed {promised(record)}"
        more, most = _apart(lower, claim.epsilon)
        return f"epsilon >= {more}, claimed {most}{at}{_of_several(claim)}"
    if math.isinf(seen):
        return f"epsilon >= {digits(lower)}{at}, claimed {promised(record)}"
    return f"epsilon >= {digits(lower)}; would have caught {digits(seen)} {kind}{at}"


_SAME = 1e-9  # relative: what exact computation may leave between two ends that are one number


def ends(record: Record) -> tuple[str, str]:
    """The ends between which epsilon lies, alike only where they are one number.

    That is called exact where the digits shown are all of it.
    """
    high = float(record.bound.epsilon)
    low = min(least(record), high)
    if math.isclose(low, high, rel_tol=_SAME):
        shown = digits(high)
        exact = math.isclose(float(shown), high, rel_tol=_SAME)
        return (f"exactly {shown}" if exact else shown,) * 2
    return _apart(low, high)


def _apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with as many digits as tell them apart."""
    if digits(one) != digits(other) or one == other:
        return digits(one), digits(other)
    return next(
        (f"{one:.{n}g}", f"{other:.{n}g}") for n in range(5, 18) if f"{one:.{n}g}" != f"{other:.{n}g}"
    )


def changed(record: Record) -> str:
    """What a claim lets change, to follow `changing`."""
    claim = record.claimed
    of_stream = is_stream(record) and claim.unit == Unit.REWARD
    return "one value of the stream" if of_stream else Unit(claim.unit).changed(claim.size)


def seen(record: Record) -> str:
    """What the adversary of a record's claim sees."""
    return observed(record.claimed, record.target.plays)


def observed(claim: Claim | PrivacyClaim, plays: Plays) -> str:
    """What the adversary of a claim sees; a joint one leaves out the actions of the user that it protects."""
    if plays == Plays.DATA and claim.observe == Observed.RELEASES:
        return "what the mechanism releases"
    if plays == Plays.STREAM and claim.observe in _ARMLESS:
        return _ARMLESS[claim.observe]
    if claim.protects and Protected(claim.protects).model == "joint":
        local = claim.trust_model == TrustModel.LOCAL
        noisy = "report that leaves a user" if local else "noisy statistic"
        also = f"every {noisy} and " if claim.observe == "releases" else ""
        return f"{also}all actions but the user's own"
    return Observed(claim.observe).words


def is_stream(record: Record) -> bool:
    """Whether the target is a stopping rule or a sum, which plays no arms."""
    return bool(record.target.plays == Plays.STREAM)


def kind(record: Record) -> str:
    """What the target is, in a word."""
    return "mechanism on a stream" if is_stream(record) else record.target.kind


def unit(record: Record) -> str:
    """The unit of privacy of a claim; a stream has values for rewards."""
    claim = record.claimed
    of_stream = is_stream(record) and claim.unit == Unit.REWARD
    return f"event: {changed(record)}" if of_stream else Unit(claim.unit).words(claim.size)


def neighbours(record: Record) -> str:
    """What neighbouring inputs are."""
    claim = record.claimed
    return Adjacency(claim.adjacency).words(Unit(claim.unit), claim.size)


def trust(record: Record) -> str:
    """The trust model of a claim; a joint promise is a central one that leaves out what its user sees."""
    model = str(record.claimed.trust_model)
    joint = ", joint: users trust the curator but not each other"
    return f"{model}{joint if record.target.model == 'joint' else ''}"


def not_covered(record: Record, without: Sequence[Exclusion] = (), *, implied: bool = True) -> list[str]:
    """What the audit left out, in full; `implied` with what no row of the record says."""
    hidden, read = {one.id for one in without}, variables.said(record.provenance.target.opened or {})
    return [
        *(exclusions.IMPLIED[one][0].format(variables=read) for one in by_claim(record) if implied),
        *(
            exclusions.in_words(left, values, settled)
            for left, values, settled in _left_out(record)
            if left not in hidden
        ),
    ]


def keeps_own_action(record: Record) -> bool:
    """Whether a local promise holds against the operator only if a user's own action stays with the user."""
    local = record.claim is not None and record.claim.trust_model == TrustModel.LOCAL
    return local and Implied.OWN_ACTION in by_claim(record)


def by_claim(record: Record) -> list[Implied]:
    """What a record leaves out without a row that says so, the gravest first."""
    if not record.checks:
        return []
    claim = record.claim
    found = [Implied.SHUFFLER] if claim and claim.observe == "shuffled" else []
    joint = claim and claim.protects and Protected(claim.protects).model == "joint"
    found += [Implied.OWN_ACTION] if joint and not is_baseline(record) else []
    played = any(_PLAYED & check.statistics.keys() for check in record.checks)
    if record.target.plays != Plays.DATA and not played:
        found.append(Implied.REACTIONS)
    if record.verdict == "refuted":  # a false claim is of no use to deploy
        return found
    code = record.provenance.target
    unseen = [Implied.UNSEEN_FILES] if code.commit and code.opened is not None else []
    asked = [Implied.VARIABLES] if variables.of(code.opened or {}) else []
    return [*found, Implied.DEPLOYMENT, *unseen, *asked]


def not_looked_at(record: Record) -> list[str]:
    """The same in a few words each, without what an upper bound covers."""
    rows = [exclusions.briefly(left) for left, _, settled in _left_out(record) if not settled]
    if promises(record) and record.checks and record.verdict != "refuted":
        tried = {"broken variants": record.mutants or record.kill_table, "regret": record.regret}
        if record.target.plays == Plays.DATA:
            del tried["regret"]
        rows = [*(name for name, there in tried.items() if not there), *rows]
    said = {Implied.OWN_ACTION} if keeps_own_action(record) else set()  # by the promise itself
    return [*(exclusions.IMPLIED[one][1] for one in by_claim(record) if one not in said), *rows]


def _left_out(record: Record) -> Iterator[tuple[Left, Json, bool]]:
    """What the audit left out, and whether that rests on an upper bound; a baseline draws no noise."""
    settled = {upper.KIND} if record.checks and conclude.bounded(record.checks) else set()
    for left in record.not_covered:
        if not (left.id == Left.SAMPLER and is_baseline(record)):
            yield Left(left.id), left.values, exclusions.settles(left.id) in settled


def measured(record: Record) -> str:
    """What the checks beside privacy are about: regret, or else utility, where no claim speaks of regret."""
    claims = record.regret.claims if record.regret else []
    return "Regret" if not claims or any(c.about == "regret" for c in claims) else "Utility"


def level(record: Record) -> str:
    """How often the sampling tests would reject a true claim; empty without those, or without a claim."""
    alphas = [float(c.statistics["alpha"]) for c in sampling(record)]
    if not alphas or is_baseline(record):
        return ""
    once = f"{1 / max(alphas):,.0f} audits"
    return (
        f"If the claim is true, the sampling tests wrongly reject it at most once in {once}. "
        "Every other statement from samples holds at the 95 % level."
    )


def _finds(check: Check) -> bool:
    """Whether a check can find a violation: an upper bound cannot, nor a cost that only bounds the loss."""
    if check.kind == "tracing":
        return bool(check.statistics.get("attained"))
    return check.kind != upper.KIND and (check.kind != "alignment" or bool(check.statistics["visible"]))


def counted(record: Record) -> str:
    """Which kinds of checks on privacy refuted the claim, found nothing, or could not decide."""
    able: dict[str, set[str]] = {}
    blind = record.reason == "unsearched"  # samples then show nothing
    for check in (c for c in record.checks if _finds(c) and not (blind and c.form.sampled)):
        able.setdefault(check.form.short or check.kind.replace("_", " "), set()).add(str(check.verdict))
    if not able:
        return "No check could find a violation." if record.checks else ""
    what = "the claim" if promises(record) else "the yardstick"
    said = {"refuted": f"refuted {what}", "not_refuted": "found no violation"}
    found: dict[str, list[str]] = {}
    for name, verdicts in able.items():
        worst = next((verdict for verdict in said if verdict in verdicts), "")
        found.setdefault(said.get(worst, "could not decide"), []).append(name)
    if record.epsilon_upper and record.verdict == "not_refuted" and [*found] == [said["not_refuted"]]:
        found[said["not_refuted"]].append("a conditional proof")
    order = [*said.values(), "could not decide"]
    lines = [f"{one_of(found[words], 'and')} {words}." for words in order if words in found]
    return " ".join(f"{line[:1].upper()}{line[1:]}" for line in lines)


def line(check: Check) -> str:
    """Name, verdict and sentence of a check; a table has no verdict."""
    said = str(check.result.get("verdict", "")).replace("_", " ")
    return f"{check.name}: {said}{', ' if said else ''}{in_words(check)}"


# ---------------------------------------------------------------- counterexamples and leads


def counterexample(found: Counterexample, record: Record | None) -> str:
    """Inputs of a counterexample, what they show, and where they were found, in a few words."""
    parts = (str(found.pair.get("words", "")), _shown(found, record), found_on(found, record))
    return "; ".join(filter(None, parts))


def elsewhere(found: Counterexample, record: Record | None) -> dict[str, object]:
    """The parameters of a counterexample's instance that are not those of the audited one."""
    audited = record.target.parameters if record else {}
    instance = found.instance or {}
    return {k: v for k, v in instance.items() if k not in audited or audited[k] != v}


def found_on(found: Counterexample, record: Record | None) -> str:
    """The instance that a counterexample was found on; empty where it is the audited one.

    What that instance promises may differ from the claim: a loss counts in units of it. Without a record,
    as in the errata, there is nothing to compare it with, and the erratum's fault was put into it.
    """
    if found.instance is None:
        return ""
    words, others = "", elsewhere(found, record)
    if others:
        fault = "" if record else " with this fault alone"
        words = f"found on a small instance{fault} ({', '.join(f'{k} = {v}' for k, v in others.items())})"
    if found.rounds is not None:
        first = f"the first {found.rounds} rounds"
        words = f"{words}, {first}" if words else f"found on {first} of the audited instance"
    epsilon = None if found.epsilon is None else float(found.epsilon)
    claimed = record.claimed.epsilon if record else None
    if not words or epsilon is None or epsilon == claimed:
        return words
    words = f"{words}, which claims epsilon {epsilon:g}"
    if claimed is None or found.loss is None or found.divergence:
        return words
    least = abs(float(found.loss)) / epsilon * claimed
    times = f"the loss is {least / claimed:.4g} times that"
    return f"{words}; {times}, so epsilon is at least {least:.4g} where {claimed:g} is claimed"


def _known(value: float | str | None) -> float:
    assert value is not None, "what a counterexample shows is recorded"
    return float(value)


def _shown(found: Counterexample, record: Record | None) -> str:
    check = next((c for c in (record.checks if record else ()) if c.name == found.check), None)
    if check is not None and check.kind == "curve":
        point = curves.breaking(check.statistics, check.result)
        return f"event {found.event}, p-value {p_value(_known(found.p_value))}, {point}"
    if found.event is not None:
        by_law = found.delta_lower is not None
        shown = (
            f"delta at least {digits(found.delta_lower)}"
            if by_law
            else f"p-value {p_value(_known(found.p_value))}"
        )
        return f"event {found.event}, {shown}, epsilon at least {digits(found.epsilon_lower)}"
    if found.divergence:
        return Divergence(found.divergence).words
    cost, loss = _known(found.cost), _known(found.loss)
    return f"cost {cost:.6g}, loss {loss:.6g} (noise seed {found.seed})"


def leads(check: Check) -> list[str]:
    """What tracing names lines for, as linters write it: ``file:line: what``.

    Raw data that decides, releases that cost more than the claim, and draws that cannot be repeated.
    """
    if check.kind != "tracing":
        return []
    numbers = check.statistics
    found = [(lead["file"], lead["line"], lead_in_words(lead)) for lead in numbers["leads"] if lead["open"]]
    found += [(row["file"], row["line"], share_in_words(row)) for row in excerpts.too_costly(numbers)]
    found += [(note["file"], note["line"], note["what"]) for note in numbers["notes"]]
    if (ended := numbers["divergence"]) and ended["file"]:
        found.append((ended["file"], ended["line"], ended["what"]))
    return [f"{file}:{line}: {words}" for file, line, words in found]


def lead_in_words(lead: Json) -> str:
    """What a lead says of its line, with its source."""
    return f"{lead['words']}: {lead['source']}"


def share_in_words(share: Json) -> str:
    """What the releases of a line cost."""
    often = excerpts.times(share["releases"])
    if "together" in share:
        paid = f"{float(share['together']):.6g} at delta {digits(share['delta'])}"
        return f"normal noise released{f' {often}' if often else ''} costs {paid} in all: {share['source']}"
    what = "releases here cost" if share["releases"] > 1 else "release costs"
    return f"{what} {float(share['cost']):.6g}{f' ({often})' if often else ''}: {share['source']}"


def of_production(record: Record) -> str:
    """What was found of the sampler of production; empty where it was not looked at."""
    found = [check for check in record.of_kind("numerics") if "sampler" in check.statistics]
    return f"whose last bits were tested: {found[0].verdict.replace('_', ' ')}" if found else ""
