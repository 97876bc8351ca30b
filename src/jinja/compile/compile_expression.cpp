// Compiling expressions. expression() gives the place of a value; the helpers follow the node kinds.
#include <algorithm>
#include <cmath>

#include "jinja/compile/expression_compiler.h"
#include "jinja/syntax/children.h"
#include "value/dict.h"
#include "value/number.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

constexpr std::uint32_t kDeepest = 400;  // of native recursion over one expression or statement

/// The name under which Python would read a non-finite float back from its repr, or "".
/// Jinja2 writes folded constants into Python source by repr(), and repr(inf) is the name `inf`, which nothing defines.
/// So {{ x + 1e999 }} is a NameError there, and must be one here. Containers are searched too: a list of constants is
/// folded to one.
std::string_view unreadable_float(Value v) {
  if (v.kind == Kind::real && std::isnan(v.real)) return "nan";
  if (v.kind == Kind::real && std::isinf(v.real)) return "inf";
  if (v.is_sequence()) {
    for (const Value& item : items(v)) {
      if (std::string_view name = unreadable_float(item); !name.empty()) return name;
    }
  }
  if (v.kind == Kind::dict) {
    for (const DictEntry& e : entries(v)) {
      for (Value part : {e.key, e.value}) {
        if (std::string_view name = unreadable_float(part); !name.empty()) return name;
      }
    }
  }
  return {};
}

bool is_negative(Value v) {
  if (v.kind == Kind::real) return std::signbit(v.real);
  return v.kind == Kind::integer && number_compare(v, Value::of_int(0)) < 0;
}

/// Jinja2 writes folded constants into Python source, which fails for an integer past the limit on digits.
bool has_unprintable_integer(Runtime& rt, Value v) {
  if (v.kind == Kind::integer && (v.flags & Value::kBig) != 0) return integer_text(rt, v).is_invalid();
  bool found = false;
  if (v.is_sequence()) {
    for (const Value& item : items(v)) found = found || has_unprintable_integer(rt, item);
  }
  if (v.kind == Kind::dict) {
    for (const DictEntry& e : entries(v)) {
      found = found || has_unprintable_integer(rt, e.key) || has_unprintable_integer(rt, e.value);
    }
  }
  return found;
}

/// In the order of the fields that Op::loop_field numbers.
constexpr std::string_view kLoopFields[] = {"index0", "index",    "revindex0", "revindex", "first", "last",
                                            "length", "previtem", "nextitem",  "depth",    "depth0"};

/// keyword.kwlist: such a name cannot stand before `=` in Python, so Jinja2 passes these arguments in a dict.
constexpr std::string_view kPythonKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

bool is_python_keyword(std::string_view name) {
  for (std::string_view k : kPythonKeywords) {
    if (k == name) return true;
  }
  return false;
}

bool has_slice(const Node* node) {
  bool found = node->kind == NodeKind::slice;
  if (node->kind == NodeKind::tuple) {
    for (const Node* n : as<Items>(node).items) found = found || n->kind == NodeKind::slice;
  }
  return found;
}

}  // namespace

int simple_loop_field(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kLoopFields); ++i) {
    if (kLoopFields[i] == name) return static_cast<int>(i);
  }
  return -1;
}

/// A folded value as a constant, unless Jinja2 could not have written it. A float that it could write and not read
/// fails only when the instruction is reached; an integer too long fails when the template is compiled.
Place ExpressionCompiler::folded_place(const Node* node, Value value) {
  if (has_unprintable_integer(rt_, value)) {
    fail(ErrorCode::value, node, rt_.failure.message);
    rt_.failure = {};
    return {constant(Value::none()), false};
  }
  std::string_view unreadable = unreadable_float(value);
  if (unreadable.empty()) return {constant(value), false};
  Value message = Value::view(rt_.arena.copy_text("name '" + std::string(unreadable) + "' is not defined"));
  emit(Op::fail, node, constant(message), 0, 0, static_cast<std::uint32_t>(ErrorCode::name));
  return {temporary(), true};
}

/// The target is a wish: names and constants have places of their own, so a copy may be needed.
void ExpressionCompiler::expression_into(const Node* node, Scope& scope, std::uint32_t target) {
  Place wanted{target, false};
  Place got = expression(node, scope, &wanted);
  if (got.code != target) emit(Op::copy, node, target, got.code);
  release(got);
}

/// Folding the whole subtree is tried first: what is folded is never compiled.
Place ExpressionCompiler::expression(const Node* node, Scope& scope, const Place* target) {
  if (failed()) return {constant(Value::none()), false};
  if (++depth_ > kDeepest) {
    fail(ErrorCode::limit_depth, node, "the expression nests too deeply");
    return {constant(Value::none()), false};
  }
  Place place;
  std::optional<Value> folded = fold(node, scope);
  if (folded) {
    place = folded_place(node, *folded);
    --depth_;
    return place;
  }
  switch (node->kind) {
    case NodeKind::constant: place = folded_place(node, as<Constant>(node).value); break;
    case NodeKind::name: place = name(as<Name>(node), scope); break;
    case NodeKind::tuple:
    case NodeKind::list: {
      const Nodes& parts = as<Items>(node).items;
      place = collection(node->kind == NodeKind::list ? Op::make_list : Op::make_tuple,
                         std::span(parts.begin(), parts.end()), *node, scope, target);
      break;
    }
    case NodeKind::dict: {
      NodeList parts;
      for (const Pair& pair : as<Dict>(node).pairs) {
        parts.push_back(pair.key);
        parts.push_back(pair.value);
      }
      place = collection(Op::make_dict, parts, *node, scope, target);
      break;
    }
    case NodeKind::conditional: place = conditional(as<Conditional>(node), scope); break;
    case NodeKind::filter:
    case NodeKind::test: place = filter_or_test(as<Filter>(node), scope, target); break;
    case NodeKind::call: place = call(as<CallNode>(node), scope, target); break;
    case NodeKind::get_item: place = item(as<GetItem>(node), scope, target); break;
    case NodeKind::get_attribute: place = attribute(as<GetAttribute>(node), scope, target); break;
    case NodeKind::concat: {
      const Nodes& parts = as<Concat>(node).parts;
      std::uint32_t count = 0;
      Places held;
      std::uint32_t first = part_list(std::span(parts.begin(), parts.end()), false, scope, count, held);
      place = target_or_temporary(target);
      emit(Op::join, node, place.code, first, count, escape_mode(scope));
      for (Place p : held) release(p);
      break;
    }
    case NodeKind::compare: place = comparison(as<Compare>(node), scope, target); break;
    case NodeKind::binary: place = sum_or_binary(as<Binary>(node), scope, target); break;
    case NodeKind::logical: place = logical(as<Logical>(node), scope); break;
    case NodeKind::not_: place = unary(Op::not_, *node, scope, target); break;
    case NodeKind::negative: place = unary(Op::negate, *node, scope, target); break;
    case NodeKind::positive: place = unary(Op::positive, *node, scope, target); break;
    case NodeKind::slice: fail(ErrorCode::python_syntax, node, "invalid syntax"); break;
    default: place = {constant(Value::none()), false};
  }
  --depth_;
  return place;
}

Place ExpressionCompiler::name(const Name& node, Scope& scope) {
  Ident ident;
  if (!scope.symbols.find(names_.id_of(node), ident)) {
    fail(ErrorCode::assertion, &node, "name '" + std::string(node.name) + "' is unknown to its scope");
    return {constant(Value::none()), false};
  }
  return read_ident(scope, ident, &node);
}

Place ExpressionCompiler::unary(Op op, const Node& node, Scope& scope, const Place* target) {
  Place operand = expression(as<Unary>(&node).operand, scope);
  Place place = target_or_temporary(target);
  emit(op, &node, place.code, operand.code);
  release(operand);
  return place;
}

/// `x|length - 1`, the commonest arithmetic of all, is one instruction: the number to take away in it. Nothing comes
/// between the two, and it is `length` that fails.
std::optional<std::uint32_t> ExpressionCompiler::taken_from_length(const Binary& node, Place left, Place right) const {
  if (node.op != BinaryOp::sub || node.left->kind != NodeKind::filter || !left.temporary || !right.is_constant())
    return {};
  const Instruction& last = p_.code.back();
  const Value number = p_.constants[right.code & ~kConstant];
  const bool fits = number.is_small_int() && number.integer >= 0 && number.integer <= 0xFFFF;
  if (last.op != Op::length || last.a != left.code || last.n != 0 || !fits) return {};
  return static_cast<std::uint32_t>(number.integer);
}

Place ExpressionCompiler::binary_operation(const Binary& node, Scope& scope, const Place* target) {
  Place left = expression(node.left, scope);
  Place right = expression(node.right, scope);
  // Jinja2 writes a folded -2 into Python as it prints, where -2 ** x means -(2 ** x). A power of two constants was not
  // folded because it fails.
  const bool is_power = node.op == BinaryOp::pow && left.is_constant() && !right.is_constant();
  const bool flipped = is_power && is_negative(p_.constants[left.code & ~kConstant]);
  if (flipped) left = {constant(number_negate(rt_, p_.constants[left.code & ~kConstant])), false};
  Place place = target_or_temporary(target);
  if (flipped) {
    emit(Op::binary, &node, place.code, left.code, right.code, static_cast<std::uint32_t>(node.op));
    emit(Op::negate, &node, place.code, place.code);
    release(right);
    return place;
  }
  if (std::optional<std::uint32_t> less = taken_from_length(node, left, right)) {
    p_.code.back().n = static_cast<std::uint16_t>(*less);
    release(place);
    return left;
  }
  Op op = node.op == BinaryOp::add ? Op::add : node.op == BinaryOp::sub ? Op::subtract : Op::binary;
  emit(op, &node, place.code, left.code, right.code, static_cast<std::uint32_t>(node.op));
  release(left);
  release(right);
  return place;
}

/// Takes a chain `a + b + c`, which is ((a + b) + c), apart into its parts, if it certainly joins strings. One
/// instruction then makes one rope of n parts; pairs would make n ropes.
bool ExpressionCompiler::sum_parts(const Binary& node, NodeList& parts) const {
  const Node* left = &node;
  while (left->kind == NodeKind::binary && as<Binary>(left).op == BinaryOp::add) {
    parts.push_back(as<Binary>(left).right);
    left = as<Binary>(left).left;
  }
  parts.push_back(left);
  std::reverse(parts.begin(), parts.end());
  // Only then is the first addition, and so each further one, an addition of strings.
  const bool are_texts = parts.size() > 1 && (is_text(parts[0]) || is_text(parts[1]));
  if (!are_texts) parts.clear();
  return are_texts;
}

/// Can evaluating `node` fail in another way than a + of strings, so that the order of the failures shows?
static bool is_simple(const Node* node) { return node->kind == NodeKind::constant || node->kind == NodeKind::name; }

static bool may_fail(const Arguments& arguments) {
  bool may = arguments.star != nullptr || arguments.star_star != nullptr;
  for (const Node* n : arguments.positional) may = may || !is_simple(n);
  for (const Keyword& k : arguments.keywords) may = may || !is_simple(k.value);
  return may;
}

/// Compiles the parts into places that the instruction behind them takes all at once. With `checked` a part that is no
/// string must fail before the parts behind it are evaluated, since Python adds from left to right: in 'a' + 1 + x.y.z
/// the sum fails, not x.y.z. A check is left out where nothing behind it can fail.
std::uint32_t ExpressionCompiler::part_list(std::span<const Node* const> parts, bool checked, Scope& scope,
                                            std::uint32_t& count, Places& held) {
  OperandList list;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Place place = expression(parts[i], scope);
    bool more_to_fail = false;
    for (std::size_t j = i + 1; j < parts.size(); ++j) more_to_fail = more_to_fail || !is_simple(parts[j]);
    if (checked && !place.is_constant() && more_to_fail) emit(Op::check_text, parts[i], place.code, 0, 0, i == 0);
    list.push_back(place.code);
    held.push_back(place);
  }
  count = static_cast<std::uint32_t>(list.size());
  return add_operands(list);
}

Place ExpressionCompiler::sum_or_binary(const Binary& node, Scope& scope, const Place* target) {
  NodeList parts;
  if (node.op != BinaryOp::add || !sum_parts(node, parts)) return binary_operation(node, scope, target);
  std::uint32_t count = 0;
  Places held;
  std::uint32_t first = part_list(parts, true, scope, count, held);
  Place place = target_or_temporary(target);
  emit(Op::sum, &node, place.code, first, count);
  for (Place p : held) release(p);
  return place;
}

Place ExpressionCompiler::logical(const Logical& node, Scope& scope) {
  // Never straight into a variable: `x = y and x` still needs the old x.
  Place result{temporary(), true};
  Label done;
  expression_into(node.left, scope, result.code);
  emit_jump(node.is_and ? Op::jump_unless : Op::jump_if, &node, done, result.code);
  expression_into(node.right, scope, result.code);
  bind(done);
  return result;
}

Place ExpressionCompiler::comparison(const Compare& node, Scope& scope, const Place* target) {
  if (node.rest.size != 1) return chained_comparison(node, scope);
  Place left = expression(node.first, scope);
  Place right = expression(node.rest[0].value, scope);
  Place place = target_or_temporary(target);
  emit(Op::compare, &node, place.code, left.code, right.code, static_cast<std::uint32_t>(node.rest[0].op));
  release(left);
  release(right);
  return place;
}

/// a < b < c evaluates b once and leaves c alone if a < b is false. The result's register is a temporary, since `left`
/// of a later comparison may be the target.
Place ExpressionCompiler::chained_comparison(const Compare& node, Scope& scope) {
  Place result{temporary(), true};
  Label done;
  Place left = expression(node.first, scope);
  for (std::uint32_t i = 0; i < node.rest.size; ++i) {
    Place right = expression(node.rest[i].value, scope);
    emit(Op::compare, &node, result.code, left.code, right.code, static_cast<std::uint32_t>(node.rest[i].op));
    release(left);
    left = right;
    if (i + 1 < node.rest.size) emit_jump(Op::jump_unless, &node, done, result.code);
  }
  release(left);
  bind(done);
  return result;
}

Place ExpressionCompiler::conditional(const Conditional& node, Scope& scope) {
  Softened softened(scope);
  Place result{temporary(), true};
  Label otherwise, done;
  jump_when(node.test, false, otherwise, scope);
  expression_into(node.then, scope, result.code);
  emit_jump(Op::jump, &node, done);
  bind(otherwise);
  if (node.otherwise != nullptr) {
    expression_into(node.otherwise, scope, result.code);
  } else {
    // Jinja2 puts the line into the undefined value's message, so it is made when the template is compiled.
    std::string why = "the inline if-expression on line " + std::to_string(p_.source.line_of(node.begin)) +
                      " evaluated to false and no else section was defined.";
    emit(Op::undefined, &node, result.code, constant(Value::view(rt_.arena.copy_text(why))));
  }
  bind(done);
  return result;
}

/// The loop that the name `loop` means here, if it is one of this routine's own. In a macro inside of the loop, `loop`
/// comes from outside and is an ordinary value.
std::optional<std::uint32_t> ExpressionCompiler::direct_loop(const Node* object, Scope& scope) {
  if (object->kind != NodeKind::name || as<Name>(object).name != "loop") return std::nullopt;
  Ident ident;
  if (!scope.symbols.find(names_.intern("loop"), ident)) return std::nullopt;
  const std::vector<Loop>& loops = scope.routine->loops;
  for (std::size_t i = loops.size(); i-- > 0;) {
    if (loops[i].extended && loops[i].ident == ident) return loops[i].number;
  }
  return std::nullopt;
}

/// `loop.index` and its kin are read from the loop's state: an object for `loop` is made only if something else asks.
Place ExpressionCompiler::attribute(const GetAttribute& node, Scope& scope, const Place* target) {
  if (std::optional<std::uint32_t> loop = direct_loop(node.object, scope)) {
    if (const int field = simple_loop_field(node.name); field >= 0) {
      Place place = target_or_temporary(target);
      emit(Op::loop_field, &node, place.code, static_cast<std::uint32_t>(field), 0, *loop);
      return place;
    }
  }
  Place object = expression(node.object, scope);
  Place place = target_or_temporary(target);
  emit(Op::get_attribute, &node, place.code, object.code, site(node.name));
  release(object);
  return place;
}

/// Of object.name or object['name'], where it is read.
std::uint32_t ExpressionCompiler::member_site(const Node* node) {
  if (node->kind == NodeKind::get_attribute) return site(as<GetAttribute>(node).name);
  return item_site(as<Constant>(as<GetItem>(node).key).value);
}

Place ExpressionCompiler::item(const GetItem& node, Scope& scope, const Place* target) {
  if (node.key->kind == NodeKind::slice) return slice(node, scope, target);
  if (has_slice(node.key)) fail(ErrorCode::python_syntax, node.key, "invalid syntax");
  Place object = expression(node.object, scope);
  if (object_of_member(&node) != nullptr) {
    Place place = target_or_temporary(target);
    emit(Op::get_attribute, &node, place.code, object.code, member_site(&node));
    release(object);
    return place;
  }
  Place key = expression(node.key, scope);
  Place place = target_or_temporary(target);
  emit(Op::get_item, &node, place.code, object.code, key.code);
  release(object);
  release(key);
  return place;
}

Place ExpressionCompiler::slice(const GetItem& node, Scope& scope, const Place* target) {
  const auto& bounds = as<Slice>(node.key);
  Place object = expression(node.object, scope);
  Places held;
  OperandList list;
  for (const Node* bound : {bounds.start, bounds.stop, bounds.step}) {
    Place place = bound == nullptr ? Place{constant(Value::none()), false} : expression(bound, scope);
    held.push_back(place);
    list.push_back(place.code);
  }
  Place place = target_or_temporary(target);
  emit(Op::slice, &node, place.code, object.code, add_operands(list));
  release(object);
  for (Place p : held) release(p);
  return place;
}

Place ExpressionCompiler::collection(Op op, std::span<const Node* const> parts, const Node& node, Scope& scope,
                                     const Place* target) {
  std::uint32_t count = 0;
  Places held;
  std::uint32_t first = part_list(parts, false, scope, count, held);
  Place place = target_or_temporary(target);
  emit(op, &node, place.code, first, count);
  for (Place p : held) release(p);
  return place;
}

// ---- filters, tests, calls

Place ExpressionCompiler::unknown_builtin(const Filter& node, Scope& scope) {
  bool is_filter = node.kind == NodeKind::filter;
  std::string what = is_filter ? "filter" : "test";
  std::string named = "No " + what + " named '" + std::string(node.name) + "'";
  if (!scope.soft) {
    std::string nearest;
    if (!is_filter) nearest = nearest_name(test_table(), node.name);
    if (is_filter) {
      for (std::span<const Builtin> table : filter_tables()) {
        if (nearest.empty()) nearest = nearest_name(table, node.name);
      }
    }
    fail(ErrorCode::unknown_builtin, &node, named + ".", nearest.empty() ? "" : "did you mean '" + nearest + "'?");
    return {constant(Value::none()), false};
  }
  // Under an if, Jinja2 evaluates the arguments and fails only when the call is reached.
  Places held;
  if (node.subject != nullptr) held.push_back(expression(node.subject, scope));
  for (const Node* n : node.arguments.positional) held.push_back(expression(n, scope));
  for (const Keyword& k : node.arguments.keywords) held.push_back(expression(k.value, scope));
  for (Place p : held) release(p);
  emit(Op::fail, &node, constant(Value::view(rt_.arena.copy_text(named + " found."))), 0, 0,
       static_cast<std::uint32_t>(ErrorCode::runtime));
  return {temporary(), true};
}

/// Binds arguments to the parameters of a filter when the template is compiled, in by_parameter. False where only the
/// call can tell, or where it will fail: call_builtin then gives Python's message, with the arguments evaluated.
bool ExpressionCompiler::bind_statically(const Builtin& row, const Arguments& arguments, NodeList& by_parameter) const {
  const Signature& s = row.bound;
  std::size_t places = s.keyword_only == 255 ? s.count : s.keyword_only;
  if (arguments.star != nullptr || arguments.star_star != nullptr || s.varargs || s.kwargs) return false;
  if (arguments.positional.size + 1 > places) return false;
  for (std::size_t i = 0; i < s.count; ++i) by_parameter.push_back(nullptr);
  for (std::uint32_t i = 0; i < arguments.positional.size; ++i) by_parameter[i + 1] = arguments.positional[i];
  for (const Keyword& k : arguments.keywords) {
    std::size_t at = s.positional_only == 0 ? 1 : s.positional_only;
    while (at < s.count && s.parameters[at].name != k.name) ++at;
    if (at == s.count || by_parameter[at] != nullptr) return false;
    by_parameter[at] = k.value;
  }
  for (std::size_t i = 1; i < s.count; ++i) {
    if (by_parameter[i] == nullptr && s.parameters[i].kind == Default::required) return false;
  }
  return true;
}

/// What a test compares by identity: Jinja2 makes an undefined value each time it reads a name that no variable has.
Place ExpressionCompiler::operand_of(const Builtin& row, const Node* node, Scope& scope) {
  const Place read = expression(node, scope);
  if (row.name != "sameas" || node->kind != NodeKind::name) return read;
  const NameId name = names_.id_of(as<Name>(node));
  if (!is_variable(name)) return read;
  const Place own{temporary(), true};
  emit(Op::read_name, node, own.code, read.code, constant(p_.names[variable_name(name)].missing));
  release(read);
  return own;
}

Place ExpressionCompiler::filter_or_test(const Filter& node, Scope& scope, const Place* target) {
  const Builtin* row = node.kind == NodeKind::filter ? find_filter(node.name) : find_test(node.name);
  if (row == nullptr) return unknown_builtin(node, scope);
  if (!check_keywords(node.arguments, node)) return {constant(Value::none()), false};
  Places held;
  held.push_back(node.subject == nullptr ? *block_subject_ : operand_of(*row, node.subject, scope));
  std::uint32_t subject = held[0].code;
  NodeList by_parameter;
  Place place;
  if (bind_statically(*row, node.arguments, by_parameter)) {
    OperandList list;
    // In the order the arguments are written, which is Python's order of evaluation.
    auto place_argument = [&](const Node* argument) {
      for (std::uint32_t i = 1; i < by_parameter.size(); ++i) {
        if (by_parameter[i] != argument) continue;
        held.push_back(operand_of(*row, argument, scope));
        list.push_back(i);
        list.push_back(held.back().code);
      }
    };
    for (const Node* n : node.arguments.positional) place_argument(n);
    for (const Keyword& k : node.arguments.keywords) place_argument(k.value);
    bool is_length = node.kind == NodeKind::filter && (row->name == "length") && list.empty();
    place = target_or_temporary(target);
    if (is_length) {
      emit(Op::length, &node, place.code, subject);
    } else {
      auto defaults = static_cast<std::uint32_t>(p_.constants.size());
      for (std::size_t i = 0; i < row->bound.count; ++i)
        p_.constants.push_back(default_value(row->bound.parameters[i]));
      p_.bound.push_back({row, defaults, add_operands(list), static_cast<std::uint32_t>(list.size() / 2)});
      emit(Op::filter, &node, place.code, subject, static_cast<std::uint32_t>(p_.bound.size() - 1));
    }
  } else {
    std::uint32_t shape = call_shape(node.arguments, scope, node, nullptr, held);
    p_.shapes[shape].object = subject;
    p_.bound.push_back({row, 0, 0, 0});
    place = target_or_temporary(target);
    emit(Op::apply, &node, place.code, static_cast<std::uint32_t>(p_.bound.size() - 1), shape);
  }
  for (Place p : held) release(p);
  return place;
}

bool ExpressionCompiler::check_keywords(const Arguments& arguments, const Node& at, bool of_call_block) {
  // A Python keyword as a name makes Jinja2 pass a dict instead, where the last of two equal names wins.
  for (const Keyword& k : arguments.keywords) {
    if (is_python_keyword(k.name)) return true;
  }
  for (std::uint32_t i = 0; i < arguments.keywords.size; ++i) {
    if (of_call_block && arguments.keywords[i].name == "caller") {
      fail(ErrorCode::python_syntax, &at, "keyword argument repeated: caller");
      return false;
    }
    for (std::uint32_t j = 0; j < i; ++j) {
      if (arguments.keywords[i].name == arguments.keywords[j].name) {
        fail(ErrorCode::python_syntax, &at, "keyword argument repeated: " + std::string(arguments.keywords[i].name));
        return false;
      }
    }
  }
  return true;
}

/// Evaluates the arguments in Python's order: positional, keywords, *x, **y. The shape says which place is which.
std::uint32_t ExpressionCompiler::call_shape(const Arguments& arguments, Scope& scope, const Node& at,
                                             const Place* caller, Places& held) {
  CallShape shape;
  check_keywords(arguments, at, caller != nullptr);
  shape.positional = arguments.positional.size;
  OperandList list;
  auto place_argument = [&](const Node* n) {
    held.push_back(expression(n, scope));
    list.push_back(held.back().code);
  };
  for (const Node* n : arguments.positional) place_argument(n);
  for (const Keyword& k : arguments.keywords) {
    place_argument(k.value);
    shape.keywords.push_back(Value::view(k.name));
  }
  if (caller != nullptr) {
    list.push_back(caller->code);
    shape.keywords.push_back(Value::view("caller"));
  }
  shape.first = add_operands(list);
  if (arguments.star != nullptr) {
    held.push_back(expression(arguments.star, scope));
    shape.star = held.back().code;
  }
  if (arguments.star_star != nullptr) {
    held.push_back(expression(arguments.star_star, scope));
    shape.star_star = held.back().code;
  }
  for (std::size_t i = 0; i < shape.keywords.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (leaf_text(shape.keywords[i]) == leaf_text(shape.keywords[j])) shape.distinct_keywords = false;
    }
  }
  shape.in_order = shape.keywords.empty() && arguments.star == nullptr && arguments.star_star == nullptr;
  p_.shapes.push_back(std::move(shape));
  return static_cast<std::uint32_t>(p_.shapes.size() - 1);
}

/// Is this `namespace(name=value, …)`, as far as the name goes? Then the places of its members are noted for those who
/// look them up, who try there first.
bool ExpressionCompiler::makes_namespace(const CallNode& node, std::uint32_t number) {
  const CallShape& shape = p_.shapes[number];
  if (node.callee->kind != NodeKind::name || as<Name>(node.callee).name != "namespace") return false;
  const bool plain = shape.positional == 0 && shape.distinct_keywords && shape.star == CallShape::kNone &&
                     shape.star_star == CallShape::kNone;
  if (!plain) return false;
  for (std::uint32_t i = 0; i < shape.keywords.size(); ++i) {
    const std::string_view name = leaf_text(shape.keywords[i]);
    if (name.starts_with('_')) continue;
    AttributeSite& known = p_.sites[site(name)];
    known.keyword = name.data();
    known.place = i;
  }
  return true;
}

Place ExpressionCompiler::call(const CallNode& node, Scope& scope, const Place* target, const Place* caller) {
  Places held;
  bool method = node.callee->kind == NodeKind::get_attribute;
  const Node* object = method ? as<GetAttribute>(node.callee).object : node.callee;
  held.push_back(expression(object, scope));
  std::uint32_t subject = held[0].code;
  // The method is looked up before the arguments are evaluated, which shows when both fail.
  if (method && may_fail(node.arguments)) emit(Op::check_defined, node.callee, subject);
  std::uint32_t shape = call_shape(node.arguments, scope, node, caller, held);
  Place place = target_or_temporary(target);
  if (method) {
    p_.shapes[shape].object = subject;
    emit(Op::call_method, &node, place.code, site(as<GetAttribute>(node.callee).name), shape);
  } else {
    emit(makes_namespace(node, shape) ? Op::make_namespace : Op::call, &node, place.code, subject, shape);
  }
  for (Place p : held) release(p);
  return place;
}

// ---- variables

/// A run of names for a run of registers is looked up by one instruction.
void ExpressionCompiler::resolve(std::uint32_t target, std::uint32_t name) {
  Instruction* last = p_.code.size() > entered_ ? &p_.code.back() : nullptr;
  if (last != nullptr && last->op == Op::resolve && last->a + last->c == target && last->b + last->c == name) {
    ++last->c;
  } else {
    emit(Op::resolve, nullptr, target, name, 1);
  }
}

void ExpressionCompiler::load_ident(Scope& scope, const Symbols::LoadEntry& entry) {
  if (entry.how == Load::parameter || !scope.symbols.is_read_on_entry(entry.ident.name)) return;
  std::uint32_t target = register_of(*scope.routine, entry.ident);
  NameId name = entry.ident.name;
  if (entry.how == Load::resolve) {
    bool in_block = p_.routines[scope.routine->index].kind == Routine::Kind::block || !blocks_.empty();
    if (in_block) {
      emit(Op::resolve_block, nullptr, target, variable_name(name));
    } else {
      resolve(target, variable_name(name));
    }
  } else if (entry.how == Load::undefined) {
    emit(Op::copy, nullptr, target, constant(p_.names[variable_name(name)].missing));
  } else {
    Place from = read_ident(scope, entry.alias, nullptr);
    emit(Op::copy, nullptr, target, from.code);
    release(from);
  }
}

/// A macro may read variables of the routine around it. Each level of routines outside adds one to `levels`, and all
/// frames on the way are marked as escaping: they must live as long as a macro that may be called after they return.
Place ExpressionCompiler::read_ident(Scope& scope, Ident ident, const Node* at) {
  RoutineState* owner = scope.routine;
  std::uint32_t levels = 0;
  while (ident.level < owner->base_level && owner->outer != nullptr) {
    owner = owner->outer;
    ++levels;
  }
  std::uint32_t reg = register_of(*owner, ident);
  if (levels == 0) return {reg, false};
  for (RoutineState* r = scope.routine->outer;; r = r->outer) {
    p_.routines[r->index].escapes = true;
    if (r == owner) break;
  }
  Place place{temporary(), true};
  emit(Op::outer, at, place.code, reg, 0, levels);
  return place;
}

}  // namespace parlance::jinja
