// Begin reading at with_type_of_block.
#include "serve/fronts/block_error.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace parlance::serve {
namespace {

/// The value at a path such as `messages[3].content[1]`; undefined where there is none.
Value value_at(Value of, std::string_view path) {
  while (!path.empty() && !of.is_undefined()) {
    const bool is_item = path.front() == '[';
    const std::size_t end = std::min(path.find_first_of(is_item ? "]" : ".["), path.size());
    const std::string_view step = path.substr(is_item ? 1 : 0, end - (is_item ? 1 : 0));
    const std::size_t number = is_item ? std::strtoull(std::string(step).c_str(), nullptr, 10) : 0;
    if (is_item)
      of = number < of.items().size() ? of.items()[number] : Value();
    else
      of = of[step];
    path.remove_prefix(std::min(end + (is_item ? 1 : 0), path.size()));
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return of;
}

}  // namespace

Error with_type_of_block(const Error& error, Value body) {
  const std::string path = error.input_path();
  const bool is_item = path.starts_with("messages[") && path.ends_with(']');
  const std::string_view type = is_item ? value_at(body, path)["type"].text() : std::string_view();
  return type != "image" && type != "document" ? error : error.input(path + "." + std::string(type));
}

}  // namespace parlance::serve
