"""Training of the progress reward."""
