"""Extras of the real package, as far as tests need them."""
