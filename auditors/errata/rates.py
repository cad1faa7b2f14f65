"""Statements about rates that fail as printed: a lower bound, two remarks and a row of a table."""

from __future__ import annotations

import math

from verifiable_dp.algorithms import papers
from verifiable_dp.auditors import _robust
from verifiable_dp.auditors._instances import hard
from verifiable_dp.auditors.errata.bench import Mended, Point, Step
from verifiable_dp.core.claims import Source
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.errata import Erratum, Findings, Quotation

DELTA = 1e-6


def one_instance(seed: int) -> Findings:
    """Always the best arm of Theorem 9's instance P_1: 0-LDP; and the larger of its two regrets."""
    about: JsonDict = {"K": 5, "T": 10**6, "epsilon": 1.0, "v": 1.0}
    k, horizon, epsilon, v = about["K"], about["T"], about["epsilon"], about["v"]

    def both(gap: float) -> float:
        return _robust.minimax_bound(gap, n_arms=k, horizon=horizon, epsilon=epsilon, v=v)

    gap = _robust.best_gap(both)
    regrets = {
        name: horizon * float(hard(9, v=v, gaps=[gap] * (k - 1), changed=changed).gaps[0])
        for name, changed in (("P_1", None), ("P_i", 1))
    }
    least = both(gap) / 2
    return Findings(
        [
            statement(
                "regret on P_1 of always playing its best arm", regrets["P_1"], "at least", least, **about
            )
        ],
        [
            statement(
                "the larger of its regrets on P_1 and P_i", max(regrets.values()), "at least", least, **about
            )
        ],
        {**about, "Delta": gap, "regret": regrets, "bound": least},
    )


def _local(at: Point) -> float:
    """eps0 of line 8 of Algorithm 3."""
    return shuffle.formula_inverse(at["epsilon"], int(at["n"]), DELTA)


def gains(seed: int) -> Findings:
    """eps0 at epsilon just above 1 in a batch of a million reports, which the domain of (10) holds."""
    n, epsilon = 10**6, 1.01
    local = _local({"epsilon": epsilon, "n": n})
    about: JsonDict = {"n": n, "epsilon": epsilon, "delta": DELTA, "eps0": local}
    return Findings(
        [statement("eps0/epsilon, approximately 1", local / epsilon, "at most", 2.0, **about)],
        [
            statement(
                "eps0 is within the domain of (10)", local, "at most", shuffle.domain(n, DELTA), **about
            ),
            statement(
                "variance of a local report over a shuffled one", (local / epsilon) ** 2, "at least", 60
            ),
        ],
        about,
    )


_SMALL = {"epsilon": (1e-6, 1e-5, 1e-4), "n": (1e4, 1e6, 1e8)}
_LOG = 16 * math.log(4 / DELTA)
VARIANCE = Mended(
    (
        Step(
            "2/eps0^2 <= 10 * 2/(n eps^2), small eps, delta = 1e-6",
            lambda at: at["n"] * (at["epsilon"] / _local(at)) ** 2 / 10,
            _SMALL,
        ),
    ),
    (
        Step(
            "2/eps0^2 <= 1.1 * 16 log(4/delta) * 2/(n eps^2)",
            lambda at: at["n"] * (at["epsilon"] / _local(at)) ** 2 / (1.1 * _LOG),
            _SMALL,
        ),
        Step(
            "16 log(4/delta) * 2/(n eps^2) <= 2/eps0^2",
            lambda at: _LOG / (at["n"] * (at["epsilon"] / _local(at)) ** 2),
            _SMALL,
        ),
    ),
)
_GROWING = {"epsilon": (1e-7,), "n": (1e4, 1e6, 1e8, 1e10)}
LEVEL = Mended(
    (
        Step(
            "eps0 <= 3 eps n^(1/4), delta = 1e-6",
            lambda at: _local(at) / (3 * at["epsilon"] * at["n"] ** 0.25),
            _GROWING,
        ),
    ),
    (
        Step(
            "eps0 <= eps sqrt(n/(16 log(4/delta)))",
            lambda at: _local(at) / (at["epsilon"] * math.sqrt(at["n"] / _LOG)),
            _GROWING,
        ),
        Step(
            "eps sqrt(n/(16 log(4/delta))) <= 1.1 eps0",
            lambda at: at["epsilon"] * math.sqrt(at["n"] / _LOG) / (1.1 * _local(at)),
            _GROWING,
        ),
    ),
)

TAO = (
    Erratum(
        "one-instance",
        Source(papers.TAO, "Theorem 9", "for each algorithm there is an instance: that holds"),
        "false",
        (
            Quotation(
                "Theorem 9", "There exists a heavy-tailed K-armed bandit instance with the (1 + v)-th bounded"
            ),
            Quotation(
                "Theorem 9",
                r"if T is large enough, for any the ϵ -LDP algorithm \mathcal{A} with $\epsilon \in (0, 1]$, "
                "the expected regret must satisfy",
            ),
            Quotation(
                "proof of Theorem 9",
                r"$\mathbb{E}[\mathcal{R}_{T,\bar{P}_1}^{\mathcal{A}}] \geq \frac{T\Delta}{8} \exp\left("
                r"-8\epsilon^2$",
            ),
        ),
        "There is an instance on which every epsilon-LDP algorithm has that regret; in the proof, P_1.",
        "To play always the best arm of that instance is 0-LDP and has no regret there. The proof bounds the "
        "sum of the regrets on P_1 and P_i, and then speaks of the first alone: the larger of the two is "
        "bounded, so each algorithm has an instance.",
        "regret",
        one_instance,
    ),
    Erratum(
        "summary-of-rates",
        Source(papers.TAO, "Section 4, against Theorem 2"),
        "reading",
        (
            Quotation(
                "Theorem 4",
                r"the regret bound $O(\frac{\log^{2.5} T}{\epsilon} \sum_{\Delta_a > 0} (\frac{1}{\Delta_a})"
                r"^{\frac{1}{v}})$ in Theorem 2",
            ),
        ),
        "Theorem 2 has log^2.5 T.",
        "It has log^(2.5+1/v) T.",
        "text",
    ),
)

HANNA = (
    Erratum(
        "gains-above-one",
        Source(papers.HANNA, "Remark 8"),
        "false",
        (
            Quotation(
                "Remark 8",
                r"For the low privacy regime $\epsilon>1$, the shuffling does not offer privacy gains, "
                r"$\epsilon_{0}^{(i)}\approx\epsilon$ for all $i\in[\log(T)]$",
            ),
        ),
        "For epsilon > 1 shuffling gains nothing: eps0 is about epsilon.",
        "Within the domain of (10) it gains much: at epsilon = 1.01, n = 1e6 and delta = 1e-6 eps0 is 8.0, "
        "and "
        "the noise of a report has 63 times less variance.",
        "proof",
        gains,
    ),
    Erratum(
        "report-variance",
        Source(papers.HANNA, "Remark 9"),
        "false",
        (
            Quotation(
                "Remark 9",
                r"has variance $\frac{2}{{\epsilon_{0}^{(i)}}^{2}}\approx\frac{2}{n_{i}\epsilon^{2}}$ for "
                r"small $\epsilon$.",
            ),
        ),
        "For small epsilon the noise of a report has variance 2/eps0^2, about 2/(n epsilon^2).",
        "16 log(4/delta) times that, by (10) at small eps0: 243 at delta = 1e-6. So the sum of n reports has "
        "243 times the variance that the central model needs.",
        "proof",
        VARIANCE,
    ),
    Erratum(
        "shuffled-level",
        Source(papers.HANNA, "Table 1, against Theorem 3"),
        "false",
        (
            Quotation(
                "Section 1",
                r"LDP+shuffling(Theorem 3) [...] Free $\left(\epsilon,\delta\right)$ "
                r"$\left(\epsilon_{0}=\epsilon T^{1/4},0\right)$",
            ),
        ),
        "Algorithm 3 is eps0-LDP with eps0 = epsilon T^(1/4).",
        "By (10) a report in a batch of n has eps0 = epsilon sqrt(n/(16 log(4/delta))) at small epsilon: it "
        "grows like T^(1/2), and passes epsilon n^(1/4) by .64, 2, 6.4 and 20 at n = 1e4, 1e6, 1e8 and 1e10.",
        "proof",
        LEVEL,
    ),
)
