// What the grammars say, for the scripts of the oracle: a line of JSON in, a line out.
//
//     {"schema": TEXT, "open": true, "texts": [TEXT, …]}          accepts, notes: of a grammar of values
//     {"format": TEXT, "tools": TEXT, "choice": …, …}             the same of a grammar of replies
//
// With "samples": N and "seed": N, also random texts of the grammar, each with the message that the reader makes of it;
// with "syntaxes": [NAME, …], the grammar in those, where "control" has tokens {"id", "text", "special"} of a
// tokenizer; with "replies": [TEXT, …], what is wrong with each for the reader, "" where nothing is; with "lazy": true,
// the lazy grammar. "response" is the form of an answer, as response_of has it. Begin reading at answer().
#include <cstdio>
#include <iostream>
#include <string>

#include "grammar/data.h"
#include "grammar_material.h"
#include "json/json.h"
#include "parlance/grammar.h"
#include "parlance/reply.h"
#include "value/dict.h"

namespace {

using namespace parlance;
std::string text_of(Value dict, std::string_view key) {
  const Value value = member_value(dict, key);
  return value.is_string() ? std::string(leaf_text(value)) : std::string();
}
bool flag_of(Value dict, std::string_view key, bool otherwise) {
  const Value value = member_value(dict, key);
  return value.is(Kind::boolean) ? value.integer != 0 : otherwise;
}
std::uint64_t number_of(Value dict, std::string_view key) {
  const Value value = member_value(dict, key);
  return value.is_small_int() ? static_cast<std::uint64_t>(value.integer) : 0;
}

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

ToolChoice choice_of(const std::string& word) {
  if (word == "required") return ToolChoice::required;
  if (word == "none") return ToolChoice::none;
  return word.empty() || word == "auto" ? ToolChoice::automatic : ToolChoice::named;
}

std::vector<AddedToken> tokens_of(Value list) {
  std::vector<AddedToken> tokens;
  if (!list.is_sequence()) return tokens;
  for (const Value item : items(list)) {
    AddedToken token;
    token.id = static_cast<TokenId>(number_of(item, "id"));
    token.text = text_of(item, "text");
    token.special = flag_of(item, "special", false);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// {"json_schema": TEXT}, {"json_object": true}, {"regex": TEXT} or {"choice": [TEXT, …]}
ResponseFormat response_of(Value wanted) {
  ResponseFormat response;
  if (const Value schema = member_value(wanted, "json_schema"); schema.is_string()) {
    response.kind = ResponseFormat::Kind::json_schema;
    response.schema = leaf_text(schema);
  } else if (flag_of(wanted, "json_object", false)) {
    response.kind = ResponseFormat::Kind::json_object;
  } else if (const Value pattern = member_value(wanted, "regex"); pattern.is_string()) {
    response.kind = ResponseFormat::Kind::regex;
    response.pattern = leaf_text(pattern);
  } else if (const Value choices = member_value(wanted, "choice"); choices.is_sequence()) {
    response.kind = ResponseFormat::Kind::choice;
    for (const Value choice : items(choices)) response.choices.emplace_back(leaf_text(choice));
  }
  return response;
}

/// The lazy grammar and its triggers; what there is none for says why.
std::string lazy_of(const Grammar& grammar) {
  const Result<LazyGrammar> lazy = grammar.to_lazy();
  if (!lazy) return "{\"error\": " + quoted(lazy.error().message()) + "}";
  std::string out = "{\"grammar\": " + quoted(lazy->grammar) + ", \"triggers\": [";
  for (const GrammarTrigger& trigger : lazy->triggers) {
    if (out.back() != '[') out += ", ";
    out += std::string("[") + (trigger.kind == GrammarTrigger::Kind::word ? "\"word\", " : "\"pattern\", ") +
           quoted(trigger.value) + "]";
  }
  return out + "]}";
}

struct Made {
  Result<Grammar> grammar;
  std::optional<ReplyFormat> format{};
  ReplyOptions reader{};
};

Made make(Value request) {
  if (!member_value(request, "schema").is_undefined()) {
    return {make_value_grammar(text_of(request, "schema"), {.open = flag_of(request, "open", false),
                                                            .any_order = flag_of(request, "any_order", false)})};
  }
  Result<ReplyFormat> format = ReplyFormat::from_json(text_of(request, "format"));
  if (!format) return {format.error()};
  GrammarOptions options;
  options.tools = text_of(request, "tools");
  options.choice = choice_of(text_of(request, "choice"));
  options.name = text_of(request, "choice");
  options.parallel = flag_of(request, "parallel", true);
  options.reasoning = flag_of(request, "reasoning", true);
  options.open = flag_of(request, "open", false);
  options.any_order = flag_of(request, "any_order", false);
  options.text_around_calls = flag_of(request, "text_around_calls", false);
  options.control = tokens_of(member_value(request, "control"));
  options.max_calls = static_cast<std::uint32_t>(number_of(request, "max_calls"));
  options.response = response_of(member_value(request, "response"));
  ReplyOptions reader;
  if (auto tools = ReplyTools::from_json(options.tools); tools) reader.tools = *tools;
  if (member_value(request, "prompt").is_string()) options.prompt = reader.prompt = text_of(request, "prompt");
  return {make_grammar(*format, options), *format, reader};
}

std::string message_of(const Made& made, const std::string& reply) {
  ReplyParser parser = *ReplyParser::make(*made.format, made.reader);
  ReplyMessage message;
  const auto sink = [&](const ReplyEvent& event) { message.add(event); };
  parser.feed(reply, sink);
  parser.finish(sink);
  return message.to_json();
}

/// What is wrong with a reply, as the law of grammars has it; nothing is where it is "".
std::string fault_of(const Made& made, std::string_view reply) {
  ReplyParser parser = *ReplyParser::make(*made.format, made.reader);
  ReplyMessage message;
  bool malformed = false;
  const auto sink = [&](const ReplyEvent& event) {
    message.add(event);
    malformed = malformed || event.kind == ReplyEvent::Kind::malformed || event.kind == ReplyEvent::Kind::broken;
  };
  parser.feed(reply, sink);
  parser.finish(sink);
  if (malformed || !message.diagnostics.empty()) return "malformed";
  for (const ReplyCall& call : message.calls) {
    if (!call.complete) return "an incomplete call";
  }
  return {};
}

std::string answer(Value request) {
  const Made made = make(request);
  if (!made.grammar) return "{\"error\": " + quoted(made.grammar.error().display()) + "}";
  const Grammar& grammar = *made.grammar;
  std::string out = "{\"notes\": [";
  for (const GrammarNote& note : grammar.notes()) {
    if (out.back() != '[') out += ", ";
    out += "[" + quoted(note.path) + ", " + quoted(note.keyword) + ", " + quoted(note.why) + "]";
  }
  out += "], \"accepts\": [";
  if (const Value texts = member_value(request, "texts"); texts.is_sequence()) {
    for (const Value text : items(texts)) {
      if (out.back() != '[') out += ", ";
      out += grammar.accepts(leaf_text(text)) ? "true" : "false";
    }
  }
  out += "], \"samples\": [";
  tests::GrammarSampler sampler(inside_of(grammar).ir, inside_of(grammar).root, number_of(request, "seed"));
  if (flag_of(request, "plain", false)) sampler.write_plain_spaces();
  for (std::uint64_t i = 0; i < number_of(request, "samples") && !grammar.is_empty(); ++i) {
    const std::string text = sampler.sample();
    if (i > 0) out += ", ";
    out += "{\"text\": " + quoted(text) + (made.format ? ", \"read\": " + message_of(made, text) : "") + "}";
  }
  out += "], \"texts\": {";
  if (const Value syntaxes = member_value(request, "syntaxes"); syntaxes.is_sequence()) {
    for (const Value name : items(syntaxes)) {
      if (out.back() != '{') out += ", ";
      out += quoted(leaf_text(name)) + ": " + quoted(grammar.to_text(*find_grammar_syntax(leaf_text(name))));
    }
  }
  out += "}";
  if (flag_of(request, "lazy", false)) out += ", \"lazy\": " + lazy_of(grammar);
  out += ", \"faults\": [";
  if (const Value replies = member_value(request, "replies"); replies.is_sequence() && made.format) {
    for (const Value reply : items(replies)) {
      if (out.back() != '[') out += ", ";
      out += quoted(fault_of(made, leaf_text(reply)));
    }
  }
  return out + "]}";
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    Document document;
    if (auto parsed = document.parse(line); !parsed) {
      std::puts("{\"error\": \"not JSON\"}");
      continue;
    }
    std::puts(answer(document.root()).c_str());
    std::fflush(stdout);
  }
}
