"""Which sentences matter to a question or claim."""
