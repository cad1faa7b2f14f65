"""Fixtures of the whole suite."""

import functools
import gc
import os
import sys
from contextlib import nullcontext
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from numba.core.registry import cpu_target

from tests import night
from tests.commands import CAGED
from verifiable_dp.auditing import traced
from verifiable_dp.core import engine
from verifiable_dp.evidence.tracing.foreign import settle

pytest_plugins = ["pytester"]

# How long an example takes depends on what else the machine does; which ones are tried, on the test alone.
settings.register_profile(
    "the same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("the same")

# pytester forgets what is imported for the first time inside it; numba takes what it registers only once.
cpu_target.target_context.refresh()


def pytest_make_parametrize_id(val):
    """Cases are named alike on all machines: the last digits of a computed number are another's elsewhere."""
    return str(float(f"{val:.10g}")) if isinstance(val, float) else None


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config, items):
    night.wait(config, items)


CLOCK = night.Clock()


def pytest_runtest_logstart():
    CLOCK.start()


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef):
    with CLOCK.shared() if fixturedef.scope != "function" else nullcontext():
        yield


@pytest.hookimpl(tryfirst=True)  # before the report is made
def pytest_runtest_makereport(item, call):
    if call.when == "teardown":
        CLOCK.note(item)


def pytest_collection_finish():
    """All tests are loaded: half a million objects, which each audit would search for generators."""
    for name, module in [*sys.modules.items()]:
        # An audit of what a test file defines looks into its globals: pytest's loader knows all tests.
        if name.startswith("tests.") and type(module.__loader__).__module__.startswith("_pytest."):
            module.__loader__ = module.__spec__.loader = SourceFileLoader(name, module.__file__)
    gc.collect()
    settle()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """So would it what the tests of a file have left behind; beside idle workers no audit could fork."""
    if nextitem is not None and nextitem.path != item.path:
        engine.close()
        pytest_collection_finish()


@pytest.fixture(scope="session", autouse=True)
def state(tmp_path_factory):
    """What the machine remembers of files, here and in programs that tests start, is not the user's."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(autouse=True)
def found_by_others(tmp_path_factory):
    """What a test has imported from its folder is not what another one means by the same name."""
    path, base, before = [*sys.path], tmp_path_factory.getbasetemp(), {*sys.modules}
    yield
    sys.path[:] = path
    for name in {*sys.modules} - before:
        if Path(getattr(sys.modules[name], "__file__", None) or os.sep).is_relative_to(base):
            del sys.modules[name]


@pytest.fixture(autouse=CAGED)
def caged(monkeypatch):
    """Audits that ask for no cage run in one (`make test-caged`)."""
    from verifiable_dp.api import audits, regrets, reruns
    from verifiable_dp.targets.cage import Caged

    def asked(policy="none", **more):
        return Caged("best" if policy == "none" else policy, **more)

    for module in (audits, regrets, reruns):
        monkeypatch.setattr(module, "Caged", asked)


@pytest.fixture
def few_paths(monkeypatch):
    """An upper bound rests on a fifth of the paths, which take most of a small audit's time."""
    monkeypatch.setattr(traced, "explore", functools.partial(traced.explore, most=12))


@pytest.fixture
def unbounded(monkeypatch):
    """No upper bound is found for a bandit: power is stated only where none settles the audit."""
    monkeypatch.setattr(
        "verifiable_dp.auditing.traced.bound", lambda *given, **more: (None, traced.Ended("none"), None)
    )
