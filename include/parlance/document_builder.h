// DocumentBuilder: makes a document of values, one after the other, without a JSON text.
//
//     parlance::DocumentBuilder builder;
//     builder.begin_dict();
//     builder.key("messages");
//     builder.begin_list();
//     for (const MyTurn& turn : turns) {
//       builder.begin_dict();
//       builder.key("role"), builder.string(turn.role);
//       builder.key("content"), builder.string(turn.text);
//       builder.end_dict();
//     }
//     builder.end_list();
//     builder.end_dict();
//     parlance::Conversation chat;
//     if (auto read = chat.read(builder); !read) return read.error();
//
// Bindings use it: they go through the objects of their language once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "parlance/result.h"

namespace parlance {

class Document;

/// Values in the order of a JSON text. What is given is copied. After the document was made, the builder is empty, and
/// its memory is used again.
///
/// A call that does not fit, such as a value in a dict without its key, is remembered; the first one is the error of
/// Document::build.   Threads: one at a time.
class DocumentBuilder {
 public:
  /// Lists and dicts nest at most this deep, as in JSON texts.
  static constexpr std::size_t kMostDepth = 1000;

  DocumentBuilder();
  DocumentBuilder(DocumentBuilder&&) noexcept;
  DocumentBuilder& operator=(DocumentBuilder&&) noexcept;
  ~DocumentBuilder();

  void none();
  void boolean(bool value);
  void integer(std::int64_t value);
  /// An integer by its at most 4,300 decimal digits, after a '-' if it is negative.
  void integer(std::string_view digits);
  void real(double value);
  /// UTF-8. Lone surrogates stand as three bytes, as in Python's "surrogatepass". Other bytes are an error.
  void string(std::string_view text);
  /// The same for a text that is known to be such, as every str of Python is; it is not checked.
  void known_string(std::string_view text);
  /// The same for a long text, which is copied when the document is built: until then, or until clear(), its bytes stay
  /// as they are where they are. What holds a lock while it goes through objects need not copy them under it.
  void lent_string(std::string_view text);

  void begin_list();
  void end_list();
  /// A list that templates print as Python's tuple.
  void begin_tuple();
  void end_tuple();
  void begin_dict();
  /// The key of the next value. Of equal keys the last value counts, at the first one's place.
  void key(std::string_view text);
  void known_key(std::string_view text);  ///< as known_string
  void end_dict();

  /// How many lists and dicts are open.
  std::size_t depth() const;
  /// How many bytes all texts have that were given, one more for each.
  std::size_t text_size() const;
  /// Forgets all that was given.
  void clear();

 private:
  template <typename Class>
  friend struct Inside;  // for parlance's own modules
  struct State;
  State& inside();

  std::unique_ptr<State> state_;
};

}  // namespace parlance
