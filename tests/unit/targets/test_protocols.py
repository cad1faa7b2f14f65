"""Code in many forms is played as it is: the right one costs its epsilon, with less noise it is refuted."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.commands import run
from tests.user_code import protocols as programs
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.tracing.examining import cost
from verifiable_dp.evidence.tracing.subjects import TracedBandit
from verifiable_dp.targets.adapters import taken
from verifiable_dp.targets.protocols import Way, way_of
from verifiable_dp.targets.roles import GivenRole, parameters_of
from verifiable_dp.targets.tables import TableEnvironment, TableWorld

HORIZON, ARMS, CLAIM = 12, 2, 1.0
REWARDS = np.random.default_rng(0).random((HORIZON, ARMS))
PAIR = TablePair(np.zeros((HORIZON, ARMS)), 0, 0, 1.0)
FORMS = dict.fromkeys(programs.TAKEN, "") | programs.REPLACED


def given(name, **parameters):
    payer = FORMS[name] and f"{programs.__name__}:{FORMS[name]}"
    return GivenRole(CLAIM, 0.0, parameters, payer)


def word_of(name):
    """What its epsilon is called."""
    return "eps" if name in ("draws", "indexed", "pulls") else "epsilon"


def played(name, **parameters):
    kind, play = taken(getattr(programs, name), given(name, **parameters))
    assert kind == "play"
    return play


@pytest.mark.parametrize("name", FORMS)
def test_each_form_is_played_on_the_table(name):
    rng = np.random.default_rng(1)
    high = np.zeros((HORIZON, ARMS))
    play = played(name, **{word_of(name): 1e9})
    assert ARMS > 1
    for best in range(ARMS):
        high[:] = 0
        high[:, best] = 50.0
        assert play(high, rng).tolist() == [0, 1] * (HORIZON // 4) + [best] * (HORIZON // 2)


@pytest.mark.parametrize("name", FORMS)
def test_each_form_is_traced(name):
    play = played(name)
    traced = TracedBandit(play, ARMS, HORIZON, (0.0, 1.0), frozenset([programs.__file__])).trace(PAIR, 0)
    assert not traced.here.failure
    assert cost(traced) == pytest.approx(CLAIM)


@pytest.mark.parametrize("name", FORMS)
def test_less_noise_than_claimed_costs_more_in_each_form(name):
    play = played(name, **{word_of(name): 4 * CLAIM})
    traced = TracedBandit(play, ARMS, HORIZON, (0.0, 1.0), frozenset([programs.__file__])).trace(PAIR, 0)
    assert cost(traced) == pytest.approx(4 * CLAIM)


def leaking(name):
    """The audit of a form with next to no noise."""
    payer = FORMS[name] and f"{programs.__name__}:{FORMS[name]}"
    asked = {"n_arms": ARMS, "horizon": 4, "epsilon": CLAIM, "runs": 3000, "reward": payer}
    report = vdp.audit(getattr(programs, name), **asked, parameters={word_of(name): 100.0})
    assert report.verdict == "refuted"
    return report.record["target"]["parameters"]


@pytest.mark.parametrize("name", ["Running", "by_function"])
def test_a_leak_is_refuted_by_runs(name):
    parameters = leaking(name)
    assert parameters["set:epsilon"] == 100.0
    assert parameters.get("reward", "") == (FORMS[name] and f"{programs.__name__}:payout")


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_a_leak_is_refuted_by_runs_in_each_form(name):
    leaking(name)


def constant(rounds=HORIZON, asked="K"):
    """Code that plays so many rounds and asks its environment for something."""

    def play(env, rng):
        getattr(env, asked)
        for _ in range(rounds):
            env.pull(0)

    return play


class Nothing:
    pass


class Lonely:
    """Makes its rewards by itself."""

    def run(self, horizon):
        return horizon


class Unfilled:
    def __init__(self, n_arms, gamma):
        self.gamma = gamma

    select = Core = lambda self: 0

    def update(self, arm, reward):
        pass


class Asking(Unfilled):
    def __init__(self, cfg):
        self.gamma = cfg.gamma


def one_round(env, horizon, which):
    env.pull(which)


def test_an_epsilon_that_no_claim_gives_is_asked_for():
    with pytest.raises(InputError, match=r"parameter eps of .* must be given: --set eps=VALUE"):
        taken(lambda n_arms, eps: Nothing(), GivenRole())[1](REWARDS, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("target", "more", "words"),
    [
        (constant(HORIZON - 1), {}, "ended after 11 of 12 rounds; give --horizon 11"),
        (
            constant(asked="secret_table"),
            {},
            "asks the environment for secret_table, but the environment that we pass has only pull, ",
        ),
        (Nothing, {}, r"Nothing must have one of the pairs of methods select_arm/update, .*run\(env\)"),
        (Lonely, {}, "run of Lonely pulled no arm .* give --reward file.py:function"),
        (Unfilled, {}, "parameter gamma of Unfilled must have a default, .*give --set gamma=VALUE"),
        (Asking, {}, "asks the configuration for gamma, for which we have no value; give --set gamma=VALUE"),
        (lambda n_arms, d: Nothing(), {}, r"parameter d of .*, or --contexts D if"),
        (
            lambda n_arms: (print, print, print),
            {},
            "must return a bandit: tuple must",
        ),
        (Unfilled, {"beta": 1}, "Unfilled has no parameter beta; accepted: n_arms, gamma"),
        (one_round, {}, "parameter which of one_round must have a default"),
        (one_round, {"which": 7}, r"arms must lie in 0 \.\. 1, got arm 7"),
    ],
)
def test_messages_say_what_to_add(target, more, words):
    with pytest.raises(InputError, match=words):
        taken(target, GivenRole(CLAIM, 0.0, more))[1](REWARDS, np.random.default_rng(0))


@pytest.mark.parametrize("target", [Unfilled, Asking])
def test_what_is_set_is_filled(target):
    play = taken(target, GivenRole(CLAIM, 0.0, {"gamma": 0.5}))[1]
    assert play(REWARDS, np.random.default_rng(0)).tolist() == [0] * HORIZON
    assert play.made(2, HORIZON, np.random.default_rng(0)).gamma == 0.5


def test_an_epsilon_with_a_default_keeps_it():
    def play(rewards, rng, epsilon=0.1):
        return [epsilon]

    assert taken(play, GivenRole(CLAIM))[1](REWARDS, None) == [0.1]
    assert taken(play, GivenRole(CLAIM, 0.0, {"epsilon": 2.0}))[1](REWARDS, None) == [2.0]


class Journal:
    """Keeps counts of coins, and writes them down as a service does."""

    def __init__(self, n_arms):
        self.wins, self.line = [0] * n_arms, ""

    def select(self):
        return 0

    def update(self, arm, reward):
        self.wins[arm] += reward > 0.5
        self.line = json.dumps({"wins": self.wins, "reward": reward})


def test_what_is_counted_of_rewards_can_be_written_as_json():
    """NumPy's numbers make `int + (reward > .5)` an int64, which json refuses."""
    assert taken(Journal, GivenRole(CLAIM))[1](REWARDS, np.random.default_rng(0)).tolist() == [0] * HORIZON
    assert type(TableWorld(REWARDS).paid(0)) is float
    assert TableWorld(np.array([["as it is"]], object)).paid(0) == "as it is"  # rewards that are traced


def test_the_environment_gives_no_reward_away():
    table = np.array([[0.0, 1.0], [0.0, 1.0], [0.25, 0.75]])
    env = TableEnvironment(TableWorld(table), np.random.default_rng(0))
    assert env.means.tolist() == [0.5, 0.5]
    assert (env.best_arm, env.max_mean, env.arms[1].mean, env.regret(1)) == (0, 0.5, 0.5, 0.0)
    assert not hasattr(env, "rewards")
    assert (env.pull(1), env.arms[0].draw()) == (1.0, 0.0)


CODE = (
    "import numpy as np\n\n"
    + inspect.getsource(programs.Core)
    + """
class Plain(Core):
    def run(self, env):
        best = max(env.means)
        for t in range(env.T):
            reward, regret = env.pull(self._next())
            self._see(self._next(), reward)


class Told(Core):
    def step(self, reward, arm):
        self._see(arm, reward)
        return self._next()


class Contextual(Core):
    def select(self, context):
        return 0

    def update(self, arm, reward):
        pass


def inside(T, epsilon, gamma):
    for t in range(T):
        paid = np.random.rand()


def counted(data, size, rng):
    return np.sum(data) + rng.laplace(0, 1, size)


def answers(data, queries, rng):
    return np.sum(data) + rng.laplace(0, 1, queries)
"""
)
INSPECTED = {
    "Plain": (
        0,
        "parameter epsilon gets epsilon of the claim",
        "run(env) pulls arms of an environment itself",
        "pull returns (reward, regret); reward is the reward",
        "means of the environment: we set every mean to .5",
        "its own generator (default_rng, with a seed from the system), code.py:",
        "numpy's global generator, code.py:",
        "the target can be audited unchanged",
    ),
    "Told": (0, "step(reward, arm) receives the last reward", "receives reward=0.0, arm=0"),
    "Contextual": (2, "missing: target: Contextual.select: we do not recognise parameter context"),
    "inside": (2, "missing: target must be play(rewards, rng)"),
    "counted": (
        0,
        "calls it as release",
        "data gets the data",
        "size gets the number of draws of one call",
    ),
    "answers": (2, "missing: target: parameter queries of answers must have a value", "--set queries=VALUE"),
}


@pytest.mark.parametrize("name", INSPECTED)
def test_inspect_says_what_is_recognised_guessed_and_missing(tmp_path, name):
    (tmp_path / "code.py").write_text(CODE, "utf-8")
    status, *lines = INSPECTED[name]
    done = run(tmp_path, "inspect", f"code.py:{name}", "--epsilon", 1)
    assert done.exit_code == status, done.output
    for line in lines:
        assert line in done.stdout


class Usual:
    """The plainest form there is."""

    def __init__(self, n_arms, horizon, rng):
        self.rng = rng

    def select(self):
        return int(self.rng.integers(2))

    def update(self, arm, reward):
        pass


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Told", "select(context) chooses and update(context, arm, reward) learns"),
        ("told", "an audit calls it as play, with contexts"),
    ],
)
def test_inspect_takes_contexts(tmp_path, name, words):
    (tmp_path / "code.py").write_text(WITH_CONTEXTS, "utf-8")
    done = run(tmp_path, "inspect", f"code.py:{name}", "--contexts", 3)
    assert f"recognised: {words}" in done.stdout
    assert done.stdout.endswith("the target can be audited unchanged\n")
    assert run(tmp_path, "inspect", f"code.py:{name}").exit_code == 2


WITH_CONTEXTS = """
class Told:
    def __init__(self, n_arms, d):
        self.d = d
    def select(self, context):
        return int(context @ context > self.d)
    def update(self, context, arm, reward):
        pass

def told(contexts, rewards, rng):
    return [0] * len(rewards)
"""


def test_signatures_are_read_for_the_first_run_only(monkeypatch):
    """Reading them took a third of an audit of 80 000 runs."""
    play = taken(Usual, GivenRole(CLAIM))[1]
    play(REWARDS, np.random.default_rng(0))

    def again(*_):
        raise AssertionError("read again")

    monkeypatch.setattr(inspect, "signature", again)
    assert len(play(REWARDS, np.random.default_rng(1))) == HORIZON


class Leading:
    """Is played by `act` and `observe`: what these call has names of methods, too."""

    def act(self):
        return self.pick()

    def observe(self, arm, reward):
        self.update(arm, 2 * reward)

    def pick(self):
        return 0

    def update(self, arm, reward):
        pass


def test_methods_that_others_call_are_not_played():
    assert way_of(Leading, GivenRole()) == Way("pair", ("act", "observe"))
    assert way_of(Leading(), GivenRole()) == Way("pair", ("act", "observe"))


class Above:
    def __init__(self, n_arms, rng=None, epsilon=1.0):
        self.n_arms, self.rng = n_arms, rng


class HandsOn(Above):
    """Takes anything, and what the class above it takes."""

    def __init__(self, *args, step=1, **kwargs):
        super().__init__(*args, **kwargs)

    def select(self):
        return int(self.rng.integers(self.n_arms))

    def update(self, arm, reward):
        pass


class KeepsAll(Above):
    """Takes anything, and hands on nothing."""

    def __init__(self, *args, **kwargs):
        self.rest = kwargs


def test_a_class_that_hands_on_what_it_is_given_has_the_parameters_above_it():
    assert list(parameters_of(HandsOn)) == ["step", "n_arms", "rng", "epsilon"]
    assert list(parameters_of(KeepsAll)) == ["args", "kwargs"]
    kind, play = taken(HandsOn, GivenRole())
    assert kind == "play"
    assert len(play(REWARDS, np.random.default_rng(0))) == HORIZON


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("audit", "code.Plain", "--epsilon", 1),
            "'code.Plain' is not in the catalogue; did you mean code.py:Plain?",
        ),
        (("audit", "json.loads", "--epsilon", 1), "did you mean json:loads?"),
        (("verify", "code.py"), "is not JSON, so it is not a record; give a file that --json has written"),
        (
            ("audit", "code.py:usual", "--rho", 1, "--delta", 1e-5, "--arms", 2, "--horizon", 4),
            "a bandit's promise is epsilon: give --epsilon, and --delta",
        ),
        # Controls: what is no code has no hint, what is nearly a record is corrupted.
        (("audit", "nothing.here", "--epsilon", 1), "unknown name 'nothing.here'; known names are"),
        (("verify", "half.json"), "is corrupted"),
    ],
)
def test_what_is_refused_says_what_to_do(tmp_path, words, said):
    (tmp_path / "code.py").write_text(
        CODE + "\n\ndef usual(rewards, rng):\n    return [0] * len(rewards)\n", "utf-8"
    )
    (tmp_path / "half.json").write_text("{", "utf-8")
    done = run(tmp_path, *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
