"""Digests of what is said about test programs and committed records: no change of it goes unseen.

To change what is said on purpose, look at the names that fail, then write new digests:

    NOTES=write python -m pytest tests/unit/evidence tests/unit/render/test_renderings.py -q -p no:xdist
"""

import hashlib
import json
import os
from pathlib import Path

PLACE = Path(__file__).parent / "data" / "notes.json"


def held(name, said):
    """Fail unless this is said under a name, as `PLACE` holds it."""
    digest = hashlib.sha256(said).hexdigest()[:12]
    known = json.loads(PLACE.read_text("utf-8"))
    if os.environ.get("NOTES") == "write":
        known[name] = digest
        PLACE.write_text(json.dumps(known, indent=0, sort_keys=True) + "\n", "utf-8")
    assert known.get(name) == digest, f"of {name} something else is said: see tests/notes.py"
