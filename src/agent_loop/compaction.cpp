// Leaves turns out. Begin reading at choose_compaction.
#include "agent_loop/compaction.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/utf8.h"

namespace parlance {

namespace {

constexpr std::size_t kMostNamedCalls = 12;
constexpr std::size_t kMostOfACall = 120;
constexpr std::string_view kNoteBegin = "[Here ";
constexpr std::string_view kNoteAfterTurns = " turns were left out, since the context is full. Calls in them:";
constexpr std::string_view kNoteMore = "\nand ", kNoteBefore = " before these";
constexpr std::string_view kNoteEnd = "\nThe turns behind this are the latest.]";
constexpr std::string_view kBetween = "\n\n";  // a message and its note

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

/// A call on one line.
std::string line_of(const ToolCall& call) {
  std::string text = call.arguments_json;
  if (text.size() > kMostOfACall) text = std::string(utf8::whole_prefix(text, kMostOfACall)) + "…";
  std::replace(text.begin(), text.end(), '\n', ' ');
  return call.name + " " + text;
}

/// With the latest calls, as many as there is room for in `most` bytes.
std::string note_of(const LeftOut& left_out, std::size_t most) {
  std::size_t size = 0;
  auto first = left_out.named.end();
  while (first != left_out.named.begin() && size + std::prev(first)->size() < most) size += (--first)->size() + 1;
  const auto named = static_cast<std::size_t>(left_out.named.end() - first);
  std::string note(kNoteBegin);
  note += std::to_string(left_out.turns) + std::string(kNoteAfterTurns);
  for (; first != left_out.named.end(); ++first) note.append("\n").append(*first);
  if (left_out.calls > named) note.append(kNoteMore).append(std::to_string(left_out.calls - named)).append(kNoteBefore);
  return note.append(kNoteEnd);
}

/// What was left out before, and `gone`.
LeftOut with_gone(LeftOut all, std::span<const Message> gone, std::size_t turns) {
  all.turns += turns;
  for (const Message& message : gone) {
    all.calls += message.tool_calls.size();
    for (const ToolCall& call : message.tool_calls) all.named.push_back(line_of(call));
  }
  if (all.named.size() > kMostNamedCalls)
    all.named.erase(all.named.begin(), all.named.end() - static_cast<std::ptrdiff_t>(kMostNamedCalls));
  return all;
}

/// Reads what note_of() writes, behind its begin. Unset: it is something else.
std::optional<LeftOut> read_note(std::string_view note) {
  LeftOut read;
  const char* const behind = std::from_chars(note.data(), note.data() + note.size(), read.turns).ptr;
  note.remove_prefix(static_cast<std::size_t>(behind - note.data()));
  if (!note.starts_with(kNoteAfterTurns)) return std::nullopt;
  note.remove_prefix(kNoteAfterTurns.size());
  note.remove_suffix(std::min(note.size(), kNoteEnd.size()));
  if (note.ends_with(kNoteBefore)) {
    const std::size_t at = note.rfind(kNoteMore);
    if (at == note.npos) return std::nullopt;
    std::from_chars(note.data() + at + kNoteMore.size(), note.data() + note.size(), read.calls);
    note = note.substr(0, at);
  }
  while (!note.empty()) {
    const std::size_t end = std::min(note.find('\n', 1), note.size());
    read.named.emplace_back(note.substr(1, end - 1));
    note.remove_prefix(end);
  }
  read.calls += read.named.size();
  return read;
}

/// The results of the last turn.
std::span<Message> last_results(std::vector<Message>& messages) {
  const std::vector<std::size_t> begins = turn_begins(messages);
  if (begins.size() < 2) return {};
  return std::span(messages).subspan(begins[begins.size() - 2] + 1);
}

/// The text with at most `most` bytes of its begin and its end, and a sentence between them.
std::string cut_in_the_middle(const std::string& text, std::size_t most) {
  const std::string_view begin = utf8::whole_prefix(text, most / 2), end = utf8::whole_suffix(text, most / 2);
  return std::string(begin) + "\n[" + std::to_string(text.size() - begin.size() - end.size()) +
         " bytes are left out here, since the context is full. Print less at once.]\n" + std::string(end);
}

std::size_t weight_of(const std::vector<JsonMember>& members) {
  std::size_t sum = 0;
  for (const JsonMember& member : members) sum += member.name.size() + member.json.size();
  return sum;
}

/// Its last text, at whose end a note of what was left out stands.
std::string& last_text(Message& message) { return message.parts.empty() ? message.content : message.parts.back().text; }

}  // namespace

std::size_t weight_of(const Message& message) {
  constexpr std::size_t kMarkup = 32;
  std::size_t sum = kMarkup + message.content.size() + message.reasoning_content.size();
  for (const ContentPart& part : message.parts) sum += kMarkup + part.text.size() + weight_of(part.members);
  sum += weight_of(message.members);
  for (const ToolCall& call : message.tool_calls) sum += kMarkup + call.name.size() + call.arguments_json.size();
  return sum;
}

std::optional<AgentEvent::Compaction> choose_compaction(std::span<const Message> messages, std::size_t context,
                                                        double bytes_per_token, const LeftOut& earlier) {
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
                                .note = note_of(with_gone(earlier, gone, last - first), budget / 8)};
}

LeftOut take_notes(std::vector<Message>& messages) {
  LeftOut all;
  for (Message& message : messages) {
    std::string& text = last_text(message);
    if (!text.ends_with(kNoteEnd)) continue;
    const std::size_t begin = text.rfind(std::string(kBetween).append(kNoteBegin));
    if (begin == std::string::npos) continue;
    const std::string_view note = std::string_view(text).substr(begin + kBetween.size() + kNoteBegin.size());
    std::optional<LeftOut> read = read_note(note);
    if (!read) continue;
    all.turns += read->turns;
    all.calls += read->calls;
    std::move(read->named.begin(), read->named.end(), std::back_inserter(all.named));
    text.resize(begin);
    if (begin == 0 && !message.parts.empty()) message.parts.pop_back();
  }
  return all;
}

std::optional<AgentEvent::Compaction> shorten_results(std::vector<Message>& messages, std::size_t context,
                                                      double bytes_per_token) {
  constexpr std::size_t kLeast = 400;  // bytes that stay of a result
  const auto budget = static_cast<std::size_t>(static_cast<double>(context) * bytes_per_token / 2);
  const std::size_t before = weight(messages);
  const std::span<Message> results = last_results(messages);
  for (std::size_t now = before; now > budget; now = weight(messages)) {
    const auto largest = std::max_element(results.begin(), results.end(), [](const Message& a, const Message& b) {
      return a.content.size() < b.content.size();
    });
    if (largest == results.end() || largest->content.size() <= 2 * kLeast) break;
    const std::size_t size = largest->content.size();
    largest->content = cut_in_the_middle(largest->content, std::max(kLeast, size - std::min(size, now - budget + 200)));
    if (largest->content.size() >= size) break;
  }
  const std::size_t after = weight(messages);
  if (after == before) return std::nullopt;
  const auto freed = static_cast<std::size_t>(static_cast<double>(before - after) / bytes_per_token);
  return AgentEvent::Compaction{.first = static_cast<std::size_t>(results.data() - messages.data()),
                                .kept_tokens = static_cast<std::size_t>(static_cast<double>(after) / bytes_per_token),
                                .freed_tokens = freed,
                                .note = "results of the last turn were shortened"};
}

void compact(std::vector<Message>& messages, const AgentEvent::Compaction& compaction) {
  const auto begin = messages.begin() + static_cast<std::ptrdiff_t>(compaction.first);
  messages.erase(begin, begin + static_cast<std::ptrdiff_t>(compaction.count));
  Message& before = messages[compaction.first - 1];
  if (!before.parts.empty() && before.parts.back().type != "text") before.parts.push_back({});
  last_text(before).append(kBetween).append(compaction.note);
}

}  // namespace parlance
