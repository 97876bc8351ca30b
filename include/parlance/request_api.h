// Converts chat requests from one API to another.
//
//     auto made = parlance::request_as(parlance::ReplyApi::anthropic,
//                                      R"({"messages": [{"role": "user", "content": "Hi"}]})");
//     send(made->json);
//     for (const parlance::RequestNote& note : made->notes) log(note.display());
//
// It reads requests of OpenAI's chat completions and Responses, Anthropic's Messages, Gemini and Ollama, and lines of
// ShareGPT. docs/request-apis.md says how each member is converted.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/reply_api.h"
#include "parlance/result.h"

namespace parlance {

/// Says what happened to a part of the request that the target API does not have, or has in another form.
struct RequestNote {
  enum class Kind : std::uint8_t {
    lost,     ///< it is not in the new request
    missing,  ///< the target API requires it, but the request does not have it
    changed,  ///< it is written in another way, or was left out because it has no use there: an id, a signature
    kept,     ///< the target API has no such member, and the request has it all the same: some servers know more
  };
  Kind kind = Kind::lost;
  std::string path;      ///< in the request as it was given: "messages[3].name"
  std::string sentence;  ///< "Anthropic Messages has no such member: left out"
  /// "messages[3].name: SENTENCE"
  std::string display() const { return path.empty() ? sentence : path + ": " + sentence; }
};
std::string_view name_of(RequestNote::Kind kind);  ///< "lost", "missing", "changed", "kept"

/// A converted request.
struct ApiRequest {
  std::string json;                ///< an object, on one line
  std::vector<RequestNote> notes;  ///< in the order in which they were found
};

struct RequestApiOptions {
  /// Members to replace or add, as name and JSON: {"max_tokens", "1024"}. A member of the target API is set in the new
  /// request; any other is set in the given request before it is read.
  std::vector<std::pair<std::string, std::string>> members{};
  std::string name = "<input>";  ///< the name of the request in errors
};

/// The APIs that requests are written for: "openai", "anthropic", "responses".
std::span<const std::string_view> request_api_names();

/// Converts a request of any API that parlance reads to a request of `api`. A request of `api` stays unchanged.
///
/// There is a note for everything that is dropped, and for members of the request that OpenAI's chat has not, which are
/// kept. Content that the API does not have, such as audio, is an error
/// instead. The new request renders to the same prompt as the given one, except for what the notes name.
/// Fails with: json (place); conversation if the request cannot be read, or cannot be converted to that API (path), and
/// for ReplyApi::ollama.
Result<ApiRequest> request_as(ReplyApi api, std::string_view request, const RequestApiOptions& options = {});

}  // namespace parlance
