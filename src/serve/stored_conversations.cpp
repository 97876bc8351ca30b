// Adds items to conversations that are kept.
#include "serve/stored_conversations.h"

#include <unordered_set>
#include <utility>

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

}  // namespace parlance::serve
