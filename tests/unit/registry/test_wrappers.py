"""Broken variants that are wrappers of an algorithm: what each makes of the data, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from verifiable_dp import make
from verifiable_dp.auditing.contextual import ContextualCase
from verifiable_dp.core.claims import gdp_epsilon, gdp_mu
from verifiable_dp.core.query import Query
from verifiable_dp.registry.mutants import Unforgetting


def block(pulls):
    """A block of one run that plays both arms `pulls` times each."""
    return Query(np.zeros(1, np.int64), np.array([2 * pulls]), np.ones((1, 2), bool), np.ones(1, bool))


@pytest.mark.parametrize(
    ("blocks", "released"),
    [
        ([(1, 3.0)], [3.0]),  # a single pull is the whole mean
        ([(4, 8.0)], [8.0]),
        ([(1, 3.0), (1, 1.0)], [3.0, 2.0]),
        ([(2, 4.0), (6, 4.0)], [4.0, 6.0]),  # 8 of 8 pulls, scaled to the 6 of this block
    ],
)
def test_an_elimination_that_forgets_nothing_releases_means_over_all_blocks(blocks, released):
    rule = Unforgetting(make("dp-se", n_arms=2, epsilon=1.0, horizon=100))
    state, found = rule.start(np.zeros(1, np.int64)), []
    memory = rule.private(state.run)
    for pulls, total in blocks:
        answer = np.full((1, 2), total)
        memory, shown = rule.release(state, memory, block(pulls), answer, lambda draw: draw.value)
        found.append(float(shown[0, 0]))
    assert found == pytest.approx(released)


@pytest.mark.parametrize(
    ("cost", "delta", "reduced"),
    [
        (1.0, 1e-5, gdp_epsilon(2 * gdp_mu(1.0, 1e-5), 1e-5)),
        (0.0, 1e-5, 0.0),  # nothing that more noise could hide
        (np.inf, 1e-5, np.inf),
        (1.0, 0.0, 1.0),
    ],
)
def test_what_a_promise_to_users_costs_with_half_the_noise(cost, delta, reduced):
    case = SimpleNamespace(
        checks=[SimpleNamespace(statistics={"max_cost": cost})], claim=SimpleNamespace(delta=delta)
    )
    assert ContextualCase.reduced(case, 2.0) == pytest.approx(reduced)
