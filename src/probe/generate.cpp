// Generated turns. Begin reading at Generator::turn.
#include "probe/generate.h"

#include <algorithm>

#include "json/writer.h"
#include "probe/prompt_diff.h"

namespace parlance::probe {
namespace {

/// What texts are made of: words, and what readers stumble over. No marker of a format is among them.
constexpr std::string_view kPieces[] = {
    "the answer", " is ",   "42",    "\n",    "\n\n",   " ",       "é",    "日本", "😀",   "\"quoted\"", "it's", "\\n",
    "{\"a\": 1}", "[1, 2]", "a < b", "x & y", "`code`", "# title", "1.50", "true", "null", "C:\\dir",    "\t"};
/// As JSON. Most have something that a notation of arguments must escape, or that reads as another type: "42" and
/// "true" are texts here.
constexpr std::string_view kValues[] = {"\"zq_text\"", "\"\"",          "\"two\\nlines\"", "\"say \\\"hi\\\"\"",
                                        "\"42\"",      "\"true\"",      "\"é 😀\"",        "\"a < b & c\"",
                                        "\"it's\"",    "\"C:\\\\dir\"", "\" lead\"",       "\"trail \""};
struct TypedKey {
  std::string_view key;
  std::string_view values[3];
};
constexpr TypedKey kTyped[] = {{"zqkey_i", {"0", "-7", "4096"}},
                               {"zqkey_n", {"1.5", "-0.25", "2.75"}},
                               {"zqkey_t", {"true", "false", "true"}},
                               {"zqkey_l", {"[]", "[\"a\", \"b\"]", "[\"x y\"]"}},
                               {"zqkey_o", {"{}", "{\"k\": \"v\"}", "{\"k\": \"it is\"}"}}};

}  // namespace

std::vector<std::string> markers_of_calls(const ReplyFormat& format) {
  std::vector<std::string> all;
  const auto add = [&all](const ReplyMarker& marker) {
    if (!marker.exists()) return;
    std::string_view rest = marker.texts.front();
    while (!rest.empty()) {  // tag by tag
      const std::size_t end = rest.find('>');
      const std::size_t next = end == rest.npos ? rest.npos : rest.find('<', end);
      if (!is_blank(rest.substr(0, next))) all.emplace_back(trimmed(rest.substr(0, next)));
      rest.remove_prefix(std::min(next, rest.size()));
    }
  };
  for (const CallForm& form : format.calls) {
    add(form.open);
    add(form.close);
    for (const CallPart& part : form.call) {
      add(part.literal);
      const ArgumentTags& tags = part.arguments.tags;
      for (const ReplyMarker* marker : {&tags.open, &tags.key_close, &tags.type_close, &tags.close}) add(*marker);
    }
  }
  return all;
}

/// splitmix64
/// The same seed gives the same turns on every system, which std::uniform_int_distribution does not promise.
std::size_t Generator::below(std::size_t count) {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<std::size_t>((z ^ (z >> 31)) % count);
}

std::string Generator::text(std::size_t most) {
  std::string out = "zq";
  for (std::size_t i = below(most) + 1; i-- > 0;) out += kPieces[below(std::size(kPieces))];
  return out + " end";
}

/// As JSON: awkward, or with a marker inside, on a line of its own, or at the end.
std::string Generator::value() {
  if (!can_.escapes_text) return std::string(kValues[0]);
  if (markers_.empty() || below(3) != 0) return std::string(kValues[below(std::size(kValues))]);
  const std::string& marker = markers_[below(markers_.size())];
  const std::size_t shape = below(3);
  return json_string(shape == 0 ? "a " + marker + " b" : shape == 1 ? "a\n" + marker + "\nb" : "a " + marker);
}

/// `typed`: for the first tool, which alone declares more than texts.
std::string Generator::arguments(bool typed) {
  Json json('{');
  if (below(8) != 0) json.raw(kKeyA, value());
  if (below(3) == 0) json.raw(kKeyB, value());
  for (const TypedKey& one : kTyped) {
    if (typed && below(3) == 0) json.raw(one.key, one.values[below(3)]);
  }
  return json.take();
}

Scene Generator::turn() {
  Scene scene;
  scene.content = text(6);
  const bool calls = can_.calls && below(2) == 0;
  const bool reasons = calls ? can_.reasoning_with_calls : can_.reasoning_with_text;
  if (reasons && below(2) == 0) {
    scene.reasoning = "zqr " + text(6);  // never the same as the content
    scene.reasoning_key = can_.reasoning_key;
  }
  if (!calls) return scene;
  if (!can_.content_with_calls || !can_.calls_behind_content || below(2) == 0) scene.content.reset();
  scene.calls = plain_calls(parallel_ ? 1 + below(3) : 1);
  for (SceneCall& call : scene.calls) {
    const bool typed = below(2) == 0;
    if (typed) call.name = std::string(kTools[0]);
    call.arguments = arguments(typed || call.name == kTools[0]);
  }
  return scene;
}

}  // namespace parlance::probe
