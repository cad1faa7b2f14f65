"""Programs that were written blind: one archive a set, and one index and one table of results for all sets.

`docs/ten-leaks.md` says how a set is made and what the sets showed. `python -m benchmarks.blind` lists the
sets, unpacks one, audits its programs, or makes the archive of a new one.
"""

import csv
import gzip
import hashlib
import io
import tarfile
from pathlib import Path

HERE = Path(__file__).parent
INDEX, MEASURED, DIGESTS = HERE / "index.csv", HERE / "measured.csv", HERE / "SHA256SUMS"
BOUNDS = HERE / "bounds.csv"  # upper bounds without samples, of sets of which these were measured alone


def rows(name=None, table=INDEX):
    """Rows of a table of one set, or of all: dictionaries of strings, empty where a set says nothing."""
    with open(table, encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if name in (None, row["set"])]


def digests():
    """SHA-256 of each archive, by the name of its set, oldest set first."""
    lines = DIGESTS.read_text("utf-8").splitlines()
    return {name.removesuffix(".tar.gz"): digest for digest, name in map(str.split, lines)}


def options(row):
    """What `verifiable-dp audit FILE:TARGET` is told of a program, for instance its claim."""
    named = {"--epsilon": row["epsilon"], "--model": row["model"]}
    if row["delta"] != "0":
        named["--delta"] = row["delta"]
    if row["arms"] != "0":  # a mechanism has none
        named |= {"--arms": row["arms"], "--horizon": row["arms"] and row["horizon"]}
    if row["contexts"]:
        named["--contexts"] = f"{row['arms']}x{row['contexts']}"
    if row["reward"]:
        named["--reward"] = f"{row['file']}:{row['reward']}"
    words = [word for name, value in named.items() if value for word in (name, value)]
    words += ["--own-neighbours"] * (row["arms"] == "0")
    return words + [word for one in row["parameters"].split(";") if one for word in ("--set", one)]


def read(name):
    """The archive of a set; refused if it is not the one whose digest is kept."""
    archive = (HERE / f"{name}.tar.gz").read_bytes()
    if hashlib.sha256(archive).hexdigest() != digests()[name]:
        raise ValueError(f"{name}.tar.gz is not the archive that {DIGESTS.name} names")
    return archive


def unpack(name, folder):
    """Write a set to `folder`/`name`, which is returned; nothing is written outside it."""
    with tarfile.open(fileobj=io.BytesIO(read(name))) as archive:
        archive.extractall(folder, filter="data")
    return Path(folder, name)


def packed(folder):
    """The archive of a folder, which depends on names and contents of its files alone."""
    made = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", fileobj=made, mtime=0) as pressed,
        tarfile.open(fileobj=pressed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path in sorted(folder.rglob("*"), key=Path.as_posix):
            if path.is_file() and "__pycache__" not in path.parts:
                member = tarfile.TarInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}")
                member.size = path.stat().st_size  # time, owner and mode are those of a new TarInfo
                archive.addfile(member, io.BytesIO(path.read_bytes()))
    return made.getvalue()
