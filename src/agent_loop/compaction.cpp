// Leaves turns out. Begin reading at choose_compaction.
#include "agent_loop/compaction.h"

#include <algorithm>

#include "base/utf8.h"

namespace parlance {

namespace {

constexpr std::size_t kMostNamedCalls = 12;
constexpr std::size_t kMostOfACall = 120;

/// Where turns begin, each with a message of the model; behind the last, the end.
std::vector<std::size_t> turn_begins(std::span<const Message> messages) {
  std::vector<std::size_t> begins;
  for (std::size_t at = 0; at < messages.size(); ++at)
    if (messages[at].role == "assistant") begins.push_back(at);
  begins.push_back(messages.size());
  return begins;
}

std::size_t weight(std::span<const Message> messages) {
  std::size_t sum = 0;
  for (const Message& message : messages) sum += weight_of(message);
  return sum;
}

std::string shortened(const std::string& text) {
  if (text.size() <= kMostOfACall) return text;
  return std::string(utf8::whole_prefix(text, kMostOfACall)) + "…";
}

std::string note_of(std::span<const Message> left_out, std::size_t turns) {
  std::string note =
      "[Here " + std::to_string(turns) + " turns were left out, since the context is full. Calls in them:";
  std::size_t calls = 0;
  for (const Message& message : left_out) {
    for (const ToolCall& call : message.tool_calls) {
      if (++calls > kMostNamedCalls) continue;
      note += "\n" + call.name + " " + shortened(call.arguments_json);
    }
  }
  if (calls > kMostNamedCalls) note += "\nand " + std::to_string(calls - kMostNamedCalls) + " more";
  return note + "\nThe turns behind this are the latest.]";
}

}  // namespace

std::size_t weight_of(const Message& message) {
  constexpr std::size_t kMarkup = 32;
  std::size_t sum = kMarkup + message.content.size() + message.reasoning_content.size();
  for (const ToolCall& call : message.tool_calls) sum += kMarkup + call.name.size() + call.arguments_json.size();
  return sum;
}

std::optional<AgentEvent::Compaction> choose_compaction(std::span<const Message> messages, std::size_t context,
                                                        double bytes_per_token) {
  const auto budget = static_cast<std::size_t>(static_cast<double>(context) * bytes_per_token / 2);
  const std::vector<std::size_t> begins = turn_begins(messages);
  if (begins.size() < 3) return std::nullopt;  // the last turn stays, and there is none before it
  std::size_t last = begins.size() - 2;        // the first turn of those that stay at the end
  const std::size_t goal = weight(messages.first(begins.front()));
  std::size_t used = goal + weight(messages.subspan(begins[last]));
  while (last > 1 &&
         used - goal + weight(messages.subspan(begins[last - 1], begins[last] - begins[last - 1])) < budget / 2) {
    --last;
    used += weight(messages.subspan(begins[last], begins[last + 1] - begins[last]));
  }
  std::size_t first = 0;  // the first turn that goes
  while (first + 1 < last) {
    const std::size_t more = weight(messages.subspan(begins[first], begins[first + 1] - begins[first]));
    if (used + more > budget) break;
    used += more;
    ++first;
  }
  if (first >= last) return std::nullopt;
  const std::span<const Message> gone = messages.subspan(begins[first], begins[last] - begins[first]);
  const auto tokens = [&](std::size_t bytes) {
    return static_cast<std::size_t>(static_cast<double>(bytes) / bytes_per_token);
  };
  return AgentEvent::Compaction{.first = begins[first],
                                .count = gone.size(),
                                .kept_tokens = tokens(weight(messages.first(begins[first]))),
                                .freed_tokens = tokens(weight(gone)),
                                .note = note_of(gone, last - first)};
}

void compact(std::vector<Message>& messages, const AgentEvent::Compaction& compaction) {
  const auto begin = messages.begin() + static_cast<std::ptrdiff_t>(compaction.first);
  messages.erase(begin, begin + static_cast<std::ptrdiff_t>(compaction.count));
  messages[compaction.first - 1].content += "\n\n" + compaction.note;
}

}  // namespace parlance
