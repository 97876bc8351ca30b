// What a verdict has to stand: everything that experiments showed is held against the format. Begin reading at hold.
//
// Reading back the probes' turns is not enough, since a prompt may open what no turn of the history shows (`<think>`
// under a setting), and a template may cut turns at a text of which the format knows nothing. A format that disagrees
// with any of it may be right for most replies, and is called partial, since nobody can tell which.
#pragma once
#include <string>
#include <vector>

#include "probe/read_back.h"
#include "probe/reasoning.h"
#include "probe/verify.h"

namespace parlance::probe {

/// What experiments have shown of a template, whatever the format is.
struct Seen {
  const TurnFacts& turn;
  const FoundReasoning& reasoning;
  const std::vector<Cut>& cuts;
  Next next = Next::nothing;  ///< what has to follow calls, so that they show
};

/// Turns of each kind that the format says to have (write_turns), and an answer and a call under each setting of
/// thinking.
std::vector<WrittenTurn> write_all(Prober& prober, const Seen& seen, const DerivedFormat& derived);
/// read_turns(), with a line in `derived.tried` for each.
void read_all(const std::vector<WrittenTurn>& turns, const TurnFacts& turn, DerivedFormat& derived);

/// Adds to `derived.missing` what prompts open and the format does not know, replies to such prompts that are not read
/// as they are meant, and texts that turns are cut at and the format does not know; to `derived.tried`, what was held
/// against it.
void hold(const TurnFacts& turn, const std::vector<Cut>& cuts, DerivedFormat& derived);

/// What the template writes of a scene under a setting, behind the turn's opener; "" where that does not stand there.
std::string_view body_under(const TurnFacts& turn, const Shot& shot);
/// How a reply to the prompt, of the format's own markers, is read otherwise than it is meant; nothing where it is not.
/// `reader` is for replies to such prompts.
std::vector<std::string> faults_of_reply(const ReadBack& reader, const ReplyFormat& format, const ThinkingStart& start,
                                         const std::string& reasoning, const std::string& content);

/// "by default", or "enable_thinking = true".
std::string name_of_start(const ThinkingStart& start);

}  // namespace parlance::probe
