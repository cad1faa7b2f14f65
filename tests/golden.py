"""Golden compliance documents, one for each kind of target; `python -m tests.golden` makes them anew."""

import json
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from tests.commands import finished

FOLDER = Path(__file__).parent / "unit" / "compliance" / "golden"
_USER = ("--epsilon", 1, "--budget", "smoke", "--runs", 400)
_CATALOGUE = ("--budget", 0.02)
PROGRAM = shlex.join([sys.executable, "-S", "command.py"])
AUDITS = {
    "algorithm": ("tree-sum", *_CATALOGUE),
    "printed": ("adaptive-tree", "--set", "variant=printed", *_CATALOGUE),
    "baseline": ("ucb1", *_CATALOGUE),
    "play": ("programs.py:play", "--arms", 2, "--horizon", 4, *_USER),
    "play_many": ("programs.py:play_many", "--arms", 2, "--horizon", 4, *_USER),
    "release": ("programs.py:release", *_USER),
    "contexts": (
        *("programs.py:contextual", "--arms", 2, "--horizon", 4, "--contexts", "2x2", "--model", "joint"),
        *_USER,
    ),
    "command": ("--exec", PROGRAM, *_USER),
}
# What names the run, the machine, the versions and the state of the repository, and not the target.
RUN = (
    "created",
    "record",
    "run/environment",
    "run/execution",
    "run/ci",
    "run/invocation/command",
    "run/invocation/config_digest",
    "run/invocation/version",
    "subject/distribution",
    "subject/sampler/version",
    "subject/source/digest",
    "subject/source/digest_file",
    "subject/source/dirty",
    "subject/source/line",
    "subject/source/uri",
)


def without_run(document):
    """A document without the places of `RUN`, each of which has to be there."""
    kept = json.loads(json.dumps(document))
    for place in RUN:
        *folders, name = place.split("/")
        inside = kept
        for folder in folders:
            inside = inside[folder] or {}
        if inside:
            del inside[name]
    return kept


def made(kind, folder):
    """The document of a kind of target, made by the command line in an empty folder, as text."""
    for name in ("programs.py", "command.py"):
        shutil.copy(FOLDER / name, folder)
    audit = finished(folder, "audit", *AUDITS[kind], "--json", "record.json")
    assert audit.returncode in (0, 1, 3), audit.stderr
    done = finished(folder, "render", "record.json", "--to", "compliance", "--out", "document.json")
    assert done.returncode == 0, done.stderr
    text = Path(folder, "document.json").read_text("utf-8").replace(PROGRAM, "python -S command.py")
    return json.dumps(without_run(json.loads(text)), indent=1, ensure_ascii=False) + "\n"


def main():
    for kind in AUDITS:
        with tempfile.TemporaryDirectory() as folder:
            (FOLDER / f"{kind}.json").write_text(made(kind, folder), "utf-8")
        print(FOLDER / f"{kind}.json")


if __name__ == "__main__":
    main()
