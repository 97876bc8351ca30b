// Binding arguments to a builtin's signature as CPython binds them to a function's, with its TypeErrors.
#include "engine/call.h"

#include "value/iterate.h"
#include "value/operators.h"

namespace parlance {
namespace {

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

/// The values of one call while they are being bound.
struct Binding {
  Runtime& rt;
  const Builtin& row;
  Value values[Signature::kMost];
  bool set[Signature::kMost] = {};

  bool fail(const std::string& what) {
    rt.fail(ErrorCode::type, std::string(row.name) + "() " + what);
    return false;
  }
};

bool too_many(Binding& b, std::size_t given) {
  const Signature& s = b.row.bound;
  std::size_t places = positional_places(s);
  std::string takes = s.required == places ? std::to_string(places)
                                           : "from " + std::to_string(s.required) + " to " + std::to_string(places);
  return b.fail("takes " + takes + " positional argument" + (places == 1 ? "" : "s") + " but " + std::to_string(given) +
                (given == 1 ? " was given" : " were given"));
}

bool bind_positional(Binding& b, const Value* self, const PassedArguments& in, PassedArguments& rest) {
  const Signature& s = b.row.bound;
  std::size_t places = positional_places(s);
  std::size_t next = 0;
  if (self != nullptr) {
    b.values[0] = *self;
    b.set[next++] = true;
  }
  std::uint32_t i = 0;
  for (; i < in.positional_count && next < places; ++i, ++next) {
    b.values[next] = in.positional[i];
    b.set[next] = true;
  }
  if (i == in.positional_count) return true;
  if (!s.varargs) return too_many(b, in.positional_count + (self != nullptr ? 1 : 0));
  rest.positional = in.positional + i;
  rest.positional_count = in.positional_count - i;
  return true;
}

/// The parameter a keyword names, or -1.
int parameter_named(const Signature& s, std::string_view name) {
  for (int i = s.positional_only; i < s.count; ++i) {
    if (s.parameters[i].name == name) return i;
  }
  return -1;
}

bool bind_keywords(Binding& b, const PassedArguments& in, PassedArguments& rest) {
  const Signature& s = b.row.bound;
  if (in.keyword_count == 0) return true;
  DictEntry* left = s.kwargs ? b.rt.arena.allocate_array<DictEntry>(in.keyword_count) : nullptr;
  std::uint32_t left_count = 0;
  for (std::uint32_t i = 0; i < in.keyword_count; ++i) {
    std::string_view name = leaf_text(in.keywords[i].key);
    int at = parameter_named(s, name);
    if (at < 0 && !s.kwargs) return b.fail("got an unexpected keyword argument " + quoted(name));
    if (at < 0) {
      left[left_count++] = in.keywords[i];
      continue;
    }
    if (b.set[at]) return b.fail("got multiple values for argument " + quoted(name));
    b.values[at] = in.keywords[i].value;
    b.set[at] = true;
  }
  rest.keywords = left;
  rest.keyword_count = left_count;
  return true;
}

bool fill_defaults(Binding& b) {
  const Signature& s = b.row.bound;
  for (std::size_t i = 0; i < s.count; ++i) {
    if (b.set[i]) continue;
    if (s.parameters[i].kind == Default::required) {
      return b.fail("missing 1 required positional argument: " + quoted(s.parameters[i].name));
    }
    b.values[i] = default_value(s.parameters[i]);
  }
  return true;
}

}  // namespace

namespace {

Value call_in_order(Runtime& rt, const Builtin& row, const Value* self, const PassedArguments& arguments) {
  Value values[Signature::kMost];
  std::size_t next = 0;
  if (self != nullptr) values[next++] = *self;
  for (std::uint32_t i = 0; i < arguments.positional_count; ++i) values[next++] = arguments.positional[i];
  for (; next < row.bound.count; ++next) values[next] = default_value(row.bound.parameters[next]);
  Call call{rt, &row, values, {}};
  return row.run(call);
}

}  // namespace

Value call_builtin(Runtime& rt, const Builtin& row, const Value* self, const PassedArguments& arguments) {
  if (row.bound.count == 0 && row.bound.varargs && row.bound.kwargs && self == nullptr) {
    Value nothing;
    Call call{rt, &row, &nothing, arguments};  // f(*args, **kwargs) takes everything as it comes
    return row.run(call);
  }
  std::size_t given = arguments.positional_count + (self != nullptr ? 1 : 0);
  if (arguments.keyword_count == 0 && binds_in_order(row.bound, given)) return call_in_order(rt, row, self, arguments);
  Binding b{rt, row, {}};
  Call call{rt, &row, b.values, {}};
  if (!bind_positional(b, self, arguments, call.rest) || !bind_keywords(b, arguments, call.rest) || !fill_defaults(b)) {
    return Value::invalid();
  }
  return row.run(call);
}

bool Call::integer(std::size_t i, std::int64_t& out) const {
  if (arguments[i].is_small_int()) {
    out = arguments[i].integer;
    return true;
  }
  std::optional<std::int64_t> index = to_index(rt, arguments[i]);
  if (index) out = *index;
  return index.has_value();
}

bool Call::string(std::size_t i, Value& out) const {
  out = arguments[i];
  if (out.is_string()) return true;
  if (out.is_undefined() && !is_left_out(out)) {
    fail_undefined(rt, out);
    return false;
  }
  rt.fail(ErrorCode::type,
          std::string(builtin->name) + "() argument " + quoted(builtin->bound.parameters[i].name) +
              " must be str, not " + std::string(type_name(out)),
          out);
  return false;
}

bool Call::truth(std::size_t i) const { return parlance::truth(rt, arguments[i]); }

}  // namespace parlance
