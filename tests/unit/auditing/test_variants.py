"""Power by the code's own epsilon: the code is made for a larger one, whatever its mechanism draws from."""

import dataclasses

import numpy as np
import pytest

from verifiable_dp import api
from verifiable_dp.core.validate import InputError
from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import plain
from verifiable_dp.record.verify import validate
from verifiable_dp.targets.adapters import epsilon_of, made_for
from verifiable_dp.targets.roles import GivenRole

LIMITS = {"epsilon": 1.0, "budget": "smoke"}


def inverted(data, size, rng, epsilon):
    """Laplace noise from uniform draws, which no generator can scale."""
    u = rng.random(size) - 0.5
    return np.sum(data) - np.sign(u) * np.log(1 - 2 * abs(u)) / epsilon


def renamed(data, size, rng, level):
    return inverted(data, size, rng, level)


def bare(data, size, rng):
    return inverted(data, size, rng, 1.0)


def strict(data, size, rng, epsilon):
    if epsilon > 1:
        raise ValueError("epsilon must be at most 1")
    return np.sum(data) + rng.laplace(scale=1 / epsilon, size=size)


def ignoring(data, size, rng, epsilon):
    return np.sum(data) + rng.laplace(size=size)


class Coin:
    """Plays the arm that a randomised response of the last reward names."""

    def __init__(self, n_arms, eps=0.5):
        self.keeps, self.last = 1 / (1 + np.exp(-eps)), 0

    def select(self, rng):
        return self.last if rng.random() < self.keeps else 1 - self.last

    def update(self, arm, reward):
        self.last = int(reward > 0.5)


@dataclasses.dataclass
class Settings:
    epsilon: float = 2.0


def configured(config, rng):
    return Coin(2, config["epsilon"])


def nested(n_arms, settings: Settings):
    return Coin(n_arms, settings.epsilon)


Settings.__module__ = __name__
nested.__annotations__["settings"] = Settings


@pytest.mark.parametrize(
    ("target", "given", "found"),
    [
        (inverted, GivenRole(0.7), ("epsilon", 0.7)),
        (inverted, GivenRole(0.7, parameters={"epsilon": 3}), ("epsilon", 3.0)),
        (renamed, GivenRole(0.7), None),
        (renamed, GivenRole(0.7, epsilon_parameter="level"), ("level", 0.7)),
        (bare, GivenRole(0.7), None),
        (Coin, GivenRole(0.7), ("eps", 0.5)),
        (Coin, GivenRole(0.7, epsilon_parameter="eps"), ("eps", 0.7)),
        (Coin, GivenRole(0.7, parameters={"eps": True}), None),
        (Coin, GivenRole(None), None),
        (configured, GivenRole(0.7), ("", 0.7)),
        (nested, GivenRole(0.7), ("epsilon", 2.0)),  # a field keeps its default, as a parameter does
    ],
)
def test_the_parameter_that_is_epsilon(target, given, found):
    assert epsilon_of(target, given) == found


def test_code_is_made_for_a_larger_epsilon():
    """The share of kept answers is that of the larger epsilon, e^(c eps) / (1 + e^(c eps))."""
    rewards = np.ones((4000, 2))
    for target, given, epsilon in (
        (Coin, GivenRole(0.7), 1.5),
        (Coin, GivenRole(0.7, epsilon_parameter="eps"), 2.1),
        (configured, GivenRole(0.7), 2.1),
    ):
        arms = made_for(target, given, 3.0)(rewards, np.random.default_rng(1))
        assert arms[1:].mean() == pytest.approx(1 / (1 + np.exp(-epsilon)), abs=0.03)


def test_power_of_noise_that_no_generator_scales():
    """Without the parameter the same noise leaves the power unknown."""
    report = api.audit(inverted, **LIMITS)
    power = report.record["power"]
    assert 1 < power["smallest_epsilon"] <= 6
    assert power["variant"] == {"of": "parameter", "parameter": "epsilon", "stated": "nominal"}
    assert "times its epsilon (parameter epsilon)." in words.power(Record.of(report.record))
    validate(report.record)
    without = api.audit(bare, **LIMITS)
    assert without.record["power"] is None
    assert "changed nothing" in without.record["target"]["note"]


def test_the_parameter_can_be_named():
    with pytest.raises(InputError, match=r"got parameters|parameter level"):
        api.audit(renamed, **LIMITS)
    report = api.audit(renamed, **LIMITS, epsilon_parameter="level")
    assert "(parameter level)" in words.power(Record.of(report.record))
    assert report.record["target"]["parameters"]["epsilon_parameter"] == "level"
    again = api.rerun(report.record)
    assert plain(again["power"]) == plain(report.record["power"])
    with pytest.raises(InputError, match="epsilon_parameter: renamed has no parameter eps; it has level"):
        api.audit(renamed, **LIMITS, epsilon_parameter="eps")


@pytest.mark.parametrize("target", [strict, ignoring])
def test_code_that_refuses_or_ignores_a_larger_epsilon_has_its_noise_scaled(target):
    report = api.audit(target, **LIMITS)
    assert report.record["power"]["variant"]["of"] == "generator"
    assert "noise of the generator divided by" in words.power(Record.of(report.record))
