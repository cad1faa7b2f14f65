"""The names that outside code calls, and the documentation of everything public."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys

import pytest

import verifiable_dp as vdp
from verifiable_dp import api
from verifiable_dp.auditing.regret import Asked
from verifiable_dp.auditing.request import Inputs, Promise, Settings, split
from verifiable_dp.registry import entries as registry

PROMISED = ["catalogue", "make", "simulate", "audit", "check_regret", "environments"]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(vdp.__path__, "verifiable_dp.")
    if not module.name.rpartition(".")[2].startswith("_")
)


def test_promised_names():
    assert set(PROMISED) <= set(vdp.__all__)
    for name in vdp.__all__:
        assert getattr(vdp, name) is not None
        assert name in dir(vdp)
    with pytest.raises(AttributeError, match="no_such"):
        _ = vdp.no_such


def test_no_public_name_hides_a_module_of_the_package():
    modules = {module.name for module in pkgutil.iter_modules(vdp.__path__)}
    assert modules
    assert vdp.__all__
    for name in set(vdp.__all__) & modules:
        assert inspect.ismodule(getattr(vdp, name))


def test_the_catalogue_is_a_table():
    table = vdp.catalogue()
    assert list(table.columns) == ["name", "paper", "model", "claims"]
    assert len(table) == len(registry.names()) + len(registry.contextual())
    assert (table["claims"] != "").all()


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_is_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for key, thing in vars(module).items():
        if key.startswith("_") or getattr(thing, "__module__", None) != name:
            continue
        if not (inspect.isclass(thing) or inspect.isfunction(thing)) or "<locals>" in thing.__qualname__:
            continue  # a constant that another function made is told of by a comment
        assert thing.__doc__, f"{name}.{key}"
        for method, function in vars(thing).items() if inspect.isclass(thing) else ():
            if not method.startswith("_") and inspect.isfunction(function):
                assert inspect.getdoc(getattr(thing, method)), f"{name}.{key}.{method}"


@pytest.mark.parametrize("name", ["audit", "check_regret", "simulate"])
def test_entry_points_state_arguments_results_and_errors(name):
    function = getattr(vdp, name)
    text = function.__doc__
    for section in ("Parameters", "Returns", "Raises", "InputError"):
        assert section in text
    for argument in inspect.signature(function).parameters:
        assert argument in text, argument


def names_of(*kinds):
    return {one.name for kind in kinds for one in dataclasses.fields(kind)}


def test_options_are_what_a_request_is_made_of():
    """Each by name and in words; what nobody knows is refused as Python refuses it."""
    audit, regret = set(vdp.AuditOptions.__annotations__), set(vdp.RegretOptions.__annotations__)
    apart = {"request", "cage"}  # which file it answers and where its code runs are no part of what is asked
    assert apart < audit & regret
    audit, regret = audit - apart, regret - apart
    assert audit == names_of(Promise, Inputs, Settings) - {"plan", "trusted", "power", "parameters"}
    assert regret == names_of(Asked)
    for options, function in ((vdp.AuditOptions, vdp.audit), (vdp.RegretOptions, vdp.check_regret)):
        assert set(options.__annotations__) < set(api.arguments(function))
        named = re.findall(r"^    (\w.*)$", options.__doc__, re.MULTILINE)
        assert {name for line in named for name in line.split(", ")} >= set(options.__annotations__)
        with pytest.raises(TypeError, match="unexpected keyword argument 'arms'"):
            function("tree-sum", arms=2)
    given = {"delta": 0.1, "horizon": 9, "bounds": None, "timeout": None, "alpha": 0.01}
    promise, inputs, settings = split("audit", given)
    assert (promise.delta, inputs.horizon, inputs.bounds) == (0.1, 9, (0.0, 1.0))
    assert (settings.alpha, settings.timeout) == (0.01, Settings().timeout)


def test_importing_is_cheap():
    """Neither numba nor pandas is loaded before it is needed."""
    code = "import sys, verifiable_dp.cli; print([m for m in ('numba', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
