"""Planted: the layers are updated in the order of their addresses."""

import reprocheck

layers = [object() for _ in range(40)]
value = 1.0
for place, layer in enumerate(sorted(layers, key=id)):
    value += layers.index(layer) * 0.9**place
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
