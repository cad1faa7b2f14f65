"""The command `verifiable-dp`, also as `python -m verifiable_dp`."""

from verifiable_dp.core import paths
from verifiable_dp.core.crash import crashed


def main() -> None:
    """Run the command line; what it needs and cannot be imported is reported as a crash is."""
    try:
        paths.leave_out()
        from verifiable_dp.cli import main as command
    except Exception as error:
        crashed(error)
    command(prog_name="verifiable-dp")


if __name__ == "__main__":
    main()
