"""Verify the committed evidence and make some anew with the lowest, or the newest, versions of what we need.

    python tests/versions.py lowest|newest

An environment of its own is made in a temporary folder. The lowest versions are those that pyproject.toml
declares; they constrain what is installed, so that one that does not work with the others is found. What is
made anew has to verify there, with the committed verdicts, counts and words: these are equal on any versions.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
FREE = ("examined",)  # Hypothesis versions search in other ways
MADE = ("tree-sum", "shuffled-linear", "nas")
EXTRAS = ("fast", "learn", "plots", "frames")  # without which the committed records are not made
WHICH = ("lowest", "newest")


def constraints():
    """Lines for pip: every dependency at its lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = [*project["dependencies"], *(line for name in EXTRAS for line in extras[name])]
    bounds = [line.partition(">=") for line in declared]
    loose = [name for name, sign, _ in bounds if not sign]
    if loose:
        raise SystemExit(f"pyproject.toml: no lower bound for {', '.join(loose)}")
    return [f"{name}=={version}" for name, _, version in bounds]


def counted(value):
    """What has to be equal: all but floats."""
    if isinstance(value, dict):
        return {key: counted(item) for key, item in value.items() if key not in FREE}
    if isinstance(value, list):
        return [counted(item) for item in value]
    return "a float" if isinstance(value, float) else value


def evidence(path):
    """Verdicts and checks of a record, without floats and the words that depend on them."""
    record = json.loads(path.read_text("utf-8"))
    checks = [*record["checks"], *(record["regret"]["checks"] if record["regret"] else [])]
    checks += [check for mutant in record["mutants"] for check in mutant["checks"]]
    bare = [
        {"name": c["name"], **counted(c["statistics"]), "verdict": c["result"]["verdict"]} for c in checks
    ]
    return {"verdict": record["verdict"], "checks": bare}


def main(which):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "env", with_pip=True)
        (place / "constraints.txt").write_text("\n".join(constraints() if which == "lowest" else []) + "\n")
        binary = place / "env" / "bin"

        def run(name, *arguments):
            print("$", name, *arguments, flush=True)
            subprocess.run([binary / name, *map(str, arguments)], cwd=place, check=True)

        quiet = ("--quiet", "--disable-pip-version-check")
        run(
            "pip",
            "install",
            *quiet,
            "--upgrade",
            "-c",
            place / "constraints.txt",
            f"{ROOT}[{','.join(EXTRAS)}]",
        )
        run("pip", "freeze", "--all")
        run("verifiable-dp", "verify", ROOT / "reports")
        only = [word for name in MADE for word in ("--only", name)]
        run("verifiable-dp", "report", "--workers", "2", *only, "--out", place / "made")
        run("verifiable-dp", "verify", place / "made")
        made = sorted((place / "made").glob("*/record.json"))
        for path in made:
            found, known = evidence(path), evidence(ROOT / "reports" / path.parent.name / "record.json")
            other = [
                pair for pair in zip(known["checks"], found["checks"], strict=True) if pair[0] != pair[1]
            ]
            if found != known:
                raise SystemExit(
                    f"{path.parent.name}: committed and made: {other[0] if other else 'verdicts'}"
                )
        print(f"{which}: committed evidence holds, {len(made)} records come out again")


if __name__ == "__main__":
    if sys.argv[1:] not in [[which] for which in WHICH]:
        raise SystemExit(__doc__)
    main(sys.argv[1])
