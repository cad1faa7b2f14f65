"""Certificates: equal to the closed forms, never below a cost that was seen, and never granted to a breach.

The negative control of them all is `test_no_breach_is_certified`: the mutants of the suite, with the epsilon
that the committed kill table knows of each.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.tree_sum import TreeSum
from verifiable_dp.core import claims
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.evidence.alignment.replay import TOLERANCE
from verifiable_dp.evidence.alignment.searching import examine
from verifiable_dp.evidence.certify import certificate
from verifiable_dp.registry import entries as registry
from verifiable_dp.selfcheck import mutation

KILLED = Path(__file__).parents[3] / "reports" / "mutants.json"
# Normal noise on what is kept between blocks has no certificate; see `test_sampling`.
WITHOUT = {"gaussian-ts"}
PRIVATE = [name for name in registry.names() if registry.auditor(name).worst_cost and name not in WITHOUT]
SLOWEST = ("dp-nas", "dp-robust-ucb")
DEAR = ("adaptive-tree", "dp-nas", "dp-exponential-nas", "dp-robust-ucb", "dp-robust-elimination")


def made(name, printed=False):
    auditor = registry.auditor(name)
    return auditor.algorithm(**(auditor.printed_instance if printed else auditor.instance))


def bound(algorithm):
    return certificate(algorithm, algorithm.claim, "alignment")


def slow(names, dear):
    return [pytest.param(name, marks=pytest.mark.slow if name in dear else []) for name in names]


@pytest.mark.parametrize("name", slow(PRIVATE, SLOWEST))
def test_it_is_the_closed_form(name):
    algorithm, auditor = made(name), registry.auditor(name)
    found = bound(algorithm)
    assert found.scope == "certified"
    assert found.epsilon <= algorithm.claim.epsilon * (1 + TOLERANCE)
    closed = algorithm.claim.epsilon if auditor.exact else auditor.worst_cost(algorithm)
    assert found.epsilon == pytest.approx(closed, rel=1e-9)
    assert {premise.tested_by for premise in found.premises} == {"alignment", ""}


@pytest.mark.parametrize("name", slow((n for n in PRIVATE if registry.auditor(n).printed), SLOWEST))
def test_of_a_printed_listing_it_says_what_that_costs(name):
    algorithm, auditor = made(name, printed=True), registry.auditor(name)
    found = bound(algorithm)
    assert found.epsilon == pytest.approx(auditor.worst_cost(algorithm), rel=1e-9)
    over = found.epsilon > algorithm.claim.epsilon * (1 + 1e-6)
    assert over == (auditor.printed.expected == "refuted")


@pytest.mark.parametrize("name", slow(PRIVATE, DEAR))
def test_no_breach_is_certified(name):
    """Not one mutant whose true epsilon exceeds the claim has a bound within it, or below what is known."""
    rows = {row["name"]: row for row in json.loads(KILLED.read_text("utf-8"))["mutants"]}
    algorithm = made(name)
    limit = algorithm.claim.epsilon * (1 + TOLERANCE)
    breaches = bounded = 0
    for case in mutation.suite([name]):
        row = rows[case.name]
        known = max(float(row["closed_form"] or 0.0), float(row["at_least"]))
        found = certificate(case.mutant.make(algorithm), algorithm.claim, "alignment")
        if known > limit:
            breaches += 1
            assert found is None or found.epsilon > limit, case.name
        if found is not None and math.isfinite(known):
            bounded += 1
            assert found.epsilon >= known * (1 - 1e-9), case.name
    assert breaches >= (7 if algorithm.claim.curved else 10)  # operators work on Laplace noise alone
    assert bounded >= (2 if algorithm.claim.curved else 5)


@given(
    st.integers(2, 5),
    st.floats(0.05, 8),
    st.integers(10, 10**7),
    st.floats(1e-6, 0.9),
)
@settings(max_examples=25, deadline=None)
def test_of_any_successive_elimination(n_arms, epsilon, horizon, beta):
    found = bound(DPSE(n_arms, epsilon, max(horizon, n_arms), beta=beta))
    assert found.epsilon <= epsilon * (1 + TOLERANCE)
    assert found.epsilon in (0.0, pytest.approx(epsilon, rel=1e-9))


@given(st.integers(2, 4), st.floats(0.1, 4), st.integers(4, 40), st.sampled_from(["split", "per-arm"]))
@settings(max_examples=10, deadline=None)
def test_of_any_tree(n_arms, epsilon, horizon, budget):
    """The closed form of trees by index, and no less than what alignment sees."""
    rule = DPUCB(n_arms, epsilon, max(horizon, n_arms), budget=budget)
    found, tree = bound(rule), rule.mechanism
    items = rule.horizon - n_arms + 1
    assert found.epsilon == pytest.approx(items.bit_length() / tree.scale, rel=1e-9)
    table = np.zeros((rule.horizon, n_arms))
    seen = examine(rule, TablePair(table, 0, 0, 1.0, (0.0, 1.0)), seed=0, runs=4)
    assert seen.cost <= found.epsilon * (1 + TOLERANCE)


def test_a_group_pays_for_each_of_its_events():
    rule = TreeSum(1.0, 8)
    found = certificate(rule, claims.group(rule.claim, 3), "alignment")
    assert found.epsilon == pytest.approx(3.0, rel=1e-9)


def test_what_cannot_be_enumerated_is_not_certified():
    """More arms, blocks or states than are tried: no bound is better than one that was not computed."""
    assert bound(DPSE(11, 1.0, 10**6)) is None
    assert bound(TreeSum(1.0, 513)) is None
    turn = np.pi * np.arange(5) / 5
    actions = tuple(zip(np.cos(turn).tolist(), np.sin(turn).tolist(), strict=True))
    assert bound(DPLinear(actions, 1.0, 1000)) is not None
