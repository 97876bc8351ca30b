// The rules for statements and bodies. Begin reading at parse_nodes, then rule_of, the list of
// tags.
#include "jinja/syntax/statement_parser.h"

#include <algorithm>

#include "base/unicode.h"
#include "jinja/syntax/literals.h"

namespace parlance::jinja {
namespace {

constexpr Word kEndFor[] = {Word::endfor};
constexpr Word kEndForOrElse[] = {Word::endfor, Word::else_};
constexpr Word kEndIf[] = {Word::endif_};
constexpr Word kEndIfOrElse[] = {Word::elif, Word::else_, Word::endif_};
constexpr Word kEndSet[] = {Word::endset};
constexpr Word kEndWith[] = {Word::endwith};
constexpr Word kEndMacro[] = {Word::endmacro};
constexpr Word kEndCall[] = {Word::endcall};
constexpr Word kEndFilter[] = {Word::endfilter};
constexpr Word kEndBlock[] = {Word::endblock};
constexpr Word kEndAutoescape[] = {Word::endautoescape};
constexpr Word kEndGeneration[] = {Word::endgeneration};

bool contains(std::span<const Word> words, Word word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

// ---- bodies

Nodes StatementParser::parse_template() {
  const Nodes body = parse_nodes({});
  return body;
}

/// Statements and output up to one of `enders`, at which the stream then stands; no enders: to the
/// end.
/// The tag that ends the body is left to the caller, who knows whether it is `else` or the end.
Nodes StatementParser::parse_nodes(Enders enders) {
  Collector<Node*> body = collect_nodes();
  for (;;) {
    switch (stream().current().kind) {
      case TokenKind::data:
      case TokenKind::variable_begin: body.push(parse_output()); break;
      case TokenKind::block_begin:
        stream().advance();
        if (contains(enders, stream().current().word)) return body.take();
        body.push(parse_statement());
        stream().expect(TokenKind::block_end);
        break;
      default: return body.take();
    }
  }
}

/// Template text and print tags that follow one another are one node, as in Jinja2.
Node* StatementParser::parse_output() {
  const std::uint32_t begin = stream().current().begin;
  Collector<Node*> parts = collect_nodes();
  for (;;) {
    if (stream().at(TokenKind::data)) {
      const Token data = stream().advance();
      parts.push(make<Constant>(NodeKind::constant, data.begin, data.begin, data.value, true));
    } else if (stream().skip_if(TokenKind::variable_begin)) {
      parts.push(parse_tuple(TupleForm::open));
      stream().expect(TokenKind::variable_end);
    } else {
      break;
    }
  }
  const std::uint32_t anchor = parts[0]->anchor;
  return make<Output>(NodeKind::output, begin, anchor, parts.take());
}

/// The rest of a tag and the body behind it, up to the name of the tag that ends it.
/// Jinja2 takes a colon at the end of a tag, `{% if x: %}`.
Nodes StatementParser::parse_body(Enders enders) {
  stream().skip_if(TokenKind::colon);
  stream().expect(TokenKind::block_end);
  enders_.push_back(enders);
  const Nodes body = parse_nodes(enders);
  if (stream().at(TokenKind::end_of_template)) fail_end_of_template();
  enders_.pop_back();
  return body;
}

Nodes StatementParser::parse_body_past(Enders enders) {
  const Nodes body = parse_body(enders);
  stream().advance();
  return body;
}

// ---- statements

StatementParser::Rule StatementParser::rule_of(Word tag) {
  switch (tag) {
    case Word::for_: return &StatementParser::parse_for;
    case Word::if_: return &StatementParser::parse_if;
    case Word::set: return &StatementParser::parse_set;
    case Word::with: return &StatementParser::parse_with;
    case Word::macro: return &StatementParser::parse_macro;
    case Word::call: return &StatementParser::parse_call_block;
    case Word::filter: return &StatementParser::parse_filter_block;
    case Word::block: return &StatementParser::parse_block;
    case Word::autoescape: return &StatementParser::parse_autoescape;
    case Word::generation: return &StatementParser::parse_generation;
    case Word::print: return &StatementParser::parse_print;
    case Word::include: return &StatementParser::parse_include;
    case Word::import_: return &StatementParser::parse_import;
    case Word::from: return &StatementParser::parse_from;
    case Word::extends: return &StatementParser::parse_extends;
    case Word::break_: return &StatementParser::parse_break;
    case Word::continue_: return &StatementParser::parse_continue;
    default: return nullptr;
  }
}

/// The open tags are kept for errors alone: what is still open when a template ends is what its author wants to know.
/// Tags nest on the native stack: Nest bounds how deep.
Node* StatementParser::parse_statement() {
  const Token tag = stream().current();
  if (tag.kind != TokenKind::name) return fail(tag, "tag name expected");
  const Rule rule = rule_of(tag.word);
  if (rule == nullptr) {
    fail_unknown_tag(tag);
    return fail(tag, {});
  }
  Nest nest(*this);
  if (!nest.ok()) return fail(tag, {});
  open_tags_.push_back({stream().text(tag), tag.begin});
  stream().advance();
  Node* statement = (this->*rule)(tag);
  open_tags_.pop_back();
  return statement;
}

/// What is iterated over takes no conditional, since `if` behind it begins the loop's test.
Node* StatementParser::parse_for(const Token& tag) {
  Node* target = parse_target(Target::any);
  stream().expect(Word::in);
  Node* iterable = parse_tuple(TupleForm::no_conditional);
  Node* test = stream().skip_if(Word::if_) ? parse_expression() : nullptr;
  const bool recursive = stream().skip_if(Word::recursive);
  const Nodes body = parse_body(kEndForOrElse);
  Nodes otherwise;
  if (stream().advance().word == Word::else_) otherwise = parse_body_past(kEndFor);
  return make<For>(NodeKind::for_, tag.begin, tag.begin, target, iterable, body, otherwise, test, recursive);
}

/// The elifs are a list and no chain of ifs: Jinja2 looks at the names of all of them together (symbols.cpp), and a
/// chain would nest as deep as there are elifs.
Node* StatementParser::parse_if(const Token& tag) {
  Node* test = parse_tuple(TupleForm::no_conditional);
  const Nodes body = parse_body(kEndIfOrElse);
  Collector<If*> elifs(elifs_, arena());
  Nodes otherwise;
  for (;;) {
    const Token ender = stream().advance();
    if (ender.word == Word::else_) otherwise = parse_body_past(kEndIf);
    if (ender.word != Word::elif) break;
    const std::uint32_t anchor = stream().current().begin;
    Node* elif_test = parse_tuple(TupleForm::no_conditional);
    const Nodes elif_body = parse_body(kEndIfOrElse);
    elifs.push(make<If>(NodeKind::if_, ender.begin, anchor, elif_test, elif_body, ArrayOf<If*>(), Nodes()));
  }
  return make<If>(NodeKind::if_, tag.begin, tag.begin, test, body, elifs.take(), otherwise);
}

/// Without `=` it is the form with a body, whose text may go through filters first.
Node* StatementParser::parse_set(const Token& tag) {
  Node* target = parse_target(Target::with_namespace);
  if (stream().skip_if(TokenKind::assign)) {
    Node* value = parse_tuple(TupleForm::open);
    return make<Assign>(NodeKind::assign, tag.begin, tag.begin, target, value);
  }
  Node* filter = parse_filters(nullptr, stream().current().begin, false);
  const Nodes body = parse_body_past(kEndSet);
  return make<AssignBlock>(NodeKind::assign_block, tag.begin, tag.begin, target, filter, body);
}

/// Targets count as parameters: they are new in the body, and do not take their value from the scope around.
Node* StatementParser::parse_with(const Token& tag) {
  Collector<Node*> pairs = collect_nodes();  // target, value, target, value, …
  while (stream().before(TokenKind::block_end)) {
    if (pairs.size() != 0) stream().expect(TokenKind::comma);
    Node* target = parse_target(Target::any);
    set_access(target, Access::parameter);
    pairs.push(target);
    stream().expect(TokenKind::assign);
    pairs.push(parse_expression());
  }
  const auto count = static_cast<std::uint32_t>(pairs.size() / 2);
  Nodes targets{arena().allocate_array<Node*>(count), count};
  Nodes values{arena().allocate_array<Node*>(count), count};
  for (std::uint32_t i = 0; i < count; ++i) {
    targets[i] = pairs[2 * i];
    values[i] = pairs[2 * i + 1];
  }
  const Nodes body = parse_body_past(kEndWith);
  return make<With>(NodeKind::with, tag.begin, tag.begin, targets, values, body);
}

/// Parameters of a macro or a call block. Defaults are fewer than parameters and belong to the last ones.
StatementParser::Signature StatementParser::parse_signature() {
  Collector<Name*> parameters(names_, arena());
  Collector<Node*> defaults = collect_nodes();
  stream().expect(TokenKind::left_paren);
  while (stream().before(TokenKind::right_paren)) {
    if (parameters.size() != 0) stream().expect(TokenKind::comma);
    parameters.push(parse_name_target(Access::parameter));
    if (stream().skip_if(TokenKind::assign)) {
      defaults.push(parse_expression());
    } else if (defaults.size() != 0) {
      fail(stream().current(), "non-default argument follows default argument");
    }
  }
  stream().expect(TokenKind::right_paren);
  return {parameters.take(), defaults.take()};
}

Node* StatementParser::parse_macro(const Token& tag) {
  const std::string_view name = parse_name_target(Access::store)->name;
  const Signature signature = parse_signature();
  const Nodes body = parse_body_past(kEndMacro);
  return make<Macro>(NodeKind::macro, tag.begin, tag.begin, name, signature.parameters, signature.defaults, body);
}

/// {% call(user) list(users) %}: the parameters of the caller stand before what is called.
Node* StatementParser::parse_call_block(const Token& tag) {
  Signature signature;
  if (stream().at(TokenKind::left_paren)) signature = parse_signature();
  Node* call = parse_expression();
  if (call->kind != NodeKind::call) return fail(tag, "expected call");
  const Nodes body = parse_body_past(kEndCall);
  return make<CallBlock>(NodeKind::call_block, tag.begin, tag.begin, call, signature.parameters, signature.defaults,
                         body);
}

Node* StatementParser::parse_filter_block(const Token& tag) {
  Node* filter = parse_filters(nullptr, stream().current().begin, true);
  const Nodes body = parse_body_past(kEndFilter);
  return make<FilterBlock>(NodeKind::filter_block, tag.begin, tag.begin, body, filter);
}

/// `{% endblock name %}` may repeat the name. Another name there is left for the end of the tag to refuse.
Node* StatementParser::parse_block(const Token& tag) {
  const std::string_view name = stream().text(stream().expect(TokenKind::name));
  const bool scoped = stream().skip_if(Word::scoped);
  const bool required = stream().skip_if(Word::required);
  if (stream().at(TokenKind::sub)) {
    fail(stream().current(),
         "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, "
         "use an underscore instead.");
  }
  const Nodes body = parse_body_past(kEndBlock);
  if (required) check_required(body);
  if (stream().at(TokenKind::name) && stream().text(stream().current()) == name) stream().advance();
  return make<Block>(NodeKind::block, tag.begin, tag.begin, name, body, scoped, required);
}

/// A required block is there to be overridden, so it can have no content of its own.
void StatementParser::check_required(const Nodes& body) {
  const auto is_blank = [](const Node* part) {
    if (part->kind != NodeKind::constant || !as<Constant>(part).is_data) return false;
    const Value& value = as<Constant>(part).value;
    return unicode::str_is_space({value.data, value.size});
  };
  for (const Node* node : body) {
    if (node->kind == NodeKind::output) {
      const Nodes& parts = as<Output>(node).parts;
      if (std::all_of(parts.begin(), parts.end(), is_blank)) continue;
    }
    fail(stream().current(), "Required blocks can only contain comments or whitespace");
    return;
  }
}

Node* StatementParser::parse_autoescape(const Token& tag) {
  Node* enabled = parse_expression();
  const Nodes body = parse_body_past(kEndAutoescape);
  return make<Autoescape>(NodeKind::autoescape, tag.begin, tag.begin, enabled, body);
}

Node* StatementParser::parse_generation(const Token& tag) {
  const Nodes body = parse_body_past(kEndGeneration);
  return make<Generation>(NodeKind::generation, tag.begin, tag.begin, body);
}

Node* StatementParser::parse_print(const Token& tag) {
  Collector<Node*> parts = collect_nodes();
  while (stream().before(TokenKind::block_end)) {
    if (parts.size() != 0) stream().expect(TokenKind::comma);
    parts.push(parse_expression());
  }
  return make<Output>(NodeKind::output, tag.begin, tag.begin, parts.take());
}

Node* StatementParser::parse_break(const Token& tag) { return make<Node>(NodeKind::break_, tag.begin, tag.begin); }

Node* StatementParser::parse_continue(const Token& tag) {
  return make<Node>(NodeKind::continue_, tag.begin, tag.begin);
}

// ---- other templates

Node* StatementParser::parse_extends(const Token& tag) {
  Node* name = parse_expression();
  return make<Extends>(NodeKind::extends, tag.begin, tag.begin, name);
}

/// An include sees the context by default, an import does not.
Node* StatementParser::parse_include(const Token& tag) {
  Node* name = parse_expression();
  // `ignore` alone is the name of a variable behind the expression, so two words are looked at.
  const bool ignore_missing = stream().at(Word::ignore) && stream().look().word == Word::missing;
  if (ignore_missing) {
    stream().advance();
    stream().advance();
  }
  bool with_context = true;
  parse_context(with_context, false);
  return make<Include>(NodeKind::include, tag.begin, tag.begin, name, ignore_missing, with_context);
}

Node* StatementParser::parse_import(const Token& tag) {
  Node* name = parse_expression();
  stream().expect(Word::as_);
  const std::string_view target = parse_name_target(Access::store)->name;
  bool with_context = false;
  parse_context(with_context, false);
  return make<Import>(NodeKind::import, tag.begin, tag.begin, name, target, with_context);
}

/// Follows parse_from loop by loop, also where it is odd: a comma may come before "with context", and after it nothing
/// may.
Node* StatementParser::parse_from(const Token& tag) {
  Node* name = parse_expression();
  stream().expect(Word::import_);
  Collector<ImportedName> names(imported_, arena());
  bool with_context = false;
  do {
    if (names.size() != 0) stream().expect(TokenKind::comma);
    if (!stream().at(TokenKind::name)) {
      stream().expect(TokenKind::name);
      break;
    }
    if (parse_context(with_context, false)) break;
    names.push(parse_imported_name());
  } while (!parse_context(with_context, true) && stream().at(TokenKind::comma));
  return make<FromImport>(NodeKind::from_import, tag.begin, tag.begin, name, names.take(), with_context);
}

ImportedName StatementParser::parse_imported_name() {
  const Name* name = parse_name_target(Access::store);
  if (name->name.starts_with('_')) {
    fail_at(*name, "names starting with an underline can not be imported", ErrorCode::unknown_builtin);
  }
  if (!stream().skip_if(Word::as_)) return {name->name, name->name};
  return {name->name, parse_name_target(Access::store)->name};
}

/// "with context" or "without context", if it is here. `strings_too`: behind imported names Jinja2
/// asks for the value of the token only, so that a string of that value does too.
bool StatementParser::parse_context(bool& with_context, bool strings_too) {
  Word word = stream().current().word;
  if (strings_too && stream().at(TokenKind::string)) {
    const Value& value = stream().current().value;
    word = find_word({value.data, value.size});
  }
  if (word != Word::with && word != Word::without) return false;
  if (stream().look().word != Word::context) return false;
  with_context = word == Word::with;
  stream().advance();
  stream().advance();
  return true;
}

// ---- failing

bool StatementParser::is_awaited(std::string_view tag) const {
  const Word word = find_word(tag);
  return word != Word::none &&
         std::any_of(enders_.begin(), enders_.end(), [word](Enders enders) { return contains(enders, word); });
}

/// A tag that some open block waits for is no unknown tag: a tag between is not closed. Both sentences are Jinja2's.
void StatementParser::fail_unknown_tag(const Token& tag) {
  const std::string_view name = stream().text(tag);
  std::string message = "Encountered unknown tag " + quoted(name) + ".";
  if (is_awaited(name)) {
    message +=
        " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking "
        "for ";
  } else {
    message += " Jinja was looking for the following tags: ";
  }
  if (enders_.empty()) message = "Encountered unknown tag " + quoted(name) + ".";
  fail_between_tags(tag, std::move(message));
}

void StatementParser::fail_end_of_template() {
  fail_between_tags(stream().current(), "Unexpected end of template. Jinja was looking for the following tags: ");
}

/// Completes `message` with the tags that may come now and the block that is open.
void StatementParser::fail_between_tags(const Token& at, std::string message) {
  if (!enders_.empty()) {
    bool first = true;
    for (const Word word : enders_.back()) {
      if (!first) message += " or ";
      first = false;
      message += quoted(text_of(word));
    }
    message += '.';
  }
  if (!open_tags_.empty()) {
    message += " The innermost block that needs to be closed is " + quoted(open_tags_.back().name) + ".";
  }
  stream().fail(at.begin, at.end, std::move(message), ErrorCode::syntax, open_tag_hint());
}

std::string StatementParser::open_tag_hint() {
  if (open_tags_.empty()) return {};
  const std::string_view before = stream().text().substr(0, open_tags_.back().begin);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  return quoted(open_tags_.back().name) + " is open since line " + std::to_string(line);
}

}  // namespace parlance::jinja
