"""Errata of Tao, Wu, Zhao & Wang 2022."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from verifiable_dp.algorithms.adaptive_tree import AdaptiveTreeSum
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.algorithms.dp_robust_ucb import DPRobustUCB
from verifiable_dp.algorithms.ldp_robust_se import LDPRobustSE
from verifiable_dp.auditors import adaptive_tree, ldp_robust_se
from verifiable_dp.auditors._laplace import FACTOR, log_tail
from verifiable_dp.auditors.errata.bench import aligned
from verifiable_dp.auditors.errata.sajed import samples
from verifiable_dp.core.environments import TwoPoint, bernoulli
from verifiable_dp.core.mechanisms import Tree
from verifiable_dp.core.simulation import simulate
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.probability import probability
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.errata import Fault, Find, Findings
from verifiable_dp.registry.mutants import noise_times, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.wrapped import Listed, with_parameters

SHEET = Sheet(__file__)
said = SHEET.check

TREE_SIZES = (*(1 << n for n in range(10, 21)), 10**6, (1 << 20) - 1)
RUNS = 200


def tree_factor(leaves: int, budget: str) -> float:
    """Loss of the first item of a tree for items in one range, in units of epsilon: nodes / divisor."""
    nodes = math.floor(math.log2(leaves)) + 1
    return nodes / {"log": math.log(leaves), "log2": math.log2(leaves), "levels": nodes}[budget]


def _bases(budget: str) -> list[tuple[str, str]]:
    """Budgets of a node that the listing can mean, in words: the base of its logarithm is not stated."""
    log = [("log", "log T"), ("log2", "log2 T")]
    return log if budget == "log" else [(budget, "(floor(log2 T) + 1)")]


def growing_loss(leaves: int, power: float, divisor: float) -> float:
    """Largest loss of an item of a tree with limits B_n = n^power, in units of epsilon.

    Item i enters the node of level l that ends at t = ceil(i/2^l) 2^l if that quotient is odd and t <= T, and
    costs B_i/B_t of the node's share. Written out apart from the mechanism.
    """
    item = np.arange(1, leaves + 1)
    loss = np.zeros(leaves)
    for level in range(leaves.bit_length()):
        block = -(-item >> level)
        end = block << level
        loss += np.where((block % 2 == 1) & (end <= leaves), (item / end) ** power, 0.0)
    return float(loss.max() / divisor)


# What the budget of the stream is divided by for a node.
NATURAL = result("mechanism", lambda rule, tree: replace(tree, budget="log"))


def tree(seed: int, faulty: Listed, right: Listed) -> Findings:
    """Lemma 2: alignment of the adaptive tree, and the factor of a tree for items in one range."""
    checks, worst = {}, {}
    for variant, algorithm in (("printed", faulty), ("corrected", right)):
        checks[variant], found = aligned(
            f"alignment of the adaptive tree, {variant}, natural log, T = 256",
            algorithm,
            adaptive_tree.pairs(algorithm),
            seed,
            with_parameters(algorithm, horizon=16),
        )
        worst[variant] = found.worst
    factors = [
        said(
            "tree",
            Tree(leaves, 1.0, budget=budget).cost(),
            texts={"words": words},
            leaves=leaves,
            closed_form=tree_factor(leaves, budget),
        )
        for budget, words in _bases(faulty.mechanism.budget)
        for leaves in TREE_SIZES
        if budget == "log" or leaves & (leaves - 1) == 0  # with log2 just below a power of 2 all is well
    ]
    levels = [said("tree-2", Tree(leaves, 1.0).cost(), leaves=leaves) for leaves in TREE_SIZES]
    return Findings([checks["printed"], *factors], [checks["corrected"], *levels], worst["printed"])


def tree_bases(seed: int, faulty: Listed, right: Listed) -> Findings:
    """Theorem 1: the tree with Algorithm 1's growing limits, by the base of the logarithm."""
    natural, binary = [], []

    def loss(leaves: int, v: float) -> float:
        mechanism = with_parameters(faulty, horizon=leaves, v=v).mechanism
        return growing_loss(leaves, mechanism.power, mechanism.divisor)

    for v in (1.0, 0.5):
        power = 1 / (1 + v)
        most = {leaves: growing_loss(leaves, power, math.log2(leaves)) for leaves in range(8, 257)}
        most |= {1 << n: growing_loss(1 << n, power, n) for n in range(9, 17)}
        worst = max(most, key=lambda leaves: most[leaves])
        binary.append(said("tree-bases-2", most[worst], v=v, at=worst))
        natural += [said("tree-bases-3", loss(leaves, v), v=v, leaves=leaves) for leaves in (256, 1 << 16)]
    binary.append(said("tree-bases", growing_loss(2, 0.5, 2.0)))
    return Findings(natural, binary, {"horizon": 1 << 16, "v": 1.0, "loss": loss(1 << 16, 1.0)})


def tree_error(seed: int) -> Findings:
    """Items in one range, T = 2^10 and t = T - 1: the error of a prefix sum of ten nodes, by the log's base.

    The mechanism's log sets the noise, and the same log stands in the bound; chances are exact.
    """
    nodes = 10
    about: JsonDict = {"nodes": nodes, "horizon": 1 << 10, "epsilon": 1.0, "limit_of_items": 1.0}
    printed: list[Check] = []
    right: list[Check] = []
    for words, log, delta in (("natural log", math.log, 0.1), ("log2", math.log2, 0.9)):
        scale, union = 2 * log(1 << 10), math.log(2 / delta)
        for checks, formula, bound in (
            (printed, "2 B log^1.5 T log(1/delta)", scale * math.sqrt(log(1 << 10)) * log(1 / delta)),
            (
                right,
                "2 B log T sqrt(8 l max(m, l)), m nodes, l = log(2/delta)",
                scale * math.sqrt(8 * union * max(nodes, union)),
            ),
        ):
            chance = 2 * math.exp(log_tail(nodes, bound / scale))
            name = f"P[error above {formula}], {words}"
            checks.append(statement(name, chance, "at most", delta, delta=delta, bound=bound, **about))
    example = 2 * math.exp(log_tail(nodes, math.sqrt(math.log(1 << 10)) * math.log(10)))
    return Findings(printed, right, {**about, "delta": 0.1, "exceeded": example})


def precision(seed: int) -> Findings:
    """Pulls of an arm with gap .2 up to the first epoch that removes it, against the proof's count."""
    gap = 0.2
    base: JsonDict = {"n_arms": 2, "epsilon": 1.0, "horizon": 1 << 62, "v": 1.0, "u": 1.0, "beta": 0.1}
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
        [said("precision-printed", count["printed"], proof, texts={"words": words}, gap=gap, **base)],
        [said("precision-right", count["corrected"], proof, texts={"words": words}, gap=gap, **base)],
        {**base, "gap": gap, "pulls_printed": count["printed"], "pulls_proof": proof},
    )


def error(seed: int) -> Findings:
    """Two tied best arms: how often one of them goes."""
    best = bernoulli([0.6, 0.6, 0.1, 0.1, 0.1])
    base: JsonDict = {"n_arms": 5, "epsilon": 1.0, "horizon": 10**12, "v": 1.0, "u": 1.0, "beta": 0.1}
    checks = {}
    for variant in ("printed", "corrected"):
        done = simulate(LDPRobustSE(**base, variant=variant), best, runs=RUNS, seed=seed, points=1)
        assert done.active is not None
        checks[variant] = probability(
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
        common: JsonDict = {"log_power": 0.0, "v": v, "instance": "two arms, +-1"}
        printed.append(
            scaling(
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
            scaling(
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
        done = simulate(algorithm, environment, runs=20, seed=seed, points=1)
        points.append((u, done.pulls[:, 1].astype(np.float64)))

    def bound(power: float, scale: float) -> float:
        return float((scale ** (1 + v)) ** power * (scale * gap) ** (-(1 + v) / v))

    def rate(power: float) -> Check:
        return scaling(
            f"pulls grow like u^{power:.3g}, v = {v:g}",
            points,
            exponent=power,
            log_power=0.0,
            margin=0.3,
            v=v,
        )

    def rescaled(power: float) -> Check:
        return said(
            "rescaled", bound(power, c) / bound(power, 1.0), texts={"power": power}, v=v, gap=gap, c=c
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

    about: JsonDict = {"gap": gap, "horizon": horizon, "v": v, "u": 1.0, "epsilon": 1.0}
    power = 36 ** ((1 + v) / v)
    return Findings(
        [said("constant", twice_bonus(36), gap, texts={"factor": 36}, **about)],
        [said("constant", twice_bonus(power), gap, texts={"factor": round(power)}, **about)],
        {**about, "twice the bonus": twice_bonus(36)},
    )


def sampling_error(epsilon: float) -> float:
    """The proof's bound on the error of a truncated mean, in units of err: deviation, range and bias."""
    return math.sqrt(2 * epsilon) + epsilon / 3 + 1


def large_epsilon(seed: int) -> Findings:
    """The sampling error that the threshold has to cover."""
    return Findings(
        [said("large-epsilon", sampling_error(5.0), epsilon=5.0)],
        [said("large-epsilon", sampling_error(1.0), epsilon=1.0)],
        {"epsilon": 5.0, "sampling error / err": sampling_error(5.0)},
    )


def local_noise(seed: int, faulty: Listed, right: Listed) -> Findings:
    """Alignment of the local algorithm with the noise of the listing and of the proof."""
    checks, worst = [], []
    for words, algorithm in (
        ("Lap(B/epsilon), as in the proof", faulty),
        ("Lap(2B/epsilon), as in the listing", right),
    ):
        small = with_parameters(algorithm, **ldp_robust_se.auditor.small)
        pairs = ldp_robust_se.auditor.pairs(right)[:2]
        check, found = aligned(f"alignment with {words}", algorithm, pairs, seed, small)
        checks.append(check)
        worst.append(found.worst)
    return Findings(checks[:1], checks[1:], worst[0])


def few_laplace(seed: int) -> Findings:
    """Lemma 8 for one variable and for a few; the exact chance beside beta."""

    def off(n: int, beta: float, factor: float) -> Check:
        limit = f"{math.sqrt(factor):.3g} s sqrt(log(2/beta)/n)/epsilon"
        words = f"P[|mean of {n}| > {limit}] divided by beta = {beta:g}"
        chance = 2 * math.exp(log_tail(n, math.sqrt(factor * n * math.log(2 / beta))))
        return statement(words, chance / beta, "at most", 1.0, n=n, beta=beta)

    printed = [off(n, beta, 4.0) for n, beta in ((1, 1e-6), (2, 1e-6), (5, 1e-9))]
    right = []
    for beta in (0.5, 0.1, 1e-3, 1e-6, 1e-9, 1e-15):
        least = math.ceil(FACTOR * math.log(2 / beta))
        right += [off(n, beta, FACTOR) for n in (least, 2 * least, 10 * least)]
    # The error of Theorem 7's proof with that constant: bias, deviation, range and noise, in units of err.
    parts = 1 + math.sqrt(2) + 1 / 3 + 2 * math.sqrt(FACTOR)
    right.append(said("few-laplace", parts))
    example = 2 * math.exp(log_tail(1, 2 * math.sqrt(math.log(2e6))))
    return Findings(printed, right, {"n": 1, "beta": 1e-6, "probability": example})


def bernoulli_divergence(p: float, q: float) -> float:
    """KL divergence of Bernoulli laws with chances p and q in (0, 1)."""
    return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))


def divergence(seed: int) -> Findings:
    """The KL line of Theorem 8's proof at v = .5 and mu_a = 5 Delta_a, gamma as in Theorem 11."""
    v, gap, mean = 0.5, 0.05, 0.25
    size = (2 * mean) ** (1 / v)
    p = size ** (1 + v) / 2
    q = p + 2 * gap * size
    exact = bernoulli_divergence(p, q)
    gamma = (5 * gap) ** (1 / v)
    middle = gamma ** (1 + v) / 2 + gap * gamma
    about: JsonDict = {"v": v, "Delta": gap, "mu": mean, "s": size}
    return Findings(
        [
            said(
                "divergence-printed",
                exact,
                (2 * gap * gamma) ** 2 / (middle * (1 - middle)),
                gamma=gamma,
                **about,
            )
        ],
        [
            said("divergence-right", exact, (2 * gap * size) ** 2 / (q * (1 - q)), **about),
            said("divergence-right-2", exact, 25 ** (1 / v) * gap ** ((1 + v) / v), **about),
        ],
        {**about, "KL": exact},
    )


def moment_step(seed: int) -> Findings:
    """X = 2 at B = 1: both sides of the equality in the proof of Lemma 7, and of the lemma."""
    value, limit = 2.0, 1.0
    left, right = value - limit, value  # of P(X > t) = 1 for t < 2, over t > 1 and of X 1{X > 1} over t > 0
    about: JsonDict = {"X": value, "B": limit}
    return Findings(
        [said("moment-step-printed", left, right, **about)],
        [said("moment-step-right", value, value ** (1 + v) / limit**v, v=v, **about) for v in (0.5, 1.0)],
        {**about, "left": left, "right": right},
    )


EVIDENCE: Mapping[str, Find] = {
    "tree-mechanism": Fault(AdaptiveTreeSum(1.0, 256, 1.0, 1.0), NATURAL, tree),
    "tree-budget": Fault(DPRobustUCB(2, 1.0, 256, 1.0, 1.0), NATURAL, tree_bases),
    "tree-error": tree_error,
    "local-precision": precision,
    "local-error": error,
    "local-rate": local_rate,
    "local-optimal": local_rate,
    "moment-exponent": moment_rate,
    "ucb-constant": constant,
    "large-epsilon": large_epsilon,
    "local-noise": Fault(
        LDPRobustSE(**ldp_robust_se.auditor.instance), noise_times(0.5), local_noise, listed=False
    ),
    "laplace-mean": few_laplace,
    "divergence-line": divergence,
    "loss-of-samples-again": samples,
    "moment-step": moment_step,
}
