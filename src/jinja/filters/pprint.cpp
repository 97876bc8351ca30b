// Python's pretty printer for the values a template has.
//
// Source of the rules: CPython 3.11 Lib/pprint.py. A value is printed on one line if that fits,
// else lists, tuples, dicts and long texts are laid out over lines. Begin reading at
// PrettyPrinter::format.
#include "jinja/filters/pprint.h"

#include <vector>

#include "jinja/filters/common.h"
#include "jinja/objects/objects.h"
#include "jinja/objects/sorter.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

constexpr std::int64_t kWidth = 80;

/// pprint's order of keys: Python's where it has one, else by type; what cannot be ordered stays in
/// place.
/// pprint._safe_key: catches TypeError and compares str(type) instead.
bool safe_less(Runtime& rt, const Value* a, const Value* b, std::size_t) {
  bool result = less(rt, *a, *b);
  if (!rt.failed()) return result;
  return caught(rt, {ErrorCode::type}) && type_name(*a) < type_name(*b);
}

/// The size of the first line of `text` with its end.
std::size_t first_line(std::string_view text) {
  const char *p = text.data(), *end = p + text.size();
  while (p < end) {
    utf8::Decoded d = utf8::decode(p, end);
    p += d.size;
    if (!unicode::is_line_break(d.code_point)) continue;
    if (d.code_point == '\r' && p < end && *p == '\n') ++p;
    break;
  }
  return static_cast<std::size_t>(p - text.data());
}

class PrettyPrinter {
 public:
  explicit PrettyPrinter(Runtime& rt) : rt_(rt), out_(rt) {}
  void format(Value v, std::int64_t indent, std::int64_t allowance, int level);
  Value finish() { return out_.finish(); }

 private:
  Value one_line(Value v);
  Value one_line_of_members(Value v);
  Value sorted_entries(Value dict);
  std::int64_t width_of(Value shown) { return static_cast<std::int64_t>(length(rt_, shown)); }
  void new_line(std::int64_t indent);
  void format_dict(Value dict, std::int64_t indent, std::int64_t allowance, int level);
  void format_members(Value list, std::int64_t indent, std::int64_t allowance, int level);
  void format_text(Value s, Value shown, std::int64_t indent, std::int64_t allowance, int level);
  void chunk_line(Value line, std::int64_t width, std::int64_t last_width, std::vector<Value>& chunks);

  Runtime& rt_;
  StringBuilder out_;
};

/// Plain lists, tuples and dicts, whose members pprint shows in its own way too.
bool is_container(Value v) { return v.is(Kind::dict) || (v.is_sequence() && !is_group(v)); }

Value PrettyPrinter::sorted_entries(Value dict) {
  std::span<const Value> pairs = dict_members(rt_, dict, DictView::items);
  Sorter sorter(rt_, 1, safe_less);
  bool ok = sorter.collect(make_list(rt_, pairs.data(), pairs.size()), [](Value pair, Value* key) {
    *key = pair.list->items[0];
    return true;
  });
  return ok && sorter.sort(false) ? sorter.finish() : Value::invalid();
}

Value PrettyPrinter::one_line_of_members(Value v) {
  StringBuilder out(rt_);
  Value members = v.is(Kind::dict) ? sorted_entries(v) : v;
  if (members.is_invalid()) return members;
  out.append_static(v.is(Kind::dict) ? "{" : v.is(Kind::list) ? "[" : "(");
  bool first = true;
  for (const Value& member : items(members)) {
    if (!first) out.append_static(", ");
    first = false;
    Value key = v.is(Kind::dict) ? one_line(member.list->items[0]) : Value::none();
    if (key.is_string()) {
      out.append(key);
      out.append_static(": ");
    }
    Value shown = key.is_string() ? one_line(member.list->items[1]) : key.is_none() ? one_line(member) : key;
    if (shown.is_invalid()) return shown;
    out.append(shown);
  }
  bool single = v.is(Kind::tuple) && v.list->size == 1;
  out.append_static(v.is(Kind::dict) ? "}" : v.is(Kind::list) ? "]" : single ? ",)" : ")");
  return out.finish();
}

Value PrettyPrinter::one_line(Value v) {
  if (!is_container(v)) return to_repr(rt_, v);
  Nesting nest(rt_);
  return nest.ok() && rt_.charge(1) ? one_line_of_members(v) : Value::invalid();
}

void PrettyPrinter::new_line(std::int64_t indent) {
  out_.append_static("\n");
  Value blanks = spaces(rt_, static_cast<std::uint64_t>(indent));
  if (!blanks.is_invalid()) out_.append(blanks);
}

/// `allowance` is what has to follow on the last line: the closing brackets around and a comma.
void PrettyPrinter::format(Value v, std::int64_t indent, std::int64_t allowance, int level) {
  Nesting nest(rt_);
  Value shown = nest.ok() && rt_.charge(1) ? one_line(v) : Value::invalid();
  if (shown.is_invalid()) return;
  if (width_of(shown) <= kWidth - indent - allowance) return out_.append(shown);
  if (v.is(Kind::dict)) return format_dict(v, indent, allowance, level + 1);
  if (is_container(v)) return format_members(v, indent, allowance, level + 1);
  if (v.is_string() && !v.is_markup() && v.size != 0) return format_text(v, shown, indent, allowance, level + 1);
  out_.append(shown);
}

void PrettyPrinter::format_dict(Value dict, std::int64_t indent, std::int64_t allowance, int level) {
  Value members = sorted_entries(dict);
  if (members.is_invalid()) return;
  out_.append_static("{");
  ++indent;
  for (std::uint32_t i = 0; i < members.list->size && !rt_.failed(); ++i) {
    const Value* pair = members.list->items[i].list->items;
    bool last = i + 1 == members.list->size;
    Value key = one_line(pair[0]);
    if (key.is_invalid()) return;
    out_.append(key);
    out_.append_static(": ");
    // A value on lines of its own is indented by its key as well.
    format(pair[1], indent + width_of(key) + 2, last ? allowance + 1 : 1, level);
    if (last) break;
    out_.append_static(",");
    new_line(indent);
  }
  out_.append_static("}");
}

void PrettyPrinter::format_members(Value list, std::int64_t indent, std::int64_t allowance, int level) {
  bool single = list.is(Kind::tuple) && list.list->size == 1;
  std::string_view end = list.is(Kind::list) ? "]" : single ? ",)" : ")";
  out_.append_static(list.is(Kind::list) ? "[" : "(");
  ++indent;
  for (std::uint32_t i = 0; i < list.list->size && !rt_.failed(); ++i) {
    bool last = i + 1 == list.list->size;
    format(list.list->items[i], indent, last ? allowance + static_cast<std::int64_t>(end.size()) : 1, level);
    if (last) break;
    out_.append_static(",");
    new_line(indent);
  }
  out_.append_static(end);
}

/// Cuts one line behind white space so that the repr of each chunk fits; the last of them into
/// `last_width`.
void PrettyPrinter::chunk_line(Value line, std::int64_t width, std::int64_t last_width, std::vector<Value>& chunks) {
  std::string_view bytes = text(rt_, line);
  const char *base = bytes.data(), *end = base + bytes.size(), *p = base;
  std::size_t begin = 0;
  Value held;  // repr of the chunk so far
  while (p < end && !rt_.failed()) {
    std::size_t part = static_cast<std::size_t>(p - base);
    for (utf8::Decoded d; p < end && !unicode::is_space((d = utf8::decode(p, end)).code_point);) p += d.size;
    for (utf8::Decoded d; p < end && unicode::is_space((d = utf8::decode(p, end)).code_point);) p += d.size;
    std::size_t stop = static_cast<std::size_t>(p - base);
    Value candidate = to_repr(rt_, substring(rt_, line, begin, stop));
    if (candidate.is_invalid()) return;
    if (width_of(candidate) > (p == end ? last_width : width)) {
      if (part > begin) chunks.push_back(held);
      begin = part;
      candidate = to_repr(rt_, substring(rt_, line, begin, stop));
    }
    held = candidate;
  }
  if (begin < bytes.size()) chunks.push_back(held);
}

void PrettyPrinter::format_text(Value s, Value shown, std::int64_t indent, std::int64_t allowance, int level) {
  // At the top level a text of several chunks gets parentheses, or it would not be one expression.
  if (level == 1) {
    ++indent;
    ++allowance;
  }
  std::vector<Value> chunks;
  std::string_view bytes = text(rt_, s);
  std::int64_t width = kWidth - indent;
  std::size_t begin = 0;
  while (begin < bytes.size() && !rt_.failed()) {
    // splitlines(True): up to the next line end and with it.
    std::size_t end = begin + first_line(bytes.substr(begin));
    Value line = substring(rt_, s, begin, end);
    std::int64_t last_width = end == bytes.size() ? width - allowance : width;
    shown = to_repr(rt_, line);
    if (shown.is_invalid()) return;
    if (width_of(shown) <= last_width) {
      chunks.push_back(shown);
    } else {
      chunk_line(line, width, last_width, chunks);
    }
    begin = end;
  }
  if (chunks.size() == 1) return out_.append(shown);
  if (level == 1) out_.append_static("(");
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (i != 0) new_line(indent);
    out_.append(chunks[i]);
  }
  if (level == 1) out_.append_static(")");
}

}  // namespace

Value pretty_print(Runtime& rt, Value v) {
  PrettyPrinter printer(rt);
  printer.format(v, 0, 0, 0);
  return printer.finish();
}

}  // namespace parlance::jinja
