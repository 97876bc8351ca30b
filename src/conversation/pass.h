// What a pass of normalisation works with. Begin reading at Normaliser; the passes are in normalise.cpp and in
// passes_for_templates.h.
//
// A pass changes no value: it puts a copy in its place that shares all other parts (edit.h). So every string keeps its
// address, which is how spans still name its path in the request as it was given.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conversation/conversation.h"
#include "conversation/edit.h"

namespace parlance {

/// The variables, the messages, and where a pass is at the moment.
class Normaliser {
 public:
  Normaliser(ConversationState& state_in, Runtime& rt_in, Value message_list)
      : state(state_in), rt(rt_in), messages(rt_in, message_list) {}

  /// Notes a change at the place the pass is at.
  void note(std::string_view member = {}) {
    state.changes.push_back({pass, given_number(message), tool, variable, call, member});
  }
  /// The request cannot be used; the first failure counts.
  void fail(Error error) {
    if (!failure) failure = std::move(error);
  }
  /// The number that the message the pass is at has in the request.
  std::int32_t given_message() const { return given_number(message); }
  /// Takes other messages: message i of those before is, or is part of, message numbers[i] of `list`.
  void replace_messages(Value list, const std::vector<std::int32_t>& numbers);
  /// Is the message's role among those of the pass's setting? Without any all are.
  bool concerns(Value message) const;

  ConversationState& state;
  Runtime& rt;
  ListEditor messages;
  Pass pass{};
  std::int32_t message = -1;
  std::int32_t tool = -1;
  std::int32_t call = -1;
  std::string_view variable;
  std::optional<Error> failure;
  const PassSetting* setting = nullptr;  ///< of the pass; lives as long as the conversation

 private:
  /// The number that a message has in the request; the first of those that were joined.
  std::int32_t given_number(std::int32_t now) const {
    return now < 0 || given_.empty() ? now : given_[static_cast<std::size_t>(now)];
  }

  std::vector<std::int32_t> given_;  ///< empty: as they are
};

inline bool is_role(Value message, std::string_view role) { return is_text(member(message, "role"), role); }

inline bool Normaliser::concerns(Value of) const {
  const std::vector<std::string>& roles = setting->roles;
  return roles.empty() || std::any_of(roles.begin(), roles.end(), [&](const auto& role) { return is_role(of, role); });
}

/// Calls `change(call)` for every tool call of a message; the message with the calls it returned.
template <typename ChangeCall>
Value map_calls(Normaliser& n, Value message, ChangeCall change) {
  const Value* calls = member(message, "tool_calls");
  if (calls == nullptr || calls->kind != Kind::list) return message;
  ListEditor list(n.rt, *calls);
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    n.call = static_cast<std::int32_t>(i);
    const Value old = list[i];
    if (old.kind != Kind::dict) continue;
    const Value made = change(old);
    if (made.dict != old.dict) list.set(i, made);
  }
  n.call = -1;
  return list.changed() ? with_member(n.rt, message, "tool_calls", list.finish()) : message;
}

/// Changes `arguments` of every call, wrapped or flat, to what `change` returns unless that is
/// undefined.
template <typename ChangeArguments>
Value map_arguments(Normaliser& n, Value message, ChangeArguments change) {
  return map_calls(n, message, [&](Value call) {
    const Value* function = member(call, "function");
    const bool wrapped = function != nullptr && function->kind == Kind::dict;
    const Value* arguments = member(wrapped ? *function : call, "arguments");
    if (arguments == nullptr) return call;
    const Value made = change(*arguments);
    if (made.is_undefined()) return call;
    n.note(wrapped ? "function.arguments" : "arguments");
    const Value inner = with_member(n.rt, wrapped ? *function : call, "arguments", made);
    return wrapped ? with_member(n.rt, call, "function", inner) : inner;
  });
}

}  // namespace parlance
