// What pickles of templates, renderings and their parts keep.
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

#include "parlance/source.h"

namespace parlance::python {

namespace nb = nanobind;

/// Texts of pickles are bytes, which any text can be.
inline nb::bytes kept_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }
inline std::string kept_text(nb::handle bytes) {
  const auto given = nb::cast<nb::bytes>(bytes);
  return {static_cast<const char*>(given.data()), given.size()};
}

template <typename Texts>
nb::tuple kept_texts(const Texts& texts) {
  nb::list all;
  for (const std::string& text : texts) all.append(kept_bytes(text));
  return nb::tuple(all);
}
inline std::vector<std::string> texts_of_kept(nb::handle state) {
  std::vector<std::string> all;
  for (nb::handle one : nb::cast<nb::tuple>(state)) all.push_back(kept_text(one));
  return all;
}

/// __copy__ and __deepcopy__ of what never changes.
inline nb::object itself(nb::handle self) { return nb::borrow(self); }
inline nb::object itself_deep(nb::handle self, nb::handle /*memo*/) { return nb::borrow(self); }

/// All of a model's facts, and back.
nb::tuple state_of_source(const ModelSource& source);
ModelSource source_of_state(const nb::tuple& state);

}  // namespace parlance::python
