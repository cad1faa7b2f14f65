"""Evidence: alignment, black-box tests and regret checks; each yields a `Check` that can be judged again."""
