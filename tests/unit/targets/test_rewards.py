"""Functions that pay, replaced by a table while code plays: which is found, and which arm a call means."""

import sys
import types

import numpy as np
import pytest

from verifiable_dp.core.validate import InputError
from verifiable_dp.targets import rewards
from verifiable_dp.targets.tables import TableWorld

TABLE = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]])


@pytest.fixture
def module(monkeypatch):
    """A module of the target, which another one has imported from."""
    source = """
def pay(arm):
    return -1.0

def draw(mean):
    return -1.0

def toss(x, y):
    return -1.0

class Service:
    best = 7

    def pull(self, arm):
        return -2.0

    @staticmethod
    def free(arm):
        return -3.0

    class Inner:
        def pull(self, which):
            return -4.0
"""
    made, user = types.ModuleType("paying_module"), types.ModuleType("using_module")
    exec(source, vars(made))
    user.by_another_name = made.pay
    for one in (made, user):
        monkeypatch.setitem(sys.modules, one.__name__, one)
    return made


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("paying_module:pay", "pay"),
        ("some/folder/paying_module.py:pay", "pay"),
        ("some\\\\folder\\\\paying_module.py:pay", "pay"),
        ("paying_module:Service.pull", "pull"),
        ("paying_module:Service.Inner.pull", "pull"),
    ],
)
def test_what_is_found(module, name, last):
    owner, word, function = rewards.found(name)
    assert (word, getattr(owner, last)) == (last, function)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pay", "reward must be file.py:function, file.py:Class.method or module:function"),
        ("nowhere:pay", "reward must be file.py:function, file.py:Class.method or module:function"),
        ("nowhere.py:pay", "reward must be file.py:function"),
        ("paying_module:none", "reward: paying_module has no 'none'"),
        ("paying_module:Service.none.pull", "reward: paying_module has no 'Service.none.pull'"),
        ("paying_module:Service.best", "must be a function or a method, got int"),
    ],
)
def test_what_is_not_found(module, name, words):
    with pytest.raises(InputError, match=words):
        rewards.found(name)


def test_the_table_pays_while_it_lasts(module):
    world, user = TableWorld(TABLE), sys.modules["using_module"]
    with rewards.Replacement.of("paying_module:pay", world):
        assert [module.pay(1), module.pay(arm=0), user.by_another_name(1)] == [0.2, 0.3, 0.6]
    assert (module.pay(0), user.by_another_name(0)) == (-1.0, -1.0)
    assert (world.pulled, world.guessed) == ([1, 0, 1], set())


def test_methods_and_static_ones(module):
    world = TableWorld(TABLE)
    with rewards.Replacement.of("paying_module:Service.pull", world):
        assert module.Service().pull(1) == 0.2
    with rewards.Replacement.of("paying_module:Service.free", world):
        assert (module.Service.free(0), module.Service().free(1)) == (0.3, 0.6)
    assert (module.Service().pull(0), module.Service.free(0)) == (-2.0, -3.0)


def test_nothing_is_replaced_without_a_name(module):
    with rewards.Replacement.of("", TableWorld(TABLE)):
        assert module.pay(0) == -1.0


def test_what_was_replaced_comes_back_after_an_error(module):
    with pytest.raises(KeyError), rewards.Replacement.of("paying_module:pay", TableWorld(TABLE)):
        raise KeyError
    assert module.pay(0) == -1.0


def test_the_mean_of_an_arm_says_which(module):
    world = TableWorld(TABLE)
    world.means = [0.25, 0.75]
    with rewards.Replacement.of("paying_module:draw", world):
        assert [module.draw(0.75), module.draw(mean=np.float64(0.25))] == [0.2, 0.3]
    assert (world.pulled, world.guessed) == ([1, 0], set())


def test_the_only_whole_number_is_taken_for_the_arm_and_noted(module):
    world = TableWorld(TABLE)
    with rewards.Replacement.of("paying_module:toss", world):
        assert [module.toss(1, 0.5), module.toss(0.5, y=np.int64(0)), module.toss(True, 1)] == [0.2, 0.3, 0.6]
    assert (world.pulled, world.guessed) == ([1, 0, 1], {0, 1})


@pytest.mark.parametrize("given", [(1, 1), (0.5, 0.5), (True, False)])
def test_a_call_that_does_not_say_which_arm_is_refused(module, given):
    world, words = TableWorld(TABLE), r"must have a parameter called .*, or be given the mean of an arm"
    with rewards.Replacement.of("paying_module:toss", world), pytest.raises(InputError, match=words):
        module.toss(*given)


def test_the_parameter_that_is_the_arm(module):
    assert rewards.arm_parameter(module.pay) == "arm"
    assert rewards.arm_parameter(module.toss) == ""
