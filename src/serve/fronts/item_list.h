// Lists of the Responses API's items, as GET answers them: a page at a time.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"
#include "parlance/value.h"

namespace parlance::serve {

/// A setting of the query; unset if it is not there.
std::optional<std::string> setting_of(std::string_view query, std::string_view name);
Error wrong_setting(std::string_view name, std::string_view wanted);
/// `limit` of the query: 1 to `most`; `otherwise`, whatever that is, where it is not there. Fails with conversation.
Result<std::size_t> limit_of(std::string_view query, std::size_t most, std::size_t otherwise);

/// An item as the API lists it: with this id, and a text as a part.
std::string item_json(Value item, std::string_view id);

/// Those of a list, from the oldest on.
struct ListedItems {
  std::vector<std::string> ids, items;  ///< the items as JSON

  void add(Value item, std::string id);
};
/// The page that a query asks for by `limit`, `after` and `order`. Fails with conversation for a wrong setting.
Result<std::string> page_json(ListedItems items, std::string_view query);

}  // namespace parlance::serve
