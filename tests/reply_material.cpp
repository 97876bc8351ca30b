// Events as values, and the laws. Begin reading at broken_law.
#include "reply_material.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>

#include "parlance/json.h"
#include "parlance/source.h"

namespace parlance::testing {
namespace {

bool joins(ReplyEvent::Kind kind) { return kind <= ReplyEvent::Kind::trailing; }

/// The calls of `events` are whole where they say so.
std::string broken_call(const Events& events) {
  using Kind = ReplyEvent::Kind;
  std::string arguments;
  bool open = false;
  for (const Event& event : events) {
    if (event.kind == Kind::call_begin) {
      if (open) return "a call begins inside another";
      if (event.text.empty()) return "a call without a name";
      open = true;
      arguments.clear();
    }
    if (event.kind == Kind::arguments) arguments += event.text;
    if ((event.kind == Kind::arguments || event.kind == Kind::call_end) && !open) return "a piece of no call";
    if (event.kind != Kind::call_end) continue;
    open = false;
    Document document;
    if (event.complete && (!document.parse(arguments) || !document.root().is(parlance::Kind::dict))) {
      return "complete, but no object: " + arguments;
    }
  }
  return open ? "a call without an end" : "";
}

std::string first_difference(const Events& whole, const Events& cut) {
  std::size_t i = 0;
  while (i < whole.size() && i < cut.size() && whole[i] == cut[i]) ++i;
  std::ostringstream out;
  out << ": ";
  if (i < whole.size()) PrintTo(whole[i], &out);
  out << " is ";
  if (i < cut.size()) PrintTo(cut[i], &out);
  return out.str();
}

}  // namespace

void PrintTo(const Event& event, std::ostream* out) {
  *out << name_of(event.kind) << " at " << event.position << " '" << event.source << "' means '" << event.text << "' ("
       << event.detail << ")" << (event.complete ? " complete" : "");
}

void Recorder::add(const ReplyEvent& event) {
  const bool has_place = event.kind != ReplyEvent::Kind::malformed;
  if (has_place && event.position != position_) fault_ = "an event is not where the last one ended";
  if (!has_place && event.position < position_) fault_ = "a fault lies behind";
  position_ += event.source.size();
  if (joins(event.kind) && !events_.empty() && events_.back().kind == event.kind && events_.back().call == event.call) {
    events_.back().source += event.source;
    events_.back().text += event.text;
    return;
  }
  events_.push_back({event.kind, event.complete, event.call, event.form, event.position, std::string(event.source),
                     std::string(event.text), std::string(event.detail)});
}

const ReplyFormat& format_of(std::string_view name) {
  static std::map<std::string, ReplyFormat, std::less<>> formats;
  const auto there = formats.find(name);
  if (there != formats.end()) return there->second;
  return formats.emplace(name, *ReplyFormat::from_json(find_format(name)->reply)).first->second;
}

Events read_cut(const ReplyFormat& format, std::string_view reply, const std::vector<std::size_t>& cuts,
                const ReplyOptions& options) {
  Recorder recorder;
  ReplyParser parser = *ReplyParser::make(format, options);
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    parser.feed(reply.substr(from, cut - from), recorder.sink());
    from = cut;
  }
  parser.feed(reply.substr(from), recorder.sink());
  parser.finish(recorder.sink());
  return recorder.events();
}

Events read_whole(const ReplyFormat& format, std::string_view reply, const ReplyOptions& options) {
  return read_cut(format, reply, {}, options);
}

Events read_sized(const ReplyFormat& format, std::string_view reply, std::size_t size, const ReplyOptions& options) {
  std::vector<std::size_t> cuts;
  for (std::size_t cut = size; cut < reply.size(); cut += size) cuts.push_back(cut);
  return read_cut(format, reply, cuts, options);
}

std::string random_reply(std::mt19937_64& random) {
  static constexpr std::string_view kPieces[] = {"<think>",
                                                 "</think>",
                                                 "<tool_call>",
                                                 "</tool_call>",
                                                 "\n",
                                                 "\n\n",
                                                 " ",
                                                 "{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 "\"name\"",
                                                 "\"tool_name\"",
                                                 "\"arguments\"",
                                                 "\"parameters\"",
                                                 ": ",
                                                 ", ",
                                                 "\"f\"",
                                                 "\"é😀\"",
                                                 "\\u00e9",
                                                 "\\",
                                                 "\"",
                                                 "'",
                                                 "\"\"\"",
                                                 "1",
                                                 "-2.5e3",
                                                 "null",
                                                 "None",
                                                 "True",
                                                 "<|im_end|>",
                                                 "<_end>",
                                                 "<|eot_id|>",
                                                 "<|END_OF_TURN_TOKEN|>",
                                                 "Action: ```json\n",
                                                 "```",
                                                 "\n```\n",
                                                 "```python\n",
                                                 "tool_call(",
                                                 "a=",
                                                 ")",
                                                 "(",
                                                 "interpreter",
                                                 "<|assistant|>",
                                                 "<|user|>",
                                                 "<|observation|>",
                                                 "\xff",
                                                 "\xe4\xb8",
                                                 "中",
                                                 "x",
                                                 "word ",
                                                 "{\"name\": \"f\", \"arguments\": {\"a\": \"b\"}}",
                                                 "#",
                                                 "\r",
                                                 std::string_view("\0", 1)};
  std::string reply;
  for (std::size_t left = random() % 24; left > 0; --left) reply += kPieces[random() % std::size(kPieces)];
  return reply;
}

std::string random_reply(const ReplyFormat& format, std::mt19937_64& random) {
  std::vector<std::string> pieces{"get_weather",    "now", "\"name\": ", "city",  "days",      "3", "true", "{}",
                                  "{\"a\": \"b\"}", "(",   ")",          "k='v'", "functions."};
  const auto add = [&pieces](const ReplyMarker& marker) {
    for (const std::string& text : marker.texts) pieces.push_back(marker.before + text + marker.after);
  };
  for (const ReplyMarker* marker :
       {&format.reasoning_open, &format.reasoning_close, &format.content_open, &format.content_close})
    add(*marker);
  for (const ReplyMarker& marker : format.end) add(marker);
  for (const CallForm& form : format.calls) {
    add(form.open);
    add(form.close);
    for (const CallPart& part : form.call) {
      add(part.literal);
      for (const ReplyMarker* marker : {&part.arguments.tags.open, &part.arguments.tags.key_close,
                                        &part.arguments.tags.type_close, &part.arguments.tags.close})
        add(*marker);
    }
  }
  std::string reply;
  for (std::size_t left = random() % 24; left > 0; --left)
    reply += random() % 4 == 0 ? random_reply(random).substr(0, 20) : pieces[random() % pieces.size()];
  return reply;
}

std::string mutated(std::string reply, std::mt19937_64& random) {
  for (std::size_t left = 1 + random() % 3; left > 0; --left) {
    const std::size_t at = reply.empty() ? 0 : random() % reply.size();
    const std::size_t size = std::min<std::size_t>(random() % 8, reply.size() - at);
    switch (random() % 5) {
      case 0: reply.erase(at, size); break;
      case 1: reply.insert(at, reply.substr(at, size)); break;
      case 2: reply.insert(at, 1, static_cast<char>(random() % 256)); break;
      case 3: reply.insert(at, random_reply(random).substr(0, 12)); break;
      default:
        if (!reply.empty()) reply[at] = static_cast<char>(random() % 128);
        break;
    }
  }
  return reply;
}

std::string broken_law(const ReplyFormat& format, const std::string& reply, std::mt19937_64& random,
                       const ReplyOptions& options) {
  Recorder recorder;
  ReplyParser parser = *ReplyParser::make(format, options);
  parser.feed(reply, recorder.sink());
  parser.finish(recorder.sink());
  if (!recorder.fault().empty()) return recorder.fault();
  if (parser.held() != 0) return "bytes are held at the end";
  std::string sources;
  for (const Event& event : recorder.events()) sources += event.source;
  if (sources != reply) return "the events are not the reply, but: " + sources;
  if (const std::string fault = broken_call(recorder.events()); !fault.empty()) return fault;
  if (const Events bytes = read_sized(format, reply, 1, options); bytes != recorder.events())
    return "byte by byte it reads otherwise" + first_difference(recorder.events(), bytes);
  for (int round = 0; round < 4; ++round) {
    std::vector<std::size_t> cuts;
    for (std::size_t left = random() % 6; left > 0; --left) cuts.push_back(random() % (reply.size() + 1));
    std::sort(cuts.begin(), cuts.end());
    if (read_cut(format, reply, cuts, options) != recorder.events()) return "in pieces it reads otherwise";
  }
  return "";
}

}  // namespace parlance::testing
