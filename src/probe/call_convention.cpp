// How a template wants a conversation handed over. Begin reading at find_facts.
#include "probe/call_convention.h"

#include "probe/reasoning.h"

namespace parlance::probe {
namespace {

/// Looked for behind the user's text: before it, the declaration of the tool shows the same name. How the key is quoted
/// tells whether arguments came out as JSON, as Python prints a dict, or escaped within a string.
Shows shows_call(const Shot& shot) {
  if (!shot) return Shows::no;
  const std::size_t user = shot.text.rfind(kUser);
  const std::string_view tail = std::string_view(shot.text).substr(user == std::string::npos ? 0 : user);
  const std::size_t value = tail.find(kValuesA[0]);
  if (tail.find(kTools[0]) == std::string_view::npos || value == std::string_view::npos) return Shows::no;
  const std::size_t key = tail.rfind(kKeyA, value);
  if (key == std::string_view::npos || key < 2) return Shows::yes;
  if (tail.substr(key - 2, 2) == "{'" && tail.substr(key + kKeyA.size(), 2) == "':") return Shows::python;
  return tail.substr(key - 2, 2) == "\\\"" ? Shows::escaped : Shows::yes;
}

/// Ways to hand a call over are tried until one shows it; where it shows escaped only, that is kept.
/// The order is that of what clients send most. At most 2 * 3 * 2 * 4 * 2 renders, and mostly one: a template that
/// works with the first is not asked again.
class CallSearch {
 public:
  explicit CallSearch(Prober& prober) : prober_(prober) { best_.convention = prober.convention; }

  CallProbe run() {
    for (const bool declared : {true, false}) {
      if (!declared && answered_) break;  // tools that go wrong are left out
      prober_.convention.tools_called = declared;
      if (try_ids()) break;
    }
    if (!answered_) best_.problem = problem_;
    return best_;
  }

 private:
  using Content = Convention::Content;

  bool try_ids() {
    for (const Convention::Ids ids : {Convention::Ids::free, Convention::Ids::named, Convention::Ids::none}) {
      for (const bool text : {false, true}) {
        prober_.convention.ids = ids;
        prober_.convention.text_arguments = text;
        if (try_contents()) return true;
      }
    }
    return false;
  }

  bool try_contents() {
    for (const Content content : {Content::empty, Content::null, Content::absent, Content::text}) {
      for (const Next next : {Next::nothing, Next::result}) {
        prober_.convention.beside_calls = content;
        if (try_one(next)) return true;
      }
    }
    return false;
  }

  bool try_one(Next next) {
    const Shot& shot = prober_.take({.content = {}, .calls = plain_calls(1), .next = next});
    answered_ = answered_ || shot || shot.refused;
    if (problem_.empty()) problem_ = shot.problem;
    const Shows shows = shows_call(shot);
    if (shows > best_.shows) best_ = {shows, prober_.convention, next, {}};
    return best_.shows == Shows::yes;
  }

  Prober& prober_;
  CallProbe best_;
  bool answered_ = false;  ///< by a prompt, or by raise_exception
  std::string problem_;
};

/// The header is what all turns of the assistant begin with.
void shorten_headers(Prober& prober, TurnFacts& turn, const CallProbe& call) {
  if (call.shows != Shows::no)
    shorten_header(turn, prober.take({.content = {}, .calls = plain_calls(1), .next = call.next}));
  for (const std::string& key : reasoning_keys(prober.facts())) {
    shorten_header(turn, prober.take({.reasoning = std::string(kReasoning), .reasoning_key = key}));
  }
}

CallProbe find_calls_convention(Prober& prober) {
  CallProbe found = CallSearch(prober).run();
  prober.convention = found.convention;
  return found;
}

}  // namespace

CallProbe find_convention(Prober& prober) {
  choose_content(prober);
  return find_calls_convention(prober);
}

TurnFacts find_facts(Prober& prober, CallProbe* call) {
  TurnFacts turn = find_turn(prober);
  const CallProbe found = find_calls_convention(prober);
  if (turn.found) shorten_headers(prober, turn, found);
  if (call != nullptr) *call = found;
  return turn;
}

}  // namespace parlance::probe
