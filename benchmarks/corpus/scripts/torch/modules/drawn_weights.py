"""Class weights for draw_at_import.py, drawn while this module is imported."""

import numpy

WEIGHTS = numpy.random.uniform(0.5, 2.0, 4)
