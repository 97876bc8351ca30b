// ArgumentsGrammar: the arguments of calls as nodes, in each codec. Begin reading at ArgumentsGrammar::of.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "grammar/data.h"
#include "grammar/schema.h"

namespace parlance::grammar {

class ArgumentsGrammar {
 public:
  /// All must live as long.
  ArgumentsGrammar(GrammarData& data, const ReplyFormat& format, Notes& notes);
  /// The form in which the tool is called has arguments in the order of their names.
  void sort(std::size_t tool) { sorted_[tool] = true; }
  /// The arguments of a tool. `closing`: the marker behind them, or none. make_rules() must follow.
  NodeId of(const CallArguments& arguments, std::size_t tool, const ReplyMarker* closing);
  /// Makes the rules of all tools' schemas.
  void make_rules();
  /// A style that lives as long as this: schemas go by its address.
  const Style& style(Style::Kind kind, Style::Space space, const std::string& quote = {},
                     Style::Escape escape = Style::Escape::none, const std::vector<std::string>& never = {},
                     const std::string& gap = {});
  /// What the grammar's other schemas share with those of tools.
  Shared& shared() { return shared_; }

 private:
  struct NamedStyle {
    std::string key;
    Style style;
  };
  /// What tags are written for.
  struct Tagged {
    const ArgumentTags& tags;
    std::size_t tool;
    std::vector<std::string> after;  ///< what may end all arguments, which no string may hold
    int depth;
  };

  // arguments.cpp
  NodeId make(const CallArguments& arguments, std::size_t tool, const ReplyMarker* closing);
  NodeId in_json(const CallArguments& arguments, std::size_t tool);
  NodeId in_keywords(const CallArguments& arguments, std::size_t tool);
  NodeId in_code(const std::string& closing);
  Schema& schema(std::size_t tool);
  Schemas parameters(std::size_t tool) const;
  std::vector<std::string> end_texts() const;
  // tagged_arguments.cpp
  static std::vector<std::string> ends_of_value(const Tagged& to);
  NodeId tagged_members(const Tagged& to, const Schemas& schemas, const std::string& name);
  NodeId tag(const Tagged& to, const Schemas& schemas, NodeId key_node, const std::string& key);
  NodeId tagged_value(const Tagged& to, const Schemas& schemas, const std::string& name, const std::string& closing);
  NodeId nested_list(const Tagged& to, const Schemas& schemas);
  std::string type_word(const ArgumentTags& tags, Types types) const;

  GrammarData& data_;
  Ir& ir_;
  const ReplyFormat& format_;
  Notes& notes_;
  Shared shared_;
  std::vector<std::unique_ptr<Schema>> schemas_;  ///< by tool
  std::vector<bool> sorted_;                      ///< by tool
  std::deque<NamedStyle> styles_;
  std::size_t tags_made_ = 0;
};

}  // namespace parlance::grammar
