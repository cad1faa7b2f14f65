"""What auditors are declared with: operators that make mutants, and checks of claims as data."""

from dataclasses import replace

import numpy as np
import pytest

from tests.trials import on_trial
from verifiable_dp import make
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.se import SE
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Table, bernoulli
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.tapes import Recorder
from verifiable_dp.core.validate import InputError
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry import mutants, theorems
from verifiable_dp.registry.auditor import Mutant
from verifiable_dp.registry.wrapped import with_parameters

PAIR = bernoulli([0.9, 0.1], "a pair")
RUN = np.arange(8)


def elimination(**changes):
    return DPSE(**{"n_arms": 2, "epsilon": 1.0, "horizon": 8000, "beta": 0.9, **changes})


def released(algorithm, table, seed=0):
    return play(algorithm, Table(table), Seeded(seed), RUN).released


def scales(algorithm, table):
    recorder = Recorder(Seeded(0))
    play(algorithm, Table(table), recorder, RUN)
    return recorder.tape().releases.columns["scale"]


# ---------------------------------------------------------------- operators


def test_a_mutant_that_refers_to_its_check_breaks_regret():
    assert Mutant("a", "b", mutants.gap_times(8)).breaks == "privacy"
    assert Mutant("a", "b", mutants.gap_times(8), caught_by=theorems.MeanBound([PAIR])).breaks == "regret"
    with pytest.raises(InputError, match="breaks"):
        Mutant("a", "b", mutants.gap_times(8), "luck")


def test_the_check_that_catches_a_mutant_is_one_of_a_claim():
    """The object itself: one that is equal would be another check as soon as either changes."""
    auditor = registry.auditor("dp-se")
    known = auditor.claims[0].checks[0]
    mutant = Mutant("mild", "b", mutants.gap_times(8), caught_by=known)
    assert replace(auditor, mutants=[mutant]).mutants == [mutant]
    with pytest.raises(InputError, match=r"caught_by of 'mild' must be an object .*, got another Pulls$"):
        replace(auditor, mutants=[replace(mutant, caught_by=replace(known))])


def test_one_check_of_an_auditor_can_be_made_alone():
    auditor, rule = registry.auditor("dp-se"), elimination(n_arms=5)
    pulls = auditor.claims[0].checks[0]
    (check,) = auditor.regret(rule, "mutant", 0, 1, pulls)
    assert check.name == "lemma-4.2 pulls on large gaps"


@pytest.mark.parametrize("kind", [DPSE, SE])
def test_the_gap_that_removes_an_arm_is_multiplied(kind):
    shared = {"epsilon": 1.0} if kind is DPSE else {}
    rule = kind(n_arms=2, horizon=100_000, beta=0.5, **shared)
    state = rule.start(RUN)
    broken = mutants.gap_times(8)(rule)
    assert broken.plan(state)[1] == pytest.approx(8 * rule.plan(state)[1])
    assert np.array_equal(broken.plan(state)[0], rule.plan(state)[0])
    assert not hasattr(broken, "kernel")
    assert broken.parameters == rule.parameters
    # The fault stays where parameters change.
    later = with_parameters(broken, n_arms=3)
    state = later.start(RUN)
    assert later.plan(state)[1] == pytest.approx(8 * with_parameters(rule, n_arms=3).plan(state)[1])


def test_epochs_that_are_longer_keep_the_gap():
    rule = elimination()
    state = rule.start(RUN)
    pulls, gap = mutants.epochs_times(lambda rule: 1.5)(rule).plan(state)
    assert np.array_equal(pulls, np.ceil(1.5 * rule.plan(state)[0]))
    assert np.array_equal(gap, rule.plan(state)[1])


def test_an_inverted_elimination_keeps_the_worse_arm():
    rule = elimination(epsilon=10.0)
    table = np.tile([1.0, 0.0], (8000, 1))
    assert play(rule, Table(table), Seeded(0), RUN).final.active.tolist() == [[True, False]] * 8
    broken = mutants.INVERTED(rule)
    assert play(broken, Table(table), Seeded(0), RUN).final.active.tolist() == [[False, True]] * 8


def test_properties_methods_and_tables_can_be_changed():
    ucb = make("dp-ucb", n_arms=2, epsilon=1.0, horizon=100)
    assert mutants.result("width", lambda rule, width: width + rule.horizon)(ucb).width == ucb.width + 100
    assert hasattr(mutants.result("width", lambda rule, width: width, compiled=True)(ucb), "kernel")
    assert not hasattr(mutants.result("width", lambda rule, width: width)(ucb), "kernel")
    rule = elimination()
    doubled = mutants.result("schedule", lambda rule, tables: (2 * tables[0], tables[1]))(rule)
    assert np.array_equal(doubled.schedule[0], 2 * rule.schedule[0])
    taken = mutants.borrowed(lambda rule: elimination(epsilon=rule.epsilon / 4), "schedule", "mechanism")(
        rule
    )
    assert taken.mechanism(1, 1).epsilon == 0.25
    assert np.array_equal(taken.schedule[1], elimination(epsilon=0.25).schedule[1])


def test_one_operator_makes_one_class():
    """Mutants of one algorithm are equal, as the algorithm is, and no mutant equals it."""
    change = mutants.gap_times(2)
    assert change(elimination()) == change(elimination())
    assert change(elimination()) != elimination()


def test_noise_follows_the_block():
    rule, table = elimination(), np.full((8000, 2), 0.5)
    right = scales(rule, table)
    by_epoch = mutants.noise_by(lambda rule, state, query: 1.0 * state.epoch[:, None])(rule)
    assert len(right) == 32  # two epochs
    assert sorted(set(scales(by_epoch, table) / right)) == [1.0, 2.0]
    pulls = rule.schedule[0][[1, 2], 2]
    assert sorted(set(scales(mutants.MEAN_NOISE(rule), table) / right)) == sorted(1 / pulls)
    assert np.array_equal(scales(mutants.noise_times(lambda rule: rule.epsilon / 2)(rule), table), right / 2)


def test_what_is_not_forgotten_comes_again():
    """Arm 0 pays in the first epoch alone: its mean over both, in units of the second epoch's sum."""
    rule = elimination()
    first, second = (int(pulls) for pulls in rule.schedule[0][[1, 2], 2])
    table = np.zeros((8000, 2))
    table[: 2 * first, 0] = 1.0
    exact = mutants.chained(mutants.Unforgetting, mutants.noise_times(0.0))
    keep = mutants.gap_times(1e9)
    values = released(exact(keep(rule)), table)[0, :4]
    assert values.tolist() == pytest.approx([first, 0, first * second / (first + second), 0])
    assert released(mutants.noise_times(0.0)(keep(rule)), table)[0, :4].tolist() == [first, 0, 0, 0]


# ---------------------------------------------------------------- checks as data


def test_a_bound_is_given_the_gaps_and_the_rule_at_the_horizon_asked_for():
    gaps = np.array([0.0, 0.5])

    def bound(gaps, rule):
        return gaps.max(), rule.n_arms, rule.epsilon, rule.horizon, rule.beta

    assert theorems.bound_of(bound, elimination(beta=None), gaps)(1000) == (0.5, 2, 1.0, 1000, 1e-3)
    own = elimination(beta=0.25)
    assert theorems.bound_of(bound, own, gaps)(8000)[-1] == 0.25  # at its horizon it is as it is
    assert theorems.bound_of(bound, own, gaps)(1)[-2:] == (2, 0.5)  # the shortest that there is


def test_a_check_of_the_correct_algorithm_is_not_made_of_mutants():
    rule, made = elimination(), []

    def check(trial):
        made.append(trial.budget)
        return []

    for budget in ("mutant", "quick"):
        list(theorems.CorrectOnly(check)(on_trial("dp-se", "theorem-4.3", rule, budget)))
    assert made == ["quick"]


def test_a_mutant_is_held_against_the_bound_of_the_correct_algorithm():
    """Its own schedule would excuse it."""
    rule = make("dp-robust-se", n_arms=2, epsilon=1.0, horizon=10**6, v=1.0, u=1.0)
    broken = mutants.result("pulls", lambda rule, pulls, *at: 100 * pulls)(rule)
    trials = [on_trial("dp-robust-se", "theorem-4", played) for played in (rule, broken)]
    assert type(trials[1].rule) is type(rule)
    bounds = [trial.bound(PAIR.gaps)(10**6) for trial in trials]
    assert bounds[0] == bounds[1]


def test_mean_regret_is_judged_by_the_claim():
    rule = elimination(horizon=10**6, beta=None)
    trial = on_trial("dp-se", "theorem-4.3", rule, "quick")
    (check,) = theorems.MeanBound([PAIR], {"epsilon": 2.0}, 5)(trial)
    played = elimination(horizon=10**6, beta=None, epsilon=2.0)
    assert check.statistics["n"] == 5
    assert check.statistics["bound"] == pytest.approx(trial.claim.bound(PAIR.gaps, played))
    assert check.statistics["mean"] == trial.simulate(played, PAIR, 5).regret.mean()
    assert check.name == "theorem-4.3 on a pair"


def test_pulls_and_survival_see_what_happened():
    short = {"n_arms": 2, "horizon": 100_000, "beta": 0.1}
    for make_it, verdict in ((lambda rule: rule, "consistent"), (mutants.INVERTED, "contradicted")):
        trial = on_trial("dp-se", "lemma-4.2", make_it(elimination()))
        checks = [*theorems.Pulls(PAIR, short)(trial), *theorems.Survival(PAIR, short)(trial)]
        assert [check.verdict for check in checks] == [verdict] * 2
