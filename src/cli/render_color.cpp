// --color: a prompt on a terminal, each origin in its colour, and a legend of the colours that
// occur.
#include <array>

#include "cli/segments.h"

namespace parlance::cli {
namespace {

/// SGR codes in the order of Hue; every terminal has these.
constexpr std::array<std::string_view, 8> kCodes = {"2", "1;35", "36", "32", "34", "33", "31", "2;3"};
constexpr std::string_view kDerived = "4";  // underlined besides its hue

void begin(std::string& out, Hue hue, bool derived) {
  out.append("\x1b[").append(kCodes[static_cast<std::size_t>(hue)]);
  if (derived) out.append(";").append(kDerived);
  out += 'm';
}

/// Colours end before a newline and begin again after it, so that pagers show each line alone.
void append_lines(std::string& out, std::string_view text, Hue hue, bool derived) {
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    if (newline != 0) {
      begin(out, hue, derived);
      append_segment(out, text.substr(0, newline), false);
      out += "\x1b[0m";
    }
    if (newline == text.npos) return;
    out += '\n';
    text.remove_prefix(newline + 1);
  }
}

}  // namespace

std::string render_color(const Conversation& conversation, const Rendering& rendering) {
  std::string out;
  std::array<bool, kCodes.size()> used{};
  bool any_derived = false;
  for (const Span& span : rendering.spans()) {
    const Hue hue = hue_of(conversation, span);
    const bool derived = span.origin == Origin::derived;
    used[static_cast<std::size_t>(hue)] = true;
    any_derived = any_derived || derived;
    append_lines(out, rendering.text().substr(span.begin, span.end - span.begin), hue, derived);
  }
  if (out.empty() || out.back() != '\n') out += '\n';
  out += '\n';
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    append_lines(out, hue_name(static_cast<Hue>(i)), static_cast<Hue>(i), false);
    out += "  ";
  }
  if (any_derived) out += "\x1b[4mderived\x1b[0m";
  out += '\n';
  return out;
}

}  // namespace parlance::cli
