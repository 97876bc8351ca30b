// Goes on behind sampled replies. Begin reading at extend_behind.
#include "parlance/sampled_reply.h"

#include "base/ascii.h"
#include "base/surrogates.h"
#include "base/utf8.h"
#include "conversation/conversation.h"
#include "parlance/json.h"

namespace parlance {

void SampledReply::add(const ReplyEvent& event) {
  using Kind = ReplyEvent::Kind;
  message.add(event);
  if (event.kind == Kind::end || event.kind == Kind::trailing) return;
  if (event.kind == Kind::reasoning && !reasoned_) {
    written.clear();
    return;
  }
  reasoned_ = reasoned_ || event.kind == Kind::content || event.kind == Kind::call_begin;
  if (reasoned_ || message.reasoning.empty()) written += event.source;
}

std::optional<Message> SampledReply::as_message() const {
  Message made{.role = "assistant",
               .content = utf8::repair(message.content),
               .reasoning_content = utf8::repair(message.reasoning)};
  for (const ReplyCall& call : message.calls) {
    if (!call.complete) return std::nullopt;
    made.tool_calls.push_back(
        {.id = utf8::repair(call.id), .name = utf8::repair(call.name), .arguments_json = repair_json(call.arguments)});
  }
  return made;
}

Message SampledReply::as_written() const {
  return {.role = "assistant", .content = utf8::repair(written), .reasoning_content = utf8::repair(message.reasoning)};
}

namespace {

/// A form of the reply that a template may write as it was sampled.
struct ReplyForm {
  Message message;
  bool trusted = false;  ///< the control tokens in its content were sampled
};

std::vector<ReplyForm> forms_of(const Message& message, std::string_view written) {
  std::vector<ReplyForm> forms = {{message}};
  const std::string_view content = message.content;
  for (const std::string_view trimmed : {ascii::trimmed_left(content), ascii::trimmed(content)}) {
    if (trimmed == content) continue;
    forms.push_back({message});
    forms.back().message.content = std::string(trimmed);
  }
  for (const bool trusted : {false, true}) {
    forms.push_back({message, trusted});
    forms.back().message.content = utf8::repair(written);
    forms.back().message.tool_calls.clear();
  }
  return forms;
}

using Extend = Result<Extension> (Session::*)(std::span<const Message>, std::span<const std::string>, const SameReply&,
                                              std::span<const Message>);

Result<Extension> extend_with(Session& session, Extend extend, const ReplyForm& form, std::span<const Message> more,
                              const SameReply& same, std::span<const Message> meant = {}) {
  const Conversation& before = session.conversation();
  const std::size_t number = before.messages().items().size() - first_of_request(before);
  const std::vector<std::string> of_reply = {"messages[" + std::to_string(number) + "].content"};
  std::vector<Message> all = {form.message};
  all.insert(all.end(), more.begin(), more.end());
  const std::span<const std::string> trust = form.trusted ? std::span(of_reply) : std::span<const std::string>();
  return (session.*extend)(all, trust, same, meant);
}

/// What is the same to the byte comes first. Only the reply as it was read has its calls for certain, by which a
/// template may write results: the other forms must go on as that one does. That a template cannot render another form,
/// results without calls, say, is no fault of the reply.
Result<Extension> extend_with_any(Session& session, Extend extend, std::span<const ReplyForm> forms,
                                  std::span<const Message> more, const SameReply& same) {
  std::vector<Message> meant = {forms.front().message};
  meant.insert(meant.end(), more.begin(), more.end());
  for (const ReplyForm& form : forms) {
    const bool is_meant = &form == &forms.front();
    Result<Extension> extension =
        extend_with(session, extend, form, more, {}, is_meant ? std::span<const Message>() : meant);
    if (extension || (is_meant && extension.error().code() != ErrorCode::history_rewritten)) return extension;
  }
  return extend_with(session, extend, forms.front(), more, same);
}

}  // namespace

Result<Extension> extend_behind(Session& session, const Message& message, std::string_view written,
                                std::span<const Message> more, const SameReply& same) {
  const std::vector<ReplyForm> forms = forms_of(message, written);
  Result<Extension> extension = extend_with_any(session, &Session::try_extend, forms, more, same);
  if (extension || extension.error().code() != ErrorCode::history_rewritten) return extension;
  return extend_with_any(session, &Session::extend, forms, more, same);
}

Message message_of(Value value) {
  Message message;
  message.role = value["role"].text();
  for (const DictEntry& member : value.members()) {
    if (member.key.text() != "role" || !member.value.is_string())
      message.members.push_back({std::string(member.key.text()), json_text(member.value)});
  }
  return message;
}

std::size_t first_of_request(const Conversation& conversation) {
  return static_cast<std::size_t>(inside_of(conversation).put_before);
}

std::vector<Message> messages_from(const Conversation& conversation, std::size_t from) {
  std::vector<Message> all;
  const std::span<const Value> items = conversation.messages().items();
  for (std::size_t at = from; at < items.size(); ++at) all.push_back(message_of(items[at]));
  return all;
}

}  // namespace parlance
