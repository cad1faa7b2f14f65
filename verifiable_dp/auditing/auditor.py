"""What ships with every algorithm: its worst-case neighbours, its mutants and its regret checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray, InputError, IntArray, choice
from verifiable_dp.algorithm import Algorithm, Memory, Query, State
from verifiable_dp.claims import PrivacyClaim, RegretClaim
from verifiable_dp.evidence.check import Check
from verifiable_dp.neighbours import Pair
from verifiable_dp.noise import Altered, Noise


@dataclass(frozen=True)
class Mutant:
    """A broken variant, which the auditor must catch.

    Parameters
    ----------
    name
        Short, unique within the auditor, such as ``half noise``.
    fault
        What is wrong with it, in a sentence.
    make
        Turns the correct algorithm into the broken one; parameters stay.
    breaks
        ``privacy`` or ``regret``.
    caught_by
        Name of the regret check that contradicts it, with budget ``mutant``; empty if it is not stated.
    """

    name: str
    fault: str
    make: Callable[[Any], Algorithm]
    breaks: str = "privacy"
    caught_by: str = ""

    def __post_init__(self) -> None:
        choice("breaks", self.breaks, ("privacy", "regret"))


class Wrapped(Algorithm):
    """An algorithm around another one: everything is passed on unless a subclass changes it."""

    inner: Any

    def __getattr__(self, name: str) -> Any:
        """Parameters of the algorithm underneath."""
        # A compiled loop underneath knows nothing of the change around it.
        if name.startswith("__") or name in ("inner", "kernel"):
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the algorithm underneath."""
        return str(self.inner.name)

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """K."""
        return int(self.inner.n_arms)

    @property
    def horizon(self) -> int:  # type: ignore[override]
        """T."""
        return int(self.inner.horizon)

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards."""
        return (float(self.inner.bounds[0]), float(self.inner.bounds[1]))

    @property
    def search_bounds(self) -> tuple[float, float]:
        """As the algorithm underneath."""
        limits: tuple[float, float] = self.inner.search_bounds
        return limits

    @property
    def claim(self) -> PrivacyClaim | None:
        """The promise of the algorithm underneath."""
        claim: PrivacyClaim | None = self.inner.claim
        return claim

    def start(self, run: IntArray) -> State:
        """As the algorithm underneath."""
        state: State = self.inner.start(run)
        return state

    def private(self, run: IntArray) -> Memory:
        """As the algorithm underneath."""
        memory: Memory = self.inner.private(run)
        return memory

    def query(self, state: Any) -> Query:
        """As the algorithm underneath."""
        query: Query = self.inner.query(state)
        return query

    def release(
        self, state: Any, memory: Any, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath."""
        result: tuple[Memory, FloatArray] = self.inner.release(state, memory, query, answer, noise)
        return result

    def decide(self, state: Any, query: Query, released: FloatArray) -> State:
        """As the algorithm underneath."""
        after: State = self.inner.decide(state, query, released)
        return after

    def margin(self, state: Any) -> FloatArray | None:
        """As the algorithm underneath."""
        margin: FloatArray | None = self.inner.margin(state)
        return margin

    def output(self, state: Any) -> FloatArray:
        """As the algorithm underneath."""
        values: FloatArray = self.inner.output(state)
        return values


@dataclass(frozen=True)
class AlteredNoise(Wrapped):
    """An algorithm whose noise is changed on the way: scaled by `factor`, or drawn at other slots."""

    inner: Any
    factor: float = 1.0
    reslot: Callable[[IntArray], IntArray] | None = None

    def release(
        self, state: Any, memory: Any, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, with the changed noise."""
        return super().release(state, memory, query, answer, Altered(noise, self.factor, self.reslot))


@dataclass(frozen=True)
class Prefix(Wrapped):
    """The first `rounds` rounds of an algorithm: what an audit plays of a long horizon."""

    inner: Any
    rounds: int

    @property
    def horizon(self) -> int:  # type: ignore[override]
        """Rounds that are played."""
        return min(self.rounds, int(self.inner.horizon))

    def query(self, state: Any) -> Query:
        """As the algorithm underneath, cut at `rounds`."""
        query = super().query(state)
        left = np.maximum(self.horizon - state.t, 0)
        fits = query.rounds <= left
        return replace(query, rounds=np.minimum(query.rounds, left), complete=query.complete & fits)


RegretChecks = Callable[[Any, str, int, int], Iterable[Check]]
ExactChecks = Callable[[Any, PrivacyClaim], Sequence[Check]]


@dataclass(frozen=True)
class Printed:
    """The listing as the paper prints it, where the class corrects it: ``variant="printed"``.

    Parameters
    ----------
    expected
        What a privacy audit of it comes to: ``refuted`` or ``not_refuted``.
    changes
        Parameters of the audited instance that differ from those of the corrected one.
    """

    expected: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        choice("expected", self.expected, ("refuted", "not_refuted"))


@dataclass(frozen=True)
class Auditor:
    """Everything that is specific to the audit of one algorithm.

    Parameters
    ----------
    algorithm
        The class; its `name` is the name in the catalogue.
    paper
        How the paper is cited.
    model
        Trust model: ``central``, ``local``, ``shuffle`` or ``none`` for a non-private baseline.
    instance
        Parameters of the instance that is audited by default (without epsilon for a baseline).
    small
        Parameters of a small instance for the alignment search: a run of at most some hundred rounds,
        in which every kind of release occurs; its counterexamples are readable.
    pairs
        Worst-case neighbouring inputs for an instance of the algorithm, strongest first.
    mutants
        Broken variants; at least six.
    claims
        The theorems beside the privacy promise.
    regret
        `regret(algorithm, budget, seed, workers)` runs the checks of the claims: at the given budget
        (``quick``, ``standard`` or ``thorough``) on the algorithm given, which may be a mutant made from
        the same parameters. Checks are named after their claim, such as ``lemma-4.2 on C1``. Best a
        generator, so that whoever needs one check does not wait for those after it.
    reference_epsilon
        For a baseline, the epsilon that the audit holds it against.
    experiment
        Parameters of the instance used in regret checks.
    longest
        Rounds that a privacy audit plays at most; a longer horizon is audited on its first rounds.
    tightness
        Share of epsilon that the costliest of the pairs spends on the instance; below 1 noise is wasted.
    printed
        What is known of the listing as printed; None where the class has one variant.
    exact
        `exact(algorithm, claim)` computes bounds on delta of the shuffled reports, a check a batch; it takes
        the place of the black box where the claim is about ``shuffled`` reports. None without such a rung.
    worst_cost
        `worst_cost(algorithm)` is the largest privacy loss of a transcript of releases, over all inputs and
        all noise, in closed form: no cost that alignment finds exceeds it. None for a baseline, which
        releases exact values.
    """

    algorithm: type[Algorithm]
    paper: str
    model: str
    instance: Mapping[str, Any]
    small: Mapping[str, Any]
    pairs: Callable[[Any], Sequence[Pair]]
    mutants: Sequence[Mutant]
    claims: Sequence[RegretClaim]
    regret: RegretChecks
    reference_epsilon: float | None = None
    experiment: Mapping[str, Any] = field(default_factory=dict)
    longest: int = 1 << 16
    tightness: float = 1.0
    printed: Printed | None = None
    exact: ExactChecks | None = None
    worst_cost: Callable[[Any], float] | None = None

    @property
    def name(self) -> str:
        """Name in the catalogue."""
        return self.algorithm.name

    @property
    def printed_instance(self) -> dict[str, Any]:
        """Parameters of the instance of the printed listing that is audited.

        Raises
        ------
        InputError
            If the class has one variant only.
        """
        if self.printed is None:
            raise InputError(f"{self.name} has one variant: its listing is right as printed")
        return {**self.instance, **self.printed.changes, "variant": "printed"}
