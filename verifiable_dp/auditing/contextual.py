"""The audit of a bandit of the catalogue that is told contexts: the same rungs, but for these.

The certificate speaks of one user who is replaced; adversaries send users.
Not there: the exact law of actions, and the search for the worst neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from verifiable_dp.auditing import record_parts
from verifiable_dp.auditing.curved import CurvedCase
from verifiable_dp.auditing.request import AuditRequest
from verifiable_dp.core import reactions
from verifiable_dp.core.contextual import ContextualAlgorithm
from verifiable_dp.core.neighbours import ContextGame, ContextPair
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import normal
from verifiable_dp.evidence.alignment.checking import Instance
from verifiable_dp.evidence.blackbox import adversary
from verifiable_dp.evidence.exclusions import Exclusion, Left
from verifiable_dp.evidence.upper import UpperBound

_STRONGEST = 2  # neighbours of the auditor that games are played around


@dataclass(kw_only=True)
class ContextualCase(CurvedCase):
    """The audit of a bandit that is told contexts."""

    @classmethod
    def of(cls, request: AuditRequest) -> ContextualCase:
        """See `AlgorithmCase.of`."""
        if request.promise.group is not None:
            raise InputError(
                "`group` works only without contexts; with contexts, the unit is one user's round"
            )
        if request.promise.protects != "context":
            raise InputError(
                "`protects` works only with your own code; a catalogue algorithm comes with its own promise"
            )
        given = request.inputs.pairs
        if given is not None and not all(isinstance(pair, ContextPair) for pair in given):
            raise InputError("pairs must be ContextPairs: the algorithm takes contexts")
        case = super().of(request)
        assert isinstance(case, cls)
        assert case.claim.protects is not None
        model = case.claim.protects.model
        if model != "joint" and any(isinstance(pair, ContextGame) for pair in given or ()):
            raise InputError(
                "pairs: for an algorithm, adversaries that choose contexts require the joint model"
            )
        pairs = [pair.under(model) for pair in case.subject.pairs if isinstance(pair, ContextPair)]
        subject = replace(case.subject, pairs=pairs)
        # Where the own action is seen it tells the own context, and nobody has to react.
        if case.game is not None and case.auditor is not None and model == "joint":
            sizes = replace(case.game, challenges=1, population=0, generations=0)
            return replace(case, subject=subject, game=sizes)
        return replace(case, subject=subject, game=None)

    def interactive(self, sizes: adversary.AdversarySizes) -> adversary.PlayedGame:
        """Adversaries who send the users, on the auditor's strongest neighbours."""
        algorithm, epsilon = self.subject.game, self.claim.epsilon
        assert self.auditor is not None
        games = [
            ContextGame(pair, reaction)
            for pair in self.auditor.pairs(algorithm)[:_STRONGEST]
            if isinstance(pair, ContextPair)
            for reaction in reactions.everyone()
        ]
        instance = Instance(algorithm, epsilon, record_parts.instance(algorithm, epsilon))
        return adversary.play_users(instance, games, sizes, self.terms)

    def certificate(self) -> UpperBound | None:
        """See `AlgorithmCase.certificate`."""
        assert isinstance(self.subject.whole, ContextualAlgorithm)
        return normal.certificate(self.subject.whole, self.claim, self.checks[0].name)

    def not_covered(self) -> list[Exclusion]:
        """See `Case.not_covered`."""
        return [*super().not_covered(), *([] if self.game else [Exclusion(Left.REACTING_USERS)])]
