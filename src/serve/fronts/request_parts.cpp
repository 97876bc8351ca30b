// Reads parts of requests.
#include "serve/fronts/request_parts.h"

#include <algorithm>
#include <charconv>

#include "base/packed.h"
#include "base/utf8.h"

namespace parlance::serve {

namespace {

constexpr std::size_t kLongestId = 256;
constexpr std::int64_t kMostChoices = 16;

/// Why a body is no JSON. The reader's own hints about bytes are for who has a file.
std::string_view hint_for_body(std::string_view body, const Error& error) {
  const std::string_view begin = body.substr(0, 4);
  if (begin.find('\0') != begin.npos || begin.starts_with("\xFF\xFE") || begin.starts_with("\xFE\xFF"))
    return "this is UTF-16 or UTF-32, and the body of a request is UTF-8";
  if (begin.starts_with("\xEF\xBB\xBF")) return "the body of a request is UTF-8 without a byte order mark";
  return hint_for_bytes(body).empty() ? std::string_view(error.hint()) : std::string_view();
}

}  // namespace

Result<Document> parsed_body(const std::string& body) {
  Document document;
  if (Result<void> read = document.parse(body, "the request"); !read)
    return read.error().hint(std::string(hint_for_body(body, read.error())));
  if (!document.root().is(Kind::dict)) return Error(ErrorCode::conversation, "the request is no object");
  return document;
}

Result<ModelRef> model_called(const Call& call, Value name) {
  if (is_given(name) && !name.is_string())
    return Error(ErrorCode::conversation, "model must be the name of a model").input("model");
  if (ModelRef model = call.offer->model_named(name.text())) return model;
  constexpr std::string_view kLatest = ":latest";  // which Ollama's clients may leave out, and often put behind a name
  if (call.api == ReplyApi::ollama && name.text().ends_with(kLatest)) {
    if (ModelRef model = call.offer->model_named(name.text().substr(0, name.text().size() - kLatest.size())))
      return model;
  }
  const std::string said(name.text());
  const bool is_ollamas = call.api == ReplyApi::ollama;
  const std::string hint = is_ollamas ? "GET /api/tags lists them" : "GET /v1/models lists them";
  std::string wrong = "model is missing: there are several here";
  if (!said.empty()) wrong = "there is no model '" + said + "' here";
  if (!said.empty() && is_ollamas) wrong = "model '" + said + "' not found";  // by which its clients know it
  return Error(ErrorCode::no_template, std::move(wrong)).input("model").hint(hint);
}

Result<ModelRef> model_of(const Call& call, Value body) {
  Result<ModelRef> model = model_called(call, body["model"]);
  if (!model || (*model)->backend || call.route->access != Access::engine) return model;
  return Error(ErrorCode::no_template, "the model '" + (*model)->name + "' has no engine here")
      .input("model")
      .hint("/v1/chat/completions/render makes its prompts");
}

/// By which clients name their sessions; the first of them that a request has.
constexpr std::string_view kSessionHeaders[] = {"x-session-id", "session-id", "x-session-affinity",
                                                "x-claude-code-session-id"};

SessionHints hints_of(const HttpRequest& request, Value body) {
  SessionHints hints{.owner = owner_of(request)};
  for (const std::string_view header : kSessionHeaders) {
    if (hints.session.empty()) hints.session = request.header(header);
  }
  for (const std::string_view member : {"session_id", "prompt_cache_key"}) {
    if (hints.session.empty()) hints.session = body[member].text();
  }
  hints.response = body["previous_response_id"].text();
  hints.session.resize(utf8::whole_prefix(hints.session, kLongestId).size());
  return hints;
}

Result<void> refuse_suffix(Value body) {
  if (body["suffix"].text().empty()) return {};
  return Error(ErrorCode::conversation, "suffix: no engine here fills a gap in a text").input("suffix");
}

Result<void> check_stream_options(Value options, bool streams) {
  if (streams || options.members().empty()) return {};
  return Error(ErrorCode::conversation, "stream_options are of a stream, and the request has no `stream: true`")
      .input("stream_options");
}

std::string name_of_token(TokenId id) { return id < 0 ? "" : "token_id:" + std::to_string(id); }

Result<unsigned> choices_of(Value settings) {
  const Value n = settings["n"];
  if (n.is_undefined() || n.is_none()) return 1U;
  if (n.is_small_int() && n.integer >= 1 && n.integer <= kMostChoices) return static_cast<unsigned>(n.integer);
  return Error(ErrorCode::conversation, "n must be 1 to " + std::to_string(kMostChoices)).input("n");
}

bool includes_usage(Value body) {
  return flag_of(body["stream_options"]["include_usage"], false) || flag_of(body["usage"]["include"], false);
}

bool includes_logprobs(Value body) {
  const std::span<const Value> included = body["include"].items();
  return std::any_of(included.begin(), included.end(),
                     [](Value name) { return name.text() == "message.output_text.logprobs"; });
}

std::optional<unsigned> logprobs_of(Value body) {
  const Value wanted = body["logprobs"], top = body["top_logprobs"];
  const Value count = wanted.is_small_int() ? wanted : top;  // completions have the number under the first name
  const std::int64_t most = count.is_small_int() ? std::clamp<std::int64_t>(count.integer, 0, kMostAlternatives) : 0;
  const bool on = wanted.is(Kind::boolean) ? wanted.integer != 0 : wanted.is_small_int() || most > 0;
  if (includes_logprobs(body)) return static_cast<unsigned>(most);
  return on ? std::optional(static_cast<unsigned>(most)) : std::nullopt;
}

std::string unescaped(std::string_view text) {
  std::string made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned byte = 0;
    const char* const digits = text.data() + at + 1;
    const bool is_escape =
        text[at] == '%' && at + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    made += is_escape ? static_cast<char>(byte) : text[at];
    if (is_escape) at += 2;
  }
  return made;
}

}  // namespace parlance::serve
