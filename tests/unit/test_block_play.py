"""UCB1 played as blocks: the definition's law, on all histories of small T and by agreement at large T."""

import html
import itertools
import linecache
import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from scipy import stats

import verifiable_dp as vdp
from verifiable_dp.algorithms import ucb1
from verifiable_dp.algorithms._index import IndexState
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.auditors import ucb1 as auditor
from verifiable_dp.core import philox
from verifiable_dp.core.environments import TwoPoint, bernoulli
from verifiable_dp.core.noise import key_of
from verifiable_dp.core.simulation import simulate
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.model import Record
from verifiable_dp.render import plots, svg
from verifiable_dp.targets.source import NOT_FOUND, CodeSource, file_of, in_cell

LEVEL = 1e-8
ONE_BY_ONE = 1 << 62
KEY = key_of(5, (1,))
WIDE = TwoPoint((4.0, 1.5), 0.0, 10.0)  # rewards beside which the bonus is small: leaders are far ahead


def fits(counts, chances):
    """p-value of counts by cell against their chances, by the exact multinomial's Pearson statistic."""
    expected = counts.sum() * chances
    rare = expected < 5
    if rare.any():  # taken together
        counts, expected = (np.append(x[~rare], x[rare].sum()) for x in (counts, expected))
        if expected[-1] == 0:
            assert counts[-1] == 0
            counts, expected = counts[:-1], expected[:-1]
    return stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue


# ---------------------------------------------------------------- the draw of a block


@njit
def binomials(key, number, count, chance):
    out = np.empty(number, np.int64)
    for i in range(number):
        out[i] = philox.to_binomial(key[0], key[1], np.uint64(i), np.uint64(3), count, chance)
    return out


@pytest.mark.parametrize(
    ("count", "chance"),
    [(64, 0.05), (64, 0.9), (100, 0.5), (1000, 0.75), (10**6, 3e-6), (10**9, 0.55), (10**13, 0.3)],
)
def test_the_sum_of_a_block_is_binomial(count, chance):
    drawn = binomials(KEY, 200_000, count, chance)

    def p_value(law):
        edges = np.unique(law.ppf(np.linspace(0.01, 0.99, 50)))
        cells = np.searchsorted(edges, drawn)  # (-inf, e0], (e0, e1], ...
        chances = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]]))
        return fits(np.bincount(cells, minlength=len(chances)), chances)

    assert p_value(stats.binom(count, chance)) > LEVEL
    # A twentieth of a standard deviation, and a tenth of the spread.
    mean, sd = count * chance, np.sqrt(count * chance * (1 - chance))
    assert p_value(stats.binom(count, (mean + sd / 20) / count)) < LEVEL
    if sd > 3:
        assert p_value(stats.norm(mean, 1.1 * sd)) < LEVEL


def test_certain_rewards_need_no_draw():
    assert set(binomials(KEY, 50, 100, 0.0)) == {0}
    assert set(binomials(KEY, 50, 100, 1.0)) == {100}


# ---------------------------------------------------------------- where blocks end


def leaders(rule, sums, pulls, t):
    """Index of the leader by the definition, for rows of sums and pulls."""
    state = IndexState(np.arange(len(sums)), np.full(len(sums), t), pulls, sums)
    return rule.index(state).argmax(axis=1)


def states(number):
    """Sums and pulls of two arms after t rounds, as a run may reach them."""
    rng = np.random.default_rng(0)
    for _ in range(number):
        t = int(rng.integers(3, 40))
        pulls = np.array([int(rng.integers(1, t))] * 2)
        pulls[1] = t - pulls[0]
        yield 10.0 * rng.binomial(pulls, [0.4, 0.15]), pulls, t


def test_no_history_within_a_block_unseats_the_leader():
    rule, long, lost = UCB1(2, 1000), 0, 0
    for sums, pulls, t in states(200):
        arm, steps = ucb1._leader(sums, pulls, t, 0.0)
        assert arm == leaders(rule, sums[None], pulls[None], t)[0]
        long += steps > 3
        for length, may_lose in ((min(steps, 7), False), (min(3 * steps + 3, 7), True)):
            paid = 10.0 * np.array(list(itertools.product((0, 1), repeat=length)))
            for j in range(length):  # before the reward number j of the block, after all histories
                own = np.tile(sums, (len(paid), 1))
                own[:, arm] += paid[:, :j].sum(axis=1)
                grown = pulls + j * (np.arange(2) == arm)
                same = leaders(rule, own, np.tile(grown, (len(paid), 1)), t + j) == arm
                lost += may_lose and not same.all()
                assert may_lose or same.all()
    assert long > 25
    assert lost > 25  # blocks thrice as long would not do


def test_the_leader_of_a_long_block_leads_at_its_end_whatever_it_was_paid():
    rule, rng, lost = UCB1(5, 10**9), np.random.default_rng(1), 0
    for _ in range(500):
        pulls = (10 ** rng.uniform(0, 8, 5)).astype(np.int64)
        sums = rng.binomial(pulls, rng.uniform(0, 1, 5)).astype(np.float64)
        t = int(pulls.sum())
        arm, steps = ucb1._leader(sums, pulls, t, 0.0)
        for length, may_lose in ((steps, False), (3 * steps + 3, True)):  # the lowest reward in every round
            later = pulls + (length - 1) * (np.arange(5) == arm)
            leads = leaders(rule, sums[None], later[None], t + length - 1)[0] == arm
            lost += may_lose and not leads
            assert may_lose or leads
    assert lost > 25


# ---------------------------------------------------------------- all histories of small T


def exact_law(rule, place):
    """Chance of every vector of pulls after T rounds, over all histories of rewards."""
    chances, law = place.probabilities, {((0,) * rule.n_arms, (0,) * rule.n_arms): 1.0}
    for t in range(rule.horizon):
        after, first = Counter(), [t] * len(law)
        if t >= rule.n_arms:
            pulls, hits = (np.array(column) for column in zip(*law, strict=True))
            first = leaders(rule, place.low * (pulls - hits) + place.high * hits, pulls, t).tolist()
        for arm, ((pulls, hits), chance) in zip(first, law.items(), strict=True):
            one = tuple(n + (a == arm) for a, n in enumerate(pulls))
            after[one, hits] += chance * (1 - chances[arm])
            after[one, tuple(h + (a == arm) for a, h in enumerate(hits))] += chance * chances[arm]
        law = after
    found = Counter()
    for (pulls, _), chance in law.items():
        found[pulls] += chance
    return found


def played(rule, place, runs, least):
    rewards = (place.probabilities, place.low, place.high)
    return ucb1._kernel(KEY, np.arange(runs), rule.horizon, rewards, np.array([rule.horizon]), least)[0]


def p_value_of(pulls, law):
    cells = {vector: number for number, vector in enumerate(law)}
    counts = np.bincount([cells[tuple(row)] for row in pulls.tolist()], minlength=len(cells))
    return fits(counts, np.array(list(law.values())))


@pytest.mark.parametrize(
    "place", [WIDE, TwoPoint((0.9, 0.2, 0.4), -2.0, 6.0)], ids=["two arms", "three arms, below 0"]
)
def test_blocks_have_the_law_of_all_histories(place):
    rule = UCB1(place.n_arms, 18)
    pulls = played(rule, place, 100_000, 2)
    assert (pulls[:200] != played(rule, place, 200, ONE_BY_ONE)).any()  # there are blocks
    law = exact_law(rule, place)
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    assert p_value_of(pulls, law) > LEVEL
    # Chances that differ by a hundredth are told from these.
    off = TwoPoint(tuple(m + 0.01 * (place.high - place.low) for m in place.means), place.low, place.high)
    assert p_value_of(pulls, exact_law(rule, off)) < LEVEL


# ---------------------------------------------------------------- large T


def two_ways(horizon, runs):
    """Pulls of the best arm by block play and reward by reward, independent."""
    place, times = bernoulli([0.6, 0.5, 0.5]), np.array([horizon // 2, horizon])
    rewards = (place.probabilities, place.low, place.high)
    found = []
    for least, shift in ((ucb1.BLOCK, 0), (ONE_BY_ONE, runs)):
        run = np.arange(shift, shift + runs)
        total, at = ucb1._kernel(KEY, run, horizon, rewards, times, least)
        assert (at.sum(axis=2) == times).all()
        assert np.array_equal(at[:, -1], total)
        found.append(total[:, 0])
    return found


def agree(horizon, runs):
    blocks, rewards = two_ways(horizon, runs)
    assert stats.ks_2samp(blocks, rewards).pvalue > LEVEL
    # Shifted by half a standard deviation they would not be taken for the same.
    assert stats.ks_2samp(blocks + blocks.std() / 2, rewards).pvalue < LEVEL


def test_blocks_and_single_rewards_agree():
    agree(100_000, 800)


@pytest.mark.slow
def test_blocks_and_single_rewards_agree_at_ten_million():
    agree(10**7, 400)


def test_a_run_of_a_million_million_rounds():
    place = bernoulli([0.6, 0.5, 0.5, 0.5, 0.5])
    done = simulate(UCB1(5, 10**12), place, runs=2, points=30)
    assert (done.pulls.sum(axis=1) == 10**12).all()
    bound = auditor.regret_bound(place.gaps, UCB1(5, 10**12))
    # Lai & Robbins: at least sum_a Delta_a log T/KL(.5, .6), .0204 of Bernoulli laws, in the limit.
    assert bound / 6 < done.regret.mean() < bound


# Code of a notebook's cells, which is in no file, and what a report shows there.


CELL = """
import numpy as np

class Coin:
    def __init__(self, n_arms, rng):
        self.rng, self.last = rng, 0
    def select(self):
        return self.last if self.rng.random() < .6 else 1 - self.last
    def update(self, arm, reward):
        self.last = int(reward > .5)

class Broken(Coin):
    def select(self):
        return self.last / 0

def leaky(data, size, rng):
    return np.sum(data) + rng.laplace(size=size) / 4
"""


@pytest.fixture
def cell(monkeypatch):
    """The names of a cell, compiled as ipykernel does: under the name of a file that is never written."""
    name = "/nowhere/ipykernel_12/345.py"
    main = sys.modules["__main__"]
    monkeypatch.setitem(linecache.cache, name, (len(CELL), None, CELL.splitlines(True), name))
    monkeypatch.delattr(main, "__file__", raising=False)
    names = {"__name__": "__main__"}
    exec(compile(CELL, name, "exec"), names)
    for found in ("Coin", "Broken", "leaky"):
        monkeypatch.setattr(main, found, names[found], raising=False)
    return names


def test_a_class_of_a_cell_is_audited(cell):
    """Tracing follows it, too; the record names no file and says that nothing runs it again."""
    report = vdp.audit(cell["Coin"], epsilon=1.0, budget="smoke", runs=400, n_arms=2, horizon=4)
    assert "tracing" in [check["name"] for check in report.record["checks"]]
    assert report.record["target"]["source"] == CodeSource("Coin").as_dict()
    assert NOT_FOUND in report.record["target"]["note"]
    regret = vdp.check_regret(cell["Coin"], n_arms=2, horizon=50, bound=30.0)
    assert NOT_FOUND in regret.record["target"]["note"]


def test_what_a_cell_raises_is_one_line_with_its_place(cell):
    with pytest.raises(InputError, match=r"ZeroDivisionError.*345\.py:14"):
        vdp.check_regret(cell["Broken"], n_arms=2, horizon=50, bound=30.0)


def test_a_refutation_of_a_cell_names_no_command(cell):
    report = vdp.audit(cell["leaky"], epsilon=1.0, budget="smoke", runs=4000)
    assert report.verdict == "refuted"
    assert "--rerun" not in report.summary()
    assert NOT_FOUND in report.summary()
    shown = report._repr_html_()
    assert html.escape(report.line()) in shown
    assert svg.alone(plots.epsilon_bars(Record.of(report.record)), white=True) in shown


def test_a_report_of_regret_shows_its_plot_and_is_a_table(cell):
    report = vdp.check_regret("ucb1", n_arms=2, horizon=50, bound=30.0, runs=8)
    assert "<svg" in report._repr_html_()
    frame = report.to_frame()
    assert list(frame.columns) == ["subject", "check", "kind", "verdict", "words"]
    assert set(frame["subject"]) == {"regret"}
    assert len(frame) == len(report.record["regret"]["checks"])
    assert frame["verdict"][0] == report.record["regret"]["checks"][0]["result"]["verdict"]


def test_a_session_shows_some_lines_of_a_report():
    def release(data, size, rng):
        return data + rng.laplace(size=size)

    report = vdp.audit(release, epsilon=1.0, budget="smoke", runs=400)
    assert repr(report) == f"<Report: {report.line()}>"
    assert "\n" not in repr(report)
    assert str(report).splitlines()[0] == report.line()
    assert len(str(report).splitlines()) <= 10
    many = vdp.Report({**report.record, "checks": report.record["checks"] * 9})
    *lines, last = str(many).splitlines()
    assert len(lines) == 9
    assert last == f"and {len(many.summary().splitlines()) - 9} more lines: summary()"


@pytest.mark.parametrize(("lines", "shown"), [(1, 1), (9, 9), (10, 10), (11, 10), (40, 10)])
def test_one_line_that_is_left_out_is_shown_instead(lines, shown):
    text = vdp.Report.__str__(SimpleNamespace(summary=lambda: "\n".join(map(str, range(lines)))))
    assert len(text.splitlines()) == shown
    assert text.endswith(f"and {lines - 9} more lines: summary()" if lines > shown else str(lines - 1))


def test_a_name_in_a_page_is_text():
    def release(data, size, rng):
        return rng.laplace(size=size)

    release.__qualname__ = "<script>alert(1)</script>"
    shown = vdp.audit(release, epsilon=1.0, budget="smoke", runs=400)._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown


def test_files_of_what_is_in_one():
    assert file_of(test_files_of_what_is_in_one) == __file__
    assert not in_cell(test_files_of_what_is_in_one)
    assert file_of(len) == ""
