"""Without numba, scikit-learn, matplotlib and pandas: the same draws, and what needs none of them runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKED = ("numba", "llvmlite", "sklearn", "matplotlib", "pandas")
BLOCK = f"""
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Block())
"""
DRAWS = """
import hashlib
import numpy as np
import verifiable_dp as vdp
from verifiable_dp import api
from verifiable_dp.core import philox
from verifiable_dp.evidence.blackbox import scores

def shown(name, found):
    print(name, hashlib.sha256(np.ascontiguousarray(found).tobytes()).hexdigest())

rng = np.random.default_rng(0)
key = np.array([2**63 + 12345, 2**64 - 7], np.uint64)
run, slot = np.arange(500) * 977, rng.integers(0, 1000, (500, 9))
where, scale = rng.random((500, 9)) < 0.8, rng.random((500, 9)) + 0.1
shown("words", philox.fill_words(key, run, philox.REWARD, slot))
shown("laplace", philox.fill_laplace(key, run, slot, scale, where))
count = rng.integers(0, 40, (500, 9))
shown("reports", philox.fill_reports(key, run[:60], slot[:60], count[:60], scale[:60], where[:60]))
shown("bins", scores.bin_of(np.r_[rng.normal(size=999), np.nan], np.linspace(-2, 2, 60)).astype(np.int64))
for name in ("dp-ucb", "ucb1", "robust-ucb", "dp-robust-ucb", "linucb", "adap-klucb", "ldp-robust-se", "se"):
    algorithm = api.instance(name, horizon=200)
    arms = vdp.environments.bernoulli([0.75, 0.7, 0.5, 0.4, 0.3][: algorithm.n_arms])
    shown(name, vdp.simulate(algorithm, arms, runs=2, seed=1).regret)
"""
AUDITED = """
import numpy as np

def release(data, size, rng):
    return np.asarray(data).sum() + rng.laplace(0, {scale}, size)
"""


@pytest.fixture
def run(tmp_path):
    """Run a Python program, without the packages if `blocked`."""
    (tmp_path / "sitecustomize.py").write_text(BLOCK)

    def call(*words, blocked=True):
        found = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)] if blocked else [str(ROOT)]),
        }
        return subprocess.run(
            [sys.executable, *map(str, words)],
            cwd=tmp_path,
            env=found,
            capture_output=True,
            text=True,
            check=False,
        )

    return call


@pytest.mark.parametrize("name", BLOCKED)
def test_the_packages_are_away(run, name):
    assert run("-c", f"import {name}").returncode == 1
    assert run("-c", f"import {name}", blocked=False).returncode == 0  # the control


def test_draws_are_the_same_bits_without_numba(run):
    plain, compiled = run("-c", DRAWS), run("-c", DRAWS, blocked=False)
    assert plain.returncode == compiled.returncode == 0, plain.stderr
    assert plain.stdout == compiled.stdout
    assert len(plain.stdout.splitlines()) == 12
    other = run("-c", DRAWS.replace("seed=1", "seed=2")).stdout  # the control: another seed, other rewards
    assert sum(a != b for a, b in zip(other.splitlines(), plain.stdout.splitlines(), strict=True)) > 4


LOADED = """
import sys
import numpy as np
from verifiable_dp import api, cli
from verifiable_dp.core import philox

found = ["numba" in sys.modules]
number = np.arange(2)
philox.fill_words(np.ones(2, np.uint64), number, philox.REWARD, number[:, None])
print(*found, "numba" in sys.modules)
"""


def test_numba_is_loaded_by_the_first_loop(run):
    """Not by what most commands import, which call none; it takes as long as half of them."""
    done = run("-c", LOADED, blocked=False)
    assert done.stdout == "False True\n", done.stderr


def test_verify_judge_and_render_need_none_of_them(run, tmp_path):
    (tmp_path / "own.py").write_text(AUDITED.format(scale=0.5))
    audit = ("-m", "verifiable_dp", "audit", "own.py:release", "--epsilon", "1", "--budget", "smoke")
    made = ("--request", "o/request.json", "--json", "o/record.json", "--html", "o/record.html")
    (tmp_path / "o").mkdir()
    done = run(*audit, *made)
    assert done.returncode == 1, done.stderr
    assert "pip install" in (tmp_path / "o" / "record.html").read_text()
    assert run("-m", "verifiable_dp", "verify", "o/record.json").returncode == 0
    assert run("-m", "verifiable_dp", "judge", ".").returncode == 1
    for kind in ("markdown", "sarif", "junit", "html"):
        done = run("-m", "verifiable_dp", "render", "o/record.json", "--to", kind, "--out", f"x.{kind}")
        assert done.returncode == 0, done.stderr
    (tmp_path / "own.py").write_text(AUDITED.format(scale=1))  # the control
    assert run(*audit).returncode == 0


def test_the_catalogue_is_listed_without_pandas(run):
    listed = run("-m", "verifiable_dp", "list")
    assert "dp-se " in listed.stdout, listed.stderr


def test_collecting_tests_needs_none_of_them(run, tmp_path):
    (tmp_path / "test_it.py").write_text("def test_it(privacy_audit):\n    pass\n")
    done = run("-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider")
    assert "1 test collected" in done.stdout, done.stdout + done.stderr


IMPORTED = """
import sys
from verifiable_dp.core import kernels
kernels.compile_anew(lambda folder: True)
print("numba" in sys.modules)
import numba.core.caching
import numba
print(numba is sys.modules["numba"], numba.typed is not None, numba.__spec__.origin is not None)
print(numba.core.caching.Cache.__new__ is not object.__new__, numba.config.CACHE_DIR == "")
"""


def test_code_that_imports_numba_itself_gets_it_as_we_load_it(run, tmp_path):
    """What it keeps is limited, and no file beside the code sets it up. Control: else such a file does."""
    pytest.importorskip("yaml")
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: ./planted\n")
    done = run("-c", IMPORTED, blocked=False)
    assert done.stdout.split() == ["False", *["True"] * 5], done.stdout + done.stderr
    plain = run("-c", "import numba; print(numba.config.CACHE_DIR)", blocked=False)
    assert plain.stdout == "./planted\n"
