"""Audits in which an adversary sends each user by what was played: what only it finds, what it cannot play.

A refutation of a right bandit has a chance of at most 1e-6 for each audit here; all are seeded.
"""

import numpy as np
import pytest

from tests.user_code import reacting
from verifiable_dp import api
from verifiable_dp.auditing import bandits, rungs
from verifiable_dp.auditing.plans import silent
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise, Settings
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import ContextGame, pair_of
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox.users import UserSearch
from verifiable_dp.record.verify import examine
from verifiable_dp.render.renderings import render
from verifiable_dp.report import finish
from verifiable_dp.targets.adapters import taken
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.roles import GivenRole

FORM = Contexts(2, (3,))
GAME = "interactive black box"
SENTENCE = "the adversary sends contexts that point away from the arm seen last"
REACTING = [rung for rung in rungs.RUNGS if rung.run is bandits.adversaries]
FIXED = [rung for rung in rungs.RUNGS if rung.run is not bandits.adversaries]
LOOK = [rung for rung in FIXED if rung.run is bandits.first_look]


def of(target, by=REACTING, *, pairs=None, pinned=None, **settings):
    """The draft of an audit by some rungs."""
    request = AuditRequest(
        target,
        f"tests/user_code/reacting.py:{target.__name__}",
        Promise(epsilon=1.0, model="joint"),
        Inputs(2, 24, contexts=(3,), pairs=pairs),
        Settings(**{"budget": "smoke", "runs": 4000, **settings}),
        pinned=pinned,
        progress=silent,
    )
    return rungs.draft(request, by)


def checks(draft):
    return {check["name"]: check for check in draft["checks"]}


def verdicts(draft):
    return {check["result"]["verdict"] for check in draft["checks"]}


@pytest.fixture(scope="module")
def report():
    return finish(draft=of(reacting.Trial), started=0.0, cpu_seconds=0.0)


def test_an_adversary_refutes_what_hides_from_fixed_contexts(report):
    assert report.verdict == "refuted"
    assert list(checks(report.record)) == [GAME]
    assert report.record["epsilon_lower"] > 2
    examine(report.record)


def test_fixed_contexts_do_not_refute_it():
    draft = of(reacting.Trial, LOOK)
    assert list(checks(draft)) == ["black box, look 1"]
    assert verdicts(draft) == {"not_refuted"}
    assert "reacting-users" in [left["id"] for left in draft["not_covered"]]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_whole_audit_refutes_it_by_adversaries_alone(seed):
    """Without them five times the runs do not."""
    assert verdicts(of(reacting.Trial, FIXED, runs=20_000, seed=seed)) == {"not_refuted"}
    refuting = [c["name"] for c in of(reacting.Trial, rungs.RUNGS, seed=seed)["checks"]]
    assert refuting[-1] == GAME


@pytest.mark.parametrize("seed", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, 6))])
def test_the_honest_trial_is_not_refuted(seed):
    draft = of(reacting.HonestTrial, seed=seed, runs=4000 if seed else 1500)
    assert checks(draft)[GAME]["result"]["verdict"] == "not_refuted"
    assert not draft["counterexamples"]


def sampler_of(target):
    return PlaySampler(taken(target, GivenRole(contexts=FORM))[1], False, 2, 24, 0, joint=True)


def test_a_function_that_goes_through_its_arrays_is_played_as_the_class_is():
    games = UserSearch(None, FORM, 24, 10).games()
    assert len(games) == 14
    for game in games:
        table, runs = game.unfolding(1, joint=True), np.arange(6)
        one, two = (sampler_of(each).actions(table, (5,), runs) for each in (reacting.Trial, reacting.trial))
        assert np.array_equal(one, two)


def test_the_record_holds_the_adversary_and_its_counterexample_runs_again(report):
    (found,) = report.record["counterexamples"]
    assert found["pair"] == checks(report.record)[GAME]["statistics"]["adversary"]
    pair = pair_of(found["pair"])
    assert isinstance(pair, ContextGame)
    sampler = sampler_of(reacting.Trial)
    actions = [
        sampler.actions(pair.unfolding(world, joint=True), (5, 0, world), np.arange(60)) for world in (0, 1)
    ]
    # After the protest the raw sums decide: of nothing but zeros arm 0 is the largest.
    late = [each[:, 20:] for each in actions]
    assert (late[0] == 0).all()
    assert (late[1] == 1).any(axis=1).mean() > 0.5


def test_a_record_without_adversaries_is_re_run_by_the_version_that_made_it(report):
    pinned = report.record["plan"]
    with pytest.raises(InputError, match="an earlier version made it"):
        of(reacting.Trial, pinned={**pinned, "sizes": {"runs": 4000, "probes": 10, "followed": 0}})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Trial", "HonestTrial"])
def test_a_re_run_gives_the_same_counts(name):
    whole = api.audit(
        f"tests/user_code/reacting.py:{name}",
        contexts=3,
        model="joint",
        epsilon=1.0,
        n_arms=2,
        horizon=24,
        budget="smoke",
    )
    again = api.rerun(whole.record)
    assert [c["statistics"] for c in again["checks"]] == [c["statistics"] for c in whole.record["checks"]]


@pytest.mark.parametrize("kind", ["html", "markdown", "sarif"])
def test_every_rendering_says_what_the_adversary_did(report, kind, tmp_path):
    report.save(tmp_path)
    assert SENTENCE in render(tmp_path / "record.json", kind).decode()


def test_all_adversaries_are_listed_and_their_sizes_are_in_the_plan(report):
    said = [pair["words"] for pair in report.record["pairs"] if "the adversary" in pair["words"]]
    assert len(said) == len(set(said)) == 14
    assert report.record["plan"]["interactive"]["test"] > 100
    assert checks(report.record)[GAME]["statistics"]["tests"] == 4


@pytest.mark.parametrize(
    ("target", "why"),
    [
        (reacting.clipped_at_once, "it takes the users of all rounds at once"),
        (reacting.all_rewards, "it reads the rewards of several arms in one round"),
        (reacting.unread, "it does not read the reward of each arm that it returns"),
        (reacting.typed, "contexts must be an array"),
        pytest.param(
            reacting.trial_many,
            "play_many takes the users of all rounds, and of all runs, at once",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_no_adversary_can_play_is_said(target, why):
    draft = of(target, runs=400)
    assert not checks(draft)
    (said,) = (left["values"]["why"] for left in draft["not_covered"] if left["id"] == "reacting-users")
    assert why in said


def test_an_adversary_can_be_given_as_a_pair():
    games = [game for game in UserSearch(None, FORM, 24, 10).games() if game.reaction.name == "reverse"]
    draft = of(reacting.Trial, LOOK, pairs=games, runs=1500)
    assert verdicts(draft) == {"refuted"}
    assert "reacting-users" not in [left["id"] for left in draft["not_covered"]]
    with pytest.raises(InputError, match="no adversary can send this code its users one by one"):
        of(reacting.clipped_at_once, LOOK, pairs=games)


@pytest.mark.parametrize("reward_only", [False, True])
@pytest.mark.parametrize("form", [Contexts(2, (3,)), Contexts(3, (3, 2), 2.0)])
def test_adversaries_replace_one_user_by_what_is_protected(form, reward_only):
    games = UserSearch(None, form, 24, 10, reward_only).games()
    assert {game.round for game in games} == {0, 8}
    for game in games:
        left, right = game.worlds()
        assert np.flatnonzero((left != right).any(axis=1)).tolist() == [game.round]
        context = (form.split(left)[0] != form.split(right)[0]).any()
        assert context == (game.round == 8 and not reward_only)
