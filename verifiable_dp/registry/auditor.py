"""What ships with every algorithm: its worst-case neighbours, its mutants and its regret checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import PrivacyClaim, RegretClaim
from verifiable_dp.core.neighbours import AnyPair
from verifiable_dp.core.validate import InputError, Json, JsonDict, choice
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry.theorems import Checking, TheoremTrial
from verifiable_dp.registry.wrapped import AlteredNoise, Listed, Prefix

__all__ = ["AlteredNoise", "Auditor", "ExactChecks", "Mutant", "Prefix", "Printed"]


@dataclass(frozen=True)
class Mutant:
    """A broken variant, which the auditor must catch.

    Parameters
    ----------
    name
        Short name, unique within the auditor, such as ``half noise``.
    fault
        The fault, in one sentence.
    make
        Makes the broken algorithm from the correct one, with the same parameters; `registry.mutants` has
        operators for this.
    breaks
        ``privacy`` or ``regret``; by default ``regret`` if `caught_by` is given.
    caught_by
        The regret check that contradicts the mutant with budget ``mutant``; one of a claim's `checks`.
    bounding
        Whether the fault is in how one contribution is bounded, such as a missing truncation.
    """

    name: str
    fault: str
    make: Callable[[Listed], Algorithm]
    breaks: str = ""
    caught_by: Checking | None = field(default=None, compare=False)
    bounding: bool = False

    def __post_init__(self) -> None:
        if not self.breaks:
            object.__setattr__(self, "breaks", "regret" if self.caught_by is not None else "privacy")
        choice("breaks", self.breaks, ("privacy", "regret"))


ExactChecks = Callable[[Listed, PrivacyClaim], Sequence[Check]]


@dataclass(frozen=True)
class Printed:
    """The listing as the paper prints it, where the class corrects it: ``variant="printed"``.

    Parameters
    ----------
    expected
        What a privacy audit of it comes to: ``refuted`` or ``not_refuted``.
    changes
        Parameters of the audited instance that differ from those of the corrected one.
    errata
        Names of the errata that the corrected one takes care of.
    """

    expected: str
    changes: Json = field(default_factory=dict)
    errata: Sequence[str] = ()

    def __post_init__(self) -> None:
        choice("expected", self.expected, ("refuted", "not_refuted"))


@dataclass(frozen=True)
class Auditor:
    """Everything specific to the audit of one algorithm.

    Parameters
    ----------
    algorithm
        The class; its `name` is the name in the catalogue.
    paper
        Citation of the paper.
    model
        Trust model: ``central``, ``local``, ``shuffle`` or ``none`` for a non-private baseline.
    instance
        Parameters of the instance that is audited by default (without epsilon for a baseline).
    small
        Parameters of a small instance for the alignment search: a run of at most a few hundred rounds,
        in which every kind of release occurs, with readable counterexamples.
    pairs
        Worst-case neighbouring inputs for an instance of the algorithm, strongest first.
    mutants
        Broken variants; at least six.
    claims
        The theorems other than the privacy promise, each with its checks.
    reference_epsilon
        For a baseline, the epsilon against which the audit tests it.
    experiment
        Parameters of the instance used in regret checks.
    longest
        Largest number of rounds in a privacy audit; if the horizon is longer, we audit only the first rounds.
    tightness
        Share of epsilon that the costliest pair spends on the instance; below 1, the algorithm adds more
        noise than necessary.
    printed
        The printed listing: its expected verdict and changes; None if the class has only one variant.
    exact
        `exact(algorithm, claim)` computes bounds on delta of the shuffled reports, one check per batch; it
        replaces the black box if the claim is about ``shuffled`` reports. None if no exact computation
        exists.
    worst_cost
        `worst_cost(algorithm)` is the largest privacy loss of a transcript of releases, over all inputs and
        all noise, in closed form: no cost that alignment finds exceeds it. None for a baseline, which
        releases exact values.
    """

    algorithm: type[Algorithm]
    paper: str
    model: str
    instance: Json
    small: Json
    pairs: Callable[[Listed], Sequence[AnyPair]]
    mutants: Sequence[Mutant]
    claims: Sequence[RegretClaim]
    reference_epsilon: float | None = None
    experiment: Json = field(default_factory=dict)
    longest: int = 1 << 16
    tightness: float = 1.0
    printed: Printed | None = None
    exact: ExactChecks | None = None
    worst_cost: Callable[[Listed], float] | None = None

    def __post_init__(self) -> None:
        known = [check for claim in self.claims for check in claim.checks]
        for mutant in self.mutants:
            if mutant.caught_by is not None and all(check is not mutant.caught_by for check in known):
                raise InputError(
                    f"mutants: caught_by of {mutant.name!r} must be one of the `checks` of a claim of "
                    f"{self.name}, got a {type(mutant.caught_by).__name__} that no claim has"
                )

    def regret(
        self,
        algorithm: Algorithm,
        budget: str,
        seed: int,
        workers: int,
        only: Checking | None = None,
    ) -> Iterator[Check]:
        """Yield the checks of the claims one by one; a caller can stop early.

        Parameters
        ----------
        algorithm
            What is played: the algorithm, or a mutant made from the same parameters.
        budget
            ``quick``, ``standard`` or ``thorough``; ``mutant`` for a mutant.
        seed, workers
            Of the simulations.
        only
            One of the claims' `checks`, which alone is made; all of them if None.
        """
        for claim in self.claims:
            trial = TheoremTrial(self.algorithm, claim, algorithm, budget, seed, workers)
            for check in claim.checks:
                if only is None or check is only:
                    yield from check(trial)

    @property
    def name(self) -> str:
        """Name in the catalogue."""
        return self.algorithm.name

    @property
    def printed_instance(self) -> JsonDict:
        """Parameters of the audited instance of the printed listing.

        Raises
        ------
        InputError
            If the class has one variant only.
        """
        if self.printed is None:
            raise InputError(f"{self.name} has only one variant: its listing is correct as printed")
        return {**self.instance, **self.printed.changes, "variant": "printed"}
