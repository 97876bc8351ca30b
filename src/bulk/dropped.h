// Dropped: which messages of a request have text that is nowhere in the prompt.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parlance/conversation.h"

namespace parlance {

/// Is told the path of each span, and says in the end whose content had none.
class DroppedMessages {
 public:
  explicit DroppedMessages(const Conversation& conversation);
  void take_path(std::string_view path);
  /// "messages[2].content: not in the prompt (dropped)", in order. Content without text is not looked for.
  std::vector<std::string> notes() const;

 private:
  std::vector<bool> missing_;  ///< by message of the request
};

}  // namespace parlance
