"""Bounds are held against runs where they are tightest, and rivals play with the target's parameters."""

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.user_code.regrets import Episodes, NeverDoubles, Stays, theorem, without_epsilon
from verifiable_dp import api
from verifiable_dp.auditing import worst_instance_search
from verifiable_dp.auditing.bounds import GivenBound
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.sealing import plain
from verifiable_dp.record.verify import validate
from verifiable_dp.targets.players import Player, Setting

HERE = {"n_arms": 2, "horizon": 1000, "runs": 16, "in_process": True}


def textbook(gaps, horizon):
    return sum(8 * np.log(horizon) / gap + 5 * gap for gap in gaps[gaps > 0])


def usual(report):
    """Verdicts on the instances that were all there used to be."""
    names = ("bound on wide gaps", "bound on near tie", "bound on equal gaps")
    return {c["result"]["verdict"] for c in report.record["regret"]["checks"] if c["name"] in names}


def last(report):
    check = report.record["regret"]["checks"][3]
    return check["statistics"]["instance"], check["result"]["verdict"]


def test_a_bound_without_its_epsilon_is_contradicted_at_a_small_one():
    """Each at level 1e-6, on fixed seeds; the theorem with its 1/epsilon is the negative control."""
    right = api.check_regret(Episodes, **HERE, bound=theorem)
    assert last(right) == ("last arm better by 0.9", "consistent"), right.summary()
    assert right.regret_verdict == "consistent"
    wrong = api.check_regret(Episodes, **HERE, bound=without_epsilon)
    assert "contradicted" not in usual(wrong)
    instance, verdict = last(wrong)
    assert verdict == wrong.regret_verdict == "contradicted", wrong.summary()
    assert instance.startswith("last arm better by 0.9, epsilon 0.0")
    validate(wrong.record)
    assert plain(api.rerun(wrong.record)["regret"]) == plain(wrong.record["regret"])


@pytest.mark.parametrize("target", [Stays, pytest.param(NeverDoubles, marks=pytest.mark.slow)])
def test_a_rule_that_never_resets_is_contradicted(target):
    """One stays on the first arm, which is best on the usual instances; one learns from single rewards."""
    bound = textbook if target is Stays else theorem
    report = api.check_regret(target, **{**HERE, "horizon": 4000}, bound=bound)
    assert "contradicted" not in usual(report)
    assert last(report) == ("last arm better by 0.9", "contradicted"), report.summary()


def test_near_a_bound_more_runs_decide():
    """Regret of 1.1 times the bound: 4 times as many runs are taken where pilots come near it."""
    report = api.check_regret(
        Episodes, **HERE, bound=lambda gaps, horizon: 1e6 if gaps.max() < 0.89 else 90.0
    )
    assert report.record["regret"]["checks"][3]["statistics"]["n"] == 64
    report = api.check_regret(Episodes, **HERE, bound=theorem)
    assert report.record["regret"]["checks"][3]["statistics"]["n"] == 16


def test_given_instances_and_numbers_stay_alone():
    for claim in ({"bound": 900.0}, {"bound": textbook, "environments": [[0.9, 0.1]]}):
        report = api.check_regret(Stays, **HERE, **claim)
        names = [c["name"] for c in report.record["regret"]["checks"]]
        assert names == [name for name in names if "last arm" not in name] != []


@pytest.mark.parametrize(("bound", "said"), [(textbook, True), (500.0, True), (theorem, False)])
def test_a_bound_that_does_not_take_epsilon_is_held_at_one(bound, said):
    report = api.check_regret(Stays, **HERE, bound=bound)
    assert ("the bound does not take epsilon: it was held at epsilon = 1.0 only" in report.summary()) == said


def test_candidates_say_something_and_have_the_best_arm_last():
    player, setting = Player.of(Episodes, {}), Setting(3, 4000, {"epsilon": 0.5})
    found = list(worst_instance_search.points(player, setting, GivenBound.of(theorem), (0.0, 2.0)))
    assert {point.setting.parameters["epsilon"] for point in found} == {0.5, 0.125}
    for point in found:
        assert np.argmax(point.instance.means) == 2
        assert point.limit < 4000 * point.instance.gaps.max() <= 4000 * 1.8
        assert point.moved == (point.setting.parameters["epsilon"] < 0.5)
    assert not list(worst_instance_search.points(player, setting, GivenBound.of(7.0), (0.0, 1.0)))
    held = {
        point.setting.parameters["epsilon"]
        for point in worst_instance_search.points(player, setting, GivenBound.of(textbook), (0.0, 1.0))
    }
    assert held == {0.5}  # it says nothing of other epsilons


def test_code_that_takes_no_smaller_epsilon_is_tested_at_its_own():
    class Bounded(Episodes):
        def __init__(self, n_arms, rng, epsilon=1.0, alpha=3.1):
            if epsilon < 1:
                raise ValueError("epsilon must be at least 1")
            super().__init__(n_arms, rng, epsilon, alpha)

    report = api.check_regret(Bounded, **HERE, bound=without_epsilon)
    assert last(report) == ("last arm better by 0.9", "consistent"), report.summary()


class Eps(Stays):
    """Names its epsilon in another way."""

    def __init__(self, n_arms, eps=0.25, beta=0.05):
        pass


RIVAL = {**HERE, "horizon": 200, "runs": 4, "environments": [[0.4, 0.6]]}


@pytest.mark.parametrize(
    ("target", "rival", "asked", "words"),
    [
        (Eps, "dp-se", {}, "dp-se (beta 0.05, epsilon 0.25, horizon 200, n_arms 2)"),
        (Eps, "dp-se", {"parameters": {"eps": 2.0}}, "dp-se (beta 0.05, epsilon 2, horizon 200, n_arms 2)"),
        (
            Eps,
            "dp-se",
            {"rival_parameters": {"beta": 0.5, "epsilon": 4.0}},
            "dp-se (beta 0.5, epsilon 4, horizon 200, n_arms 2)",
        ),
        (Stays, "dp-se", {}, "dp-se (beta 0.005, epsilon 1, horizon 200, n_arms 2)"),
        (Eps, Episodes, {}, "Episodes (alpha 3.1, epsilon 0.25, horizon 200, n_arms 2)"),
        (Eps, "ucb1", {}, "ucb1 (horizon 200, n_arms 2)"),
    ],
)
def test_the_rival_has_the_parameters_of_the_target_and_says_so(target, rival, asked, words):
    report = api.check_regret(target, **RIVAL, **asked, better_than=rival)
    assert f"{words} has " in report.summary()
    assert plain(api.rerun(report.record)["regret"]) == plain(report.record["regret"])


def test_a_rival_object_keeps_what_it_was_made_with():
    rival = vdp.make("dp-se", n_arms=2, horizon=50, epsilon=3.0, beta=0.2)
    summary = api.check_regret(Eps, **RIVAL, better_than=rival).summary()
    assert "(beta 0.2, epsilon 3, horizon 200, n_arms 2) has " in summary


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"bound": 5, "rival_parameters": {"beta": 0.1}}, "rival_parameters needs better_than"),
        ({"better_than": "dp-se", "rival_parameters": 3}, "rival_parameters must be a mapping"),
        (
            {"better_than": "dp-se", "rival_parameters": {"bate": 1}},
            "dp-se takes no bate; its parameters are",
        ),
        ({"better_than": Episodes, "rival_parameters": {"bate": 1}}, "'bate' must be a parameter of"),
    ],
)
def test_unusable_rivals(asked, message):
    with pytest.raises(InputError, match=message):
        api.check_regret(Eps, **RIVAL, **asked)
