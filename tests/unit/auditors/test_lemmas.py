"""Lemmas that the papers take from elsewhere, or that their auditors check: each beside a broken one."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

from tests.trials import on_trial
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.auditors import dp_robust_ucb, dp_se, ldp_robust_se
from verifiable_dp.auditors._laplace import FACTOR, log_tail
from verifiable_dp.auditors._settings import hard
from verifiable_dp.core.environments import bernoulli
from verifiable_dp.core.simulation import simulate
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.mutants import gap_times


def largest(ratios):
    return float(np.max(ratios))


@pytest.mark.parametrize("v", [0.3, 0.5, 1.0])
def test_what_truncation_cuts_off(v):
    """Lemma 7 of Tao et al.; with B^(1 + v) for B^v, or E|X| for E|X|^(1+v), it fails."""
    ratios = dp_robust_ucb.truncated_ratios(v, 20_000, 0)
    assert 0.99 < largest(ratios) <= 1
    assert largest(dp_robust_ucb.truncated_ratios(v, 20_000, 0) ** 2) <= 1
    rng = np.random.default_rng(1)
    size = rng.pareto(0.5, 1000) + 1.5  # laws of one point, at a limit just below it
    assert largest(size * (0.999 * size) ** (2 * v) / size ** (1 + v)) > 1


def test_the_mean_of_laplace_variables():
    """Lemma 8 of Tao et al.: false for few variables as printed; with sqrt(4.5) it holds from n on."""

    def over(n, beta, factor):
        return 2 * math.exp(log_tail(n, math.sqrt(factor * n * math.log(2 / beta)))) / beta

    assert over(1, 1e-6, 4) == pytest.approx(math.exp(-2 * math.sqrt(math.log(2e6))) / 1e-6)
    assert over(1, 1e-6, 4) > 400
    for beta in (0.5, 1e-3, 1e-9):
        least = math.ceil(FACTOR * math.log(2 / beta))
        assert max(over(n, beta, FACTOR) for n in range(least, 3 * least)) < 1
    assert over(9, 1e-9, FACTOR) > 1  # below the least n
    assert over(1000, 1e-300, 4) > 1  # the printed constant fails wherever few are few enough
    assert ldp_robust_se.laplace_mean(18, 2 / math.e, 3.0) == pytest.approx(1.5)


def test_the_least_errors_of_theorem_7_bear_the_constant_of_lemma_8():
    """Bias, deviation, range and noise of its proof add up to 7 err at most with 2.12 for 2."""
    assert 1 + math.sqrt(2) + 1 / 3 + 2 * math.sqrt(FACTOR) < 7
    assert 1 + math.sqrt(2) + 1 / 3 + 2 * math.sqrt(FACTOR + 0.1) > 7


def test_laplace_tail_and_bernstein():
    """Lemmas 5 and 6 of Tao et al.: exact, and for binomial tails; with a third of the variance it fails."""
    for t in (0.5, 3.0, 9.0):
        assert math.exp(log_tail(1, t)) * 2 == pytest.approx(math.exp(-t))

    def worst(variance):
        ratios = []
        for n in (10, 100, 1000):
            for p in (0.02, 0.1, 0.5):
                for t in (0.02, 0.1, 0.3):
                    above = stats.binom.sf(math.ceil(n * (p + t) - 1e-9) - 1, n, p)
                    bound = -(t**2 * n / 2) / (variance * p * (1 - p) + max(p, 1 - p) * t / 3)
                    ratios.append(above / math.exp(bound))
        return max(ratios)

    assert worst(1.0) <= 1
    assert worst(1 / 3) > 1


def test_parallel_composition():
    """Lemma 1 of Tao et al.: two halves with epsilon each cost epsilon; the same half twice costs two."""
    epsilon = 0.7
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    report = np.array([[keep, 1 - keep], [1 - keep, keep]])  # of bit 0 and of bit 1

    def loss(left, right):
        return float(np.max(np.abs(np.log(np.einsum("i,j->ij", *left) / np.einsum("i,j->ij", *right)))))

    apart = loss((report[0], report[1]), (report[1], report[1]))
    twice = loss((report[0], report[0]), (report[1], report[1]))
    assert apart == pytest.approx(epsilon)
    assert twice == pytest.approx(2 * epsilon)


def test_jensen():
    """Lemma 9 of Tao et al., for |x|^(1+v), on random laws; for a concave power it is the other way round."""
    rng = np.random.default_rng(0)
    points, chances = rng.standard_normal((1000, 4)), rng.dirichlet(np.ones(4), 1000)
    mean = np.abs(np.sum(points * chances, axis=1))
    for p in (1.3, 2.0):
        assert (mean**p <= np.sum(np.abs(points) ** p * chances, axis=1) + 1e-12).all()
    positive = np.abs(points)
    assert (np.sum(positive * chances, axis=1) ** 0.5 > np.sum(positive**0.5 * chances, axis=1)).any()


def test_the_effective_privacy_loss_of_samples():
    """Lemma 3.5 of Sajed & Sheffet and 12 of Tao et al. (Karwa & Vadhan): randomised response, exactly.

    The most revealing epsilon-DP output of n bits that are drawn from two laws; with 1 for 6 it is exceeded,
    and with 6 from epsilon = 2.92 on.
    """

    def over(factor, epsilons=(0.01, 0.1, 1.0, 2.91)):
        ratios = []
        for epsilon in epsilons:
            for p, q in ((0.5, 0.6), (0.1, 0.15), (0.3, 0.9), (0.0, 1e-3)):
                for n in (1, 5, 50):
                    # A rare output whose chance falls by e^-epsilon with each bit that is not set.
                    count = np.arange(n + 1)
                    rare = np.exp(-epsilon * (n - count)) / 2
                    chances = [float(stats.binom.pmf(count, n, x) @ rare) for x in (q, p)]
                    ratios.append(math.log(chances[0] / chances[1]) - factor * epsilon * n * (q - p))
        return max(ratios)

    assert over(6.0) <= 0
    assert over(1.0) > 0
    assert over(6.0, [2.95]) > 0  # false as printed: e^epsilon - 1 exceeds 6 epsilon
    assert over(6.0, [4.0]) > 0


def divergence(p, q):
    return sum(x * math.log(x / y) for x, y in zip(p, q, strict=True))


def test_the_divergence_of_private_reports():
    """Lemma 15 of Tao et al. for randomised response: at most 2 min(4, e^(2e)) (e^e - 1)^2 KL.

    And at most (e^e - 1)^2 TV^2, which is far less on the instance of Theorem 11 at a small gap.
    """
    worst = closest = 0.0
    for epsilon in (0.05, 0.5, 1.0):
        keep = math.exp(epsilon) / (1 + math.exp(epsilon))
        for p, q in ((0.5, 0.51), (0.2, 0.6), (0.01, 0.3), (0.001, 0.999)):
            reported = [keep * x + (1 - keep) * (1 - x) for x in (p, q)]
            private = divergence(*((x, 1 - x) for x in reported))
            factor = 2 * min(4, math.exp(2 * epsilon)) * (math.exp(epsilon) - 1) ** 2
            worst = max(worst, private / (factor * divergence((p, 1 - p), (q, 1 - q))))
            closest = max(closest, private / (math.expm1(epsilon) * (p - q)) ** 2)
            assert private > 0
    assert 0.01 < worst <= 1
    assert 0.4 < closest <= 1
    (p, _), (q, _) = (hard(11, v=0.5, gaps=[0.01], changed=arm).chances[1][::-1] for arm in (None, 1))
    assert 0 < (p - q) ** 2 < 1e-4 * 8 * divergence((p, 1 - p), (q, 1 - q))


def test_the_divergence_of_histories_splits_by_arms():
    """Lemma 14 of Tao et al.: two rounds of an adaptive rule, all histories; not with other pulls."""
    laws = {1: [(0.5, 0.5), (0.2, 0.8)], 2: [(0.4, 0.6), (0.3, 0.7)]}

    def histories(world):
        chances = {}
        for first in (0, 1):
            for x in (0, 1):
                second = first if x else 1 - first  # stay with an arm that paid
                for y in (0, 1):
                    chances[first, x, second, y] = 0.5 * laws[world][first][x] * laws[world][second][y]
        return chances

    one, two = histories(1), histories(2)
    whole = divergence(one.values(), [two[h] for h in one])
    pulls = {
        world: [sum(p * ((h[0] == a) + (h[2] == a)) for h, p in histories(world).items()) for a in (0, 1)]
        for world in (1, 2)
    }
    split = [sum(pulls[world][a] * divergence(laws[1][a], laws[2][a]) for a in (0, 1)) for world in (1, 2)]
    assert whole == pytest.approx(split[0])
    assert whole != pytest.approx(split[1])


# ---------------------------------------------------------------- best-arm identification


def best_arm(algorithm, budget="mutant"):
    trial = on_trial("dp-se", "best-arm", algorithm, budget)
    return {check.name: check.verdict for run in trial.claim.checks for check in run(trial)}


def test_dp_se_identifies_the_best_arm():
    auditor = registry.auditor("dp-se")
    correct = auditor.algorithm(**auditor.experiment)
    assert set(best_arm(correct, "quick").values()) == {"consistent"}
    [inverted] = [mutant for mutant in auditor.mutants if mutant.name == "inverted"]
    for broken in (gap_times(8)(correct), inverted.make(correct)):  # too many samples; the wrong arm
        assert "contradicted" in best_arm(broken).values()


def test_samples_until_one_arm_is_left():
    where = bernoulli([0.9, 0.3, 0.1])
    done = simulate(DPSE(3, 1.0, 10**7, 0.1), where, runs=5, points=2)
    taken = dp_se.samples(done, 0)
    first = DPSE(3, 1.0, 10**7, 0.1).schedule[0][1, 3]
    assert (taken >= 3 * first).all()
    assert np.isinf(dp_se.samples(done, 1)).all()  # not the arm that is left
    assert np.isinf(dp_se.samples(simulate(DPSE(3, 1.0, 900, 0.1), where, runs=2, points=2), 0)).all()
    gaps, rule = where.gaps, DPSE(3, 1.0, 10**7, 0.1)
    assert dp_se.samples_bound(gaps, rule) == pytest.approx(
        2 * dp_se.pulls_bound(gaps[1:2], rule)[0] + dp_se.pulls_bound(gaps[2:], rule)[0]
    )


def test_the_central_estimate_needs_bins_that_reach_the_mean():
    """Theorem 6.5 of Wu et al. at k = 3: with D below the means J is off, and the check says so."""
    auditor = registry.auditor("dp-robust-elimination")
    played = auditor.algorithm(**auditor.experiment)
    trial = on_trial("dp-robust-elimination", "theorem-6.5", played)
    [stated] = trial.claim.checks
    assert {check.verdict for check in stated(trial)} == {"consistent"}
    short = replace(stated, changes={**stated.changes, "radius": 20.0})
    assert {check.verdict for check in short(trial)} == {"contradicted"}


def least_excess(k, alpha, share=0.249):
    """How much the fullest bin near the mean outweighs a bin beyond, at least, over laws and places."""
    outside = (share - alpha) / (1 - alpha)  # (1/r)^k
    least = []
    for s in np.linspace(0, 1, 21)[:-1]:  # where the mean lies in its bin, in widths
        for far in (
            1 + s,
            3 - s,
        ):  # from the mean to a bin that begins 2r beyond
            # Least distances of the bin left of the mean's, two right of it, its own, and the bin beyond.
            moments = np.array([s, 1 - s, 2 - s, 0.0, far]) ** k
            above = [[*np.eye(5)[i], -1.0] for i in range(4)] + [[*moments, 0.0]]
            result = optimize.linprog(
                [0, 0, 0, 0, -1, 1], above, [0, 0, 0, 0, outside], [[1, 1, 1, 1, 1, 0]], [1]
            )
            least.append((1 - alpha) * result.fun - alpha)
    return min(least)


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.13])
def test_a_bin_near_the_mean_is_the_fullest(k, alpha):
    """Corollary 6.8 of Wu et al., for J within 2r; with .34 for .249 there need be none."""
    assert least_excess(k, alpha) == pytest.approx(0.751 / 2 - 0.249)
    assert least_excess(k, alpha, share=0.34) < 0
