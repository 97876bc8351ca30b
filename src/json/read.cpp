// JsonReader: JsonIndex finds the tokens, TokenReader makes values of them, LenientReader takes what those refuse.
//
// Begin reading at JsonReader::read.
#include "json/read.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/packed.h"
#include "base/source_text.h"
#include "json/index.h"
#include "json/lenient.h"
#include "json/tokens.h"
#include "value/fresh.h"
#include "value/string.h"

namespace parlance {

namespace {
/// A buffer that only grows, and by at least a quarter.
struct Growing {
  std::unique_ptr<char[]> data;
  std::size_t capacity = 0;

  char* at_least(std::size_t bytes) {
    if (bytes > capacity) {
      data.reset();
      capacity = bytes + bytes / 4;
      data = std::make_unique_for_overwrite<char[]>(capacity);
    }
    return data.get();
  }
};
}  // namespace

/// What reading takes, and nothing that was read.
struct JsonReader::Scratch {
  JsonIndex index;
  Growing stack;
};

struct JsonReader::Buffers {
  std::unique_ptr<Scratch> scratch;  ///< for long texts
  Growing copy;                      ///< of the text, padded
  std::string consumed;              ///< the text, padded, if it was given for good
  Growing values;                    ///< containers and values
  Growing lenient_strings;           ///< string bytes of texts that TokenReader refused
};

JsonReader::JsonReader() : buffers_(std::make_unique<Buffers>()) {}
JsonReader::JsonReader(JsonReader&&) noexcept = default;
JsonReader& JsonReader::operator=(JsonReader&&) noexcept = default;
JsonReader::~JsonReader() = default;

/// Readers are many, and are kept with what they read: they share what takes as much memory again, where that is
/// little enough to be kept for good.
[[gnu::always_inline]] inline JsonReader::Scratch& JsonReader::scratch() {
  constexpr std::size_t kShort = std::size_t{256} << 10;
  if (strings_.size() <= kShort) {
    static thread_local Scratch shared;
    return shared;
  }
  if (buffers_->scratch == nullptr) buffers_->scratch = std::make_unique<Scratch>();
  return *buffers_->scratch;
}

/// Finds the tokens of strings_, if that is done beforehand. False if there is fault with its strings or bytes.
[[gnu::always_inline]] inline bool JsonReader::index(Scratch& scratch) const {
  return !JsonIndex::is_there() || scratch.index.find(strings_);
}

/// A reader of strings_, after index().
[[gnu::always_inline]] inline TokenReader JsonReader::token_reader(Scratch& scratch, Arena& arena) {
  char* const text = const_cast<char*>(strings_.data());  // one of the reader's buffers
  const JsonIndex& index = scratch.index;
  const bool indexed = JsonIndex::is_there();
  const TokenReader::Most most = indexed ? TokenReader::most_of(index.count()) : TokenReader::most_of(strings_);
  char* const memory = buffers_->values.at_least(TokenReader::bytes_for(most));
  char* const stack = scratch.stack.at_least(TokenReader::scratch_for(most));
  return {{text, strings_.size(), most, index.tokens(), index.count()}, memory, stack, arena, repeats_};
}

namespace {
Error error_at(const JsonFailure& failure, std::string_view text, std::string_view name) {
  const std::size_t begin = std::min(failure.offset, text.size());
  const std::size_t end = std::min(begin + 1, text.size());
  const SourceText source{std::string(name), text, false};
  return Error(failure.code, failure.message).at(source.locate(begin, end));
}

Error too_long(std::string_view name) {
  return Error(ErrorCode::limit_memory, "a JSON text of 2 GiB or more cannot be read").at({.name = std::string(name)});
}
}  // namespace

Result<Value> JsonReader::read(std::string_view text, Arena& arena, std::uint32_t& next_origin, std::string_view name) {
  if (text.size() >= Runtime::kMaxText) return too_long(name);
  char* padded = buffers_->copy.at_least(text.size() + kPadding);
  if (!text.empty()) std::memcpy(padded, text.data(), text.size());
  std::memset(padded + text.size(), 0, kPadding);
  strings_ = {padded, text.size()};
  repeats_ = false;
  Value root;
  Scratch& room = scratch();
  if (!index(room) || !token_reader(room, arena).read(root, next_origin))
    return read_leniently(text, arena, next_origin, name);
  Value same;
  copy_fresh(same, root);
  return same;
}

Result<Value> JsonReader::consume(std::string given, Arena& arena, std::uint32_t& next_origin, std::string_view name) {
  const std::size_t size = given.size();
  if (size >= Runtime::kMaxText) return too_long(name);
  // To look at the whole text before reading it, as below, takes longer than a copy where there is no index.
  if (!JsonIndex::is_there()) return read(given, arena, next_origin, name);
  std::string& text = buffers_->consumed;
  text = std::move(given);
  text.resize(size + kPadding);
  strings_ = {text.data(), size};
  repeats_ = false;
  Value root;
  // The text is not there twice, so it is not touched before it is known to be read to its end.
  Scratch& room = scratch();
  if (index(room) && token_reader(room, arena).accepts() && token_reader(room, arena).read(root, next_origin)) {
    return root;
  }
  return read_leniently({text.data(), size}, arena, next_origin, name);
}

Result<Value> JsonReader::read_leniently(std::string_view text, Arena& arena, std::uint32_t& next_origin,
                                         std::string_view name) {
  char* strings = buffers_->lenient_strings.at_least(text.size() + 1);
  strings_ = {strings, text.size() + 1};
  const Limits limits;
  Runtime rt(arena, limits);
  LenientReader::Options options;
  options.buffer = strings;
  LenientReader reader(text, rt, next_origin, options);
  const Value v = reader.read();
  repeats_ = reader.repeats();
  if (!v.is_invalid()) return v;
  const bool is_too_deep = reader.failure().code == ErrorCode::limit_depth;
  std::string hint(hint_for_bytes(text));
  if (is_too_deep) hint = "objects and lists nest at most " + std::to_string(kJsonDepth) + " deep";
  return error_at(reader.failure(), text, name).hint(std::move(hint));
}

namespace {
Result<Value> read_text(Runtime& rt, Value source, std::uint32_t& origin, bool count_origins, bool* repeats) {
  const std::string_view json = text(rt, source);
  if (!rt.charge_bytes(json.size()) || !rt.reserve(json.size())) {
    return Error(rt.failure.code, rt.failure.message);
  }
  LenientReader::Options options;
  options.source = source;
  options.share = source.is_leaf();
  options.count_origins = count_origins;
  LenientReader reader(json, rt, origin, options);
  const Value v = reader.read();
  if (v.is_invalid()) return error_at(reader.failure(), json, "<string>");
  if (repeats != nullptr && reader.repeats()) *repeats = true;
  return v;
}
}  // namespace

Result<Value> read_json_into(Runtime& rt, Value source, std::uint32_t origin, bool* repeats) {
  return read_text(rt, source, origin, false, repeats);
}

Result<Value> read_json_numbered(Runtime& rt, Value source, std::uint32_t& next_origin, bool* repeats) {
  return read_text(rt, source, next_origin, true, repeats);
}

}  // namespace parlance
