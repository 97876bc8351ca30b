// How a template wants a conversation handed over, and what an assistant's turn then looks like. Begin reading at
// find_facts.
//
// Clients hand calls over in several ways, and many a template shows them in one way only: arguments as an object or as
// a JSON string, content "" or null or missing, ids of a certain form. A template that shows no call in the first way
// is not one without calls. So the ways are tried until one shows, and all later experiments use that one.
#pragma once
#include "probe/turn.h"

namespace parlance::probe {

/// Does a call show, its arguments neither as Python prints a dict nor encoded twice?
enum class Shows : std::uint8_t { no, python, escaped, yes };

/// The first way of handing over a call that shows it.
struct CallProbe {
  Shows shows = Shows::no;
  Convention convention{};
  Next next = Next::nothing;
  std::string problem;  ///< what went wrong in each render with a call: nothing can be said about calls then
};

/// Sets prober.convention to what shows content and calls.
CallProbe find_convention(Prober& prober);

/// The same, and says how turns begin and end; `call` is how a call shows.
TurnFacts find_facts(Prober& prober, CallProbe* call = nullptr);

}  // namespace parlance::probe
