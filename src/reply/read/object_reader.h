// ObjectReader: arguments that are JSON, and an object that is a call, with its name and its arguments as members.
//
//     object_reader.cpp   keys, and which role each has on its level
//     object_value.cpp    values: the name, the id, arguments, which leave as they come once the name is known
//     object_mend.cpp     arguments that are nearly JSON
//     object_proof.cpp    arguments that are JSON only if all of them are, and a program if not
//
// A read_… takes bytes from `p` on; a take_… says whether it took a byte. Begin reading at ObjectReader::read_part.
#pragma once
#include <array>
#include <optional>

#include "reply/read/reading.h"
#include "reply/scan/json_scanner.h"
#include "reply/scan/python_scanner.h"

namespace parlance::reply {

class ObjectReader final : public PartReaderOf<ObjectReader> {
 public:
  /// `is_call`: the object has the name too; else all of it is arguments.
  ObjectReader(bool is_call, std::uint32_t depth)
      : at_(is_call ? At::object_open : At::arguments_only),
        role_(is_call ? Role::other : Role::arguments),
        scanner_(depth) {}

  bool restart(const CallPart& part, const Reading& in) override;
  bool measure(Recovery& recovery, const Reading& in) const override;
  CutName cut_name() const override;
  std::size_t size() const override {
    return sizeof(ObjectReader) + (string_ ? sizeof(StringArguments) : 0) + (python_ ? sizeof(PythonScanner) : 0);
  }

 private:
  using Kind = ReplyEvent::Kind;
  using Fault = ReplyEvent::Fault;
  enum class At : std::uint8_t {
    object_open,
    key_or_end,
    key,
    in_key,
    colon,
    value_begin,
    value,
    comma_or_end,
    arguments_only,  // what follows is the object of arguments
    quoted,          // a short value in single quotes
    mended,          // arguments that went on as a literal of Python
    proof,           // behind JSON that would be a program if more followed it
  };
  enum class Role : std::uint8_t { name, arguments, id, inner, constant, other };
  enum class Shape : std::uint8_t { object, text, nothing };  ///< what the arguments are written as
  static constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

  /// Arguments that are JSON in a string.
  struct StringArguments {
    explicit StringArguments(std::uint32_t depth) : inner(depth) {}
    JsonScanner inner;
    JsonUnescape unescape;
    std::array<char, 3> tail{};  ///< the beginning of a code point
    std::uint8_t tail_size = 0;
    bool begun = false;  ///< more than blanks
    bool done = false;
    bool raw_escape = false;
  };

  void read_part(const char*& p, const char* end) override;
  bool finish_part() override;
  void say_cut_off(std::string& held) override;
  HeldText& word() const { return in().call->word; }  ///< a key or a short value as it is written
  bool in_object() const { return in().form().arguments_part == Form::kNone; }
  bool begin_call();

  // keys (object_reader.cpp)
  const char* read_object(const char* p, const char* end);
  bool take_frame_byte(char c);
  bool take_member_byte(char c);
  bool begins_list() const;
  bool lacks_brace(char c);
  bool begin_quoted(At at);
  const char* read_quoted(const char* p, const char* end);
  void end_quoted();
  const char* read_key(const char* p, const char* end);
  void end_key();
  void take_role(const std::string& key);
  bool end_object();

  // values (object_value.cpp)
  std::size_t room(std::size_t longest) const;
  bool begin_value(char c);
  bool begin_arguments(char c);
  const char* read_value(const char* p, const char* end);
  void fail_value();
  std::size_t put_value(std::string_view bytes);
  std::size_t put_arguments(std::string_view bytes, bool has_source);
  std::size_t put_argument_text(std::string_view bytes, bool has_source);
  bool end_value();
  bool end_name_member();
  bool end_arguments();

  // nearly JSON (object_mend.cpp)
  bool streams() const;
  std::string_view keep_comma(std::string_view bytes, Scan scan);
  void release_comma();
  std::optional<std::size_t> mend(char c);
  bool drop_comma(char c);
  bool begins_bare_key(char c) const;
  const char* read_bare_key(const char* p, const char* end);
  std::optional<std::size_t> mend_escape(char c);
  const char* read_mended(const char* p, const char* end);
  bool put_newline(char c);
  const char* read_bare_word(const char* p, const char* end);
  bool say_bare_word(std::string_view text);

  // JSON or a program (object_proof.cpp)
  bool needs_proof() const { return in().form().may_be_program && !in().call->sure && !in().call->named; }
  bool is_expected_object() const;
  bool begin_proof();
  const char* read_proof(const char* p, const char* end);
  void prove(const std::string& source);

  At at_;
  Role role_;
  Shape shape_ = Shape::object;
  std::uint8_t level_ = 0;  ///< of the object
  std::uint8_t inner_ = 0;  ///< the level that the next value is
  bool has_arguments_ : 1 = false;
  bool mended_ : 1 = false;                              ///< an escape of the arguments, and it was said
  bool quoted_ : 1 = false;                              ///< a string of the object stands in single quotes
  bool stranger_ : 1 = false;                            ///< the object has members that a call does not have
  bool bare_key_ : 1 = false;                            ///< a key of the arguments without quotes is held
  bool bare_word_ : 1 = false;                           ///< what may be a word of Python in the arguments is held
  std::uint32_t arguments_from_ = 0, arguments_to_ = 0;  ///< in the call's beginning, where they stood before the name
  JsonScanner scanner_;
  Box<StringArguments> string_;  ///< while arguments of this shape are read
  Box<PythonScanner> python_;    ///< mended: the rest
};

}  // namespace parlance::reply
