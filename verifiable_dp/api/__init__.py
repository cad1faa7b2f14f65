"""The Python API: one function for each use. `import verifiable_dp as vdp` has them all."""

from verifiable_dp.api.audits import CONDUCT, ask, audit, question
from verifiable_dp.api.catalogued import ask_evidence, evidence, restore
from verifiable_dp.api.naming import Declared, Sizes, Target, instance, resolve
from verifiable_dp.api.regrets import Own, ask_regret, check_regret, simulate
from verifiable_dp.api.reruns import can_rerun, rerun, will_run
from verifiable_dp.core.validate import arguments

__all__ = [
    "CONDUCT",
    "Declared",
    "Own",
    "Sizes",
    "Target",
    "arguments",
    "ask",
    "ask_evidence",
    "ask_regret",
    "audit",
    "can_rerun",
    "check_regret",
    "evidence",
    "instance",
    "question",
    "rerun",
    "resolve",
    "restore",
    "simulate",
    "will_run",
]
