// TrustRule: every kind of origin has its own answer. What a request holds is trusted in two cases only: a role of the
// standard set, and a special token that the model has too.
#include "tokens/trust.h"

#include <algorithm>
#include <functional>

#include "base/ascii.h"
#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "sources/special_tokens.h"
#include "value/dict.h"

namespace parlance {
namespace {

constexpr std::string_view kRoles[] = {"system", "developer", "user",    "assistant",   "model",
                                       "tool",   "function",  "ipython", "environment", "observation"};

template <typename List>
bool contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

using ascii::lower;

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

/// Was a number of the template's own printed? Anything else that is computed may be made of user data: the brackets of
/// a list, text that was bytes on its way, what fills a column.
bool is_number(const Span& span, std::string_view bytes) {
  if (span.input_id != kNumberSource) return false;
  if (bytes == "True" || bytes == "False" || bytes == "inf" || bytes == "nan") return true;
  return bytes.find_first_not_of("0123456789+-.e") == bytes.npos;
}

const char* end_of(std::string_view text) { return text.data() + text.size(); }

bool covers(std::string_view text, const char* address) {
  return !std::less<>()(address, text.data()) && std::less<>()(address, end_of(text));
}

/// Do the bytes stand in some standard role, be it in another case? Said of most text at once: it is too long.
bool may_be_of_role(std::string_view bytes) {
  return std::any_of(std::begin(kRoles), std::end(kRoles), [bytes](std::string_view role) {
    return bytes.size() <= role.size() &&
           std::search(role.begin(), role.end(), bytes.begin(), bytes.end(),
                       [](char a, char b) { return lower(a) == lower(b); }) != role.end();
  });
}

}  // namespace

std::span<const std::string_view> standard_roles() { return kRoles; }

TrustRule::TrustRule(const Conversation& conversation, const TokenizerFacts& facts, std::span<const TrustedPath> paths)
    : conversation_(conversation), facts_(facts), paths_(paths), special_tokens_(inside_of(conversation)) {}

void TrustRule::list_roles() const {
  has_roles_ = true;
  const Value messages = conversation_.messages();
  if (!messages.is_sequence()) return;
  for (const Value& message : items(messages)) {
    const Value* role = member(message, "role");
    if (role != nullptr && role->is_leaf() && contains(kRoles, leaf_text(*role))) roles_.push_back(leaf_text(*role));
  }
  std::sort(roles_.begin(), roles_.end(),
            [](std::string_view a, std::string_view b) { return std::less<>()(a.data(), b.data()); });
}

/// The standard role that holds the address; "" if it is in none. Nearly always it is that of the message itself.
std::string_view TrustRule::role_at(const char* address, std::int32_t message) const {
  const Value messages = conversation_.messages();
  if (messages.is_sequence() && static_cast<std::uint32_t>(message) < messages.list->size) {
    const Value* role = member(messages.list->items[message], "role");
    const bool is_it = role != nullptr && role->is_leaf() && covers(leaf_text(*role), address);
    if (is_it && contains(kRoles, leaf_text(*role))) return leaf_text(*role);
  }
  if (!has_roles_) list_roles();
  const auto after = std::upper_bound(roles_.begin(), roles_.end(), address,
                                      [](const char* at, std::string_view r) { return std::less<>()(at, r.data()); });
  return after != roles_.begin() && covers(*(after - 1), address) ? *(after - 1) : std::string_view();
}

/// A part of a role, or what became of it in another case.
bool TrustRule::is_role(const Span& span, std::string_view bytes) const {
  if (span.message < 0 || span.input == nullptr || !may_be_of_role(bytes)) return false;
  const std::string_view role = role_at(span.input, span.message);
  if (role.empty()) return false;
  if (span.origin == Origin::derived) return same_but_for_case(bytes, role);
  return span.input + bytes.size() <= end_of(role);
}

/// Does the tokenizer say that the variable's text is this? One that names no tokens is asked for a special token of
/// that text.
bool TrustRule::is_named(const Span& span, std::string_view variable, std::string_view text) const {
  // Its own member of the request: what stands in chat_template_kwargs has another path.
  if (!contains(kSpecialTokenNames, variable) || path_of_span(conversation_, span) != variable) return false;
  for (const NamedToken& token : facts_.named) {
    if (token.name == variable) return token.text == text;
  }
  return facts_.named.empty() && std::any_of(facts_.added.begin(), facts_.added.end(),
                                             [&](const AddedToken& t) { return t.special && t.text == text; });
}

/// A special-token variable that the model brought along or the program set; one of the request only if it is the
/// model's.
bool TrustRule::is_special_token(const Span& span) const {
  if (span.origin != Origin::input || span.message >= 0) return false;
  const ConversationState& state = inside_of(conversation_);
  if (!special_tokens_.cover(span.input)) return false;
  if (!inside_of(state.document).holds(span.input)) return true;
  for (const DictEntry& variable : entries(conversation_.variables())) {
    if (!variable.value.is_leaf()) continue;
    const std::string_view text = leaf_text(variable.value);
    if (covers(text, span.input)) return is_named(span, leaf_text(variable.key), text);
  }
  return false;
}

bool TrustRule::is_on_purpose(const Span& span) const {
  if (paths_.empty() || span.input_id == kMixedSource) return false;
  const std::string path = path_of_span(conversation_, span);
  const std::string_view role = role_of_span(conversation_, span);
  return std::ranges::any_of(paths_, [&](const TrustedPath& p) { return p.covers(path, role); });
}

bool TrustRule::holds(const Span& span, std::string_view bytes) const {
  switch (span.origin) {
    case Origin::literal: return span.input_id == 0;  // what a filter made of one may hold more than that
    case Origin::computed:
      return is_number(span, bytes) || (span.input_id == kProgramSource && contains(kRoles, bytes));
    case Origin::input:
    case Origin::derived: return is_role(span, bytes) || is_special_token(span) || is_on_purpose(span);
  }
  return false;
}

std::vector<ByteSpan> TrustRule::ranges(std::span<const Span> spans, std::string_view text, std::uint32_t from) const {
  std::vector<ByteSpan> found;
  for (const Span& span : spans) {
    const ByteSpan bytes{std::max(span.begin, from) - from, span.end - from};
    if (!holds(span, text.substr(bytes.begin, bytes.end - bytes.begin))) continue;
    if (!found.empty() && found.back().end == bytes.begin) {
      found.back().end = bytes.end;
    } else {
      found.push_back(bytes);
    }
  }
  return found;
}

}  // namespace parlance
