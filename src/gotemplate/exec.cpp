// The executor's actions. Begin reading at Executor::run; evaluation is in evaluate.cpp.
#include "gotemplate/exec.h"

#include "gotemplate/print.h"
#include "gotemplate/quote.h"

namespace parlance::gotemplate {

bool Executor::run(const Tree& tree, Value data, RunMode mode) {
  mode_ = mode;
  tree_ = root_ = &tree;
  variables_.clear();
  frame_ = 0;
  nesting_ = template_depth_ = loop_depth_ = 0;
  variables_.push_back({0, data});
  const bool walked = walk(data, *tree.root) != Flow::failed;
  return within_limits() && walked;  // a failure gets its place here if it has none yet
}

/// The failure in Go's words, without the place that comes before them there: `executing "name" at
/// <node>: …`.
Value Executor::fail(std::string message, Value culprit) {
  if (rt_.failed()) return Value::invalid();
  failed_at_ = at_;
  std::string text = "executing ";
  append_quoted(text, tree_->name);
  text.append(" at <").append(node_text(*at_)).append(">: ").append(message);
  return rt_.fail(ErrorCode::go_execute, std::move(text), culprit);
}

/// A function failed: its own sentence becomes part of ours. Limits stay what they are.
Value Executor::wrap_failure(const Node& node, std::string_view name) {
  failed_at_ = &node;
  if (rt_.failure.code != ErrorCode::go_execute) return Value::invalid();
  at(node);
  std::string message = std::move(rt_.failure.message);
  rt_.failure.happened = false;
  return fail("error calling " + std::string(name) + ": " + message, rt_.failure.culprit);
}

/// Asked once an action and once a turn of a loop: no template can do much between two of those, and each of the three
/// bounds has an error of its own.
bool Executor::within_limits() {
  if (rt_.failed()) {
    if (failed_at_ == nullptr) failed_at_ = at_;
    return false;
  }
  if (output_.bytes() > rt_.limits.output_bytes) {
    fail_output_limit(rt_);
  } else if (!rt_.reserve(0)) {
    // recorded
  } else if (rt_.charge(1)) {
    return true;
  }
  failed_at_ = at_;
  return false;
}

/// Recursion on the native stack: kMostNesting bounds it for trees within trees and templates that call each other.
Executor::Flow Executor::walk(Value dot, const ListNode& list) {
  if (++nesting_ > kMostNesting) {
    rt_.fail(ErrorCode::limit_depth, "templates nest too deeply");
    failed_at_ = at_;
    return Flow::failed;
  }
  Flow flow = Flow::on;
  for (std::uint32_t i = 0; i < list.size && flow == Flow::on; ++i) flow = step(dot, *list.items[i]);
  --nesting_;
  return flow;
}

Executor::Flow Executor::step(Value dot, const Node& node) {
  switch (node.kind) {
    case NodeKind::text: {
      const std::string_view text = as<TextNode>(node).text;
      output_.emit(rt_, text.data(), static_cast<std::uint32_t>(text.size()));
      return Flow::on;
    }
    case NodeKind::action: return act(dot, as<ActionNode>(node));
    case NodeKind::if_:
    case NodeKind::with: return branch(dot, as<BranchNode>(node));
    case NodeKind::range: return range(dot, as<BranchNode>(node));
    case NodeKind::invoke: return invoke(dot, as<InvokeNode>(node));
    case NodeKind::break_: return Flow::broke;
    case NodeKind::continue_: return Flow::continued;
    default: return Flow::on;
  }
}

Executor::Flow Executor::act(Value dot, const ActionNode& node) {
  const Value value = pipeline(dot, *node.pipeline);
  if (value.is_invalid()) return Flow::failed;
  if (node.pipeline->declared_count == 0 && !print(node, value)) return Flow::failed;
  return within_limits() ? Flow::on : Flow::failed;
}

/// printValue and printableValue.
/// Text goes out as it is, with its origin; anything else as fmt prints it.
bool Executor::print(const ActionNode& node, Value value) {
  if (value.kind == Kind::string && (value.extra & 0xFF) <= static_cast<std::uint16_t>(Type::text) &&
      type_of(value) == Type::text) {
    output_.emit(rt_, value);
    return true;
  }
  at(node);
  bool nil = false;
  Value target = value;
  if (!value.is_undefined() && kind_of(value) == GoKind::pointer) {
    target = indirect(value, nil);
    // *ToolPropertiesMap has no String(): the struct is printed.
  }
  if (target.is_undefined()) target = Value::view("<no value>");
  if (kind_of(target) == GoKind::callable) {
    fail("can't print " + node_text(node) + " of type " + std::string(facts(type_of(target)).name));
    return false;
  }
  const Value text = printed(rt_, target);
  if (text.is_invalid()) return false;
  output_.emit(rt_, text);
  return true;
}

/// Variables that the pipeline declares live in both branches, and are gone behind the statement. `with` moves the dot
/// in its first branch only.
Executor::Flow Executor::branch(Value dot, const BranchNode& node) {
  const std::size_t mark = variables_.size();
  const Value value = pipeline(dot, *node.pipeline);
  if (value.is_invalid() || !within_limits()) return Flow::failed;
  Flow flow = Flow::on;
  if (is_true(value)) {
    flow = walk(node.kind == NodeKind::with ? value : dot, *node.list);
  } else if (node.else_list != nullptr) {
    flow = walk(dot, *node.else_list);
  }
  variables_.resize(mark);
  return flow;
}

/// A frame of its own for variables, `$` being the data that it is given. An empty name is the template's own, whose
/// tree has that name. A copy that is cut at the response has no other trees.
Executor::Flow Executor::invoke(Value dot, const InvokeNode& node) {
  at(node);
  const Tree* tree = node.name.empty() ? root_ : mode_.cut ? nullptr : node.tree;
  if (tree == nullptr) {
    fail("template " + quoted(node.name) + " not defined");
    return Flow::failed;
  }
  if (template_depth_ == rt_.limits.depth) {
    rt_.fail(ErrorCode::limit_depth, "exceeded maximum template depth (" + std::to_string(rt_.limits.depth) + ")");
    failed_at_ = &node;
    return Flow::failed;
  }
  const Value data = pipeline(dot, *node.pipeline);
  if (data.is_invalid() || !within_limits()) return Flow::failed;
  const std::size_t mark = variables_.size();
  const std::size_t frame = frame_;
  const Tree* caller = tree_;
  frame_ = mark;
  tree_ = tree;
  ++template_depth_;
  variables_.push_back({0, data});
  const Flow flow = walk(data, *tree->root);
  --template_depth_;
  tree_ = caller;
  frame_ = frame;
  variables_.resize(mark);
  return flow;
}

// ---- range

Executor::Flow Executor::range(Value dot, const BranchNode& node) {
  at(node);
  const std::size_t mark = variables_.size();
  const Value given = pipeline(dot, *node.pipeline);
  if (given.is_invalid()) return Flow::failed;
  bool nil = false;
  const Value value = indirect(given, nil);
  bool ran = false;
  Flow flow = range_over(dot, node, value, ran);
  if (flow == Flow::on && !ran && node.else_list != nullptr) flow = walk(dot, *node.else_list);
  // A break in the else is that of a loop around this one, but Go's range catches it too.
  variables_.resize(mark);
  return flow == Flow::broke ? Flow::on : flow;
}

/// Go's order of kinds. A nil map, slice or sequence has no turns and is no error; the else branch then runs.
Executor::Flow Executor::range_over(Value, const BranchNode& node, Value value, bool& ran) {
  if (value.is_undefined()) return Flow::on;
  const Type type = type_of(value);
  switch (kind_of(value)) {
    case GoKind::integer:
    case GoKind::byte: return range_integer(node, value, ran);
    case GoKind::slice: return range_slice(node, value, ran);
    case GoKind::map:
      if (is_nil(value)) return Flow::on;
      return range_map(node, sorted_entries(rt_, *value.dict), facts(type).element == Type::any, false, ran);
    case GoKind::callable:
      if (is_nil(value) || value.dict == nullptr) return Flow::on;
      return range_map(node, {value.dict->entries, value.dict->size}, false, node.pipeline->declared_count < 2, ran);
    case GoKind::interface: return Flow::on;  // nil
    default: break;
  }
  fail("range can't iterate over " + display(rt_, value), value);
  return Flow::failed;
}

/// One turn: variables set, body walked, what the body declared forgotten.
Executor::Flow Executor::iterate(const BranchNode& node, Value index, Value element, std::size_t mark) {
  const PipelineNode& pipe = *node.pipeline;
  const std::uint8_t declared = pipe.declared_count;
  if (declared > 0 && pipe.assigns) {
    const bool assigned = declared > 1 ? assign(*pipe.declared[0], index) && assign(*pipe.declared[1], element)
                                       : assign(*pipe.declared[0], element);
    if (!assigned) return Flow::failed;
  } else if (declared > 0) {
    variables_[mark - 1].value = element;
    if (declared > 1) variables_[mark - 2].value = index;
  }
  const Flow flow = walk(element, *node.list);
  variables_.resize(mark);
  if (flow == Flow::failed || !within_limits()) return Flow::failed;
  return flow == Flow::continued ? Flow::on : flow;
}

/// Counting up to 2^63 is legal to write: the step that iterate() charges for each turn is what ends it.
Executor::Flow Executor::range_integer(const BranchNode& node, Value value, bool& ran) {
  if (node.pipeline->declared_count > 1) {
    fail("can't use " + std::to_string(value.integer) + " to iterate over more than one variable", value);
    return Flow::failed;
  }
  const std::size_t mark = variables_.size();
  for (std::int64_t i = 0; i < value.integer; ++i) {
    ran = true;
    const Flow flow = iterate(node, {}, with_type(Value::of_int(i), type_of(value)), mark);
    if (flow != Flow::on) return flow;
  }
  return Flow::on;
}

/// A loop over messages tells the observer where each message's text begins in the output; that is how turns are found
/// without a {% generation %} tag. Inside a capture the output's length says nothing, so nobody is told.
Executor::Flow Executor::range_slice(const BranchNode& node, Value value, bool& ran) {
  const std::size_t size = length_of(value);
  const std::size_t mark = variables_.size();
  const bool watched = observer_ != nullptr && type_of(value) == Type::messages && !output_.is_capturing();
  Flow flow = Flow::on;
  ++loop_depth_;
  for (std::size_t i = 0; i < size && flow == Flow::on; ++i) {
    ran = true;
    const Value item = element(value, i);
    if (watched) observer_->note(loop_depth_, item, output_.bytes());
    flow = iterate(node, go_int(static_cast<std::int64_t>(i)), item, mark);
  }
  if (watched && size > 0) observer_->note(loop_depth_, {}, output_.bytes());
  --loop_depth_;
  return flow;
}

/// Maps come sorted by key, since Go sorts them; the entries of an ordered map come in their order. With one variable,
/// a range over pairs gives keys alone.
Executor::Flow Executor::range_map(const BranchNode& node, std::span<const DictEntry> entries, bool boxes,
                                   bool keys_only, bool& ran) {
  const std::size_t mark = variables_.size();
  for (const DictEntry& entry : entries) {
    ran = true;
    const Value item = boxes ? box(entry.value) : entry.value;
    const Flow flow = iterate(node, keys_only ? Value{} : entry.key, keys_only ? entry.key : item, mark);
    if (flow != Flow::on) return flow;
  }
  return rt_.failed() ? Flow::failed : Flow::on;
}

}  // namespace parlance::gotemplate
