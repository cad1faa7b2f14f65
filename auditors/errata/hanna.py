"""Errata of Hanna, Girgis, Fragouli & Diggavi 2022."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.ldp_linear import LDPLinear
from verifiable_dp.algorithms.shuffled_linear import ShuffledLinear
from verifiable_dp.auditors import dp_linear, shuffled_linear
from verifiable_dp.auditors._laplace import FACTOR, log_lemma_4, log_tail
from verifiable_dp.auditors._linear import AXES, CIRCLE
from verifiable_dp.auditors.errata.bench import aligned
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.environments import Table
from verifiable_dp.core.mechanisms import Laplace, shuffle
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.validate import JsonDict, JsonValue
from verifiable_dp.evidence.alignment import searching
from verifiable_dp.evidence.blackbox import algorithm_runs
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.errata import Fault, Find, Findings
from verifiable_dp.registry.mutants import result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.wrapped import Listed, with_parameters

SHEET = Sheet(__file__)
said = SHEET.check

LEAK: JsonDict = {"actions": AXES, "epsilon": 1.0, "horizon": 100}
PLAN = blackbox.Plan(probe=1000, select=100_000, test=600_000, keep=1)


# Rewards in [-1, 1] are taken to move by at most 1; gamma follows the noise.
SENSITIVITY = result("mechanism", lambda rule, mechanism: Laplace(1.0, mechanism.epsilon))


def _aligned(algorithm: Listed, seed: int, words: str) -> tuple[Check, searching.Found]:
    return aligned(f"alignment, {words}", algorithm, dp_linear.pairs(algorithm)[:4], seed)


def sensitivity(seed: int, faulty: Listed, right: Listed) -> Findings:
    """Alignment, and the actions alone on the pair in which one reward decides who plays on."""
    pair = dp_linear.pairs(faulty)[1]
    checks, worst = [], []
    for words, algorithm in (("printed", faulty), ("corrected", right)):
        replayed, found = _aligned(algorithm, seed, words)
        sampler = algorithm_runs.AlgorithmSampler(algorithm, "actions", seed)
        chosen, _ = blackbox.select(sampler, [pair], PLAN, delta=0.0, workers=1)
        [seen] = blackbox.put_to_test(
            sampler,
            chosen,
            PLAN,
            blackbox.Terms(PrivacyClaim(1.0), seed),
            name=f"black box on actions, {words}",
        )
        checks.append([replayed, seen])
        worst.append(found.worst)
    bound = float(checks[0][1].result["epsilon_lower"])
    shown = said("sensitivity", bound)
    return Findings(checks[0], [*checks[1], shown], worst[0])


def local_sensitivity(seed: int, faulty: Listed, right: Listed) -> Findings:
    """Alignment of the reports."""
    printed, found = _aligned(faulty, seed, "printed")
    return Findings([printed], [_aligned(right, seed, "corrected")[0]], found.worst)


def _over(words: str, n: int, t: float, log_bound: float, **about: JsonValue) -> Check:
    """The exact chance that a sum of `n` Laplace variables of scale 1 reaches `t`, over a bound on it."""
    ratio = math.exp(log_tail(n, t) - log_bound)
    return said("over", ratio, texts={"words": words}, n=n, t=t, **about)


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
        said(
            "far-tail",
            max(dp_linear.width_failure(t, k, 1 / t) * t for t in (100, 10**4, 10**6) for k in (2, 10, 1000)),
        ),
    ]
    return Findings(printed, right, {"n": 16, "t": 50, "exact": math.exp(log_tail(16, 50.0))})


def local_step(seed: int) -> Findings:
    """What (38) takes from Lemma 4, and a case that Lemma 2 allows: d = 1, one core action, |a|^2 = 2/n."""
    k, horizon, batch = 2, 1000, 5
    length = (2 * horizon) ** (batch / math.log(horizon))  # q^i
    pulls = math.ceil(length)
    log = math.log(4 * k * horizon**2)
    claimed = -math.log(2 * k * horizon**2)
    about: JsonDict = {"K": k, "T": horizon}
    # alpha'V^-1 a = sqrt(2)/n for each of n reports, against t = (2/q^i) sqrt(n L)
    chance = math.log(2) + log_tail(pulls, math.sqrt(2 * pulls * log) * pulls / length)
    return Findings(
        [
            said("local-step-printed", math.exp(math.log(2) - log / 2 - claimed), **about),
            said("local-step-printed-2", math.exp(chance - claimed), **about),
        ],
        [
            said(
                "local-step-right",
                math.exp(math.log(2) + log_tail(pulls, math.sqrt(8 * pulls * log)) - claimed),
                **about,
            )
        ],
        {**about, "q^i": length, "n": pulls, "probability": math.exp(chance), "claimed": math.exp(claimed)},
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
        [said("overrun-printed", sum(sizes), batches=sizes)],
        [
            said("overrun-right", played),
            said("overrun-right-2", float(np.mean([_batches(float(t)) > t for t in range(100, 20_001)]))),
            *(
                said("overrun-right-3", _largest_fraction(floor), most, floor=floor)
                for floor, most in ((20, 0.094), (600, 0.149))
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
    words = "number of remaining actions, with the maximum over {}"
    about = {"estimates": value[0].tolist(), "twice gamma": limit, "batch": batch}
    return Findings(
        [statement(words.format("all actions"), over_all, "at least", 1, **about)],
        [statement(words.format("the remaining ones"), over_own, "at least", 1, **about)],
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
        [said("width-printed", allowed / variance, d, d=d, q=pulls)],
        [said("width-right", variance, 2 * d / pulls, d=d, q=pulls)],
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
    words = f"largest lower bound on delta at epsilon {SILENT:g}, with eps0 outside the domain as well"
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
    words = "private term of Theorem 3 divided by sqrt(T log T)"
    return Findings(
        [statement(words, private / free, "at least", 10.0, **about)],
        [
            said(
                "domain-of-theorem-3-right",
                private / free,
                math.log(horizon),
                texts={"words": words},
                **about,
            )
        ],
        {**about, "ratio": private / free},
    )


EVIDENCE: Mapping[str, Find] = {
    "central-sensitivity": Fault(DPLinear(**LEAK), SENSITIVITY, sensitivity),
    "local-sensitivity": Fault(LDPLinear(**LEAK), SENSITIVITY, local_sensitivity),
    "laplace-tail": tail,
    "laplace-tail-far": far_tail,
    "local-step": local_step,
    "local-dimension": width,
    "overrun": overrun,
    "maximum": maximum,
    "shuffle-domain": Fault(SHUFFLED, DOMAIN, shuffle_domain),
    "shuffle-sensitivity": Fault(SHUFFLED, SENSITIVITY, shuffled),
    "shuffle-rate": domain_of_theorem_3,
}
