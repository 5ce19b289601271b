"""Causal language models on this machine."""
