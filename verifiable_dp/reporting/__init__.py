"""Reports: the record, its verification and its renderings."""
