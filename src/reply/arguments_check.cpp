// Holding a value against a schema. Begin reading at ArgumentsCheck::check.
//
// A step answers "may fit" wherever it is not certain, so that an alternative is refused, and a fault is said, only
// where no reading of the schema allows the value.
#include "reply/arguments_check.h"

#include <cmath>

#include "json/json.h"
#include "parlance/json.h"
#include "reply/scan/text_codec.h"
#include "reply/tools.h"
#include "schema/references.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance::reply {
namespace {

/// A schema comes from the client and arguments from the model: references may form cycles and alternatives multiply.
/// Past these bounds nothing more is said, which is always right: a check only adds events.
constexpr std::uint32_t kMostSteps = 10000;
constexpr std::uint32_t kDeepestChecked = 64;
constexpr std::size_t kMostFound = 16;
constexpr std::size_t kLongestShownName = 64;
constexpr std::size_t kMostShown = 6;  // values of an enum

std::string names(std::uint8_t types) {
  const std::uint8_t others = types & static_cast<std::uint8_t>(~Types::kString);
  std::string out = (types & Types::kString) != 0 ? "a text" : "";
  if (others != 0) out.append(out.empty() ? "" : " or ").append(names_of_types(others));
  return out;
}

std::string name_of_type(Value v) {
  return v.is(Kind::real)      ? "a number"
         : v.is(Kind::boolean) ? (v.integer != 0 ? "true" : "false")
                               : names(type_of_value(v));
}

bool is_whole(double number) { return std::floor(number) == number; }

/// Whether a value has one of the types; 1.0 is an integer.
/// JSON Schema, "type": any number with a zero fraction is an integer, however it is written.
bool has_type(Value v, std::uint8_t types) {
  if ((type_of_value(v) & types) != 0) return true;
  return v.is(Kind::real) && (types & Types::kInteger) != 0 && is_whole(v.real);
}

/// False where two values certainly differ.
/// Numbers equal by value (1 and 1.0), as JSON Schema's const and enum demand. Big integers and containers are not
/// compared: they may be equal.
bool may_equal(Value a, Value b) {
  const auto is_number = [](Value v) { return v.is(Kind::integer) || v.is(Kind::real); };
  if (is_number(a) && is_number(b)) {
    const auto is_big = [](Value v) { return v.is(Kind::integer) && !v.is_small_int(); };
    if (is_big(a) || is_big(b)) return true;
    const auto number = [](Value v) { return v.is(Kind::real) ? v.real : static_cast<double>(v.integer); };
    return number(a) == number(b);
  }
  if (a.kind != b.kind) return false;
  if (a.is_string()) return leaf_text(a) == leaf_text(b);
  return !a.is(Kind::boolean) || a.integer == b.integer;
}

std::string shortened(std::string_view text) {
  const std::string_view begin = text.substr(0, kLongestShownName);
  const std::string out(begin.substr(0, begin.size() - incomplete_tail(begin)));
  return begin.size() < text.size() ? out + "…" : out;
}

std::string shown(Value v) {
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  std::string out;
  append_json(rt, out, v, kPythonJson);
  return shortened(out);
}

class ArgumentsCheck {
 public:
  ArgumentsCheck(Value root, std::uint32_t texts) : root_(root), references_(root), texts_(texts) {}

  /// False where the value certainly does not fit; with `say`, found_ says why.
  bool check(Value v, Value schema, bool say) {
    if (!schema.is(Kind::dict) || ++steps_ > kMostSteps || depth_ == kDeepestChecked || found_.size() >= kMostFound)
      return true;
    // references mean another place there
    const bool elsewhere = member(schema, "$id") != nullptr && schema.dict != root_.dict;
    if (elsewhere || (v.is_none() && allows_null(schema))) return true;
    ++depth_;
    const bool good = check_here(v, schema, say);
    --depth_;
    return good;
  }

  std::vector<Misfit> take() { return std::move(found_); }

 private:
  /// Models write null for an optional argument that they leave out. That is good where the default is null.
  static bool allows_null(Value schema) {
    const Value* nullable = member(schema, "nullable");
    const Value* usual = member(schema, "default");
    return (nullable != nullptr && nullable->is(Kind::boolean) && nullable->integer != 0) ||
           (usual != nullptr && usual->is_none());
  }

  bool check_here(Value v, Value schema, bool say) {
    if (const Value* reference = member(schema, "$ref")) {  // what stands beside it counts for some, and for others not
      const Value target = reference->is_string() ? references_.resolve(leaf_text(*reference)) : Value();
      return target.is_undefined() || check(v, target, say);
    }
    if (const std::uint8_t types = types_of(schema); !has_type(v, types)) return !refuse(v, names(types), say);
    if (!check_values(v, schema, say)) return false;
    bool good = check_members(v, schema, say);
    good = check_items(v, schema, say) && good;
    if (const Value* all = member(schema, "allOf"); all != nullptr && all->is_sequence()) {
      for (const Value one : items(*all)) good = check(v, one, say) && good;
    }
    for (const std::string_view key : {"anyOf", "oneOf"}) {
      const Value* any = member(schema, key);
      if (any != nullptr && any->is_sequence() && !items(*any).empty()) good = check_any(v, *any, say) && good;
    }
    return good;
  }

  static std::uint8_t types_of(Value schema) { return types_named(member(schema, "type")); }

  bool check_values(Value v, Value schema, bool say) {
    if (const Value* constant = member(schema, "const"); constant != nullptr && !may_equal(v, *constant))
      return !refuse(v, shown(*constant), say);
    const Value* all = member(schema, "enum");
    if (all == nullptr || !all->is_sequence() || items(*all).empty()) return true;
    for (const Value one : items(*all)) {
      if (++steps_ > kMostSteps || may_equal(v, one)) return true;
    }
    std::string wanted;
    for (std::size_t i = 0; say && i < items(*all).size(); ++i) {
      if (i == kMostShown) {
        wanted += " or …";
        break;
      }
      wanted.append(i == 0 ? "" : " or ").append(shown(items(*all)[i]));
    }
    return !refuse(v, wanted, say);
  }

  bool check_members(Value v, Value schema, bool say) {
    if (!v.is(Kind::dict)) return true;
    bool good = true;
    if (const Value* required = member(schema, "required"); required != nullptr && required->is_sequence()) {
      for (const Value key : items(*required)) {
        if (++steps_ > kMostSteps) return good;
        if (!key.is_string() || member(v, leaf_text(key)) != nullptr) continue;
        good = false;
        if (say) miss(leaf_text(key));
      }
    }
    const Value* declared = member(schema, "properties");
    // patternProperties is not evaluated here, and may allow what additionalProperties refuses.
    const Value* others =
        member(schema, "patternProperties") == nullptr ? member(schema, "additionalProperties") : nullptr;
    for (const DictEntry& entry : entries(v)) {
      if (++steps_ > kMostSteps) return good;
      const std::string_view key = leaf_text(entry.key);
      const Value* inner = declared == nullptr ? nullptr : member(*declared, key);
      if (inner == nullptr) inner = others;
      if (inner == nullptr) continue;
      const std::size_t size = path_.size();
      if (say) path_.append(size == 0 ? "" : ".").append(shortened(key));
      good = check(entry.value, *inner, say) && good;
      path_.resize(size);
    }
    return good;
  }

  bool check_items(Value v, Value schema, bool say) {
    const Value* inner = member(schema, "items");
    // With prefixItems, `items` is about the members behind the first ones only.
    if (!v.is_sequence() || inner == nullptr || !inner->is(Kind::dict) || member(schema, "prefixItems") != nullptr)
      return true;
    bool good = true;
    for (std::size_t i = 0; i < items(v).size() && steps_ <= kMostSteps; ++i) {
      const std::size_t size = path_.size();
      if (say) path_.append("[").append(std::to_string(i)).append("]");
      good = check(items(v)[i], *inner, say) && good;
      path_.resize(size);
    }
    return good;
  }

  bool check_any(Value v, Value alternatives, bool say) {
    std::uint8_t types = 0;
    for (const Value one : items(alternatives)) {
      // oneOf as anyOf: that a second alternative fits too is no fault that a caller could act on.
      if (check(v, one, false)) return true;
      types |= types_behind(one);
    }
    // If the type is right the fault is deeper, and which alternative was meant is not known.
    if (say && has_type(v, types)) return !refuse(v, "what one of the alternatives allows", say);
    return !refuse(v, names(types), say);
  }

  /// What an alternative says of types, through references.
  std::uint8_t types_behind(Value schema) {
    for (std::uint32_t i = 0; i < kDeepestChecked; ++i) {
      const Value* reference = member(schema, "$ref");
      if (reference == nullptr) return types_of(schema);
      const Value target = reference->is_string() ? references_.resolve(leaf_text(*reference)) : Value();
      if (target.is_undefined()) return Types::kAny;
      schema = target;
    }
    return Types::kAny;
  }

  void miss(std::string_view key) {
    if (found_.size() >= kMostFound) return;
    std::string expected = "the " + std::string(path_.empty() ? "argument '" : "member '") + shortened(key) + "'";
    if (!path_.empty()) expected += " of '" + path_ + "'";
    found_.push_back({true, std::move(expected), {}});
  }

  /// Always true.
  bool refuse(Value v, const std::string& wanted, bool say) {
    if (!say || found_.size() >= kMostFound) return true;
    if (v.is_string() && texts_ > 0) {  // the reader has said it
      --texts_;
      return true;
    }
    const std::string place = path_.empty() ? "as the arguments" : "as '" + path_ + "'";
    const bool scalar = !v.is(Kind::dict) && !v.is_sequence();
    const bool same = wanted.find(name_of_type(v)) != std::string::npos || wanted.starts_with('"');
    found_.push_back({false, wanted + " " + place, ", not " + (same && scalar ? shown(v) : name_of_type(v))});
    return true;
  }

  const Value root_;
  schema::References references_;
  std::uint32_t texts_;
  std::uint32_t steps_ = 0, depth_ = 0;
  std::string path_;
  std::vector<Misfit> found_;
};

}  // namespace

std::vector<Misfit> check_arguments(Value parameters, std::string_view arguments, std::uint32_t texts) {
  Document document;
  if (!document.parse(arguments) || !document.root().is(Kind::dict)) return {};
  ArgumentsCheck check(parameters, texts);
  check.check(document.root(), parameters, true);
  return check.take();
}

}  // namespace parlance::reply
