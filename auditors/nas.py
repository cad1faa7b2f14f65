"""Auditor of NAS, the stopping rule without privacy: it is caught leaking, and held to its correctness."""

from __future__ import annotations

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._stopping import StoppingState
from verifiable_dp.algorithms.nas import NAS
from verifiable_dp.auditors import _stopping as family
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.mutants import result
from verifiable_dp.registry.sheets import Sheet

SHEET = Sheet(__file__, papers.DOMINGO)
claim, mutant = SHEET.claim, SHEET.mutant


def _total(rule: NAS, output: FloatArray, state: StoppingState) -> FloatArray:
    return output * np.column_stack([np.ones(len(state.t)), state.t])


def _rescaled(rule: NAS, output: FloatArray, state: StoppingState) -> FloatArray:
    time, mean = output.T
    return np.column_stack([time, (mean + rule.radius) / (2 * rule.radius)])


MUTANTS = (
    mutant(
        "no accuracy",
        result("threshold", lambda rule, limit, t, check: limit / (1 + 1 / rule.alpha), compiled=True),
        family.POSITIVE,
    ),
    mutant("narrow", family.threshold_over(20), family.POSITIVE),
    mutant("unsigned", result("output", lambda rule, output, state: np.abs(output)), family.NEGATIVE),
    mutant("halved", result("output", lambda rule, output, state: output * [1.0, 0.5]), family.POSITIVE),
    mutant("total", result("output", _total), family.POSITIVE),
    mutant("rescaled", result("output", _rescaled), family.POSITIVE),
)

CLAIMS = (claim("correctness", checks=family.CORRECT, paper=papers.S1),)

auditor = SHEET.auditor(NAS, family.along_threshold, MUTANTS, CLAIMS)
