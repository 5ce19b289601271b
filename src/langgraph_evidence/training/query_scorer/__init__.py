"""Training of the query scorer."""
