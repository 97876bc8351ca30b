// The printers: a grammar in the languages of engines. One file each.
#pragma once
#include <span>
#include <string>

#include "grammar/data.h"

namespace parlance::grammar {

/// llama.cpp's GBNF, which xgrammar's EBNF reads too.
/// Of nodes one after the other.
std::string print_gbnf(const Ir& ir, std::span<const NodeId> sequence);
/// Of a whole reply: a token at its end that ends generation in llama.cpp may be missing.
std::string print_gbnf_of_reply(const Ir& ir, NodeId root);
std::string print_lark(const GrammarData& data);
std::string print_structural_tag(const GrammarData& data);
std::string print_json_schema(const GrammarData& data);

/// A value as JSON on one line; references that begin with '#' point below `base` ("#/$defs/x") instead.
std::string json_of(Value value, std::string_view base = "#");

}  // namespace parlance::grammar
