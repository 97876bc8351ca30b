// The reply formats of tests/replies: for each family of formats one file with the format, tools, and replies with the
// messages they mean. Begin reading at load_reply_cases.
//
//     {"about": …, "format": ReplyFormat, "tools": […] or the name of a file in tests/replies/tools,
//      "replies": [{"prompt": optional, "reply": …, "faults": how many diagnostics,
//                   "message": {"reasoning", "content", "calls": [{"name", "arguments", "id", "complete"}]}}]}
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parlance/reply.h"

namespace parlance::testing {

struct ReplyCase {
  ReplyOptions options;
  std::string reply;
  std::string message;  ///< as outline_of(ReplyMessage) writes it
};

struct ReplyCases {
  std::string name;
  ReplyFormat format;
  std::vector<ReplyCase> cases;
};

/// Of all files of a folder, in their order. Ends the program where one cannot be read.
std::vector<ReplyCases> load_reply_cases(const std::string& folder);

/// Those of tests/replies, read once.
const std::vector<ReplyCases>& reply_families();

/// The message of a whole reply.
ReplyMessage message_of(const ReplyFormat& format, const ReplyOptions& options, std::string_view reply);

/// What a message says, as one line.
std::string outline_of(const ReplyMessage& message);

}  // namespace parlance::testing
