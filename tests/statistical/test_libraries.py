"""Mechanisms of OpenDP and diffprivlib: what they claim is not refuted, what is misused is.

Level of each audit, of its bounds too: 1e-7, so that none of these tests fails by chance with a probability
above 1e-6. OpenDP draws anew each time: a bound at .95 would exceed a true epsilon in one run of twenty.
Samples are few: the libraries take 6 to 60 microseconds a draw.
"""

import importlib

import numpy as np
import pytest

from tests import asking
from tests.asking import audited, places_alike
from tests.records import read_all
from tests.user_code import libraries
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.evidence.blackbox import numerics
from verifiable_dp.evidence.blackbox.test import Plan, Terms
from verifiable_dp.record import conclude
from verifiable_dp.targets.adapters import BanditClass, makes_bandits
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


# Bandits of river, MABWiser and SMPyBandits, audited as they are.
#
# None promises privacy: at a claim of epsilon = 1 those that learn are refuted, and the line of the library
# that decides is named. Level of each audit: 1e-7. The negative control are bandits that ignore their
# rewards, which keep every epsilon.


# SMPyBandits divides by the number of pulls, and takes the logarithm of the round, before the first of them.
pytestmark = pytest.mark.filterwarnings("ignore:.* encountered in :RuntimeWarning")
RUNS = 30_000
NEEDED = {"river": "river.bandit", "mabwiser": "mabwiser.mab", "smpybandits": "SMPyBandits"}
# What the decision looks like in the library's own source.
DECISIONS = {
    "river_ucb": ("river/bandit/ucb.py", "upper_bound == biggest_upper_bound"),
    "river_epsilon_greedy": ("river/bandit/epsilon_greedy.py", "max(arm_ids, key="),
    "river_thompson": ("river/proba/beta.py", "if x:"),
    "mabwiser_ucb": ("mabwiser/utils.py", "max(dictionary, key="),
    "mabwiser_epsilon_greedy": ("mabwiser/utils.py", "max(dictionary, key="),
    "mabwiser_softmax": ("mabwiser/utils.py", "dirichlet(alpha"),
    "smpybandits_ucb": ("SMPyBandits/Policies/IndexPolicy.py", "np.max(self.index)"),
    "smpybandits_epsilon_greedy": ("SMPyBandits/Policies/EpsilonGreedy.py", "np.max(self.rewards)"),
    "smpybandits_softmax": ("SMPyBandits/Policies/Softmax.py", "np.isfinite(trusts)"),
}
IGNORING = ("river_random", "mabwiser_random", "smpybandits_uniform")
FAST = ("river_ucb", "river_random")
SMALL = 3000  # where nothing can be refuted, the level holds at any size


@pytest.fixture
def audited_bandit(monkeypatch):
    # Power is dear and cannot refute.
    monkeypatch.setattr(BanditClass, "scalable", False, raising=False)

    def audit(name, runs=RUNS):
        try:
            maker = getattr(libraries, name)
            importlib.import_module(NEEDED[name.split("_")[0]])
        except ImportError as error:
            pytest.skip(str(error))
        assert makes_bandits(maker)
        return asking.audited(
            maker,
            name=f"tests/user_code/libraries.py:{name}",
            epsilon=1.0,
            n_arms=2,
            horizon=30,
            runs=runs,
            sequential=True,
            alpha=1e-7,
            seed=0,
        )

    return audit


def each(names):
    return pytest.mark.parametrize(
        "name", [pytest.param(n, marks=[] if n in FAST else pytest.mark.slow) for n in names]
    )


@each(DECISIONS)
def test_bandits_without_a_promise_are_refuted_and_their_line_is_named(name, audited_bandit):
    draft = audited_bandit(name)
    assert conclude.privacy(read_all(draft["checks"])) == "refuted"
    tracing = draft["checks"][0]
    assert tracing["kind"] == "tracing"
    assert not tracing["statistics"]["failure"]
    assert not tracing["result"]["holds"]
    file, code = DECISIONS[name]
    named = [(lead["file"], lead["source"]) for lead in tracing["statistics"]["leads"] if lead["open"]]
    assert any(where == file and code in source for where, source in named), named


@each(IGNORING)
@pytest.mark.slow
def test_bandits_that_ignore_their_rewards_are_not_accused(name, audited_bandit):
    draft = audited_bandit(name, SMALL)
    assert conclude.conclusion(read_all(draft["checks"])) == ("inconclusive", "unsearched")
    assert [check["result"]["verdict"] for check in draft["checks"]] == ["not_refuted"] * len(draft["checks"])


@pytest.mark.parametrize(
    "name", ["smpybandits_epsilon_greedy", pytest.param("smpybandits_ucb", marks=pytest.mark.slow)]
)
def test_draws_from_elsewhere_follow_and_are_told_of(name, audited_bandit):
    draft = audited_bandit(name, SMALL)
    assert "we seed it for each run" in draft["target"]["note"]
    assert "not repeatable" not in draft["target"]["note"]
    notes = draft["checks"][0]["statistics"]["notes"]
    assert any(
        note["file"].startswith("SMPyBandits/") and "not the generator that we pass" in note["what"]
        for note in notes
    )
