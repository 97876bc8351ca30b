// response_template: transformers' own description of how to read a model's replies (tokenizer_config.json, version 1).
//
//     auto written = parlance::write_response_template(derived->format);
//     if (!written) return report(written.error());       // what it cannot express, with the path of the field
//     config["response_template"] = written->json;
//
// It is data like a ReplyFormat, but uses regular expressions. write_response_template() lists what is lost;
// read_response_template() accepts what a ReplyFormat can express. docs/response-template.md lists both.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parlance/reply_format.h"
#include "parlance/result.h"

namespace parlance {

/// Options of write_response_template().
///
///     field          default            effect
///     reasoning_key  reasoning_content  the member of messages for reasoning; best is the one that the template reads
struct ResponseTemplateOptions {
  std::string reasoning_key = "reasoning_content";
};

/// A response_template, and the replies that it does not read as a ReplyParser would.
struct WrittenResponseTemplate {
  std::string json;                 ///< an object, for load_response_template of transformers 5.24
  std::vector<std::string> losses;  ///< as sentences; outer white space of texts is always dropped and not listed
};

/// Writes `format` as a response_template. Its messages have tool_calls in OpenAI's form, with arguments as objects.
///
/// If one pattern cannot read all forms of calls, it writes the first form and lists the others as losses.
/// Fails with: value if a response_template cannot express the first call form (path of the field), or `format` is not
/// valid.
Result<WrittenResponseTemplate> write_response_template(const ReplyFormat& format,
                                                        const ResponseTemplateOptions& options = {});

/// A ReplyFormat made from a response_template, and notes on the parts that were not used.
struct ReadResponseTemplate {
  ReplyFormat format;  ///< `prompt` is the template's anchor; if you have the real prompt, use its end instead
  std::vector<std::string> notes;
};

/// Reads a response_template. It refuses what transformers refuses, and a field of calls that a ReplyFormat cannot
/// express.
///
/// Regular expressions may consist of literal text, alternatives of literal text, white space, and groups between
/// literals. The format drops what transformers drops: text outside of all fields (drops_other_text), and between tags
/// (text_between). Values in tags without a parser of their own are strings where no tool has a type for them.
/// Fails with: json (place); value (path: "fields.tool_calls.open_pattern").
Result<ReadResponseTemplate> read_response_template(std::string_view json,
                                                    std::string_view name = "<response_template>");

}  // namespace parlance
