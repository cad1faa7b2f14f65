"""Where no reward changes any action at the horizon given: from which horizon on one does."""

import re
import shlex
import sys

import numpy as np
import pytest

from tests.asking import audited
from tests.commands import run
from verifiable_dp import api
from verifiable_dp.auditing import traced
from verifiable_dp.auditing.request import Inputs
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.acting import Acting
from verifiable_dp.report import finish
from verifiable_dp.targets import horizons
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.process import Exec, ProcessTarget, running

EXPLORES = 100
AT_20 = Acting(20, 80, 160)
WORDS = "no reward that we tried changes any action up to round 20; from --horizon 160 one does"


def play(rewards, rng, explores=EXPLORES, scale=1.0, blind=False):
    """Explores in random order, then commits by noisy sums."""
    horizon, arms = rewards.shape
    order = rng.integers(arms, size=horizon)
    if horizon <= explores:
        return order
    sums = np.bincount(order[:explores], rewards[np.arange(explores), order[:explores]], arms)
    order[explores:] = np.argmax(sums * (not blind) + rng.laplace(0, scale, arms))
    return order


def play_many(rewards, n_runs, rng):
    return np.array([play(rewards, rng) for _ in range(n_runs)])


def fixed(rewards, rng):
    """Explores in a fixed order and draws noise where it commits: short runs use none."""
    horizon, arms = rewards.shape
    return play(rewards, rng) if horizon > EXPLORES else np.arange(horizon) % arms


def blind(rewards, rng):
    return play(rewards, rng, blind=True)


def short(rewards, rng):
    if len(rewards) > 50:
        raise ValueError("its buffers hold 50 rounds")
    return play(rewards, rng)


def late_leak(rewards, rng):
    """Authors' constants: 40 000 rounds of each arm, so that nothing shows below 80 000."""
    horizon, arms = rewards.shape
    order, explores = np.arange(horizon) % arms, 40_000 * arms
    if horizon > explores:
        sums = rewards[:explores].reshape(-1, arms, arms).sum(axis=0).diagonal()
        order[explores:] = np.argmax(sums + rng.laplace(0, 0.2, arms))
    return order


PROGRAM = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "protocol" in asked:
        horizon, answer = asked["horizon"], {"ready": True, "kind": "play"}
    else:
        rewards = asked.get("rewards") or rewards
        best = 0 if horizon <= 50 else int(sum(r[1] for r in rewards) > sum(r[0] for r in rewards))
        answer = {"id": asked["id"], "actions": [[0] * (horizon - 1) + [best] for _ in asked["seeds"]]}
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.parametrize(
    ("target", "horizon", "most", "found"),
    [
        (play, 20, 1000, AT_20),
        (play_many, 20, 1000, AT_20),
        (play, 160, 1000, Acting(160, 0, 160)),
        (play, 20, 159, Acting(20, 80, None)),
        (blind, 20, 1000, Acting(20, 640, None)),
        (short, 20, 1000, Acting(20, 40, None)),
    ],
)
def test_the_horizon_is_found_by_doubling(target, horizon, most, found):
    sampler = PlaySampler(target, target is play_many, 2, horizon, 0)
    assert horizons.search(sampler, (0.0, 1.0), most) == found


def test_a_program_is_started_for_each_horizon(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    command = Exec(shlex.join([sys.executable, "-S", str(tmp_path / "program.py")]))
    with running(ProcessTarget(command, "play", (0.0, 1.0), 2, 30)) as process:
        found = horizons.search(PlaySampler(process, False, 2, 30, 0), (0.0, 1.0), 1000)
    assert found == Acting(30, 30, 60)


def test_the_tables_are_within_bounds_and_favour_different_arms():
    tables = list(horizons.contrasts(10, 3, (-1.0, 2.0)))
    assert {float(x) for table in tables for x in table.ravel()} == {-1.0, 2.0}
    assert [np.argmax(table.sum(axis=0)) for table in tables[:2]] == [0, 2]
    assert [int(np.argmax(tables[2][t])) for t in (0, 9)] == [0, 2]


def record_of(target, horizon, **options):
    asked = {"epsilon": 1.0, "n_arms": 2, "horizon": horizon, "runs": 1300, **options}
    name = f"tests.unit.auditing.test_horizons:{target.__name__}"
    return finish(audited(target, name=name, **asked), started=0.0, cpu_seconds=0.0)


def test_an_idle_audit_says_from_which_horizon_on_a_reward_counts():
    said = list[str]()
    report = record_of(play, 20, progress=said.append)
    assert any(re.search(r"from --horizon 160 on .* one play takes about .*s there", line) for line in said)
    assert (report.verdict, report.reason) == ("inconclusive", "unsearched")
    assert f"The audit is inconclusive about epsilon 1: {WORDS}." in report.summary()
    sizes = report.record["plan"]["sizes"]
    assert (sizes["idle"], sizes["acts"]) == (80, 160)
    # It takes some of the audit's runs, not more.
    assert sizes["longest"] * horizons.PLAYS <= 0.15 * 1300 * 20
    again = api.rerun(report.record)
    assert again["plan"] == report.record["plan"]
    assert again["checks"] == report.record["checks"]


def test_what_acts_is_not_called_idle():
    """Negative control: at the horizon that was suggested nothing is suggested."""
    report = record_of(play, 160, runs=400)
    assert "changes any action" not in report.summary()
    assert "idle" not in report.record["plan"]["sizes"] or not report.record["plan"]["sizes"]["idle"]


def test_code_that_used_no_noise_yet_is_told_the_horizon():
    with pytest.raises(InputError, match=f"deterministic output: .*; {WORDS}"):
        record_of(fixed, 20)


@pytest.mark.parametrize(
    ("horizon", "said"), [(20, WORDS), (160, "some reward changes some action within 160 rounds")]
)
def test_inspect_says_it_where_it_may_play(tmp_path, horizon, said):
    name = "tests.unit.auditing.test_horizons:play"
    done = run(tmp_path, "inspect", name, "--horizon", horizon, "--play")
    assert f"horizon: {said}\n" in done.stdout
    assert "horizon:" not in run(tmp_path, "inspect", name, "--horizon", horizon).stdout


def test_a_long_horizon_ends_the_upper_bound_and_not_the_audit():
    found, why, _ = traced.bound(late_leak, "it", Inputs(2, 100_000), 0.0)
    assert (found, why) == (None, traced.Ended("a run has too many rewards to be followed"))


@pytest.mark.slow
def test_a_leak_that_begins_after_80_000_rounds_is_found_there():
    """A fifth of the noise: epsilon 5 against 1, seen by 1000 runs at T = 100 000, never below 80 000."""
    report = record_of(late_leak, 100_000, runs=1000)
    assert report.verdict == "refuted", report.summary()
