// What the fuzz targets of the gateway serve: a small template with a tokenizer whose ids are bytes.
#pragma once
#include <cstdlib>
#include <memory>
#include <string>

#include "parlance/json.h"
#include "parlance/parlance.h"
#include "parlance/request.h"
#include "parlance/tokens.h"

namespace parlance::fuzz {

/// An id is a byte; those of the control tokens follow.
inline constexpr TokenId kFirstControl = 256;
inline constexpr std::string_view kControl[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>",
                                                "</tool_call>",  "<think>",      "</think>"};

inline std::unique_ptr<Tokenizer> byte_tokenizer() {
  std::vector<AddedToken> added;
  TokenId id = kFirstControl;
  for (const std::string_view text : kControl)
    added.push_back({.id = id++, .text = std::string(text), .special = text.starts_with("<|")});
  return std::make_unique<CallbackTokenizer>(CallbackTokenizer::Parts{
      .added = std::move(added),
      .encode =
          [](std::string_view run, std::vector<TokenId>& ids) {
            for (const char c : run) ids.push_back(static_cast<unsigned char>(c));
            return Result<void>();
          },
      .token_text =
          [](TokenId token) {
            const TokenId control = token - kFirstControl;
            if (token >= 0 && token < kFirstControl) return std::string(1, static_cast<char>(token));
            return control >= 0 && control < static_cast<TokenId>(std::size(kControl)) ? std::string(kControl[control])
                                                                                       : std::string();
          }});
}

/// Short, so that many inputs are tried.
inline constexpr std::string_view kTemplate =
    R"({% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}{% for c in m.tool_calls or [] %}
<tool_call>
{{ c.function | tojson }}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% for t in tools or [] %}{{ t | tojson }}{% endfor %}{{ strftime_now('%A %d %B %Y %j') }}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %})";

/// The reader of the template with the replies of a built-in format; with `adapt` it makes experiments first.
inline RequestReader reader_of(bool adapt) {
  const BuiltinFormat* const format = find_format("terminal-agent");
  if (format == nullptr) std::abort();
  ModelSource model;
  model.path = "fuzz";
  model.templates.push_back({.name = "default", .text = std::string(kTemplate), .origin = "fuzz"});
  Result<ReplyFormat> replies = ReplyFormat::from_json(format->reply);
  if (!replies) std::abort();
  return RequestReader(
      std::move(model),
      {.adapt = adapt, .reply_format = std::move(*replies), .control_tokens = byte_tokenizer()->control_texts()});
}

/// Aborts unless the text is JSON.
inline void must_be_json(std::string_view text) {
  Document document;
  if (!document.parse(text)) std::abort();
}

}  // namespace parlance::fuzz
