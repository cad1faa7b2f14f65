"""The audit of a bandit of the catalogue that is told contexts: model, rungs, refusals, a rerun."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import verifiable_dp as vdp
from tests.user_code import adaptive
from tests.user_code.regrets import Episodes, NeverDoubles, Stays, theorem, without_epsilon
from verifiable_dp import api
from verifiable_dp.api import reruns
from verifiable_dp.auditing import algorithms, bandits, rungs, worst_instance_search
from verifiable_dp.auditing.bounds import GivenBound
from verifiable_dp.auditing.plans import silent
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise, Settings
from verifiable_dp.auditing.subject import subject_of
from verifiable_dp.auditors.contextual import _shared as family
from verifiable_dp.cli import main
from verifiable_dp.core import reactions
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import ContextGame, TablePair, pair_of
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.populations import USUAL, FiniteTypes, InHindsight, Linear, Ordered, usual
from verifiable_dp.core.units import Protected
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import normal
from verifiable_dp.evidence.alignment.checking import Instance
from verifiable_dp.evidence.alignment.replay import worlds
from verifiable_dp.evidence.blackbox import adversary
from verifiable_dp.evidence.blackbox.adversary import AdversarySizes
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.evidence.blackbox.test import Terms
from verifiable_dp.evidence.blackbox.users import UserSearch
from verifiable_dp.evidence.check import Check, in_words
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import plain
from verifiable_dp.record.verify import examine, validate
from verifiable_dp.registry import entries as registry
from verifiable_dp.render.renderings import render
from verifiable_dp.report import finish
from verifiable_dp.targets.adapters import taken
from verifiable_dp.targets.players import Player, Setting
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.roles import GivenRole

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
        ({"group": 2}, "`group` works only without contexts"),
        ({"protects": "reward"}, "`protects` works only with your own code"),
        ({"contexts": 3}, "`contexts` works only with your own code"),
        ({"pairs": [TablePair(np.zeros((8, 2)), 0, 0, 1.0)]}, "pairs must be ContextPairs"),
        (
            {"pairs": GAMES, "model": "central"},
            "for an algorithm, adversaries that choose contexts require the joint model",
        ),
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


@pytest.mark.parametrize("mutant", ["half noise", "noise only at leaves"])
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
    with pytest.raises(InputError, match="model='joint' and `protects` need contexts"):
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


# Regret of code that is told contexts: simulated, and held against claims.


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
    assert "the algorithm does not learn" in in_words(Check.read(report.record["regret"]["checks"][0]))


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
        ({"scaling": {"K": 1}}, "the population determines K"),
        ({"scaling": {"T": 0.5}, "gap": 0.2}, "the population determines gap"),
        ({"bound": 5, "environments": [EASY, HERE]}, "environments must have"),
        (
            {"bound": 5, "environments": [EASY, [0.5, 0.4]]},
            "environments must all have contexts of the same form",
        ),
        (
            {"bound": 5, "contexts": 2, "n_arms": 2, "environments": EASY},
            "environments must have contexts 2, got 3",
        ),
        ({"bound": 5, "contexts": 3, "environments": "linear"}, "n_arms must be given with contexts"),
        ({"bound": 5, "contexts": 3, "n_arms": 2, "environments": "square"}, "population must be one of"),
        ({"bound": 5, "contexts": 1, "n_arms": 2, "environments": "linear"}, "at least dimension 2"),
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


# Audits in which an adversary sends each user by what was played: what only it finds, what it cannot play.
# A refutation of a right bandit has a chance of at most 1e-6 for each audit here; all are seeded.


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
        f"tests/user_code/adaptive.py:{target.__name__}",
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
    return finish(draft=of(adaptive.Trial), started=0.0, cpu_seconds=0.0)


def test_an_adversary_refutes_what_hides_from_fixed_contexts(report):
    assert report.verdict == "refuted"
    assert list(checks(report.record)) == [GAME]
    assert report.record["epsilon_lower"] > 2
    examine(report.record)


def test_fixed_contexts_do_not_refute_it():
    draft = of(adaptive.Trial, LOOK)
    assert list(checks(draft)) == ["black box, look 1"]
    assert verdicts(draft) == {"not_refuted"}
    assert "reacting-users" in [left["id"] for left in draft["not_covered"]]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_whole_audit_refutes_it_by_adversaries_alone(seed):
    """Without them five times the runs do not."""
    assert verdicts(of(adaptive.Trial, FIXED, runs=20_000, seed=seed)) == {"not_refuted"}
    refuting = [c["name"] for c in of(adaptive.Trial, rungs.RUNGS, seed=seed)["checks"]]
    assert refuting[-1] == GAME


@pytest.mark.parametrize("seed", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, 6))])
def test_the_honest_trial_is_not_refuted(seed):
    draft = of(adaptive.HonestTrial, seed=seed, runs=4000 if seed else 1500)
    assert checks(draft)[GAME]["result"]["verdict"] == "not_refuted"
    assert not draft["counterexamples"]


def sampler_of(target):
    return PlaySampler(taken(target, GivenRole(contexts=FORM))[1], False, 2, 24, 0, joint=True)


def test_a_function_that_goes_through_its_arrays_is_played_as_the_class_is():
    games = UserSearch(None, FORM, 24, 10).games()
    assert len(games) == 14
    for game in games:
        table, runs = game.unfolding(1, joint=True), np.arange(6)
        one, two = (sampler_of(each).actions(table, (5,), runs) for each in (adaptive.Trial, adaptive.trial))
        assert np.array_equal(one, two)


def test_the_record_holds_the_adversary_and_its_counterexample_runs_again(report):
    (found,) = report.record["counterexamples"]
    assert found["pair"] == checks(report.record)[GAME]["statistics"]["adversary"]
    pair = pair_of(found["pair"])
    assert isinstance(pair, ContextGame)
    sampler = sampler_of(adaptive.Trial)
    actions = [
        sampler.actions(pair.unfolding(world, joint=True), (5, 0, world), np.arange(60)) for world in (0, 1)
    ]
    # After the protest the raw sums decide: of nothing but zeros arm 0 is the largest.
    late = [each[:, 20:] for each in actions]
    assert (late[0] == 0).all()
    assert (late[1] == 1).any(axis=1).mean() > 0.5


def test_a_record_without_adversaries_is_re_run_by_the_version_that_made_it(report):
    pinned = report.record["plan"]
    with pytest.raises(InputError, match="an earlier version of verifiable-dp wrote it"):
        of(adaptive.Trial, pinned={**pinned, "sizes": {"runs": 4000, "probes": 10, "followed": 0}})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Trial", "HonestTrial"])
def test_a_re_run_gives_the_same_counts(name):
    whole = api.audit(
        f"tests/user_code/adaptive.py:{name}",
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
        (adaptive.clipped_at_once, "it takes the users of all rounds at once"),
        (adaptive.all_rewards, "it reads the rewards of several arms in one round"),
        (adaptive.unread, "it does not read, round by round, the reward of the arm that it returns"),
        (adaptive.typed, "contexts must be an array"),
        pytest.param(
            adaptive.trial_many,
            "play_many receives the users of all rounds and all runs at once",
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
    draft = of(adaptive.Trial, LOOK, pairs=games, runs=1500)
    assert verdicts(draft) == {"refuted"}
    assert "reacting-users" not in [left["id"] for left in draft["not_covered"]]
    with pytest.raises(InputError, match="an adversary cannot send users to this code one by one"):
        of(adaptive.clipped_at_once, LOOK, pairs=games)


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


# Bounds are held against runs where they are tightest, and rivals play with the target's parameters.


HERE_OF_TIGHTEST = {"n_arms": 2, "horizon": 1000, "runs": 16, "in_process": True}


def textbook(gaps, horizon):
    return sum(8 * np.log(horizon) / gap + 5 * gap for gap in gaps[gaps > 0])


def usual_of_tightest(report):
    """Verdicts on the instances that were all there used to be."""
    names = ("bound on wide gaps", "bound on near tie", "bound on equal gaps")
    return {c["result"]["verdict"] for c in report.record["regret"]["checks"] if c["name"] in names}


def last(report):
    check = report.record["regret"]["checks"][3]
    return check["statistics"]["instance"], check["result"]["verdict"]


def test_a_bound_without_its_epsilon_is_contradicted_at_a_small_one():
    """Each at level 1e-6, on fixed seeds; the theorem with its 1/epsilon is the negative control."""
    right = api.check_regret(Episodes, **HERE_OF_TIGHTEST, bound=theorem)
    assert last(right) == ("last arm better by 0.9", "consistent"), right.summary()
    assert right.regret_verdict == "consistent"
    wrong = api.check_regret(Episodes, **HERE_OF_TIGHTEST, bound=without_epsilon)
    assert "contradicted" not in usual_of_tightest(wrong)
    instance, verdict = last(wrong)
    assert verdict == wrong.regret_verdict == "contradicted", wrong.summary()
    assert instance.startswith("last arm better by 0.9, epsilon 0.0")
    validate(wrong.record)
    assert plain(api.rerun(wrong.record)["regret"]) == plain(wrong.record["regret"])


@pytest.mark.parametrize("target", [Stays, pytest.param(NeverDoubles, marks=pytest.mark.slow)])
def test_a_rule_that_never_resets_is_contradicted(target):
    """One stays on the first arm, which is best on the usual instances; one learns from single rewards."""
    bound = textbook if target is Stays else theorem
    report = api.check_regret(target, **{**HERE_OF_TIGHTEST, "horizon": 4000}, bound=bound)
    assert "contradicted" not in usual_of_tightest(report)
    assert last(report) == ("last arm better by 0.9", "contradicted"), report.summary()


def test_near_a_bound_more_runs_decide():
    """Regret of 1.1 times the bound: 4 times as many runs are taken where pilots come near it."""
    report = api.check_regret(
        Episodes, **HERE_OF_TIGHTEST, bound=lambda gaps, horizon: 1e6 if gaps.max() < 0.89 else 90.0
    )
    assert report.record["regret"]["checks"][3]["statistics"]["n"] == 64
    report = api.check_regret(Episodes, **HERE_OF_TIGHTEST, bound=theorem)
    assert report.record["regret"]["checks"][3]["statistics"]["n"] == 16


def test_given_instances_and_numbers_stay_alone():
    for claim in ({"bound": 900.0}, {"bound": textbook, "environments": [[0.9, 0.1]]}):
        report = api.check_regret(Stays, **HERE_OF_TIGHTEST, **claim)
        names = [c["name"] for c in report.record["regret"]["checks"]]
        assert names == [name for name in names if "last arm" not in name] != []


@pytest.mark.parametrize(("bound", "said"), [(textbook, True), (500.0, True), (theorem, False)])
def test_a_bound_that_does_not_take_epsilon_is_held_at_one(bound, said):
    report = api.check_regret(Stays, **HERE_OF_TIGHTEST, bound=bound)
    assert (
        "the bound has no parameter epsilon, so we tested it only at epsilon = 1.0" in report.summary()
    ) == said


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

    report = api.check_regret(Bounded, **HERE_OF_TIGHTEST, bound=without_epsilon)
    assert last(report) == ("last arm better by 0.9", "consistent"), report.summary()


class Eps(Stays):
    """Names its epsilon in another way."""

    def __init__(self, n_arms, eps=0.25, beta=0.05):
        pass


RIVAL = {**HERE_OF_TIGHTEST, "horizon": 200, "runs": 4, "environments": [[0.4, 0.6]]}


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
        ({"bound": 5, "rival_parameters": {"beta": 0.1}}, "`rival_parameters` needs `better_than`"),
        ({"better_than": "dp-se", "rival_parameters": 3}, "rival_parameters must be a mapping"),
        (
            {"better_than": "dp-se", "rival_parameters": {"bate": 1}},
            "dp-se has no parameter bate; accepted: n_arms",
        ),
        ({"better_than": Episodes, "rival_parameters": {"bate": 1}}, "has no parameter 'bate'"),
    ],
)
def test_unusable_rivals(asked, message):
    with pytest.raises(InputError, match=message):
        api.check_regret(Eps, **RIVAL, **asked)
