// Chooses what a conversation can do without when the context is full.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parlance/agent.h"

namespace parlance {

/// What was left out of a conversation so far, as a note tells it.
struct LeftOut {
  std::size_t turns = 0;
  std::size_t calls = 0;             ///< in them
  std::vector<std::string> named{};  ///< the latest of these, a line each
};

/// What `messages` are left out of, with a token of about `bytes_per_token` bytes: they fit into half of `context`.
/// The beginning stays as it is for as long as it can, since an engine has it in its cache; the last turns stay too,
/// and what lies between goes. A turn is left out as a whole: a call never stands without its result. Unset: there is
/// nothing that could be left out.
/// `earlier`: what was left out before.
std::optional<AgentEvent::Compaction> choose_compaction(std::span<const Message> messages, std::size_t context,
                                                        double bytes_per_token, const LeftOut& earlier = {});
/// Takes out the notes of earlier compactions, so that there is never more than one. Returns what they tell.
LeftOut take_notes(std::vector<Message>& messages);
/// What the last turn's results are shortened to where nothing else can go: the largest first, each in its middle,
/// until goal and last turn fit into half of `context`. Unset: they cannot.
std::optional<AgentEvent::Compaction> shorten_results(std::vector<Message>& messages, std::size_t context,
                                                      double bytes_per_token);
/// Leaves them out, with the note at the end of the message before.
void compact(std::vector<Message>& messages, const AgentEvent::Compaction& compaction);
/// About the bytes of a message in a prompt.
std::size_t weight_of(const Message& message);

}  // namespace parlance
