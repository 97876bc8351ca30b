"""Methods that parlance puts on one tokenizer or processor. Begin reading at put_on.

They are on a class of its own for it, derived from the one that it had: so they belong to whatever the tokenizer is copied to, by
copy.copy() as by pickle, and the copy renders with its own template. What install() was given goes along in the instance. Its
`__class__` is the one that it had; type() alone shows the derived one.
"""

from __future__ import annotations

import copyreg
import functools
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from parlance._signatures import signature_of_any

_STATE = "_parlance_installed"  # in an instance: the defaults, and the methods that the instance had of its own
_OWN = "_parlance_own_class"
_MAY_BE_BASE = 1 << 10  # Py_TPFLAGS_BASETYPE, in a class's __flags__
_MASKS = ("mask", "return_assistant_tokens_mask")  # which a call must be able to give


class Installed:
    # It can be pickled with its tokenizer, and shows itself, to inspect, help() and errors, as the method that it replaces.

    def __init__(self, tokenizer: Any, method: Callable[..., Any], defaults: dict[str, Any], more: str = "") -> None:
        """`more` is a sentence for help()."""
        self._tokenizer = tokenizer
        self._method = method
        self._defaults = defaults
        self._more = more
        self.__module__ = self._replaced.__module__

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        parameters = signature_of_any(self._replaced).parameters if args else {}
        by_place = dict(zip(parameters, args, strict=False))  # the call wins here too
        asked = {name: value for name, value in self._defaults.items() if name not in by_place} | kwargs
        for name in _MASKS:
            if name in asked and name not in kwargs and not self._gives_masks(by_place | asked):
                del asked[name]
        return self._method(self._tokenizer, *args, **asked)

    def _gives_masks(self, given: dict[str, Any]) -> bool:
        shown = {name: one.default for name, one in signature_of_any(self._replaced).parameters.items()}
        return all(given.get(name, shown.get(name, False)) for name in ("tokenize", "return_dict"))

    def __get__(self, instance: Any, owner: Any = None) -> Installed:  # help() shows what has it as a method
        return self

    def __getattr__(self, name: str) -> Any:
        """What a bound method has: __self__, __qualname__, __annotations__, __defaults__, __code__ and others."""
        if name.startswith("__") and "_tokenizer" in vars(self):
            return getattr(self._replaced, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def __func__(self) -> Callable[..., Any]:
        """Called with the tokenizer it does what this does, for those who take a method apart.

        weakref.WeakMethod also puts it together again, which this is not made for.
        """

        @functools.wraps(self._replaced.__func__)  # type: ignore[attr-defined]
        def function(tokenizer: Any, /, *args: Any, **kwargs: Any) -> Any:
            return getattr(tokenizer, self.__name__)(*args, **kwargs)

        return function

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Installed):
            return NotImplemented
        return self._tokenizer is other._tokenizer and self._method is other._method

    def __hash__(self) -> int:
        return hash((id(self._tokenizer), self._method))

    def __reduce__(self) -> tuple[Any, ...]:  # as a bound method; the tokenizer may have nothing in it yet
        return _bound, (self._tokenizer, self.__name__, self._defaults)

    @property
    def __name__(self) -> str:
        return str(self._method.__name__)

    @property
    def _replaced(self) -> Callable[..., Any]:
        """The class's own method, bound; parlance's where it has none."""
        return types.MethodType(getattr(own_class(self._tokenizer), self.__name__, self._method), self._tokenizer)

    @property
    def __signature__(self) -> inspect.Signature:
        """With the defaults that install() was given."""
        signature = signature_of_any(self._replaced)
        parameters = [one.replace(default=self._defaults.get(one.name, one.default)) for one in signature.parameters.values()]
        return signature.replace(parameters=parameters)


def _doc(self: Installed) -> str:
    first = f"Installed by parlance; see parlance.{self.__name__}. {self._more}".rstrip()
    return f"{first}\n\n{inspect.getdoc(self._replaced) or ''}"


Installed.__doc__ = property(_doc)  # type: ignore[assignment]


class Method:
    """A method of parlance in place of the one of its name. Where nothing is installed (any more), that one is found."""

    def __init__(self, method: Callable[..., Any], more: str = "", *, takes_defaults: bool = False) -> None:
        self.name = method.__name__
        self._method = method
        self._more = more
        self._takes_defaults = takes_defaults

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return getattr(_own(owner), self.name)
        state = vars(instance).get(_STATE)  # asked for once: another thread may take it off
        return method_of_class(instance, self.name) if state is None else self.bound(instance, state["defaults"])

    def bound(self, tokenizer: Any, defaults: dict[str, Any]) -> Installed:
        return Installed(tokenizer, self._method, defaults if self._takes_defaults else {}, self._more)


def _bound(tokenizer: Any, name: str, defaults: dict[str, Any]) -> Installed:
    return methods()[name].bound(tokenizer, defaults)


# ---- on and off


def put_on(tokenizer: Any, defaults: dict[str, Any]) -> list[str]:
    """The names of methods that the instance had of its own, which are kept for take_off().

    Raises TypeError for what can have no methods of its own.
    """
    _check_takes_methods(tokenizer)
    before = vars(tokenizer).get(_STATE, {"instance": {}})["instance"]
    own = {name: vars(tokenizer).pop(name) for name in methods() if name in vars(tokenizer)}
    vars(tokenizer)[_STATE] = {"instance": before | own, "defaults": defaults}  # what was there may be a copy's too
    _derive(tokenizer)
    return list(own)


def _check_takes_methods(tokenizer: Any) -> None:
    if isinstance(tokenizer, type) or not hasattr(tokenizer, "__dict__") or not type(tokenizer).__flags__ & _MAY_BE_BASE:
        raise no_tokenizer(tokenizer)


def no_tokenizer(given: Any) -> TypeError:
    """The error for what is neither a tokenizer of transformers nor a processor."""
    kind = type(given)
    name = f"the class {given.__name__}" if isinstance(given, type) else f"a {kind.__module__}.{kind.__qualname__}"
    return TypeError(f"{name.replace('builtins.', '')} is neither a tokenizer of transformers nor a processor")


def take_off(tokenizer: Any) -> None:
    _check_takes_methods(tokenizer)
    state = vars(tokenizer).pop(_STATE, {"instance": {}})
    if _OWN in vars(type(tokenizer)):
        tokenizer.__class__ = own_class(tokenizer)
    for name, method in state["instance"].items():
        vars(tokenizer).setdefault(name, method)


def own_class(tokenizer: Any) -> Any:
    """The class of a tokenizer, without what was put on it."""
    return _own(type(tokenizer))


def _own(kind: type) -> Any:
    return next((vars(one)[_OWN] for one in kind.__mro__ if _OWN in vars(one)), kind)


def override_of(tokenizer: Any, name: str, of: str = "PreTrainedTokenizerBase") -> Any:
    """The method of a class that overrides transformers' own, as that of Mistral's tokenizers, which have no template; else None."""
    kinds = own_class(tokenizer).__mro__
    found = [vars(kind)[name] for kind in kinds if name in vars(kind)]
    return found[0] if len(found) > 1 and any(kind.__name__ == of for kind in kinds) else None


def patched_in(tokenizer: Any, name: str) -> str:
    """The file of the function that somebody has put in place of transformers' own, for all tokenizers; "" where it is its own."""
    bases = [kind for kind in own_class(tokenizer).__mro__ if name in vars(kind) and kind.__module__.startswith("transformers.")]
    if not bases:
        return ""
    module = sys.modules.get(bases[-1].__module__)
    code = getattr(vars(bases[-1])[name], "__code__", None)
    given = getattr(code, "co_filename", "another function")
    return "" if given == getattr(module, "__file__", given) else str(given)


def method_of_class(tokenizer: Any, name: str) -> Any:
    """The method of a tokenizer's class, bound, whatever was put on the tokenizer or is an attribute of it."""
    kinds = type(tokenizer).__mro__
    ours = max((number for number, kind in enumerate(kinds) if _OWN in vars(kind)), default=-1)
    for kind in kinds[ours + 1 :]:
        if name in vars(kind):
            return vars(kind)[name].__get__(tokenizer, type(tokenizer))
    raise AttributeError(f"{own_class(tokenizer).__name__!r} object has no attribute {name!r}")


def derived(kind: Any, members: dict[str, Any], *more: type, moved: Callable[[Any, Any], Any] | None = None) -> type:
    """A class that is derived from this one, also from `more`, and that shows itself, by its names and by `__class__`, as what it is
    derived from. `moved`: of an instance and the class that somebody gives it, the class that it gets."""
    shown = vars(kind).get(_OWN, kind)

    def get_class(self: Any) -> type:
        return shown if type(self) is made else type(self)

    def set_class(self: Any, value: type) -> None:
        object.__dict__["__class__"].__set__(self, value if moved is None else moved(self, value))

    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    members = {**names, _OWN: _own(kind), "__class__": property(get_class, set_class), **members}
    made: type = types.new_class(kind.__name__, (kind, *more), {}, lambda names: names.update(members))
    return made


def called(tokenizer: Any, name: str, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `method` gives that is in place of the one of this name. For arguments that this one cannot take, what that one raises: a
    TypeError that names its class."""
    if "self" in kwargs:  # given twice: the method that is replaced says so
        return method_of_class(tokenizer, name)(*args, **kwargs)
    try:
        return method(tokenizer, *args, **kwargs)
    except TypeError:
        real = _refusal(tokenizer, name, args, kwargs)
        if real is None:
            raise
    raise real


def _refusal(tokenizer: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError | None:
    try:
        replaced = method_of_class(tokenizer, name)
    except AttributeError:
        return None
    try:
        signature_of_any(replaced).bind(*args, **kwargs)
    except TypeError:
        try:
            replaced(*args, **kwargs)
        except TypeError as real:
            return real.with_traceback(None)
    return None


@functools.cache
def methods() -> dict[str, Method]:
    """Those that are put on, by name."""
    from parlance import chat, responses

    more = "It also takes protect, mask, transformers_version and limits."
    all = [Method(chat.apply_chat_template, more, takes_defaults=True), Method(responses.parse_response)]
    return {one.name: one for one in all}


def _derive(tokenizer: Any) -> Any:
    if own_class(tokenizer) is type(tokenizer):
        tokenizer.__class__ = _derived(type(tokenizer))  # type: ignore[arg-type]
    return tokenizer


@functools.lru_cache(maxsize=64)
def _derived(kind: type) -> type:
    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        found = kind.__reduce_ex__(self, protocol)  # type: ignore[call-arg]
        if isinstance(found, str) or (type(self) is not made and all(one is not made for one in found[1])):
            return found  # of a class that is derived from this one
        if all(one is not made for one in found[1]):  # of a __reduce__ of its own, that makes a tokenizer without what was put on it
            return (_put_on_again, (found[0], found[1], vars(self).get(_STATE)), *found[2:])
        args = tuple(kind if one is made else one for one in found[1])
        return (_made_again, (found[0], args), *found[2:])

    # Which copyreg would add when first asked, so that a fingerprint by dill, as of datasets, would become another.
    names = list(copyreg._slotnames(kind))  # type: ignore[attr-defined]
    made = derived(kind, {"__reduce_ex__": __reduce_ex__, "__slotnames__": names, **methods()}, moved=_class_with_methods)
    return made


def _class_with_methods(tokenizer: Any, kind: Any) -> Any:
    """vLLM gives a copy a class that it derives from `__class__`; as a method of the instance, what is installed stays."""
    takes_methods = isinstance(kind, type) and _own(kind) is kind and kind.__flags__ & _MAY_BE_BASE
    return _derived(kind) if takes_methods and _STATE in vars(tokenizer) else kind


def _put_on_again(make: Callable[..., Any], args: tuple[Any, ...], state: dict[str, Any] | None) -> Any:
    made = make(*args)
    if state is not None:
        _check_takes_methods(made)
        vars(made)[_STATE] = state
    return _derive(made)


def _made_again(make: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """For pickle and copy."""
    return _derive(make(*args))
