// Source: transformers 5.24.0, convert_slow_tokenizer.py (SpmConverter.build_tokenizer_from_spm_proto).
#include "tokenizers/sentencepiece_steps.h"

#include <algorithm>
#include <cstdio>

#include "base/base64.h"

namespace parlance {
namespace {

/// A text as a regular expression that matches it alone.
std::string pattern_of(std::string_view text) {
  constexpr std::string_view kOfPatterns = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f";
  std::string pattern;
  for (const char c : text) {
    if (kOfPatterns.find(c) != kOfPatterns.npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

void append_json_text(std::string& json, std::string_view text) {
  json += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json.append(1, '\\').append(1, c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      json += escaped;
    } else {
      json += c;
    }
  }
  json += '"';
}

std::string blank_in_front(std::string_view scheme) {
  return R"({"type":"Metaspace","replacement":"▁","prepend_scheme":")" + std::string(scheme) + R"(","split":false})";
}

std::string normalizer_of(const SpModel& model, bool is_legacy) {
  std::string steps;
  const auto replace = [&](std::string_view kind, std::string_view what, std::string_view by) {
    steps += R"(,{"type":"Replace","pattern":{")" + std::string(kind) + R"(":)";
    append_json_text(steps, what);
    steps += R"(},"content":)";
    append_json_text(steps, by);
    steps += '}';
  };
  if (!model.charsmap.empty())
    steps += R"(,{"type":"Precompiled","precompiled_charsmap":")" + encode_base64(model.charsmap) + R"("})";
  if (model.remove_extra_whitespaces) {
    replace("Regex", R"(\A +| +\z)", "");
    replace("Regex", " {2,}", " ");
  }
  if (model.escape_whitespaces) replace("String", " ", "▁");
  // Metaspace writes no blank before one that is there; SentencePiece does.
  if (model.add_dummy_prefix && is_legacy) replace("Regex", R"(\A▁)", "▁▁");
  return R"({"type":"Sequence","normalizers":[)" + steps.substr(steps.empty() ? 0 : 1) + "]}";
}

std::string pre_tokenizer_of(const SpModel& model, bool is_legacy, std::vector<std::string> user_defined) {
  std::string steps = model.add_dummy_prefix ? blank_in_front(is_legacy ? "always" : "first") : "";
  std::stable_sort(user_defined.begin(), user_defined.end(),
                   [](const std::string& a, const std::string& b) { return characters_in(a) > characters_in(b); });
  std::string pattern;
  for (const std::string& text : user_defined) pattern += (pattern.empty() ? "" : "|") + pattern_of(text);
  if (!user_defined.empty()) {
    steps += std::string(steps.empty() ? "" : ",") + R"({"type":"Split","pattern":{"Regex":)";
    append_json_text(steps, pattern);
    steps += R"(},"behavior":"Isolated","invert":false})";
  }
  return steps.empty() ? "null" : R"({"type":"Sequence","pretokenizers":[)" + steps + "]}";
}

}  // namespace parlance
