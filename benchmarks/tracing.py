"""What tracing adds to the black box, on the thirty bandits of `tests/user_code/styles.py`.

Prints the tables of `docs/audit-your-bandit.md`: `python -m benchmarks.tracing` in the repository's root. All
columns but the CPU seconds follow from the seed; seven minutes on one core.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.records import read_all
from tests.user_code import styles
from verifiable_dp.auditing import rungs
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise, Settings
from verifiable_dp.auditing.rungs import RUNGS
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.evidence.tracing.ledger import Ledger
from verifiable_dp.evidence.tracing.reach import scopes_of
from verifiable_dp.evidence.tracing.trace import run
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import conclude

HORIZON, SEED = 60, 0
# Sequential, so that a refutation stops where the evidence is enough.
SETTINGS = Settings(runs=80_000, sequential=True, seed=SEED)
# Two arms show nothing of it: one noisy sum keeps a comparison of two private.
ARMS = {styles.noise_on_one_arm: 3}
# Neighbours for leaks that no table of the black box brings out, as their author would write them.
HALVES = np.column_stack([np.full(HORIZON, 0.5), np.zeros(HORIZON)])
GIVEN = {
    styles.noise_on_one_arm: TablePair(np.ones((HORIZON, 3)), 2, 2, 0.0, (0.0, 1.0)),
    styles.rounds_its_noise: TablePair(HALVES, 0, 0, 1.0, (0.0, 1.0)),
}

Bandit = Callable[..., Any]


@dataclass(frozen=True)
class Row:
    """One audit: what tracing said, and what was decided by which rung at which price."""

    tracing: str
    between: str
    verdict: str
    rung: str
    runs: str
    seconds: float


def audit(function: Bandit, *, traced: bool, pairs: Sequence[TablePair] | None = None) -> Row:
    """Audit with or without tracing; CPU seconds are those of the whole audit, its power included."""
    inputs = Inputs(ARMS.get(function, 2), HORIZON, pairs=pairs)
    request = AuditRequest(function, function.__name__, Promise(styles.EPSILON), inputs, SETTINGS)
    start = time.process_time()
    draft = rungs.draft(request, [rung for rung in RUNGS if traced or "tracing" not in rung.stage])
    seconds = time.process_time() - start
    checks = draft["checks"]
    said = [says(check) for check in checks if check["kind"] == "tracing"]
    if len(said) != traced:
        raise SystemExit(f"{function.__name__}: {len(said)} traces, expected {int(traced)}")
    verdict = conclude.privacy(read_all(checks))
    decided = next((check for check in checks if check["result"]["verdict"] == "refuted"), None)
    found = "".join(said), between(checks), verdict
    tested = [check for check in checks if check["kind"] in ("sequential", "black_box")]
    if decided is not None and decided["kind"] == "tracing":
        return Row(*found, "tracing", f"{2 * decided['statistics']['repeats']}", seconds)
    numbers = (decided or tested[-1])["statistics"]  # a test that goes on is of fixed size
    runs = numbers["runs"] if "runs" in numbers else numbers["n0"] + numbers["n1"]
    return Row(*found, decided["name"] if decided else "", str(runs), seconds)


def between(checks: Sequence[Mapping[str, Any]]) -> str:
    """The interval that epsilon lies in, as far as both sides are known."""
    results = [check["result"] for check in checks]
    lower = max(float(result.get("epsilon_lower", 0.0)) for result in results)
    upper = [float(r["epsilon_upper"]) for r in results if "epsilon_upper" in r]
    refuted = any(result.get("verdict") == "refuted" for result in results)
    if upper and not refuted and upper[0] < float("inf"):
        return f"[{digits(min(lower, upper[0]))}, {digits(upper[0])}]"
    return f">= {digits(lower)}"


def says(check: Mapping[str, Any]) -> str:
    """Cost, or what came out otherwise, and the lines that are named."""
    numbers = check["statistics"]
    if numbers["failure"]:
        return f"not traced: {numbers['failure']}"
    within = check["result"]["holds"]
    cost = f"cost {float(numbers['max_cost']):.4g}" if numbers["same_output"] else "other actions"
    named = [lead["line"] for lead in numbers["leads"] if lead["open"]]
    if not named and not within:
        named = [share["line"] for share in numbers["shares"][:1]]
    lines = f", line {', '.join(map(str, dict.fromkeys(named)))}" if named else ""
    return f"{cost}{'' if within else lines}"


def overhead(
    function: Bandit, horizon: int = 2000, n_arms: int = 10, repeats: int = 10
) -> tuple[float, float]:
    """CPU seconds of one plain and of one traced run."""
    rewards = np.random.default_rng(SEED).random((horizon, n_arms))
    scopes = scopes_of(function)

    def plain() -> None:
        function(rewards.copy(), np.random.Generator(np.random.Philox(SEED)))

    def traced() -> None:
        done = run(function, rewards, np.random.Philox(SEED), Ledger(frozenset(scopes)), scopes)
        if done.failure:
            raise SystemExit(f"{function.__name__}: {done.failure}")

    return _least(plain, repeats), _least(traced, repeats)


def _least(call: Callable[[], None], repeats: int) -> float:
    """The least of the times of some calls: whatever else the machine does only adds to it."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return min(spent)


def main() -> None:
    """Print the tables."""
    print("| T = 2000, K = 10 | plain run, ms | traced run, ms | ratio |\n|---|---|---|---|")
    for function in (styles.plain_ucb, styles.local_reports):
        plain, traced = overhead(function)
        cells = (f"{1e3 * plain:.1f}", f"{1e3 * traced:.0f}", f"{traced / plain:.0f}")
        print("|", " | ".join([f"`{function.__name__}`", *cells]), "|", flush=True)
    print()
    print("| correct bandit | tracing | epsilon | verdict | test runs | CPU s |\n|---|---|---|---|---|---|")
    for function in styles.RIGHT:
        row = audit(function, traced=True)
        cells = (row.tracing, row.between, row.verdict, row.runs, f"{row.seconds:.1f}")
        print("|", " | ".join([f"`{function.__name__}`", *cells]), "|", flush=True)
    heads = ("leak", "tracing", "epsilon", "verdict", "decided by", "test runs", "CPU s")
    print("\n|", " | ".join([*heads, "black box alone", "test runs", "CPU s"]), "|")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for function in styles.LEAKS:
        asked: list[tuple[str, list[TablePair] | None]] = [(f"`{function.__name__}`", None)]
        if function in GIVEN:
            asked.append((f"`{function.__name__}`, neighbours given", [GIVEN[function]]))
        for name, pairs in asked:
            both, alone = (audit(function, traced=traced, pairs=pairs) for traced in (True, False))
            guided = (both.tracing, both.between, both.verdict, both.rung, both.runs, f"{both.seconds:.1f}")
            plain = (alone.verdict, alone.runs, f"{alone.seconds:.1f}")
            print("|", " | ".join([name, *guided, *plain]), "|", flush=True)


if __name__ == "__main__":
    main()
