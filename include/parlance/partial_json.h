// Partial JSON: reads the values received so far from arguments that are still streaming.
//
//     complete_json(R"({"path": "/tmp/a", "content": "hel)")  ==  R"({"path": "/tmp/a", "content": "hel"})"
//
// Use it to show a call while it streams; ReplyCall::complete says whether its arguments are whole.
#pragma once
#include <string>
#include <string_view>

namespace parlance {

/// Completes the beginning of a JSON text to valid JSON that holds only what is certain, in the text's own spelling.
///
/// * A string appears with its opening quote and grows. Half an escape, half a surrogate pair and half a code point
/// wait
///   for the rest.
/// * An object or list appears with its opening bracket. A member appears with its value, not with its key alone.
/// * A number appears once a character after it ends it, since 1 may become 12; true, false and null once they are
/// whole.
/// * Invalid input (as in the arguments of a call that went wrong), anything after the value, and nesting deeper than
/// 256
///   end the text; what came before counts. If no value has begun, the result is "{}".
///
/// So while the input grows, members and items are only added and strings only become longer, repeated keys aside. For
/// a whole JSON text the result is that text, without white space after it. Never fails. Takes one pass over the text.
///  Threads: any.
std::string complete_json(std::string_view beginning);

}  // namespace parlance
