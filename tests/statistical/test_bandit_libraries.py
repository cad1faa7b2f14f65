"""Bandits of river, MABWiser and SMPyBandits, audited as they are.

None promises privacy: at a claim of epsilon = 1 those that learn are refuted, and the line of the library
that decides is named. Level of each audit: 1e-7. The negative control are bandits that ignore their rewards,
which keep every epsilon.
"""

import importlib

import pytest

from tests import asking
from tests.records import read_all
from tests.user_code import libraries
from verifiable_dp.record import conclude
from verifiable_dp.targets.adapters import BanditClass, makes_bandits

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
def audited(monkeypatch):
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
def test_bandits_without_a_promise_are_refuted_and_their_line_is_named(name, audited):
    draft = audited(name)
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
def test_bandits_that_ignore_their_rewards_are_not_accused(name, audited):
    draft = audited(name, SMALL)
    assert conclude.conclusion(read_all(draft["checks"])) == ("inconclusive", "unsearched")
    assert [check["result"]["verdict"] for check in draft["checks"]] == ["not_refuted"] * len(draft["checks"])


@pytest.mark.parametrize(
    "name", ["smpybandits_epsilon_greedy", pytest.param("smpybandits_ucb", marks=pytest.mark.slow)]
)
def test_draws_from_elsewhere_follow_and_are_told_of(name, audited):
    draft = audited(name, SMALL)
    assert "we seed it for each run" in draft["target"]["note"]
    assert "not repeatable" not in draft["target"]["note"]
    notes = draft["checks"][0]["statistics"]["notes"]
    assert any(
        note["file"].startswith("SMPyBandits/") and "not the generator that we pass" in note["what"]
        for note in notes
    )
