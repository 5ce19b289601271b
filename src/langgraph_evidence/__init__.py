"""Published methods of answering from evidence, each one LangGraph state machine."""
