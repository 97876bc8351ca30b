// Executor: walks the trees of a Program over Go values and puts the prompt out.
//
// walk() does actions, evaluate.cpp pipelines, commands, fields and calls. Variables live on a
// stack that is searched by name as Go's is, because which of them exist is only known while
// running. Native recursion is bounded by the depth of the trees (which the parser bounds) and of
// template calls, together by kMostNesting. Source of the rules: Go 1.26 text/template/exec.go.
// Begin reading at Executor::run.
#pragma once
#include <string>
#include <vector>

#include "engine/output.h"
#include "gotemplate/functions.h"
#include "gotemplate/program.h"

namespace parlance::gotemplate {

struct Variable {
  std::uint32_t name;  ///< VariableNode::variable
  Value value;
};
using VariableStack = std::vector<Variable>;

/// Told of each turn of a loop over messages, at the top level of the output.
class LoopObserver {
 public:
  virtual ~LoopObserver() = default;
  /// The loop `depth` deep begins an iteration over `element`, or ends (undefined), with `bytes` of
  /// the prompt written.
  virtual void note(std::uint32_t depth, Value element, std::uint64_t bytes) = 0;
};

/// How Ollama runs a template.
struct RunMode {
  bool cut = false;  ///< the tree cut at its response, which has neither Ollama's functions,
                     ///< options nor other templates
};

class Executor {
 public:
  Executor(Runtime& rt, Output& output, VariableStack& variables) : rt_(rt), output_(output), variables_(variables) {}
  void observe(LoopObserver& observer) { observer_ = &observer; }

  /// Runs `tree` over `data`. False after a failure, which rt.failure words as Go does; failed_at()
  /// says where.
  bool run(const Tree& tree, Value data, RunMode mode);
  /// The node to blame, or null.
  const Node* failed_at() const { return failed_at_; }

 private:
  enum class Flow : std::uint8_t { on, broke, continued, failed };

  // actions
  Flow walk(Value dot, const ListNode& list);
  Flow step(Value dot, const Node& node);
  Flow act(Value dot, const ActionNode& node);
  Flow branch(Value dot, const BranchNode& node);
  Flow invoke(Value dot, const InvokeNode& node);
  Flow range(Value dot, const BranchNode& node);
  Flow range_over(Value dot, const BranchNode& node, Value value, bool& ran);
  Flow range_integer(const BranchNode& node, Value value, bool& ran);
  Flow range_slice(const BranchNode& node, Value value, bool& ran);
  Flow range_map(const BranchNode& node, std::span<const DictEntry> entries, bool boxes, bool keys_only, bool& ran);
  Flow iterate(const BranchNode& node, Value index, Value element, std::size_t mark);
  bool print(const ActionNode& node, Value value);
  bool within_limits();

  // pipelines
  Value pipeline(Value dot, const PipelineNode& pipe);
  Value command(Value dot, const CommandNode& command, const Value* final);
  Value operand_command(Value dot, const CommandNode& command, const Value* final);
  Value constant(const ConstantNode& node);
  /// Null (recorded) for what is not declared. Far ones cost steps: they are looked for one by one.
  Value* find_variable(const VariableNode& node);
  Value variable(const VariableNode& node);
  bool assign(const VariableNode& node, Value value);

  // fields and calls
  struct Arguments {
    const Node* const* nodes = nullptr;  ///< without the function itself
    std::uint32_t size = 0;
    const Value* final = nullptr;  ///< what was piped in; null: nothing
    bool none() const { return size == 0 && final == nullptr; }
  };
  Value fields(Value receiver, const Node& node, const Names& names, Value dot, const Arguments& arguments);
  Value field_of(Value receiver, const Node& node, const Name& name, Value dot, const Arguments& arguments);
  Value map_field(Value receiver, const Name& name, const Arguments& arguments);
  Value no_field(Value receiver, const Name& name);
  Value method(Value receiver, Method method, const Node& node, const Name& name, Value dot,
               const Arguments& arguments);
  Value method_result(Value receiver, Method method);
  Value call(const Function& function, const Node& node, std::string_view name, Value dot, const Arguments& arguments);
  Value run_builtin(const Function& function, const Node& node, std::string_view name, const Value* values,
                    std::uint32_t count);
  Value short_circuit(bool stop_at, Value dot, const Arguments& arguments);
  Value call_value(Value function, const std::string& name);
  Value argument(Value dot, Accepts type, const Node& node);
  Value operand(Value dot, const Node& node);
  Value literal_argument(Accepts type, const Node& node);
  Value validate(Value value, Accepts type);

  // failures
  Value fail(std::string message, Value culprit = {});
  Value wrap_failure(const Node& node, std::string_view name);
  Value not_a_function(const CommandNode& command);
  void at(const Node& node) { at_ = &node; }

  static constexpr std::uint32_t kMostNesting = 2500;

  Runtime& rt_;
  Output& output_;
  VariableStack& variables_;
  LoopObserver* observer_ = nullptr;
  RunMode mode_;
  const Tree* tree_ = nullptr;
  const Tree* root_ = nullptr;
  const Node* at_ = nullptr;
  const Node* failed_at_ = nullptr;
  std::size_t frame_ = 0;      ///< where the variables of this template begin
  std::uint32_t nesting_ = 0;  ///< of native calls
  std::uint32_t template_depth_ = 0;
  std::uint32_t loop_depth_ = 0;
};

}  // namespace parlance::gotemplate
