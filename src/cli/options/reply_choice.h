// How the replies of a command are read: which format, which tools, and what the prompt before them ends with.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "cli/options/prompt_options.h"
#include "parlance/reply.h"
#include "parlance/reply_api.h"
#include "parlance/request.h"

namespace parlance::cli {

struct ReplyWish {
  PromptOptions prompt;                ///< -f, and what renders the request
  std::string reply_format;            ///< --reply-format: a file
  std::string tools;                   ///< --tools: a file
  bool number_calls = false;           ///< --number-calls: ids count, and are the same each time
  bool begin_in_reasoning = false;     ///< --begin-in-reasoning
  bool no_calls_in_reasoning = false;  ///< --no-calls-in-reasoning
  bool partial = false;                ///< --partial: values so far of calls that are not complete
  std::string as;                      ///< --as: the name of an API
  ReplyApiOptions answer;              ///< --id, --model-name, --created
};

/// Says doubts about a template's format of replies on standard error, each once.   Threads: any.
class Doubts {
 public:
  void say(const std::string& doubt);

 private:
  std::mutex mutex_;
  std::set<std::string> said_;
};

/// How replies are written, and a template for their prompts where there is one.
struct ReplySource {
  PromptSetup setup{};
  ReplyTools tools{};
  std::unique_ptr<Doubts> doubts = std::make_unique<Doubts>();
};

/// Fails with usage, file, json, value, no_template.
Result<ReplySource> open_reply_source(ReplyWish& wish);
/// How a reply is read where its prompt's end is not known: of `request` its variables count (RequestReader::reply).
/// Fails with usage where it should begin in reasoning and there is none; as derive() does.
Result<ReplyStart> usual_start(const ReplySource& source, const ReplyWish& wish, Value request = {});
/// How the reply to `request`, which is JSON, is read: with its tools, from where its prompt ends. Where the template
/// does not render the request, from where its prompts usually end, with a note that says why: a reply is there all the
/// same. Fails with json and with conversation.
Result<ReplyStart> start_of_request(const ReplySource& source, const ReplyWish& wish, std::string request,
                                    const std::string& name);
/// What makes ids for calls that have none: call_ and 24 hexadecimal digits, never the same twice. Empty with
/// --number-calls, and the library numbers them. Threads: any.
std::function<std::string()> call_ids(const ReplyWish& wish);

/// How the model of a built-in format writes its replies. Fails as ReplyFormat::from_json() does.
Result<ReplyFormat> replies_of(const BuiltinFormat& format);

}  // namespace parlance::cli
