"""The auditors' own audit: operators, the mutation suite, null suites."""
