"""Environments: the settings of the paper, exact laws, tables and adversaries."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from verifiable_dp import make, simulate
from verifiable_dp.auditors._settings import hard, s1
from verifiable_dp.core import engine, environments
from verifiable_dp.core.adversaries import flatter
from verifiable_dp.core.algorithm import Query, Truncated
from verifiable_dp.core.environments import Discrete, Draws, Interactive, Table, bernoulli, two_point
from verifiable_dp.core.neighbours import InteractivePair
from verifiable_dp.core.simulation import Simulation
from verifiable_dp.core.validate import InputError


def query(start, rounds, active):
    active = np.array(active, bool)
    n = len(active)
    return Query(np.full(n, start), np.full(n, rounds), active, np.ones(n, bool))


def test_settings_of_the_experiments():
    assert s1("C1").means == (0.75, 0.7, 0.7, 0.7, 0.7)
    assert s1("C2").means == pytest.approx((0.75, 0.625, 0.5, 0.375, 0.25))
    assert s1("C3").means == pytest.approx((0.75, 0.53125, 0.375, 0.28125, 0.25))
    assert s1("C4").means == pytest.approx((0.75, 0.71875, 0.625, 0.46875, 0.25))
    assert s1("C1", 3).n_arms == 3
    assert s1("C2").gaps[0] == 0


@pytest.mark.parametrize(
    ("make_it", "name"),
    [
        (lambda: bernoulli([0.5, 1.5]), "means"),
        (lambda: bernoulli([0.5, float("nan")]), "means"),
        (lambda: bernoulli([]), "means"),
        (lambda: s1("C5"), "setting"),
        (lambda: s1("C1", 1), "n_arms"),
        (lambda: two_point(0.0, 0.0), "radius"),
        (lambda: environments.TwoPoint((0.5,), 1.0, 1.0), "bounds"),
    ],
)
def test_bad_environments_are_refused(make_it, name):
    with pytest.raises(InputError, match=name):
        make_it()


def test_a_table_is_summed_in_turn_over_the_active_arms():
    table = np.arange(24, dtype=float).reshape(8, 3) / 100
    answer = Table(table).answer(query(1, 5, [[True, False, True], [True, True, True]]), np.arange(2))
    # Rounds 1 to 5 go to arms 0, 2, 0, 2, 0 and to arms 0, 1, 2, 0, 1.
    assert answer[0] == pytest.approx([(3 + 9 + 15) / 100, 0, (8 + 14) / 100])
    assert answer[1] == pytest.approx([(3 + 12) / 100, (7 + 16) / 100, 11 / 100])


def test_block_sums_are_binomial():
    """Mean and variance of 20 000 sums of 50 pulls, within 6 standard errors; p + .02 lies outside."""
    n, pulls, p = 20_000, 50, 0.3
    data = bernoulli([p, 0.9]).data(5)
    sums = data.answer(query(0, pulls, np.tile([True, False], (n, 1))), np.arange(n))
    assert not sums[:, 1].any()
    error = np.sqrt(pulls * p * (1 - p) / n)
    assert abs(sums[:, 0].mean() - pulls * p) < 6 * error
    assert abs(sums[:, 0].mean() - pulls * (p + 0.02)) > 6 * error
    assert abs(sums[:, 0].var() / (pulls * p * (1 - p)) - 1) < 6 * np.sqrt(2 / n)


def test_two_point_rewards_lie_on_both_bounds():
    env = two_point(0.5, 2.0)
    data = env.pulled(1, 1000)
    sums = data.answer(query(0, 1, np.ones((1000, 1), bool)), np.arange(1000))
    assert set(np.unique(sums)) == {-2.0, 2.0}
    assert abs(np.mean(sums == 2.0) - 0.625) < 6 * np.sqrt(0.625 * 0.375 / 1000)


def test_an_adversary_sees_the_actions():
    pair = InteractivePair(flatter((0.0, 1.0), 1), 2, 0.0, 1.0, (0.0, 1.0))
    for world in (0, 1):
        data = Interactive(pair, world, 2, 1)
        first = data.answer(query(0, 2, [[True, True]]), np.zeros(1, np.int64))
        second = data.answer(query(2, 2, [[True, True]]), np.zeros(1, np.int64))
        assert first.tolist() == [[0.0, 1.0]]
        assert second.tolist() == [[float(world), 1.0]]


def test_regret_curves_end_at_the_regret():
    run = simulate(
        make("dp-se", n_arms=3, epsilon=1.0, horizon=50_000), bernoulli([0.9, 0.5, 0.1]), runs=5, seed=1
    )
    assert run.regret.shape == (5,)
    assert run.regrets[:, -1] == pytest.approx(run.regret)
    assert (np.diff(run.regrets, axis=1) >= 0).all()
    curve = run.curve()
    assert list(curve.columns) == ["t", "mean", "std", "low", "high"]
    assert curve["t"].iloc[-1] == 50_000
    assert curve["mean"].iloc[-1] == pytest.approx(run.regret.mean())


@pytest.mark.parametrize("name", ["se", "dp-se", "dp-ucb"])
def test_the_horizon_alone_can_be_recorded(name):
    """By definitions and by compiled loops, which draw the same as where round 1 is recorded too."""
    means, sizes = bernoulli([0.3, 0.5, 0.8]), {"runs": 5, "seed": 3}
    rule = make(name, n_arms=3, horizon=3000, **({} if name == "se" else {"epsilon": 1.0}))
    one, two = (simulate(rule, means, points=points, **sizes) for points in (1, 2))
    assert one.times.tolist() == [3000]
    assert one.regrets[:, 0] == pytest.approx(one.regret)
    assert (one.pulls == two.pulls).all()


@pytest.mark.parametrize("name", ["runs", "seed", "workers", "points"])
def test_bad_arguments_of_simulate_are_refused(name):
    with pytest.raises(InputError, match=name):
        simulate(make("se", n_arms=2, horizon=10), bernoulli([0.9, 0.5]), **{name: -1})


def test_an_environment_must_fit():
    with pytest.raises(InputError, match="environment"):
        simulate(make("se", n_arms=2, horizon=10), bernoulli([0.9, 0.5, 0.1]))
    with pytest.raises(InputError, match="environment"):
        simulate(make("se", n_arms=2, horizon=10), environments.TwoPoint((0.0, 1.0), -1.0, 1.0))


# ---------------------------------------------------------------- finitely many rewards, hard instances

HARD = [(5, [0.05, 0.02]), (8, [0.1, 0.08]), (9, [0.1, 0.1, 0.1]), (10, [0.19]), (11, [0.01])]


@pytest.mark.parametrize("v", [0.1, 0.5, 1.0])
@pytest.mark.parametrize(("theorem", "gaps"), HARD)
def test_hard_instances_keep_their_moments_and_gaps(theorem, gaps, v):
    env = hard(theorem, v=v, gaps=gaps)
    assert env.gaps == pytest.approx([0.0, *gaps])
    assert env.moment(1 + v) == pytest.approx(0.5)
    assert set(map(len, env.rewards)) == {2}
    for arm, gap in enumerate(gaps, start=1):
        other = hard(theorem, v=v, gaps=gaps, changed=arm)
        assert int(np.argmax(other.means)) == arm
        assert other.means[arm] == pytest.approx(env.means[0] + gap)
        assert other.moment(1 + v) <= 1 + 1e-9
        kept = [a for a in range(env.n_arms) if a != arm]
        assert all(env.rewards[a] == other.rewards[a] for a in kept)
        assert all(env.chances[a] == other.chances[a] for a in kept)


def test_means_of_the_hard_instances():
    """Two arms: 5/2 and 3/2 gaps; several: s = (2 mu)^(1/v) and chances s^(1+v)/2."""
    assert hard(10, v=0.5, gaps=[0.1]).means == pytest.approx((0.25, 0.15))
    assert hard(10, v=0.5, gaps=[0.1], changed=1).means == pytest.approx((0.25, 0.35))
    five = hard(5, v=0.5, gaps=[0.05])
    assert five.means == pytest.approx((1 / 6, 1 / 6 - 0.05))
    assert five.rewards[0][1] == pytest.approx(9.0)
    assert five.chances[0][1] == pytest.approx(1 / 54)
    assert len(hard(5, v=0.5, gaps=[0.05], changed=1).rewards[1]) == 3


@pytest.mark.parametrize(
    ("theorem", "changes", "name"),
    [
        (6, {}, "theorem"),
        (10, {"v": 0.0}, "v"),
        (10, {"v": 1.5}, "v"),
        (10, {"gaps": [0.3]}, "gaps"),
        (10, {"gaps": [0.1, 0.1]}, "gaps"),
        (10, {"gaps": []}, "gaps"),
        (10, {"gaps": [0.0]}, "gaps"),
        (10, {"gaps": [0.1], "changed": 2}, "changed"),
        (5, {"gaps": [0.1]}, "gaps"),
        (8, {"gaps": [0.1, 0.02]}, "gaps"),
        (9, {"gaps": [0.1, 0.02]}, "gaps"),
    ],
)
def test_bad_hard_instances_are_refused(theorem, changes, name):
    with pytest.raises(InputError, match=name) as error:
        hard(theorem, **{"v": 0.5, "gaps": [0.1], **changes})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("rewards", "chances", "name"),
    [
        ((), (), "rewards"),
        (((0.0, 1.0),), ((1.0,),), "rewards"),
        (((0.0, 1.0),), ((0.5, 0.6),), "chances"),
        (((0.0, 1.0),), ((1.5, -0.5),), "chances"),
        (((0.0, float("inf")),), ((0.5, 0.5),), "rewards"),
    ],
)
def test_bad_finite_laws_are_refused(rewards, chances, name):
    with pytest.raises(InputError, match=name):
        Discrete(rewards, chances)


@pytest.mark.parametrize("limit", [None, 2.0])
def test_a_multinomial_draw_is_a_sum_of_pulls(limit):
    """Three rewards, 30 pulls: mean and variance of block sums and of sums one by one, 6 standard errors."""
    env = Discrete(((0.0, 1.0, 5.0), (0.0, 1.0)), ((0.7, 0.2, 0.1), (0.5, 0.5)))
    n, pulls = 20_000, 30
    ask = None if limit is None else Truncated(np.full((n, 2), limit), np.zeros((n, 2)))
    base = query(0, pulls, np.tile([True, False], (n, 1)))
    kept = np.array([0.0, 1.0, 5.0 if limit is None else 0.0])
    mean = pulls * kept @ [0.7, 0.2, 0.1]
    variance = pulls * kept**2 @ [0.7, 0.2, 0.1] - mean**2 / pulls
    asked = Query(base.start, base.rounds, base.active, base.complete, ask)
    for data in (env.data(1), Draws(env, 1)):
        sums = data.answer(asked, np.arange(n))
        assert not sums[:, 1].any()
        assert abs(sums[:, 0].mean() - mean) < 6 * np.sqrt(variance / n)
        assert abs(sums[:, 0].mean() - 1.05 * mean) > 6 * np.sqrt(variance / n)
        assert abs(sums[:, 0].var() / variance - 1) < 6 * np.sqrt(5 / n)


# What `print` shows of a simulation.


def shown(arms, hindsight=None):
    pulls = np.full((4, arms), 5)
    regret = np.array([0.0, 1.0, 2.0, 5.0])
    times = np.array([5 * arms])
    return str(
        Simulation(regret, pulls, times, regret[:, None], None, np.zeros((4, 0)), hindsight)
    ).splitlines()


@pytest.mark.parametrize(
    ("arms", "named", "more"), [(2, 2, ""), (8, 8, ""), (9, 8, ", and 1 more"), (20, 8, ", and 12 more")]
)
def test_the_first_arms_are_named_and_the_others_counted(arms, named, more):
    first, regret, pulls = shown(arms)
    assert first == f"Simulation: 4 runs of {arms} arms, T = {5 * arms}, mean regret 2"
    assert regret == "  regret: quartiles 0.75, 1.5, 2.75; largest 5"
    assert pulls == "  mean pulls: " + ", ".join(f"arm {arm}: 5" for arm in range(named)) + more


def test_the_best_policy_in_hindsight_has_a_line():
    assert shown(2, np.array([1.0, 2.0, 3.0, 4.0]))[3:] == [
        "  against the best policy in hindsight: mean 2.5"
    ]


# The engine: the same results in this process, in several, and when workers die.


def square(number):
    return number * number


def dies_once(task):
    """Kills its worker the first time that it is run."""
    number, folder = task
    mark = Path(folder) / str(number)
    if number in (3, 7) and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def always_dies(task):
    os.kill(os.getpid(), signal.SIGKILL)


def dies_if_odd(number):
    """Kills its worker whenever it is run, as a crash in native code does."""
    if number % 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number, os.getpid()


def fails(number):
    raise ValueError(f"task {number} is wrong")


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_do_not_depend_on_the_number_of_workers(workers):
    found = dict(engine.run(square, range(20), workers=workers))
    assert found == {i: i * i for i in range(20)}


def test_one_worker_runs_in_order():
    assert [number for number, _ in engine.run(square, range(5))] == list(range(5))


def test_no_tasks_give_no_results():
    assert list(engine.run(square, [], workers=2)) == []


def test_tasks_whose_worker_was_killed_are_run_again(tmp_path):
    tasks = [(number, str(tmp_path)) for number in range(12)]
    found = dict(engine.run(dies_once, tasks, workers=2))
    assert found == {i: i * i for i in range(12)}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["3", "7"]


def test_workers_that_keep_dying_end_in_one_clear_line():
    with pytest.raises(InputError, match=r"workers: a process died 5 times"):
        list(engine.run(always_dies, range(4), workers=2))


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_task_that_kills_its_workers_is_lost_and_no_other(workers):
    found = dict(engine.run(dies_if_odd, range(4), workers=workers, apart=True, lost=lambda task: -task))
    assert [found[1], found[3]] == [-1, -3]
    assert [found[0][0], found[2][0]] == [0, 2]
    assert os.getpid() not in {found[0][1], found[2][1]}


def test_a_task_apart_is_not_run_here():
    ((_, (_, process)),) = engine.run(dies_if_odd, [0], apart=True)
    assert process != os.getpid()
    ((_, (_, process)),) = engine.run(dies_if_odd, [0])
    assert process == os.getpid()


def test_results_in_order_and_calls():
    assert engine.ordered(square, range(9), workers=2) == [i * i for i in range(9)]
    assert engine.called((pow, (2, 3), {"mod": 5})) == 3


def test_time_left_is_said_between_the_ends(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(engine.time, "monotonic", lambda: now[0])
    clock = engine.Countdown(8)
    assert clock.after(0) == ""
    now[0] += 30
    assert clock.after(2) == ", about 90 s left"
    assert clock.after(8) == ""
    # What was expected keeps a slow start from being taken for the whole.
    clock = engine.Countdown(100, pace=0.5)
    now[0] += 30
    assert clock.after(1) == ", about 315 s left"


def test_the_digest_of_the_code_covers_the_catalogue(monkeypatch):
    engine.code_digest.cache_clear()
    before = engine.code_digest()
    seen = set()
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: seen.add(self) or read(self))
    engine.code_digest.cache_clear()
    assert engine.code_digest() == before
    names = {"/".join(path.parts[-2:]) for path in seen}
    assert {
        "api/audits.py",
        "algorithms/dp_se.py",
        "auditors/dp_se.py",
        "auditors/dp_se.toml",
        "studies/s1.py",
    } <= names
    monkeypatch.setattr(Path, "read_bytes", lambda self: read(self) + b"#")
    engine.code_digest.cache_clear()
    assert engine.code_digest() != before
    engine.code_digest.cache_clear()


def test_an_error_of_a_task_is_passed_on():
    with pytest.raises(ValueError, match="is wrong"):
        list(engine.run(fails, range(4), workers=2))


def test_a_wrong_number_of_workers_is_refused():
    with pytest.raises(InputError, match="workers"):
        list(engine.run(square, [1], workers=0))


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(engine, "_PATIENCE", 1)
    with (
        pytest.raises(InputError, match=r"scheduler: 'tcp://127.0.0.1:9' cannot be reached"),
        engine.on("tcp://127.0.0.1:9"),
    ):
        pytest.fail("it begins without a scheduler")


def test_a_scheduler_without_workers_is_named(monkeypatch):
    """Broken variant: it is enough that none is there."""
    distributed = pytest.importorskip("distributed")

    class Empty:
        def __init__(self, *_, **__):
            self.there = 0

        def wait_for_workers(self, least, timeout):
            if self.there < least:
                raise TimeoutError

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.there = -1

    monkeypatch.setattr(distributed, "Client", Empty)
    with pytest.raises(InputError, match="scheduler"), engine.on("tcp://127.0.0.1:9"):
        pytest.fail("it begins without workers")


def test_steps_of_a_stage_are_told_apart():
    """Each counts from none to all. Broken variant: the percentage of a stage jumps back without a word."""
    said = []
    stages = engine.Stages(said.append)
    with stages.heard():
        for stage in ("black box", "upper bound"):
            stages(stage)
            first, second = engine.within_stage(10), engine.within_stage(4)
            for done in (2, 9, 10):
                first(done)
            second(1)
            first(9)
    shown = [line.partition(" %")[0] for line in said]
    assert shown == [
        *("black box", "black box: 20", "black box: 90", "black box, step 2: 25", "black box: 90"),
        *("upper bound", "upper bound: 20", "upper bound: 90", "upper bound, step 2: 25", "upper bound: 90"),
    ]
