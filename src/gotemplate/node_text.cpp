// Nodes as text. Source of the forms: Go 1.26 text/template/parse/node.go, the methods writeTo.
// Begin reading at write.
#include <algorithm>

#include "gotemplate/node.h"
#include "gotemplate/quote.h"

namespace parlance::gotemplate {
namespace {

void write(std::string& out, const Node& node);

void write_names(std::string& out, const Names& names) {
  for (std::uint32_t i = 0; i < names.size; ++i) out.append(".").append(names.items[i].view());
}

void write_operand(std::string& out, const Node& node) {
  const bool in_parentheses = node.kind == NodeKind::pipeline;
  if (in_parentheses) out += '(';
  write(out, node);
  if (in_parentheses) out += ')';
}

void write_command(std::string& out, const CommandNode& command) {
  for (std::uint32_t i = 0; i < command.size; ++i) {
    if (i > 0) out += ' ';
    write_operand(out, *command.arguments[i]);
  }
}

void write_pipeline(std::string& out, const PipelineNode& pipeline) {
  for (std::uint8_t i = 0; i < pipeline.declared_count; ++i) {
    if (i > 0) out += ", ";
    out += pipeline.declared[i]->name;
  }
  if (pipeline.declared_count > 0) out += pipeline.assigns ? " = " : " := ";
  for (std::uint32_t i = 0; i < pipeline.size; ++i) {
    if (i > 0) out += " | ";
    write_command(out, *pipeline.commands[i]);
  }
}

void write_invoke(std::string& out, const InvokeNode& node) {
  out += "{{template ";
  append_quoted(out, node.name);
  out += ' ';
  write_pipeline(out, *node.pipeline);
  out += "}}";
}

void write(std::string& out, const Node& node) {
  switch (node.kind) {
    case NodeKind::boolean:
    case NodeKind::number:
    case NodeKind::string: out += as<ConstantNode>(node).source; return;
    case NodeKind::nil: out += "nil"; return;
    case NodeKind::dot: out += '.'; return;
    case NodeKind::field: return write_names(out, as<FieldNode>(node).names);
    case NodeKind::variable: out += as<VariableNode>(node).name; return write_names(out, as<VariableNode>(node).names);
    case NodeKind::chain:
      write_operand(out, *as<ChainNode>(node).of);
      return write_names(out, as<ChainNode>(node).names);
    case NodeKind::identifier: out += as<IdentifierNode>(node).name; return;
    case NodeKind::pipeline: return write_pipeline(out, as<PipelineNode>(node));
    case NodeKind::command: return write_command(out, as<CommandNode>(node));
    case NodeKind::action:
      out += "{{";
      write_pipeline(out, *as<ActionNode>(node).pipeline);
      out += "}}";
      return;
    case NodeKind::invoke: return write_invoke(out, as<InvokeNode>(node));
    case NodeKind::end: out += "{{end}}"; return;
    case NodeKind::else_: out += "{{else}}"; return;
    // No message of Go's shows these.
    case NodeKind::text:
    case NodeKind::if_:
    case NodeKind::range:
    case NodeKind::with:
    case NodeKind::break_:
    case NodeKind::continue_:
    case NodeKind::list: return;
  }
}

}  // namespace

std::string node_text(const Node& node) {
  std::string out;
  write(out, node);
  return out;
}

/// Source: Go 1.26 text/template/parse/parse.go, IsEmptyTree.
bool is_blank_tree(const ListNode& list) {
  return std::all_of(list.items, list.items + list.size, [](const Node* node) {
    if (node->kind != NodeKind::text) return false;
    // strings.TrimSpace; wider white space in a template that is otherwise empty is nobody's text
    return as<TextNode>(*node).text.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos;
  });
}

}  // namespace parlance::gotemplate
