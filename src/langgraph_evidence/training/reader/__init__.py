"""Training of the reader."""
