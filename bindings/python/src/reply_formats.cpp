// ReplyFormat. Begin reading at bind_reply_formats.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "parlance/json.h"
#include "parlance/reply.h"
#include "parlance/response_template.h"
#include "parlance/source.h"
#include "pickles.h"
#include "replies.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

PyReplyFormat from_response_template(nb::handle given) {
  ReadResponseTemplate read = take(read_response_template(json_of(given)));
  return {take(CompiledReplyFormat::make(read.format)), std::move(read.notes)};
}

nb::tuple to_response_template(const PyReplyFormat& self, const std::string& reasoning_key) {
  const WrittenResponseTemplate written =
      take(write_response_template(self.format.source(), {.reasoning_key = reasoning_key}));
  return nb::make_tuple(from_json(written.json), written.losses);
}

}  // namespace

ReplyFormat format_of(nb::handle given) {
  if (nb::isinstance<PyReplyFormat>(given)) return nb::cast<PyReplyFormat&>(given).format.source();
  if (PyUnicode_Check(given.ptr()) != 0) {
    const auto text = nb::cast<std::string>(given);
    if (!text.starts_with('{')) return take(ReplyFormat::from_json(find_format(take(open_format(text)).path)->reply));
    return take(ReplyFormat::from_json(text));
  }
  return take(ReplyFormat::from_json(json_of(given)));
}

CompiledReplyFormat compiled_format(nb::handle given) {
  if (nb::isinstance<PyReplyFormat>(given)) return nb::cast<PyReplyFormat&>(given).format;
  return take(CompiledReplyFormat::make(format_of(given)));
}

void bind_reply_formats(nb::module_& module) {
  nb::class_<PyReplyFormat>(module, "ReplyFormat", "How a model writes its replies.")
      .def(
          "__init__",
          [](PyReplyFormat* self, nb::handle given) {
            new (self) PyReplyFormat{compiled_format(given), {}};
          },
          "format"_a, nb::sig("def __init__(self, format: str | dict[str, typing.Any]) -> None"),
          "Takes a built-in format's name, or the JSON that `parlance format --reply-format` prints.\n\nRaises "
          "parlance.Error with the path of a wrong member.")
      .def(
          "to_json", [](const PyReplyFormat& f) { return f.format.source().to_json(); }, "The format as JSON text.")
      .def_static("from_response_template", &from_response_template, "response_template"_a,
                  nb::sig("def from_response_template(response_template: str | dict[str, typing.Any]) -> ReplyFormat"),
                  "Of a response_template of transformers (tokenizer_config.json); `notes` lists what was not used.\n\n"
                  "Raises parlance.Error, also ValueError, for one that transformers refuses, or whose regular "
                  "expressions a ReplyFormat cannot express.")
      .def("to_response_template", &to_response_template, nb::kw_only(), "reasoning_key"_a = "reasoning_content",
           nb::sig("def to_response_template(self, *, reasoning_key: str = 'reasoning_content') -> "
                   "tuple[dict[str, typing.Any], list[str]]"),
           "The format as a response_template of transformers 5.24, and sentences on what that does not read as a "
           "ReplyReader does.\n\nRaises parlance.Error, also ValueError, if it cannot be expressed.")
      .def("__getstate__",
           [](const PyReplyFormat& f) {
             return nb::make_tuple(kept_bytes(f.format.source().to_json()), kept_texts(f.notes));
           })
      .def("__setstate__",
           [](PyReplyFormat& self, const nb::tuple& state) {
             const ReplyFormat format = take(ReplyFormat::from_json(kept_text(state[0])));
             new (&self) PyReplyFormat{take(CompiledReplyFormat::make(format)), texts_of_kept(state[1])};
           })
      .def("__copy__", &itself, nb::sig("def __copy__(self) -> ReplyFormat"))
      .def("__deepcopy__", &itself_deep, "memo"_a,
           nb::sig("def __deepcopy__(self, memo: dict[int, typing.Any]) -> ReplyFormat"))
      .def("__repr__", [](const PyReplyFormat& f) { return "<ReplyFormat " + f.format.source().to_json() + ">"; })
      .def(
          "__eq__",
          [](const PyReplyFormat& a, const PyReplyFormat& b) { return a.format.source() == b.format.source(); },
          nb::is_operator())
      .def_ro("notes", &PyReplyFormat::notes, "What from_response_template() did not use, one line each.");
}

}  // namespace parlance::python
