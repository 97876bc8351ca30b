// Keys of conversations: which request goes on from which earlier one.
//
// A conversation's key is a hash over its messages in order, so that the key of its beginning is found on the way. What
// clients change of a reply that they send back does not count: its reasoning, the ids of its calls, blanks around its
// content, whether arguments are a string or an object. Keys of their own are the same whether a client has left out
// the text beside calls or not; these have the ids of the calls, which only those know who were told the reply.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parlance/conversation.h"
#include "parlance/reply.h"

namespace parlance::serve {

/// SHA-256, in hexadecimal digits. Nobody can make two conversations of one key.
using Key = std::string;

/// The keys of the first 1, 2, … messages.
struct MessageKeys {
  std::vector<Key> whole;
  std::vector<Key> without_system;  ///< the same without the system messages, which clients change between turns
  /// The same without the texts beside calls, which some clients leave out, and with the ids of calls and results.
  /// Empty keys: they are not known.
  std::vector<Key> without_texts;
  bool have_texts = false;  ///< one of the messages has a text beside calls
  std::size_t before = 0;   ///< messages before the first of these keys
  std::size_t messages() const { return before + whole.size(); }
};

/// `owner` keeps clients apart: nobody finds the conversation of another API key.
MessageKeys message_keys(const Conversation& conversation, std::string_view owner);
/// Goes on with the messages of a conversation from this one on.
void add_keys(MessageKeys& keys, const Conversation& conversation, std::size_t from);
/// The key after a reply to a conversation whose key is `before`.
Key key_after(const Key& before, const ReplyMessage& reply);
/// The same without a text beside calls, and with the ids that the client was told for them, in order.
Key key_after_without_text(const Key& before, const ReplyMessage& reply, const std::vector<std::string>& ids);
/// Makes `keys` those of a conversation that begins with other messages, where a client left out what these have:
/// `whole` and `without_system` are the keys of its first `messages`.
void begin_with(MessageKeys& keys, const Key& whole, const Key& without_system, const Conversation& conversation,
                std::size_t messages);
/// The text of a message's content as it counts for keys: without blanks around it.
std::string text_for_keys(Value content);
/// Of everything but the messages: tools, documents, variables.
Key variables_key(const Conversation& conversation);

}  // namespace parlance::serve
