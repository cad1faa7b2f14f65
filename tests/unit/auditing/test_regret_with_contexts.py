"""Regret of code that is told contexts: simulated, and held against claims."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import verifiable_dp as vdp
from verifiable_dp.cli import main
from verifiable_dp.core.populations import USUAL, FiniteTypes, InHindsight, Linear, Ordered, usual
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.check import Check, in_words
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.record.verify import validate

HERE = usual("linear", 3, (3,))
EASY = Linear([[0.7, 0, 0.7], [-0.7, 0, 0.7]], law="intercept", bounds=(0, 1), name="easy")


class LinUCB:
    """Disjoint ridge regressions; `alpha` is the width of the bounds."""

    def __init__(self, n_arms, d, alpha=0.3):
        self.inverse = np.tile(np.eye(d), (n_arms, 1, 1))
        self.b = np.zeros((n_arms, d))
        self.alpha = alpha

    def select(self, context):
        spread = self.inverse @ context
        means = np.einsum("ij,ij->i", spread, self.b)
        return int(np.argmax(means + self.alpha * np.sqrt(spread @ context)))

    def update(self, context, arm, reward):
        spread = self.inverse[arm] @ context
        self.inverse[arm] -= np.outer(spread, spread) / (1 + context @ spread)
        self.b[arm] += reward * context


def uniform(contexts, rewards, rng):
    return rng.integers(rewards.shape[1], size=len(rewards))


def half_blind(contexts, rewards, rng):
    """Knows the truth, and explores in half of all rounds nevertheless."""
    known = EASY.means(contexts).argmax(axis=1)
    return np.where(rng.random(len(rewards)) < 0.5, uniform(contexts, rewards, rng), known)


def truth(contexts, rewards, rng):
    return HERE.means(contexts).argmax(axis=1)


def truths(contexts, rewards, n_runs, rng):
    return np.tile(truth(contexts, rewards, rng), (n_runs, 1))


def blind(contexts, rewards, rng):
    return np.zeros(len(rewards), np.int64)


def always(rewards, rng):
    return np.ones(len(rewards), np.int64)


def peeking(contexts, rewards, rng):
    return rewards.argmax(axis=1)


def limit(population, horizon, n_arms, alpha):
    """The first argument is the population; the others are filled by name."""
    assert alpha == 0.3
    return population.spread * n_arms * population.shape[-1] * np.sqrt(horizon)


@pytest.mark.parametrize("name", USUAL)
@pytest.mark.parametrize("shape", [(3,), (4, 3)])
def test_usual_populations_have_the_form_asked_for(name, shape):
    population = usual(name, 4, shape)
    users = population.draw(np.random.default_rng(0), 200)
    assert users.contexts.shape == (200, *shape)
    assert population.bounds == (0.0, 1.0)
    assert users.gaps.mean() > 0.03  # there is something to learn


def test_the_best_arms_cost_nothing_and_uniform_play_what_is_expected():
    best, many, bad = (vdp.simulate(rule, HERE, horizon=400, runs=20) for rule in (truth, truths, uniform))
    assert not best.regret.any()
    assert not many.regret.any()
    assert bad.regret.mean() == pytest.approx(HERE.uniform_regret(400), rel=0.1)
    assert best.hindsight.mean() < bad.hindsight.mean()
    assert (np.diff(bad.regrets, axis=1) >= 0).all()
    assert (bad.pulls.sum(axis=1) == 400).all()
    assert bad.times[-1] == 400
    np.testing.assert_array_equal(bad.regrets[:, -1], bad.regret)


def test_a_simulation_follows_from_its_seed():
    once = vdp.simulate(LinUCB, EASY, horizon=50, runs=9, parameters={"alpha": 0.1})
    again = vdp.simulate(LinUCB, EASY, horizon=50, runs=9, parameters={"alpha": 0.1})
    other = vdp.simulate(LinUCB, EASY, horizon=50, runs=9, parameters={"alpha": 0.1}, seed=1)
    np.testing.assert_array_equal(once.regrets, again.regrets)
    assert (once.regret != other.regret).any()


def test_own_code_without_contexts_is_simulated_too():
    found = vdp.simulate(
        lambda rewards, rng: np.ones(len(rewards), int),
        vdp.environments.bernoulli([0.9, 0.5]),
        horizon=30,
        runs=3,
    )
    np.testing.assert_allclose(found.regret, 12.0)
    assert found.hindsight is None


def test_hindsight_is_told_from_the_truth():
    """A constant rule in a world where one arm is best for everybody who came pays its own rewards only."""
    types = FiniteTypes([[0.9, 0.1]], [[1.0]])
    found = vdp.simulate(blind, types, horizon=100, runs=5)
    assert not found.regret.any()
    assert not found.hindsight.any()
    other = FiniteTypes([[0.1, 0.9]], [[1.0]])
    assert vdp.simulate(blind, other, horizon=100, runs=5).hindsight.mean() == pytest.approx(80, abs=12)


SUBLINEAR = {"T": ("sublinear", 0.3)}  # the wider the margin, the fewer runs tell 1 from 1 - .3


def checked(target, **claims):
    given = {"horizon": 512, "runs": 16, **({} if "contexts" in claims else {"environments": EASY}), **claims}
    return vdp.check_regret(target, in_process=True, **given)


def test_a_linucb_is_sublinear():
    report = checked(LinUCB, scaling=SUBLINEAR)
    assert report.regret_verdict == "consistent"
    assert validate(report.record) is None
    check = report.record["regret"]["checks"][0]
    assert check["statistics"]["at_most"] is True
    assert "claimed at most 0.7" in in_words(Check.read(check))


def test_uniform_play_passes_no_sublinear_check():
    """Its regret is that of having learnt nothing, which is said."""
    report = checked(uniform, scaling=SUBLINEAR)
    assert report.regret_verdict == "vacuous"
    assert "it does not learn" in in_words(Check.read(report.record["regret"]["checks"][0]))


def test_constant_exploration_is_contradicted():
    report = checked(half_blind, runs=64, scaling=SUBLINEAR)
    assert report.regret_verdict == "contradicted"
    assert report.record["regret"]["checks"][0]["result"]["slope"] > 0.9


def test_bounds_are_functions_of_the_population():
    assert checked(LinUCB, horizon=200, bound=limit).regret_verdict == "consistent"
    assert checked(uniform, horizon=200, bound=20).regret_verdict == "contradicted"
    report = checked(uniform, horizon=200, bound=200)  # the spread of means is 1
    assert report.regret_verdict == "vacuous"
    assert checked(LinUCB, horizon=200, better_than=uniform, factor=2).regret_verdict == "consistent"
    assert checked(uniform, horizon=200, better_than=LinUCB).regret_verdict == "contradicted"


def test_regret_against_hindsight_is_what_is_asked_for():
    """In a misleading order, too: the best policy knows all rewards, so that the truth has some regret."""
    where = Ordered(FiniteTypes([[0.55, 0.5]] * 4), "misleading", "late")
    claim = {"horizon": 300, "bound": 0.5}
    assert checked(blind, **claim, environments=where).regret_verdict == "consistent"
    found = checked(blind, **claim, environments=InHindsight(where))
    assert found.record["regret"]["checks"][0]["statistics"]["mean"] > 2
    kept = found.record["plan"]["regret"]["instances"][0]
    assert (kept["type"], kept["population"]["type"]) == ("InHindsight", "Ordered")


def test_code_that_looks_at_unearned_rewards_is_named():
    assert "more than a bandit" in checked(peeking, horizon=60, bound=30).record["target"]["note"]
    assert not checked(LinUCB, horizon=60, bound=30).record["target"]["note"]


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"scaling": {"K": 1}}, "scaling: K is given by the population"),
        ({"scaling": {"T": 0.5}, "gap": 0.2}, "scaling: gap is given by the population"),
        ({"bound": 5, "environments": [EASY, HERE]}, "environments must have"),
        ({"bound": 5, "environments": [EASY, [0.5, 0.4]]}, "environments must have contexts of one form"),
        (
            {"bound": 5, "contexts": 2, "n_arms": 2, "environments": EASY},
            "environments must have contexts 2, got 3",
        ),
        ({"bound": 5, "contexts": 3, "environments": "linear"}, "n_arms must be given with contexts"),
        ({"bound": 5, "contexts": 3, "n_arms": 2, "environments": "square"}, "population must be one of"),
        ({"bound": 5, "contexts": 1, "n_arms": 2, "environments": "linear"}, "dimension 2 at least"),
        ({"bound": 5, "environments": ["linear"]}, "need contexts"),
    ],
)
def test_what_does_not_fit_is_refused(claims, words):
    with pytest.raises(InputError, match=words):
        checked(LinUCB, **claims)


def test_an_algorithm_without_contexts_does_not_play_for_them():
    with pytest.raises(InputError, match="does not take contexts"):
        vdp.simulate(vdp.make("ucb1", n_arms=3, horizon=20), HERE)


def test_a_one_sided_rate_is_kept_by_a_smaller_exponent():
    points = [(x, x**0.3 * np.array([0.99, 1.0, 1.01])) for x in 2 ** np.arange(3, 13)]
    common = {"exponent": 0.5, "log_power": 0.0, "margin": 0.05}
    assert scaling("rate", points, **common).verdict == "contradicted"
    assert scaling("rate", points, **common, at_most=True).verdict == "consistent"
    faster = [(x, x**0.7 * np.array([0.99, 1.0, 1.01])) for x in 2 ** np.arange(3, 13)]
    assert scaling("rate", faster, **common, at_most=True).verdict == "contradicted"


CODE = """
import numpy as np

def play(contexts, rewards, rng):
    return rng.integers(rewards.shape[1], size=len(rewards))
"""


def test_the_command_line_takes_contexts(tmp_path, monkeypatch):
    """A check is run, and run again from its record; `simulate` plays the same file."""
    (tmp_path / "uni.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        return CliRunner().invoke(main, words)

    claim = ["--contexts", "3", "--arms", "2", "--horizon", "200", "--runs", "8", "--in-process"]
    found = run("regret", "uni.py:play", *claim, "--bound", "3", "--population", "types", "--json", "r.json")
    assert found.exit_code == 1, found.output
    plan = json.loads((tmp_path / "r.json").read_text())["plan"]["regret"]
    assert plan["instances"][0]["type"] == "FiniteTypes"
    again = run("verify", "r.json", "--rerun")
    assert again.exit_code == 0, again.output
    shown = run(
        "simulate", "uni.py:play", "--contexts", "2x3", "--arms", "2", "--horizon", "50", "--runs", "4"
    )
    assert shown.exit_code == 0, shown.output
    assert "against the best policy in hindsight" in shown.output
    assert run("simulate", "uni.py:play", "--contexts", "3", "--setting", "C1").exit_code == 2
