"""The audit of a bandit of the catalogue that is told contexts: model, rungs, refusals, a re-run."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import verifiable_dp as vdp
from verifiable_dp import api
from verifiable_dp.api import reruns
from verifiable_dp.auditing import algorithms, rungs
from verifiable_dp.auditing.plans import silent
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise, Settings
from verifiable_dp.auditing.subject import subject_of
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.core import reactions
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.neighbours import ContextGame, TablePair, pair_of
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.units import Protected
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import normal
from verifiable_dp.evidence.alignment.checking import Instance
from verifiable_dp.evidence.alignment.replay import worlds
from verifiable_dp.evidence.blackbox import adversary
from verifiable_dp.evidence.blackbox.adversary import AdversarySizes
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.evidence.blackbox.test import Terms
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import plain
from verifiable_dp.record.verify import examine
from verifiable_dp.registry import entries as registry
from verifiable_dp.report import finish

REPORTS = Path(__file__).parents[3] / "reports"
SMALL = {"n_arms": 2, "dimension": 2, "epsilon": 1.0, "horizon": 8, "delta": 1e-3}
COMPUTED = [rung for rung in rungs.RUNGS if rung.stage in ("alignment", "certificate")]


def games_of(algorithm, when=0):
    pair = family.pairs(algorithm)[when]
    return [ContextGame(pair, reaction) for reaction in reactions.everyone()]


GAMES = games_of(vdp.make("dp-lin-ucb", **SMALL))[:1]


def computed(promise=None, name="dp-lin-ucb", parameters=SMALL, by=COMPUTED, **inputs):
    """The report of what needs no sampling."""
    algorithm = vdp.make(name, **parameters)
    settings = Settings(budget="smoke", mutants=False)
    request = AuditRequest(algorithm, name, promise or Promise(), Inputs(**inputs), settings)
    return finish(draft=rungs.draft(request, by), started=0.0, cpu_seconds=0.0)


def test_in_the_pair_of_a_crowd_every_second_user_is_of_the_other_kind():
    """Contexts and rewards take turns together: what one user gives away, the next one uses."""
    pair = family.pairs(vdp.make("dp-lin-ucb", **SMALL))[2]
    contexts, rewards = pair.form.split(pair.left)
    assert not np.array_equal(contexts[0], contexts[1])
    for one in range(2):
        assert all(np.array_equal(context, contexts[one]) for context in contexts[one::2])
        assert np.array_equal(rewards[one::2], np.full((4, 2), 1.0 - one))


def test_the_interval_is_closed_and_the_record_says_what_is_protected_from_whom():
    report = computed()
    assert report.verdict == "not_refuted"
    assert report.epsilon_lower == pytest.approx(1.0)
    assert report.epsilon_upper == pytest.approx(1.0)
    assert report.record["claim"]["protects"] == Protected.CONTEXT_JOINT
    assert report.record["claim"]["observe"] == "releases"
    assert report.record["target"]["model"] == "joint"
    assert report.record["epsilon_upper"]["delta"] == 1e-3
    examine(report.record)


def test_wishart_noise_has_an_interval_by_its_own_law():
    report = computed(name="dp-lin-ucb-wishart")
    assert report.verdict == "not_refuted"
    assert 0.98 < report.epsilon_lower < report.epsilon_upper <= 1
    assert report.epsilon_lower > 0.99 * report.epsilon_upper
    examine(report.record)
    assert computed(Promise(epsilon=0.97), name="dp-lin-ucb-wishart").verdict == "refuted"


def test_in_the_central_model_the_own_action_tells_the_own_context():
    report = computed(Promise(model="central"))
    assert report.verdict == "refuted"
    assert report.record["claim"]["protects"] == Protected.CONTEXT_CENTRAL
    (found,) = report.record["counterexamples"]
    assert found["pair"]["round"] == 7
    assert found["divergence"] == "actions"
    assert report.record["epsilon_upper"] is None
    examine(report.record)


def test_a_smaller_claim_is_refuted_by_the_exact_loss():
    report = computed(Promise(epsilon=0.9))
    assert report.verdict == "refuted"
    assert report.epsilon_lower == pytest.approx(1.0)
    assert computed(Promise(epsilon=1.0, delta=1e-4)).verdict == "refuted"
    assert computed(Promise(epsilon=1.1, model="joint")).verdict == "not_refuted"


def test_the_baseline_is_held_against_its_reference_by_what_others_see():
    given = {"n_arms": 2, "dimension": 2, "horizon": 8}
    report = computed(name="lin-ucb-contextual", parameters=given)
    assert report.record["claim"]["observe"] == "actions"
    assert report.record["checks"][0]["statistics"]["visible"] is False
    assert report.verdict == "inconclusive"  # raw releases, which nobody sees: the black box has to speak


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"group": 2}, "group works only without contexts"),
        ({"protects": "reward"}, "protects works only with your own code"),
        ({"contexts": 3}, "contexts work only with your own code"),
        ({"pairs": [TablePair(np.zeros((8, 2)), 0, 0, 1.0)]}, "pairs must be ContextPairs"),
        ({"pairs": GAMES, "model": "central"}, "adversaries over contexts work only with model joint"),
    ],
)
def test_what_means_nothing_here_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        vdp.audit(vdp.make("dp-lin-ucb", **SMALL), budget="smoke", **given)


@pytest.mark.parametrize("name", ["dp-lin-ucb", "dp-lin-ucb-wishart", "ldp-lin-ucb"])
def test_adversaries_find_what_a_right_algorithm_may_lose_and_no_more(name):
    """Negative control: less than what it loses is refuted by them."""
    algorithm = vdp.make(name, **SMALL)
    aligned, _ = normal.check(algorithm, algorithm.claim, games_of(algorithm), 0)
    assert aligned.verdict == "not_refuted"
    assert aligned.result["epsilon_lower"] > 0.98
    lower, _ = normal.check(algorithm, replace(algorithm.claim, epsilon=0.9), games_of(algorithm)[:1], 0)
    assert lower.verdict == "refuted"


def test_the_users_of_both_worlds_follow_the_same_actions():
    """Each run's users are those that its own arms call for; worlds differ in the protected user alone."""
    algorithm, n = vdp.make("dp-lin-ucb", **SMALL), 12
    games = games_of(algorithm, 3)
    assert len(games) == 7
    for game in games:
        seen = []
        for world in worlds(game, algorithm.n_arms, n, first=5):
            rows = {}

            class Spy:
                def __init__(self, users, rows):
                    self.users, self.rows = users, rows

                def meet(self, query, run):
                    met = self.users.meet(query, run)
                    given, _ = self.users.form.split(self.users.table)
                    assert np.array_equal(self.users._brought(query, run)[0], given)
                    self.rows[int(query.start[0])] = self.users.table.copy(), self.users._met[1].copy()
                    return met

                def answer(self, query, run):
                    return self.users.answer(query, run)

            play(algorithm, Spy(world, rows), Seeded(1), np.arange(5, 5 + n))
            assert sorted(rows) == list(range(algorithm.horizon))
            seen.append(rows)
        for world, rows in enumerate(seen):
            guests = game.guests(world, n)
            for t, (table, arms) in sorted(rows.items()):
                assert np.array_equal(guests.rows(t), table)
                guests.saw(t, table, arms)
        before = [np.stack([rows[t][0] for t in range(game.round)]) for rows in seen]
        assert np.array_equal(*before)  # the noise is the same, and nothing differs yet
        assert (seen[0][game.round][0] != seen[1][game.round][0]).any()


@pytest.mark.parametrize("mutant", ["half noise", "noise at leaves only"])
def test_adversaries_refute_mutants(mutant):
    (found,) = (m for m in registry.auditor("dp-lin-ucb").mutants if m.name == mutant)
    algorithm = found.make(vdp.make("dp-lin-ucb", **SMALL))
    instance = Instance(algorithm, 1.0, {"instance": SMALL, "epsilon": 1.0})
    sizes, terms = AdversarySizes(1, 0, 0, 250, 2000, 12_000), Terms(algorithm.claim, tests=2)
    played = adversary.play_users(instance, games_of(algorithm), sizes, terms)
    assert [check.verdict for check in played.checks] == ["refuted"]
    (worst,) = played.counterexamples
    again = normal.examine(algorithm, pair_of(worst["pair"]).under("joint"), seed=0, delta=1e-3)
    assert normal.epsilon_of_mu(again.fixed, 1e-3) == pytest.approx(float(worst["loss"]))
    if mutant == "half noise":  # by samples, too
        own = AlgorithmSampler(algorithm, "releases", 7)
        check, chosen = adversary.put_to_test(own, games_of(algorithm)[:2], sizes, terms)
        assert check.verdict == "refuted"
        assert check.statistics["adversary"] == chosen.pair.as_dict()


def test_an_audit_of_a_joint_claim_plays_them_and_says_what_they_did():
    by = [rung for rung in rungs.RUNGS if rung.run in (algorithms.align, algorithms.adversaries)]
    report = computed(by=by)
    names = ["alignment", "interactive alignment", "interactive black box"]
    assert [check["name"] for check in report.record["checks"]] == names
    assert report.record["plan"]["interactive"]["population"] == 0
    assert "reacting-users" not in [left["id"] for left in report.record["not_covered"]]
    game = report.record["checks"][2]["statistics"]
    assert game["tests"] == 2
    assert "the adversary" in game["pair"]
    assert isinstance(pair_of(game["adversary"]), ContextGame)
    examine(report.record)
    seen = computed(Promise(model="central"), by=by)
    assert [check["name"] for check in seen.record["checks"]] == names[:1]
    assert "reacting-users" in [left["id"] for left in seen.record["not_covered"]]


def test_model_needs_contexts():
    with pytest.raises(InputError, match="model joint and protects need contexts"):
        vdp.audit("dp-se", model="joint")


def test_simulate_plays_them_on_populations():
    given = {"n_arms": 3, "dimension": 2, "epsilon": 20.0, "horizon": 60, "delta": 0.05, "alpha": 0.1}
    played = vdp.simulate(vdp.make("dp-lin-ucb", **given), family.linear_users(3, 2), runs=4)
    assert played.pulls.sum(axis=1).tolist() == [60] * 4
    assert (played.regret > 0).all()


@pytest.mark.parametrize("name", registry.contextual())
def test_a_re_run_holds_the_claim_of_the_record(name):
    record = json.loads((REPORTS / name / "record.json").read_text("utf-8"))
    algorithm = vdp.make(name, **record["target"]["parameters"])
    request = reruns._request_of(Record.of(record), algorithm, Inputs(), 1, silent)
    claim = subject_of(algorithm, registry.auditor(name), request.promise).claim
    assert plain(claim.as_dict()) == record["claim"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mutants"), [("dp-lin-ucb", 11), ("dp-lin-ucb-wishart", 10), ("lin-ucb-contextual", 0)]
)
def test_a_whole_audit_finds_all_mutants_and_a_re_run_gives_the_same_counts(name, mutants):
    report = vdp.audit(name, horizon=8, budget="smoke")
    assert report.verdict == ("not_refuted" if mutants else "refuted")
    assert all(entry["verdict"] == "refuted" for entry in report.record["mutants"])
    assert len(report.record["mutants"]) == mutants
    again = api.rerun(report.record)
    assert [check["statistics"] for check in again["checks"]] == [
        check["statistics"] for check in report.record["checks"]
    ]
