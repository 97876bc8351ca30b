// Reading a Modelfile command by command. Begin at ModelfileParser::parse.
#include "sources/modelfile.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/nearest.h"
#include "base/source_text.h"
#include "base/unicode.h"
#include "base/utf8.h"

namespace parlance {
namespace {

constexpr std::string_view kCommands[] = {
    "from",    "template", "system",   "message", "parameter", "license",
    "adapter", "draft",    "renderer", "parser",  "requires",
};
constexpr std::string_view kRoles[] = {"system", "user", "assistant"};

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_newline(char c) { return c == '\n' || c == '\r'; }
using ascii::is_letter;
using ascii::is_word;

/// A value while it is read. Whether its quotes are closed is asked at the end of every line, so
/// where the text without surrounding white space ends is kept, not searched for.
class ValueText {
 public:
  void append(std::string_view character, bool is_space) {
    if (!is_space && end_ == 0) begin_ = text_.size();
    text_ += character;
    if (!is_space) end_ = text_.size();
  }
  /// Is it whole? If so, `inside` is what stands between the quotes.
  bool is_whole(std::string_view& inside) const {
    constexpr std::string_view kThree = "\"\"\"";
    const std::string_view text = end_ == 0 ? "" : std::string_view(text_).substr(begin_, end_ - begin_);
    const std::size_t quotes = text.starts_with(kThree) ? 3 : text.starts_with('"') ? 1 : 0;
    if (text.size() < 2 * quotes || !text.ends_with(kThree.substr(0, quotes))) return false;
    inside = text.substr(quotes, text.size() - 2 * quotes);
    return true;
  }

 private:
  std::string text_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;  ///< 0: only white space so far
};

class ModelfileParser {
 public:
  ModelfileParser(std::string_view text, const std::string& name) : text_(text), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  Result<std::vector<ModelfileCommand>> parse() {
    while (find_command()) {
      if (!command()) return *failure_;
    }
    const bool has_from =
        std::any_of(commands_.begin(), commands_.end(), [](const ModelfileCommand& c) { return c.name == "from"; });
    if (has_from) return std::move(commands_);
    fail(text_.size(), text_.size(), "no FROM line", "every Modelfile names what it is made from: FROM model.gguf");
    return *failure_;
  }

 private:
  bool fail(std::size_t begin, std::size_t end, std::string message, std::string hint = {}) {
    const Location where = SourceText(name_, text_, false).locate(begin, end);
    failure_ = Error(ErrorCode::model_file, std::move(message)).at(where).hint(std::move(hint));
    return false;
  }
  bool at_end() const { return at_ == text_.size(); }

  /// To where the next command begins: over white space and comments. False at the end.
  bool find_command() {
    while (!at_end()) {
      const char c = text_[at_];
      if (c == '#') {
        while (!at_end() && !is_newline(text_[at_])) ++at_;
      } else if (is_blank(c) || is_newline(c)) {
        ++at_;
      } else {
        return true;
      }
    }
    return false;
  }

  /// The characters for which `belongs` holds, and one blank after them.
  bool word(bool (*belongs)(char), std::string& into, std::string_view what) {
    const std::size_t begin = at_;
    while (!at_end() && belongs(text_[at_])) into += text_[at_++];
    if (!at_end() && is_blank(text_[at_])) return ++at_, true;
    return fail(begin, at_, std::string(what) + " without a value", "it needs a blank and a value on the same line");
  }

  bool command() {
    ModelfileCommand made;
    const std::size_t begin = at_;
    if (!command_name(made.name)) return false;
    if (made.name == "parameter" && !parameter(made.word)) return false;
    if (made.name == "message" && !role(made.word)) return false;
    if (!value(begin, made.value)) return false;
    commands_.push_back(std::move(made));
    return true;
  }

  /// Whatever begins a command is the first character of its name; only letters may follow.
  bool command_name(std::string& name) {
    const std::size_t begin = at_;
    const utf8::Decoded first = utf8::decode(text_.data() + at_, text_.data() + text_.size());
    if (unicode::is_printable(first.code_point)) name += text_.substr(at_, first.size);
    at_ += first.size;
    while (!at_end() && is_letter(text_[at_])) name += text_[at_++];
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const bool known = std::find(std::begin(kCommands), std::end(kCommands), name) != std::end(kCommands);
    if (!known) return unknown_command(begin, name);
    if (!at_end() && is_blank(text_[at_])) return ++at_, true;
    return fail(begin, at_, "a command without a value", "it needs a blank and a value on the same line");
  }

  bool unknown_command(std::size_t begin, const std::string& name) {
    NearestName nearest(name);
    for (const std::string_view command : kCommands) nearest.offer(command);
    return fail(begin, at_, "there is no such command in a Modelfile",
                nearest.best().empty() ? "text of several lines stands between \"\"\" and \"\"\"" : nearest.hint());
  }

  bool parameter(std::string& name) {
    const std::size_t begin = at_;
    if (!word(is_word, name, "a PARAMETER")) return false;
    return !name.empty() || fail(begin, at_, "a PARAMETER without a name");
  }

  bool role(std::string& role) {
    const std::size_t begin = at_;
    if (!word(is_letter, role, "a MESSAGE")) return false;
    if (std::find(std::begin(kRoles), std::end(kRoles), role) != std::end(kRoles)) return true;
    return fail(begin, at_, "the role of a MESSAGE is system, user or assistant");
  }

  bool value(std::size_t command_begin, std::string& into) {
    ValueText value;
    std::string_view inside;
    while (!at_end()) {
      const char c = text_[at_];
      if (is_newline(c) && value.is_whole(inside)) break;
      const utf8::Decoded next = utf8::decode(text_.data() + at_, text_.data() + text_.size());
      const bool is_space = is_blank(c) || is_newline(c);
      if (is_space || unicode::is_printable(next.code_point)) value.append(text_.substr(at_, next.size), is_space);
      at_ += next.size;
    }
    if (!value.is_whole(inside)) {
      return fail(command_begin, std::min(text_.size(), command_begin + 1),
                  "the quotes that open here are never closed", "the closing quotes have to end a line");
    }
    into = inside;
    return true;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::vector<ModelfileCommand> commands_;
  std::optional<Error> failure_;
};

}  // namespace

Result<std::vector<ModelfileCommand>> parse_modelfile(std::string_view text, const std::string& name) {
  return ModelfileParser(text, name).parse();
}

}  // namespace parlance
