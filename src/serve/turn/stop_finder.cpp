// Finds stop texts in content.
#include "serve/turn/stop_finder.h"

namespace parlance::serve {

void StopFinder::add(const ReplyEvent& event, ReplySink sink) {
  if (texts_.found()) return;
  if (stops_.empty()) return sink(event);
  if (event.kind == ReplyEvent::Kind::content) return pass(texts_.add(event.text), sink);
  if (event.kind != ReplyEvent::Kind::marker) finish(sink);
  sink(event);
}

void StopFinder::finish(ReplySink sink) { pass(texts_.rest(), sink); }

void StopFinder::pass(std::string_view text, ReplySink sink) {
  ReplyEvent event;
  event.kind = ReplyEvent::Kind::content;
  event.source = event.text = text;
  if (!text.empty()) sink(event);
}

}  // namespace parlance::serve
