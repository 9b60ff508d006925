"""Settings of which Python makes the `__init__` from text, in a module that the script imports."""

import dataclasses
import datetime
import os
import secrets
import time
import uuid

import attr


@dataclasses.dataclass
class Fields:
    time_ns: int = dataclasses.field(default_factory=time.time_ns)
    now: datetime.datetime = dataclasses.field(default_factory=datetime.datetime.now)
    uuid: object = dataclasses.field(default_factory=uuid.uuid4)
    token: str = dataclasses.field(default_factory=secrets.token_hex)
    pid: int = dataclasses.field(default_factory=os.getpid)


@dataclasses.dataclass
class Nested:
    fields: Fields = dataclasses.field(default_factory=Fields)


@attr.s(auto_attribs=True)
class Attrs:
    time_ns: int = attr.Factory(time.time_ns)
    uuid: object = attr.Factory(uuid.uuid4)


Made = dataclasses.make_dataclass("Made", [("time_ns", int, dataclasses.field(default_factory=time.time_ns))])

EXECUTED: dict[str, object] = {}
exec("import time\nread = time.time_ns()", globals(), EXECUTED)
