"""Names of users and hosts that are everyday words, and identify nobody."""

from __future__ import annotations

_USERS = (
    "root user users admin administrator ubuntu debian centos fedora ec2-user azureuser runner"
    " jenkins gitlab-runner circleci docker nobody guest test tester dev developer build builder ci"
    " work worker app data model models train trainer training python torch jovyan vagrant pi"
    " ma-user main node host server none null true false loss seed"
)
_HOSTS = (
    "localhost localdomain host vm node server docker container ubuntu debian buildkitsandbox none"
    " null"
)
USERS, HOSTS = frozenset(_USERS.split()), frozenset(_HOSTS.split())
