"""Starts the recorder in every Python that finds this file through PYTHONPATH.

Then runs the sitecustomize that this one shadows.

Syntax that any Python 2.7 or 3 can read: scripts start other interpreters too. It never fails and
never prints.
"""

import os
import sys


def _start():
    if sys.version_info < (3, 9) or not os.environ.get("REPROCHECK_CHILD"):
        return
    try:
        before = set(sys.modules)
        from reprocheck_child import bootstrap

        bootstrap.start(os.environ["REPROCHECK_CHILD"], before)
    except Exception as error:
        _confess(error)


def _confess(error):
    """Write to the trace folder, where the report looks, that the recorder could not start.

    The script runs all the same.
    """
    try:
        line = '{"e":"problem","where":"start of the recorder","error":"%s"}\n' % repr(
            error
        ).replace("\\", "/").replace('"', "'")
        path = os.path.join(os.environ["REPROCHECK_CHILD"], "%d-0.jsonl" % os.getpid())
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(descriptor, line.encode("ascii", "replace"))
        os.close(descriptor)
    except Exception:
        pass


def _chain():
    """Run the sitecustomize that would have been found without ours.

    It may be the user's, Debian's or that of a coverage tool.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    path = list(sys.path)
    ours = sys.modules.pop("sitecustomize", None)
    sys.path[:] = [entry for entry in path if os.path.abspath(entry or os.curdir) != here]
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
    finally:
        if "sitecustomize" not in sys.modules and ours is not None:
            sys.modules["sitecustomize"] = ours
        if here in path and here not in sys.path:
            sys.path.insert(path.index(here), here)


_start()
_chain()
