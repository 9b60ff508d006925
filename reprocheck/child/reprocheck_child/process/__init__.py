"""Facts about the process itself: its rank, its threads, its environment, the user's files."""
