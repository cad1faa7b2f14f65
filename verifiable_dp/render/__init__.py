"""Every form that records and other data files are shown in."""
