"""Last bits: what the columns are, how the judge reads the counts, how an audit states what it covered."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import verifiable_dp as vdp
from tests import formats
from tests.asking import audited
from tests.user_code import samplers
from verifiable_dp import InputError
from verifiable_dp.evidence.blackbox import numerics
from verifiable_dp.evidence.blackbox.test import Plan
from verifiable_dp.evidence.check import judged
from verifiable_dp.record.verify import validate
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

PLAN = Plan(200, 4000, 8000)


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0))
def test_exponents_of_the_highest_and_lowest_bit(x):
    """Against exact rationals: x is an odd multiple of 2^low, and 2^(high - 1) <= |x| < 2^high."""
    code = int(numerics.lattice(np.array([x]))[0])
    high, low = code // 4096 - 2048, code % 4096 - 2048
    top, bottom = abs(x).as_integer_ratio()
    power = bottom.bit_length() - 1  # the denominator is a power of two
    shift = (top & -top).bit_length() - 1
    assert low == shift - power
    assert high == top.bit_length() - power


def test_zero_and_what_is_not_finite_have_codes_of_their_own():
    codes = numerics.lattice(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1.0, 1.0]))
    assert codes[:5].tolist() == [-1, -1, -2, -2, -3]
    assert codes[5] > 0
    assert codes[6] == codes[7] > 0


@pytest.mark.parametrize(("shown", "scale"), [(0.0, 1.0), (1.0, 1.0), (0.3, 2.0), (-5.0, 0.7), (100.0, 1.0)])
def test_every_draw_of_numpy_is_attainable(shown, scale):
    """Negative control: from another value most are not, where doubles are finer than the draws."""
    draws = np.random.default_rng(1).laplace(0, scale, 20_000)
    assert numerics.attainable(shown + draws, shown, scale).all()
    if abs(shown) < 2:
        assert numerics.attainable(shown + draws, shown + 0.25, scale).mean() < 0.9


@pytest.mark.parametrize(
    ("data", "outputs", "expected"),
    [
        (2.0, 1, [[2.0]]),
        (2.0, 3, [[2.0, 2.0, 2.0]]),
        ([1.0, 2.0, 3.0], 3, [[1.0, 2.0, 3.0]]),
        ([1.0, 2.0, 3.0], 1, [[6.0], [2.0]]),
        ([1.0, 3.0], 3, [[4.0] * 3, [2.0] * 3]),
    ],
)
def test_what_outputs_may_show_of_the_data(data, outputs, expected):
    assert numerics.shown_without_noise(data, outputs).tolist() == expected


def test_scales_follow_from_the_change_and_the_claim():
    pairs = [DataPair(0.0, 1.0), DataPair(np.zeros(3), np.array([0.5, 0, 0])), DataPair([1], [1, 2])]
    assert numerics.scales_of(pairs, 0.5) == (2.0, 1.0)


def test_columns_are_those_of_the_bits_and_need_no_run_but_their_own():
    sampler = numerics.BitSampler(ReleaseSampler(samplers.laplace, 0), [(1.0,)])
    pair, runs = DataPair(0.0, 1.0), np.arange(500)
    seen = sampler.sample(pair, 1, 0, 0, runs)
    assert not seen.numeric
    assert [name.rpartition(" of ")[2] for name in seen.discrete if "bit" in name] == [
        "output 1",
        "output 1 - 1.0",
    ]
    again = sampler.sample(pair, 1, 0, 0, runs)
    assert all((seen.discrete[name] == again.discrete[name]).all() for name in seen.discrete)


def statistics(k1, k0, control1, control0, n=10_000):
    counts = {"n1": n, "n0": n}
    return {
        "k1": k1,
        "k0": k0,
        **counts,
        "control": {"k1": control1, "k0": control0, **counts},
        "epsilon": 1.0,
        "delta": 0.0,
        "alpha": 1e-6,
        "confidence": 0.95,
        "tests": 1,
    }


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ((3000, 10, 3000, 10), "refuted"),
        ((3000, 10, 10, 10), "refuted"),
        ((1000, 900, 3000, 10), "not_refuted"),
        ((1000, 900, 1000, 900), "inconclusive"),
        ((0, 0, 0, 0), "inconclusive"),
    ],
)
def test_the_judge_needs_a_control_that_is_refuted(counts, verdict):
    assert judged("numerics", statistics(*counts))["verdict"] == verdict


def test_what_is_covered_is_said():
    """Without `numerics` the naive sampler is not accused, and the record says what was idealised."""
    plain = vdp.audit(samplers.laplace, epsilon=1.0, budget="smoke")
    assert plain.verdict == "not_refuted"
    assert plain.record["provenance"]["idealized_numerics"] is True
    assert [left["id"] for left in plain.record["not_covered"]][:3] == ["timing", "sampler", "inputs"]
    assert not any("bit" in check["statistics"].get("event", "") for check in plain.record["checks"])
    validate(plain.record)
    strict = vdp.audit(samplers.laplace, epsilon=1.0, budget="smoke", numerics=True)
    assert strict.verdict == "refuted"
    assert strict.epsilon_lower > 3
    assert strict.record["provenance"]["idealized_numerics"] is False
    left = [left["id"] for left in strict.record["not_covered"]]
    assert left[:2] == ["timing", "inputs"]
    assert "sampler" not in left
    assert strict.record["counterexamples"][0]["check"] == numerics.NAME
    validate(strict.record)
    formats.of_record(plain.record)
    (result,) = formats.of_record(strict.record)["runs"][0]["results"]
    assert numerics.NAME in result["message"]["text"]
    assert "Last bits of the outputs" in strict.to_html()
    assert "Last bits of the outputs" not in plain.to_html()


def test_last_bits_that_give_nothing_away_make_a_record():
    """Its power is that of the test of values: what sets of last bits would have shown is not stated."""
    report = vdp.audit(samplers.grid, epsilon=1.0, budget="smoke", numerics=True)
    assert report.verdict != "refuted"
    validate(report.record)
    bits = next(check for check in report.record["checks"] if check["kind"] == "numerics")
    assert bits["result"]["verdict"] == "not_refuted"
    assert "detectable" not in bits["result"]


def test_both_tests_share_the_level():
    options = {"name": "x", "epsilon": 1.0, "plan": PLAN, "alpha": 1e-4, "confidence": 0.9}
    draft = audited(samplers.grid, numerics=True, **options)
    # The others refute nothing: values between the bounds, runs by their place, the upper bound.
    others = ("between", "positions", "upper_bound")
    tests = [c["statistics"] for c in draft["checks"] if c["kind"] not in others]
    assert [test["alpha"] for test in tests] == [5e-5, 5e-5]
    assert [test["confidence"] for test in tests] == [0.95, 0.95]
    assert (draft["plan"]["alpha"], draft["plan"]["confidence"], draft["confidence"]) == (1e-4, 0.9, 0.9)
    assert {c["result"]["verdict"] for c in draft["checks"]} == {"not_refuted"}
    two = audited(samplers.grid, numerics=True, workers=2, **options)
    assert draft["checks"] == two["checks"]


def test_numerics_is_about_what_releases_numbers():
    """Mechanisms, and algorithms with live sessions (tests/unit/auditing/test_production.py)."""
    with pytest.raises(InputError, match="numerics works only with your own mechanism"):
        vdp.audit("ucb1", numerics=True)
    with pytest.raises(
        InputError, match="numerics works only with a mechanism that releases numbers, got play"
    ):
        vdp.audit(lambda rewards, rng: rewards, epsilon=1.0, n_arms=2, horizon=4, numerics=True)
