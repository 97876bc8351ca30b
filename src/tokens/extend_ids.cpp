// extend_ids: a session for who keeps none. Only a refusal asks what the ids were once made of.
#include <algorithm>

#include "conversation/conversation.h"
#include "tokens/difference.h"
#include "tokens/tail.h"

namespace parlance {
namespace {

/// Shortens the conversation until its prompt is one that `said` begins with, and looks at that. `is_reply`: the byte
/// is of what was said after it.
PromptSide find_before(const Template& chat_template, Conversation& chat, const RenderOptions& options,
                       const std::string& said, std::size_t byte, bool& is_reply) {
  constexpr std::uint32_t kMostTries = 16;  // a turn has fewer messages; each is a render
  PromptSide side;
  const Value messages = chat.messages();
  const std::uint32_t count = messages.is_sequence() ? messages.list->size : 0;
  for (std::uint32_t tried = 1; tried < std::min(count, kMostTries); ++tried) {
    keep_messages(inside_of(chat), count - tried);
    const Result<Rendering> prompt = chat_template.render(chat, options);
    if (!prompt || !said.starts_with(prompt->text())) continue;
    side = side_at(*prompt, chat, byte);
    is_reply = byte >= prompt->text().size();
    if (is_reply) side.path.clear();  // the model's own words
    break;
  }
  side.excerpt = excerpt_of(said, byte);
  return side;
}

}  // namespace

Result<Extension> extend_ids(std::span<const TokenId> ids, const Template& chat_template, const Tokenizer& tokenizer,
                             Conversation conversation, const SessionOptions& options) {
  RenderOptions render = options.render;
  render.want_spans = true;
  render.want_assistant = false;
  const Result<Rendering> prompt = chat_template.render(conversation, render);
  if (!prompt) return prompt.error();
  const Result<std::vector<TrustedPath>> trusted = parse_trusted_paths(options.tokenize.trust);
  if (!trusted) return trusted.error();
  if (Result<void> fits = check_extendable(tokenizer, options.tokenize); !fits) return fits.error();
  if (Result<void> fits = check_ids(tokenizer, ids); !fits) return fits.error();
  Tail whole;
  const PromptEnd all{&*prompt};
  Result<void> done = whole.encode(all, conversation, tokenizer, options.tokenize, *trusted, {});
  if (!done) return done.error();
  const std::vector<TokenId> now = whole.ids_from(0);
  std::size_t in_front = 0;
  if (options.tokenize.add_special_tokens) {
    const std::vector<TokenId> added = missing_before(tokenizer.facts(), now);
    const bool there = added.size() <= ids.size() && std::equal(added.begin(), added.end(), ids.begin());
    if (there) in_front = added.size();
  }
  ids = ids.subspan(in_front);
  const Tail::Match match = whole.match({ids, 0, 0}, tokenizer, all);
  if (match.fits) {
    return whole.extension(match.token, whole.begin_of(match.token), match.canonical, all, conversation, tokenizer);
  }

  PrefixDifference difference;
  if (match.across_border) difference.cause = PrefixCause::across_border;
  difference.byte = match.byte;
  difference.token = in_front + static_cast<std::size_t>(
                                    std::mismatch(ids.begin(), ids.end(), now.begin(), now.end()).first - ids.begin());
  difference.after = side_at(*prompt, conversation, match.byte);
  bool is_reply = false;
  const std::string said = texts_of(tokenizer, ids).erase(0, whole.dummy_prefix(tokenizer, all));
  difference.before = find_before(chat_template, conversation, render, said, match.byte, is_reply);
  if (is_reply && !match.across_border) difference.cause = PrefixCause::other_reply;
  return rewritten(difference);
}

}  // namespace parlance
