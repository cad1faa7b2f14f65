"""Amplification by shuffling: the formula and its domain, bounds on delta against brute force, the rung."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import verifiable_dp as vdp
from verifiable_dp.algorithms._linear import on_sphere
from verifiable_dp.algorithms.shuffled_linear import ShuffledLinear
from verifiable_dp.api import rerun
from verifiable_dp.auditors.shuffled_linear import auditor, batches
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.noise import altered
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.exact import shuffle as exact_shuffle
from verifiable_dp.record.verify import verify
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import AlteredNoise

DELTA = 1e-6
AXES = ((1.0, 0.0), (0.0, 1.0))


def counts(bits):
    """Law of the number of ones of independent bits."""
    law = np.array([1.0])
    for p in bits:
        law = np.convolve(law, [1 - p, p])
    return law


def divergence(left, right, epsilon):
    return float(np.maximum(left - math.exp(epsilon) * right, 0).sum())


def both_ways(left, right, epsilon):
    return max(divergence(left, right, epsilon), divergence(right, left, epsilon))


def response_by_hand(n, local, epsilon):
    """All inputs of the others."""
    p = 1 / (1 + math.exp(-local))
    found = []
    for ones in range(n):
        others = [p] * ones + [1 - p] * (n - 1 - ones)
        found.append(both_ways(counts([*others, p]), counts([*others, 1 - p]), epsilon))
    return max(found)


def clones_by_hand(n, local, epsilon):
    """The explicit pair of distributions over two counts, in both directions."""
    p, q = math.exp(local) / (1 + math.exp(local)), math.exp(-local)
    left, right = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    for c in range(n):
        for a in range(c + 1):
            chance = math.comb(n - 1, c) * q**c * (1 - q) ** (n - 1 - c) * math.comb(c, a) / 2**c
            for one in (0, 1):
                yes, no = (p, 1 - p) if one else (1 - p, p)
                left[a + one, c - a + 1 - one] += chance * yes
                right[a + one, c - a + 1 - one] += chance * no
    return both_ways(left, right, epsilon)


def exceeds(value, scale, threshold):
    """P[value + Lap(scale) > threshold]."""
    x = (threshold - value) / scale
    return 0.5 * math.exp(-x) if x > 0 else 1 - 0.5 * math.exp(x)


# ---------------------------------------------------------------- the formula


def test_the_formula_is_equation_10():
    n, local = 500, 1.3
    grown = math.exp(local)
    inner = 8 * math.sqrt(grown * math.log(4 / DELTA)) / math.sqrt(n) + 8 * grown / n
    assert shuffle.formula(local, n, DELTA) == pytest.approx(math.log(1 + (grown - 1) / (grown + 1) * inner))


@given(st.floats(0.01, 8), st.integers(1, 10**6), st.floats(1e-12, 0.5))
@settings(max_examples=200, deadline=None)
def test_the_inverse_inverts(epsilon, n, delta):
    local = shuffle.formula_inverse(epsilon, n, delta)
    assert shuffle.formula(local, n, delta) == pytest.approx(epsilon, rel=1e-9)
    chosen = shuffle.local_epsilon(epsilon, n, delta)
    assert epsilon <= chosen <= max(epsilon, local)
    assert chosen == epsilon or chosen <= shuffle.domain(n, delta)
    if chosen > epsilon:
        assert shuffle.amplified(chosen, n, delta) <= epsilon * (1 + 1e-9)


def test_on_its_domain_both_ways_agree():
    n, delta = 10_000, 1e-5
    for local in (0.1, 1.0, shuffle.domain(n, delta)):
        epsilon = shuffle.amplified(local, n, delta)
        assert shuffle.inverse(epsilon, n, delta) == pytest.approx(local)


@pytest.mark.parametrize("call", [shuffle.amplified, shuffle.inverse])
@pytest.mark.parametrize(
    ("name", "first", "n", "delta"),
    [
        ("delta", 0.1, 1000, 0.0),
        ("delta", 0.1, 1000, 1.0),
        ("delta", 0.1, 1000, float("nan")),
        ("n must be at least 233", 0.1, 232, DELTA),
        ("n", 0.1, 0, DELTA),
        ("n", 0.1, 1000.5, DELTA),
        ("local|epsilon", 0.0, 1000, DELTA),
        ("local|epsilon", -1.0, 1000, DELTA),
        ("local|epsilon", float("inf"), 1000, DELTA),
        ("local must lie in .0, 1.46|epsilon must lie in .0, 0.83", 5.0, 1000, DELTA),
    ],
)
def test_outside_the_domain_it_is_refused_in_one_line(call, name, first, n, delta):
    with pytest.raises(InputError, match=name) as error:
        call(first, n, delta)
    assert "\n" not in str(error.value)


def test_the_least_n_of_the_domain():
    assert shuffle.domain(233, DELTA) > 0 > shuffle.domain(232, DELTA)
    assert shuffle.amplified(shuffle.domain(233, DELTA), 233, DELTA) > 0


@pytest.mark.parametrize("n", [300, 1000, 10_000, 10**6])
@pytest.mark.parametrize("delta", [1e-8, 1e-6, 1e-3])
def test_the_formula_holds_on_its_domain(n, delta):
    """Theorem III.1 against the reduction that proves it."""
    limit = shuffle.domain(n, delta)
    assert (limit > 0) is ((n, delta) != (300, 1e-8))
    for local in np.linspace(0.05, 1, 6) * limit if limit > 0 else []:
        assert shuffle.clones_delta(n, local, shuffle.amplified(local, n, delta)) <= delta


@pytest.mark.parametrize(("n", "expected"), [(1000, 0.031), (100, 0.018)])
def test_the_formula_fails_outside_its_domain(n, expected):
    """Shuffled binary responses at f^-1(3): delta is four orders above 1e-6."""
    local = shuffle.formula_inverse(3.0, n, DELTA)
    assert local > shuffle.domain(n, DELTA)
    assert shuffle.response_delta(n, local, 3.0) == pytest.approx(expected, abs=5e-4)
    with pytest.raises(InputError, match=r"local|n must"):
        shuffle.amplified(local, n, DELTA)


# ---------------------------------------------------------------- brute force


LOCALS = [0.2, 0.7, 1.5, 3.0, 5.0]
LEVELS = [0.0, 0.05, 0.3, 0.6, 1.0, 1.4, 2.5, 4.0]


@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("local", LOCALS)
def test_counts_of_responses_are_exact(n, local):
    for epsilon in LEVELS:
        expected = response_by_hand(n, local, epsilon)
        assert shuffle.response_delta(n, local, epsilon) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("local", LOCALS)
def test_clones_bound_from_above_by_a_millionth(n, local):
    for epsilon in LEVELS:
        expected = clones_by_hand(n, local, epsilon)
        bound = shuffle.clones_delta(n, local, epsilon)
        assert bound >= expected - 1e-15
        assert bound == pytest.approx(expected, rel=3e-6, abs=1e-13)
        assert bound >= shuffle.response_delta(n, local, epsilon) - 1e-15


@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("threshold", [-1.0, -0.5, 0.0, 0.75, 1.0])
def test_counts_of_laplace_reports_are_exact(n, scale, threshold):
    one, zero = exceeds(1, scale, threshold), exceeds(-1, scale, threshold)
    left, right = counts([*[zero] * (n - 1), one]), counts([zero] * n)
    for epsilon in LEVELS:
        found = shuffle.laplace_delta(n, scale, epsilon, threshold)
        assert found == pytest.approx(both_ways(left, right, epsilon), rel=1e-9, abs=1e-13)
        assert found <= shuffle.clones_delta(n, 2 / scale, epsilon) + 1e-15


def test_a_threshold_of_zero_is_a_binary_response():
    """Right with probability 1 - exp(-eps0/2)/2."""
    local, n = 3.0, 200
    as_response = math.log(2 * math.exp(local / 2) - 1)
    for epsilon in (0.6, 1.0, 2.0):
        assert shuffle.laplace_delta(n, 2 / local, epsilon) == pytest.approx(
            max(
                shuffle.count_deltas(
                    n, shuffle.response(as_response), shuffle.response(as_response)[::-1], epsilon
                )
            )
        )


def test_one_report_is_not_amplified():
    """delta of the Laplace mechanism itself bounds what a threshold shows; at 1 the full ratio is seen."""
    local, epsilon = 3.0, 1.0
    whole = 1 - math.exp((epsilon - local) / 2)
    assert (
        shuffle.worst_threshold(1, 2 / local, epsilon)[0] <= whole <= shuffle.clones_delta(1, local, epsilon)
    )
    assert shuffle.laplace_delta(1, 2 / local, epsilon, 1.0) == pytest.approx(0.5 * (1 - math.exp(-2)))
    assert shuffle.laplace_delta(5, 0.0, epsilon) == 1.0


@given(st.integers(1, 400), st.floats(0.05, 6), st.floats(0.0, 5), st.floats(0.01, 2), st.integers(1, 50))
@settings(max_examples=150, deadline=None)
def test_bounds_are_monotone(n, local, epsilon, more, others):
    slack = 1 + 1e-5
    upper = shuffle.clones_delta(n, local, epsilon)
    lower = shuffle.worst_threshold(n, 2 / local, epsilon)[0]
    assert 0 <= lower <= upper * slack + 1e-15
    assert upper <= 1
    assert shuffle.clones_delta(n, local, epsilon + more) <= upper * slack + 1e-17
    assert shuffle.clones_delta(n, local + more, epsilon) * slack + 1e-17 >= upper
    assert shuffle.clones_delta(n + others, local, epsilon) <= upper * slack + 1e-17
    assert (
        shuffle.laplace_delta(n, 2 / local, epsilon + more)
        <= shuffle.laplace_delta(n, 2 / local, epsilon) + 1e-15
    )
    assert shuffle.clones_delta(n, local, local) == 0.0


@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize(("local", "epsilon"), [(0.5, 0.1), (2.0, 0.3), (4.0, 1.0), (6.0, 2.0)])
def test_larger_counts_agree_with_sums_over_other_formulas(n, local, epsilon):
    """Survival functions in place of sums of terms; both lose digits elsewhere."""
    p, grown = 1 / (1 + math.exp(-local)), math.exp(epsilon)
    k = np.arange(n + 1)
    q_law = stats.binom.pmf(k, n, 1 - p)
    p_law = p * stats.binom.pmf(k - 1, n - 1, 1 - p) + (1 - p) * stats.binom.pmf(k, n - 1, 1 - p)
    alike = both_ways(p_law, q_law, epsilon)
    right, wrong = shuffle.response(local)
    found = max(shuffle.count_deltas(n, (right, wrong), (wrong, right), epsilon))
    assert found == pytest.approx(alike, rel=1e-6, abs=1e-12)
    total = 0.0
    for c, chance in enumerate(stats.binom.pmf(np.arange(n), n - 1, math.exp(-local))):
        if chance > 1e-25:
            a = np.arange(c + 2)
            one, two = stats.binom.pmf(a - 1, c, 0.5), stats.binom.pmf(a, c, 0.5)
            total += chance * np.maximum(p * one + (1 - p) * two - grown * ((1 - p) * one + p * two), 0).sum()
    bound = shuffle.clones_delta(n, local, epsilon)
    assert bound == pytest.approx(total, rel=1e-5, abs=1e-12)
    assert bound >= total - 1e-14


@pytest.mark.parametrize("n", [10**5, 10**6])
def test_a_million_reports(n):
    local, epsilon = 8.0, 0.1
    lower, exact = (
        shuffle.worst_threshold(n, 2 / local, epsilon)[0],
        shuffle.response_delta(n, local, epsilon),
    )
    assert 0 < lower < exact < shuffle.clones_delta(n, local, epsilon) < 1
    assert shuffle.clones_delta(n, 1.0, 0.5) <= 3e-18


@pytest.mark.parametrize(
    ("call", "arguments", "name"),
    [
        (shuffle.response_delta, (0, 1.0, 1.0), "n"),
        (shuffle.response_delta, (5, 0.0, 1.0), "local"),
        (shuffle.response_delta, (5, 1.0, -1.0), "epsilon"),
        (shuffle.clones_delta, (1.5, 1.0, 1.0), "n"),
        (shuffle.clones_delta, (5, float("inf"), 1.0), "local"),
        (shuffle.clones_delta, (5, 1.0, float("nan")), "epsilon"),
        (shuffle.laplace_delta, (5, -1.0, 1.0), "scale"),
        (shuffle.laplace_delta, (5, 1.0, 1.0, 2.0), "threshold"),
        (shuffle.laplace_delta, (10**9, 1.0, 1.0), "n"),
    ],
)
def test_bad_arguments_are_refused(call, arguments, name):
    with pytest.raises(InputError, match=name) as error:
        call(*arguments)
    assert "\n" not in str(error.value)


# ---------------------------------------------------------------- the rung, against samples


def measured(n, scale, epsilon, event, runs, seed):
    """P[event] - e^epsilon Q[event] for the count of reports above 0, and its standard error."""
    rng = np.random.default_rng(seed)
    rewards = np.full((2, n), -1.0)
    rewards[0, 0] = 1.0
    shares = []
    for world in rewards:
        reports = world + rng.laplace(scale=scale, size=(runs, n))
        rng.permuted(reports, axis=1, out=reports)
        shares.append(float(event[(reports > 0).sum(axis=1)].mean()))
    p, q = shares
    error = math.sqrt((p * (1 - p) + math.exp(2 * epsilon) * q * (1 - q)) / runs)
    return p - math.exp(epsilon) * q, error


def test_samples_agree_with_the_exact_delta_and_not_with_that_of_other_noise():
    n, local, epsilon, runs = 6, 2.0, 0.5, 400_000
    scale = 2 / local
    one, zero = exceeds(1, scale, 0), exceeds(-1, scale, 0)
    left, right = counts([*[zero] * (n - 1), one]), counts([zero] * n)
    up, down = divergence(left, right, epsilon), divergence(right, left, epsilon)
    assert shuffle.laplace_delta(n, scale, epsilon) == pytest.approx(max(up, down))
    event = left > math.exp(epsilon) * right
    found, error = measured(n, scale, epsilon, event, runs, seed=0)
    assert abs(found - up) <= 6 * error  # false alarm 2e-9
    for factor in (0.7, 1.3):  # the control: noise that is off by three tenths
        found, error = measured(n, factor * scale, epsilon, event, runs, seed=1)
        assert abs(found - up) > 6 * error


def test_a_batch_is_read_off_the_algorithm():
    algorithm = ShuffledLinear(AXES, 1.0, 60_000)
    found = batches(algorithm)
    assert [batch.number for batch in found] == sorted(batch.number for batch in found)
    for batch in found:
        assert batch.crowd == batch.clients >= algorithm.size(batch.number) - 1e-6
        assert batch.scale == pytest.approx(2 / shuffle.local_epsilon(1.0, batch.clients, DELTA))
    halved = batches(AlteredNoise(algorithm, 0.5))
    assert [b.scale for b in halved] == pytest.approx([b.scale / 2 for b in found])
    assert {b.scale for b in batches(AlteredNoise(algorithm, 0.0))} == {0.0}
    assert found[-1].scale < 2  # amplified: less noise than epsilon alone needs


def test_batches_stop_at_the_horizon():
    algorithm = ShuffledLinear(AXES, 1.0, 2990)
    assert sum(batch.clients for batch in batches(algorithm)) <= 2990
    assert max(batch.number for batch in batches(algorithm)) < algorithm.last_batch


def test_smaller_batches_are_looked_at_too():
    algorithm = ShuffledLinear(on_sphere(12, 4, 0), 1.0, 60_000)
    sizes = {}
    for batch in batches(algorithm):
        sizes.setdefault(batch.number, []).append(batch.clients)
    assert any(len(found) == 2 for found in sizes.values())
    for number, found in sizes.items():
        assert min(found) >= math.ceil(round(algorithm.size(number), 6))


@pytest.mark.parametrize(
    "epsilon", [1.0, 8.0, *(pytest.param(e, marks=pytest.mark.slow) for e in (0.1, 0.5, 2.0, 4.0))]
)
@pytest.mark.parametrize("delta", [1e-6, *(pytest.param(d, marks=pytest.mark.slow) for d in (1e-8, 1e-3))])
def test_the_corrected_noise_keeps_its_promise_and_half_of_it_does_not(epsilon, delta):
    algorithm = ShuffledLinear(AXES, epsilon, 1_000_000, delta=delta)
    claim = algorithm.claim
    assert (claim.epsilon, claim.delta, claim.observe, claim.trust_model) == (
        epsilon,
        delta,
        "shuffled",
        "shuffle",
    )
    assert {c.verdict for c in auditor.exact(algorithm, claim)} == {"not_refuted"}
    assert "refuted" in {c.verdict for c in auditor.exact(AlteredNoise(algorithm, 0.5), claim)}


def test_between_the_bounds_nothing_is_decided():
    batch = exact_shuffle.ShuffledBatch(1, 1000, 1000, 2 / shuffle.formula_inverse(3.0, 1000, DELTA))
    found = exact_shuffle.check(batch, PrivacyClaim(3.0, DELTA, observe="shuffled"), (-1.0, 1.0))
    assert found.verdict == "inconclusive"
    assert found.result["delta_lower"] < DELTA < found.result["delta_upper"]
    wide = exact_shuffle.check(
        exact_shuffle.ShuffledBatch(1, 1000, 1000, batch.scale * 5), PrivacyClaim(3.0, DELTA), (0.0, 10.0)
    )
    assert wide.result["local_epsilon"] == pytest.approx(found.result["local_epsilon"])


# ---------------------------------------------------------------- the audit


def audited(**changes):
    options = {key: changes.pop(key) for key in ("epsilon", "delta", "observe") if key in changes}
    algorithm = ShuffledLinear(**{**auditor.instance, **changes})
    return vdp.audit(algorithm, mutants=False, **options)


@pytest.mark.slow
def test_the_claims_own_delta_is_audited():
    report = audited()
    assert report.record["claim"]["delta"] == DELTA
    assert report.verdict == "not_refuted"
    power = report.record["power"]
    assert power["by"] == "exact"
    assert (
        report.record["claim"]["epsilon"]
        < power["smallest_epsilon"]
        < 1.1 * report.record["claim"]["epsilon"]
    )


@pytest.mark.parametrize(
    ("claim", "verdicts"),
    [
        ({"epsilon": 3.0}, {"refuted"}),
        pytest.param({"delta": 0.0}, {"refuted", "inconclusive"}, marks=pytest.mark.slow),
    ],
)
def test_a_stronger_claim_is_refuted(claim, verdicts):
    assert audited(**claim).verdict in verdicts


def test_the_printed_listing_is_refuted_with_a_counterexample():
    report = audited(variant="printed")
    assert report.verdict == "refuted"
    first = report.record["counterexamples"][0]
    assert first["delta_lower"] > 1e4 * DELTA
    assert first["pair"]["type"] == "stream"
    assert report.epsilon_lower > 4
    assert "delta at least" in report.summary()
    assert "Rung 2" in report.to_html()


@pytest.mark.slow
def test_a_record_verifies_and_comes_out_again(tmp_path):
    for variant in ("corrected", "printed"):
        path = audited(variant=variant).save(tmp_path, stem=variant)[0]
        assert verify(path, rerun=rerun).checks > 9


class Shared(ShuffledLinear):
    """All reports of the run have the noise of the first action."""

    def release(self, state, memory, query, answer, noise):
        return super().release(state, memory, query, answer, altered(noise, reslot=np.zeros_like))


def test_what_alignment_finds_is_not_passed_over(monkeypatch):
    """Shared noise does not show in a scale: the premise of the bounds fails, so nothing is decided."""
    monkeypatch.setattr(registry, "find", lambda algorithm: replace(auditor, algorithm=Shared))
    report = vdp.audit(Shared(**auditor.instance), mutants=False)
    assert report.record["checks"][0]["result"]["verdict"] == "inconclusive"
    assert report.verdict == "inconclusive"


@pytest.mark.parametrize("observe", ["actions", "releases", "reports"])
def test_only_shuffled_reports_are_what_the_claim_is_about(observe):
    with pytest.raises(InputError, match="observe must be shuffled"):
        audited(observe=observe)
    with pytest.raises(InputError, match="observe must be actions or releases"):
        vdp.audit("dp-linear", observe="shuffled")


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-9, float("nan"), None])
def test_a_bad_delta_is_refused_in_one_line(delta):
    with pytest.raises(InputError, match="delta") as error:
        ShuffledLinear(AXES, 1.0, 1000, delta=delta)
    assert "\n" not in str(error.value)


def test_the_printed_noise_and_the_corrected_one():
    clients = np.array([40, 0, 5000, 1_000_000])
    corrected, printed = (ShuffledLinear(AXES, 1.0, 10**6, variant=v) for v in ("corrected", "printed"))
    for n, right, wrong in zip(
        clients.tolist(), corrected.scales(clients), printed.scales(clients), strict=True
    ):
        if n:
            assert right == pytest.approx(2 / shuffle.local_epsilon(1.0, n, DELTA))
            assert wrong == pytest.approx(1 / shuffle.formula_inverse(1.0, n, DELTA))
    assert corrected.scales(clients)[0] == 2.0  # too few to hide among
    assert corrected.scales(clients)[3] < 0.6
