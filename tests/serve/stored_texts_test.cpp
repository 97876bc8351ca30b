// What Redis has of stored responses and conversations, written by another gateway or by nobody knows whom: it is read
// as it was written, or not at all. Begin reading at main.
#include <cstdio>
#include <string>

#include "serve/stored/stored_conversations.h"
#include "serve/stored/stored_responses.h"

namespace {

using parlance::serve::SharedLists;
using parlance::serve::StoredConversation;
using parlance::serve::StoredResponse;

int failures = 0;

void check(bool is_right, const std::string& what) {
  if (is_right) return;
  ++failures;
  std::printf("failed: %s\n", what.c_str());
}

constexpr const char* kNoCounts[] = {
    "-1", "4294967296", "1e3", "1.0", "true", "null", "\"1\"", "99999999999999999999", "-99999999999999999999"};

void check_responses() {
  StoredResponse made{.id = "resp_1", .json = R"({"id": "resp_1"})", .input = R"("Hi")"};
  made.pieces = {{.bytes = 3, .logprobs = 1}, {.bytes = 4294967295U}};
  const SharedLists::Texts texts = texts_of(made);
  StoredResponse read{.id = "resp_1"};
  check(take_texts(texts, read) && read.pieces.size() == 2 && read.pieces[1].bytes == 4294967295U, "a response");
  for (const std::string count : kNoCounts) {
    for (const std::string& piece :
         {R"({"bytes": )" + count + R"(, "logprobs": 1})", R"({"bytes": 1, "logprobs": )" + count + "}"}) {
      StoredResponse other{.id = "resp_1"};
      check(!take_texts({"[" + piece + "]", texts[1], texts[2]}, other), "a response with the piece " + piece);
    }
  }
}

void check_conversations() {
  const auto text_of = [](const std::string& created) {
    return R"({"id": "conv_1", "created_at": )" + created + R"(, "metadata": {}})";
  };
  StoredConversation read{.id = "conv_1"};
  check(take_texts({text_of("1700000000")}, read) && read.created == 1700000000, "a conversation");
  for (const char* created : {"99999999999999999999", "1.5", "true", "\"1\""}) {
    StoredConversation other{.id = "conv_1"};
    check(!take_texts({text_of(created)}, other), std::string("a conversation that was created at ") + created);
  }
}

}  // namespace

int main() {
  check_responses();
  check_conversations();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
