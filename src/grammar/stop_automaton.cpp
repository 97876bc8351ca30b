// Making the automaton of stops: a trie, then the edges of each state in breadth-first order.
#include "grammar/stop_automaton.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"
#include "reply/scan/text_codec.h"

namespace parlance::grammar {

namespace {

// Each gap of white space doubles the ways that a stop has; from here on the rest of its gaps is taken as none.
constexpr std::size_t kMostWays = 16;
constexpr char32_t kBlankCharacters[] = {U' ', U'\t', U'\n', U'\r'};

bool is_blank_character(char32_t c) {
  return std::find(std::begin(kBlankCharacters), std::end(kBlankCharacters), c) != std::end(kBlankCharacters);
}

}  // namespace

StopAutomaton::StopAutomaton(std::span<const Stop> stops) {
  std::vector<Trie> trie(1);
  for (std::uint32_t i = 0; i < stops.size(); ++i) add(trie, stops[i], i, stops);
  close(trie, stops);
}

StopAutomaton::State StopAutomaton::grow(std::vector<Trie>& trie, State from, char32_t c) {
  const auto [edge, is_new] = trie[from].next.try_emplace(c, static_cast<State>(trie.size()));
  const State to = edge->second;
  if (is_new) trie.emplace_back();
  return to;
}

/// The state behind white space, which more of it does not leave.
StopAutomaton::State StopAutomaton::grow_blank(std::vector<Trie>& trie, State from) {
  if (trie[from].blank) return from;
  const State to = grow(trie, from, U' ');
  trie[to].blank = true;
  for (const char32_t blank : kBlankCharacters) trie[from].next.try_emplace(blank, to);
  return to;
}

/// Where white space is soft, the text goes on with it and without.
void StopAutomaton::add(std::vector<Trie>& trie, const Stop& stop, std::uint32_t number, std::span<const Stop> stops) {
  std::vector<State> all{kStart};
  const std::vector<std::string_view> words = reply::soft_words(stop.literal);
  for (const std::string_view word : words) {
    const std::size_t ways = &word == &words.front() ? 0 : all.size();
    for (std::size_t i = 0; i < ways && ways <= kMostWays; ++i) all.push_back(grow_blank(trie, all[i]));
    const char* p = word.data();
    const char* const end = p + word.size();
    while (p != end) {
      const auto [c, size] = utf8::decode(p, end);
      for (State& state : all) state = grow(trie, state, c);
      p += size;
    }
  }
  for (const State state : all) {
    std::uint32_t& known = trie[state].stop;
    if (known == kNone || stops[known].target == kNone) known = number;
  }
}

/// A stop that ends where another ends inside of it: the one that goes on counts, or the longer.
void StopAutomaton::close(std::vector<Trie>& trie, std::span<const Stop> stops) {
  edges_.resize(trie.size());
  std::vector<State> order{kStart};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const State state = order[i];
    if (state != kStart) edges_[state] = edges_[trie[state].fail];
    if (trie[state].blank) {
      for (const char32_t blank : kBlankCharacters) edges_[state][blank] = {state, kNone};
    }
    for (const auto& [c, child] : trie[state].next) {
      if (const auto known = edges_[state].find(c);
          known != edges_[state].end() && trie[state].blank && is_blank_character(c))
        continue;
      const Step before = state == kStart ? Step{} : step(trie[state].fail, c);
      trie[child].fail = before.state;
      std::uint32_t& stop = trie[child].stop;
      if (stop == kNone ||
          (stops[stop].target == kNone && before.stop != kNone && stops[before.stop].target != kNone)) {
        stop = before.stop;
      }
      edges_[state][c] = {child, stop};
      if (std::find(order.begin(), order.end(), child) == order.end()) order.push_back(child);
    }
  }
}

}  // namespace parlance::grammar
