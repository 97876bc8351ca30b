// Deriving late; see adapter.h.
#include "probe/adapter.h"

#include "conversation/edit.h"
#include "probe/shapes.h"

namespace parlance::probe {
namespace {

/// Members that only some templates read, or read under other names.
constexpr std::string_view kMembers[] = {"tool_calls", "tool_call_id", "reasoning_content", "reasoning", "thinking"};

bool needs_more_than_text(Value message) {
  const Value* content = member(message, "content");
  if (content != nullptr && content->kind == Kind::list) return true;
  for (const std::string_view name : kMembers) {
    const Value* found = member(message, name);
    if (found != nullptr && !found->is_none()) return true;
  }
  return false;
}

bool is_role(Value message, std::string_view role) { return is_text(member(message, "role"), role); }

}  // namespace

bool may_need_adapting(const Conversation& untouched) {
  const Value* messages = member(untouched.variables(), "messages");
  if (messages == nullptr || messages->kind != Kind::list) return false;
  bool first = true, after_user = false;
  for (const Value& message : items(*messages)) {
    if (message.kind != Kind::dict) return false;  // it is refused
    const bool user = is_role(message, "user");
    if (needs_more_than_text(message) || is_role(message, "developer") || (user && after_user)) return true;
    if (!first && is_role(message, "system")) return true;
    first = false;
    after_user = user;
  }
  return false;
}

Adapter::Adapter(Template chat_template, DeriveOptions deriving, ReadOptions base)
    : template_(std::move(chat_template)), deriving_(std::move(deriving)), base_(std::move(base)) {}

const ReadOptions& Adapter::options_for(const Conversation& untouched) {
  if (!base_.normalise) return base_;
  if (may_need_adapting(untouched)) return adapted();
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
