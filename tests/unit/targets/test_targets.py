"""A user's Python code as a target: forms, what is refused, and what it cannot disturb."""

import contextlib
import functools
import importlib
import inspect
import json
import math
import os
import pickle
import sys
import threading
import zlib
from types import SimpleNamespace

import numpy as np
import pytest

from tests.asking import audited
from tests.user_code import first_told, noise_imported, rewritten, seeded
from verifiable_dp import InputError, audit
from verifiable_dp.core import outputs
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.outputs import TypedArms
from verifiable_dp.evidence.judge import outside
from verifiable_dp.targets import (
    adapters,
    line,
    players,
    process,
    protocols,
    releases,
    roles,
    sent,
    source,
    unbounded,
)
from verifiable_dp.targets.adapters import BanditClass, taken
from verifiable_dp.targets.inspection import inspect_target
from verifiable_dp.targets.load import adapted, is_known, kind_of
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.probes import probe_play, probe_release
from verifiable_dp.targets.process import Exec
from verifiable_dp.targets.randomness import scaled_seeds
from verifiable_dp.targets.releases import DataPair, ReleaseSampler
from verifiable_dp.targets.roles import GivenRole
from verifiable_dp.targets.sampling import FORM
from verifiable_dp.targets.source import CodeSource, load

RUNS = np.arange(6)


def generator():
    return np.random.default_rng(0)


def release(data, size, rng):
    return data + rng.laplace(size=size)


def scaled(data, scale, size, rng):
    return data + rng.laplace(0, scale, size)


def one_draw(data, rng):
    return data + rng.laplace()


def play(rewards, rng):
    return np.zeros(len(rewards), int)


class Bandit:
    def __call__(self, rewards, rng):
        return np.zeros(len(rewards), int)

    def many(self, rewards, n_runs, rng):
        return np.zeros((n_runs, len(rewards)), int)

    async def later(self, data, size, rng):
        return data

    @staticmethod
    def fixed(data, size, rng):
        return np.full(size, data)


def decorated(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (play, "play"),
        (lambda x, generator: x, "play"),
        (lambda rewards, rng=None: rewards, "play"),
        (lambda rewards, *, rng: rewards, "play"),
        (lambda rewards, rng, verbose=False: rewards, "play"),
        (Bandit(), "play"),
        (Bandit().many, "play_many"),
        (lambda rewards, *, n_runs, rng: rewards, "play_many"),
        (release, "release"),
        (Bandit.fixed, "release"),
        (Bandit().fixed, "release"),
        (decorated(release), "release"),
        (functools.partial(scaled, scale=1.0), "release"),
        (functools.partial(functools.partial(scaled, scale=1.0)), "release"),
        (lambda data, *, rng, size: data, "release"),
        (lambda data, rng, size: data, "release"),
        (lambda x, size=None, rng=None: x, "release"),
        (one_draw, "release_one"),
        (lambda data, *, rng=None: data, "release_one"),
        (lambda rng, data: data, "release_one"),
        (lambda data: data, "release_one"),
        (lambda rewards: rewards, "play"),
        (lambda rng, rewards: rewards, "play"),
        (lambda rng, rewards, n_runs: rewards, "play_many"),
        (lambda size, rng, x: x, "release"),
        (functools.partial(scaled, scale=1.0, size=None), "release"),
    ],
)
def test_kinds_follow_from_the_parameters(function, kind):
    assert kind_of(function) == kind


def test_a_bandit_that_returns_nothing_is_told_so():
    """Control: of arms of another shape the shape is said."""
    for made, said in (
        (None, "got None; end it with `return arms`"),
        (np.zeros(2, int), r"got shape \(2,\)"),
    ):
        with pytest.raises(InputError, match=said):
            outputs.arms(made, "play", (3,), 2)


async def coroutine(data, size, rng):
    return data


def yielding(data, size, rng):
    yield data


async def both(data, size, rng):
    yield data


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (coroutine, "got a coroutine function"),
        (functools.partial(coroutine), "got a coroutine function"),
        (Bandit().later, "got a coroutine function"),
        (yielding, "got a generator function"),
        (both, "got an asynchronous generator"),
        (lambda: 0, r"got parameters \(\)"),
        (lambda *args, **kwargs: 0, r"got parameters \(\)"),
        (lambda rng: 0, r"got parameters \(rng\)"),
        (lambda data, size: 0, r"got parameters \(data, size\)"),
        (lambda size, data: 0, r"got parameters \(size, data\)"),
        (lambda rng, size, n_runs: 0, r"got parameters \(rng, size, n_runs\)"),
        (lambda a, b, c, d: 0, r"got parameters \(a, b, c, d\)"),
        # As the number of draws, the number of answers would make a leak of five times the claim look right.
        (lambda data, queries, rng: 0, r"parameter queries of <lambda> must have a value.*--set queries=V"),
        (lambda data, n, rng: 0, "parameter n of <lambda> must have a value"),
        (lambda rewards, rng, m: 0, "parameter m of <lambda> must have a value"),
        (lambda data, bins, size, rng: 0, "parameter bins of <lambda> must have a value"),
        (lambda data, bins, scale, rng: 0, "parameter bins and parameter scale of <lambda>"),
        (lambda data, *, epsilon, rng: 0, r"got parameters \(data, epsilon, rng\)"),
        (print, "got parameters"),
    ],
)
def test_what_fits_no_form_is_refused(function, message):
    with pytest.raises(InputError, match=message) as caught:
        kind_of(function)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "function",
    [
        release,
        decorated(release),
        functools.partial(scaled, scale=1.0),
        lambda data, *, rng, size: release(data, size, rng),
        lambda data, rng, size: release(data, size, rng),
        lambda data, size=None, rng=None: release(data, size, rng),
        lambda rng, size, data: release(data, size, rng),
        lambda rng, data: one_draw(data, rng),
        one_draw,
        lambda data, *, rng=None: one_draw(data, rng),
    ],
)
def test_every_form_draws_the_same(function):
    kind, call = adapted(function)
    assert kind == "release"
    assert np.allclose(call(2.0, 5, generator()), release(2.0, 5, generator()))


def own_draws(rewards):
    """Plays the arm with the larger noisy sum; the noise is numpy's own."""
    sums = rewards.sum(axis=0) + np.random.laplace(0, 1.0, rewards.shape[1])  # noqa: NPY002
    return np.full(len(rewards), np.argmax(sums))


def own_leak(rewards):
    return np.full(len(rewards), np.argmax(rewards.sum(axis=0)))


def closures(scale):
    def made(n_arms, rng):
        sums, state = [0.0] * n_arms, {"t": 0, "best": None}

        def choose():
            if state["t"] < n_arms:
                return state["t"]
            if state["best"] is None:
                state["best"] = int(np.argmax([s + rng.laplace(0, scale) for s in sums]))
            return state["best"]

        def learn(arm, reward):
            if state["t"] < n_arms:
                sums[arm] += reward
            state["t"] += 1

        return choose, learn

    return made


@pytest.mark.parametrize(
    ("target", "verdict"),
    [
        (own_draws, "not_refuted"),
        (own_leak, "refuted"),
        (closures(0.5), "not_refuted"),
        (closures(0.05), "refuted"),
    ],
    ids=["own", "own leak", "closures", "closures leak"],
)
def test_code_without_a_generator_or_a_class_is_audited(target, verdict):
    claim = {"epsilon": 2.0, "n_arms": 2, "horizon": 4, "budget": "smoke"}
    assert audit(target, **claim).verdict == verdict


def test_a_misspelt_draw_is_one_of_a_generator():
    def misspelt(data, size, rng):
        return data + rng.lapalce(0, 1, size)

    with pytest.raises(InputError, match="'Generator' object has no attribute 'lapalce'"):
        audit(misspelt, epsilon=1.0, budget="smoke")


def test_standard_functions_are_left_alone():
    assert adapted(release) == ("release", release)
    assert adapted(play) == ("play", play)


def test_adapted_functions_keep_source_and_neighbours_and_can_be_pickled():
    def local(data, rng):
        return data

    local.neighbours = [(1, 2)]
    _, call = adapted(local)
    assert call.neighbours == [(1, 2)]
    source = CodeSource.of(call, "local")
    assert source.path.endswith("test_targets.py")
    assert source.line > 0
    _, call = adapted(one_draw)
    again = pickle.loads(pickle.dumps(call))
    assert np.allclose(again(0.0, 3, generator()), call(0.0, 3, generator()))


@pytest.mark.parametrize(
    "thing", [Bandit(), functools.partial(scaled, scale=2.0), Bandit().many, Bandit.fixed]
)
def test_sources_of_odd_callables_are_found(thing):
    source = CodeSource.of(thing, "name")
    assert source.path.endswith("test_targets.py")
    assert len(source.sha256) == 64
    assert source.line > 0


def test_a_draw_at_a_time_may_change_its_data():
    def spoil(data, rng):
        data[0] += 1
        return data[0]

    _, call = adapted(spoil)
    for data in (np.zeros(2), [0.0, 1.0]):
        assert ReleaseSampler(call, 0).values(data, (0,), RUNS).ravel().tolist() == [1] * 6
        assert data[0] == 0


# ---------------------------------------------------------------- outputs


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda size: [None] * size, "got NoneType"),
        (lambda size: np.array(["a"] * size, "S1"), r"got an array of dtype \|S1"),
        (lambda size: [{}] * size, "got dict"),
        (lambda size: np.array([1, True, None] * 2, object), "got an array of dtype object"),
        (lambda size: np.zeros(size, complex), "got an array of dtype complex128"),
        (lambda size: np.zeros(size, "M8[s]"), r"got an array of dtype datetime64\[s\]"),
        (lambda size: [[1], [1, 2]] * (size // 2), "inhomogeneous"),
        (lambda size: 3.0, r"got \(\)"),
        (lambda size: np.zeros(size + 1), r"got \(7,\)"),
        (lambda size: None, "got NoneType"),
    ],
)
def test_outputs_that_are_no_numbers_are_refused(result, message):
    sampler = ReleaseSampler(lambda data, size, rng: result(size), 0)
    with pytest.raises(InputError, match=message) as caught:
        sampler.values(0.0, (0,), RUNS)
    assert "\n" not in str(caught.value)


def _vote(data, rng, lie=1 / (1 + np.e)):
    truth = data > 0.5
    return ("for", "against")[int(truth != (rng.random() < lie))]


def _vote_too_true(data, rng):
    return _vote(data, rng, lie=0.1)


def test_text_is_released_and_a_note_says_what_stands_for_it():
    sampler = ReleaseSampler(lambda data, size, rng: [["a", "for"], ["a", "against"]] * (size // 2), 0)
    seen = sampler.values(0.0, (0,), RUNS)
    assert seen.shape == (len(RUNS), 2)
    assert {*seen.ravel().tolist()} == {float(zlib.crc32(text)) for text in (b"a", b"for", b"against")}
    asked = {"epsilon": 1.0, "bounds": (0.0, 1.0), "in_process": True}
    right, leak = (audit(f, **asked).record for f in (_vote, _vote_too_true))
    assert (right["verdict"], leak["verdict"]) == ("not_refuted", "refuted")
    assert f"{zlib.crc32(b'against')} is 'against'" in str(right)


def test_whole_and_real_columns_may_be_mixed():
    def mixed(data, size, rng):
        return np.column_stack([rng.integers(0, 3, size), rng.laplace(size=size), rng.integers(0, 2, size)])

    sampler, pair = ReleaseSampler(mixed, 0), DataPair(0, 1)
    seen = sampler.sample(pair, 0, 0, 0, np.arange(5000))
    assert len(seen.numeric) == 3
    assert [len(np.unique(column)) for column in seen.discrete.values()] == [3, 3, 6, 1]


def test_codes_of_a_run_do_not_depend_on_the_others():
    """A column that is whole here and not there has the same codes, however runs are put together."""
    values = np.array(
        [[1.0, 0.5], [2.0, 3.0], [0.25, np.nan], [np.inf, -np.inf], [1e300, -1e300], [0.5, 0.5]]
    )
    together = releases._whole_codes(values)
    for i in range(len(values)):
        alone = releases._whole_codes(values[i : i + 1])
        assert list(alone) == list(together)
        assert all(alone[name][0] == together[name][i] for name in alone)
    assert len(np.unique(together["all outputs"])) == 5  # infinities and 1e300 lie beyond the edge alike


def test_what_is_told_apart_by_whole_numbers_only_is_refuted():
    """The leak sits in a count beside a real-valued output: +1 on one input, with probability one half."""
    from verifiable_dp.evidence.blackbox.test import Plan

    def leaky(data, size, rng):
        return np.column_stack([rng.laplace(size=size), rng.integers(0, 2, size) + (data > 0.5)])

    def right(data, size, rng):
        return np.column_stack([data + rng.laplace(size=size), rng.integers(0, 2, size)])

    plan = Plan(500, 4000, 4000)
    found = [
        audited(f, name="f", epsilon=1.0, plan=plan)["checks"][0]["result"]["verdict"] for f in (leaky, right)
    ]
    assert found == ["refuted", "not_refuted"]


# ---------------------------------------------------------------- what a target cannot disturb


def test_what_a_target_prints_goes_to_stderr(capsys):
    def loud(data, size, rng):
        print("loud")
        return np.zeros(size)

    def loud_play(rewards, rng):
        print("loud too")
        return np.zeros(3, int)

    ReleaseSampler(loud, 0).values(0.0, (0,), RUNS)
    PlaySampler(loud_play, False, 2, 3, 0).actions(np.zeros((3, 2)), (0,), RUNS)
    print("ours")
    said = capsys.readouterr()
    assert said.out == "ours\n"
    assert said.err == "target | loud\n" + 6 * "target | loud too\n"


def test_importing_a_file_prints_nothing_on_stdout(tmp_path, capsys):
    (tmp_path / "loud_module.py").write_text("print('hello')\ndef release(data, size, rng): return size\n")
    try:
        load(f"{tmp_path / 'loud_module.py'}:release")
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("loud_module", None)
    assert capsys.readouterr().out == ""


def test_the_working_directory_is_put_back(tmp_path):
    def wandering(data, size, rng):
        os.chdir(tmp_path)
        return np.zeros(size)

    here = os.getcwd()
    ReleaseSampler(wandering, 0).values(0.0, (0,), RUNS)
    assert os.getcwd() == here


@pytest.mark.parametrize(
    "ending", [SystemExit(0), SystemExit("no more"), ValueError("bad\nline"), KeyError(3)]
)
def test_nothing_that_a_target_raises_ends_the_audit_as_if_it_were_right(ending):
    def stop(*arguments):
        raise ending

    with pytest.raises(InputError, match=rf"release raised {type(ending).__name__}: .*test_targets.py:\d+\)"):
        ReleaseSampler(stop, 0).values(0.0, (0,), RUNS)
    with pytest.raises(InputError, match=rf"play raised {type(ending).__name__}") as caught:
        PlaySampler(stop, False, 2, 3, 0).actions(np.zeros((3, 2)), (0,), RUNS)
    assert "\n" not in str(caught.value)


def test_a_file_that_exits_when_imported(tmp_path):
    path = tmp_path / "exits.py"
    path.write_text("import sys\nsys.exit(0)\n")
    try:
        with pytest.raises(InputError, match="raised SystemExit"):
            load(f"{path}:release")
    finally:
        sys.path.remove(str(tmp_path))


def test_a_target_that_seeds_numpy_does_not_change_what_others_draw():
    def seeds(data, size, rng):
        np.random.seed(1)  # noqa: NPY002 - what users do
        return data + rng.laplace(size=size)

    sampler = ReleaseSampler(seeds, 0)
    first, second = (sampler.values(0.0, (0, i), RUNS) for i in range(2))
    assert not np.array_equal(first, second)
    assert np.array_equal(first, sampler.values(0.0, (0, 0), RUNS))
    assert probe_release(sampler, [0.0]).repeatable


def test_draws_from_another_source_are_noted():
    def elsewhere(data, size, rng):
        return np.random.laplace(size=size)  # noqa: NPY002 - what users do

    seen = probe_release(ReleaseSampler(elsewhere, 0), [0.0])
    assert not seen.repeatable
    assert "draws from another source" in seen.notes[0]


def test_state_between_runs_is_noticed_even_if_it_repeats():
    """Each third run explores: asked again in the same order, it would look the same."""
    calls = [0]

    def every_third(rewards, rng):
        calls[0] += 1
        return np.full(3, int(calls[0] % 3 == 0))

    def clean(rewards, rng):
        return rng.integers(0, 2, 3)

    tables = [np.zeros((3, 2))]
    assert not probe_play(PlaySampler(every_third, False, 2, 3, 0), tables).repeatable
    assert probe_play(PlaySampler(clean, False, 2, 3, 0), tables).repeatable


# ---------------------------------------------------------------- noise mutants of generators made of seeds


def of_a_seed(data, size, rng):
    return data + np.random.default_rng(7).laplace(0, 1, size)


def of_its_own(data, size, rng):
    return data + np.random.default_rng().laplace(0, 1, size)


def test_generators_that_are_made_of_seeds_are_scaled_in_mutants_only():
    whole, half = (ReleaseSampler(of_a_seed, 0, factor).values(0.0, (0,), RUNS) for factor in (1.0, 0.5))
    assert np.array_equal(half, whole / 2)
    assert np.array_equal(whole[:, 0], np.random.default_rng(7).laplace(0, 1, len(RUNS)))
    assert type(np.random.default_rng(7)) is np.random.Generator


def test_scaled_seeds_leaves_all_else_as_it_is():
    plain, made = np.random.default_rng, {}
    given = np.random.Generator(np.random.PCG64(1))
    with scaled_seeds(of_a_seed, 0.5), scaled_seeds(of_its_own, 0.25):
        aside = threading.Thread(target=lambda: made.update(other=np.random.default_rng(7)))
        aside.start()
        aside.join()
        made |= {"seed": np.random.default_rng(7), "none": np.random.default_rng()}
        assert np.random.default_rng(given) is given
    assert made["seed"].factor == 0.25
    assert {type(made[name]) for name in ("none", "other")} == {np.random.Generator}
    assert np.random.default_rng is plain
    with scaled_seeds(seeded.ByName, 0.5):
        assert seeded.default_rng(7).factor == 0.5
    assert seeded.default_rng is plain
    with pytest.raises(RuntimeError), scaled_seeds(of_a_seed, 0.5):
        raise RuntimeError
    assert np.random.default_rng is plain


def test_arms_that_are_counted_from_one_are_refused():
    sampler = PlaySampler(lambda rewards, rng: [1, 2, 1], False, 2, 3, 0)
    with pytest.raises(InputError, match=r"must return arms in 0 \.\. 1"):
        sampler.actions(np.zeros((3, 2)), (0,), np.arange(2))


def _mixed(value):
    bits = int(np.float64(value).view(np.int64))
    return (bits ^ (bits >> 29)) % 2**64


def test_rows_that_share_a_code_are_not_taken_for_one_another():
    """Broken variant: rare rows that were made to have the code of the usual ones are merged with them."""
    first, second = (np.random.Generator(np.random.Philox(20210101)).integers(0, 2**62, 2) * 2 + 1).tolist()
    usual, told = (1.0, 0.3), 100.0
    for told in np.arange(100.0, 200.0, 1 / 64):
        code = (_mixed(usual[1]) + (_mixed(usual[0]) - _mixed(told)) * first * pow(second, -1, 2**64)) % 2**64
        signed = bits = code - 2**64 if code >> 63 else code
        for _ in range(3):
            bits = signed ^ (bits >> 29)
        twin = float(np.int64(bits).view(np.float64))
        if np.isfinite(twin) and _mixed(twin) == code:
            break
    values = np.tile(np.array(usual), (1000, 1))
    values[::20] = told, twin
    rows, times = releases._distinct(values)
    assert sorted(zip(rows[:, 0].tolist(), times.tolist(), strict=True)) == [(1.0, 950), (told, 50)]


class Told(np.ndarray):
    """An array that says more than its entries."""


class Number(float):
    """A number that says more than its value."""


class Same(type):
    """Of classes that say that they are `int`."""

    __eq__ = lambda cls, other: other is int or type.__eq__(cls, other)  # noqa: E731
    __hash__ = lambda cls: hash(int)  # noqa: E731


class Alias(int, metaclass=Same):
    """May hold data."""


NOTE = float(np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0])


RICH = {
    "an array of a class": lambda: np.zeros(2).view(Told),
    "a masked array": lambda: np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    "a table": lambda: __import__("pandas").Series([1.0, 2.0], index=[7, 8]),
    "a number of a class": lambda: [Number(1.0), 2.0],
    "within a list": lambda: [[1.0, Number(2.0)], [1.0, 2.0]],
    "numbers longer than floats": lambda: np.array([1, 1e-4000], np.longdouble),
    "one number longer than a float": lambda: [np.longdouble(1), 2.0],
    "a type that says more": lambda: np.zeros(2, np.dtype(float, metadata={"data": 1})),
    "large whole numbers": lambda: np.array([1, 2**53 + 1]),
    "large whole numbers in a list": lambda: [2**53 + 1, 0.5],
    "text with a zero at its end": lambda: ["a\0", "a"],
    "a dictionary": lambda: {0: 1.0, 1: 2.0},
    "an object in an array": lambda: np.array([object(), 1.0], object),
    "a large whole number of numpy beside a float": lambda: [0.5, np.int64(2**53 + 1)],
    "a large whole number without a sign": lambda: [np.uint64(2**53 + 1), 0.5],
    "an array of large whole numbers": lambda: [np.array([0.5]), np.array([2**60])],
    "text of numpy with a zero at its end": lambda: [np.str_("a\0"), np.str_("a")],
    "bits behind no number": lambda: [NOTE, 1.0],
    "bits behind no number of an array": lambda: np.array([1.0, NOTE]),
    "a class that says it is another": lambda: [0, Alias(1)],
}
PLAIN = {
    "numbers": lambda: [1.0, True],
    "numbers of numpy": lambda: (np.float32(1.0), np.int8(2)),
    "whole numbers": lambda: [2**53, -(2**53)],
    "text": lambda: np.array(["a", "b"]),
    "no numbers": lambda: [float("nan"), float("inf") - float("inf")],
    "text of half a pair": lambda: ["\ud800", "a"],
    "arrays": lambda: [np.zeros(3), np.ones(3)],
}


@pytest.mark.parametrize("name", [*RICH, *PLAIN])
def test_what_says_more_than_an_audit_sees_is_refused(name):
    """Such as the index of a table: code could release the data there. Control: plain numbers and text.

    Broken variants: sizes are checked of `int` only, zeros in text of `str` only, and types by equality.
    """
    made = {**RICH, **PLAIN}[name]
    for function in (lambda data, size, rng: made(), lambda data, rng: made()[0]):
        one = function.__code__.co_argcount == 2
        if one and name not in ("a number of a class", *PLAIN):
            continue
        sampler = ReleaseSampler(adapted(function)[1] if one else function, 0)
        if name in PLAIN:
            assert len(sampler.values(0.0, (0,), np.arange(2))) == 2
        else:
            instead = r"list\(x.values\(\)\)" if name == "a dictionary" else "as floats "
            with pytest.raises(InputError, match=f"more than the audit sees; return its values .*{instead}"):
                sampler.values(0.0, (0,), np.arange(2))


ARMS = {
    "an array of a class": lambda: np.zeros(2, int).view(Told),
    "a number of a class": lambda: [Index(1), 0],
    "a type that says more": lambda: np.zeros(2, np.dtype(int, metadata={"data": 1})),
    "a table": lambda: __import__("pandas").Series([1, 0], index=[7, 8]),
    "arms with a form that holds data": lambda: TypedArms.of([1, 0], {0: Index(1)}),
    "arms with forms of a class": lambda: TypedArms.of([1, 0], Index(1)),
    "a class that says it is another": lambda: [0, Alias(1)],
}
PLAIN_ARMS = {
    "numbers": lambda: [1, 0],
    "numbers of numpy": lambda: (np.int8(1), 0.0),
    "an array": lambda: np.array([1.0, 0.0]),
    "numbers in an array": lambda: np.array([1, 0], object).astype(int),
}


class Index(int):
    """May hold data."""


TWINS = {
    "numbers": ([1, 0], [1.0, 0]),
    "a number and a bit": ([1, 0], [True, 0]),
    "a number of numpy": ([1, 0], [np.int64(1), 0]),
    "signs": ([1.0, 0.0], [1.0, -0.0]),
    "signs in an array": (np.array([1.0, 0.0]), np.array([1.0, -0.0])),
    "containers": ([1, 0], (1, 0)),
    "a list or an array": ([1, 0], np.array([1, 0])),
    "types of one size": (np.array([1, 0], np.int64), np.array([1, 0], np.longlong)),
    "how arms were pulled": (TypedArms.of([1, 0], {0: 7}), TypedArms.of([1, 0], {1: 7})),
}


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("name", TWINS)
def test_types_of_arms_are_seen(name, many):
    """Broken variant: only the numbers are read, which are the same. Control: what is equal looks equal."""
    if many and name == "how arms were pulled":
        return
    pair, found = SimpleNamespace(worlds=lambda: (np.zeros((2, 2)),) * 2), []
    for arms in TWINS[name]:
        several = np.array([arms, arms]) if type(arms) is np.ndarray else [arms, arms]
        play = (lambda rewards, n_runs, rng: several) if many else (lambda rewards, rng: arms)  # noqa: B023
        sampler = PlaySampler(play, many, 2, 2, 0)
        made = sampler.raw(pair, 0, 1, 0, np.arange(2))
        assert made[:, :2].tolist() == [[1, 0]] * 2
        found.append(sampler.seen(pair, made).discrete[FORM].tolist())
    assert found[0][0] == found[0][1] != found[1][0] == found[1][1]


def test_the_type_of_an_action_that_is_not_seen_is_not_seen():
    """With joint privacy nobody sees what the user gets whose data changes. Broken variant: its type is."""
    pair, seen = SimpleNamespace(round=1, worlds=lambda: (np.zeros((3, 2)),) * 2), []
    for arms in ([0, 1, 0], [0, True, 0], [0, 1, False]):
        sampler = PlaySampler(lambda rewards, rng, arms=arms: arms, False, 2, 3, 0, joint=True)
        seen.append(sampler.raw(pair, 0, 1, 0, np.arange(1))[0, 3:].tolist())
    assert seen[0] == seen[1] != seen[2]


@pytest.mark.parametrize("name", [*ARMS, *PLAIN_ARMS])
def test_arms_that_say_more_than_an_audit_sees_are_refused(name):
    made = {**ARMS, **PLAIN_ARMS}[name]
    sampler = PlaySampler(lambda rewards, rng: made(), False, 2, 2, 0)
    if name in PLAIN_ARMS:
        assert sampler.actions(np.zeros((2, 2)), (0,), np.arange(2)).shape == (2, 2)
    else:
        with pytest.raises(InputError, match="which can tell a reader more than the audit sees"):
            sampler.actions(np.zeros((2, 2)), (0,), np.arange(2))


@pytest.mark.parametrize(
    ("stored", "name", "other"),
    [
        ({"name": "a.py:f", "path": "a.py"}, "a.py:f", ""),
        ({"name": "a.b:f", "path": "src/a/b.py"}, "a.b:f", ""),
        ({"name": "a.b:f", "path": "a/b/__init__.py"}, "a.b:f", ""),
        ({"name": "a.b:f"}, "a.b:f", ""),  # no file defines it
        ({"name": "a:f", "path": "b.py", "loads": {"a": "00"}}, "a:f", ""),  # it is defined elsewhere
        ({"name": "made"}, "called", ""),  # neither name can be run
        ({"name": "a.py:g"}, "a.py:f", "a.py:g"),
        ({"name": "made"}, "a.py:f", "made"),
        ({"name": "a.py:f", "path": "b.py"}, "a.py:f", "b.py"),
        ({"name": "a.py:f", "path": "c/a.py"}, "a.py:f", "c/a.py"),
        ({"name": "a.b:f", "path": "a/bb.py"}, "a.b:f", "a/bb.py"),
        ({"name": "a.b:f", "path": "xa/b.py"}, "a.b:f", "xa/b.py"),
    ],
)
def test_a_record_names_one_program_to_run(stored, name, other):
    if not other:
        assert CodeSource.read(stored, name) == CodeSource(**stored)
        return
    with pytest.raises(
        InputError, match=f"^the record names two programs to run, '{name}' and '{other}', so we"
    ):
        CodeSource.read(stored, name)


def as_a_list_or_a_tuple(data, rng):
    z = float(data + rng.laplace())
    return [z] if data > 0.5 else (z,)


def in_single_precision(data, size, rng):
    z = (data + rng.laplace(size=size)).astype(np.float32)
    return z if data > 0.5 else z.astype(float)


def in_another_shape(data, size, rng):
    z = data + rng.laplace(size=(size, 2))
    return z if data > 0.5 else z[:, None]


def one_true_of_two(data, rng):
    """The types are both called bool."""
    return [float(data + rng.laplace()), np.True_ if data > 0.5 else True]


def nothing_or_more(data, rng):
    """Right: 0 is an int, and anything else a float, whatever the data are."""
    return max(0, float(data + rng.laplace()))


@pytest.mark.parametrize(
    ("target", "status"),
    [
        (as_a_list_or_a_tuple, "refuted"),
        (in_single_precision, "refuted"),
        (in_another_shape, "refuted"),
        (one_true_of_two, "refuted"),
        (nothing_or_more, "not_refuted"),
    ],
)
def test_types_and_shapes_are_seen(target, status):
    """Broken variants: only the numbers are seen, which are right in all; types are known by a short name."""
    assert audit(target, epsilon=1.0, budget="smoke", in_process=True).verdict == status


def test_what_returns_nothing_is_refused():
    """Broken variant: an audit of no outputs breaks down."""
    sampler = ReleaseSampler(lambda data, size, rng: np.empty((size, 0)), 0)
    with pytest.raises(InputError, match=r"of shape \(size, ...\) with size 6, got \(6, 0\)"):
        sampler.values(0.0, (1, 0), RUNS)


def test_types_and_shapes_are_numbered_beside_the_outputs():
    pair = DataPair(0.0, 1.0)
    sampler = ReleaseSampler(adapted(as_a_list_or_a_tuple)[1], 0)
    left, right = (sampler.raw(pair, world, 1, 0, RUNS) for world in (0, 1))
    assert left.shape == right.shape == (len(RUNS), 1 + ReleaseSampler.beside)
    assert len({*left[:, -1]} | {*right[:, -1]}) == 2
    assert sampler.values(0.0, (1, 0), RUNS).shape == (len(RUNS), 1)


def test_texts_that_an_audit_would_mix_up_are_refused():
    """Broken variant: `plumless` and `buckeroo` have one CRC-32, and count as one output."""

    def told(data, size, rng):
        return np.full(size, "plumless" if data > 0.5 else "buckeroo")

    sampler = ReleaseSampler(adapted(told)[1], 0)
    assert sampler.values(1.0, (1, 0), RUNS).shape == (len(RUNS), 1)
    with pytest.raises(InputError, match="two texts with the same CRC-32"):
        sampler.values(0.0, (1, 0), RUNS)


def outputs_of(release, runs=400):
    sampler = ReleaseSampler(adapted(release)[1], 0)
    return sampler.seen(None, sampler.raw(DataPair(0.0, 1.0), 1, 1, 0, np.arange(runs)))


def test_a_number_beside_a_text_is_read_as_a_number():
    """NumPy makes texts of both. Broken variant: each text counts by its CRC-32, whatever it writes."""

    def told(data, rng):
        return ["noisy", data + rng.laplace(0, 0.5)]

    numbers = outputs_of(told).numeric["output 2"]
    assert abs(np.median(numbers) - 1) < 0.3  # of 400 draws: eight standard errors


@pytest.mark.parametrize("kind", [list, np.array])
def test_an_output_counts_as_it_was_returned(kind):
    """Code that takes it back when it runs again has shown it. Broken variant: all are read at the end."""
    last = []

    def recycled(data, rng):
        if last:
            last.pop()[1] = 0.0
        last.append(kind([float(data) + rng.laplace(0, 1), float(data)]))
        return last[0]

    assert (outputs_of(recycled, 10).numeric["output 2"] == 1.0).all()


def test_how_code_is_called_is_not_read_off_its_attributes():
    """Broken variant: a function that says that it makes one draw a call is believed."""

    def release(data, size, rng):
        return data + rng.laplace(0, 1, size)

    for fact in ("one_at_a_time", "takes_contexts", "driven"):
        setattr(release, fact, True)
        assert not is_known(release, fact)
    assert ReleaseSampler(release, 0).together
    assert is_known(adapted(lambda data, rng: data)[1], "one_at_a_time")
    with pytest.raises(InputError, match="a coroutine function"):
        kind_of(awaited)


async def awaited(data, size, rng):
    return data


awaited.driven = True


@pytest.mark.parametrize("ways", [("3", "3.0"), ("0.5", "0.50"), ("3", "three"), ("-0.0", "0.0")])
def test_how_a_number_is_written_is_seen(ways):
    """A bit may hide there. Broken variant: texts count by their numbers alone."""

    def told(data, rng):
        return ways[int(rng.integers(2))]

    seen = outputs_of(told)
    both = [*seen.numeric.values(), *seen.discrete.values()]
    assert any(len(np.unique(column)) == 2 for column in both)


@pytest.mark.parametrize(
    ("text", "number", "way"),
    [
        ("0.5", 0.5, "float"),
        ("-3", -3.0, "whole"),
        ("3.0", 3.0, "float"),
        ("inf", math.inf, "float"),
        ("0.50", None, "word"),
        (" 3", None, "word"),
        ("1_0", None, "word"),
        ("٣", None, "word"),
        (str(2**53 + 2), None, "word"),
        ("", None, "word"),
    ],
)
def test_what_texts_are_numbers(text, number, way):
    kinds = {"word": releases._WORD, "float": releases._FLOAT, "whole": releases._WHOLE}
    found, kind = releases.written(text)
    assert kind == kinds[way]
    assert math.isnan(found) if number is None else found == number


def test_texts_of_which_hardly_any_recurs_are_refused():
    """Nothing of them is counted twice. Control: labels, and texts that are numbers."""

    def receipt(data, rng):
        return [round(float(data) + rng.laplace(0, 1)), f"ticket {rng.integers(2**53)}: your value {data}"]

    def labels(data, rng):
        return [str(data + rng.laplace(0, 1)), f"ticket {rng.integers(64)}"]

    with pytest.raises(InputError, match=r"texts that hardly ever recur \(output 2\)"):
        outputs_of(receipt)
    assert len(outputs_of(labels).numeric) == 2


@pytest.mark.parametrize(("distinct", "refused"), [(64, False), (65, True)])
def test_a_quarter_of_the_texts_may_be_different_ones(distinct, refused):
    values = np.resize(np.arange(distinct, dtype=np.float64), (256, 1))
    columns = np.column_stack((values + 0.5, values)), np.full(256, 2.0)
    with pytest.raises(InputError, match="output 2") if refused else contextlib.nullcontext():
        releases._counted(*columns)
    releases._counted(columns[0][:255], columns[1][:255])  # too few to say
    releases._counted(columns[0], np.zeros(256))  # no texts


# Data in the form in which they are sent to another process.


DATA = ["'a'", "b'a'", "True", "None", "(1, 'a')", "{'x': [0.5, None]}", "np.array(['a', 2.5], object)"]


@pytest.mark.parametrize("data", [*DATA, "np.float32(0.1)", "np.array(['a', 'bc'])", "[np.eye(2), 1 << 70]"])
def test_data_of_every_kind_are_sent(data):
    """They come out as they were, types included. Control: what is not data is not sent."""
    data = eval(data, {"np": np})
    again = sent.of_json(json.loads(json.dumps(sent.as_json(data))))
    assert (type(again), repr(again)) == (type(data), repr(data))
    assert getattr(again, "dtype", None) == getattr(data, "dtype", None)
    assert sent.as_json({"x": [data, object()]}) is sent.as_json(np.zeros(1 << 21)) is None


@pytest.mark.parametrize("told", [{}, {"value2": 1}, {"of": "V8", "shape": [1], "values": [0]}, {"bytes": 1}])
def test_data_in_another_form_are_refused(told):
    with pytest.raises(InputError, match="described data"):
        sent.of_json(told)


# What is said where a target of a package is not imported by the name that was given.


CODE = "from .shop_util import n\n\ndef play(rewards, rng):\n    return rng.integers(n, size=len(rewards))\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose package is in src, and which is not installed."""
    package = tmp_path / "src" / "shop_of_bandits"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "shop_util.py").write_text("n = 2\n")
    (package / "shop_bandit.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    importlib.invalidate_caches()
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("shop_")]:
        del sys.modules[name]


def test_a_file_of_a_package_imports_from_it(project):
    assert load("src/shop_of_bandits/shop_bandit.py:play").__module__ == "shop_of_bandits.shop_bandit"
    assert "shop_bandit" not in sys.modules


def test_a_module_in_src_says_how_it_is_found(project, monkeypatch):
    with pytest.raises(InputError) as raised:
        load("shop_of_bandits.shop_bandit:play")
    assert str(raised.value).endswith("it is in the folder src: set PYTHONPATH=src")
    monkeypatch.syspath_prepend(project / "src")  # what was advised
    assert load("shop_of_bandits.shop_bandit:play").__name__ == "play"


def test_what_is_nowhere_gets_no_advice(project):
    with pytest.raises(InputError, match=r"No module named 'shop_of_nothing'$"):
        load("shop_of_nothing.bandit:play")


def test_code_that_fails_as_it_is_imported_is_named_with_its_line(tmp_path):
    """Broken variant: the place of the call that imports it, which is ours."""
    code = tmp_path / "late.py"
    code.write_text("import math\n\nimport shop_of_nothing\n")
    with pytest.raises(InputError) as raised:
        load(f"{code}:play")
    assert str(raised.value).endswith(f"No module named 'shop_of_nothing' ({code}:3)")


# Where an upper bound ends is said before an audit, with what to write instead, and that has a bound.


CONSTRUCTS = {name: one for name, one in vars(outside).items() if type(one) is outside.Construct}
DISCLOSED = ("GIVEN", "TAKEN", "SLICED")  # at which the search goes on if what is picked from is disclosed


def found(play):
    return unbounded.outside(PlaySampler(play, False, 2, 12, 0, followed=True))


@pytest.mark.parametrize("name", sorted(CONSTRUCTS.keys() - {"CHOSEN"}))  # of any other expression
def test_a_construct_is_named_and_what_to_write_instead_is_not(name, monkeypatch):
    """Broken variants: a construct without its program, or an advice that does not help."""
    if name in DISCLOSED:
        monkeypatch.setattr(unbounded, "_TELLINGS", 0)
    code, instead = rewritten.TWINS[name]
    (named,) = found(code)
    before, _, after = CONSTRUCTS[name].words.partition("{}")
    assert named.words.startswith(before)
    assert named.words.endswith(after)
    assert named.instead == CONSTRUCTS[name].instead
    assert named.line > code.__code__.co_firstlineno or name in ("BY_PYTHON", "RECURSION")
    assert found(instead) == []


def test_what_was_picked_from_may_be_disclosed():
    """Broken variant: each such place is told of, though a bound may go on there."""
    assert all(found(rewritten.TWINS[name][0]) == [] for name in DISCLOSED)


def test_what_is_disclosed_stays_so(monkeypatch):
    """Broken variants: nothing is disclosed, or the first pick alone; then the next one is told of."""
    assert found(rewritten.taken_by_what_was_taken) == []
    for tellings, construct in enumerate((outside.TAKEN, outside.GIVEN)):
        monkeypatch.setattr(unbounded, "_TELLINGS", tellings)
        told = found(rewritten.taken_by_what_was_taken)
        assert [named.instead for named in told] == [construct.instead]


def test_the_line_is_that_of_the_construct():
    (named,) = found(rewritten.at_a_place)
    assert unbounded.words(named).startswith(
        f"none, because of rewritten.py:{named.line}: calls a table entry"
    )
    assert named.line == rewritten.at_a_place.__code__.co_firstlineno + 1


# What inspect says of a target is found by its objects and by trying, not by its text alone.


ELSEWHERE = "its own generator (default_rng, with a seed from the system), noise_of_another.py:5"


def lines(target, **given):
    return list(inspect_target(target, GivenRole(1.0, **given), 2, 20).lines())


def said(found, word):
    return [line.partition(": ")[2] for line in found if line.startswith(f"{word}: ")]


# ---------------------------------------------------------------- randomness


@pytest.mark.parametrize("name", ["by_name", "by_module", "by_default", "Drawn"])
def test_noise_of_another_module_is_named(name):
    found = said(lines(getattr(noise_imported, name)), "randomness")
    assert ELSEWHERE in found
    assert not any("none but" in line for line in found)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("renamed", "the module random, noise_imported.py:"),
        ("of_the_system", "os.urandom, noise_imported.py:"),
        ("inside", "secrets, noise_imported.py:"),
        ("given", "only the generator that the audit passes"),
    ],
)
def test_sources_are_known_by_any_name_and_others_of_the_file_are_not_told_of(name, words):
    """Broken: reading the text of the target's file only, or all of it."""
    [found] = said(lines(getattr(noise_imported, name)), "randomness")
    assert found.startswith(words)


# ---------------------------------------------------------------- the first call


@pytest.mark.parametrize("kind", first_told.TOLD, ids=lambda kind: kind.__name__)
def test_whether_it_asks_for_a_first_reward_is_tried(kind):
    """Broken: reading the method's own text, which does not show what a method above it asks."""
    told = first_told.TOLD[kind]
    words = ", ".join(f"{name}={value!r}" for name, value in told.items())
    assert any(line.endswith(f"the first call of step receives {words}") for line in lines(kind))
    _, play = taken(kind, GivenRole(1.0))
    seen = []
    original = kind.step

    def step(self, *args, **named):
        seen.append(named)
        return original(self, *args, **named)

    step.__signature__ = inspect.signature(original)
    play(np.full((20, 2), 0.5), np.random.default_rng(0))
    kind.step = step
    try:
        arms = play(np.full((20, 2), 0.5), np.random.default_rng(0))
    finally:
        kind.step = original
    assert seen[0] == told
    assert len(seen) == len(arms) == 20


# ---------------------------------------------------------------- which arm is paid


def paying(name, **options):
    payer = f"{first_told.__name__}:{options.pop('payer', 'sample_reward')}"
    return getattr(first_told, name), GivenRole(1.0, reward=payer, **options)


@pytest.mark.parametrize("name", ["greedy", "listed"])
def test_an_arm_is_known_by_the_mean_that_was_handed_over(name):
    """Broken: the only whole number, which is a mode: arm 0 would be paid in every round."""
    target, given = paying(name)
    kind, play = taken(target, given)
    table = np.zeros((20, 2))
    table[:, 1] = 1.0
    assert kind == "play"
    assert play(table, np.random.default_rng(0)).tolist() == [0, 1, 0] + [1] * 17
    assert list(inspect_target(target, given, 2, 20).lines())[-1] == "the target can be audited unchanged"


def runs_of(play):
    return [play(np.full((20, 2), 0.5), np.random.default_rng(run)).tolist() for run in range(64)]


def test_a_number_that_never_changes_is_not_taken_for_the_arm():
    """Control: one that does."""
    target, given = paying("own_means")
    found = list(inspect_target(target, given, 2, 20).lines())
    assert "sample_reward always received 0 as its only whole number" in found[-1]
    _, play = taken(target, given)
    with pytest.raises(InputError, match="as its only whole number"):
        runs_of(play)
    target, given = paying("right_number", payer="pay")
    assert list(inspect_target(target, given, 2, 20).lines())[-1] == "the target can be audited unchanged"
    _, play = taken(target, given)
    assert runs_of(play) == [[0, 1] * 10] * 64


# Small refusals of what is audited, each by itself: what plays, what it is given, where it comes from.


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
    with pytest.raises(InputError, match="`reward` works only with code that generates its own rewards"):
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
    with pytest.raises(InputError, match="target: choose pulls an arm of the environment itself"):
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
    with pytest.raises(
        InputError, match=r"play_users must return arms of shape \(4, 3\), got shape \(4, 2\)"
    ):
        list(players._together(part(np.zeros((4, 2), int)), users))


# ---------------------------------------------------------------- processes, and where code comes from


def test_a_child_that_tells_nothing():
    with pytest.raises(InputError, match=r"target: .*; there is no verdict"):
        line.told([], 1)


def test_a_process_that_is_lost_before_it_is_ready(monkeypatch):
    def lost(pool):
        raise process._LostError("ended with status 3", process._ENDED)

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
        (Fixed, None, "target must have the parameter horizon for a check of regret"),
        (
            Plain,
            Contexts(2, (2, 2)),
            "environments: Plain does not take contexts, but this population's users have contexts",
        ),
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
