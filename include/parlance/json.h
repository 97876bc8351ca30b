// Document: JSON text as values, in the memory that holds them.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "parlance/limits.h"
#include "parlance/result.h"
#include "parlance/value.h"

namespace parlance {

/// A parsed JSON text: the only owner of values that users see.
///
/// JSON is read as Python's json module reads it: integers of any size, NaN and Infinity, 1e400 as infinity,
/// lone surrogates, the last of equal keys wins; it refuses what Python refuses.
/// A Document may be read by many threads; parse() needs it alone. Moving keeps values valid.
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

  /// Replaces the contents by this text's. Memory of the last parse is reused, so a Document that is kept
  /// costs no allocation for texts of similar size. The text itself is not needed afterwards.
  /// Fails with: json (place, and what was expected); limit_depth past 1000 levels, as CPython does.
  Result<void> parse(std::string_view text, std::string_view name = "<input>");
  /// none before the first successful parse.
  Value root() const;
  /// Where a value of this document is: "messages[3].content"; "" when it is not of this document.
  std::string path_of(Value value) const;

  struct Storage;
  Storage& storage() { return *storage_; }
  const Storage& storage() const { return *storage_; }

 private:
  std::unique_ptr<Storage> storage_;
};

}  // namespace parlance
