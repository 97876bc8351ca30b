// Differences of prompts: by byte, by token, by input.
#include "tokens/difference.h"

#include <algorithm>

#include "base/utf8.h"
#include "conversation/edit.h"
#include "json/writer.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance {
namespace {

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

std::string whereabouts(const PromptSide& side) {
  std::string text;
  if (!side.path.empty()) text += side.path;
  if (side.place.line == 0) return text;
  if (!text.empty()) text += ", ";
  return text + side.place.name + " line " + std::to_string(side.place.line);
}

std::string shown(const PromptSide& side) {
  const std::string place = whereabouts(side);
  const std::string what = side.excerpt.empty() ? "its end" : json_string(side.excerpt);
  return place.empty() ? what : what + " (" + place + ")";
}

// ---- inputs

/// Walks two values side by side. JSON is nested no deeper than its limit, so neither is this.
class InputWalk {
 public:
  /// `facts`: of the template, whose prompt no variable changes that it does not read; null: not known.
  explicit InputWalk(const TemplateFacts* facts) : facts_(facts) {}
  /// The path of the first difference, from `path` on; "" for none.
  std::string difference(Value a, Value b, const std::string& path) {
    if (a.kind == Kind::dict && b.kind == Kind::dict) return of_dicts(a, b, path);
    if (a.is_sequence() && b.is_sequence()) return of_lists(a, b, path, false);
    return same_leaf(a, b) ? std::string() : path;
  }
  std::string of_lists(Value a, Value b, const std::string& path, bool may_grow) {
    const std::span<const Value> left = items(a), right = items(b);
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      std::string found = difference(left[i], right[i], path + "[" + std::to_string(i) + "]");
      if (!found.empty()) return found;
    }
    const bool fits = may_grow ? left.size() <= right.size() : left.size() == right.size();
    return fits ? std::string() : path + "[" + std::to_string(std::min(left.size(), right.size())) + "]";
  }
  std::string of_dicts(Value a, Value b, const std::string& path) {
    for (const DictEntry& entry : entries(a)) {
      if (path.empty() && is_unread(entry.key)) continue;
      const std::string inside = member_path(path, entry.key);
      const Value* other = entry.key.is_leaf() ? member(b, leaf_text(entry.key)) : nullptr;
      if (other == nullptr) return inside;
      const bool grows = inside == "messages" && entry.value.is_sequence() && other->is_sequence();
      std::string found = grows ? of_lists(entry.value, *other, inside, true) : difference(entry.value, *other, inside);
      if (!found.empty()) return found;
    }
    for (const DictEntry& entry : entries(b)) {
      if (path.empty() && is_unread(entry.key)) continue;
      if (entry.key.is_leaf() && member(a, leaf_text(entry.key)) == nullptr) return member_path(path, entry.key);
    }
    return {};
  }

 private:
  bool is_unread(Value variable) const {
    return facts_ != nullptr && variable.is_leaf() && !facts_->reads(leaf_text(variable));
  }
  static std::string member_path(const std::string& path, Value key) {
    const std::string name(key.is_leaf() ? leaf_text(key) : std::string_view("?"));
    return path.empty() ? name : path + "." + name;
  }
  static std::string flat(Value v) {
    std::string text;
    for_each_piece(v, [&](std::string_view piece) { text += piece; });
    return text;
  }
  bool same_leaf(Value a, Value b) {
    if (a.is_string() && b.is_string()) return flat(a) == flat(b);
    if (a.kind != b.kind) return false;
    std::string left, right;
    return append_json(rt_, left, a) && append_json(rt_, right, b) && left == right;
  }

  const TemplateFacts* facts_;
  Arena arena_;
  Limits limits_;
  Runtime rt_{arena_, limits_};
};

}  // namespace

std::size_t common_text(std::string_view a, std::string_view b) {
  const std::size_t size = std::min(a.size(), b.size());
  auto at = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(size), b.begin()).first - a.begin());
  while (at > 0 && (is_inside_character(a, at) || is_inside_character(b, at))) --at;
  return at;
}

Location place_from(const Rendering& rendering, Span span, std::size_t byte) {
  if (byte <= span.begin || byte >= span.end) return place_of_span(rendering, span);
  const auto passed = static_cast<std::uint32_t>(byte - span.begin);
  span.template_begin += passed;
  span.begin += passed;
  return place_of_span(rendering, span);
}

std::string excerpt_of(std::string_view text, std::size_t byte) {
  constexpr std::size_t kMost = 40;
  if (byte >= text.size()) return {};
  std::size_t end = std::min(byte + kMost, text.size());
  while (end > byte && is_inside_character(text, end)) --end;
  return std::string(text.substr(byte, end - byte)) + (end < text.size() ? "…" : "");
}

PromptSide side_at(const Rendering& rendering, const Conversation& conversation, std::size_t byte) {
  PromptSide side;
  side.excerpt = excerpt_of(rendering.text(), byte);
  const std::span<const Span> spans = rendering.spans();
  const auto here = std::partition_point(spans.begin(), spans.end(), [byte](const Span& s) { return s.end <= byte; });
  if (here != spans.end()) side.origin = here->origin;
  for (auto span = here; span != spans.end() && side.path.empty(); ++span)
    side.path = path_of_span(conversation, *span);
  for (auto span = here == spans.end() ? here : here + 1; span != spans.begin() && side.place.line == 0;) {
    --span;
    side.place = place_from(rendering, *span, byte);
  }
  return side;
}

std::string changed_input(const Conversation& before, const Conversation& after, const TemplateFacts* facts) {
  return InputWalk(facts).difference(before.variables(), after.variables(), {});
}

std::string PrefixDifference::sentence() const {
  std::string text = "from byte " + std::to_string(byte) + " (token " + std::to_string(token) + ") on the prompt is " +
                     shown(after) + "; it was " + shown(before);
  if (!changed_input.empty()) text += "; the requests differ in " + changed_input;
  return text;
}

std::optional<PrefixDifference> compare_prompts(const PromptView& before, const PromptView& after) {
  const std::string_view old = before.rendering.get().text(), now = after.rendering.get().text();
  PrefixDifference found;
  found.byte = common_text(old, now);
  if (before.tokens != nullptr && after.tokens != nullptr) {
    const std::vector<TokenId>&a = before.tokens->ids, &b = after.tokens->ids;
    found.token = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    if (found.token == a.size()) return {};
    const std::vector<PromptToken>& tokens = before.tokens->tokens;  // none without TokenizeOptions::want_tokens
    if (found.byte == old.size() && found.token < tokens.size()) found.byte = tokens[found.token].bytes.begin;
  } else if (found.byte == old.size()) {
    return {};
  }
  found.before = side_at(before.rendering, before.conversation, found.byte);
  found.after = side_at(after.rendering, after.conversation, found.byte);
  found.changed_input = changed_input(before.conversation, after.conversation);
  return found;
}

namespace {

const char* hint_for(const PrefixDifference& difference) {
  if (!difference.changed_input.empty()) return "the request itself is not the old one with messages added";
  switch (difference.cause) {
    case PrefixCause::other_reply:
      return "the message is not what was sampled, or the template writes it otherwise: send the whole prompt";
    case PrefixCause::across_border:
      return "a token of the new text would begin in the old one: send the whole prompt, or sample the end of the turn "
             "too";
    case PrefixCause::rewritten: break;
  }
  if (difference.before.place.line == 0 && difference.before.path.empty())
    return "without its last messages this conversation has no prompt of these tokens: they come from another "
           "conversation, or were made with other variables; send the whole prompt";
  return "the template writes this turn in another way once others follow it: send the whole prompt";
}

}  // namespace

Error rewritten(const PrefixDifference& difference) {
  // What the model said has no place of its own: there it is shown where the template writes the message.
  const bool is_old = difference.cause == PrefixCause::rewritten && difference.before.place.line != 0;
  return Error(ErrorCode::history_rewritten,
               "the prompt does not go on where the tokens so far end: " + difference.sentence())
      .at(is_old ? difference.before.place : difference.after.place)
      .input(difference.before.path.empty() ? difference.after.path : difference.before.path)
      .hint(hint_for(difference));
}

}  // namespace parlance
