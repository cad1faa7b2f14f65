"""What the statements of every study ask of its cells, on outcomes that nobody played: in seconds, by day."""

import json

import numpy as np
import pytest

from verifiable_dp.registry import study as studies
from verifiable_dp.registry.study import StudyOutcome

STUDIES = ("S1", "S2", "S3", "S4", "S5")


def made_up(cell):
    """Regret near 1, and all arms left."""
    values = np.random.default_rng(0).uniform(0.99, 1.01, cell.runs)
    pulls = np.ones((cell.runs, cell.algorithm.n_arms), np.int64)
    return StudyOutcome(values, np.array([1]), values[:, None], pulls, pulls > 0)


def test_all_studies_are_here():
    assert sorted(studies.names()) == sorted(STUDIES)


@pytest.mark.parametrize("name", STUDIES)
def test_every_statement_has_checks(name):
    """Broken variant: a check is given its outcomes in the place of its name."""
    plan = studies.study(name).plan(0.0005)
    outcomes = {key: made_up(cell) for key, cell in plan.cells.items()}
    assert plan.statements
    for statement in plan.statements:
        checks = statement.checks(outcomes)
        assert checks, statement.name
        json.dumps([check.as_dict() for check in checks], allow_nan=False)
