// Adds items to conversations that are kept, and reads and writes them as Redis has them.
#include "serve/stored/stored_conversations.h"

#include <charconv>
#include <unordered_set>
#include <utility>

#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "serve/random_id.h"

namespace parlance::serve {

void add_items(StoredConversation& to, std::vector<StoredItem> items) {
  std::unordered_set<std::string> ids;
  for (const auto& item : to.items) ids.insert(item->id);
  for (StoredItem& item : items) {
    while (item.id.empty() || !ids.insert(item.id).second) item.id = random_id("item_");
    to.items.push_back(std::make_shared<const StoredItem>(std::move(item)));
  }
}

std::string refusal_to_add(const StoredConversation& to, std::size_t items, std::size_t bytes) {
  if (to.items.size() + items > kMostStoredItems)
    return "a conversation has at most " + std::to_string(kMostStoredItems) + " items";
  if (bytes_of(to) + bytes > kMostStoredBytes)
    return "a conversation has at most " + std::to_string(kMostStoredBytes) + " bytes";
  return {};
}

/// `change` makes the first text of each state another.
SharedLists::Texts texts_of(const StoredConversation& conversation) {
  JsonWriter head('{');
  head.text("id", conversation.id).number("created_at", conversation.created).raw("metadata", conversation.metadata);
  SharedLists::Texts texts = {head.text("change", random_id("")).take()};
  for (const auto& item : conversation.items)
    texts.push_back(std::to_string(item->id.size()) + " " + item->id + item->json);
  return texts;
}

namespace {

/// The length of the id, a space, the id, the JSON.
bool take_item(std::string_view text, StoredItem& item) {
  std::size_t size = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (failed != std::errc() || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  if (size > text.size()) return false;
  item.id = text.substr(0, size);
  item.json = text.substr(size);
  Document json;
  return static_cast<bool>(json.parse(item.json));
}

}  // namespace

bool take_texts(const SharedLists::Texts& texts, StoredConversation& into) {
  Document head;
  if (!head.parse(texts.front()) || head.root()["id"].text() != into.id) return false;
  const Value created = head.root()["created_at"], metadata = head.root()["metadata"];
  if (!created.is_small_int() || !metadata.is(Kind::dict)) return false;
  into.created = created.integer;
  into.metadata = json_text(metadata);
  for (std::size_t at = 1; at < texts.size(); ++at) {
    StoredItem item;
    if (!take_item(texts[at], item)) return false;
    into.items.push_back(std::make_shared<const StoredItem>(std::move(item)));
  }
  return true;
}

}  // namespace parlance::serve
