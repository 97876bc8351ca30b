// Lists of the Responses API's items, as GET answers them: a page at a time.
#pragma once
#include <cstddef>
#include <functional>
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

/// The page that a query asks for by `limit`, `after` and `order`, of items with these ids, from the oldest on: `item`
/// is asked for the JSON of those on the page, by their numbers. Fails with conversation for a wrong setting.
Result<std::string> page_json(const std::vector<std::string_view>& ids, std::string_view query,
                              const std::function<std::string(std::size_t)>& item);

}  // namespace parlance::serve
