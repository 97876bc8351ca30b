// Begin reading at with_type_of_block.
#include "serve/fronts/block_error.h"

#include <cstdio>
#include <string>
#include <string_view>

namespace parlance::serve {
namespace {

Value item_at(Value list, std::size_t number) { return number < list.items().size() ? list.items()[number] : Value(); }

}  // namespace

Error with_type_of_block(const Error& error, Value body) {
  std::size_t message = 0, block = 0;
  const std::string path = error.input_path();
  if (std::sscanf(path.c_str(), "messages[%zu].content[%zu]", &message, &block) != 2) return error;
  if (path != "messages[" + std::to_string(message) + "].content[" + std::to_string(block) + "]") return error;
  const Value given = item_at(item_at(body["messages"], message)["content"], block);
  const std::string_view type = given["type"].text();
  return type != "image" && type != "document" ? error : error.input(path + "." + std::string(type));
}

}  // namespace parlance::serve
