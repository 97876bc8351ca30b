// tool_calls of a response_template as forms of calls. Begin reading at forms_of.
#include "response_template/read_calls.h"

#include <algorithm>

#include "response_template/call_shape.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance::response {
namespace {

using ElementKind = Element::Kind;
using Part = CallPart::Kind;
using Role = CallMember::Role;

std::string text_member(Value dict, std::string_view key) {
  const Value* found = member(dict, key);
  return found != nullptr && found->is_string() ? std::string(leaf_text(*found)) : std::string();
}

/// What a transform takes from: the path in "{path}".
std::string source_path(const Value* v) {
  return v != nullptr && v->is_string() ? std::string(path_in_braces(leaf_text(*v))) : std::string();
}

bool is_plain(const Sequence& sequence) {
  return std::all_of(sequence.begin(), sequence.end(),
                     [](const Element& e) { return e.kind == ElementKind::text || e.kind == ElementKind::space; });
}

/// Text with its outer white space as framing; white space that may be there is a line end.
ReplyMarker marker_of_run(const Sequence& run) {
  std::string text;
  for (const Element& element : run) text += element.kind == ElementKind::space ? "\n" : element.text;
  constexpr std::string_view kSpace = " \n\t\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  ReplyMarker marker;
  if (begin == std::string::npos) return marker;
  const std::size_t end = text.find_last_not_of(kSpace) + 1;
  marker.texts = {text.substr(begin, end - begin)};
  marker.before = text.substr(0, begin);
  marker.after = text.substr(end);
  return marker;
}

/// Where a transform takes name, arguments and id from.
struct Places {
  std::string name, arguments, id;
};

/// Without a transform the content must already be a call as OpenAI has it.
Places places_of(const TemplateField& field) {
  if (field.transform.is(Kind::dict)) {
    const Value* function = member(field.transform, "function");
    const std::string whole = source_path(function);
    const std::string id = source_path(member(field.transform, "id"));
    if (!whole.empty()) return {whole + ".name", whole + ".arguments", id};
    if (function == nullptr) return {};
    return {source_path(member(*function, "name")), source_path(member(*function, "arguments")), id};
  }
  return {"content.function.name", "content.function.arguments", {}};
}

// ---- what stands in the text

/// The parts that a sequence is, up to the arguments; `initial` where it begins with the reply.
std::vector<CallPart> parts_of(const Sequence& sequence, const Places& places, bool& initial) {
  std::vector<CallPart> parts;
  Sequence run;
  const auto flush = [&] {
    CallPart part;
    part.literal = marker_of_run(run);
    run.clear();
    if (part.literal.exists()) parts.push_back(std::move(part));
  };
  for (const Element& element : sequence) {
    if (element.kind == ElementKind::text || element.kind == ElementKind::space) {
      run.push_back(element);
      continue;
    }
    flush();
    CallPart part;
    part.kind = element.kind == ElementKind::skip ? Part::skip
                : element.text == places.name     ? Part::name
                : element.text == places.id       ? Part::id
                                                  : Part::skip;
    initial = initial || element.kind == ElementKind::begin;
    if (element.kind == ElementKind::skip || element.kind == ElementKind::group) parts.push_back(std::move(part));
  }
  flush();
  return parts;
}

/// A call begins with the reply or by a text; behind that may stand what a ReplyFormat has parts for, and what must
/// follow.
Result<void> check_openers(const std::vector<Sequence>& openers, const std::string& path) {
  for (const Sequence& sequence : openers) {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const ElementKind kind = sequence[i].kind;
      const bool misplaced = (kind == ElementKind::begin && i != 0) ||
                             (kind == ElementKind::ahead && i + 1 != sequence.size() && sequence[i + 1].kind != kind);
      if (misplaced || kind == ElementKind::repeat)
        return cannot_say(path,
                          "must be texts, white space and groups, which only the reply's beginning stands before");
    }
  }
  return {};
}

// ---- what stands in JSON

/// Recursion is as deep as the path has dots, which object_of bounds.
void put_member(std::vector<CallMember>& members, std::string_view path, Role role) {
  const std::size_t dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  auto found = std::find_if(members.begin(), members.end(), [&](const CallMember& m) { return m.key == key; });
  if (found == members.end())
    found = members.insert(members.end(),
                           CallMember{.role = dot == path.npos ? role : Role::inner, .key = std::string(key)});
  if (dot != path.npos) put_member(found->members, path.substr(dot + 1), role);
}

/// A path below what was read: all of it in a list's items, else behind "content.".
std::string_view inside(const TemplateField& field, std::string_view path) {
  if (field.each) return path;
  return path.starts_with("content.") ? path.substr(8) : std::string_view();
}

Result<CallPart> object_of(const TemplateField& field, const Places& places) {
  CallPart part;
  part.kind = Part::object;
  for (const auto& [path, role] : {std::pair{places.id, Role::id}, std::pair{places.name, Role::name},
                                   std::pair{places.arguments, Role::arguments}}) {
    const std::string_view key = inside(field, path);
    if (key.empty() && role != Role::id)
      return cannot_say(field.path + ".transform", "must take the call's name and arguments from the content");
    constexpr std::ptrdiff_t kDeepest = 8;
    if (std::count(key.begin(), key.end(), '.') > kDeepest)
      return cannot_say(field.path + ".transform", "looks up what stands too deep");
    if (!key.empty()) put_member(part.members, key, role);
  }
  return part;
}

// ---- arguments

/// Where no tool has a type for them, values are JSON where they can be, or texts.
Result<ArgumentTags::Style> style_of_values(const TemplateField& field) {
  const std::string path = field.path + ".content_args.";
  const Value* merged = member(field.arguments, "merge_duplicates");
  if (merged != nullptr && merged->is(Kind::boolean) && merged->integer != 0)
    return cannot_say(path + "merge_duplicates", "a ReplyFormat makes no list of an argument that comes twice");
  const Value* parser = member(field.arguments, "value_parser");
  if (parser == nullptr || parser->is_none()) return ArgumentTags::Style::text;
  const std::string name = parser->is(Kind::dict) ? text_member(*parser, "name") : std::string();
  if (!name.empty() && name != "text" && name != "json")
    return cannot_say(path + "value_parser", "a value is read as text or JSON, not by another parser");
  return name == "json" ? ArgumentTags::Style::json : ArgumentTags::Style::text;
}

Result<CallArguments> tags_of(const TemplateField& field) {
  const std::string path = field.path + ".content_args.tag_pattern";
  const std::string pattern = text_member(field.arguments, "tag_pattern");
  const auto found = parse_pattern(pattern);
  const Sequence all = found && found->size() == 1 ? found->front() : Sequence();
  const auto group = [&](std::string_view name) {
    return std::find_if(all.begin(), all.end(),
                        [&](const Element& e) { return e.kind == ElementKind::group && e.text == name; });
  };
  const auto key = group("key");
  const auto value = group("value");
  if (key == all.end() || value == all.end() || value < key)
    return cannot_say(path, "must be texts round the groups key and value");
  const auto repeat = std::find_if(value, all.end(), [](const Element& e) { return e.kind == ElementKind::repeat; });
  const Result<ArgumentTags::Style> style = style_of_values(field);
  if (!style) return style.error();
  CallArguments arguments;
  arguments.codec = CallArguments::Codec::tags;
  arguments.tags.text_between = true;
  arguments.tags.style = *style;
  for (const auto& [begin, end] :
       {std::pair{all.begin(), key}, std::pair{key + 1, value}, std::pair{value + 1, repeat}}) {
    if (!is_plain(Sequence(begin, end))) return cannot_say(path, "must be texts round the groups key and value");
  }
  arguments.tags.open = marker_of_run({all.begin(), key});
  arguments.tags.key_close = marker_of_run({key + 1, value});
  arguments.tags.close = marker_of_run({value + 1, repeat});
  if (repeat != all.end()) {
    const ReplyMarker end = marker_of_run({repeat + 1, all.end()});
    if (end.exists()) arguments.tags.close_end = end.texts.front();
  }
  return arguments;
}

Result<CallArguments> arguments_of(const TemplateField& field) {
  CallArguments arguments;
  if (field.content == "xml-inline") return tags_of(field);
  if (field.content != "json") return cannot_say(field.path + ".content", "arguments that are neither JSON nor tags");
  const Value* delimiters = member(field.arguments, "string_delims");
  if (delimiters == nullptr) return arguments;
  const bool pair = delimiters->is_sequence() && items(*delimiters).size() == 1 &&
                    items(*delimiters)[0].is_sequence() && items(items(*delimiters)[0]).size() == 2;
  const std::span<const Value> texts = pair ? items(items(*delimiters)[0]) : std::span<const Value>();
  if (!pair || !texts[0].is_string() || !texts[1].is_string() || leaf_text(texts[0]) != leaf_text(texts[1])) {
    return cannot_say(field.path + ".content_args.string_delims", "must be one pair of equal texts");
  }
  arguments.codec = CallArguments::Codec::bare;
  arguments.quote = leaf_text(texts[0]);
  return arguments;
}

/// The parts of each call in a list of Python's calls, which the parser makes objects with name and arguments.
Result<std::vector<CallPart>> python_call_of(const TemplateField& field) {
  const Places places = places_of(field);
  if (!field.each || places.name != "name" || places.arguments != "arguments")
    return cannot_say(field.path + ".transform", "must take \"{name}\" and \"{arguments}\" of each call");
  std::vector<CallPart> parts(2);
  parts[0].kind = Part::name;
  parts[1].kind = Part::arguments;
  parts[1].arguments.codec = CallArguments::Codec::keywords;
  return parts;
}

/// What the content is: one part.
Result<std::vector<CallPart>> body_of(const TemplateField& field, const std::vector<CallPart>& before) {
  const Places places = places_of(field);
  const bool named =
      std::any_of(before.begin(), before.end(), [](const CallPart& part) { return part.kind == Part::name; });
  if (!named) {
    if (field.content != "json") return cannot_say(field.path + ".content", "a call whose name stands nowhere");
    Result<CallPart> object = object_of(field, places);
    if (!object) return object.error();
    return std::vector{std::move(*object)};
  }
  if (places.arguments != "content")
    return cannot_say(field.path + ".transform", "must have the arguments as \"{content}\"");
  Result<CallArguments> arguments = arguments_of(field);
  if (!arguments) return arguments.error();
  CallPart part;
  part.kind = Part::arguments;
  part.arguments = std::move(*arguments);
  return std::vector{std::move(part)};
}

/// A pattern with alternatives was multiplied out; forms that differ in one marker's texts are one form again, which
/// reads the same and is shorter.
bool merge(CallForm& form, const CallForm& other) {
  if (form.call.size() != other.call.size()) return false;
  CallPart* differs = nullptr;
  const CallPart* by = nullptr;
  for (std::size_t i = 0; i < form.call.size(); ++i) {
    if (form.call[i] == other.call[i]) continue;
    if (differs != nullptr || form.call[i].kind != Part::literal || other.call[i].kind != Part::literal) return false;
    differs = &form.call[i];
    by = &other.call[i];
  }
  CallForm rest = other;
  rest.call = form.call;
  if (differs == nullptr || rest != form) return false;
  std::vector<std::string>& texts = differs->literal.texts;
  texts.insert(texts.end(), by->literal.texts.begin(), by->literal.texts.end());
  return true;
}

}  // namespace

Result<std::vector<Sequence>> sequences_of(const Border& border, const std::string& path) {
  std::vector<Sequence> out;
  for (const std::string& text : border.texts) out.push_back({{.text = text}});
  if (!border.pattern) return out;
  std::optional<std::vector<Sequence>> found = parse_pattern(*border.pattern);
  if (!found)
    return cannot_say(path + "_pattern", "a regular expression that is more than texts, white space and groups");
  return std::move(*found);
}

Result<void> check_plain(const std::vector<Sequence>& sequences, std::optional<Element::Kind> alone,
                         const std::string& path) {
  for (const Sequence& sequence : sequences) {
    const bool is_alone = alone && sequence.size() == 1 && sequence.front().kind == *alone;
    const bool is_text = is_plain(sequence) && marker_of_run(sequence).exists();
    if (!is_alone && !is_text)
      return cannot_say(path + "_pattern", "one of its alternatives is more than texts and white space between them");
  }
  return {};
}

ReplyMarker marker_of(const std::vector<Sequence>& sequences) {
  ReplyMarker marker;
  for (const Sequence& sequence : sequences) {
    const ReplyMarker one = is_plain(sequence) ? marker_of_run(sequence) : ReplyMarker();
    if (!one.exists() || std::find(marker.texts.begin(), marker.texts.end(), one.texts.front()) != marker.texts.end())
      continue;
    if (marker.texts.empty()) marker = {.before = one.before, .after = one.after};
    marker.texts.push_back(one.texts.front());
  }
  return marker;
}

Result<std::vector<CallForm>> forms_of(const TemplateField& field, bool repeats) {
  Result<std::vector<Sequence>> openers = sequences_of(field.open, field.path + ".open");
  if (!openers) return openers.error();
  Result<std::vector<Sequence>> closers = sequences_of(field.close, field.path + ".close");
  if (!closers) return closers.error();
  if (Result<void> plain = check_plain(*closers, ElementKind::ahead, field.path + ".close"); !plain)
    return plain.error();
  if (Result<void> fine = check_openers(*openers, field.path + ".open_pattern"); !fine) return fine.error();
  const ReplyMarker close = marker_of(*closers);
  const bool is_python = field.content == kPythonCalls;
  const bool is_list = field.each || is_python || (!repeats && !field.transform.is(Kind::dict));
  // Openers that are texts alone are one marker; any other is a form of its own.
  const ReplyMarker open = marker_of(*openers);
  std::erase_if(*openers, is_plain);
  std::vector<CallForm> forms;
  const auto add = [&](std::vector<CallPart> parts, bool initial) -> Result<void> {
    Result<std::vector<CallPart>> body = is_python ? python_call_of(field) : body_of(field, parts);
    if (!body) return body.error();
    CallForm form;
    form.initial = initial;
    if (is_list) {
      form.layout = CallLayout::list;
      if (!parts.empty()) form.open = parts.front().literal;
      form.close = close;
      form.call = std::move(*body);
    } else {
      form.call = std::move(parts);
      form.call.push_back(std::move(body->front()));
      if (close.exists()) form.call.push_back({.literal = close});
    }
    if (std::none_of(forms.begin(), forms.end(), [&](CallForm& known) { return merge(known, form); }))
      forms.push_back(std::move(form));
    return {};
  };
  if (open.exists()) {
    if (Result<void> added = add({{.literal = open}}, false); !added) return added.error();
  }
  for (const Sequence& sequence : *openers) {
    bool initial = false;
    std::vector<CallPart> parts = parts_of(sequence, places_of(field), initial);
    if (Result<void> added = add(std::move(parts), initial); !added) return added.error();
  }
  if (forms.empty()) return cannot_say(field.path, "nothing opens a call");
  return forms;
}

}  // namespace parlance::response
