"""What widgets of the pages run, found in the pages' own code: named, nested, a lambda, partial, handed on or returned.

Nothing of a page is run. A callback that cannot be followed is told as such, so that a test can refuse it: whatever a
page learns to write in a new way, this has to learn to read.
"""

import ast
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias

from streamlit.delta_generator import DeltaGenerator

from core.settings import ROOT

Function: TypeAlias = ast.FunctionDef | ast.Lambda

WIDGETS = {
    name: frozenset(each for each in inspect.signature(method).parameters if each.startswith("on_"))
    for name, method in inspect.getmembers(DeltaGenerator, callable)
    if not name.startswith("_")
}
"""Every element that Streamlit draws -> its parameters that take a callback."""

BRINGERS = frozenset({"audio_input", "camera_input", "chat_input", "data_editor", "file_uploader"})
"""Widgets by which a reader brings content."""

PRESSED = frozenset({"button", "form_submit_button", "menu_button", "chat_input", "feedback"})
"""Widgets whose value is true in the run that a press causes: ``if st.button(…):`` is a callback, too."""

WRAPPERS = frozenset({"partial", "operators_only"})
_DEEP = 12


@dataclass(frozen=True)
class Found:
    """A piece of code that a widget runs, or an expression that leads out of the pages.

    Args:
        file: below the repository.
        node: a function or lambda; else what could not be followed, or is not the pages' own.
        guarded: whether it asks who pressed before anything else.
    """

    file: str
    node: ast.expr | Function
    guarded: bool = False

    @property
    def name(self) -> str:
        """Path and name, or the code where it has none."""
        told = self.node.name if isinstance(self.node, ast.FunctionDef) else ast.unparse(self.node)[:80]
        return f"{self.file}:{told}"


@dataclass(frozen=True)
class Widget:
    """A place where a callback is given to a widget: ``on_…=`` of any call, Streamlit's or a component's."""

    file: str
    call: ast.Call
    callback: ast.expr


class Module:
    """One file of the pages."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.tree = file, ast.parse(text)
        self._parents = {child: each for each in ast.walk(self.tree) for child in ast.iter_child_nodes(each)}

    @cached_property
    def imported(self) -> dict[str, tuple[str, str]]:
        """Name here -> (file or module, name there)."""
        found = {}
        for each in ast.walk(self.tree):
            if isinstance(each, ast.ImportFrom) and each.module:
                for alias in each.names:
                    found[alias.asname or alias.name] = (each.module, alias.name)
        return found

    def around(self, node: ast.AST) -> Iterator[ast.FunctionDef | ast.Lambda | ast.ClassDef]:
        """Functions and classes that a node stands in, the innermost first."""
        while (parent := self._parents.get(node)) is not None:
            if isinstance(parent, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
                yield parent
            node = parent

    def outermost(self, node: ast.AST) -> ast.FunctionDef | None:
        """The function of the module or of a class of it that a node stands in."""
        functions = [each for each in self.around(node) if isinstance(each, ast.FunctionDef)]
        return functions[-1] if functions else None

    def assigned_by(self, node: ast.AST) -> str | None:
        """Name of the module's own that is assigned where a node stands, outside every function."""
        while (parent := self._parents.get(node)) is not None and parent is not self.tree:
            node = parent
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        return target.id if isinstance(target, ast.Name) else None

    def top(self, name: str) -> ast.FunctionDef | ast.ClassDef | ast.expr | None:
        """What a name stands for in the module itself: a function, a class or what was assigned."""
        for each in self.tree.body:
            if isinstance(each, (ast.FunctionDef, ast.ClassDef)) and each.name == name:
                return each
            if isinstance(each, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in each.targets):
                return each.value
        return None


class Pages:
    """The code of the pages.

    Args:
        texts: file below the repository -> its text.
    """

    def __init__(self, texts: dict[str, str]) -> None:
        self.modules = {file: Module(file, text) for file, text in texts.items()}

    def widgets(self) -> Iterator[Widget]:
        """Every place where something is given to a parameter ``on_…``."""
        for file, module in self.modules.items():
            for call in ast.walk(module.tree):
                if isinstance(call, ast.Call) and not _caches(call):
                    yield from (
                        Widget(file, call, word.value) for word in call.keywords if (word.arg or "").startswith("on_")
                    )

    def calls(self, names: frozenset[str]) -> Iterator[tuple[Module, ast.Call]]:
        """Calls of methods with these names."""
        for module in self.modules.values():
            for call in ast.walk(module.tree):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in names:
                    yield module, call

    def presses(self) -> Iterator[tuple[str, ast.If]]:
        """Every ``if`` that asks whether a button was just pressed."""
        for file, module in self.modules.items():
            for each in ast.walk(module.tree):
                if isinstance(each, ast.If) and any(
                    isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in PRESSED
                    for call in ast.walk(each.test)
                ):
                    yield file, each

    def effects(self, found: Found, seen: set[ast.AST] | None = None) -> Iterator[str]:
        """Calls that leave the pages' own code, as they are written, of whatever runs from here on and asks nobody."""
        seen = set() if seen is None else seen
        if found.guarded or found.node in seen:
            return
        seen.add(found.node)
        if not isinstance(found.node, (ast.FunctionDef, ast.Lambda)):
            yield ast.unparse(found.node)
            return
        body = found.node.body if isinstance(found.node, ast.FunctionDef) else [found.node.body]
        yield from self.effects_of(found.file, body, seen)

    def effects_of(self, file: str, body: Iterable[ast.AST], seen: set[ast.AST] | None = None) -> Iterator[str]:
        """The same of statements of a file."""
        seen = set() if seen is None else seen
        for call in [each for statement in body for each in ast.walk(statement) if isinstance(each, ast.Call)]:
            for each in self.behind(file, call.func):
                yield from self.effects(each, seen)

    def asks_first(self, file: str, node: ast.AST, guards: frozenset[str], seen: frozenset[str] = frozenset()) -> bool:
        """Whether the function that a node stands in asks one of ``guards``, or everything that uses it does."""
        module = self.modules[file]
        place = module.outermost(node)
        if place is not None and any(_is_name(each, *guards) for each in ast.walk(place)):
            return True
        name = place.name if place is not None else module.assigned_by(node)
        if name is None or f"{file}:{name}" in seen:
            return name is not None
        users = [(where.file, each) for where, each in self.users(module, name)]
        beyond = seen | {f"{file}:{name}"}
        return bool(users) and all(self.asks_first(where, each, guards, beyond) for where, each in users)

    def behind(self, file: str, node: ast.expr, deep: int = 0) -> Iterator[Found]:
        """What an expression that is given as a callback runs."""
        module = self.modules[file]
        if deep > _DEEP or isinstance(node, ast.Constant):  # "ignore", "rerun", None
            if deep > _DEEP:
                yield Found(file, node)
            return
        if isinstance(node, ast.IfExp):
            yield from self.behind(file, node.body, deep + 1)
            yield from self.behind(file, node.orelse, deep + 1)
        elif isinstance(node, ast.BoolOp):
            for each in node.values:
                yield from self.behind(file, each, deep + 1)
        elif isinstance(node, ast.Lambda):
            yield Found(file, node)
        elif isinstance(node, ast.Call):
            yield from self._made(module, node, deep)
        elif isinstance(node, ast.Name):
            yield from self._named(module, node, deep)
        elif isinstance(node, ast.Attribute):
            yield from self._method(module, node, deep)
        else:
            yield Found(file, node)

    def _made(self, module: Module, node: ast.Call, deep: int) -> Iterator[Found]:
        """A callable that a call makes: a partial, a guarded one, or what a function of the pages returns."""
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if called in WRAPPERS and node.args:
            for each in self.behind(module.file, node.args[0], deep + 1):
                yield Found(each.file, each.node, each.guarded or called == "operators_only")
            return
        for maker in self.behind(module.file, node.func, deep + 1):
            own = self.modules.get(maker.file)
            if own is None or not isinstance(maker.node, ast.FunctionDef):
                yield Found(module.file, node)
                continue
            for back in ast.walk(maker.node):
                if isinstance(back, ast.Return) and back.value and next(own.around(back), None) is maker.node:
                    yield from self.behind(maker.file, back.value, deep + 1)

    def _named(self, module: Module, node: ast.Name, deep: int) -> Iterator[Found]:
        for place in module.around(node):
            if isinstance(place, ast.ClassDef):
                continue
            inner = [] if isinstance(place, ast.Lambda) else _inside(place)
            for each in inner:
                if isinstance(each, ast.FunctionDef) and each.name == node.id:
                    yield _function(module, each)
                    return
            if values := [value for each in inner for value in _assigned(each, node.id)]:
                for value in values:
                    yield from self.behind(module.file, value, deep + 1)
                return
            if node.id in {each.arg for each in _parameters(place)}:
                yield from self._given(module, place, node, deep)
                return
        yield from self._of_module(module, node, deep)

    def _of_module(self, module: Module, node: ast.Name, deep: int) -> Iterator[Found]:
        own = module.top(node.id)
        if isinstance(own, ast.FunctionDef):
            yield _function(module, own)
        elif isinstance(own, ast.expr):
            yield from self.behind(module.file, own, deep + 1)
        elif own is None and (other := self._home(module, node.id)) is not None:
            there = other[0].top(other[1])
            if isinstance(there, ast.FunctionDef):
                yield _function(other[0], there)
            else:
                yield Found(module.file, node)
        else:
            yield Found(module.file, node)

    def _given(self, module: Module, place: Function, node: ast.Name, deep: int) -> Iterator[Found]:
        """What callers hand on to the parameter of a function; its own default, too."""
        found = False
        if isinstance(place, ast.FunctionDef):
            for default in _defaults(place, node.id):
                found = True
                yield from self.behind(module.file, default, deep + 1)
            for caller, call in self._callers(module, place.name):
                for value in _argument(place, call, node.id):
                    found = True
                    yield from self.behind(caller.file, value, deep + 1)
        if not found:
            yield Found(module.file, node)

    def _method(self, module: Module, node: ast.Attribute, deep: int) -> Iterator[Found]:
        """A method of an object whose type is written beside it; a field of one, by who makes such objects."""
        owner = self._type(module, node.value)
        if owner is None:
            yield Found(module.file, node)
            return
        home, kind = owner
        for each in kind.body:
            if isinstance(each, ast.FunctionDef) and each.name == node.attr:
                yield _function(home, each)
                return
        fields = [each.target.id for each in kind.body if isinstance(each, ast.AnnAssign) and _is_name(each.target)]  # type: ignore[union-attr]
        if node.attr not in fields:
            yield Found(module.file, node)
            return
        for caller, call in self._callers(home, kind.name):
            place = fields.index(node.attr)
            given = [word.value for word in call.keywords if word.arg == node.attr] or call.args[place : place + 1]
            for value in given:
                yield from self.behind(caller.file, value, deep + 1)

    def _type(self, module: Module, base: ast.expr) -> tuple[Module, ast.ClassDef] | None:
        """The class of the pages that the type written beside a name is."""
        if not isinstance(base, ast.Name):
            return None
        for place in module.around(base):
            if isinstance(place, ast.ClassDef):
                if base.id == "self":
                    return module, place
                continue
            for each in _parameters(place):
                if each.arg == base.id and isinstance(each.annotation, ast.Name):
                    return self._class(module, each.annotation.id)
            if isinstance(place, ast.FunctionDef):
                looped = [each for each in _inside(place) if isinstance(each, ast.For) and _is_in(each.target, base.id)]
                for loop in looped:
                    return self._listed(module, loop.iter)
        return None

    def _listed(self, module: Module, items: ast.expr) -> tuple[Module, ast.ClassDef] | None:
        """The class of what is looped over, by the type written beside it."""
        for name in [each for each in ast.walk(items) if isinstance(each, ast.Name)]:
            for place in module.around(items):
                for each in [] if isinstance(place, ast.ClassDef) else _parameters(place):
                    if each.arg == name.id and each.annotation is not None:
                        for word in ast.walk(each.annotation):
                            if isinstance(word, ast.Name) and (found := self._class(module, word.id)):
                                return found
        return None

    def _class(self, module: Module, name: str) -> tuple[Module, ast.ClassDef] | None:
        own = module.top(name)
        if isinstance(own, ast.ClassDef):
            return module, own
        home = self._home(module, name)
        there = home[0].top(home[1]) if home else None
        return (home[0], there) if home and isinstance(there, ast.ClassDef) else None

    def _home(self, module: Module, name: str) -> tuple[Module, str] | None:
        """The module of the pages that a name is imported from."""
        where, there = module.imported.get(name, ("", ""))
        found = self.modules.get(f"{where.replace('.', '/')}.py")
        return (found, there) if found else None

    def _callers(self, home: Module, name: str) -> Iterator[tuple[Module, ast.Call]]:
        for module, known in self._knowing(home, name):
            for call in [each for each in ast.walk(module.tree) if isinstance(each, ast.Call)]:
                if _is_name(call.func, *known):
                    yield module, call
                elif _is_name(call.func, "partial") and call.args and _is_name(call.args[0], *known):
                    yield module, ast.Call(call.args[0], call.args[1:], call.keywords)

    def users(self, home: Module, name: str) -> Iterator[tuple[Module, ast.AST]]:
        """Places that name a function of the pages, be it called there or handed on."""
        for module, known in self._knowing(home, name):
            for each in ast.walk(module.tree):
                if isinstance(each, ast.Name) and each.id in known and isinstance(each.ctx, ast.Load):
                    yield module, each

    def _knowing(self, home: Module, name: str) -> Iterator[tuple[Module, set[str]]]:
        """Files that know something of a file, each with the names that it has there."""
        for module in self.modules.values():
            known = {
                here
                for here, (where, there) in module.imported.items()
                if there == name and f"{where.replace('.', '/')}.py" == home.file
            }
            known |= {name} if module is home else set()
            if known:
                yield module, known


@cache
def pages() -> Pages:
    """The pages of the dashboard and ``app.py``."""
    files = [*sorted((ROOT / "pages").rglob("*.py")), ROOT / "app.py"]
    return Pages({each.relative_to(ROOT).as_posix(): each.read_text(encoding="utf-8") for each in files})


def marked(found: ast.FunctionDef, name: str) -> bool:
    """Whether a function has this decorator."""
    return any(_is_name(each, name) for mark in found.decorator_list for each in ast.walk(mark))


def _function(module: Module, found: ast.FunctionDef) -> Found:
    return Found(module.file, found, marked(found, "operators_only"))


def _caches(call: ast.Call) -> bool:
    """``on_release`` of a cache is no widget's."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("cache_data", "cache_resource")


def _is_name(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Name) and (not names or node.id in names)


def _is_in(target: ast.expr, name: str) -> bool:
    return any(_is_name(each, name) for each in ast.walk(target))


def _inside(place: ast.FunctionDef) -> list[ast.AST]:
    """What stands in a function, in those that stand in it too."""
    return [each for each in ast.walk(place) if each is not place]


def _assigned(node: ast.AST, name: str) -> list[ast.expr]:
    if isinstance(node, ast.Assign) and any(_is_name(each, name) for each in node.targets):
        return [node.value]
    if isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and _is_name(node.target, name) and node.value:
        return [node.value]
    if isinstance(node, (ast.For, ast.comprehension)) and _is_in(node.target, name):
        return [node.iter]
    return []


def _parameters(place: Function) -> list[ast.arg]:
    return [*place.args.posonlyargs, *place.args.args, *place.args.kwonlyargs]


def _defaults(place: ast.FunctionDef, name: str) -> list[ast.expr]:
    told = place.args
    positional = [*told.posonlyargs, *told.args]
    pairs = [
        *zip(positional[len(positional) - len(told.defaults) :], told.defaults, strict=True),
        *zip(told.kwonlyargs, told.kw_defaults, strict=True),
    ]
    return [value for each, value in pairs if each.arg == name and value is not None]


def _argument(place: ast.FunctionDef, call: ast.Call, name: str) -> list[ast.expr]:
    """What a call gives to a parameter; nothing where it leaves it out."""
    if given := [word.value for word in call.keywords if word.arg == name]:
        return given
    order = [each.arg for each in (*place.args.posonlyargs, *place.args.args)]
    at = order.index(name) if name in order else len(call.args)
    return list(call.args[at : at + 1])
