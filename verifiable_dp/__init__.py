"""Audit the privacy and regret promises of bandit algorithms, with evidence that anyone can rerun.

>>> import verifiable_dp as vdp  # doctest: +SKIP
>>> algorithm = vdp.make("dp-se", n_arms=5, epsilon=1.0, horizon=50_000_000)  # doctest: +SKIP
>>> vdp.audit(algorithm, budget="quick", seed=0).verdict  # doctest: +SKIP
'not_refuted'
"""

import sys

if sys.argv[:1] == ["-m"]:  # the current folder is the first that Python looks into
    from verifiable_dp.core import paths

    paths.leave_out()

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from verifiable_dp._links import check_links

check_links(Path(__file__).parent)

if TYPE_CHECKING:
    from verifiable_dp.api import audit, check_regret, restore, simulate
    from verifiable_dp.auditing.regret import RegretOptions
    from verifiable_dp.auditing.request import AuditOptions
    from verifiable_dp.core import claims, environments, mechanisms, neighbours, noise, populations
    from verifiable_dp.core.algorithm import Algorithm
    from verifiable_dp.core.rights import BudgetError, FileCounter, SqliteCounter
    from verifiable_dp.core.session import Session
    from verifiable_dp.core.validate import InputError
    from verifiable_dp.record.verify import verify
    from verifiable_dp.registry.auditor import Auditor, Mutant
    from verifiable_dp.registry.entries import catalogue, make
    from verifiable_dp.report import Report
    from verifiable_dp.targets.process import Exec

__version__ = "0.1.0"

# Loaded on first use, so that `verifiable-dp --help` does not wait for numba and pandas.
_HOMES = {
    "audit": "verifiable_dp.api",
    "check_regret": "verifiable_dp.api",
    "restore": "verifiable_dp.api",
    "catalogue": "verifiable_dp.registry.entries",
    "make": "verifiable_dp.registry.entries",
    "simulate": "verifiable_dp.api",
    "Report": "verifiable_dp.report",
    "verify": "verifiable_dp.record.verify",
    "AuditOptions": "verifiable_dp.auditing.request",
    "RegretOptions": "verifiable_dp.auditing.regret",
    "InputError": "verifiable_dp.core.validate",
    "Algorithm": "verifiable_dp.core.algorithm",
    "BudgetError": "verifiable_dp.core.rights",
    "FileCounter": "verifiable_dp.core.rights",
    "SqliteCounter": "verifiable_dp.core.rights",
    "Auditor": "verifiable_dp.registry.auditor",
    "Exec": "verifiable_dp.targets.process",
    "Mutant": "verifiable_dp.registry.auditor",
    "Session": "verifiable_dp.core.session",
}
_MODULES = ("claims", "environments", "mechanisms", "neighbours", "noise", "populations")

__all__ = [
    "Algorithm",
    "AuditOptions",
    "Auditor",
    "BudgetError",
    "Exec",
    "FileCounter",
    "InputError",
    "Mutant",
    "RegretOptions",
    "Report",
    "Session",
    "SqliteCounter",
    "audit",
    "catalogue",
    "check_regret",
    "claims",
    "environments",
    "make",
    "mechanisms",
    "neighbours",
    "noise",
    "populations",
    "restore",
    "simulate",
    "verify",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"verifiable_dp.core.{name}")
    raise AttributeError(f"module 'verifiable_dp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
