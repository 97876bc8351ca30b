// Compares the assistant's ranges by generation tags with those derived from provenance, for assistant_test.py.
//
// Standard input: one JSON object a line, {"source", "context"}: both texts; `source` is absent where it is the line
// before's. Standard output, a line each: "same", "other", or "-" where there is no tag or the render fails.
#include <iostream>
#include <optional>
#include <string>

#include "parlance/parlance.h"
#include "value/dict.h"

namespace parlance::testing {
namespace {

std::string_view member(const DictObject& dict, std::string_view name) {
  const DictEntry* entry = find_key(dict, name);
  return entry == nullptr || !entry->value.is_leaf() ? std::string_view() : leaf_text(entry->value);
}

/// Ranges that touch are one, empty ones none: where a template cuts its tags is its own affair.
std::vector<TextRange> joined(const std::vector<TextRange>& ranges) {
  std::vector<TextRange> result;
  for (const TextRange& range : ranges) {
    if (range.begin == range.end) continue;
    if (!result.empty() && result.back().end == range.begin) {
      result.back().end = range.end;
    } else {
      result.push_back(range);
    }
  }
  return result;
}

bool same(const std::vector<TextRange>& a, const std::vector<TextRange>& b) {
  auto equal = [](const TextRange& x, const TextRange& y) { return x.begin == y.begin && x.end == y.end; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
}

const char* compare(const Template& chat_template, std::string_view context) {
  Conversation conversation;
  if (!conversation.read(context, {.normalise = false})) return "-";
  RenderOptions options{.as_is = true, .now = {2026, 3, 14, 15, 9, 26, 0}, .want_assistant = true};
  const Result<Rendering> tagged = chat_template.render(conversation, options);
  options.ignore_tags = true;
  const Result<Rendering> derived = chat_template.render(conversation, options);
  if (!tagged || !derived) return "-";
  return same(joined(tagged->assistant()), joined(derived->assistant())) ? "same" : "other";
}

}  // namespace
}  // namespace parlance::testing

int main() {
  std::ios::sync_with_stdio(false);
  parlance::Document line;
  std::optional<parlance::Template> chat_template;
  for (std::string text; std::getline(std::cin, text);) {
    if (!line.parse(text)) return 1;
    const parlance::DictObject& entry = *line.root().dict;
    if (const std::string_view source = parlance::testing::member(entry, "source"); !source.empty()) {
      auto compiled = parlance::Template::compile(source);
      chat_template.reset();
      if (compiled && compiled->has_generation_tag()) chat_template = *compiled;
    }
    std::cout << (chat_template
                      ? parlance::testing::compare(*chat_template, parlance::testing::member(entry, "context"))
                      : "-")
              << '\n';
  }
}
