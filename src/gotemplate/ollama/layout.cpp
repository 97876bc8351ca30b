// What Ollama makes of a parsed template before it runs it.
//
// A template that mentions neither messages nor a response gets the response at its end. A template
// that does not mention messages runs once for each exchange; for the last one a copy of its tree
// is made that ends at the first field Response, so that the model goes on from there. Source:
// Ollama's template/template.go: Parse, Identifiers, deleteNode. Begin reading at lay_out.
#include <algorithm>
#include <vector>

#include "gotemplate/program.h"
#include "gotemplate/types.h"

namespace parlance::gotemplate {
namespace {

constexpr std::string_view kResponse = "Response";

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 0x20) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

/// Which names the fields and variables of a tree mention. Fields of a parenthesised pipeline are
/// not looked at.
class Mentions {
 public:
  bool messages = false;
  bool response = false;
  bool suffix = false;
  bool bare_template = false;  ///< a {{template}} without a pipeline, which Ollama refuses

  void list(const ListNode& list) {
    for (std::uint32_t i = 0; i < list.size; ++i) node(*list.items[i]);
  }

 private:
  void node(const Node& n) {
    switch (n.kind) {
      case NodeKind::action: return pipeline(*as<ActionNode>(n).pipeline);
      case NodeKind::invoke: return invoke(as<InvokeNode>(n));
      case NodeKind::if_:
      case NodeKind::with:
      case NodeKind::range: return branch(as<BranchNode>(n));
      case NodeKind::pipeline: return pipeline(as<PipelineNode>(n));
      case NodeKind::field: return names(as<FieldNode>(n).names);
      case NodeKind::variable: return names(as<VariableNode>(n).names);
      default: return;
    }
  }
  void invoke(const InvokeNode& n) {
    if (n.pipeline == nullptr) {
      bare_template = true;
    } else {
      pipeline(*n.pipeline);
    }
  }
  void branch(const BranchNode& n) {
    pipeline(*n.pipeline);
    list(*n.list);
    if (n.else_list != nullptr) list(*n.else_list);
  }
  void pipeline(const PipelineNode& p) {
    for (std::uint32_t c = 0; c < p.size; ++c) {
      for (std::uint32_t a = 0; a < p.commands[c]->size; ++a) node(*p.commands[c]->arguments[a]);
    }
  }
  void names(const Names& names) {
    for (std::uint32_t i = 0; i < names.size; ++i) {
      messages = messages || equal_ignoring_case(names.items[i].view(), "messages");
      response = response || equal_ignoring_case(names.items[i].view(), "response");
      suffix = suffix || equal_ignoring_case(names.items[i].view(), "suffix");
    }
  }
};

/// Copies a tree up to the first field Response. A null result means "not kept".
class Cutter {
 public:
  explicit Cutter(Arena& arena) : arena_(arena) {}
  bool panics = false;  ///< the field stands in front of an else, which Ollama's code does not survive

  const ListNode* list(const ListNode& given) {
    std::vector<const Node*> kept;
    for (std::uint32_t i = 0; i < given.size; ++i) {
      if (const Node* node = keep(*given.items[i]); node != nullptr) kept.push_back(node);
    }
    return copy(given, [&](ListNode& made) {
      made.items = items(kept);
      made.size = static_cast<std::uint32_t>(kept.size());
    });
  }

 private:
  template <typename T, typename Change>
  const T* copy(const T& given, Change change) {
    T* made = new (arena_.allocate(sizeof(T))) T(given);
    change(*made);
    return made;
  }
  template <typename T>
  const T** items(const std::vector<const T*>& kept) {
    const T** made = arena_.allocate_array<const T*>(kept.size());
    std::copy(kept.begin(), kept.end(), made);
    return made;
  }

  const Node* keep(const Node& node) {
    if (done_) return nullptr;
    switch (node.kind) {
      case NodeKind::field: return field(as<FieldNode>(node));
      case NodeKind::if_:
      case NodeKind::with:
      case NodeKind::range: return branch(as<BranchNode>(node));
      case NodeKind::action: return action(as<ActionNode>(node));
      case NodeKind::pipeline: return pipeline(as<PipelineNode>(node));
      default: return &node;
    }
  }
  const Node* field(const FieldNode& node) {
    for (std::uint32_t i = 0; i < node.names.size; ++i) done_ = done_ || node.names.items[i].view() == kResponse;
    return &node;
  }
  /// The pipeline is kept whole, even one that asks for the response: Ollama's deleteNode looks into the lists only.
  const Node* branch(const BranchNode& node) {
    const ListNode* kept = list(*node.list);
    const ListNode* kept_else = nullptr;
    if (node.else_list != nullptr) {
      panics = panics || done_;
      kept_else = list(*node.else_list);
    }
    return copy(node, [&](BranchNode& made) {
      made.list = kept;
      made.else_list = kept_else;
    });
  }
  const Node* action(const ActionNode& node) {
    const PipelineNode* kept = pipeline(*node.pipeline);
    if (kept == nullptr) return nullptr;
    return copy(node, [&](ActionNode& made) { made.pipeline = kept; });
  }
  /// A command that loses all its words takes the pipeline with it.
  const PipelineNode* pipeline(const PipelineNode& given) {
    std::vector<const CommandNode*> commands;
    for (std::uint32_t c = 0; c < given.size; ++c) {
      const CommandNode& command = *given.commands[c];
      std::vector<const Node*> kept;
      for (std::uint32_t a = 0; a < command.size; ++a) {
        if (const Node* node = keep(*command.arguments[a]); node != nullptr) kept.push_back(node);
      }
      if (kept.empty()) return nullptr;
      commands.push_back(copy(command, [&](CommandNode& made) {
        made.arguments = items(kept);
        made.size = static_cast<std::uint32_t>(kept.size());
      }));
    }
    return copy(given, [&](PipelineNode& made) {
      made.commands = items(commands);
      made.size = static_cast<std::uint32_t>(commands.size());
    });
  }

  Arena& arena_;
  bool done_ = false;
};

template <typename T>
T* make_node(Arena& arena, NodeKind kind, std::uint32_t at) {
  T* node = new (arena.allocate(sizeof(T))) T{};
  node->kind = kind;
  node->begin = node->end = at;
  return node;
}

/// {{ .Response }}, which stands at the end of the text.
const Node* response_action(Arena& arena, std::uint32_t at) {
  auto* name = arena.make<Name>(Value::view(kResponse), field_symbol(kResponse), false);
  auto* field = make_node<FieldNode>(arena, NodeKind::field, at);
  field->names = {name, 1};
  auto* command = make_node<CommandNode>(arena, NodeKind::command, at);
  command->arguments = arena.make<const Node*>(field);
  command->size = 1;
  auto* pipeline = make_node<PipelineNode>(arena, NodeKind::pipeline, at);
  pipeline->commands = arena.make<const CommandNode*>(command);
  pipeline->size = 1;
  auto* action = make_node<ActionNode>(arena, NodeKind::action, at);
  action->pipeline = pipeline;
  return action;
}

/// Trees are immutable and may be shared, so the longer list is a copy; its nodes are the same.
const ListNode* with_response(Arena& arena, const ListNode& list, std::size_t text_size) {
  auto* made = make_node<ListNode>(arena, NodeKind::list, list.begin);
  auto* items = arena.allocate_array<const Node*>(list.size + std::size_t{1});
  std::copy_n(list.items, list.size, items);
  items[list.size] = response_action(arena, static_cast<std::uint32_t>(text_size));
  made->items = items;
  made->size = list.size + 1;
  return made;
}

}  // namespace

/// Every defined tree counts for what is mentioned, but only the one of the empty name gets the response and the cut.
bool lay_out(Program& program, std::string& problem) {
  Mentions mentions;
  for (const Tree* tree : program.trees) mentions.list(*tree->root);
  if (mentions.bare_template) {
    problem = "undefined template specified";
    return false;
  }
  program.mentions_messages = mentions.messages;
  program.mentions_suffix = mentions.suffix;
  for (const Tree*& tree : program.trees) {
    if (!tree->name.empty()) continue;
    if (!mentions.messages && !mentions.response) {
      const ListNode* longer = with_response(program.arena, *tree->root, program.source.text().size());
      tree = program.arena.make<Tree>(tree->name, longer);
    }
    program.root = tree;
  }
  Cutter cutter(program.arena);
  const ListNode* cut = cutter.list(*program.root->root);
  if (!cutter.panics) program.cut = program.arena.make<Tree>(program.root->name, cut);
  return true;
}

}  // namespace parlance::gotemplate
