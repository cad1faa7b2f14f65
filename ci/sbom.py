"""Print a bill of materials (CycloneDX 1.5, JSON) of a lock: `python ci/sbom.py ci/requirements.lock`."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

_PROJECT = Path(__file__).parents[1] / "pyproject.toml"
_ROW = re.compile(r"^([\w.-]+)==([^\s;\\]+)[^\n]*((?:\n\s+(?:--hash|#)[^\n]*)*)", re.MULTILINE)


def bill(lock: str) -> dict[str, object]:
    """The bill of what a lock file names, each package with the digests of its files."""
    own = tomllib.loads(_PROJECT.read_text("utf-8"))["project"]["name"]
    rows = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{name}@{version}",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name}@{version}",
            "hashes": [
                {"alg": "SHA-256", "content": digest}
                for digest in re.findall(r"--hash=sha256:([0-9a-f]{64})", rest)
            ],
        }
        for name, version, rest in _ROW.findall(lock)
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": own, "name": own}},
        "components": rows,
        "dependencies": [{"ref": own, "dependsOn": [row["bom-ref"] for row in rows]}],
    }


if __name__ == "__main__":
    print(json.dumps(bill(Path(sys.argv[1]).read_text("utf-8")), indent=1))
