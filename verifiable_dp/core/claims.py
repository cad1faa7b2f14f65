"""Claims: the promises of papers, with their sources. All are frozen; nothing here computes with data."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

from verifiable_dp.core import validate
from verifiable_dp.core.roots import brentq
from verifiable_dp.core.units import Adjacency, Observed, Protected, TrustModel, Unit
from verifiable_dp.core.validate import FloatArray, Function, Given, InputError, Json, JsonDict


class Basis(StrEnum):
    """How a source relates to the claim."""

    PAPER = "paper"
    UNREAD = "unread"  # a paper whose text is not at hand: all constants are ours
    OURS = "ours"  # derived here
    CHOSEN = "chosen"  # here, so that it agrees with what we measured: not proved
    GIVEN = "given"  # by whoever made the check


@dataclass(frozen=True)
class Source:
    """Where a statement is printed.

    Parameters
    ----------
    paper
        Authors, title, venue and year.
    statement
        Number of the theorem, lemma or algorithm in that paper.
    note
        What we derived or chose instead of taking it from the paper; empty if nothing.
    basis
        How the source relates to the claim.
    """

    paper: str
    statement: str
    note: str = ""
    basis: Basis = Basis.PAPER

    def __post_init__(self) -> None:
        if not self.paper or not self.statement:
            raise validate.InputError("source: paper and statement must not be empty")
        object.__setattr__(self, "basis", Basis(validate.choice("basis", self.basis, tuple(Basis))))

    def as_dict(self) -> JsonDict:
        """Plain values, as in a record, without the basis if it is the paper."""
        values = asdict(self)
        if self.basis is Basis.PAPER:
            del values["basis"]
        return values


@dataclass(frozen=True)
class Relation:
    """How neighbouring inputs differ.

    Parameters
    ----------
    kind
        ``event`` (one reward of one round), ``group`` (up to `size` of them) or ``user`` (all rewards of one
        user, who has at most `size` rounds).
    size
        Number of events that may differ, k.
    """

    kind: str = "event"
    size: int = 1

    def __post_init__(self) -> None:
        validate.choice("relation", self.kind, ("event", "group", "user"))
        validate.integer("group", self.size, least=1, most=1 if self.kind == "event" else None)


EVENT = Relation()
MODELS = ("central", "joint", "local")  # the second one needs users with contexts, the third has none
CURVED = ("rho", "mu")  # promises of a whole curve, in place of epsilon
STATED_DELTA = 1e-5  # at which the epsilon of a promise of zCDP is stated where none is given


@dataclass(frozen=True)
class PrivacyClaim:
    """A promise of (epsilon, delta), or of zero-concentrated differential privacy (zCDP) with parameter rho.

    Parameters
    ----------
    epsilon
        Finite and above 0.
    delta
        In [0, 1).
    observe
        What the adversary sees: ``actions``, ``releases`` (also every noisy statistic), ``reports`` or
        ``shuffled`` (the multiset of the reports of each batch).
    source
        Where it is proved; None for a claim made by a user.
    trust_model, unit, adjacency
        Ids of `units`, as values or as text.
    rho
        The rho of a rho-zCDP promise; epsilon and delta are then one point that it implies, and epsilon is at
        most `zcdp_epsilon(rho, delta)`. None: the promise is (epsilon, delta).
    mu
        The same for mu-GDP, Gaussian differential privacy, by `gdp_epsilon(mu, delta)`. If `rho` is given
        too, both are promised; mu^2/2 must be at most rho, and epsilon follows from mu.
    relation
        How far apart the inputs of the promise are.
    protects
        For users with contexts: what is protected, and from whom; None for others.

    Raises
    ------
    InputError
        If a number is out of range, an id is unknown or epsilon promises more than rho or mu does.
    """

    epsilon: float
    delta: float = 0.0
    observe: str = Observed.ACTIONS
    source: Source | None = None
    trust_model: str = TrustModel.CENTRAL
    unit: Unit = Unit.REWARD
    adjacency: Adjacency = Adjacency.REPLACE
    rho: float | None = None
    mu: float | None = None
    relation: Relation = EVENT
    protects: Protected | None = None

    def __post_init__(self) -> None:
        validate.positive("epsilon", self.epsilon)
        validate.delta(self.delta)
        for name, ids in _IDS.items():
            if (given := getattr(self, name)) is not None and type(given) is not ids:
                object.__setattr__(self, name, ids(validate.choice(name, given, tuple(ids))))
        for name, kind in (("rho", "rho-zCDP"), ("mu", "mu-GDP")):
            if getattr(self, name) is None:
                continue
            validate.positive(name, getattr(self, name))
            if self.delta == 0:
                raise InputError(f"delta must lie in (0, 1) for a promise of {kind}, got 0")
            least = self.epsilon_at(self.delta)
            if self.epsilon < least * (1 - 1e-9):
                raise InputError(f"epsilon must be at least {least:g}, which {name} and delta imply")
        if self.rho is not None and self.mu is not None and self.mu**2 / 2 > self.rho * (1 + 1e-9):
            raise InputError(f"mu must be at most sqrt(2 rho), {math.sqrt(2 * self.rho):g}, got {self.mu!r}")

    @classmethod
    def zcdp(cls, rho: float, delta: float, **words: Given) -> PrivacyClaim:
        """The promise of rho-zCDP, with the epsilon that it implies at `delta`."""
        validate.positive("rho", rho)
        return cls(zcdp_epsilon(rho, validate.probability("delta", delta)), delta, rho=rho, **words)

    @classmethod
    def normal(cls, rho: float, delta: float, **words: Given) -> PrivacyClaim:
        """The promise of rho-zCDP by normal noise alone: sqrt(2 rho)-GDP, from which rho-zCDP follows."""
        validate.positive("rho", rho)
        return cls.gdp(math.sqrt(2 * rho), delta, rho=rho, **words)

    @classmethod
    def of_users(
        cls, epsilon: float, delta: float, *, model: str, protects: str, **words: Given
    ) -> PrivacyClaim:
        """The promise to users with contexts: ``central`` or ``joint``; of ``context`` or ``reward``."""
        validate.choice("model", model, MODELS[:2])
        validate.choice("protects", protects, ("context", "reward"))
        unit = Unit.CONTEXT if protects == "context" else Unit.ROUND
        return cls(epsilon, delta, unit=unit, protects=Protected.of(protects, model), **words)

    @classmethod
    def gdp(cls, mu: float, delta: float, **words: Given) -> PrivacyClaim:
        """The promise of mu-GDP, with the epsilon that it implies at `delta`."""
        validate.positive("mu", mu)
        return cls(gdp_epsilon(mu, validate.probability("delta", delta)), delta, mu=mu, **words)

    @property
    def curved(self) -> bool:
        """Whether the promise is a whole curve: it says something at every delta above 0."""
        return self.rho is not None or self.mu is not None

    @property
    def curve(self) -> str:
        """The entry of `CURVED` that we test: mu if both are promised; empty for (epsilon, delta)."""
        return "mu" if self.mu is not None else "rho" if self.rho is not None else ""

    def epsilon_of_normal(self, mu: float) -> float:
        """The epsilon at delta of normal noise of mu in [0, inf], converted as this promise is.

        So it exceeds epsilon if and only if mu exceeds what is promised.
        """
        if self.curve == "rho":
            return implied_epsilon("rho", mu**2 / 2, self.delta)
        return implied_epsilon("mu", mu, self.delta)

    def epsilon_at(self, delta: float) -> float:
        """The epsilon that a promise of rho or mu implies at any `delta` in (0, 1)."""
        if self.mu is not None:
            return gdp_epsilon(self.mu, delta)
        if self.rho is None:
            raise InputError("epsilon_at needs a promise of rho or mu, got a promise of (epsilon, delta)")
        return zcdp_epsilon(self.rho, delta)

    def delta_at(self, epsilon: float) -> float:
        """The delta that the promise implies at any `epsilon` >= 0: an upper bound on its hockey-stick curve.

        For rho-zCDP see `zcdp_delta`, for mu-GDP `gdp_delta`. For (epsilon, delta) at a smaller x: delta + (1
        - delta) (e^epsilon - e^x) / (1 + e^epsilon), which is attained by randomised response that reveals
        everything with probability delta (Kairouz, Oh & Viswanath, The composition theorem for differential
        privacy, ICML 2015).
        """
        if self.mu is not None:
            return gdp_delta(self.mu, epsilon)
        if self.rho is not None:
            return zcdp_delta(self.rho, epsilon)
        if epsilon >= self.epsilon:
            return self.delta
        # e^epsilon is divided out: no overflow at large epsilon.
        slack = -math.expm1(epsilon - self.epsilon) / (1 + math.exp(-self.epsilon))
        return self.delta + (1 - self.delta) * slack

    def under(self, model: str) -> PrivacyClaim:
        """The same promise to users with contexts, ``central`` or ``joint``."""
        if self.protects is None:
            raise InputError(
                "`under` works only with a promise to users with contexts, got a different promise"
            )
        return replace(
            self, protects=Protected.of(self.protects.what, validate.choice("model", model, MODELS[:2]))
        )

    def numbers(self) -> JsonDict:
        """Epsilon and delta, and rho or mu where these are promised."""
        plain = self.as_dict()
        return {name: plain[name] for name in ("epsilon", "delta", *CURVED) if name in plain}

    def as_dict(self) -> JsonDict:
        """Plain values, as in a record, without those that mean nothing, such as rho of another promise."""
        values = {**asdict(self), "source": self.source and self.source.as_dict()}
        for name in ("rho", "mu"):
            if values[name] is None:
                del values[name]
        if self.relation == EVENT:
            del values["relation"]
        if self.protects is None:
            del values["protects"]
        return values

    @property
    def unit_in_words(self) -> str:
        """The unit of privacy, in words."""
        return self.unit.words(self.relation.size)

    @property
    def neighbours_in_words(self) -> str:
        """What neighbouring inputs are, in words."""
        return self.adjacency.words(self.unit, self.relation.size)


_IDS: Mapping[str, type[StrEnum]] = {
    "observe": Observed,
    "trust_model": TrustModel,
    "unit": Unit,
    "adjacency": Adjacency,
    "protects": Protected,
}


def zcdp_delta(rho: float, epsilon: float) -> float:
    """The delta that rho-zCDP implies at epsilon.

    The infimum over alpha > 1 of exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) (1 - 1/alpha)^alpha
    (Canonne, Kamath & Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020, Proposition 12
    with Corollary 13).
    """
    from scipy import optimize

    validate.positive("rho", rho)

    def log_delta(log_order: float) -> float:
        less = math.exp(log_order)  # alpha - 1
        order = 1 + less
        return less * (order * rho - epsilon) - log_order + order * (log_order - math.log1p(less))

    middle = math.log(max((epsilon - rho) / (2 * rho), 1e-3))
    found = optimize.minimize_scalar(
        log_delta,
        bounds=(min(middle, 0.0) - 10, max(middle, 0.0) + 10),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return float(math.exp(min(found.fun, 0.0)))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The least epsilon at which rho-zCDP implies `delta`; at most rho + 2 sqrt(rho log(1/delta)).

    That bound is Proposition 1.3 of Bun & Steinke (Concentrated Differential Privacy, TCC 2016).
    """
    validate.positive("rho", rho)
    validate.probability("delta", delta)
    high = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    if zcdp_delta(rho, 1e-12) <= delta:
        return 1e-12
    if (
        zcdp_delta(rho, high) > delta
    ):  # by rounding, where rho is so large that epsilon hardly differs from it
        return high
    return brentq(
        lambda x: math.log(zcdp_delta(rho, x)) - math.log(delta), 1e-12, high, xtol=1e-13, rtol=1e-12
    )


def gdp_delta(mu: float, epsilon: float) -> float:
    """The delta that mu-GDP implies at epsilon, as for normal noise of scale 1/mu at sensitivity 1.

    Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) (Dong, Roth & Su, Gaussian Differential
    Privacy, JRSS B 2022, Corollary 2.13).
    """
    from scipy.special import log_ndtr

    validate.positive("mu", mu)
    above, below = (float(log_ndtr(sign * mu / 2 - epsilon / mu)) for sign in (1, -1))
    return math.exp(above) * max(0.0, -math.expm1(min(0.0, epsilon + below - above)))


def gdp_epsilon(mu: float, delta: float) -> float:
    """The least epsilon at which mu-GDP implies `delta`; at most mu^2/2 + mu Phi^-1(1 - delta)."""
    from scipy.special import ndtri

    validate.positive("mu", mu)
    validate.probability("delta", delta)
    high = mu * mu / 2 - mu * float(ndtri(delta))
    if gdp_delta(mu, 1e-12) <= delta or high <= 1e-12:
        return 1e-12
    if gdp_delta(mu, high) > delta:  # by rounding
        return high
    return brentq(lambda x: gdp_delta(mu, x) - delta, 1e-12, high, xtol=1e-13, rtol=1e-12)


def implied_epsilon(curve: str, value: float, delta: float) -> float:
    """The epsilon at `delta` that a ``rho`` or ``mu`` in [0, inf] implies: 0 or infinite at delta 0."""
    if value == 0 or math.isinf(value) or delta <= 0:
        return math.inf if value else 0.0
    return zcdp_epsilon(value, delta) if curve == "rho" else gdp_epsilon(value, delta)


@functools.lru_cache(maxsize=256)  # algorithms ask in every round
def gdp_mu(epsilon: float, delta: float) -> float:
    """The largest mu for which mu-GDP implies (epsilon, delta)."""
    validate.positive("epsilon", epsilon)
    validate.probability("delta", delta)
    high = 1.0
    while gdp_delta(high, epsilon) < delta:
        high *= 2
    low = high
    while gdp_delta(low, epsilon) > delta:
        low /= 2
    found = brentq(lambda mu: gdp_delta(mu, epsilon) - delta, low, high, xtol=1e-14, rtol=1e-14)
    return found * (1 - 1e-12)  # on the careful side of the last bits


def _times(claim: PrivacyClaim, size: int) -> tuple[float, float]:
    """(epsilon, delta) of a group of `size` events; the delta may exceed 1."""
    if claim.mu is not None:
        return gdp_epsilon(claim.mu * size, claim.delta), claim.delta
    if claim.rho is not None:
        rho = claim.rho * size**2
        return zcdp_epsilon(rho, claim.delta), claim.delta
    delta, epsilon = claim.delta, claim.epsilon
    if delta > 0:
        ratio = size * epsilon - epsilon
        # The sum of e^(i epsilon), i < size; where it overflows nothing is promised.
        delta *= math.expm1(size * epsilon) / math.expm1(epsilon) if ratio < 600 else math.inf
    return size * epsilon, delta


def group(claim: PrivacyClaim, size: int, *, kind: str = "group") -> PrivacyClaim:
    """What a promise about one event implies for `size` events: (k epsilon, delta sum_{i<k} e^{i epsilon}).

    For rho-zCDP it is k^2 rho (Bun & Steinke 2016, Proposition 1.9), for mu-GDP k mu (Dong, Roth & Su 2022,
    Theorem 2.14), at the same delta.

    Parameters
    ----------
    claim
        A claim about single events.
    size
        k, the number of events; for ``user``, the largest number of rounds of one user.
    kind
        ``group`` or ``user``.

    Raises
    ------
    InputError
        If the claim is about more than one event already, or its delta for k events is 1 or more: then
        it says nothing about them.
    """
    if claim.relation != EVENT:
        raise InputError(f"group: the claim must be about one event, got {claim.unit_in_words}")
    relation = Relation(kind, validate.integer("group", size, least=1))
    epsilon, delta = _times(claim, relation.size)
    if delta >= 1:
        raise InputError(
            f"group: with delta {claim.delta:g} for one event, the promise says nothing about "
            f"{relation.size} events, because their delta reaches 1; use a smaller group, or a smaller delta"
        )
    unit = Unit.USER if relation.kind == "user" else Unit.GROUP
    rho = None if claim.rho is None else claim.rho * relation.size**2
    mu = None if claim.mu is None else claim.mu * relation.size
    return replace(claim, epsilon=epsilon, delta=delta, rho=rho, mu=mu, relation=relation, unit=unit)


def group_table(claim: PrivacyClaim, sizes: Sequence[int] = (1, 2, 5, 10)) -> list[dict[str, float]]:
    """Rows ``size``, ``epsilon``, ``delta`` of group privacy; delta 1 means no guarantee."""
    rows = []
    for size in sizes:
        epsilon, delta = _times(claim, validate.integer("sizes", size, least=1))
        rows.append({"size": size, "epsilon": epsilon, "delta": min(delta, 1.0)})
    return rows


@dataclass(frozen=True)
class RegretClaim:
    """A bound on regret, pulls or samples, with the numbers that the proof gives.

    Parameters
    ----------
    name
        Short identifier, unique within an algorithm, such as ``lemma-4.2``.
    statement
        The claim in words, with symbols.
    formula
        The bound as it is computed, in plain notation.
    source
        Where it is proved.
    kind
        ``mean`` (of regret), ``probability`` (a property fails with probability at most `failure`),
        ``scaling`` (an exponent) or ``comparison``.
    bound
        The function that computes the formula: `bound(gaps, rule)`, with gaps in units of reward and the
        algorithm at the requested horizon, if a check compares measurements with it. None if only a rate is
        known.
    domain
        Where the claim holds, in words.
    checks
        The checks that test it, in order: functions of a trial, which are mostly data (`registry.theorems`).
    about
        What is bounded: ``regret``, a step of its proof (``lemma``), or ``utility``, such as errors or
        rounds until something is found.
    checkable
        Whether it can be checked; if not, the note of its source says why.
    """

    name: str
    statement: str
    formula: str
    source: Source
    kind: str
    bound: Function[float | FloatArray] | None = field(default=None, compare=False)
    domain: str = ""
    checks: Sequence[Function[Iterable[Given]]] = field(default=(), compare=False)
    about: str = "regret"
    checkable: bool = True

    def __post_init__(self) -> None:
        validate.choice("kind", self.kind, ("mean", "probability", "scaling", "comparison"))
        validate.choice("about", self.about, ("regret", "lemma", "utility"))

    def as_dict(self) -> JsonDict:
        """Plain values without the function, as in a record."""
        plain: JsonDict = {
            name: getattr(self, name) for name in ("name", "statement", "formula", "kind", "about", "domain")
        }
        return {**plain, "source": self.source.as_dict()}


def describe(parameters: Json) -> str:
    """`name=value` pairs in one line."""
    return ", ".join(f"{name}={value}" for name, value in parameters.items())
