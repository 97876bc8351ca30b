// A ModelSource as tuples of bytes, and back.
#include "pickles.h"

#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace parlance::python {

namespace {

template <typename Item, typename Of>
nb::tuple tuple_of(const std::vector<Item>& items, Of of) {
  nb::list all;
  for (const Item& item : items) all.append(of(item));
  return nb::tuple(all);
}

template <typename Item, typename Of>
std::vector<Item> items_of(nb::handle state, Of of) {
  std::vector<Item> all;
  for (nb::handle one : nb::cast<nb::tuple>(state)) all.push_back(of(nb::cast<nb::tuple>(one)));
  return all;
}

}  // namespace

nb::tuple state_of_source(const ModelSource& source) {
  return nb::make_tuple(
      kept_bytes(source.path), kept_bytes(source.tokenizer_path),
      tuple_of(source.templates,
               [](const NamedTemplate& one) {
                 return nb::make_tuple(kept_bytes(one.name), kept_bytes(one.text), kept_bytes(one.origin),
                                       kept_bytes(syntax_name(one.syntax)));
               }),
      tuple_of(
          source.special_tokens,
          [](const SpecialToken& one) { return nb::make_tuple(kept_bytes(one.name), kept_bytes(one.text), one.id); }),
      kept_bytes(source.system),
      tuple_of(source.messages,
               [](const SourceMessage& one) { return nb::make_tuple(kept_bytes(one.role), kept_bytes(one.content)); }),
      tuple_of(source.parameters,
               [](const SourceParameter& one) { return nb::make_tuple(kept_bytes(one.name), kept_bytes(one.value)); }),
      kept_bytes(source.response_template), source.add_bos_token, source.add_eos_token, kept_texts(source.notes),
      kept_bytes(source.looked_for));
}

ModelSource source_of_state(const nb::tuple& state) {
  ModelSource source;
  source.path = kept_text(state[0]);
  source.tokenizer_path = kept_text(state[1]);
  source.templates = items_of<NamedTemplate>(state[2], [](const nb::tuple& one) {
    const std::optional<Syntax> syntax = syntax_named(kept_text(one[3]));
    return NamedTemplate{kept_text(one[0]), kept_text(one[1]), kept_text(one[2]), syntax.value_or(Syntax::jinja)};
  });
  source.special_tokens = items_of<SpecialToken>(state[3], [](const nb::tuple& one) {
    return SpecialToken{kept_text(one[0]), kept_text(one[1]), nb::cast<std::int64_t>(one[2])};
  });
  source.system = kept_text(state[4]);
  source.messages = items_of<SourceMessage>(state[5], [](const nb::tuple& one) {
    return SourceMessage{kept_text(one[0]), kept_text(one[1])};
  });
  source.parameters = items_of<SourceParameter>(state[6], [](const nb::tuple& one) {
    return SourceParameter{kept_text(one[0]), kept_text(one[1])};
  });
  source.response_template = kept_text(state[7]);
  source.add_bos_token = nb::cast<std::optional<bool>>(state[8]);
  source.add_eos_token = nb::cast<std::optional<bool>>(state[9]);
  source.notes = texts_of_kept(state[10]);
  source.looked_for = kept_text(state[11]);
  return source;
}

}  // namespace parlance::python
