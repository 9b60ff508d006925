"""Names of machines without a scheme before them: where a message or a field says that a host is
named, and where a name has the form that clusters give theirs.

`host='node-17.hpc.acme.example'`, `connect to host gpu07 port 22`, `[node-17]:29500`,
`node-17:812:830 [0] NCCL INFO`, `srun: error: node-17: task 0`.
"""

from __future__ import annotations

from reprocheck.child.reprocheck_child.shared.everyday_names import HOSTS
from reprocheck.redaction.lists import LISTS
from reprocheck.redaction.patterns import Pattern, masked

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NAME = rf"{_LABEL}(?:\.{_LABEL}){{0,6}}"
_NUMBERED = r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9-])?\d"
"""The first label of a machine of a cluster: `node-17`, `gpu07`, `dgx-a100-03`."""
_OF_CLUSTER = rf"{_NUMBERED}(?:\.{_LABEL}){{0,6}}"
_END = r"(?![\w(\[-]|\.\w)"
_QUOTE = r"\\{0,2}[\"']"
"""As it is, and within another literal."""
_TOPS = "|".join(LISTS.tops_of_hosts)
_FIELDS = "host(?:_?name)?|node_?name|server|master_?addr(?:ess)?|rdzv_?endpoint|peer"
_LISTS = "node_?list|hosts|nodes"


def _tells_a_host(found: str) -> bool:
    """Return whether a name in the place of a host name identifies a host."""
    small = found.lower()
    is_number = small.replace(".", "").isdigit()
    return not is_number and small not in HOSTS and not small.endswith(LISTS.public_sites)


def _host(regex: str) -> Pattern:
    return masked("host name", regex, "<host>", _tells_a_host, group=1)


NAMED_HOSTS: tuple[Pattern, ...] = (
    # a field: in quotation marks whatever stands there, else what no expression looks like
    _host(
        rf"(?i)(?<![A-Za-z])(?:{_FIELDS})(?:{_QUOTE})?\s*[=:]\s*{_QUOTE}({_NAME})(?::\d+)?{_QUOTE}"
    ),
    _host(rf"(?<![A-Za-z])(?i:{_FIELDS})\s*[=:]\s*({_OF_CLUSTER}){_END}"),
    _host(rf"(?<![A-Za-z])(?i:{_LISTS})[\"']?\s*[=:]\s*[\"'\[]*([a-z][a-z0-9-]*\[[\d,-]+\])"),
    # messages of sockets, resolvers and clients
    _host(rf"(?i)(?<!\w)host(?: ?name)?:? [\"']?({_NAME})[\"']?(?= port \d|:\d| to address)"),
    _host(rf"(?i)(?<!\w)(?:resolve|lookup|unknown) host(?:name)?:? [\"']?({_NAME})(?![\w.(\[-])"),
    _host(rf"(?i)(?<!\w)(?:resolve|reach|connect to) '({_NAME})'(?= \(\[Errno)"),
    _host(rf"(?i)(?<!\w)(?:server at|connect(?:ion|ing|ed)? to) \"({_NAME})\""),
    _host(
        r"(?<!\w)(?i:server at|connect(?:ion|ing|ed)? to|reach|contact|ping"
        rf"|(?:refused|reset|closed) by(?: peer)?) [\"'\[]?({_OF_CLUSTER}){_END}"
    ),
    _host(rf"(?<!\w)(?i:connect(?:ion|ing|ed)? to|on|at) \[({_NAME})\](?=:\d)"),
    # logs of NCCL and Slurm
    _host(rf"(?<![\w.-])({_NAME})(?=:\d+:\d+ \[\d+\] NCCL)"),
    _host(rf"(?<!\w)(?:srun|slurmstepd): (?:error: |fatal: )?({_NAME})(?=: task)"),
    _host(rf"(?<!\w)(?:STEP|JOB) [\w.+]+ ON ({_NAME})(?= CANCELLED)"),
    # forms that other things do not have
    _host(rf"(?<![\w.@/-])({_NUMBERED}(?:\.{_LABEL}){{1,6}}\.(?:{_TOPS})){_END}"),
    _host(r"(?<![\w.@/-])((?:node|dgx|hgx|compute|login|worker|host)-?\d+)(?=:\d{4,5}(?!\w))"),
)
"""Tried before the patterns of `patterns`, in this order."""
