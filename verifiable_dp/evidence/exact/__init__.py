"""The law of what is seen, by quadrature, and the worst neighbours by search."""
