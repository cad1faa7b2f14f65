"""What `print` shows of a simulation."""

import numpy as np
import pytest

from verifiable_dp.core.simulation import Simulation


def shown(arms, hindsight=None):
    pulls = np.full((4, arms), 5)
    regret = np.array([0.0, 1.0, 2.0, 5.0])
    times = np.array([5 * arms])
    return str(
        Simulation(regret, pulls, times, regret[:, None], None, np.zeros((4, 0)), hindsight)
    ).splitlines()


@pytest.mark.parametrize(
    ("arms", "named", "more"), [(2, 2, ""), (8, 8, ""), (9, 8, ", and 1 more"), (20, 8, ", and 12 more")]
)
def test_the_first_arms_are_named_and_the_others_counted(arms, named, more):
    first, regret, pulls = shown(arms)
    assert first == f"Simulation: 4 runs of {arms} arms, T = {5 * arms}, mean regret 2"
    assert regret == "  regret: quartiles 0.75, 1.5, 2.75; largest 5"
    assert pulls == "  mean pulls: " + ", ".join(f"arm {arm}: 5" for arm in range(named)) + more


def test_the_best_policy_in_hindsight_has_a_line():
    assert shown(2, np.array([1.0, 2.0, 3.0, 4.0]))[3:] == [
        "  against the best policy in hindsight: mean 2.5"
    ]
