// derive() and check(): what experiments with a template find. Begin reading at bind_findings.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <chrono>

#include "errors.h"
#include "gil.h"
#include "parlance/check.h"
#include "pickles.h"
#include "replies.h"
#include "templates.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

/// What experiments with this template go by: the model's special tokens and response template, and the variables
/// given.
DeriveOptions options_for(const PyTemplate& chat_template, nb::handle format, nb::handle variables) {
  const ModelSource& model = chat_template.engine->reader.model();
  DeriveOptions options;
  options.response_template = model.response_template;
  for (const SpecialToken& token : model.special_tokens) options.special_tokens.emplace_back(token.name, token.text);
  options.format = chat_template.engine->reader.options().reply_format;
  options.limits = chat_template.engine->limits();
  if (!format.is_none()) options.format = format_of(format);
  options.variables = json_members(variables);
  return options;
}

/// The template for requests with tools, which experiments try too.
const Template& template_of(const PyTemplate& chat_template) {
  const Result<Template>& made = chat_template.engine->reader.chat_template(true);
  if (!made) raise(made.error());
  return *made;
}

/// What is told of one, which a pickle keeps.
struct PyDerived {
  explicit PyDerived(const DerivedFormat& derived)
      : verdict(name_of(derived.verdict)),
        format(derived.format),
        missing(derived.missing),
        notes(derived.notes),
        renders(derived.renders),
        json(derived.to_json()) {
    for (const DerivedField& field : derived.evidence) evidence.push_back({field.field, field.experiment, field.shown});
  }
  PyDerived() = default;

  std::string verdict;
  ReplyFormat format;
  std::vector<std::string> missing, notes;
  std::vector<std::array<std::string, 3>> evidence;
  std::size_t renders = 0;
  std::string json;
};

PyDerived derive_format(const PyTemplate& chat_template, nb::handle format, const nb::kwargs& variables) {
  const DeriveOptions options = options_for(chat_template, format, variables);
  const Template& tried = template_of(chat_template);
  Result<DerivedFormat> derived = [&] {
    const GilRelease release;
    return derive(tried, options);
  }();
  return PyDerived(take(std::move(derived)));
}

/// Whether a signal's handler in Python has raised, such as that of Ctrl-C, which runs only where it is asked for. What
/// it raised is kept.
class RaisedBySignal {
 public:
  bool operator()() {
    constexpr std::chrono::milliseconds kEvery(100);
    const Clock::time_point now = Clock::now();
    if (now - asked_ < kEvery) return false;
    asked_ = now;
    const GilAcquire acquire;
    if (at_python([] { return PyErr_CheckSignals(); }) == 0) return false;
    nb::python_error raised;
    keep_raised(raised);
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point asked_ = Clock::now();
};

CheckReport check_laws(const PyTemplate& chat_template, std::size_t count, std::uint64_t seed, nb::handle format,
                       const nb::kwargs& variables) {
  const CheckOptions options{.derive = options_for(chat_template, format, variables),
                             .count = count,
                             .seed = seed,
                             .stopped = RaisedBySignal()};
  const Template& tried = template_of(chat_template);
  Result<CheckReport> report = [&] {
    const GilRelease release;
    return parlance::check(tried, options);
  }();
  return take(std::move(report));
}

nb::str name_as_str(std::string_view name) { return nb::str(name.data(), name.size()); }

nb::list evidence_of(const PyDerived& derived) {
  nb::list all;
  for (const auto& [field, experiment, shown] : derived.evidence)
    all.append(nb::make_tuple(field, experiment, text_to_python(shown)));
  return all;
}

nb::tuple state_of_derived(const PyDerived& self) {
  nb::list evidence;
  for (const auto& field : self.evidence) evidence.append(kept_texts(field));
  return nb::make_tuple(kept_bytes(self.verdict), kept_bytes(self.format.to_json()), kept_texts(self.missing),
                        kept_texts(self.notes), nb::tuple(evidence), self.renders, kept_bytes(self.json));
}

void set_state_of_derived(PyDerived& self, const nb::tuple& state) {
  PyDerived made;
  made.verdict = kept_text(state[0]);
  made.format = take(ReplyFormat::from_json(kept_text(state[1])));
  made.missing = texts_of_kept(state[2]);
  made.notes = texts_of_kept(state[3]);
  for (nb::handle one : nb::cast<nb::tuple>(state[4]))
    made.evidence.push_back({kept_text(one[0]), kept_text(one[1]), kept_text(one[2])});
  made.renders = nb::cast<std::size_t>(state[5]);
  made.json = kept_text(state[6]);
  new (&self) PyDerived(std::move(made));
}

nb::dict report_to_dict(const CheckReport& report) {
  nb::list laws;
  for (const LawResult& law : report.laws) {
    nb::dict one;
    one["law"] = name_as_str(law.law);
    one["outcome"] = name_as_str(name_of(law.outcome));
    one["tried"] = law.tried;
    if (!law.example.empty()) one["example"] = text_to_python(law.example);
    laws.append(one);
  }
  nb::dict made;
  made["verdict"] = name_as_str(name_of(report.derived.verdict));
  made["holds"] = report.holds();
  made["missing"] = report.derived.missing;
  made["laws"] = laws;
  return made;
}

void bind_derived(nb::module_& module) {
  nb::class_<PyDerived>(module, "DerivedFormat", "How a template's model writes replies, and what the template can.")
      .def_prop_ro(
          "verdict", [](const PyDerived& d) { return name_as_str(d.verdict); },
          "'verified': the format reads back all that the template shows. 'partial': `missing` says what was not "
          "found. "
          "'none': no assistant turn could be rendered.")
      .def_prop_ro(
          "format", [](const PyDerived& d) { return PyReplyFormat{take(CompiledReplyFormat::make(d.format))}; },
          "The ReplyFormat.")
      .def_ro("missing", &PyDerived::missing, "Why the verdict is not 'verified', as sentences.")
      .def_ro("notes", &PyDerived::notes, "What the template loses, as sentences.")
      .def_prop_ro("evidence", &evidence_of, nb::sig("def evidence(self) -> list[tuple[str, str, str]]"),
                   "(field of the format, experiment, the text that showed it).")
      .def_ro("renders", &PyDerived::renders, "How many prompts were rendered.")
      .def(
          "to_dict", [](const PyDerived& d) { return from_json(d.json); },
          nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
          "Everything that `parlance format --json` prints, the template's capabilities among it.")
      .def("__getstate__", &state_of_derived)
      .def("__setstate__", &set_state_of_derived)
      .def("__repr__", [](const PyDerived& d) {
        return "<DerivedFormat " + d.verdict + ", " + std::to_string(d.renders) + " renders>";
      });
}

void bind_report(nb::module_& module) {
  nb::class_<LawResult>(module, "LawResult", "The result of testing one law.")
      .def_prop_ro("law", [](const LawResult& l) { return name_as_str(l.law); })
      .def_prop_ro(
          "outcome", [](const LawResult& l) { return name_as_str(name_of(l.outcome)); },
          "'holds', 'broken', 'does not apply' or 'untried'.")
      .def_ro("tried", &LawResult::tried, "The number of conversations or replies.")
      .def_prop_ro(
          "example", [](const LawResult& l) { return text_to_python(l.example); },
          "Of a broken law the request, the reply and what was found; else why it was not tested, or ''.")
      .def("__repr__", [](const LawResult& l) {
        return "<LawResult " + std::string(l.law) + ": " + std::string(name_of(l.outcome)) + ">";
      });

  nb::class_<CheckReport>(module, "CheckReport", "Which laws hold for a template.")
      .def_prop_ro(
          "holds", [](const CheckReport& r) { return r.holds(); },
          "Whether the format is verified and no law is broken or untried.")
      .def_ro("laws", &CheckReport::laws)
      .def_prop_ro(
          "derived", [](const CheckReport& r) { return PyDerived(r.derived); },
          "The format that was tested, and how it was found.")
      .def("to_dict", &report_to_dict, nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
           "What `parlance check --json` prints.")
      .def("__repr__", [](const CheckReport& r) { return r.holds() ? "<CheckReport holds>" : "<CheckReport broken>"; });
}

}  // namespace

void bind_findings(nb::module_& module) {
  bind_derived(module);
  bind_report(module);
  module.def(
      "derive", &derive_format, "template"_a, nb::kw_only(), "format"_a = nb::none(), "variables"_a,
      nb::sig("def derive(template: Template, *, format: ReplyFormat | str | dict[str, typing.Any] | None = None, "
              "**variables: typing.Any) -> DerivedFormat"),
      "Finds by experiments how a template's model writes replies, and what the template can: `parlance format`. "
      "Takes some milliseconds; keep the result.\n\nWith `format` that one is tested and none is derived. Other "
      "keyword arguments are variables of the template.\n\nRaises parlance.Error if the template cannot be "
      "compiled; one that always raises gives the verdict 'none'.   Threads: any; releases the GIL.");
  module.def("check", &check_laws, "template"_a, nb::kw_only(), "count"_a = 200, "seed"_a = 1, "format"_a = nb::none(),
             "variables"_a,
             nb::sig("def check(template: Template, *, count: int = 200, seed: int = 1, format: ReplyFormat | str | "
                     "dict[str, typing.Any] | None = None, **variables: typing.Any) -> CheckReport"),
             "Tests the laws of a template and its format on `count` generated conversations each: `parlance check`. "
             "The same seed gives the same conversations.\n\nRaises as derive() does, and what the handler of a signal "
             "raises: Ctrl-C ends it.   Threads: any; releases the "
             "GIL.");
  module.def(
      "laws",
      [] {
        nb::list all;
        for (const LawInfo& law : laws()) all.append(nb::make_tuple(name_as_str(law.name), name_as_str(law.sentence)));
        return all;
      },
      nb::sig("def laws() -> list[tuple[str, str]]"), "(name, what must hold) of each law that check() tests.");
}

}  // namespace parlance::python
