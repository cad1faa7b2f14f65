"""That noise does not depend on epsilon is said where epsilon was handed over, and only there."""

import pytest

import verifiable_dp as vdp
from tests.user_code import handed as code
from verifiable_dp.targets.inspection import inspect_target
from verifiable_dp.targets.roles import GivenRole


def noted(target):
    report = vdp.audit(target, epsilon=1.0, n_arms=2, horizon=20, runs=400)
    [traced] = [check for check in report.record["checks"] if check["kind"] == "tracing"]
    return [note["what"] for note in traced["statistics"]["notes"] if note["kind"] == "fixed"]


@pytest.mark.parametrize("target", code.DEPENDS, ids=lambda target: target.__name__)
def test_nothing_is_concluded_from_an_epsilon_that_was_not_set(target):
    """Broken: taking any dataclass among the parameters for one that was given another epsilon."""
    assert noted(target) == []


@pytest.mark.parametrize("target", code.IGNORES, ids=lambda target: target.__name__)
def test_an_epsilon_that_is_ignored_is_named(target):
    assert len(noted(target)) == 1


@pytest.mark.parametrize("target", [code.Fields, code.Nested])
def test_inspect_says_which_fields_keep_their_defaults_and_how_to_set_them(target):
    found = list(inspect_target(target, GivenRole(1.0), 2, 20).lines())
    assert "recognised: these parameters keep their defaults: epsilon=1.0 (--set NAME=VALUE)" in found
    told = list(inspect_target(target, GivenRole(1.0, parameters={"epsilon": 2.0}), 2, 20).lines())
    assert not any("keep their defaults" in line for line in told)
