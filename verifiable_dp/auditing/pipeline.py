"""One audit: a request, the rungs that apply to it, the draft of a record.

A rung is one kind of evidence. All of them stand in one list (`auditing.rungs`), for algorithms of the
framework's form, users' bandits and mechanisms: each says where it applies and adds its checks to the case.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

from verifiable_dp.auditing.request import AuditRequest
from verifiable_dp.core import engine
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.evidence import exclusions
from verifiable_dp.evidence.blackbox import positions
from verifiable_dp.evidence.blackbox.test import Plan
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.exclusions import Exclusion
from verifiable_dp.evidence.upper import KIND, UpperBound


@dataclass(kw_only=True)
class CaseState:
    """What rungs change: a resumed audit takes it from its checkpoint.

    Attributes
    ----------
    plan
        Sizes of the black box.
    checks, counterexamples
        What the rungs have found so far.
    power
        What would have been refuted; None where it is not stated.
    mutants
        What became of the auditor's mutants.
    """

    plan: Plan
    checks: list[Check] = field(default_factory=list)
    counterexamples: list[JsonDict] = field(default_factory=list)
    power: JsonDict | None = None
    mutants: list[JsonDict] = field(default_factory=list)


@dataclass(kw_only=True)
class Case(CaseState):
    """An audit on its way: its state, which rungs change, and what is set once.

    A kind of case with more state inherits from a `CaseState` first, then from the case that it extends.

    Attributes
    ----------
    request
        What is asked.
    claim
        What is tested; of a group, what the promise about one reward implies for it.
    """

    request: Final[AuditRequest]
    claim: Final[PrivacyClaim]

    if not TYPE_CHECKING:  # mypy knows by itself what is final

        def __setattr__(self, name: str, value: object) -> None:
            """Refuse what no checkpoint would keep."""
            once = name not in vars(self) and name in (one.name for one in fields(self))
            if not once and name not in (one.name for one in fields(self.state_kind())):
                raise AttributeError(
                    f"{name} can be set only once; a field that a rung changes belongs in a CaseState"
                )
            super().__setattr__(name, value)

    @classmethod
    def state_kind(cls) -> type[CaseState]:
        """The class of its state."""
        return next(one for one in cls.__mro__ if issubclass(one, CaseState) and not issubclass(one, Case))

    def state(self) -> CaseState:
        """What rungs have changed so far."""
        kind = self.state_kind()
        return kind(**{one.name: getattr(self, one.name) for one in fields(kind)})

    def resume(self, state: CaseState) -> None:
        """Go on from a state."""
        for one in fields(state):
            setattr(self, one.name, getattr(state, one.name))

    @property
    def refuted(self) -> bool:
        """Whether a check refutes the claim."""
        return any(check.verdict == "refuted" for check in self.checks)

    @property
    def settled(self) -> bool:
        """Whether a check refutes the claim, or an upper bound lies within it."""
        return self.refuted or any(c.kind == KIND and c.verdict == "not_refuted" for c in self.checks)

    def bounded(self, bound: UpperBound | None) -> None:
        """Add what a rung proves about epsilon from above; None where it proves nothing."""
        if bound is not None:
            self.checks.append(bound.check(self.claim))

    def target(self) -> JsonDict:
        """What was audited, for the record."""
        raise NotImplementedError

    def noted(self) -> JsonDict:
        """What the record's plan holds beside the sizes of the black box and the levels."""
        raise NotImplementedError

    def not_covered(self) -> list[Exclusion]:
        """What the audit says nothing about."""
        return list(exclusions.EVERY)

    def words(self) -> list[str]:
        """The candidate neighbours, in words."""
        raise NotImplementedError

    def ended(self) -> JsonDict | None:
        """Why there is no upper bound on epsilon; None if there is one, or none was sought."""
        return None

    def draft(self) -> JsonDict:
        """The draft of a record."""
        settings = self.request.settings
        return {
            "target": self.target(),
            "claim": self.claim.as_dict(),
            "plan": {
                **self.plan.as_dict(),
                "budget": str(settings.budget),
                "alpha": settings.alpha,
                "confidence": settings.confidence,
                "given_pairs": self.request.inputs.pairs is not None,
                **self.noted(),
            },
            # What a claim was put to comes first, then what that rests on.
            "checks": [c.as_dict() for c in sorted(self.checks, key=lambda c: c.kind == positions.KIND)],
            "pairs": [{"words": line} for line in self.words()],
            "confidence": settings.confidence,
            "power": self.power,
            "counterexamples": self.counterexamples,
            "mutants": self.mutants,
            "not_covered": [left.as_dict() for left in self.not_covered()],
            "unbounded": self.ended(),
            "seed": settings.seed,
        }


OwnCase = Any  # type: ignore[explicit-any]  # a case, which a rung narrows to the kind it is for


@dataclass(frozen=True)
class Rung:
    """One kind of evidence.

    Attributes
    ----------
    stage
        What is shown while it is gathered; empty where the rung says so itself.
    applies
        Whether it says anything about a case, as far as that has come.
    run
        Adds its checks, and what they have found, to the case.
    """

    stage: str
    applies: Callable[[OwnCase], bool]
    run: Callable[[OwnCase], None]


def climb(case: Case, rungs: Iterable[Rung], again: Callable[[], None] | None = None) -> JsonDict:
    """Gather the evidence of all rungs that apply, but for finished ones; return the draft of a record.

    Before each, `again` makes what the code keeps what it was, so that no rung depends on those before it.
    """
    for rung in rungs:
        if rung.applies(case):
            if again is not None:
                again()
            if rung.stage:
                case.request.progress(rung.stage)
            case.resume(engine.kept(rung.run.__name__, functools.partial(_after, case, rung)))
    return case.draft()


def _after(case: Case, rung: Rung) -> CaseState:
    """What a case has come to after a rung."""
    rung.run(case)
    return case.state()
