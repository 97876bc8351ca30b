"""The exceptions of parlance.

Every one is a `parlance.Error`, and also of the class that Jinja2, transformers or Python itself raises in the same place, so that
code which catches those goes on working. Each class is an attribute of the package by the name that tracebacks have,
`parlance.UndefinedError`, without jinja2 too; where that is installed, its own class is a base.
"""

from __future__ import annotations

import builtins
import importlib
from types import MappingProxyType

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Error(Exception):
    """What went wrong, where in the template or the input, and what may help.

    `str()` has all of it, with source lines. Where apply_chat_template raises an error of the template, `str()` has the sentence alone, as
    that of transformers' own error; `display` has all of it, and tracebacks show it.
    """

    _parts: Mapping[str, Any] = MappingProxyType({  # of one that Python code raises
        "code": "", "message": "", "name": "", "line": None, "column": None, "path": "", "hint": "", "trace": [],
    })  # fmt: skip
    _python_class = ""

    @property
    def code(self) -> str:
        """The kind of failure by its name: "syntax", "undefined", "limit_steps", …"""
        return str(self._parts["code"])

    @property
    def message(self) -> str:
        """What was found and expected, in Python's words where Python has the error."""
        return str(self._parts["message"])

    @property
    def template(self) -> str:
        """The name of the template, or of the input, that `line` and `column` count in; "" for no place."""
        return str(self._parts["name"])

    @property
    def line(self) -> int | None:
        """Line in the template or the JSON text, from 1; None for no place."""
        line: int | None = self._parts["line"]
        return line

    @property
    def column(self) -> int | None:
        """Column in that line in characters, from 1; None for no place."""
        column: int | None = self._parts["column"]
        return column

    @property
    def path(self) -> str:
        """Where the offending value stands in the request: "messages[3].content"; "" for nowhere."""
        return str(self._parts["path"])

    @property
    def hint(self) -> str:
        """What may help; "" for nothing."""
        return str(self._parts["hint"])

    @property
    def trace(self) -> list[str]:
        """The macros and loops around the place, newest first."""
        return list(self._parts["trace"])

    @property
    def display(self) -> str:
        """All of it, with source lines."""
        return str(self._parts["display"]) if "display" in self._parts else Exception.__str__(self)

    def __str__(self) -> str:
        if "source" in self._parts:
            return self.message
        # The classes that an error also is have a str() of their own, which goes by what only they are made with.
        return self.display

    def __reduce__(self) -> tuple[Any, ...]:
        return (of_engine, (self._python_class, self._parts)) if self._python_class else (type(self), self.args)


if TYPE_CHECKING:

    class TemplateError(Error):
        """A parlance.Error that is also a jinja2.TemplateError: what a template raises, and all that stand below."""

    class TemplateSyntaxError(TemplateError):
        """A parlance.Error that is also a jinja2.TemplateSyntaxError."""

        lineno: int

    class TemplateAssertionError(TemplateSyntaxError):
        """A parlance.Error that is also a jinja2.TemplateAssertionError: a filter or a test that there is not."""

    class TemplatesNotFound(TemplateError):
        """A parlance.Error that is also a jinja2.TemplatesNotFound."""

    class TemplateRuntimeError(TemplateError):
        """A parlance.Error that is also a jinja2.TemplateRuntimeError."""

    class UndefinedError(TemplateRuntimeError):
        """A parlance.Error that is also a jinja2.UndefinedError."""

    class SecurityError(TemplateRuntimeError):
        """A parlance.Error that is also a jinja2.sandbox.SecurityError."""

    class FilterArgumentError(TemplateRuntimeError):
        """A parlance.Error that is also a jinja2.exceptions.FilterArgumentError."""


# The names of Jinja2's classes, each with that of the one above it, as Jinja2 has them.
OF_JINJA = {
    "TemplateError": "",
    "TemplateSyntaxError": "TemplateError",
    "TemplateAssertionError": "TemplateSyntaxError",
    "TemplatesNotFound": "TemplateError",
    "TemplateRuntimeError": "TemplateError",
    "UndefinedError": "TemplateRuntimeError",
    "SecurityError": "TemplateRuntimeError",
    "FilterArgumentError": "TemplateRuntimeError",
}

_CLASSES: dict[str, type[Error]] = {}


def class_named(name: str) -> type[Error] | None:
    """What the package has by a name that is one of Jinja2's classes, or of Python's exceptions."""
    return None if (made := _class_of(name)) is Error else made


def _class_of(name: str) -> type[Error]:
    """The class of errors that are also of the class with this name."""
    if name not in _CLASSES:
        _CLASSES[name] = _made_class(name)
    return _CLASSES[name]


def _module(name: str) -> Any:
    """None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _made_class(name: str) -> type[Error]:
    other = getattr(builtins, name, None)
    first = Error
    if name == "JSONDecodeError":
        other = importlib.import_module("json").JSONDecodeError
    elif name in OF_JINJA:
        other = getattr(_module("jinja2.exceptions"), name, None)
        first = _class_of(OF_JINJA[name])
    members: dict[str, Any] = {"__module__": "parlance", "__doc__": f"A parlance.Error that is also a {name}."}
    if name in OF_JINJA:
        members["__init__"] = Exception.__init__  # Jinja2's own set what a parlance.Error has of itself
    made: Any = Error
    if isinstance(other, type) and issubclass(other, Exception) and other is not Exception:
        made = type(name, (first, other), members)
    elif name in OF_JINJA:
        made = type(name, (first,), {**members, "__doc__": f"A parlance.Error in place of Jinja2's {name}."})
    return made  # type: ignore[no-any-return]


# What the library's hints name, and what it is in Python: mostly arguments of whatever opens a template.
_IN_PYTHON = {
    r"without the pass ([\w-]+)": r'with skip_passes=["\1"], where the template is opened,',
    r"without a pass\b": "with skip_passes, where the template is opened,",
    r"the pass ([\w-]+)": r'passes=["\1"], where the template is opened,',
    "the option allow_changes": "allow_changes=True, where the template is opened,",
    "the option as_transformers": "as_transformers=True",
    "the option continue_final": "continue_final_message=True",
    "the option normalise off": "as_is=True, where the template is opened,",
    "the option split": "the argument split",
    r"builtin_formats\(\) has them": "parlance.formats() has them",
    r"normalise_passes\(\) has them; ": "",  # the names follow
    r"normalise_passes\(\) has them": "parlance.passes() has them",
    r"open_template_file\(\) takes": "Template.from_file() takes",
    "choose one by its name": "choose one by name=…",
}


def in_python(hint: str) -> str:
    """A hint of the library in Python's words."""
    if not hint:
        return hint
    sub = importlib.import_module("re").sub  # which importing parlance does without
    for word, said in _IN_PYTHON.items():
        hint = sub(word, said, hint)
    return hint


def _speak_python(parts: dict[str, Any]) -> None:
    """A hint that names something of the library names what Python has."""
    given = parts["hint"]
    hint = in_python(given)
    if hint != given:
        parts["hint"] = hint
        parts["display"] = parts["display"].replace(f"  hint: {given}", f"  hint: {hint}" if hint else "").rstrip("\n")


def set_hint(error: Error, hint: str) -> None:
    """Puts a hint in place of an error's own."""
    parts, line = dict(error._parts), f"  hint: {hint}"
    shown, before = parts["display"], f"  hint: {parts['hint']}"
    has_one = bool(parts["hint"]) and before in shown
    shown = shown.replace(before, line) if has_one else shown.rstrip("\n") + "\n" + line
    error._parts = {**parts, "hint": hint, "display": shown}


def of_engine(python_class: str, parts: dict[str, Any]) -> Error:
    """The exception for an error of the engine."""
    made_of = _class_of(python_class)
    try:
        error = made_of.__new__(made_of, parts["message"])
    except TypeError:  # MemoryError makes no objects of other classes
        error = BaseException.__new__(made_of, parts["message"])
    _speak_python(parts)
    error.args = (parts["message"],)
    error._parts = parts
    error._python_class = python_class
    if python_class in ("TemplateSyntaxError", "TemplateAssertionError"):
        # What Jinja2's own class sets when it is made.
        for name, value in (("lineno", parts["line"]), ("name", parts["name"]), ("filename", None), ("source", None)):
            setattr(error, name, value)
    if "source" in parts:
        _speak_as_method(error)
    return error


# What is a function within one of transformers'.
_LOCAL = ("raise_exception() ", "strftime_now() ", "tojson() ")
_NAMESPACE = ("'jinja2.utils.Namespace object'", "'transformers.utils.chat_template_utils.TemplateNamespace object'")


def of_method(error: Error, source: str, *, has_own_namespace: bool) -> None:
    """Makes an error of the template `source` one that transformers' apply_chat_template could raise: its words, its arguments, and what
    Jinja2 sets. What parlance says beyond them is a note of the exception."""
    if error._parts.get("line") is None:
        return  # of the request, which only parlance has
    said = error.message
    if said.startswith(_LOCAL):
        said = "_cached_compile_jinja_template.<locals>." + said
    if has_own_namespace:
        said = said.replace(*_NAMESPACE)
    error._parts = {**error._parts, "message": said, "source": source}
    _speak_as_method(error)


def _speak_as_method(error: Error) -> None:
    parts = error._parts
    error.args = (parts["message"],)
    if error._python_class == "KeyError":
        error.args = (importlib.import_module("ast").literal_eval(parts["message"]),)  # its text is repr() of the key
    if error._python_class in ("TemplateSyntaxError", "TemplateAssertionError"):
        for name, value in (("name", None), ("source", parts["source"]), ("translated", True)):
            setattr(error, name, value)
    add_note = getattr(error, "add_note", None)  # from Python 3.11 on
    if add_note is not None:
        add_note(error.display.rstrip("\n"))


def note_conversation(error: BaseException, number: int, count: int) -> None:
    """Says in the traceback which conversation of a batch the error is about; its own text stays that of transformers."""
    add_note = getattr(error, "add_note", None)  # from Python 3.11 on
    if add_note is not None and count > 1:
        add_note(f"in conversation {number} of a batch of {count}, counted from 0")


def of_object(kind: type[BaseException], path: str, sentence: str) -> Error:
    """The exception for an object of a request that cannot be taken."""
    return _of_python(kind, "limit_depth" if kind is RecursionError else "conversation", sentence, path=path)


def of_argument(kind: type[BaseException], sentence: str, hint: str = "") -> Error:
    """The exception for an argument of a call that is impossible, of itself or beside others."""
    return _of_python(kind, "usage", sentence, hint=hint)


def _of_python(kind: type[BaseException], code: str, sentence: str, *, path: str = "", hint: str = "") -> Error:
    display = (f"{path}: {sentence}" if path else sentence) + (f"\n  hint: {hint}" if hint else "")
    parts: dict[str, Any] = {
        "code": code, "message": sentence, "name": "", "line": None, "column": None,
        "path": path, "hint": hint, "trace": [], "display": display,
    }  # fmt: skip
    return of_engine(kind.__name__, parts)


def of_member(error: Error) -> Error:
    """The exception for a value that is a request's members by name, whose paths begin with these names."""
    path = error.path.removeprefix("value").removeprefix(".")
    error._parts = {**error._parts, "path": path, "display": error._parts["display"].replace(error.path, path, 1)}
    return error


def of_raised(cause: BaseException, path: str, sentence: str) -> Error:
    """The same where code of the object's own raised `cause`."""
    kind = next((kind for kind in type(cause).__mro__ if kind.__module__ == "builtins"), TypeError)
    error = of_object(TypeError if kind is Exception else kind, path, f"{sentence}: {cause!r}")
    error.__cause__ = cause
    return error
