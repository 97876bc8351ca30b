// A request as the command line and the JSONL pool take it: JSON text, then variables and what the
// model brings along on top.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/conversation.h"
#include "parlance/source.h"

namespace parlance {

struct RequestOptions {
  ReadOptions read;
  /// Gives the options to read by once it has seen the request as it is; what it gives lives as long as it. None: `read`.
  /// Called by several threads at once.
  std::function<const ReadOptions&(const Conversation& untouched)> adapt{};
  std::vector<std::pair<std::string, std::string>>
      variables;  ///< name, JSON; they replace the request's
  const ModelSource* model = nullptr;  ///< add_model(); of an untouched request only the tokens
};

/// Reads a request into `conversation`. A member `id` is no variable: it goes to `id` (undefined if
/// there is none), also when the rest cannot be used; it lives as long as the conversation's
/// contents. Fails with json, conversation, usage.
Result<void> read_request(Conversation& conversation, std::string_view text, std::string_view name,
                          const RequestOptions& options, Value& id);
/// The same for a text that is not needed afterwards (see Conversation::consume).
Result<void> consume_request(Conversation& conversation, std::string text, std::string_view name,
                             const RequestOptions& options, Value& id);
/// Does the request have tools, as far as the choice of a template goes?
bool has_tools(const Conversation& conversation);

}  // namespace parlance
