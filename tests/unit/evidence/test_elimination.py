"""Lists that shrink, and tables that calls fill: the judge of the language, without the black box."""

import pytest

from tests.unit.evidence.test_judge_views import bound, played
from tests.user_code import shrinking
from verifiable_dp.evidence.judge import values
from verifiable_dp.evidence.judge.places import Places

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
