// ReplyFormat from JSON and to JSON. The fields of each struct are listed once, in `fields`, and both ways walk them.
//
// Begin reading at the functions `fields`.
#include <optional>
#include <span>
#include <type_traits>

#include "base/nearest.h"
#include "parlance/json.h"
#include "parlance/reply.h"
#include "value/dict.h"
#include "value/json.h"
#include "value/string.h"

namespace parlance {
namespace {

// ---- the names of what is an enum

template <typename T>
struct Names;
template <>
struct Names<ReplyStart> {
  static constexpr std::string_view names[] = {"content", "reasoning", "header"};
};
template <>
struct Names<CallLayout> {
  static constexpr std::string_view names[] = {"single", "list"};
};
template <>
struct Names<NamePlace> {
  static constexpr std::string_view names[] = {"member", "header"};
};
template <>
struct Names<ArgumentCodec> {
  static constexpr std::string_view names[] = {"json", "keywords", "code"};
};

// ---- the fields

/// The members of a ReplyFormat that JSON groups.
struct Reasoning {
  ReplyMarker open, close;
  bool ended_by_calls = false;
  bool operator==(const Reasoning&) const = default;
};
struct ResultFrame {
  std::string open, close;
  bool operator==(const ResultFrame&) const = default;
};

template <typename Walk>
void fields(Walk& walk, Reasoning& r) {
  walk("open", r.open);
  walk("close", r.close);
  walk("ended_by_calls", r.ended_by_calls);
}

template <typename Walk>
void fields(Walk& walk, ResultFrame& r) {
  walk("open", r.open);
  walk("close", r.close);
}

template <typename Walk>
void fields(Walk& walk, ReplyMarker& m) {
  walk("texts", m.texts);
  walk("before", m.before);
  walk("after", m.after);
}

template <typename Walk>
void fields(Walk& walk, CallForm& f) {
  ResultFrame result{f.result_open, f.result_close};
  walk("open", f.open);
  walk("close", f.close);
  walk("separator", f.separator);
  walk("layout", f.layout);
  walk("commas_optional", f.commas_optional);
  walk("name_place", f.name_place);
  walk("header", f.header);
  walk("name", f.name_members);
  walk("arguments", f.argument_members);
  walk("id", f.id_members);
  walk("codec", f.arguments);
  walk("callee", f.callee);
  walk("code_argument", f.code_argument);
  walk("result", result);
  f.result_open = result.open;
  f.result_close = result.close;
}

template <typename Walk>
void fields(Walk& walk, ReplyTurn& t) {
  walk("role", t.role);
  walk("open", t.open);
  walk("header_close", t.header_close);
  walk("raw_role", t.raw_role);
}

template <typename Walk>
void fields(Walk& walk, ReplyFormat& f) {
  Reasoning reasoning{f.reasoning_open, f.reasoning_close, f.calls_end_reasoning};
  walk("start", f.start);
  walk("reasoning", reasoning);
  walk("calls", f.calls);
  walk("parallel", f.parallel, true);
  walk("end", f.end);
  walk("prefix", f.prefix);
  walk("turns", f.turns);
  f.reasoning_open = reasoning.open;
  f.reasoning_close = reasoning.close;
  f.calls_end_reasoning = reasoning.ended_by_calls;
}

// ---- reading

Error wrong(const std::string& path, std::string message, std::string hint = {}) {
  Error::Parts parts;
  parts.code = ErrorCode::value;
  parts.message = std::move(message);
  parts.input_path = path;
  parts.hint = std::move(hint);
  return Error(std::move(parts));
}

/// Reads the members of one object; keeps the first failure.
class Reader {
 public:
  Reader(Value object, std::string path, std::optional<Error>& failure)
      : object_(object), path_(std::move(path)), failure_(failure) {}

  template <typename T>
  void operator()(std::string_view name, T& field, const T& = {}) {
    names_.push_back(name);
    if (const DictEntry* entry = find_key(*object_.dict, name)) read(entry->value, path_of(name), field);
  }

  void refuse_others() {
    for (const DictEntry& entry : entries(object_)) {
      const std::string_view key = leaf_text(entry.key);
      NearestName nearest(key);
      bool known = false;
      for (const std::string_view name : names_) {
        nearest.offer(name);
        known = known || name == key;
      }
      if (!known) fail(path_of(key), "a reply format has no such member here", nearest.hint());
    }
  }

  template <typename T>
  static void read_object(Value v, const std::string& path, T& field, std::optional<Error>& failure) {
    if (!v.is(Kind::dict)) {
      if (!failure) failure = wrong(path, "must be an object");
      return;
    }
    Reader reader(v, path, failure);
    fields(reader, field);
    reader.refuse_others();
  }

 private:
  std::string path_of(std::string_view name) const { return (path_.empty() ? "" : path_ + ".") + std::string(name); }
  void fail(const std::string& path, std::string message, std::string hint = {}) {
    if (!failure_) failure_ = wrong(path, std::move(message), std::move(hint));
  }

  void read(Value v, const std::string& path, bool& field) {
    if (!v.is(Kind::boolean)) return fail(path, "must be true or false");
    field = v.integer != 0;
  }
  void read(Value v, const std::string& path, std::string& field) {
    if (!v.is_string()) return fail(path, "must be a text");
    field = leaf_text(v);
  }
  /// One text stands for a list of it, or for a marker of it.
  void read(Value v, const std::string& path, std::vector<std::string>& field) {
    if (!v.is_string()) return read_list(v, path, field);
    field.assign(1, std::string(leaf_text(v)));
  }
  void read(Value v, const std::string& path, ReplyMarker& field) {
    if (v.is_string() || v.is_sequence()) return read(v, path, field.texts);
    read_object(v, path, field, failure_);
  }
  template <typename T>
  void read(Value v, const std::string& path, std::vector<T>& field) {
    read_list(v, path, field);
  }
  template <typename T>
  void read_list(Value v, const std::string& path, std::vector<T>& field) {
    if (!v.is_sequence()) return fail(path, "must be a list");
    field.clear();
    for (const Value item : items(v)) {
      const std::string place = path + "[" + std::to_string(field.size()) + "]";
      field.emplace_back();
      read(item, place, field.back());
    }
  }
  template <typename T>
  void read(Value v, const std::string& path, T& field) {
    if constexpr (std::is_enum_v<T>) {
      read_name(v, path, field);
    } else {
      read_object(v, path, field, failure_);
    }
  }
  template <typename T>
  void read_name(Value v, const std::string& path, T& field) {
    const std::string_view text = v.is_string() ? leaf_text(v) : std::string_view();
    std::string all;
    for (std::size_t i = 0; i < std::size(Names<T>::names); ++i) {
      if (Names<T>::names[i] == text) {
        field = static_cast<T>(i);
        return;
      }
      all.append(i == 0 ? "" : ", ").append(Names<T>::names[i]);
    }
    fail(path, "must be one of " + all);
  }

  Value object_;
  std::string path_;
  std::optional<Error>& failure_;
  std::vector<std::string_view> names_;
};

// ---- writing

/// Writes what differs from the default.
class Writer {
 public:
  template <typename T>
  void operator()(std::string_view name, T& field, const T& normally = {}) {
    if (field == normally) return;
    out_ += out_.size() > 1 ? ", " : "";
    append_json_string(out_, name);
    out_ += ": ";
    write(field);
  }
  template <typename T>
  static std::string object(T& field) {
    Writer writer;
    fields(writer, field);
    return std::move(writer.out_ += "}");
  }

 private:
  void write(bool field) { out_ += field ? "true" : "false"; }
  void write(std::string& field) { append_json_string(out_, field); }
  void write(std::vector<std::string>& field) {
    if (field.size() == 1) return write(field.front());
    write_list(field);
  }
  void write(ReplyMarker& field) {
    if (field.before.empty() && field.after.empty()) return write(field.texts);
    out_ += object(field);
  }
  template <typename T>
  void write(std::vector<T>& field) {
    write_list(field);
  }
  template <typename T>
  void write_list(std::vector<T>& field) {
    out_ += "[";
    for (std::size_t i = 0; i < field.size(); ++i) {
      out_ += i == 0 ? "" : ", ";
      write(field[i]);
    }
    out_ += "]";
  }
  template <typename T>
  void write(T& field) {
    if constexpr (std::is_enum_v<T>) {
      append_json_string(out_, Names<T>::names[static_cast<std::size_t>(field)]);
    } else {
      out_ += object(field);
    }
  }

  std::string out_ = "{";
};

}  // namespace

Result<ReplyFormat> ReplyFormat::from_json(std::string_view text, std::string_view name) {
  Document document;
  if (auto parsed = document.parse(text, name); !parsed) return parsed.error();
  ReplyFormat format;
  std::optional<Error> failure;
  Reader::read_object(document.root(), "", format, failure);
  if (failure) return *failure;
  if (auto valid = format.validate(); !valid) return valid.error();
  return format;
}

std::string ReplyFormat::to_json() const {
  ReplyFormat copy = *this;  // a walk may change what it walks
  return Writer::object(copy);
}

}  // namespace parlance
