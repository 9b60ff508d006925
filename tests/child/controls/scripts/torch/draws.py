"""Draws from generators that nobody seeds, and from ones that are seeded from the system, in the main process and a fork."""

import json
import os
import sys

import torch

first = torch.rand(2).tolist()
initial = torch.initial_seed()
constant = torch.rand(2, generator=torch.Generator()).tolist()
generators = [torch.Generator() for _ in range(2)]
seeds = [generator.seed() for generator in generators]
drawn = [torch.rand(2, generator=generator).tolist() for generator in generators]
again = torch.seed()
late = torch.rand(2).tolist()
read, write = os.pipe()
if os.fork() == 0:
    own = torch.Generator()
    os.write(write, json.dumps(own.seed()).encode())
    os._exit(0)
os.wait()
forked = json.loads(os.read(read, 1000))
torch.manual_seed(7)
mine = torch.rand(2).tolist()
kept = [type(generators[0]) is torch.Generator, isinstance(torch.default_generator, torch.Generator)]
kept.append(generators[0].initial_seed() == seeds[0])
print(json.dumps({"first": first, "initial": initial, "constant": constant, "seeds": seeds, "drawn": drawn, "again": again}))
print(json.dumps({"late": late, "forked": forked, "mine": mine, "kept": kept, "version": sys.version_info[:2]}))
