"""Claims: what a paper promises, with its source. Frozen values; nothing is computed from data here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from verifiable_dp import _validate

OBSERVERS = ("actions", "releases", "reports", "shuffled")


@dataclass(frozen=True)
class Source:
    """Where a statement stands.

    Parameters
    ----------
    paper
        Authors, title, venue and year.
    statement
        Number of the theorem, lemma or algorithm in that paper.
    note
        What was derived or settled here rather than printed there; empty if nothing.
    """

    paper: str
    statement: str
    note: str = ""

    def __post_init__(self) -> None:
        if not self.paper or not self.statement:
            raise _validate.InputError("source: paper and statement must not be empty")


@dataclass(frozen=True)
class PrivacyClaim:
    """An (epsilon, delta) promise.

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
        In words, for the report.

    Raises
    ------
    InputError
        If a number is out of range or `observe` is unknown.
    """

    epsilon: float
    delta: float = 0.0
    observe: str = "actions"
    source: Source | None = None
    trust_model: str = "central"
    unit: str = "event: one reward of one round"
    adjacency: str = "replace one: equal length, one reward differs"

    def __post_init__(self) -> None:
        _validate.positive("epsilon", self.epsilon)
        _validate.delta(self.delta)
        _validate.choice("observe", self.observe, OBSERVERS)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they stand in a record."""
        return asdict(self)


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
        Function of keyword parameters that gives the bound; None where only a rate is known.
    domain
        Where the claim holds, in words.
    """

    name: str
    statement: str
    formula: str
    source: Source
    kind: str
    bound: Callable[..., Any] | None = field(default=None, compare=False)
    domain: str = ""

    def __post_init__(self) -> None:
        _validate.choice("kind", self.kind, ("mean", "probability", "scaling", "comparison"))

    def as_dict(self) -> dict[str, Any]:
        """Plain values without the function, as they stand in a record."""
        plain: dict[str, Any] = {
            name: getattr(self, name) for name in ("name", "statement", "formula", "kind", "domain")
        }
        return {**plain, "source": asdict(self.source)}


def describe(parameters: Mapping[str, Any]) -> str:
    """`name=value` pairs in one line."""
    return ", ".join(f"{name}={value}" for name, value in parameters.items())
