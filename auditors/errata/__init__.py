"""Errata in the papers: what is printed and what holds (`papers/*.toml`), and the evidence for both."""

from collections.abc import Mapping
from pathlib import Path

from verifiable_dp.algorithms import papers
from verifiable_dp.auditors.errata import bench, hanna, rates, sajed, tao, wu
from verifiable_dp.registry.errata import Erratum, Find, read

_EVIDENCE: Mapping[str, tuple[str, Mapping[str, Find]]] = {
    "sajed": (papers.S1, {**sajed.EVIDENCE, **bench.SAJED}),
    "tao": (papers.TAO, {**tao.EVIDENCE, **bench.TAO, **rates.TAO}),
    "wu": (papers.WU, wu.EVIDENCE),
    "hanna": (papers.HANNA, {**hanna.EVIDENCE, **bench.HANNA, **rates.HANNA}),
}
_PLACE = Path(__file__).parents[1] / "papers"
ERRATA: tuple[Erratum, ...] = tuple(
    erratum
    for name, (paper, evidence) in _EVIDENCE.items()
    for erratum in read(_PLACE / f"{name}.toml", paper, evidence)
)
