"""Searches of a module are remembered until the module, its classes or its functions change."""

import types

import pytest

from verifiable_dp.evidence.symbolic.contents import once


def made():
    scope = {"__name__": "made"}
    exec("def f(x=1): return x\ndef g(): return 2\nclass K:\n def m(self): return 3\nnumber = 7", scope)
    return scope


def as_another_method(scope):
    scope["K"].m = scope["f"]


def with_another_code(function):
    function.__code__ = (lambda x=1: x + 1).__code__


CHANGES = [
    lambda scope: scope.update(g=scope["f"]),
    lambda scope: scope.update(number=8),
    lambda scope: scope.update(more=1),
    lambda scope: scope.pop("number"),
    lambda scope: with_another_code(scope["f"]),
    lambda scope: with_another_code(scope["K"].m),
    lambda scope: setattr(scope["f"], "__defaults__", (2,)),
    lambda scope: setattr(scope["f"], "__module__", "elsewhere"),
    as_another_method,
    lambda scope: setattr(scope["K"], "other", 1),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_module_is_searched_anew(change):
    scope, searched = made(), []
    search = once(lambda scope: searched.append(1) or ["found"])
    assert search(scope) == search(scope) == ["found"]
    assert len(searched) == 1
    change(scope)
    search(scope)
    assert len(searched) == 2


def test_what_is_put_into_it_for_a_run_changes_nothing():
    scope, searched = made(), []
    search = once(lambda scope: searched.append(1) or [])
    search(scope)
    scope["verifiable_dp__blend"] = object()
    search(scope)
    code = scope["f"].__code__
    with_another_code(scope["f"])
    search(scope)
    scope["f"].__code__ = code
    search(scope)
    assert len(searched) == 2  # the first state is still known


def test_two_modules_with_the_same_objects_are_two():
    scope, searched = made(), []
    search = once(lambda scope: searched.append(1) or [])
    search(scope)
    search({**scope, "__name__": "another"})
    search(types.ModuleType("third").__dict__)
    assert len(searched) == 3
