"""The parts of the closed world: names, facts, the text of passages, questions and claims."""
