// The attributes of Python's types that begin with an underscore: the sandbox refuses every one
// that exists ("access to attribute ... is unsafe"), and an unknown one is merely undefined.
//
// Facts: dir() of each type under CPython 3.11, Jinja2 3.1 and markupsafe 3. Begin reading at the
// table.

#include "jinja/builtins.h"
#include "jinja/methods.h"
#include "jinja/objects.h"

namespace parlance::jinja {
namespace {

/// Types that differ in what they have. Every other object has only what all have.
enum Types : std::uint32_t {
  kText = 1u << 0,
  kMarkup = 1u << 1,
  kList = 1u << 2,
  kTuple = 1u << 3,
  kDict = 1u << 4,
  kInteger = 1u << 5,
  kReal = 1u << 6,
  kNone = 1u << 7,
  kRange = 1u << 8,
  kKeys = 1u << 9,
  kValues = 1u << 10,
  kItems = 1u << 11,
  kGenerator = 1u << 12,
  kBytes = 1u << 13,
  kUndefined = 1u << 14,
  kMethod = 1u << 15,
  kStrings = kText | kMarkup,
  kSequences = kStrings | kList | kTuple | kBytes,
  kNumbers = kInteger | kReal,
  kSets = kKeys | kItems,
  kViews = kSets | kValues,
  kAll = ~0u,
};

struct PrivateAttribute {
  std::string_view name;
  std::uint32_t types;
};

constexpr PrivateAttribute kPrivateAttributes[] = {
    {"__abs__", kNumbers},
    {"__add__", kNumbers | kSequences | kUndefined},
    {"__aiter__", kUndefined},
    {"__and__", kSets | kInteger},
    {"__bool__", kNumbers | kNone | kRange | kUndefined},
    {"__bytes__", kBytes},
    {"__call__", kUndefined | kMethod},
    {"__ceil__", kNumbers},
    {"__class__", kAll},
    {"__class_getitem__", kList | kTuple | kDict},
    {"__complex__", kUndefined},
    {"__contains__", kSets | kSequences | kDict | kRange},
    {"__del__", kGenerator},
    {"__delattr__", kAll},
    {"__delitem__", kList | kDict},
    {"__dir__", kAll},
    {"__div__", kUndefined},
    {"__divmod__", kNumbers},
    {"__doc__", kAll},
    {"__eq__", kAll},
    {"__float__", kNumbers | kUndefined},
    {"__floor__", kNumbers},
    {"__floordiv__", kNumbers | kUndefined},
    {"__format__", kAll},
    {"__ge__", kAll},
    {"__getattr__", kUndefined},
    {"__getattribute__", kAll},
    {"__getformat__", kReal},
    {"__getitem__", kSequences | kDict | kRange | kUndefined},
    {"__getnewargs__", kNumbers | kStrings | kTuple | kBytes},
    {"__getstate__", kAll},
    {"__gt__", kAll},
    {"__hash__", kAll},
    {"__html__", kMarkup},
    {"__html_format__", kMarkup},
    {"__iadd__", kList},
    {"__imul__", kList},
    {"__index__", kInteger},
    {"__init__", kAll},
    {"__init_subclass__", kAll},
    {"__int__", kNumbers | kUndefined},
    {"__invert__", kInteger},
    {"__ior__", kDict},
    {"__iter__", kViews | kSequences | kDict | kRange | kGenerator | kUndefined},
    {"__le__", kAll},
    {"__len__", kViews | kSequences | kDict | kRange | kUndefined},
    {"__lshift__", kInteger},
    {"__lt__", kAll},
    {"__mod__", kNumbers | kStrings | kBytes | kUndefined},
    {"__module__", kMarkup | kUndefined | kMethod},
    {"__mul__", kNumbers | kSequences | kUndefined},
    {"__name__", kGenerator | kMethod},
    {"__ne__", kAll},
    {"__neg__", kNumbers | kUndefined},
    {"__new__", kAll},
    {"__next__", kGenerator},
    {"__or__", kSets | kDict | kInteger},
    {"__pos__", kNumbers | kUndefined},
    {"__pow__", kNumbers | kUndefined},
    {"__qualname__", kGenerator | kMethod},
    {"__radd__", kNumbers | kMarkup | kUndefined},
    {"__rand__", kSets | kInteger},
    {"__rdiv__", kUndefined},
    {"__rdivmod__", kNumbers},
    {"__reduce__", kAll},
    {"__reduce_ex__", kAll},
    {"__repr__", kAll},
    {"__reversed__", kViews | kList | kDict | kRange},
    {"__rfloordiv__", kNumbers | kUndefined},
    {"__rlshift__", kInteger},
    {"__rmod__", kNumbers | kStrings | kBytes | kUndefined},
    {"__rmul__", kNumbers | kSequences | kUndefined},
    {"__ror__", kSets | kDict | kInteger},
    {"__round__", kNumbers},
    {"__rpow__", kNumbers | kUndefined},
    {"__rrshift__", kInteger},
    {"__rshift__", kInteger},
    {"__rsub__", kSets | kNumbers | kUndefined},
    {"__rtruediv__", kNumbers | kUndefined},
    {"__rxor__", kSets | kInteger},
    {"__self__", kMethod},
    {"__setattr__", kAll},
    {"__setitem__", kList | kDict},
    {"__sizeof__", kAll},
    {"__slots__", kMarkup | kUndefined},
    {"__str__", kAll},
    {"__sub__", kSets | kNumbers | kUndefined},
    {"__subclasshook__", kAll},
    {"__text_signature__", kMethod},
    {"__truediv__", kNumbers | kUndefined},
    {"__trunc__", kNumbers},
    {"__xor__", kSets | kInteger},
    {"_fail_with_undefined_error", kUndefined},
    {"_undefined_exception", kUndefined},
    {"_undefined_hint", kUndefined},
    {"_undefined_message", kUndefined},
    {"_undefined_name", kUndefined},
    {"_undefined_obj", kUndefined},
};

struct ObjectTypes {
  const ObjectType* type;
  std::uint32_t types;
};

const ObjectTypes kObjectTypes[] = {
    {&kRangeType, kRange},        {&kDictKeysType, kKeys},       {&kDictValuesType, kValues},
    {&kDictItemsType, kItems},    {&kGeneratorType, kGenerator}, {&kBytesType, kBytes},
    {&kBoundMethodType, kMethod},
};

std::uint32_t types_of(Value v) {
  constexpr std::uint32_t kOther = 1u << 31;
  switch (v.kind) {
    case Kind::undefined:
      return kUndefined;
    case Kind::none:
      return kNone;
    case Kind::boolean:
    case Kind::integer:
      return kInteger;
    case Kind::real:
      return kReal;
    case Kind::string:
      return v.is_markup() ? kMarkup : kText;
    case Kind::list:
      return kList;
    case Kind::tuple:
      return kTuple;
    case Kind::dict:
      return kDict;
    default:
      break;
  }
  for (const ObjectTypes& row : kObjectTypes) {
    if (is_object(v, *row.type)) return row.types;
  }
  return kOther;
}

}  // namespace

bool has_private_attribute(Value v, std::string_view name) {
  for (const PrivateAttribute& row : kPrivateAttributes) {
    if (row.name == name) return (row.types & types_of(v)) != 0;
  }
  return false;
}

}  // namespace parlance::jinja
