"""Small refusals of what is audited, each by itself: what plays, what it is given, where it comes from."""

from types import SimpleNamespace

import numpy as np
import pytest

from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.validate import InputError
from verifiable_dp.targets import adapters, line, players, process, protocols, roles, source
from verifiable_dp.targets.adapters import BanditClass
from verifiable_dp.targets.process import Exec

# ---------------------------------------------------------------- what plays


class Idle:
    """Has nothing to play with."""


def test_a_bandit_that_has_no_way_to_play_is_refused():
    bandits = BanditClass(Idle)
    with pytest.raises(InputError, match="target: Idle must have "):
        bandits.way(Idle())
    with pytest.raises(InputError, match="Idle"):
        bandits.way(None)
    with pytest.raises(InputError, match="target: Idle must have "):
        adapters.taken(Idle, roles.GivenRole())


def test_a_function_of_a_table_has_no_reward_of_its_own():
    given = roles.GivenRole(reward="file.py:pay")
    with pytest.raises(InputError, match="reward works only with code that plays by itself"):
        adapters.taken(lambda rewards, rng: rewards, given)


@pytest.mark.parametrize(
    ("pulled", "words"), [(0, "it"), (2, r"it ended after 2 of 3 rounds; give --horizon 2")]
)
def test_a_run_that_ends_too_early_is_refused(pulled, words):
    supply = SimpleNamespace(world=SimpleNamespace(pulled=[0] * pulled, horizon=3))
    with pytest.raises(InputError, match=words):
        protocols.check_whole(supply, "it")


def test_a_run_that_plays_every_round():
    protocols.check_whole(SimpleNamespace(world=SimpleNamespace(pulled=[0] * 3, horizon=3)), "it")


def test_a_method_that_pulls_by_itself_is_refused():
    way = SimpleNamespace(methods=["choose"])
    protocols._check_alone([0, 0], 2, way)
    with pytest.raises(InputError, match="target: choose pulls an arm of the environment by itself"):
        protocols._check_alone([0, 0, 0], 2, way)


def needs(n_arms, mystery):
    """A parameter of which nothing is known."""


def test_a_parameter_that_must_be_given_and_is_not_known():
    given = roles.GivenRole()
    with pytest.raises(InputError, match="mystery"):
        roles.filled(needs, given)
    assert roles.filled(needs, given, lenient=True)["mystery"][1] == ""


# ---------------------------------------------------------------- players


def test_code_that_raises_is_told_in_one_line():
    def fails():
        raise ZeroDivisionError("no\nrewards")

    with pytest.raises(InputError, match="target raised ZeroDivisionError") as error:
        players._tried(fails)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="target raised SystemExit"):
        players._tried(lambda: (_ for _ in ()).throw(SystemExit(1)))
    assert players._tried(lambda: 7) == 7


def test_arms_of_another_shape_are_refused():
    users = [SimpleNamespace(contexts=np.zeros((3, 2)), rewards=np.zeros((3, 2))) for _ in range(4)]

    def part(arms):
        return SimpleNamespace(seed=0, first=0, player=SimpleNamespace(target=lambda *given: arms))

    assert len(list(players._together(part(np.zeros((4, 3), int)), users))) == 4
    with pytest.raises(InputError, match=r"play_users must return arms \(4, 3\), got shape \(4, 2\)"):
        list(players._together(part(np.zeros((4, 2), int)), users))


# ---------------------------------------------------------------- processes, and where code comes from


def test_a_child_that_tells_nothing():
    with pytest.raises(InputError, match=r"target: .*; nothing was concluded"):
        line.told([], 1)


def test_a_process_that_is_lost_before_it_is_ready(monkeypatch):
    def lost(pool):
        raise process._LostError("ended with status 3")

    monkeypatch.setattr(process._Pool, "_start", lost)
    pool = process._Pool(Exec("python -c pass"), {})
    with pytest.raises(InputError, match="exec: the process ended with status 3"):
        _ = pool.ready


@pytest.mark.parametrize("reference", ["name", ":name", "file.py:", ""])
def test_what_names_no_code(reference):
    with pytest.raises(
        InputError, match=r"target must be a catalogue name, file.py:name or package.module:name"
    ):
        source.load(reference)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("nowhere.py:play", r"target: no file 'nowhere.py'; paths are relative to the folder"),
        ("/nowhere/at/all.py:play", r"target: no file '/nowhere/at/all.py'$"),
        ("math:no_such_name", "target: math has no 'no_such_name'"),
    ],
)
def test_code_that_is_not_there(reference, words):
    with pytest.raises(InputError, match=words):
        source.load(reference)


# ---------------------------------------------------------------- algorithms that have regret


class Fixed(Algorithm):
    """Does not take how long it plays."""

    def __init__(self, n_arms):
        self.n_arms = n_arms


class Plain(Algorithm):
    """Takes all that is needed, but no contexts."""

    start = query = release = decide = None

    def __init__(self, n_arms, horizon):
        self.n_arms, self.horizon = n_arms, horizon


SETTING = SimpleNamespace(n_arms=2, horizon=8, parameters={})


def test_an_algorithm_is_made_for_its_setting():
    made = players.Player(Plain, "algorithm", None).made(SETTING)
    assert (made.n_arms, made.horizon) == (2, 8)


@pytest.mark.parametrize(
    ("target", "contexts", "words"),
    [
        (Fixed, None, "target must have the parameter horizon to have regret"),
        (Plain, Contexts(2, (2, 2)), "environments: Plain does not take contexts, as users here have"),
    ],
)
def test_an_algorithm_that_cannot_be_made_is_refused(target, contexts, words):
    with pytest.raises(InputError, match=words):
        players.Player(target, "algorithm", contexts).made(SETTING)


def test_a_configuration_has_no_special_methods_of_python():
    config = roles.Config(SimpleNamespace(given=roles.GivenRole(parameters={"width": 3})))
    assert config.width == 3
    with pytest.raises(AttributeError, match="__deepcopy__"):
        _ = config.__deepcopy__
