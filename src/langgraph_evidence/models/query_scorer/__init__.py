"""FuRePA's query scorer."""
