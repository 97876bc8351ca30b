// prefix(): how much of one prompt another one shares, and why not more. Begin reading at bind_prefix.
#include "prefix.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "errors.h"
#include "gil.h"
#include "templates.h"
#include "tokenizers.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

nb::dict side_to_dict(const PromptSide& side) {
  nb::dict made;
  made["excerpt"] = text_to_python(side.excerpt);
  made["origin"] = std::string(origin_name(side.origin));
  made["path"] = text_to_python(side.path);
  made["line"] = side.place.line;
  made["column"] = side.place.column;
  return made;
}

const char* name_of_cause(PrefixCause cause) {
  switch (cause) {
    case PrefixCause::rewritten: return "rewritten";
    case PrefixCause::other_reply: return "other_reply";
    case PrefixCause::across_border: return "across_border";
  }
  return "";
}

/// What `parlance prefix` prints.
struct PyPrefix {
  std::size_t shared = 0, lost = 0, fresh = 0;
  bool is_of_tokens = false;
  std::optional<PrefixDifference> difference;

  const char* unit() const { return is_of_tokens ? "tokens" : "bytes"; }
  nb::object difference_as_dict() const {
    return difference ? nb::object(difference_to_dict(*difference)) : nb::none();
  }
};

/// A prompt, with its tokens if it was given as Tokens.
struct Side {
  std::shared_ptr<Prompt> prompt;
  std::shared_ptr<const PromptTokens> tokens;

  PromptView view() const { return {prompt->rendering, prompt->request.conversation, tokens.get()}; }
  std::size_t size() const { return tokens ? tokens->ids.size() : prompt->rendering.text().size(); }
};

Side side_of(nb::handle given) {
  if (nb::isinstance<PyRendering>(given)) return {nb::cast<PyRendering&>(given).prompt, nullptr};
  if (!nb::isinstance<PyTokens>(given)) throw nb::type_error("prefix() takes two Renderings, or two Tokens");
  const auto& tokens = nb::cast<PyTokens&>(given);
  if (tokens.prompt == nullptr) raise_argument("these tokens are of no prompt");
  return {tokens.prompt, tokens.tokens};
}

PyPrefix prefix(nb::handle before, nb::handle after) {
  const Side a = side_of(before), b = side_of(after);
  if ((a.tokens == nullptr) != (b.tokens == nullptr))
    throw nb::type_error("prefix() takes two Renderings, or two Tokens");
  PyPrefix found;
  found.is_of_tokens = a.tokens != nullptr;
  {
    const GilRelease release;
    found.difference = compare_prompts(a.view(), b.view());
  }
  const std::optional<PrefixDifference>& difference = found.difference;
  found.shared = !difference ? a.size() : found.is_of_tokens ? difference->token : difference->byte;
  found.lost = a.size() - found.shared;
  found.fresh = b.size() - found.shared;
  return found;
}

nb::dict prefix_to_dict(const PyPrefix& found) {
  nb::dict made;
  made["unit"] = found.unit();
  made["shared"] = found.shared;
  made["lost"] = found.lost;
  made["new"] = found.fresh;
  made["difference"] = found.difference_as_dict();
  return made;
}

}  // namespace

nb::dict difference_to_dict(const PrefixDifference& difference) {
  nb::dict made;
  made["cause"] = name_of_cause(difference.cause);
  made["byte"] = difference.byte;
  made["token"] = difference.token;
  made["before"] = side_to_dict(difference.before);
  made["after"] = side_to_dict(difference.after);
  made["changed_input"] = text_to_python(difference.changed_input);
  made["sentence"] = text_to_python(difference.sentence());
  return made;
}

void bind_prefix(nb::module_& module) {
  nb::class_<PyPrefix>(module, "Prefix", "How much of a prompt a later one shares. True where it shares all of it.")
      .def_ro("shared", &PyPrefix::shared, "Tokens, or bytes, that the two prompts begin with.")
      .def_ro("lost", &PyPrefix::lost, "Of the first prompt, those that the second does not share.")
      .def_ro("new", &PyPrefix::fresh, "Of the second prompt, those to be read anew.")
      .def_prop_ro("unit", &PyPrefix::unit, "'tokens', or 'bytes' where Renderings were compared.")
      .def_prop_ro(
          "difference", &PyPrefix::difference_as_dict, nb::sig("def difference(self) -> dict[str, typing.Any] | None"),
          "The first difference: its byte and token, the template's line and the input's path on both sides, "
          "`changed_input` (the path of the input that changed; '' if the template alone is the cause), and all "
          "of it as a `sentence`. None if there is none.")
      .def("__bool__", [](const PyPrefix& p) { return !p.difference; })
      .def("to_dict", &prefix_to_dict, nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
           "What `parlance prefix --json` prints.")
      .def("__repr__", [](const PyPrefix& p) {
        return "<Prefix " + std::to_string(p.shared) + " " + p.unit() + " shared, " + std::to_string(p.lost) + " lost>";
      });
  module.def("prefix", &prefix, "before"_a, "after"_a,
             nb::sig("def prefix(before: Rendering | Tokens, after: Rendering | Tokens) -> Prefix"),
             "Whether a prompt begins with an earlier one, and if not, where and why: `parlance prefix`. Takes two "
             "Renderings, or two Tokens, which a cache goes by.\n\nRaises TypeError for anything else.   Threads: any; "
             "releases the GIL.");
}

}  // namespace parlance::python
