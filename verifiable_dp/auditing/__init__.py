"""Audits: what an auditor is, where auditors are found, and how an audit is carried out."""
