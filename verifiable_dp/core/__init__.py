"""What an audit is made of: algorithms, noise, mechanisms, claims, neighbours, environments, simulation."""
