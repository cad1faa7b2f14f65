"""What decides whether an upper bound may stand: small rules with an argument, which search never touches."""
