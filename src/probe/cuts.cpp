// Many texts are put into one answer, with a word between each two: where the words and the texts come out as they went
// in, none of the texts is a cut. Those beside a change are tried alone. Begin reading at find_cuts.
#include "probe/cuts.h"

#include <algorithm>

#include "base/ascii.h"
#include "probe/prompt_diff.h"

namespace parlance::probe {
namespace {

constexpr std::size_t kMostTexts = 64;
constexpr std::size_t kLongestText = 48;
constexpr std::size_t kMostRounds = 4;    ///< a cut hides those before it
constexpr std::size_t kMostRefused = 16;  ///< experiments that look for texts which a template refuses
constexpr std::size_t kMostSuspects = 6;

bool is_foreign(char c) { return static_cast<unsigned char>(c) >= 0x80; }
using ascii::is_digit;
using ascii::is_letter;
bool is_one_of(std::string_view characters, char c) { return characters.find(c) != characters.npos; }

/// Letters, and something that words have not.
bool may_be_marker(std::string_view text) {
  if (is_blank(text) || text.size() > kLongestText || trimmed(text).find('\n') != text.npos) return false;
  const auto is_of_words = [](char c) { return is_letter(c) || is_digit(c) || is_space(c) || is_one_of("_-.,", c); };
  const bool has_letter = std::any_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_foreign(c); });
  return has_letter && !std::all_of(text.begin(), text.end(), is_of_words);
}

void add_marker(std::vector<std::string>& texts, std::string_view text) {
  if (texts.size() < kMostTexts && may_be_marker(text) && std::find(texts.begin(), texts.end(), text) == texts.end())
    texts.emplace_back(text);
}

/// Constants as they are, since a template may cut with the white space round a tag, and the tags in them.
std::vector<std::string> candidates(const TemplateFacts& facts) {
  std::vector<std::string> found;
  for (const std::string& text : facts.texts) {
    add_marker(found, text);
    for (const Tag& tag : tags_of(text))
      add_marker(found, std::string_view(text).substr(tag.begin, tag.end - tag.begin));
  }
  return found;
}

std::string word(std::size_t index) { return "zqw" + std::to_string(index) + "z"; }

class CutSearch {
 public:
  explicit CutSearch(Prober& prober) : prober_(prober), left_(candidates(prober.facts())) {}

  std::vector<Cut> run() {
    drop_refused();
    for (std::size_t round = 0; round < kMostRounds && !left_.empty(); ++round) {
      std::vector<std::string> changed = suspects(left_, take_all(left_));
      if (changed.empty()) break;
      std::stable_sort(changed.begin(), changed.end(),
                       [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
      for (const std::string& text : changed) {
        std::erase(left_, text);
        if (suspects_.size() < kMostSuspects) suspects_.push_back(text);
      }
      for (const std::string& text : changed) prove(text);
    }
    return std::move(found_);
  }

 private:
  const Shot& take(std::string content) { return prober_.take({.content = std::move(content), .next = Next::user}); }

  const Shot& take_all(const std::vector<std::string>& texts) {
    std::string content = word(0);
    for (std::size_t i = 0; i < texts.size(); ++i) content.append(" ").append(texts[i]).append(" ").append(word(i + 1));
    return take(std::move(content));
  }

  /// Templates may raise where content holds a marker: then it never does.
  void drop_refused() {
    if (left_.empty() || take_all(left_)) return;
    std::vector<std::string> kept;
    std::size_t tried = 0;
    keep_taken(left_, kept, tried);
    left_ = std::move(kept);
  }
  void keep_taken(const std::vector<std::string>& texts, std::vector<std::string>& kept, std::size_t& tried) {
    if (texts.size() == 1 || ++tried > kMostRefused) return;
    const auto middle = texts.begin() + static_cast<std::ptrdiff_t>(texts.size() / 2);
    for (const std::vector<std::string>& half :
         {std::vector(texts.begin(), middle), std::vector(middle, texts.end())}) {
      if (take_all(half)) {
        kept.insert(kept.end(), half.begin(), half.end());
      } else {
        keep_taken(half, kept, tried);
      }
    }
  }

  /// The texts that stand otherwise between their words than they were put there.
  static std::vector<std::string> suspects(const std::vector<std::string>& texts, const Shot& shot) {
    std::vector<std::string> found;
    if (!shot) return found;
    const auto shows = [&](std::string_view text) { return shot.text.find(text) != std::string::npos; };
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool left = shows(word(i)), right = shows(word(i + 1));
      if ((left || right) && !shows(word(i) + " " + texts[i] + " " + word(i + 1))) found.push_back(texts[i]);
    }
    return found;
  }

  void prove(const std::string& close) {
    const auto holds = [&](const Cut& cut) { return close.find(cut.close) != std::string::npos; };
    if (std::any_of(found_.begin(), found_.end(), holds)) return;  // a longer text with a cut in it
    if (cuts("", close)) return add_cut("", close);
    for (const std::string& open : suspects_) {
      if (open != close && cuts(open + " ", close)) return add_cut(open, close);
    }
  }

  void add_cut(std::string_view open, std::string_view close) {
    Cut cut{std::string(trimmed(open)), std::string(trimmed(close))};
    std::erase_if(found_, [&](const Cut& one) { return one.close.find(cut.close) != std::string::npos; });
    found_.push_back(std::move(cut));
  }

  /// What stands behind the last user's text but one, up to `end`.
  static std::string_view before(const Shot& shot, std::string_view end) {
    const std::size_t user = shot.text.find(kUser);
    const std::size_t at = shot.text.find(end, user == std::string::npos ? 0 : user);
    return user == std::string::npos || at == std::string::npos ? std::string_view()
                                                                : std::string_view(shot.text).substr(user, at - user);
  }

  /// Whether reasoning before `close` is lost, or stands behind more than answers do, and the answer behind it is
  /// there.
  bool cuts(std::string_view open, std::string_view close) {
    std::string content(open);
    content.append(kReasoning).append(" ").append(close).append(" ").append(kContent);
    const Shot& shot = take(std::move(content));
    if (!shot || shot.text.find(kContent) == std::string::npos) return false;
    if (shot.text.find(kReasoning) == std::string::npos) return true;
    const Shot& plain = prober_.take({.next = Next::user});
    return open.empty() && plain && before(shot, kReasoning) != before(plain, kContent);
  }

  Prober& prober_;
  std::vector<std::string> left_;
  std::vector<std::string> suspects_;  ///< all so far: a cut may need one of them before it
  std::vector<Cut> found_;
};

/// The name in <name> or [name], or in </name> and [/name]; "" of texts that are no such tag.
std::string_view tag_name(std::string_view tag, bool closing) {
  const std::size_t open = closing ? 2 : 1;
  if (tag.size() < open + 2 || (tag.front() != '<' && tag.front() != '[') ||
      tag.back() != (tag.front() == '<' ? '>' : ']'))
    return {};
  if (closing && tag[1] != '/') return {};
  const std::string_view name = tag.substr(open, tag.size() - open - 1);
  const bool is_name =
      std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c) || is_one_of("_-:.", c); });
  return is_name && is_letter(name.front()) ? name : std::string_view();
}

}  // namespace

std::vector<Cut> find_cuts(Prober& prober) { return CutSearch(prober).run(); }

std::string plain_closing(std::string_view open) {
  const std::string_view name = tag_name(open, false);
  return name.empty() ? std::string() : std::string(1, open.front()) + "/" + std::string(name) + open.back();
}

std::string plain_opening(std::string_view close) {
  const std::string_view name = tag_name(close, true);
  return name.empty() ? std::string() : std::string(1, close.front()) + std::string(name) + close.back();
}

}  // namespace parlance::probe
