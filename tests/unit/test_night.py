"""Which tests wait for the night follows from how long they take and from what needs them."""

from types import SimpleNamespace

import pytest

from tests import night

SECONDS = {
    "unit/test_a.py::test_one": 2.9,
    "unit/test_a.py::test_dear": 16.0,
    "unit/test_a.py::test_many[a]": 0.2,
    "unit/test_a.py::test_many[b]": 0.6,
    "unit/test_a.py::test_many[c]": 0.9,
    "unit/test_a.py::test_slow[a]": 9.0,
    "unit/test_a.py::test_slow[b]": 10.0,
}


@pytest.mark.parametrize(
    ("day", "next_one"),
    [
        (39.7, ""),
        (39.5, "test_slow[b]"),
        (29.5, "test_dear"),
        (13.5, "test_many[c]"),
        (12.6, "test_many[b]"),
        (12.0, "test_slow[a]"),
        (3.0, "test_one"),
    ],
)
def test_the_dearest_cases_wait_until_the_day_is_short_enough(day, next_one):
    """Broken variant: the cheapest case of a function counts as any other."""
    order = ["test_slow[b]", "test_dear", "test_many[c]", "test_many[b]", "test_slow[a]", "test_one"]
    dear = order[: order.index(next_one) + 1] if next_one else []
    assert night.waiting(SECONDS, [], day) == sorted(f"unit/test_a.py::{name}" for name in dear)


def test_what_notices_a_fault_does_not_wait():
    """Broken variant: names of the pages are not looked at."""
    kept = ["unit/test_a.py::test_many[c]", "unit/test_a.py::test_slow"]
    dear = ["test_dear", "test_many[a]", "test_many[b]", "test_one"]
    assert night.waiting(SECONDS, kept, 0) == [f"unit/test_a.py::{name}" for name in dear]


def test_pages_name_tests_with_their_cases(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "| a | `unit/test_a.py::test_b[x\\|y z]` | `tests/e2e/test_c.py::test_d` | `unit/no.md` |\n"
    )
    assert night.needed(page) == {"unit/test_a.py::test_b[x|y z]", "e2e/test_c.py::test_d"}


def test_times_are_read_from_a_report(tmp_path):
    report = tmp_path / "times.xml"
    report.write_text(
        '<testsuites><testsuite><testcase classname="tests.unit.test_a" name="test_b[1]" time="0.25"/>'
        "</testsuite></testsuites>"
    )
    assert night.timed(report) == {"unit/test_a.py::test_b[1]": 0.25}


def test_the_list_is_sorted_and_holds_nothing_that_a_page_needs():
    """Broken variant: a threat or a fault is noticed at night only."""
    listed, pages = night.listed(), (night.HERE / "faults.md", night.HERE.parent / "SECURITY.md")
    assert listed == sorted({*listed})
    assert not {*listed} & night.needed(*pages)


@pytest.mark.parametrize(("args", "gone"), [(["tests"], ["unit/test_a.py::test_gone"]), (["a.py::b"], [])])
def test_what_is_no_more_is_named_and_stops_no_suite(args, gone, tmp_path, monkeypatch):
    """Where its file was collected. Broken variant: it raises there, which ends a worker."""
    monkeypatch.setattr(night, "LIST", tmp_path / "night.txt")
    night.LIST.write_text("unit/test_a.py::test_gone\nunit/test_a.py::test_one\nunit/test_b.py::test_c\n")
    config, marked = SimpleNamespace(stash=pytest.Stash(), args=args), []
    night.wait(
        config,
        [
            SimpleNamespace(nodeid=f"tests/{case}", add_marker=lambda mark, case=case: marked.append(case))
            for case in SECONDS
        ],
    )
    assert marked == ["unit/test_a.py::test_one"]
    assert config.stash[night.GONE] == gone


def test_every_case_of_the_list_exists(request):
    """`python -m tests.night` drops those that are no more."""
    assert request.config.stash[night.GONE] == [], "take these lines out of tests/night.txt"
