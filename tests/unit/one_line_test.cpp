// JSON without characters that end a line for some readers.
#include "base/one_line.h"

#include <gtest/gtest.h>

#include "parlance/json.h"
#include "parlance/reply_api.h"

namespace parlance {
namespace {

TEST(OneLine, EscapesWhatReadersTakeForTheEndOfALine) {
  EXPECT_EQ(one_line("\"a\xc2\x85z\xe2\x80\xa8z\xe2\x80\xa9\x7f\xc2\x80\xc2\x9f\""),
            R"("a\u0085z\u2028z\u2029\u007f\u0080\u009f")");
  for (const char* same : {"", "{}", "\"\u00a0\u00e9\u2027\u202a\u20a8\U0001f600\"", "\"\xe2", "\"\xe2\x80", "\"\xc2"})
    EXPECT_EQ(one_line(same), same);
  const std::string text = "\"x\xe2\x80\xa8\xe2\x80\xa8y\"";
  Document before, after;
  ASSERT_TRUE(before.parse(text));
  ASSERT_TRUE(after.parse(one_line(text)));
  EXPECT_EQ(before.root().text(), after.root().text());
}

TEST(OneLine, EventsOfStreamsAreOneForEveryReader) {
  std::string stream;
  append_server_sent_event(stream, {.name = "delta", .data = "{\"text\": \"a\xe2\x80\xa8z\"}"});
  EXPECT_EQ(stream, "event: delta\ndata: {\"text\": \"a\\u2028z\"}\n\n");
}

TEST(OneLine, EscapesAtEachPlace) {
  const std::string before = "abcdefghijklmnopqrstuvwxyz~", between = "\u00e9\u4e2d\U0001F642\u0100";
  for (std::size_t at = 0; at < before.size(); ++at) {
    for (const auto& [given, escape] : {std::pair<std::string, std::string>{"\x7f", "\\u007f"},
                                        {"\xc2\x80", "\\u0080"},
                                        {"\xc2\x85", "\\u0085"},
                                        {"\xe2\x80\xa8", "\\u2028"},
                                        {"\xe2\x80\xaa", "\xe2\x80\xaa"},
                                        {"\xc2\xa0", "\xc2\xa0"}}) {
      const std::string head = before.substr(at) + between, tail = before.substr(0, at);
      EXPECT_EQ(one_line(head + given + tail), head + escape + tail);
      EXPECT_EQ(one_line(tail + given + given + head + given), tail + escape + escape + head + escape);
    }
  }
  EXPECT_EQ(one_line("\xe2"), "\xe2");
  EXPECT_EQ(one_line(""), "");
}

}  // namespace
}  // namespace parlance
