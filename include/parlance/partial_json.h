// Partial JSON: the values so far of a call's arguments that are still streaming.
//
//     complete_json(R"({"path": "/tmp/a", "content": "hel)")  ==  R"({"path": "/tmp/a", "content": "hel"})"
//
// Use it to show a call while it streams; ReplyCall::complete says whether its arguments are complete.
#pragma once
#include <string>
#include <string_view>

namespace parlance {

/// Completes the beginning of a JSON text to valid JSON. The result has only what is certain, in the text's own
/// spelling.
///
/// * A string appears with its opening quote, and grows. An incomplete escape, surrogate pair or code point waits.
/// * An object or list appears with its opening bracket. A member appears with its value, not with its key alone.
/// * A number appears once a character after it ends it, since 1 may become 12.
/// * true, false and null appear once they are complete.
/// * The text ends at invalid input (as in the arguments of a call that went wrong), at anything after the value, and
///   at nesting deeper than 256. Everything before that counts. If no value has begun, the result is "{}".
///
/// So while the input grows, members and items are only added and strings only become longer, except for repeated keys.
/// For a complete JSON text the result is that text, without white space after it. Never fails. Takes one pass over the
/// text.   Threads: any.
std::string complete_json(std::string_view beginning);

}  // namespace parlance
