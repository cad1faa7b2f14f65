"""Lists that shrink, and tables that calls fill: the judge of the language, without the black box."""

import ast
import math

import pytest

from tests.unit.evidence.test_judge_views import bound, played
from tests.user_code import shrinking
from verifiable_dp.evidence.judge import loops, values
from verifiable_dp.evidence.judge.places import Places
from verifiable_dp.evidence.judge.statements import Statements
from verifiable_dp.evidence.judge.values import Value

BY_DAY = {"one sum is kept", "sums are kept"}  # where no raw sum decides anything


def leaking(name):
    old, new = shrinking.EPOCHS_THAT_LEAK[name]
    assert old in shrinking.EPOCHS
    return shrinking.EPOCHS.replace(old, new)


def test_elimination_in_a_class_of_its_own_has_its_bound(tmp_path):
    assert bound(played(shrinking.EPOCHS, tmp_path)) == pytest.approx(1.0)


@pytest.mark.parametrize("play", shrinking.RIGHT, ids=lambda f: f.__name__)
def test_right_twins_keep_their_bound(play):
    assert bound(play) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in BY_DAY else pytest.mark.slow) for n in shrinking.EPOCHS_THAT_LEAK],
)
def test_elimination_that_leaks_has_no_bound_within_its_claim(name, tmp_path):
    assert bound(played(leaking(name), tmp_path)) > 1.9


@pytest.mark.parametrize("play", shrinking.LEAKS, ids=lambda f: f.__name__)
def test_what_calls_and_einsum_do_to_tables_is_seen(play):
    assert bound(play) > 100


@pytest.mark.parametrize(
    "play",
    [shrinking.entry_by_calls, shrinking.entry_by_later_calls, shrinking.entry_by_methods],
    ids=lambda f: f.__name__,
)
def test_without_the_rule_an_entry_that_some_call_names_is_as_any_other(monkeypatch, play):
    monkeypatch.setattr(Places, "is_fixed", lambda self, node, at: self.placed and not at.level)
    assert bound(play) == pytest.approx(1.0)


def test_a_parameter_is_no_fixed_place_before_a_call_is_known(monkeypatch, tmp_path):
    """Broken variant: as long as nothing is known of it, it is."""
    monkeypatch.setattr(Places, "is_fixed", lambda self, node, at: not at.level and not at.turn)
    assert bound(played(shrinking.EPOCHS, tmp_path)) > 100


def test_what_is_given_by_name_alone_has_no_place(monkeypatch):
    """Broken variant: `np.einsum` might write into its second operand."""
    monkeypatch.setattr(values, "_place_of_out", lambda value: 1)
    assert bound(shrinking.masks) > 100


# ---------------------------------------------------------------- keys of dictionaries, and what is zipped


@pytest.mark.parametrize("play", [shrinking.doubled_in_turns, shrinking.doubled_in_turns_of_an_object])
def test_what_stands_at_keys_is_data(play):
    assert math.isinf(bound(play))


@pytest.mark.parametrize("play", [shrinking.keys_beside_noise, shrinking.arms_zipped_with_noise])
def test_if_what_is_beside_data_is_data_it_counts_as_made_of_itself(monkeypatch, play):
    """Broken variant."""
    monkeypatch.setattr(Statements, "parts_of", lambda self, source: [])
    assert math.isinf(bound(play))


def test_if_all_that_is_called_items_has_keys_data_are_missed(monkeypatch):
    """Broken variant: also an object of the user's with a method of that name."""
    parts = [Value(), Value(data=True, noisy=True)]
    monkeypatch.setattr(
        Statements, "parts_of", lambda self, source: parts * ast.unparse(source).endswith(".items()")
    )
    assert bound(shrinking.doubled_in_turns_of_an_object) == pytest.approx(2.0)


def test_if_nothing_at_keys_is_data_it_is_missed(monkeypatch):
    """Broken variant."""

    def store_each(self, target, each, roots, *, parts):
        self.store(target, each._replace(data=False, noisy=False) if parts else each, roots)

    monkeypatch.setattr(Statements, "store_each", store_each)
    assert bound(shrinking.doubled_in_turns) == pytest.approx(2.0)


# ---------------------------------------------------------------- places that recur


@pytest.mark.parametrize("play", shrinking.RECUR)
def test_places_that_recur_after_some_turns_are_no_turns_own(play):
    assert math.isinf(bound(play))


@pytest.mark.parametrize("play", shrinking.RECUR)
def test_without_the_rule_rare_numbers_of_turns_are_missed(monkeypatch, play):
    monkeypatch.setattr(loops, "_recurs", lambda node: False)
    assert math.isfinite(bound(play))
