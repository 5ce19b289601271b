"""Whether a premise entails a hypothesis."""
