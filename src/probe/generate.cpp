// Generated turns. Begin reading at Generator::turn.
#include "probe/generate.h"

#include "value/json.h"

namespace parlance::probe {
namespace {

/// What texts are made of: words, and what readers stumble over. No marker of a format is among them.
constexpr std::string_view kPieces[] = {"the answer", " is ", "42", "\n", "\n\n", " ", "é", "日本", "😀", "\"quoted\"", "it's", "\\n",
                                        "{\"a\": 1}", "[1, 2]", "a < b", "x & y", "`code`", "# title", "1.50", "true", "null", "C:\\dir", "\t"};
constexpr std::string_view kValues[] = {"\"zq_text\"", "\"\"", "\"two\\nlines\"", "\"say \\\"hi\\\"\"", "\"42\"", "\"true\"", "\"é 😀\"", "\"a < b & c\"", "\"it's\"",
                                        "\"C:\\\\dir\"", "\" lead\"", "\"trail \""};
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

/// splitmix64
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

std::string Generator::arguments() {
  std::string out = "{";
  const auto add = [&](std::string_view key, std::string_view value) {
    if (out.size() > 1) out += ", ";
    out.append("\"").append(key).append("\": ").append(value);
  };
  const std::size_t values = can_.escapes_text ? std::size(kValues) : 1;  // the first is plain
  if (below(8) != 0) add(kKeyA, kValues[below(values)]);
  if (below(3) == 0) add(kKeyB, kValues[below(values)]);
  for (const TypedKey& typed : kTyped) {
    if (below(5) == 0) add(typed.key, typed.values[below(3)]);
  }
  return out + "}";
}

Scene Generator::turn() {
  Scene scene;
  scene.content = text(6);
  const bool calls = can_.calls && below(2) == 0;
  const bool reasons = calls ? can_.reasoning_with_calls : can_.reasoning_with_text;
  if (reasons && below(2) == 0) {
    scene.reasoning = text(6);
    scene.reasoning_key = can_.reasoning_key;
  }
  if (!calls) return scene;
  if (!can_.content_with_calls || below(2) == 0) scene.content.reset();
  scene.calls = plain_calls(parallel_ ? 1 + below(3) : 1);
  for (SceneCall& call : scene.calls) call.arguments = arguments();
  return scene;
}

}  // namespace parlance::probe
