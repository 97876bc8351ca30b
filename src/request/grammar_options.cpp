// What a request asks of its reply. Begin reading at grammar_options.
#include "parlance/json.h"
#include "parlance/request.h"
#include "request/response_form.h"
#include "request/tool_choice.h"

namespace parlance {
namespace {

Result<GrammarOptions> options_of(Value request, std::string tools_name) {
  GrammarOptions options;
  options.tools_name = std::move(tools_name);
  if (Result<void> taken = take_tool_options(options, request); !taken) return taken.error();
  Result<ResponseFormat> response = response_of(request);
  if (!response) return response.error();
  options.response = std::move(*response);
  return options;
}

}  // namespace

Result<GrammarOptions> grammar_options(std::string_view body, std::string_view name) {
  Document document;
  if (Result<void> parsed = document.parse(body, name); !parsed) return parsed.error();
  if (!document.root().is(Kind::dict)) return Error(ErrorCode::conversation, "the request is JSON, but not an object");
  return options_of(document.root(), std::string(name) + ": tools");
}

Result<GrammarOptions> grammar_options(const Conversation& conversation) {
  Result<GrammarOptions> options = options_of(conversation.variables(), "tools");
  if (options && options->tools == "null") options->tools.clear();
  return options;
}

Result<GrammarOptions> grammar_options(const ChatRequest& request, const ReplyStart& start) {
  return grammar_options(request.conversation, start);
}

Result<GrammarOptions> grammar_options(const Conversation& conversation, const ReplyStart& start) {
  Result<GrammarOptions> options = grammar_options(conversation);
  if (options) options->prompt = start.options.prompt;
  return options;
}

}  // namespace parlance
