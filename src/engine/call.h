// Call: the bound arguments of one builtin call, and the shorthands builtins are written with.
//
//   Value filter_center(Call& call) {           // "value, width=80"
//     Value value = call.text_of(0);            // str(value), or invalid
//     std::int64_t width;
//     if (!call.integer(1, width)) return Value::invalid();   // TypeError recorded
//     …
//   }
//
// A builtin never knows positions; it fails by `return call.fail(ErrorCode::type, "…")`.
#pragma once
#include <string>

#include "engine/builtin.h"
#include "json/text_target.h"
#include "value/dict.h"
#include "value/runtime.h"
#include "value/string.h"
#include "value/text_of.h"

namespace parlance {

/// The value of a parameter that was left out: undefined, kMissing, and without a reason.
inline Value left_out() {
  Value missing;
  missing.flags = Value::kMissing;
  return missing;
}
inline bool is_left_out(Value v) {
  return v.is_undefined() && (v.flags & Value::kMissing) != 0 && v.undefined == nullptr;
}

struct Call {
  Runtime& rt;
  const Builtin* builtin;  ///< the row being run, for messages
  const Value* arguments;  ///< one for each parameter, defaults filled in
  PassedArguments rest{};  ///< *args and **kwargs, if the signature has them
  /// not null: the result is emitted at once, so its beginning may be written there instead
  TextTarget* target = nullptr;

  Value operator[](std::size_t i) const { return arguments[i]; }
  /// Did the caller give argument i, whose default is `missing`? (A variable that was never set is given: it has a
  /// reason.)
  bool given(std::size_t i) const { return !is_left_out(arguments[i]); }
  Value fail(ErrorCode code, std::string message) const { return rt.fail(code, std::move(message), arguments[0]); }
  /// str() of argument i as a string value (unchanged if it is one).
  Value text_of(std::size_t i) const { return to_text(rt, arguments[i]); }
  /// Argument i as an index (int, bool, not float): false with a TypeError recorded. Integers outside int64 clamp.
  bool integer(std::size_t i, std::int64_t& out) const;
  /// Argument i as a string: false with TypeError "… must be str, not int" recorded.
  bool string(std::size_t i, Value& out) const;
  bool truth(std::size_t i) const;
};

/// How many arguments a signature takes by position.
inline std::size_t positional_places(const Signature& s) { return s.keyword_only == 255 ? s.count : s.keyword_only; }
/// Does a call with `given` positional arguments and nothing else need only defaults behind them?
inline bool binds_in_order(const Signature& s, std::size_t given) {
  return given >= s.required && given <= positional_places(s) && !s.varargs && !s.kwargs && s.keyword_only == 255;
}

/// Runs `row` with unbound arguments: binds them as Python does (TypeError "f() missing 1 required positional
/// argument: 'x'", "got an unexpected keyword argument", "takes N positional arguments but M were given",
/// "got multiple values for argument") and calls it. `self` (if not null) goes in front.
Value call_builtin(Runtime& rt, const Builtin& row, const Value* self, const PassedArguments& arguments);
/// The default of a parameter as a value.
inline Value default_value(const Parameter& parameter) {
  switch (parameter.kind) {
    case Default::none: return Value::none();
    case Default::boolean: return Value::boolean(parameter.number != 0);
    case Default::integer: return Value::of_int(parameter.number);
    case Default::text: return Value::view(parameter.string);
    default: break;
  }
  return left_out();
}

}  // namespace parlance
