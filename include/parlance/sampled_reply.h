// SampledReply: a reply as it was read, and as the model wrote it, so that a session goes on behind it with its own
// ids.
//
//     parlance::SampledReply reply;
//     parser.feed_token(text, is_control, [&](const parlance::ReplyEvent& event) { reply.add(event); });
//     …
//     session.append_sampled(ids);
//     if (const std::optional<parlance::Message> message = reply.as_message())
//       auto more = parlance::extend_behind(session, *message, reply.written, results);
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/conversation.h"
#include "parlance/reply.h"
#include "parlance/request.h"
#include "parlance/result.h"
#include "parlance/session.h"

namespace parlance {

class SampledReply {
 public:
  void add(const ReplyEvent& event);
  /// As a message of the conversation. Unset: a call is incomplete, so no template could write it. A character that was
  /// cut, or half of a surrogate pair in a call's arguments, is U+FFFD, since a conversation is UTF-8.
  std::optional<Message> as_message() const;
  /// The same with the calls, complete or not, as the model wrote them in the content.
  Message as_written() const;

  ReplyMessage message;
  std::string written;  ///< the reply without its reasoning and without its end

 private:
  bool reasoned_ = false;  ///< content or a call has followed the reasoning
};

/// Decides that two writings are the same reply if reading both gives the same reasoning, content and calls.
///
/// Ignored are blanks at both ends of reasoning and content, blanks around marks, and how the JSON of a call's
/// arguments is written and in which order its members stand.
///
/// The end may be another one. The sampled reply may end with another mark than the template writes behind a turn: some
/// models end a reply with a token for which histories have another one. But the template's mark must not open the text
/// behind it, as that of a result within the turn does. Further control tokens may stand behind the sampled end, if
/// none of them begins a turn: an engine that stops at another token than the one that ends the turn samples both. A
/// reply without an end is completed by what the template writes behind what it broke off with.
///
/// A reply that breaks off within reasoning or arguments is never the same as another.
///
/// `start`: how the reply that was sampled last is read, by tokens (RequestOptions::control_tokens). It is called only
/// where there are two writings; if it fails, or is empty, they are not the same.
SameReply same_when_read(std::function<Result<ReplyStart>()> start);

/// Session::extend() with the reply that was sampled last and messages behind it. A template often writes a reply
/// otherwise than the model did: with other blanks around its marks or in a call's JSON. This tries the forms in which
/// the template may write what was sampled, to the byte: the message, the message without blanks around its content,
/// and `written` as the content, at last with its control tokens trusted, since they were sampled. Behind each of them
/// the template must write `more` as it does behind the message: results may be written by the calls. Where none fits,
/// `same` decides, if it is there. Fails as Session::extend() does with `message` (unicode_decode where that or one of
/// `more` is not UTF-8); then Session::difference() is that of `message`, too.
Result<Extension> extend_behind(Session& session, const Message& message, std::string_view written,
                                std::span<const Message> more, const SameReply& same = {});

/// How the reply to a conversation is read whose prompt has this text: RequestReader::reply_to() with the options of
/// the prompt's render.
using HowToRead = std::function<Result<ReplyStart>(const Conversation& conversation, std::string_view prompt)>;

/// extend_ids() also for ids in which replies are written otherwise than by the template: same_when_read() decides.
/// Each earlier reply ends with a control token. Where extend_ids() alone fails with history_rewritten, it renders the
/// conversation up to each reply, and several times where a reply has several such tokens; if that finds nothing
/// either, it fails with that error, and so without a `start`. Its hint then names variables of the template with which
/// these ids would go on, if there are such (Session::keeping_switches()).
Result<Extension> extend_ids(std::span<const TokenId> ids, const Template& chat_template, const Tokenizer& tokenizer,
                             Conversation conversation, const SessionOptions& options, const HowToRead& start);

/// A message of a conversation as one to add. What passes made of it stays as it is.
Message message_of(Value value);
/// The number of the first message that the request itself has: a model may have put its own in front
/// (Conversation::put_before).
std::size_t first_of_request(const Conversation& conversation);
/// Those behind the first `from` messages.
std::vector<Message> messages_from(const Conversation& conversation, std::size_t from);

}  // namespace parlance
