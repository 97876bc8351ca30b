// StatementParser: template text, print statements and block tags, to statement nodes.
//
// Leans on ExpressionParser. Source of the grammar and messages: Jinja2 3.1 parser.py and ext.py
// (loop controls); `generation` is the tag that transformers adds. Begin reading at parse_template.
#pragma once
#include <span>

#include "jinja/syntax/expression_parser.h"

namespace parlance::jinja {

class StatementParser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  /// The whole template. Check problem() before using it.
  Nodes parse_template();
  const Problem& problem() { return stream().problem(); }

 private:
  /// The tags that may end a body.
  using Enders = std::span<const Word>;
  struct Signature {
    ArrayOf<Name*> parameters;
    Nodes defaults;
  };
  struct OpenTag {
    std::string_view name;
    std::uint32_t begin;
  };

  // A body: everything up to one of the tags that may end it.
  Nodes parse_body(Enders enders);
  Nodes parse_body_past(Enders enders);
  Nodes parse_nodes(Enders enders);
  Node* parse_output();

  // One statement each, from its tag's name on.
  using Rule = Node* (StatementParser::*)(const Token& tag);
  static Rule rule_of(Word tag);
  Node* parse_statement();
  Node* parse_for(const Token& tag);
  Node* parse_if(const Token& tag);
  Node* parse_set(const Token& tag);
  Node* parse_with(const Token& tag);
  Node* parse_macro(const Token& tag);
  Node* parse_call_block(const Token& tag);
  Node* parse_filter_block(const Token& tag);
  Node* parse_block(const Token& tag);
  Node* parse_autoescape(const Token& tag);
  Node* parse_generation(const Token& tag);
  Node* parse_print(const Token& tag);
  Node* parse_include(const Token& tag);
  Node* parse_import(const Token& tag);
  Node* parse_from(const Token& tag);
  Node* parse_extends(const Token& tag);
  Node* parse_break(const Token& tag);
  Node* parse_continue(const Token& tag);

  Signature parse_signature();
  void check_required(const Nodes& body);
  bool parse_context(bool& with_context, bool strings_too);
  ImportedName parse_imported_name();

  void fail_unknown_tag(const Token& tag);
  void fail_end_of_template();
  void fail_between_tags(const Token& at, std::string message);
  bool is_awaited(std::string_view tag) const;
  std::string open_tag_hint();

  std::vector<Enders> enders_;  ///< of the bodies that are open, innermost last
  std::vector<OpenTag> open_tags_;
  std::vector<Name*> names_;
  std::vector<If*> elifs_;
  std::vector<ImportedName> imported_;
};

}  // namespace parlance::jinja
