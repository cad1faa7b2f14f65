"""Widths, radii, bonuses and schedules of every algorithm, at points that were worked out by hand.

A width that is too small makes an algorithm that is still private, and often a better one; no audit would
tell. Each row has the formula and where it stands; its value is computed from these symbols here, not by the
listing. Bounds on regret are in `test_claimed_numbers`.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tests.trials import on_trial
from verifiable_dp import make
from verifiable_dp.algorithms import dp_linear, ldp_linear, robust_ucb, se, ucb1
from verifiable_dp.algorithms.contextual._regression import MOST_REWARD, NoisyRegression
from verifiable_dp.algorithms.dp_klucb import divergence
from verifiable_dp.algorithms.dp_robust_elimination import deviation
from verifiable_dp.auditors import dp_robust_ucb
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.theorems import TheoremTrial

log, sqrt = math.log, math.sqrt


def arms(name, **changes):
    return make(name, **{"n_arms": 2, "epsilon": 0.5, "horizon": 1000} | changes)


def heavy(name, **changes):
    return arms(name, **{"v": 0.5, "u": 2.0} | changes)


def state(t=99, pulls=(8, 32), **more):
    """A state of one run in which t rounds are over."""
    return SimpleNamespace(t=np.array([t]), pulls=np.array([pulls]), run=np.arange(1), **more)


def at(epoch, size=2):
    return np.float64(size), np.float64(epoch)


# name: the listing, what is computed, what it must be, the formula and its source
GOPE = make("adac-gope", actions=((1.0, 0.0), (0.0, 1.0)), rho=0.5, horizon=1000, beta=0.1)
BY_HAND = {
    # Hoeffding: all arms and times together fail by beta.
    "se, radius": (
        "se",
        lambda: se.radius(3, 50.0, 0.1),
        sqrt(log(4 * 3 * 50**2 / 0.1) / 100),
        "sqrt(log(4 K r^2 / beta) / (2 r)); Even-Dar, Mannor & Mansour 2002",
    ),
    "se, gap": (
        "se",
        lambda: make("se", n_arms=3, horizon=1000, beta=0.1).gap(*at(50, 2)),
        2 * sqrt(log(4 * 3 * 50**2 / 0.1) / 100),
        "two radii",
    ),
    "ucb1": (
        "ucb1",
        lambda: ucb1.ucb(12.0, 8.0, log(100)),
        12 / 8 + sqrt(2 * log(100) / 8),
        "sum/n + sqrt(2 log t / n); Auer, Cesa-Bianchi & Fischer 2002",
    ),
    "nas": (
        "nas",
        lambda: make("nas", alpha=0.5, beta=0.1, horizon=1000, radius=2.0).threshold(50.0, 50.0),
        50 * 2 * sqrt(2 / 50 * log(4 * 50**2 / 0.1)) * 3,
        "t h_t (1 + 1/alpha), h_t = R sqrt((2/t) log(4 t^2/beta)); Sajed & Sheffet 2019, Section 3",
    ),
    "dp-nas": (
        "dp-nas",
        lambda: make("dp-nas", alpha=0.5, beta=0.1, epsilon=0.5, horizon=1000, radius=2.0).threshold(
            50.0, 50.0
        ),
        50 * 2 * sqrt(2 / 50 * log(16 * 50**2 / 0.1)) * 3
        + 48 * log(40)
        + 48 * log(8 * 50**2 / 0.1)
        + 16 / 0.5 * log(40),
        "t h_t (1 + 1/alpha) + sigma_1 log(4/beta) + sigma_2 log(8 t^2/beta) + sigma_3/alpha log(4/beta), "
        "sigma = 12R/eps, 12R/eps, 4R/eps; Sajed & Sheffet 2019, Algorithm 2",
    ),
    "dp-se, length": (
        "dp-se",
        lambda: arms("dp-se", beta=0.1).pulls(*at(3)),
        32 * log(8 * 2 * 9 / 0.1) * 64 + 1,
        "max(32 log(8|S|e^2/beta)/D^2, 8 log(4|S|e^2/beta)/(eps D)) + 1, D = 2^-e; Algorithm 3, line 8",
    ),
    "dp-se, length for privacy": (
        "dp-se",
        lambda: arms("dp-se", beta=0.1, epsilon=0.01).pulls(*at(3)),
        8 * log(4 * 2 * 9 / 0.1) * 8 / 0.01 + 1,
        "as above, the other term",
    ),
    "dp-se, gap": (
        "dp-se",
        lambda: arms("dp-se", beta=0.1).gap(*at(3)),
        2 * sqrt(log(8 * 18 / 0.1) / 2 / (32 * log(8 * 18 / 0.1) * 64 + 1))
        + 2 * log(4 * 18 / 0.1) / 0.5 / (32 * log(8 * 18 / 0.1) * 64 + 1),
        "2 sqrt(log(8|S|e^2/beta)/(2R)) + 2 log(4|S|e^2/beta)/(R eps); Algorithm 3, lines 15, 16 and 20",
    ),
    "dp-se-doubling, length": (
        "dp-se-doubling",
        lambda: (
            make("dp-se-doubling", n_arms=2, epsilon=0.5, horizon=10**6, first_guess=1024)
            .phases[1]
            .pulls(*at(2))
        ),
        32 * log(8 * 8 * 2048) * 16 + 1,
        "DP-SE at beta = 1/guess, the second guess being 2048; proof of Theorem 4.3",
    ),
    "dp-ucb, width": (
        "dp-ucb",
        lambda: arms("dp-ucb", gamma=0.1).width,
        2 * log(1000) ** 2 * log(2 * 1000 * log(1000) / 0.1) / 0.5,
        "K log^2 T log(K T log T / gamma) / eps; Mishra & Thakurta 2015, the budget split",
    ),
    "dp-ucb, index": (
        "dp-ucb",
        lambda: arms("dp-ucb", budget="per-arm", gamma=0.1).index(
            state(100, estimate=np.array([[5.0, 9.0]]))
        )[0, 0],
        (5 + log(1000) ** 2 * log(2 * 1000 * log(1000) / 0.1) / 0.5) / 8 + sqrt(2 * log(100) / 8),
        "(sum + Gamma)/n + sqrt(2 log t/n), Gamma without K; Algorithm 1",
    ),
    "ldp-ucb, width": (
        "ldp-ucb",
        lambda: arms("ldp-ucb").width(state())[0, 0],
        sqrt(2 * log(100) / 8) + sqrt(32 * log(100) / (0.25 * 8)),
        "sqrt(2 log t/n) + sqrt(32 log t/(eps^2 n)); Ren et al., LDP-UCB-L",
    ),
    "ldp-ucb, index": (
        "ldp-ucb",
        lambda: arms("ldp-ucb").index(state(estimate=np.array([[0.25, 0.75]])))[0, 1],
        0.75 + sqrt(2 * log(100) / 32) + sqrt(32 * log(100) / (0.25 * 32)),
        "mean of the reports plus the width, where n > 4 log(t + 1)",
    ),
    "adap-ucb, width": (
        "adap-ucb",
        lambda: make("adap-ucb", n_arms=2, epsilon=0.5, horizon=1000, alpha=3.5).width(state())[0, 1],
        sqrt(3.5 * log(200) / 32) + 3.5 * log(100) / (0.5 * 16),
        "sqrt(alpha log(2t)/(2n)) + alpha log t/(eps n), n = 16 of the last episode; Azize & Basu 2022, (7)",
    ),
    "adap-klucb, width": (
        "adap-klucb",
        lambda: make("adap-klucb", n_arms=2, epsilon=0.5, horizon=1000, alpha=3.5).width(state())[0, 1],
        3.5 * log(100) / (0.5 * 16),
        "alpha log t/(eps n); Azize & Basu 2022, AdaP-KLUCB",
    ),
    "adap-tt, radius": (
        "adap-tt",
        lambda: make("adap-tt", n_arms=3, epsilon=0.5, horizon=1000, beta=0.1).radius(state(pulls=(8, 35)))[
            0, 1
        ],
        sqrt(log(9 * 6 * 7 / 0.1) / 32) + log(9 * 6 * 7 / 0.1) / (0.5 * 16),
        "sqrt(l/(2n)) + l/(eps n), l = log(3 K k (k+1)/beta), batch k = 6 of n = 16 after 35 pulls",
    ),
    "adap-tt, index": (
        "adap-tt",
        lambda: make("adap-tt", n_arms=2, epsilon=0.5, horizon=1000, beta=0.1).index(
            state(100, estimate=np.array([[0.25, 0.75]]))
        )[0, 0],
        0.25 + sqrt(log(100) / 8) + log(100) / (0.5 * 4),
        "mean + sqrt(log t/(2n)) + log t/(eps n), n = 4 of 8 pulls; the leader of AdaP-TT",
    ),
    "adac-ucb, width": (
        "adac-ucb",
        lambda: make("adac-ucb", n_arms=2, rho=0.5, horizon=1000, beta=3.5).width(state())[0, 1],
        sqrt(3.5 * log(100) * (1 / 32 + 1 / (0.5 * 256))),
        "sqrt(beta log t (1/(2n) + 1/(rho n^2))), n = 16; derived in the docstring",
    ),
    "shuffled-se, radius": (
        "shuffled-se",
        lambda: arms("shuffled-se", beta=0.1).radius(2, np.array([7.0]))[0],
        sqrt(log(8 * 2 * 49 / 0.1) / 256) + 2 * sqrt(8 * log(8 * 2 * 49 / 0.1) * 128) / 128,
        "sqrt(L/(2l)) + s sqrt(8 L max(l, L))/l, s = 1/eps at l = 128, too few to be shuffled; the docstring",
    ),
    "dp-klucb, level": (
        "dp-klucb",
        lambda: arms("dp-klucb").level(state())[0, 0],
        log(100) + 3 * log(1 + log(100)),
        "log t + 3 log(1 + log t); ours",
    ),
    "dp-klucb, divergence": (
        "dp-klucb",
        lambda: float(divergence(0.25, 0.75, 0.5)),
        -0.125 - log(0.25 + 0.75 * math.exp(-0.5)),
        "-eps x - log(1 - y (1 - e^-eps)), the least being at z = .645 > x; the docstring's derivation",
    ),
    "dp-klucb, phase": (
        "dp-klucb",
        lambda: arms("dp-klucb", growth=1.25).rounds(state(pulls=(8, 33), active=np.array([[False, True]])))[
            0
        ],
        9,
        "ceil((growth - 1) n), n = 33",
    ),
    "dp-imed, index": (
        "dp-imed",
        lambda: arms("dp-imed").index(state(pulls=(20, 32), estimate=np.array([[0.75, 0.25]])))[0, 1],
        -(32 * (-0.125 - log(0.25 + 0.75 * math.exp(-0.5))) - log(2) * (1 + log(32) / log(1.5)) + log(32)),
        "-(n d - c (1 + log n/log growth) + log n), c = log 2; the docstring",
    ),
    "dp-adversarial, rate": (
        "dp-adversarial",
        lambda: make("dp-adversarial", n_arms=3, epsilon=0.4, horizon=1200).rate,
        sqrt(log(3) / (400 * 3 * (2 * (1 + 2 / 1.44) + 1 + 2 * log(1200) / 1.2))),
        "sqrt(log K/(N K (2 (1 + 2 s^2) + 1 + c))), b = 3, s = 1/(b eps) = 1/1.2, c = 2 log(T) s; ours",
    ),
    "gaussian-ts, deviation": (
        "gaussian-ts",
        lambda: make("gaussian-ts", n_arms=2, horizon=1000, variance=2.0).deviation(np.array([[8, 32]]))[
            0, 1
        ],
        sqrt(2 / 33),
        "sqrt(c/(n + 1)), n = 32; normal posterior of a prior that counts as one reward",
    ),
    "gaussian-ts, mean": (
        "gaussian-ts",
        lambda: make("gaussian-ts", n_arms=2, horizon=1000).mean(
            np.array([[4.0, 16.0]]), np.array([[8, 32]])
        )[0, 1],
        16 / 33,
        "S/(n + 1)",
    ),
    "gaussian-ts, mu": (
        "gaussian-ts",
        lambda: make("gaussian-ts", n_arms=3, horizon=1000, variance=2.0, first=4).mu,
        sqrt((1000 - 3 * 4) / (2 * 5)),
        "sqrt((T - b K)/(c (b + 1))); an arm that is never pulled after its first b rewards",
    ),
    "lazy-dp-ts, width": (
        "lazy-dp-ts",
        lambda: arms("lazy-dp-ts").width(state(pulls=(7, 31)))[0, 1],
        3 * log(100) / (0.5 * 16),
        "3 log t/(eps O), O = 16 at 31 pulls; Hu & Hegde 2022, Lazy-DP-TS",
    ),
    "dist-dp-se, length": (
        "dist-dp-se",
        lambda: arms("dist-dp-se", beta=0.1).pulls(*at(5)),
        32.0,
        "2^b; line 4",
    ),
    "dist-dp-se, radius": (
        "dist-dp-se",
        lambda: arms("dist-dp-se", beta=0.1).radius(*at(5)),
        sqrt(log(4 * 2 * 25 / 0.1) / 64)
        + (sqrt(2 * log(2 * 2 * 25 / 0.1)) + log(2 * 2 * 25 / 0.1)) / (0.5 * 32),
        "sqrt(log(4|S|b^2/beta)/(2 l)) + (sqrt(2 w) + w)/(eps l), w = log(2|S|b^2/beta), l = 2^b; "
        "Chowdhury & Zhou 2023",
    ),
    "dist-dp-se, gap": (
        "dist-dp-se",
        lambda: arms("dist-dp-se", beta=0.1).gap(*at(5)) / arms("dist-dp-se", beta=0.1).radius(*at(5)),
        2.0,
        "two radii; line 16",
    ),
    # v = 1/2, u = 2: powers (1+v)/v = 3, 1/(1+v) = 2/3, v/(1+v) = 1/3.
    "robust-ucb": (
        "robust-ucb",
        lambda: robust_ucb.ucb(12.0, 8.0, 2 * log(100), 4 * 2 ** (2 / 3), 1 / 3),
        12 / 8 + 4 * 2 ** (2 / 3) * (2 * log(100) / 8) ** (1 / 3),
        "sum/n + 4 u^(1/(1+v)) (log t^2/n)^(v/(1+v)); Bubeck, Cesa-Bianchi & Lugosi 2013",
    ),
    "robust-ucb, rewards that are searched": (
        "robust-ucb",
        lambda: max(np.abs(make("robust-ucb", n_arms=2, horizon=1000, v=0.5, u=2.0).search_bounds)),
        2 ** (2 / 3),
        "u^(1/(1+v)): a constant of that size has the moment u",
    ),
    "robust-ucb, constant": (
        "robust-ucb",
        lambda: make("robust-ucb", n_arms=2, horizon=1000, v=0.5, u=2.0).constant,
        4 * 2 ** (2 / 3),
        "4 u^(1/(1+v))",
    ),
    "robust-ucb, power": (
        "robust-ucb",
        lambda: make("robust-ucb", n_arms=2, horizon=1000, v=0.5, u=2.0).power,
        1 / 3,
        "v/(1+v)",
    ),
    "dp-robust-ucb, bonus": (
        "dp-robust-ucb",
        lambda: heavy("dp-robust-ucb").bonus(np.float64(100.0), np.float64(8.0)),
        18 * 2 ** (2 / 3) * (log(2 * 100**4) * log(1000) ** 3.5 / (8 * 0.5)) ** (1 / 3),
        "18 u^(1/(1+v)) (log(2 t^4) log^(1.5+1/v) T/(n eps))^(v/(1+v)); Tao et al. 2022, Algorithm 1",
    ),
    "dp-robust-se, length": (
        "dp-robust-se",
        lambda: heavy("dp-robust-se", beta=0.1).pulls(*at(2)),
        math.ceil(4 * 96**3 * log(4 * 2 * 4 / 0.1) / 0.5 + 1),
        "ceil(u^(1/v) (24/D)^((1+v)/v) l/eps + 1), D = 1/4, l = log(4|S|tau^2/beta); Tao et al., Algorithm 2",
    ),
    "dp-robust-se, truncation": (
        "dp-robust-se",
        lambda: heavy("dp-robust-se", beta=0.1).limit(*at(2)),
        (2 * math.ceil(4 * 96**3 * log(320) / 0.5 + 1) * 0.5 / log(320)) ** (2 / 3),
        "(u R eps/l)^(1/(1+v))",
    ),
    "dp-robust-se, gap": (
        "dp-robust-se",
        lambda: heavy("dp-robust-se", beta=0.1).gap(*at(2)),
        12 * 2 ** (2 / 3) * (log(320) / (math.ceil(4 * 96**3 * log(320) / 0.5 + 1) * 0.5)) ** (1 / 3),
        "12 u^(1/(1+v)) (l/(R eps))^(v/(1+v))",
    ),
    "ldp-robust-se, length": (
        "ldp-robust-se",
        lambda: heavy("ldp-robust-se", beta=0.1, horizon=10**15).pulls(*at(1)),
        math.ceil(16 * 56**6 * log(8 * 2 / 0.1) / 0.25 + log(160)),
        "ceil(u^(2/v) (28/D)^(2(1+v)/v) l/eps^2 + l), D = 1/2, l = log(8|S|tau^2/beta); Algorithm 3",
    ),
    "ldp-robust-se, truncation": (
        "ldp-robust-se",
        lambda: heavy("ldp-robust-se", beta=0.1, horizon=10**15).limit(*at(1)),
        (2 * sqrt(math.ceil(16 * 56**6 * log(160) / 0.25 + log(160))) * 0.5 / sqrt(log(160))) ** (2 / 3),
        "(u sqrt(R) eps/sqrt(l))^(1/(1+v))",
    ),
    "ldp-robust-se, gap": (
        "ldp-robust-se",
        lambda: heavy("ldp-robust-se", beta=0.1, horizon=10**15).gap(*at(1)),
        14
        * 2 ** (2 / 3)
        * (sqrt(log(160)) / (sqrt(math.ceil(16 * 56**6 * log(160) / 0.25 + log(160))) * 0.5)) ** (1 / 3),
        "14 u^(1/(1+v)) (sqrt(l)/(sqrt(R) eps))^(v/(1+v))",
    ),
    "linucb, radius": (
        "linucb",
        lambda: make("linucb", actions=((1.0, 0.0), (0.0, 1.0)), horizon=1000, beta=0.01, ridge=2.0).radius(
            SimpleNamespace(log_ratio=np.array([3.0]))
        ),
        sqrt(2 * log(100) + 3) + sqrt(2),
        "sqrt(2 log(1/beta) + log(det V/det(lambda I))) + sqrt(lambda); Abbasi-Yadkori 2011, Theorem 2",
    ),
    "dp-linear, batches": (
        "dp-linear",
        lambda: dp_linear.batches(1000),
        5,
        "floor(log T) - 1, log 1000 = 6.9; Hanna et al., Algorithm 1, line 4",
    ),
    "dp-linear, growth": (
        "dp-linear",
        lambda: dp_linear.growth(1000),
        2000 ** (1 / log(1000)),
        "(2T)^(1/log T); line 3",
    ),
    "dp-linear, width": (
        "dp-linear",
        lambda: dp_linear.width(50, 3, 10, 7, scale=4.0, horizon=1000, beta=0.01),
        sqrt(12 * log(4e6) / 50) + 4 * 6 * (7 + log(4e6)) / 50,
        "sqrt(4 d L/q^i) + s 2 d (B d + L)/q^i, L = log(4|A|T/beta); line 5",
    ),
    "ldp-linear, width": (
        "ldp-linear",
        lambda: ldp_linear.width(50, 3, 10.0, 0.5),
        sqrt(12 * 10 / 50) + 4 * sqrt(80 * max(6 / 50, (6 / 50) ** 2 * 10)),
        "sqrt(4 d L/q^i) + (2/eps) sqrt(8 L max(2d/q^i, (2d/q^i)^2 L)); the docstring's derivation",
    ),
    # m = 2, k = 2: v = 1 + m^2 = 5 and s = 2 (1 + m^2) = 10.
    "dp-robust-elimination, deviation": (
        "dp-robust-elimination",
        lambda: deviation(50, 3.0, k=2.0, epsilon=0.5, contamination=0.1, failure=0.01),
        sqrt(2 * 1.9 * log(400) / 50) + 6 * log(400) / 150 + 6 * log(200) / 25 + 1 / 3 + 0.1 * 4,
        "sqrt(2(v + alpha M^2)l/n) + 2Ml/(3n) + 2M log(2/delta)/(n eps) + s M^(1-k) + alpha(M + m), l = "
        "log(4/delta), v = s = m = 1: derived in the docstring",
    ),
    "dp-robust-elimination, deviation of central moments": (
        "dp-robust-elimination",
        lambda: deviation(50, 3.0, k=2.0, epsilon=0.5, contamination=0.1, failure=0.01, offset=2.0),
        sqrt(2 * 5.9 * log(400) / 50) + 6 * log(400) / 150 + 6 * log(200) / 25 + 10 / 3 + 0.1 * 5,
        "as above with v = 1 + m^2, s = 2^(k-1) (1 + m^k)",
    ),
    "adac-gope, size": (
        "adac-gope",
        lambda: GOPE.size(1),
        16 * log(80) * (1 + sqrt(1 + 8 / (0.5 * 4 * log(80)))),
        "2 d L 4^l (1 + sqrt(1 + 4 c/(rho 4^l L))), L = log(2 K l (l + 1)/beta), c = 2: the docstring's",
    ),
    "adac-gope, width": (
        "adac-gope",
        lambda: GOPE.width(3, 2, 2),
        0.125,
        "2^-l where the core set has c actions",
    ),
    "linear-elimination, width": (
        "linear-elimination",
        lambda: make("linear-elimination", actions=((1.0, 0.0), (0.0, 1.0)), horizon=1000).width(3, 2, 2),
        0.125,
        "2^-l; Lattimore & Szepesvari, Algorithm 12",
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_widths_and_schedules_are_those_of_the_papers(name):
    _, computed, value, formula = BY_HAND[name]
    assert float(np.ravel(computed())[0]) == pytest.approx(value, rel=1e-9), formula


def test_the_ellipsoid_of_rare_releases():
    """After 3 releases, lambda = 2, det V/det(lambda I) = e^3, alpha = .1, sigma = 2/sqrt(2 rho) = 4."""
    rule = make("adac-oful", n_arms=2, dimension=2, rho=0.125, horizon=100, norm=2.0, ridge=2.0, alpha=0.1)
    rewards = sqrt(2 * log(20) + 3) / 2 + sqrt(2)
    assert rule.ellipsoid(np.array([2 * log(2) + 3]))[0] == pytest.approx(rewards)
    assert rule.moved(3) == pytest.approx(4 * sqrt(3) * (sqrt(2) + sqrt(2 * log(240))))
    assert rule.most_releases(2.0) == 13  # 2 log2(1 + 400/4)


def test_the_ellipsoid_of_private_regressions():
    """Shariff & Sheffet 2018, Theorem 5: noise of deviation 3 in 4 dimensions, 100 rounds, alpha = .1."""
    given = SimpleNamespace(dimension=4, alpha=0.1, horizon=100, deviation=3.0)
    spread = 3 * (sqrt(8) + sqrt(2 * log(2 / 0.05)))
    moved = 3 / sqrt(2) * (2 + sqrt(2 * log(400 / 0.1)))
    upsilon = 3 * (sqrt(8) + sqrt(2 * log(2 / (0.1 / 200))))
    given.spread = lambda chance: NoisyRegression.spread(given, chance)
    assert given.spread(0.05) == pytest.approx(spread)
    assert NoisyRegression.moved.fget(given) == pytest.approx(moved)
    assert NoisyRegression.upsilon.fget(given) == pytest.approx(upsilon)
    given.moved, given.upsilon = moved, upsilon
    assert NoisyRegression.ridge.fget(given) == pytest.approx(2 * upsilon)
    grown = 2 * log(4 / 0.1) + 30 - 4 * log(upsilon)
    wanted = MOST_REWARD / 2 * sqrt(grown) + sqrt(3 * upsilon) + moved / sqrt(upsilon)
    assert float(NoisyRegression.ellipsoid(given, np.array(30.0))) == pytest.approx(wanted)


def test_lemma_3_of_tao_is_tried_at_the_chance_of_either_arm(monkeypatch):
    """Each of two arms may fail with BETA, in the bonus and in what is claimed of both."""
    claimed = []
    trial = on_trial("dp-robust-ucb", "lemma-3", heavy("dp-robust-ucb", constants=100.0), "mutant")
    monkeypatch.setattr(TheoremTrial, "probability", lambda self, *given, **_: claimed.append(given[2]))
    monkeypatch.setattr(dp_robust_ucb, "TRIALS", dict.fromkeys(dp_robust_ucb.TRIALS, 2))
    monkeypatch.setattr(dp_robust_ucb, "SHORT", {"horizon": 10, "n_arms": 2})
    list(dp_robust_ucb.lemma_3(trial))
    assert dp_robust_ucb.BETA == 0.1
    assert claimed == [0.2]


def test_an_arm_with_few_reports_is_played_first():
    """LDP-UCB-L: infinite up to 4 log(t + 1) reports, here 4 log 100 = 18.4 with t + 2 rounds begun."""
    index = arms("ldp-ucb").index(state(98, pulls=(18, 19), estimate=np.array([[0.5, 0.5]])))
    assert np.isinf(index).tolist() == [[True, False]]


def test_the_compiled_loop_plays_an_arm_with_few_reports_first():
    """Without noise, the worse arm is played in the rounds in which 4 log(t + 1) comes to a whole number."""
    algorithm, times = arms("ldp-ucb", epsilon=1e9, horizon=3000), np.arange(1, 3001)
    _, at_times, _ = algorithm.kernel(TwoPoint((1.0, 0.0), 0.0, 1.0), 0, np.arange(1), times)
    settled = times > 27
    assert np.array_equal(at_times[0, settled, 1], np.floor(4 * np.log(times[settled] + 1.0)) + 1)


# Without a width of their own: they release sums or a stopping time, or take their width from another row.
NONE = {"tree-sum", "adaptive-tree", "dp-exponential-nas", "shuffled-linear"}


def test_every_algorithm_has_a_row():
    assert {row[0] for row in BY_HAND.values()} | NONE == set(registry.names())
