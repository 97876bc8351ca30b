// Document: parsing into kept buffers, and finding the path of a value again.
//
// Nothing is recorded for paths while parsing. Begin reading at Storage::find; Walk is the one
// way through a tree.
#include "value/document.h"

#include <algorithm>
#include <functional>

#include "value/dict.h"
#include "value/fresh.h"

namespace parlance {
namespace {

/// Visits a tree in document order, keys before their values, and knows the path to where it is.
class Walk {
 public:
  explicit Walk(Value root) : root_(root) {}

  /// Moves on; false at the end.
  bool next();
  Value value() const { return value_; }
  bool is_key() const { return is_key_; }
  std::string path() const;

 private:
  /// An open container and how many of its items were visited. A dict has two: keys and values.
  struct Level {
    Value container;
    std::uint32_t visited;
    std::uint32_t end() const {
      return container.kind == Kind::dict ? container.dict->size * 2 : container.list->size;
    }
  };

  void visit(Value v, bool is_key);

  Value root_;
  Value value_;
  bool is_key_ = false;
  bool began_ = false;
  std::vector<Level> levels_;
};

void Walk::visit(Value v, bool is_key) {
  value_ = v;
  is_key_ = is_key;
  if (v.kind == Kind::dict || v.kind == Kind::list) levels_.push_back({v, 0});
}

bool Walk::next() {
  if (!began_) {
    began_ = true;
    visit(root_, false);
    return true;
  }
  while (!levels_.empty() && levels_.back().visited == levels_.back().end()) levels_.pop_back();
  if (levels_.empty()) return false;
  Level& level = levels_.back();
  const std::uint32_t i = level.visited++;
  if (level.container.kind == Kind::list) {
    visit(level.container.list->items[i], false);
  } else {
    const DictEntry& entry = level.container.dict->entries[i / 2];
    visit(i % 2 == 0 ? entry.key : entry.value, i % 2 == 0);
  }
  return true;
}

std::string Walk::path() const {
  std::string path;
  for (const Level& level : levels_) {
    if (level.visited == 0) break;  // the container that was just reached
    const std::uint32_t i = level.visited - 1;
    if (level.container.kind == Kind::dict) {
      append_path_key(path, leaf_text(level.container.dict->entries[i / 2].key));
    } else {
      append_path_number(path, i);
    }
  }
  return path;
}

/// Addresses of unrelated objects may be compared only like this.
bool before(const char* a, const char* b) { return std::less<>()(a, b); }

bool covers(Value string, const char* address) {
  if (string.size == 0) return address == string.data;
  return !before(address, string.data) && before(address, string.data + string.size);
}

/// The messages of a request, if they are a list.
const DictEntry* find_messages(Value root) {
  if (root.kind != Kind::dict) return nullptr;
  const DictEntry* entry = find_key(*root.dict, "messages");
  return entry != nullptr && entry->value.kind == Kind::list ? entry : nullptr;
}

Value messages_of(Value root) {
  const DictEntry* entry = find_messages(root);
  return entry != nullptr ? entry->value : Value{};
}

/// The address of the first string in `v`, or null.
const char* first_string(const Value& v) {
  if (v.is_string()) return v.data;
  // A message begins with a key, unless there are two equal ones: then the first stands where it first stood.
  if (v.kind == Kind::dict && v.dict->size != 0) return v.dict->entries[0].key.data;
  for (Walk walk(v); walk.next();) {
    if (walk.value().is_string()) return walk.value().data;
  }
  return nullptr;
}

template <typename IsIt>
bool find_in(Value root, IsIt is_it, PlaceInInput& place) {
  for (Walk walk(root); walk.next();) {
    if (!is_it(walk.value())) continue;
    place.path = walk.path();
    place.is_key = walk.is_key();
    return true;
  }
  return false;
}

}  // namespace

std::uint32_t origin_of(Value v) {
  if (v.kind == Kind::string || v.kind == Kind::object) return 0;
  if (v.origin != 0) return v.origin;
  if (v.is_sequence()) return v.list->origin;
  return v.kind == Kind::dict ? v.dict->origin : 0;
}

bool find_in_tree(Value root, const char* address, PlaceInInput& place) {
  return find_in(
      root, [address](Value v) { return v.is_leaf() && covers(v, address); }, place);
}

bool find_in_tree(Value root, std::uint32_t origin, PlaceInInput& place) {
  return find_in(
      root, [origin](Value v) { return origin_of(v) == origin; }, place);
}

// ---- parsing

Result<void> Document::Storage::parse(std::string_view text, std::string_view name) {
  begin_parse();
  return end_parse(reader_.read(text, arena_, next_origin_, name));
}

Result<void> Document::Storage::consume(std::string text, std::string_view name) {
  begin_parse();
  return end_parse(reader_.consume(std::move(text), arena_, next_origin_, name));
}

void Document::Storage::begin_parse() {
  arena_.reset();
  root_ = Value::none();
  next_origin_ = 1;
  indexed_.store(false, std::memory_order_relaxed);
  paths_.clear();
}

Result<void> Document::Storage::end_parse(Result<Value> read) {
  if (!read) {
    next_origin_ = 1;
    return read.error();
  }
  copy_fresh(root_, *read);
  return {};
}

// ---- messages

const Document::Storage::Messages& Document::Storage::messages() const {
  if (!indexed_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    if (!indexed_.load(std::memory_order_relaxed)) {
      index_messages();
      indexed_.store(true, std::memory_order_release);
    }
  }
  return messages_;
}

/// Where the messages end: where what follows them in the request begins.
Document::Storage::End Document::Storage::end_of_messages(const DictEntry* entry) const {
  const std::string_view strings = reader_.strings();
  End end{strings.data() + strings.size(), next_origin_};
  const DictObject& root = *root_.dict;
  if (root.size != root.capacity) return walk_to_end();  // a repeated key: not in the order of the text
  const DictEntry* const last = root.entries + root.size;
  if (++entry < last) end.strings = entry->key.data;
  while (entry < last && entry->value.is_string()) ++entry;
  if (entry < last) end.origins = origin_of(entry->value);
  return end;
}

/// The same by looking at all that the messages hold.
Document::Storage::End Document::Storage::walk_to_end() const {
  End end{nullptr, 0};
  for (Walk walk(messages_of(root_)); walk.next();) {
    const Value v = walk.value();
    if (v.is_string()) end.strings = std::max(end.strings, v.data + v.size + 1, std::less<>());
    end.origins = std::max(end.origins, origin_of(v) + 1);
  }
  return end;
}

/// Messages stand one after the other in the text, so where each begins is where the one before
/// ends. What has no string (or no id) begins where the next does.
void Document::Storage::index_messages() const {
  const DictEntry* entry = find_messages(root_);
  const std::uint32_t count = entry == nullptr ? 0 : entry->value.list->size;
  messages_.strings.resize(count == 0 ? 0 : count + 1);
  messages_.origins.resize(messages_.strings.size());
  if (count == 0) return;
  End next = end_of_messages(entry);
  messages_.strings[count] = next.strings;
  messages_.origins[count] = next.origins;
  for (std::uint32_t i = count; i-- > 0;) {
    const Value& message = entry->value.list->items[i];
    if (const char* first = first_string(message)) next.strings = first;
    if (const std::uint32_t origin = origin_of(message)) next.origins = origin;
    messages_.strings[i] = next.strings;
    messages_.origins[i] = next.origins;
  }
}

bool Document::Storage::holds(const char* address) const {
  const std::string_view strings = reader_.strings();
  return !strings.empty() && !before(address, strings.data()) && before(address, strings.data() + strings.size());
}

namespace {
/// The number of the range that `at` lies in, where range i is [begins[i], begins[i + 1]); -1 for
/// none.
template <typename T, typename Less>
std::int32_t range_of(const std::vector<T>& begins, T at, Less less) {
  if (begins.empty() || less(at, begins.front()) || !less(at, begins.back())) return -1;
  return static_cast<std::int32_t>(std::upper_bound(begins.begin(), begins.end(), at, less) - begins.begin()) - 1;
}
}  // namespace

std::int32_t Document::Storage::message_of(const char* address) const {
  return holds(address) ? range_of(messages().strings, address, before) : -1;
}

std::int32_t Document::Storage::message_of(std::uint32_t origin) const {
  return holds(origin) ? range_of(messages().origins, origin, std::less<>()) : -1;
}

namespace {
std::uintptr_t number(const char* address) { return reinterpret_cast<std::uintptr_t>(address); }
std::uintptr_t number(std::uint32_t origin) { return origin; }

/// The stretch of sorted `starts` around `key`, within [first, last).
template <typename Key, typename Less>
void stretch_around(const std::vector<Key>& starts, Key key, Less less, Key first, Key last,
                    Document::Storage::Neighbours& found) {
  auto after = starts.begin() + found.after;
  // What was asked last is mostly the stretch before.
  const bool next = starts.end() - after > 1 && !less(key, *after) && less(key, *(after + 1));
  after = next ? after + 1 : std::upper_bound(starts.begin(), starts.end(), key, less);
  found.after = static_cast<std::uint32_t>(after - starts.begin());
  const bool inside = after != starts.begin() && after != starts.end();
  found.message = inside ? static_cast<std::int32_t>(after - starts.begin()) - 1 : -1;
  found.begin = number(after == starts.begin() ? first : *(after - 1));
  found.end = number(after == starts.end() ? last : *after);
}
}  // namespace

bool Document::Storage::neighbours(const char* address, Neighbours& found) const {
  if (!holds(address)) return false;
  const std::string_view all = reader_.strings();
  stretch_around(messages().strings, address, std::less<>(), all.data(), all.data() + all.size(), found);
  found.message = number_now(found.message);
  return true;
}

bool Document::Storage::neighbours(std::uint32_t origin, Neighbours& found) const {
  if (!holds(origin)) return false;
  stretch_around(messages().origins, origin, std::less<>(), std::uint32_t{1}, next_origin_, found);
  found.message = number_now(found.message);
  return true;
}

// ---- paths

/// The index of a message, or of all that is in none (-1); made by the first who asks.
const PathIndex& Document::Storage::paths_in(std::int32_t message) const {
  const Value list = messages_of(root_);
  const std::lock_guard lock(mutex_);
  if (paths_.empty()) paths_.resize(list.is_sequence() ? std::size_t{list.list->size} + 1 : 1);
  std::unique_ptr<PathIndex>& index = paths_[static_cast<std::size_t>(message + 1)];
  if (index == nullptr) {
    index = message < 0 ? std::make_unique<PathIndex>(root_, list)
                        : std::make_unique<PathIndex>(list.list->items[message], Value());
  }
  return *index;
}

template <typename Key>
bool Document::Storage::find_anywhere(Key key, PlaceInInput& place) const {
  if (!holds(key)) return false;
  const std::int32_t message = message_of(key);
  if (!paths_in(message).find(key, place)) return false;
  place.message = message;
  if (message < 0) return true;
  const bool dot = !place.path.empty() && place.path.front() != '[';
  place.path = "messages[" + std::to_string(message) + (dot ? "]." : "]") + place.path;
  return true;
}

bool Document::Storage::find(const char* address, PlaceInInput& place) const { return find_anywhere(address, place); }
bool Document::Storage::find(std::uint32_t origin, PlaceInInput& place) const { return find_anywhere(origin, place); }

// ---- Document

Document::Document() : storage_(std::make_unique<Storage>()) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

Result<void> Document::parse(std::string_view text, std::string_view name) {
  if (storage_ == nullptr) storage_ = std::make_unique<Storage>();  // it was moved from
  return storage_->parse(text, name);
}

Value Document::root() const { return storage_ == nullptr ? Value::none() : storage_->root(); }

std::string Document::path_of(Value value) const {
  PlaceInInput place;
  if (storage_ == nullptr) return {};
  if (!value.is_string()) {
    storage_->find(origin_of(value), place);
  } else if (value.is_leaf()) {
    storage_->find(value.data, place);
  } else {
    for (std::uint32_t i = 0; i < value.rope->count; ++i) {
      if (storage_->find(value.rope->pieces[i].data, place)) break;
    }
  }
  return place.path;
}

}  // namespace parlance
