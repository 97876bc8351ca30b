// DocumentBuilder: notes steps, and makes values of them at once, when it is known how large each container is.
#include "json/document_builder.h"

#include <algorithm>
#include <limits>

#include "base/utf8.h"
#include "json/keys.h"
#include "json/read.h"
#include "value/bigint.h"
#include "value/dict.h"
#include "value/number.h"

namespace parlance {

static_assert(DocumentBuilder::kMostDepth == kJsonDepth);

namespace {
using Step = DocumentSteps::Step;
using Given = DocumentSteps::Given;
}  // namespace

// ---- steps

void DocumentBuilder::State::fail(ErrorCode code, std::string_view message) {
  if (!failure) failure = Error(code, std::string(message));
}

void DocumentBuilder::State::clear() {
  text_size = lent_size = 0;
  steps.clear();
  lent.clear();
  open.clear();
  deepest = 0;
  has_key = false;
  failure.reset();
}

/// Whether a step fits behind those before it; counts the value.
inline bool DocumentBuilder::State::takes(Step step) {
  if (failure || open.empty()) return takes_first(step);
  Given& around = steps[open.back()];
  const bool wants_key = around.step == Step::dict && !has_key;
  const bool is_key = step == Step::key;
  if (wants_key != is_key) {
    fail(ErrorCode::usage, wants_key ? "a value in a dict without its key" : "a key where a value belongs");
    return false;
  }
  around.size += is_key ? 0 : 1;
  has_key = is_key;
  return true;
}

/// The same where nothing is open.
bool DocumentBuilder::State::takes_first(Step step) {
  if (failure) return false;
  if (step != Step::key && steps.empty()) return true;
  fail(ErrorCode::usage, step == Step::key ? "a key outside of a dict" : "a second value behind the outermost one");
  return false;
}

void DocumentBuilder::State::add(Given given) {
  if (takes(given.step)) steps.push_back(given);
}

void DocumentBuilder::State::add_text(Step step, std::string_view given) {
  const bool is_text = given.size() >= Runtime::kMaxText || utf8::validity(given) != utf8::Validity::malformed;
  if (!is_text && takes(step)) return fail(ErrorCode::unicode_decode, "a text is not UTF-8");
  add_known(step, given);
}

/// Whether a text fits behind the others; notes it.
inline bool DocumentBuilder::State::takes_text(Step step, std::size_t size) {
  if (!takes(step)) return false;
  if (all_texts() + size >= Runtime::kMaxText) {
    fail(ErrorCode::limit_memory, "texts of 2 GiB or more together");
    return false;
  }
  Given added{step, static_cast<std::uint32_t>(size), {}};
  added.begin = all_texts();
  steps.push_back(added);
  return true;
}

void DocumentBuilder::State::add_known(Step step, std::string_view given) {
  if (!takes_text(step, given.size())) return;
  if (text.size() - text_size <= given.size()) reserve_text(given.size() + 1);
  char* const to = text.data() + text_size;
  given.copy(to, given.size());
  to[given.size()] = '\0';
  text_size += given.size() + 1;
}

void DocumentBuilder::State::add_lent(std::string_view given) {
  if (!takes_text(Step::string, given.size())) return;
  lent.push_back({text_size, given});
  lent_size += given.size() + 1;
}

void DocumentBuilder::State::give_texts(std::string& into, std::size_t padding) {
  const std::size_t size = all_texts();
  if (lent.empty()) {
    reserve_text(padding);
    into.swap(text);
  } else {
    if (into.size() < size + padding) into.resize(size + padding);
    char* to = into.data();
    std::size_t given = 0;
    const auto give = [&](std::string_view more) { to += more.copy(to, more.size()); };
    for (const Lent& one : lent) {
      give({text.data() + given, one.behind - given});
      given = one.behind;
      give(one.text);
      *to++ = '\0';
    }
    give({text.data() + given, text_size - given});
  }
  std::fill_n(into.data() + size, padding, '\0');
}

void DocumentBuilder::State::reserve_text(std::size_t more) {
  constexpr std::size_t kLeast = 4096;
  if (text.size() - text_size < more) text.resize(std::max({kLeast, text_size + more, 2 * text.size()}));
}

void DocumentBuilder::State::begin(Step step) {
  if (open.size() == kMostDepth) return fail(ErrorCode::limit_depth, "values nest deeper than 1000 levels");
  if (!takes(step)) return;
  open.push_back(static_cast<std::uint32_t>(steps.size()));
  deepest = std::max(deepest, open.size());
  steps.push_back({step, 0, {}});
}

void DocumentBuilder::State::end(Step step) {
  if (failure) return;
  if (open.empty() || steps[open.back()].step != step || has_key)
    return fail(ErrorCode::usage, has_key ? "a key without its value" : "the end of a list or dict that is not open");
  open.pop_back();
  steps.push_back({Step::end, 0, {}});
}

// ---- values

namespace {

/// A container that is being filled.
struct Filled {
  Value value;
  Value* item = nullptr;       ///< of a list: where the next goes
  DictEntry* entry = nullptr;  ///< of a dict
};

class ValueMaker {
 public:
  ValueMaker(std::size_t deepest, const char* text, Arena& arena, std::uint32_t& next_origin)
      : text_(text), arena_(arena), next_origin_(next_origin), filled_(arena.allocate_array<Filled>(deepest)) {}

  Value make(const std::vector<Given>& steps) {
    for (const Given& given : steps) take(given);
    return root_;
  }

 private:
  void take(const Given& given) {
    if (given.step == Step::end) return close();
    if (given.step == Step::key) {
      filled_[open_ - 1].entry->key = text_of(given);
      return;
    }
    const bool is_list = given.step == Step::list || given.step == Step::tuple;
    const Value made = is_list || given.step == Step::dict ? begin(given) : scalar(given);
    put(made);
    if (is_list) filled_[open_++] = {made, const_cast<Value*>(made.list->items), nullptr};
    if (given.step == Step::dict) filled_[open_++] = {made, nullptr, made.dict->entries};
  }

  void put(Value made) {
    if (open_ == 0) {
      root_ = made;
      return;
    }
    Filled& around = filled_[open_ - 1];
    if (around.item != nullptr) {
      *around.item++ = made;
    } else {
      (around.entry++)->value = made;
    }
  }

  Value text_of(const Given& given) const { return Value::view({text_ + given.begin, given.size}); }

  Value begin(const Given& given) {
    const std::uint32_t origin = next_origin_++;
    if (given.step != Step::dict) {
      Value made =
          Value::of_list(arena_.make<ListObject>(given.size, origin, arena_.allocate_array<Value>(given.size)), origin);
      if (given.step == Step::tuple) made.kind = Kind::tuple;
      return made;
    }
    DictEntry* const entries = arena_.allocate_array<DictEntry>(given.size);
    return Value::of_dict(arena_.make<DictObject>(given.size, origin, entries, nullptr, 0u, given.size), origin);
  }

  Value scalar(const Given& given) {
    if (given.step == Step::string) return text_of(given);
    Value made = Value::none();
    if (given.step == Step::boolean) made = Value::boolean(given.integer != 0);
    if (given.step == Step::integer) made = Value::of_int(given.integer);
    if (given.step == Step::real) made = Value::of_real(given.real);
    if (given.step == Step::digits) made = big(text_of(given).text());
    made.origin = next_origin_++;
    return made;
  }

  Value big(std::string_view digits) {
    static const Limits limits;
    Runtime rt(arena_, limits);
    const bool negative = digits.starts_with('-');
    return big_from_digits(rt, digits.substr(negative ? 1 : 0), 10, negative);
  }

  void close() {
    const Value closed = filled_[--open_].value;
    if (closed.kind == Kind::dict) settle_keys(arena_, const_cast<DictObject&>(*closed.dict));
  }

  const char* text_;
  Arena& arena_;
  std::uint32_t& next_origin_;
  Value root_ = Value::none();
  Filled* filled_;  ///< what is open, the outermost first
  std::size_t open_ = 0;
};

}  // namespace

Value make_values(const DocumentSteps& given, const char* text, Arena& arena, std::uint32_t& next_origin) {
  return ValueMaker(given.deepest, text, arena, next_origin).make(given.steps);
}

// ---- DocumentBuilder

DocumentBuilder::DocumentBuilder() : state_(std::make_unique<State>()) {}
DocumentBuilder::DocumentBuilder(DocumentBuilder&&) noexcept = default;
DocumentBuilder& DocumentBuilder::operator=(DocumentBuilder&&) noexcept = default;
DocumentBuilder::~DocumentBuilder() = default;

/// What was moved from is empty.
inline DocumentBuilder::State& DocumentBuilder::inside() {
  if (state_ == nullptr) state_ = std::make_unique<State>();
  return *state_;
}

void DocumentBuilder::none() { inside().add({Step::none, 0, {}}); }
void DocumentBuilder::boolean(bool value) {
  Given given{Step::boolean, 0, {}};
  given.integer = value ? 1 : 0;
  inside().add(given);
}
void DocumentBuilder::integer(std::int64_t value) {
  Given given{Step::integer, 0, {}};
  given.integer = value;
  inside().add(given);
}
void DocumentBuilder::integer(std::string_view digits) {
  const std::string_view unsigned_digits = digits.substr(digits.starts_with('-') ? 1 : 0);
  const bool is_number = !unsigned_digits.empty() && unsigned_digits.size() <= kMostDigits &&
                         unsigned_digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_number) return inside().fail(ErrorCode::value, "an integer is not written in at most 4300 decimal digits");
  inside().add_text(Step::digits, digits);
}
void DocumentBuilder::real(double value) {
  Given given{Step::real, 0, {}};
  given.real = value;
  inside().add(given);
}
void DocumentBuilder::string(std::string_view text) { inside().add_text(Step::string, text); }
void DocumentBuilder::known_string(std::string_view text) { inside().add_known(Step::string, text); }
void DocumentBuilder::lent_string(std::string_view text) { inside().add_lent(text); }
void DocumentBuilder::begin_list() { inside().begin(Step::list); }
void DocumentBuilder::end_list() { inside().end(Step::list); }
void DocumentBuilder::begin_tuple() { inside().begin(Step::tuple); }
void DocumentBuilder::end_tuple() { inside().end(Step::tuple); }
void DocumentBuilder::begin_dict() { inside().begin(Step::dict); }
void DocumentBuilder::key(std::string_view text) { inside().add_text(Step::key, text); }
void DocumentBuilder::known_key(std::string_view text) { inside().add_known(Step::key, text); }
void DocumentBuilder::end_dict() { inside().end(Step::dict); }
std::size_t DocumentBuilder::depth() const { return state_ == nullptr ? 0 : state_->open.size(); }
std::size_t DocumentBuilder::text_size() const { return state_ == nullptr ? 0 : state_->all_texts(); }
void DocumentBuilder::clear() { inside().clear(); }

}  // namespace parlance
