"""Sequential tests over many streams: level and coverage however one stops, and how early violations fall.

Streams lie at the very boundary of the claim. Crossings are counted at a level of 5 % and held against the
binomial law at 1e-7; each count has a negative control beside it.
"""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.evidence.blackbox import bets, sequential
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.bets import alternatives, bet_for, log_product
from verifiable_dp.evidence.blackbox.statistics import sigmoid
from verifiable_dp.evidence.blackbox.test import Plan, Terms
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

STREAMS, ALPHA = 20_000, 0.05
MOST = stats.binom.isf(1e-7, STREAMS, ALPHA)  # crossings that the level allows
LOOKS = np.unique(np.geomspace(4, 60_000, 30).round().astype(int))  # runs, both worlds together


@functools.cache
def streams(p, q, seed):
    """Cumulative counts (looks, 4, streams) of runs whose worlds are tossed."""
    rng = np.random.default_rng(seed)
    steps = np.diff(LOOKS, prepend=0)[:, None]
    first = rng.binomial(steps, 0.5, (len(LOOKS), STREAMS))
    other = steps - first
    rows = [rng.binomial(first, p), first, rng.binomial(other, q), other]
    return np.cumsum(np.stack(rows, axis=1), axis=0)


def log_e(counts, shares, held, epsilon, delta):
    """Log e-values (looks, streams) of the bets that a selection with these shares leads to."""
    p, q, weight = alternatives(shares, held)
    payoffs = bet_for(p, q, epsilon, delta).log_payoffs()
    return np.array([logsumexp(weight + log_product(payoffs, row[..., None]), axis=-1) for row in counts])


def crossings(values):
    """Streams whose e-value reaches 1 / ALPHA at any look."""
    return int((values >= -math.log(ALPHA)).any(axis=0).sum())


# epsilon, delta, q; what the selection runs said, and how many there were
BOUNDARY = [
    (1.0, 0.0, 0.15, (0.45, 0.15), 2000),
    (5.0, 0.0, 0.004, (0.7, 0.003), 3000),
    (1.0, 0.1, 0.05, (0.3, 0.05), 1000),
    *(
        pytest.param(*setting, marks=pytest.mark.slow)
        for setting in (
            (0.1, 0.0, 0.3, (0.36, 0.3), 1000),
            (0.5, 0.0, 0.2, (0.4, 0.18), 100),
            (1.0, 0.0, 0.002, (0.008, 0.001), 3000),
            (3.0, 0.0, 0.01, (0.25, 0.0), 300),
            (0.5, 0.01, 0.001, (0.02, 0.0), 1000),
            (3.0, 1e-3, 0.01, (0.3, 0.01), 1000),
        )
    ),
]


@pytest.mark.parametrize(("epsilon", "delta", "q", "shares", "held"), BOUNDARY)
def test_the_level_holds_at_every_look(epsilon, delta, q, shares, held):
    p = math.exp(epsilon) * q + delta
    counts = streams(p, q, seed=1)
    assert crossings(log_e(counts, shares, held, epsilon, delta)) <= MOST
    # Negative control: bets against a smaller claim are no bets against this one.
    some = counts[:, :, :2000]
    broken = crossings(log_e(some, shares, held, 0.8 * epsilon - 0.05, delta / 2))
    assert broken > stats.binom.isf(1e-7, 2000, ALPHA)


def test_the_level_is_not_idle():
    """Where the alternatives lie close by, streams at the boundary do cross: the level is not given away."""
    q, epsilon = 0.15, 1.0
    counts = streams(math.exp(epsilon) * q, q, seed=2)
    assert crossings(log_e(counts, (0.43, 0.14), 2000, epsilon, 0.0)) > 0.25 * ALPHA * STREAMS


def test_peeking_at_a_fixed_sample_test_breaks_its_level():
    """The p-value of `statistics.ratio_p_value` is for one look; at thirty it accuses thrice as often."""
    epsilon, q = 1.0, 0.15
    k1, _, k0, _ = np.moveaxis(streams(math.exp(epsilon) * q, q, seed=1), 1, 0)
    p_values = stats.binom.sf(k1 - 1, k1 + k0, sigmoid(epsilon))
    assert (p_values[-1] <= ALPHA).sum() <= MOST
    assert (p_values <= ALPHA).any(axis=0).sum() > 3 * ALPHA * STREAMS


def test_a_stake_beyond_its_cap_breaks_the_level():
    """With a payoff taken for its absolute value the product is not an e-value any more."""
    epsilon, q = 1.0, 0.15
    k1, n1, k0, _ = np.moveaxis(streams(math.exp(epsilon) * q, q, seed=1), 1, 0)
    for stake, valid in ((0.9 * math.exp(-epsilon), True), (2.5 * math.exp(-epsilon), False)):
        payoffs = np.log1p(stake), 0.0, math.log(abs(1 - stake * math.exp(epsilon))), 0.0
        values = log_product(payoffs, (k1, n1, k0, k0))
        assert (crossings(values) <= MOST) == valid


@pytest.mark.slow
def test_the_average_over_dependent_events_keeps_the_level():
    """Three nested events of the same runs, all at the boundary; their largest e-value alone does not."""
    epsilon, rng, number = 1.0, np.random.default_rng(3), 5000
    steps = np.diff(LOOKS, prepend=0)[:, None]
    first = rng.binomial(steps, 0.5, (len(LOOKS), number))
    runs = np.stack([first, steps - first])  # (world, looks, streams)
    q = np.array([0.02, 0.06, 0.2])
    values, inner = [], runs
    for level, share in sorted(enumerate(q), reverse=True):
        # Hits of the wider event contain those of the narrower one.
        wider = q[level + 1] if level + 1 < len(q) else None
        chance = np.array([math.exp(epsilon), 1.0]) * share if wider is None else np.full(2, share / wider)
        inner = rng.binomial(inner, chance[:, None, None])
        hits, sizes = np.cumsum(inner, axis=1), np.cumsum(runs, axis=1)
        counts = np.stack([hits[0], sizes[0], hits[1], sizes[1]], axis=1)
        values.append(log_e(counts, (1.15 * math.e * share, share), 4000, epsilon, 0.0))
    most = stats.binom.isf(1e-7, number, ALPHA)
    average = logsumexp(values, axis=0) - math.log(3)
    assert crossings(average) <= most
    alone = [crossings(value) for value in values]
    assert max(alone) <= most
    assert crossings(np.max(values, axis=0)) > 1.5 * max(alone)


# ---------------------------------------------------------------- whole audits

AUDITS = 100
PAIR = DataPair(0.0, 1.0)
SMALL = Plan(100, 1500, 4500, keep=1, sequential=True)


def laplace(scale):
    def release(data, size, rng):
        return data + rng.laplace(0, scale, size)

    return release


def audited(function, epsilon, seed, *, delta=0.0, plan=SMALL, alpha=ALPHA, pairs=(PAIR,)):
    sampler = ReleaseSampler(function, seed)

    def select(part):
        return blackbox.select(sampler, pairs, part, delta=delta, workers=1)

    terms = Terms(PrivacyClaim(epsilon, delta), seed, alpha=alpha)
    (check,), _, _ = sequential.run(sampler, select, plan, terms)
    return check


@functools.cache
def audits(epsilon, number=AUDITS):
    """Audits of Laplace noise whose epsilon is exactly 1: two rounds, learnt events, two pairs."""
    pairs = (PAIR, DataPair(1.0, 0.0))
    return [audited(laplace(1.0), epsilon, seed, pairs=pairs) for seed in range(number)]


@pytest.mark.slow
def test_whole_audits_keep_their_level_and_their_coverage():
    """Of audits that stop when they like; the limit on epsilon is that of all looks together."""
    most = stats.binom.isf(1e-7, AUDITS, ALPHA)
    assert sum(check.verdict == "refuted" for check in audits(1.0)) <= most
    limits = np.array([check.result["epsilon_lower"] for check in audits(1.0)])
    assert (limits > 1.0).sum() <= most
    assert np.median(limits) > 0.85
    # Negative controls: a claim that is too small, a truth that is.
    assert sum(check.verdict == "refuted" for check in audits(0.8, 30)) > 25
    assert (limits > 0.8).sum() > 0.9 * AUDITS


@pytest.mark.parametrize(
    "claim", [1.0, *(pytest.param(x, marks=pytest.mark.slow) for x in (0.5, 2.0, 3.0, 5.0))]
)
def test_half_the_noise_is_refuted_early_at_any_claim(claim):
    """Within twice log(1 / alpha) over the best growth rate of any event, which no test at any claim beats.

    `docs/sequential-audits.md` has the medians of more seeds, beside those of the fixed-sample test.
    """
    plan = Plan(1000, 100_000, 400_000, sequential=True)
    found = [audited(laplace(0.5 / claim), claim, seed, plan=plan, alpha=1e-6) for seed in range(15)]
    assert all(check.verdict == "refuted" for check in found)
    runs = np.median([check.statistics["runs"] for check in found])
    cuts = np.linspace(0.0, 1.0, 401)
    # Laplace noise of scale 1 / (2 claim), inputs 0 and 1: the event that the output is at least a cut.
    hit, missed = 1 - 0.5 * np.exp(2 * claim * (cuts - 1)), 0.5 * np.exp(-2 * claim * cuts)
    best = max(bets.growth_rate(p, q, claim) for p, q in zip(hit, missed, strict=True))
    assert runs <= 2 * math.log(1e6) / best
    # Beyond that it does not matter how large the budget is: the plan allows a hundred times as many.
    assert runs < 0.01 * 2 * plan.test or claim == 5.0


def test_gaussian_noise_against_a_claim_with_delta():
    """N(0, 1) on a query of sensitivity 1 has delta .127 at epsilon 1; .01 is refuted early, .2 never."""
    plan = Plan(1000, 20_000, 60_000, sequential=True)

    def release(data, size, rng):
        return data + rng.normal(0, 1.0, size)

    false = [audited(release, 1.0, seed, delta=0.01, plan=plan, alpha=1e-6) for seed in range(10)]
    assert all(check.verdict == "refuted" for check in false)
    assert np.median([check.statistics["runs"] for check in false]) < 0.1 * 2 * plan.test
    true = [audited(release, 1.0, seed, delta=0.2, plan=SMALL) for seed in range(5)]
    assert all(check.verdict == "not_refuted" for check in true)


@pytest.mark.slow
def test_the_stated_power_is_what_audits_show():
    """Power of an event by simulation of its counts, against audits that bet on it in real runs."""
    claim, plan = 1.0, Plan(100, 3000, 3900, sequential=True)  # one round
    [picked], _ = blackbox.select(ReleaseSampler(laplace(1 / 1.16), 1), [PAIR], plan, delta=0.0, workers=1)
    picked = replace(picked, event=replace(picked.event, held=plan.select // 2))
    stated = sequential.rejection_power(*picked.event.shares, plan, claim, 0.0, 1e-3)
    assert 0.2 < stated < 0.8
    refuted = 0
    for seed in range(100):
        sampler = ReleaseSampler(laplace(1 / 1.16), seed + 2)
        (check,), _, _ = sequential.run(
            sampler,
            lambda _: ([picked], [0]),
            plan,
            Terms(PrivacyClaim(claim), seed, alpha=1e-3),
        )
        refuted += check.verdict == "refuted"
    # The shares are estimates: held against the powers of what they may be.
    assert stats.binom.cdf(refuted, 100, max(stated - 0.3, 0.01)) > 1e-7
    assert stats.binom.sf(refuted, 100, min(stated + 0.3, 0.99)) > 1e-7
    assert 10 < refuted < 100
