// Document: parses JSON text, and owns the values.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "parlance/limits.h"
#include "parlance/result.h"
#include "parlance/value.h"

namespace parlance {

/// A parsed JSON text. It owns its values: they are valid as long as the document lives, also after a move.
///
/// JSON is read as Python's json module reads it: integers of any size, NaN and Infinity, 1e400 as infinity, lone
/// surrogates, the last of equal keys wins. It refuses what Python refuses. A moved-from document is empty.
/// Threads: any number may read a Document; parse() needs it alone.
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
  /// Fails with: json (place, and what was expected); limit_depth past 1000 levels, as CPython does.
  Result<void> parse(std::string_view text, std::string_view name = "<input>");
  /// The outermost value; none before the first successful parse. Lifetime: that of the document's contents.
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

/// Writes a value as JSON, without white space and without escaping UTF-8; "null" for a value that JSON does not have.
std::string json_text(Value value);

}  // namespace parlance
