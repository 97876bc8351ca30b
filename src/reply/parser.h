// The state of a ReplyParser: a place in the reply, and what is held back there.
//
//     parser.cpp          the door, and which reader a place has
//     parser_text.cpp     text up to markers; used for all that ends at a marker; parser_marker.cpp what is one
//     parser_gap.cpp      white space, then a marker or not
//     parser_header.cpp   headers of turns
//     parser_call.cpp     a call: its parts in order, sections and lists; parser_field.cpp texts and literals in it
//     parser_commit.cpp   when it is certain
//     parser_broken.cpp   a call that went wrong, up to the next one
//     parser_object.cpp   an object that is a call; parser_value.cpp its values, and arguments that are JSON
//     parser_mend.cpp     arguments that are nearly JSON
//     parser_proof.cpp    arguments that are JSON only if all of them are, and a program if not
//     parser_scan.cpp     arguments of Python and of objects without quotes, and programs
//     parser_tags.cpp     arguments in tags; parser_typed.cpp their values; parser_closing.cpp where these end
//
// Each read_… takes bytes from `p` on and returns where it stopped: it has moved on or changed the place. Begin reading at run().
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reply/call_reader.h"
#include "reply/machine.h"
#include "reply/outlet.h"
#include "reply/parser_parts.h"

namespace parlance {

class ReplyParser::State {
 public:
  State(std::shared_ptr<const reply::Machine> machine, bool conversation);
  /// Goes through what stands before the reply, without a word.
  void take_prompt(std::string_view prompt);
  void feed(std::string_view bytes, const ReplySink& sink);
  void feed_token(std::string_view bytes, bool control, const ReplySink& sink);
  void finish(const ReplySink& sink);
  std::size_t held() const;
  std::size_t memory() const;

 private:
  using Kind = ReplyEvent::Kind;
  using Fault = ReplyEvent::Fault;
  using Mark = reply::Mark;
  using Call = reply::CallReader;
  using Cursor = reply::MarkerTrie::Cursor;
  using Waiting = reply::Waiting;
  enum class Place : std::uint8_t {
    text, header, opening,           // outside of calls
    literal, next, list, field,      // between the parts of calls
    proof,                           // behind JSON that would be a program if more followed it
    object, python, bare, program,   // inside of parts
    tag_between, tag_key, tag_type, tag_begin, tag_value, tag_key_end,
    broken, done,
  };
  enum class Region : std::uint8_t { content, reasoning, plain };
  /// White space at the beginning of content, which belongs to a marker if one follows.
  enum class Gap : std::uint8_t { none, start, after, closed };  ///< closed: behind what closes calls
  using Found = reply::Found;
  using Verdict = reply::Verdict;
  using Ahead = reply::Ahead;
  using Control = reply::Control;
  using Carried = reply::Carried;
  using Rare = reply::Rare;

  void run(const char* p, const char* end);
  void again(std::string bytes) { run(bytes.data(), bytes.data() + bytes.size()); }
  const char* read(const char* p, const char* end);
  void say_carried();
  void enter_reasoning();
  std::size_t held_last() const { return rare_ ? rare_->last.size() : 0; }
  std::string_view hold_last(std::string_view bytes, std::string& joined);  // parser_last.cpp
  std::string take_last();
  bool finish_place();

  // text up to a marker (parser_text.cpp)
  const reply::MarkerTrie& trie() const;
  void put_text(std::string_view bytes);
  void put_answer(std::string_view bytes);
  void put_markup(std::string_view bytes) { out_.piece(Kind::marker, bytes); }
  bool put_plain(std::string_view bytes);
  const char* read_text(const char* p, const char* end);
  const char* absorb(const char* p, const char* end);
  const char* match_on(const char* p, const char* end);
  Found match(std::string_view bytes, std::uint64_t place) const { return match_in(trie(), bytes, place); }
  Found match_in(const reply::MarkerTrie& markers, std::string_view bytes, std::uint64_t place) const;
  bool counts(const Mark& mark, std::string_view source, std::uint64_t place) const;
  bool is_other_way(std::string_view source) const;
  bool is_fed_so(std::string_view source, std::uint64_t place) const;
  std::uint64_t here() const { return out_.place() + lead_.size() + held_value(); }
  std::size_t held_value() const;
  void settle();
  void meet(const Mark& mark, std::string source);
  void meet_outside(const Mark& mark, std::string source);
  void begin_content(Gap gap);
  void meet_surplus(const Mark& mark, std::string_view source);
  void meet_turn(const Mark& mark, std::string source);
  void meet_end(const Mark& mark, std::string_view source);
  void say_end(std::string_view source, std::string_view role = {});
  bool finish_text();

  // white space, then a marker or not (parser_gap.cpp)
  bool is_gap() const;
  bool joins_calls(char c) const;
  bool is_surplus(char c) const;
  const char* read_gap(const char* p, const char* end);
  void leave_gap(char next);
  void meet_after_gap(const Mark& mark, std::size_t size);
  bool begin_initial(const std::string& held, std::size_t blanks, char next);

  // headers (parser_header.cpp)
  const char* read_header(const char* p, const char* end);
  bool take_header_byte(char c);
  void end_header();
  void refuse_header();
  void say_turn(std::string_view source, std::string_view header);
  const char* read_opening(const char* p, const char* end);
  void refuse_opening();
  void finish_header();

  // calls (parser_call.cpp)
  const reply::Form& form() const { return machine_->forms[form_]; }
  const CallPart& part() const { return form().form->call[call_->part]; }
  const CallArguments& codec() const { return form().form->call[form().arguments_part].arguments; }
  std::string_view literal_due() const;
  bool in_object() const { return form().arguments_part == reply::Form::kNone; }
  void open_call(std::size_t form, std::string lead);
  void begin_call(const Mark& mark, std::string source);
  void next_item();
  bool is_behind_object() const;
  void begin_another(const std::string& between);
  void begin_headed();
  void absorb_after(std::string_view framing);
  void begin_part();
  void begin_arguments_part();
  void end_part();
  void end_item();
  void end_calls(std::string_view source);
  void put_frame(std::string_view bytes);
  const char* read_list(const char* p, const char* end);
  bool begins_item(char c) const;
  const char* read_field(const char* p, const char* end);
  bool take_field_byte(char c);
  const char* put_key(const char* p, const char* end);
  bool take_key_byte(char c);
  bool ends_at(char c) const;
  void end_field(std::size_t skipped = 0);
  void take_id();
  bool take_callee(std::string& name) const;
  void meet_in_call(const Mark& mark, const std::string& source);
  void meet_surplus_item(const std::string& source);
  void meet_literal(const Mark& mark, const std::string& source);
  void refuse_literal(const std::string& held, std::size_t blanks);
  void refuse_next(const std::string& held, std::size_t blanks, char next);
  void fail(std::string_view expected);
  bool commit();
  bool is_wanted(std::string_view name) const;
  bool waits() const;
  void close_call(bool complete);
  bool begin_sibling();
  bool is_item() const;
  void put_lost(std::string_view bytes);
  void begin_wreck();
  void measure_object(reply::Wreck& wreck) const;
  void end_broken_item();
  void put_broken(std::string_view bytes);
  const char* read_broken(const char* p, const char* end);
  bool meet_shorter();
  void finish_call();
  void say_cut_off(std::string& held);

  // JSON that may be a program (parser_proof.cpp)
  bool needs_proof() const { return form().may_be_program && !call_->sure && !call_->named; }
  bool heed_content_type(std::string_view source);
  bool is_expected_object() const;
  bool begin_proof();
  void prove(const std::string& source);
  bool finish_proof();

  // objects, and JSON (parser_object.cpp, parser_value.cpp)
  const char* read_object(const char* p, const char* end);
  bool take_frame_byte(char c);
  bool take_member_byte(char c);
  bool begins_list() const;
  bool may_be_fenced() const;
  std::string_view opened() const;
  bool continues_fence(char c) const;
  bool fence_ends() const;
  bool begin_quoted(Call::At at);
  const char* read_quoted(const char* p, const char* end);
  void end_quoted();
  bool lacks_brace(char c);
  bool begin_value(char c);
  bool begin_arguments(char c);
  const char* read_key(const char* p, const char* end);
  void end_key();
  void take_role(const std::string& key);
  const char* read_value(const char* p, const char* end);
  void fail_value();
  std::size_t room(std::size_t longest) const;
  std::size_t put_value(std::string_view bytes);
  std::size_t put_arguments(std::string_view bytes, bool has_source);
  std::size_t put_argument_text(std::string_view bytes, bool has_source);
  bool end_value();
  bool end_name_member();
  bool end_arguments();
  bool end_object();
  std::string name_key() const;

  // arguments that are nearly JSON (parser_mend.cpp)
  bool streams() const;
  std::string_view keep_comma(std::string_view bytes, reply::Scan scan);
  void release_comma();
  std::optional<std::size_t> mend(char c);
  bool drop_comma(char c);
  bool begins_bare_key(char c) const;
  const char* read_bare_key(const char* p, const char* end);
  std::optional<std::size_t> mend_escape(char c);
  const char* read_mended(const char* p, const char* end);
  bool put_line_end(char c);
  const char* read_bare_word(const char* p, const char* end);
  bool say_bare_word(std::string_view text);

  // arguments that are no JSON (parser_scan.cpp)
  const char* read_python(const char* p, const char* end);
  const char* read_bare(const char* p, const char* end);
  void end_scan(reply::Scan scan, std::string_view expected);
  void meet_in_program(const Mark& mark, const std::string& source);
  std::string_view code_argument() const;
  void end_program(std::string_view source);
  void finish_program();

  // arguments in tags (parser_tags.cpp, parser_typed.cpp)
  const ArgumentTags& tags() const { return codec().tags; }
  void begin_tags();
  void open_tag(std::string_view source);
  void begin_whole(const std::string& source);
  void end_tags(std::string_view source);
  void end_key_of_tag(std::string_view source, bool typed);
  bool may_be_list(reply::Types::Node node) const;
  void end_type_of_tag(std::string_view source);
  void begin_tag_value();
  void begin_nested(const std::string& source);
  void end_nested(std::string_view source);
  void begin_value_text();
  void put_tag_value(std::string_view bytes);
  void put_tag_text(std::string_view bytes);
  void put_entities(std::string_view bytes);
  void end_entity();
  void become_text();
  void become_untyped();
  void end_tag_value(const Mark& mark, const std::string& source);
  void say_tag_value();
  bool may_begin_value(char c) const;
  void put_candidate(std::string_view bytes);
  std::string json_of_value(std::string_view text) const;
  std::string json_that_fits(std::string_view text, std::uint8_t types) const;
  std::uint8_t value_types() const;
  void meet_in_tags(const Mark& mark, const std::string& source);
  bool refuse_in_tags(const std::string& held, std::size_t blanks, char next);
  void end_tags_early(const std::string& source);

  // where a value in tags ends (parser_closing.cpp)
  bool is_certain(std::string_view source) const;
  bool is_whole_value() const;
  bool may_be_key(std::string_view key, bool declared) const;
  const reply::MarkerTrie& markers(Waiting::Among among) const;
  void wait_for(Waiting::For what, std::size_t place = 0, Waiting::Among among = {}, std::uint8_t blanks = 0) const;
  bool waits_on(char c) const;
  Ahead look_ahead(Waiting::Among among, std::string_view rest, std::uint64_t place) const;
  Verdict decide(const Mark& mark, std::string_view bytes, std::size_t size, std::uint64_t place, bool last) const;
  Verdict decide_open(std::string_view rest, std::uint64_t place, bool declared) const;
  Verdict decide_close(std::string_view rest, std::uint64_t place, bool last) const;
  Verdict decide_end(std::string_view source, std::string_view rest, std::uint64_t place, bool last) const;
  Found match_in_value(std::string_view bytes, std::uint64_t place, bool last) const;
  const char* read_tag_value(const char* p, const char* end);
  bool settle_value(bool last);
  void put_meant(std::string_view text) { out_.piece(Kind::arguments, {}, text); }

  std::shared_ptr<const reply::Machine> machine_;
  reply::Outlet out_;
  Place place_ = Place::text;
  Region region_ = Region::content;
  Gap gap_ = Gap::none;
  bool conversation_ : 1;
  bool finished_ : 1 = false;
  bool in_prompt_ : 1 = false;
  bool blank_reasoning_ : 1 = true;  ///< nothing but white space of it so far
  bool fresh_ : 1 = true;            ///< the answer has not begun
  bool tokens_ : 1 = false;          ///< control tokens are told
  bool answers_ : 1 = false;         ///< text of the answer came since the last marker outside of it
  bool said_ : 1 = false;            ///< there is text of the answer
  bool unclosed_ : 1 = false;        ///< a call has ended the reasoning, which may still be closed
  bool parted_ : 1 = false;          ///< more of it follows, in markers of its own: a line's end parts the two
  bool opened_ : 1 = false;          ///< the reply itself has opened reasoning: its marker is no word there
  std::uint8_t blanks_ = 0;      ///< of held_, the white space of a gap
  std::uint8_t form_ = 0;
  std::uint8_t turn_ = 0;
  Cursor cursor_{};
  std::string held_;             ///< bytes that are in no event yet: the beginning of a marker, white space, a header
  reply::HeldText lead_;         ///< a call before it is certain to be one
  std::string_view absorb_{};    ///< framing that may follow the last marker
  std::uint16_t header_from_ = 0;  ///< of held_, the bytes of the turn's marker
  std::uint16_t header_to_ = 0;
  std::uint16_t close_seen_ = 0;   ///< of the header's end
  reply::Box<Call> call_;
  reply::Box<Rare> rare_;
};

}  // namespace parlance
