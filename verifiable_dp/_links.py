"""The subpackages `algorithms` and `auditors` are links; git may have written them as text files."""

from pathlib import Path

LINKS = ("algorithms", "auditors")


def check_links(package_dir: Path) -> None:
    """Raise ImportError if a link in `package_dir` was checked out as a regular file."""
    for name in LINKS:
        if (package_dir / name).is_file():
            raise ImportError(
                f"verifiable_dp/{name} is a text file where a symbolic link should be: "
                "clone again with `git -c core.symlinks=true clone URL`"
            )
