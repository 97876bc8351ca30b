// All filter tables together, and finding a filter by name.
#include <array>

#include "jinja/filters/tables.h"
#include "jinja/objects/builtins.h"

namespace parlance::jinja {

std::span<const std::span<const Builtin>> filter_tables() {
  static const std::array<std::span<const Builtin>, 10> kTables = {
      text_filters(),    layout_filters(), sequence_filters(), order_filters(), lazy_filters(),
      mapping_filters(), number_filters(), encode_filters(),   html_filters(),  urlize_filters()};
  return kTables;
}

const Builtin* find_filter(std::string_view name) {
  for (std::span<const Builtin> table : filter_tables()) {
    if (const Builtin* row = find_builtin(table, name)) return row;
  }
  return nullptr;
}

}  // namespace parlance::jinja
