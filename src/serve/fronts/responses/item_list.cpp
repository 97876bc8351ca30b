// Writes pages of items. Begin reading at page_json.
#include "serve/fronts/responses/item_list.h"

#include <algorithm>
#include <charconv>

#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "serve/fronts/request_parts.h"

namespace parlance::serve {

std::optional<std::string> setting_of(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    if (one.starts_with(name) && one.substr(name.size()).starts_with('='))
      return unescaped(one.substr(name.size() + 1));
  }
  return std::nullopt;
}

Error wrong_setting(std::string_view name, std::string_view wanted) {
  return Error(ErrorCode::conversation, std::string(name) + " must be " + std::string(wanted)).input(std::string(name));
}

Result<std::size_t> limit_of(std::string_view query, std::size_t most, std::size_t otherwise) {
  const std::optional<std::string> limit = setting_of(query, "limit");
  if (!limit) return otherwise;
  std::size_t number = 0;
  const auto [end, failed] = std::from_chars(limit->data(), limit->data() + limit->size(), number);
  const bool is_number = failed == std::errc() && end == limit->data() + limit->size();
  if (!is_number || number == 0 || number > most)
    return wrong_setting("limit", "a number from 1 to " + std::to_string(most));
  return number;
}

std::string item_json(Value item, std::string_view id) {
  const bool is_message = item["type"].is_undefined() || item["type"].text() == "message";
  JsonWriter made('{');
  made.text("id", id);
  if (item["type"].is_undefined()) made.text("type", "message");
  for (const DictEntry& member : item.members()) {
    if (member.key.text() == "id") continue;
    const bool is_text = is_message && member.key.text() == "content" && member.value.is_string();
    if (!is_text) {
      made.raw(member.key.text(), json_text(member.value));
      continue;
    }
    const std::string_view type = item["role"].text() == "assistant" ? "output_text" : "input_text";
    const std::string part = JsonWriter('{').text("type", type).text("text", member.value.text()).take();
    made.raw("content", JsonWriter('[').item(part).take());
  }
  if (item["status"].is_undefined()) made.text("status", "completed");
  return made.take();
}

namespace {

/// Which of the items are asked for.
struct Page {
  std::size_t limit = 20;
  std::string after{};  ///< the id of the item before the first; "": none is
  bool newest_first = true;
};

Result<Page> page_of(std::string_view query) {
  Page page{.after = setting_of(query, "after").value_or("")};
  const Result<std::size_t> limit = limit_of(query, 100, page.limit);
  if (!limit) return limit.error();
  page.limit = *limit;
  const std::string order = setting_of(query, "order").value_or("desc");
  if (order != "asc" && order != "desc") return wrong_setting("order", "asc or desc");
  page.newest_first = order == "desc";
  return page;
}

}  // namespace

Result<std::string> page_json(const std::vector<std::string_view>& ids, std::string_view query,
                              const std::function<std::string(std::size_t)>& item) {
  const Result<Page> page = page_of(query);
  if (!page) return page.error();
  const auto number_of = [&](std::size_t at) { return page->newest_first ? ids.size() - 1 - at : at; };
  std::size_t begin = 0;
  if (!page->after.empty()) {
    const auto found = std::ranges::find(ids, page->after);
    if (found == ids.end()) return wrong_setting("after", "the id of an item of this list");
    begin = number_of(static_cast<std::size_t>(found - ids.begin())) + 1;
  }
  const std::size_t end = std::min(begin + page->limit, ids.size());
  JsonWriter list('['), made('{');
  for (std::size_t at = begin; at < end; ++at) list.item(item(number_of(at)));
  made.text("object", "list").raw("data", list.take()).flag("has_more", end < ids.size());
  begin == end ? made.null("first_id") : made.text("first_id", ids[number_of(begin)]);
  begin == end ? made.null("last_id") : made.text("last_id", ids[number_of(end - 1)]);
  return made.take();
}

}  // namespace parlance::serve
