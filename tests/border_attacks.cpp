// Border attacks: each control token is taken apart by utf8proc, and put together again across the border.
#include "border_attacks.h"

#include <utf8proc.h>

#include <cstdlib>

namespace parlance::testing {
namespace {

constexpr std::size_t kMostTokens = 48;  // a real tokenizer has hundreds that are alike
/// What joins the letter before it: accents of several classes, the stroke that '<', '=' and '>' take, a final
/// consonant of Hangul, a mark that only NFKC makes one, a joiner, one that nothing composes with.
constexpr const char* kMarks[] = {"\u0301", "\u0323", "\u0327", "\u0338",       "\u11A8",      "\uFF9E",
                                  "\u3099", "\u200D", "\u20E0", "\u0323\u0301", "\u0301\u0323"};

std::string decomposed(const std::string& text, bool compat) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.c_str());
  utf8proc_uint8_t* made = compat ? utf8proc_NFKD(bytes) : utf8proc_NFD(bytes);
  std::string result = made == nullptr ? text : reinterpret_cast<const char*>(made);
  std::free(made);
  return result;
}

/// Where its characters begin but the first.
std::vector<std::size_t> cuts_of(const std::string& text) {
  std::vector<std::size_t> cuts;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) cuts.push_back(at);
  }
  return cuts;
}

bool is_plain(const std::string& text) { return text.find('{') == text.npos && text.find('\'') == text.npos; }

constexpr const char* kContent = "{{ messages[0].content }}";

void add_cuts(const std::string& spelled, std::vector<BorderAttack>& attacks) {
  for (const std::size_t cut : cuts_of(spelled)) {
    if (static_cast<unsigned char>(spelled[cut]) < 0x80) continue;
    const std::string left = spelled.substr(0, cut), right = spelled.substr(cut);
    attacks.push_back({"say " + left + kContent + " more", right, "x"});
    attacks.push_back({"say " + left + kContent + " more", right + "\u0323x", "x"});
    attacks.push_back({"say " + left + "\u0301" + kContent + " more", right, "x"});
    attacks.push_back({std::string("say ") + kContent + right + " more", left, "x "});
    attacks.push_back({std::string("say ") + kContent + right + " more", left + "\u0301", "x "});
    attacks.push_back({std::string("say ") + kContent + "\u0327" + right + " more", left, "x "});
  }
}

}  // namespace

std::vector<BorderAttack> border_attacks(const std::vector<std::string>& control_tokens) {
  std::vector<BorderAttack> attacks;
  for (std::size_t i = 0; i < control_tokens.size() && i < kMostTokens; ++i) {
    const std::string& token = control_tokens[i];
    if (!is_plain(token)) continue;
    add_cuts(decomposed(token, false), attacks);
    add_cuts(decomposed(token, true), attacks);
    for (const char* mark : kMarks) {
      attacks.push_back({"say " + token + kContent + " more", mark, "x"});
      attacks.push_back({"say " + token + kContent + token + " more", std::string(mark) + "ok", "x"});
      attacks.push_back({std::string("say ") + kContent + token + " more", std::string("e") + mark, "x"});
    }
  }
  return attacks;
}

}  // namespace parlance::testing
