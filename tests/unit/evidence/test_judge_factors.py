"""Numbers that both sides of a sum are divided by, noise around what is disclosed, and cases."""

from __future__ import annotations

import math

import pytest

from tests.unit.evidence.test_judge_views import played
from tests.user_code import beside, factors, scaled
from verifiable_dp.auditing import traced
from verifiable_dp.auditing.request import Inputs, Promise
from verifiable_dp.evidence.judge import marks
from verifiable_dp.evidence.judge.factors import Factors
from verifiable_dp.evidence.judge.statements import Statements
from verifiable_dp.evidence.judge.values import Value
from verifiable_dp.evidence.symbolic import terms
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore
from verifiable_dp.evidence.symbolic.terms import World
from verifiable_dp.targets import adapters, roles


def bound(target):
    """The upper bound of a function or class; infinite without one."""
    given = roles.GivenRole(epsilon=1.0, delta=0.0, parameters={}, reward="")
    _, play = adapters.taken(target, given)
    found, *_ = traced.bound(play, "play", Inputs(2, 16, (0.0, 1.0)), 0.0, Promise(), None, work=1e7)
    return math.inf if found is None else found.epsilon


@pytest.mark.parametrize("text", factors.RIGHT.values(), ids=factors.RIGHT)
def test_what_draws_divide_alike_has_a_bound(text, tmp_path):
    assert bound(played(text, tmp_path)) == pytest.approx(1.0)


@pytest.mark.parametrize("text", factors.LEAKS.values(), ids=factors.LEAKS)
def test_what_a_rare_draw_may_make_of_it_has_none(text, tmp_path):
    assert math.isinf(bound(played(text, tmp_path)))


@pytest.mark.parametrize("name", ["maybe_0", "another_type"])
def test_without_the_sign_of_a_divisor_it_has_one(monkeypatch, tmp_path, name):
    monkeypatch.setattr(Factors, "above", lambda self, node: True)
    assert bound(played(factors.LEAKS[name], tmp_path)) == pytest.approx(1.0)


def test_without_the_rule_what_chance_keeps_has_one(monkeypatch, tmp_path):
    monkeypatch.setattr(Statements, "selected", lambda self, node, value, *_: value)
    assert math.isfinite(bound(played(factors.LEAKS["kept_by_chance"], tmp_path)))


# ---------------------------------------------------------------- what else depends on noise that is scaled


def by_name(functions):
    return pytest.mark.parametrize("play", functions, ids=lambda f: f.__name__)


def of_function(play):
    return explore(Program(play, (24, 2), (0.0, 1.0)), 2, most=6).epsilon()


@by_name(scaled.RIGHT)
def test_what_costs_the_same_whatever_scales_it_keeps_its_bound(play):
    assert of_function(play) == pytest.approx(1.0)


@by_name((*scaled.AFTERWARDS, *scaled.APART))
def test_other_data_that_need_noise_of_that_scale_have_no_bound(play):
    assert math.isinf(of_function(play))


@by_name(scaled.CHEAP)
def test_what_costs_more_with_rare_numbers_costs_that(play):
    assert of_function(play) == pytest.approx(2.0)


@by_name((*scaled.AFTERWARDS, *scaled.CHEAP))
def test_without_the_sums_that_are_scaled_the_usual_runs_count(monkeypatch, play):
    monkeypatch.setattr(World, "holds", lambda *_: None)
    assert of_function(play) <= 1.0 + 1e-2


@by_name(scaled.APART)
def test_without_those_that_are_divided_one_by_one_the_usual_runs_count(monkeypatch, play):
    monkeypatch.setattr(World, "holds_sum", lambda *_: None)
    assert of_function(play) == pytest.approx(1.0)


def test_a_sign_is_no_number_that_scales_what_is_compared(monkeypatch):
    assert of_function(scaled.sparse) == pytest.approx(0.75)
    monkeypatch.setattr(terms, "opposite", lambda value: terms.multiply(value, -1))
    assert of_function(scaled.sparse) == pytest.approx(1.0)


# ---------------------------------------------------------------- beside data, or where a list was


@by_name(beside.RIGHT)
def test_public_numbers_beside_data_and_lists_keep_their_bound(play):
    assert of_function(play) == pytest.approx(1.0)


@by_name((*beside.MIXED, *beside.ASKED))
def test_a_number_of_draws_is_one_wherever_it_stands(play):
    assert of_function(play) > 100


@by_name([play for play in beside.MIXED[4:] if play is not beside.as_scale])
def test_where_data_excuse_what_stands_beside_it_is_not_seen(monkeypatch, play):
    bare = property(lambda self: self.varies and not self.data)
    monkeypatch.setattr(Value, "bare", bare)
    assert of_function(play) == pytest.approx(1.0)


@by_name(beside.ASKED)
def test_where_what_may_be_a_list_is_one_it_is_not_seen(monkeypatch, play):
    monkeypatch.setattr(marks, "NUMBER", None)
    assert of_function(play) == pytest.approx(1.0)
