// The state of a ReplyParser: a place in the reply, and what is held back there.
//
// parser.cpp reads text, headers and the gaps between parts; parser_call.cpp reads calls that are JSON, parser_form.cpp
// the other ones and what follows a call. Each read_… takes bytes from `p` on and returns where it stopped: it has moved
// on or changed the place. Begin reading at run().
#pragma once
#include <optional>

#include "reply/call_reader.h"
#include "reply/machine.h"
#include "reply/outlet.h"
#include "reply/python_scanner.h"

namespace parlance {

class ReplyParser::State {
 public:
  State(std::shared_ptr<const reply::Machine> machine, bool conversation);
  /// Goes through what stands before the reply, without a word.
  void take_prompt(std::string_view prompt);
  void feed(std::string_view bytes, const ReplySink& sink);
  void finish(const ReplySink& sink);
  std::size_t held() const { return held_.size() + out_.held(); }

 private:
  using Kind = ReplyEvent::Kind;
  using Mark = reply::Mark;
  using Call = reply::CallReader;
  enum class Place : std::uint8_t { text, header, opening, object, python, program, tail, broken, done };
  enum class Region : std::uint8_t { content, reasoning, plain };
  /// White space at the beginning of content, which belongs to a marker if one follows.
  enum class Gap : std::uint8_t { none, start, after };
  struct Found {
    std::size_t size = 0;  ///< of the marker, 0 for none
    bool more = false;     ///< it depends on bytes to come
    Mark mark{};
  };

  void run(const char* p, const char* end);
  void again(std::string bytes) { run(bytes.data(), bytes.data() + bytes.size()); }
  const char* read(const char* p, const char* end);

  // text and what separates its parts (parser.cpp)
  const reply::MarkerTrie& trie() const;
  void put_text(std::string_view bytes);
  void put_markup(std::string_view bytes) { out_.piece(Kind::marker, bytes); }
  const char* read_text(const char* p, const char* end);
  const char* absorb(const char* p, const char* end);
  const char* match_on(const char* p, const char* end);
  Found match(std::string_view bytes) const;
  bool counts(const Mark& mark) const;
  void settle();
  void meet(const Mark& mark, std::string source);
  void begin_content(Gap gap);
  void meet_turn(const Mark& mark, std::string source);
  void meet_end(const Mark& mark, std::string_view source);
  // white space, then a marker or not
  const char* read_gap(const char* p, const char* end);
  void leave_gap();
  void meet_after_gap(const Mark& mark, std::size_t size);
  void finish_text();

  // headers (parser_header.cpp)
  const char* read_header(const char* p, const char* end);
  bool take_header_byte(char c);
  void end_header();
  void refuse_header();
  void say_turn(std::string_view source, std::string_view header);
  const char* read_opening(const char* p, const char* end);
  void refuse_opening();
  void finish_header();

  // calls that are JSON (parser_call.cpp)
  const reply::ShapedForm& form() const { return machine_->shaped[form_]; }
  void begin_object(const Mark& mark, std::string source);
  const char* read_object(const char* p, const char* end);
  bool take_frame_byte(char c);
  bool take_list_byte(char c);
  bool take_member_byte(char c);
  void put_frame(std::string_view bytes);
  bool begin_value(char c);
  bool begin_arguments(char c);
  const char* read_key(const char* p, const char* end);
  void end_key();
  const char* read_value(const char* p, const char* end);
  std::size_t room(std::size_t longest) const;
  std::size_t put_value(std::string_view bytes);
  std::size_t put_arguments(std::string_view bytes, bool has_source);
  std::size_t put_argument_text(std::string_view bytes, bool has_source);
  bool end_value();
  bool end_arguments();
  void name_call(std::string name);
  bool end_object();
  void end_section();
  void fail(std::string_view expected);
  void finish_object();

  // other calls, and what follows a call (parser_form.cpp)
  void begin_form();
  const char* read_python(const char* p, const char* end);
  const char* read_program(const char* p, const char* end);
  void meet_in_program(const Mark& mark, const std::string& source);
  void end_program(std::string_view source);
  const char* read_broken(const char* p, const char* end);
  void begin_tail();
  void finish_program();

  std::shared_ptr<const reply::Machine> machine_;
  reply::Outlet out_;
  Place place_ = Place::text;
  Region region_ = Region::content;
  Gap gap_ = Gap::none;
  bool conversation_;
  bool finished_ = false;
  bool blank_reasoning_ = true;      ///< nothing but white space of it so far
  reply::MarkerTrie::Node node_ = reply::MarkerTrie::kRoot;
  std::string held_;                 ///< bytes that are in no event yet, but for a cut code point
  std::size_t blanks_ = 0;           ///< of held_, the white space of a gap
  std::string_view absorb_{};        ///< framing that may follow the last marker
  std::size_t turn_ = reply::Machine::kNone;
  std::size_t header_from_ = 0;      ///< of held_, the bytes of the turn's marker
  std::size_t header_to_ = 0;
  std::size_t close_seen_ = 0;       ///< of the header's end
  std::size_t form_ = 0;
  Call call_;
  std::optional<reply::PythonScanner> python_;
};

}  // namespace parlance
