"""Errata of the papers: what is printed, what holds instead, and the evidence for both."""

from verifiable_dp.auditors.errata import hanna, proofs, rates, sajed, tao, wu
from verifiable_dp.registry.errata import Erratum

ERRATA: tuple[Erratum, ...] = (
    *sajed.ERRATA,
    *proofs.SAJED,
    *tao.ERRATA,
    *proofs.TAO,
    *rates.TAO,
    *wu.ERRATA,
    *hanna.ERRATA,
    *proofs.HANNA,
    *rates.HANNA,
)
