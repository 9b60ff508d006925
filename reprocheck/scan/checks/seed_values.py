"""Find seeds that have a different value in each run.

Also seeding calls that seed nothing, and the place of a missing seed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter

from reprocheck.language import mark, tr
from reprocheck.rules.catalogue import Severity
from reprocheck.scan import syntax
from reprocheck.scan.checks import entropy, hyper, streams, tables, training
from reprocheck.scan.checks.streams import at, every, given, place, short, title
from reprocheck.scan.index import holds
from reprocheck.scan.names import last_part
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, check_orders, hit
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Value, is_none, literal
from reprocheck.scan.vocabulary import names

_NONE_HERE = mark("Give `{word}` a seed: it is `None` here.")
STATE = "random_state"
"""The keyword of scikit-learn and its like."""
_CALLING = (ast.Call, ast.Await, ast.Lambda, ast.NamedExpr, ast.Yield, ast.Starred)


def seed_place(order: Order, draw: Call) -> Mapping[str, str]:
    """Return the evidence where a seed for a draw goes; empty if it cannot be written.

    Beside an early seed, else at the top of the program; none in a notebook.

    seed_path    the file to which the patch adds the seed
    seed_beside  the line of the program's call that seeds another generator, whose number the new
                 seed takes
    seed_above   the line of the file above which the seed must come, if there is no such call
    seed_text    the text of that line
    """
    for seed in streams.seedings(order):
        call = seed.call
        is_written = not is_none(_given(call)) and _is_plain(call)
        is_editable = not call.module.source.cells and not call.module.outside
        if not is_written or not is_editable:
            continue
        is_once = call.happens_once and len(order.at(call.module, call.node)) == 1
        is_sure = set(draw.conditions).issuperset(call.conditions)
        if is_once and is_sure and order.is_before(call, draw):
            return {"seed_beside": str(call.line), **_of_line(call.module, call.line)}
    if order.root.source.cells:
        return {}
    if draw.through:
        _, first_call = draw.through[0]
        line = getattr(first_call, "lineno", 1)
    elif draw.module is order.root:
        line = draw.line
    else:
        imports = (step for step in order.imports() if step.module is order.root)
        lines = [step.line for step in imports if order.is_before(step, draw)]
        line = [1, *lines][-1]
    return {"seed_above": str(line), **_of_line(order.root, line)}


def seed_argument(drawing: streams.Drawing) -> Mapping[str, str]:
    """Return the keyword under which a drawing call takes its seed.

    With advice if the call already has this keyword.
    """
    word = "generator"
    if STATE in drawing.draws.unless:
        word = STATE
    if word in drawing.call.keywords:
        return {"seed_keyword": word, "by_hand": tr(_NONE_HERE, word=word)}
    return {"seed_keyword": word}


def later_number(seeds: Call) -> Mapping[str, str]:
    """Return the number with which the program seeds later, as evidence.

    Empty if it is no plain integer.
    """
    seed = literal(_given(seeds))
    if type(seed) is int:
        return {"seed_number": str(seed)}
    return {}


def _given(seeds: Call) -> Value | None:
    """Return the seed that a seeding call gets; None if it gets or takes none."""
    keyword = _keyword(seeds)
    if not keyword:
        return None
    return seeds.argument(0, keyword)


def _keyword(seeds: Call) -> str:
    """Return the keyword of a seeding call for its seed, as `seed`."""
    return getattr(tables.seeds().get(seeds.name), "keyword", "")


def _of_line(module: Module, line: int) -> Mapping[str, str]:
    return {"seed_path": module.shown, "seed_text": module.source.line(line)}


def _is_plain(seeds: Call) -> bool:
    """Return whether the seed of a seeding call can be written twice: it contains no call."""
    match seeds.node:
        case ast.Call(args=arguments, keywords=keywords):
            named = {one.arg: one.value for one in keywords}
            first = next(iter(arguments), None)
            given = named.get(_keyword(seeds), first)
            return given is not None and not holds(given, *_CALLING)
    return False


_MADE_HERE = mark("Make it a fixed number here.")
_NUMBERS = names("seeds", "numbers")
_FIXED = mark("Give `{name}` a fixed seed.")
_ANOTHER_EACH_TIME = mark(
    "Give `{name}` a number from a generator that is seeded at the start: a fixed one would begin"
    " the same draws each time."
)
_SEEDED = mark("Seed {name} at the start of the program.")
_BY_RANK = mark("Give `{name}` a fixed seed; where ranks shall differ, add the rank.")
_BY_WORKER = mark(
    "Seed from `torch.initial_seed() % 2**32` here, and give the loader a seeded `generator`."
)
"""What to do where no patch is made."""
_KEYWORDS = names("seeds", "keywords")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Changing:
    """A seed that has a different value in each run.

    code       the code of the rule that the seed breaks
    call       the call that takes the seed, or seeds from OS entropy itself
    message    what is wrong, for the report
    made       the call that makes the number; None if `call` itself does, or is to be changed
    severity   replaces that of the rule; None keeps that of the rule
    by_hand    how to change the code without a patch; empty for the rule's fix
    drawn      evidence where and how to seed the generator from which `made` draws the number
    base_seed  `seeded` if torch is seeded before the loader whose workers set it, else empty
    """

    code: str
    call: Call
    message: str
    made: Call | None = None
    severity: Severity | None = None
    by_hand: str = ""
    drawn: Mapping[str, str] = field(default_factory=dict)
    base_seed: str = ""

    @property
    def key(self) -> object:
        """Return a key that is equal for all seeds that are made from the same number."""
        if self.made is None:
            return id(self)
        return (self.made.name, self.made.line, self.made.module.shown)

    @property
    def own(self) -> Mapping[str, str]:
        """Return the evidence that only the rule of this seed needs: `base_seed` for RC503."""
        if self.code == "RC503":
            return {"base_seed": self.base_seed}
        return {}


@check_orders("RC402", "RC404", "RC503")
def changing_seed(order: Order) -> Iterator[Hit]:
    """Find a seed from the clock, the process id, OS entropy, or an unseeded draw."""
    origins: dict[object, list[_Changing]] = {}
    for call in every(order):
        for found in _seed(order, call):
            origins.setdefault(found.key, []).append(found)
    hits = map(partial(_at_origin, order), origins.values())
    if origins and training.is_unused(order):
        hits = map(partial(replace, severity="note"), hits)
    yield from hits


def _at_origin(order: Order, seeds: Sequence[_Changing]) -> Hit:
    """Return the hit for seeds of one number.

    At the call that takes the seed, or at the call that makes the number if this call draws it or
    stands in another file.
    """
    first = seeds[0]
    made = first.made
    if made is None:
        return hit(
            first.code,
            first.call,
            first.message,
            severity=first.severity,
            by_hand=first.by_hand,
            more=first.own,
        )
    if first.drawn:
        where = at(first.call, made.module)
        message = f"{first.message}; the number is set in {where}"
        return hit(first.code, made, message, severity=first.severity, more=first.drawn)
    if made.statement is first.call.statement:
        facts = {"source": made.name, "drawn_in": str(made.line), "by_hand": first.by_hand}
        return hit(first.code, first.call, first.message, severity=first.severity, more=facts)
    shown, by_hand, in_sight = first.call, first.by_hand, "yes"
    where = f"the number is made in line {place(made)}"
    if made.module is not first.call.module:
        shown, by_hand, in_sight = made, tr(_MADE_HERE), "no"
        where = f"it is set in {at(first.call, made.module)}"
    users = [f"{one.call.module.shown}:{one.call.line}" for one in seeds]
    message = f"{first.message}; {where}"
    # A program makes the number once: one constant for several would make them equal
    is_made_once = False
    if order.whole and made.happens_once:
        again = (step for step in order.at(made.module, made.node) if step.by is None)
        is_made_once = list(map(attrgetter("called"), again)).count(made.name) == 1
    return hit(
        first.code,
        shown,
        message,
        severity=first.severity,
        source=made.name,
        drawn_in=str(made.line),
        by_hand=by_hand,
        made=":".join(map(str, made.module.source.span(made.node))),
        used="\n".join(dict.fromkeys(users)),
        in_sight=in_sight,
        once=_YES_OR_NO[is_made_once],
    )


_YES_OR_NO = {True: "yes", False: "no"}


@check_orders("RC408")
def zero_seed(order: Order) -> Iterator[Hit]:
    """Find a random primitive of MindSpore whose own seeds are 0: `set_seed` does not reach it."""
    for call in order.calls("mindspore.ops.*"):
        name = call.name.removeprefix("mindspore.ops.")
        primitive = tables.primitives().get(name)
        if primitive is None:
            continue
        if primitive.seeds == 1:
            if not given(call, primitive.keyword, primitive.position):
                message = (
                    f"`mindspore.ops.{name}` without its own seed is not reached by"
                    " `mindspore.set_seed`"
                )
                yield hit("RC408", call, message)
            continue
        places = enumerate(_SEED_WORDS, primitive.position)
        seeds = [call.argument(place, *keywords) for place, keywords in places]
        given_seeds = {streams.spelt(seed) for seed in seeds if seed is not None}
        if given_seeds <= {"0", "None"}:
            message = (
                f"`mindspore.ops.{name}` with seed 0 takes a random one, and `mindspore.set_seed`"
                " does not reach it"
            )
            yield hit("RC408", call, message)


@check_orders("RC409")
def replaced(order: Order) -> Iterator[Hit]:
    """Find an assignment that replaces a seeding function: `numpy.random.seed = 0`."""
    for store in order.stores():
        if store.name in tables.seeds():
            # The statement may give one function one whole number.
            is_simple = False
            match store.statement:
                case ast.Assign(targets=[_], value=ast.Constant(value=int() as number)):
                    is_simple = not isinstance(number, bool)
            message = f"this replaces the function `{store.name}` and seeds nothing; call it"
            yield hit("RC409", store, message, patchable=is_simple)


@check("RC409")
def not_called(module: Module, project: Project) -> Iterator[Hit]:
    """Find a seeding function that is named and not called."""
    for node in module.nodes(ast.Expr):
        if not isinstance(node.value, ast.Attribute | ast.Name):
            continue
        name = module.name_of(node.value)
        known = tables.seeds().get(name)
        if known is not None and "." in name:
            message = f"`{name}` is named and not called: nothing is seeded"
            is_of_state = "state" in known.keyword or "state" in last_part(name)
            takes_a_number = known.keyword != "" and not is_of_state
            yield Hit(
                code="RC409",
                module=module,
                node=node.value,
                message=message,
                patchable=takes_a_number,
            )


_SEED_WORDS = (("seed", "seed0", "Seed0"), ("seed2", "seed1", "Seed1"))


def _seed(order: Order, call: Call) -> Iterator[_Changing]:
    known = tables.seeds().get(call.name)
    is_from_system = known is not None and known.without == "system"
    if known is not None and is_from_system and is_none(call.argument(0, known.keyword or "seed")):
        # A test or a context manager puts a generator back.
        if not call.function_name.startswith(("test_", "tearDown", "__exit__")):
            yield _from_system(order, call)
        return
    if call.name in tables.makers() and syntax.are_all(order.on(call.result), hyper.is_for_others):
        return
    for number in _numbers(call, known):
        # Less than an error where the number may also be another one.
        severity: Severity | None = "warning" if entropy.is_one_of_several(number) else None
        source = entropy.inside(number)
        if source is not None and entropy.source(source) != "load":
            changing = _from_entropy(order, call, source)
            if changing.code != "RC503":
                changing = replace(changing, severity=severity)
            yield changing
            return
        draw = _unseeded_draw(order, number)
        if draw is not None:
            name = title(frozenset({draw.draws.stream}))
            message = (
                f"the seed is drawn by `{short(draw.call.name)}`, and nothing seeds {name} before"
            )
            seeded = seed_place(order, draw.call)
            yield _Changing(
                code="RC402",
                call=call,
                message=message,
                made=draw.call,
                severity=severity,
                drawn={"stream": name, "by_hand": tr(_SEEDED, name=tr(name)), **seeded},
            )
            return


def feeds_seed(order: Order, draw: Call) -> bool:
    """Return whether a draw becomes a seed, because then only the seed is reported."""
    return any(
        draw is made
        for call in every(order)
        for number in _numbers(call, tables.seeds().get(call.name))
        for made in entropy.mixed(number)
    )


def _numbers(call: Call, known: tables.Seeds | None) -> Iterator[Value]:
    seeded = known or tables.makers().get(call.name)
    keyword = getattr(seeded, "keyword", "")
    if keyword:
        value = call.argument(0, keyword, "seed")
        if value is not None:
            yield value
        return
    if not call.own:
        yield from (call.keywords[word] for word in _KEYWORDS if word in call.keywords)


def _from_system(order: Order, call: Call) -> _Changing:
    if _by_loader(call):
        message = f"`{call.name}()` seeds each data worker from the operating system"
        return _in_worker(order, call, message)
    without = "no number"
    if call.arguments or call.keywords:
        without = "`None`"
    message = call.name
    if "seed" in call.name:
        message = f"`{call.name}` with {without} seeds from the operating system"
    return _Changing(
        code="RC402", call=call, message=message, by_hand=tr(_FIXED, name=_seeding_name(call))
    )


def _in_worker(order: Order, call: Call, message: str) -> _Changing:
    """Return the changing seed that a `worker_init_fn` sets in each worker of a loader."""
    loader = call.by
    base_seed = "seeded"
    if loader is None or streams.seeded_before(order, loader, frozenset({"torch"})) is None:
        base_seed = ""
    return _Changing(
        code="RC503",
        call=call,
        message=message,
        base_seed=base_seed,
        by_hand=tr(_BY_WORKER),
    )


def _from_entropy(order: Order, call: Call, source: Call) -> _Changing:
    described = entropy.described(source)
    if _by_loader(call):
        return _in_worker(order, call, f"each data worker is seeded from {described}")
    code, fix = "RC402", _FIXED
    if not call.happens_once:
        fix = _ANOTHER_EACH_TIME
    if entropy.source(source) == "process":
        code, fix = "RC404", _BY_RANK
    by_hand = tr(fix, name=_seeding_name(call))
    message = f"the seed comes from {described}"
    return _Changing(code=code, call=call, message=message, made=source, by_hand=by_hand)


def _seeding_name(call: Call) -> str:
    """Return the seeding function that takes a number.

    `torch.manual_seed` for `torch.seed`, which takes none.
    """
    known = tables.seeds().get(call.name)
    return getattr(known, "instead", "") or short(call.name)


def _by_loader(call: Call) -> bool:
    """Return whether a data loader makes this call in each worker, in its `worker_init_fn`."""
    if call.by is None or not call.driver.endswith("DataLoader"):
        return False
    return "worker_init_fn" in call.by.keywords and "__getitem__" not in call.function_name


def _unseeded_draw(order: Order, number: Value) -> streams.Drawing | None:
    if not order.whole:
        return None
    made = {id(call) for call in entropy.mixed(number) if call.name.startswith(_NUMBERS)}
    for drawing in streams.drawings(order):
        if id(drawing.call) not in made:
            continue
        if streams.seeded_before(order, drawing.call, drawing.streams) is None:
            return drawing
    return None
