"""Errata of Tao, Wu, Zhao & Wang 2022."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adaptive_tree import AdaptiveTreeSum
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.algorithms.dp_robust_ucb import DPRobustUCB
from verifiable_dp.algorithms.ldp_robust_se import LDPRobustSE
from verifiable_dp.auditing import drafts
from verifiable_dp.auditors import adaptive_tree, ldp_robust_se
from verifiable_dp.core.claims import Source
from verifiable_dp.core.environments import TwoPoint, bernoulli
from verifiable_dp.core.mechanisms import Tree
from verifiable_dp.core.simulation import simulate
from verifiable_dp.evidence.alignment import replay as alignment
from verifiable_dp.evidence.regret import judges as evidence
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.errata import Erratum, Findings
from verifiable_dp.registry.wrapped import AlteredNoise, with_parameters

TREE_SIZES = (*(1 << n for n in range(10, 21)), 10**6, (1 << 20) - 1)
RUNS = 200


def tree_factor(leaves: int, budget: str) -> float:
    """Loss of the first item of a tree for items in one range, in units of epsilon: nodes / divisor."""
    return (math.floor(math.log2(leaves)) + 1) / (math.log(leaves) if budget == "log" else math.log2(leaves))


def tree(seed: int) -> Findings:
    """Alignment of the adaptive tree as printed, and the factor of a tree for items in one range."""
    parameters: dict[str, Any] = {"epsilon": 1.0, "horizon": 256, "v": 1.0, "u": 1.0}
    small = {**parameters, "horizon": 16}
    checks, worst = {}, {}
    for variant in ("printed", "corrected"):
        algorithm = AdaptiveTreeSum(**parameters, variant=variant)
        searched = AdaptiveTreeSum(**small, variant=variant)
        checks[variant], found = alignment.check(
            alignment.Instance(algorithm, 1.0, drafts.instance(algorithm, 1.0)),
            alignment.Instance(searched, 1.0, drafts.instance(searched, 1.0)),
            adaptive_tree.pairs(algorithm),
            alignment.Search(seed, examples=40),
            visible=True,
            name=f"alignment of the adaptive tree, {variant}, T = 256",
        )
        worst[variant] = found.worst
    factors = [
        statement(
            f"loss of a tree with epsilon / {words} a node, T = {leaves}, in units of epsilon",
            Tree(leaves, 1.0, budget=budget).cost(),
            "at most",
            1.0,
            leaves=leaves,
            closed_form=tree_factor(leaves, budget),
        )
        for budget, words in (("log", "log T"), ("log2", "log2 T"))
        for leaves in TREE_SIZES
        if budget == "log" or leaves & (leaves - 1) == 0  # with log2 just below a power of 2 all is well
    ]
    levels = [
        statement(
            f"loss of a tree with epsilon / (floor(log2 T) + 1) a node, T = {leaves}, in units of epsilon",
            Tree(leaves, 1.0).cost(),
            "at most",
            1.0,
            tolerance=1e-12,
            leaves=leaves,
        )
        for leaves in TREE_SIZES
    ]
    return Findings([checks["printed"], *factors], [checks["corrected"], *levels], worst["printed"])


def tree_error(seed: int) -> Findings:
    """Items in one range, T = 2^10 and t = T - 1: the error of a prefix sum of ten nodes, as printed."""
    nodes, runs, delta, log = 10, 20_000, 0.1, math.log(1 << 10)
    error = np.abs(np.random.default_rng(seed).laplace(0, 2 * log, (runs, nodes)).sum(axis=1))
    union = math.log(2 / delta)
    about: dict[str, Any] = {
        "delta": delta,
        "nodes": nodes,
        "horizon": 1 << 10,
        "epsilon": 1.0,
        "limit_of_items": 1.0,
    }

    def exceeded(words: str, bound: float) -> Any:
        return evidence.probability(words, error > bound, probability=delta, bound=bound, **about)

    return Findings(
        [exceeded("error above 2 B log^1.5 T log(1/delta)", 2 * log**1.5 * math.log(1 / delta))],
        [
            exceeded(
                "error above 2 B log T sqrt(8 l max(m, l)), m nodes, l = log(2/delta)",
                2 * log * math.sqrt(8 * union * max(nodes, union)),
            )
        ],
        {**about, "exceeded": float((error > 2 * log**1.5 * math.log(1 / delta)).mean())},
    )


def precision(seed: int) -> Findings:
    """Pulls of an arm with gap .2 up to the first epoch that removes it, against the proof's count."""
    gap = 0.2
    base: dict[str, Any] = {"n_arms": 2, "epsilon": 1.0, "horizon": 1 << 62, "v": 1.0, "u": 1.0, "beta": 0.1}
    # R_tau at v = u = epsilon = 1 and D = 2^-tau, rounded up, written out apart from the class.
    logs = {tau: math.log(8 * 2 * tau**2 / 0.1) for tau in (1, 2, 3)}
    proof = sum((28 * 2**tau) ** 4 * log + log + 1 for tau, log in logs.items())
    count = {}
    for variant, root in (("printed", 4.0), ("corrected", 2.0)):
        last = math.ceil(math.log(1 / gap, root))
        epochs = np.arange(1, last + 1, dtype=np.float64)
        count[variant] = float(LDPRobustSE(**base, variant=variant).pulls(np.array(2.0), epochs).sum())
    words = "pulls of an arm with gap .2 until D is below it, "
    return Findings(
        [statement(f"{words}D = 4^-tau", count["printed"], "at most", proof, gap=gap, **base)],
        [statement(f"{words}D = 2^-tau", count["corrected"], "at most", proof, gap=gap, **base)],
        {**base, "gap": gap, "pulls_printed": count["printed"], "pulls_proof": proof},
    )


def error(seed: int) -> Findings:
    """Two tied best arms: how often one of them goes."""
    best = bernoulli([0.6, 0.6, 0.1, 0.1, 0.1])
    base: dict[str, Any] = {"n_arms": 5, "epsilon": 1.0, "horizon": 10**12, "v": 1.0, "u": 1.0, "beta": 0.1}
    checks = {}
    for variant in ("printed", "corrected"):
        done = simulate(LDPRobustSE(**base, variant=variant), best, runs=RUNS, seed=seed, points=2)
        checks[variant] = evidence.probability(
            f"a tied best arm is removed, {variant}",
            ~done.active[:, :2].all(axis=1),
            probability=base["beta"],
            instance="means .6, .6, .1, .1, .1",
            **base,
        )
    return Findings([checks["printed"]], [checks["corrected"]], {**base, "means": list(best.means)})


def local_rate(seed: int) -> Findings:
    """Fitted exponents of pulls in 1/gap, v = .5 and v = 1."""
    printed, corrected, points = [], [], {}
    for v in (0.5, 1.0):
        algorithm = LDPRobustSE(2, 1.0, 1 << 62, v, 1.0, beta=0.1)
        measured = ldp_robust_se.pulls_by_gap(algorithm, 20, seed)
        points[f"v = {v:g}"] = [[x, float(y.mean())] for x, y in measured]
        right = ldp_robust_se.exponent(v)
        common: dict[str, Any] = {"log_power": 0.0, "v": v, "instance": "two arms, +-1"}
        printed.append(
            evidence.scaling(
                f"pulls grow like gap^-{right / 2:g}, v = {v:g}",
                measured,
                exponent=right / 2,
                alpha=0.01,
                confidence=0.995,  # of either limit: a 99 % interval
                margin=0.7,
                **common,
            )
        )
        corrected.append(
            evidence.scaling(
                f"pulls grow like gap^-{right:g}, v = {v:g}", measured, exponent=right, margin=0.9, **common
            )
        )
    return Findings(printed, corrected, {"pulls by 1/gap": points})


def moment_rate(seed: int) -> Findings:
    """Fitted exponent of pulls in u at one gap, and what rescaling x -> c x does to the printed bound."""
    v, gap, c = 0.5, 0.35, 4.0
    environment = TwoPoint((gap, 0.0), -1.0, 1.0)
    points = []
    for u in (2.0, 8.0, 32.0, 128.0, 512.0):
        algorithm = DPRobustSE(2, 1.0, 1 << 62, v, u, beta=0.1)
        done = simulate(algorithm, environment, runs=20, seed=seed, points=2)
        points.append((u, done.pulls[:, 1].astype(np.float64)))

    def bound(power: float, scale: float) -> float:
        return float((scale ** (1 + v)) ** power * (scale * gap) ** (-(1 + v) / v))

    def rate(power: float) -> Any:
        return evidence.scaling(
            f"pulls grow like u^{power:.3g}, v = {v:g}",
            points,
            exponent=power,
            log_power=0.0,
            margin=0.3,
            v=v,
        )

    def rescaled(power: float) -> Any:
        return statement(
            f"pulls with u^{power:.3g} are the same after x -> {c:g} x",
            bound(power, c) / bound(power, 1.0),
            "equal to",
            1.0,
            tolerance=1e-9,
            v=v,
            gap=gap,
            c=c,
        )

    return Findings(
        [rate(1 / (1 + v)), rescaled(1 / (1 + v))],
        [rate(1 / v), rescaled(1 / v)],
        {"v": v, "gap": gap, "c": c, "pulls by u": [[u, float(y.mean())] for u, y in points]},
    )


def constant(seed: int) -> Findings:
    """The bonus of DP Robust UCB after as many pulls as the proof allows an arm, against half its gap."""
    gap, horizon, v = 0.5, 10**6, 0.5
    rule = DPRobustUCB(2, 1.0, horizon, v, 1.0)
    rest = math.log(2 * horizon**4) * math.log(horizon) ** (1.5 + 1 / v) / gap ** ((1 + v) / v)

    def twice_bonus(factor: float) -> float:
        return 2 * float(rule.bonus(np.array(float(horizon)), np.array(factor * rest)))

    about = {"gap": gap, "horizon": horizon, "v": v, "u": 1.0, "epsilon": 1.0}
    words = "twice the bonus after {} log(2T^4) log^(1.5+1/v) T/gap^((1+v)/v) pulls"
    power = 36 ** ((1 + v) / v)
    return Findings(
        [statement(words.format(36), twice_bonus(36), "at most", gap, tolerance=1e-9, **about)],
        [
            statement(
                words.format(f"{power:.0f}"), twice_bonus(power), "at most", gap, tolerance=1e-9, **about
            )
        ],
        {**about, "twice the bonus": twice_bonus(36)},
    )


def sampling_error(epsilon: float) -> float:
    """The proof's bound on the error of a truncated mean, in units of err: deviation, range and bias."""
    return math.sqrt(2 * epsilon) + epsilon / 3 + 1


def large_epsilon(seed: int) -> Findings:
    """The sampling error that the threshold has to cover."""
    words = "sampling error of a truncated mean in units of err, epsilon = {:g}"
    return Findings(
        [statement(words.format(5), sampling_error(5.0), "at most", 4.0, epsilon=5.0)],
        [statement(words.format(1), sampling_error(1.0), "at most", 4.0, epsilon=1.0)],
        {"epsilon": 5.0, "sampling error / err": sampling_error(5.0)},
    )


def local_noise(seed: int) -> Findings:
    """Alignment of the local algorithm with the noise of the listing and of the proof."""
    algorithm = LDPRobustSE(**ldp_robust_se.auditor.instance)
    small = with_parameters(algorithm, **ldp_robust_se.auditor.small)
    checks, worst = [], []
    for words, factor in (
        ("Lap(B/epsilon), as in the proof", 0.5),
        ("Lap(2B/epsilon), as in the listing", 1.0),
    ):
        whole, searched = (
            alignment.Instance(AlteredNoise(a, factor), a.epsilon, drafts.instance(a, a.epsilon))
            for a in (algorithm, small)
        )
        check, found = alignment.check(
            whole,
            searched,
            ldp_robust_se.auditor.pairs(algorithm)[:2],
            alignment.Search(seed, examples=40),
            visible=True,
            name=f"alignment with {words}",
        )
        checks.append(check)
        worst.append(found.worst)
    return Findings(checks[:1], checks[1:], worst[0])


ERRATA = (
    Erratum(
        "tree-budget",
        Source(papers.TAO, "Algorithms 1 and 2, Theorem 1, Lemma 2"),
        "Every node of the tree gets epsilon / log T.",
        "The first item enters floor(log2 T) + 1 nodes, which is what epsilon must be divided by. For items "
        "in one range the loss is (floor(log2 T) + 1)/log T times epsilon (natural log), and with log2 T "
        "it is above 1 at powers of 2; with growing limits B_n it is less.",
        "privacy",
        tree,
    ),
    Erratum(
        "tree-error",
        Source(papers.TAO, "Lemma 2 (3)"),
        "With probability 1 - delta a prefix sum is off by at most 2 B_t log^1.5 T log(1/delta)/epsilon.",
        "The constant is too small: with m nodes, 2 B_t log T sqrt(8 l max(m, l))/epsilon, l = log(2/delta).",
        "proof",
        tree_error,
    ),
    Erratum(
        "local-precision",
        Source(papers.TAO, "Algorithm 4"),
        "D_tau = 4^-tau.",
        "D_tau = 2^-tau, as the proof of Theorem 7 uses it; 4^-tau pulls an arm more often than it counts.",
        "regret",
        precision,
    ),
    Erratum(
        "local-error",
        Source(papers.TAO, "Algorithm 4"),
        "err has R_tau epsilon in its denominator.",
        "It has sqrt(R_tau) epsilon: the noise of a sum of R reports grows like sqrt(R). As printed the "
        "threshold lies below the noise and tied arms are separated by chance.",
        "regret",
        error,
    ),
    Erratum(
        "local-mean",
        Source(papers.TAO, "Algorithm 4"),
        "It computes the mean with a bar and tests the mean with a tilde.",
        "They are one and the same: the mean of the reports.",
        "text",
    ),
    Erratum(
        "local-rate",
        Source(papers.TAO, "Theorem 7 (10) and (11)"),
        "Regret u^(1/(1+v)) log T/epsilon^2 sum_a Delta_a^(-1/v): pulls grow like Delta^(-(1+v)/v).",
        "Pulls grow like Delta^(-2(1+v)/v), so that the regret is u^(2/v) log T/epsilon^2 sum_a "
        "Delta_a^(-(2+v)/v): the proof removes an arm at Delta >= D and counts pulls as if at D^2.",
        "regret",
        local_rate,
        ("ldp-robust-se/theorem-7-printed",),
    ),
    Erratum(
        "moment-exponent",
        Source(papers.TAO, "Lemma 4, Theorem 4 (7) and (8)"),
        "Pulls and regret grow like u^(1/(1+v)).",
        "They grow like u^(1/v), as R_tau does: only then is the bound the same for rewards in other units, "
        "x -> c x. The worst-case regret is u^(1/(1+v)) (K log T/epsilon)^(v/(1+v)) T^(1/(1+v)).",
        "regret",
        moment_rate,
    ),
    Erratum(
        "ucb-constant",
        Source(papers.TAO, "proof of Theorem 2"),
        "An arm is pulled at most 36 u^(1/v) log(2T^4) log^(1.5+1/v) T/(epsilon Delta^((1+v)/v)) times.",
        "The constant is 36^((1+v)/v): 1296 at v = 1 and 46656 at v = .5.",
        "proof",
        constant,
    ),
    Erratum(
        "large-epsilon",
        Source(papers.TAO, "Algorithm 3, proof of Lemma 4", "the theorem is stated for epsilon <= 1"),
        "The error of an estimate is covered by 4 err for sampling and 2 err for noise, whatever epsilon.",
        "Sampling errs by sqrt(2 epsilon) + epsilon/3 + 1 times err, which is below 4 for epsilon <= 1 "
        "and 5.8 at epsilon = 5: the regret claims hold for epsilon <= 1.",
        "proof",
        large_epsilon,
    ),
    Erratum(
        "local-noise",
        Source(papers.TAO, "proof of Theorem 6"),
        "A report gets Lap(B/epsilon).",
        "Lap(2B/epsilon), as the listing has it: a truncated reward moves by up to 2B.",
        "privacy",
        local_noise,
    ),
)
