"""The programs of these tests: what waits for the night, seeded faults, refusals, judges."""

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import coverage
import pytest

from tests import fresh_faults, judges, live_faults, module_tests, night, refusals
from tests.ast_faults import edited, faults_in
from tests.faults import FAULTS, LEAST, ROOT, TABLE, Fault, Outcome, _caught_by, table
from tests.judges import SURVIVORS
from tests.line_tests import _LEFT
from verifiable_dp.evidence.check import kinds
from verifiable_dp.evidence.symbolic.states import KeptState
from verifiable_dp.evidence.tracing.reach import scopes_of

# Which tests wait for the night follows from how long they take and from what needs them.


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
        (12.0, "test_one"),
    ],
)
def test_the_dearest_cases_wait_until_the_day_is_short_enough(day, next_one):
    """Broken variant: the only case of a function counts as any other."""
    order = ["test_slow[b]", "test_dear", "test_many[c]", "test_many[b]", "test_one"]
    dear = order[: order.index(next_one) + 1] if next_one else []
    assert night.waiting(SECONDS, [], day) == sorted(f"unit/test_a.py::{name}" for name in dear)


def test_what_notices_a_fault_and_the_cheapest_case_of_a_file_do_not_wait():
    """Broken variants: names of the pages are not looked at; a file has no case by day."""
    kept = ["unit/test_a.py::test_many[c]", "unit/test_a.py::test_slow"]
    dear = ["test_dear", "test_many[b]", "test_one"]
    assert night.waiting(SECONDS, kept, 0) == [f"unit/test_a.py::{name}" for name in dear]


def test_a_function_with_several_cases_keeps_its_cheapest(tmp_path, monkeypatch):
    """Broken variants: it waits; cases that wait already do not count."""
    monkeypatch.setattr(night, "LIST", tmp_path / "night.txt")
    for before, waits in (("", ["test_dear", "test_one"]), ("unit/test_a.py::test_one[b]", ["test_dear"])):
        night.LIST.write_text(before)
        cases = [*SECONDS, "unit/test_b.py::test_c"]
        seconds = {case: SECONDS.get(case, 0.1) for case in cases if "[" not in case or case.endswith("[a]")}
        only = [case for case in night.waiting(seconds, [], 0) if "[" not in case]
        assert only == [f"unit/test_a.py::{name}" for name in waits]


def test_edge_tables_do_not_wait():
    """Broken variant: `ALWAYS` is not looked at."""
    seconds = {
        f"{folder}/test_a.py::test_b[{i}]": 9.0 for folder in ("unit/edges", "unit/core") for i in "abc"
    }
    assert night.waiting(seconds, [], 0) == [f"unit/core/test_a.py::test_b[{i}]" for i in "bc"]


def test_pages_name_tests_with_their_cases(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "| a | `unit/test_a.py::test_b[x\\|y z]` | `tests/e2e/test_c.py::test_d` | `unit/no.md` |\n"
    )
    assert night.needed(page) == {"unit/test_a.py::test_b[x|y z]", "e2e/test_c.py::test_d"}


def test_times_are_read_from_a_report(tmp_path):
    report = tmp_path / "times.xml"
    report.write_text(
        '<testsuites><testsuite><testcase classname="tests.unit.test_a" name="test_b[1]" time="9">'
        f'<properties><property name="x" value="1"/><property name="{night.SPENT}" value="0.25"/>'
        "</properties></testcase>"
        '<testcase classname="tests.unit.test_a" name="test_c" time="9"/></testsuite></testsuites>'
    )
    assert night.timed(report) == {"unit/test_a.py::test_b[1]": 0.25, "unit/test_a.py::test_c": 0.0}


def test_cpu_seconds_are_those_of_a_case_alone(monkeypatch):
    """Broken variants: time on the clock; processes are left out; what a module shares is counted."""
    own, waited_for, clock = (1, 2, 4, 5), (10, 10, 10.25, 10.5), (100, 200, 300, 400)
    times = iter([(a / 2, a / 2, b / 2, b / 2, c) for a, b, c in zip(own, waited_for, clock, strict=True)])
    monkeypatch.setattr("os.times", lambda: next(times))
    timer, item = night.Clock(), SimpleNamespace(user_properties=[])
    timer.start()
    with timer.shared():
        pass
    timer.note(item)
    monkeypatch.undo()
    assert item.user_properties == [(night.SPENT, "2.250")]


def test_an_audit_of_what_a_test_file_defines_does_not_look_into_pytest():
    """It took three times as long. Broken variant: the loader that rewrites assertions stays."""
    kept = KeptState(scopes_of(test_cpu_seconds_are_those_of_a_case_alone))
    assert not {type(value).__name__ for _, value, _ in kept._rows} & {
        "AssertionRewritingHook",
        "Config",
        "Session",
    }
    assert __loader__.get_source(__name__) == Path(__file__).read_text("utf-8")


def test_the_list_is_sorted_and_holds_nothing_that_never_waits():
    """Broken variant: a threat, a fault or a refusal is noticed at night only."""
    listed, kept = night.listed(), night.kept()
    assert listed == sorted({*listed})
    assert not {case for case in listed if {case, case.partition("[")[0]} & kept}
    assert not [case for case in listed if case.startswith(night.ALWAYS)]
    refused = {*refusals.table().values(), *refusals.table("words").values()}
    assert {test.removeprefix("tests/") for test in refused} < kept


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


# The list of seeded faults does not rot: every fault still applies, and the table is that of the list.
# Whether the tests notice them is tried by `make faults`, which takes longer.


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_applies_to_the_source(fault):
    text = (ROOT / fault.file).read_text()
    edited = fault.edited(text)
    assert edited != text
    if fault.file.endswith(".py"):
        compile(edited, fault.file, "exec")
    for test in fault.tests:
        path, _, name = test.partition("::")
        assert (ROOT / path).is_file(), test
        assert not name or f"def {name.partition('[')[0]}(" in (ROOT / path).read_text(), test


def test_there_are_enough_and_none_stands_twice():
    assert len(FAULTS) >= 60
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert len({(fault.file, fault.before, fault.after) for fault in FAULTS}) == len(FAULTS)
    assert len({fault.file for fault in FAULTS}) >= 30


def test_a_fault_that_does_not_apply_is_named():
    fault = Fault("it", "file.py", "x = 1", "x = 2", "", ())
    assert fault.edited("x = 1\n") == "x = 2\n"
    for text in ("x = 3\n", "x = 1\nx = 1\n"):
        with pytest.raises(ValueError, match=r"fault it: its text stands [02] times in file\.py"):
            fault.edited(text)


@pytest.mark.parametrize(
    ("status", "printed", "caught"),
    [
        (0, "12 passed", ""),
        (1, "FAILED tests/a.py::test_b[x - y] - assert 1 == 2\n1 failed", "tests/a.py::test_b[x - y]"),
        (2, "ERROR tests/a.py - InputError: no\n1 error", "tests/a.py"),
    ],
)
def test_what_pytest_says_is_read(status, printed, caught):
    assert _caught_by(status, printed, FAULTS[0]) == caught


@pytest.mark.parametrize(("status", "printed"), [(4, "no such file"), (5, "no tests ran"), (1, "crashed")])
def test_tests_that_do_not_run_catch_nothing(status, printed):
    """A node id that is gone, or that the fast suite deselects, must not count as a catch."""
    with pytest.raises(RuntimeError, match="the tests do not run"):
        _caught_by(status, printed, FAULTS[0])


def test_the_committed_table_is_that_of_the_list():
    """Made by `make faults`; most of the faults are caught."""
    text = TABLE.read_text()
    rows = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines()[9:]]
    assert rows == [fault.name for fault in FAULTS]
    caught, whole = map(int, re.search(r"Caught: (\d+) of (\d+)\.", text).groups())
    assert whole == len(FAULTS)
    assert caught == whole - text.count("**survived**")
    assert caught >= LEAST * whole
    again = table([Outcome(fault, "tests/a.py::b", 1.0) for fault in FAULTS])
    assert again.splitlines()[:5] == text.splitlines()[:5]


# Every refusal of the rooms that decide has a test that makes it happen: `tests/refusals.py`.


MOST_LEFT = 0  # without a fast test


def test_every_refusal_has_a_test_or_stands_in_the_list_with_a_reason():
    names = [one.name for one in refusals.refusals()]
    ran, said, left = refusals.table(), refusals.table("words"), refusals.left()
    assert len(names) == len(set(names)) > 190
    missing = [name for name in names if name not in {*ran, *said, *left}]
    assert not missing, f"make them happen, or run python -m tests.refusals: {missing}"
    gone = [name for name in {*ran, *said, *left} if name not in names]
    assert not gone, f"these are no refusals any more: {gone}"
    assert not {*ran, *said} & {*left}
    assert len(left) <= MOST_LEFT
    assert len(ran) >= len(names) / 2


def test_the_tests_of_the_table_are_there():
    tests = [*refusals.table().values(), *refusals.table("words").values()]
    assert tests
    assert [test for test in tests if not refusals.defined(test)] == []
    assert not refusals.defined("tests/unit/test_programs_of_tests.py::test_that_is_not_there")
    assert not refusals.defined("tests/unit/no_such_file.py")


def test_what_holds_words_of_a_message_says_them():
    said = [one for one in refusals.refusals() if one.name in refusals.table("words")]
    assert len(said) < 60
    assert [one.name for one in said if not refusals.named(one)] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('def f():\n    raise E("must be a number")', ["f: must be a number"]),
        ('class C:\n    def m(self):\n        raise E(f"got {x}, not {y}")', ["C.m: got , not"]),
        ("def f():\n    raise Finished", ["f: raise Finished"]),
        ("def f(self, node):\n    self.tell(node, 'calls itself')", ["f: calls itself"]),
        ("def f(self, node):\n    self.picks(node, TURNS)", ["f: self.picks(node, TURNS)"]),
        ("def f(self, node, words):\n    self.tell(node, words)", []),  # hands it on
        ("def f(error):\n    raise error", []),
        ("def f():\n    raise", []),
        ("def f():\n    raise NotImplementedError", []),
    ],
)
def test_what_is_a_refusal(source, found):
    places = refusals._places(ast.parse(source))
    assert [f"{scope}: {refusals._words(node)}" for scope, node in places] == found


@pytest.mark.slow
def test_the_tests_of_the_table_make_the_refusals_happen(tmp_path):
    """Run with the lines recorded: each refusal's line runs in its own test."""
    table, place = refusals.table(), tmp_path / "seen.files"
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.line_tests"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *sorted(set(table.values()))],
        cwd=refusals.ROOT,
        env={**os.environ, _LEFT: f"{place}:3600"},
        check=True,
        capture_output=True,
    )
    data = coverage.CoverageData(str(place.with_suffix(".lines")))
    data.read()
    missed = []
    for one in refusals.refusals():
        if one.name in table:
            lines = data.contexts_by_lineno(str(Path(refusals.modules()[one.module]).resolve()))
            seen = {test for line in range(one.first, one.last + 1) for test in lines.get(line, ())}
            if table[one.name] not in seen:
                missed.append(one.name)
    assert missed == []


# The edge tables notice faults of the judges, and no judge is left out; the whole run is for the night.


SEED = 20  # of the sample by day; the night tries every fault


def words_of(source, **options):
    return [edit.words for edit in faults_in(ast.parse(source), **options)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("a < b", ["a < b -> a <= b", "a < b -> a >= b"]),
        ("a >= b", ["a >= b -> a > b", "a >= b -> a < b"]),
        ("a == b", ["a == b -> a != b"]),
        (
            "a < b <= c",
            [
                "a < b <= c -> a <= b <= c",
                "a < b <= c -> a >= b <= c",
                "a < b <= c -> a < b < c",
                "a < b <= c -> a < b > c",
            ],
        ),
        ("a is None", ["a is None -> a is not None"]),
        ("a not in b", ["a not in b -> a in b"]),
        ("a and b", ["a and b -> a or b"]),
        ("not a", ["not a -> a"]),
        ("max(a, b)", ["max -> min"]),
        ("a.any()", ["a.any -> a.all"]),
        ("np.minimum(a, b)", ["np.minimum -> np.maximum"]),
        ("3", ["3 -> 4", "3 -> 2"]),
        ("2.0", ["2.0 -> 2.1", "2.0 -> 1.9"]),
        ("0.0", ["0.0 -> 0.05", "0.0 -> -0.05"]),
        ("True", []),
        ("'a < 1'", []),
        ("f'{a < 1}'", []),
        ("def f(a: int = 1) -> int: pass", []),  # neither annotations nor defaults
    ],
)
def test_the_edits_of_a_piece_of_code(source, found):
    assert words_of(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("f(a, b)", ["f(a, b) -> f(b, a)"]),
        ("f(a, a)", []),
        ("max(a, b)", ["max -> min"]),
        ("raise E", ["raise E -> pass"]),
        ("def f() -> float:\n    return a", ["a -> -a"]),
        ("def f() -> str:\n    return a", []),
    ],
)
def test_the_edits_of_whole_programs(source, found):
    assert words_of(source, also=True) == found


def test_an_edit_leaves_the_rest_of_a_file_as_it_stands():
    source = "# ä comment\nx = 'ö' if a < b else c  # and another\ny = not (d and\n         e)\n"
    texts = [edited(source, edit) for edit in faults_in(ast.parse(source))]
    assert texts == [
        source.replace("a < b", "a <= b"),
        source.replace("a < b", "a >= b"),
        source.replace("not (d and\n         e)", "(d and e)"),
        source.replace("d and\n         e", "(d or e)"),
    ]


# ---------------------------------------------------------------- judges


def test_every_kind_of_check_is_judged_by_a_function_of_the_list():
    listed = {(module, name) for _, module, names in judges.JUDGES for name in names}
    ours = [kind for kind in kinds() if kind.judge.__module__.startswith("verifiable_dp.")]
    assert ours
    for kind in ours:
        assert (kind.judge.__module__, kind.judge.__name__) in listed, kind.name


def test_what_is_listed_exists_and_is_called_there():
    for edges, module, names in judges.JUDGES:
        assert (judges.EDGES / f"test_{edges}.py").is_file()
        assert len(set(names)) == len(names)
        for name in names:
            assert judges._function(module, name).__module__ == module
    known = {fault.name for fault in judges.faults()}
    assert set(SURVIVORS) <= known
    assert len(known) == len(judges.faults()) > 1200
    assert len(SURVIVORS) <= (1 - judges.LEAST) * len(known)


def test_a_fault_is_put_in_and_taken_out():
    exceeds = importlib.import_module("verifiable_dp.evidence.alignment.replay").exceeds
    [fault, *_] = [f for f in judges.faults() if f.judge == "exceeds" and "paid <" in f.edit.words]
    with judges.applied(fault):
        assert exceeds(1.0, 2.0)
    assert not exceeds(1.0, 2.0)


def test_the_tables_notice_faults_of_the_judges():
    """A sample; the night tries all. What survives must stand in the list of what cannot be noticed."""
    assert judges.survivors(judges.sample(30, SEED)) == []


@pytest.mark.slow
def test_the_tables_notice_all_faults_but_those_of_the_list(tmp_path, monkeypatch):
    monkeypatch.setattr(judges, "TABLE", tmp_path / "judges.md")
    assert judges.main() == 0
    assert (tmp_path / "judges.md").read_text("utf-8") == (judges.ROOT / "tests/judges.md").read_text("utf-8")


# ---------------------------------------------------------------- fresh faults, and which tests are near


def test_fresh_faults_apply_and_follow_their_seed():
    one, again, other = (fresh_faults.drawn(30, seed) for seed in (1, 1, 2))
    assert [fault.words for fault in one] == [fault.words for fault in again]
    assert [fault.words for fault in one] != [fault.words for fault in other]
    assert len({fault.module for fault in one}) > 10
    for fault in one:
        text = fault.path.read_text("utf-8")
        made = edited(text, fault.edit)
        assert made != text
        compile(made, str(fault.path), "exec")


SOURCE = """
LIMIT = 1

def above(x):
    return x > 1

@kernel
def compiled(x):
    return x > 1

class C:
    size = 1

    @property
    def more(self):
        return (lambda: 1)() + 1
"""


def test_which_faults_can_be_put_into_code_that_is_loaded():
    """Those in functions that Python runs: not a constant of a module or a class, not what is compiled."""
    tree = ast.parse(SOURCE)
    ones = sorted((n for n in ast.walk(tree) if isinstance(n, ast.Constant)), key=lambda n: n.lineno)
    assert [live_faults.applies(tree, one) for one in ones] == [False, True, False, False, True, True]


def test_a_fault_is_put_into_functions_that_are_loaded(tmp_path, monkeypatch):
    path = tmp_path / "loaded_module.py"
    path.write_text(SOURCE.replace("@kernel\n", ""))
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("loaded_module")
    above, more = module.above, module.C().more
    source = path.read_text().replace("x > 1", "x >= 1").replace("+ 1", "+ 2")
    assert live_faults.apply(str(path), source) == 3
    assert (above(1), module.compiled(1), module.C().more, more, module.LIMIT) == (True, True, 3, 2, 1)
    assert live_faults.apply(str(path), source.replace("LIMIT = 1", "LIMIT = 2")) == 3
    assert live_faults.apply(str(path), path.read_text()) == 0


# Modules that no test names: they are reached through others. The list must not grow.
REACHED = """
auditing.asking auditing.calls auditing.curved auditing.regret.catalogue auditing.regret.instances
auditing.regret.plan auditing.regret.record auditing.regret.run auditing.regret.subject
auditing.variants controls.catalogue controls.running evidence.symbolic.answers
evidence.symbolic.calls evidence.symbolic.accept_reject evidence.symbolic.contextual_programs
evidence.symbolic.doubts evidence.symbolic.randoms evidence.symbolic.numpy_mirror
evidence.symbolic.states evidence.symbolic.subsets evidence.tracing.standin record.entries
render.rendering targets.measured algorithms._robust algorithms._stopping auditors._elimination
auditors._index auditors._paths auditors._first_neighbours auditors.errata.hanna
auditors.errata.rates auditors.errata.sajed auditors.errata.wu auditors.items
api.catalogued api.naming api.regrets evidence.judge.chances
targets.sampling
"""


def test_every_module_has_a_test_that_names_it_but_those_that_are_listed():
    unnamed = {name.removeprefix("verifiable_dp.") for name in module_tests.unnamed()}
    assert unnamed == set(REACHED.split())


def test_the_nearest_tests_of_a_module():
    near = [path.name for path in module_tests.nearest("verifiable_dp.evidence.blackbox.statistics")]
    assert "test_counts.py" in near
    bare = [name for name in module_tests.modules() if not module_tests.nearest(name)]
    assert {module_tests.modules()[name].stem for name in bare} <= {"__init__"}  # a docstring each
