// How the replies of a command are read: which format, which tools, and what the prompt before them ends with.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "cli/derived_formats.h"
#include "cli/prompt_options.h"
#include "parlance/reply.h"
#include "parlance/reply_api.h"

namespace parlance::cli {

struct ReplyWish {
  PromptOptions prompt;      ///< -f, and what renders the request
  std::string reply_format;  ///< --reply-format: a file
  std::string tools;         ///< --tools: a file
  bool number_calls = false; ///< --number-calls: ids count, and are the same each time
  bool begin_in_reasoning = false;     ///< --begin-in-reasoning
  bool no_calls_in_reasoning = false;  ///< --no-calls-in-reasoning
  bool partial = false;                ///< --partial: values so far of calls that are not complete
  std::string as;                      ///< --as: the name of an API
  ReplyApiOptions answer;              ///< --id, --model-name, --created
};

/// How replies are written, and a template for their prompts where there is one.
struct ReplySource {
  std::shared_ptr<const ReplyFormat> known;  ///< one format for all requests, or
  std::unique_ptr<DerivedFormats> derived;   ///< one for each set of their variables
  std::unique_ptr<PromptSetup> setup;
  ReplyTools tools;

  /// The format of replies to a request, an object with its variables; anything else for no request. Fails as derive() does.
  Result<std::shared_ptr<const ReplyFormat>> format_for(Value request = {}) const;
};

/// Fails with usage, file, json, value, no_template.
Result<ReplySource> open_reply_source(ReplyWish& wish);
/// How one reply is read, and what is to be said of it.
struct ReplyStart {
  std::shared_ptr<const ReplyFormat> format;
  ReplyOptions options;
  std::vector<std::string> notes;
};
/// How a reply is read where its prompt's end is not known: of `request` its variables count, as for ReplySource::format_for.
/// Fails with usage where it should begin in reasoning and there is none; as derive() does.
Result<ReplyStart> usual_start(const ReplySource& source, const ReplyWish& wish, Value request = {});
/// How the reply to `request`, which is JSON, is read: with its tools, from where its prompt ends. Where the template does not
/// render the request, from where its prompts usually end, with a note that says why: a reply is there all the same.
/// Fails with json and with conversation.
Result<ReplyStart> start_of_request(const ReplySource& source, const ReplyWish& wish, std::string request, const std::string& name);
/// What makes ids for calls that have none: call_ and 24 hexadecimal digits, never the same twice. Empty with
/// --number-calls, and the library numbers them. Threads: any.
std::function<std::string()> call_ids(const ReplyWish& wish);

}  // namespace parlance::cli
