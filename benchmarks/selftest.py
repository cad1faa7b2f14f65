"""The selftest over many seeds: bounds beside the best event's and others', time, memory, false alarms.

    python benchmarks/selftest.py --seeds 20
    python benchmarks/selftest.py --seeds 1000 --correct     (hours: the level of a refutation is 1e-6)

Medians over the seeds. `others` are figures of published testers on the same control and pair, with the
number of draws they took where it is not about 2 * 10^6 in total.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scipy import stats

from verifiable_dp.controls import Control, ControlOutcome, controls, plan_of, run

OTHERS = {
    "laplace": (0.993, "jax_privacy"),
    "laplace-half": (1.999, "DP-Sniper, 6M"),
    "histogram": (0.988, "Delta-Siege"),
    "histogram-half": (1.985, "Delta-Siege"),
    "histogram-claim": (1.985, "Delta-Siege"),
    "noisy-max-laplace": (0.972, "Delta-Siege"),
    "noisy-max-exponential": (0.986, "DP-Sniper"),
    "noisy-max-laplace-value": (2.439, "jax_privacy"),
    "noisy-max-exponential-value": (6.99, "jax_privacy"),
    "sparse-vector-1": (0.874, "best of five"),
    "sparse-vector-2": (0.889, "best of five"),
    "sparse-vector-3": (2.06, "best of five"),
    "sparse-vector-4": (1.656, "best of five"),
    "sparse-vector-5": (9.86, "best of five"),
    "sparse-vector-6": (3.40, "best of five"),
}


def row(control: Control, outcomes: Sequence[ControlOutcome]) -> dict[str, Any]:
    """What the audits of one control gave, over the seeds."""
    middle = {
        name: statistics.median(getattr(o, name) for o in outcomes)
        for name in ("bound", "efficiency", "cpu_seconds")
    }
    refuted = sum(o.verdict == "refuted" for o in outcomes)
    return {
        "control": control.name,
        "truth": control.truth if math.isfinite(control.truth) else "inf",
        "best": outcomes[0].best,
        **middle,
        "others": OTHERS.get(control.name, (None, ""))[0],
        "refuted": refuted,
        "audits": len(outcomes),
        "expected": control.expected,
        "above_truth": sum(o.bound > control.truth for o in outcomes),
        "most_cpu_seconds": max(o.cpu_seconds for o in outcomes),
    }


def line(found: dict[str, Any]) -> str:
    """To print."""
    other, by = OTHERS.get(found["control"], (None, ""))
    beside = f"{other:>7.3f} ({found['bound'] / other:.3f}, {by})" if other else ""
    return (
        f"{found['control']:<28}{float(found['truth']):>8.4f}{found['best']:>9.4f}{found['bound']:>9.4f}"
        f"{found['efficiency']:>7.3f}{found['cpu_seconds']:>6.2f}{found['refuted']:>7}/{found['audits']:<6}"
        f"{found['above_truth']:>6}  {beside}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--budget", default="quick")
    parser.add_argument("--correct", action="store_true", help="only controls that keep their claim")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    plan, rows = plan_of(given.budget), []
    chosen = [
        c
        for c in controls()
        if (not given.only or c.name in given.only) and (not given.correct or c.expected == "not_refuted")
    ]
    for control in chosen:
        run(control, plan_of(0.02))  # imports and compiles
    print(
        f"{'control':<28}{'truth':>8}{'best':>9}{'bound':>9}{'ratio':>7}{'CPU':>6}{'refuted':>10}"
        f"{'above truth':>14}  others (ours over theirs)"
    )
    for control in chosen:
        seeds = range(given.first, given.first + given.seeds)
        rows.append(row(control, [run(control, plan, seed=seed) for seed in seeds]))
        print(line(rows[-1]), flush=True)
    null = [r for r in rows if r["expected"] == "not_refuted"]
    alarms, audits = sum(r["refuted"] for r in null), sum(r["audits"] for r in null)
    if audits:
        high = stats.binomtest(alarms, audits).proportion_ci(0.95).high
        print(
            f"false alarms: {alarms} of {audits} audits of correct controls; 95 % interval up to {high:.2g}"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory: {peak:.0f} MB")
    if given.json:
        whole = {"budget": given.budget, "first": given.first, "seeds": given.seeds, "peak_mb": peak}
        given.json.write_text(json.dumps({**whole, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
