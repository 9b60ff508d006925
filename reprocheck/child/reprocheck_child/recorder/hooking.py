"""The one way to hook a framework: puts functions in place of others, and contains errors.

What the user's own function raises passes through untouched; what the recorder raises becomes a
`problem` in the trace, and the script goes on.

- `guarded` stands around what the recorder does for itself.
- `around` calls it before or after a function of a framework.
- `replace` is for what `around` cannot say: other arguments, another result, no call at all.
- `install` runs the hooks of a framework and says what became of each.
"""

from __future__ import annotations

import sys

from . import current_recorder

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Callable, ParamSpec

    P = ParamSpec("P")

_ANNOTATIONS = "__annotate__" if sys.version_info >= (3, 14) else "__annotations__"
"""Python 3.14 evaluates annotations only when they are asked for; they may name what is not there
yet.
"""
_NAMED = ("__module__", "__name__", "__qualname__", "__doc__", "__type_params__", _ANNOTATIONS)


def problem(what: str, error: Exception) -> None:
    """Record an error of the recorder itself in the trace."""
    if current_recorder.RECORDER is not None:
        current_recorder.RECORDER.problem(what, error)


class guarded:  # noqa: N801
    """Contain errors of the recorder: an error becomes a `problem` in the trace.

    Used as `with guarded("what")`, or as `@guarded("what")` on a function.

    what       what the recorder is doing, for the trace: "before an update"
    otherwise  what the decorated function returns after an error
    tell       called with `what` and the error
    """

    __slots__ = ("otherwise", "tell", "what")

    def __init__(
        self,
        what: str,
        otherwise: Any = None,
        tell: Callable[[str, Exception], None] = problem,
    ) -> None:
        self.what = what
        self.otherwise = otherwise
        self.tell = tell

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self.tell(self.what, error)
        return True

    def __call__(self, function: Callable[P, Any]) -> Callable[P, Any]:
        what, otherwise, tell = self.what, self.otherwise, self.tell

        def run(*args: P.args, **named: P.kwargs) -> Any:
            try:
                return function(*args, **named)
            except Exception as error:
                tell(what, error)
                return otherwise

        hooked: Callable[P, Any] = named_like(run, function)
        return hooked


def install(framework: Any, steps: Mapping[str, Callable[[], object]]) -> dict[str, str]:
    """Run the steps that put the hooks of a framework in place.

    A step that fails in this version of the framework does not prevent the other steps. Return for
    each step `"ok"`, or why the hook is missing.
    """
    return {name: attempt(framework, step) for name, step in steps.items()}


def attempt(framework: Any, step: Callable[[], object]) -> str:
    """Run one step; return `"ok"`, or why the hook is missing."""
    try:
        step()
    except Exception as error:
        version = getattr(framework, "__version__", "?")
        return "not available in %s %s: %r" % (framework.__name__, version, error)
    return "ok"


class Builtin:
    """Stand in for a function written in C.

    As an attribute of a class, the stand-in is not bound to instances, unlike a Python function.
    """

    def __repr__(self) -> str:
        return "<built-in function %s>" % self.__name__  # type: ignore[attr-defined]

    def __reduce__(self) -> str:
        """Pickle and copy this object by its name, as functions are."""
        return str(self.__qualname__)  # type: ignore[attr-defined]


def like(wrapper: Any, real: Any) -> Any:
    """Return `wrapper` in a form that can take the place of `real`.

    It has the names, documentation, attributes and signature of `real`, and is unbound where that
    is.
    """
    if isinstance(real, (type(len), Builtin)):
        wrapper = type(
            "builtin_function_or_method", (Builtin,), {"__call__": staticmethod(wrapper)}
        )()
    return named_like(wrapper, real)


def named_like(wrapper: Any, real: Any) -> Any:
    """Return `wrapper` with all that `functools.wraps` gives it.

    Python loads `functools` only for some scripts.
    """
    for name in _NAMED:
        try:
            setattr(wrapper, name, getattr(real, name))
        except (AttributeError, TypeError):
            pass
    wrapper.__dict__.update(getattr(real, "__dict__", {}))
    wrapper.__wrapped__ = real
    return wrapper


def replace(
    owner: Any, name: str, make: Any, also: Iterable[Any] = (), put: Callable[..., None] = setattr
) -> bool:
    """Replace `owner.name` by `make(real)` if there is such a function; return whether there is.

    also  other modules that may hold the same function by this name; None, and modules that hold
          another object, are left alone
    put   sets the attribute: see `Removable`
    """
    real = getattr(owner, name, None)
    if real is None:
        return False
    new = like(make(real), real)
    for module in also:
        if getattr(module, name, None) == real:
            put(module, name, new)
    # a plain function in a class would be bound to its instances
    if isinstance(getattr(owner, "__dict__", {}).get(name), staticmethod):
        new = staticmethod(new)
    put(owner, name, new)
    return True


def around(
    owner: Any,
    name: str,
    what: str,
    *,
    before: Callable[..., Any] | None = None,
    after: Callable[..., Any] | None = None,
    also: Iterable[Any] = (),
    put: Callable[..., None] = setattr,
) -> None:
    """Call `before` with the arguments of `owner.name`, and `after` with its result and arguments.

    Errors of both are contained and named by `what`.

    `before` may return a function: it is called with what the real one returned. Raises
    AttributeError where `owner` has no such function.
    """

    def make(real: Any) -> Callable[..., Any]:
        if before is not None:
            real = _with_before(real, before, what)
        return real if after is None else _with_after(real, after, what)

    if not replace(owner, name, make, also, put):
        raise AttributeError("%r has no %s" % (owner, name))


def _with_before(real: Any, before: Callable[..., Any], what: str) -> Callable[..., Any]:
    def hooked(*args: Any, **named: Any) -> Any:
        then = None
        try:
            then = before(*args, **named)
        except Exception as error:
            problem(what, error)
        returned = real(*args, **named)
        if then is not None:
            try:
                then(returned)
            except Exception as error:
                problem(what, error)
        return returned

    return hooked


def _with_after(real: Any, after: Callable[..., Any], what: str) -> Callable[..., Any]:
    def hooked(*args: Any, **named: Any) -> Any:
        returned = real(*args, **named)
        try:
            after(returned, *args, **named)
        except Exception as error:
            problem(what, error)
        return returned

    return hooked


def set_in_type(kind: Any, name: str, value: Any) -> None:
    """Set an attribute of a C type, whose `__setattr__` refuses new values.

    The attribute is set in the type's own dictionary, and the type's cache is invalidated.
    """
    try:
        setattr(kind, name, value)
        return
    except TypeError:
        pass
    import ctypes  # few runs need it
    import gc

    attributes = next(
        each for each in gc.get_referents(kind.__dict__) if type(each) is dict and name in each
    )
    attributes[name] = value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
    if kind.__dict__[name] is not value:
        raise TypeError("the type %s keeps its own %s" % (kind.__name__, name))


_ABSENT = object()


class Removable:
    """Keep the hooks of one process, and remove all of them at once.

    A script may have kept a wrapper and call it later. Therefore each wrapper first asks `gone`,
    and if the hooks are gone only calls the function that it wraps.
    """

    def __init__(self) -> None:
        self.gone = False
        # owner, name, what stood there before, and what stands there since
        self._put: list[tuple[Any, str, Any, Any]] = []
        self._handles: list[Any] = []

    def put(self, owner: Any, name: str, new: Any) -> None:
        """Set an attribute of a module or a class until `remove`; afterwards it stays as it is."""
        if self.gone:
            return
        before = vars(owner).get(name, _ABSENT)
        setattr(owner, name, new)
        self._put.append((owner, name, before, vars(owner)[name]))

    def hold(self, handle: Any) -> None:
        """Keep the handle of a registration, whose `remove` is called together with all hooks."""
        if self.gone:
            handle.remove()
        else:
            self._handles.append(handle)

    def quiet(self, look: Callable[..., Any] | None) -> Callable[..., Any] | None:
        """Wrap `look`, so that it is no longer called once the hooks are gone."""
        if look is None:
            return None

        def looking(*args: Any, **named: Any) -> Any:
            return None if self.gone else look(*args, **named)

        return looking

    def around(
        self,
        owner: Any,
        name: str,
        what: str,
        *,
        before: Callable[..., Any] | None = None,
        after: Callable[..., Any] | None = None,
    ) -> None:
        """Wrap as the function `around` does, until `remove`."""
        before, after = self.quiet(before), self.quiet(after)
        around(owner, name, what, before=before, after=after, put=self.put)

    def remove(self) -> None:
        """Restore the original functions, in the reverse order.

        If somebody has wrapped one of the hooks since, that wrapper stays.
        """
        self.gone = True
        for handle in self._handles:
            handle.remove()
        for owner, name, before, ours in reversed(self._put):
            if vars(owner).get(name) is not ours:
                continue
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        self._handles.clear()
        self._put.clear()
