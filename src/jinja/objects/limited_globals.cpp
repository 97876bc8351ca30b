// The limited `dict` and namespace().
//
// Source of the rules: transformers 5.24.0 utils/chat_template_utils.py, TemplateDict and TemplateNamespace. Begin
// reading at make_limited_dict.
#include "jinja/objects/limited_globals.h"

#include <algorithm>
#include <string>

#include "jinja/objects/builtins.h"
#include "jinja/objects/objects.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

#define PARLANCE_CLASS_PATH "_cached_compile_jinja_template.<locals>.TemplateDict"

std::string dict_text() {
  return "<transformers.utils.chat_template_utils." PARLANCE_CLASS_PATH " object at " + std::string(kPrintedAddress) +
         ">";
}

Value limited_dict_call(Runtime& rt, Object*, const PassedArguments& in) {
  const auto is_self = [](const DictEntry& keyword) { return leaf_text(keyword.key) == "self"; };
  if (std::any_of(in.keywords, in.keywords + in.keyword_count, is_self)) {  // the object is passed under this name
    return rt.fail(ErrorCode::type, "TemplateDict.__call__() got multiple values for argument 'self'");
  }
  return build_dict(rt, in);
}

// ---- dict.fromkeys

Value fromkeys_text(Runtime& rt, Object*, bool) {
  return make_computed(rt, "<bound method " PARLANCE_CLASS_PATH ".fromkeys of " + dict_text() + ">");
}

#undef PARLANCE_CLASS_PATH

Value fromkeys_call(Runtime& rt, Object*, const PassedArguments& in) {
  const Value dict = DictBuilder(rt).finish();
  return call_builtin(rt, *find_method(dict, "fromkeys"), &dict, in);
}

/// Each look-up makes a new one, and a template has but one `dict`.
bool always_equal(Runtime&, Object*, Object*) { return true; }

std::uint64_t fromkeys_hash(Runtime&, Object*) { return hash_text("fromkeys"); }

const ObjectType kFromkeysType{
    .name = "method",
    .to_text = fromkeys_text,
    .call = fromkeys_call,
    .equal = always_equal,
    .is_callable = true,
    .hash = fromkeys_hash,
};

Value limited_dict_attribute(Runtime& rt, Object*, std::string_view name) {
  return name == "fromkeys" ? object_value(rt.arena.make<Object>(Object{&kFromkeysType})) : left_out();
}

const ObjectType kLimitedDictType{
    .name = "TemplateDict",
    .to_text = [](Runtime& rt, Object*, bool) { return make_computed(rt, dict_text()); },
    .get_attribute = limited_dict_attribute,
    .call = limited_dict_call,
    .is_callable = true,
};

}  // namespace

Value refused_attribute(Runtime& rt, Value object, std::string_view name) {
  Value refused = left_out();
  refused.undefined =
      rt.arena.make<UndefinedInfo>(UndefinedInfo{UndefinedInfo::Form::unsafe, make_computed(rt, name), object});
  return refused;
}

Value make_limited_dict(Runtime& rt) { return object_value(rt.arena.make<Object>(Object{&kLimitedDictType})); }

bool check_namespace_name(Runtime& rt, Value name) {
  if (!rt.limits_globals || !name.is_string()) return true;
  if (const std::string_view spelled = name.is_leaf() ? leaf_text(name) : text(rt, name); !spelled.starts_with('_'))
    return true;
  const Value shown = to_repr(rt, name);
  if (shown.is_invalid()) return false;
  rt.fail(ErrorCode::security, "Chat templates cannot store underscore-prefixed attributes on a namespace, but got " +
                                   std::string(text(rt, shown)) + ". Please rename the attribute.");
  return false;
}

bool check_namespace_names(Runtime& rt, std::span<const DictEntry> entries) {
  return std::all_of(entries.begin(), entries.end(),
                     [&rt](const DictEntry& entry) { return check_namespace_name(rt, entry.key); });
}

}  // namespace parlance::jinja
