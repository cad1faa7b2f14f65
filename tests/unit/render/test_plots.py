"""Plots of a record: what they draw follows from its numbers, in bounds and byte by byte."""

import copy
import functools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from tests.records import read_all
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.tree_sum import TreeSum
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.core.neighbours import GroupPair, StreamPair, TablePair
from verifiable_dp.evidence.alignment import checking
from verifiable_dp.evidence.alignment import replay as alignment
from verifiable_dp.record.model import Record
from verifiable_dp.render import figures, page, plots, prices, svg, timelines
from verifiable_dp.render.page import render

REPORTS = Path(__file__).parents[3] / "reports"


def recorded(name):
    return json.loads((REPORTS / name / "record.json").read_text("utf-8"))


def stream(event="", rows=((3, [0.0]), (1, [1.0]), (4, [0.0])), place=3):
    pair = {"type": "stream", "rows": [list(row) for row in rows], "round": place, "value": 0.5}
    return {"pair": pair, "event": event}


# ---------------------------------------------------------------- privacy loss over time


@pytest.mark.parametrize("sign", [1, -1, 0])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("run", [0, 3])
def test_the_course_ends_where_the_replay_does(sign, turned, run):
    algorithm = DPUCB(n_arms=2, epsilon=1.0, horizon=15, budget="per-arm")
    pair = TablePair(np.zeros((15, 2)), 0, 0, 1.0, (0.0, 1.0))
    done = alignment.replay(algorithm, pair, seed=5, sign=sign, runs=run + 1, turned=turned)
    rows = checking.over_time(algorithm, pair, seed=5, sign=sign, turned=turned, run=run)
    assert rows[-1][0] == 15
    assert rows[-1][1] == pytest.approx(done.cost[run], rel=1e-12)
    assert rows[-1][2] == pytest.approx(done.loss[run], rel=1e-12, abs=1e-12)
    costs = [row[1] for row in rows]
    assert costs == sorted(costs)
    assert all(abs(loss) <= cost + 1e-12 for _, cost, loss in rows)
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)


def test_what_a_tree_pays_begins_with_the_round_that_differs():
    """Round 5 of 8 lies in the nodes that close at 5, 6 and 8, each with a quarter of epsilon."""
    algorithm = TreeSum(epsilon=1.0, horizon=8)
    pair = StreamPair(np.zeros(8), 4, 1.0, 1, (0.0, 1.0))
    rows = checking.over_time(algorithm, pair, seed=0, sign=1, turned=False)
    assert [row[0] for row in rows] == [5, 6, 8]
    assert [row[1] for row in rows] == pytest.approx([0.25, 0.5, 0.75])


def test_a_run_that_leaks_costs_without_bound_from_there_on():
    algorithm = UCB1(n_arms=2, horizon=12)
    pair = TablePair(np.zeros((12, 2)), 2, 0, 1.0, (0.0, 1.0))
    rows = checking.over_time(algorithm, pair, seed=0, sign=0, turned=False)
    assert rows[-1][1] == "inf"


def test_the_course_is_short_and_keeps_its_end():
    algorithm = TreeSum(epsilon=1.0, horizon=4096)
    pair = StreamPair(np.zeros(4096), 0, 1.0, 1, (0.0, 1.0))
    rows = checking.over_time(algorithm, pair, seed=0, sign=1, turned=False)
    assert len(rows) <= 200
    assert rows[-1] == [4096, pytest.approx(1.0), pytest.approx(-1.0)]


def test_costs_of_groups_add_up_otherwise():
    pair = GroupPair(np.zeros((8, 2)), [(0, 0, 1.0), (3, 1, 1.0)], (0.0, 1.0))
    assert (
        checking.over_time(
            DPUCB(n_arms=2, epsilon=1.0, horizon=8, budget="per-arm"), pair, seed=0, sign=1, turned=False
        )
        == []
    )


def test_a_check_records_the_course_only_where_it_is_asked_to():
    algorithm = DPUCB(n_arms=2, epsilon=1.0, horizon=8, budget="per-arm")
    pairs = [TablePair(np.zeros((8, 2)), 0, 0, 1.0, (0.0, 1.0))]
    asked = (*[checking.Instance(algorithm, 1.0)] * 2, pairs, checking.Search(0, 0))
    plain, _ = checking.check(*asked, visible=True)
    timed, _ = checking.check(*asked, visible=True, timed=True)
    assert "spent" not in plain.statistics
    assert timed.statistics["spent"][-1][1] == pytest.approx(timed.statistics["max_cost"])
    assert plain.result == timed.result


def with_course(rows):
    record = copy.deepcopy(recorded("dp-ucb"))
    for check in record["checks"]:
        check["statistics"].pop("spent", None)
    if rows:
        record["checks"][0]["statistics"]["spent"] = rows
    return record


def test_the_course_is_drawn_where_it_is_recorded():
    assert (
        timelines.loss_over_time(Record.of(with_course([]))) is None
    )  # of a record from before there was one
    page = render(Record.of(with_course([[1, 0.5, -0.5], [4, 1.0, -1.0], [15, 1.0, -1.0]])))
    assert "Privacy loss over time" in page
    assert "Cost and loss of the costliest transcript so far" in page  # the same as a table


def test_the_budget_of_normal_noise_is_one_line_at_delta_where_cost_and_loss_agree():
    record = copy.deepcopy(recorded("dp-lin-ucb"))
    for rows, named in (
        ([[1, 0.5, 0.5], [64, 1.0, 1.0]], {"epsilon at delta"}),
        ([[1, 0.5, 0.4], [64, 1.0, 0.9]], {"epsilon at delta, at most", "at least"}),
    ):
        record["checks"][0]["statistics"]["spent"] = rows
        drawn = timelines.loss_over_time(Record.of(record))
        labels = {"epsilon at delta", "epsilon at delta, at most", "at least", "cost", "size of the loss"}
        assert {label for label in labels if f">{label}<" in drawn} == named
    at_once = copy.deepcopy(record)
    at_once["checks"][0]["statistics"]["spent"] = [[8, 1.0, 1.0], [64, 1.0, 1.0]]  # a sentence says it
    assert timelines.loss_over_time(Record.of(at_once)) is None
    said = "the change costs 1 at delta 0.001 in total by round 8; later releases add nothing to it."
    assert said in render(Record.of(at_once))
    page = render(Record.of(record))
    assert "later releases add nothing" not in page
    assert "Budget over time: epsilon at delta 0.001 of the releases so far" in page
    assert "Privacy loss over time" not in page


def test_a_cost_without_bound_leaves_the_axis_finite():
    drawn = timelines.loss_over_time(
        Record.of(with_course([[2, 0.5, -0.5], [3, "inf", "inf"], [9, "inf", "inf"]]))
    )
    assert "inf" not in drawn
    assert "nan" not in drawn


# ---------------------------------------------------------------- where a counterexample sits


@pytest.mark.parametrize(
    ("what", "last", "rounds"),
    [
        ("block", None, (1, 8)),
        ("round", None, (1, 8)),
        ("round", 5, (1, 5)),
        ("round", 300, (1, 8)),
        ("block", 3, None),
        ("output", None, None),
        ("other user", 3, None),
    ],
)
def test_the_rounds_of_an_event_follow_from_what_it_looks_at(what, last, rounds):
    assert timelines.seen_rounds({"looks_at": {"what": what, "last": last}}, 8) == rounds


def test_an_event_of_numbers_looks_at_no_rounds():
    assert timelines.seen_rounds({"event": "output 1 >= 95", "looks_at": None}, 8) is None
    assert timelines.seen_rounds({"event": "actions 0 1"}, 8) is None  # of an exact law


def test_where_a_counterexample_sits_is_said_in_words():
    words = timelines.placed(stream("output 1 >= 2"))
    assert "round 4 (of 8) is 1 there and 0.5 in the neighbouring input" in words
    assert "final output" in words
    blocks = stream("log ratio of blocks 1 to 3 (2 values) >= 1") | {"looks_at": {"what": "block", "last": 3}}
    assert "blocks 1 to 3" in timelines.placed(blocks)


@pytest.mark.parametrize(
    "pair",
    [{}, {"type": "interactive"}, {"type": "group", "rows": [[4, [0.0]]]}, {"type": "stream", "rows": []}],
)
def test_what_has_no_single_place_is_not_drawn(pair):
    assert timelines.placement({"pair": pair}) is None
    assert timelines.placed({"pair": pair}) == ""


def test_a_single_round_is_not_drawn():
    assert timelines.placement(stream(rows=((1, [0.0]),), place=0)) is None


def test_a_stream_of_many_steps_stays_small():
    rows = [[1, [float(i % 2)]] for i in range(60_000)]
    drawn = timelines.placement(stream(rows=rows, place=30_000))
    assert len(drawn) < 60_000


# ---------------------------------------------------------------- intervals and fits


def counted(k1, k0, *, bound=0.5, delta=0.0, kind="black_box"):
    statistics = {"k1": k1, "k0": k0, "n1": 1000, "n0": 1000, "delta": delta, "confidence": 0.95, "tests": 1}
    point = math.log(k1 / k0) if k0 else math.inf
    return {
        "name": kind,
        "kind": kind,
        "statistics": statistics,
        "result": {"epsilon_lower": bound, "epsilon_point": point},
    }


def test_the_interval_of_an_event_contains_its_estimate():
    point, upper = plots.around(read_all([counted(400, 200)]))
    assert point == pytest.approx(math.log(2))
    assert 0.5 < point < upper < 1.0
    _, wider = plots.around(read_all([counted(40, 20)]))
    assert wider > upper


def test_an_event_that_one_world_never_hits_has_no_upper_limit():
    assert plots.around(read_all([counted(400, 0)])) == (math.inf, math.inf)


def test_the_interval_is_that_of_the_largest_bound():
    point, _ = plots.around(read_all([counted(400, 200, bound=0.1), counted(500, 100, bound=0.9)]))
    assert point == pytest.approx(math.log(5))
    assert plots.around(read_all([counted(400, 200), counted(1, 1, bound=3.0, kind="alignment")])) is None
    assert plots.around(read_all([counted(400, 200, delta=0.01)]))[1] is None
    assert plots.around(read_all([])) is None


def test_regret_over_epsilon_is_that_of_the_table(monkeypatch):
    """Lines with privacy, dots without, by instance. Control: a record without such a table has no plot."""
    made = []
    monkeypatch.setattr(prices.figures, "panels", lambda figure, narrow: made.append(figure))
    prices.prices(Record.of(recorded("dp-linear")))
    (table,) = [t for t in recorded("dp-linear")["regret"]["tables"] if t["kind"] == "price"]
    expected = {}
    for row in table["statistics"]["rows"]:
        for key, mean in (("lines", "mean_a"), ("bounds", "mean_b")):
            points = expected.setdefault((key, row["instance"]), [])
            points.append((row["epsilon"], row[mean]))
    (panel,) = made[0]["panels"]
    assert len(expected) == 4
    for key, ys in (("lines", "means"), ("bounds", "ys")):
        drawn = [list(zip(line["xs"], line[ys], strict=True)) for line in panel[key]]
        assert drawn == [points for (kind, _), points in expected.items() if kind == key]
    assert prices.prices(Record.of(recorded("ucb1"))) is None


# ---------------------------------------------------------------- pages


@pytest.mark.parametrize(
    "name", [pytest.param("dp-se", marks=pytest.mark.slow), "adaptive-tree-printed", "ucb1"]
)
def test_a_page_is_the_same_bytes_twice_and_small(name):
    record = recorded(name)
    page = render(Record.of(record))
    assert page == render(Record.of(record))
    assert len(page.encode()) < 300_000


@pytest.mark.parametrize("name", [pytest.param("dp-se", marks=pytest.mark.slow), "shuffled-linear-printed"])
def test_no_id_stands_twice(name):
    page = render(Record.of(recorded(name)))
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(ids)
    assert page.count("<svg") > 1
    assert "<!--" not in page


def test_every_picture_stands_alone():
    """Programs that draw each picture by itself, such as WeasyPrint, find nothing in another one."""
    pictures = re.findall(r"<svg.*?</svg>", render(Record.of(recorded("dp-nas"))), re.DOTALL)
    assert len(pictures) > 1
    for picture in pictures:
        ids = set(re.findall(r'\bid="([^"]+)"', picture))
        assert set(re.findall(r'(?:href="|url\()#([^")]+)', picture)) <= ids
        assert ">claim</text>" in picture or "<text" in picture


def places(path):
    """Points of a path, in tenths; relative commands are added up."""
    here, start, found = (0.0, 0.0), (0.0, 0.0), []
    for letter, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        values = [float(n) for n in re.findall(r"-?[0-9.]+", numbers)]
        base = here if letter.islower() else (0.0, 0.0)
        size = {"m": 1, "l": 1, "c": 3, "q": 2, "z": 0}[letter.lower()]
        points = list(zip(values[::2], values[1::2], strict=True))
        if letter in "zZ":
            here = start
        for number, (x, y) in enumerate(points):
            there = (base[0] + x, base[1] + y)
            found.append((round(10 * there[0]), round(10 * there[1])))
            if (number + 1) % size == 0:
                here = there
                base = here if letter.islower() else base
                start = here if letter in "mM" and number == 0 else start
    return list(dict.fromkeys(found))


@pytest.mark.parametrize(
    "path",
    [
        "M 38.84 196.78 L 267.00 196.78 L 267.00 15.84 L 38.84 15.84 z",
        "M -81.57 32808.31 L -60.29 269.34 L -60.29 269.34 L -50.39 259.53",
        "M 0 2 C 0.53 2 1.04 1.79 1.41 1.41 C 1.79 1.04 2 0.53 2 0 L 0 -2 z",
        "M 1 1 L 2 2 z M 5 5 L 6 7 Q 7 8 9 9",
    ],
)
def test_steps_of_a_path_lead_where_the_path_does(path):
    """Negative control: without its first step another path begins elsewhere."""
    short = svg._relative(path)
    assert places(short) == places(path)
    assert len(short) < len(path)
    assert places(short.replace("m", "m1 1m", 1)) != places(path)


def test_an_error_bar_of_no_length_leaves_no_path():
    """Control: one with a length does."""
    bar = '<path d="M 3 4 L 3 {}" style="fill: none"/>'
    assert svg.compact(bar.format("4.01")) == ""
    assert svg.compact(bar.format("5")) != ""


def test_every_plot_has_words_for_those_who_do_not_see_it():
    page = render(Record.of(recorded("ucb1")))
    parts = re.findall(r"<figure>(.*?)</figure>", page, re.DOTALL)
    assert parts
    for part in parts:
        label = re.search(r'role="img" tabindex="0" aria-label="([^"]+)"', part)
        assert label
        assert len(label[1]) > 20
        assert "<figcaption>" in part


def test_a_kill_table_is_drawn_by_algorithm():
    rows = [
        {"algorithm": name, "outcome": outcome}
        for name, outcome in (("a", "killed"), ("a", "undecided"), ("b", "survived"))
    ]
    assert timelines.kills([]) is None
    assert timelines.kills(rows) == timelines.kills(list(rows))
    assert timelines.kills(rows) != timelines.kills(rows[:2])


# ---------------------------------------------------------------- layouts

PHONE = 390 - 2 * 16 + 16 - 12  # pixels of a plot on a phone of 390: less the body's, its own frame and room
DESK = 44 * 16  # pixels of a plot on a desktop, at most


def smallest(picture, pixels):
    """Pixels of the smallest text of a picture that is shown that wide."""
    width = float(re.search(r'viewBox="0 0 ([0-9.]+) ', picture)[1])
    sizes = [float(size) for size in re.findall(r"font-size: ([0-9.]+)px", picture)]
    texts = len(re.findall(r"<text", picture))
    assert texts
    assert len(sizes) >= texts  # every text says its size
    return min(sizes) * pixels / width


@functools.cache
def drawn():
    """Every plot there is, in both layouts."""
    se, tree, ucb = recorded("dp-se"), recorded("adaptive-tree-printed"), recorded("ucb1")
    of_record = {
        (name, plot): record
        for name, record in (("dp-se", se), ("tree", tree), ("ucb1", ucb))
        for plot in ("epsilon", "regret", "time", "scaling")
    }
    of_record |= {("dp-se", plot): se for plot in ("course", "prices")}
    found = {}
    for (name, plot), record in of_record.items():
        for narrow in (False, True):
            if picture := page._PLOTS[plot](Record.of(record), narrow=narrow):
                found[name, plot, narrow] = picture
    example = stream("rounds 1 to 4")
    rows = [{"algorithm": name, "outcome": "killed"} for name in ("dp-robust-elimination", "b")]
    for narrow in (False, True):
        found["a", "placement", narrow] = timelines.placement(example, narrow=narrow)
        found["a", "kills", narrow] = timelines.kills(rows, narrow=narrow)
    return found


def test_no_text_of_a_plot_is_small_on_a_phone():
    """Control: the layout of a desktop, shrunk to a phone, would be too small to read."""
    every = drawn()
    assert len({plot for _, plot, _ in every}) >= 7
    for (name, plot, narrow), pictures in every.items():
        for picture in re.findall(r"<svg.*?</svg>", pictures, re.DOTALL):
            size = smallest(picture, PHONE if narrow else DESK)
            assert size >= 11, (name, plot, narrow)
            assert narrow or smallest(picture, PHONE) < 11
    css = (REPORTS.parent / "verifiable_dp/render/templates/style.css").read_text("utf-8")
    assert f"max-width: {DESK // 16 + 2}rem; color" in css  # a figure, with what stands around its picture
    assert ".desk { display: none; }" in css[css.index("(max-width: 47rem) { figure") :][:200]


def test_each_picture_is_one_pair_of_axes_with_words():
    """Control: two panels in one picture have two frames."""
    for (name, plot, narrow), pictures in drawn().items():
        for picture in re.findall(r"<svg.*?</svg>", pictures, re.DOTALL):
            labels = re.findall(r'text-anchor: middle"[^>]*>([^<]+)</text>', picture)
            assert any(len(re.findall(r"[a-z]{2,}", label)) for label in labels), (name, plot, narrow)
    assert drawn()["dp-se", "scaling", False].count("<svg") == len(
        {c["statistics"].get("over") for c in recorded("dp-se")["regret"]["checks"] if c["kind"] == "scaling"}
        - {None, "T", "horizon T"}
    )


def test_legends_stand_above_the_data(monkeypatch):
    """Of every plot that has one, in both layouts, and names at lines beside them, none over another.

    Control: a legend that stands in the middle is noticed, and names that are not kept apart are.
    """
    seen, named = [], []

    def looked(name, size, draw):
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
        from matplotlib.text import Text

        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        figure.draw_without_rendering()
        for axes in figure.axes:
            at_lines = [one for one in axes.texts if getattr(one, "arrow_patch", None)]
            boxes = [Text.get_window_extent(one) for one in at_lines]  # without the arrow
            for box in boxes:
                apart = not any(box.overlaps(other) for other in boxes if other is not box)
                inside = figure.bbox.x1 + 1 >= box.x1 and box.x0 >= axes.get_window_extent().x1
                named.append((name, apart and inside))
            if axes.get_legend() is not None:
                box, data = axes.get_legend().get_window_extent(), axes.get_window_extent()
                whole = figure.bbox
                fits = whole.x0 - 1 <= box.x0 and box.x1 <= whole.x1 + 1 and box.y1 <= whole.y1 + 1
                seen.append((name, box.y0 >= data.y1 - 1 and fits and data.height > 0.3 * whole.height))
        return "<svg/>"

    monkeypatch.setattr(plots, "inline", looked)
    record = recorded("dp-se")
    for narrow in (False, True):
        for plot in ("time", "scaling", "prices", "regret", "course"):
            page._PLOTS[plot](Record.of(record), narrow=narrow)
        timelines.placement(stream("rounds 1 to 4"), narrow=narrow)
    study = json.loads((REPORTS / "studies" / "S1" / "study.json").read_text("utf-8"))
    figures.panels(study["figures"][0])
    assert len(seen) >= 6
    wide = {name for name, _ in seen if not name.endswith(" narrow")}
    assert wide == {"regret", "placement 0"}  # whose marks have no end; control: all of a phone's have one
    assert [name for name, outside in seen if not outside] == []
    assert len(named) >= 20
    assert [name for name, right in named if not right] == []
    monkeypatch.setattr(plots, "_GAP", 0.0)
    figures.panels(study["figures"][0])
    assert not all(right for _, right in named)
    monkeypatch.setattr(plots, "legend", lambda axes, *_: axes.legend(loc="center"))
    timelines.placement(stream("rounds 1 to 4"))
    assert not seen[-1][1]


def test_means_have_error_bars_and_equal_runs_have_none():
    assert plots.bars([0.0, 0.0]) is None
    assert plots.bars([1.0, 0.0], [10.0, 5.0]) == [pytest.approx(1.96), 0.0]
    assert plots.bars([10.0], [10.0]) == [9.0]  # on a logarithmic axis, which has no 0
    record = recorded("dp-linear")
    check = next(c for c in record["regret"]["checks"] if c["kind"] == "scaling")
    with_bars = timelines.over_time(Record.of(record))
    for point in check["statistics"]["points"]:
        point[2] = 0.0
    assert timelines.over_time(Record.of(record)).count("<use") < with_bars.count("<use")
    assert timelines.over_time(Record.of(record | {"regret": None})) is None


def test_powers_of_ten_are_written_whole():
    assert [plots._power(value) for value in (1e6, 1e-7, 1000.0, 0.1, 1e-4, 20000.0, 0)] == [
        "10⁶",
        "10⁻⁷",
        "1000",
        "0.1",
        "10⁻⁴",
        "2·10⁴",
        "0",
    ]


@pytest.mark.parametrize("narrow", [False, True])
def test_no_line_of_a_label_ends_beside_its_sign(monkeypatch, narrow):
    """Control: with plain spaces one does."""
    names = [f"some instance{' long' * n}: sphere, theta 1, T = 1000000" for n in range(8)]

    def drawn():
        def draw(axes):
            for name in names:
                axes.plot([1, 2], [1, 2], label=name, color=plots.GOOD)
            plots.framed(axes, "x")

        lines = re.findall(r">([^<>]+)</t(?:ext|span)>", plots.single("t", 9, draw, narrow=narrow))
        return [line for line in lines if re.search(r"^[=\s]|=\s*$|\bT$", line)]

    assert drawn() == []
    monkeypatch.setattr(plots, "_EQUALS", " = ")
    assert drawn() != []


def test_the_yardstick_of_a_baseline_is_called_a_claim_in_no_plot():
    """Control: a promise is. The upper bound of a record that has one is named beside its bracket."""
    for name, word, other in (("ucb1", "yardstick", "claim"), ("dp-nas", "claim", "yardstick")):
        record = Record.of(recorded(name))
        drawn = [plot(record) for plot in (plots.epsilon_bars, timelines.loss_over_time)]
        assert [(f">{word}<" in one, f">{other}<" in one) for one in drawn] == [(True, False)] * 2, name
        assert (">at most 2<" in drawn[0]) == (name == "dp-nas")
