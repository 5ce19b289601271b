"""Training of the entailment head."""
