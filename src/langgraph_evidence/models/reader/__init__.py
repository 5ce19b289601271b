"""The answer that passages give."""
