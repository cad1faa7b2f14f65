"""Small programs that others wrote and the engine judged wrongly, each with its right answers.

`tests/user_code/outside/` holds them as they came. A leak must not end with 0, and with the black box
switched off must have no bound within its claim. Whole audits run by night.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import verifiable_dp as vdp
from tests.asking import audited
from tests.commands import run
from tests.records import read_all
from verifiable_dp.auditing import mechanisms, rungs
from verifiable_dp.auditing.mechanisms import ReleaseCase
from verifiable_dp.auditing.pipeline import Rung
from verifiable_dp.evidence.upper import KIND
from verifiable_dp.record.conclude import epsilon_upper

FOLDER = Path(__file__).parents[1] / "user_code" / "outside"
BANDIT = {"epsilon": 1, "arms": 2, "horizon": 20}
LONGER = {**BANDIT, "horizon": 40}
JOINT = {"epsilon": 1, "arms": 2, "horizon": 8, "contexts": "2", "model": "joint"}
NORMAL = {**JOINT, "delta": 1e-5, "context-norm": 2}
MECHANISM = {"epsilon": 1}
STATED = {"own-neighbours": True}  # by the code
COUNTED = {**MECHANISM, "adjacency": "add-remove"}


@dataclass(frozen=True)
class Case:
    """A target with options, and the exit statuses that are right.

    `silent` are words that must not be said, `said` words that must.
    """

    target: str
    options: dict = field(default_factory=dict)
    accepted: tuple[int, ...] = (1, 3)
    leak: bool = True
    silent: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    def __str__(self):
        return self.target


def right(target, options, accepted=(0,), **others):
    return Case(target, options, accepted, leak=False, **others)


DIFFERENCE = "their difference is exact"
CASES = [
    *(
        Case(f"rare_events.py:{name}", LONGER)
        for name in ("seed_name", "special_name", "only_k", "visitor", "math_name")
    ),
    *(
        Case(f"leaking_bandits.py:{name}", BANDIT)
        for name in ("is_true", "table_get", "added_often", "two_of_twenty", "halved_noise")
    ),
    *(Case(f"generators.py:{name}", BANDIT) for name in ("twins", "known_seed")),
    Case("leaking_bandits.py:asarray_alias", {**BANDIT, "budget": "smoke"}),
    Case("leaking_bandits.py:flat_window", MECHANISM, (0, 1, 3), said=("at the tested event",)),
    Case("leaking_bandits.py:play_many", BANDIT),
    Case("reported_mechanisms.py:nothing_to_count", COUNTED, (1,)),
    Case("reported_mechanisms.py:scaled_by_size", COUNTED, (1,)),
    Case("reported_mechanisms.py:same_sample_twice", MECHANISM),
    Case("reported_mechanisms.py:nan_passes_clamp", {**MECHANISM, **STATED}, (1,)),
    Case(
        "reported_mechanisms.py:permute_and_flip",
        {"rho": 0.125, **STATED},
        (1,),
        silent=("refuted  epsilon >= ",),
    ),
    Case("local.py:LDPBanditLeak", {**LONGER, "model": "local"}),
    right("right.py:remembers_actions", BANDIT, (0, 3)),
    right("right.py:sampled_rounds", BANDIT, (0, 3)),
    right("right.py:urandom", BANDIT, (0, 3)),
    right("reported_mechanisms.py:nothing_to_count_repaired", COUNTED),
    right("reported_mechanisms.py:scaled_by_size_repaired", COUNTED),
    right("reported_mechanisms.py:same_sample_twice_repaired", MECHANISM),
    right("reported_mechanisms.py:nan_passes_clamp_repaired", {**MECHANISM, **STATED}, (0, 3)),
    right("reported_mechanisms.py:permute_and_flip_repaired", {"rho": 0.125, **STATED}),
    right("right_bandits.py:L", LONGER, silent=("does not depend on epsilon",)),
    right("local.py:LDPBandit", {**LONGER, "model": "local"}, (0, 3), silent=("cost inf",)),
    right("right_bandits.py:slow", {**LONGER, "budget": "smoke"}),
    right(
        "ordered_contexts.py:play", {**JOINT, "budget": "smoke", "runs": 800}, (0, 3), silent=(DIFFERENCE,)
    ),
    *(
        right(f"ordered_contexts.py:{name}", JOINT, (0, 3), silent=(DIFFERENCE,))
        for name in ("L", "N", "P", "L2", "L4")
    ),
    *(right(f"ordered_contexts.py:{name}", NORMAL, (0, 3), silent=("costs inf",)) for name in "ABC"),
    *(
        right(f"ordered_contexts.py:{name}", {**NORMAL, "contexts": "2x2"}, (0, 3), silent=("costs inf",))
        for name in "DEFGHIJ"
    ),
]


def arguments(options):
    return [word for name, value in options.items() for word in (f"--{name}", value) if word is not True]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_answer_is_right(case, tmp_path):
    record = tmp_path / "record.json"
    done = run(FOLDER, "audit", case.target, *arguments(case.options), "--json", record)
    assert done.exit_code in case.accepted, done.stdout
    said = done.stdout + record.read_text("utf-8")
    assert not [words for words in case.silent if words in said]
    assert all(words in said for words in case.said)
    claim = json.loads(record.read_text("utf-8"))["claim"]["epsilon"]
    if case.leak and "rho" not in case.options:
        assert claim == case.options["epsilon"]


# ---------------------------------------------------------------- the black box switched off


def _bounded(case):
    case.bounded(mechanisms._bound(case))


WITHOUT_SAMPLES = [
    *(rung for rung in rungs.RUNGS if rung.stage in ("tracing", "upper bound by tracing")),
    Rung("bound", lambda case: isinstance(case, ReleaseCase) and case.boundable, _bounded),
]


@contextlib.contextmanager
def imported(file):
    """The module of a file here, and nothing of it afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str((FOLDER / file).parent))
    try:
        yield importlib.import_module(Path(file).stem)
    finally:
        sys.path.pop(0)
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(FOLDER):
                del sys.modules[name]


def epsilon_without_samples(case):
    """The upper bound that the engine has of a case by itself; inf if there is none."""
    file, name = case.target.split(":")
    options = {
        key: value
        for key, value in case.options.items()
        if key not in ("arms", "runs", "budget", "own-neighbours")
    }
    if "arms" in case.options:
        options["n_arms"] = case.options["arms"]
    with imported(file) as module, pytest.MonkeyPatch.context() as patch:
        patch.setattr(rungs, "RUNGS", WITHOUT_SAMPLES)
        patch.setattr(rungs.draft, "__defaults__", (WITHOUT_SAMPLES,))
        draft = audited(getattr(module, name), name=case.target, budget="smoke", **options)
    found = epsilon_upper(
        read_all(draft["checks"])
    )  # whose premises hold: nothing has compared runs of a call here
    return math.inf if found is None else float(found.epsilon)


LEAKS = [case for case in CASES if case.leak and "rho" not in case.options]


@pytest.mark.parametrize("case", LEAKS, ids=str)
def test_without_samples_no_leak_has_a_bound_within_its_claim(case):
    assert epsilon_without_samples(case) > case.options["epsilon"] * (1 + 1e-6)


def test_without_samples_a_right_program_has_a_bound():
    """What shows that the test above can fail."""
    assert epsilon_without_samples(right("right_bandits.py:L", LONGER)) <= 1 + 1e-6


@pytest.mark.parametrize("name", ["ScaleOfTheMean", "RareRelease"])
def test_a_class_with_doors_of_its_own_has_no_certificate(name):
    with imported("certified.py") as module:
        report = vdp.audit(getattr(module, name)(), budget="smoke")
    assert report.verdict != "not_refuted"
    assert not [check for check in report.record["checks"] if check["kind"] == KIND]
