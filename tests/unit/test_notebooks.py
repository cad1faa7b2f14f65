"""Code of a notebook's cells, which is in no file, and what a report shows there."""

import html
import linecache
import sys
from types import SimpleNamespace

import pytest

import verifiable_dp as vdp
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.model import Record
from verifiable_dp.render import plots, svg
from verifiable_dp.targets.source import NOT_FOUND, CodeSource, file_of, in_cell

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
