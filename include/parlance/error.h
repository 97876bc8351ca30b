// Errors as values: what went wrong, where in the template or the input, and what may help.
//
// Every public function that can fail returns a Result<T> (result.h), which has either a value or an Error. An Error is
// one pointer, cheap to copy; display() makes the text with source lines and carets.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace parlance {

/// The kinds of failures: the rows of errors.def.
enum class ErrorCode : std::uint16_t {
#define PARLANCE_ERROR(code, python_class, title, http, exit, sentence) code,
#include "parlance/errors.def"
#undef PARLANCE_ERROR
};

/// The facts of one row of errors.def.
struct ErrorFacts {
  std::string_view name;          ///< the code's own name, e.g. "limit_steps"
  std::string_view python_class;  ///< the class that Jinja2, transformers or CPython raises, e.g. "TypeError"
  std::string_view title;         ///< its name in display(), e.g. "wrong type"
  int http_status;                ///< the status that a server should answer with
  int exit_code;                  ///< the exit code of the command line
  std::string_view sentence;      ///< one line of explanation
};

/// The row of `code`, which must be one of those in errors.def.
const ErrorFacts& facts(ErrorCode code);

/// A place in a template (or in a JSON input): bytes [begin, end) of the named text.
///
/// `line` and `column` count from 1; columns count code points. All are zero if there is no place.
struct Location {
  std::string name{};     ///< file name, or "<template>"
  std::size_t begin = 0;  ///< byte offset into the text as given
  std::size_t end = 0;    ///< one past the last byte
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t end_column = 0;        ///< on the same line, for the caret line
  std::vector<std::string> excerpt{};  ///< the line before, the line itself, the line after, as available
  std::uint32_t excerpt_line = 0;      ///< line number of excerpt[0]
  /// column of the first character of each excerpt line; not 1 if long lines were cut
  std::uint32_t excerpt_column = 1;
};

/// One failure. It is immutable, and copies share it; a moved-from error is unchanged.
///
/// Threads: an Error may be read from any number of threads.
class Error {
 public:
  struct Parts {
    ErrorCode code{};
    std::string message;             ///< what was found and expected, in Python's words if Python has the error
    Location where;                  ///< place in the template or the JSON text
    std::string input_path;          ///< the offending value's path in the input, e.g. "messages[3].content"
    std::string hint;                ///< the nearest name or the likely cause; may be empty
    std::vector<std::string> trace;  ///< macros and loops around the place, newest first
  };
  explicit Error(Parts parts) : parts_(std::make_shared<const Parts>(std::move(parts))) {}
  Error(ErrorCode code, std::string message);
  Error(const Error&) noexcept = default;
  Error& operator=(const Error&) noexcept = default;
  ~Error() = default;

  ErrorCode code() const { return parts_->code; }
  const std::string& message() const& { return parts_->message; }
  std::string message() && { return parts_->message; }
  const Location& where() const& { return parts_->where; }
  Location where() && { return parts_->where; }
  const std::string& input_path() const& { return parts_->input_path; }
  std::string input_path() && { return parts_->input_path; }
  const std::string& hint() const& { return parts_->hint; }
  std::string hint() && { return parts_->hint; }
  const std::vector<std::string>& trace() const& { return parts_->trace; }
  std::vector<std::string> trace() && { return parts_->trace; }
  std::string_view python_class() const { return facts(code()).python_class; }

  /// The whole error for people: place, title, message, three source lines with carets, path, hint, trace. Control
  /// characters from a template, a request or a file's name are replaced by visible symbols, so that they cannot
  /// control a terminal.
  std::string display() const;

  /// The same failure with one part replaced, so that an error reads as one expression:
  ///
  ///     return Error(ErrorCode::tokenizer, path + ": no such piece").at(place).hint("is it another model's?");
  [[nodiscard]] Error at(Location where) const;
  [[nodiscard]] Error input(std::string path) const;
  [[nodiscard]] Error hint(std::string text) const;
  [[nodiscard]] Error trace(std::vector<std::string> around) const;
  /// A copy of all parts. Change them and make another Error of them.
  Parts parts() const { return *parts_; }

 private:
  std::shared_ptr<const Parts> parts_;
};

}  // namespace parlance
