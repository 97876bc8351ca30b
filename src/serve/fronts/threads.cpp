// Begin reading at check_thread.
#include "serve/fronts/threads.h"

#include "serve/json/members.h"

namespace parlance::serve {

namespace {

/// Clients know this error, and send the whole conversation without `thread`.
Error unsupported(const std::string& why) { return Error(ErrorCode::conversation, "thread: " + why).input("thread"); }

}  // namespace

std::string thread_of(Value body) {
  const Value thread = body["thread"];
  const bool goes_on = thread["type"].text() == "continue";
  return goes_on ? std::string(thread["previous_message_id"].text()) : std::string();
}

Result<void> check_thread(const ServedModel& model, Value body) {
  const Value thread = body["thread"];
  if (!is_given(thread)) return {};
  const bool goes_on = thread["type"].text() == "continue";
  if (!goes_on && thread["type"].text() != "create") return unsupported("its type must be 'create' or 'continue'");
  if (goes_on && thread_of(body).empty()) return unsupported("previous_message_id must be the id of a message");
  if (!model.backend->facts().gives_ids) return unsupported("with this engine no conversation is kept");
  for (const std::string_view name : {"system", "tools"}) {
    if (goes_on && is_given(body[name]))
      return Error(ErrorCode::conversation, std::string(name) + ": a thread keeps that of the request that began it")
          .input(std::string(name));
  }
  return {};
}

Result<void> refuse_thread(Value body) {
  if (thread_of(body).empty()) return {};
  return unsupported("there is no conversation to go on from here");
}

}  // namespace parlance::serve
