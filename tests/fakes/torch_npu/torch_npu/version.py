"""Version of the fake, in the places where the real package has them."""

__version__ = "2.13.0+fake"
git_version = "fake"
