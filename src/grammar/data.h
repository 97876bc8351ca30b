// What a Grammar holds. Begin reading at Data.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/inside.h"
#include "grammar/ir.h"
#include "grammar/schema.h"
#include "parlance/grammar.h"
#include "parlance/json.h"

namespace parlance {

namespace grammar {

/// A tool of a request.
struct Tool {
  std::string name{};
  Value parameters{};  ///< its schema; undefined: it has none
};

/// How a reply falls apart, for languages that have words for tags. Empty where a reply is not of that kind.
struct Outline {
  /// Calls of one form.
  struct Calls {
    std::string trigger{};              ///< what they begin with
    std::string open{};                 ///< round several calls; "" where each stands for itself
    std::vector<std::string> closes{};  ///< with the white space before it, and with less
    NodeId gap = 1;                     ///< between two of them; 1 is the empty node
    bool gap_is_blank = true;           ///< and may be missing, or stand behind the last
    NodeId padding = 1;                 ///< white space inside of a list's brackets
    bool grouped = false;
    std::vector<NodeId> each{};  ///< a call of each tool, whole
    NodeId all = kNone;          ///< all calls behind `trigger`, where nothing closes them
  };
  bool is_tagged = false;         ///< a text with calls in markers, behind reasoning or not
  std::string prefix{};           ///< what the reply begins with in any case
  bool reasons = false;           ///< there may be reasoning in front
  std::string reasoning_begin{};  ///< "" where the prompt has begun it
  std::string reasoning_end{};
  bool calls_end_reasoning = false;  ///< a call may stand in reasoning, and end it
  NodeId before_reasoning = 1;       ///< white space; 1 is the empty node
  NodeId before_calls = 1;           ///< behind reasoning
  NodeId calls_lead = 1;             ///< before the first of them
  NodeId behind_calls = 1;
  std::vector<std::string> not_in_reasoning{};
  std::vector<std::string> not_in_text{};
  bool text_behind = false;  ///< of sections too, and sections again
  bool must_call = false;
  std::vector<Calls> calls{};
};

/// What a grammar is made of that sets in where a call begins.
struct Lazy {
  NodeId calls = kNone;                 ///< one call or more, with nothing before them; kNone: there is none
  std::vector<std::string> openings{};  ///< what they begin with
  std::string inside{};                 ///< what the prompt ends with of an opening: the reply may go on from there
  bool in_reasoning = false;            ///< the prompt has opened it
  std::string reasoning_open{};         ///< "" where a call may also begin in reasoning, or there is none
  std::string reasoning_close{};
};

}  // namespace grammar

using GrammarData = Inside<Grammar>::Type;

struct Grammar::Data {
  Document document;                 ///< the tools, or the schema
  std::vector<grammar::Tool> tools;  ///< those that may be called
  GrammarOptions options;
  bool parallel = true;
  bool of_value = false;  ///< of a JSON text by the document, not of a reply
  grammar::Ir ir;
  grammar::NodeId root = 0;
  grammar::Lazy lazy;
  Document response;  ///< the schema of the response
  grammar::Outline outline;
  std::vector<grammar::NodeId> arguments;           ///< of each tool; kNone where no form was asked for them
  std::unordered_map<grammar::NodeId, Value> json;  ///< the schemas of nodes that are JSON by a schema
  bool has_text_marks = false;      ///< the format has marks, and which of them are control tokens is not known
  std::vector<AddedToken> control;  ///< tokens whose texts are in the format; id -1: known by its text alone
  std::vector<GrammarNote> notes;
};

}  // namespace parlance
