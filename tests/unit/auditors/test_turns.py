"""Later bandits, most of which play one arm at a time: certificates, indices, batches and bounds."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import beta, kstest

from verifiable_dp.algorithms._episodes import TurnState
from verifiable_dp.algorithms.adap_klucb import kl_bound
from verifiable_dp.algorithms.adap_tt import AdaPTT
from verifiable_dp.algorithms.adap_ucb import AdaPUCB
from verifiable_dp.algorithms.dist_dp_se import DistDPSE
from verifiable_dp.algorithms.lazy_dp_ts import LazyDPTS
from verifiable_dp.algorithms.ldp_ucb import LDPUCB
from verifiable_dp.auditors import _episodes, adap_ucb, dist_dp_se, lazy_dp_ts, ldp_ucb
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Table
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.noise import Draw, Seeded
from verifiable_dp.evidence.certify import certificate
from verifiable_dp.registry import entries

GAPS = _episodes.TWO.gaps
EARLIER = ["adap-ucb", "adap-klucb", "ldp-ucb", "lazy-dp-ts", "dist-dp-se", "adap-tt"]
NAMES = [*EARLIER, "dp-klucb", "dp-imed", "dp-adversarial"]


@pytest.fixture(autouse=True)
def own(monkeypatch):
    """What is tried here are the rules of the certificate: classes of this file count as our own."""
    monkeypatch.setattr("verifiable_dp.evidence.certify.ours", lambda algorithm: True)


def bound(algorithm):
    return certificate(algorithm, algorithm.claim, "alignment")


@pytest.mark.parametrize("name", NAMES)
def test_no_mutant_of_privacy_is_certified_and_the_algorithm_is(name):
    auditor = entries.auditor(name)
    rule = auditor.algorithm(**auditor.instance)
    assert bound(rule).epsilon == pytest.approx(rule.epsilon, rel=1e-9)
    found = [bound(m.make(rule)) for m in auditor.mutants if m.breaks == "privacy"]
    assert len(found) >= 6
    assert all(upper is None or upper.epsilon > 1.5 * rule.epsilon for upper in found)
    assert sum(upper is not None for upper in found) >= 2


class ScaleFollowsEstimate(AdaPUCB):
    """An arm that did well gets half the noise."""

    def release(self, state, memory, query, answer, noise):
        scale = np.where(state.estimate > 0.5, 0.5, 1.0)

        def source(draw):
            return noise(replace(draw, scale=draw.scale * scale))

        return super().release(state, memory, query, answer, source)


class FadingNoise(LazyDPTS):
    """Noise gets less from round to round, so that the costliest path has a release at its end."""

    def release(self, state, memory, query, answer, noise):
        def source(draw):
            return noise(replace(draw, scale=draw.scale / (1 + state.t[:, None])))

        return super().release(state, memory, query, answer, source)


class LengthFollowsEstimate(AdaPUCB):
    """An arm that did badly is played once."""

    def rounds(self, state):
        return np.where((state.estimate * state.active).sum(axis=1) < 0.2, 1, super().rounds(state))


class ArmFollowsRaw(AdaPUCB):
    """The next arm is chosen by the reward as it is."""

    def release(self, state, memory, query, answer, noise):
        memory, released = super().release(state, memory, query, answer, noise)
        return memory, np.where(np.isnan(released), released, answer)


@pytest.mark.parametrize("kind", [ScaleFollowsEstimate, LengthFollowsEstimate, ArmFollowsRaw])
def test_what_depends_on_values_other_than_through_the_next_arm_is_not_certified(kind):
    assert bound(AdaPUCB(2, 1.0, 40)) is not None
    assert bound(kind(2, 1.0, 40)) is None


def test_where_noise_fades_every_path_is_tried():
    """One arm pulled throughout is not the costliest path here: a release in the last round is."""
    assert bound(LazyDPTS(2, 1.0, 15)).epsilon == pytest.approx(1.0)
    assert bound(FadingNoise(2, 1.0, 15)).epsilon == pytest.approx(15.0)
    assert bound(FadingNoise(2, 1.0, 500)) is None  # more paths than are followed


@pytest.mark.parametrize(
    ("rule", "epsilon"),
    [(AdaPUCB(3, 0.5, 200), 0.5), (LDPUCB(3, 2.0, 20), 2.0)],
)
def test_certificates_of_other_instances(rule, epsilon):
    assert bound(rule).epsilon == pytest.approx(epsilon, rel=1e-9)


def test_an_instance_with_too_many_states_has_no_certificate():
    assert bound(AdaPUCB(5, 1.0, 10**7)) is None


class Blocks:
    """Arm and length of each block of one run."""

    def __init__(self):
        self.seen = []

    def block(self, position, query):
        self.seen.append((int(query.active[0].argmax()), int(query.rounds[0]), bool(query.complete[0])))


def test_pulls_of_an_arm_double_and_only_the_last_episode_counts():
    rule, blocks = AdaPUCB(2, 1.0, 200), Blocks()
    table = np.zeros((200, 2))
    table[:, 0] = 1.0
    done = play(rule, Table(table), Seeded(1), np.zeros(1, np.int64), watch=blocks)
    for arm in (0, 1):
        lengths = [length for a, length, complete in blocks.seen if a == arm and complete]
        assert lengths == [1, *(2**j for j in range(len(lengths) - 1))]
    # The estimate is the last complete release of the arm over that episode's length.
    released = done.released[0].reshape(-1, 2)
    for arm in (0, 1):
        at = [i for i, (a, _, complete) in enumerate(blocks.seen) if a == arm and complete][-1]
        assert done.final.estimate[0, arm] == released[at, arm] / blocks.seen[at][1]


def test_arms_with_few_pulls_come_first():
    rule, blocks = LDPUCB(2, 1.0, 300), Blocks()
    play(rule, Table(np.zeros((300, 2))), Seeded(2), np.zeros(1, np.int64), watch=blocks)
    pulls = np.zeros(2)
    assert len(blocks.seen) == 300
    for t, (arm, _, _) in enumerate(blocks.seen, 1):
        few = np.flatnonzero(pulls <= 4 * np.log(t + 1))
        assert not len(few) or t <= 2 or arm == few[0]
        pulls[arm] += 1


def batches(rule, table, seed):
    """(pulls, released sum) of every batch of arm 0 of one run without noise, and its rewards."""
    seen, rewards = [], []
    session = rule.session(noise=without_noise)
    while not session.finished:
        arm = session.select()
        if arm == 0:
            rewards.append(float(table[session.rounds, 0]))
        session.update(table[session.rounds, arm])
        if arm == 0:
            seen.append(float(session.state.estimate[0, 0]))
    return seen, rewards


def test_batches_of_thompson_sampling_double_and_are_forgotten():
    """Without noise the estimate after pulls 1, 3, 7, ... is the mean of the last 1, 2, 4, ... rewards."""
    table = np.random.default_rng(1).random((200, 2))
    table[:, 1] = 0.0
    seen, rewards = batches(LazyDPTS(2, 1.0, 200), table, 0)
    assert len(rewards) > 40
    for pulls, estimate in enumerate(seen, 1):
        size = 1 << ((pulls + 1).bit_length() - 2)
        end = 2 * size - 1
        assert estimate == pytest.approx(np.mean(rewards[end - size : end]), rel=1e-12)


def without_noise(draw):
    return np.where(draw.where, draw.value, np.nan)


def test_the_best_arm_is_found_by_its_last_batches():
    """Without noise: estimates are means of the last half of an arm's pulls; the run stops where it may."""
    rule, done, coins = AdaPTT(3, 1.0, 3000), None, np.random.default_rng(3)

    def noise(draw):
        assert draw.value.shape == (1, 4)
        return without_noise(draw) + np.array([0, 0, 0, coins.laplace()])

    table = np.random.default_rng(2).random((3000, 3)) * 0.2 + np.array([0.1, 0.7, 0.3])
    rewards = [[], [], []]
    session = rule.session(noise=noise)
    while not session.finished:
        arm = session.select()
        rewards[arm].append(float(table[session.rounds, arm]))
        session.update(table[session.rounds, arm])
        state = session.state
        for a, mine in enumerate(rewards):
            end = 1 << (len(mine).bit_length() - 1) if mine else 0
            last = mine[end // 2 : end] if end > 1 else mine[:1]
            assert state.estimate[0, a] == pytest.approx(np.mean(last) if last else 0.0, rel=1e-12)
        if done is None and state.found[0] >= 0:
            done = len(rewards[0]) + len(rewards[1]) + len(rewards[2])
            low = state.estimate[0] - rule.radius(state)[0]
            high = state.estimate[0] + rule.radius(state)[0]
            assert low[1] > max(high[0], high[2])
        assert state.found[0] < 0 or session.finished or session.select() == 1
    assert state.stopped[0] == done < 3000
    assert rule.output(state)[0].tolist() == [done, 1]


def test_posteriors_are_sampled_by_their_law():
    """Kolmogorov's distance of 20000 draws at fixed means; a posterior of twice the size is far away."""
    rule = LazyDPTS(2, 1.0, 1000)
    n = 20_000
    pulls = np.full((n, 2), 15)
    state = TurnState(np.arange(n), np.full(n, 30), pulls, np.full((n, 2), -1.0), np.zeros((n, 2), bool))
    mean = np.clip(-1.0 + 3 * np.log(31.0) / 8, 0, 1)
    slot = np.broadcast_to(np.arange(4), (n, 4))
    coins = Seeded(3)(Draw(np.zeros((n, 4)), np.ones((n, 4)), np.arange(n), slot, np.ones((n, 4), bool)))
    drawn = rule.samples(state, coins)
    for arm in (0, 1):
        right = kstest(drawn[:, arm], beta(mean * 8 + 1, (1 - mean) * 8 + 1).cdf)
        wrong = kstest(drawn[:, arm], beta(mean * 16 + 1, (1 - mean) * 16 + 1).cdf)
        assert right.pvalue > 1e-9 > wrong.pvalue


@pytest.mark.parametrize(("pulls", "epsilon"), [(4, 1.9), (16, 6.0), (64, 17.0)])
def test_an_inverse_gamma_scale_costs_what_discrete_shares_would(pulls, epsilon):
    """Relative to the right noise it is that of the known defect: epsilon 1.9, 6 and 17 at a claim of 1."""
    rule = DistDPSE(2, 1.0, 1000)
    factor = dist_dp_se._inverse_scale(rule, None, SimpleNamespace(pulls=lambda: np.array([[pulls]])))
    assert 1 / factor[0, 0] == pytest.approx(epsilon, rel=0.03)


def test_batches_of_secure_sums_double():
    rule = DistDPSE(3, 1.0, 10**6)
    assert rule.schedule[0][1:6, 3].tolist() == [2, 4, 8, 16, 32]
    # Batch 4 of 3 arms at p = 1e-6: sqrt(log(1.92e8)/32) + (sqrt(2 log 9.6e7) + log 9.6e7)/16, twice.
    assert rule.schedule[1][4, 3] == pytest.approx(4.599416194575603, rel=1e-9)


def entropy(p, q):
    with np.errstate(all="ignore"):
        zeros = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
        return np.where(p > 0, p * np.log(p / q), 0.0) + zeros


def test_the_largest_mean_within_a_level_of_entropy():
    """Against bisection; one step of Newton's method too few would be off by 1e-6."""
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.random(5000), [0.0, 0.0, 1e-9, 1 - 1e-9]])
    level = np.concatenate([10 ** rng.uniform(-6, 2.5, 5000), [0.3, 300.0, 0.1, 0.1]])
    low, high = p.copy(), np.ones(p.shape)
    for _ in range(60):
        middle = (low + high) / 2
        inside = entropy(p, middle) <= level
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    assert np.abs(kl_bound(p, level) - low).max() < 1e-9
    assert kl_bound(np.array([1.0]), np.array([0.2])) == 1.0
    assert kl_bound(np.array([0.5]), np.array([0.0])) == 0.5


def test_mechanisms_are_those_of_the_listings():
    assert AdaPUCB(2, 0.5, 10).mechanism == LDPUCB(2, 0.5, 10).mechanism == Laplace(1.0, 0.5)


@pytest.mark.parametrize(
    ("limit", "horizon"),
    [
        (adap_ucb.regret_bound(GAPS, AdaPUCB(2, 1.0, 5000, 3.1)), 5000),
        (_episodes.regret_bound(GAPS, AdaPUCB(2, 1.0, 5000, 3.1)), 5000),
        (ldp_ucb.regret_bound(GAPS, LDPUCB(2, 1.0, 10_000)), 10_000),
        (lazy_dp_ts.regret_bound(GAPS, LazyDPTS(2, 1.0, 3000)), 3000),
    ],
)
def test_uniform_play_breaks_the_bounds(limit, horizon):
    assert limit < GAPS.mean() * horizon
