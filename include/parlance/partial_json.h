// Partial JSON: the values that there are so far in arguments that are still on their way.
//
//     complete_json(R"({"path": "/tmp/a", "content": "hel)")  ==  R"({"path": "/tmp/a", "content": "hel"})"
//
// For who shows a call while it streams; ReplyCall::complete still says whether its arguments are whole.
#pragma once
#include <string>
#include <string_view>

namespace parlance {

/// The beginning of a JSON text, closed so that it is JSON: what is certain of it, in the text's own spelling.
///
/// A text is there from its first quote on and only grows: half an escape, half of a surrogate pair and half a code point wait for
/// the rest. An object or list is there from its bracket on. A number is there once a sign behind it ends it, since 1 may become
/// 12; true, false and null once they are whole. A member is there with its value: a key alone is not.
/// What cannot stand there ends the text (the arguments of a call that went wrong, white space and all behind the value, brackets
/// deeper than 256); what stood before counts. Where no value has begun, this is "{}".
/// So of a text that grows, members and items are only added and texts only become longer, keys that come twice aside; and of a
/// whole text this is the text, but for white space behind it.
/// Fails with: nothing. Costs: once through the text.   Threads: any.
std::string complete_json(std::string_view beginning);

}  // namespace parlance
