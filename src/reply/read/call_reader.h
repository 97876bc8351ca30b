// CallReader: a call, alone, in a section or in a list: its parts in order, how it begins, fails and ends.
//
//     call_reader.cpp    parts in order; what stands between calls
//     call_field.cpp     names, ids and what means nothing between two markers; literals that are due
//     call_broken.cpp    a call that went wrong, up to the next one; and one that the reply's end cut off
//
// Until its name is known and may begin a call, all of it is kept in Reading::lead, the opening marker included, since
// what turns out to be no call is text. Begin reading at begin and begin_part.
#pragma once
#include <string>
#include <string_view>

#include "reply/read/reading.h"
#include "reply/read/text_reading.h"

namespace parlance::reply {

/// What moves the call that is open in a Reading. Has no state of its own.
class CallReader {
 public:
  explicit CallReader(Reading& in) : in_(in) {}

  /// Reads from `p` on and returns where it stopped: it has moved on, or the place is another one.
  const char* read(const char* p, const char* end) {
    if (in_.place != Place::part) return read_around(p, end);
    const Step step = in_.call->reader->read(p, end, in_);
    if (step.what != Step::What::more) take(step);
    return p;
  }
  /// The reply ends inside of a call. What is held is settled, or the call is.
  void finish();

  void begin(const Mark& mark, std::string_view source);
  /// A turn's header has said the name, and what opens the call is there.
  void begin_headed(std::string name);
  /// A call without a marker, which can only stand where the answer begins: with `next` behind white space.
  bool begin_initial(const std::string& held, std::size_t blanks, char next);
  /// The marker at the end of a call that went wrong, in a section.
  void end_broken(std::string_view source);
  /// The reply ends behind a call that went wrong. False where nothing is held.
  bool settle_broken();

 private:
  using Kind = ReplyEvent::Kind;
  using Fault = ReplyEvent::Fault;

  // parts (call_reader.cpp)
  void open(std::size_t form, std::string_view lead);
  void next_item();
  bool is_behind_object() const;
  void begin_another(const std::string& between);
  void absorb_after(std::string_view framing);
  void begin_part();
  void begin_arguments();
  void end_part(bool with_literal);
  void end_item();
  void end_calls(std::string_view source);
  bool commit();
  const char* read_around(const char* p, const char* end);
  void take(Step step);
  const char* read_list(const char* p, const char* end);
  void begin_listed(bool due);
  const char* end_list(const char* p);
  bool begins_item(char c) const;
  std::string_view list_due() const;

  // between markers (call_field.cpp)
  const MarkerTrie& due() const;
  const char* read_between(const char* p, const char* end);
  void end_gap(const GapEnd& gap);
  bool is_surplus(char c) const;
  const char* read_field(const char* p, const char* end);
  bool take_field_byte(char c);
  bool ends_at(char c) const;
  void meet_in_field(const Mark& mark, const std::string& source);
  void end_field(std::size_t skipped = 0);
  void take_id();
  bool may_close_itself() const;
  void take_name(std::string name);
  bool awaits_name() const;
  bool take_callee(std::string& name) const;
  bool heed_content_type(std::string_view source);
  void meet_between(const Mark& mark, const std::string& source);
  void meet_surplus_item(const std::string& source);
  void meet_literal(const Mark& mark, const std::string& source);
  std::string_view literal_due() const;
  void refuse_literal(const std::string& held, std::size_t blanks);
  void refuse_next(const std::string& held, std::size_t blanks, char next);

  // what went wrong (call_broken.cpp)
  void fail(std::string_view expected);
  bool begin_sibling(std::string_view held = {});
  void put_lost(std::string_view bytes);
  void begin_recovery();
  void end_broken_item();
  void put_broken(std::string_view bytes);
  void meet(Met met);
  const char* read_broken(const char* p, const char* end);
  bool finish_part();
  bool meet_shorter();
  void note_unclosed(std::string_view held);
  void cut_off(std::string held, bool begun);
  void close(bool complete);

  Reading& in_;
};

}  // namespace parlance::reply
