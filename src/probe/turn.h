// TurnFacts: how an assistant's turn begins and ends. Begin reading at find_turn.
//
//     asks for a reply   <user>zq asks something<end>⏎<assistant>
//     has an answer      <user>zq asks something<end>⏎<assistant>zq answers this<end>⏎
//
// Up to where the two part is the header; behind the answer stands what ends a turn. It is looked at as the last turn
// and before another one, since some templates close only those that something follows.
#pragma once
#include <string>
#include <vector>

#include "probe/probe_request.h"

namespace parlance::probe {

struct TurnFacts {
  bool found = false;          ///< an answer shows
  std::size_t close = 0;       ///< bytes behind the user's text that end the user's turn
  std::size_t header = 0;      ///< and those up to where the turns of the assistant differ
  std::string opener;          ///< of the assistant's turn: the end of the header
  std::string prompt;          ///< what a prompt for a reply ends with, from the opener on
  std::string before_content;  ///< between the header and an answer
  std::string after_content;   ///< behind the last answer, up to the end of the turn
  std::vector<std::string> ends;
};

/// Sets prober.convention to the content that the template shows. False where it shows none.
bool choose_content(Prober& prober);
/// Chooses how content is handed over, and looks at an answer.
TurnFacts find_turn(Prober& prober);

/// Why no answer shows, as a sentence: what the template ran into, or what its prompt lacks, and the name that it may
/// have meant.
std::string why_no_answer(Prober& prober);

/// How many bytes of a turn are its header, where it begins with all of it: templates may write a line's end more or
/// less before it in turns with calls. 0: it does not.
std::size_t header_size(const TurnFacts& turn, std::string_view text);

/// Where a turn with calls differs from an answer already inside the header, the header ends before.
void shorten_header(TurnFacts& turn, const Shot& calls);

/// The part of `text` behind the last end of a turn in it.
std::string behind_last_end(const TurnFacts& turn, std::string_view text);
/// The prompt of a shot with a generation prompt, from the assistant's opener on.
std::string reply_prompt(const TurnFacts& turn, const Shot& shot);

}  // namespace parlance::probe
