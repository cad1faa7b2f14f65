"""Upper bounds on epsilon: what a rung proves, under which premises, and how a reader computes it again.

A bound comes with a *certificate*: plain values from which its epsilon follows, so that a record can be
verified without running anything. Each form of certificate has one function that computes epsilon from it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from verifiable_dp.core import validate
from verifiable_dp.core.claims import CURVED, PrivacyClaim, implied_epsilon
from verifiable_dp.core.mechanisms import shuffle, wishart
from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.alignment.replay import TOLERANCE, exceeds
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import Count, Delta, Loss, Positive, Recorded, Scope, Text, Verdict, said
from verifiable_dp.evidence.judge import arithmetic
from verifiable_dp.evidence.judge.certificate import FORM, VERSION, TracedCertificate
from verifiable_dp.evidence.judge.laws import epsilon_of_mu, of_pure
from verifiable_dp.evidence.premises import REPLAYED, REPLAYED_OF_USERS, Premise, Taken
from verifiable_dp.evidence.words import digits

SCOPES = ("certified", "every path", "n paths")
KIND = "upper_bound"
DIGEST = "digest"
# Bytes of a certificate that a record holds whole: about as much as all else in it, so that who reads a
# record can take it. Most have 1 to 8 thousand; many paths that release in each round come to 100 thousand.
LARGEST = 1 << 16
Evaluate = Callable[[Json, float], float]
_FORMS: dict[str, Evaluate] = {}


class Certificate(Recorded, frozen=True, forbid_unknown_fields=False):
    """What a bound is computed from."""

    form: Text


class PremiseEntry(Recorded, frozen=True):
    """What a bound takes for granted."""

    id: Taken
    values: Json
    tested_by: Annotated[str, said("Name of the check of this record that tests it; empty if none can.")]


class UpperBoundStatistics(Recorded, frozen=True):
    """A bound, its scope, its premises and its certificate."""

    epsilon: Annotated[Positive, said("The claim.")]
    delta: Annotated[Delta, said("At which the bound holds.")]
    scope: Scope
    paths: Annotated[Count | None, said("Public paths or states that were examined.")]
    method: Method
    premises: tuple[PremiseEntry, ...]
    certificate: Annotated[Certificate, said("What the bound is computed from; its form says how.")]


class UpperBoundResult(Recorded, frozen=True):
    """What follows."""

    verdict: Verdict
    epsilon_upper: Loss


UPPER_BOUND = Kind(
    KIND,
    "privacy",
    "upper bound on epsilon: the cost of one replaced reward in every public state or on every path",
    "Zhang & Kifer, LightDP: Towards Automating Differential Privacy Proofs, POPL 2017",
    rank=20,
    counts=True,
    statistics=UpperBoundStatistics,
    result=UpperBoundResult,
)


def form(name: str) -> Callable[[Evaluate], Evaluate]:
    """Register how epsilon follows from certificates of this form.

    The function takes the certificate, whose entry ``form`` is `name`, and the delta of the bound. `verify`
    calls it again.
    """

    def register(function: Evaluate) -> Evaluate:
        _FORMS[name] = function
        return function

    return register


class Method(StrEnum):
    """How a bound was found."""

    ROUNDS = "rounds"
    STATES = "states"
    CLONES = "clones"
    USERS = "users"
    TRACING = "tracing"
    TRACING_DATA = "tracing-data"
    TRACING_PAIRS = "tracing-pairs"

    @property
    def traced(self) -> bool:
        """Whether the code was traced."""
        return self in (Method.TRACING, Method.TRACING_DATA, Method.TRACING_PAIRS)

    @property
    def words(self) -> str:
        """For a report."""
        return {
            Method.ROUNDS: "changing each round in the run where it costs most",
            Method.STATES: "unfolding all public states",
            Method.CLONES: "unfolding all public states, and the reduction to clones",
            Method.USERS: "replacing the user of every round",
            Method.TRACING: "tracing with any rewards within the bounds",
            Method.TRACING_DATA: "tracing with any data within the bounds",
            Method.TRACING_PAIRS: "tracing with the given data",
        }[self]


# What each method can say: its scopes, and what its bound takes for granted; a bound that names less proves
# nothing. Of these, what an audit can test has a check that tests it.
_RESTS: dict[Method, tuple[tuple[str, ...], frozenset[Taken]]] = {
    **dict.fromkeys((Method.ROUNDS, Method.STATES), (SCOPES[:1], frozenset({*REPLAYED, Taken.IDEAL_NOISE}))),
    Method.CLONES: (SCOPES[:1], frozenset({*REPLAYED, Taken.IDEAL_NOISE, Taken.SHUFFLED})),
    Method.USERS: (SCOPES[:1], frozenset({*REPLAYED_OF_USERS, Taken.CLIPPED, Taken.IDEAL_NOISE})),
    **{
        method: (SCOPES[1:], frozenset({Taken.NO_STATE, Taken.AS_TRACED, Taken.IDEAL_NOISE_OF_CODE, *more}))
        for method, more in (
            (Method.TRACING, ()),
            (Method.TRACING_DATA, (Taken.SIZES_OF_DATA,)),
            (Method.TRACING_PAIRS, (Taken.STATED_DATA,)),
        )
    },
}
_TESTED = frozenset({*REPLAYED, *REPLAYED_OF_USERS, Taken.RUNS_ALIKE})


def unfounded(statistics: Json) -> str:
    """What a recorded bound says that its method cannot, or leaves out that it rests on; empty if nothing."""
    scopes, needed = _RESTS[Method(statistics["method"])]
    if statistics["scope"] not in scopes:
        return f"scope must be one of {', '.join(scopes)} for the method {statistics['method']}"
    stated = {Taken(premise["id"]): str(premise["tested_by"]) for premise in statistics["premises"]}
    missing = [
        *(needed - stated.keys()),
        *({Taken.OTHER_PATHS} - stated.keys() if statistics["scope"] == "n paths" else ()),
        *({Taken.RUNS_ALIKE} if _of_calls(statistics) and not stated.keys() & _OF_CALLS else ()),
    ]
    if missing:
        return f"premises must contain {sorted(missing)[0]} for the method {statistics['method']}"
    if why := _unjudged(Method(statistics["method"]), statistics["certificate"]):
        return why
    untested = sorted(taken for taken, by in stated.items() if taken in _TESTED and not by)
    return f"the premise {untested[0]} must name the check that tests it" if untested else ""


def inner(certificate: Json) -> Json:
    """A certificate without the form that states it as rho or mu."""
    return certificate["of"] if certificate.get("form") in CURVED else certificate


def stated_as(certificate: Json) -> str:
    """``rho`` or ``mu`` where the epsilon of a certificate is what that implies; else empty."""
    form = str(certificate["of"] if certificate["form"] == DIGEST else certificate["form"])
    return form if form in CURVED else "mu" if form == "normal" else ""


def _unjudged(method: Method, certificate: Json) -> str:
    """Why a bound of traced code is not the judge's; empty if it is."""
    certificate = inner(certificate)
    form = certificate.get("form")
    known = form == FORM or (form == DIGEST and certificate.get("of") in (FORM, *CURVED))
    return (
        "" if not Method(method).traced or known else f"certificate must be of the form {FORM} for {method}"
    )


_OF_CALLS = {Taken.RUNS_ALIKE, Taken.RUNS_ALONE}


def _of_calls(statistics: Json) -> bool:
    return "calls" in inner(statistics["certificate"])


@dataclass(frozen=True)
class UpperBound:
    """An upper bound on the true epsilon.

    Parameters
    ----------
    epsilon
        The bound, at least 0; it may be infinite. It must be what follows from the certificate.
    delta
        At which the bound holds, in [0, 1).
    scope
        ``certified`` (every neighbouring input, every run, of this instance), ``every path`` (all public
        paths of the traced code) or ``n paths`` (those that were traced).
    paths
        Number of public paths or states that were examined; None where nothing was enumerated.
    method
        How the bound was found.
    premises
        What it takes for granted.
    certificate
        Plain JSON values with an entry ``form``: what epsilon follows from (see `form`).

    Raises
    ------
    InputError
        If a value is out of range, or epsilon is not what the certificate gives.
    """

    epsilon: float
    delta: float
    scope: str
    paths: int | None
    method: Method
    premises: tuple[Premise, ...]
    certificate: Json

    def __post_init__(self) -> None:
        validate.choice("scope", self.scope, SCOPES)
        validate.choice("method", self.method, tuple(Method))
        validate.delta(self.delta)
        if why := _unjudged(self.method, self.certificate):
            raise InputError(why)
        found = evaluated(self.certificate, self.delta)
        if not math.isclose(found, self.epsilon, rel_tol=TOLERANCE):
            raise InputError(f"epsilon must be the certificate's epsilon, {found!r}, got {self.epsilon!r}")

    @classmethod
    def of(
        cls,
        certificate: Json,
        *,
        method: Method,
        premises: tuple[Premise, ...],
        scope: str = "certified",
        paths: int | None = None,
        delta: float = 0.0,
    ) -> UpperBound:
        """The bound that follows from a certificate."""
        return cls(evaluated(certificate, delta), delta, scope, paths, method, premises, certificate)

    def under(self, claim: PrivacyClaim) -> UpperBound:
        """As a claim counts: of rho or mu, with the epsilon that those of the certificate imply."""
        if not claim.curve or stated_as(self.certificate) == claim.curve:
            return self
        found = {"form": claim.curve, "of": self.certificate}
        return replace(self, epsilon=evaluated(found, claim.delta), delta=claim.delta, certificate=found)

    def check(self, claim: PrivacyClaim, name: str = "upper bound") -> Check:
        """The bound held against a claim, as a check of a record."""
        found = self.under(claim)
        statistics = {
            "epsilon": claim.epsilon,
            "delta": found.delta,
            "scope": found.scope,
            "paths": found.paths,
            "method": str(found.method),
            "premises": [premise.as_dict() for premise in found.premises],
            "certificate": dict(found.certificate),
        }
        return Check.of(name, KIND, statistics)


def evaluated(certificate: Json, delta: float) -> float:
    """The epsilon that follows from a certificate at `delta`.

    Raises
    ------
    InputError
        If its form is unknown, or epsilon comes out negative or undefined.
    """
    found = _FORMS.get(str(certificate.get("form")))
    if found is None:
        accepted = ", ".join(sorted(_FORMS))
        raise InputError(f"certificate: form must be one of {accepted}, got {certificate.get('form')!r}")
    epsilon = float(found(certificate, delta))
    if not epsilon >= 0:
        raise InputError(f"certificate: its epsilon must be at least 0, got {epsilon!r}")
    return epsilon


# ---------------------------------------------------------------- forms of certificates


@form("sums")
def _largest_sum(certificate: Json, delta: float) -> float:
    """The largest cost of a state: its ``terms`` [change, scale, times] cost times * change / scale each.

    ``states`` holds the public states, paths or places of one replaced reward that had to be told apart, each
    with ``state`` (words) and ``terms``. A change without noise costs infinitely much.
    """
    return max((math.fsum(map(_cost, state["terms"])) for state in certificate["states"]), default=0.0)


def _cost(term: Sequence[float]) -> float:
    change, scale, times = map(float, term)
    if not (change >= 0 and scale >= 0 and times >= 0):
        raise InputError(f"certificate: change, scale and times must be at least 0, got {term!r}")
    if change == 0 or times == 0:
        return 0.0
    return times * change / scale if scale > 0 else math.inf


@form("normal")
def _largest_mu(certificate: Json, delta: float) -> float:
    """The epsilon at `delta` of the largest mu of a state: normal noise of deviation ``scale``.

    ``states`` is as of sums; mu^2 is the sum of times * (change / scale)^2.
    """
    return max((epsilon_of_mu(mu_of(state["terms"]), delta) for state in certificate["states"]), default=0.0)


@form("wishart")
def _largest_of_matrices(certificate: Json, delta: float) -> float:
    """The epsilon at `delta` of the costliest state: Wishart noise on ``size`` x ``size`` matrices.

    ``states`` is as of sums, each term having the degrees of freedom after ``times``; the change is the
    largest trace of an item. Source: `mechanisms.wishart`.
    """
    size, found = int(certificate["size"]), 0.0
    releases = [tuple(_released(term, size) for term in state["terms"]) for state in certificate["states"]]
    for each in releases:
        if not any(_fewer(each, other) for other in releases):
            found = max(found, wishart.epsilon_of(each, delta) if delta > 0 else math.inf)
    return found


def _released(term: Sequence[float], size: int) -> wishart.WishartRelease:
    change, scale, times, freedom = term
    if not (freedom >= 0 and float(freedom).is_integer() and float(times).is_integer()):
        raise InputError(f"certificate: times and degrees of freedom must be whole numbers, got {term!r}")
    return wishart.WishartRelease(_cost((change, scale, 1)), int(freedom), size, int(times))


def _fewer(left: tuple[wishart.WishartRelease, ...], right: tuple[wishart.WishartRelease, ...]) -> bool:
    """Whether releases of the same kind are fewer: they cost no more."""
    times = {replace(release, times=1): release.times for release in right}
    return left != right and all(times.get(replace(each, times=1), 0) >= each.times for each in left)


def mu_of(terms: Iterable[Sequence[float]]) -> float:
    """Gaussian differential privacy of releases [change, scale, times] with normal noise."""
    return math.sqrt(math.fsum(cost**2 / float(term[2]) for term in terms if (cost := _cost(term[:3])) > 0))


@form(FORM)
def _largest_path(certificate: Json, delta: float) -> float:
    """What the judge's arithmetic makes of the rows and charges of all paths (`judge.certificate`)."""
    return arithmetic.judged(TracedCertificate.of(certificate), delta)


@form("rho")
@form("mu")
def _of_curve(certificate: Json, delta: float) -> float:
    """The epsilon at `delta` that rho or mu, as ``form`` says, of the certificate ``of`` implies."""
    name = str(certificate["form"])
    return implied_epsilon(name, _curved(certificate["of"], name), delta)


def _curved(certificate: Json, name: str) -> float:
    """The rho or mu that follows from a certificate which states neither."""
    kind = certificate["form"]
    if kind == "normal":
        mu = max((mu_of(state["terms"]) for state in certificate["states"]), default=0.0)
        return mu if name == "mu" else mu**2 / 2
    if kind == FORM:
        return arithmetic.curved(TracedCertificate.of(certificate), name)
    if kind == DIGEST or kind in CURVED:
        raise InputError(f"certificate: the form {kind} does not give {name}")
    return of_pure(evaluated(certificate, 0.0), name)


@form("group")
def _times(certificate: Json, delta: float) -> float:
    """``size`` times the epsilon of one event, whose certificate is ``of``: a chain of neighbours."""
    if delta > 0:
        raise InputError(f"certificate: a group needs delta 0, got {delta!r}")
    return int(certificate["size"]) * evaluated(certificate["of"], delta)


@form("clones")
def _of_clones(certificate: Json, delta: float) -> float:
    """The largest epsilon of ``batches`` [crowd, eps0]: shuffled reports, each eps0-LDP, at `delta`.

    A reward enters one batch. Source: `shuffle.clones_delta`.
    """
    return max(_shuffled(int(crowd), float(local), delta) for crowd, local in certificate["batches"])


def _shuffled(crowd: int, local: float, delta: float) -> float:
    if math.isinf(local):
        return math.inf
    return shuffle.least_epsilon(lambda level: shuffle.clones_delta(crowd, local, level), delta, local)


@form(DIGEST)
def _stated(certificate: Json, delta: float) -> float:
    """The stated ``epsilon`` of a certificate too large for a record, of which it holds the ``sha256``.

    Only a rerun computes it again (`verify --rerun`).
    """
    return float(certificate["epsilon"])


def condensed(check: Json) -> JsonDict:
    """A check as a record holds it: the certificate of a bound, which was judged whole, as `recorded` has it.

    Raises
    ------
    InputError
        If it comes with a digest in place of its certificate: nothing can be computed from that.
    """
    if check["kind"] != KIND:
        return dict(check)
    numbers = check["statistics"]
    if numbers["certificate"]["form"] == DIGEST:
        raise InputError("target: its process sent an upper bound without its certificate")
    epsilon = evaluated(numbers["certificate"], float(numbers["delta"]))
    return {**check, "statistics": {**numbers, "certificate": recorded(numbers["certificate"], epsilon)}}


def recorded(certificate: Json, epsilon: float) -> JsonDict:
    """A certificate as a record holds it: whole up to `LARGEST` bytes, else by its digest."""
    whole, core = dict(certificate), inner(certificate)
    if core["form"] != FORM:
        return whole
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
    if len(text) <= LARGEST:
        return whole
    seen = arithmetic.counted(TracedCertificate.of(core))
    made = {"form": DIGEST, "of": whole["form"], "version": VERSION, "epsilon": epsilon, "size": len(text)}
    made |= {"sha256": hashlib.sha256(text.encode()).hexdigest(), **seen._asdict()}
    return {**made, "calls": core["calls"]} if "calls" in core else made


_REACHED = {
    Method.ROUNDS: "A reward can enter at {} places (rounds or blocks). At each place, we changed it by as "
    "much as the bounds allow, in the run where this costs most. The form of the code guarantees that "
    "no other input or run costs more.",
    Method.STATES: "We unfolded {} public states, including every state that a run can reach. In each "
    "state, we changed one reward by as much as the bounds allow. This covers every input and run.",
    Method.CLONES: "We unfolded {} public states, including every state that a run can reach. In each "
    "state, we changed one report by as much as the bounds allow. This covers every input and run.",
    Method.USERS: "In each of {} rounds we replaced the user with the most different one that clipped norms "
    "allow. The form of the code guarantees that no other input or run costs more.",
}


def reached(statistics: Json) -> str:
    """How what was examined covers what the bound covers, as sentences; empty if nobody counted it."""
    count = statistics["paths"]
    said = _REACHED.get(Method(statistics["method"]), "We followed {} paths of the code.")
    return said.format(count) if count else ""


def examined(statistics: Json, *, rerun: bool = False) -> str:
    """What of a bound of traced code was checked, in words; empty for other bounds.

    The arithmetic of a certificate and the prices of its shifts need the certificate alone; that the plain
    code does what it says is seen by replays, which only a rerun makes.
    """
    certificate = inner(statistics["certificate"])
    if not Method(statistics["method"]).traced:
        return ""
    if certificate["form"] == DIGEST:
        seen, how = (
            arithmetic.Counted(certificate["rows"], certificate["charges"]),
            "not checked (the record has only a digest)",
        )
    else:
        seen, how = arithmetic.counted(TracedCertificate.of(certificate)), "checked"
    again = "repeated" if rerun else "not repeated"
    rows = f"{seen.rows} row{'s' * (seen.rows != 1)} of the proof {how}"
    parts = [f"{seen.charges} costs taken on trust"] if seen.charges else []
    premises = statistics["premises"]
    untested = sum(not premise["tested_by"] for premise in premises)
    parts += [f"{untested} of {len(premises)} assumptions untested"] if premises else []
    return ", ".join((rows, *parts, f"replays {again}"))


# ---------------------------------------------------------------- the check


def _scales(statistics: Json, result: Json) -> Json:
    epsilon = float(statistics["epsilon"])
    return {"statistics": {"certificate": epsilon}, "result": {"epsilon_upper": epsilon}}


@UPPER_BOUND.judged_by(_scales)
def _judge(statistics: Json) -> JsonDict:
    """Not refuted if the bound lies within the claim; above it, it decides nothing."""
    upper = evaluated(statistics["certificate"], float(statistics["delta"]))
    within = not exceeds(upper, float(statistics["epsilon"]))
    return {"verdict": "not_refuted" if within else "inconclusive", "epsilon_upper": plain(upper)}


@UPPER_BOUND.worded_by
def _in_words(numbers: Json, result: Json) -> str:
    scope = f"{numbers['paths']} paths" if numbers["scope"] == "n paths" else numbers["scope"]
    at = f" at delta {digits(numbers['delta'])}" if numbers["delta"] else ""
    method = Method(numbers["method"]).words
    seen = examined(numbers).rpartition(",")[0]
    seen = f"; {seen}" if seen else ""
    return (
        f"epsilon at most {digits(result['epsilon_upper'])}{at} if its premises hold "
        f"({scope}, by {method}{seen}), claimed {digits(numbers['epsilon'])}"
    )
