"""`python -m verifiable_dp`, as the command `verifiable-dp`."""

from verifiable_dp.cli import main

if __name__ == "__main__":
    main(prog_name="verifiable-dp")
