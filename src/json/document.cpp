// Document: parsing into kept buffers, and finding the path of a value again.
//
// Nothing is recorded for paths while parsing. Begin reading at Storage::find; Walk is the one
// way through a tree.
#include "json/document.h"

#include <algorithm>
#include <functional>

#include "json/document_builder.h"
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
    std::uint32_t end() const { return container.kind == Kind::dict ? container.dict->size * 2 : container.list->size; }
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
  if (v.kind == Kind::dict || v.is_sequence()) levels_.push_back({v, 0});
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
  if (level.container.is_sequence()) {
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
  begin();
  return end(reader_.read(text, arena_, next_origin_, name));
}

Result<void> Document::Storage::consume(std::string text, std::string_view name) {
  begin();
  return end(reader_.consume(std::move(text), arena_, next_origin_, name));
}

/// The builder gets the memory of the texts before in exchange for its own.
Result<void> Document::Storage::build(DocumentBuilder& from) {
  begin();
  DocumentSteps& given = inside_of(from);
  if (!given.open.empty()) given.fail(ErrorCode::usage, "a list or dict is still open");
  const std::optional<Error> failure = given.failure;
  if (!failure) {
    given.give_texts(built_text_, JsonReader::kPadding);
    strings_ = {built_text_.data(), given.all_texts()};
    root_ = make_values(given, built_text_.data(), arena_, next_origin_);
  }
  given.clear();
  if (failure) return *failure;
  return {};
}

void Document::Storage::begin() {
  arena_.reset();
  root_ = Value::none();
  next_origin_ = 1;
  repeats_ = false;
  indexed_.store(false, std::memory_order_relaxed);
  paths_.clear();
}

Result<void> Document::Storage::end(Result<Value> read) {
  strings_ = reader_.strings();
  repeats_ = reader_.repeats();
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

/// They end where what follows them in the request begins.
void Document::Storage::list_messages(MessageList& list) const {
  const DictEntry* entry = find_messages(root_);
  list.strings = strings_;
  list.count = entry == nullptr ? 0 : entry->value.list->size;
  if (list.count == 0) return;
  list.items = entry->value.list->items;
  list.end_of_strings = list.strings.data() + list.strings.size();
  list.end_of_origins = next_origin_;
  const DictObject& root = *root_.dict;
  if (root.size != root.capacity) return walk_to_end(list);  // a repeated key: not in the order of the text
  const DictEntry* const last = root.entries + root.size;
  if (++entry < last) list.end_of_strings = entry->key.data;
  while (entry < last && entry->value.is_string()) ++entry;
  if (entry < last) list.end_of_origins = origin_of(entry->value);
}

/// The same by looking at all that the messages hold.
void Document::Storage::walk_to_end(MessageList& list) const {
  list.end_of_strings = list.strings.data();  // also where the messages hold none
  list.end_of_origins = 1;
  for (Walk walk(messages_of(root_)); walk.next();) {
    const Value v = walk.value();
    if (v.is_string()) list.end_of_strings = std::max(list.end_of_strings, v.data + v.size + 1, std::less<>());
    list.end_of_origins = std::max(list.end_of_origins, origin_of(v) + 1);
  }
}

/// What has no string (or no id) begins where the next does.
void Document::Storage::index_messages() const {
  MessageList list;
  list_messages(list);
  messages_.strings.resize(list.count == 0 ? 0 : list.count + 1);
  messages_.origins.resize(messages_.strings.size());
  if (list.count == 0) return;
  const char* string = messages_.strings[list.count] = list.end_of_strings;
  std::uint32_t origin = messages_.origins[list.count] = list.end_of_origins;
  for (std::uint32_t i = list.count; i-- > 0;) {
    if (const char* first = first_string(list.items[i])) string = first;
    if (const std::uint32_t own = origin_of(list.items[i])) origin = own;
    messages_.strings[i] = string;
    messages_.origins[i] = origin;
  }
}

bool Document::Storage::holds(const char* address) const {
  return !strings_.empty() && !before(address, strings_.data()) && before(address, strings_.data() + strings_.size());
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

using MessageList = DocumentStorage::MessageList;

/// How many messages are looked at each time instead of being indexed.
constexpr std::uint32_t kFewMessages = 6;

/// Where a message begins, if it tells; 0 if not. The end counts as one.
const char* start_of(const MessageList& list, std::uint32_t i, const char*) {
  if (i == list.count) return list.end_of_strings;
  const Value& message = list.items[i];
  return message.kind == Kind::dict && message.dict->size != 0 ? message.dict->entries[0].key.data : nullptr;
}
std::uint32_t start_of(const MessageList& list, std::uint32_t i, std::uint32_t) {
  return i == list.count ? list.end_of_origins : origin_of(list.items[i]);
}

template <typename Key>
void set_stretch(DocumentStorage::Neighbours& found, std::uint32_t after, std::uint32_t count, Key begin, Key end) {
  found.after = after;
  found.message = after != 0 && after <= count ? static_cast<std::int32_t>(after) - 1 : -1;
  found.begin = number(begin);
  found.end = number(end);
}

/// The stretch of messages around `key`, within [first, last). False where there are many, or one does not tell its
/// start.
template <typename Key>
bool stretch_of_few(const MessageList& list, Key key, Key first, Key last, DocumentStorage::Neighbours& found) {
  if (list.count == 0 || list.count > kFewMessages) return false;
  // What is behind the stretch that was asked for last is not looked for from the first message on.
  const bool is_behind = found.after != 0 && number(key) >= found.end;
  Key begin = is_behind ? start_of(list, found.after, Key{}) : first;
  if (begin == Key{}) return false;
  for (std::uint32_t i = is_behind ? found.after + 1 : 0; i <= list.count; ++i) {
    const Key start = start_of(list, i, Key{});
    if (start == Key{}) return false;
    if (std::less<>()(key, start)) {
      set_stretch(found, i, list.count, begin, start);
      return true;
    }
    begin = start;
  }
  set_stretch(found, list.count + 1, list.count, begin, last);
  return true;
}

/// The same among `starts`, sorted: where each message begins, and where the last one ends.
template <typename Key>
void stretch_around(const std::vector<Key>& starts, Key key, Key first, Key last, DocumentStorage::Neighbours& found) {
  constexpr std::ptrdiff_t kNear = 4;
  const std::less<> less;
  // What was asked last is mostly one of the stretches just before.
  auto after = starts.begin() + found.after;
  if (after != starts.begin() && less(key, *(after - 1))) after = starts.begin();
  const auto near = after + std::min(starts.end() - after, kNear);
  while (after != near && !less(key, *after)) ++after;
  if (after == near) after = std::upper_bound(after, starts.end(), key, less);
  const auto count = static_cast<std::uint32_t>(std::max<std::size_t>(starts.size(), 1) - 1);
  set_stretch(found, static_cast<std::uint32_t>(after - starts.begin()), count,
              after == starts.begin() ? first : *(after - 1), after == starts.end() ? last : *after);
}
}  // namespace

// ---- messages made of something else than the items of `messages`

/// Stretches come in the order of the document; what does not follow (a repeated key) is of the stretch it lies in.
template <typename Key>
void Document::Storage::Owned<Key>::add(Key begin, std::int32_t number) {
  if (!begins.empty() && (numbers.back() == number || !std::less<>()(begins.back(), begin))) return;
  begins.push_back(begin);
  numbers.push_back(number);
}

template <typename Key>
std::int32_t Document::Storage::Owned<Key>::at(Key key) const {
  const auto after = std::upper_bound(begins.begin(), begins.end(), key, std::less<>());
  return after == begins.begin() ? -1 : numbers[static_cast<std::size_t>(after - begins.begin()) - 1];
}

template <typename Key>
void Document::Storage::owned_stretch(const Owned<Key>& owned, Key key, Key first, Key last, Neighbours& found) const {
  const auto after = std::upper_bound(owned.begins.begin(), owned.begins.end(), key, std::less<>());
  found.after = 0;
  found.message = owned.at(key);
  found.begin = number(after == owned.begins.begin() ? first : *(after - 1));
  found.end = number(after == owned.begins.end() ? last : *after);
}

void Document::Storage::set_owners(const Owners& owners) {
  clear_owners();
  has_owners_ = true;
  struct Level {
    Value container;
    std::uint32_t visited;
    std::int32_t number;
  };
  std::vector<Level> levels;
  const auto visit = [&](Value v, std::int32_t number) {
    if (v.kind == Kind::string) {
      const auto own = owners.strings.find(v.data);
      return owned_strings_.add(v.data, own == owners.strings.end() ? number : own->second);
    }
    const std::uint32_t origin = origin_of(v);
    if (const auto own = owners.origins.find(origin); own != owners.origins.end()) number = own->second;
    if (origin != 0) owned_origins_.add(origin, number);
    if (v.kind == Kind::dict || v.kind == Kind::list) levels.push_back({v, 0, number});
  };
  visit(root_, -1);
  while (!levels.empty()) {
    Level& level = levels.back();
    const Value container = level.container;
    const bool is_dict = container.kind == Kind::dict;
    if (level.visited == (is_dict ? container.dict->size : container.list->size)) {
      levels.pop_back();
      continue;
    }
    const std::uint32_t i = level.visited++;
    const std::int32_t number = level.number;
    if (is_dict) visit(container.dict->entries[i].key, number);
    visit(is_dict ? container.dict->entries[i].value : container.list->items[i], number);
  }
}

std::int32_t Document::Storage::number_of(const char* address) const {
  return number_now(has_owners_ && holds(address) ? owned_strings_.at(address) : message_of(address));
}

std::int32_t Document::Storage::number_of(std::uint32_t origin) const {
  return number_now(has_owners_ && holds(origin) ? owned_origins_.at(origin) : message_of(origin));
}

bool Document::Storage::neighbours(const MessageList& list, const char* address, Neighbours& found) const {
  const char* const begin = list.strings.data();
  const char* const end = begin + list.strings.size();
  if (before(address, begin) || !before(address, end)) return false;
  if (has_owners_) {
    owned_stretch(owned_strings_, address, begin, end, found);
  } else if (!stretch_of_few(list, address, begin, end, found)) {
    stretch_around(messages().strings, address, begin, end, found);
  }
  found.message = number_now(found.message);
  return true;
}

bool Document::Storage::neighbours(const MessageList& list, std::uint32_t origin, Neighbours& found) const {
  if (!holds(origin)) return false;
  if (has_owners_) {
    owned_stretch(owned_origins_, origin, std::uint32_t{1}, next_origin_, found);
  } else if (!stretch_of_few(list, origin, std::uint32_t{1}, next_origin_, found)) {
    stretch_around(messages().origins, origin, std::uint32_t{1}, next_origin_, found);
  }
  found.message = number_now(found.message);
  return true;
}

// ---- paths

/// The index of a message, or of all that is in none (-1); made by the first who asks. Two threads may make the same at
/// once: the first one's is kept.
const PathIndex& Document::Storage::paths_in(std::int32_t message) const {
  const Value list = messages_of(root_);
  const auto place = static_cast<std::size_t>(message + 1);
  {
    const std::lock_guard lock(mutex_);
    if (paths_.empty()) paths_.resize(list.is_sequence() ? std::size_t{list.list->size} + 1 : 1);
    if (paths_[place] != nullptr) return *paths_[place];
  }
  auto made = message < 0 ? std::make_unique<PathIndex>(root_, list)
                          : std::make_unique<PathIndex>(list.list->items[message], Value());
  const std::lock_guard lock(mutex_);
  if (paths_[place] == nullptr) paths_[place] = std::move(made);
  return *paths_[place];
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

Result<void> Document::build(DocumentBuilder& from) { return inside().build(from); }

Value Document::root() const& { return storage_ == nullptr ? Value::none() : storage_->root(); }
Document::Storage& Document::inside() {
  if (storage_ == nullptr) [[unlikely]]
    storage_ = std::make_unique<Storage>();
  return *storage_;
}
const Document::Storage& Document::inside() const {
  if (storage_ != nullptr) [[likely]]
    return *storage_;
  static const Storage empty;
  return empty;
}

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
