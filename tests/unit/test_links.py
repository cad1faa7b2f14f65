import importlib
import sys
from pathlib import Path

import pytest

from verifiable_dp._links import LINKS, check_links

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", LINKS)
def test_text_file_in_place_of_a_link(tmp_path, name):
    (tmp_path / name).write_text(f"../{name}")
    with pytest.raises(ImportError, match=rf"^verifiable_dp/{name} is .*core\.symlinks=true clone.*$"):
        check_links(tmp_path)


def test_folders_and_links_pass(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "algorithms").mkdir()
    (tmp_path / "auditors").symlink_to("real")
    check_links(tmp_path)


@pytest.mark.parametrize("name", LINKS)
def test_top_level_import_gives_a_hint(monkeypatch, name):
    if not (ROOT / name).is_dir():
        pytest.skip("not a checkout")
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ImportError, match=f"import verifiable_dp.{name}"):
        importlib.import_module(name)


@pytest.mark.parametrize("name", LINKS)
def test_subpackage_imports(name):
    assert importlib.import_module(f"verifiable_dp.{name}").__doc__
