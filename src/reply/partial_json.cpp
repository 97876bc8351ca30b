// Closing the beginning of a JSON text. Begin reading at Beginning::take.
//
// After each byte it is known how much of the text may stand (kept_) and which brackets are open there. Brackets change
// only where all of the text may stand, so there is one stack of them.
#include "parlance/partial_json.h"

#include "reply/scan/json_scanner.h"

namespace parlance {
namespace {

using reply::JsonScanner;
using reply::Scan;

class Beginning {
 public:
  explicit Beginning(std::string_view text) : text_(text) {}

  /// A number at the end may go on (1 of 12), so it is left out, unless the text is nothing but that number.
  std::string closed() {
    while (at_ < text_.size() && take(text_[at_])) ++at_;
    const bool number = in_ == In::number && closers_.empty() && at_ == text_.size() && scanner_.complete();
    if (number) return std::string(text_);
    if (kept_ == 0) return "{}";
    std::string out(text_.substr(0, kept_));
    if (open_text_) out += '"';
    return out.append(closers_.rbegin(), closers_.rend());
  }

 private:
  enum class In : std::uint8_t { nothing, key, text, number, word };

  void keep(std::size_t size, bool open_text = false) {
    kept_ = size;
    open_text_ = open_text;
  }

  /// False where the text ends: at a byte that cannot stand there, or behind the value.
  bool take(char c) {
    // Asked before the byte is fed: they say what it begins.
    const bool begins = scanner_.at_begin(), key = scanner_.at_key();
    const bool behind_number =
        in_ == In::number && std::string_view("0123456789+-.eE").find(c) == std::string_view::npos;
    const Scan scan = scanner_.feed(c);
    if (scan == Scan::bad) return false;
    if (behind_number) {
      keep(at_);
      in_ = In::nothing;
    }
    if (scan == Scan::done_before) return false;
    if (in_ == In::key || in_ == In::text) {
      take_of_text();
    } else if (in_ == In::word) {
      if (--left_ == 0) end_value();
    } else if (begins && !reply::is_json_space(c)) {
      begin(c, key);
    } else if (c == '}' || c == ']') {
      closers_.pop_back();
      keep(at_ + 1);
    }
    return scan != Scan::done;
  }

  /// A key alone has no value to show, so nothing is kept before its value begins. Half a word ("tru") has none either.
  void begin(char c, bool key) {
    switch (c) {
      case '"':
        in_ = key ? In::key : In::text;
        if (!key) keep(at_ + 1, true);
        return;
      case '{':
      case '[': closers_ += c == '{' ? '}' : ']'; return keep(at_ + 1);
      case '}':
      case ']': closers_.pop_back(); return keep(at_ + 1);
      case 't':
      case 'f':
      case 'n':
        in_ = In::word;
        left_ = c == 'f' ? 4 : 3;
        return;
      default: in_ = In::number;
    }
  }

  void end_value() {
    in_ = In::nothing;
    keep(at_ + 1);
  }

  void take_of_text() {
    if (!scanner_.inside_string()) {
      if (in_ == In::text) return end_value();
      in_ = In::nothing;
      return;
    }
    if (in_ == In::key) return;
    if (scanner_.inside_hex() && hex_ == 0) hex_ = at_ + 1;
    if (!scanner_.inside_text()) return;
    const bool escape = hex_ != 0 && at_ == hex_ + 3;
    // Half a pair would become a lone surrogate, which many readers refuse.
    if (!(escape && is_high_surrogate())) keep(at_ + 1, true);
    hex_ = 0;
  }

  /// Whether the escape that ends here is the first half of a pair: ud800 to udbff.
  bool is_high_surrogate() const {
    const std::string_view digits = text_.substr(hex_, 4);
    return (digits[0] | 0x20) == 'd' && std::string_view("89abAB").find(digits[1]) != std::string_view::npos;
  }

  std::string_view text_;
  JsonScanner scanner_;
  std::string closers_;
  std::size_t at_ = 0;
  std::size_t kept_ = 0;
  std::size_t hex_ = 0;  ///< of an escape that is read, where its digits begin
  In in_ = In::nothing;
  bool open_text_ = false;  ///< what is kept ends inside of a text
  std::uint8_t left_ = 0;   ///< letters of a word to come
};

}  // namespace

std::string complete_json(std::string_view beginning) { return Beginning(beginning).closed(); }

}  // namespace parlance
