"""Class weights for draw_at_import_fixed.py, from a generator with a seed."""

import numpy

WEIGHTS = numpy.random.default_rng(0).uniform(0.5, 2.0, 4)
