"""What shares memory with a table, or writes into it: the judge of the language, and all of NumPy."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import itertools
import math
import sys
import warnings

import numpy as np
import pytest

from tests.user_code import factors, scaled, shrinking, views
from verifiable_dp.auditing import traced
from verifiable_dp.auditing.request import Inputs, Promise
from verifiable_dp.evidence.judge import calls, loops, marks, values
from verifiable_dp.evidence.judge.factors import Factors
from verifiable_dp.evidence.judge.places import Places
from verifiable_dp.evidence.judge.statements import Statements
from verifiable_dp.evidence.judge.values import Value
from verifiable_dp.evidence.symbolic import comparing, multiplying
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore
from verifiable_dp.evidence.symbolic.world import World
from verifiable_dp.targets import adapters, roles


def bound(play):
    return explore(Program(play, (24, 2), (0.0, 1.0)), 2, most=6).epsilon()


def made(statement, folder):
    """The program with this statement, in a file of its own."""
    return played(views.PROGRAM.format(statement), folder)


def played(text, folder):
    path = folder / "program.py"
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its classes are looked up
    spec.loader.exec_module(module)
    return module.play


@pytest.mark.parametrize("statement", views.CHANGES.values(), ids=views.CHANGES)
def test_an_entry_that_is_changed_by_another_name_ends_the_bound(statement, tmp_path):
    assert bound(made(statement, tmp_path)) > 100


@pytest.mark.parametrize("statement", views.RIGHT.values(), ids=views.RIGHT)
def test_what_changes_no_entry_of_a_table_keeps_the_bound(statement, tmp_path):
    assert bound(made(statement, tmp_path)) == pytest.approx(1.0)


@pytest.mark.parametrize("play", views.LEAKS, ids=lambda f: f.__name__)
def test_tables_that_are_changed_in_a_part_have_no_bound(play):
    assert bound(play) > 100


def table():
    return np.arange(9.0, 0.0, -1.0).reshape(3, 3) + np.eye(3)


def given():
    """What functions of arrays take after the array."""
    some = np.eye(3) > 0
    return (
        *([], [0], [1], [0, 1], [(0, 1)], [(3, 3)], [(9,)], [table()], [2.0], [0, 2.0], [some, [5.0]]),
        *([[0, 1], 2.0], [some], [np.float64], [2.0, 3.0], ["i"], [(0, 1), (1, 0)]),
    )


def parts(found):
    """Arrays that came out, at any depth."""
    if isinstance(found, dict):
        return parts([*found.values()])
    if isinstance(found, tuple | list):
        return [one for inner in found for one in parts(inner)]
    return [np.asarray(found)] if isinstance(found, np.ndarray | memoryview) else []


def effects(call):
    """Whether a call gives what shares memory with its array, and whether it changes that."""
    shares = changes = False
    for n in range(len(given())):
        rest, array = given()[n], table()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = parts(call(array, *rest))
        except Exception:  # it does not take these
            continue
        shares |= any(np.may_share_memory(array, one) for one in found)
        changes |= not np.array_equal(array, table())
    return shares, changes


SPACES = (np, np.lib.stride_tricks, np.linalg, np.fft, np.ma)
NEVER = (  # they read, write or print files
    *("save", "savez", "savez_compressed", "savetxt", "load", "test", "show_config", "info", "fromfile"),
    "memmap",
)
FUNCTIONS = {
    f"{space.__name__}.{name}": getattr(space, name)
    for space in SPACES
    for name in dir(space)
    if callable(getattr(space, name)) and name[0] != "_" and name not in NEVER
}
EFFECTS = {name: effects(one) for name, one in FUNCTIONS.items()}
_METHODS = [name for name in dir(np.ndarray) if callable(getattr(np.ndarray, name))]
METHODS = {
    name: effects(lambda array, *rest, name=name: getattr(array, name)(*rest))
    for name in _METHODS
    if name not in ("tofile", "dump", "__init_subclass__")
}


def test_functions_of_numpy_that_share_memory_are_known_to():
    """All that gives a view of its array, or of a part: nothing of these is called fresh."""
    share = {name for name, (shares, _) in EFFECTS.items() if shares}
    assert len(share) > 40
    assert {name for name in share if values.is_fresh(FUNCTIONS[name])} == set()


def test_functions_of_numpy_that_write_are_known_to():
    changing = {name for name, (_, changes) in EFFECTS.items() if changes}
    assert changing >= {"numpy.put", "numpy.place", "numpy.copyto", "numpy.fill_diagonal"}
    assert {name for name in changing if not values.writes(FUNCTIONS[name], 0)} == set()


def test_methods_of_arrays_that_share_memory_or_write_are_known_to():
    share = {name for name, (shares, _) in METHODS.items() if shares}
    assert share >= {"view", "reshape", "swapaxes", "__getitem__"}
    assert {name for name in share if name in values.METHODS and name not in values.SHARED} == set()
    changing = {name for name, (_, changes) in METHODS.items() if changes}
    assert changing >= {"fill", "put", "sort", "__setitem__", "__iadd__"}
    assert {name for name in changing if not values.may_write(name)} <= {"sort"}  # which adds no entry


def test_methods_that_may_be_told_of_an_array_to_write_into_are_known():
    told = {
        name for name in METHODS if "out=" in (getattr(np.ndarray, name).__doc__ or "").partition("\n\n")[0]
    }
    assert told >= {"sum", "clip", "take"}
    assert told == values.FILLS & set(METHODS)


# Of one shape, with other entries.
TABLES = [table(), np.zeros((3, 3)), np.ones((3, 3)), -np.eye(3), np.round(table()) % 3]
TABLES += [np.random.default_rng(n).normal(size=(3, 3)) for n in range(3)]
FORMS = (
    lambda t: t,
    np.ravel,
    lambda t: t @ t.T + np.eye(3),
    lambda t: np.argsort(t, axis=1),
    lambda t: np.argsort(t[0]),
)
PREPARED = {  # what takes only some numbers, of whichever are drawn
    np.interp: lambda x, *points: np.interp(x, *map(np.sort, points)),
    np.digitize: lambda x, bins: np.digitize(x, np.sort(bins)),
    np.quantile: lambda a, q: np.quantile(a, np.abs(np.tanh(q))),
    np.percentile: lambda a, q: np.percentile(a, 100 * np.abs(np.tanh(q))),
}


def shapes_of(function):
    """Shapes of what comes out, for each form of what has to be given, with many entries of that form."""
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    named = {"axis": 1} if "axis" in [p.name for p in needed] else {}
    found, call = {}, PREPARED.get(function, function)
    for forms in itertools.product(FORMS, repeat=len(needed) - len(named)):
        for n in range(len(TABLES)):
            given = [form(TABLES[(n + at) % len(TABLES)]) for at, form in enumerate(forms)]
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    made = parts(call(*given, **named))
            except Exception:  # it does not take these
                continue
            found.setdefault(forms, set()).add(tuple(one.shape for one in made))
    return found


@pytest.mark.parametrize("function", values.SHAPED, ids=lambda f: f.__name__)
def test_shapes_follow_from_shapes(function):
    found = shapes_of(function)
    assert found
    assert {form: shapes for form, shapes in found.items() if len(shapes) > 1} == {}


@pytest.mark.parametrize(
    "function", [np.unique, np.flatnonzero, np.argwhere, np.union1d], ids=lambda f: f.__name__
)
def test_a_shape_that_entries_say_is_seen(function):
    assert max(map(len, shapes_of(function).values())) > 1


@pytest.mark.parametrize("function", values.SHAPED, ids=lambda f: f.__name__)
def test_what_only_reads_is_tried(function):
    assert not values.writes(function, 0)
    assert EFFECTS.get(f"{function.__module__}.{function.__name__}", (False, False)) == (False, False)


@pytest.mark.parametrize("function", values.IN_FIRST, ids=lambda f: f.__name__)
def test_what_changes_the_first_alone(function):
    assert values.writes(function, 0)
    assert values.writes(function, "out")
    assert not values.writes(function, 1)


def test_methods_of_ufuncs_change_what_they_are_given_first_at_places_only():
    assert values.writes(np.add.at, 0)
    assert not values.writes(np.add.at, 2)
    assert not values.writes(np.add.reduce, 0)
    assert values.writes(np.add.reduce, "out")


def test_what_says_a_shape_is_told_from_arrays():
    assert [values.shapes(np.std, at) for at in (0, 1, "axis", ...)] == [False, True, True, True]
    assert [values.shapes(np.take_along_axis, at) for at in (0, 1, 2, "indices", "axis")] == [
        *(False, False, True, False, True)
    ]


def test_what_a_function_fills_is_known_by_its_place():
    array = table()
    for one in (np.multiply, np.clip, np.dot, np.matmul, np.cumsum, np.concatenate):
        place = one.nin if isinstance(one, np.ufunc) else values._place_of_out(one)
        assert values.writes(one, "out")
        assert values.writes(one, place)
        assert not values.writes(one, place - 1)
    np.multiply(array, 0.0, array)
    assert not array.any()


@pytest.mark.parametrize(
    ("rule", "wrong", "statement"),
    [
        ("is_fresh", lambda _: True, views.CHANGES["reshaped"]),
        ("writes", lambda *_: False, views.CHANGES["put"]),
        ("may_write", lambda _: False, views.CHANGES["dunder"]),
        ("leaves_alone", lambda _: True, views.CHANGES["operator"]),
    ],
)
def test_without_a_rule_such_a_table_has_a_bound(monkeypatch, tmp_path, rule, wrong, statement):
    monkeypatch.setattr(calls.values, rule, wrong)
    assert bound(made(statement, tmp_path)) == pytest.approx(1.0)


# ---------------------------------------------------------------- objects


@pytest.mark.parametrize("text", factors.OBJECTS.values(), ids=factors.OBJECTS)
def test_a_scale_that_all_objects_share_is_one_number(text, tmp_path):
    assert bound(played(text, tmp_path)) == pytest.approx(1.0)


@pytest.mark.parametrize("text", factors.OBJECTS_THAT_LEAK.values(), ids=factors.OBJECTS_THAT_LEAK)
def test_a_scale_that_one_object_may_have_otherwise_is_seen(text, tmp_path):
    assert bound(played(text, tmp_path)) > 100


@pytest.mark.parametrize("name", ["another_call", "by_default", "from_above", "set_anew"])
def test_without_the_rule_such_a_scale_is_one_number(monkeypatch, tmp_path, name):
    monkeypatch.setattr(calls.Calls, "is_single", lambda self, base, name: name == "scale")
    assert bound(played(factors.OBJECTS_THAT_LEAK[name], tmp_path)) == pytest.approx(1.0)


# Lists that shrink, and tables that calls fill: the judge of the language, without the black box.


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


# Numbers that both sides of a sum are divided by, noise around what is disclosed, and cases.


def bound_of_target(target):
    """The upper bound of a function or class; infinite without one."""
    given = roles.GivenRole(epsilon=1.0, delta=0.0, parameters={}, reward="")
    _, play = adapters.taken(target, given)
    found, *_ = traced.bound(play, "play", Inputs(2, 16, (0.0, 1.0)), 0.0, Promise(), None, work=1e7)
    return math.inf if found is None else found.epsilon


@pytest.mark.parametrize("text", factors.RIGHT.values(), ids=factors.RIGHT)
def test_what_draws_divide_alike_has_a_bound(text, tmp_path):
    assert bound_of_target(played(text, tmp_path)) == pytest.approx(1.0)


@pytest.mark.parametrize("text", factors.LEAKS.values(), ids=factors.LEAKS)
def test_what_a_rare_draw_may_make_of_it_has_none(text, tmp_path):
    assert math.isinf(bound_of_target(played(text, tmp_path)))


@pytest.mark.parametrize("name", ["maybe_0", "another_type"])
def test_without_the_sign_of_a_divisor_it_has_one(monkeypatch, tmp_path, name):
    monkeypatch.setattr(Factors, "above", lambda self, node: True)
    assert bound_of_target(played(factors.LEAKS[name], tmp_path)) == pytest.approx(1.0)


def test_without_the_rule_what_chance_keeps_has_one(monkeypatch, tmp_path):
    monkeypatch.setattr(Statements, "selected", lambda self, node, value, *_: value)
    assert math.isfinite(bound_of_target(played(factors.LEAKS["kept_by_chance"], tmp_path)))


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
    monkeypatch.setattr(comparing, "opposite", lambda value: multiplying.multiply(value, -1))
    assert of_function(scaled.sparse) == pytest.approx(1.0)


# ---------------------------------------------------------------- beside data, or where a list was


@by_name(scaled.BESIDE)
def test_public_numbers_beside_data_and_lists_keep_their_bound(play):
    assert of_function(play) == pytest.approx(1.0)


@by_name((*scaled.MIXED, *scaled.ASKED))
def test_a_number_of_draws_is_one_wherever_it_stands(play):
    assert of_function(play) > 100


@by_name([play for play in scaled.MIXED[4:] if play is not scaled.as_scale])
def test_where_data_excuse_what_stands_beside_it_is_not_seen(monkeypatch, play):
    bare = property(lambda self: self.varies and not self.data)
    monkeypatch.setattr(Value, "bare", bare)
    assert of_function(play) == pytest.approx(1.0)


@by_name(scaled.ASKED)
def test_where_what_may_be_a_list_is_one_it_is_not_seen(monkeypatch, play):
    monkeypatch.setattr(marks, "NUMBER", None)
    assert of_function(play) == pytest.approx(1.0)
