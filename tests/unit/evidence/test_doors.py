"""A certificate is of this package's own code: that of others may do otherwise where nothing was forced."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import verifiable_dp as vdp
from verifiable_dp.algorithms import Elimination
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.tree_sum import TreeSum
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.noise import Draw
from verifiable_dp.evidence.certify import certificate
from verifiable_dp.evidence.doors import ours
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import AlteredNoise, Prefix


@dataclass(frozen=True)
class Rule(Elimination):
    """An elimination of the user's, right at epsilon 1."""

    n_arms: int = 2
    epsilon: float = 1.0
    horizon: int = 200
    name: ClassVar[str] = "rule"

    @property
    def claim(self):
        return PrivacyClaim(self.epsilon, observe="releases")

    def pulls(self, size, epoch):
        return 4.0**epoch

    def gap(self, size, epoch):
        hoeffding = np.sqrt(np.log(32 * epoch**2) / (2 * 4.0**epoch))
        return 2 * (hoeffding + np.log(16 * epoch**2) / (4.0**epoch * self.epsilon))

    def mechanism(self, size, epoch):
        return Laplace(1.0, self.epsilon)


class ScaleOfTheMean(Rule):
    """Sums whose mean lies in a range that no forced reward reaches get a hundredth of the noise."""

    def release(self, state, memory, query, answer, noise):
        slot, where = self.addresses(state, query)
        mean = answer / np.maximum(query.pulls(), 1)
        scale = np.where((mean > 0.62) & (mean < 0.9) & (state.epoch[:, None] > 1), 0.01, 1.0)
        return memory, noise(Draw(answer, scale, state.run, slot, where))


class RareRelease(Rule):
    """After a release in a range of chance 1 % the second epoch has a hundredth of the noise."""

    def decide(self, state, query, released):
        after = super().decide(state, query, released)
        lucky = np.isclose(np.nan_to_num(released[:, 0]) % 1.0, 0.123, atol=0.0005)
        return replace(after, epoch=np.where(lucky & (after.epoch < 3), after.epoch + 6, after.epoch))

    def pulls(self, size, epoch):
        return np.where((epoch > 6) & (epoch < 9), 4.0, 4.0**epoch)

    def release(self, state, memory, query, answer, noise):
        slot, where = self.addresses(state, query)
        scale = np.where(state.epoch[:, None] > 6, 0.01, 1.0) * np.ones(answer.shape)
        return memory, noise(Draw(answer, scale, state.run, slot, where))


class RareMechanism(Rule):
    """One call in many gives a mechanism with less noise."""

    calls: ClassVar[list] = []

    def mechanism(self, size, epoch):
        self.calls.append(1)
        return Laplace(1.0, self.epsilon if len(self.calls) % 997 else 100.0)


@pytest.mark.parametrize("kind", [ScaleOfTheMean, RareRelease])
def test_leaks_of_the_framework_s_form_are_not_certified(kind):
    """Both were certified at epsilon 1; their true epsilon is 100."""
    report = vdp.audit(kind(), budget="smoke")
    assert report.record["epsilon_upper"] is None
    assert report.verdict == "refuted"


def test_a_right_class_of_a_user_is_not_refuted_and_says_why_it_has_no_certificate():
    """Its scope of every run was as little known as that of the leaks beside it."""
    report = vdp.audit(Rule(), budget="smoke")
    assert (report.verdict, report.record["epsilon_upper"]) == ("not_refuted", None)
    assert "own-classes" in [left["id"] for left in report.record["not_covered"]]


def test_code_of_others_is_known_by_its_objects(monkeypatch):
    """Neither a class's module nor its name counts; control: all of the catalogue is this package's own."""
    for name in registry.every():
        auditor = registry.auditor(name)
        assert ours(auditor.algorithm(**auditor.instance)), name
    assert ours(Prefix(TreeSum(1.0, 8), 4))
    assert not ours(Prefix(Rule(), 4))
    assert not ours(RareMechanism())
    assert not ours(AlteredNoise(TreeSum(1.0, 8), reslot=lambda slot: slot))
    same = type(
        "DPSE", (DPSE,), {"__module__": DPSE.__module__, "release": Rule.release, "query": DPSE.query}
    )
    assert ours(same(2, 1.0, 100))  # what others only put together of our own functions
    forged = type("DPSE", (DPSE,), {"__module__": DPSE.__module__, "release": ScaleOfTheMean.release})
    assert not ours(forged(2, 1.0, 100))
    rule = DPSE(2, 1.0, 100)
    assert certificate(rule, rule.claim, "alignment") is not None
    monkeypatch.setattr(DPSE, "release", ScaleOfTheMean.release)
    assert certificate(rule, rule.claim, "alignment") is None
    monkeypatch.undo()
    object.__setattr__(rule, "release", ScaleOfTheMean().release)
    assert certificate(rule, rule.claim, "alignment") is None
