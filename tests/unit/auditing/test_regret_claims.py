"""Claims about the regret of anyone's algorithm: forms, bounds, rates, and what is refused."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import verifiable_dp as vdp
from verifiable_dp import api
from verifiable_dp.auditing import pilot_runs, rates
from verifiable_dp.auditing.bounds import GivenBound
from verifiable_dp.core.environments import Huber, Pareto, bernoulli
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.check import Check, in_words
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import plain
from verifiable_dp.record.verify import validate
from verifiable_dp.render import regrets, svg
from verifiable_dp.targets import players
from verifiable_dp.targets.players import Player, PlayerPart, Setting

HERE = {"n_arms": 3, "horizon": 60, "runs": 8}


class Uniform:
    """Learns nothing; `lead` rounds go to the first arm."""

    def __init__(self, n_arms, rng, lead=0):
        self.n_arms, self.rng, self.lead, self.t = n_arms, rng, lead, 0

    def select(self):
        self.t += 1
        return 0 if self.t <= self.lead else int(self.rng.integers(self.n_arms))

    def update(self, arm, reward):
        pass


def play(rewards, rng, lead=0):
    arms = rng.integers(rewards.shape[1], size=len(rewards))
    arms[:lead] = 0
    return arms


def play_many(rewards, n_runs, rng):
    return rng.integers(rewards.shape[1], size=(n_runs, len(rewards)))


def make(n_arms, horizon, lead=0):
    return lambda rewards, rng: play(rewards, rng, lead)


def make_bandit(n_arms, rng, lead=0):
    return Uniform(n_arms, rng, lead)


def make_algorithm(n_arms, horizon):
    return vdp.make("ucb1", n_arms=n_arms, horizon=horizon)


def peeking(rewards, rng):
    return rewards.argmax(axis=1)


def stateful():
    calls = []

    def play(rewards, rng):
        calls.append(1)
        return np.full(len(rewards), len(calls) % 2)

    return play


def two_thirds(rewards, rng):
    """Explores T^(2/3) rounds, then plays the arm with the larger mean."""
    horizon, arms = rewards.shape
    first = arms * int(horizon ** (2 / 3) / arms)
    order = np.arange(first) % arms
    sums = np.bincount(order, rewards[np.arange(first), order], arms)
    return np.r_[order, np.full(horizon - first, sums.argmax())]


@pytest.mark.parametrize(
    ("target", "form"),
    [
        (Uniform, "bandit"),
        (play, "play"),
        (play_many, "play_many"),
        (make, "maker"),
        (make_bandit, "maker"),
        (make_algorithm, "maker"),
        (type(vdp.make("ucb1", n_arms=2, horizon=10)), "algorithm"),
    ],
)
def test_every_form_has_regret(target, form):
    player = Player.of(target, {})
    assert player.form == form
    part = PlayerPart(player, Setting(3, 60), bernoulli([0.9, 0.5, 0.1]), 0, 0, 6)
    regret = players.regret(part)
    assert regret.shape == (6,)
    assert ((regret >= 0) & (regret <= 60 * 0.8 + 1e-9)).all()
    np.testing.assert_array_equal(regret, players.regret(part))
    if form != "algorithm":
        assert len(np.unique(regret)) > 1


def test_runs_do_not_depend_on_how_they_are_split():
    player, setting = Player.of(Uniform, {}), Setting(3, 60)
    environment = bernoulli([0.9, 0.5, 0.1])
    whole = players.regret(PlayerPart(player, setting, environment, 7, 0, 8))
    parts = [players.regret(PlayerPart(player, setting, environment, 7, i, i + 2)) for i in (0, 2, 4, 6)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


@pytest.mark.parametrize("target", [Uniform, play, make, make_bandit])
def test_parameters_are_passed(target):
    """All rounds on the first arm, which is best: no regret."""
    report = api.check_regret(
        target, **HERE, parameters={"lead": 60}, bound=0.5, environments=[[0.9, 0.1, 0.1]]
    )
    assert report.record["regret"]["checks"][0]["statistics"]["mean"] == 0.0
    assert report.regret_verdict == "consistent"


def test_heavy_tails_and_contamination():
    inlier = Pareto((2.0, 1.0, 1.0), 2.5, "pareto")
    environments = [inlier, Huber(inlier, 0.1, "point", 9.0)]
    report = api.check_regret(play, **HERE, bound=59.0, environments=environments)
    again = api.rerun(report.record)
    assert again["regret"]["checks"] == report.record["regret"]["checks"]


def test_workers_change_nothing():
    claims = {**HERE, "horizon": 128, "scaling": {"T": (1.0, 0.5)}, "values": {"T": [16, 32, 64, 128]}}
    one, two = (api.check_regret(two_thirds, **claims, bound=5, workers=n).record for n in (1, 2))
    assert one["regret"] == two["regret"]


def test_the_rate_of_a_known_algorithm():
    """Explore-then-commit has T^(2/3) on the worst instance; T^(1/2) and T are its negative controls.

    Equivalence at 99 % and contradiction at 1e-6, on a fixed seed.
    """
    claims = {"n_arms": 2, "horizon": 20_000, "runs": 64}
    right = api.check_regret(two_thirds, **claims, scaling={"T": (2 / 3, 0.1)})
    assert right.regret_verdict == "consistent", right.summary()
    wrong = api.check_regret(two_thirds, **claims, scaling={"T": (0.4, 0.1)})
    assert wrong.regret_verdict == "contradicted", wrong.summary()


@pytest.mark.parametrize("power", [0.6, 2 / 3])
def test_faster_rates_are_told_from_sqrt_or_the_horizon_is_named(power):
    """Within a CPU second each; at the horizon that is named, a narrow claim tells them apart."""

    def explores(exponent):
        def play(rewards, rng):
            horizon, arms = rewards.shape
            first = arms * int(horizon**exponent / arms)
            rest = np.full(horizon - first, rewards.mean(axis=0).argmax())
            return np.r_[np.arange(first) % arms, rest]

        return play

    about = {"n_arms": 2, "runs": 32}
    wide = api.check_regret(explores(power), **about, horizon=5000, scaling={"T": "sqrt"})
    assert wide.regret_verdict == ("consistent" if power == 0.6 else "inconclusive")
    named = re.findall(r"from T = (\S+) on", wide.summary())
    horizon = int(float(named[-1]))
    assert 5000 <= horizon <= 50_000
    for exponent, verdict in ((power, "contradicted"), (0.5, "consistent")):
        narrow = api.check_regret(explores(exponent), **about, horizon=horizon, scaling={"T": (0.5, 0.05)})
        assert narrow.regret_verdict == verdict


def wasteful(rewards, rng):
    """Plays the better arm, but one round in three at random: it knows, and its regret is linear."""
    arms = np.full(len(rewards), rewards.sum(axis=0).argmax())
    arms[::3] = rng.integers(rewards.shape[1], size=len(arms[::3]))
    return arms


def decaying(rewards, rng):
    """Explores as a textbook UCB does, 4 / gap^2 times the logarithm; the means are those of the table."""
    means, (horizon, arms) = rewards.mean(axis=0), rewards.shape
    gap = max(0.2, np.ptp(means))
    explores = rng.random(horizon) < 4 / gap**2 / np.arange(1, horizon + 1)
    return np.where(explores, rng.integers(arms, size=horizon), means.argmax())


class Textbook:
    """Upper confidence bounds with the radius sqrt(2 log t / pulls)."""

    def __init__(self, n_arms):
        self.pulls, self.sums, self.t = np.zeros(n_arms), np.zeros(n_arms), 0

    def select(self):
        if self.t < len(self.pulls):
            return self.t
        return int(np.argmax(self.sums / self.pulls + np.sqrt(2 * np.log(self.t) / self.pulls)))

    def update(self, arm, reward):
        self.pulls[arm] += 1
        self.sums[arm] += reward
        self.t += 1


@pytest.mark.parametrize("horizon", [2000, 20_000])
@pytest.mark.parametrize(
    ("rate", "verdict"), [("log", "consistent"), ("sqrt", "consistent"), ("linear", "contradicted")]
)
def test_rates_of_ucb1_are_decided(horizon, rate, verdict):
    """UCB1 has log T at a fixed gap and about sqrt(T) on the worst instance; T is its negative control."""
    report = api.check_regret("ucb1", n_arms=2, horizon=horizon, scaling={"T": rate})
    assert report.regret_verdict == verdict, report.summary()


@pytest.mark.slow
@pytest.mark.parametrize("horizon", [2000, None])
def test_a_textbook_rule_has_logarithmic_regret(horizon):
    report = api.check_regret(Textbook, n_arms=3, horizon=horizon, scaling={"T": "log"})
    assert report.regret_verdict == "consistent", report.summary()
    report = api.check_regret(Textbook, n_arms=3, horizon=horizon, scaling={"T": "linear"})
    assert report.regret_verdict == "contradicted", report.summary()


ONLY_T = {"bound": None, "better_than": None, "horizon": None, "scaling": {"T": 0.5}}


@pytest.mark.parametrize(
    ("given", "n_arms", "horizon"),
    [
        ({}, 2, pilot_runs.FIRST),
        ({}, 8, pilot_runs.FIRST),  # 8 rounds an arm at a 32nd of the horizon
        ({}, 9, 2304),
        ({"horizon": 7}, 9, 7),
        ({}, None, None),
        ({"bound": 5}, 9, None),
        ({"better_than": "ucb1"}, 9, None),
        ({"scaling": 0.5}, 9, None),
        ({"scaling": {"K": 0.5}}, 9, None),
        ({"scaling": {"T": 0.5, "K": 0.5}}, 9, None),
    ],
)
def test_a_horizon_is_chosen_where_only_a_rate_over_it_is_claimed(given, n_arms, horizon):
    assert pilot_runs.chosen_horizon(SimpleNamespace(**{**ONLY_T, **given}), n_arms) == horizon


def test_pilots_choose_what_was_not_given():
    """At the usual gap, T and runs its rate is not decided; the record holds the choice and runs again."""
    claims = {"n_arms": 2, "scaling": {"T": "log"}}
    usual = {"gap": 0.25, "runs": 64, "values": {"T": rates.horizons(4000, 16)}}
    given = api.check_regret(decaying, **claims, horizon=4000, **usual)
    assert given.regret_verdict == "inconclusive", given.summary()
    report = api.check_regret(decaying, **claims)
    assert report.regret_verdict == "consistent", report.summary()
    plan = report.record["plan"]["regret"]
    assert plan["gap"] > 0.25
    assert (
        report.record["target"]["parameters"]["horizon"] == plan["rates"][0]["values"][-1] >= pilot_runs.FIRST
    )
    assert plain(api.rerun(report.record)["regret"]) == plain(report.record["regret"])
    kept = api.check_regret(decaying, **claims, horizon=2000, gap=0.3, runs=16).record["plan"]["regret"]
    assert (kept["gap"], kept["runs"], kept["rates"][0]["values"][-1]) == (0.3, 16, 2000)


def test_linear_regret_fails_as_logarithmic_and_passes_as_linear():
    claims = {"n_arms": 3, "horizon": 1000}
    wrong = api.check_regret(wasteful, **claims, scaling={"T": "log"})
    assert wrong.regret_verdict == "contradicted", wrong.summary()
    assert wrong.record["regret"]["checks"][0]["result"]["slope"] > 0.7
    right = api.check_regret(wasteful, **claims, scaling={"T": "linear"})
    assert right.regret_verdict == "consistent", right.summary()


def test_linear_regret_is_no_root():
    claims = {"n_arms": 3, "horizon": 1000, "runs": 32, "gap": 0.5}
    report = api.check_regret(wasteful, **claims, scaling={"T": 0.5})
    assert report.regret_verdict == "contradicted", report.summary()


def test_what_has_not_begun_to_act_is_not_accused():
    """Elimination plays all arms alike at first: its regret looks linear then, whatever its theorem says."""
    report = api.check_regret(play, n_arms=3, horizon=1000, runs=32, scaling={"T": 0.5})
    assert report.regret_verdict == "vacuous"
    (check,) = report.record["regret"]["checks"]
    assert check["statistics"]["gaps"] == [0.5] * 10
    assert "the algorithm does not learn, or the horizon is too short" in in_words(Check.read(check))
    assert (
        api.check_regret(play, n_arms=3, horizon=1000, runs=32, scaling={"T": 1.0}).regret_verdict
        == "consistent"
    )


def test_rates_over_gap_and_arms_of_uniform_play():
    """Its regret is T gap (K - 1) / K."""
    report = api.check_regret(
        play,
        n_arms=2,
        horizon=400,
        runs=32,
        scaling={"gap": 1, "K": 0},
        values={"gap": [0.1, 0.2, 0.3, 0.4, 0.5], "K": [20, 30, 40, 60, 80, 100]},
    )
    assert report.regret_verdict == "consistent", report.summary()


def test_rate_over_a_parameter_of_a_catalogue_algorithm():
    """DP-SE's regret goes like 1 / epsilon where epsilon is small; growth with epsilon is contradicted."""
    claims = {"n_arms": 2, "horizon": 10_000_000, "parameters": {"epsilon": 0.1}, "gap": 0.5, "runs": 32}
    report = api.check_regret("dp-se", **claims, scaling={"epsilon": (-1, 0.4)})
    assert report.regret_verdict == "consistent", report.summary()
    report = api.check_regret("dp-se", **claims, scaling={"epsilon": (1, 0.4)})
    assert report.regret_verdict == "contradicted", report.summary()


def test_vacuous_with_the_least_horizon():
    report = api.check_regret(play, **HERE, bound=30.0, environments=[[0.6, 0.5, 0.5]])
    assert report.regret_verdict == "vacuous"
    statistics = report.record["regret"]["checks"][0]["statistics"]
    assert statistics["least_horizon"] == 301
    assert statistics["largest"] == pytest.approx(6.0)
    assert "the claim can fail only from T = 301 on" in report.summary()


def test_a_bound_for_each_run():
    """Uniform play on (.9, .1) has regret .8 Binomial(60, 1/2): above 24 with probability .449."""
    claims = {"n_arms": 2, "horizon": 60, "runs": 400, "environments": [[0.9, 0.1]], "bound": 24.0}
    assert api.check_regret(play, **claims, beta=0.55).regret_verdict == "consistent"
    assert api.check_regret(play, **claims, beta=0.15).regret_verdict == "contradicted"


def test_comparison():
    claims = {**HERE, "runs": 32, "environments": [[0.9, 0.1, 0.1]], "parameters": {"lead": 40}}
    report = api.check_regret(Uniform, **claims, better_than=play_many, factor=2)
    assert report.regret_verdict == "consistent", report.summary()
    assert (
        api.check_regret(Uniform, **claims, better_than=play_many, factor=9).regret_verdict == "contradicted"
    )
    # The rival has the parameters that it takes, too.
    report = api.check_regret(Uniform, **claims, better_than=play)
    assert report.record["plan"]["regret"]["rival"]["parameters"]["lead"] == 40


def test_parameters_of_a_bound():
    def bound(gaps, horizon, n_arms, lead, slack=1.0):
        return len(gaps) + horizon + 1000 * n_arms + 10_000 * lead + slack

    setting = Setting(3, 60, {"lead": 2})
    assert GivenBound.of(bound).at(bernoulli([0.9, 0.5, 0.1]), Player.of(Uniform, {}), setting) == 23064.0


def test_peeking_and_state_are_noted():
    assert "more than a bandit" in api.check_regret(peeking, **HERE, bound=5).record["target"]["note"]
    assert "not repeatable" in api.check_regret(stateful(), **HERE, bound=5).record["target"]["note"]
    assert api.check_regret(play, **HERE, bound=5).record["target"]["note"] == ""


def test_the_record_fits_the_schema_and_runs_again():
    report = api.check_regret(
        vdp.make("se", n_arms=3, horizon=2000),
        bound=100.0,
        scaling={"T": 0.5, "K": ("log", 0.4)},
        gap=0.5,
        values={"T": [500, 1000, 1500, 2000]},
        runs=8,
        better_than=play,
    )
    validate(report.record)
    assert report.record["target"]["kind"] == "algorithm"
    again = api.rerun(report.record)
    assert plain(again["regret"]) == plain(report.record["regret"])
    text = svg.alone(regrets.svg(Record.of(report.record)), white=True)
    assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert text == svg.alone(regrets.svg(Record.of(again)), white=True)


def test_a_bound_that_is_0_on_an_instance_is_recorded():
    """Where no arm is worse there is no regret, and a right bound says so."""
    equal = {**HERE, "environments": [[0.5] * HERE["n_arms"]], "runs": 4}
    report = api.check_regret(play, **equal, bound=lambda gaps, horizon: float(gaps.sum()))
    assert report.regret_verdict == "vacuous"
    validate(report.record)


def test_what_cannot_be_run_again_says_so():
    class Mine:
        n_arms, bounds, name = 3, (0.0, 1.0), "mine"
        gaps = np.array([0.0, 0.1, 0.2])

    with pytest.raises(InputError, match="environments must have rewards that are drawn one by one"):
        api.check_regret(play, **HERE, bound=5, environments=Mine())
    report = api.check_regret(play, **HERE, bound=lambda gaps, horizon: 5.0)
    with pytest.raises(InputError, match="cannot be rerun"):
        api.rerun(report.record)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bound": "lots"}, "bound must be a number greater than 0"),
        ({"bound": 0}, "bound must be a number greater than 0"),
        ({"bound": "0"}, "bound must be a number greater than 0"),
        ({"bound": -1}, "bound must be a number greater than 0"),
        ({"bound": True}, "bound must be a number greater than 0"),
        ({"bound": lambda gaps: 1.0}, "first two parameters are gaps and horizon"),
        ({"bound": lambda gaps, horizon, c: 1.0}, "bound: parameter c of"),
        ({"bound": lambda gaps, horizon: np.nan}, "must return a finite number"),
        ({"bound": lambda gaps, horizon: 1 / 0}, "bound: .* raised ZeroDivisionError"),
        ({"scaling": {}}, "scaling must be a mapping"),
        ({"scaling": {"T": "fast"}}, "scaling: T must be an exponent"),
        ({"scaling": {"T": (0.5, -1)}}, "margin of T must be finite and greater than 0"),
        ({"scaling": {"T": np.inf}}, r"in \[-10, 10\]"),
        ({"scaling": {"delta": 1}}, "scaling: its keys must be among T, K, gap, lead, got 'delta'"),
        ({"scaling": {"lead": "log"}}, '"log" works only with T and K'),
        ({"scaling": {"lead": 1}}, "values: lead must be given"),
        ({"scaling": {"T": 0.5}}, "horizon must be at least 768 for scaling over T with 3 arms"),
        ({"scaling": {"gap": -1}}, "horizon must be at least"),
        ({"scaling": {"gap": -1}, "gap": 0.1}, "`gap` must be left out"),
        ({"scaling": {"T": 0.5}, "values": {"T": [10, 20, 30]}}, "at least 4 different"),
        ({"scaling": {"T": 0.5}, "values": {"K": [10]}}, "values: its keys must be among those of scaling"),
        ({"scaling": {"T": 0.5}, "gap": 2}, r"gap must lie in \(0, 1\]"),
        ({"scaling": {"K": 1}, "values": {"K": [8, 16, 32, 64]}}, "values: K must be at most horizon = 60"),
        ({"bound": 1, "gap": 0.1}, "`gap` needs `scaling`"),
        ({"bound": 1, "beta": 1.5}, "beta must lie in the open interval"),
        ({"better_than": play, "beta": 0.5}, "`beta` needs `bound`"),
        ({"better_than": play, "factor": 0}, "factor must be finite and greater than 0"),
        ({"bound": 1, "runs": 1}, "runs must be an integer of at least 2"),
        ({"bound": 1, "environments": [[0.5, 0.4]]}, "environments must have 3 arms"),
        ({"bound": 1, "environments": 3}, "environments must be one or more environments"),
        ({"bound": 1, "parameters": {"widht": 1}}, "parameters: .* has no parameter 'widht'; accepted: lead"),
        ({"bound": 1, "parameters": {"lead": [1]}}, "parameters: lead must be a number"),
        ({"bound": 1, "horizon": None}, "horizon must be given"),
        ({"bound": 1, "horizon": 1 << 40}, "horizon must be at most"),
        ({"bound": 1, "budget": "5"}, "budget must be one of"),
        ({}, "bound, scaling or better_than must be given"),
    ],
)
def test_unusable_arguments(change, message):
    with pytest.raises(InputError, match=message) as raised:
        api.check_regret(Uniform, **{**HERE, **change})
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (lambda data, size, rng: data, "target must choose arms"),
        (Uniform(3, None), "got an object of Uniform|target must be"),
        (vdp.Exec("cat"), "target must be Python code"),
        (lambda rewards, rng: rewards / 0, "play raised"),
        (lambda n_arms: 3, "must return an Algorithm, a bandit or a play function, got int"),
    ],
)
def test_unusable_targets(target, message):
    with pytest.raises(InputError, match=message), np.errstate(all="raise"):
        api.check_regret(target, **HERE, bound=1)


def test_catalogue_theorems_take_no_claims():
    with pytest.raises(InputError, match="runs needs a claim of your own"):
        api.check_regret("nas", runs=5)


def test_gaps_reach_from_the_least_that_matters_to_a_half():
    found = rates.gaps(Setting(4, 10_000))
    assert found[0] == pytest.approx(0.02)
    assert found[-1] == 0.5
    assert max(np.diff(np.log(found))) <= np.log(2) + 1e-12
