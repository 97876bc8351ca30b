// DocumentBuilder's inside: the steps that were given, and values made of them.
//
// Texts lie one after the other, in the order of the steps, as they do in a JSON text: a document finds the place of a
// string by its address. Begin reading at make_values.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/inside.h"
#include "parlance/document_builder.h"
#include "parlance/error.h"
#include "parlance/value.h"

namespace parlance {

struct DocumentBuilder::State {
  enum class Step : std::uint8_t { none, boolean, integer, digits, real, string, key, list, tuple, dict, end };
  struct Given {
    Step step{};
    std::uint32_t size = 0;  ///< of a text: bytes; of a list, tuple or dict: how many values it has
    union {
      std::size_t begin = 0;  ///< of a text: where it stands among all
      std::int64_t integer;
      double real;
    };
  };

  /// A text that stands elsewhere.
  struct Lent {
    std::size_t behind = 0;  ///< how much of `text` stands before it
    std::string_view text;
  };

  std::string text;           ///< the texts that were not lent, each with a byte behind it; memory for more
  std::size_t text_size = 0;  ///< of these
  std::size_t lent_size = 0;  ///< of the others, each with a byte behind it
  std::vector<Given> steps;   ///< what was given
  std::vector<Lent> lent;
  std::vector<std::uint32_t> open;  ///< the steps that began what is open
  std::size_t deepest = 0;          ///< how many were open at most
  bool has_key = false;             ///< the last step was a key
  std::optional<Error> failure;     ///< the first

  void add(Given given);
  void add_text(Step step, std::string_view given);
  void add_known(Step step, std::string_view given);  ///< without a look at it
  void add_lent(std::string_view given);
  std::size_t all_texts() const { return text_size + lent_size; }
  /// All texts in the order of the steps, each with a NUL behind it, and more of them behind all. The builder may get
  /// other memory in exchange for its own.
  void give_texts(std::string& into, std::size_t padding);
  void begin(Step step);
  void end(Step step);
  void fail(ErrorCode code, std::string_view message);
  void clear();
  /// Memory for so many bytes more behind the texts.
  void reserve_text(std::size_t more);

 private:
  bool takes(Step step);
  bool takes_first(Step step);
  bool takes_text(Step step, std::size_t size);
};

using DocumentSteps = Inside<DocumentBuilder>::Type;

/// The value of what was given, whose texts were moved to `text`. Containers and all scalars but strings get origin ids
/// from `next_origin` on, in their order.
Value make_values(const DocumentSteps& given, const char* text, Arena& arena, std::uint32_t& next_origin);

}  // namespace parlance
