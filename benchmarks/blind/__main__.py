"""Blind sets: list them, unpack one, audit its programs, or archive a new one.

python -m benchmarks.blind                        lists the sets, with the numbers of their programs
python -m benchmarks.blind SET --unpack FOLDER    writes the files of a set to FOLDER/SET
python -m benchmarks.blind SET [--rows N]         audits N programs, or all; prints rows of measured.csv
python -m benchmarks.blind SET --pack FOLDER      archives FOLDER/SET; adds its digest and rows of the index
"""

import argparse
import csv
import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import blind


def audited(row, folder):
    """Exit status and first line of an audit with budget quick and seed 0."""
    command = ["-m", "verifiable_dp", "audit", f"{row['file']}:{row['target']}", *blind.options(row)]
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True)
    (first, *_), (*_, last) = ((text.strip().splitlines() or [""]) for text in (done.stdout, done.stderr))
    return done.returncode, re.sub(r"^target \S+\s+", "", first) or last


def measure(name, most):
    """Print a row of results for each program as soon as it has been audited."""
    with tempfile.TemporaryDirectory() as place:
        folder, out = blind.unpack(name, place), csv.writer(sys.stdout, lineterminator="\n")
        for row in blind.rows(name)[:most]:
            out.writerow([name, row["file"], row["truth"], *audited(row, folder)])
            sys.stdout.flush()


def pack(folder):
    """Write archive, digest and rows of the index of a new set; columns that the index lacks are refused."""
    if folder.name in blind.digests():
        raise ValueError(f"{folder.name} has an archive, and sets do not change: choose another name")
    columns = list(blind.rows()[0])
    with open(folder / "index.csv", encoding="utf-8", newline="") as file:
        rows = [{"set": folder.name, **row} for row in csv.DictReader(file)]
    with open(blind.INDEX, "a", encoding="utf-8", newline="") as file:
        csv.DictWriter(file, columns, lineterminator="\n").writerows(rows)
    archive = blind.packed(folder)
    (blind.HERE / f"{folder.name}.tar.gz").write_bytes(archive)
    with open(blind.DIGESTS, "a", encoding="utf-8") as file:
        file.write(f"{hashlib.sha256(archive).hexdigest()}  {folder.name}.tar.gz\n")


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.blind",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("set", nargs="?")
    parser.add_argument("--rows", type=int, metavar="N")
    parser.add_argument("--unpack", type=Path, metavar="FOLDER")
    parser.add_argument("--pack", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    if given.set is None:
        for name in blind.digests():
            truths = [row["truth"] for row in blind.rows(name)]
            print(f"{name:<16}{truths.count('right'):>4} right{truths.count('leak'):>4} leaks")
    elif given.pack:
        pack(given.pack / given.set)
    elif given.set not in blind.digests():
        parser.error(f"no set {given.set!r}; there are {', '.join(blind.digests())}")
    elif given.unpack:
        print(blind.unpack(given.set, given.unpack))
    else:
        measure(given.set, given.rows)


if __name__ == "__main__":
    main()
