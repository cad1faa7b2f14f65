"""Errata of Tao, Wu, Zhao & Wang 2022."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adaptive_tree import AdaptiveTreeSum
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.algorithms.dp_robust_ucb import DPRobustUCB
from verifiable_dp.algorithms.ldp_robust_se import LDPRobustSE
from verifiable_dp.auditing import drafts
from verifiable_dp.auditors import adaptive_tree, ldp_robust_se
from verifiable_dp.auditors._laplace import FACTOR, log_tail
from verifiable_dp.core.claims import Source
from verifiable_dp.core.environments import TwoPoint, bernoulli
from verifiable_dp.core.mechanisms import Tree
from verifiable_dp.core.simulation import simulate
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.evidence.alignment import replay as alignment
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.probability import probability
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.errata import Erratum, Fault, Findings, Quotation
from verifiable_dp.registry.mutants import noise_times, result
from verifiable_dp.registry.wrapped import Listed, with_parameters

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
        searched = with_parameters(algorithm, horizon=16)
        checks[variant], found = alignment.check(
            alignment.Instance(algorithm, 1.0, drafts.instance(algorithm, 1.0)),
            alignment.Instance(searched, 1.0, drafts.instance(searched, 1.0)),
            adaptive_tree.pairs(algorithm),
            alignment.Search(seed, examples=40),
            visible=True,
            name=f"alignment of the adaptive tree, {variant}, natural log, T = 256",
        )
        worst[variant] = found.worst
    factors = [
        statement(
            f"loss of a tree with epsilon / {words} a node, T = {leaves}, in units of epsilon",
            Tree(leaves, 1.0, budget=budget).cost(),
            "at most",
            1.0,
            leaves=leaves,
            tolerance=1e-12,
            closed_form=tree_factor(leaves, budget),
        )
        for budget, words in _bases(faulty.mechanism.budget)
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
        binary.append(
            statement(
                f"largest loss with log2 over T = 8 to 256 and powers of 2 up to 2^16, v = {v:g}",
                most[worst],
                "at most",
                1.0,
                v=v,
                at=worst,
            )
        )
        natural += [
            statement(
                f"loss with the natural logarithm at T = {leaves}, v = {v:g}, in units of epsilon",
                loss(leaves, v),
                "at most",
                1.0,
                v=v,
                leaves=leaves,
            )
            for leaves in (256, 1 << 16)
        ]
    binary.append(
        statement(
            "loss with floor(log2 T) + 1 at T = 2, below which log2 does not do",
            growing_loss(2, 0.5, 2.0),
            "at most",
            1.0,
        )
    )
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
        [statement(f"{words}D = 4^-tau", count["printed"], "at most", proof, gap=gap, **base)],
        [statement(f"{words}D = 2^-tau", count["corrected"], "at most", proof, gap=gap, **base)],
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


def local_noise(seed: int, faulty: Listed, right: Listed) -> Findings:
    """Alignment of the local algorithm with the noise of the listing and of the proof."""
    checks, worst = [], []
    for words, algorithm in (
        ("Lap(B/epsilon), as in the proof", faulty),
        ("Lap(2B/epsilon), as in the listing", right),
    ):
        small = with_parameters(algorithm, **ldp_robust_se.auditor.small)
        whole, searched = (
            alignment.Instance(a, a.epsilon, drafts.instance(right, a.epsilon)) for a in (algorithm, small)
        )
        check, found = alignment.check(
            whole,
            searched,
            ldp_robust_se.auditor.pairs(right)[:2],
            alignment.Search(seed, examples=40),
            visible=True,
            name=f"alignment with {words}",
        )
        checks.append(check)
        worst.append(found.worst)
    return Findings(checks[:1], checks[1:], worst[0])


def few_laplace(seed: int) -> Findings:
    """Lemma 8 for one variable and for a few; the exact chance beside beta."""

    def off(n: int, beta: float, factor: float) -> Check:
        words = (
            f"P[|mean of {n}| > {math.sqrt(factor):.3g} s sqrt(log(2/beta)/n)/epsilon] over beta = {beta:g}"
        )
        chance = 2 * math.exp(log_tail(n, math.sqrt(factor * n * math.log(2 / beta))))
        return statement(words, chance / beta, "at most", 1.0, n=n, beta=beta)

    printed = [off(n, beta, 4.0) for n, beta in ((1, 1e-6), (2, 1e-6), (5, 1e-9))]
    right = []
    for beta in (0.5, 0.1, 1e-3, 1e-6, 1e-9, 1e-15):
        least = math.ceil(FACTOR * math.log(2 / beta))
        right += [off(n, beta, FACTOR) for n in (least, 2 * least, 10 * least)]
    # The error of Theorem 7's proof with that constant: bias, deviation, range and noise, in units of err.
    parts = 1 + math.sqrt(2) + 1 / 3 + 2 * math.sqrt(FACTOR)
    right.append(
        statement(
            "errors of the proof of Theorem 7 with 2.12 for 2, in units of its err", parts, "at most", 7.0
        )
    )
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
    about = {"v": v, "Delta": gap, "mu": mean, "s": size}
    return Findings(
        [
            statement(
                "KL(nu_a, nu'_a) with gamma = (5 Delta)^(1/v)",
                exact,
                "at most",
                (2 * gap * gamma) ** 2 / (middle * (1 - middle)),
                gamma=gamma,
                **about,
            )
        ],
        [
            statement(
                "KL(nu_a, nu'_a) with s_a, and 2 Delta_a s_a for Delta gamma",
                exact,
                "at most",
                (2 * gap * size) ** 2 / (q * (1 - q)),
                **about,
            ),
            statement(
                "KL(nu_a, nu'_a), with the constant that the proof ends with, C = 1",
                exact,
                "at most",
                25 ** (1 / v) * gap ** ((1 + v) / v),
                **about,
            ),
        ],
        {**about, "KL": exact},
    )


def moment_step(seed: int) -> Findings:
    """X = 2 at B = 1: both sides of the equality in the proof of Lemma 7, and of the lemma."""
    value, limit = 2.0, 1.0
    left, right = value - limit, value  # of P(X > t) = 1 for t < 2, over t > 1 and of X 1{X > 1} over t > 0
    about = {"X": value, "B": limit}
    return Findings(
        [
            statement(
                "int_B^inf P(|X| > t) dt is int_0^inf P(X 1{|X| > B} > t) dt",
                left,
                "equal to",
                right,
                **about,
            )
        ],
        [
            statement(
                f"E[X 1{{|X| > B}}], v = {v:g}", value, "at most", value ** (1 + v) / limit**v, v=v, **about
            )
            for v in (0.5, 1.0)
        ],
        {**about, "left": left, "right": right},
    )


_TABLE = (
    r"O\left(\frac{\log T}{\epsilon^2}\sum_{\Delta_a>0}\left(\frac{1}{\Delta_a}\right)^{\frac{1}{v}} + "
    r"\max_a \Delta_a\right)"
)
_TREE = Quotation("Algorithm 2", r"$\epsilon' \leftarrow \epsilon / \log T$")

ERRATA = (
    Erratum(
        "tree-mechanism",
        Source(papers.TAO, "Lemma 2, Algorithm 2"),
        "false",
        (
            Quotation(
                "Lemma 2",
                r"Tree-based Mechanism (Algorithm 2) outputs an estimation $\hat{S}(t)$ for S(t) at each "
                r"$t \in [T]$ such that $\hat{S}(t)$ preserves ϵ -differential privacy",
            ),
            _TREE,
        ),
        "With epsilon / log T a node the mechanism is epsilon-DP for every non-decreasing limit B_t.",
        "The first item enters floor(log2 T) + 1 nodes, which is what epsilon must be divided by. For items "
        "in one range the loss is (floor(log2 T) + 1)/log T times epsilon with the natural log; with log2 it "
        "is above 1 at powers of 2 (1.05 at 2^20).",
        "privacy",
        Fault(AdaptiveTreeSum(1.0, 256, 1.0, 1.0), NATURAL, tree),
    ),
    Erratum(
        "tree-budget",
        Source(papers.TAO, "Theorem 1, Algorithms 1 and 2", "the base of log is not stated"),
        "reading",
        (
            Quotation(
                "Theorem 1",
                r"Theorem 1. For any $\epsilon > 0$, the overall algorithm (Algorithm 1 and Algorithm 2) is "
                "ϵ -differentially private.",
            ),
            _TREE,
        ),
        "With epsilon / log T a node and the limits B_n of Algorithm 1, the whole is epsilon-DP.",
        "It is with log2 for T >= 8 (at most .956 epsilon up to T = 2^16), since the limits grow and later "
        "nodes cost less; it is not with the natural log (1.38 epsilon at T = 2^16). With "
        "floor(log2 T) + 1 it is for every T.",
        "privacy",
        Fault(DPRobustUCB(2, 1.0, 256, 1.0, 1.0), NATURAL, tree_bases),
    ),
    Erratum(
        "tree-error",
        Source(papers.TAO, "Lemma 2 (3)"),
        "false",
        (
            Quotation(
                "Lemma 2",
                r"guarantees the following noise bound with probability at least $1 - \delta$ for any "
                r"$\delta > 0$, $\left|\widehat{S}(t) - S(t)\right| \le \frac{2B_t}{\epsilon} \cdot "
                r"\log^{1.5} T \cdot \log \frac{1}{\delta}.$",
            ),
        ),
        "With probability 1 - delta a prefix sum is off by at most 2 B_t log^1.5 T log(1/delta)/epsilon.",
        "The constant is too small: at delta = .1 with the natural log, and as delta approaches 1 with any, "
        "where the bound goes to 0. With m nodes, 2 B_t log T sqrt(8 l max(m, l))/epsilon, l = log(2/delta).",
        "proof",
        tree_error,
    ),
    Erratum(
        "local-precision",
        Source(papers.TAO, "Algorithm 4"),
        "reading",
        (
            Quotation("Algorithm 4", r"$D_\tau \leftarrow 4^{-\tau}$"),
            Quotation(
                "Lemma 13",
                r"we eliminate all arms with sub-optimality gap $\geq 2^{-\tau} = D_{\tau}$",
            ),
        ),
        "D_tau = 4^-tau in the listing, 2^-tau in the proof.",
        "D_tau = 2^-tau, as the proof of Theorem 7 uses it; 4^-tau pulls an arm more often than it counts.",
        "regret",
        precision,
    ),
    Erratum(
        "local-error",
        Source(papers.TAO, "Algorithm 4"),
        "reading",
        (
            Quotation(
                "Algorithm 4",
                r"$err_{\tau} \leftarrow u^{1/(1+v)} (\frac{\sqrt{\log(8|\mathcal{S}|\tau^2/\beta)}}"
                r"{R_{\tau}\epsilon})^{v/(1+v)}.$",
            ),
            Quotation(
                "Lemma 13",
                r"$\left|\widetilde{\mu}_{a} - \mu_{a}\right| \leq 7u^{\frac{1}{1+\nu}} \left("
                r"\frac{\sqrt{\log\left(8\left|\mathcal{S}\right|\tau^{2}/\beta\right)}}{\sqrt{R_{\tau}}"
                r"\epsilon}\right)^{\frac{\nu}{1+\nu}}.$",
            ),
        ),
        "err has R_tau epsilon in its denominator in the listing, sqrt(R_tau) epsilon in the proof.",
        "It has sqrt(R_tau) epsilon: the noise of a sum of R reports grows like sqrt(R). As the listing has "
        "it, the threshold lies below the noise and tied arms are separated by chance.",
        "regret",
        error,
    ),
    Erratum(
        "local-mean",
        Source(papers.TAO, "Algorithm 4"),
        "reading",
        (
            Quotation(
                "Algorithm 4",
                r"For each $a \in \mathcal{S}$, compute $\bar{\mu}_a \leftarrow (\sum_{l=1}^{R_{\tau}} "
                r"\hat{x}_{a,l})/R_{\tau}$",
            ),
            Quotation("Algorithm 4", r"if $\widetilde{\mu}_{\max} - \widetilde{\mu}_a > 14 err_{\tau}$ then"),
        ),
        "It computes the mean with a bar and tests the mean with a tilde.",
        "They are one and the same: the mean of the reports.",
        "text",
    ),
    Erratum(
        "local-rate",
        Source(papers.TAO, "Theorem 7 (10) and (11)"),
        "false",
        (
            Quotation(
                "Theorem 7",
                r"Theorem 7 (LDP Upper Bound). Set $\beta = \frac{1}{T}$ in Algorithm 4. For any "
                r"$\epsilon \in (0, 1]$ and sufficiently large T, the instance-dependent expected regret of "
                r"Algorithm 4 satisfies $\mathcal{R}_T \le O\left(\frac{u^{\frac{2}{v}}\log T}{\epsilon^2} "
                r"\sum_{\Delta_a > 0} \left(\frac{1}{\Delta_a}\right)^{\frac{1}{v}} + \max_a \Delta_a\right)."
                r" \quad (10)$",
            ),
            Quotation(
                "Theorem 7",
                r"Moreover, the instance-independent expected regret of Algorithm 4 satisfies "
                r"$\mathcal{R}_T \le O\left(u^{\frac{2}{1+\nu}} \left(\frac{K\log T}{\epsilon^2}\right)"
                r"^{\frac{\nu}{1+\nu}} T^{\frac{1}{1+\nu}}\right),$",
            ),
            Quotation(
                "Lemma 13",
                r"let $\tau(a)$ be the first epoch s.t. $\Delta_a \geq D_{\tau(a)}^2$",
            ),
        ),
        "Regret u^(2/v) log T/epsilon^2 sum_a Delta_a^(-1/v): pulls grow like Delta^(-(1+v)/v).",
        "Pulls grow like Delta^(-2(1+v)/v), so that the regret is u^(2/v) log T/epsilon^2 sum_a "
        "Delta_a^(-(2+v)/v): the proof removes an arm at Delta >= D and counts pulls as if at D^2.",
        "regret",
        local_rate,
        ("ldp-robust-se/theorem-7-printed",),
    ),
    Erratum(
        "local-optimal",
        Source(papers.TAO, "Remarks 3 and 4, Table 1", "falls with Theorem 7; the lower bounds stand"),
        "false",
        (
            Quotation("Remark 3", "As a result, the attained bound in Theorem 7 is optimal."),
            Quotation(
                "Remark 4",
                "From Theorem 9, we can see the upper bound (11) of Algorithm 4 is nearly optimal.",
            ),
            Quotation("Table 1", rf"ϵ -LDP ${_TABLE}$"),
        ),
        "Algorithm 4 attains the lower bounds of Theorems 8 and 9 in the local model.",
        "Its pulls grow like Delta^(-2(1+v)/v), those of the lower bounds like Delta^(-(1+v)/v). Whether the "
        "lower or the upper bound can be improved is open.",
        "regret",
        local_rate,
    ),
    Erratum(
        "moment-exponent",
        Source(
            papers.TAO,
            "Lemma 4, Theorem 4 (7) and (8)",
            "u counts as a constant in Section 3.1, and then its exponent says nothing; the scaling is ours",
        ),
        "reading",
        (
            Quotation(
                "Lemma 4",
                r"$O\left(\frac{u^{\frac{1}{1+v}}}{\epsilon(\Delta_a)^{\frac{1+v}{v}}}\left(\log(\frac{K}"
                r"{\beta}) + \log\log(\frac{1}{\Delta_a})\right)\right)$",
            ),
            Quotation(
                "Theorem 4",
                r"$\mathcal{R}_T \le O\left(\frac{u^{\frac{1}{1+v}}\log T}{\epsilon}\sum_{\Delta_a > 0} "
                r"\left(\frac{1}{\Delta_a}\right)^{\frac{1}{v}} + \max_a \Delta_a\right).$",
            ),
            Quotation(
                "Section 3",
                r"In this paper, we assume both v and u are known constants, *i.e.*, for any constant c we "
                r"regard $c^{\frac{1}{v}}$ as a constant.",
            ),
        ),
        "Read as rates in u: pulls and regret grow like u^(1/(1+v)).",
        "They grow like u^(1/v), as R_tau does: only then is the bound the same for rewards in other units, "
        "x -> c x. The worst-case regret is u^(1/(1+v)) (K log T/epsilon)^(v/(1+v)) T^(1/(1+v)).",
        "regret",
        moment_rate,
    ),
    Erratum(
        "ucb-constant",
        Source(papers.TAO, "proof of Theorem 2", "the theorem is a rate and stands"),
        "false",
        (
            Quotation(
                "proof of Theorem 2",
                r"For $s_a \ge 36u^{\frac{1}{v}} \frac{\log(2t^4)\log^{1.5+\frac{1}{v}}T}{\epsilon "
                r"\Delta_a^{\frac{1+v}{v}}}$, (19) is false.",
            ),
        ),
        "An arm is pulled at most 36 u^(1/v) log(2T^4) log^(1.5+1/v) T/(epsilon Delta^((1+v)/v)) times.",
        "The constant is 36^((1+v)/v): 1296 at v = 1 and 46656 at v = .5.",
        "proof",
        constant,
    ),
    Erratum(
        "large-epsilon",
        Source(
            papers.TAO,
            "proof of Lemma 4",
            "Theorem 4 is stated for epsilon <= 1, where the step holds; Lemma 4 and Algorithm 3 are not",
        ),
        "reading",
        (
            Quotation(
                "proof of Lemma 4",
                r"$&\leq 4u^{\frac{1}{1+v}} \left(\frac{\log\left(\frac{4|S|\tau^{2}}{\beta}\right)}"
                r"{R_{\tau}\epsilon} \right)^{\frac{v}{1+v}} = 4err_{\tau}.$",
            ),
            Quotation(
                "Theorem 4",
                r"in Algorithm 3, then for sufficiently large T and any $\epsilon \in (0, 1]$",
            ),
        ),
        "The sampling error of an estimate is at most 4 err, whatever epsilon.",
        "It is sqrt(2 epsilon) + epsilon/3 + 1 times err by the proof's own terms, below 4 for epsilon <= 1 "
        "and 5.8 at epsilon = 5: the regret claims hold for epsilon <= 1.",
        "proof",
        large_epsilon,
    ),
    Erratum(
        "local-noise",
        Source(papers.TAO, "proof of Theorem 6"),
        "reading",
        (
            Quotation(
                "proof of Theorem 6",
                r"Since each $|\tilde{x}_{a,r}|$ is bounded by B_r . Thus, adding noise of "
                r"$\operatorname{Lap}(\frac{B_r}{\epsilon})$ to $\tilde{x}_{a,r}$ guarantees",
            ),
            Quotation("Algorithm 4", r"\widetilde{x}_{a,r} + \operatorname{Lap}(\frac{2B_{\tau}}{\epsilon})"),
        ),
        "A report gets Lap(B/epsilon) in the proof, Lap(2B/epsilon) in the listing.",
        "Lap(2B/epsilon), as the listing has it: a truncated reward moves by up to 2B.",
        "privacy",
        Fault(LDPRobustSE(**ldp_robust_se.auditor.instance), noise_times(0.5), local_noise, listed=False),
    ),
    Erratum(
        "laplace-mean",
        Source(papers.TAO, "Lemma 8"),
        "false",
        (
            Quotation(
                "Lemma 8",
                r"Lemma 8 (Concentration of Laplace Variables (Wang et al., 2018)). If $X_1, \dots, X_n "
                r"\sim \text{Lap}(s/\epsilon)$, then with probability at least $1 - \beta$, we have "
                r"$\left|\frac{1}{n}\sum_{i=1}^{n}X_{i}\right| \leq \frac{2s}{\epsilon\sqrt{n}}"
                r"\sqrt{\log\frac{2}{\beta}}.$",
            ),
        ),
        "The mean of n Laplace variables of scale s/epsilon is within 2 s sqrt(log(2/beta)/n)/epsilon of 0.",
        "That is a Gaussian tail, which few Laplace variables exceed (n = 1, beta = 1e-6: with probability "
        "4.9e-4). With 2.13 for 2 it holds for n >= 4.5 log(2/beta); Theorem 7 needs no more.",
        "proof",
        few_laplace,
    ),
    Erratum(
        "divergence-line",
        Source(papers.TAO, "proof of Theorem 8", "gamma is not defined there"),
        "reading",
        (
            Quotation(
                "proof of Theorem 8",
                r"$&\leq \frac{(2\Delta\gamma)^2}{\left(\frac{\gamma^{1+\nu}}{2} + \Delta\gamma\right) \cdot "
                r"\left(1 - \left(\frac{\gamma^{1+\nu}}{2} + \Delta\gamma\right)\right)} \\ &\leq "
                r"\frac{25^{\frac{1}{\nu}} \Delta_a^{\frac{1+\nu}{\nu}}}{1 - 7 \cdot 10^{\frac{1}{\nu}} "
                r"\Delta_a^{\frac{1+\nu}{\nu}}}$",
            ),
        ),
        "The divergence is bounded by the line of Theorem 11, with its gamma and Delta gamma.",
        "Its arms have s_a and 2 Delta_a s_a: with gamma = (5 Delta)^(1/v), as in Theorem 11, the line is "
        "exceeded (v = .5, mu = 5 Delta). With s_a it holds, and so does what the proof concludes.",
        "proof",
        divergence,
    ),
    Erratum(
        "moment-step",
        Source(papers.TAO, "proof of Lemma 7", "the lemma stands: |X| <= |X|^(1+v)/B^v where |X| > B"),
        "false",
        (
            Quotation(
                "proof of Lemma 7",
                r"$\geq B^v \int_B^\infty \mathbb{P}(|X|>t) \,\mathrm{d}t \\ &= B^v \int_0^\infty "
                r"\mathbb{P}(X \cdot \mathbb{I}_{|X|>B}>t) \,\mathrm{d}t$",
            ),
        ),
        "int_B^inf P(|X| > t) dt = int_0^inf P(X 1{|X| > B} > t) dt.",
        "The right side is larger by B P(X > B) where X >= 0: 2 against 1 for X = 2, B = 1.",
        "proof",
        moment_step,
    ),
    Erratum(
        "good-events",
        Source(papers.TAO, "proofs of Lemmas 4 and 13"),
        "reading",
        (
            Quotation(
                "proof of Lemma 4", r"and denote $\mathcal{E} = \bigcup_{\tau > 1} \mathcal{E}_{\tau}$."
            ),
            Quotation("Lemma 13", r"and denote $\mathcal{E} = \bigcup_{\tau \ge 1} \mathcal{E}_{\tau}$."),
        ),
        "The good event is the union of the events that the estimates of single epochs hold.",
        "It is their intersection, as the proofs use it; the bound on its complement is a union bound.",
        "text",
    ),
)
