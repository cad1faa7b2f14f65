"""Bandits with contexts: leaks are refuted, enough noise is not, joint privacy is told from plain privacy.

Level of each audit: 1e-9. The negative controls are the same program under the two models, and code that
ignores what it is told.
"""

import importlib

import pytest

from tests import asking
from tests.records import read_all
from tests.user_code import contextual, libraries, vowpal
from verifiable_dp.core.units import Protected
from verifiable_dp.record import conclude
from verifiable_dp.targets.adapters import BanditClass, Contextual

ASKED = {"epsilon": 1.0, "n_arms": 2, "horizon": 8, "contexts": "2x2", "alpha": 1e-9, "seed": 0}
FEW = 1200  # where the leak shows at once, or where nothing can be refuted


@pytest.fixture
def audited(monkeypatch):
    # Power is dear and cannot refute.
    for kind in (BanditClass, Contextual):
        monkeypatch.setattr(kind, "scalable", False, raising=False)

    def audit(target, runs=FEW, **more):
        return asking.audited(target, runs=runs, sequential=True, **{**ASKED, **more})

    return audit


def verdict(draft):
    return conclude.privacy(read_all(draft["checks"]))


@pytest.mark.slow  # by day tests/unit/targets/test_tables.py sees what is left out
def test_the_users_own_action_is_a_leak_under_plain_privacy_and_none_under_joint(audited):
    joint, plain = (audited(contextual.right, model=model) for model in ("joint", "central"))
    assert verdict(joint) != "refuted"
    # Every loss of a traced run is within the claim; what other noise would have decided is left open.
    tracing = joint["checks"][0]
    assert tracing["result"]["cost_over_epsilon"] <= 1
    assert {lead["what"] for lead in tracing["statistics"]["leads"]} <= {"unsettled"}
    assert verdict(plain) == "refuted"
    protects = [draft["claim"]["protects"] for draft in (joint, plain)]
    assert protects == [Protected.CONTEXT_JOINT, Protected.CONTEXT_CENTRAL]


LEAKS = {
    "gram_without_noise": {},
    "unclipped": {"context_norm": 6.0},
    "without_noise": {},
    "replayed": {"runs": 20_000},
    "little_noise": {"runs": 80_000},
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n == "without_noise" else pytest.mark.slow) for n in LEAKS]
)
def test_leaks_are_refuted_under_joint_privacy(name, audited):
    draft = audited(getattr(contextual, name), model="joint", **LEAKS[name])
    assert verdict(draft) == "refuted"
    assert all(found["pair"]["type"].startswith("context") for found in draft["counterexamples"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "more"),
    [
        (contextual.right, {}),
        (contextual.right, {"context_norm": 6.0}),
        (contextual.right, {"protects": "reward"}),
        (contextual.ignoring, {}),
        (contextual.ignoring, {"model": "central"}),
    ],
)
def test_enough_noise_is_not_accused(target, more, audited):
    assert verdict(audited(target, 20_000, **{"model": "joint", **more})) != "refuted"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["river_linucb", "mabwiser_linucb", "mabwiser_lingreedy", "contextualbandits_linucb"]
)
def test_contextual_learners_of_libraries_are_audited_as_they_are(name, audited):
    modules = ("river.bandit", "mabwiser.mab", "contextualbandits.online")
    try:
        importlib.import_module(next(module for module in modules if name.split("_")[0] in module))
    except ImportError as error:
        pytest.skip(str(error))
    draft = audited(getattr(libraries, name), 6000, contexts=3, model="joint", horizon=10)
    assert verdict(draft) == "refuted"
    tracing = draft["checks"][0]["statistics"]
    assert not tracing["failure"]
    home = name.split("_")[0]
    assert any(lead["open"] and lead["file"].startswith(home) for lead in tracing["leads"])


@pytest.mark.parametrize("target", [vowpal.small, pytest.param(vowpal.wabbit, marks=pytest.mark.slow)])
def test_learners_that_are_told_lines_of_text_are_audited_as_they_are(target, audited):
    """Their chances follow from what the users before brought."""
    if target is vowpal.wabbit:
        pytest.importorskip("vowpalwabbit")
    draft = audited(target, 3000, contexts=3, model="joint", horizon=10)
    assert verdict(draft) == "refuted"
    tracing = draft["checks"][0]["statistics"]
    assert not tracing["failure"]
    assert any(lead["open"] and "plain number" in lead["words"] for lead in tracing["leads"])


def test_a_learner_that_learns_nothing_is_not_accused(audited):
    assert verdict(audited(vowpal.ignoring, contexts=3, model="joint", horizon=4)) != "refuted"
