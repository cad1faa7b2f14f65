"""Errata of the papers: what is printed, what holds instead, and the evidence for both."""

from verifiable_dp.auditors.errata import hanna, sajed, tao, wu
from verifiable_dp.registry.errata import Erratum

ERRATA: tuple[Erratum, ...] = (*sajed.ERRATA, *tao.ERRATA, *wu.ERRATA, *hanna.ERRATA)
