// Deriving late; see adapter.h.
#include "probe/adapter.h"

#include <algorithm>

#include "conversation/edit.h"
#include "conversation/passes_for_templates.h"
#include "probe/shapes.h"

namespace parlance::probe {
namespace {

/// Members that only some templates read, or read under other names.
constexpr std::string_view kMembers[] = {"tool_calls", "tool_call_id", "reasoning_content", "reasoning", "thinking"};

/// What is to be known of a message.
struct Seen {
  bool more_than_text = false;
  std::string_view role;
};

Seen look_at(Value message) {
  Seen seen;
  for (const DictEntry& entry : entries(message)) {
    const std::string_view key = leaf_text(entry.key);
    if (key == "content") {
      seen.more_than_text = seen.more_than_text || entry.value.kind == Kind::list;
    } else if (key == "role") {
      if (entry.value.is_leaf()) seen.role = leaf_text(entry.value);
    } else if (!entry.value.is_none() && std::find(std::begin(kMembers), std::end(kMembers), key) != std::end(kMembers)) {
      seen.more_than_text = true;
    }
  }
  return seen;
}

}  // namespace

bool may_need_adapting(const Conversation& untouched) {
  if (!passes::effort_asked_for(untouched.variables()).empty()) return true;
  const Value* messages = member(untouched.variables(), "messages");
  if (messages == nullptr || messages->kind != Kind::list) return false;
  std::string_view before;
  for (const Value& message : items(*messages)) {
    if (message.kind != Kind::dict) return false;  // it is refused
    const Seen seen = look_at(message);
    if (seen.more_than_text || seen.role == "developer" || (seen.role == "user" && before == "user")) return true;
    if (seen.role == "system" && &message != messages->list->items) return true;
    before = seen.role;
  }
  return false;
}

Adapter::Adapter(Template chat_template, DeriveOptions deriving, ReadOptions base)
    : template_(std::move(chat_template)), deriving_(std::move(deriving)), base_(std::move(base)) {}

const ReadOptions& Adapter::options_for(const Conversation& untouched) {
  if (!base_.normalise) return base_;
  if (!base_.reasoning_effort.empty() || may_need_adapting(untouched)) return adapted();
  std::call_once(looked_, [this] { text_shows_ = shows_text(template_, deriving_); });
  return text_shows_ ? base_ : adapted();
}

const ReadOptions& Adapter::adapted() {
  std::call_once(derived_, [this] {
    const Result<DerivedFormat> found = derive(template_, deriving_);
    adapted_ = found ? adapt(found->capabilities, base_) : base_;
  });
  return adapted_;
}

}  // namespace parlance::probe
