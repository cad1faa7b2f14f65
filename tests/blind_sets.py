"""Audits of programs that were written blind, held against the verdicts that were recorded of them.

python -m tests.blind_sets                  audits `BY_DAY` at smoke; writes statistical/blind_smoke.csv
python -m tests.blind_sets FRACTION [SET]   audits a share of all sets, or of one, at quick; prints changes
"""

import csv
import random
import re
import sys
import tempfile
from pathlib import Path

from benchmarks import blind
from tests.commands import finished

SMOKE = Path(__file__).parent / "statistical" / "blind_smoke.csv"
QUICK = Path(__file__).parent / "statistical" / "blind_quick.csv"
SEED = 0  # another one draws another tenth
# Different constructs; those with the least CPU seconds at smoke of 60 that were timed.
BY_DAY = (
    ("blind8", "right/r37_half_sample_total.py"),
    ("blind4", "right/r19_rejection_mean.py"),
    ("blind5", "right/r19_median_cut.py"),
    ("blind2", "right/r32_logistic_sign.py"),
    ("blind2", "right/r14_sparse_vector.py"),
    ("blind2", "right/r07_permute_flip_cup.py"),
    ("blind6", "right/r19_sampled_sums.py"),
    ("blind5", "right/r33_rejects.py"),
    ("blind6", "right/r33_cdf_draw.py"),
    ("blind_research", "b40_simulation_inside.py"),
    ("blind11", "right/r26_seasonal_commit.py"),
    ("blind11", "right/r15_local_bit_ucb.py"),
    ("blind8", "leaks/l36_bisect_median.py"),
    ("blind2", "leak/l01_shared_noise.py"),
    ("blind8", "leaks/l33_common_noise.py"),
    ("blind10", "leaks/l08_inverse_sampling.py"),
    ("blind_contexts", "leak/k01_own_round_in_clear.py"),
    ("blind9", "leaks/l15_fresh_noise.py"),
    ("blind11", "leaks/l30_three_rulings.py"),
    ("blind4", "leaks/l12_block_monitor.py"),
    ("blind13", "leaks/l36_race.py"),
    ("blind", "leak/32_doubling_all_data.py"),
    ("blind10", "leaks/l34_exp_median.py"),
    ("blind2", "leak/l12_importance_weights.py"),
)
# From worst to best; what is refused says nothing of privacy, and an internal error is a fault of ours.
_ORDER = {
    "right": ("internal error", "refuted", "refused", "inconclusive", "not_refuted"),
    "leak": ("internal error", "not_refuted", "refused", "inconclusive", "refuted"),
}
_VERDICTS = {"0": "not_refuted", "1": "refuted", "2": "refused", "3": "inconclusive", "70": "internal error"}
_BOUND = re.compile(r" epsilon in \[\S+, (\S+)\] on (?:\d+ paths|every path)")
COLUMNS = ("set", "file", "truth", "exit_status", "answer")


def rows_of(names):
    """Rows of the index by set and file, in the order given."""
    index = {(row["set"], row["file"]): row for row in blind.rows()}
    return [index[name] for name in names]


def drawn(name, fraction=0.1, seed=SEED):
    """Rows of a share of a set, one right program and one leak at least; the same for the same seed."""
    chance = random.Random(f"{seed} {name}")
    found = []
    for truth in ("right", "leak"):
        rows = [row for row in blind.rows(name) if row["truth"] == truth]
        found += chance.sample(rows, min(len(rows), max(1, round(fraction * len(rows)))))
    return found


def audited(row, folder, budget):
    """A row of results, made by the command line with seed 0; its answer lacks the name of the target."""
    options = (*blind.options(row), "--budget", budget)
    done = finished(folder, "audit", f"{row['file']}:{row['target']}", *options)
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines() or [""]
    answer = re.sub(r"^target \S+\s+", "", lines[0])
    values = (row["set"], row["file"], row["truth"], str(done.returncode), answer)
    return dict(zip(COLUMNS, values, strict=True))


def audits(rows, place, budget):
    """Results of programs, each audited in the unpacked folder of its set."""
    for row in rows:
        folder = Path(place, row["set"])
        yield audited(row, folder if folder.exists() else blind.unpack(row["set"], place), budget)


def recorded(*tables):
    """Results by set and file; later tables replace what earlier ones say."""
    return {(row["set"], row["file"]): row for table in tables for row in blind.rows(table=table)}


def verdict(result):
    """The verdict of a row of results."""
    return _VERDICTS.get(result["exit_status"], "internal error")


def _bounded(result, claim):
    """Whether an upper bound lies within the claim; it is shown rounded."""
    bound = _BOUND.search(f" {result['answer']}")
    return bound is not None and float(bound[1]) <= claim * 1.001


def complaints(old, new, claim):
    """What is wrong with a result: by itself, and beside the one that was recorded.

    A right program must not be refuted and a leak not acquitted, unless that is what was recorded; of a leak
    no upper bound may lie within the claim, whatever was recorded.
    """
    truth, before, after = new["truth"], verdict(old), verdict(new)
    order, found = _ORDER[truth], []
    if truth != old["truth"]:
        found.append(f"recorded as {old['truth']}, and the index says {truth}")
    if after == "internal error":
        found.append("internal error")
    if order.index(after) == 1 and before != after:
        found.append("right program refuted" if truth == "right" else "leak acquitted")
    elif order.index(after) < order.index(before):
        found.append(f"worse than recorded: {before}")
    if truth == "leak" and _bounded(new, claim):
        found.append("upper bound of a leak within its claim")
    if truth == "right" and _bounded(old, claim) and not _bounded(new, claim) and before == after:
        found.append("upper bound within the claim lost")
    return found


def table(old, results):
    """Lines that list every verdict that changed and every complaint, and the complaints alone."""
    lines, wrong = [], []
    claims = {(row["set"], row["file"]): float(row["epsilon"]) for row in blind.rows()}
    for new in results:
        name = new["set"], new["file"]
        said = complaints(old[name], new, claims[name])
        if said or verdict(old[name]) != verdict(new):
            lines.append(
                f"{'/'.join(name):<48} {new['truth']:<6} {verdict(old[name]):<13} -> {verdict(new):<13} "
                f"{'; '.join(said) or 'better'}\n    {new['answer']}"
            )
        wrong += said
    return lines, wrong


def main():
    with tempfile.TemporaryDirectory() as place:
        if len(sys.argv) == 1:
            with open(SMOKE, "w", encoding="utf-8", newline="") as file:
                out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                out.writeheader()
                out.writerows(audits(rows_of(BY_DAY), place, "smoke"))
            return
        known = recorded(blind.MEASURED, QUICK)
        for name in sys.argv[2:] or blind.digests():
            for new in audits(drawn(name, float(sys.argv[1])), place, "quick"):
                print(*table(known, [new])[0] or [f"same: {name}/{new['file']}"], sep="\n", flush=True)


if __name__ == "__main__":
    main()
