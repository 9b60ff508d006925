"""What the parts of a check find out, as values: a module for each of them."""
