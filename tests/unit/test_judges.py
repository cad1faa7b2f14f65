"""The edge tables notice faults of the judges, and no judge is left out; the whole run is for the night."""

import ast
import importlib

import pytest

from tests import fresh_faults, judges, live_faults, module_tests
from tests.ast_faults import edited, faults_in
from tests.judges import SURVIVORS
from verifiable_dp.evidence.check import kinds

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
    for table, module, names in judges.JUDGES:
        assert (judges.EDGES / f"test_{table}.py").is_file()
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
