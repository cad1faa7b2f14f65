"""Seeded faults: edits of the source that the fast suite has to notice, and the program that tries them.

    .venv/bin/python -m tests.faults              # all of them; writes tests/faults.md (`make faults`)
    .venv/bin/python -m tests.faults NAME ...     # some, and only prints what came of them
    .venv/bin/python -m tests.faults --judges     # faults by operator in judges, against their edge tables
    .venv/bin/python -m tests.faults --fresh 40 --seed 7   # faults by operator anywhere, drawn anew

Each fault is applied to a copy of the tree, in which the tests named by it run with `-x`. They belong to the
fast suite, so that what they catch it catches. All of them run on the copy without a fault first: a test that
fails there would seem to catch everything.
"""

from __future__ import annotations

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests import fresh_faults, judges

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests" / "faults.md"
LEAST = 0.9  # share of the faults that the fast suite has to catch
_COPIED = (
    "algorithms",
    "auditors",
    "benchmarks",
    "ci",
    "docs",
    "reports",
    "tests",
    "verifiable_dp",
    "pyproject.toml",
)
_HUNG = 1800.0  # seconds after which a fault counts as one that makes its tests hang
_FIRST = re.compile(
    r"^(?:FAILED|ERROR) ([^\s\[]+(?:\[.*?\])?)(?: - |$)", re.MULTILINE
)  # its parameters have spaces


@dataclass(frozen=True)
class Fault:
    """One edit of the source.

    Attributes
    ----------
    name
        Unique.
    file
        Which file is edited, from the root of the repository.
    before, after
        The text that is replaced, which must stand in the file exactly once, and what replaces it.
    breaks
        What is wrong then.
    tests
        Files or node ids of the fast suite that must notice.
    """

    name: str
    file: str
    before: str
    after: str
    breaks: str
    tests: tuple[str, ...]

    def edited(self, text: str) -> str:
        """The file's text with the fault.

        Raises
        ------
        ValueError
            If `before` does not stand in it exactly once.
        """
        found = text.count(self.before)
        if found != 1:
            raise ValueError(f"fault {self.name}: its text stands {found} times in {self.file}, not once")
        return text.replace(self.before, self.after)


@dataclass(frozen=True)
class Outcome:
    """What came of a fault: the test that caught it, empty if it survived, and after how many seconds."""

    fault: Fault
    caught_by: str
    seconds: float


# ---------------------------------------------------------------- the faults

EVIDENCE = "verifiable_dp/evidence"
SYMBOLIC = "tests/unit/evidence/test_symbolic.py"
_IMPORTS = "tests/unit/evidence/test_imports.py"
_HEARD = f"{_IMPORTS}::test_what_an_import_is_heard_to_call_ends_the_bound"
_TAKEN = f"{_IMPORTS}::test_what_an_import_takes_or_changes_ends_the_bound"
_OWN_FILES = f"{_IMPORTS}::test_what_an_import_makes_of_files_alone_has_its_bound"
_SWITCHED = f"{_IMPORTS}::test_what_another_function_may_change_is_no_constant"
AUDITING = "verifiable_dp/auditing"
RECORD = "verifiable_dp/record"
RENDER = "verifiable_dp/render"

FAULTS = (
    Fault(
        "object.__setattr__ sets nothing",
        f"{EVIDENCE}/judge/values.py",
        '        *("__setattr__", "__delattr__"),\n',
        "",
        "a field of a frozen object holds what it was made with, whatever is put there",
        (f"{SYMBOLIC}::test_no_premise_of_a_bound_is_taken_for_granted",),
    ),
    Fault(
        "rewards that one of two sides scales count as on the other",
        f"{EVIDENCE}/judge/expressions.py",
        "        self.operands[self.names.home[self.scope], where(node)] = [*enumerate(each)]\n",
        "        self.operands[self.names.home[self.scope], where(node)] = []\n",
        "a chance that rare draws set on one side of a condition is taken for a usual one",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "noise is added at every place that may have been drawn",
        f"{EVIDENCE}/symbolic/accept_reject.py",
        "if noisy or any(",
        "if any(",
        "a sparse vector whose first arm is drawn has no bound",
        (f"{SYMBOLIC}::test_right_decisions_are_bounded_at_their_true_cost",),
    ),
    Fault(
        "every class hands on what it is given",
        "verifiable_dp/targets/roles.py",
        "if makers and hands_on else found",
        "if makers else found",
        "a class that keeps what it is given is said to have parameters of the class above it",
        ("tests/unit/targets/test_protocols.py",),
    ),
    Fault(
        "names of math are what they were elsewhere, too",
        f"{EVIDENCE}/symbolic/desugar_match.py",
        "    fitting = {known: name for known, name in names if known not in made}",
        "    fitting = dict(names)",
        "a function that is given another `exp` is followed as if it were that of math",
        ("tests/unit/evidence/test_code_read.py",),
    ),
    Fault(
        "helpers are played",
        "verifiable_dp/targets/protocols.py",
        "sorted(found, key=lambda pair: sum(name in called for name in pair))",
        "found",
        "a class is played by a method that its own methods call",
        ("tests/unit/targets/test_protocols.py",),
    ),
    Fault(
        "whatever ends a walk is the same in all runs",
        f"{EVIDENCE}/judge/statements.py",
        "ended = Value(max(size, left), ",
        "ended = Value(max(size, PUBLIC), ",
        "the raw leader that a walk along chances ends with by rounding is not looked at",
        (
            "tests/unit/evidence/test_code_read.py::test_loops_that_draws_end_or_fill_do_not_turn_alike_in_every_run",
        ),
    ),
    Fault(
        "what a bound leaves behind stays",
        f"{EVIDENCE}/symbolic/paths.py",
        "    with kept(scopes), noting()",
        "    with kept({}), noting()",
        "code that keeps something between runs is handed numbers that stand for others, and raises",
        ("tests/unit/evidence/test_kept_state.py",),
    ),
    Fault(
        "what raises is never looked for",
        f"{EVIDENCE}/symbolic/paths.py",
        "    if unseen is None and closed:",
        "    if False:",
        "a leak behind a branch that plain runs take once in a hundred is bounded as if there were none",
        (f"{SYMBOLIC}::test_what_stands_behind_a_branch_that_is_seldom_taken_counts",),
    ),
    Fault(
        "what numbers that stand for others cannot do raises",
        f"{EVIDENCE}/symbolic/paths.py",
        "return replace(path, crashed=_crashes(program, path, scopes, flips))",
        "return path",
        "a branch that ends the bound counts as one that no run can take",
        (f"{SYMBOLIC}::test_what_stands_behind_a_branch_that_is_seldom_taken_counts",),
    ),
    Fault(
        "how long what is looped over is counts for nothing",
        f"{EVIDENCE}/judge/statements.py",
        "ended = Value(max(size, left), ",
        "ended = Value(left, ",
        "a loop that draws make empty once in a million runs need not be looked at after its end",
        ("tests/unit/evidence/test_code_read.py",),
    ),
    Fault(
        "a sample that is told stays hidden",
        f"{EVIDENCE}/symbolic/subsets.py",
        "                coin.source.is_public = True",
        "                pass",
        "which entries were drawn is told, and the noise is that of a secret sample",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "any part of an order is a sample",
        f"{EVIDENCE}/symbolic/subsets.py",
        "(drawing.cuts is not None and many not in drawing.cuts)",
        "False",
        "what argpartition puts in front of its position is taken for a sample",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "entries of a sample count alike whatever they weigh",
        f"{EVIDENCE}/symbolic/subsets.py",
        "if not self._many or len(ends) != 1 or not all(map(math.isfinite, *ends)):",
        "if not ends:",
        "an entry pays for what it changes, not for what another one in its place does",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "real numbers lie on any lattice",
        f"{EVIDENCE}/symbolic/alignments.py",
        "atom.whole and abs(w / by - round(w / by)) <= _TINY * abs(w / by) for atom",
        "atom.whole for atom",
        "a whole number times a fraction is hidden by whole noise",
        (f"{SYMBOLIC}::test_no_leaking_decision_is_bounded_within_the_claim",),
    ),
    # the judge of certificates
    Fault(
        "rows of a certificate may move",
        f"{EVIDENCE}/judge/arithmetic.py",
        "if relation == EQUAL and left:",
        "if relation == EQUAL and len(left) > 1:",
        "a shown number that noise does not hide costs nothing",
        ("tests/unit/edges/test_upper_bounds.py::test_a_shown_number_may_not_move",),
    ),
    Fault(
        "leads of a certificate may fall",
        f"{EVIDENCE}/judge/arithmetic.py",
        "if low < 0 and not is_zero(low",
        "if low < -9 and not is_zero(low",
        "a comparison that comes out otherwise costs nothing",
        (
            "tests/unit/edges/test_upper_bounds.py::test_a_comparison_may_rise_and_not_fall_whichever_way_it_came_out",
        ),
    ),
    Fault(
        "the cheaper direction of a maximum",
        f"{EVIDENCE}/judge/arithmetic.py",
        "    if frame.maximum:",
        "    if frame.maximum and not frame.rows:",
        "a unit of the winner pays nothing on any path",
        ("tests/unit/edges/test_upper_bounds.py::test_a_maximum_counts_its_dearer_direction",),
    ),
    Fault(
        "whole noise hides parts",
        f"{EVIDENCE}/judge/arithmetic.py",
        "if draw in lattice and not right:",
        "if draw in lattice and right is None:",
        "real numbers are hidden by noise on whole numbers",
        ("tests/unit/edges/test_upper_bounds.py::test_noise_on_whole_numbers_moves_by_whole_numbers",),
    ),
    Fault(
        "one end of a range counts",
        f"{EVIDENCE}/judge/arithmetic.py",
        "math.fsum(max(low[0], high[0]) for low, high in each)",
        "math.fsum(min(low[0], high[0]) for low, high in each)",
        "the cheaper end of what noise hides is charged",
        ("tests/unit/edges/test_upper_bounds.py::test_a_sum_with_noise_costs_what_its_noise_has_to_move",),
    ),
    Fault(
        "some corners are enough",
        f"{EVIDENCE}/judge/certificate.py",
        "len(shifts.values) != 2 ** len(pattern.entries)",
        "len(shifts.values) > 2 ** len(pattern.entries)",
        "a certificate may leave out a corner",
        ("tests/unit/evidence/test_alignment.py::test_no_lie_about_shifts_of_five_thousand_is_accepted",),
    ),
    Fault(
        "charges cost nothing",
        f"{EVIDENCE}/judge/arithmetic.py",
        "loss = [*(one.loss * times for one, times in each), *(getattr(c, name) for c in profile.charges)]",
        "loss = [*(one.loss * times for one, times in each)]",
        "choices with chances that follow from data are free",
        ("tests/unit/edges/test_upper_bounds.py",),
    ),
    Fault(
        "noise of one side moves both ways",
        f"{EVIDENCE}/judge/laws.py",
        "_UPWARDS = PricedLaw(1.0, math.inf)",
        "_UPWARDS = PricedLaw(1.0, 1.0)",
        "exponential noise hides what lowers a sum",
        (
            "tests/unit/evidence/test_alignment.py::test_the_price_of_a_shift_is_the_largest_loss_over_all_outcomes",
        ),
    ),
    Fault(
        "certificates count a draw twice",
        f"{EVIDENCE}/judge/neighbours.py",
        "if len({*known}) < len(known):",
        "if len({*known}) > len(known):",
        "one draw hides two sums",
        ("tests/unit/evidence/test_replay.py::test_a_certificate_must_name_the_unit_and_no_draw_twice",),
    ),
    Fault(
        "certificates leave out units",
        f"{EVIDENCE}/judge/neighbours.py",
        "any(times > listed[at] for",
        "any(times > listed[at] + 9 for",
        "what a unit moves need not stand in the certificate",
        ("tests/unit/evidence/test_replay.py::test_a_certificate_must_name_the_unit_and_no_draw_twice",),
    ),
    Fault(
        "entries move as far as they like",
        f"{EVIDENCE}/judge/neighbours.py",
        "<= delta <= one.high + TOLERANCE * abs(one.high)",
        "<= delta",
        "a smaller range than an entry has is believed",
        ("tests/unit/evidence/test_replay.py::test_what_a_certificate_says_of_a_run_is_tried",),
    ),
    Fault(
        "replays cost what the bound allows",
        f"{EVIDENCE}/symbolic/witness.py",
        "return own and within(loss, squared)",
        "return within(loss, squared)",
        "a cheaper law than that of the plain code is believed",
        ("tests/unit/evidence/test_replay.py::test_what_only_plain_code_can_see_is_seen_there",),
    ),
    Fault(
        "mutants get a part of the runs",
        f"{AUDITING}/algorithms.py",
        "getattr(plan, name) * case.part for",
        "getattr(plan, name) for",
        "a mutant of what a certificate settles is tried with a quarter of the runs",
        ("tests/unit/auditing/test_budgets.py",),
    ),
    Fault(
        "a short look without a certificate",
        f"{AUDITING}/algorithms.py",
        "elif case.settled and not case.refuted and case.visible(case.claim):",
        "elif case.visible(case.claim):",
        "the black box makes a quarter of its runs where nothing is proved",
        ("tests/unit/auditing/test_budgets.py",),
    ),
    # what a generator of the program's own is seeded with, and orders
    Fault(
        "any number is a secret seed",
        f"{EVIDENCE}/symbolic/randoms.py",
        "part.is_dead for part in drawn) or seeds < _LEAST_SEEDS:",
        "part.is_dead for part in drawn) or (drawn and seeds < _LEAST_SEEDS):",
        "a generator whose seed everybody knows hides something",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "a secret serves twice",
        f"{EVIDENCE}/symbolic/randoms.py",
        "part.is_dead = True  # whoever uses it again knows what is drawn",
        "pass  # whoever uses it again knows what is drawn",
        "two generators with the same secret seed count as two",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "plots drawn again",
        f"{RENDER}/page.py",
        "plots=_drawn(json.dumps(",
        "plots=_drawn.__wrapped__(json.dumps(",
        "a record from its file has the plots drawn again",
        ("tests/unit/render/test_findings.py",),
    ),
    # what is remembered of a module between runs
    # noise that rare outcomes of public chance set
    Fault(
        "public draws never all alike",
        f"{EVIDENCE}/symbolic/choosers.py",
        "    WAYS = 3",
        "    WAYS = 0",
        "noise that is small only where all public draws are alike is bounded at what it costs elsewhere",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "any size of noise is believed",
        f"{EVIDENCE}/symbolic/coverage.py",
        "and asks(code.co_filename, place_of(at), side):",
        "and False:",
        "a scale that a look-up or a comparison sets counts as looked at",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "whatever scales noise with data, it costs the same",
        f"{EVIDENCE}/symbolic/paths.py",
        "found.append(made if made.failure else _as_scaled(made, coverage, scopes))",
        "found.append(made)",
        "noise that a rare draw divides with the data beneath hides others that are added without noise",
        ("tests/unit/evidence/test_judge_views.py",),
    ),
    Fault(
        "what both sides are divided by never matters",
        f"{EVIDENCE}/judge/language.py",
        "return (file, position) in self._said.divided and self._steep(file, position, side)",
        "return False",
        "as the one before, where data and noise are divided one by one",
        ("tests/unit/evidence/test_judge_views.py",),
    ),
    Fault(
        "bits of all raw numbers are exclusive",
        f"{EVIDENCE}/symbolic/alignments.py",
        "bits.setdefault((unit, charge.bit.cell), [])",
        "bits.setdefault((unit, None), [])",
        "two reports of one reward by one hot bit each are bounded as one",
        ("tests/unit/evidence/test_symbolic_matrices.py",),
    ),
    Fault(
        "what stands at a raw place moves by half",
        f"{EVIDENCE}/symbolic/comparing.py",
        "(low - high, high - low)",
        "((low - high) / 2, (high - low) / 2)",
        "a number looked up at a raw place needs half of its noise",
        ("tests/unit/evidence/test_symbolic_matrices.py",),
    ),
    Fault(
        "what shapes a uniform draw is forgotten",
        f"{EVIDENCE}/symbolic/draw_sources.py",
        "self._shapes.add(self.world.here(side))",
        "pass",
        "noise made of uniform draws may be small once in 2048 runs",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "what a sampler is given is forgotten",
        f"{EVIDENCE}/symbolic/samplers.py",
        "world.drawn.add((function.__code__, frozenset(public)))",
        "pass",
        "noise that a function of the user's draws by a loop may be small once in 2048 runs",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "weights of raw data are forgotten",
        f"{EVIDENCE}/symbolic/term_operators.py",
        "    if low < high:\n        term.world.scaled(side)",
        "    if low > high:\n        term.world.scaled(side)",
        "a softmax may be steep once in 2048 runs",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "any two components of an angle are independent",
        f"{EVIDENCE}/symbolic/uniform_draws.py",
        "abs(np.dot(first.axis, axis)) <= 1e-9 * math.hypot(*axis)",
        "True",
        "one normal number hides two sums, whose difference it does not",
        ("tests/unit/evidence/test_symbolic.py::test_what_are_no_two_normal_numbers_have_no_bound",),
    ),
    Fault(
        "any sign makes Laplace noise of exponential",
        f"{EVIDENCE}/symbolic/sampler_laws.py",
        "abs(sides[center, size] - 0.5) < 1e-12",
        "True",
        "noise whose density jumps at its centre is bounded as if it did not",
        ("tests/unit/evidence/test_symbolic_samplers.py",),
    ),
    Fault(
        "a uniform number is compared after its logarithm",
        f"{EVIDENCE}/symbolic/sampler_laws.py",
        "draw.exponential or draw.part or draw in env.get(_GONE, ())",
        "draw.exponential or draw.part",
        "noise of one sign at a time, cut at log 2, is taken for Laplace's",
        ("tests/unit/evidence/test_symbolic_samplers.py",),
    ),
    Fault(
        "the logarithm of a raw number is exponential",
        f"{EVIDENCE}/symbolic/sampler_laws.py",
        "if any(draw.raw for draw in one.by) or len(one.by) != 1 or",
        "if len(one.by) != 1 or",
        "a raw number between 0 and 1 would count as a uniform draw",
        ("tests/unit/evidence/test_symbolic_samplers.py",),
    ),
    Fault(
        "an entry that a raw condition makes is not noticed",
        f"{EVIDENCE}/symbolic/selects.py",
        "isinstance(kept, Mapping) and key not in kept for",
        "False for",
        "arms without an entry in a dictionary have no noise",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "a rounding tells which of two alike is worse",
        f"{EVIDENCE}/exact/worst.py",
        "key=lambda climb: round(climb[0], _ALIKE)",
        "key=lambda climb: climb[0]",
        "another processor audits another pair with the same seed",
        ("tests/unit/evidence/test_exact.py",),
    ),
    Fault(
        "cases forget their guards",
        f"{EVIDENCE}/symbolic/desugar_match.py",
        "    if tests and case.guard is not None:  # names are set before it is asked",
        "    if False:",
        "a case is followed where its guard does not hold",
        ("tests/unit/evidence/test_code_read.py",),
    ),
    Fault(
        "a root of a draw leaves the draw to be seen",
        f"{EVIDENCE}/symbolic/elementary.py",
        "term.world.finishing.append(functools.partial(unseen, term.world, draw))",
        "pass",
        "noise of a size that is shown is normal noise of that size",
        ("tests/unit/evidence/test_symbolic_samplers.py",),
    ),
    Fault(
        "the logarithm of an exponential draw is as wide as one likes",
        f"{EVIDENCE}/symbolic/elementary.py",
        '{SymbolicDraw("gumbel", -math.log(draw.value)): -1.0}',
        '{SymbolicDraw("gumbel", -math.log(draw.value) / 2): -2.0}',
        "Gumbel noise made of exponential draws counts as twice what it is",
        ("tests/unit/evidence/test_symbolic_samplers.py",),
    ),
    Fault(
        "jumps end what raises",
        f"{EVIDENCE}/symbolic/coverage.py",
        'if step.opname == "JUMP_FORWARD":',
        'if step.opname == "no jump":',
        "a guard by a chain of comparisons, which only raises, ends the bound",
        ("tests/unit/evidence/test_symbolic.py::test_right_ways_to_sample_are_bounded_at_their_true_cost",),
    ),
    Fault(
        "several outcomes pay once",
        f"{EVIDENCE}/symbolic/draws.py",
        "flat = [paid_for(self.world, chances, int(i)) for i in np.ravel(drawn)]",
        "flat = [paid_for(self.world, chances, *np.ravel(drawn)[:1]), *np.ravel(drawn)[1:]]",
        "outcomes that one call draws with raw chances are paid for as one",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "code for numbers is shown vectors",
        "verifiable_dp/auditing/mechanisms.py",
        "return any(np.array_equal(each, layout.swapaxes(0, 1), equal_nan=True) for layout in layouts)",
        "return False",
        "right code for a number is refuted by five that share its noise",
        ("tests/unit/auditing/test_inputs_tried.py",),
    ),
    Fault(
        "values between the bounds tell nothing",
        f"{RECORD}/conclude.py",
        "return testing if any(map(_differs, testing)) or not between else between",
        "return testing",
        "an audit of a median says that nothing that was tried made a difference",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "vectors of one entry do",
        "verifiable_dp/auditing/mechanisms.py",
        "if taken[-1][1] != outputs and not (np.ndim(first[0]) == 0 and _apart(function, bounds)):",
        "if taken[-1][1] is None:",
        "what tells of each entry of a vector is shown vectors of one entry",
        ("tests/unit/auditing/test_inputs_tried.py",),
    ),
    Fault(
        "the logarithm of any uniform number is exponential",
        f"{EVIDENCE}/symbolic/sampler_laws.py",
        "high <= 0 or abs(low) > 1e-12 * high",
        "high <= 0",
        "noise that ends is taken for noise that does not",
        ("tests/unit/evidence/test_symbolic_samplers.py",),
    ),
    Fault(
        "what is made of a uniform number is no given number",
        f"{EVIDENCE}/symbolic/uniform_draws.py",
        "(is_line(self.function) or law_of(self.function))",
        "True",
        "a branch on one value of a rounded number is not looked at",
        ("tests/unit/evidence/test_symbolic_samplers.py",),
    ),
    # alignment and replay
    Fault(
        "alignment tolerance",
        f"{EVIDENCE}/alignment/replay.py",
        "TOLERANCE = 1e-9",
        "TOLERANCE = 1e-3",
        "a loss of 1.0005 epsilon counts as within the claim",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "actions may differ",
        f"{EVIDENCE}/alignment/replay.py",
        "(~same, ",
        "(same & False, ",
        "other actions after the same releases go unnoticed",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "what is published may differ",
        f"{EVIDENCE}/alignment/replay.py",
        "(~published, ",
        "(published & False, ",
        "other published values after the same releases go unnoticed",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "draws of another run",
        f"{EVIDENCE}/alignment/replay.py",
        "(_undrawn(there.released, tape), Divergence.UNDRAWN)",
        "(np.zeros(runs, bool), Divergence.UNDRAWN)",
        "runs that publish with the draws of another run go unnoticed",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "alignment on one input",
        f"{EVIDENCE}/alignment/replay.py",
        "return Table(left), Table(right)",
        "return Table(left), Table(left)",
        "the replay is on the recorded input: no pair differs",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "one direction only",
        f"{EVIDENCE}/alignment/searching.py",
        "for turned in (False, True):",
        "for turned in (False,):",
        "a pair is replayed in one direction only",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "a cost above epsilon clears",
        f"{EVIDENCE}/alignment/checking.py",
        '"inconclusive" if exceeds(cost, epsilon)',
        '"not_refuted" if exceeds(cost, epsilon)',
        "hidden noise that costs more than epsilon is no longer a lead",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "costs of a group",
        f"{EVIDENCE}/alignment/replay.py",
        "np.sum([part.cost for part in parts]",
        "np.max([part.cost for part in parts]",
        "the events of a group pay once, not each",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "scale follows the data",
        "verifiable_dp/core/tapes.py",
        "self._leave(address[~same, 0], Divergence.SCALE)",
        "self._leave(address[:0, 0], Divergence.SCALE)",
        "a noise scale that depends on the data goes unnoticed",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "one draw for two releases",
        "verifiable_dp/core/tapes.py",
        "if abs(first - moved[i]) > ",
        "if abs(first - moved[i]) > np.inf + ",
        "noise that is used for two releases goes unnoticed",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "exact values may differ",
        "verifiable_dp/core/tapes.py",
        "self._leave(run[exact], ",
        "self._leave(run[exact][:0], ",
        "an exact value that differs is no divergence",
        ("tests/unit/core/test_populations.py",),
    ),
    Fault(
        "half the cost",
        "verifiable_dp/core/tapes.py",
        "np.add.at(self.cost, run[noisy], np.abs(moved[noisy]) / scale)",
        "np.add.at(self.cost, run[noisy], np.abs(moved[noisy]) / scale / 2)",
        "a release costs half of what it does",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "releases that are missing",
        "verifiable_dp/core/tapes.py",
        "short = np.flatnonzero(counted < recorded)",
        "short = np.flatnonzero(counted < 0)",
        "fewer releases on the neighbour go unnoticed",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "shown outcomes may differ",
        "verifiable_dp/core/tapes.py",
        'differs = shown["output"][at] != hidden.outcome(out)["output"][at]',
        "differs = run != run",
        "a declared shift that gives another output goes unnoticed",
        ("tests/unit/core/test_mechanisms.py", "tests/unit/core/test_populations.py"),
    ),
    # noise in live use
    Fault(
        "values past OpenDP",
        "verifiable_dp/core/noise.py",
        "noised = self._add(value, scale)",
        "noised = value + self._add(0.0, scale)",
        "live releases are exact values plus noise in floats: Mironov's attack",
        (
            "tests/contract/test_live_noise.py::test_opendp_receives_the_value_once",
            "tests/contract/test_live_noise.py::test_neighbouring_values_have_the_same_outputs",
        ),
    ),
    Fault(
        "gaps past the source",
        "verifiable_dp/core/mechanisms/above_threshold.py",
        "noisy = self._asked(noise, gap, ",
        "noisy = gap + self._asked(noise, 0 * gap, ",
        "a mechanism adds noise to an exact value itself",
        ("tests/contract/test_live_noise.py::test_only_the_source_adds_noise_to_exact_values",),
    ),
    Fault(
        "scales rounded to nearest",
        "verifiable_dp/core/noise.py",
        "np.asarray(draw.scale * (1 + draw.excess) * (1 + _SPARE))",
        "np.asarray(draw.scale * 1.0)",
        "rounding is not charged to the scale of live noise",
        ("tests/contract/test_live_noise.py::test_the_scale_is_rounded_up_and_the_excess_is_charged",),
    ),
    Fault(
        "live sums of floats",
        "verifiable_dp/core/turns.py",
        "found = found - np.fmod(found, self.unit)",
        "found = found + 0.0",
        "one reward moves a live sum by more than itself",
        ("tests/contract/test_live_noise.py::test_sums_of_a_live_session_are_exact",),
    ),
    Fault(
        "live promises without noise",
        "verifiable_dp/core/turns.py",
        "if promised is not None and (draw.where",
        "if promised is self and (draw.where",
        "a live session releases an exact value against its promise",
        ("tests/contract/test_live_noise.py::test_a_promise_is_not_kept_without_noise",),
    ),
    Fault(
        "counters that are not compared",
        "verifiable_dp/core/rights.py",
        "            if self.value() != expected:\n                return False\n",
        "",
        "two copies of a live session draw on the same data",
        (
            "tests/unit/core/test_counters.py::test_of_processes_that_advance_a_counter_together_one_wins_each_time",
        ),
    ),
    Fault(
        "stamps that are digests",
        "verifiable_dp/core/rights.py",
        "secrets.token_bytes(32) + seal(bare)",
        "seal(bare)",
        "who reads the counter of a live session can try its rewards",
        ("tests/unit/core/test_counters.py::test_a_stamp_says_nothing_of_the_state",),
    ),
    Fault(
        "batches that are interrupted",
        "verifiable_dp/core/session.py",
        "with self._right.alone():  #",
        "with contextlib.nullcontext():  #",
        "a signal handler shows a value that an older state is then written over",
        (
            "tests/unit/core/test_sessions.py::"
            "test_a_signal_while_a_batch_is_written_puts_nothing_under_an_older_state",
        ),
    ),
    Fault(
        "only shown values in production",
        "verifiable_dp/auditing/production.py",
        "for part in (shown, hidden)",
        "for part in (shown, [])",
        "comparisons of live sessions are not asked of the production sampler",
        ("tests/contract/test_production_noise.py::test_one_leak_among_right_draws_is_found",),
    ),
    # noise and its seeds
    Fault(
        "seeds shared by all uses",
        "verifiable_dp/core/noise.py",
        "np.random.SeedSequence(seed, spawn_key=path)",
        "np.random.SeedSequence(seed)",
        "both worlds and all stages draw the same noise",
        ("tests/unit/core/test_populations.py",),
    ),
    Fault(
        "mutants keep their noise",
        "verifiable_dp/core/noise.py",
        "scale=draw.scale * factor, slot=slot",
        "scale=draw.scale, slot=slot",
        "noise that should be divided is not: power and mutants are those of the target",
        ("tests/unit/core/test_populations.py",),
    ),
    Fault(
        "draws are not joined",
        "verifiable_dp/core/noise.py",
        "slot = draw.slot if reslot is None else reslot(draw.slot)",
        "slot = draw.slot",
        "mutants that share a draw between arms are the target itself",
        ("tests/unit/core/test_populations.py",),
    ),
    Fault(
        "every shard is the first",
        f"{EVIDENCE}/blackbox/run_parts.py",
        "np.arange(i, min(i + size, count), dtype=np.int64)",
        "np.arange(0, min(size, count - i), dtype=np.int64)",
        "shards repeat one another's runs: counts are those of fewer runs",
        ("tests/unit/evidence/test_search.py",),
    ),
    Fault(
        "runs that share a draw",
        f"{AUDITING}/execution_plan.py",
        "int(independence.dependent(sampler, inputs))",
        "0 * int(independence.dependent(sampler, inputs))",
        "runs of one call that share a draw count as independent: right code may be refuted",
        ("tests/statistical/test_accusations.py::test_a_draw_that_runs_of_a_call_share_refutes_nothing",),
    ),
    Fault(
        "other generators keep their seeds",
        f"{AUDITING}/execution_plan.py",
        "lambda: int(bool(others))",
        "lambda: 0",
        "each worker seeds a generator of the code alike: runs are counted twice",
        (
            "tests/statistical/test_accusations.py"
            "::test_code_with_a_generator_of_its_own_follows_the_one_of_each_run",
        ),
    ),
    Fault(
        "generators of one state draw apart",
        "verifiable_dp/targets/randomness.py",
        "if alike in begun:",
        "if alike is begun:",
        "noise that cancels is replaced by noise that does not: a leak looks right",
        ("tests/unit/targets/test_tables.py::test_generators_of_one_state_draw_the_same_in_every_run",),
    ),
    Fault(
        "a seed in the file is a secret",
        "verifiable_dp/targets/seeds.py",
        "if one[way] == other[way]]",
        "if one[way] is other]",
        "noise that every reader of the code knows is taken for noise",
        ("tests/unit/targets/test_tables.py::test_a_state_that_every_process_starts_from_is_known",),
    ),
    Fault(
        "generators as they are are never tried",
        f"{AUDITING}/execution_plan.py",
        "unlike=bool(unlike),",
        "unlike=False,",
        "that the replacement of generators changes the program is not noticed",
        (
            "tests/unit/targets/test_tables.py::test_other_results_with_the_generators_as_they_are_are_noticed",
        ),
    ),
    Fault(
        "an epsilon that was not set counts",
        "verifiable_dp/targets/adapters.py",
        "return not names.isdisjoint(function.given.handed)",
        "return True",
        "noise of a configuration that is asked for no epsilon is said not to depend on it",
        ("tests/unit/auditing/test_audits_of_code.py",),
    ),
    Fault(
        "the first call is told of a reward",
        "verifiable_dp/targets/protocols.py",
        "    if not none:\n        return False\n",
        "    if none:\n        return False\n",
        "code that asks whether there is a reward yet learns of one that nobody earned",
        ("tests/unit/targets/test_targets.py::test_whether_it_asks_for_a_first_reward_is_tried",),
    ),
    Fault(
        "a mode is taken for the arm",
        "verifiable_dp/targets/rewards.py",
        "if len(means) == 1:",
        "if len(means) == -1:",
        "code that pays by means is paid for one arm only",
        ("tests/unit/targets/test_targets.py::test_an_arm_is_known_by_the_mean_that_was_handed_over",),
    ),
    Fault(
        "what a state holds does not count",
        f"{EVIDENCE}/tracing/foreign.py",
        "return state.dtype.str, state.shape, state.tobytes()",
        "return state.dtype.str, state.shape",
        "a generator whose words have changed is taken for one that was not drawn from",
        ("tests/unit/targets/test_tables.py",),
    ),
    Fault(
        "generators set aside are forgotten",
        f"{EVIDENCE}/tracing/foreign.py",
        "for thing in (*_KNOWN, *gc.get_objects())",
        "for thing in gc.get_objects()",
        "a generator that a module made before the audit is not seen, nor made to follow each run",
        ("tests/unit/targets/test_tables.py::test_runs_follow_the_generator_that_they_are_given",),
    ),
    Fault(
        "imports are passed over",
        f"{EVIDENCE}/tracing/reach.py",
        "if _IMPORT_NAME not in code.co_code[::2]:",
        "if _IMPORT_NAME in code.co_code[::2]:",
        "what a function imports from another folder is not traced",
        ("tests/unit/evidence/test_code_read.py",),
    ),
    Fault(
        "constants of loaded modules are drawn",
        "verifiable_dp/core/tosses.py",
        "    return st.tuples(*[st.booleans()] * tosses).map(number)\n",
        "    return st.integers(0, count - 1)\n",
        "the same seed searches other pairs where other modules are loaded",
        ("tests/unit/evidence/test_alignment.py",),
    ),
    Fault(
        "a search begins at no corner",
        f"{EVIDENCE}/alignment/searching.py",
        "    for at in sorted(places):\n",
        "    for at in [horizon // 2]:\n",
        "a kill of the committed table is lost where the search has bad luck",
        ("tests/statistical/test_mutation.py::test_an_early_peek_is_killed_whatever_the_seed",),
    ),
    Fault(
        "runs of one input come together",
        f"{EVIDENCE}/blackbox/run_parts.py",
        "    np.random.Generator(np.random.Philox(words)).shuffle(whose)\n",
        "    np.random.Generator(np.random.Philox(words))\n",
        "what a run leaves for the next one speaks for an input: right code is accused",
        ("tests/statistical/test_memory.py",),
    ),
    Fault(
        "a memory is not looked for",
        "verifiable_dp/evidence/check.py",
        'if statistics.get("carried"):',
        'if statistics.get("held"):',
        "a leak that shows in the next run alone is acquitted",
        ("tests/statistical/test_memory.py",),
    ),
    Fault(
        "code of others is certified",
        f"{EVIDENCE}/certify.py",
        "    if not ours(algorithm):\n",
        "    if algorithm is None:\n",
        "a class that leaks where nothing was forced has a certificate",
        ("tests/unit/evidence/test_upper.py",),
    ),
    Fault(
        "a maximum over some inputs is an upper bound",
        "verifiable_dp/selfcheck/mutation.py",
        '    elif effect is None:\n        outcome = "undecided"\n',
        '    elif effect is None:\n        outcome = "within_the_claim"\n',
        "a mutant that nothing refuted is said to keep the promise",
        ("tests/statistical/test_mutation.py::test_the_largest_cost_of_what_was_examined_is_no_upper_bound",),
    ),
    Fault(
        "what tables hold is passed over",
        f"{EVIDENCE}/tracing/reach.py",
        "_CONTAINERS = (*_MAPPINGS, list,",
        "_CONTAINERS = (list,",
        "code that a table leads to is not traced",
        ("tests/unit/evidence/test_code_read.py",),
    ),
    Fault(
        "searching code is taken for plain code",
        f"{EVIDENCE}/tracing/reach.py",
        "if reach.searches:",
        "if False:",
        "code that is found by name while it runs is not traced",
        ("tests/unit/evidence/test_code_read.py",),
    ),
    Fault(
        "half the claim is judged",
        f"{EVIDENCE}/blackbox/statistics.py",
        "return ratio_p_value(k1, k0, epsilon)",
        "return ratio_p_value(k1, k0, epsilon / 2)",
        "right code is refuted",
        (
            "tests/statistical/test_accusations.py"
            "::test_noise_that_is_not_seen_and_seldom_shows_is_not_refuted",
        ),
    ),
    Fault(
        "tested on the runs that chose",
        f"{EVIDENCE}/blackbox/test.py",
        "    stage: int = TEST,\n",
        "    stage: int = SELECT,\n",
        "the event is tested on the runs that it was chosen on",
        ("tests/unit/evidence/test_search.py",),
    ),
    Fault(
        "both worlds draw alike",
        "verifiable_dp/targets/plays.py",
        "self.typed(self._table(pair, world), (stage, number, world), self._hidden(pair), runs)",
        "self.typed(self._table(pair, world), (stage, number), self._hidden(pair), runs)",
        "a user's bandit has the same generators on both inputs",
        ("tests/unit/evidence/test_search.py",),
    ),
    Fault(
        "a bandit's inputs do not differ",
        "verifiable_dp/targets/plays.py",
        "        return pair.unfolding(world, joint=self.joint) if game else pair.worlds()[world]\n",
        "        return pair.unfolding(world, joint=self.joint) if game else pair.worlds()[0]\n",
        "a user's bandit is played on one input only",
        ("tests/unit/evidence/test_search.py",),
    ),
    Fault(
        "every run has the first generator",
        "verifiable_dp/targets/plays.py",
        "functools.partial(generator, keys[world], int(part[0]), self.factor)",
        "functools.partial(generator, keys[world], 0, self.factor)",
        "all runs of a user's bandit are the same one",
        ("tests/unit/evidence/test_search.py",),
    ),
    # mechanisms
    Fault(
        "scale of Laplace noise",
        "verifiable_dp/core/mechanisms/laplace.py",
        "return self.sensitivity / self.epsilon",
        "return 0.9 * self.sensitivity / self.epsilon",
        "a tenth too little noise",
        ("tests/unit/core/test_mechanisms.py",),
    ),
    Fault(
        "levels of the tree",
        "verifiable_dp/core/mechanisms/tree.py",
        "return self.leaves.bit_length()",
        "return max(1, self.leaves.bit_length() - 1)",
        "a level too few: the first item is in one node more than is paid for",
        ("tests/unit/core/test_mechanisms.py",),
    ),
    Fault(
        "range of growing items",
        "verifiable_dp/core/mechanisms/tree.py",
        "return np.asarray(2 * self.limit(number) * self.divisor / self.epsilon)",
        "return np.asarray(self.limit(number) * self.divisor / self.epsilon)",
        "noise for [0, B] where an item lies in [-B, B]",
        ("tests/unit/algorithms/test_schedules.py",),
    ),
    Fault(
        "cost of AboveThreshold",
        "verifiable_dp/core/mechanisms/above_threshold.py",
        "+ 2 * self.sensitivity / self.query_scale",
        "+ self.sensitivity / self.query_scale",
        "a positive answer is charged once, not twice",
        ("tests/unit/core/test_mechanisms.py",),
    ),
    Fault(
        "shift of AboveThreshold",
        "verifiable_dp/core/mechanisms/above_threshold.py",
        'self.sensitivity + shown["gap"] - gap',
        'shown["gap"] - gap',
        "the declared alignment does not follow the threshold",
        ("tests/unit/core/test_mechanisms.py",),
    ),
    Fault(
        "domain of amplification",
        "verifiable_dp/core/mechanisms/shuffle.py",
        "return math.log(n / (16 * math.log(2 / delta)))",
        "return math.log(n / (8 * math.log(2 / delta)))",
        "amplification by shuffling is claimed beyond its domain",
        ("tests/unit/core/test_mechanisms.py::test_outside_the_domain_it_is_refused_in_one_line",),
    ),
    Fault(
        "half the clones",
        "verifiable_dp/core/mechanisms/shuffle.py",
        "inside = 2 * lean * sides * _excess(c + 1, tau)",
        "inside = lean * sides * _excess(c + 1, tau)",
        "the upper bound on delta of shuffled reports is half of it",
        ("tests/unit/core/test_mechanisms.py::test_clones_bound_from_above_by_a_millionth",),
    ),
    # algorithms
    Fault(
        "epochs of DP-SE",
        "algorithms/dp_se.py",
        "privacy = 8 * np.log(4 * size * epoch**2 / beta)",
        "privacy = 4 * np.log(4 * size * epoch**2 / beta)",
        "epochs are too short where privacy decides",
        ("tests/unit/algorithms/test_schedules.py",),
    ),
    Fault(
        "noise of DP-SE is reused",
        "algorithms/_elimination.py",
        "slot = state.epoch[:, None] * self.n_arms + np.arange(self.n_arms)",
        "slot = 0 * state.epoch[:, None] + np.arange(self.n_arms)",
        "an arm has the same noise in every epoch",
        ("tests/unit/algorithms/test_schedules.py",),
    ),
    Fault(
        "first epoch after a restart",
        "algorithms/dp_se_doubling.py",
        "first_epoch=np.where(over, epoch - 1, after.first_epoch)",
        "first_epoch=np.where(over, epoch, after.first_epoch)",
        "the second epoch of a phase has the length of its first",
        ("tests/unit/algorithms/test_schedules.py",),
    ),
    Fault(
        "a guess holds too long",
        "algorithms/dp_se_doubling.py",
        "(self.first_guess << state.phase) // 2, self.horizon)",
        "(self.first_guess << state.phase), self.horizon)",
        "a guess is in force until its end, not until half of it",
        ("tests/unit/algorithms/test_schedules.py",),
    ),
    Fault(
        "split budget of DP-UCB",
        "algorithms/dp_ucb.py",
        'share = self.epsilon / self.n_arms if self.budget == "split" else self.epsilon',
        "share = self.epsilon",
        "the budget is not split though the listing splits it",
        ("tests/unit/algorithms/test_schedules.py",),
    ),
    Fault(
        "sensitivity of rewards in [-1, 1]",
        "algorithms/dp_linear.py",
        'return Laplace(2.0 if self.variant == "corrected" else 1.0, self.epsilon)',
        "return Laplace(1.0, self.epsilon)",
        "the corrected listing has the noise of the printed one",
        ("tests/unit/algorithms/test_schedules.py",),
    ),
    Fault(
        "noise of truncated rewards",
        "algorithms/_robust.py",
        "2 * self.limit / self.epsilon",
        "self.limit / self.epsilon",
        "noise for [0, B] where a reward lies in [-B, B]; as the proof of Theorem 6 prints: 2 epsilon-LDP",
        ("tests/unit/algorithms/test_schedules.py",),
    ),
    # sequential tests
    Fault(
        "stakes without a bound",
        f"{EVIDENCE}/blackbox/bets.py",
        "return Bet(coin, np.minimum(stake, most), epsilon, delta)",
        "return Bet(coin, stake, epsilon, delta)",
        "a bet may stake more than it has: payoffs that are not finite",
        ("tests/unit/evidence/test_sequential.py::test_no_claim_that_holds_can_lose_by_any_bet",),
    ),
    Fault(
        "level of the limits",
        f"{EVIDENCE}/blackbox/sequential.py",
        '(1 - float(statistics["confidence"])) / tests)',
        '(1 - float(statistics["confidence"])))',
        "each of several sequential tests spends the whole error of the lower bound",
        ("tests/unit/evidence/test_sequential.py::test_the_judge_needs_the_counts_only",),
    ),
    Fault(
        "level of the e-value",
        f"{EVIDENCE}/blackbox/sequential.py",
        "log_p = min(0.0, math.log(tests) - highest)",
        "log_p = min(0.0, -highest)",
        "each of several sequential tests spends the whole alpha",
        ("tests/unit/evidence/test_sequential.py::test_the_judge_needs_the_counts_only",),
    ),
    Fault(
        "runs are used twice",
        f"{EVIDENCE}/blackbox/sequential.py",
        "starts = self.used.get(item.number, (0, 0))",
        "starts = (0, 0)",
        "every look counts the first runs again",
        ("tests/unit/evidence/test_sequential.py::test_a_run_stops_when_it_may_and_never_reuses_a_sample",),
    ),
    Fault(
        "limits above what is refuted",
        f"{EVIDENCE}/blackbox/bets.py",
        "if not known[chunk][look, place] >= -math.log(level):",
        "if not known[chunk][look, place] >= 0:",
        "a lower limit climbs while the e-value merely exceeds 1",
        ("tests/unit/evidence/test_sequential.py::test_limits_climb_the_ladder_one_claim_at_a_time",),
    ),
    Fault(
        "roots of rounded negatives",
        f"{EVIDENCE}/blackbox/bets.py",
        "np.maximum(middle**2 - 8 * growth * (p + q), 0.0)",
        "middle**2 - 8 * growth * (p + q)",
        "stakes that are not a number",
        ("tests/unit/evidence/test_sequential.py::test_payoffs_are_finite_at_any_probabilities",),
    ),
    # exact tests of counts
    Fault(
        "wrong tail",
        f"{EVIDENCE}/blackbox/statistics.py",
        "at_least(k1, k1 + k0",
        "at_least(k1 + 1, k1 + k0",
        "the p-value leaves out the outcome itself",
        ("tests/unit/evidence/test_statistics.py::test_the_ratio_test_has_its_level_at_the_boundary",),
    ),
    Fault(
        "wrong side of a limit",
        f"{EVIDENCE}/blackbox/statistics.py",
        "special.betainccinv(hits + 1, runs - hits, level)",
        "special.betainccinv(hits, runs - hits + 1, level)",
        "an upper limit of a share that lies too low",
        ("tests/unit/evidence/test_statistics.py::test_clopper_pearson_covers",),
    ),
    Fault(
        "lower limit at twice the level",
        f"{EVIDENCE}/blackbox/statistics.py",
        "special.betaincinv(hits, runs - hits + 1, level)",
        "special.betaincinv(hits, runs - hits + 1, 2 * level)",
        "a lower limit that fails twice as often as it says",
        ("tests/unit/evidence/test_statistics.py::test_the_ratio_limit_inverts_the_test",),
    ),
    Fault(
        "power of a test",
        f"{EVIDENCE}/blackbox/statistics.py",
        "return at_least(need, hits, p / (p + q))",
        "return at_least(need // 2, hits, p / (p + q))",
        "the stated power is that of half the hits needed",
        ("tests/unit/evidence/test_statistics.py::test_the_stated_power_is_the_binomial_one",),
    ),
    Fault(
        "nuisance at its estimate",
        f"{EVIDENCE}/blackbox/unconditional.py",
        "low, high = self.interval(k0, _NUISANCE * level)",
        "low, high = self.interval(k0, 0.9)",
        "the p-value is not the worst over the nuisance",
        (
            "tests/unit/evidence/test_statistics.py::test_the_approximate_test_has_its_level_at_every_point_of_the_claim",
        ),
    ),
    Fault(
        "p-value of one of several",
        f"{EVIDENCE}/blackbox/test.py",
        "p_value = min(1.0, exact.p_value(k1, n1, k0, n0, epsilon, delta) * tests)",
        "p_value = min(1.0, exact.p_value(k1, n1, k0, n0, epsilon, delta))",
        "each of several tests spends the whole alpha",
        ("tests/unit/evidence/test_search.py",),
    ),
    Fault(
        "level of several bounds",
        f"{EVIDENCE}/blackbox/test.py",
        'level = (1 - float(statistics["confidence"])) / tests',
        'level = 1 - float(statistics["confidence"])',
        "each of several tests spends the whole error of the lower bound",
        ("tests/unit/evidence/test_search.py",),
    ),
    Fault(
        "pairs do not share the level",
        f"{EVIDENCE}/blackbox/test.py",
        '"tests": len(chosen) * terms.tests,',
        '"tests": terms.tests,',
        "pairs that are tested together do not share alpha",
        ("tests/unit/evidence/test_search.py",),
    ),
    Fault(
        "one test for two games",
        f"{AUDITING}/algorithms.py",
        "_TESTS = 2",
        "_TESTS = 1",
        "the interactive game and the fixed inputs do not share alpha",
        ("tests/unit/evidence/test_events.py::test_an_audit_plays_the_game_and_its_record_runs_again",),
    ),
    Fault(
        "points of a curve",
        f"{EVIDENCE}/blackbox/curves.py",
        'shared = len(statistics["points"]) * int(statistics["tests"])',
        'shared = int(statistics["tests"])',
        "the points of a curve do not share alpha",
        ("tests/unit/evidence/test_exact.py::test_the_judge_needs_nothing_but_the_record",),
    ),
    Fault(
        "curve runs the wrong way",
        f"{EVIDENCE}/blackbox/curves.py",
        'r["epsilon"] >= row["epsilon"]',
        'r["epsilon"] <= row["epsilon"]',
        "a bound at a small epsilon is taken for one at a larger epsilon",
        (
            "tests/unit/evidence/test_exact.py::test_the_curve_of_normal_noise_is_bounded_from_below_and_closely",
        ),
    ),
    # exact laws
    Fault(
        "tail of the quadrature",
        f"{EVIDENCE}/exact/race.py",
        "_TAIL = 60.0",
        "_TAIL = 6.0",
        "a four-hundredth of each integral is cut off",
        ("tests/unit/evidence/test_exact.py::test_two_arms_with_equal_noise_follow_the_closed_form",),
    ),
    Fault(
        "rest of the law",
        f"{EVIDENCE}/exact/law.py",
        "max(d + r for d, r in zip(least, self.remainder, strict=True))",
        "max(d for d, r in zip(least, self.remainder, strict=True))",
        "paths that were not followed are left out of the upper bound on delta",
        (
            "tests/unit/evidence/test_exact.py::test_what_was_not_followed_is_added_to_the_upper_bound_on_delta",
        ),
    ),
    Fault(
        "draws in two comparisons",
        f"{EVIDENCE}/exact/law.py",
        "if now & before:",
        "if now & before & frozenset():",
        "comparisons that share a draw count as independent",
        ("tests/unit/evidence/test_exact.py::test_a_draw_that_comes_again_is_refused",),
    ),
    # power
    Fault(
        "power at half the probability",
        f"{AUDITING}/power.py",
        "return float(tried[factor][2]) >= POWER_PROBABILITY",
        "return float(tried[factor][2]) >= 0.5",
        "what is caught half of the time is said to be caught with .95",
        ("tests/unit/auditing/test_audits_of_code.py",),
    ),
    Fault(
        "power without its repeats",
        f"{AUDITING}/power.py",
        "if refuted < repeats:",
        "if refuted < 0:",
        "a power that its own repeats do not show is stated",
        ("tests/unit/auditing/test_audits_of_code.py",),
    ),
    Fault(
        "power is not needed",
        f"{RECORD}/conclude.py",
        "if least is not None and not exceeds(float(least), detect * claimed):",
        "if least is not None:",
        "not_refuted is said by an audit that could not have refuted",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "leads are passed over",
        f"{RECORD}/conclude.py",
        "check.form.decisive and not computed and",
        "check.form.decisive and computed and",
        "not_refuted is said beside a lower bound above the claim",
        ("tests/unit/record/test_verdicts.py",),
    ),
    # verdicts
    Fault(
        "all must refute",
        f"{RECORD}/conclude.py",
        '    if "refuted" in verdicts:\n        return "refuted"',
        '    if verdicts and set(verdicts) == {"refuted"}:\n        return "refuted"',
        "one refutation does not decide",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "least of the lower bounds",
        f"{RECORD}/conclude.py",
        "return max(bounds, key=float, default=0.0)",
        "return min(bounds, key=float, default=0.0)",
        "the weakest lower bound is reported",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "regret is consistent if anything is",
        f"{RECORD}/conclude.py",
        'all(v == "consistent" for v in telling)',
        'any(v == "consistent" for v in telling)',
        "inconclusive checks of regret are passed over",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "exact losses with a delta",
        f"{AUDITING}/subject.py",
        'return claim.observe in ("releases", "reports") and claim.delta == 0',
        'return claim.observe in ("releases", "reports")',
        "one transcript refutes a claim that allows for exceptions",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "mutants that are not run",
        f"{AUDITING}/algorithms.py",
        "for mutant in case.auditor.mutants:",
        "for mutant in case.auditor.mutants[:1]:",
        "all mutants but the first are left out",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "a prefix that is not stated",
        f"{AUDITING}/algorithms.py",
        "elif played is not whole:",
        "elif False:",
        "the record does not say that only the first rounds were played",
        ("tests/unit/auditing/test_budgets.py::test_so_does_what_the_other_checks_find",),
    ),
    # regret
    Fault(
        "wrong side of a bound",
        f"{EVIDENCE}/regret/common.py",
        "t_p_value(mean - bound if at_most else bound - mean, error, n - 1)",
        "t_p_value(bound - mean if at_most else mean - bound, error, n - 1)",
        "regret below its bound contradicts it",
        ("tests/unit/evidence/test_regret_judges.py",),
    ),
    Fault(
        "vacuous bounds",
        f"{EVIDENCE}/regret/mean_bound.py",
        'idle = float(statistics["bound"]) >= largest - TOLERANCE * abs(largest)',
        "idle = False",
        "a bound that nothing could break counts as kept",
        ("tests/unit/evidence/test_regret_judges.py",),
    ),
    Fault(
        "tail of a share",
        f"{EVIDENCE}/regret/probability.py",
        "p_value = at_least(failures, n, claimed)",
        "p_value = at_least(failures + 1, n, claimed)",
        "the p-value leaves out the outcome itself",
        ("tests/unit/evidence/test_regret_judges.py",),
    ),
    Fault(
        "error of the means",
        f"{EVIDENCE}/regret/common.py",
        "(settled(r, size) / (1 - h)) ** 2 + error**2",
        "(settled(r, size) / (1 - h)) ** 2",
        "a slope is taken for as sure as its points happen to line up",
        ("tests/unit/evidence/test_regret_judges.py",),
    ),
    Fault(
        "margin of an exponent",
        f"{EVIDENCE}/regret/scaling.py",
        "t_p_value(off - margin, error, df)",
        "t_p_value(off - 3 * margin, error, df)",
        "a slope may lie three margins off",
        ("tests/unit/evidence/test_regret_judges.py",),
    ),
    Fault(
        "spread of a comparison",
        f"{EVIDENCE}/regret/comparison.py",
        "welch((factor**2 * variances[0], variances[1]), counts)",
        "welch((variances[0], variances[1]), counts)",
        "the spread of the better one is not scaled by the factor",
        ("tests/unit/evidence/test_regret_judges.py",),
    ),
    Fault(
        "bound of tree sums",
        "auditors/tree_sum.py",
        "return levels / epsilon * math.sqrt",
        "return 2 * levels / epsilon * math.sqrt",
        "the bound on the error is twice the claimed one",
        ("tests/contract/test_claimed_numbers.py",),
    ),
    Fault(
        "bound of DP-SE",
        "auditors/dp_se.py",
        "np.sum(3072 / gaps + 288 / rule.epsilon)",
        "np.sum(6144 / gaps + 288 / rule.epsilon)",
        "the bound on regret is twice the claimed one",
        ("tests/contract/test_claimed_numbers.py",),
    ),
    Fault(
        "exponent of DP-SE",
        "verifiable_dp/registry/theorems.py",
        "    exponent: float = 1.0",
        "    exponent: float = 0.95",
        "another exponent than the theorem's is held against the measurements",
        ("tests/contract/test_claimed_numbers.py",),
    ),
    Fault(
        "a gap that stays as it is",
        "verifiable_dp/registry/mutants.py",
        "(plan[0], factor * plan[1])",
        "(plan[0], plan[1])",
        "hasty and timid eliminations are the correct one",
        ("tests/unit/registry/test_sheets.py",),
    ),
    Fault(
        "a mutant's own bound",
        "verifiable_dp/registry/theorems.py",
        "return self.kind(**original(self.algorithm).parameters)",
        "return original(self.algorithm)",
        "a mutant is held against the bound of its own schedule",
        ("tests/unit/registry/test_sheets.py",),
    ),
    Fault(
        "a bound at another horizon",
        "verifiable_dp/registry/theorems.py",
        "bound(gaps, at_horizon(rule, horizon))",
        "bound(gaps, rule)",
        "a bound does not follow the horizon",
        ("tests/unit/registry/test_sheets.py",),
    ),
    # claims
    Fault(
        "privacy of groups",
        "verifiable_dp/core/claims.py",
        "return size * epsilon, delta",
        "return epsilon, delta",
        "a group of k rewards has the epsilon of one",
        ("tests/unit/evidence/test_exact.py::test_group_privacy",),
    ),
    Fault(
        "zCDP of groups",
        "verifiable_dp/core/claims.py",
        "rho = claim.rho * size**2\n        return",
        "rho = claim.rho * size\n        return",
        "a group of k has k rho, not k^2 rho",
        ("tests/unit/evidence/test_exact.py::test_group_privacy",),
    ),
    Fault(
        "delta below epsilon",
        "verifiable_dp/core/claims.py",
        "slack = -math.expm1(epsilon - self.epsilon) / (1 + math.exp(-self.epsilon))",
        "slack = -math.expm1(epsilon - self.epsilon) / (2 + math.exp(-self.epsilon))",
        "the promise is said to imply a smaller delta than it does",
        ("tests/unit/evidence/test_exact.py::test_what_an_approximate_claim_implies_at_smaller_epsilons",),
    ),
    # tracing
    Fault(
        "leads of the replay",
        f"{EVIDENCE}/tracing/trace.py",
        "leads = {**there.ledger.leads, **here.ledger.leads}",
        "leads = {**here.ledger.leads}",
        "a lead that shows on the neighbour only is dropped",
        ("tests/unit/evidence/test_tracing.py::test_a_line_that_only_the_neighbour_reaches_is_named_too",),
    ),
    Fault(
        "an index decides nothing",
        f"{EVIDENCE}/tracing/ledger.py",
        'DECISIVE = ("branch", "index", ',
        'DECISIVE = ("branch", ',
        "raw rewards that are used as an index rank as plain numbers",
        ("tests/unit/evidence/test_tracing.py::test_kinds_of_leads_and_their_line",),
    ),
    Fault(
        "scales of traced noise",
        f"{EVIDENCE}/tracing/trace.py",
        "scales = np.abs(spread - b.law.spread) > SAME * np.maximum(spread, b.law.spread)",
        "scales = np.abs(spread - b.law.spread) > np.inf",
        "noise whose scale depends on the rewards has a finite cost",
        ("tests/unit/evidence/test_tracing.py", "tests/property/test_tracing.py"),
    ),
    Fault(
        "a traced draw is used twice",
        f"{EVIDENCE}/tracing/trace.py",
        "if abs(moves[i] - before) > SAME * (1 + abs(before) + sizes[i]):",
        "if abs(moves[i] - before) > np.inf:",
        "one draw that is added to two sums goes unnoticed",
        ("tests/unit/evidence/test_tracing.py::test_a_draw_that_meets_data_twice_is_one",),
    ),
    Fault(
        "other coins",
        f"{EVIDENCE}/tracing/trace.py",
        "if not here.failure and not loss.divergence and not _same_coins(here.ledger, there.ledger):",
        "if False:",
        "coins that are tossed on one input only go unnoticed",
        ("tests/unit/evidence/test_tracing.py::test_a_seed_that_is_raw_is_a_divergence",),
    ),
    Fault(
        "cost of randomised response",
        f"{EVIDENCE}/tracing/trace.py",
        "abs(math.log(chance) - math.log1p(-chance))",
        "abs(math.log(chance) - math.log1p(-chance)) / 2",
        "a coin that is turned costs half of its log odds",
        ("tests/unit/evidence/test_tracing.py::test_randomised_response_is_aligned_by_its_coin",),
    ),
    Fault(
        "normal noise has a bound",
        f"{EVIDENCE}/tracing/laws.py",
        'if kind in ("laplace", "logistic"):',
        'if kind in ("laplace", "logistic", "normal"):',
        "normal noise is said to bound the loss",
        ("tests/unit/evidence/test_tracing.py",),
    ),
    Fault(
        "off the lattice",
        f"{EVIDENCE}/tracing/laws.py",
        "np.abs(steps - np.round(steps)) < 1e-6, moved, np.inf",
        "np.abs(steps - np.round(steps)) < 1, moved, np.inf",
        "whole noise on values that are not whole is said to bound the loss",
        ("tests/unit/evidence/test_tracing.py",),
    ),
    Fault(
        "releases of a traced run",
        f"{EVIDENCE}/tracing/trace.py",
        "float(bounds[fresh].sum())",
        "float(bounds[fresh].max(initial=0.0))",
        "of several numbers that are released together one is paid for",
        ("tests/unit/evidence/test_tracing.py::test_numbers_that_are_released_together_are_paid_for_each",),
    ),
    # neighbours
    Fault(
        "the search keeps to arm 0",
        "verifiable_dp/core/neighbours/strategies.py",
        "drawn[1], drawn[2], _farthest(",
        "drawn[1], 0, _farthest(",
        "the search changes rewards of the first arm only",
        ("tests/unit/core/test_claims_and_neighbours.py",),
    ),
    # records
    Fault(
        "digest over a part",
        f"{RECORD}/sealing.py",
        'if key != "digest"}',
        'if key not in ("digest", "seed")}',
        "the digest does not cover the seed",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "derived numbers may differ",
        f"{EVIDENCE}/rounding.py",
        "TOLERANCE = 1e-9",
        "TOLERANCE = 1e-3",
        "a deciding number may be edited by a thousandth",
        ("tests/contract/test_verification.py::test_every_edit_of_a_result_is_found",),
    ),
    Fault(
        "numbers of other machines do not hold",
        f"{EVIDENCE}/rounding.py",
        "TOLERANCE = 1e-9",
        "TOLERANCE = 1e-17",
        "evidence holds only where numbers round as they did when it was made",
        ("tests/contract/test_verification.py::test_all_evidence_holds_on_other_machines",),
    ),
    Fault(
        "the form of another kind",
        f"{RECORD}/schema/record-4.json",
        '"if": {"properties": {"kind": {"const": "curve"}}}',
        '"if": {"properties": {"kind": {"const": "alignment"}}}',
        "checks of a kind are held against the form of another",
        ("tests/unit/record/test_records.py::test_what_is_held_is_the_form_of_its_own_kind",),
    ),
    Fault(
        "a crash is a refutation",
        "verifiable_dp/core/crash.py",
        "STATUS = 70",
        "STATUS = 1",
        "an error of this program exits as a refutation does",
        ("tests/e2e/test_crashes.py::test_a_crash_is_told_in_one_line",),
    ),
    Fault(
        "digest is not checked",
        f"{RECORD}/verify.py",
        "    if stated != found:",
        "    if stated is None:",
        "any digest holds",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "verdict is taken as it is",
        f"{RECORD}/verify.py",
        '_same("verdict", record.verdict, ',
        '_same("verdict", verdict, ',
        "a verdict that does not follow from the checks holds",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "lower bound is taken as it is",
        f"{RECORD}/verify.py",
        '_same("epsilon_lower", record.epsilon_lower, ',
        '_same("epsilon_lower", conclude.epsilon_lower(record.checks), ',
        "a lower bound that does not follow from the checks holds",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "mutants are taken as they are",
        f"{RECORD}/verify.py",
        "again = conclude.mutant(mutant.breaks, mutant.checks)",
        "again = mutant.verdict",
        "a mutant's verdict that does not follow from its checks holds",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "checks of mutants are not judged",
        f"{RECORD}/verify.py",
        '            yield f"mutants.{i}.checks.{j}", check, mutant.breaks',
        "            pass",
        "counts of mutants may be edited",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "regret is not judged again",
        f"{RECORD}/verify.py",
        '        yield f"regret.checks.{i}", check, "regret"',
        "        pass",
        "measurements of regret may be edited",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "words of a verdict",
        f"{RECORD}/words.py",
        "{found}.{detected} This is not a proof of privacy.",
        "The claim of {promised(record)} holds.",
        "a page says that a claim holds",
        ("tests/unit/render/test_card.py::test_a_verdict_on_your_code_says_for_which_inputs",),
    ),
    Fault(
        "refutations in SARIF",
        f"{RENDER}/findings.py",
        'FindingCode.REFUTED: FindingRule(\n        "error",',
        'FindingCode.REFUTED: FindingRule(\n        "note",',
        "a refuted claim is a note, which no code host stops at",
        ("tests/unit/render/test_findings.py",),
    ),
    Fault(
        "weaker promises",
        f"{RENDER}/diff.py",
        'before, after, "worse", "a weaker promise")',
        'before, after, "neutral", "a weaker promise")',
        "diff passes over a claim that was weakened",
        ("tests/unit/render/test_folders.py::test_a_weaker_promise_is_worse",),
    ),
    Fault(
        "errata that half fail",
        "verifiable_dp/registry/errata.py",
        "if failed and held and all(failed) and all(held)",
        "if failed and held and any(failed) and any(held)",
        "an erratum is confirmed by one of its checks",
        ("tests/contract/test_errata.py::test_the_outcome_follows_from_the_checks",),
    ),
    Fault(
        "items confirmed by their errata",
        "verifiable_dp/campaign/papers.py",
        "return register if number in stated(",
        "return outcome if number in stated(",
        "the papers' page calls a fact confirmed that an erratum refutes",
        ("tests/contract/test_papers.py::test_an_item_has_the_status_that_its_errata_give_it",),
    ),
    Fault(
        "convicted by another mechanism",
        "auditors/errata/hanna.py",
        "for a in (faulty, right)",
        'for a in (with_parameters(faulty, variant="printed"), right)',
        "an erratum on privacy shows another fault than its own",
        ("tests/contract/test_errata.py::test_without_its_fault_nothing_is_refuted",),
    ),
    # checkpoints
    Fault(
        "steps of another size",
        "verifiable_dp/auditing/resume.py",
        "if line and said == asked:",
        "if line:",
        "a step that was asked for with other settings is used again",
        ("tests/unit/auditing/test_budgets.py::test_a_step_that_was_asked_for_something_else_is_made_again",),
    ),
    Fault(
        "checkpoint of another audit",
        "verifiable_dp/auditing/resume.py",
        'if head["of"] != of:',
        'if head["of"] is None:',
        "the steps of another audit are used",
        ("tests/unit/auditing/test_budgets.py::test_another_audit_is_refused_and_a_run_of_many_begins_anew",),
    ),
    Fault(
        "damaged checkpoints",
        "verifiable_dp/auditing/resume.py",
        "if not mark or not key or not hmac.compare_digest(line, text + _sealed(text, key)):",
        "if not mark or not key:",
        "a damaged line of a checkpoint is used",
        ("tests/unit/auditing/test_budgets.py::test_a_changed_line_and_all_after_it_are_dropped",),
    ),
    Fault(
        "rungs that forget",
        "verifiable_dp/auditing/pipeline.py",
        "kind = self.state_kind()",
        "kind = CaseState",
        "a resumed audit knows the checks of a finished rung, but not what later rungs build on",
        ("tests/unit/auditing/test_budgets.py::test_what_is_finished_is_not_run_again",),
    ),
    # faces
    Fault(
        "--alpha is ignored",
        "verifiable_dp/cli/audit.py",
        "api.audit(audited, **asked,",
        "api.audit(audited, **{**asked, 'alpha': 1e-6},",
        "the level of the command line does nothing",
        ("tests/unit/cli/test_options.py",),
    ),
    Fault(
        "--beta is ignored",
        "verifiable_dp/cli/audit.py",
        "api.check_regret(target, **asked,",
        "api.check_regret(target, **{**asked, 'beta': None},",
        "a claim about each run is checked as one about the mean",
        ("tests/unit/cli/test_options.py",),
    ),
    Fault(
        "--seed of simulate is ignored",
        "verifiable_dp/cli/catalogue.py",
        "result = run_simulation(made, environment, **size)",
        "result = run_simulation(made, environment, **size | {'seed': 0})",
        "simulate always has seed 0",
        ("tests/unit/cli/test_options.py",),
    ),
    Fault(
        "inconclusive passes",
        "verifiable_dp/record/decision.py",
        '"inconclusive": 3, ',
        '"inconclusive": 0, ',
        "CI passes where nothing was decided",
        ("tests/unit/cli/test_options.py",),
    ),
    Fault(
        "vacuous passes",
        "verifiable_dp/record/decision.py",
        '"vacuous": 3}',
        '"vacuous": 0}',
        "CI passes where a bound says nothing",
        ("tests/unit/cli/test_options.py",),
    ),
    Fault(
        "worse passes",
        "verifiable_dp/cli/records.py",
        '"worse": 1,',
        '"worse": 0,',
        "CI passes where a record is worse than the last",
        ("tests/unit/cli/test_options.py::test_diff",),
    ),
    Fault(
        "unusable input is a refutation",
        "verifiable_dp/cli/shell.py",
        "_fail(str(error), 2)",
        "_fail(str(error), 1)",
        "a mistyped name exits as a refutation does",
        ("tests/unit/cli/test_options.py",),
    ),
    Fault(
        "pytest passes inconclusive audits",
        "verifiable_dp/pytest_plugin.py",
        "if passing.passes(report.verdict, expect) and not short and not void:",
        'if (passing.passes(report.verdict, expect) and not short) or report.verdict == "inconclusive":',
        "a test passes where nothing was decided",
        ("tests/unit/edges/test_plugin.py",),
    ),
    Fault(
        "--dp-alpha is ignored",
        "verifiable_dp/pytest_plugin.py",
        '_overridden(request, "seed", "alpha", "detect")',
        '_overridden(request, "seed", "detect")',
        "the level of pytest's command line does nothing",
        ("tests/e2e/test_plugin_options.py::test_options_arrive_where_audits_are_made",),
    ),
    # guards
    Fault(
        "targets may replace json",
        "verifiable_dp/targets/guard.py",
        "if now.get(name, _Allowance) is not value]",
        "if now.get(name, _Allowance) is _Allowance]",
        "a target that replaces what records are made with goes unnoticed",
        (
            "tests/unit/targets/test_adapters.py::test_a_file_that_replaces_json_when_it_is_imported_is_refused",
            "tests/unit/targets/test_adapters.py::test_hostile_code_ends_in_one_clear_line",
        ),
    ),
    Fault(
        "a deterministic mechanism",
        f"{AUDITING}/mechanisms.py",
        'raise InputError(\n            f"release: {DETERMINISTIC}',
        'str(\n            f"release: {DETERMINISTIC}',
        "code without any randomness is audited as if it had some",
        (
            "tests/statistical/test_styles.py::test_without_power_the_note_says_why",
            "tests/e2e/test_cli.py::test_unusable_input_gets_one_line_and_writes_nothing",
        ),
    ),
    # controls
    Fault(
        "self-test passes false alarms",
        "verifiable_dp/controls/running.py",
        'return (self.verdict == "refuted") == (self.control.expected == "refuted")',
        'return self.verdict == "refuted" or self.control.expected != "refuted"',
        "selftest passes though a right control was refuted",
        ("tests/unit/controls/test_controls.py",),
    ),
    Fault(
        "scale of drawn noise",
        "verifiable_dp/core/philox.py",
        "magnitude = -math.log(to_unit(bits))",
        "magnitude = -0.97 * math.log(to_unit(bits))",
        "noise has too small a scale everywhere",
        ("tests/unit/core/test_populations.py",),
    ),
    # upper bounds by symbolic tracing
    Fault(
        "one factor of a product moves",
        f"{EVIDENCE}/symbolic/multiplying.py",
        "found[unit] = (one[0] + other[0], one[1] + other[1])",
        "found[unit] = one",
        "a product of two raw numbers moves as if one of them stood still: the bound is too small",
        (
            "tests/unit/evidence/test_symbolic.py::test_right_programs_are_bounded_at_their_true_cost[product_of_two_factors]",
        ),
    ),
    Fault(
        "a coin that was told hides",
        f"{EVIDENCE}/symbolic/draw_sources.py",
        "return len(self.thins) == 1 and not self.is_public and self.state is None and self.noise is None",
        "return len(self.thins) == 1",
        "a reward that counts by a coin is amplified though everybody saw the coin: the bound is too small",
        (
            "tests/unit/evidence/test_symbolic.py::test_no_leaking_twin_is_bounded_within_the_claim[subsampled_and_told]",
        ),
    ),
    Fault(
        "the far end of a shift alone",
        f"{EVIDENCE}/symbolic/sampler_laws.py",
        "least = min(heights[i : last + 1])",
        "least = heights[last]",
        "of a density in steps the dearest place within a shift is passed over: the bound is too small",
        ("tests/unit/evidence/test_symbolic_samplers.py",),
    ),
    Fault(
        "chances above one are taken",
        f"{EVIDENCE}/symbolic/accept_reject.py",
        "if not self.permuted and any((x.range()[1] if is_term(x) else x) > _TINY for x in logs):",
        "if not logs:",
        "proposals that are always accepted count as if they were in proportion: the bound is too small",
        (
            "tests/unit/evidence/test_symbolic.py::test_no_leak_is_bounded_within_the_claim_as_it_is_asked_in_one_piece[accepted_surely]",
        ),
    ),
    Fault(
        "one of two places of a histogram",
        f"{EVIDENCE}/symbolic/alignments.py",
        "most = sum(pure[-2:])",
        "most = sum(pure[-1:])",
        "a value that leaves one place and enters another pays for one: the bound is half of it",
        ("tests/unit/evidence/test_symbolic_matrices.py",),
    ),
    Fault(
        "raw numbers are shown for nothing",
        f"{EVIDENCE}/symbolic/elementwise.py",
        "return value.public(what, why) if type(value) is Term else value",
        "return value.value() if type(value) is Term else value",
        "rewards that are told as they are neither end the bound nor cost anything",
        (
            "tests/unit/evidence/test_symbolic.py::test_what_a_program_returns_in_a_sequence_of_its_own_is_looked_at",
            "tests/unit/evidence/test_symbolic.py::test_no_leak_is_bounded_within_the_claim[raw_tie_break]",
        ),
    ),
    Fault(
        "every known condition is constant",
        f"{EVIDENCE}/judge/language.py",
        "return self._said.asked.get((file, position), False)",
        "return (file, position) in self._said.asked",
        "what stands behind a condition that seldom holds is not looked at, and does not end the bound",
        (
            "tests/unit/evidence/test_code_read.py::test_loops_that_draws_end_or_fill_do_not_turn_alike_in_every_run",
        ),
    ),
    Fault(
        "identity is what Python says",
        f"{EVIDENCE}/symbolic/calls.py",
        "    if all(tracked) or isinstance(other, (*_NUMBERS, np.generic, np.ndarray)):",
        "    if all(tracked):",
        "`x is True` is False of what stands for a number, whatever the number is",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "unknown functions take tracked numbers",
        f"{EVIDENCE}/symbolic/calls.py",
        "        if any(_holds(value) for value in (*args, *kwargs.values())):",
        "        if False:",
        "`operator.is_`, `id` and their like are answered for the object that stands for a number",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "functions of before the run are left as they are",
        f"{EVIDENCE}/symbolic/coverage.py",
        "                if frame.f_lasti in barred:",
        "                if False:",
        "code that could not be rewritten asks what it likes",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "what shares memory is copied",
        f"{EVIDENCE}/symbolic/box_memory.py",
        "                if np.may_share_memory(one, array):",
        "                if False:",
        "what is written into a part of an array is not seen in the array",
        ("tests/property/test_rows.py",),
    ),
    Fault(
        "a search for a bound never gives up",
        f"{EVIDENCE}/symbolic/paths.py",
        "        return self.spent > self.most",
        "        return False",
        "an audit takes as long as the search does",
        ("tests/unit/evidence/test_symbolic.py",),
    ),
    Fault(
        "the first leader is forgotten",
        f"{EVIDENCE}/symbolic/selects.py",
        "before = [] if never else [(best, tuple(earlier))]",
        "before = []",
        "a race is run without what led at its start: the bound is too small",
        (
            "tests/unit/evidence/test_symbolic.py::test_no_leak_is_bounded_within_the_claim_as_it_is_asked_in_one_piece",
            "tests/unit/evidence/test_symbolic.py::test_what_is_asked_in_one_piece_costs_what_it_tells",
        ),
    ),
    Fault(
        "certain once is certain always",
        f"{EVIDENCE}/symbolic/coverage.py",
        "return certain > 0 and not both and certain == self.counts.get((code, offset), 0)",
        "return certain > 0",
        "a comparison that was open at times need not have gone both ways",
        ("tests/unit/evidence/test_code_read.py",),
    ),
    # renderings
    Fault(
        "a weak audit is called strong",
        "verifiable_dp/record/decision.py",
        '"weak" if passed or ratio > WEAK else "strong"',
        '"weak" if passed else "strong"',
        "an audit that a leak of four times the claim could pass looks like one that catches any",
        ("tests/unit/render/test_card.py::test_the_meter_empties_as_the_leak_that_passes_grows",),
    ),
    Fault(
        "phones get the desktop's plots",
        f"{RENDER}/page.py",
        "{draw(*given, narrow=True)}</div>",
        "{draw(*given)}</div>",
        "letters of plots are too small to read on a phone",
        ("tests/unit/render/test_plots.py",),
    ),
    Fault(
        "tables without a name",
        f"{RENDER}/tables.py",
        'role="group" tabindex="0" aria-label="{label}"',
        'role="group" tabindex="0"',
        "who hears a page is not told which table has the focus",
        ("tests/unit/render/test_formats.py", "tests/unit/render/test_card.py"),
    ),
    Fault(
        "strength without the kill table",
        "verifiable_dp/record/decision.py",
        "for row in kills.survived(record)]",
        "for row in ()]",
        "an audit that passed a large leak is called strong",
        ("tests/unit/render/test_agreement.py",),
    ),
    Fault(
        "own mutants that passed weaken nothing",
        "verifiable_dp/record/decision.py",
        'if mutant.breaks == "privacy"]',
        'if mutant.breaks == "nothing"]',
        "an audit that passed a variant that it was to catch is called strong",
        ("tests/unit/render/test_card.py::test_a_mutant_of_the_record_that_passed_is_named",),
    ),
    Fault(
        "outcomes without strength",
        f"{RENDER}/outcomes.py",
        "*_strength(record),",
        "",
        "in-toto passes an audit that its page calls weak",
        ("tests/unit/render/test_agreement.py",),
    ),
    Fault(
        "what says nothing warns",
        f"{RENDER}/outcomes.py",
        'status = "silent"',
        'status = "undecided"',
        "in-toto warns of an audit that its page calls strong",
        ("tests/unit/render/test_agreement.py",),
    ),
    Fault(
        "a kill table of another promise",
        f"{RECORD}/kills.py",
        "all(row[key] == getattr(claim, key) for key in _PROMISE)",
        "all(row[key] is not None for key in _PROMISE)",
        "mutants of another epsilon are told of this audit",
        ("tests/unit/render/test_agreement.py",),
    ),
    Fault(
        "the tool's commit as that of the code",
        f"{RENDER}/audited.py",
        "_code(target.source, facts.target)",
        "_code(target.source, facts)",
        "the audited code is said to be of a commit that it is not of",
        ("tests/unit/render/test_card.py::test_the_commit_of_the_tool_is_not_that_of_the_audited_code",),
    ),
    Fault(
        "the example beside a declared number",
        f"{RENDER}/promised.py",
        "    if declared is None:\n        least",
        "    if declared is None or most:\n        least",
        "ten rounds of a person are spoken of where others are declared",
        ("tests/unit/render/test_card.py::test_a_declared_number_of_rounds_replaces_the_example_everywhere",),
    ),
    Fault(
        "a signature of another record",
        f"{RECORD}/signing.py",
        '        return SignatureState(f"a signature file was found, but it is not valid: {_OTHER}", '
        "holds=False)",
        "        pass",
        "verify passes a record beside a signature that cannot hold",
        ("tests/unit/record/test_signing.py", "tests/unit/render/test_card.py"),
    ),
    Fault(
        "traced code seen through its outputs",
        f"{AUDITING}/rounds_of_testing.py",
        'if any(c.kind == "tracing" and not c.statistics["failure"] for c in self.checks):',
        "if not self.checks:",
        "a record says of code that was traced that only its outputs were seen",
        ("tests/unit/auditing/test_audits_of_code.py",),
    ),
    Fault(
        "names with blanks",
        f"{RENDER}/diff.py",
        "digits(value) if isinstance(value, float) else str(value)",
        'digits(value) if isinstance(value, float) else str(value).replace("_", " ")',
        "two names that differ in a mark are told as one",
        ("tests/unit/render/test_folders.py",),
    ),
    Fault(
        "mentions in Markdown",
        f"{RENDER}/markdown.py",
        'return _MENTION.sub(r"\\1&#8203;", _STARTS.sub(_entity, words))',
        "return _STARTS.sub(_entity, words)",
        "a name of a target calls people and issues of the code host",
        ("tests/unit/render/test_folders.py", "tests/unit/render/test_renderings.py"),
    ),
    Fault(
        "links out of a portfolio",
        f"{RENDER}/portfolio.py",
        "if not _inside(place, path):",
        "if not path:",
        "a link to a file elsewhere is read as a record of the folder",
        ("tests/unit/render/test_portfolio.py",),
    ),
    Fault(
        "legends in one line",
        f"{RENDER}/plots.py",
        "fitting = max(1, min(columns, wide // (longest + 7)))",
        "fitting = columns",
        "a legend is wider than its figure, on a phone above all",
        ("tests/unit/render/test_plots.py",),
    ),
    # records, keys and checkpoints
    Fault(
        "a key twice in an object",
        f"{RECORD}/verify.py",
        "if len(found) < len(pairs):",
        "if len(found) > len(pairs):",
        "a record that readers take in two ways holds",
        ("tests/unit/compliance/test_nist.py::test_a_hostile_file_is_refused_in_one_line",),
    ),
    Fault(
        "a rerun is not compared",
        f"{RECORD}/verify.py",
        "difference := first_difference(expected, found)",
        "difference := first_difference(expected, expected)",
        "a record whose counts do not come again holds",
        ("tests/unit/auditing/test_budgets.py::test_one_by_the_same_version_compares_all",),
    ),
    Fault(
        "upper bound is taken as it is",
        f"{RECORD}/verify.py",
        '_same("epsilon_upper", values["epsilon_upper"], bound and bound.as_dict(), values)',
        "pass",
        "an upper bound that does not follow from the checks holds",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "a bound on fallen premises",
        f"{RECORD}/conclude.py",
        'all(_holds(named.get(p["tested_by"])) for p in check.statistics["premises"] if p["tested_by"])',
        "True",
        "an upper bound stands though a check has refuted what it rests on",
        ("tests/unit/evidence/test_upper.py", "tests/unit/record/test_verdicts.py"),
    ),
    Fault(
        "private keys that others can read",
        f"{RECORD}/signing.py",
        'files.content("key", path, _LARGEST, private=b"PRIVATE KEY")',
        'files.content("key", path, _LARGEST)',
        "a key that others may have copied signs records",
        ("tests/unit/record/test_signing.py",),
    ),
    Fault(
        "a torn line stays in a checkpoint",
        f"{AUDITING}/resume.py",
        "self.cpu_seconds, end = cpu, self._file.tell()\n        self._file.truncate(end)",
        "self.cpu_seconds, end = cpu, self._file.tell()",
        "what is added after half a line is lost when the audit is resumed once more",
        ("tests/unit/auditing/test_budgets.py::test_a_file_torn_at_any_byte_gives_what_is_whole",),
    ),
    # further faces
    Fault(
        "broken records of a folder pass",
        "verifiable_dp/cli/records.py",
        'the runs were not repeated")\n    sys.exit(2 if found.broken or wrong else 0)',
        'the runs were not repeated")\n    sys.exit(2 if wrong else 0)',
        "verify of a folder ends well though records in it do not hold",
        ("tests/unit/cli/test_options.py::test_verify", "tests/unit/render/test_portfolio.py"),
    ),
    Fault(
        "what has no record is passed over",
        "verifiable_dp/campaign/judge.py",
        "statuses += [2] if failed or not reports else []",
        "statuses += [2] if not reports else []",
        "CI passes where one of several targets was not audited",
        ("tests/unit/campaign/test_judge.py",),
    ),
    Fault(
        "margins of rates are lost",
        "verifiable_dp/cli/audit.py",
        "(_plain_value(rate), _plain_value(margin)) if colon else claim",
        "_plain_value(rate) if colon else claim",
        "the margin that the command line gives a rate does nothing",
        ("tests/unit/cli/test_options.py::test_each_option_of_regret_by_itself",),
    ),
    # targets
    Fault(
        "the first of two verdicts counts",
        "verifiable_dp/targets/line.py",
        "if more or len(message) != 1:",
        "if len(message) != 1:",
        "code of a target may send a verdict before the audit does",
        ("tests/e2e/test_child.py::test_of_two_verdicts_none_counts",),
    ),
    Fault(
        "one guard ends for all",
        "verifiable_dp/targets/guard.py",
        "if not _Guards.on:",
        "if _Guards:",
        "while one thread still runs a target, os._exit may end the audit",
        ("tests/unit/targets/test_adapters.py",),
    ),
    Fault(
        "spawned generators come again",
        "verifiable_dp/targets/randomness.py",
        "first, self._spawned = self._spawned, self._spawned + n_children",
        "first, self._spawned = self._spawned, n_children",
        "generators that are spawned later draw what earlier ones drew",
        ("tests/unit/targets/test_tables.py::test_generators_that_are_spawned_later_are_others",),
    ),
    Fault(
        "an arm too many",
        "verifiable_dp/core/outputs.py",
        "made.max() >= n_arms",
        "made.max() > n_arms",
        "arms that are counted from 1 are taken for right ones",
        ("tests/unit/targets/test_targets.py::test_arms_that_are_counted_from_one_are_refused",),
    ),
    Fault(
        "secrets in longer names",
        "verifiable_dp/core/steering.py",
        "_SECRET.search(name.upper())",
        "_SECRET.fullmatch(name.upper())",
        "a target sees the tokens of the job that audits it",
        ("tests/e2e/test_child.py::test_it_inherits_nothing_that_steers_a_job",),
    ),
    Fault(
        "files that the parent has open stay so",
        "verifiable_dp/targets/child.py",
        "_hang_up(null, {channel, replies, calls})",
        "del calls",
        "code writes to the files that its audit was started with, such as the log of a job",
        (
            "tests/e2e/test_child.py::test_it_cannot_write_to_what_its_parent_writes_to",
            "tests/e2e/test_cage.py::test_code_in_a_cage_reaches_nobody_through_what_was_there_before",
        ),
    ),
    Fault(
        "servers at files are reached from a cage",
        "verifiable_dp/targets/barred.py",
        "SOCKETS: _refuse_sockets(libc)",
        "SOCKETS: True",
        "code in a cage talks to a server of the machine, which does what it may not",
        ("tests/e2e/test_cage.py::test_code_in_a_cage_reaches_nobody_through_what_was_there_before",),
    ),
    Fault(
        "code chooses its own data",
        "verifiable_dp/auditing/rungs.py",
        "if named and stated and not request.settings.own_neighbours:",
        "if False:",
        "a leak is acquitted on neighbours of its own that hardly differ",
        ("tests/e2e/test_counting.py::test_code_does_not_choose_on_which_data_it_is_tested",),
    ),
    Fault(
        "a commit speaks of one file",
        "verifiable_dp/record/provenance.py",
        "for one, digest in zip(found or (), run.values(), strict=False):",
        "for one, digest in ():",
        "a record of a helper that was never committed passes for the commit",
        ("tests/unit/campaign/test_origin.py::test_line_ends_count_in_what_is_read",),
    ),
    Fault(
        "modules come from caches",
        "verifiable_dp/core/pinned_source.py",
        "sys.path_hooks.insert(0, of)",
        "sys.path_hooks.append(of)",
        "other bytecode runs than the source that a record names",
        ("tests/e2e/test_announced_code.py::test_bytecode_of_what_a_target_imports_does_not_run",),
    ),
    Fault(
        "a time-out that the target catches is none",
        "verifiable_dp/core/limits.py",
        "    if _Limited.over:",
        "    if False:",
        "code that catches what ends its call goes on, as if it had returned in time",
        ("tests/e2e/test_child.py::test_a_call_that_does_not_let_itself_be_ended_is_ended_by_the_parent",),
    ),
    Fault(
        "runs in whatever form",
        "verifiable_dp/targets/plays.py",
        "        if not is_table(rows, self.small, runs) or rows.shape[1] != self.horizon + self.beside:",
        "        if False:",
        "code of a target sends fewer runs than it was asked for, or arms of other rounds",
        ("tests/unit/targets/test_far.py::test_runs_in_another_form_end_the_audit",),
    ),
    Fault(
        "runs that are asked again and not compared",
        "verifiable_dp/auditing/conducted.py",
        'return bool(found == ["", *(one.digest for one in samples)])',
        "return bool(samples)",
        "code that differs between processes is acquitted",
        ("tests/e2e/test_counting.py::test_code_that_differs_between_processes_is_not_acquitted",),
    ),
    Fault(
        "runs that are not split anew",
        "verifiable_dp/targets/heard.py",
        "return [UNLIKE] if any(",
        "return [UNLIKE] if not pools and any(",
        "code that leaks in the runs that are counted alone, at an event of its own, is acquitted",
        ("tests/unit/targets/test_adapters.py::test_a_leak_of_some_questions_is_doubted",),
    ),
    Fault(
        "a bound of traced code by public states",
        "verifiable_dp/auditing/traced.py",
        '    if not Method(told["method"]).traced:',
        "    if False:",
        "code of a target has a bound that nothing it did supports",
        ("tests/unit/targets/test_far.py::test_bounds_of_another_form_end_the_audit",),
    ),
    Fault(
        "a cage whose walls can be taken down",
        "verifiable_dp/targets/cage.py",
        "    libc.capset(ctypes.byref(header), ctypes.byref(none))",
        "    del header, none",
        "code in a cage makes its files writable again",
        (
            "tests/e2e/test_cage.py::"
            "test_code_in_a_cage_writes_temporary_files_only_and_sees_its_own_processes",
        ),
    ),
    Fault(
        "calls of processes that are gone",
        "verifiable_dp/core/watch.py",
        "if process < 0 or _exists(process):",
        "if True:",
        "a worker that died in a call ends the audit that goes on without it",
        ("tests/e2e/test_child.py::test_only_calls_of_processes_that_exist_are_overdue",),
    ),
    Fault(
        "answers to other questions",
        f"{AUDITING}/answers.py",
        "if wanted != found:",
        "if found is None:",
        "the record of another claim, seed, budget or target passes for the one that was asked",
        ("tests/unit/auditing/test_audits_of_code.py",),
    ),
    Fault(
        "what is imported by what is imported",
        f"{AUDITING}/identity.py",
        "        left += others\n",
        "",
        "a worker of a campaign runs another module than the machine that began it",
        ("tests/unit/campaign/test_campaign_file.py::test_code_of_another_machine_is_not_audited",),
    ),
    Fault(
        "the last evidence decides a control",
        "verifiable_dp/controls/running.py",
        'if check["kind"] == "black_box"]',
        "]",
        "the selftest crashes where an upper bound follows the black box",
        (
            "tests/unit/controls/test_controls.py::test_every_control_has_a_test_with_counts_whatever_else_is_found",
        ),
    ),
    Fault(
        "coverage of a child is lost",
        "verifiable_dp/targets/measured.py",
        "            ours.get_data().update(other)\n",
        "",
        "audited code seems to be tested by nothing",
        ("tests/e2e/test_plugin.py::test_coverage_sees_what_runs_in_the_child_of_an_audit",),
    ),
    # sizes and levels of audits
    Fault(
        "tests that could have gone on",
        f"{AUDITING}/rounds_of_testing.py",
        "parts=_STEPS * case.black_boxes",
        "parts=_STEPS",
        "the test that goes on is chosen among several and does not share its level with them",
        (
            "tests/unit/auditing/test_inputs_tried.py::test_what_is_left_goes_on_with_a_test_whose_bound_lies_above_the_claim",
        ),
    ),
    Fault(
        "power without the delta",
        f"{AUDITING}/power.py",
        "    if claim.delta > 0:\n        return exact.approximate_power",
        "    if claim.delta < 0:\n        return exact.approximate_power",
        "the stated power of a test with a delta is that of one without",
        ("tests/unit/auditing/test_audits_of_code.py::test_what_delta_allows_for_is_not_refuted",),
    ),
    Fault(
        "idle up to the next horizon",
        "verifiable_dp/targets/horizons.py",
        "idle, horizon = horizon, 2 * horizon",
        "idle, horizon = 2 * horizon, 2 * horizon",
        "a horizon at which rewards act is called idle",
        ("tests/unit/auditing/test_inputs_tried.py::test_the_horizon_is_found_by_doubling",),
    ),
    Fault(
        "one size of data",
        "verifiable_dp/auditing/ladder.py",
        "SIZES = (0, 1, 2, 3, 4, 5, 8, 16)",
        "SIZES = (5,)",
        "a mechanism that leaks where it has no records, or few, is acquitted",
        ("tests/unit/auditing/test_audits_of_code.py",),
    ),
    Fault(
        "sizes that nobody names",
        "verifiable_dp/auditing/ladder.py",
        "found |= {number - 1, number, number + 1}",
        "found |= set()",
        "a leak at a size that the code compares with is acquitted",
        ("tests/unit/auditing/test_audits_of_code.py",),
    ),
    Fault(
        "one run for all",
        "verifiable_dp/auditing/traced.py",
        "return (1, 2, 3) if self.together else (1,)",
        "return (1,)",
        "a bound of a call for one run acquits the third run of each call",
        ("tests/unit/auditing/test_calls.py",),
    ),
    Fault(
        "all places are alike",
        f"{EVIDENCE}/blackbox/positions.py",
        'holds = found > float(statistics["level"])',
        "holds = True",
        "runs that have another law than the rest are no lead",
        ("tests/unit/auditing/test_calls.py",),
    ),
    Fault(
        "refuted by less than was claimed",
        "verifiable_dp/record/words.py",
        "if curve and not exceeds(found, claim.epsilon):",
        "if False:",
        "a refuted curve is put into words by an epsilon below the claim",
        ("tests/unit/render/test_findings.py",),
    ),
    # instances, estimates and limits
    Fault(
        "outliers are the rule",
        "verifiable_dp/core/environments/arms.py",
        "bad = generator.random(count) < self.alpha",
        "bad = generator.random(count) > self.alpha",
        "contaminated arms pay outliers nearly always",
        ("tests/unit/algorithms/test_robust.py::test_contamination",),
    ),
    Fault(
        "limit of a lower bound",
        f"{EVIDENCE}/regret/common.py",
        "confidence if at_most else 1 - confidence",
        "confidence",
        "a mean at least as large as its bound says is inconclusive, and one that may be smaller consistent",
        ("tests/unit/evidence/test_regret_kinds.py::test_mean_at_least",),
    ),
    Fault(
        "what is called need not be known",
        f"{EVIDENCE}/judge/expressions.py",
        "            elif ANY in callee.own or not callee.things:\n",
        "            elif False:\n",
        "a function that a draw chose out of a table is called, and its bound speaks of the others",
        ("tests/unit/evidence/test_language.py",),
    ),
    Fault(
        "a loop turns as often as it likes",
        f"{EVIDENCE}/judge/expressions.py",
        "        if size >= STEEP:\n            self.tell(node, outside.TURNS)",
        "        if size > 9:\n            self.tell(node, outside.TURNS)",
        "sums are added up as often as an entry of a table says that is drawn once in a thousand runs",
        ("tests/unit/evidence/test_language.py",),
    ),
    Fault(
        "raw data are disclosed",
        f"{EVIDENCE}/symbolic/selects.py",
        '        boxes.plain(world, value, "raw {data} are disclosed")\n',
        "        pass\n",
        "a table counts as disclosed though the adversary is told nothing",
        ("tests/unit/evidence/test_language.py",),
    ),
    Fault(
        "an entry at a proposed place is forgotten",
        f"{EVIDENCE}/symbolic/accept_reject.py",
        "        return Veiled(self.pick, made, self.told)",
        "        return Veiled(self.pick, made)",
        "a raw entry of which a draw says the place is used with nothing disclosed",
        ("tests/unit/evidence/test_language.py",),
    ),
    Fault(
        "what a comprehension goes through is looked for in it",
        f"{EVIDENCE}/judge/expressions.py",
        "            self.scope = node if at else outer  # the first",
        "            self.scope = node  # the first",
        "a weight that one draw in a thousand makes large is taken for a name that nothing sets",
        ("tests/unit/evidence/test_language.py",),
    ),
    Fault(
        "of what a draw finds in a table, no draw says what it is",
        f"{EVIDENCE}/judge/places.py",
        "        if found.level > table.level:  # the place",
        "        if False:  # the place",
        "a reward counts twice where one draw in a thousand says that it is read again",
        ("tests/unit/evidence/test_language.py",),
    ),
    Fault(
        "all comprehensions are made at one time",
        f"{EVIDENCE}/judge/expressions.py",
        "        if not all(map(self.only_draws, parts + asked)):",
        "        if False:",
        "entries that take from a list what is in front count as alike",
        ("tests/unit/evidence/test_language.py",),
    ),
    Fault(
        "names of a comprehension are the same in each turn around it",
        f"{EVIDENCE}/judge/loops.py",
        "            around = around[: around.index(owner)] if owner in around else []",
        "            around = []",
        "an elimination with noisy means in a dictionary has no bound",
        ("tests/unit/evidence/test_language.py",),
    ),
    Fault(
        "objects that a draw chooses hold what others do",
        f"{EVIDENCE}/judge/expressions.py",
        '            if kind == "method" and bound and base.level and self.is_method(ref):\n',
        "            if False:\n",
        "one of a thousand objects has another gain, and a method that reads it is followed",
        ("tests/unit/evidence/test_language.py",),
    ),
    Fault(
        "of many objects all hold the same",
        f"{EVIDENCE}/judge/marks.py",
        "        level = STEEP if base.level else PUBLIC\n",
        "        level = PUBLIC\n",
        "one of a thousand objects, made in a loop, has another gain",
        ("tests/unit/evidence/test_judge_values.py::test_an_attribute_of_an_object_that_a_draw_chooses",),
    ),
    Fault(
        "attributes are the call's own",
        f"{EVIDENCE}/judge/statements.py",
        "        own = isinstance(target, ast.Name) and self.is_own(target.id)\n",
        "        own = True\n",
        "what a method sets only where a draw calls it counts as set in every run",
        ("tests/unit/evidence/test_language.py",),
    ),
    Fault(
        "entries at drawn places are like any other",
        f"{EVIDENCE}/judge/places.py",
        "            apart = outer.unlike > PUBLIC and max(outer.unlike, at.level) >= STEEP\n",
        "            apart = False\n",
        "of a list of noisy numbers one, which has no noise, is taken once in a thousand runs",
        ("tests/unit/evidence/test_language.py",),
    ),
    Fault(
        "noise out of a table is taken once",
        f"{EVIDENCE}/judge/places.py",
        "            apart = apart or (table.noisy and not table.raw)  # it may be taken twice\n",
        "",
        "once in a thousand runs two sums get the same entries of two tables of noise",
        ("tests/unit/evidence/test_language.py::test_a_rare_pick_ends_the_bound_or_is_paid_for",),
    ),
    Fault(
        "nothing comes through a choice again",
        f"{EVIDENCE}/judge/chances.py",
        "        again = site in value.passed and self.repeated()\n",
        "        again = False\n",
        "a function that keeps what it is given by chance may keep it ten times, which no path shows",
        (
            "tests/unit/evidence/test_language.py::test_a_rare_pick_ends_the_bound_or_is_paid_for[path_of_ten_calls]",
        ),
    ),
    Fault(
        "what a call leaves behind is the same each time",
        f"{EVIDENCE}/judge/marks.py",
        "        again = bool(self.turning) if own else self.repeated()\n",
        "        again = bool(self.turning)\n",
        "one of hundreds of weights is large by what changed while they were made, and counts as alike",
        ("tests/unit/evidence/test_language.py::test_what_changes_while_a_table_is_made_makes_it_rough",),
    ),
    Fault(
        "a comprehension is no turn",
        f"{EVIDENCE}/judge/marks.py",
        "        again = bool(self.turning) if own else self.repeated()\n",
        "        again = bool(self.loops) if own else self.repeated()\n",
        "one of hundreds of weights is large by what changed while they were made, and counts as alike",
        ("tests/unit/evidence/test_judge_values.py::test_what_a_comprehension_sets_it_sets_in_turns",),
    ),
    Fault(
        "an iterator gives the same each time",
        f"{EVIDENCE}/judge/expressions.py",
        "        another = found.stream and isinstance(node, _KEPT) and self.repeated()\n",
        "        another = False\n",
        "one of hundreds of weights is large by what changed while they were made, and counts as alike",
        ("tests/unit/evidence/test_language.py::test_what_changes_while_a_table_is_made_makes_it_rough",),
    ),
    Fault(
        "adapters ask each method once",
        f"{EVIDENCE}/judge/marks.py",
        "                        self.repeats.add(node)\n",
        "                        pass\n",
        "a counter that a bandit keeps in an attribute is the same in each round",
        ("tests/unit/evidence/test_language.py::test_methods_of_each_round_find_what_others_left",),
    ),
    Fault(
        "libraries leave public entries alike",
        f"{EVIDENCE}/judge/calls.py",
        "max(unlike, returned.rough) if kept else STEEP",
        "max(unlike, returned.rough)",
        "one of hundreds of public weights is large, and counts as like any other",
        ("tests/unit/evidence/test_language.py::test_what_changes_while_a_table_is_made_makes_it_rough",),
    ),
    Fault(
        "the rest begins like any other",
        f"{EVIDENCE}/judge/expressions.py",
        "min(at.level, SMOOTH), unlike if at.level else PUBLIC)",
        "min(at.level, SMOOTH))",
        "one of hundreds of public weights is large, and counts as like any other",
        ("tests/unit/evidence/test_language.py::test_what_changes_while_a_table_is_made_makes_it_rough",),
    ),
    Fault(
        "what is put into a table is like the rest",
        f"{EVIDENCE}/judge/calls.py",
        "there = root.key in self.begun and not every.level",
        "there = False",
        "one of hundreds of public weights is large, and counts as like any other",
        ("tests/unit/evidence/test_language.py::test_what_changes_while_a_table_is_made_makes_it_rough",),
    ),
    Fault(
        "characters are alike",
        f"{EVIDENCE}/judge/values.py",
        "        return STEEP if RECORD in self.own or TEXT in self.own else self.rough\n",
        "        return STEEP if RECORD in self.own else self.rough\n",
        "one of hundreds of public weights is large, and counts as like any other",
        ("tests/unit/evidence/test_judge_values.py::test_the_characters_of_a_text_may_differ",),
    ),
    Fault(
        "many draws set weights",
        f"{EVIDENCE}/judge/values.py",
        "return self.level > PUBLIC or self.draws > 0",
        "return self.level > PUBLIC",
        "a number that draws are in sets a weight where nothing else follows from them",
        ("tests/unit/evidence/test_public_numbers.py",),
    ),
    Fault(
        "what a parameter is given is the same in every call",
        f"{EVIDENCE}/judge/calls.py",
        "max(value.level, self.control.level if value.turn else PUBLIC))",
        "value.level)",
        "a number that calls hand on as readings say sets a weight, once in a hundred thousand runs",
        ("tests/unit/evidence/test_public_numbers.py",),
    ),
    Fault(
        "what is set on some condition is always set",
        f"{EVIDENCE}/judge/flow.py",
        "            found |= names_always_set(step.body) & names_always_set(step.orelse)\n",
        "            found |= names_always_set(step.body) | names_always_set(step.orelse)\n",
        "noise that chance seldom leaves is taken for replaced",
        ("tests/unit/evidence/test_public_numbers.py",),
    ),
    Fault(
        "the last turn of a loop is the same in every run",
        f"{EVIDENCE}/judge/expressions.py",
        "        return any(one in self.left or one in self.uneven for one in behind)\n",
        "        return False\n",
        "where noisy readings end a loop, its last turn sets a weight",
        ("tests/unit/evidence/test_public_numbers.py",),
    ),
    Fault(
        "a rare number of turns may leave noise out",
        f"{EVIDENCE}/judge/loops.py",
        "        return value._replace(partial=True) if seldom else value\n",
        "        return value\n",
        "noise that is set in turns which a rare count leaves out counts as noise in every run",
        ("tests/unit/evidence/test_public_numbers.py",),
    ),
    Fault(
        "the same data may be released in each turn",
        f"{EVIDENCE}/judge/loops.py",
        " if o not in around and name not in self.remade(o)}\n",
        " if not o}\n",
        "a hundred turns that no path sees cost what one does",
        ("tests/unit/evidence/test_public_numbers.py",),
    ),
    Fault(
        "the same data may say in each turn how a draw comes out",
        f"{EVIDENCE}/judge/loops.py",
        "any(one.kept or one.size < size for one in raw)",
        "any(one.size < size for one in raw)",
        "a coin is tossed again as often as draws say, and paths see it once",
        ("tests/unit/evidence/test_public_numbers.py",),
    ),
    Fault(
        "quotients of counts may be told apart",
        f"{EVIDENCE}/judge/expressions.py",
        "every._replace(draws=2 if draws and every.many and exact else draws)",
        "every._replace(draws=draws)",
        "one outcome of many public draws sets a weight of 1000, which no path sees",
        ("tests/unit/evidence/test_language.py::test_what_is_made_of_many_draws_sets_no_weight",),
    ),
    Fault(
        "choices by a key are public",
        f"{EVIDENCE}/judge/calls.py",
        "        if picks:  # what is returned says which\n",
        "        if False:\n",
        "the arm of the largest noisy mean counts as the same in every run",
        ("tests/unit/evidence/test_language.py::test_what_a_key_chooses_follows_what_it_returns",),
    ),
    Fault(
        "chance does not say what stands last",
        f"{EVIDENCE}/judge/places.py",
        "            apart = GROWN in table.passed  # chance says what stands where\n",
        "            apart = False\n",
        "the last entry of a list to which chance adds is seldom the first",
        (
            "tests/unit/evidence/test_language.py::test_a_rare_pick_ends_the_bound_or_is_paid_for[path_to_the_last]",
        ),
    ),
    Fault(
        "picks of people's data never meet",
        f"{EVIDENCE}/judge/places.py",
        "            apart = apart or (table.raw and at.by_chance and not (at.turn or table.turn))\n",
        "",
        "how often an entry is drawn is seldom more than paths show",
        (
            "tests/unit/evidence/test_language.py::test_a_rare_pick_ends_the_bound_or_is_paid_for"
            "[picked_again_and_again]",
        ),
    ),
    Fault(
        "arms have no types",
        "verifiable_dp/targets/plays.py",
        "**discrete, FORM: forms.astype(np.int64)}",
        "**discrete}",
        "an arm is said as a whole number for one reward and as a float for its neighbour",
        ("tests/unit/targets/test_targets.py::test_types_of_arms_are_seen",),
    ),
    Fault(
        "an arm is what int makes of it",
        "verifiable_dp/targets/tables.py",
        "    def _read(self, arm: Foreign) -> tuple[int, int]:\n",
        "    def _read(self, arm: Foreign) -> tuple[int, int]:\n        return int(arm), 0\n",
        "an arm carries data in an attribute or in a fraction",
        ("tests/unit/targets/test_tables.py::test_an_arm_is_a_whole_number_and_no_more",),
    ),
    Fault(
        "refused arms are forgotten",
        "verifiable_dp/targets/adapters.py",
        "        if world.refused is not None:\n",
        "        if False:\n",
        "code that catches our error shows an arm that the audit does not count",
        ("tests/unit/targets/test_tables.py::test_an_arm_is_a_whole_number_and_no_more",),
    ),
    Fault(
        "outputs have no types",
        "verifiable_dp/targets/releases.py",
        "        discrete = {**_whole_codes(values), FORM: forms.astype(np.int64)}\n",
        "        discrete = _whole_codes(values)\n",
        "a list on one data set and a tuple on its neighbour are the same output",
        ("tests/unit/targets/test_targets.py::test_types_and_shapes_are_seen",),
    ),
    Fault(
        "what a library gives shares nothing",
        f"{EVIDENCE}/judge/values.py",
        "    known = leaves_alone(value) and not same(value, SHARES)\n",
        "    known = leaves_alone(value)\n",
        "one of a thousand scales is 0, written through another shape of the table",
        ("tests/unit/evidence/test_judge_views.py",),
    ),
    Fault(
        "libraries write where they are told alone",
        f"{EVIDENCE}/judge/calls.py",
        "parts = [roots for at, _, roots in given.parts if hands or values.writes(value, at)]\n",
        "parts = list[set[Root]]()\n",
        "one of a thousand scales is 0, put there by a function of NumPy's",
        ("tests/unit/evidence/test_judge_views.py",),
    ),
    Fault(
        "only what is steep may set no noise",
        f"{EVIDENCE}/judge/values.py",
        "return self.level > PUBLIC or self.draws > 0",
        "return self.level >= STEEP or self.draws > 0",
        "there is nearly no noise where the distance of other noise from 1 is small",
        ("tests/unit/evidence/test_public_numbers.py",),
    ),
    Fault(
        "more entries cost what few do",
        "verifiable_dp/auditing/traced.py",
        "    for shape in (*shapes, *larger):\n",
        "    for shape in shapes:\n",
        "the noise is for at most five levels of a tree, and a tree of 33 entries has seven",
        ("tests/unit/auditing/test_bounds_of_mechanisms.py::test_more_entries_than_are_asked_for_are_tried",),
    ),
    Fault(
        "what multiplies data is not judged",
        f"{EVIDENCE}/judge/language.py",
        "        found = self._said.arithmetic.get((file, position), [])\n",
        "        found: list[Value] = []\n",
        "sums count five hundred times where a draw says so that comes once in a thousand runs",
        ("tests/unit/evidence/test_language.py",),
    ),
    Fault(
        "generators that code keeps are not looked into",
        "verifiable_dp/auditing/traced.py",
        "if isinstance(known, _Known) and known.asked and known.found is None:",
        "if False:",
        "noise of a generator whose seed stands in the file has a bound",
        ("tests/unit/targets/test_tables.py",),
    ),
    Fault(
        "a kind of others counts like ours",
        f"{RECORD}/conclude.py",
        " and check.form.counts]",
        "]",
        "a check of another package makes an inconclusive audit one that found no violation",
        ("tests/unit/evidence/test_upper.py",),
    ),
    Fault(
        "a package takes our place",
        "verifiable_dp/core/plugins.py",
        "if len(points) > 1:",
        "if False:",
        "a check or a rendering of ours is that of another package of the same name",
        ("tests/unit/evidence/test_upper.py",),
    ),
    Fault(
        "a contradicted theorem has no status",
        f"{RECORD}/decision.py",
        "self.regret_status, _OPEN * bool(self.short)]",
        "_OPEN * bool(self.short)]",
        "a record whose regret is contradicted is judged with status 0",
        ("tests/unit/record/test_records.py",),
    ),
    Fault(
        "what audited nothing has passed",
        f"{RECORD}/decision.py",
        "held = bool(verdicts) and not any(",
        "held = not any(",
        "a record without any verdict is a passed test of in-toto",
        ("tests/unit/record/test_records.py",),
    ),
    Fault(
        "checks of any claim",
        f"{RECORD}/verify.py",
        "            if stated != asked:",
        "            if False:",
        "a bound at another delta, or checks of another epsilon, stand in a record that verify accepts",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "counterexamples of any check",
        f"{RECORD}/verify.py",
        "if example.check not in refuted:",
        "if False:",
        "a counterexample names a check that did not refute",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "exclusions are settled by what they say",
        f"{RECORD}/verify.py",
        "if left.settled_by not in (settled, None):",
        "if False:",
        "an edited record leaves nothing open",
        ("tests/unit/record/test_verdicts.py",),
    ),
    Fault(
        "entries move from bound to bound when they become 0",
        f"{AUDITING}/mechanisms.py",
        "max(high, 0.0), max(-low, high))",
        "max(high, 0.0))",
        "right code is inconclusive under zero-out adjacency",
        ("tests/unit/auditing/test_audits_of_code.py",),
    ),
    Fault(
        "one number becomes 0 from one bound only",
        f"{EVIDENCE}/blackbox/trials.py",
        'if kind == "zero-out" and entries == 1:',
        "if False:",
        "a mechanism that leaks at the farther bound alone has no violation found",
        ("tests/unit/auditing/test_audits_of_code.py",),
    ),
    Fault(
        "a kind without a template has no row",
        f"{RENDER}/templates/checks/any.html.jinja",
        "{{ c | in_words }}",
        "",
        "the page does not say what a check of another package measured",
        ("tests/contract/test_committed_reports.py::test_a_kind_that_no_template_knows_has_a_row_too",),
    ),
    # the survivors of a first draw of fresh faults
    Fault(
        "the upper bound of delta refutes",
        f"{EVIDENCE}/exact/law.py",
        'refuted = float(worst["delta"]) > delta + _ROUNDING',
        'refuted = float(worst["delta_upper"]) > delta + _ROUNDING',
        "a law whose delta lies within the claim is refuted by what was not computed",
        ("tests/unit/edges/test_exact_losses.py",),
    ),
    Fault(
        "all shares must be those of uniform play",
        f"{EVIDENCE}/regret/scaling.py",
        "idle = any(share >= SATURATED for",
        "idle = all(share >= SATURATED for",
        "an algorithm that has not begun to act at one horizon is contradicted",
        ("tests/unit/edges/test_regret_rates.py",),
    ),
    Fault(
        "one limit within the margin will do",
        f"{EVIDENCE}/regret/scaling.py",
        "inside = (at_most or claimed - margin <= low) and high <= claimed + margin",
        "inside = (at_most or claimed - margin <= low) or high <= claimed + margin",
        "limits [.449, .469] are consistent with .5 and a margin of .05",
        ("tests/unit/edges/test_regret_rates.py",),
    ),
    Fault(
        "releases need not be linear",
        f"{EVIDENCE}/forced_runs.py",
        "if not np.all((most <= least * (1 + 1e-6)) | (most == least)):",
        "if False:",
        "a certificate is given to an algorithm whose cost at half the change is not half the cost",
        ("tests/unit/edges/test_certificates.py",),
    ),
    Fault(
        "a truncated reward counts as the nearest that is kept",
        f"{EVIDENCE}/forced_runs.py",
        "outside = (below < -ask.limit) | (above > ask.limit)",
        "outside = np.zeros(shape, bool)",
        "a reward that counts as 0 moves a sum by more than its certificate says",
        ("tests/unit/edges/test_certificates.py",),
    ),
    Fault(
        "whatever is not contradicted passes a check of regret",
        f"{RECORD}/passing.py",
        'return verdict != "contradicted" if expected is None else verdict == expected',
        'return verdict != "contradicted"',
        "a test passes whose claim is inconclusive or vacuous",
        ("tests/unit/edges/test_plugin.py",),
    ),
    Fault(
        "no seed of the command line for checks of regret",
        "verifiable_dp/pytest_plugin.py",
        'options |= _overridden(request, "seed")\n',
        "options |= _overridden(request)\n",
        "--dp-seed is ignored",
        ("tests/unit/edges/test_plugin.py",),
    ),
    Fault(
        "missed variants have no status",
        f"{RECORD}/passing.py",
        'if found.faults or found.regret == "contradicted":',
        'if found.regret == "contradicted":',
        "audits that missed a broken variant end with status 0",
        ("tests/unit/edges/test_decisions.py",),
    ),
    Fault(
        "nothing of the level is kept for few hits",
        f"{EVIDENCE}/blackbox/statistics.py",
        "level /= 1.05 if hits <= _FEW else 1.0",
        "level /= 1.0 if hits <= _FEW else 1.0",
        "a limit lies above claims whose p-value falls again",
        ("tests/unit/edges/test_counts.py",),
    ),
    Fault(
        "a limit is the point that is not refuted",
        f"{EVIDENCE}/blackbox/statistics.py",
        "            return before\n",
        "            return x\n",
        "a lower bound is a claim that the test does not refute",
        ("tests/unit/edges/test_counts.py",),
    ),
    Fault(
        "half the bonus of LDP-UCB",
        "algorithms/ldp_ucb.py",
        "np.sqrt(2 * log / state.pulls) + reports",
        "np.sqrt(2 * log / state.pulls) + reports / 2",
        "the width is not that of the paper",
        ("tests/contract/test_claimed_widths.py",),
    ),
    Fault(
        "lemma 3 is claimed of one arm",
        "auditors/dp_robust_ucb.py",
        "        2 * BETA,\n",
        "        BETA,\n",
        "two arms are held to the chance of one",
        ("tests/contract/test_claimed_widths.py",),
    ),
    Fault(
        "a sum of reports costs what one does",
        "verifiable_dp/core/tapes.py",
        'loss = np.where(rows["summed"][noisy] > 0, np.abs(moved[noisy]) / scale, loss)',
        "pass",
        "the loss of a sum is that of a release whose noise is seen",
        ("tests/unit/core/test_populations.py",),
    ),
    Fault(
        "power forgets the rounds before",
        f"{EVIDENCE}/blackbox/sequential.py",
        "earlier = (len(rounds_of(plan)) - 1) * math.log(CASH)",
        "earlier = 0.0",
        "a sequential test is said to detect what it would with all its wealth",
        ("tests/unit/edges/test_bets.py",),
    ),
    Fault(
        "a seeded generator is cryptographic",
        "verifiable_dp/compliance/blocks.py",
        '"cryptographic_rng": False if known else None,',
        '"cryptographic_rng": True if known else None,',
        "a reviewer is told that the audited noise could not be predicted",
        ("tests/unit/compliance/test_nist.py",),
    ),
    Fault(
        "a table has columns for arms only",
        "verifiable_dp/auditing/traced.py",
        "columns = inputs.form.width if inputs.form is not None else inputs.n_arms or 0",
        "columns = inputs.n_arms or 0",
        "an audit with contexts ends where a number of a context costs most",
        ("tests/unit/targets/test_far.py",),
    ),
    Fault(
        "data without a generator are rewards",
        "verifiable_dp/targets/load.py",
        'return "release_one" if data == "data" else "play"',
        'return "release_one" if data == "data" and len(names) == 2 else "play"',
        "a mechanism that draws from a generator of its own is called as a bandit",
        ("tests/unit/targets/test_targets.py",),
    ),
    Fault(
        "a reward may move an item by any amount",
        f"{EVIDENCE}/normal.py",
        "return bool((ends[0] + ends[1]).max() <= most * (1 + TOLERANCE))",
        "return True",
        "where contexts are public, a bound on rewards holds for contexts that are not clipped",
        ("tests/unit/evidence/test_normal.py",),
    ),
    Fault(
        "rewards that are lost are waiting",
        f"{EVIDENCE}/normal.py",
        "all(found[: last + 1])",
        "True",
        "a bound on rewards stands although no release was seen that holds some of them",
        ("tests/unit/evidence/test_normal.py",),
    ),
    Fault(
        "regret may grow as little as it likes",
        "auditors/studies/_rates.py",
        "for a, b in (ends, ends[::-1])",
        "for a, b in (ends[::-1],)",
        "a rate that is a whole power too low passes where few points leave a wide fit",
        ("tests/contract/test_beyond.py",),
    ),
    Fault(
        "half the width in the bound of rare releases",
        "auditors/contextual/adac_oful.py",
        "steady = 2 * math.sqrt(2) * radius",
        "steady = math.sqrt(2) * radius",
        "the bound on regret is one that its argument does not give",
        ("tests/contract/test_claimed_numbers.py",),
    ),
    Fault(
        "what we measure is beside what restates a theorem",
        "verifiable_dp/campaign/papers.py",
        "(basis not in _OURS and item.about & named)",
        "(item.about & named)",
        "a remark on a theorem seems to be borne out by rates that the theorem does not state",
        ("tests/contract/test_papers.py::test_what_is_ours_says_so_and_joins_only_its_own_item",),
    ),
    Fault(
        "objects of git are what they are called",
        f"{RECORD}/provenance.py",
        "if _named(kind, content, name) != name:",
        "if not content:",
        "a repository holds another file under an honest commit",
        ("tests/unit/campaign/test_origin.py::test_objects_of_a_commit_are_what_their_names_say",),
    ),
    Fault(
        "whoever made a record vouches for it",
        "verifiable_dp/campaign/run.py",
        "return remembered.recall(path) == digest.encode()",
        'return digest != ""',
        "a resumed campaign keeps records that came with the code",
        ("tests/unit/campaign/test_campaign_file.py::test_resume_takes_no_records_that_came_with_the_code",),
    ),
    Fault(
        "files that are read need not be those of the commit",
        f"{RECORD}/provenance.py",
        "known |= read_of(opened or {})",
        "opened = None",
        "a record of other noise, which is read from a file, passes for a commit",
        ("tests/unit/campaign/test_origin.py::test_what_the_code_reads_is_compared",),
    ),
    Fault(
        "files beside those that a command runs need not be those of the commit",
        f"{RECORD}/provenance.py",
        "    known |= whole\n",
        "",
        "a program that reads other noise from a file passes for a commit",
        ("tests/unit/campaign/test_origin.py::test_all_that_git_tracks_is_compared_of_a_command",),
    ),
    Fault(
        "a command runs in the process that asks",
        "verifiable_dp/api/isolation.py",
        " or isinstance(code, Exec)",
        "",
        "a program that writes beside its code, and reaches the network, does so during an audit in a cage",
        ("tests/e2e/test_foreign_commands.py::test_a_command_runs_in_a_cage",),
    ),
    Fault(
        "other seeds are not tried in fresh starts",
        "verifiable_dp/auditing/conducted.py",
        "if far.command and found_here and",
        "if not far.command and found_here and",
        "a program passes whose noise is the same for each request, so that everybody knows it",
        ("tests/e2e/test_foreign_commands.py::test_runs_of_a_command_are_repeated_in_fresh_starts",),
    ),
    Fault(
        "what is below .git need not be known",
        "verifiable_dp/targets/opened.py",
        "if found.get(name, ABSENT) == ABSENT:",
        'if found.get(name, ABSENT) == ABSENT and not name.startswith(".git/"):',
        "a record of noise that a file below .git sets passes for a commit",
        ("tests/unit/targets/test_opened.py::test_what_a_folder_is_called_hides_nothing",),
    ),
    Fault(
        "what we read for the code is read for us",
        "verifiable_dp/targets/opened.py",
        "if not ours and not paths.of_python(file):\n            return False",
        "if ours or not paths.of_python(file):\n            return ours",
        "a function of ours reads a file for the code, which no commit is compared with",
        ("tests/unit/targets/test_opened.py::test_what_code_has_us_read_is_heard",),
    ),
    Fault(
        "code is what it calls itself",
        "verifiable_dp/targets/opened.py",
        " and all(code in _written(code.co_filename) for code in codes)",
        "",
        "what code reads that is compiled under a name of Python's is compared with no commit",
        ("tests/unit/targets/test_opened.py::test_what_code_calls_itself_hides_nothing",),
    ),
    Fault(
        "what a cage refuses says nothing",
        "verifiable_dp/targets/opened.py",
        "if barred and _by_code(frame):",
        "if not barred and _by_code(frame):",
        "code takes other noise where a cage refuses it a lock, and is acquitted with that",
        ("tests/unit/targets/test_opened.py::test_what_a_cage_refuses_is_noted",),
    ),
    Fault(
        "a repository begins where we are",
        "verifiable_dp/core/paths.py",
        "return {_top(folder) for folder in (os.path.realpath(os.curdir), *named)}",
        "return {os.path.realpath(os.curdir), *named}",
        "a module of the repository judges its code, from a folder beside the current one",
        ("tests/unit/core/test_paths.py::test_nothing_of_the_repository_is_on_the_path",),
    ),
    Fault(
        "what a record says of the suite is what the table says",
        "verifiable_dp/record/kills.py",
        'if difference := first_difference(stated.as_dict(), expected, "kill_table"):',
        "if difference := first_difference(stated.as_dict(), stated.as_dict()):",
        "undecided variants that an editor moved to caught, under a new digest, pass verify --rerun",
        ("tests/unit/record/test_suite_of_variants.py",),
    ),
    Fault(
        "regret at any epsilon is regret at the promised one",
        "verifiable_dp/render/parameters.py",
        'found = [one for one in differing(record) if one.private and one.name != "delta"]',
        "found = []",
        "the first screen has regret at epsilon 50 under a promise of 1",
        ("tests/unit/render/test_card.py::test_regret_at_another_epsilon_is_on_the_first_screen",),
    ),
    Fault(
        "bounds that were chosen to fit count as derived",
        "verifiable_dp/render/regrets.py",
        "chosen = claim is not None and claim.source.basis == Basis.CHOSEN",
        "chosen = False",
        "a check that no theorem stands behind is counted among those that agree with derivations",
        (
            "tests/unit/render/test_card.py::test_lemmas_and_bounds_that_were_chosen_to_fit_are_no_checks_of_regret",
        ),
    ),
    Fault(
        "what objects refer to is not looked at",
        "verifiable_dp/evidence/symbolic/states.py",
        "    return _reduced(value) + [one for one in gc.get_referents(value) if not isinstance(one, type)]",
        "    return _reduced(value)",
        "state behind a bound method or a proxy is not seen, and code that counts its runs has a bound",
        ("tests/unit/evidence/test_what_outlives_runs.py::test_state_is_seen_wherever_it_is_held",),
    ),
    Fault(
        "what the first run leaves is a table",
        "verifiable_dp/evidence/symbolic/paths.py",
        "        if left and not wrong:",
        "        if left and wrong:",
        "a program that shows what its first run has kept of its data has a bound",
        (
            "tests/unit/evidence/test_what_outlives_runs.py::test_what_only_the_first_run_leaves_ends_the_bound",
        ),
    ),
    Fault(
        "all processes begin with what is to come out again",
        "verifiable_dp/targets/heard.py",
        "            replace(self.sample, pair=pair, runs=self.sample.runs[:1]).again()",
        "            del pair",
        "what the first run of a process keeps of its data may show in no repeated run",
        ("tests/unit/targets/test_adapters.py::test_a_process_begins_with_other_data",),
    ),
    Fault(
        "what another thread reads is read for us",
        "verifiable_dp/targets/opened.py",
        "return frame is not None and all(",
        "return all(",
        "a file that a pool's thread reads is compared with no commit",
        ("tests/unit/targets/test_opened.py::test_what_another_thread_reads_is_heard",),
    ),
    Fault(
        "numbers of others' classes are plain",
        "verifiable_dp/evidence/doors.py",
        "    if type(value) in _PLAIN or id(value) in seen:",
        "    if isinstance(value, np.generic) or type(value) in _PLAIN or id(value) in seen:",
        "an instance whose epsilon computes as it likes is certified",
        ("tests/unit/evidence/test_upper.py::test_code_of_others_is_known_by_its_objects",),
    ),
    Fault(
        "what raw data decide in a mechanism is left to samples",
        "verifiable_dp/auditing/traced.py",
        "            hidden = (branches and unsettled(program, found)) or found.failure.words == SETS_SCALE",
        "            hidden = False",
        "a mechanism that skips its noise for rare data is not refuted",
        (
            "tests/unit/auditing/test_bounds_of_mechanisms.py::test_what_raw_data_decide_is_not_acquitted_by_samples",
        ),
    ),
    Fault(
        "instances are compared as if nobody looked at their fields",
        "verifiable_dp/evidence/judge/marks.py",
        "        if any(self.names.has_generated_equality(kind) for kind in made):",
        "        if made is None:",
        "an instance made of draws is a key of a public table, with no noise for one of them",
        (
            "tests/unit/evidence/test_language.py::test_what_a_draw_decides_without_a_branch_has_no_bound[leak_key_of_two_draws]",
        ),
    ),
    Fault(
        "what generated constructors call is not asked",
        "verifiable_dp/evidence/symbolic/calls.py",
        "    for called in _called_by_generated(function):",
        "    for called in ():",
        "a dataclass draws a coin, or reads the clock, that no bound knows of",
        ("tests/unit/evidence/test_what_outlives_runs.py::test_what_a_generated_constructor_calls_is_asked",),
    ),
    Fault(
        "functions of the code are not heard",
        "verifiable_dp/core/asked.py",
        "            _Heard.running.setdefault(place, {})[id(code)] = code\n",
        "            pass\n",
        "a property may read the environment while a file is imported",
        (f"{_HEARD}[a descriptor]",),
    ),
    Fault(
        "files that are opened are not heard",
        "verifiable_dp/core/asked.py",
        "            _note(theirs, OPENED, OPENED)\n",
        "            pass\n",
        "settings in a file beside the code end its bound",
        (f"{_OWN_FILES}[a file beside it, in one statement]",),
    ),
    Fault(
        "all of a statement that opens a file is a place",
        "verifiable_dp/evidence/judge/libraries.py",
        "placing=one in _places(known)",
        "placing=True",
        "a condition on the folder of a process counts as settled beside a file that is read",
        (f"{_HEARD}[where a link leads, beside a file]",),
    ),
    Fault(
        "an attribute is settled wherever it was set",
        "verifiable_dp/evidence/judge/imports.py",
        "return not any(attribute in one.attributes for one in self.others.values()) and not any(drawn)",
        "return not any(drawn)",
        "what the environment says is read as an attribute of a class",
        (f"{_TAKEN}[an attribute by its name]",),
    ),
    Fault(
        "loops give no other name",
        "verifiable_dp/evidence/judge/idle.py",
        "    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):\n",
        "    elif isinstance(node, ast.comprehension):\n",
        "an idle function changes each part of a table in a loop",
        (f"{_SWITCHED}[each of them]",),
    ),
    Fault(
        "what an idle function returns is new",
        "verifiable_dp/evidence/judge/idle.py",
        "        return (gives - {GIVEN}) | (made if GIVEN in gives else set()) | kept\n",
        "        return kept\n",
        "a function that gives a global hides that it is changed",
        (f"{_SWITCHED}[what a function returns]",),
    ),
    Fault(
        "code that ran changes no attributes",
        "verifiable_dp/evidence/judge/changes.py",
        "                    self.attributes |= {*_stored_in(body)}\n",
        "                    pass\n",
        "a class method sets an attribute by the environment",
        (f"{_TAKEN}[a table of a class]",),
    ),
    Fault(
        "the state of a generator is a method",
        "verifiable_dp/evidence/judge/values.py",
        '    return Value(own=frozenset((("draws", name),))) if drawing else UNKNOWN\n',
        '    return Value(own=frozenset((("draws", name),)))\n',
        "a number from a seed scales the noise",
        (
            "tests/unit/evidence/test_language.py::test_what_a_draw_decides_without_a_branch_has_no_bound[number_of_a_seed]",
        ),
    ),
)


# ---------------------------------------------------------------- trying them


def _pytest(tree: Path, tests: Iterable[str], cache: Path) -> tuple[int, str]:
    """Exit status of the tests in a tree, and what pytest printed."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree),  # before the package that is installed
        "NUMBA_CACHE_DIR": str(cache),
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=_HUNG, check=False
        )
    except subprocess.TimeoutExpired:
        return 1, f"FAILED no end after {_HUNG:.0f} s"
    return done.returncode, done.stdout + done.stderr


def _copy(folder: Path) -> Path:
    """A copy of the tree without what was compiled."""
    tree = folder / "tree"
    tree.mkdir(parents=True)
    for name in _COPIED:
        source, leave = ROOT / name, shutil.ignore_patterns("__pycache__", ".*cache")
        if source.is_dir():
            shutil.copytree(source, tree / name, symlinks=True, ignore=leave)
        else:
            shutil.copy2(source, tree / name)
    return tree


def _caught_by(status: int, printed: str, fault: Fault) -> str:
    """The test that failed, from what pytest printed; empty if all passed.

    Raises
    ------
    RuntimeError
        If they did not run.
    """
    if status == 0:
        return ""
    found = _FIRST.search(printed)
    if not found:  # nothing ran, or the process itself failed
        raise RuntimeError(f"fault {fault.name}: the tests do not run:\n{printed[-2000:]}")
    return found[1]


def _tried(fault: Fault, tree: Path, cache: Path) -> Outcome:
    """Apply a fault to a copy, run its tests, and take it back."""
    path, started = tree / fault.file, time.monotonic()
    text, before = path.read_text(), path.stat()
    path.write_text(fault.edited(text))
    # What was compiled is known by size and second of its source: each fault has a second of its own.
    later = before.st_mtime_ns + (1 + FAULTS.index(fault)) * 10**9
    os.utime(path, ns=(later, later))
    # A compiled function is kept by its own file: those that call it would go on with the old one.
    compiled = "njit" in text
    own = Path(tempfile.mkdtemp(prefix="numba-", dir=tree.parent)) if compiled else cache
    try:
        status, printed = _pytest(tree, fault.tests, own)
    finally:
        path.write_text(text)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        if compiled:
            shutil.rmtree(own)
    return Outcome(fault, _caught_by(status, printed, fault), time.monotonic() - started)


def tried(faults: Sequence[Fault], workers: int = 1) -> Iterator[Outcome]:
    """Outcomes of faults, in their order.

    Raises
    ------
    RuntimeError
        If their tests do not pass without a fault.
    """
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        trees: queue.Queue[Path] = queue.Queue()
        for number in range(workers):
            trees.put(_copy(Path(folder, str(number))))

        def attempt(fault: Fault) -> Outcome:
            tree = trees.get()
            try:
                return _tried(fault, tree, tree.parent / "numba")
            finally:
                trees.put(tree)

        tree = trees.get()
        status, printed = _pytest(tree, sorted({t for f in faults for t in f.tests}), tree.parent / "numba")
        trees.put(tree)
        if status != 0:
            raise RuntimeError(f"the tests do not pass without a fault:\n{printed[-3000:]}")
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(attempt, faults)


def table(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as a page of Markdown."""
    caught = sum(bool(outcome.caught_by) for outcome in outcomes)
    lines = [
        "# Seeded faults",
        "",
        "Written by `make faults` (`tests/faults.py`): each fault was applied to a copy of the source, and",
        "the tests of the fast suite that are meant to notice it were run.",
        "",
        f"Caught: {caught} of {len(outcomes)}.",
        "",
        "| fault | file | what it breaks | caught by | s |",
        "|---|---|---|---|---:|",
    ]
    for outcome in outcomes:
        fault, by = outcome.fault, outcome.caught_by
        test = f"`{by.removeprefix('tests/')}`" if by else "**survived**"
        cells = (fault.name, f"`{fault.file}`", fault.breaks, test.replace("|", "\\|"))
        lines.append(f"| {' | '.join(cells)} | {outcome.seconds:.0f} |")
    return "\n".join(lines) + "\n"


def main(names: Sequence[str]) -> int:
    """Try the faults of these names, or all, and write the table; 1 if too few are caught."""
    unknown = set(names) - {fault.name for fault in FAULTS}
    if unknown:
        print(f"unknown: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    some = [fault for fault in FAULTS if not names or fault.name in names]
    outcomes = []
    for outcome in tried(some, workers=os.cpu_count() or 1):
        outcomes.append(outcome)
        said = outcome.caught_by or "SURVIVED"
        print(
            f"{len(outcomes)}/{len(some)}  {outcome.fault.name}: {said} ({outcome.seconds:.0f} s)", flush=True
        )
    if not names:
        TABLE.write_text(table(outcomes))
    caught = sum(bool(outcome.caught_by) for outcome in outcomes)
    print(f"caught {caught} of {len(outcomes)}")
    return 0 if caught >= LEAST * len(outcomes) else 1


def command(arguments: Sequence[str]) -> int:
    """Try the listed faults, those of judges, or fresh ones."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("names", nargs="*", help="faults of the list; all if none is given")
    parser.add_argument("--judges", nargs="?", type=int, const=0, metavar="N", help="all, or a sample of N")
    parser.add_argument("--fresh", type=int, metavar="N", help="how many are drawn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=float, default=fresh_faults.MOST, help="seconds for each fresh fault")
    given = parser.parse_args(arguments)
    if given.judges is not None:
        return judges.main(given.judges or None, given.seed)
    if given.fresh is not None:
        return fresh_faults.main(given.fresh, given.seed, given.most)
    return main(given.names)


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
