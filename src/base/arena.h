// Arena: bump memory for everything one render (or one document) makes, freed at once, counted.
//
// Plain objects and text are kept in separate chunks, which a reset keeps for what comes next. Text made during a
// render is logged with the bytes it was made from, so that an address alone tells where text came from (see
// render/provenance.h). Not thread-safe: one arena belongs to one render or one document at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

namespace parlance {

/// How derived text relates to its source: `data` is an address inside the text it was made from
/// (null: made from the number or container whose origin id is `id`; both zero: computed).
struct TextSource {
  const char* data = nullptr;
  std::uint32_t id = 0;
};

/// An id for text that was made of more than its source names, and for numbers that were read from a text.
inline constexpr std::uint32_t kMixedSource = 0xFFFFFFFF;
/// An id for text that a number or a boolean without origin printed as: one that the template computed.
inline constexpr std::uint32_t kNumberSource = 0xFFFFFFFE;
/// An id for text that is a constant of the program: the role of a message that it made, the brackets of a list.
inline constexpr std::uint32_t kProgramSource = 0xFFFFFFFD;

class Arena {
 public:
  /// One piece of derived text: bytes [begin, begin + size) were made from `source`.
  struct Derived {
    const char* begin;
    std::uint32_t size;
    std::uint32_t source_id;
    const char* source_data;
    TextSource source() const { return {source_data, source_id}; }
  };

  Arena() = default;
  /// `first_chunk`: bytes of the first chunk of each kind.
  explicit Arena(std::size_t first_chunk) : first_chunk_(first_chunk) {}
  /// For what is kept long and not reset: chunks grow slowly, so that little of them stays empty.
  static constexpr struct Tight {
  } tight{};
  explicit Arena(Tight) : first_chunk_(512), growth_(5) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Memory for `bytes` bytes, aligned to 8. Never null: passing `limit()` is only recorded, in over_limit().
  void* allocate(std::size_t bytes) {
    bytes = (bytes + 7) & ~std::size_t{7};
    if (bytes > static_cast<std::size_t>(end_ - next_)) return allocate_slow(bytes);
    char* result = next_;
    next_ += bytes;
    return result;
  }
  template <typename T>
  T* allocate_array(std::size_t n) {
    static_assert(alignof(T) <= 8);
    return static_cast<T*>(allocate(n * sizeof(T)));
  }
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    static_assert(alignof(T) <= 8 && std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T))) T{static_cast<Args&&>(args)...};
  }

  /// Room for `bytes` bytes of text, unaligned. Not logged: follow with log_derived, or leave as computed text.
  char* allocate_text(std::size_t bytes) {
    if (bytes > static_cast<std::size_t>(text_end_ - text_next_)) return allocate_text_slow(bytes);
    char* result = text_next_;
    text_next_ += bytes;
    return result;
  }
  /// Gives back the last `bytes` bytes of the latest allocate_text.
  void shrink_text(std::size_t bytes) { text_next_ -= bytes; }
  void log_derived(const char* begin, std::size_t size, TextSource source) {
    if (size == 0 || !logging_) return;
    begin_run(begin);
    newest_ = begin;
    log_in_run(begin, size, source);
  }
  /// The same for much text in address order, while nothing else is logged: begin_run(), log_in_run() for what has
  /// bytes, end_run(). Only if logging().
  void begin_run(const char* begin) {
    if (std::less<>()(begin, newest_)) sorted_ = false;
  }
  void log_in_run(const char* begin, std::size_t size, TextSource source) {
    *room_in_log(1) = {begin, static_cast<std::uint32_t>(size), source.id, source.data};
    ++log_next_;
  }
  /// log_in_run() of two texts that follow each other: [begin, middle) and [middle, end).
  void log_two_in_run(const char* begin, TextSource first, const char* middle, const char* end, TextSource second) {
    Derived* const at = room_in_log(2);
    at[0] = {begin, static_cast<std::uint32_t>(middle - begin), first.id, first.data};
    at[1] = {middle, static_cast<std::uint32_t>(end - middle), second.id, second.data};
    log_next_ = at + 2;
  }
  void end_run() {
    if (log_next_ != log_.get()) newest_ = log_next_[-1].begin;
  }
  /// Whether derived text is logged (it is, unless switched off): a render that nobody asks for provenance saves the
  /// work.
  bool logging() const { return logging_; }
  void set_logging(bool on) { logging_ = on; }
  std::string_view copy_text(std::string_view text) {
    if (text.empty()) return "";
    char* p = allocate_text(text.size());
    if (!text.empty()) std::memcpy(p, text.data(), text.size());
    return {p, text.size()};
  }

  bool log_is_sorted() const { return sorted_; }
  /// Puts the log in address order, if it is not, as it mostly is.
  void sort_log() {
    if (!sorted_) sort_slow();
  }
  /// The derived piece that holds `address`, or null. Sorts the log.
  const Derived* find_derived(const char* address) {
    sort_log();
    return find_sorted_derived(address);
  }

  /// find_derived() and the whole log in address order, for an arena whose log is sorted.
  const Derived* find_sorted_derived(const char* address) const;
  std::span<const Derived> sorted_derived() const { return {log_.get(), log_next_}; }
  /// Where most text of a short render lies; the rest is in further chunks.
  std::string_view first_text() const {
    return text_chunks_.list.empty() ? std::string_view()
                                     : std::string_view(text_chunks_.list[0].data, text_chunks_.list[0].size);
  }
  /// Does `address` lie in text of this arena?
  bool holds_text(const char* address) const {
    for (const Chunk& chunk : text_chunks_.list) {
      if (!std::less<>()(address, chunk.data) && std::less<>()(address, chunk.data + chunk.size)) return true;
    }
    return false;
  }

  /// Does `address` lie in anything of this arena?
  bool holds(const void* address) const {
    const auto* const at = static_cast<const char*>(address);
    for (const Chunk& chunk : chunks_.list) {
      if (!std::less<>()(at, chunk.data) && std::less<>()(at, chunk.data + chunk.size)) return true;
    }
    return holds_text(at);
  }

  /// Gives back room that the log does not need: for an arena that nothing is added to any more.
  void fit();

  void set_limit(std::size_t bytes) { limit_ = bytes; }
  std::size_t limit() const { return limit_; }
  /// Bytes of the chunks that are in use. What a limit allows does not depend on what was done before the last reset:
  /// chunks come in the same sizes, and those that are only kept do not count.
  std::size_t used() const { return used_; }
  bool over_limit() const { return used_ > limit_; }
  /// Would `bytes` more stay within the limit? Ask before an allocation whose size the template chooses.
  bool has_room(std::uint64_t bytes) const { return bytes <= limit_ && used_ <= limit_ - bytes; }

  /// Forgets everything. The first chunks of each kind, up to some megabytes, are kept: whoever does the same again
  /// allocates nothing.
  void reset() {
    if (used_ != 0) reset_chunks();  // else there is nothing
  }

 private:
  struct Chunk {
    char* data;
    std::size_t size;      ///< bytes that are used, and that count
    std::size_t capacity;  ///< bytes that are there
  };
  struct Chunks {
    std::vector<Chunk> list;
    std::size_t in_use = 0;  ///< those behind them are kept for later
  };
  void reset_chunks();
  void rewind(Chunks& chunks, char*& next, char*& end);
  void* allocate_slow(std::size_t bytes);
  char* allocate_text_slow(std::size_t bytes);
  void sort_slow();
  Derived* room_in_log(std::size_t records) {
    if (static_cast<std::size_t>(log_end_ - log_next_) < records) grow_log();
    return log_next_;
  }
  void grow_log();
  void move_log(std::size_t capacity);
  Chunk& next_chunk(Chunks& chunks, std::size_t bytes);

  char* next_ = nullptr;
  char* end_ = nullptr;
  char* text_next_ = nullptr;
  char* text_end_ = nullptr;
  std::size_t used_ = 0;
  std::size_t limit_ = ~std::size_t{0};
  bool sorted_ = true;  ///< is derived_ in address order?
  const char* newest_ = nullptr;
  bool logging_ = true;
  std::size_t first_chunk_ = std::size_t{16} << 10;
  std::size_t growth_ = 8;  ///< from one chunk to the next, in quarters
  Chunks chunks_;
  Chunks text_chunks_;
  std::unique_ptr<Derived[]> log_;  ///< of derived text
  Derived* log_next_ = nullptr;
  Derived* log_end_ = nullptr;
};

}  // namespace parlance
