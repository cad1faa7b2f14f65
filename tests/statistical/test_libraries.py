"""Mechanisms of OpenDP and diffprivlib: what they claim is not refuted, what is misused is.

Level of each audit, of its bounds too: 1e-7, so that none of these tests fails by chance with a probability
above 1e-6. OpenDP draws anew each time: a bound at .95 would exceed a true epsilon in one run of twenty.
Samples are few: the libraries take 6 to 60 microseconds a draw.
"""

import importlib

import numpy as np
import pytest

from tests.asking import audited, places_alike
from tests.records import read_all
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.evidence.blackbox import numerics
from verifiable_dp.evidence.blackbox.test import Plan, Terms
from verifiable_dp.record import conclude
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

PLAN = Plan(100, 2000, 3000)
BITS = Plan(100, 2000, 4000)
ALPHA = 1e-7
OPENDP = ["laplace", "discrete_laplace", "noisy_max", "randomized_response"]
DIFFPRIVLIB = ["laplace", "geometric", "laplace_truncated", "staircase", "snapping", "exponential"]


def mechanism(library, name):
    pytest.importorskip("opendp") if library == "opendp" else pytest.importorskip(
        "tests.user_code.diffprivlib_mechanisms", exc_type=ImportError
    )
    return getattr(importlib.import_module(f"tests.user_code.{library}_mechanisms"), name)


def audit(function, epsilon=1.0, delta=0.0, plan=PLAN):
    levels = {"alpha": ALPHA, "confidence": 1 - ALPHA}
    with places_alike():
        return audited(function, name=function.__name__, epsilon=epsilon, delta=delta, plan=plan, **levels)


def refuted(draft):
    return conclude.privacy(read_all(draft["checks"])) == "refuted"


@pytest.mark.parametrize(
    ("library", "name"), [*(("opendp", n) for n in OPENDP), *(("diffprivlib", n) for n in DIFFPRIVLIB)]
)
def test_mechanisms_keep_what_they_claim(library, name):
    draft = audit(mechanism(library, name))
    assert not refuted(draft)
    assert 0.1 < conclude.epsilon_lower(read_all(draft["checks"])) <= 1


@pytest.mark.parametrize(
    ("library", "name"),
    [
        *(("opendp", n) for n in ("laplace", "randomized_response")),
        ("diffprivlib", "geometric"),
        pytest.param("opendp", "discrete_laplace", marks=pytest.mark.slow),
        *(
            pytest.param("diffprivlib", n, marks=pytest.mark.slow)
            for n in ("laplace", "laplace_truncated", "staircase", "snapping")
        ),
    ],
)
def test_half_of_what_they_have_is_refuted(library, name):
    """Negative control of the test above."""
    assert refuted(audit(mechanism(library, name), epsilon=0.5))


def test_a_wrong_sensitivity_is_refuted():
    draft = audit(mechanism("diffprivlib", "laplace_of_wrong_sensitivity"))
    assert refuted(draft)
    assert conclude.epsilon_lower(read_all(draft["checks"])) > 1.4


def test_gaussian_noise_has_its_delta_and_no_less():
    """Scale 1 is .5-zCDP; its exact delta at epsilon 1 is .127 (the test is of (epsilon, delta) only)."""
    gaussian = mechanism("opendp", "gaussian")
    delta = mechanism("opendp", "gaussian_delta")(1.0)
    assert delta == pytest.approx(0.12694, abs=1e-5)
    assert not refuted(audit(gaussian, delta=delta))
    assert refuted(audit(gaussian, delta=delta / 50))


def test_draws_from_another_source_are_stated():
    """OpenDP does not use the generator that it is given: no rerun, and no power from less noise."""
    draft = audit(mechanism("opendp", "discrete_laplace"))
    assert "draws from another source" in draft["target"]["note"]
    assert "we could not measure power" in draft["target"]["note"]
    assert conclude.privacy(read_all(draft["checks"])) == "not_refuted"


def bits(function, seed=0):
    pairs = [DataPair(0.0, 1.0)]
    if hasattr(function, "neighbours"):
        pairs = [DataPair(left, right) for left, right in function.neighbours]
    found, _ = numerics.check(
        ReleaseSampler(function, seed),
        pairs,
        BITS,
        Terms(PrivacyClaim(1.0), seed, alpha=ALPHA),
    )
    return found


@pytest.mark.parametrize("seed", [0, *(pytest.param(x, marks=pytest.mark.slow) for x in range(1, 4))])
def test_last_bits_of_opendp_tell_nothing(seed):
    found = bits(mechanism("opendp", "laplace"), seed)
    assert found.verdict == "not_refuted"
    assert found.result["control_epsilon_lower"] > 4, "the naive sampler is refuted with as many runs"


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("snapping", "not_refuted"),
        ("geometric", "not_refuted"),
        ("laplace", "refuted"),
        ("laplace_truncated", "refuted"),
        ("staircase", "refuted"),
    ],
)
def test_last_bits_of_diffprivlib(name, verdict):
    """Version 0.6.6 adds its noise in floating point, but for the snapping mechanism and whole numbers."""
    assert bits(mechanism("diffprivlib", name)).verdict == verdict


def test_outputs_of_libraries_are_numbers():
    for library, name in (("opendp", "laplace"), ("diffprivlib", "laplace")):
        found = ReleaseSampler(mechanism(library, name), 0).values(0.5, (0,), np.arange(100))
        assert found.shape == (100, 1)
        assert len(np.unique(found)) == 100
