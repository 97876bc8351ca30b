// TagValue: a value in tags, which has no quotes: what type it is of, and how it leaves.
//
// A string leaves as it comes. What may be something else is held while it may, and what is certainly something else to
// its end; docs/reply-format.md says how types are told. Begin reading at TagValue::begin.
#pragma once
#include "reply/read/reading.h"
#include "reply/scan/json_scanner.h"
#include "reply/tools.h"

namespace parlance::reply {

/// What is held of a value is the open call's word.
class TagValue {
 public:
  /// What the type beside a value says.
  enum class StatedType : std::uint8_t { nothing, text, typed };

  explicit TagValue(std::uint32_t depth) : probe_(depth) {}

  /// `raw`: a CDATA section has been opened.
  void begin(Reading& in, Types::Node schema, StatedType stated, bool raw);
  void put(Reading& in, std::string_view bytes);
  void end(Reading& in);
  bool is_raw() const { return raw_; }
  void end_raw() { raw_ = false; }
  /// It is no string, and whole as far as it is there.
  bool is_whole(const Reading& in) const;
  /// What was read and is in no event.
  std::string_view held(const Call& call) const { return way_ == Way::text ? entity_.view() : call.word.view(); }
  /// The same where the reply ends.
  std::string_view unsaid(const Call& call) const { return entity_.empty() ? call.word.view() : entity_.view(); }

 private:
  /// As a string at once, or held while it may be something else, or because it is.
  enum class Way : std::uint8_t { text, candidate, typed };

  void put_candidate(Reading& in, std::string_view bytes);
  bool scan_candidate(std::string_view bytes);
  void put_text(Reading& in, std::string_view bytes);
  void put_entities(Reading& in, std::string_view bytes);
  void end_entity(Reading& in);
  void become_text(Reading& in);
  void become_untyped(Reading& in);
  bool end_typed(Reading& in);
  std::string expected(const Reading& in) const;
  bool may_begin(char c, bool python) const;
  std::string json_of(const Reading& in, std::string_view text) const;
  std::string json_of_escaped(Reading& in) const;
  std::string string_of_json(const Reading& in) const;
  std::string json_that_fits(const Reading& in, std::string_view text, std::uint8_t types) const;

  Way way_ = Way::text;
  bool raw_ = false;
  bool whole_ = false;  ///< candidate: the value of JSON is over
  bool fresh_ = true;   ///< nothing of it was read
  StatedType stated_ = StatedType::nothing;
  std::uint8_t types_ = Types::kAny;
  HeldText entity_;    ///< the beginning of &lt;
  JsonScanner probe_;  ///< candidate: what was read so far is the beginning of JSON
};

}  // namespace parlance::reply
