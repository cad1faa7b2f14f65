"""What is said where a target of a package is not imported by the name that was given."""

import importlib
import sys

import pytest

from verifiable_dp.core.validate import InputError
from verifiable_dp.targets.source import load

CODE = "from .shop_util import n\n\ndef play(rewards, rng):\n    return rng.integers(n, size=len(rewards))\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose package is in src, and which is not installed."""
    package = tmp_path / "src" / "shop_of_bandits"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "shop_util.py").write_text("n = 2\n")
    (package / "shop_bandit.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    importlib.invalidate_caches()
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("shop_")]:
        del sys.modules[name]


def test_a_relative_import_names_the_module_to_give(project):
    with pytest.raises(InputError) as raised:
        load("src/shop_of_bandits/shop_bandit.py:play")
    advice = "it is part of a package: give shop_of_bandits.shop_bandit:NAME, with PYTHONPATH=src"
    assert str(raised.value).endswith(advice)


def test_a_module_in_src_says_how_it_is_found(project, monkeypatch):
    with pytest.raises(InputError) as raised:
        load("shop_of_bandits.shop_bandit:play")
    assert str(raised.value).endswith("it is in the folder src: set PYTHONPATH=src")
    monkeypatch.syspath_prepend(project / "src")  # what was advised
    assert load("shop_of_bandits.shop_bandit:play").__name__ == "play"


def test_what_is_nowhere_gets_no_advice(project):
    with pytest.raises(InputError, match=r"No module named 'shop_of_nothing'$"):
        load("shop_of_nothing.bandit:play")
