// Texts as a list in JSON.
#pragma once
#include <string>

#include "parlance/json_writer.h"

namespace parlance::cli {

/// `["one", "two"]`
template <typename Texts>
std::string texts_as_json(const Texts& texts) {
  JsonWriter list('[');
  for (const auto& text : texts) append_json_string(list.next(), text);
  return list.take();
}

}  // namespace parlance::cli
