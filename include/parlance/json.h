// Document: parses JSON text, and owns the values.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "parlance/limits.h"
#include "parlance/result.h"
#include "parlance/value.h"

namespace parlance {

class DocumentBuilder;

/// The values of a JSON text, or of a DocumentBuilder. It owns them: they are valid as long as the document lives, also
/// after a move.
///
/// JSON is read as Python's json module reads it: integers of up to 4,300 digits, NaN and Infinity, 1e400 as infinity,
/// lone surrogates, the last of equal keys wins. It refuses what Python refuses. A moved-from document is empty.
/// Threads: any number may read a Document; parse() and build() need it alone.
///
///     parlance::Document doc;
///     if (auto ok = doc.parse(R"({"messages": []})"); !ok) return ok.error();
///     use(doc.root());
class Document {
 public:
  Document();
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  /// Parses a text, which replaces the contents. It reuses the memory of the last parse, so that further texts of
  /// similar size need no allocation. The text itself is not needed afterwards.
  /// Fails with: json (place, and what was expected); limit_depth past 1000 levels and value for an integer of more
  /// than 4,300 digits, as CPython does.
  Result<void> parse(std::string_view text, std::string_view name = "<input>");
  /// Takes the values that a builder was given, without a JSON text. They replace the contents, and the builder is
  /// empty afterwards, also after a failure. The outermost value is none if the builder was given nothing.
  /// Fails with: usage (calls that do not fit, or containers that are still open); unicode_decode (a text is not
  /// UTF-8); limit_depth past 1000 levels; limit_memory past 2 GiB of text; value (an integer that is no number).
  Result<void> build(DocumentBuilder& from);
  /// The outermost value; none before the first successful parse or build. Lifetime: that of the document's contents.
  Value root() const&;
  Value root() const&& = delete;
  /// The path of a value in this document: "messages[3].content"; "" for a value from elsewhere.
  std::string path_of(Value value) const;

 private:
  template <typename Class>
  friend struct Inside;  // for parlance's own modules
  struct Storage;
  Storage& inside();
  const Storage& inside() const;

  std::unique_ptr<Storage> storage_;
};

/// Writes a value as JSON, without white space and without escaping UTF-8. NaN and Infinity are written by these names,
/// as Python does; for another value that JSON does not have it writes "null".
std::string json_text(Value value);

}  // namespace parlance
