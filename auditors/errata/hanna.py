"""Errata of Hanna, Girgis, Fragouli & Diggavi 2022."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.ldp_linear import LDPLinear
from verifiable_dp.algorithms.shuffled_linear import ShuffledLinear
from verifiable_dp.auditing import drafts
from verifiable_dp.auditors import dp_linear, shuffled_linear
from verifiable_dp.auditors._laplace import FACTOR, log_lemma_4, log_tail
from verifiable_dp.auditors._linear import AXES, CIRCLE
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.environments import Table
from verifiable_dp.core.mechanisms import Laplace, shuffle
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import JsonDict, JsonValue
from verifiable_dp.evidence.alignment import replay as alignment
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.errata import Erratum, Fault, Findings, Quotation
from verifiable_dp.registry.mutants import result
from verifiable_dp.registry.wrapped import Listed, with_parameters

LEAK: JsonDict = {"actions": AXES, "epsilon": 1.0, "horizon": 100}
EACH_REPORT = Quotation(
    "Section 5",
    r"To ensure that the output of batch $i$ is $\left(\epsilon,\delta\right)$-DP, it is "
    r"suffcient to add to each reward noise $\mathsf{Lap}(\frac{1}{\epsilon_{0}^{(i)}})$, where "
    r"$\epsilon_{0}^{(i)}\leftarrow f_{n_{i},\delta}^{-1}(\epsilon)$",
)
PLAN = blackbox.Plan(probe=1000, select=100_000, test=600_000, keep=1)


# Rewards in [-1, 1] are taken to move by at most 1; gamma follows the noise.
SENSITIVITY = result("mechanism", lambda rule, mechanism: Laplace(1.0, mechanism.epsilon))


def _aligned(algorithm: Listed, seed: int, words: str) -> tuple[Check, alignment.Found]:
    instance = alignment.Instance(algorithm, 1.0, drafts.instance(algorithm, 1.0))
    return alignment.check(
        instance,
        instance,
        dp_linear.pairs(algorithm)[:4],
        alignment.Search(seed, examples=40),
        visible=True,
        name=f"alignment, {words}",
    )


def sensitivity(seed: int, faulty: Listed, right: Listed) -> Findings:
    """Alignment, and the actions alone on the pair in which one reward decides who plays on."""
    pair = dp_linear.pairs(faulty)[1]
    checks, worst = [], []
    for words, algorithm in (("printed", faulty), ("corrected", right)):
        aligned, found = _aligned(algorithm, seed, words)
        sampler = blackbox.AlgorithmSampler(algorithm, "actions", seed)
        chosen, _ = blackbox.select(sampler, [pair], PLAN, delta=0.0, workers=1)
        [seen] = blackbox.put_to_test(
            sampler,
            chosen,
            PLAN,
            blackbox.Terms(PrivacyClaim(1.0), seed),
            name=f"black box on actions, {words}",
        )
        checks.append([aligned, seen])
        worst.append(found.worst)
    bound = float(checks[0][1].result["epsilon_lower"])
    shown = statement("epsilon of the printed listing, shown by its actions alone", bound, "at least", 1.3)
    return Findings(checks[0], [*checks[1], shown], worst[0])


def local_sensitivity(seed: int, faulty: Listed, right: Listed) -> Findings:
    """Alignment of the reports."""
    printed, found = _aligned(faulty, seed, "printed")
    return Findings([printed], [_aligned(right, seed, "corrected")[0]], found.worst)


def _over(words: str, n: int, t: float, log_bound: float, **about: JsonValue) -> Check:
    """The exact chance that a sum of `n` Laplace variables of scale 1 reaches `t`, over a bound on it."""
    ratio = math.exp(log_tail(n, t) - log_bound)
    return statement(f"P[sum of {n} >= {t:g}] over {words}", ratio, "at most", 1.0, n=n, t=t, **about)


def _worst(words: str, points: list[tuple[int, float]], factor: float | None = None) -> Check:
    """The largest ratio over a grid; the printed form with `factor`, or the corrected lemma."""
    ratios = {
        (n, t): log_tail(n, t) - (-(t**2) / (factor * n) if factor else log_lemma_4(n, t)) for n, t in points
    }
    n, t = max(ratios, key=lambda point: ratios[point])
    return statement(words, math.exp(ratios[n, t]), "at most", 1.0, n=n, t=t, points=len(points))


SIZES = (1, 2, 3, 5, 8, 16, 30, 60, 100, 200, 400, 1000)
NEAR = [(n, n * x) for n in SIZES for x in np.linspace(0.05, 1.0, 20).tolist()]
FAR = [(n, n * x) for n in SIZES[:-1] for x in (1.01, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0)]


def tail(seed: int) -> Findings:
    """The first case of Lemma 4, b = c = 1, with exact chances."""
    at = ((100, 40.0), (200, 200.0), (1000, 1000.0))
    printed = [_over("exp(-t^2/(2n))", n, t, -(t**2) / (2 * n)) for n, t in at]
    n, t = at[0]
    example = {"n": n, "t": t, "claimed": math.exp(-(t**2) / (2 * n)), "exact": math.exp(log_tail(n, t))}
    right = _worst("largest P[sum >= t]/exp(-t^2/(4.5 n)) over n = 1 to 1000, t = n/20 to n", NEAR, FACTOR)
    return Findings(printed, [right], example)


def far_tail(seed: int) -> Findings:
    """The second case of Lemma 4, and what gamma of Algorithm 1 takes from it, (26)."""
    log, n = math.log(4 * 10 * 10**12), 10
    printed = [
        _over("exp(n/2 - t)", 16, 50.0, 8 - 50.0),
        _over("1/(4KT^2), which (26) needs, K = 10, T = 1e6, n = Bd = 10", n, n + log, -log, K=10, T=10**6),
    ]
    right = [
        _worst("largest P[sum >= t]/((4/3)^n exp(-t/2)) over n = 1 to 400, t = n to 10 n", FAR),
        statement(
            "failures of all estimates of a run with gamma as it is used over beta, K up to 1000",
            max(dp_linear.width_failure(t, k, 1 / t) * t for t in (100, 10**4, 10**6) for k in (2, 10, 1000)),
            "at most",
            1.0,
        ),
    ]
    return Findings(printed, right, {"n": 16, "t": 50, "exact": math.exp(log_tail(16, 50.0))})


def local_step(seed: int) -> Findings:
    """What (38) takes from Lemma 4, and a case that Lemma 2 allows: d = 1, one core action, |a|^2 = 2/q."""
    k, horizon, pulls = 2, 1000, 1000
    log = math.log(4 * k * horizon**2)
    claimed = -math.log(2 * k * horizon**2)
    about: JsonDict = {"K": k, "T": horizon}
    # alpha'V^-1 a = sqrt(2)/q for each of q reports, against t = (2/q) sqrt(q L)
    chance = math.log(2) + log_tail(pulls, math.sqrt(2 * pulls * log))
    return Findings(
        [
            statement(
                "exp(-t^2 b^2/(2 n c^2)) at the t of (38), twice, over 1/(2KT^2)",
                math.exp(math.log(2) - log / 2 - claimed),
                "at most",
                1.0,
                **about,
            ),
            statement(
                "P[|<a, theta-bar - theta-hat>| >= t] over 1/(2KT^2), d = 1, q = n = 1000",
                math.exp(chance - claimed),
                "at most",
                1.0,
                **about,
            ),
        ],
        [
            statement(
                "the same with t = s sqrt(8 L max(|a|^2, c^2 L)), c = 2d/q, |a|^2 <= c",
                math.exp(math.log(2) + log_tail(pulls, math.sqrt(8 * pulls * log)) - claimed),
                "at most",
                1.0,
                **about,
            )
        ],
        {**about, "q": pulls, "probability": math.exp(chance), "claimed": math.exp(claimed)},
    )


def _batches(horizon: float) -> float:
    """Sum of q^i over i up to floor(log T) - 1."""
    log = math.log(horizon)
    q, last = (2 * horizon) ** (1 / log), math.floor(log) - 1
    return float(q * (q**last - 1) / (q - 1))


def _largest_fraction(floor: int) -> float:
    """Largest log T - floor at which the batches exceed T."""
    shares = [n / 1000 for n in range(1000)]
    return max(x for x in shares if _batches(math.exp(floor + x)) > math.exp(floor + x))


def overrun(seed: int) -> Findings:
    """Rounds of all batches together at T = 2990, and the rounds that are played."""
    algorithm = DPLinear(CIRCLE, 1.0, 2990)
    everything = np.ones(algorithm.n_arms, bool)
    sizes = [int(algorithm.plan(i, everything).counts.sum()) for i in range(1, algorithm.last_batch + 1)]
    table = np.zeros((algorithm.horizon, algorithm.n_arms))
    played = int(play(algorithm, Table(table), Seeded(seed), np.arange(1), keep=()).pulls.sum())
    return Findings(
        [
            statement(
                "rounds of all batches of a run that removes nothing",
                sum(sizes),
                "at most",
                2990,
                batches=sizes,
            )
        ],
        [
            statement("rounds that are played", played, "equal to", 2990),
            statement(
                "share of T = 100 to 20,000 whose batches of q^i pulls exceed T",
                float(np.mean([_batches(float(t)) > t for t in range(100, 20_001)])),
                "equal to",
                0.015,
                tolerance=0.0005,
            ),
            statement(
                "log T above its floor up to which they do, T of order e^600",
                _largest_fraction(600),
                "equal to",
                0.15,
                tolerance=0.005,
            ),
        ],
        {"horizon": 2990, "batches": sizes},
    )


def maximum(seed: int) -> Findings:
    """A batch with one action left whose rewards are all -1."""
    algorithm = DPLinear(AXES, 1.0, 10**7)
    batch, active = algorithm.last_batch, np.array([True, False])
    done = algorithm.plan(batch, active)
    sums = np.array([[-float(done.counts[0]), 0.0]])
    value = algorithm.estimates(done, sums)
    limit = 2 * algorithm.width(batch, 1, 1)
    over_all = int((active & (value >= value.max() - limit)).sum())
    own = np.where(active, value, -np.inf)
    over_own = int(algorithm.keep(own, limit).sum())
    words = "actions that remain, the maximum taken over {}"
    about = {"estimates": value[0].tolist(), "twice gamma": limit, "batch": batch}
    return Findings(
        [statement(words.format("all actions"), over_all, "at least", 1, **about)],
        [statement(words.format("those that remain"), over_own, "at least", 1, **about)],
        about,
    )


def width(seed: int) -> Findings:
    """The variance that an estimate takes over from the reports, with equal noise on every report."""
    from verifiable_dp.algorithms._linear import on_sphere

    d = 20
    algorithm = LDPLinear(on_sphere(200, d, 0), 1.0, 10**6)
    everything = np.ones(algorithm.n_arms, bool)
    batch = algorithm.last_batch
    done = algorithm.plan(batch, everything)
    actions = np.array(algorithm.actions)
    weights = actions @ done.solver.T  # of the sum of each core action, (K, c)
    variance = float(((weights**2) * done.counts[done.core]).sum(axis=1).max())
    pulls = algorithm.size(batch)
    allowed = (2 * d / pulls) ** 2 * float(done.counts.sum())
    return Findings(
        [
            statement(
                "variance that the proof allows, (2d/q)^2 n, over the largest there is",
                allowed / variance,
                "at least",
                d,
                d=d,
                q=pulls,
            )
        ],
        [statement("max_a sum_i l_i^2, at most 2d/q", variance, "at most", 2 * d / pulls, d=d, q=pulls)],
        {"d": d, "q": pulls, "variance": variance},
    )


# Line 8 as printed.
DOMAIN = result(
    "local", lambda rule, local, clients: shuffle.formula_inverse(rule.epsilon, clients, rule.delta)
)
SHUFFLED = ShuffledLinear(**shuffled_linear.auditor.instance)
TELLING = (72, 590)  # reports of the batches that are shown
SILENT = 3.0  # epsilon at which nothing is to be seen


def shuffled(seed: int, faulty: Listed, right: Listed) -> Findings:
    """Bounds on delta of two batches of the reports that the algorithm itself asks for."""
    about = {
        "actions": right.actions,
        "epsilon": right.epsilon,
        "horizon": right.horizon,
        "delta": right.delta,
    }
    printed, corrected = (
        [c for c in shuffled_linear.exact(a, a.claim) if c.statistics["clients"] in TELLING]
        for a in (faulty, right)
    )
    return Findings(printed, corrected, {**about, "delta_lower": [c.result["delta_lower"] for c in printed]})


def shuffle_domain(seed: int, faulty: Listed, right: Listed) -> Findings:
    """As `shuffled`, and where the reports hide the fault."""
    found = shuffled(seed, faulty, right)
    mild = with_parameters(faulty, epsilon=SILENT)
    most = max(float(c.result["delta_lower"]) for c in shuffled_linear.exact(mild, mild.claim))
    words = f"largest lower bound on delta at epsilon {SILENT:g}, eps0 out of the domain all the same"
    return Findings(
        found.printed,
        [*found.corrected, statement(words, most, "at most", mild.delta, epsilon=SILENT)],
        found.counterexample,
    )


def domain_of_theorem_3(seed: int) -> Findings:
    """The private term over the other one at the largest epsilon that the theorem covers."""
    horizon, delta = 10**6, 1e-6
    epsilon = math.sqrt(math.log(1 / delta) / horizon)
    private = math.sqrt(math.log(1 / delta)) * math.log(horizon) ** 1.5 / epsilon
    free = math.sqrt(horizon * math.log(horizon))
    about = {"horizon": horizon, "delta": delta, "epsilon": epsilon}
    words = "private term of Theorem 3 over sqrt(T log T)"
    return Findings(
        [statement(words, private / free, "at least", 10.0, **about)],
        [
            statement(
                f"{words}, which is log T",
                private / free,
                "equal to",
                math.log(horizon),
                tolerance=1e-9,
                **about,
            )
        ],
        {**about, "ratio": private / free},
    )


_LEMMA_4 = Quotation(
    "Lemma 4",
    r"Lemma 4. Let $x_{i}=l_{i}z_{i}$ for $i\in[n]$, where $z_{i}\sim\mathsf{Lap}(1/b)$ and $l_{i}$ is "
    r"constant such that $|l_{i}|\leq c$. Let $\bar{x}=\sum_{i=1}^{n}x_{i}$. We have that [...] "
    r"$\Pr[\bar{x}\geq t]\leq\left\{\begin{array}[]{ll}\exp\left(-\frac{t^{2}b^{2}}{2nc^{2}}\right)"
    r"&\text{if }\ t\leq\frac{nc}{b}\\ \exp\left(\frac{n}{2}-\frac{b}{c}t\right)&\text{if }\ "
    r"t>\frac{nc}{b}\end{array}\right.$",
)
ERRATA = (
    Erratum(
        "central-sensitivity",
        Source(papers.HANNA, "Algorithm 1, Theorem 1"),
        "false",
        (
            Quotation("Theorem 1", r"Theorem 1. Algorithm 1 is $\epsilon$-differentially private."),
            Quotation(
                "Algorithm 1",
                r"where $z_{ia}$ is an independent noise that follows $\mathsf{Lap}(\frac{1}{\epsilon})$.",
            ),
            Quotation(
                "Appendix A",
                r"$\|\bar{r}-\bar{r}^{\prime}\|_{1}\leq\max_{r_{k},r^{\prime}_{k}}|r_{k}-r^{\prime}_{k}|"
                r"\leq 1,$",
            ),
        ),
        "Sums of rewards in [-1, 1] get Lap(1/epsilon).",
        "A reward moves by up to 2: Lap(2/epsilon), and the epsilon-terms of gamma doubled. As printed it is "
        "2 epsilon-DP, and the actions alone show more than epsilon.",
        "privacy",
        Fault(DPLinear(**LEAK), SENSITIVITY, sensitivity),
    ),
    Erratum(
        "local-sensitivity",
        Source(papers.HANNA, "Algorithm 2, Theorem 2"),
        "false",
        (
            Quotation("Theorem 2", r"Theorem 2. Algorithm 2 is $\epsilon_{0}$-LDP."),
            Quotation(
                "Appendix B",
                r"For any client, since the reward is bounded by $|r|\leq 1$, the output "
                r"$\hat{r}=r+\mathsf{Lap}(1/\epsilon_{0})$ is $\epsilon_{0}$-LDP",
            ),
        ),
        "A reward in [-1, 1] is reported with Lap(1/epsilon0).",
        "Lap(2/epsilon0): a report as printed is 2 epsilon0-LDP.",
        "privacy",
        Fault(LDPLinear(**LEAK), SENSITIVITY, local_sensitivity),
    ),
    Erratum(
        "laplace-tail",
        Source(papers.HANNA, "Lemma 4, first case"),
        "false",
        (_LEMMA_4,),
        "A sum of n Laplace variables exceeds t <= nc/b with probability at most exp(-t^2 b^2/(2nc^2)).",
        "The exponent is -t^2 b^2/(4.5nc^2); with 4 for 4.5 it fails as well (n = t = 1000).",
        "proof",
        tail,
    ),
    Erratum(
        "laplace-tail-far",
        Source(
            papers.HANNA,
            "Lemma 4, second case",
            "Lemma 3 rests on it; that gamma holds all the same is computed here from exact chances, for up "
            "to a million actions: its union is over log T batches where T are allowed for",
        ),
        "false",
        (
            _LEMMA_4,
            Quotation(
                "proof of Lemma 3",
                r"$\Pr\left[\left|\langle a,\bar{\theta}_{i}-\hat{\theta}_{i}\rangle\right|\geq 2"
                r"\frac{Bd^{2}}{\epsilon q^{i}}+\frac{2d\log\left(4KT^{2}\right)}{\epsilon q^{i}}\right]\leq"
                r"\frac{1}{2KT^{2}},$",
            ),
        ),
        "Beyond t = nc/b the probability is at most exp(n/2 - bt/c).",
        "It takes the moment generating function at its pole, where it is infinite. At half of that, "
        "(4/3)^n exp(-bt/(2c)).",
        "proof",
        far_tail,
    ),
    Erratum(
        "local-step",
        Source(papers.HANNA, "proof of Lemma 5, (38)"),
        "false",
        (
            Quotation(
                "proof of Lemma 5",
                r"From Lemma 4 presented in Section 3, by setting $b=\epsilon_{0}$, $n=n_{i}$, "
                r"$c=\frac{2d}{q^{i}}$, and $t=\frac{2d}{q^{i}\epsilon_{0}}\sqrt{n_{i}\log(4KT^{2})}$, "
                r"we get that: $\Pr\left[\left|\langle a,\bar{\theta}_{i}-\hat{\theta}_{i}\rangle\right|\geq"
                r"\frac{2d}{q^{i}\epsilon_{0}}\sqrt{n_{i}\log(4KT^{2})}\right]\leq\frac{1}{2KT^{2}},$",
            ),
        ),
        "Lemma 4 gives 1/(2KT^2) at that t.",
        "As printed it gives 2 exp(-L/2) = 1/(T sqrt(K)), L = log(4KT^2): 7.1e-4 at K = 2, T = 1000, where "
        "2.5e-7 is claimed. In one dimension the chance is 6.9e-5. With s sqrt(8 L max(c, c^2 L)), c = 2d/q, "
        "s "
        "the scale of the noise, it holds.",
        "proof",
        local_step,
    ),
    Erratum(
        "all-for-any",
        Source(papers.HANNA, "Lemmas 3 and 5, (21), (27), (35) and (39)"),
        "reading",
        (
            Quotation(
                "Lemma 3",
                r"Lemma 3. Let $\hat{\theta}_{i}$ be the least square estimate of $\theta_{*}$ at the end of "
                r"the $i$th batch of Algorithm 1. Then, we have that $\Pr\left[\left|\langle a,"
                r"\hat{\theta}_{i}-\theta_{*}\rangle\right|>\gamma_{i}\ \forall i\in[\log T]\forall "
                r"a\in\mathcal{A}_{i}\right]\leq\frac{1}{T},$",
            ),
            Quotation(
                "Lemma 5",
                r"Lemma 5. Let $\hat{\theta}_{i}$ be the least square estimate of $\theta_{*}$ at the end of "
                r"the $i$th batch of Algorithm 2. Then, we have that $\Pr\left[\left|\langle a,"
                r"\hat{\theta}_{i}-\theta_{*}\rangle\right|>\gamma_{i}\ \forall i\in[\log T]\forall "
                r"a\in\mathcal{A}_{i}\right]\leq\frac{1}{T},$",
            ),
        ),
        "With probability at most 1/T all estimates of all batches are off by more than gamma.",
        "Some estimate of some batch, as the proofs show and use it.",
        "text",
    ),
    Erratum(
        "local-dimension",
        Source(papers.HANNA, "Theorem 2", "an upper bound that holds but is not sharp"),
        "loose",
        (
            Quotation(
                "Theorem 2",
                r"Moreover, it achieves a regret $R_{T}\leq C(1+\frac{1}{\epsilon_{0}})\left("
                r"d\sqrt{dT\log T}\right),$ (8) with probability at least $1-\frac{1}{T}$",
            ),
        ),
        "Regret (1 + 1/epsilon0) d sqrt(d T log T): each report's noise is bounded by the largest weight.",
        "The squared weights of the reports add up to |a|^2 in V^-1, at most 2d/q: d sqrt(T log T).",
        "proof",
        width,
    ),
    Erratum(
        "overrun",
        Source(papers.HANNA, "Algorithms 1 to 3", "that log T is rounded down is ours"),
        "reading",
        (
            Quotation("Algorithm 1", r"for $i=1:\log(T)-1$ do"),
            Quotation(
                "Section 3",
                r"where the length of batch $i$ is approximately $q^{i}$ and $q=(2T)^{1/\log T}$",
            ),
        ),
        "floor(log T) - 1 batches of q^i pulls fit into T rounds.",
        "They do not where the fraction of log T is small, such as at T = 2990: for 1.5 % of the horizons "
        "from "
        "100 to 20,000, and for large T wherever that fraction is below .15. Play must stop at T.",
        "regret",
        overrun,
    ),
    Erratum(
        "maximum",
        Source(papers.HANNA, "Algorithm 1, line 10, and Algorithm 3, line 22"),
        "reading",
        (
            Quotation(
                "Algorithm 1",
                r"10: $\mathcal{A}_{i+1}\leftarrow\{a\in\mathcal{A}_{i}|\langle a,\hat{\theta}_{i}\rangle\geq"
                r"\max_{\alpha\in\mathcal{A}}\langle\alpha,\hat{\theta}_{i}\rangle-2\gamma_{i}\}$",
            ),
            Quotation(
                "Algorithm 3",
                r"22: $\mathcal{A}_{i+1}\leftarrow\{a\in\mathcal{A}_{i}|\langle a,\hat{\theta}_{i}\rangle\geq"
                r"\max_{\alpha\in\mathcal{A}}\langle\alpha,\hat{\theta}_{i}\rangle-2\gamma_{i}\}$",
            ),
            Quotation(
                "Algorithm 2",
                r"15: $\mathcal{A}_{i+1}\leftarrow\{a\in\mathcal{A}_{i}|\langle a,\hat{\theta}_{i}\rangle\geq"
                r"\max_{\alpha\in\mathcal{A_{i}}}\langle\alpha,\hat{\theta}_{i}\rangle-2\gamma_{i}\}$",
            ),
        ),
        "Actions are compared with the largest estimate over all actions in Algorithms 1 and 3, over those "
        "that remain in Algorithm 2.",
        "Only over those that remain: estimates of removed actions are arbitrary where the core set does not "
        "span them, and may remove everything.",
        "regret",
        maximum,
    ),
    Erratum(
        "shuffle-domain",
        Source(papers.HANNA, "Algorithm 3, line 8, and equation (10)"),
        "false",
        (EACH_REPORT,),
        "eps0 is the inverse of the amplification formula at epsilon, for every batch.",
        "The formula holds for eps0 <= log(n/(16 log(2/delta))) only, and never for n below 16 log(2/delta): "
        "eps0 = max(epsilon, min(f^-1(epsilon), log(n/(16 log(2/delta))))). With the Laplace reports of the "
        "algorithm, of the right scale for their eps0, more than delta is shown from epsilon = 4 on; at "
        "epsilon = 3 nothing is.",
        "privacy",
        Fault(SHUFFLED, DOMAIN, shuffle_domain),
    ),
    Erratum(
        "shuffle-sensitivity",
        Source(papers.HANNA, "Algorithm 3, Theorem 3"),
        "false",
        (EACH_REPORT,),
        "A reward in [-1, 1] is reported with Lap(1/eps0).",
        "Lap(2/eps0): as printed a report has twice the eps0 that the shuffler makes up for, also where eps0 "
        "is within the domain of equation (10), or epsilon.",
        "privacy",
        Fault(SHUFFLED, SENSITIVITY, shuffled),
    ),
    Erratum(
        "shuffle-rate",
        Source(papers.HANNA, "Theorem 3", "the statement holds; how large its terms are is ours"),
        "loose",
        (
            Quotation(
                "Theorem 3",
                r"Moreover, for $\epsilon=O(\sqrt{\frac{\log(1/\delta)}{T}})$ it achieves a regret "
                r"$R_{T}\leq C\left(\sqrt{T\log T}+\frac{\sqrt{\log(1/\delta)}\log^{3/2}T}{\epsilon}"
                r"\right),$",
            ),
        ),
        "Privacy adds a term sqrt(log(1/delta)) log^1.5 T/epsilon, for epsilon of order "
        "sqrt(log(1/delta)/T) at most.",
        "For these epsilon that term is log T times sqrt(T log T) or more: the theorem says nothing of "
        "larger epsilon, where privacy would be almost free.",
        "proof",
        domain_of_theorem_3,
    ),
    Erratum(
        "shuffle-summary",
        Source(papers.HANNA, "Section 1, against Theorem 3"),
        "reading",
        (
            Quotation(
                "Section 1",
                r"Our algorithm achieves regret $R_{T}=\mathcal{O}\left(\sqrt{T\log(T)}+"
                r"\frac{\log(T)}{\epsilon}\right)$ w.h.p.",
            ),
        ),
        "The summary has log T/epsilon, for every epsilon.",
        "Theorem 3 has sqrt(log(1/delta)) log^1.5 T/epsilon, for small epsilon.",
        "text",
    ),
    Erratum(
        "local-summary",
        Source(papers.HANNA, "Remark 6, against Theorem 2"),
        "reading",
        (
            Quotation(
                "Remark 6",
                r"Observe that when $\epsilon_{0}<1$, the dominating term in the regret bound is "
                r"$R_{T}=\mathcal{O}\left(\frac{T\log(T)}{\epsilon_{0}}\right)$. In other words, we obtain "
                r"the regret of the non-private case divided by the LDP parameter $\epsilon_{0}$.",
            ),
        ),
        "The dominating term is T log T/epsilon0.",
        "sqrt(T log T)/epsilon0, as Theorem 2 has it; T log T would be no bound at all.",
        "text",
    ),
)
