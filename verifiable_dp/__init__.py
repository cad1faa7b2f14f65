"""Audit the differential-privacy and regret claims of randomised algorithms."""

from pathlib import Path

from verifiable_dp._links import check_links

check_links(Path(__file__).parent)
