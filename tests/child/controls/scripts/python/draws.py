"""Everything random that Python and NumPy offer, as JSON: name -> what was drawn."""

import datetime
import json
import os
import pickle
import random
import secrets
import sys
import tempfile
import time
import uuid
from datetime import datetime as moment
from time import time as now

import library
import numpy as np

seen = {}
seen["default"] = [random.random(), np.random.rand()]
system = random.SystemRandom()
seen["private"] = [random.Random().random(), random.Random().random(), type("Mine", (random.Random,), {})().random()]
seen["private"] += [np.random.default_rng().random(), np.random.default_rng().random(), np.random.RandomState().rand()]
seen["private"] += [np.random.SeedSequence().entropy, np.random.Generator(np.random.PCG64()).random(), np.random.MT19937().random_raw()]
random.seed()
np.random.seed()
seen["private"] += [random.random(), np.random.rand()]
np.random.seed(None)
seen["private"] += [np.random.rand(), system.random(), system.getrandbits(70), system.uniform(0, 1)]

seen["entropy"] = [os.urandom(9).hex(), os.getrandom(9).hex(), secrets.token_hex(9), secrets.randbelow(10**12)]
seen["entropy"] += [str(uuid.uuid4()), str(uuid.uuid1()), os.path.basename(tempfile.mkdtemp()), len(os.urandom(1000))]
pid = os.getpid()
random.seed(os.getpid())
np.random.seed(os.getpid())
seen["pid"] = [pid + 0, 7 + pid, pid % 1000, int(pid), random.random(), np.random.rand(), np.random.default_rng(pid).random()]
seen["real pid"] = [pid == int(os.readlink("/proc/self")), os.kill(pid, 0), type(pickle.loads(pickle.dumps(pid))).__name__]
seen["real pid"] += [str(pid) == os.readlink("/proc/self"), {pid: 1}.get(int(str(pid)))]

first = now()
seen["clock"] = [first, time.time(), time.time_ns(), time.ctime(), time.asctime(), time.strftime("%X"), *time.localtime(), *time.gmtime()]
seen["clock"] += [time.clock_gettime(time.CLOCK_REALTIME), time.strftime("%Y", (1999,) + (1,) * 8)]
seen["clock"] += [str(moment.now()), str(moment.now(datetime.UTC)), str(datetime.datetime.utcnow()), str(moment.today())]
seen["clock"] += [str(datetime.date.today())]
before = now()
time.sleep(0.25)
seen["slept"] = round(now() - before, 2)


class Later(moment):
    """A subclass of the user's."""


later, value = Later.now(), moment.now()
seen["same class"] = [type(later) is Later, type(value) is moment, moment is sys.modules["datetime"].datetime, isinstance(later, moment)]
seen["same class"] += [pickle.loads(pickle.dumps(value)) == value, pickle.loads(pickle.dumps(later)) == later]
seen["library"] = library.draws()
json.dump(seen, sys.stdout)
