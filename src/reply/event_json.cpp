// Writes events.
#include "reply/event_json.h"

namespace parlance {

void write_event(JsonWriter& into, const ReplyEvent& event) {
  using Kind = ReplyEvent::Kind;
  into.text("type", name_of(event.kind));
  into.number("position", static_cast<std::int64_t>(event.position));
  const bool of_call = event.kind == Kind::call_begin || event.kind == Kind::arguments || event.kind == Kind::call_end;
  if (of_call) into.number("call", event.call);
  switch (event.kind) {
    case Kind::call_begin: into.text("name", event.text); break;
    case Kind::turn: into.text("role", event.text).text("header", event.detail); break;
    case Kind::malformed: into.text("kind", name_of(event.fault)).text("expected", event.text); break;
    case Kind::call_end: into.flag("complete", event.complete); break;
    case Kind::end:
    case Kind::marker: break;
    default: into.text("text", event.text); break;
  }
  if (event.kind == Kind::call_begin && !event.detail.empty()) into.text("id", event.detail);
  if (event.custom) into.flag("custom", true);
  if (event.source != event.text) into.text("source", event.source);
}

}  // namespace parlance
