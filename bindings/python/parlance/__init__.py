"""parlance: chat templates rendered exactly, with the origin of every character, and replies read while they stream.

    import parlance

    template = parlance.Template.from_pretrained("models/mine")
    prompt = template.render([{"role": "user", "content": "Hi"}])
    print(prompt.text)

Importing it imports neither transformers nor torch nor numpy.
"""

from __future__ import annotations

from parlance._core import VERSION as __version__
from parlance._core import (
    ApiRequest,
    CheckReport,
    DerivedFormat,
    Grammar,
    GrammarNote,
    GuardedText,
    LawResult,
    Loss,
    Message,
    Prefix,
    Rendering,
    ReplyApiEvent,
    ReplyApiWriter,
    ReplyDeltas,
    ReplyEvent,
    ReplyFormat,
    ReplyReader,
    RequestNote,
    Span,
    Template,
    Tokenizer,
    Tokens,
    ToolCall,
    UnknownText,
    api_error,
    check,
    convert,
    derive,
    formats,
    grammar,
    laws,
    models,
    passes,
    prefix,
    read,
    read_conversation,
    schema_grammar,
)
from parlance._errors import OF_JINJA as _OF_JINJA
from parlance._errors import Error
from parlance._errors import class_named as _class_named
from parlance._functions import make_pickled as _make_functions_pickled
from parlance._html import rendering_as_html as _rendering_as_html
from parlance._modules import make_pickled as _make_modules_pickled
from parlance._records import make_dataclass as _make_dataclass

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from parlance._errors import (
        FilterArgumentError,
        SecurityError,
        TemplateAssertionError,
        TemplateError,
        TemplateRuntimeError,
        TemplatesNotFound,
        TemplateSyntaxError,
        UndefinedError,
    )
    from parlance._schema import get_json_schema
    from parlance._tokenizers import tokenizer_of
    from parlance.agent import Agent, AgentEnd, ToolOutcome
    from parlance.chat import apply_chat_template, install, uninstall
    from parlance.responses import parse_response
    from parlance.session import Sample, Session

Rendering._repr_html_ = _rendering_as_html  # type: ignore[attr-defined]
_make_dataclass(ReplyEvent)
_make_functions_pickled()
_make_modules_pickled(__name__)

# Modules that need a package of their own are imported when they are first asked for.
_LAZY = {
    "get_json_schema": "parlance._schema",
    "apply_chat_template": "parlance.chat",
    "install": "parlance.chat",
    "uninstall": "parlance.chat",
    "parse_response": "parlance.responses",
    "tokenizer_of": "parlance._tokenizers",
    "Agent": "parlance.agent",
    "AgentEnd": "parlance.agent",
    "ToolOutcome": "parlance.agent",
    "Sample": "parlance.session",
    "Session": "parlance.session",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        import importlib
        import sys

        found = getattr(importlib.import_module(_LAZY[name]), name)
        if not getattr(sys, "_is_gil_enabled", lambda: True)():
            globals()[name] = found  # or threads would wait for each other in sys.modules
        return found
    of_errors = _class_named(name) if name[:1].isupper() else None
    if of_errors is not None:
        return of_errors
    raise AttributeError(f"module 'parlance' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_OF_JINJA})


__all__ = [
    "Agent",
    "AgentEnd",
    "ApiRequest",
    "CheckReport",
    "DerivedFormat",
    "Error",
    "FilterArgumentError",
    "Grammar",
    "GrammarNote",
    "GuardedText",
    "LawResult",
    "Loss",
    "Message",
    "Prefix",
    "Rendering",
    "ReplyApiEvent",
    "ReplyApiWriter",
    "ReplyDeltas",
    "ReplyEvent",
    "ReplyFormat",
    "ReplyReader",
    "RequestNote",
    "Sample",
    "SecurityError",
    "Session",
    "Span",
    "Template",
    "TemplateAssertionError",
    "TemplateError",
    "TemplateRuntimeError",
    "TemplateSyntaxError",
    "TemplatesNotFound",
    "Tokenizer",
    "Tokens",
    "ToolCall",
    "ToolOutcome",
    "UndefinedError",
    "UnknownText",
    "__version__",
    "api_error",
    "apply_chat_template",
    "check",
    "convert",
    "derive",
    "formats",
    "get_json_schema",
    "grammar",
    "install",
    "laws",
    "models",
    "parse_response",
    "passes",
    "prefix",
    "read",
    "read_conversation",
    "schema_grammar",
    "tokenizer_of",
    "uninstall",
]
