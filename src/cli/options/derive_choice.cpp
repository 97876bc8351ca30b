// Which format of replies a command uses. Begin reading at derive_reply.
#include "cli/options/derive_choice.h"

#include "parlance/source.h"

namespace parlance::cli {
namespace {

struct Opened {
  Template chat_template;
  DeriveOptions deriving;
};

/// The template of the options, with what else experiments go by.
Result<Opened> open_for_experiments(PromptOptions& options) {
  PromptSetup setup;
  if (Result<void> prepared = prepare(options, true, setup); !prepared) return prepared.error();
  const Result<Template>& compiled = setup.reader->chat_template(true);
  if (!compiled) return compiled.error();
  Opened opened{*compiled, {}};
  opened.deriving.limits = setup.render.limits;
  opened.deriving.variables = setup.request.variables;
  opened.deriving.response_template = setup.model.response_template;
  for (const SpecialToken& token : setup.model.special_tokens)
    opened.deriving.special_tokens.emplace_back(token.name, token.text);
  return opened;
}

/// The format of replies that a built-in format brings along, if one is named.
Result<std::optional<ReplyFormat>> own_format(const std::string& name) {
  const BuiltinFormat* builtin = find_format(name);
  if (builtin == nullptr || builtin->reply.empty()) return std::optional<ReplyFormat>();
  Result<ReplyFormat> own = ReplyFormat::from_json(builtin->reply, std::string(builtin->name) + ".reply.json");
  if (!own) return own.error();
  return std::optional<ReplyFormat>(std::move(*own));
}

}  // namespace

Result<DerivedFormat> derive_reply(PromptOptions& options) {
  Result<Opened> opened = open_for_experiments(options);
  if (!opened) return opened.error();
  Result<std::optional<ReplyFormat>> own = own_format(options.wish.format);
  if (!own) return own.error();
  opened->deriving.format = std::move(*own);
  return derive(opened->chat_template, opened->deriving);
}

std::optional<Error> limit_of(const DerivedFormat& derived, const PromptOptions& options) {
  if (derived.verdict != Verdict::none || !derived.limit) return std::nullopt;
  Error::Parts parts = derived.limit->parts();
  parts.message = "no answer could be rendered: " + parts.message;
  const std::string steps = given_limit(options, ErrorCode::limit_steps);
  if (parts.code == ErrorCode::limit_steps && !steps.empty())
    parts.message = "no answer could be rendered in --max-steps " + steps + "; each experiment gets 1/64 of it";
  return Error(std::move(parts));
}

Result<CheckReport> check_replies(PromptOptions& options, CheckOptions checking) {
  Result<Opened> opened = open_for_experiments(options);
  if (!opened) return opened.error();
  Result<std::optional<ReplyFormat>> own = own_format(options.wish.format);
  if (!own) return own.error();
  opened->deriving.format = std::move(*own);
  checking.derive = std::move(opened->deriving);
  return check(opened->chat_template, checking);
}

}  // namespace parlance::cli
