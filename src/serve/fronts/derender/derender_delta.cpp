// Collects what a chunk adds. Begin reading at ChunkDelta::add.
#include "serve/fronts/derender/derender_delta.h"

#include "parlance/json_writer.h"
#include "serve/random_id.h"

namespace parlance::serve {

void ChunkDelta::add(const ReplyEvent& event) {
  using Kind = ReplyEvent::Kind;
  if (event.kind == Kind::call_begin) begin_call(event);
  if (event.kind == Kind::turn || !live) return;
  if (event.kind == Kind::content) content_ += event.text;
  if (event.kind == Kind::reasoning) reasoning_ += event.text;
  if (event.kind == Kind::arguments || event.kind == Kind::broken) call(event.call).arguments += event.text;
}

ChunkDelta::Call& ChunkDelta::call(std::uint32_t number) {
  if (calls_.empty() || calls_.back().number != number) calls_.push_back({.number = number});
  return calls_.back();
}

void ChunkDelta::begin_call(const ReplyEvent& event) {
  const std::size_t number = event.call;
  if (number >= call_ids_.size())
    call_ids_.push_back(event.detail.empty() ? random_id("chatcmpl-tool-") : std::string(event.detail));
  count = event.call + 1;
  if (!live) return;
  Call& begun = call(event.call);
  begun.begins = true;
  begun.name = std::string(event.text);
  begun.id = call_ids_[number];
}

std::string ChunkDelta::to_json(bool with_role, bool hides) const {
  JsonWriter out('{');
  with_role ? out.text("role", "assistant") : out.null("role");
  content_.empty() ? out.null("content") : out.text("content", content_);
  reasoning_.empty() || hides ? out.null("reasoning") : out.text("reasoning", reasoning_);
  JsonWriter list('[');
  for (const Call& one : calls_) {
    JsonWriter function('{'), item('{');
    if (one.begins) function.text("name", one.name);
    function.text("arguments", one.arguments);
    if (one.begins) item.text("id", one.id).text("type", "function");
    list.item(item.number("index", one.number).raw("function", function.take()).take());
  }
  if (!calls_.empty()) out.raw("tool_calls", list.take());
  return out.take();
}

}  // namespace parlance::serve
