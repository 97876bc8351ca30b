// Keeps the last turns. Begin reading at Inspector::end.
#include "serve/inspect/inspector.h"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "parlance/json_writer.h"
#include "serve/capture/utc.h"
#include "serve/inspect/turn_json.h"

namespace parlance::serve {

namespace {

constexpr std::size_t kMostNews = 10000;
constexpr std::size_t kMostSessions = 4096;

std::int64_t in_json(std::size_t number) { return static_cast<std::int64_t>(number); }

bool may_see(const Viewer& viewer, const SessionName& name) { return !viewer || *viewer == name.owner; }

}  // namespace

std::size_t InspectedTurn::bytes() const {
  std::size_t bytes = sizeof(InspectedTurn) + session->ids().size() * 32 + sampled.size() * 32;
  bytes += message.content.size() + message.reasoning.size();
  for (const ReplyCall& call : message.calls) bytes += call.arguments.size() + 128;
  for (const std::string& event : events) bytes += event.size() + sizeof(std::string);
  return bytes;
}

Inspector::Inspected& Inspector::at_front(const SessionName& name) {
  const auto found = by_id_.find(name.id);
  if (found == by_id_.end()) {
    order_.emplace_front();
    order_.front().name = name;
    by_id_[name.id] = order_.begin();
  } else {
    order_.splice(order_.begin(), order_, found->second);
  }
  return order_.front();
}

const Inspector::Inspected* Inspector::find(const Viewer& viewer, const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() || !may_see(viewer, found->second->name) ? nullptr : &*found->second;
}

/// Drops the oldest turns of the sessions that were used least recently, and of the only one its oldest.
void Inspector::make_room() {
  while (bytes_ > most_bytes_ || order_.size() > kMostSessions) {
    Inspected& oldest = order_.back();
    if (!oldest.turns.empty() && (order_.size() > 1 || oldest.turns.size() > 1)) {
      bytes_ -= oldest.turns.front()->bytes();
      oldest.turns.pop_front();
      ++oldest.dropped;
    }
    if (order_.size() == 1 && oldest.turns.size() <= 1) return;
    if (!oldest.turns.empty()) continue;
    by_id_.erase(oldest.name.id);
    order_.pop_back();
  }
}

void Inspector::begin(const SessionName& name, const ServedModel& model, const TurnFacts& facts, unsigned choice) {
  bool is_new = false;
  std::string said;
  {
    const std::lock_guard lock(mutex_);
    Inspected& inspected = at_front(name);
    is_new = inspected.begun.empty();
    if (is_new) inspected.begun = facts.time;
    inspected.model = model.name;
    inspected.last = facts.time;
    ++inspected.live;
    if (is_new) said = summary(inspected);
    make_room();
  }
  if (is_new) tell(name, "session", said);
  if (watched_ == 0) return;
  JsonWriter made('{');
  made.text("session", name.id).text("answer", facts.id).number("choice", choice);
  made.text("time", facts.time).text("api", facts.api);
  tell(name, "turn", made.take());
}

void Inspector::tell_event(const SessionName& name, const std::string& answer, unsigned choice,
                           const std::string& event) {
  if (watched_ == 0) return;
  JsonWriter made('{');
  made.text("session", name.id).text("answer", answer).number("choice", choice).raw("event", event);
  tell(name, "reply", made.take());
}

void Inspector::end(const SessionName& name, InspectedTurn turn) {
  auto kept = std::make_shared<const InspectedTurn>(std::move(turn));
  std::string said;
  {
    const std::lock_guard lock(mutex_);
    Inspected& session = at_front(name);
    if (session.live > 0) --session.live;
    if (session.begun.empty()) {  // it was dropped meanwhile
      session.begun = kept->facts.time;
      session.model = kept->model->name;
    }
    session.last = utc_now();
    session.breaks += kept->broken ? 1 : 0;
    session.faults += kept->message.diagnostics.size();
    session.prompt_tokens += kept->prompt_tokens;
    session.sampled_tokens += kept->sampled.size();
    session.evaluated_tokens += static_cast<std::size_t>(kept->evaluated.value_or(0));
    session.turns.push_back(kept);
    bytes_ += kept->bytes();
    if (watched_ != 0) {
      const std::size_t number = session.dropped + session.turns.size() - 1;
      said = JsonWriter('{').text("session", name.id).raw("turn", turn_summary(*kept, number)).take();
    }
    make_room();
  }
  if (!said.empty()) tell(name, "end", said);
}

std::string Inspector::summary(const Inspected& session) {
  JsonWriter made('{');
  made.text("id", session.name.id).text("session", session.name.shown).text("model", session.model);
  made.text("begun", session.begun).text("last", session.last);
  made.number("turns", in_json(session.dropped + session.turns.size())).number("live", in_json(session.live));
  made.number("prompt_tokens", in_json(session.prompt_tokens));
  made.number("evaluated_tokens", in_json(session.evaluated_tokens));
  made.number("sampled_tokens", in_json(session.sampled_tokens));
  return made.number("breaks", in_json(session.breaks)).number("faults", in_json(session.faults)).take();
}

std::string Inspector::sessions_json(const Viewer& viewer) const {
  JsonWriter list('[');
  {
    const std::lock_guard lock(mutex_);
    for (const Inspected& session : order_) {
      if (may_see(viewer, session.name)) list.item(summary(session));
    }
  }
  return JsonWriter('{').raw("sessions", list.take()).take();
}

std::string Inspector::session_json(const Viewer& viewer, const std::string& id) const {
  std::deque<std::shared_ptr<const InspectedTurn>> turns;
  std::size_t number = 0;
  std::string said;
  {
    const std::lock_guard lock(mutex_);
    const Inspected* const session = find(viewer, id);
    if (session == nullptr) return {};
    turns = session->turns;
    number = session->dropped;
    said = summary(*session);
  }
  JsonWriter list('[');
  for (const auto& turn : turns) list.item(turn_summary(*turn, number++));
  return JsonWriter('{').raw("session", said).raw("turns", list.take()).take();
}

std::shared_ptr<const InspectedTurn> Inspector::turn(const Viewer& viewer, const std::string& id,
                                                     std::size_t number) const {
  const std::lock_guard lock(mutex_);
  const Inspected* const session = find(viewer, id);
  if (session == nullptr || number < session->dropped) return nullptr;
  const std::size_t at = number - session->dropped;
  return at < session->turns.size() ? session->turns[at] : nullptr;
}

std::shared_ptr<Watcher> Inspector::watch(const Viewer& viewer, asio::any_io_executor executor) {
  auto watcher = std::make_shared<Watcher>(viewer, std::move(executor));
  const std::lock_guard lock(mutex_);
  watchers_.push_back(watcher);
  watched_ = watchers_.size();
  return watcher;
}

void Inspector::forget(const std::shared_ptr<Watcher>& watcher) {
  const std::lock_guard lock(mutex_);
  std::erase(watchers_, watcher);
  watched_ = watchers_.size();
}

void Inspector::tell(const SessionName& name, std::string_view event, const std::string& json) {
  if (watched_ == 0) return;
  const auto text = std::make_shared<const std::string>("event: " + std::string(event) + "\ndata: " + json + "\n\n");
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<Watcher>& watcher : watchers_) {
    if (!may_see(watcher->viewer, name)) continue;
    asio::post(watcher->executor, [watcher, text] {
      if (watcher->news.size() < kMostNews)
        watcher->news.push_back(text);
      else
        ++watcher->lost;
      watcher->timer.cancel();
    });
  }
}

}  // namespace parlance::serve
