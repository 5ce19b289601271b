"""How good a partial answer is."""
