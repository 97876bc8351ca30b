// The words for types; see types.h.
#include "schema/types.h"

#include <utility>

namespace parlance::schema {

Types type_named(std::string_view name) {
  constexpr std::pair<std::string_view, Types> kWords[] = {
      {"string", kString}, {"integer", kInteger}, {"number", kNumber}, {"boolean", kBoolean},
      {"object", kObject}, {"array", kArray},     {"null", kNull},     {"int", kInteger},
      {"float", kNumber},  {"bool", kBoolean},    {"dict", kObject},   {"list", kArray}};
  for (const auto& [word, types] : kWords) {
    if (word == name) return types;
  }
  return 0;
}

}  // namespace parlance::schema
