// StoredConversations: items of the Responses API that a client keeps here, and goes on from by the id of their list.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/sessions/shared_lists.h"
#include "serve/stored/newest.h"

namespace parlance::serve {

struct StoredItem {
  std::string id;
  std::string json;  ///< as it was given, by a client or in an answer
};

struct StoredConversation {
  static constexpr std::string_view kKind = "conversation";
  std::string id;
  std::string owner;      ///< the client's key: nobody else is given it
  bool unshared = false;  ///< Redis did not take its newest state
  std::int64_t created = 0;
  std::string metadata = "{}";                             ///< JSON
  std::vector<std::shared_ptr<const StoredItem>> items{};  ///< in their order
};

/// Adds items at the end. One without an id, or with that of another, gets one.
void add_items(StoredConversation& to, std::vector<StoredItem> items);

inline std::size_t bytes_of(const StoredConversation& conversation) {
  std::size_t bytes = conversation.metadata.size();
  for (const auto& item : conversation.items) bytes += sizeof(StoredItem) + item->id.size() + item->json.size();
  return bytes;
}

/// What one may have when a request adds to it: a change takes as long as there are items, and a response that goes on
/// it reads all of them. Behind an answer it may have a little more.
constexpr std::size_t kMostStoredItems = 16384, kMostStoredBytes = std::size_t{16} << 20;

/// Why nothing of this size may be added; "": it may.
std::string refusal_to_add(const StoredConversation& to, std::size_t items, std::size_t bytes);

/// Redis has it as a text for itself and one for each item.
SharedLists::Texts texts_of(const StoredConversation& conversation);
bool take_texts(const SharedLists::Texts& texts, StoredConversation& into);

using StoredConversations = Newest<StoredConversation>;

}  // namespace parlance::serve
