"""Which tests wait for the night follows from how long they take and from what needs them."""

from tests import night

SECONDS = {
    "unit/test_a.py::test_one": 2.9,
    "unit/test_a.py::test_dear": 3.1,
    "unit/test_a.py::test_many[a]": 0.2,
    "unit/test_a.py::test_many[b]": 0.6,
    "unit/test_a.py::test_many[c]": 0.8,
    "unit/test_a.py::test_slow[a]": 4.0,
    "unit/test_a.py::test_slow[b]": 5.0,
}


def test_dear_cases_wait_but_for_the_cheapest_of_a_function():
    """Broken variants: all dear cases wait, so that nothing of a function runs; none does."""
    dear = ["test_dear", "test_many[c]", "test_slow[a]", "test_slow[b]"]
    assert night.waiting(SECONDS, []) == [f"unit/test_a.py::{name}" for name in dear]


def test_what_notices_a_fault_does_not_wait():
    """Broken variant: names of the pages are not looked at."""
    kept = ["unit/test_a.py::test_many[c]", "unit/test_a.py::test_slow"]
    assert night.waiting(SECONDS, kept) == ["unit/test_a.py::test_dear"]


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
