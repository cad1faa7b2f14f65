"""Errata of the papers: what is printed, what holds instead, and the evidence for both."""

from verifiable_dp.auditing.errata import Erratum
from verifiable_dp.auditors.errata import hanna, sajed, tao, wu

ERRATA: tuple[Erratum, ...] = (*sajed.ERRATA, *tao.ERRATA, *wu.ERRATA, *hanna.ERRATA)
