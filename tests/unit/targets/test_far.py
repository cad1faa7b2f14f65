"""Code of another process is asked as code of this one is, and what it answers in another form is refused."""

import json
from contextlib import nullcontext

import numpy as np
import pytest

from verifiable_dp.auditing import independence, ladder
from verifiable_dp.auditing.request import Inputs
from verifiable_dp.auditing.traced import Effort, Entries, Teacher, bound_of_release, trace
from verifiable_dp.core.contexts import AheadError, Contexts
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox.test import Plan, count, select
from verifiable_dp.targets import far
from verifiable_dp.targets.adapters import epsilon_of, made_for, taken
from verifiable_dp.targets.far import Far, FarFunction
from verifiable_dp.targets.line import EndedError, StoppedError
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.releases import DataPair, ReleaseSampler
from verifiable_dp.targets.roles import GivenRole

PLAN = Plan(16, 100, 200, finalists=2)


def release(data, size, rng):
    return data + rng.laplace(0, 0.2, size)


def texts(data, size, rng):
    return np.where(rng.random(size) < 0.5, "no", "yes")


def play(rewards, rng):
    arms = np.zeros(len(rewards), int)
    arms[1:] = int(rewards[0, 0] + rng.laplace(0, 0.2) > 0.5)
    return arms


def scaled(data, size, rng, epsilon):
    return data + rng.laplace(0, 1 / epsilon, size)


def raises(data, size, rng):
    raise (AheadError("too soon") if size == 1 else ValueError("no"))


class Here:
    """Answers as the process of a target does, in this one; `edit` changes what it sends."""

    def __init__(self, target, given=(), edit=None, frame=None):
        self.given, self.edit, self.frame = given, edit or (lambda told: None), frame or (lambda *one: one)
        self.ready, self.left, self.asked = self.sent(far.introduced(target)), iter(()), []

    def sent(self, message):
        message = json.loads(json.dumps(message))
        return self.edit(message) or message

    def ask(self, question):
        self.asked.append(question)
        try:
            message, self.left = far._answer(far.unpickled(question, self.given))
        except InputError as error:
            message, self.left = {"refused": str(error), "error": type(error).__name__}, iter(())
        return self.sent(message)

    def frames(self):
        try:
            for header, content in self.left:
                yield self.frame(json.loads(json.dumps(header)), content)
        except InputError as error:
            self.last = {"refused": str(error)}
            raise StoppedError from None

    def answer(self):
        return self.last


def there(function, kind="release", given=(), **more):
    """The function, as an audit in another process has it."""
    found = Far(Here({"function": function, "kind": kind}, given, **more), given)
    said, functions = found.introduced()
    assert said == kind
    return functions["function"]


PAIRS = {
    "release": (ReleaseSampler(release, 0), [DataPair(0.0, x) for x in (0.1, 1.0, 0.5)]),
    "in turn": (ReleaseSampler(release, 0, rows=1, shard=40), [DataPair(0.0, 1.0)]),
    "play": (PlaySampler(play, False, 2, 2, 0), [TablePair(np.zeros((2, 2)), 0, arm, 1.0) for arm in (0, 1)]),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_are_ranked_and_events_counted_as_where_the_code_is(name):
    """And each part that is made is heard of, where it comes from included."""
    sampler, pairs = PAIRS[name]

    def found(sampler):
        (best,), ranked = select(sampler, pairs, PLAN, delta=0.0, workers=1)
        return best.number, best.event.describe(), ranked, count(sampler, best, (200, 190), 1)

    heard, code = [], there(sampler.function)
    code.far.heard = lambda *part: heard.append(part)
    asked = type(sampler)(**{**vars(sampler), "function": code})
    assert found(asked) == found(sampler)
    tested = [len(rows) for one, pair, path, sizes, part, rows in heard if path[0] == 2]
    assert sum(tested) == 390
    assert {path[0] for _, _, path, *_ in heard} == ({0, 1, 2} if len(pairs) > 1 else {1, 2})


def test_single_calls_give_what_they_give_where_the_code_is():
    runs = np.arange(5)
    here, code = ReleaseSampler(release, 3), there(release)
    asked = ReleaseSampler(code, 3)
    assert np.array_equal(asked.values(0.5, (7, 1), runs), here.values(0.5, (7, 1), runs))
    both = ((np.arange(2), np.arange(3)), np.array([0, 1, 1, 0, 1]))
    pair = DataPair(0.0, 1.0)
    for one, two in zip(asked.raw_mixed(pair, 2, 0, *both), here.raw_mixed(pair, 2, 0, *both), strict=True):
        assert np.array_equal(one, two)


def test_texts_are_told_by_the_numbers_that_stand_for_them():
    asked = ReleaseSampler(there(texts), 0)
    asked.values(0.0, (0,), np.arange(40))
    assert sorted(asked.texts.values()) == ["no", "yes"]


def test_errors_are_those_of_the_code():
    """What an audit goes on after: it goes on asking."""
    asked = ReleaseSampler(there(raises), 0)
    with pytest.raises(InputError, match="release raised ValueError: no"):
        asked.values(0.0, (0,), np.arange(2))
    with pytest.raises(InputError, match="release raised ValueError: no"):
        list(asked.elsewhere(DataPair(0.0, 1.0), (2, 0), (5, 5), (0, 0), 1))
    assert issubclass(far._ERRORS["AheadError"], AheadError)
    with pytest.raises(AheadError, match="too soon"):
        asked.values(0.0, (0,), np.arange(1))


def test_functions_stay_where_they_are():
    """A variant is made there, told of by a number, and runs there; facts are known of each."""
    given = GivenRole(0.5)
    code, target = there(scaled), there(scaled)
    assert epsilon_of(target, given) == ("epsilon", 0.5)
    variant = made_for(target, given, 4.0)
    assert isinstance(variant, FarFunction)
    assert variant.number > target.number
    assert not far.is_process(variant)
    kind, same = taken(target, given)
    assert (kind, isinstance(same, FarFunction)) == ("release", True)
    runs = np.arange(3)
    wide, narrow = (ReleaseSampler(one, 0).values(0.0, (1,), runs) for one in (same, variant))
    assert np.allclose(wide, 4 * narrow)
    with pytest.raises(AttributeError):
        getattr(code, "secrets")  # noqa: B009


def test_a_variant_that_is_none_ends_the_audit():
    """Control: `test_functions_stay_where_they_are`."""
    code = there(scaled, edit=lambda told: {"value": 4.0} if "facts" in told else None)
    with pytest.raises(EndedError, match="that we cannot read"):
        made_for(code, GivenRole(0.5), 4.0)


def test_neighbours_that_the_code_states_are_told_of():
    class Odd:
        def __str__(self):
            return "an odd one"

    odd = Odd()

    def stated(data, size, rng):
        return np.full(size, float(isinstance(data, Odd)))

    stated.neighbours = [(0.5, np.arange(3.0)), (odd, {"a": [1, "b"]})]
    code = there(stated)
    (number, table), (held, mapping) = code.neighbours
    assert (number, table.tolist(), mapping) == (0.5, [0.0, 1.0, 2.0], {"a": [1, "b"]})
    assert str(np.asarray(held)) == "an odd one"
    assert ReleaseSampler(code, 0).values(held, (0,), np.arange(2)).tolist() == [[1.0], [1.0]]
    stated.neighbours = [1, 2]
    with pytest.raises(InputError, match="neighbours must be a list of pairs"):
        far.introduced({"function": stated})


def test_objects_that_both_have_are_the_same_there():
    class Own:
        def __reduce__(self):
            raise TypeError("cannot be pickled")

        def __deepcopy__(self, memo):
            return self

    one = Own()

    def same(data, size, rng):
        return np.full(size, float(data is one))

    code = there(same, given=[one])
    assert ReleaseSampler(code, 0).raw(DataPair(one, 1.0), 0, 2, 0, np.arange(1))[:, 0] == [1.0]
    with pytest.raises(InputError, match="pairs: we cannot send their data to the target's process"):
        ReleaseSampler(code, 0).values(lambda: 0, (0,), np.arange(1))


def test_what_tracing_saw_comes_back():
    """Its result follows from its statistics where it is read; the learnt score is the same."""
    inputs, code = Inputs(2, 4), there(play, "play")
    here, there_ = (trace(one, "play", 1.0, inputs, 0, Effort(4, most=4)) for one in (play, code))
    assert here is not None
    assert there_ is not None
    assert (there_[0].statistics, there_[0].result) == (here[0].statistics, here[0].result)
    assert (there_[1].traces, there_[1].dear) == (here[1].traces, here[1].dear)
    assert [pair.as_dict() for pair in there_[1].suspects] == [pair.as_dict() for pair in here[1].suspects]
    pair = TablePair(np.zeros((4, 2)), 0, 0, 1.0)
    scores = [Teacher(one, 2, 4, (0.0, 1.0), 0, 4)(pair) for one in (play, code)]
    assert scores[0].describe() == scores[1].describe()
    assert np.array_equal(scores[0].score.slopes, scores[1].score.slopes)


def put(**change):
    return lambda told: {**told, **change} if "arrays" in told or "frames" in told else None


def framed(**change):
    return lambda header, content: ({**header, **change}, content)


ARM, TWO = np.ones((5, 2), np.int8).tobytes(), np.zeros((5, 2)).tobytes()
SINGLE = {
    "another form": {"frame": framed(shape=[2, 5])},
    "described data in an unknown form": {"frame": framed(shape="x")},
    "objects": {"frame": framed(of="|O8")},
    "too long": {"frame": lambda header, content: (header, content + b"0")},
    "other numbers": {"frame": lambda header, content: ({"of": "<f4", "shape": [10, 1]}, content)},
    "fewer runs": {"frame": lambda header, content: ({**header, "shape": [4, 1]}, content[:32])},
    "a value": {"edit": lambda told: {"value": 1} if "arrays" in told else None},
    "a function": {"edit": lambda told: {"function": 0, "facts": {}} if "arrays" in told else None},
    "several": {"edit": lambda told: {**told, "arrays": "some"} if "arrays" in told else None},
    "nothing": {"edit": lambda told: {"frames": 0} if "arrays" in told else None},
    "stopped without a reason": {"frame": lambda *one: (_ for _ in ()).throw(InputError("x"))},
}


@pytest.mark.parametrize("name", SINGLE)
def test_answers_in_another_form_end_the_audit(name):
    """Control: `test_single_calls_give_what_they_give_where_the_code_is`. No audit goes on after it."""
    asked = ReleaseSampler(there(release, **SINGLE[name]), 0)
    asked.far.questions.answer = lambda: {"value": 1}  # where there should be a reason
    with pytest.raises(EndedError):
        asked.values(0.5, (0,), np.arange(5))


PARTS = {
    "arms that do not exist": (framed(), lambda content: content.replace(b"\x01", b"\x02")),
    "negative arms": (framed(), lambda content: content.replace(b"\x01", b"\xff")),
    "width": (framed(width=1), None),
    "no width": (framed(width=0), None),
    "a part that there is not": (framed(part=9), None),
    "a part twice": (framed(part=0), None),
    "no part": (framed(part="0"), None),
    "fewer": (framed(), lambda content: content[:-2]),
}


@pytest.mark.parametrize("name", PARTS)
def test_runs_in_another_form_end_the_audit(name):
    """Control: `test_pairs_are_ranked_and_events_counted_as_where_the_code_is`."""
    header, content = PARTS[name]

    def edited(told, sent):
        told, sent = header(told, sent)
        return told, sent if content is None else content(sent)

    code = there(play, "play", frame=edited)
    asked = PlaySampler(code, False, 2, 2, 0, shard=6)
    with pytest.raises(EndedError):
        list(asked.elsewhere(TablePair(np.zeros((2, 2)), 0, 0, 1.0), (2, 0), (9, 9), (0, 0), 1))


def test_parts_that_do_not_come_end_the_audit():
    class Fewer(Here):
        def frames(self):
            yield from list(super().frames())[1:]

    found = Far(Fewer({"function": play, "kind": "play"}))
    asked = PlaySampler(found.introduced()[1]["function"], False, 2, 2, 0)
    with pytest.raises(EndedError, match="in a form"):
        list(asked.elsewhere(TablePair(np.zeros((2, 2)), 0, 0, 1.0), (2, 0), (9, 9), (0, 0), 1))


def test_rows_of_types_without_outputs_end_the_audit():
    """Broken variant: any width will do. Control: the same rows as they were sent."""
    pair, one = DataPair(0.0, 1.0), ((2, 0), (9, 9), (0, 0), 1)
    assert list(ReleaseSampler(there(release), 0).elsewhere(pair, *one))
    fewer = there(
        release, frame=lambda header, content: ({**header, "width": 1}, content[: len(content) // 2])
    )
    asked = ReleaseSampler(fewer, 0)
    with pytest.raises(EndedError):
        list(asked.elsewhere(pair, *one))


def varying(data, size, rng):
    return np.zeros((size, 1 + int(data > 0.5)))


def by_chance(data, size, rng):
    return np.zeros((size, 1 + int(rng.integers(2))))


def test_outputs_that_vary_in_number_are_refused():
    """Control: `test_pairs_are_ranked_and_events_counted_as_where_the_code_is`."""
    asked = ReleaseSampler(there(varying), 0)
    with pytest.raises(
        InputError,
        match="the same number of outputs in every run, on an input and on its neighbour, got 1 and 2",
    ):
        list(asked.elsewhere(DataPair(0.0, 1.0), (2, 0), (9, 9), (0, 0), 1))
    with pytest.raises(InputError, match="the same number of outputs in every run"):
        independence.dependent(ReleaseSampler(by_chance, 0), [0.0])


CALLS = {
    "fewer calls": lambda header, content: ({**header, "shape": [0, *header["shape"][1:]]}, b""),
    "fewer runs": lambda header, content: ({**header, "shape": [1, 4, 1]}, content[:-8]),
    "other numbers": lambda header, content: ({**header, "of": "<i8"}, content),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_that_are_asked_for_together_are_as_one_by_one_and_of_no_other_form(name):
    asked, one, path = ReleaseSampler(there(release), 0), ReleaseSampler(release, 0), (7,)
    found = independence.of_calls(asked, 0.5, path, 1, 3, 5)
    assert np.array_equal(found, [independence.features(one, 0.5, (*path, call), 5) for call in (1, 2, 3)])
    with pytest.raises(EndedError, match="in a form"):
        independence.of_calls(ReleaseSampler(there(release, frame=CALLS[name]), 0), 0.5, path, 1, 3, 5)


def test_what_is_compared_of_calls_is_computed_here(monkeypatch):
    """Broken variant: the code's process computes it, and may send what it likes within its form."""
    asked, sent = ReleaseSampler(there(release), 0), []
    monkeypatch.setattr(independence, "_ENTRIES", 16)
    monkeypatch.setattr(independence, "_features", lambda sampler, made: sent.append(made) or made)
    assert independence.of_calls(asked, 0.5, (7,), 1, 6, 5).shape == (6, 5, sent[0].shape[1])
    assert len(sent) == 6


def test_more_frames_than_there_are_parts_end_the_audit():
    """So that nothing is waited for, or kept, without an end."""
    asked = ReleaseSampler(there(release, edit=put(frames=3)), 0)
    with pytest.raises(EndedError, match="that we cannot read"):
        asked.values(0.5, (0,), np.arange(5))
    made = asked.elsewhere(DataPair(0.0, 1.0), (2, 0), (9, 9), (0, 0), 1)
    with pytest.raises(EndedError, match="that we cannot read"):
        list(made)


@pytest.mark.parametrize("sizes", [[-1], [10**12], ["1"], 3])
def test_sizes_that_no_data_have_end_the_audit(sizes):
    code = there(release, edit=lambda told: {"value": sizes} if "value" in told else None)
    with pytest.raises(EndedError, match="that we cannot read"):
        ladder.sizes_in(code)
    assert ladder.sizes_in(there(release)) == ladder.sizes_in(release)


FORM = Contexts(2, (3,))  # its tables have a column for each number of a context beside those of the arms


@pytest.mark.parametrize(
    ("form", "place", "read"),
    [
        (None, (9, 0), False),
        (None, (3, 1), True),
        (None, (3, 2), False),
        (FORM, (3, 4), True),
        (FORM, (3, 5), False),
    ],
)
def test_a_place_beyond_the_table_ends_the_audit(form, place, read):
    def edited(told):
        return {"value": {**told["value"], "dear": [[*place]]}} if "value" in told else None

    played = (lambda contexts, rewards, rng: play(rewards, rng)) if form else play
    _, function = taken(played, GivenRole(contexts=form))
    code, inputs = there(function, "play", edit=edited), Inputs(2, 4, contexts=form and 3)
    with nullcontext() if read else pytest.raises(EndedError, match="that we cannot read"):
        assert trace(code, "play", 1.0, inputs, 0, Effort(4, most=4))[1].dear == (place,)


def test_what_is_a_command_is_known_from_what_was_asked():
    code = there(release, edit=lambda told: {**told, "function": {"function": 0, "facts": {"process": True}}})
    assert not far.is_process(code)


INTRODUCED = {
    "another word for it": {"function": 3},
    "no kind": {"kind": None},
    "no function": {"function": {"number": 1}},
    "no number": {"function": {"function": "0", "facts": {}}},
    "no facts": {"function": {"function": 0}},
    "no data": {"function": {"function": 0, "facts": {"neighbours": [[{"of": "V8"}, 1]]}}},
}


@pytest.mark.parametrize("name", INTRODUCED)
def test_targets_are_introduced_in_one_form(name):
    code = there(release)
    code.far.questions.ready = {**code.far.questions.ready, **INTRODUCED[name]}
    with pytest.raises((EndedError, InputError)):
        code.far.introduced()


def test_a_target_that_refuses_to_be_introduced_says_why():
    code = there(release)
    code.far.questions.ready = {"refused": "exec: cannot be started"}
    with pytest.raises(InputError, match="cannot be started"):
        code.far.introduced()


BOUND = {  # which holds, of code that has public states
    "epsilon": 0.0,
    "delta": 0.0,
    "scope": "certified",
    "paths": None,
    "method": "states",
    "premises": [],
    "certificate": {"form": "normal", "states": []},
}


@pytest.mark.parametrize("told", [[BOUND, None], [{**BOUND, "method": "tracing"}, None], [1, None], "x", []])
def test_bounds_of_another_form_end_the_audit(told):
    """Such as one that is said to follow from public states, of code that is traced."""
    code = there(release, edit=lambda sent: {"value": told} if "value" in sent else None)
    with pytest.raises(EndedError, match="that we cannot read"):
        bound_of_release(code, "x", [()], Entries(0.0, 1.0), 0.0)
