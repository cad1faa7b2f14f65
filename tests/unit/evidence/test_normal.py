"""Alignment of normal noise, and the certificate over all replaced users."""

import functools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from verifiable_dp.algorithms.contextual._regression import Confident
from verifiable_dp.algorithms.contextual.adac_oful import AdaCOFUL, OfPublic
from verifiable_dp.algorithms.contextual.dp_lin_ucb import DPLinUCB
from verifiable_dp.algorithms.contextual.dp_lin_ucb_wishart import DPLinUCBWishart
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.claims import gdp_delta, gdp_epsilon, gdp_mu
from verifiable_dp.core.contextual import ContextualAlgorithm
from verifiable_dp.core.mechanisms import NormalTree, WishartTree
from verifiable_dp.core.mechanisms.wishart import WishartRelease, epsilon_of
from verifiable_dp.core.neighbours import ContextPair
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import normal
from verifiable_dp.evidence.alignment.replay import replay, worlds
from verifiable_dp.evidence.alignment.twin import Twin
from verifiable_dp.evidence.upper import evaluated
from verifiable_dp.registry.mutants import result

RULE = DPLinUCB(2, 2, 1.0, 16, delta=1e-3)
PAIRS = family.pairs(RULE)
OWN = PAIRS[-1]  # the user's own context leaves one arm, the other items stay


@pytest.fixture(autouse=True)
def own(monkeypatch):
    """What is tried here are the rules of the certificate: classes of this file count as our own."""
    monkeypatch.setattr("verifiable_dp.evidence.normal.ours", lambda algorithm: True)


def checked(algorithm, pairs, model="joint"):
    claim = RULE.claim.under(model)
    return normal.check(algorithm, claim, [pair.under(model) for pair in pairs], 0)[0]


class OwnRound(Confident):
    """The user's own context joins the matrix that the user chooses by."""

    def indices(self, contexts):
        x = self.clip(contexts)
        widths = ((x @ self.inverse) * x).sum(axis=2)
        widths = widths / (1 + widths)
        means = (x @ self.estimate[:, :, None])[:, :, 0]
        return means + self.radius[:, None] * np.sqrt(np.maximum(widths, 0.0))


def own_round(rule, asked, state):
    return OwnRound(asked.estimate, asked.inverse, asked.radius, asked.norm)


OWN_ROUND = result("rule", own_round)(RULE)


@pytest.mark.parametrize("algorithm", [RULE, OWN_ROUND], ids=["as listed", "own round in its action"])
def test_an_own_action_by_an_own_context_is_no_leak_from_others_and_one_from_all(algorithm):
    assert checked(algorithm, PAIRS).verdict == "not_refuted"
    found = checked(algorithm, PAIRS, "central")
    assert found.verdict == "refuted"
    assert found.statistics["max_loss"] == "inf"
    assert found.statistics["divergence"] == "actions"
    assert checked(algorithm, PAIRS[:-1], "central").verdict == "not_refuted"
    assert normal.certificate(algorithm, RULE.claim, "alignment").epsilon == pytest.approx(1.0)
    assert normal.certificate(algorithm, RULE.claim.under("central"), "alignment") is None


def test_the_loss_is_the_epsilon_of_normal_noise_at_the_claims_delta():
    """The first item enters 5 nodes, moved by sqrt 2 times 2; mu as in the class."""
    mu = math.sqrt(5) * math.sqrt(2) * 2 / RULE.tree.scale
    assert mu == pytest.approx(gdp_mu(1.0, 1e-3))
    assert gdp_delta(mu, 1.0) == pytest.approx(1e-3)
    found = normal.examine(RULE, PAIRS[0], seed=0)
    assert found.fixed == found.mu == pytest.approx(mu)
    later = normal.examine(RULE, PAIRS[3], seed=0)  # the user of round 8 is in 2 nodes
    assert later.fixed == pytest.approx(mu * math.sqrt(2 / 5))


def test_what_varies_with_the_noise_settles_nothing():
    """Deviations that follow the noise of an earlier release cost more in some runs than in others."""

    def louder(rule, released, state, memory, query, answer, noise):
        if int(state.t[0]) != 1:
            return released
        memory, out = released
        factor = np.where(out[:, :1] > 0, 1.0, 0.0)  # raw in half of all runs
        return memory, out * (1 - factor) + answer * factor

    broken = result("release", louder)(RULE)
    pair = PAIRS[0]
    here, paid = pair.form.split(np.array(pair.left))
    second = ContextPair(pair.form, here, paid, 1, -here[1], joint=True)
    found = checked(broken, [second])
    assert found.verdict == "inconclusive"
    assert found.statistics["max_cost"] == "inf"
    assert float(found.statistics["max_loss"]) <= 1


def test_a_delta_of_a_tenth_or_more_may_hide_runs_that_leave_the_path():
    claim = replace(RULE.claim, delta=0.2)
    bare = result("tree", lambda rule, tree: _Silent(tree.leaves, tree.mu, tree.sensitivity))(RULE)
    assert normal.check(bare, RULE.claim, PAIRS[:1], 0)[0].verdict == "refuted"
    assert normal.check(bare, claim, PAIRS[:1], 0)[0].verdict == "inconclusive"


class _Silent(NormalTree):
    def scales(self, number):
        return 0 * super().scales(number)


class _Uneven(NormalTree):
    """Each entry has noise of its own size: the first one more than it needs."""

    def scales(self, number):
        return super().scales(number) * np.where(np.arange(number.shape[1]) == 0, 2.0, 1.0)


class _Twice(NormalTree):
    """The first item enters the tree twice."""

    def insert(self, memory, item, noise, run, where):
        return super().insert(memory, item * np.where(memory.count == 0, 2.0, 1.0), noise, run, where)


def tree(kind):
    return result("tree", lambda rule, found: kind(found.leaves, found.mu, found.sensitivity))(RULE)


def test_certificates_are_refused_where_a_premise_does_not_hold():
    certify = functools.partial(normal.certificate, tested_by="alignment")
    assert certify(RULE, RULE.claim).scope == "certified"
    assert certify(tree(_Uneven), RULE.claim) is None
    assert certify(tree(_Twice), RULE.claim) is None
    assert certify(tree(_Silent), RULE.claim) is None
    unclipped = result("rule", lambda rule, asked, state: replace(asked, norm=asked.norm * 1.01))(RULE)
    assert certify(unclipped, RULE.claim) is None
    signed = result(
        "rule", lambda rule, asked, state: _Signed(asked.estimate, asked.inverse, asked.radius, asked.norm)
    )
    assert certify(signed(RULE), RULE.claim) is None
    assert certify(RULE, replace(RULE.claim, delta=0.0)) is None
    assert certify(DPLinUCB(2, 2, 1.0, 513, delta=1e-3), RULE.claim) is None


class _Signed(Confident):
    """Items of the same length, which may be each other's negative: twice as far apart as it seems."""

    def items(self, context, reward):
        return super().items(context, reward) * np.where(context[:, :1] > 0, 1.0, -1.0)


REWARDS = AdaCOFUL(2, 2, 0.1, 16, delta=1e-3, ridge=1.0)


def test_where_contexts_are_public_the_bound_is_of_rewards_alone():
    """Each enters one release, moved by 1 at most; the last rounds are in none."""
    bound = normal.certificate(REWARDS, REWARDS.claim, "alignment")
    assert bound.epsilon == pytest.approx(gdp_epsilon(math.sqrt(0.2), 1e-3))
    assert [len(state["terms"]) for state in bound.certificate["states"]] == [1, 0]
    assert normal.certificate(REWARDS, replace(REWARDS.claim, protects="context-joint"), "alignment") is None


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("rule", lambda rule, asked, state: replace(asked, norm=asked.norm * 1.01)),
        ("rule", lambda rule, asked, state: _Curved(asked.estimate, asked.inverse, asked.radius, asked.norm)),
        ("kept", lambda rule, kept, sums, due: 0 * sums),  # rewards between releases are lost, so untested
    ],
    ids=["longer contexts", "more in the middle", "some lost"],
)
def test_a_bound_of_rewards_is_refused_where_a_premise_does_not_hold(method, change):
    bound = normal.certificate(result(method, change)(REWARDS), REWARDS.claim, "alignment")
    assert bound is None


class _Curved(OfPublic):
    """A reward of one half moves the item farther than both ends do."""

    def items(self, context, reward):
        found = super().items(context, reward)
        return np.where(
            np.arange(found.shape[1]) < 3, found, found * (1 + 8 * reward * (1 - reward))[:, None]
        )


def test_the_bound_can_be_computed_again_from_plain_values_and_other_numbers_are_refused():
    bound = normal.certificate(RULE, RULE.claim, "alignment")
    plain = json.loads(json.dumps(dict(bound.certificate)))
    assert evaluated(plain, 1e-3) == bound.epsilon
    assert evaluated(plain, 1e-9) > bound.epsilon
    assert evaluated(plain, 0.0) == math.inf
    plain["states"][0]["terms"][0][2] = -1
    with pytest.raises(InputError, match="at least 0"):
        evaluated(plain, 1e-3)
    nothing = {"form": "normal", "states": [{"state": "", "terms": [[0.0, 0.0, 1]]}]}
    assert evaluated(nothing, 1e-3) == 0
    bare = {"form": "normal", "states": [{"state": "", "terms": [[1.0, 0.0, 1]]}]}
    assert evaluated(bare, 1e-3) == math.inf


# ---------------------------------------------------------------- Wishart noise

MATRICES = DPLinUCBWishart(2, 2, 1.0, 8, delta=1e-3)
FIRST = family.pairs(MATRICES)[0]
ENTERED = (
    WishartRelease(2.0, MATRICES.tree.freedom, 3, 4),
)  # the first item's norm is sqrt 2, it is in 4 nodes


def test_the_loss_of_matrices_is_that_of_the_law_of_wishart_noise():
    """Of 2000 transcripts, seeded. Negative control: the law of one node less."""
    epsilon, delta = 0.5, 0.05
    done = replay(MATRICES, FIRST, seed=1, runs=2000)
    part = np.maximum(0.0, -np.expm1(epsilon_of(ENTERED, delta) - done.loss))
    error = part.std() / math.sqrt(len(part))
    assert not done.diverged
    assert abs(part.mean() - delta) < 6 * error
    fewer = np.maximum(0.0, -np.expm1(epsilon_of((replace(ENTERED[0], times=3),), delta) - done.loss))
    assert fewer.mean() - delta > 6 * error
    assert np.exp(-done.loss).mean() == pytest.approx(1.0, abs=6 * np.exp(-done.loss).std() / math.sqrt(2000))
    assert epsilon < epsilon_of(ENTERED, delta / 10)


def test_transcripts_that_are_weighed_have_the_same_loss_as_replayed_ones():
    done = replay(MATRICES, FIRST, seed=1, runs=50)
    here, there = worlds(FIRST, 2, 50)
    twin = Twin(MATRICES, there, 50)
    play(twin, here, Seeded(1), np.arange(50))
    assert twin.known
    assert twin.loss == pytest.approx(done.loss, rel=1e-9, abs=1e-12)
    assert np.ptp(twin.loss) > 0.1


def test_what_matrices_cost_is_bounded_from_both_sides():
    found = normal.examine(MATRICES, FIRST, seed=0, delta=1e-3)
    assert found.mu == pytest.approx(gdp_mu(epsilon_of(ENTERED, 1e-3), 1e-3))
    assert 0.99 * found.mu < found.fixed < found.mu
    # Contexts and rewards that both change: no law is known, but that of one axis, and that of all.
    between = normal.examine(MATRICES, family.pairs(MATRICES)[1], seed=0, delta=1e-3)
    assert 0.5 * between.mu < between.fixed < 0.9 * between.mu
    assert between.mu <= found.mu * (1 + 1e-9)
    claim = MATRICES.claim
    assert normal.check(MATRICES, replace(claim, epsilon=0.98), [FIRST], 0)[0].verdict == "refuted"
    assert normal.check(MATRICES, claim, [FIRST], 0)[0].verdict == "not_refuted"


class _Mixed(WishartTree):
    """Noise of the diagonal is twice as large: a law that is not known."""

    def scales(self, number):
        return super().scales(number) * np.where(np.isin(np.arange(number.shape[1]), (0, 3, 5)), 2.0, 1.0)


def test_matrices_with_noise_of_other_laws_are_neither_accused_nor_certified():
    mixed = result("tree", lambda rule, tree: _Mixed(tree.leaves, tree.size, tree.freedom))(MATRICES)
    assert normal.check(mixed, MATRICES.claim, [FIRST], 0)[0].verdict == "not_refuted"
    assert normal.certificate(mixed, MATRICES.claim, "alignment") is None
    assert normal.certificate(MATRICES, MATRICES.claim, "alignment").scope == "certified"


class _Bare(ContextualAlgorithm):
    """An algorithm of one's own: no more than what every bandit with contexts has."""

    item_norm, allowed_norm = MATRICES.item_norm, MATRICES.allowed_norm

    def __init__(self, inner):
        self._inner, self.n_arms, self.horizon, self.dimension = (
            inner,
            inner.n_arms,
            inner.horizon,
            inner.dimension,
        )
        for name in ("start", "private", "rule", "release", "decide"):
            setattr(self, name, getattr(inner, name))

    start = rule = release = decide = None


@pytest.mark.parametrize("algorithm", [RULE, MATRICES], ids=["normal", "wishart"])
def test_a_certificate_asks_for_no_more_than_every_bandit_with_contexts_has(algorithm):
    mine, listed = (
        normal.certificate(one, algorithm.claim, "alignment") for one in (_Bare(algorithm), algorithm)
    )
    assert mine.certificate == listed.certificate


def test_the_bound_of_matrices_can_be_computed_again_and_other_numbers_are_refused():
    bound = normal.certificate(MATRICES, MATRICES.claim, "alignment")
    assert bound.epsilon == epsilon_of(ENTERED, 1e-3)
    plain = json.loads(json.dumps(dict(bound.certificate)))
    assert evaluated(plain, 1e-3) == bound.epsilon
    assert evaluated(plain, 0.0) == math.inf
    costlier = json.loads(json.dumps(plain))
    costlier["states"][-1]["terms"][0][1] = 0.5  # scale of the last user's only node
    assert evaluated({**plain, "states": costlier["states"][-1:]}, 1e-3) > evaluated(
        {**plain, "states": plain["states"][-1:]}, 1e-3
    )
    for at, value in ((3, 20.5), (2, 1.5), (0, -1.0), (3, -1)):
        wrong = json.loads(json.dumps(plain))
        wrong["states"][0]["terms"][0][at] = value
        with pytest.raises(InputError, match="certificate"):
            evaluated(wrong, 1e-3)
