"""The working directory of the runs: its state is kept, and put back after them."""
