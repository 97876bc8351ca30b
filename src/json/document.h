// Document's inside: the reader with its buffers, and the ways back from a value to its place in
// the input.
//
// A string's place follows from its address, everything else's from its origin id; both grow in
// document order. Begin reading at Storage::find.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/arena.h"
#include "base/fork_lock.h"
#include "base/inside.h"
#include "json/path_index.h"
#include "json/read.h"
#include "parlance/json.h"

namespace parlance {

/// The place of the string (or key) in the tree `root` that covers `address`, or of the value with
/// this origin id. Walks the tree; `place.message` is left as it is.
bool find_in_tree(Value root, const char* address, PlaceInInput& place);
bool find_in_tree(Value root, std::uint32_t origin, PlaceInInput& place);
/// The origin id of a value that is no string; the container's own where a copy of the Value lost
/// it.
std::uint32_t origin_of(Value v);

using DocumentStorage = Inside<Document>::Type;

/// Threads: parse and build need it alone; everything const may be used by many threads (what is
/// indexed is so by the first who asks, under a mutex).
struct Document::Storage {
 public:
  Result<void> parse(std::string_view text, std::string_view name);
  /// parse() without a copy of the text, which is the document's from now on.
  Result<void> consume(std::string text, std::string_view name);
  Result<void> build(DocumentBuilder& from);

  Value root() const { return root_; }
  Arena& arena() { return arena_; }
  /// The first origin id that no value of this document has.
  std::uint32_t next_origin() const { return next_origin_; }
  /// How long the text was that was parsed last.
  std::size_t text_bytes() const { return strings_.size(); }
  /// Does a dict of the text have a key twice? (What a builder was given says no.)
  bool repeats() const { return repeats_; }
  /// Whether an address lies in this document's string bytes.
  bool holds(const char* address) const;
  bool holds(std::uint32_t origin) const { return origin != 0 && origin < next_origin_; }

  /// The item of `messages` that an address (or origin id) of this document lies in, or -1. A binary search.
  std::int32_t message_of(const char* address) const;
  std::int32_t message_of(std::uint32_t origin) const;

  /// Which message the values of a request belong to whose messages were made of something else than the items of
  /// `messages`: what stands inside of a value belongs to the same message, unless it is here itself.
  struct Owners {
    std::unordered_map<std::uint32_t, std::int32_t> origins;
    std::unordered_map<const char*, std::int32_t> strings;
  };
  /// From now on numbers of messages are by `owners`. Walks the document.
  void set_owners(const Owners& owners);
  void clear_owners() {
    if (has_owners_) owned_strings_ = {}, owned_origins_ = {}, has_owners_ = false;
  }
  /// The number that a byte's (or an origin id's) message has among the conversation's, or -1.
  std::int32_t number_of(const char* address) const;
  std::int32_t number_of(std::uint32_t origin) const;

  /// The messages and what lies behind them: an address, an origin id. Messages stand one after the other in the text,
  /// so where each begins is where the one before ends.
  struct MessageList {
    const Value* items = nullptr;
    std::uint32_t count = 0;
    std::uint32_t end_of_origins = 0;
    const char* end_of_strings = nullptr;
    std::string_view strings;  ///< of the whole document
  };
  void list_messages(MessageList& list) const;

  /// The addresses (or ids) around one of this document's that lie in the same message, or in none: for callers that
  /// ask about many neighbours. False for what is not of this document.
  struct Neighbours {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::int32_t message = -1;
    std::uint32_t after = 0;  ///< number of the stretch that follows
    bool hold(std::uintptr_t key) const { return key >= begin && key < end; }
  };
  bool neighbours(const MessageList& messages, const char* address, Neighbours& found) const;
  bool neighbours(const MessageList& messages, std::uint32_t origin, Neighbours& found) const;
  /// The number that neighbours() gives the first message: not 0 where others were put before them.
  void set_first_message(std::int32_t number) { first_message_ = number; }
  /// The numbers that neighbours() gives the messages of the document, first_message not counted: for messages that
  /// were joined. Empty: as they stand.
  void set_message_numbers(std::vector<std::int32_t> numbers) { message_numbers_ = std::move(numbers); }
  const std::vector<std::int32_t>& message_numbers() const { return message_numbers_; }
  /// The same for one message; -1 stays.
  std::int32_t number_now(std::int32_t message) const {
    if (message < 0) return message;
    const auto at = static_cast<std::size_t>(message);
    return (at < message_numbers_.size() ? message_numbers_[at] : message) + first_message_;
  }

  /// The whole place; false if it is none of this document's. The first question about a message (or about what is in
  /// none) walks it.
  bool find(const char* address, PlaceInInput& place) const;
  bool find(std::uint32_t origin, PlaceInInput& place) const;

 private:
  /// Stretches of addresses (or ids), one after the other, each of one message.
  template <typename Key>
  struct Owned {
    std::vector<Key> begins;
    std::vector<std::int32_t> numbers;
    std::int32_t at(Key key) const;
    void add(Key begin, std::int32_t number);
  };
  template <typename Key>
  void owned_stretch(const Owned<Key>& owned, Key key, Key first, Key last, Neighbours& found) const;

  /// Where each message begins: its first string's address and its first origin id, and where the
  /// last one ends. Made where there are many, or where messages do not tell that themselves.
  struct Messages {
    std::vector<const char*> strings;
    std::vector<std::uint32_t> origins;
  };

  void walk_to_end(MessageList& list) const;
  void begin();
  Result<void> end(Result<Value> read);
  const Messages& messages() const;
  void index_messages() const;
  const PathIndex& paths_in(std::int32_t message) const;
  template <typename Key>
  bool find_anywhere(Key key, PlaceInInput& place) const;

  Arena arena_{std::size_t{2} << 10};  ///< few values need it
  JsonReader reader_;
  std::string built_text_;    ///< of a builder, padded
  std::string_view strings_;  ///< the memory that holds all string bytes (and more)
  Value root_ = Value::none();
  std::uint32_t next_origin_ = 1;
  bool repeats_ = false;
  std::int32_t first_message_ = 0;
  std::vector<std::int32_t> message_numbers_;
  bool has_owners_ = false;
  Owned<const char*> owned_strings_;
  Owned<std::uint32_t> owned_origins_;
  mutable BriefMutex mutex_;
  mutable std::atomic<bool> indexed_ = false;
  mutable Messages messages_;
  mutable std::vector<std::unique_ptr<PathIndex>> paths_;  ///< by message, one more; the first is of the rest
};

}  // namespace parlance
