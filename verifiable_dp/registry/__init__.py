"""What an auditor, a mutant, an erratum and a study are, and the entry points that list them."""
