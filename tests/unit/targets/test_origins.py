"""Which seeds of generators that code keeps are no secret."""

import importlib.util
import sys

import pytest

from verifiable_dp.targets import seeds

CODE = """
import secrets
import time
import numpy as np
GEN = np.random.default_rng({seed})
def release(data, size, rng):
    return data + GEN.laplace(0, 2.0, size)
"""


def doubts(tmp_path, seed, code=CODE, source=lambda module: module.GEN.bit_generator):
    name = f"kept_{abs(hash((seed, code)))}"
    file = tmp_path / f"{name}.py"
    file.write_text(code.format(seed=seed), "utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return seeds.Origins.of(module.release).doubted(source(module))
    finally:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ("time.time_ns() % 1000", "starts from one of only a few seeds"),
        ("secrets.randbits(31)", "starts from one of only a few seeds"),
        ("7", "starts from the same state in every process"),
        ("secrets.randbits(128)", ""),
        ("", ""),
    ],
)
def test_a_generator_with_one_of_few_seeds_hides_little(tmp_path, seed, said):
    """Broken variant: a seed that differs between two imports is a secret. Controls: the system's are."""
    found = doubts(tmp_path, seed)
    assert said in found
    assert bool(said) is bool(found)


SHARED = """
import time
import numpy as np
{seed}
def release(data, size):
    return data + np.random.laplace(0, 2.0, size)
"""


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ("", ""),
        ("START = np.random.laplace(0, 1.0, 3000)", ""),
        ("np.random.seed(7)", "starts from the same state in every process"),
        ("np.random.seed(time.time_ns() % 1000)", "starts from one of only a few seeds"),
    ],
)
def test_who_seeds_the_generator_of_the_process_is_told(tmp_path, seed, said):
    """Broken variant: as we seed it, it has no seed of its own, and passes for one of few.

    Controls: what the system seeds, drawn from at the import, too.
    """
    found = doubts(tmp_path, seed, SHARED, lambda module: seeds.wide()["np.random"])
    assert said in found
    assert bool(said) is bool(found)
