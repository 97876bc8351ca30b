// Begin reading at append_members_without.
#include "serve/json/members.h"

#include <algorithm>

#include "parlance/json.h"

namespace parlance::serve {

void append_members_without(JsonWriter& into, Value object, std::initializer_list<std::string_view> names) {
  for (const DictEntry& member : object.members()) {
    const std::string_view name = member.key.text();
    if (std::ranges::find(names, name) == names.end()) into.raw(name, json_text(member.value));
  }
}

JsonWriter members_without(Value object, std::initializer_list<std::string_view> names) {
  JsonWriter made('{');
  append_members_without(made, object, names);
  return made;
}

}  // namespace parlance::serve
