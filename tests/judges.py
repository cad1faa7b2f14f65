"""What decides, and whether the edge tables notice when it decides wrongly.

    .venv/bin/python -m tests.faults --judges                  # every fault of every judge; writes the table
    .venv/bin/python -m tests.faults --judges 60 --seed 3      # a sample, and only prints what came of it

`JUDGES` names the functions that turn numbers into verdicts, verdicts into decisions and decisions into exit
statuses. Each fault of `ast_faults` is put into the code of one of them, in this process, and the edge tables
of that judge (`tests/unit/edges`) are run. What survives stands in `judges_survivors.toml` with the reason
why no point of a table can tell.
"""

from __future__ import annotations
import __future__

import ast
import functools
import importlib
import importlib.util
import inspect
import itertools
import random
import signal
import sys
import time
import tomllib
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.ast_faults import Edit, faults_in

ROOT = Path(__file__).parents[1]
EDGES = ROOT / "tests" / "unit" / "edges"
TABLE = ROOT / "tests" / "judges.md"
SURVIVORS: dict[str, str] = {  # by name, with the reason
    name: row["why"]
    for row in tomllib.loads((ROOT / "tests" / "judges_survivors.toml").read_text("utf-8")).get("reason", ())
    for name in row["faults"]
}
LEAST = 0.95  # share of the faults that the tables have to notice
_HANGS, _SLOWER = 2.0, 4.0  # seconds of work, and times as much as without a fault: then a judge hangs

EVIDENCE, RECORD = "verifiable_dp.evidence", "verifiable_dp.record"
REGRET, BLACK_BOX = f"{EVIDENCE}.regret", f"{EVIDENCE}.blackbox"

# The table (a file in tests/unit/edges), the module, and what decides in it.
JUDGES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "regret_means",
        f"{REGRET}.common",
        ("levels", "t_limit", "t_p_value", "against_bound", "welch", "all_equal", "loose", "margin_decides"),
    ),
    ("regret_means", f"{REGRET}.mean_bound", ("_judge_mean_bound", "_slack", "_limits")),
    ("regret_means", f"{REGRET}.mean_at_least", ("_judge_mean_at_least", "_limits")),
    ("regret_means", f"{REGRET}.comparison", ("_judge_comparison",)),
    ("regret_means", f"{REGRET}.probability", ("_judge_probability", "_exact_interval")),
    ("regret_rates", f"{REGRET}.common", ("robust_fit", "dot", "least_horizon")),
    ("regret_rates", f"{REGRET}.scaling", ("_judge_scaling", "_logarithms", "_advice")),
    ("regret_rates", f"{REGRET}.linear_in_log", ("_judge_linear_in_log", "_contrast", "_sides")),
    ("regret_tables", f"{REGRET}.rows", ("upper_level",)),
    ("regret_tables", f"{REGRET}.table", ("_judge_table", "_judge_row")),
    ("regret_tables", f"{REGRET}.price", ("_judge_prices", "_judge_price")),
    ("regret_tables", f"{REGRET}.floors", ("_judge_floors",)),
    (
        "upper_bounds",
        f"{EVIDENCE}.upper",
        (
            "UpperBound.__post_init__",
            "evaluated",
            "_largest_sum",
            "_cost",
            "_largest_mu",
            "_largest_of_matrices",
            "_released",
            "_fewer",
            "mu_of",
            "_largest_path",
            "_times",
            "_of_clones",
            "_shuffled",
            "_judge",
        ),
    ),
    (
        "upper_bounds",
        f"{EVIDENCE}.judge.laws",
        ("law_of", "price", "parameter_of", "of_pure", "epsilon_of_mu", "epsilon_of"),
    ),
    (
        "upper_bounds",
        f"{EVIDENCE}.judge.arithmetic",
        (
            "Paid.dearer",
            "is_zero",
            "cost",
            "_range",
            "wrong",
            "_moves_linearly",
            "_reach",
            "_moves_at_corners",
            "_not_whole",
            "both",
            "_checked",
            "moved",
            "_shares",
            "counted",
            "judged",
            "curved",
            "_curved",
            "_epsilon",
            "totals",
        ),
    ),
    (
        "upper_bounds",
        f"{EVIDENCE}.judge.certificate",
        (
            "Frame.is_compared",
            "Frame.turned",
            "MovedEntry.turned",
            "MovedEntry.negated",
            "TracedCertificate.of",
            "TracedCertificate.misfit",
            "_fits",
            "_misfit",
            "TracedTable.place",
        ),
    ),
    ("exact_losses", f"{EVIDENCE}.alignment.replay", ("exceeds", "at_least")),
    ("exact_losses", f"{EVIDENCE}.alignment.checking", ("_refutes", "_judge")),
    ("exact_losses", f"{EVIDENCE}.exact.law", ("_judge",)),
    ("exact_losses", f"{EVIDENCE}.exact.shuffle", ("_judge",)),
    ("exact_losses", f"{EVIDENCE}.tracing.replays", ("_judge", "_unfollowed", "dearest", "is_lead")),
    ("exact_losses", f"{EVIDENCE}.origins", ("_judge",)),
    ("exact_losses", f"{EVIDENCE}.statement", ("_at_most", "_at_least", "_equal_to", "_judge")),
    ("exact_losses", f"{EVIDENCE}.check", ("judged", "slack_of")),
    (
        "counts",
        f"{BLACK_BOX}.statistics",
        (
            "sigmoid",
            "at_least",
            "clopper_pearson_lower",
            "clopper_pearson_upper",
            "ratio_p_value",
            "ratio_lower",
            "approximate_lower",
            "delta_lower",
            "log_ratio_error",
            "difference_error",
            "_error",
            "_limit",
            "_last",
            "_below",
            "rejection_power",
            "detectable",
            "least_factor",
        ),
    ),
    ("count_judges", f"{BLACK_BOX}.test", ("_judge", "_between")),
    ("count_judges", f"{BLACK_BOX}.numerics", ("_judge",)),
    ("count_judges", f"{BLACK_BOX}.positions", ("_judge", "fisher", "_log_choose")),
    (
        "count_judges",
        f"{BLACK_BOX}.curves",
        ("_judge", "_point", "_epsilon_claimed", "_implied", "_monotone"),
    ),
    ("bets", f"{BLACK_BOX}.bets", ("round_wealth", "log_wealth", "lower_limits", "detectable")),
    (
        "bets",
        f"{BLACK_BOX}.sequential",
        ("_judge", "rejection_power", "looks_of"),
    ),
    (
        "conclusions",
        f"{RECORD}.conclude",
        (
            "conclusion",
            "detectable",
            "bounded",
            "epsilon_upper",
            "_holds",
            "lead",
            "_traced",
            "epsilon_lower",
            "_testing",
            "_telling",
            "_differs",
            "regret",
            "mutant",
        ),
    ),
    ("conclusions", "verifiable_dp.selfcheck.mutation", ("concluded",)),
    (
        "decisions",
        f"{RECORD}.decision",
        (
            "Decision.main",
            "Decision.weak",
            "Decision.colour",
            "Decision.result",
            "Decision.exit_code",
            "decision",
            "caught",
            "_passed",
            "_size",
        ),
    ),
    ("decisions", f"{RECORD}.passing", ("passes", "exit_status", "_status")),
    ("decisions", "verifiable_dp.campaign.run", ("exit_status", "_expected")),
    ("decisions", "verifiable_dp.campaign.file", ("Done.exit_status",)),
    (
        "meter",
        "verifiable_dp.core.meter",
        (
            "metered",
            "Meter.charged",
            "Meter.reported",
            "farthest",
            "_moves",
            "_dearest",
            "_kept",
            "_differs",
            "_apart",
            "_Other.__init__",
            "_Other.costs",
            "_Other.__call__",
            "_Other._leave",
            "_Other._pay",
            "_Other._released",
            "_Other._hidden",
        ),
    ),
    (
        "certificates",
        f"{EVIDENCE}.forced_runs",
        (
            "_range",
            "possible_answers",
            "Forced.__call__",
            "Forced.compares",
            "Forced._edge",
            "_Echo.__call__",
            "_Echo.together",
            "equal",
            "Block.cost",
            "played_block",
            "Reach.cost",
            "terms_of",
            "firsts",
            "linear",
            "slots_between",
            "key_of",
        ),
    ),
    (
        "certificates",
        f"{EVIDENCE}.certify",
        (
            "unfolded",
            "_lanes",
            "_lane_block",
            "_indifferent",
            "_distinct",
            "_batches",
            "_children",
            "_set",
            "_merged",
            "chained",
            "_length",
            "_Chain.offset",
            "_Chain.step",
            "_Chain.finish",
            "_Chain.close",
            "certificate",
            "_certified",
            "_shuffled",
        ),
    ),
    (
        "rights",
        "verifiable_dp.core.rights",
        (
            "FileCounter.value",
            "FileCounter.advance",
            "SqliteCounter.value",
            "SqliteCounter.advance",
            "_locked",
            "_forked",
            "Right.__init__",
            "Right.mine",
            "Right.held",
            "Right.alone",
            "Right.take",
            "Right.took",
            "Right.commit",
            "Right._adopt",
            "Right._mark",
            "Right._look",
            "Right._tell",
            "Right.close",
            "Right.drop",
            "_opened",
            "_lock",
            "_own",
            "_check",
            "_same",
            "_new",
            "_left",
            "located",
        ),
    ),
    (
        "laws",
        f"{EVIDENCE}.exact.law",
        (
            "ActionLaw.epsilon_at",
            "ActionLaw.delta",
            "ActionLaw.epsilon_of",
            "ActionLaw.words",
            "_race",
            "node_law",
            "law_of",
            "_path",
            "_node",
            "_parted",
            "_spent",
            "describe",
            "check",
            "counterexample",
        ),
    ),
    ("laws", f"{EVIDENCE}.exact.limits", ("_laws", "log_ratio", "hockey_stick", "epsilon_of")),
    ("laws", f"{EVIDENCE}.exact.shuffle", ("LossMeter.__call__", "_telling")),
    (
        "tracked",
        f"{EVIDENCE}.tracing.ledger",
        (
            "words_of",
            "caller",
            "Ledger.lead",
            "Ledger.read",
            "Ledger.reach",
            "Ledger.note",
            "Ledger.compare",
            "Ledger.sum_of",
            "Ledger.joined",
            "Ledger.released",
            "Ledger._recorded",
            "Ledger.release",
            "Ledger.choose",
            "Ledger.tell",
            "Ledger.once",
            "same",
            "same_answer",
            "in_order",
        ),
    ),
    (
        "plugin",
        "verifiable_dp.pytest_plugin",
        (
            "pytest_itemcollected",
            "_check_options",
            "_positive",
            "pytest_configure_node",
            "pytest_terminal_summary",
            "_announced",
            "_Phases.__call__",
            "_Phases.end",
            "_summed",
            "_timed",
            "_again",
            "_why_the_test",
            "_test",
            "_budget",
            "_plain_runs",
            "_overridden",
            "_check_known",
            "_check_expected",
            "_audits",
            "_regret_checks",
            "_inputs",
            "_regret_failure",
        ),
    ),
    ("plugin", "verifiable_dp.pytest_reports", ("stem", "ask", "save")),
    (
        "gates",
        "verifiable_dp.campaign.origin",
        ("refuse_expired", "RecordOrigin.__post_init__", "RecordOrigin._fresh", "RecordOrigin._committed"),
    ),
    (
        "gates",
        "verifiable_dp.campaign.baseline",
        (
            "Baseline.at",
            "Baseline.new",
            "Baseline.excuses",
            "Baseline.gone",
            "Baseline.write",
            "_needed",
            "_defined",
            "_around",
            "_read",
        ),
    ),
    (
        "gates",
        f"{RECORD}.kills",
        (
            "of_table",
            "others",
            "survived",
            "own_missed",
            "missed",
            "missed_of_bounding",
            "undecided",
            "counted",
            "tried",
        ),
    ),
    (
        "verification",
        f"{RECORD}.verify",
        (
            "said_of",
            "parsed",
            "_refuse",
            "_finite",
            "_whole",
            "_without_repeats",
            "_depth",
            "check_digest",
            "_all_checks",
            "_powered",
            "_rejudge",
            "_comparable",
            "_unseeded",
            "_verdict_of",
            "_across_versions",
            "_wordless",
            "_libraries",
            "_listed",
            "verify",
        ),
    ),
    (
        "arguments",
        "verifiable_dp.core.validate",
        (
            "_escape",
            "one_line",
            "_number",
            "positive",
            "factor",
            "exponent",
            "probability",
            "delta",
            "integer",
            "workers",
            "arms_and_horizon",
            "beta",
            "bounds",
            "choice",
            "rewards",
        ),
    ),
)


@dataclass(frozen=True)
class Fault:
    """A fault in the code of one judge, and the table that has to notice it."""

    table: str
    module: str
    judge: str
    edit: Edit
    number: int = 1

    @property
    def name(self) -> str:
        """As `SURVIVORS` names it: without its line, which would move, and with a number if it repeats."""
        again = f" ({self.number})" if self.number > 1 else ""
        return f"{self.module.removeprefix('verifiable_dp.')}.{self.judge}: {self.edit.words}{again}"


# ---------------------------------------------------------------- the faults


@functools.cache
def _functions(module: str) -> dict[str, ast.FunctionDef]:
    """The functions and methods of a module, by qualified name."""
    path = inspect.getsourcefile(importlib.import_module(module))
    assert path is not None
    tree, found = ast.parse(Path(path).read_text("utf-8")), dict[str, ast.FunctionDef]()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{f.name}": f for f in node.body if isinstance(f, ast.FunctionDef)}
    return found


@functools.cache
def faults() -> tuple[Fault, ...]:
    """All faults of all judges; what stands twice in a function is there twice, and numbered."""
    found = list[Fault]()
    for table, module, names in JUDGES:
        for name in names:
            alike = Counter[str]()
            for edit in faults_in(_functions(module)[name], also=True):
                alike[edit.words] += 1
                found.append(Fault(table, module, name, edit, alike[edit.words]))
    return tuple(found)


def _function(module: str, name: str) -> types.FunctionType:
    """The function object that is called, under decorators, caches and properties."""
    found: object = importlib.import_module(module)
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    for under in ("fget", "func", "__func__", "__wrapped__"):
        found = getattr(found, under, found)
    assert isinstance(found, types.FunctionType), f"{module}.{name} is not a function"
    return found


def _compiled(fault: Fault) -> types.CodeType:
    """The code of a judge with a fault."""
    node = fault.edit.applied(_functions(fault.module)[fault.judge])
    assert isinstance(node, ast.FunctionDef)
    node.decorator_list = []
    tree = ast.fix_missing_locations(ast.Module([node], []))
    flags = __future__.annotations.compiler_flag
    whole = compile(tree, fault.module, "exec", flags=flags, dont_inherit=True)
    return next(c for c in whole.co_consts if isinstance(c, types.CodeType) and c.co_name == node.name)


@contextmanager
def applied(fault: Fault) -> Iterator[None]:
    """The judge decides with the fault, whoever calls it and however it was imported."""
    function = _function(fault.module, fault.judge)
    kept, function.__code__ = function.__code__, _compiled(fault)
    try:
        yield
    finally:
        function.__code__ = kept


# ---------------------------------------------------------------- the tables


@functools.cache
def rows(table: str) -> tuple[Callable[[], object], ...]:
    """The tests of a table of edges, a call for each of their rows.

    They are ordinary tests without fixtures: what they are given stands in their `parametrize` marks.
    """
    path = EDGES / f"test_{table}.py"
    spec = importlib.util.spec_from_file_location(f"edges_{table}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    tests = [value for name, value in vars(module).items() if name.startswith("test_")]
    return tuple(functools.partial(test, **given) for test in tests for given in _given(test))


def _given(test: Callable[..., object]) -> Iterator[dict[str, object]]:
    """The arguments of each row of a test."""
    axes = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name != "parametrize":
            continue
        names, values = mark.args
        names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
        values = [getattr(value, "values", value) if hasattr(value, "marks") else value for value in values]
        single = len(names) == 1
        axes.append([dict(zip(names, (v,) if single and not _is_row(v) else v, strict=True)) for v in values])
    for parts in itertools.product(*axes):
        yield {name: value for part in parts for name, value in part.items()}


def _is_row(value: object) -> bool:
    """Whether a value of a single argument is a row of `pytest.param`."""
    return type(value).__name__ == "ParameterSet"


class _Hangs(BaseException):
    """The judge does not come to an end."""


@functools.cache
def _longest(table: str) -> float:
    """Seconds of work after which a table does not end; all of its rows must pass without a fault."""
    started = time.process_time()
    for row in rows(table):
        row()
    return max(_HANGS, _SLOWER * (time.process_time() - started))


def noticed(fault: Fault) -> bool:
    """Whether a row of the fault's table fails."""
    longest = _longest(fault.table)
    signal.signal(signal.SIGPROF, _raise)
    with applied(fault), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning alone is no wrong verdict
        signal.setitimer(signal.ITIMER_PROF, longest)
        try:
            for row in rows(fault.table):
                row()
        except (Exception, _Hangs):
            return True
        except BaseException as error:
            if type(error).__name__ != "Failed":  # of pytest.raises and pytest.fail
                raise
            return True
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return False


def _raise(*_: object) -> None:
    raise _Hangs


def sample(count: int, seed: int) -> list[Fault]:
    """A random sample of all faults."""
    known = faults()
    return random.Random(seed).sample(known, min(count, len(known)))


def main(count: int | None = None, seed: int = 0) -> int:
    """Try all faults, or a sample; print what survives. 1 if an unlisted fault survives or too few die."""
    some, started, left = faults() if count is None else sample(count, seed), time.monotonic(), list[Fault]()
    for fault in some:
        if not noticed(fault):
            left.append(fault)
            known = SURVIVORS.get(fault.name, "NOT LISTED")
            print(f"survived: {fault.name}  (line {fault.edit.line}): {known}", flush=True)
    share = 1 - len(left) / len(some)
    print(
        f"noticed {len(some) - len(left)} of {len(some)} ({share:.1%}) in {time.monotonic() - started:.0f} s"
    )
    if count is None:
        TABLE.write_text(page(some, left), "utf-8")
    gone = set(SURVIVORS) - {fault.name for fault in left} if count is None else set[str]()
    for name in sorted(gone):
        print(f"listed, but noticed: {name}")
    return int(share < LEAST or bool(gone) or any(fault.name not in SURVIVORS for fault in left))


def page(tried: Sequence[Fault], left: Sequence[Fault]) -> str:
    """What came of all faults as a page of Markdown, with each survivor and its reason."""
    share, lines = 1 - len(left) / len(tried), list[str]()
    for table, faults_of in itertools.groupby(tried, lambda fault: fault.table):
        known = list(faults_of)
        lines.append(f"| `{table}` | {len(known)} | {len(known) - sum(fault in left for fault in known)} |")
    lines += ["", "| survivor | why no point of a table can tell |", "|---|---|"]
    cells = ((fault.name.replace("|", "\\|"), SURVIVORS.get(fault.name, "**not listed**")) for fault in left)
    lines += [f"| `{name}` | {why} |" for name, why in cells]
    head = (
        "# Faults of judges\n\nWritten by `python -m tests.faults --judges` (`tests/judges.py`): all faults "
        "by operator in\nevery judge, decision, pass rule and exit status, against the edge tables of "
        f"`tests/unit/edges`.\n\nNoticed: {len(tried) - len(left)} of {len(tried)} ({share:.1%}).\n\n"
        "| table | faults | noticed |\n|---|---:|---:|\n"
    )
    return head + "\n".join(lines) + "\n"


def survivors(found: Sequence[Fault]) -> list[str]:
    """Names of the faults that no table notices and no list excuses."""
    return [fault.name for fault in found if fault.name not in SURVIVORS and not noticed(fault)]
