// response_template: how transformers is told to read a model's replies (tokenizer_config.json, version 1).
//
//     auto written = parlance::write_response_template(derived->format);
//     if (!written) return report(written.error());       // what it cannot say, with the path of the field
//     config["response_template"] = written->json;
//
// It is data like a ReplyFormat, with regular expressions where that has parts. Writing says what is lost; reading takes
// what a ReplyFormat can say. docs/response-template.md has both lists.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parlance/reply_format.h"
#include "parlance/result.h"

namespace parlance {

/// How a response_template is written.
///
///     field          default            effect
///     reasoning_key  reasoning_content  the member of a message that reasoning becomes; the template's own is best
struct ResponseTemplateOptions {
  std::string reasoning_key = "reasoning_content";
};

/// A response_template, and what replies may hold that it does not read as a ReplyParser would.
struct WrittenResponseTemplate {
  std::string json;                 ///< an object; load_response_template of transformers 5.23 takes it
  std::vector<std::string> losses;  ///< as sentences; outer white space of texts is always dropped and not listed
};

/// Writes `format` as a response_template whose messages have tool_calls as OpenAI has them, arguments as objects.
///
/// Where forms of calls need different ways of reading, the first is written and the others are losses.
/// Fails with: value when the first form of calls has no equal there (path of the field), or `format` is not valid.
Result<WrittenResponseTemplate> write_response_template(const ReplyFormat& format, const ResponseTemplateOptions& options = {});

/// A ReplyFormat made of a response_template, and what of it is not used.
struct ReadResponseTemplate {
  ReplyFormat format;              ///< `prompt` is the anchor: where a prompt is known, what that ends with is better
  std::vector<std::string> notes;
};

/// Reads a response_template. What transformers refuses is refused, with the path of the member; so is a field of calls
/// whose way of reading a ReplyFormat cannot say.
///
/// Of regular expressions those are read that are texts, alternatives of texts, white space, and groups between texts.
/// Fails with: json (place); value (path: "fields.tool_calls.open_pattern").
Result<ReadResponseTemplate> read_response_template(std::string_view json, std::string_view name = "<response_template>");

}  // namespace parlance
