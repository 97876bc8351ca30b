// The examples at the tops of the public headers, each with what it takes as given. tests/header_examples.py writes
// them to the files that are included here, and compiles this.
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/parlance.h"

namespace parlance::testing {
namespace {

/// Whatever an example returns or tells.
struct Anything {
  template <typename... Values>
  Anything(Values&&...) {}  // NOLINT: also of one value, in a return
};
constexpr auto ignore = [](auto&&...) -> Anything { return {}; };
constexpr auto fail = ignore, report = ignore, say = ignore, show = ignore, send = ignore, write = ignore;
[[maybe_unused]] constexpr auto log = ignore, go_on_with = ignore, learn = ignore;

std::optional<std::string_view> next_piece() { return std::nullopt; }

Anything of_agent(const RequestReader& reader, const Tokenizer& tokenizer,
                  const decltype(SessionModelOptions::sample)& sample, const decltype(AgentTool::run)& list_folder) {
#include "agent.inc"
  return {};
}

Anything of_bulk(ModelSource model, const std::vector<std::string>& requests, int file) {
#include "bulk.inc"
  return {};
}

Anything of_check(const Template* chat_template) {
#include "check.inc"
  return {};
}

Anything of_derive(const Template* chat_template) {
#include "derive.inc"
  return {};
}

struct MyTurn {
  std::string role, text;
};
Anything of_document_builder(const std::vector<MyTurn>& turns) {
#include "document_builder.inc"
  return {};
}

struct Sampler {
  void use(const std::string&) {}
};
Anything of_grammar(const ReplyFormat& format, const std::string& request_tools, Sampler sampler) {
#include "grammar.inc"
  return {};
}

Anything of_json_writer(const std::string& id, const std::string& usage_json) {
#include "json_writer.inc"
  return {};
}

Anything of_losses(const Template& chat_template, const Conversation& chat, Workspace& workspace) {
#include "losses.inc"
  return {};
}

Anything of_passes(const std::string& request) {
#include "passes.inc"
  return {};
}

Anything of_reply() {
#include "reply.inc"
  return {};
}

Anything of_reply_api(ReplyParser& parser) {
#include "reply_api.inc"
  return {};
}

Anything of_reply_kinds(const RequestReader& reader, const Result<ChatRequest>& request) {
#include "reply_kinds.inc"
  return {};
}

Anything of_reply_prompt(const Template* chat_template, const Conversation& conversation, const ReplyFormat& format) {
#include "reply_prompt.inc"
  return {};
}

Anything of_request(const std::string& body, GrammarCache& grammars) {
#include "request.inc"
  return {};
}

Anything of_request_api() {
#include "request_api.inc"
  return {};
}

Anything of_response_template(const Result<DerivedFormat>& derived, std::map<std::string, std::string>& config) {
#include "response_template.inc"
  return {};
}

Anything of_sampled_reply(ReplyParser& parser, Session& session, const std::string& text, bool is_control,
                          const std::vector<TokenId>& ids, const std::vector<Message>& results) {
#include "sampled_reply.inc"
  return {};
}

Anything of_session(const Template& chat_template, const Tokenizer& tokenizer, Conversation chat,
                    const std::string& reply, std::vector<TokenId> (*generate)(std::span<const TokenId>)) {
#include "session.inc"
  return {};
}

Anything of_tokens(const Template& chat_template, const Conversation& chat, const Tokenizer& tokenizer) {
#include "tokens.inc"
  return {};
}

Anything of_value(const Conversation& chat) {
#include "value.inc"
  return {};
}

}  // namespace
}  // namespace parlance::testing
