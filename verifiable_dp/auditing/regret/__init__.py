"""Regret checks on their own: those of a catalogue algorithm, and claims about anyone's algorithm."""

from verifiable_dp.auditing.regret.catalogue import regret_only
from verifiable_dp.auditing.regret.claims import Asked, Claims, RegretOptions, claims_of
from verifiable_dp.auditing.regret.plan import SHARD, Cells, at
from verifiable_dp.auditing.regret.run import again, check_claims
from verifiable_dp.auditing.regret.subject import RegretSubject

__all__ = [
    "SHARD",
    "Asked",
    "Cells",
    "Claims",
    "RegretOptions",
    "RegretSubject",
    "again",
    "at",
    "check_claims",
    "claims_of",
    "regret_only",
]
