// Schemas that an engine may read by itself: llguidance's %json and xgrammar's json_schema.
//
// Each engine refuses some schemas, reads some keywords in its own way, and ignores others, so a schema is handed on
// only where it says nothing that they could understand otherwise; the grammar of any other is written out, as in GBNF.
// What is handed on is written anew: closed where the grammar is closed, without annotations, with what it refers to.
// Begin reading at engine_schemas.
#pragma once
#include <string>
#include <unordered_map>

#include "grammar/data.h"

namespace parlance::grammar {

/// The schemas that engines read by themselves, of the nodes that they stand for.
std::unordered_map<NodeId, std::string> engine_schemas(const GrammarData& data);

}  // namespace parlance::grammar
