"""What a record means for compliance: hazards, guidance, and blocks for reviewers."""
