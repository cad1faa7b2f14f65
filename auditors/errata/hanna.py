"""Errata of Hanna, Girgis, Fragouli & Diggavi 2022."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.ldp_linear import LDPLinear
from verifiable_dp.auditing import drafts
from verifiable_dp.auditors import dp_linear
from verifiable_dp.auditors._linear import AXES, CIRCLE
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.environments import Table
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.noise import Seeded
from verifiable_dp.evidence.alignment import replay as alignment
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret import judges as evidence
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.errata import Erratum, Findings

LEAK: dict[str, Any] = {"actions": AXES, "epsilon": 1.0, "horizon": 100}
PLAN = blackbox.Plan(probe=1000, select=100_000, test=600_000, keep=1)


def _aligned(kind: type[DPLinear], seed: int) -> dict[str, tuple[Check, alignment.Found]]:
    found = {}
    for variant in ("printed", "corrected"):
        algorithm = kind(**LEAK, variant=variant)
        instance = alignment.Instance(algorithm, 1.0, drafts.instance(algorithm, 1.0))
        found[variant] = alignment.check(
            instance,
            instance,
            dp_linear.pairs(algorithm)[:4],
            alignment.Search(seed, examples=40),
            visible=True,
            name=f"alignment, {variant}",
        )
    return found


def sensitivity(seed: int) -> Findings:
    """Alignment, and the actions alone on the pair in which one reward decides who plays on."""
    aligned = _aligned(DPLinear, seed)
    seen = {}
    for variant in ("printed", "corrected"):
        algorithm = DPLinear(**LEAK, variant=variant)
        pair = dp_linear.pairs(DPLinear(**LEAK, variant="printed"))[1]
        sampler = blackbox.AlgorithmSampler(algorithm, "actions", seed)
        chosen, _ = blackbox.select(sampler, [pair], PLAN, delta=0.0, workers=1)
        [seen[variant]] = blackbox.put_to_test(
            sampler,
            chosen,
            PLAN,
            blackbox.Terms(PrivacyClaim(1.0), seed),
            name=f"black box on actions, {variant}",
        )
    bound = float(seen["printed"].result["epsilon_lower"])
    return Findings(
        [aligned["printed"][0], seen["printed"]],
        [
            aligned["corrected"][0],
            seen["corrected"],
            statement("epsilon of the printed listing, shown by its actions alone", bound, "at least", 1.3),
        ],
        aligned["printed"][1].worst,
    )


def local_sensitivity(seed: int) -> Findings:
    """Alignment of the reports."""
    aligned = _aligned(LDPLinear, seed)
    return Findings([aligned["printed"][0]], [aligned["corrected"][0]], aligned["printed"][1].worst)


def tail(seed: int) -> Findings:
    """Sums of a hundred Laplace variables of scale 1 above 40."""
    n, t, runs = 100, 40.0, 200_000
    rng = np.random.default_rng(seed)
    above = np.concatenate([rng.laplace(size=(20_000, n)).sum(axis=1) >= t for _ in range(runs // 20_000)])
    about: dict[str, Any] = {"variables": n, "t": t}
    claimed, right = math.exp(-(t**2) / (2 * n)), math.exp(-(t**2) / (4 * n))
    return Findings(
        [
            evidence.probability(
                "a sum exceeds t with probability exp(-t^2/(2n))", above, probability=claimed, **about
            )
        ],
        [
            evidence.probability(
                "a sum exceeds t with probability exp(-t^2/(4n))", above, probability=right, **about
            )
        ],
        {**about, "claimed": claimed, "measured": float(above.mean())},
    )


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
        [statement("rounds that are played", played, "equal to", 2990)],
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
    return Findings(
        [
            statement(
                "half of the printed variance (2d/q)^2 n is reached",
                variance,
                "at least",
                (2 * d / pulls) ** 2 * float(done.counts.sum()) / 2,
                d=d,
                q=pulls,
            )
        ],
        [statement("max_a sum_i l_i^2, at most 2d/q", variance, "at most", 2 * d / pulls, d=d, q=pulls)],
        {"d": d, "q": pulls, "variance": variance},
    )


def shuffle_domain(seed: int) -> Findings:
    """Exact delta of shuffled binary randomised response where eq. 10 sets eps0, and within its domain."""
    epsilon, delta = 3.0, 1e-6
    printed, corrected, example = [], [], {}
    for n in (100, 1000):
        unchecked = shuffle.formula_inverse(epsilon, n, delta)
        limit = shuffle.domain(n, delta)
        local = shuffle.local_epsilon(epsilon, n, delta)
        about = {"n": n, "epsilon": epsilon, "largest eps0 of the domain": limit}
        words = f"delta of {n} shuffled randomised responses at epsilon = 3"
        found = shuffle.response_delta(n, unchecked, epsilon)
        printed.append(
            statement(f"{words}, eps0 = f^-1(3)", found, "at most", delta, eps0=unchecked, **about)
        )
        corrected.append(
            statement(
                f"{words}, eps0 within the domain or epsilon",
                shuffle.clones_delta(n, local, epsilon),
                "at most",
                delta,
                eps0=local,
                **about,
            )
        )
        example = {**about, "eps0": unchecked, "delta": found}
    return Findings(printed, corrected, example)


def domain_of_theorem_3(seed: int) -> Findings:
    """The private term over the other one at the largest epsilon that the theorem covers."""
    horizon, delta = 10**6, 1e-6
    epsilon = math.sqrt(math.log(1 / delta) / horizon)
    private = math.sqrt(math.log(1 / delta)) * math.log(horizon) ** 1.5 / epsilon
    free = math.sqrt(horizon * math.log(horizon))
    about = {"horizon": horizon, "delta": delta, "epsilon": epsilon}
    return Findings(
        [statement("private term of Theorem 3 over sqrt(T log T)", private / free, "at most", 1.0, **about)],
        [
            statement(
                "it equals log T there",
                private / free,
                "equal to",
                math.log(horizon),
                tolerance=1e-9,
                **about,
            )
        ],
        {**about, "ratio": private / free},
    )


ERRATA = (
    Erratum(
        "central-sensitivity",
        Source(papers.HANNA, "Algorithm 1, Theorem 1"),
        "Sums of rewards in [-1, 1] get Lap(1/epsilon).",
        "A reward moves by up to 2: Lap(2/epsilon), and the epsilon-terms of gamma doubled. As printed it is "
        "2 epsilon-DP, and the actions alone show more than epsilon.",
        "privacy",
        sensitivity,
    ),
    Erratum(
        "local-sensitivity",
        Source(papers.HANNA, "Algorithm 2, Theorem 2"),
        "A reward in [-1, 1] is reported with Lap(1/epsilon0).",
        "Lap(2/epsilon0): a report as printed is 2 epsilon0-LDP.",
        "privacy",
        local_sensitivity,
    ),
    Erratum(
        "laplace-tail",
        Source(papers.HANNA, "Lemma 4"),
        "A sum of n Laplace variables exceeds t with probability at most exp(-t^2 b^2/(2nc^2)).",
        "The exponent is -t^2 b^2/(4nc^2), for t up to n.",
        "proof",
        tail,
    ),
    Erratum(
        "local-dimension",
        Source(papers.HANNA, "Theorem 2", "an upper bound that holds but is not sharp"),
        "Regret (1 + 1/epsilon0) d sqrt(d T log T): each report's noise is bounded by the largest weight.",
        "The squared weights of the reports add up to |a|^2 in V^-1, at most 2d/q: d sqrt(T log T).",
        "proof",
        width,
    ),
    Erratum(
        "overrun",
        Source(papers.HANNA, "Algorithms 1 to 3"),
        "floor(log T) - 1 batches of q^i pulls fit into T rounds.",
        "They do not for about one horizon in twenty, such as T = 2990: play must stop at T.",
        "regret",
        overrun,
    ),
    Erratum(
        "maximum",
        Source(papers.HANNA, "Algorithm 1, line 10"),
        "Actions are compared with the largest estimate over all actions.",
        "Only over those that remain: estimates of removed actions are arbitrary where the core set does not "
        "span them, and may remove everything.",
        "regret",
        maximum,
    ),
    Erratum(
        "shuffle-domain",
        Source(papers.HANNA, "Algorithm 3, line 8, and equation (10)"),
        "eps0 is the inverse of the amplification formula at epsilon, for every batch.",
        "The formula holds for eps0 <= log(n/(16 log(2/delta))) only, and never for n below 16 log(2/delta): "
        "eps0 = max(epsilon, min(f^-1(epsilon), log(n/(16 log(2/delta))))).",
        "privacy",
        shuffle_domain,
    ),
    Erratum(
        "shuffle-rate",
        Source(papers.HANNA, "Theorem 3"),
        "Privacy is almost free in the shuffle model: a term sqrt(log(1/delta)) log^1.5 T/epsilon is added.",
        "The theorem covers epsilon = O(sqrt(log(1/delta)/T)) only, where that term is log T times "
        "sqrt(T log T) or more.",
        "proof",
        domain_of_theorem_3,
    ),
)
