"""What the catalogue says of the papers, held against their texts, which are not part of this repository.

The texts lie in ``../shared/seeds`` beside the clone, or where the variable PAPERS points to. What was found
in them is kept in ``tests/data/papers.json``: the numbered items of each paper, and for each quotation
digests of its words and of their surroundings. So a clone without the texts notices a quotation that was
changed or added without them. ``python -m tests.quotations`` writes that file anew from the texts.
"""

import hashlib
import json
import os
import re
from pathlib import Path

from verifiable_dp.algorithms import papers

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests/data/papers.json"
SEEDS = Path(os.environ.get("PAPERS", ROOT.parent / "shared/seeds"))
FILES = {
    papers.S1: "001_e325d761b5d52a74.txt",
    papers.TAO: "002_e1362a0bedca8ab5.txt",
    papers.WU: "003_f1c3efdb8b739490.txt",
    papers.HANNA: "004_86afba2d6156e97e.txt",
}
SHORT = {papers.S1: "S1", papers.TAO: "S2", papers.WU: "S3", papers.HANNA: "S4"}
AROUND = 300  # characters of the surroundings
_KINDS = "Theorem|Lemma|Corollary|Proposition|Fact|Remark"
_LISTED = "Algorithm|Figure|Table"
# Where a numbered statement begins. The texts differ: two keep the lines of the paper, one is a single line.
_STATEMENTS = {
    "S1": rf"^(?P<kind>{_KINDS}) (?P<number>\d+(?:\.\d+)?)\.?(?: \([^\n]*\))?\.$",
    "S2": rf"(?:^|(?<=[.] )|\*\*)(?P<kind>{_KINDS}) (?P<number>\d+)\.?"
    r"(?:\*\*| \((?:[^()]|\([^()]*\))*\)[.]?|\.) ",
    "S3": rf"(?<=[.\])\dO] )(?P<kind>{_KINDS}) (?P<number>\d+\.\d+)(?: \([^)]*\))?\. ",
    "S4": rf"^(?P<kind>{_KINDS}) (?P<number>\d+)\.$",
}
_LISTINGS = {
    "S1": r"^(?P<kind>Algorithm|Figure) (?P<number>\d+)(?=:| DP)",
    "S2": r"(?P<kind>Algorithm|Figure|Table) (?P<number>\d+)(?=:| DP Robust Upper| \(Adaptive\))"
    r"|(?P<garbled>gorithm\t\s*(?P<other>[34])\t)",
    "S3": r"(?P<kind>Algorithm) (?P<number>\d+)(?= PRM for| Private and)",
    "S4": r"^(?P<kind>Algorithm|Figure|Table) (?P<number>\d+)(?=:| )",
}
_PROOFS = {
    "S1": r"^Proof(?: of (?P<of>Lemma\s4\.2))?\.$",
    # Two lemmas are proved inside other proofs, right after they are stated.
    "S2": r"^(?:Proof \[of (?P<of>\w+ \d+)\]|In the following we will prove|We first bound the error of)",
    "S3": r"(?!)",
    "S4": r"^Proof\.$",
}
_SECTIONS = {
    "S1": r"^(?P<section>\d)(?:\.\d)? [A-Z]",
    "S2": r"^(?P<section>\d)(?:\.\d)? [A-Z]",
    "S3": r"(?!)",
    "S4": r"^(?:(?P<section>\d) [A-Z]|Appendix (?P<appendix>[A-Z]) )",
}


def texts():
    """The papers by their full titles; empty where their texts are not beside the clone."""
    found = {paper: SEEDS / name for paper, name in FILES.items()}
    if not all(path.is_file() for path in found.values()):
        return {}
    return {paper: path.read_text("utf-8") for paper, path in found.items()}


def pattern(quote):
    """Words as they are but for white space; formulas as LaTeX, with or without their plain text before.

    The texts of two papers hold each formula twice, as plain characters and as LaTeX without spaces between;
    ``[...]`` stands for up to 1500 characters that are left out.
    """
    parts = []
    for number, part in enumerate(quote.split("$")):
        if number % 2:
            symbols = r"\s*".join(re.escape(symbol) for symbol in re.sub(r"\s+", "", part))
            parts.append(rf"\S*?(?:\$+\s*)?{symbols}(?:\s*\$+)?")
        else:
            pieces = [r"\s+".join(map(re.escape, re.split(r"\s+", piece))) for piece in part.split("[...]")]
            parts.append(r".{0,1500}?".join(pieces))
    return re.compile("".join(parts), re.DOTALL)


def headings(short, text):
    """(position, name) of all statements, listings, proofs and sections of a paper, in order."""
    found = []
    for match in re.finditer(_STATEMENTS[short], text, re.MULTILINE):
        found.append((match.start(), f"{match['kind']} {match['number']}"))
    for match in re.finditer(_LISTINGS[short], text, re.MULTILINE):
        garbled = match.groupdict().get("other")
        name = f"Algorithm {garbled}" if garbled else f"{match['kind']} {match['number']}"
        found.append((match.start(), name))
    for match in re.finditer(_SECTIONS[short], text, re.MULTILINE):
        groups = match.groupdict()
        name = f"Section {groups['section']}" if groups["section"] else f"Appendix {groups['appendix']}"
        found.append((match.start(), name))
    for match in re.finditer(_PROOFS[short], text, re.MULTILINE):
        before = [name for at, name in sorted(found) if at < match.start() and name.split()[0] in _KINDS]
        of = (match.groupdict().get("of") or before[-1]).replace("\xa0", " ")
        found.append((match.start(), f"proof of {of}"))
    return sorted(found)


def places(short, text, position):
    """What stands at a position: the statement, listing or proof there, and the section."""
    before = [name for at, name in headings(short, text) if at <= position]
    sections = [name for name in before if name.startswith(("Section", "Appendix"))]
    return {*before[-1:], *sections[-1:]}


def found_in(short, text, quote):
    """Positions (start, end) of a quotation in the paper, where it stands in its place."""
    spans = [match.span() for match in pattern(quote.text).finditer(text)]
    return [span for span in spans if quote.place in places(short, text, span[0])]


def items(short, text):
    """The numbered statements and listings of a paper."""
    names = {name for _, name in headings(short, text)}
    numbered = [name for name in names if name.split()[0] in f"{_KINDS}|{_LISTED}".split("|")]
    return sorted(numbered, key=lambda name: (name.split()[0], [int(n) for n in name.split()[1].split(".")]))


def digest(words):
    """Of words, whatever the white space between them."""
    return hashlib.sha256(" ".join(words.split()).encode()).hexdigest()


def quotations():
    """(erratum, paper, quotation) of every row."""
    from verifiable_dp.registry.errata import registered

    return [(row.name, row.source.paper, quote) for row in registered() for quote in row.quotes]


def entry(text, span, erratum, quote):
    """What is kept of a quotation."""
    start, end = span
    return {
        "erratum": erratum,
        "place": quote.place,
        "quotation": digest(quote.text),
        "context": digest(text[max(start - AROUND, 0) : end + AROUND]),
    }


def made_anew():
    """The whole data file, from the texts."""
    found = texts()
    kept = {"texts": {}, "items": {}, "quotations": []}
    for paper, text in found.items():
        kept["texts"][SHORT[paper]] = hashlib.sha256(text.encode()).hexdigest()
        kept["items"][SHORT[paper]] = items(SHORT[paper], text)
    for erratum, paper, quote in quotations():
        spans = found_in(SHORT[paper], found[paper], quote)
        if not spans:
            raise SystemExit(f"{erratum}: not found in {SHORT[paper]}, {quote.place}: {quote.text}")
        kept["quotations"].append(entry(found[paper], spans[0], erratum, quote))
    return kept


if __name__ == "__main__":
    DATA.write_text(json.dumps(made_anew(), indent=1) + "\n", "utf-8")
