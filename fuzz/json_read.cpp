// Fuzz target: any bytes as JSON. What is read must be written as JSON that reads as the same, and any failure must
// have a place in the text. The same bytes then are a chat request, with every normalisation pass.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "json/json.h"
#include "parlance/parlance.h"
#include "small_limits.h"

namespace {

using namespace parlance;

/// The value as JSON with `style`, or "" where a limit ends it.
std::string written(const Document& document) {
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  std::string out;
  return append_json(rt, out, document.root()) ? out : std::string();
}

void read_as_json(std::string_view text) {
  Document document;
  if (const auto parsed = document.parse(text); !parsed) {
    const Location& where = parsed.error().where();
    if (where.begin > text.size() || parsed.error().display().empty()) std::abort();
    return;
  }
  const std::string once = written(document);
  if (once.empty()) return;
  Document again;
  if (!again.parse(once) || written(again) != once) std::abort();
}

/// What must follow the name of a pass.
std::string argument_of(const NormalisePass& pass) {
  if (pass.takes == PassTakes::efforts)
    return ":none=enable_thinking:false;high=enable_thinking:true,reasoning_effort:\"max\",level:\"high\"";
  if (pass.takes == PassTakes::media) return ":user.image_url=image,assistant.image=image_url,tool.video";
  return pass.takes == PassTakes::name || pass.takes == PassTakes::type ? ":thinking" : "";
}

void read_as_request(std::string_view text) {
  ReadOptions options;
  for (const NormalisePass& pass : normalise_passes()) {
    if (!pass.by_default && !options.passes.run(std::string(pass.name) + argument_of(pass))) std::abort();
  }
  const auto chat = Conversation::from_json(text, options);
  if (!chat && (chat.error().code() == ErrorCode::usage || chat.error().display().empty())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_as_json(text);
  read_as_request(text);
  return 0;
}
