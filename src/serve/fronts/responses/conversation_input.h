// A request of Responses that goes on a conversation which is kept here: `conversation` names it.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"
#include "parlance/value.h"
#include "serve/stored/kept.h"
#include "serve/stored/stored_conversations.h"

namespace parlance::serve {

/// Which conversation, and how many items at the beginning of `input` are its own; "": none.
struct KeptBefore {
  std::string conversation{};
  std::size_t items = 0;
  bool text = false;  ///< the request's own input is a text
};

struct ConversationInput {
  KeptBefore before;
  std::string json;  ///< the request with the conversation's items before its own `input`; "": it names none
};

/// A reference to an item that is in the conversation is left out. Fails with conversation (path) where none of this
/// client's is kept, where the request goes on from a response as well, and where both together are larger than `most`
/// bytes, or more than may be added.
Result<ConversationInput> with_conversation(Value body, const Kept<StoredConversation>& kept, std::string_view owner,
                                            std::size_t most);
/// A path in the whole input as the request and the conversation have it.
std::string own_place(const std::string& path, const KeptBefore& before);
Error in_own_places(const Error& error, const KeptBefore& before);

/// Items as a request gives them, for a conversation. Fails with conversation for what is no list of items, and as
/// request_as() does.
Result<std::vector<StoredItem>> stored_items(Value items);

}  // namespace parlance::serve
