"""Auditor of AdaC-UCB: the first reward changed; the bound that follows from its index."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adac_ucb import AdaCUCB
from verifiable_dp.auditors import _episodes as family
from verifiable_dp.auditors._first_neighbours import c1_to_c4
from verifiable_dp.core.claims import Basis, RegretClaim, Source, gdp_epsilon, zcdp_epsilon
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.auditor import Auditor, Mutant
from verifiable_dp.registry.mutants import noise_times
from verifiable_dp.registry.theorems import TRIALS, CorrectOnly, MeanBound


def pulls_bound(gaps: FloatArray, rule: AdaCUCB) -> FloatArray:
    """Pulls of arms with these gaps (m,) while all means lie within their widths.

    With u the least n with 2 sqrt(beta log T (1/(2n) + 1/(rho n^2))) <= Delta, no arm whose last episode had
    u rounds is played again; its pulls are twice that episode, and double.
    """
    level = 4 * rule.beta * math.log(rule.horizon) / gaps**2  # n^2 >= level (n/2 + 1/rho)
    least = level / 4 + np.sqrt((level / 4) ** 2 + level / rule.rho)
    return np.asarray(np.where(least > 1, 4 * 2.0 ** np.floor(np.log2(least)), 1.0))


def misses(n_arms: int, beta: float) -> float:
    """Pulls of one arm, in all, in episodes that begin while a mean lies outside its width: at most this.

    After t rounds that has probability 2 (1 + log2 t) t^-beta at most: for the best arm and the other one and
    each length of an episode. An episode has at most t rounds.
    """
    first = int(math.log2(n_arms))
    return float(sum(2 * (j + 2) * 2.0 ** (j * (2 - beta)) for j in range(first, first + 200)))


def regret_bound(gaps: FloatArray, rule: AdaCUCB) -> float:
    """Sum over arms of Delta_a times `pulls_bound` and `misses`."""
    bad = gaps[gaps > 0]
    return float(bad @ (pulls_bound(bad, rule) + misses(len(gaps), rule.beta)))


ON_TWO = MeanBound([family.TWO], family.SHORT, TRIALS)
CLAIMS = (
    RegretClaim(
        "regret",
        "The expected regret is O(sum_a (log T/Delta_a + sqrt(log T/rho))).",
        "sum_a Delta_a (4 max {2^j <= u_a} + sum_{j >= log2 K} 2 (j + 2) 2^(j (2 - beta))), "
        "u_a = min {n: 2 sqrt(beta log T (1/(2n) + 1/(rho n^2))) <= Delta_a}",
        Source(
            papers.AZIZE_ZCDP,
            "AdaC-UCB",
            "the paper states a price of privacy of order log T/sqrt(rho), but we do not know its "
            "constants; derived from Hoeffding's lemma, the tail of normal noise, and doubling",
            Basis.UNREAD,
        ),
        "mean",
        regret_bound,
        "rewards in [0, 1], beta > 2",
        [ON_TWO, CorrectOnly(MeanBound(c1_to_c4))],
    ),
)

MUTANTS = (
    *family.PRIVACY_MUTANTS,
    Mutant(
        "rho for two",
        "the noise has the standard deviation that suits twice the rho",
        noise_times(1 / math.sqrt(2)),
    ),
    *family.order_mutants(ON_TWO),
    family.no_doubling(ON_TWO),
    family.timid(ON_TWO),
)

auditor = Auditor(
    algorithm=AdaCUCB,
    paper=papers.AZIZE_ZCDP,
    model="central",
    instance={"n_arms": 2, "rho": 0.1, "horizon": 15, "delta": 1e-3},
    small={"n_arms": 2, "rho": 0.1, "horizon": 15, "delta": 1e-3},
    pairs=family.pairs,
    mutants=MUTANTS,
    claims=CLAIMS,
    experiment={"n_arms": 5, "rho": 0.5, "horizon": 10**7},
    longest=4096,
    # What mu-GDP comes to at delta, over what rho-zCDP alone would.
    tightness=gdp_epsilon(math.sqrt(0.2), 1e-3) / zcdp_epsilon(0.1, 1e-3),
    worst_cost=lambda rule: gdp_epsilon(rule.mechanism.mu, rule.delta),  # a reward enters one release
)
