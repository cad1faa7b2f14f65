"""Checkpoints: results as data, files that are torn or foreign, and audits that are broken off anywhere."""

import errno
import functools
import hashlib
import json
import math
import re
import stat
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import verifiable_dp as vdp
from verifiable_dp import api
from verifiable_dp.auditing import execution_plan, identity, pipeline, resume
from verifiable_dp.auditing.algorithms import AlgorithmCase, AlgorithmCaseState
from verifiable_dp.auditing.bandits import PlayCase, PlayCaseState
from verifiable_dp.auditing.contextual import ContextualCase
from verifiable_dp.auditing.mechanisms import ReleaseCase
from verifiable_dp.auditing.plans import sizes_of
from verifiable_dp.auditing.request import AuditRequest
from verifiable_dp.auditing.rounds_of_testing import Look, UserCaseState
from verifiable_dp.core import engine
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import (
    ContextGame,
    ContextPair,
    GroupPair,
    StreamPair,
    TablePair,
    UserPair,
)
from verifiable_dp.core.reactions import Reaction
from verifiable_dp.evidence.blackbox import adversary, events, learning, scores
from verifiable_dp.evidence.blackbox.observations import Observation
from verifiable_dp.evidence.blackbox.test import Plan, Selected
from verifiable_dp.evidence.check import Check
from verifiable_dp.record.sealing import without_run
from verifiable_dp.record.verify import verify
from verifiable_dp.registry import entries as registry

# ---------------------------------------------------------------- results as data

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
NESTED = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text().filter(lambda key: not key.startswith("!")), inner, max_size=3)
    ),
    max_leaves=12,
)


def through(value):
    """As a file gives it back."""
    return resume.unpacked(resume.packed(value))


@given(NESTED)
def test_plain_values_come_back_with_their_types(value):
    back = through(value)
    assert back == value
    assert repr(back) == repr(value)


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.1, -0.0, np.nan, np.inf, 5e-324]),
        np.arange(6, dtype=np.int32).reshape(2, 3),
        np.zeros((0, 2)),
        np.array([True, False]),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    ],
)
def test_arrays_come_back_to_the_last_bit(array):
    back = through({"x": array})["x"]
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == np.ascontiguousarray(array).tobytes()
    back[...] = 0  # may be written to, as the original


def test_numbers_of_numpy_become_plain_ones():
    assert type(through(np.int64(3))) is int
    assert type(through(np.float64(0.5))) is float


@pytest.mark.parametrize(
    "pair",
    [
        TablePair(np.zeros((3, 2)), 1, 0, 1.0),
        StreamPair(np.zeros(3), 1, 1.0, 2, (0.0, 1.0)),
        GroupPair(np.zeros((3, 2)), [(0, 0, 1.0), (1, 1, 1.0)]),
        UserPair(np.zeros((3, 2)), np.array([0, 1, 0]), 0, np.ones((2, 2))),
    ],
)
def test_pairs(pair):
    back = through([pair])[0]
    assert type(back) is type(pair)
    assert back.as_dict() == pair.as_dict()


USERS = ContextPair(Contexts(2, (1,)), np.ones((3, 1)), np.zeros((3, 2)), 1, reward=[1.0, 0.0])


@pytest.mark.parametrize("pair", [USERS, ContextGame(USERS, Reaction("aim", True))])
@pytest.mark.parametrize("model", ["joint", "central"])
def test_pairs_of_users_keep_who_sees_the_own_action(pair, model):
    """It is not in their record: without it, what follows after a pause would be of another model."""
    pair = pair.under(model)
    back = through([pair])[0]
    assert type(back) is type(pair)
    assert back.as_dict() == pair.as_dict()
    assert back.joint == (model == "joint")


def _observed(shift: float) -> Observation:
    rng = np.random.default_rng(int(10 * shift))
    first, second = rng.laplace(shift, 1, 4000), rng.laplace(0, 1, 4000)
    first[:100] = np.nan
    return Observation(
        4000,
        {"prefix of 1": rng.integers(0, 3, 4000), "prefix of 2": rng.integers(0, 9, 4000)},
        {"output 1": first, "output 2": second},
        actions=rng.integers(0, 2 + int(shift), (4000, 5)),
        change=(1, 0, 3),
    )


def test_every_kind_of_score_scores_the_same():
    """All score classes are registered: one that is forgotten would end an audit with a checkpoint."""
    left, right = _observed(0.0), _observed(1.0)
    features = learning.features(left)
    made = [
        scores.Likelihood(),
        scores.ScoreColumn(features[0], -1),
        learning.learn_codes("prefix of 2", left, right),
        scores.Departure(("prefix of 1", "prefix of 2"), np.array([1, 4]), np.array([0.5, 0.0, -0.5])),
        learning.learn_bins(left, right, columns=features, group="prefix of 1"),
        learning.learn_logistic(left, right, columns=features),
        learning.learn_boosted(left, right, columns=features, group="prefix of 1"),
        learning.learn_rounds(left, right),
        learning.learn_met(left, right, recipe=learning.learn_rounds),
    ]
    classes = {
        thing for thing in vars(scores).values() if isinstance(thing, type) and hasattr(thing, "describe")
    }
    assert {type(score) for score in made} == classes - {scores.Feature, scores.Score}
    for score in made:
        event = events.Event(score, 0.25, True, 0.1, (0.5, 0.25), 4000)
        back = through(event)
        assert back.describe() == event.describe()
        assert np.array_equal(back.score(right), score(right), equal_nan=True)
        assert back.hits(right) == event.hits(right)


@pytest.mark.parametrize("value", [object(), {"x": {1, 2}}, np.array(["a"]), np.array([object()]), 1j, print])
def test_other_things_are_refused(value):
    with pytest.raises(TypeError, match="a checkpoint cannot hold"):
        resume.packed(value)


@pytest.mark.parametrize(
    "stored",
    [
        {"!Popen": {"args": ["true"]}},
        {"!os.system": {"command": "true"}},
        {"!array": ["O", [1], "AAAA"]},
        {"!array": ["<f8", [10], "AAAA"]},
        {"!pair": {"type": "interactive", "adversary": "os.system", "bounds": [0, 1]}},
        {"!Check": {"name": "c"}},
        {"!": 1},
    ],
)
def test_what_is_not_ours_makes_nothing(stored):
    with pytest.raises((ValueError, KeyError, TypeError)):
        resume.unpacked(json.dumps(stored))


# ---------------------------------------------------------------- files

OF = {"target": "x", "seed": 3}


class Cut(Exception):
    """Stands for a kill."""


def three(calls, fail_at=None):
    """Three steps, the second with a step and two tasks within it."""

    def step(name, value):
        def compute():
            calls.append(name)
            if name == fail_at:
                raise Cut
            return value

        return engine.kept(name, compute, 1)

    def outer():
        inner = step("inner", [1.5, math.nan])
        return [inner, sum(engine.ordered(_double, [1, 2], step="tasks"))]

    return [step("a", {"x": 1}), engine.kept("outer", outer), step("a", "again")]


def sealed(line, key):
    """A line whose sum is right again, by whoever has the key."""
    text = line.rpartition(b',"sum":')[0]
    return text + resume._sealed(text, key)


def _double(x):
    return 2 * x


def said():
    lines = []
    return lines, lines.append


def test_steps_are_kept_and_nested_ones_are_found_again(tmp_path):
    path, calls = tmp_path / "c", []
    with pytest.raises(Cut), resume.at(path, lambda: OF, print):
        three(calls, fail_at="inner")
    assert calls == ["a", "inner"]
    lines, say = said()
    with resume.at(path, lambda: OF, say):
        result = three(calls)
    assert calls == ["a", "inner", "inner", "a"]
    assert lines == ["checkpoint: continuing after 1 finished steps"]
    with resume.at(path, lambda: OF, print) as steps:
        assert repr(three(calls)) == repr(result)
        assert steps.found == 6  # a, inner, two tasks, outer, a
    assert len(calls) == 4
    assert engine.kept("outside", lambda: 7) == 7


def test_a_step_that_was_asked_for_something_else_is_made_again(tmp_path):
    with resume.at(tmp_path / "c", lambda: OF, print):
        assert engine.kept("n", lambda: 1, "ten runs") == 1
    with resume.at(tmp_path / "c", lambda: OF, print):
        assert engine.kept("n", lambda: 2, "twenty runs") == 2
    with resume.at(tmp_path / "c", lambda: OF, print):  # the last word counts
        assert engine.kept("n", lambda: 3, "twenty runs") == 2


def test_a_file_torn_at_any_byte_gives_what_is_whole(tmp_path):
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, print):
        whole = three([])
    content = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(content) if byte == ord("\n")]
    for size in range(0, len(content) + 1, 7):
        path.write_bytes(content[:size])
        with resume.at(path, lambda: OF, print) as steps:
            assert steps.found == max(sum(end <= size for end in ends) - 1, 0)
            assert repr(three([])) == repr(whole)
        with resume.at(path, lambda: OF, print) as steps:
            assert steps.found == len(ends) - 1  # what came after half a line is there, too
    path.write_bytes(content)


def test_a_changed_line_and_all_after_it_are_dropped(tmp_path):
    """Negative control of the sums: the same edit with a right sum is believed."""
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, print) as steps:
        three([])
    lines = path.read_bytes().splitlines(keepends=True)
    edited = lines[1].replace(b'{"x":1}', b'{"x":2}')
    assert edited != lines[1]
    path.write_bytes(b"".join([lines[0], edited, *lines[2:]]))
    with resume.at(path, lambda: OF, print) as steps:
        assert steps.found == 0
        assert three([])[0] == {"x": 1}
    path.write_bytes(b"".join([lines[0], sealed(edited, steps._key), *lines[2:]]))
    with resume.at(path, lambda: OF, print):
        assert three([])[0] == {"x": 2}
    endless = re.sub(rb'"cpu":[^,]*', b'"cpu":1' + b"0" * 400, lines[1])  # no float holds it
    path.write_bytes(b"".join([lines[0], sealed(endless, steps._key)]))
    with resume.at(path, lambda: OF, print) as steps:
        assert steps.found == 0


@pytest.mark.parametrize("content", [b"my thesis\n", b'{"format":"other"}\n', b"\x00" * 100, b"[" * 100_000])
def test_a_file_that_is_no_checkpoint_is_left_alone(tmp_path, content):
    path = tmp_path / "c"
    path.write_bytes(content)
    with pytest.raises(vdp.InputError, match="is not a checkpoint; nothing was changed in it"):
        resume.Checkpoint(path, OF, print)
    assert path.read_bytes() == content


@pytest.mark.parametrize("key", ["none", "guessed", "of another run", "readable"])
def test_what_others_write_into_it_is_made_again(key, tmp_path):
    """An edited line with a sum that anyone can compute turned refuted into not refuted."""
    path, place = tmp_path / "c", tmp_path / "c.key"
    with resume.at(path, lambda: OF, print):
        three([])
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    lines = path.read_bytes().splitlines(keepends=True)
    text = lines[1].replace(b'{"x":1}', b'{"x":2}').rpartition(b',"sum":')[0]
    plain = f',"sum":"{hashlib.sha256(text).hexdigest()[:32]}"}}\n'.encode()
    ends = {"none": plain, "guessed": resume._sealed(text, b"0" * 32)}
    with resume.at(tmp_path / "other", lambda: OF, print) as steps:
        ends["of another run"] = resume._sealed(text, steps._key)
    with resume.at(path, lambda: OF, print) as steps:
        ends["readable"] = resume._sealed(text, steps._key)
    if key == "readable":  # who could read the key could have written the line
        place.chmod(0o644)
    path.write_bytes(b"".join([lines[0], text + ends[key], *lines[2:]]))
    with resume.at(path, lambda: OF, print) as steps:
        assert steps.found == 0
        assert three([])[0] == {"x": 1}
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    resume.forget(path)
    assert not {"c", "c.key"} & {entry.name for entry in tmp_path.iterdir()}


def test_lines_of_one_audit_are_not_anothers(tmp_path):
    """Also where the key stayed beside the file."""
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, print):
        three([])
    lines = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    other = {**OF, "seed": 4}
    with resume.at(path, lambda: other, print):
        pass
    path.write_bytes(path.read_bytes() + b"".join(lines[1:]))
    with resume.at(path, lambda: other, print) as steps:
        assert steps.found == 0


def test_a_record_says_that_its_audit_was_resumed(tmp_path):
    path = tmp_path / "c"
    asked = {"budget": 0.02, "mutants": False, "checkpoint": path}
    first = vdp.audit("tree-sum", **asked)
    assert "resumed" not in first.record["provenance"]
    again = vdp.audit("tree-sum", **asked)
    assert again.record["provenance"]["resumed"]["steps"] > 0
    assert "note: the audit was resumed" in again.summary()
    assert first.record["checks"] == again.record["checks"]


def test_hostile_lines_are_no_steps(tmp_path):
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, print):
        three([])
    good = path.read_bytes()
    for bad in (b"[" * 200_000 + b"\n", b'{"step":1}\n', b"null\n", b"\xff\xfe\n", b'{"sum":[]}\n'):
        path.write_bytes(good + bad)
        with resume.at(path, lambda: OF, print) as steps:
            assert steps.found == 6
        assert path.read_bytes() == good


def test_another_audit_is_refused_and_a_run_of_many_begins_anew(tmp_path):
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, print):
        three([])
    with (
        pytest.raises(resume.OtherAuditError, match="belongs to another audit"),
        resume.at(path, lambda: {**OF, "seed": 4}, print),
    ):
        pass
    assert path.stat().st_size > 0

    def make(where):
        with resume.at(where, lambda: {**OF, "seed": 4}, print) as steps:
            return None if steps is None else steps.found

    assert resume.attempt(make, path) == 0
    path.write_bytes(b"not ours")
    assert resume.attempt(make, path) is None
    assert path.read_bytes() == b"not ours"


def test_only_one_audit_at_a_time(tmp_path):
    path = tmp_path / "c"
    with (
        resume.at(path, lambda: OF, print),
        pytest.raises(vdp.InputError, match="in use by another audit"),
    ):
        resume.Checkpoint(path, OF, print)
    resume.Checkpoint(path, OF, print).close()


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(vdp.InputError, match=r"checkpoint: .* cannot be written"):
        resume.Checkpoint(tmp_path / "no" / "c", OF, print)


def test_a_full_disk_ends_the_keeping_and_not_the_audit(tmp_path, monkeypatch):
    lines, say = said()
    path = tmp_path / "c"
    with resume.at(path, lambda: OF, say) as steps:
        assert engine.kept("a", lambda: 1) == 1

        class Full:
            def __init__(self, file):
                self._file = file

            def __getattr__(self, name):
                return getattr(self._file, name)

            def flush(self):
                raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(steps, "_file", Full(steps._file))
        assert [engine.kept("b", lambda: 2), engine.kept("b", lambda: 3)] == [2, 3]
        monkeypatch.undo()
    assert len(lines) == 1
    assert "No space left on device; going on" in lines[0]
    with resume.at(path, lambda: OF, print) as steps:
        assert steps.found == 1


def test_a_result_of_someone_elses_class_is_made_again(tmp_path):
    for made in ("first", "second"):
        with resume.at(tmp_path / "c", lambda: OF, print) as steps:
            assert engine.kept("theirs", lambda made=made: {made}) == {made}
            assert steps.found == 0


def test_results_of_several_workers_are_the_same(tmp_path):
    with resume.at(tmp_path / "c", lambda: OF, print):
        assert engine.ordered(_double, list(range(20)), workers=2, step="t") == [2 * i for i in range(20)]
    with resume.at(tmp_path / "c", lambda: OF, print) as steps:
        assert steps.found == 20
        assert engine.ordered(None, list(range(20)), step="t") == [2 * i for i in range(20)]


# ---------------------------------------------------------------- identity


def test_an_audit_is_known_by_target_code_and_options(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def release(data, size, rng):\n    return data + rng.laplace(0, 1, size)\n")
    name = f"{file}:release"

    def known(**asked):
        thing, called = api.resolve(name)
        return identity.of(thing, called, **{"seed": 0, **asked})

    first = known()
    assert known() == first
    assert known(seed=1) != first
    (tmp_path / "helper.py").write_text("x = 1\n")
    assert known() != first
    one, other = vdp.make("ucb1", n_arms=2, horizon=10), vdp.make("ucb1", n_arms=2, horizon=11)
    assert identity.of(one, "ucb1") != identity.of(other, "ucb1")


def test_code_that_is_not_known_by_its_name_is_refused(tmp_path):
    def local(data, size, rng):
        return data + rng.laplace(0, 1, size)

    for target in (local, lambda data, size, rng: rng.laplace(0, 1, size)):
        with pytest.raises(vdp.InputError, match=r"checkpoint works only with .* whose code cannot be told"):
            vdp.audit(target, epsilon=1, budget=1, checkpoint=tmp_path / "c")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- the state of a case

PAIR, PLAN = TablePair(np.zeros((3, 2)), 1, 0, 1.0), Plan(24, 100, 200)
COUNTED = {"k1": 9, "n1": 50, "k0": 1, "n0": 50, "epsilon": 1.0, "delta": 0.0}
CHECK = Check.of("a look", "black_box", {**COUNTED, "alpha": 1e-6, "confidence": 0.95, "tests": 1})
CHOSEN = Selected(0, PAIR, events.Event(scores.Likelihood(), 0.25, True, 0.1, (0.5, 0.25), 4000))
LOOK = Look([CHECK], CHOSEN, [PAIR], ("it varies",), 1, 2, True, 3)
ANY = {"plan": PLAN, "checks": [CHECK], "counterexamples": [{"p_value": 0.5}], "power": {}, "mutants": [{}]}
OF_USER = {
    "varied": True,
    "last": LOOK,
    "lead": LOOK,
    "near": LOOK,
    "black_boxes": 2,
    "no_power": "none",
    "unbounded": "why",
    "used": (7, True),
    "measured": {"first": 7},
}
STATES = [
    AlgorithmCaseState(
        **ANY,
        game=adversary.AdversarySizes(1, 2, 3, 4, 5, 6),
        worst={"cost": 1.0},
        chosen=CHOSEN,
        best=[PAIR],
        spoken=["a game"],
        part=4,
    ),
    UserCaseState(**ANY, **OF_USER),
    PlayCaseState(
        **ANY, **OF_USER, pairs=[PAIR], dear=[[0, 1]], tried={"pairs": 3}, unplayed="ahead", game=PLAN
    ),
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: type(state).__name__)
def test_the_state_of_a_case_comes_back(state):
    """With every field filled: one that no file can hold would have each rung run again."""
    assert all(getattr(state, one.name) not in (one.default, None) for one in fields(state))
    back = through(state)
    assert type(back) is type(state)
    assert resume.packed(back) == resume.packed(state)
    assert {name: type(value) for name, value in vars(back).items()} == {
        name: type(value) for name, value in vars(state).items()
    }


def test_every_kind_of_case_has_one_of_these_states():
    kinds = {case.state_kind() for case in (AlgorithmCase, ContextualCase, PlayCase, ReleaseCase)}
    assert kinds == {type(state) for state in STATES}


@pytest.mark.parametrize(
    ("name", "kept"), [("worst", True), ("plan", True), ("subject", False), ("claim", False), ("more", False)]
)
def test_a_rung_changes_nothing_but_the_state(name, kept):
    """What else it changed would be forgotten where an audit goes on after it."""
    case = AlgorithmCase.of(AuditRequest(registry.make("tree-sum", epsilon=1.0, horizon=8), "tree-sum"))
    before = case.state()

    def run(case):
        setattr(case, name, getattr(case, name, None))

    climb = functools.partial(pipeline.climb, case, [pipeline.Rung("", lambda case: True, run)])
    if kept:
        assert climb()["checks"] == []
        assert case.state() == before
    else:
        with pytest.raises(AttributeError, match=f"{name} is set once: what a rung changes belongs in a"):
            climb()


# ---------------------------------------------------------------- audits that are broken off

MECHANISM = """
import numpy as np

def release(data, size, rng):
    return np.sum(data) + rng.laplace(0, 1, size)

def play_many(rewards, n_runs, rng):
    half = len(rewards) // 2
    arms = np.tile(np.arange(len(rewards)) % 2, (n_runs, 1))
    sums = rewards[:half].sum(axis=0) + rng.laplace(0, 1, (n_runs, 2))
    arms[:, half:] = sums.argmax(axis=1)[:, None]
    return arms

def play(rewards, rng):
    return play_many(rewards, 1, rng)[0]
"""


def core(record):
    """What of a record does not name the run."""
    return without_run(record)


def broken_off(monkeypatch, path, audit, after):
    """Run an audit that is cut after so many steps; None if it ended before."""
    left = iter(range(after))

    def keep(self, step, asked, result, own=resume.Checkpoint.keep):
        if next(left, None) is None:
            raise Cut
        own(self, step, asked, result)

    with monkeypatch.context() as patch:
        patch.setattr(resume.Checkpoint, "keep", keep)
        try:
            return audit(checkpoint=path)
        except Cut:
            return None


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tree-sum", {}),
        pytest.param("dp-se", {"curve": True, "mutants": False}, marks=pytest.mark.slow),
        pytest.param("dp-se", {"group": 2, "mutants": False, "sequential": True}, marks=pytest.mark.slow),
    ],
)
def test_an_algorithm_broken_off_anywhere_gives_the_same_record(tmp_path, monkeypatch, name, options):
    """Negative control: a finished rung that is changed in the file changes the record."""
    path = tmp_path / "c"

    def audit(**more):
        return vdp.audit(name, budget=0.05, seed=5, **options, **more)

    whole = audit()
    attempts = 0
    while (report := broken_off(monkeypatch, path, audit, 9)) is None:
        attempts += 1
        assert attempts < 40
    assert attempts >= 2
    assert json.dumps(core(report.record)) == json.dumps(core(whole.record))
    verify(report.save(tmp_path / "out")[0])

    lines = path.read_bytes().splitlines(keepends=True)
    row = json.loads(lines[-1])
    counted = [check["!Check"]["statistics"] for check in row["value"]["!AlgorithmCaseState"]["checks"]]
    found, key = next((found, key) for found in counted for key in ("k1", "runs") if key in found)
    found[key] += 1
    keys, real = [], resume._sealed
    with monkeypatch.context() as patch:
        patch.setattr(resume, "_sealed", lambda text, key: keys.append(key) or real(text, key))
        audit(checkpoint=path)
    lines[-1] = sealed(resume.packed(row), keys[-1])
    path.write_bytes(b"".join(lines))
    assert json.dumps(core(audit(checkpoint=path).record)) != json.dumps(core(whole.record))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("release", {}),
        pytest.param("release", {"numerics": True}, marks=pytest.mark.slow),
        pytest.param("release", {"rho": 0.5, "epsilon": None}, marks=pytest.mark.slow),
        pytest.param("play_many", {"n_arms": 2, "horizon": 12}, marks=pytest.mark.slow),
        pytest.param("play_many", {"n_arms": 2, "horizon": 12, "sequential": True}, marks=pytest.mark.slow),
        pytest.param("play", {"n_arms": 2, "horizon": 12}, marks=pytest.mark.slow),
    ],
)
def test_a_users_code_broken_off_gives_what_its_plan_gives(tmp_path, monkeypatch, name, options):
    """Sizes are measured in time, once; the record of all attempts is that of one run with these sizes."""
    (tmp_path / "mine.py").write_text(MECHANISM)
    path, target = tmp_path / "c", f"{tmp_path / 'mine.py'}:{name}"

    def audit(**more):
        given = {"epsilon": 1.0, "budget": 0.2, "seed": 2, "in_process": True}
        return vdp.audit(target, **{**given, **options, **more})

    attempts = 0
    while (report := broken_off(monkeypatch, path, audit, 8 if name.startswith("play") else 4)) is None:
        attempts += 1
        assert attempts < 60
    assert attempts >= 1
    again = api.rerun(report.record)
    assert again["checks"] == report.record["checks"]
    assert again["power"] == report.record["power"]
    assert again["counterexamples"] == report.record["counterexamples"]


def refused(*given, **named):
    raise AssertionError("it was finished")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tree-sum", {"budget": 0.05}),
        ("release", {"budget": 0.1, "epsilon": 1.0, "numerics": True, "in_process": True}),
        pytest.param("dp-se", {"budget": 0.05, "mutants": False}, marks=pytest.mark.slow),  # it plays a game
        pytest.param(
            "play",
            {"budget": 0.2, "epsilon": 1.0, "n_arms": 2, "horizon": 12, "in_process": True},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_is_finished_is_not_run_again(tmp_path, monkeypatch, name, options):
    (tmp_path / "mine.py").write_text(MECHANISM)
    path, target = tmp_path / "c", name if "-" in name else f"{tmp_path / 'mine.py'}:{name}"
    whole = vdp.audit(target, seed=5, checkpoint=path, **options)
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "_after", refused)
        report = vdp.audit(target, seed=5, checkpoint=path, **options)
    assert core(report.record) == core(whole.record)
    lines = path.read_bytes().splitlines(keepends=True)
    assert report.record["provenance"]["cpu_seconds"] >= json.loads(lines[-1])["cpu"] > 0
    path.write_bytes(b"".join(lines[:-1]))  # killed in the last rung: it builds on what the others found
    assert core(vdp.audit(target, seed=5, checkpoint=path, **options).record) == core(whole.record)
    path.write_bytes(b"".join(lines[:1]))
    monkeypatch.setattr(pipeline, "_after", refused)
    with pytest.raises(AssertionError, match="it was finished"):
        vdp.audit(target, seed=5, checkpoint=path, **options)


def test_that_the_cap_has_cut_the_runs_is_not_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr(execution_plan, "_seconds", lambda *_: 0.1)
    for cap, capped in ((300.0, True), (1e6, False)):
        for _ in range(2):
            with resume.at(tmp_path / str(cap), lambda: OF, print):
                budget = replace(sizes_of("quick"), seconds=cap)
                allowed = execution_plan._allowance(
                    budget, "play", execution_plan.StageSizes(None), refused, print
                )
                assert allowed.capped == capped
