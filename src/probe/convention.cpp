// How a template wants a conversation handed over. Begin reading at find_facts.
#include "probe/convention.h"

#include "probe/reasoning.h"

namespace parlance::probe {
namespace {

Shows shows_call(const Shot& shot) {
  if (!shot) return Shows::no;
  const std::size_t user = shot.text.rfind(kUser);
  const std::string_view tail = std::string_view(shot.text).substr(user == std::string::npos ? 0 : user);
  const std::size_t value = tail.find(kValuesA[0]);
  if (tail.find(kTools[0]) == std::string_view::npos || value == std::string_view::npos) return Shows::no;
  const std::size_t key = tail.rfind(kKeyA, value);
  return key != std::string_view::npos && key > 0 && tail[key - 1] == '"' && key > 1 && tail[key - 2] == '\\' ? Shows::escaped : Shows::yes;
}

CallProbe find_convention(Prober& prober) {
  using Content = Convention::Content;
  CallProbe best;
  best.convention = prober.convention;
  for (const Convention::Ids ids : {Convention::Ids::free, Convention::Ids::named, Convention::Ids::none}) {
    for (const bool text : {false, true}) {
      for (const Content content : {Content::empty, Content::null, Content::absent, Content::text}) {
        for (const Next next : {Next::nothing, Next::result}) {
          prober.convention.text_arguments = text;
          prober.convention.beside_calls = content;
          prober.convention.ids = ids;
          const Shows shows = shows_call(prober.take({.content = {}, .calls = plain_calls(1), .next = next}));
          if (shows > best.shows) best = {shows, prober.convention, next};
          if (best.shows == Shows::yes) return best;
        }
      }
    }
  }
  return best;
}

/// The header is what all turns of the assistant begin with.
void shorten_headers(Prober& prober, TurnFacts& turn, const CallProbe& call) {
  if (call.shows != Shows::no) shorten_header(turn, prober.take({.content = {}, .calls = plain_calls(1), .next = call.next}));
  for (const std::string& key : reasoning_keys(prober.chat_template().facts())) {
    shorten_header(turn, prober.take({.reasoning = std::string(kReasoning), .reasoning_key = key}));
  }
}

}  // namespace

TurnFacts find_facts(Prober& prober, CallProbe* call) {
  TurnFacts turn = find_turn(prober);
  const CallProbe found = find_convention(prober);
  prober.convention = found.convention;
  if (turn.found) shorten_headers(prober, turn, found);
  if (call != nullptr) *call = found;
  return turn;
}

}  // namespace parlance::probe
