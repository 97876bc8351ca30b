// Converts chat requests from one API to another.
//
//     auto made = parlance::request_as(parlance::ReplyApi::anthropic,
//                                      R"({"messages": [{"role": "user", "content": "Hi"}]})");
//     send(made->json);
//     for (const parlance::RequestNote& note : made->notes) log(note.display());
//
// It reads requests of OpenAI's chat completions and Responses, Anthropic's Messages, Gemini and Ollama, and lines of
// ShareGPT. docs/request-apis.md says what becomes what.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/reply_api.h"
#include "parlance/result.h"

namespace parlance {

/// What became of a part of the request that the other API does not have, or has in another form.
struct RequestNote {
  enum class Kind : std::uint8_t {
    lost,     ///< it is not in the written request
    missing,  ///< the API requires it, and the request has none
    changed,  ///< it is written in another way, or is useless there: an id, a signature
  };
  Kind kind = Kind::lost;
  std::string path;      ///< in the request as it was given: "messages[3].name"
  std::string sentence;  ///< "Anthropic Messages has no such member: left out"
  /// "messages[3].name: SENTENCE"
  std::string display() const { return path.empty() ? sentence : path + ": " + sentence; }
};
std::string_view name_of(RequestNote::Kind kind);  ///< "lost", "missing", "changed"

/// A request as it was written for an API.
struct ApiRequest {
  std::string json;                ///< an object, on one line
  std::vector<RequestNote> notes;  ///< in the order in which they were found
};

struct RequestApiOptions {
  /// Members that replace or add to the request's own, as name and JSON: {"max_tokens", "1024"}. A name of the API that
  /// is written is set in the result; any other is set in the request before it is read.
  std::vector<std::pair<std::string, std::string>> members{};
  std::string name = "<input>";  ///< what errors call it
};

/// Writes a request of any API that parlance reads as a request of `api`. A request of that API is returned unchanged.
///
/// Everything that is dropped has a note. Content that the API cannot carry, such as audio, is an error instead.
/// The written request renders to the same prompt as the given one, except for what the notes name.
/// Fails with: json (place); conversation if the request cannot be read, or cannot be written for that API (path).
Result<ApiRequest> request_as(ReplyApi api, std::string_view request, const RequestApiOptions& options = {});

}  // namespace parlance
