// Which marks of a template are text. Begin reading at find_plain_marks.
//
// A mark like <|im_start|> is known by its bars, a special token by the variable that it is the value of. Others
// (<start_of_turn>, [INST]) look like what templates write as text on purpose (<tools>), so they are looked for only
// where one message ends and the next begins, and only if no control token stands next to any message: a template whose
// turns end with one may open them with text.
#include "tokens/plain_marks.h"

#include <algorithm>
#include <functional>

#include "base/ascii.h"
#include "conversation/edit.h"
#include "value/dict.h"

namespace parlance {
namespace {

constexpr std::size_t kLongestMark = 64, kMostMarks = 8;
constexpr std::uint32_t kLongestBorder = 256;  ///< bytes; what is longer says more than that a turn begins

class PlainMarks {
 public:
  PlainMarks(const Rendering& rendering, const Conversation& conversation, EncodedPrompt& into)
      : text_(rendering.text()), spans_(rendering.spans()), conversation_(conversation), into_(into) {}

  void run() {
    for (const Span& span : spans_) {
      if (!span.control) continue;
      if (span.origin == Origin::literal) look_into(span);
      if (span.origin == Origin::input) look_at({span.begin, span.end});
    }
    find_borders();
    if (std::ranges::any_of(edges_, [&](ByteSpan edge) { return has_control(edge); })) return;
    for (const ByteSpan& border : borders_) look_at_border(border);
  }

 private:
  std::string_view of(ByteSpan bytes) const { return text_.substr(bytes.begin, bytes.end - bytes.begin); }

  /// From "<|" to the "|>" behind it, of either kind of bar. Where another mark begins before that, as behind <|turn>,
  /// it is that one's.
  void look_into(const Span& span) {
    const std::string_view bytes = of({span.begin, span.end});
    for (std::size_t at = bytes.find('<'); at != bytes.npos; at = bytes.find('<', at + 1)) {
      for (const std::string_view bar : {"|", "\xEF\xBD\x9C"}) {
        if (!bytes.substr(at + 1).starts_with(bar)) continue;
        const std::string_view mark = bytes.substr(at, kLongestMark);
        const std::size_t close = mark.find(std::string(bar) + ">", 1 + bar.size());
        if (close == mark.npos || mark.substr(1, close).find('<') != mark.npos) continue;
        const std::size_t end = at + close + bar.size() + 1;
        look_at({span.begin + static_cast<std::uint32_t>(at), span.begin + static_cast<std::uint32_t>(end)});
      }
    }
  }

  void look_at(ByteSpan place) {
    std::vector<std::string>& found = into_.told.plain_marks;
    const std::string_view mark = of(place);
    const bool is_mark = !mark.empty() && mark.size() <= kLongestMark && mark.find_first_of(" \n") == mark.npos;
    if (!is_mark || found.size() == kMostMarks || has_control(place)) return;
    if (std::find(found.begin(), found.end(), mark) == found.end()) found.emplace_back(mark);
  }

  bool has_control(ByteSpan place) const {
    auto token =
        std::ranges::upper_bound(into_.tokens, place.begin, {}, [](const EncodedToken& t) { return t.bytes.end; });
    for (; token != into_.tokens.end() && token->bytes.begin < place.end; ++token) {
      if (into_.control.is_control(*token)) return true;
    }
    return false;
  }

  /// Does the span show a message, and not its role alone?
  bool is_of_message(const Span& span) const {
    const Value messages = conversation_.messages();
    if (span.message < 0 || !messages.is_sequence()) return false;
    if (static_cast<std::uint32_t>(span.message) >= messages.list->size) return true;
    const Value role = member_value(messages.list->items[span.message], "role");
    if (!role.is_leaf()) return true;
    const std::string_view text = leaf_text(role);
    return std::less<>()(span.input, text.data()) || !std::less<>()(span.input, text.data() + text.size());
  }

  /// What stands before the first message, between two, and behind the last one.
  void find_borders() {
    std::uint32_t end = 0;
    std::int32_t message = -1;
    for (const Span& span : spans_) {
      if (!is_of_message(span)) continue;
      if (span.message != message) {
        if (message < 0) edges_.push_back({0, 1});  // the token that the prompt begins with
        if (message >= 0) edges_.push_back(first_word({end, span.begin}));
        edges_.push_back(last_word({end, span.begin}));
        add_border({end, span.begin}, message < 0);
      }
      end = span.end;
      message = span.message;
    }
    if (message < 0) return;
    const ByteSpan rest{end, static_cast<std::uint32_t>(text_.size())};
    edges_.push_back(first_word(rest));  // what comes later may open reasoning
    add_border(rest, false);
  }

  static constexpr std::string_view kBlanks = " \t\r\n";

  ByteSpan first_word(ByteSpan place) const {
    const std::string_view bytes = of(place);
    const std::size_t begin = std::min(bytes.find_first_not_of(kBlanks), bytes.size());
    const std::size_t end = std::min(bytes.find_first_of(kBlanks, begin), bytes.size());
    return {place.begin + static_cast<std::uint32_t>(begin), place.begin + static_cast<std::uint32_t>(end)};
  }
  ByteSpan last_word(ByteSpan place) const {
    const std::string_view bytes = of(place);
    const std::size_t end = bytes.find_last_not_of(kBlanks) + 1;  // 0 behind npos
    const std::size_t before = end == 0 ? bytes.npos : bytes.find_last_of(kBlanks, end - 1);
    return {place.begin + static_cast<std::uint32_t>(before + 1), place.begin + static_cast<std::uint32_t>(end)};
  }

  /// Before the first message a template may say much: what is near counts.
  void add_border(ByteSpan place, bool first) {
    if (first && place.end - place.begin > kLongestBorder) place.begin = place.end - kLongestBorder / 4;
    if (place.begin < place.end && place.end - place.begin <= kLongestBorder) borders_.push_back(place);
  }

  /// Each word with brackets in it: <start_of_turn> of "<start_of_turn>user", [|user|], [e~[.
  void look_at_border(ByteSpan border) {
    std::uint32_t at = border.begin;
    while (at < border.end) {
      const std::string_view rest = of({at, border.end});
      const auto size = static_cast<std::uint32_t>(std::min(rest.find_first_of(kBlanks), rest.size()));
      look_at_word({at, at + size});
      at += size + 1;
    }
  }

  void look_at_word(ByteSpan place) {
    const std::string_view word = of(place);
    const std::size_t open = word.find_first_of("<[]");
    if (open == word.npos || word.find('"') != word.npos) return;
    // a mark of its own where brackets fit together, else all up to the last of them
    const std::size_t close = word[open] == '<'   ? word.find('>', open)
                              : word[open] == '[' ? word.find(']', open)
                                                  : word.npos;
    const std::size_t last = close == word.npos ? word.find_last_of("<>[]") : close;
    constexpr std::size_t kShortest = 3;
    const ByteSpan mark{place.begin + static_cast<std::uint32_t>(open),
                        place.begin + static_cast<std::uint32_t>(last) + 1};
    const bool has_letter = std::ranges::any_of(
        of(mark), [](char c) { return ascii::is_alnum(c) || static_cast<unsigned char>(c) >= 0x80; });
    if (mark.end - mark.begin >= kShortest && has_letter) look_at(mark);
    if (mark.end < place.end) look_at_word({mark.end, place.end});
  }

  std::string_view text_;
  std::span<const Span> spans_;
  const Conversation& conversation_;
  EncodedPrompt& into_;
  std::vector<ByteSpan> borders_;
  std::vector<ByteSpan> edges_;  ///< the words of borders that stand next to messages
};

}  // namespace

void find_plain_marks(const Rendering& rendering, const Conversation& conversation, EncodedPrompt& into) {
  PlainMarks(rendering, conversation, into).run();
}

}  // namespace parlance
