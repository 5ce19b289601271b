"""Training of the sentence ranker."""
