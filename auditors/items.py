"""The numbered items of the four papers (`papers/*.toml`): where each is in the code, and how we deviate."""

from pathlib import Path

from verifiable_dp.algorithms import papers
from verifiable_dp.registry.items import Item, read

_PLACE = Path(__file__).with_name("papers")
ITEMS: tuple[Item, ...] = (
    *read(_PLACE / "sajed.toml", papers.S1),
    *read(_PLACE / "tao.toml", papers.TAO),
    *read(_PLACE / "wu.toml", papers.WU),
    *read(_PLACE / "hanna.toml", papers.HANNA),
)
