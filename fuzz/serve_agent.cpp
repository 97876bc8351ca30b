// Fuzz target: any bytes as a transcript of an agent, written as a page, and resumed. In the first byte, 1 seals each
// line, so that it counts as one that the agent wrote. A page has no tags but those of pages; a resumed run ends. Begin
// reading at check_page and check_resume.
#include <algorithm>
#include <cstdint>

#include "capture_file.h"
#include "cli/agent/transcript_page.h"
#include "parlance/agent.h"
#include "serve/agent/agent_journal.h"
#include "serve/record/recorded_engine.h"
#include "serve_model.h"
#include "small_limits.h"

namespace {

using namespace parlance;
using namespace parlance::serve;

constexpr std::string_view kTags[] = {"!doctype ", "html", "head", "meta ", "title>",  "style>",  "body",    "h1",
                                      "p ",        "p>",   "span", "pre",   "section", "details", "summary", "div"};

void check_page(const std::string& path) {
  const Result<std::string> page = cli::transcript_page(path);
  if (!page) return fuzz::must_say(page.error());
  for (std::size_t at = page->find('<'); at != page->npos; at = page->find('<', at + 1)) {
    std::string_view tag = std::string_view(*page).substr(at + 1);
    if (tag.starts_with('/')) tag.remove_prefix(1);
    if (std::none_of(std::begin(kTags), std::end(kTags), [tag](auto one) { return tag.starts_with(one); }))
      std::abort();
  }
}

/// Calls the tool, and then says that it is done.
class Model : public AgentModel {
 public:
  Result<AgentReply> reply(const AgentRequest& request, ReplySink) override {
    if (request.messages.empty()) std::abort();
    AgentReply made;
    made.message.content = "Done.";
    if (calls_++ > 0) return made;
    ReplyCall call;
    call.name = "terminal";
    call.arguments = "{}";
    call.complete = true;
    made.message.calls.push_back(std::move(call));
    return made;
  }

 private:
  int calls_ = 0;
};

std::shared_ptr<ServedModel> open_model() {
  auto model = std::make_shared<ServedModel>(ServedModel{.name = "m",
                                                         .backend = std::make_shared<Recorded>(),
                                                         .reader = fuzz::reader_of(false),
                                                         .tokenizer = fuzz::byte_tokenizer(),
                                                         .render = {.limits = fuzz::kSmallLimits}});
  if (!complete(*model)) std::abort();
  return model;
}

void check_resume(const std::string& path) {
  static const std::shared_ptr<ServedModel> model = open_model();
  Succession turns;
  Result<RecordedAgent> restored = restore_agent(turns, model, path);
  if (!restored) return fuzz::must_say(restored.error());
  Model replies;
  const auto run = [](std::string_view) -> Result<ToolOutcome> { return ToolOutcome{.text = "a"}; };
  Agent agent(replies, {.goal = restored->goal,
                        .tools = {{.name = "terminal", .description = "", .parameters = "{}", .run = run}},
                        .limits = {.turns = restored->history.turns + 8}});
  std::size_t known = restored->history.messages.size();
  while (known > 0 && restored->history.messages[known - 1].role != "assistant") --known;
  const AgentEnd end = agent.resume(std::move(restored->history), known);
  if (end.sentence.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const fuzz::File file((data[0] & 1) != 0 ? fuzz::sealed_lines(text) : std::string(text));
  check_page(file.path());
  check_resume(file.path());
  return 0;
}
