"""What checks hold, as types: fields that a kind does not name, that go together, that are true or absent."""

from typing import ClassVar

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from verifiable_dp.evidence.fields import Real, Recorded, RegretResult
from verifiable_dp.evidence.tracing.numbers import FlowStep, LeftAt, TracedNote, TracingResult


class Either(Recorded, frozen=True):
    either: ClassVar[tuple[str, ...]] = ("runs", "counts")

    runs: int | UnsetType = UNSET
    counts: int | UnsetType = UNSET


class Only(Recorded, frozen=True):
    only: ClassVar[tuple[str, ...]] = ("carried",)

    carried: bool | UnsetType = UNSET


class Wide(Recorded, frozen=True, forbid_unknown_fields=False):
    rest: ClassVar = Real

    size: int


STEP = {"file": "a.py", "line": 1, "role": "raw", "words": "", "source": "", "count": 0}
RESULT = {"verdict": "refuted", "holds": False, "epsilon_lower": "inf", "cost_over_epsilon": "inf"}


@pytest.mark.parametrize(
    ("form", "values"),
    [
        (Either, {"runs": 0}),
        (Either, {"counts": 1}),
        (Only, {}),
        (Only, {"carried": True}),
        (Wide, {"size": 1}),
        (Wide, {"size": 1, "more": 0.5, "most": "-inf"}),
        (RegretResult, {"verdict": "vacuous", "slope": 0.5}),
        (LeftAt, {"what": "a draw", "file": "", "line": 0}),
        (TracedNote, {"kind": "compiled", "what": "", "file": "a.py", "line": 0}),
        (FlowStep, STEP),
        (FlowStep, {**STEP, "cost": "inf"}),
        (TracingResult, RESULT),
        (TracingResult, {**RESULT, "epsilon_lower": 0.0, "detectable": 1.0}),
    ],
)
def test_what_a_form_takes(form, values):
    named = {name: value for name, value in values.items() if name in form.__struct_fields__}
    assert msgspec.to_builtins(form.of(values)) == named


@pytest.mark.parametrize(
    ("form", "values", "said"),
    [
        (Either, {}, "just one of runs and counts must be there"),
        (Either, {"runs": 0, "counts": 0}, "just one of runs and counts must be there"),
        (Only, {"carried": False}, "carried must be true, or absent"),
        (Only, {"carried": True, "more": 1}, "more"),
        (Wide, {"size": 1, "more": True}, "more|bool"),
        (Wide, {"more": 0.5}, "size"),
        (RegretResult, {"verdict": "refuted"}, "refuted"),
        (LeftAt, {"what": "", "file": "", "line": 0}, "what"),
        (LeftAt, {"what": "a draw", "file": "", "line": -1}, "line"),
        (TracedNote, {"kind": "else", "what": "", "file": "a.py", "line": 0}, "else"),
        (FlowStep, {**STEP, "line": 0}, "line"),
        (FlowStep, {**STEP, "role": "noise"}, "noise"),
        (FlowStep, {**STEP, "cost": None}, "cost"),
        (TracingResult, {**RESULT, "verdict": "contradicted"}, "contradicted"),
        (TracingResult, {**RESULT, "epsilon_lower": -0.5}, "epsilon_lower"),
    ],
)
def test_what_a_form_refuses(form, values, said):
    with pytest.raises(msgspec.ValidationError, match=said):
        form.of(values)
