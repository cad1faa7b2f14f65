"""What is read of users' code: its paths, what covers them, constructs and expressions."""

from __future__ import annotations

import ast
import dis
import importlib
import shutil
import sys

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.commands import finished
from tests.user_code import verdicts
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.evidence.blackbox.users import UserSearch
from verifiable_dp.evidence.judge import outside, values
from verifiable_dp.evidence.judge.expressions import Expressions
from verifiable_dp.evidence.judge.flow import File, Names
from verifiable_dp.evidence.judge.language import Language
from verifiable_dp.evidence.judge.marks import where
from verifiable_dp.evidence.judge.statements import Statements
from verifiable_dp.evidence.judge.values import Value
from verifiable_dp.evidence.premises import Taken
from verifiable_dp.evidence.symbolic import bounded_programs, leaves, paths
from verifiable_dp.evidence.symbolic.choosers import Chooser, Deciding
from verifiable_dp.evidence.symbolic.coverage import Coverage
from verifiable_dp.evidence.symbolic.desugar_match import PREFIX, fits, parsed
from verifiable_dp.evidence.tracing.reach import scopes_of

# Bounds of every path: which programs have them, and what of it another look would miss. Broken variants,
# each seen to fail here: a chooser to which nothing is open; one run in place of two; leaves that are not
# looked at in all ways.


def explored(program):
    return paths.explore(bounded_programs.Program(program, (12, 2), (0.0, 1.0)), 2, most=6)


@pytest.mark.parametrize(("program", "number"), verdicts.ALL)
def test_a_few_decisions_have_as_many_paths(program, number):
    found = explored(program)
    assert found.every
    numbers = [path.number for path in found.paths if path.number >= leaves._FIRST]
    assert len(numbers) == len({*numbers}) == number
    made = found.bound()
    assert made.scope == "every path"
    assert made.epsilon == pytest.approx(1.0)
    assert Taken.OTHER_PATHS not in {premise.id for premise in made.premises}


@pytest.mark.parametrize("program", verdicts.MORE)
def test_other_programs_are_bounded_on_tested_paths_at_most(program):
    found = explored(program)
    assert not found.every
    assert found.bound().scope == "n paths"
    assert Taken.OTHER_PATHS in {premise.id for premise in found.bound().premises}


def test_the_outputs_of_all_paths_are_all_outputs():
    found = explored(verdicts.commit_twice)
    last = [int(path.output[-1]) for path in found.paths if path.number >= leaves._FIRST]
    assert sorted(last) == [0, 0, 1]


def test_a_second_run_notices_what_no_chooser_was_asked_of(monkeypatch):
    """Where a number of many were taken for nothing open."""
    monkeypatch.setattr(Deciding, "level", Chooser.level)
    monkeypatch.setattr(Value, "varies", False)
    assert not explored(verdicts.wider_by_chance).every
    # Without the second run it would be taken for the only path.
    monkeypatch.setattr(leaves, "sums", lambda costs: {})
    assert explored(verdicts.wider_by_chance).every


@pytest.mark.parametrize(
    ("program", "least"), [(verdicts.opposite_signs, 1.146), (verdicts.more_signs, 1.183)]
)
def test_the_dearest_way_to_decide_counts(program, least):
    """Also where it is one of 64, and where there are too many ways to try: true costs from below."""
    assert explored(program).epsilon() >= least


def test_too_many_paths_are_not_all_run():
    made = []

    def run(number, chooser):
        made.append(number)
        for _ in range(leaves._DEEPEST):
            chooser.winner(0, range(9))
        return bounded_programs.Path(number, {})

    assert leaves.leaves(run, 2, np.inf) is None
    assert len(made) <= 2


def test_it_gives_up_after_so_many_operations():
    def run(number, chooser):
        chooser.winner(0, range(4))
        return bounded_programs.Path(number, {}, events=100)

    assert len(leaves.leaves(run, 2, np.inf)) == len(leaves.leaves(run, 2, 600)) == 4
    assert leaves.leaves(run, 2, 599) is None


def test_a_path_without_a_bound_ends_it():
    def run(number, chooser):
        words = "raw" if chooser.answer(True) else ""
        return bounded_programs.Path(number, {}, paths.Failure(words))

    assert leaves.leaves(run, 2, np.inf) is None


def test_the_scope_reaches_the_record():
    report = vdp.audit(verdicts.commit, epsilon=1.0, n_arms=2, horizon=12, budget="smoke", in_process=True)
    assert report.verdict == "not_refuted"
    assert report.record["epsilon_upper"]["scope"] == "every path"
    assert "on every path" in report.summary()
    assert np.isclose(report.record["epsilon_upper"]["epsilon"], 1.0)


@pytest.mark.parametrize(
    ("program", "require", "status"),
    [
        ("commit", "every-path", 0),
        ("commit", "certified", 3),
        ("greedy", "tested-paths", 0),
        ("greedy", "every-path", 3),
    ],
)
def test_the_command_asks_for_what_is_required(program, require, status, tmp_path):
    """One who asks for more than there is gets exit status 3 and is told why."""
    shutil.copy(verdicts.__file__, tmp_path / "leaving.py")
    asked = (
        "audit",
        f"leaving.py:{program}",
        "--arms",
        "2",
        "--horizon",
        "12",
        "--epsilon",
        "1",
        "--budget",
        "smoke",
    )
    assert finished(tmp_path, *asked, "--ask", "request.json").returncode == 0
    answer = ("--request", "request.json", "--json", "record.json")
    done = finished(tmp_path, *asked, *answer, "--require", require)
    assert done.returncode == status
    found = "every-path" if program == "commit" else "tested-paths"
    said = f"is not refuted, but the evidence is only {found}; --require asks for {require}"
    assert (said in done.stderr) == (status == 3)
    judged = finished(tmp_path, "judge", ".", f"leaving.py:{program}", "--require", require)
    assert (judged.returncode, said in judged.stderr) == (status, status == 3)


def test_a_campaign_asks_for_what_is_required(tmp_path):
    shutil.copy(verdicts.__file__, tmp_path / "leaving.py")
    targets = [
        f"[[targets]]\nname = '{name}'\ntarget = 'leaving.py:{name}'\narms = 2\nhorizon = 12\n"
        for name in ("commit", "greedy")
    ]
    defaults = "[defaults]\nepsilon = 1.0\nbudget = 'smoke'\n"
    (tmp_path / "all.toml").write_text(defaults + "".join(targets), encoding="utf-8")
    done = finished(tmp_path, "campaign", "all.toml", "--require", "every-path")
    assert done.returncode == 3
    assert (
        "greedy is not refuted, but the evidence is only tested-paths; --require asks for every-path"
        in done.stderr
    )
    assert "commit is not refuted, but" not in done.stderr
    again = finished(tmp_path, "campaign", "all.toml", "--require", "tested-paths", "--resume")
    assert again.returncode == 0


def test_a_test_asks_for_what_is_required(pytester):
    shutil.copy(verdicts.__file__, pytester.path / "leaving.py")
    given = "epsilon=1.0, n_arms=2, horizon=12, budget='smoke', require='every-path'"
    pytester.makepyfile(
        "import leaving\n"
        f"def test_enough(privacy_audit):\n    privacy_audit(leaving.commit, {given})\n"
        f"def test_short(privacy_audit):\n    privacy_audit(leaving.greedy, {given})\n"
        "def test_unknown(privacy_audit):\n    privacy_audit(leaving.greedy, epsilon=1.0, require='all')\n"
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*the evidence is only tested-paths, but every-path is required*"])
    result.stdout.fnmatch_lines(["*require must be one of detectable, tested-paths, every-path, certified*"])


# Which modules of the user a target reaches: by objects and imports; all beside it only if it searches.


HELPER = """
def add(value): return value + 1
class Adder:
    __slots__ = ('by',)
    def __call__(self, value): return value
"""
TARGETS = {
    "a name": "from helper import add\ndef play(x): return add(x)",
    "a module": "import helper\ndef play(x): return helper.add(x)",
    "an import while it runs": "def play(x):\n    from helper import add\n    return add(x)",
    "a table": "import helper\n"
    "TABLE = {'a': [(helper.add,)]}\ndel helper\ndef play(x): return TABLE['a'][0][0](x)",
    "an object": "import helper\nADDER = helper.Adder()\ndel helper\ndef play(x): return ADDER(x)",
    "an attribute": "import helper\nclass Holds:\n    def __init__(self): self.part = helper.Adder()\n"
    "HELD = Holds()\ndel helper, Holds\ndef play(x): return HELD.part(x)",
    "a slot": "import helper\n"
    "HELD = helper.Adder()\nHELD.by = helper.add\ndel helper\ndef play(x): return HELD.by(x)",
    "a closure": "import helper\ndef made(by):\n    def play(x): return by['f'](x)\n    return play\n"
    "play = made({'f': helper.add})\ndel helper",
    "a default": "import helper\ndef play(x, by=helper.add): return by(x)\ndel helper",
    "a partial": "import functools, helper\n"
    "play = functools.partial(lambda by, x: by(x), helper.add)\ndel helper",
    "a cache": "import functools, helper\n"
    "ADD = functools.lru_cache(helper.add)\ndel helper\ndef play(x): return ADD(x)",
    "a base class": "import helper\nclass Own(helper.Adder): pass\ndel helper\ndef play(x): return Own()(x)",
    "a library's object": "import numpy as np, helper\nADD = np.vectorize(helper.add)\ndel helper\n"
    "def play(x): return ADD(x)",
    "a weak table": "import weakref, helper\nHELD = weakref.WeakValueDictionary(a=helper.add)\ndel helper\n"
    "def play(x): return HELD['a'](x)",
    "a global by name": "from helper import add\ndef play(x): return globals()['add'](x)",
    "modules by name": "import sys\ndef play(x): return sys.modules['helper'].add(x)",
    "an import by name": "import importlib\ndef play(x): return importlib.import_module('helper').add(x)",
}
SEARCHING = ("modules by name", "an import by name")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """What a target with helper and unused reaches, by the names of the files."""
    monkeypatch.syspath_prepend(tmp_path)
    for name, text in {"helper": HELPER, "unused": "def far(x): return x"}.items():
        (tmp_path / f"{name}.py").write_text(text)

    def reached(text):
        (tmp_path / "target.py").write_text(text)
        modules = [importlib.import_module(name) for name in ("helper", "unused", "target")]
        assert modules[-1].play(1) in (1, 2)
        return {file.rpartition("/")[2] for file in scopes_of(modules[-1].play)}

    yield reached
    for name in ("helper", "unused", "target"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("how", TARGETS)
def test_what_a_target_uses_is_reached_and_no_more(how, files):
    """Negative control: a module beside it that it does not use."""
    beside = {"unused.py"} if how in SEARCHING else set()
    assert files(TARGETS[how]) == {"target.py", "helper.py"} | beside


def test_what_others_use_is_not_reached(files):
    """A module of tests, say: its other functions have nothing to do with the target."""
    others = "import helper, unused\ndef other(x): return unused.far(x)\ndef last(): eval('1')\n"
    assert files(others + "def play(x): return helper.add(x)") == {"target.py", "helper.py"}


def test_numbers_lead_nowhere(files):
    assert files("DATA = [0.5] * 10**6\ndef play(x): return x + 1") == {"target.py"}


# Neighbours for bandits with contexts: each replaces one user, within the norm, and some tell a decision.


T = 12
FORMS = [
    Contexts(2, (1,)),
    Contexts(2, (3,), 2.0),
    Contexts(3, (3, 2)),
    Contexts(2, (2, 1), 1.0, (-1.0, 1.0)),
]


def bandit(form, noise, seed=0):
    """LinUCB on many runs with normal noise on what it learnt; without bonus."""
    rng = np.random.default_rng(seed)

    def play(table, runs):
        contexts, rewards = form.split(table)
        each = contexts if len(form.shape) == 2 else np.repeat(contexts[:, None], form.n_arms, axis=1)
        u = noise * rng.standard_normal((runs, form.n_arms if len(form.shape) == 1 else 1, form.dimension))
        actions = np.zeros((runs, T), int)
        for t in range(T):
            scores = (each[t] * u).sum(axis=2)
            actions[:, t] = scores.argmax(axis=1)
            for run, arm in enumerate(actions[:, t]):
                u[run, arm % u.shape[1]] += rewards[t, arm] * each[t, arm]
        return actions

    return play


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reward_only", [False, True])
def test_every_pair_replaces_one_user_within_the_norm(form, reward_only):
    search = UserSearch(bandit(form, 0.3), form, T, 16, reward_only, dear=[(5, 0)], most=4000)
    pairs = [*search.plain(), *search.tuned()]
    assert len(pairs) >= 6
    changed = 0
    for pair in pairs:
        left, right = pair.worlds()
        assert np.flatnonzero((left != right).any(axis=1)).tolist() == [pair.round]
        here, there = (form.split(world)[0] for world in (left, right))
        assert max(np.linalg.norm(here, axis=-1).max(), np.linalg.norm(there, axis=-1).max()) <= form.norm
        changed += not np.array_equal(here, there)
    assert (changed == 0) == reward_only
    assert {pair.round for pair in pairs} >= {0, T - 1}
    assert search.played < 8000


def test_late_contexts_are_tuned_until_the_decision_hangs_in_the_balance():
    """Negative control: where no decision depends on the contexts nothing is tuned."""
    form = Contexts(2, (2, 2))
    rng = np.random.default_rng(1)

    def play(table, runs):
        contexts, _ = form.split(table)
        strength = 1 + 0.2 * rng.standard_normal((runs, 1))
        return (contexts[:, 1].max(axis=1) * strength > 0.6 * contexts[:, 0].max(axis=1)).astype(int)

    search = UserSearch(play, form, T, 200)
    tables = list(search._asked())
    assert tables
    shares = [search._last(table).mean() for table in tables]
    assert min(abs(share - 0.5) for share in shares) < 0.2
    constant = UserSearch(lambda table, runs: np.zeros((runs, T), int), form, T, 200)
    assert list(constant._asked()) == []


# What the judge of the language says of each form of expression: a table of values, without any bound.


ROLES = {"n": "public", "data": "data", "drawn": "drawn", "rng": "generator"}
FLAGS = ("data", "many", "truth", "noisy", "raw", "tossed")
LEVELS = ("public", "smooth", "steep", "wide")


def said_of(expression):
    """What is said of an expression that a function computes, and what is told of it."""
    text = f"def play(n, data, drawn, rng):\n    x = {expression}\n"
    scope = {"np": np}
    exec(compile(text, "one.py", "exec"), scope)
    code = scope["play"].__code__
    names = Names({"one.py": File(ast.parse(text), scope)})
    said = Statements(names, {code: ROLES}, set(names.nodes_of(code)))
    said.run()
    (node,) = said.ran
    return said.marks.get((node, "x"), Value()), sorted(said.outside.values())


def in_words(value):
    """Parts of a value that differ from those of a public number."""
    found = [LEVELS[value.level]]
    found += [
        f"{name}:{LEVELS[getattr(value, name)]}" for name in ("turn", "size", "rough") if getattr(value, name)
    ]
    found += [kind for kind in ("list", "record") if kind in dict(value.own)]
    return " ".join(filter(None, [*found, *(name for name in FLAGS if getattr(value, name))]))


SCALED = "rng.laplace(0, 1, 2)"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        # what parameters are
        ("n", "public"),
        ("data", "smooth data raw"),
        ("drawn", "smooth"),
        (SCALED, "smooth data noisy tossed"),
        # signs and truth
        ("-n", "public"),
        ("-data", "smooth data raw"),
        ("+drawn", "smooth"),
        ("~drawn", "steep"),
        ("not n", "public truth"),
        ("not drawn", "steep truth"),
        ("not data", "smooth truth raw"),
        # a comparison of data or noise is a branch that is followed, if it asks for an order
        ("n < 3", "public truth"),
        ("n == 3", "public truth"),
        ("data < n", "smooth truth raw"),
        ("data <= n", "smooth truth raw"),
        ("data > n", "smooth truth raw"),
        ("data >= n", "smooth truth raw"),
        ("data == n", "steep truth raw"),
        ("0 < data == n", "steep truth raw"),
        ("data is n", "steep truth raw"),
        ("drawn < n", "steep truth"),
        ("drawn < data", "smooth truth raw"),
        (f"{SCALED} < n", "smooth truth tossed"),
        (f"data < {SCALED}", "smooth truth raw tossed"),
        # sums
        ("n + 1", "public"),
        ("n + drawn", "smooth many"),
        ("n - drawn", "smooth many"),
        ("drawn - n", "smooth many"),
        ("drawn - drawn", "smooth many"),
        ("[drawn] + [n]", "smooth record many"),
        # products: by a constant, whose sign is known, or by a public number, whose sign is not
        ("drawn * 2", "smooth many"),
        ("2 * drawn", "smooth many"),
        ("drawn * -2", "smooth many"),
        ("-2 * drawn", "smooth many"),
        ("drawn / -2", "smooth many"),
        # one public number has one sign, and a table of them may have two
        ("drawn * n", "smooth many"),
        ("drawn / n", "smooth many"),
        ("n / drawn", "smooth many"),
        ("1 / (drawn * n)", "smooth many"),
        ("drawn * np.array([1, -1])", "smooth rough:steep many"),
        ("drawn + drawn * n", "smooth many"),
        ("n ** drawn * n", "smooth many"),
        ("2 / drawn", "smooth many"),
        ("drawn / drawn", "steep many"),
        ("drawn * drawn", "steep many"),
        ("drawn // 2", "smooth many"),
        ("drawn % 2", "steep many"),
        ("drawn << n", "smooth many"),
        ("drawn >> n", "smooth many"),
        ("2 << drawn", "smooth many"),
        ("drawn & 2", "steep many"),
        ("drawn @ drawn", "steep many"),
        # of what may change its sign, or goes both ways, products and powers have a peak
        ("drawn ** 2", "steep many"),
        ("(-drawn) ** 2", "steep many"),
        ("2 ** drawn", "smooth many"),
        ("0.5 ** drawn", "smooth many"),
        ("1 ** drawn", "smooth many"),
        ("n ** drawn", "smooth many"),
        ("drawn * (drawn - n)", "steep many"),
        ("n * (drawn - drawn)", "smooth many"),
        ("1 / (drawn - n)", "smooth many"),
        (f"1 / {SCALED}", "smooth data many noisy tossed"),
        (f"{SCALED} * {SCALED}", "smooth data many noisy tossed"),
        (f"{SCALED} ** 2", "smooth data many noisy tossed"),
        (f"data * {SCALED}", "smooth data many noisy raw tossed"),
        (f"{SCALED} * (data - n)", "smooth data many noisy raw tossed"),
        # choices
        ("n if n else 3", "public"),
        ("n if drawn else 3", "smooth size:smooth"),
        ("n if data < 0 else 3", "smooth size:smooth raw"),
        ("n if n else drawn", "smooth"),
        ("n and drawn", "smooth"),
        ("n or data", "smooth data raw"),
        # containers: of entries that are alike, or not; how many there are
        ("[]", "public list"),
        ("[n]", "public list"),
        ("(n, n)", "public list"),
        ("[n, drawn]", "smooth record"),
        ("{n: drawn}", "smooth record"),
        ("{drawn: n}", "smooth size:smooth record"),
        ("{}", "public list"),
        ("[*data]", "smooth turn:smooth list data raw"),
        ("[drawn] * 2", "smooth list"),
        ("[n] * drawn", "public size:smooth list"),
        ("drawn * [n]", "public size:smooth list"),
        ("f'{n}'", "public"),
        ("f'{drawn}'", "steep size:steep"),
        # places and parts
        ("data[n]", "smooth data raw"),
        ("data[drawn]", "smooth data raw"),
        ("data[:n]", "smooth data raw"),
        ("data[:drawn]", "smooth size:smooth data raw"),
        ("data[drawn:]", "smooth size:smooth data raw"),
        ("data[::drawn]", "smooth size:smooth data raw"),
        ("data[data > 0]", "smooth size:smooth data raw"),
        ("data.shape", "public"),
        ("drawn.ndim", "public"),
        ("data.T", "smooth data raw"),
        # comprehensions
        ("[n for _ in range(n)]", "public list"),
        ("[n for _ in range(drawn)]", "public size:smooth list"),
        ("[d for d in data]", "smooth turn:smooth rough:smooth list data raw"),
        ("[d for d in data if n]", "smooth turn:smooth rough:smooth list data raw"),
        ("[d for d in data if d > 0]", "smooth turn:smooth size:smooth rough:steep list data raw"),
        ("[n for _ in range(3) if drawn]", "smooth size:smooth list"),
        ("{n: d for d in data}", "smooth turn:smooth rough:smooth list data raw"),
        ("{d: n for d in data}", "smooth turn:smooth size:smooth list data raw"),
        # names and calls
        ("(lambda: drawn)()", "smooth"),
        ("np.sum(data)", "smooth data raw"),
        # what a function of the user's is asked
        ("len(list(filter(lambda a: data[a] > 0, range(3))))", "smooth many"),
        ("max(range(3), key=lambda a: data[a])", "smooth rough:smooth raw"),
        ("sorted(range(3), key=lambda a: data[a])[0]", "smooth rough:smooth raw"),
    ],
)
def test_what_is_said_of_an_expression(expression, words):
    value, told = said_of(expression)
    assert in_words(value) == words
    assert told == []


@pytest.mark.parametrize(
    ("expression", "construct", "name"),
    [
        ("rng.laplace.__self__", outside.REFLECTION, "__self__"),
        ("[n, drawn][drawn](n)", outside.AT_A_PLACE, ""),
        ("(abs if drawn else max)(n)", outside.ONE_OF_TWO, ""),
        ("(lambda: [n, 2.0][drawn])()()", outside.RETURNED, ""),
        ("{1: data}.get(drawn, 0.0)", outside.TAKEN, ""),
        ("[n for _ in range(drawn % 3)]", outside.TURNS, ""),
        ("data[: drawn % 3]", outside.SLICED, ""),
        ("[data] * (drawn % 3)", outside.REPEATED, ""),
        ("(y := drawn)", outside.STATEMENT, "namedexpr"),
        ("{n, drawn}", outside.STATEMENT, "set"),
        ("max(*[n], **{'key': abs})", outside.STATEMENT, "keyword"),
        ("property(abs)", outside.UNKNOWN_CALL, ""),
    ],
)
def test_what_is_told_of_an_expression(expression, construct, name):
    """Control: of those in the table above nothing is told."""
    _, told = said_of(expression)
    assert construct.words.format(name) in [one.words for one in told]


def test_a_form_that_is_not_known_may_be_anything():
    """Broken variant: it is public."""
    assert Expressions(Names({}), {}, set()).of(ast.expr()) == values.UNKNOWN


# Which branches count as looked at.


def below(drawn):
    return 1 if drawn < 0.5 else 2


ASKED = (below.__code__, next(s.offset for s in dis.get_instructions(below) if s.opname == "COMPARE_OP"))


@pytest.mark.parametrize(
    ("compared", "missed"),
    [
        ({}, True),
        ({ASKED: [2, 0]}, False),  # each time with one possible answer
        ({ASKED: [2, 1]}, True),  # once with two
        ({ASKED: [1, 0]}, True),  # once of something else than uniform draws
    ],
)
def test_a_comparison_need_not_go_both_ways_only_if_it_never_could(compared, missed):
    coverage = Coverage(frozenset([__file__]))
    with coverage.watching():
        below(0.1)
        below(0.2)
    coverage.compared |= compared
    found = [place.line for place, _ in coverage.missed({}, strict=True)]
    assert found == [below.__code__.co_firstlineno + 1] * missed


def test_what_went_both_ways_is_not_missed():
    coverage = Coverage(frozenset([__file__]))
    with coverage.watching():
        below(0.1)
        below(0.9)
    assert coverage.missed({}, strict=True) == []


DRAWN = "\n  if rng.random() < 0.5: break"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("def f(n_arms):\n for x in range(n_arms): pass", True),
        ("def f(rng):\n for x in range(rng.poisson(1)): pass", False),
        ("def f(n_arms, rng):\n for x in range(n_arms):" + DRAWN, False),  # its end may be seldom reached
        ("import itertools\ndef f(rng):\n for x in itertools.count():" + DRAWN, False),
    ],
)
def test_loops_that_draws_end_or_fill_do_not_turn_alike_in_every_run(text, same, tmp_path):
    """Broken variants: what ends a loop counts for nothing; so does how long it is."""
    file, scope = tmp_path / "loops.py", {}
    file.write_text(text, "utf-8")
    exec(compile(text, str(file), "exec"), scope)
    (loop,) = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.For))
    code = scope["f"].__code__
    said = Language({str(file): scope}, [code], {code: {"rng": "generator", "n_arms": "public"}})
    assert said.public(str(file), where(loop)) == same


# `match` as conditions: the same comes out, and what is not known stays as it is.


KNOWN = {
    "values": """
def f(x):
    match x:
        case 0:
            return "none"
        case 1 | 2 | None:
            return "few"
        case Colour.RED:
            return "red"
        case _:
            return "other"
""",
    "no_wildcard": """
def f(x):
    found = "nothing"
    match x:
        case "a":
            found = "a"
        case "b" | "c" if len(CALLS) % 2:
            found = "b or c"
    return found
""",
    "names": """
def f(x):
    match x:
        case 0 | 1 as small:
            return "small", small
        case other if other == 3:
            return "three", other
        case rest:
            return "rest", rest
""",
    "several": """
def f(x):
    match (called(x), x == 2):
        case 0, _:
            return "zero"
        case first, True if first:
            return "never known"
        case _:
            return "rest"
""",
    "pairs": """
def f(x):
    match called(x), 1:
        case 0 | 1, 2:
            return "never"
        case (2, one):
            return "two", one
        case (_, 1) if called(x) != 3:
            return "not three"
        case _:
            return "three"
""",
    "inside": """
def f(x):
    for way in (0, 1):
        match way:
            case 0:
                match x:
                    case 1:
                        continue
                    case 2:
                        break
            case 1:
                return "second", x
    return "out", x
""",
}
KNOWN |= {
    "tuples": """
def f(x):
    state = {0: ("a", 1), 1: ("a", 5), 2: ("b", 2)}.get(x, ("c", 3))
    match state:
        case ("a", k) if k + 1 < 4:
            return "first", k
        case ("a", _):
            return "last"
        case ("b", n) if n == 7:
            return "never"
        case ("b" | "c" as tag, n):
            return tag, n
""",
    "lengths": """
def f(x):
    match {0: (), 1: (1,), 2: (1, 2)}.get(x, (3, 4)):
        case ():
            return "none"
        case (one,):
            return one
        case (1, two):
            return two
    return "other"
""",
    "classes": """
from typing import NamedTuple
class Point(NamedTuple):
    left: int
    right: int
class Plain:
    at = 3
def f(x):
    match {0: Point(1, 2), 1: Point(2, 5), 2: Plain()}.get(x, x):
        case Point(left=1, right=right):
            return right
        case Point(left=side) if side == 2:
            return "two"
        case Plain(at=3):
            return "plain"
        case int() | float():
            return "number"
        case str(text):
            return text
    return "other"
""",
}
KNOWN |= {
    "no_tuples": """
def f(x):
    match {0: (1, 2), 1: [1, 2], 2: "ab", 3: (1, 2, 3)}.get(x, x):
        case (1, two):
            return two
        case (_, _):
            return "two"
        case _:
            return "no pair"
""",
}
ASKED_AS_IT_IS = {
    "order_of_fields": "case Known(1): pass",
    "name_used_elsewhere": "case (1, n) if n: pass",
    "class": "case int(2, 3): pass",
    "fields": "case Unknown(1): pass",
    "mapping": "case {'a': 1}: pass",
    "star": "case [1, *rest]: pass",
    "sequence": "case [1, 2]: pass",
    "named_alternatives": "case (0 as n) | (1 as n): pass",
}


def outcome(tree: ast.Module, value: object) -> object:
    calls: list[object] = []

    def called(x: object) -> object:
        calls.append(x)
        return x

    class Colour:
        RED = "red"

    scope: dict[str, object] = {
        "__name__": "cases",
        f"{PREFIX}fits": fits,
        "Colour": Colour,
        "CALLS": calls,
        "called": called,
    }
    exec(compile(tree, "<cases>", "exec"), scope)
    return scope["f"](value), calls  # type: ignore[operator]


@pytest.mark.parametrize("name", KNOWN)
def test_conditions_do_what_cases_did(name):
    made = parsed(KNOWN[name])
    assert not any(isinstance(node, ast.Match) for node in ast.walk(made))
    for value in (0, 1, 2, 3, None, "a", "b", "red", 1.0, True):
        assert outcome(made, value) == outcome(ast.parse(KNOWN[name]), value)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from math import exp, log as ln\nexp(ln(2))", "math.exp(math.log(2))"),
        ("import math\nfrom math import exp\nexp(2)", "math.exp(2)"),
        ("from math import exp\ndef f(exp): return exp(2)", "return exp(2)"),
        ("from math import exp\nfrom numpy import exp\nexp(2)", "exp(2)"),
        ("from math import exp\nmath = 3\nexp(2)", "exp(2)"),
        ("from math import exp\nimport cmath as math\nexp(2)", "exp(2)"),
        ("from math import *\nexp(2)", "exp(2)"),
        ("from math import e\nmatch x:\n case {'a': e}: pass\ne", "e"),
        ("from math import e\ntry: pass\nexcept ValueError as e: pass\ne", "e"),
    ],
)
def test_names_from_math_are_its_attributes_where_they_are_nothing_else(text, found):
    assert ast.unparse(parsed(text)).split("\n")[-1].strip() == found


@pytest.mark.parametrize("case", ASKED_AS_IT_IS.values(), ids=ASKED_AS_IT_IS)
def test_other_patterns_stay(case):
    last = "(5, 6)" if "if n" in case else "5"
    made = parsed(f"match x:\n    {case}\n    case {last}: pass\nprint(n)\n")
    assert isinstance(made.body[0], ast.Match)


def test_conditions_stand_where_the_patterns_did():
    text = KNOWN["names"]
    tests = [n.test for n in ast.walk(parsed(text)) if isinstance(n, ast.If)]
    assert {ast.get_source_segment(text, test) for test in tests} == {"0 | 1", "other == 3"}
