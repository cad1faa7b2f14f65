"""Committed evidence holds on other machines, no verdict rests on a knife's edge, and edits are found."""

import functools
import itertools
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl

import verifiable_dp.record.verify as verification
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import check as judging
from verifiable_dp.evidence import rounding
from verifiable_dp.evidence.check import Check
from verifiable_dp.record import differences
from verifiable_dp.record.differences import first_difference
from verifiable_dp.record.sealing import digest, plain, text
from verifiable_dp.record.verify import judged_again, verify
from verifiable_dp.selfcheck import mutation

REPORTS = Path(__file__).parents[2] / "reports"
FILES = [path for path in sorted(REPORTS.rglob("*.json")) if path.parent.name != "schema"]

# ---------------------------------------------------------------- other machines

# Kernels of OpenBLAS by what they need of the processor; one that it cannot run would be another, silently.
CORES = {
    "x86_64": {"Prescott": "pni", "Nehalem": "sse4_2", "Sandybridge": "avx", "Haswell": "avx2"}
    | {"SkylakeX": "avx512f"},
    "aarch64": dict.fromkeys(("ARMV8", "CORTEXA57", "NEOVERSEN1", "THUNDERX2T99"), "asimd"),
}
LEAST = 4
BY_DAY = ("Nehalem", "ARMV8")  # one kernel; without SIMD the same faults are caught


def able():
    """Flags of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    return {
        flag
        for line in lines
        if line.startswith(("flags", "Features"))
        for flag in line.split(":")[1].split()
    }


def features():
    """What NumPy's SIMD loops use here beyond their baseline."""
    from numpy._core import _multiarray_umath as core

    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]]


CONFIGURATIONS = {
    name: {"OPENBLAS_CORETYPE": name}
    for name, flag in CORES.get(platform.machine(), {}).items()
    if flag in able()
} | {"without SIMD": {"NPY_DISABLE_CPU_FEATURES": " ".join(features())}}
SHOWN = """
import numpy, threadpoolctl
from numpy._core import _multiarray_umath as core
pools = threadpoolctl.threadpool_info()
print([pool["architecture"] for pool in pools if pool["internal_api"] == "openblas"])
print([name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]])
"""


def elsewhere(configuration, *arguments):
    kept = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")}
    return subprocess.run(
        [sys.executable, *arguments],
        env=kept | CONFIGURATIONS[configuration],
        capture_output=True,
        text=True,
        check=False,
    )


# Schemas do not depend on the machine, and `make report` and `test_committed_reports` hold files to them.
VERIFIED = """
import sys
from verifiable_dp import cli
from verifiable_dp.record import verify
verify._fits = lambda *given: None
sys.argv[1:] = ["verify", sys.argv[1]]
cli.main()
"""


@pytest.mark.parametrize(
    "configuration",
    [pytest.param(c, marks=[] if c in BY_DAY else pytest.mark.slow) for c in CONFIGURATIONS],
)
def test_all_evidence_holds_on_other_machines(configuration):
    """Negative control: with `TOLERANCE` 1e-17, or the fits by BLAS and no scales, files do not hold."""
    done = elsewhere(configuration, "-c", VERIFIED, str(REPORTS))
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout
        == f"{len(FILES)} of {len(FILES)} files are valid; no signature found; the runs were not repeated\n"
    )


@pytest.mark.skipif(
    not any(pool["internal_api"] == "openblas" for pool in threadpoolctl.threadpool_info()),
    reason="NumPy has another BLAS here",
)
def test_these_machines_are_others():
    """The variables do something: several kernels, and no SIMD loops where they are switched off."""
    shown = {name: elsewhere(name, "-c", SHOWN).stdout.splitlines() for name in CONFIGURATIONS}
    kernels = {shown[name][0] for name in CONFIGURATIONS if name != "without SIMD"}
    assert len(kernels) >= LEAST if "avx2" in able() else kernels
    assert shown["without SIMD"][1] == "[]" != next(iter(shown.values()))[1]


# ---------------------------------------------------------------- all checks


def checks_in(value, place):
    if isinstance(value, dict):
        if value.keys() >= {"kind", "statistics", "result"}:
            yield place, value
        for key, item in value.items():
            yield from checks_in(item, f"{place}.{key}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from checks_in(item, f"{place}.{i}")


@functools.cache
def read(path):
    return json.loads(path.read_text("utf-8"))


def every_check():
    """Place and check; of equal ones, the first."""
    seen = set()
    for path in FILES:
        for place, check in checks_in(read(path), path.relative_to(REPORTS).as_posix()):
            key = json.dumps([check["kind"], check["statistics"]], sort_keys=True)
            if key not in seen:
                seen.add(key)
                yield place, check


def sampled():
    """A few checks of each kind."""
    found = {}
    for place, check in every_check():
        found.setdefault(check["kind"], []).append((place, check))
    return [item for items in found.values() for item in items[:: max(1, len(items) // 4)][:4]]


def is_measured(value):
    """Whole numbers are exact on any machine."""
    return isinstance(value, float) and not value.is_integer()


def changed(value, change):
    """A copy in which every measured float is changed."""
    if isinstance(value, dict):
        return {key: changed(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [changed(item, change) for item in value]
    return change(value) if is_measured(value) else value


def others(kind, statistics):
    return plain(judging.judged(kind, statistics))


def test_rounding_elsewhere_stays_within_the_scales(monkeypatch):
    """Numbers that went in are off by a few units in the last place, as if measured on another machine.

    Negative control: at their own size alone, some of the derived numbers are too far apart.
    """
    rng = np.random.default_rng(0)
    strict = []
    for place, check in every_check():
        if check["kind"] == "exact":
            continue  # its judge computes nothing: it names the largest of recorded numbers
        moved = changed(check["statistics"], lambda value: value * (1 + rng.integers(-4, 5) * 2.0**-52))
        again = {**check, "statistics": moved, "result": others(check["kind"], moved)}
        assert first_difference(check, again, place) == ""
        bare = {key: value for key, value in again.items() if key != "name"}
        with monkeypatch.context() as patch:
            patch.setattr(verification, "scales_of", lambda _: {})
            strict.append(first_difference({key: check[key] for key in bare}, bare, place))
    assert any(strict)


# ---------------------------------------------------------------- the knife's edge

# How far a number has to be from what decides, relatively. What is computed without sampling is exact to
# rounding, and what decides by it leaves room for that, 1e-12 at least; all else is held to the tolerance.
EDGE, ROOM = 2 * rounding.TOLERANCE, 2e-13
COMPUTED = ("alignment", "tracing", "exact", "statement", "upper_bound")
EXACTLY = ("bound", "largest", "least", "epsilon", "scale", "range")
WHICH = ("pair_number", "path", "direction")  # of equal ones, any
PATTERNS = 8


def words(result):
    """What a result says but for its floats: verdicts, names, truth values, and what is there at all."""
    if isinstance(result, Mapping):
        return {key: words(value) for key, value in result.items() if key not in WHICH}
    if isinstance(result, list):
        return [words(value) for value in result]
    return "a float" if isinstance(result, float) else result


def leaning(kind, statistics):
    """The statistics with each float moved by the edge in turn, and with all of them in several patterns."""
    edges = {key: ROOM if kind in COMPUTED or key in EXACTLY else EDGE for key in statistics}
    for key, value in statistics.items():
        for sign in (-1, 1) if is_measured(value) else ():
            yield {**statistics, key: value * (1 + sign * edges[key])}
    rng = np.random.default_rng(0)
    for _ in range(PATTERNS if any(isinstance(value, list) for value in statistics.values()) else 1):
        yield {
            key: changed(value, lambda item, edge=edges[key]: item * (1 + rng.choice([-1, 1]) * edge))
            for key, value in statistics.items()
        }


def on_edge(kind, statistics):
    """What a result would say if a number were off by the edge; empty if the same."""
    told = words(others(kind, statistics))
    return [said for moved in leaning(kind, statistics) if (said := words(others(kind, moved))) != told]


# Thousands of checks of kinds that the other files have, too.
LARGE = {"mutants.json", "shuffled-linear/record.json"}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=name, marks=pytest.mark.slow if name in LARGE else [])
        for path in FILES
        for name in [path.relative_to(REPORTS).as_posix()]
    ],
)
def test_no_verdict_rests_on_a_knifes_edge(path):
    """A p-value at alpha, a limit at its bound, a cost at the claim, an end of an interval at its margin."""
    found = list(checks_in(read(path), path.name))
    assert found
    for place, check in found:
        assert not on_edge(check["kind"], check["statistics"]), place


def edges():
    """Checks of each kind with a limit moved onto a number that it decides by."""
    for place, check in every_check():
        kind, statistics, result = check["kind"], check["statistics"], check["result"]
        limits = {}
        if 0 < result.get("p_value", 0) < 1e-3:
            limits["alpha"] = result["p_value"] * (1 + rounding.TOLERANCE)
        for limit in ("upper_limit", "lower_limit"):
            if kind in ("mean_bound", "mean_at_least") and result.get(limit):
                limits["bound"] = result[limit] * (1 - rounding.TOLERANCE)
        if kind == "probability":
            limits["probability"] = result["upper_limit"] * (1 + rounding.TOLERANCE)
        if kind == "scaling" and result["verdict"] == "consistent":
            far = max(
                result["upper_limit"] - statistics["exponent"], statistics["exponent"] - result["lower_limit"]
            )
            limits["margin"] = far * (1 + rounding.TOLERANCE)
        if kind == "comparison" and result["verdict"] == "consistent":
            limits["factor"] = result["ratio"]  # the distance of the means is 0, its limit is not
        if kind == "alignment" and float(statistics["max_cost"]) < 100:
            limits["max_cost"] = statistics["epsilon"] * (1 + 1e-9)
        if kind == "exact" and statistics["delta"] > 0:
            limits["delta"] = result["delta_lower"] - 1e-12
        if kind == "shuffle" and 1e-9 < result["delta_upper"] < 1:
            limits["delta"] = result["delta_upper"]
        if kind == "statement" and is_measured(statistics["value"]) and statistics["tolerance"] == 0:
            limits["limit"] = statistics["value"]
        for name, value in limits.items():
            yield f"{place}: {kind}, {name}", kind, {**statistics, name: value}


def test_a_knifes_edge_is_found():
    """Negative control of the test above: every kind of limit, moved to where it decides, is noticed.

    A limit that does not decide the check, because another does, is not; most do.
    """
    found = {}
    for name, kind, statistics in edges():
        what = name.rpartition(": ")[2]
        if found.get(what) is not True and len([key for key in found if key == what]) < 50:
            found[what] = bool(on_edge(kind, statistics)) or found.get(what, False)
    assert len(found) >= 10
    assert all(found.values()), found


def test_no_mutant_is_clear_or_killed_on_a_knifes_edge():
    rows = read(REPORTS / "mutants.json")["mutants"]
    assert len(rows) > 100
    for row, sign in itertools.product(rows, (-1, 1)):
        moved = {**row, "epsilon": row["epsilon"] * (1 + sign * 1e-12)}
        concluded = {**moved, **mutation.concluded(moved)}
        assert concluded["outcome"] == row["outcome"]
        assert mutation._is_clear(concluded) == mutation._is_clear(row)


# ---------------------------------------------------------------- edits


def leaves(value, path=()):
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path, value


def put(value, path, item):
    if not path:
        return item
    if isinstance(value, dict):
        return {**value, path[0]: put(value[path[0]], path[1:], item)}
    return [put(old, path[1:], item) if i == path[0] else old for i, old in enumerate(value)]


def at(value, path):
    for key in path:
        value = differences._below(value, key)
    return value


def edited(value, scale):
    """Just beyond what is allowed."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, int):
        return value + 1
    # Half as much again, for an edit changes the larger of both numbers, too.
    return value + 1.5e-9 * max(abs(value), float(scale or 0.0), 1e-300)


@pytest.mark.parametrize(
    ("place", "check"), sampled(), ids=lambda item: item if isinstance(item, str) else ""
)
def test_every_edit_of_a_result_is_found(place, check):
    """Every leaf in turn: words, truth values, counts by 1, and floats just beyond their tolerance."""
    (again,) = judged_again([check])
    scales = judging.scales_of(Check.read(again)).get("result")
    found = list(leaves(check["result"]))
    assert found
    for path, value in found:
        wrong = put(check["result"], path, edited(value, at(scales, path)))
        assert first_difference({**check, "result": wrong}, again), (place, path)
        near = put(check["result"], path, value * (1 + 1e-12) if isinstance(value, float) else value)
        assert not first_difference({**check, "result": near}, again), (place, path)


def test_scales_are_not_widened_by_the_edit_itself():
    """A forged limit may not widen what is allowed of it: scales follow from what is judged again.

    Here the standard error is so small that limits may be very many of them away.
    """
    small = (
        c for _, c in every_check() if c["kind"] == "scaling" and 0 < c["result"]["standard_error"] < 5e-10
    )
    check = next(small)
    (again,) = judged_again([check])
    error = rounding.TOLERANCE / 1e3
    forged = {**check["result"], "standard_error": error, "upper": 2.0, "upper_limit": 3.0}
    widened = judging.scales_of(Check.read({**check, "result": forged}))["result"]["upper"]
    assert widened * rounding.TOLERANCE > 2.0
    assert first_difference({**check, "result": forged}, again)


def test_no_scale_is_so_wide_that_it_hides_a_change():
    """Where numbers are off by 1e-5, each derived number is seen to be off in some check of its kind."""
    seen, moving = set(), set()
    rng = np.random.default_rng(1)
    for _, check in every_check():
        moved = changed(check["statistics"], lambda value: value * (1 + rng.choice([-1, 1]) * 1e-5))
        again = {**check, "result": others(check["kind"], moved)}
        scales, new = judging.scales_of(Check.read(again)).get("result"), dict(leaves(again["result"]))
        for path, value in leaves(check["result"]):
            if isinstance(value, float) and isinstance(new.get(path), float):
                what = (check["kind"], *(part for part in path if isinstance(part, str)))
                if rounding.difference(value, new[path]) > 1e-6:
                    moving.add(what)
                    if (
                        rounding.difference(value, new[path], float(at(scales, path) or 0))
                        > rounding.TOLERANCE
                    ):
                        seen.add(what)
    assert len(moving) > 40
    # Probabilities, which are far below the rounding of 1 in all that is committed; and what a bisection
    # finds to a thousandth of the claim.
    assert moving - seen <= {("exact", "remainder"), ("exact", "delta_upper"), ("black_box", "detectable")}


# What a judge does not read describes the check; digests cover it.
COUNTS = {
    "black_box": ("k1", "n1", "k0", "n0", "tests"),
    "probability": ("n", "failures"),
    "mean_bound": ("n",),
    "mean_at_least": ("n",),
    "comparison": ("n_a", "n_b"),
    "shuffle": ("crowd",),
}


@pytest.mark.parametrize("kind", COUNTS)
def test_every_count_that_decides_is_found_by_what_follows_from_it(kind):
    """Also where the digest was made to fit."""
    moves = 0
    for place, check in [item for item in sampled() if item[1]["kind"] == kind]:
        for name in COUNTS[kind]:
            statistics = check["statistics"]
            # Another count that is possible: hits and failures are at most the runs.
            moved = {**statistics, name: statistics[name] + (-1 if name in ("k1", "k0", "failures") else 1)}
            agree = 0 in (statistics.get(what) for what in ("sd", "sd_a", "sd_b"))
            # Runs are tossed between the inputs, so that hits alone say how they compare.
            one_sided = check["result"].get("epsilon_point") == "inf" and "detectable" not in check["result"]
            agree = agree or (one_sided and name in ("n0", "n1"))
            if agree or moved[name] < 0 or check["result"].get("delta_lower") in (0.0, 1.0):
                continue  # runs that agree, and batches that hide all or nothing, tell the same in any number
            assert first_difference(check["result"], others(kind, moved), place), (place, name)
            moves += 1
    assert moves


# ---------------------------------------------------------------- three facts, three messages


def refusal(record, tmp_path):
    path = tmp_path / "record.json"
    path.write_text(text(record), "utf-8")
    with pytest.raises(InputError) as caught:
        verify(path)
    return str(caught.value)


def test_an_edit_other_numbers_and_another_form_are_told_apart(tmp_path):
    record = read(REPORTS / "dp-se" / "record.json")
    assert "edited or corrupted (its digest is" in refusal({**record, "seed": 9}, tmp_path)
    # Another machine's numbers, sealed by it: which, by how much, and what computed them.
    place = ("checks", 2, "result", "epsilon_lower")
    off = put(record, place, at(record, place) + 1e-3)
    off["provenance"] = {**off["provenance"], "packages": {**off["provenance"]["packages"], "scipy": "1.2.3"}}
    said = refusal({**off, "digest": digest(off)}, tmp_path)
    assert "record: its digest is valid, but checks.2.result.epsilon_lower is" in said
    assert "of its scale, where 1e-09 is allowed" in said
    assert "scipy 1.2.3" in said.partition("written with")[2].partition("installed here")[0]
    assert verification.installed("scipy") in said.partition("installed here")[2]
    # The same versions: then it is not the libraries.
    off["provenance"]["packages"] = {
        name: verification.installed(name) for name in off["provenance"]["packages"]
    }
    assert "library versions installed here" in refusal({**off, "digest": digest(off)}, tmp_path)
    other = {**record, "seed": "nine"}
    assert "does not fit the schema: seed: " in refusal({**other, "digest": digest(other)}, tmp_path)
