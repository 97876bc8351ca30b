// Members of JSON objects: what is there, and the object without some.
#pragma once
#include <initializer_list>
#include <string_view>

#include "parlance/json_writer.h"
#include "parlance/value.h"

namespace parlance::serve {

/// Is it there, and not null?
inline bool is_given(Value member) { return !member.is_undefined() && !member.is_none(); }
/// A member that is true or false.
inline bool flag_of(Value member, bool otherwise) { return member.is(Kind::boolean) ? member.integer != 0 : otherwise; }
/// Writes the members of an object, but for these.
void append_members_without(JsonWriter& into, Value object, std::initializer_list<std::string_view> names);
/// The object without these members.
JsonWriter members_without(Value object, std::initializer_list<std::string_view> names);

}  // namespace parlance::serve
