// From a form of calls to patterns, a content parser and a transform. Begin reading at shape_of.
#include "response_template/call_shape.h"

#include <algorithm>

#include "base/ascii.h"
#include "json/writer.h"
#include "reply/codec.h"
#include "response_template/pattern.h"

namespace parlance::response {
namespace {

using Codec = CallArguments::Codec;
using Part = CallPart::Kind;
using Role = CallMember::Role;

/// What a transform may look up: letters, digits and underscores.
bool is_plain_key(std::string_view key) { return !key.empty() && std::all_of(key.begin(), key.end(), ascii::is_word); }

/// A call as OpenAI has it, of JSON texts.
std::string call_json(const std::string& id, const std::string& name, const std::string& arguments) {
  const std::string begin = id.empty() ? "{" : "{\"id\": " + id + ", ";
  return begin + R"("type": "function", "function": {"name": )" + name + ", \"arguments\": " + arguments + "}}";
}

// ---- calls that are objects

struct ObjectPaths {
  std::string name, arguments, id;
  std::string around;  ///< of the object that holds name and arguments and nothing else
  std::string problem;
};

/// A path as who reads a note knows it: without what the field calls the whole object.
std::string key_in_call(std::string_view path) {
  constexpr std::string_view kWhole = "content.";
  return json_string(path.starts_with(kWhole) ? path.substr(kWhole.size()) : path);
}

bool has_name(const std::vector<CallMember>& members) {
  return std::ranges::any_of(members, [](const CallMember& member) {
    return member.role == Role::name || (member.role == Role::inner && has_name(member.members));
  });
}

/// A transform looks members up by dotted paths, so keys must be plain words. A format may take several keys for one
/// thing, or all of it in a further object; a transform has one path for each, and the others become losses.
void find_paths(const std::vector<CallMember>& members, const std::string& path, ObjectPaths& found,
                std::vector<std::string>& losses) {
  std::size_t known = 0;
  for (const CallMember& member : members) {
    const std::string place = path.empty() ? member.key : path + "." + member.key;
    std::string* wanted = member.role == Role::name        ? &found.name
                          : member.role == Role::arguments ? &found.arguments
                                                           : &found.id;
    if (member.role == Role::any_name) found.problem = "the key of an object is the name: no transform can say that";
    if (member.role == Role::any_name || member.role == Role::constant) continue;
    if (!is_plain_key(member.key)) found.problem = "no transform can look up the key " + json_string(member.key);
    if (member.role == Role::inner && !found.name.empty() && has_name(member.members)) {
      losses.push_back("a call with name and arguments in " + key_in_call(place) + " is an error");
    } else if (member.role == Role::inner) {
      find_paths(member.members, place, found, losses);
    } else if (!wanted->empty()) {
      const std::string found_key = key_in_call(place), key = key_in_call(*wanted);
      losses.push_back("a call with " + found_key + " in place of " + key + " is an error");
    } else {
      *wanted = place;
      known += member.role == Role::id ? 0 : member.key == (member.role == Role::name ? "name" : "arguments") ? 1 : 0;
    }
  }
  const bool only_these = std::none_of(members.begin(), members.end(), [](const CallMember& m) {
    return m.role != Role::name && m.role != Role::arguments;
  });
  if (known == 2 && only_these) found.around = path;
}

// An object of exactly name and arguments is OpenAI's `function` as it stands: it is passed on whole, so that arguments
// keep whatever they are.
Result<void> take_object(CallShape& shape, const CallPart& part, const std::string& path,
                         std::vector<std::string>& losses) {
  const std::string root = shape.is_list ? "" : "content";
  ObjectPaths found;
  find_paths(part.members, root, found, losses);
  if (!found.problem.empty()) return cannot_say(path, found.problem);
  if (found.name.empty() || found.arguments.empty()) return cannot_say(path, "the object has no name or no arguments");
  shape.content = "json";
  const auto place = [](const std::string& key) { return key.empty() ? key : json_string("{" + key + "}"); };
  shape.transform = call_json(place(found.id), place(found.name), place(found.arguments));
  if (found.id.empty() && !found.around.empty())
    shape.transform = R"({"type": "function", "function": )" + place(found.around) + "}";
  if (part.arguments.as_text) losses.emplace_back("arguments that are a text of JSON stay a text");
  return {};
}

// ---- calls in parts

/// The bytes with which a part that ends a name may begin.
std::string first_bytes(const ReplyMarker& marker) {
  std::string out;
  for (const std::string& text : marker.texts) out += text.substr(0, 1);
  return out;
}

/// The bytes that a name cannot hold, since what follows it begins with one of them. Of arguments only the byte counts
/// with which models are taught to begin them; an object, which is no literal either, has a brace.
std::string stops_of(const CallPart& next, const CallPart* behind) {
  if (next.kind == Part::literal) return first_bytes(next.literal);
  if (next.kind != Part::arguments) return "{";
  if (next.arguments.codec != Codec::tags)
    return std::string(reply::facts_of(next.arguments.codec).begins.substr(0, 1));
  return first_bytes(next.arguments.tags.open) + (behind != nullptr ? first_bytes(behind->literal) : "");
}

/// The pattern of a computed id: its text, with numbers and the name where they stand.
std::string id_pattern(std::string_view computed, const std::string& free, bool& named) {
  if (computed.find("{name}") == std::string_view::npos || named) return "(?P<id>" + free + ")";
  std::string out = "(?P<id>";
  while (!computed.empty()) {
    const std::string_view slot = computed.substr(0, computed.starts_with("{name}") ? 6 : 3);
    if (slot == "{name}") {
      named = true;
      const std::string_view next = computed.substr(6, 1);
      out += "(?P<name>" + (next.empty() ? free : word_pattern(next)) + ")";
    } else if (slot == "{0}" || slot == "{1}") {
      out += "\\d+";
    } else {
      out += escaped(computed.substr(0, 1));
      computed = computed.substr(1);
      continue;
    }
    computed = computed.substr(slot.size());
  }
  return out + ")";
}

/// Texts that open something else, and go on from an opener of calls: what must not follow there.
std::string not_others(const std::vector<std::string>& openers, const std::vector<std::string>& others) {
  std::vector<std::string> rests;
  for (const std::string& opener : openers) {
    for (const std::string& other : others) {
      if (other.size() > opener.size() && other.starts_with(opener))
        rests.push_back(soft_pattern(std::string_view(other).substr(opener.size())));
    }
  }
  return rests.empty() ? "" : "(?!" + joined_pattern(std::move(rests)) + ")";
}

/// Everything before the arguments goes into the pattern that opens the field, as named groups; everything behind them
/// into the one that closes it. A response_template sees no structure besides.
class PartsWriter {
 public:
  PartsWriter(const CallForm& form, const std::string& path, const std::string& prompt)
      : form_(form), path_(path), prompt_(prompt) {}

  Result<void> write(CallShape& shape, const std::vector<std::string>& others, std::vector<std::string>& losses) {
    std::size_t at = 0;
    for (; at < form_.call.size() && form_.call[at].kind != Part::arguments && form_.call[at].kind != Part::object;
         ++at)
      append(at, others);
    if (at == form_.call.size()) return cannot_say(path_ + ".call", "a call without arguments");
    body_ = at;
    take_open(shape);
    if (Result<void> closed = take_close(shape); !closed) return closed;
    const std::string place = path_ + ".call[" + std::to_string(at) + "]";
    const CallPart& body = form_.call[at];
    return body.kind == Part::object ? take_object(shape, body, place, losses)
                                     : take_arguments(shape, body.arguments, place, losses);
  }

 private:
  const CallPart* part(std::size_t at) const { return at < form_.call.size() ? &form_.call[at] : nullptr; }

  void append(std::size_t at, const std::vector<std::string>& others) {
    const CallPart& one = form_.call[at];
    const CallPart* next = part(at + 1);
    const std::string free = word_pattern(next != nullptr ? stops_of(*next, part(at + 2)) : "");
    if (one.kind == Part::literal) {
      const std::vector<std::string> texts = at == 0 ? without_prompt(one.literal.texts, prompt_) : one.literal.texts;
      pattern_ += (at > 0 && !one.literal.before.empty() ? "\\s*" : "") + any_pattern(texts) +
                  (one.literal.after.empty() ? "" : "\\s*");
      if (at == 0) pattern_ += next != nullptr && next->kind == Part::name ? not_others(texts, others) : "";
      return;
    }
    only_texts_ = false;
    if (one.kind == Part::id) {
      has_id_ = true;
      pattern_ += id_pattern(one.pattern, free, named_);
    } else if (one.kind == Part::name && !named_) {
      named_ = true;
      pattern_ += "(?P<name>" + free + ")" +
                  (next != nullptr && next->kind == Part::arguments && free.ends_with("{]+") ? "(?=\\s*\\{)" : "");
    } else {
      pattern_ += one.kind == Part::name ? free : free.substr(0, free.size() - 1) + "*";
    }
  }

  void take_open(CallShape& shape) {
    const CallPart& first = form_.call.front();
    if (body_ == 0) {
      shape.open = "\\A\\s*(?=\\{)";
    } else if (body_ == 1 && only_texts_ && are_literal(first.literal.texts)) {
      shape.openers = without_prompt(first.literal.texts, prompt_);
    } else {
      shape.open = pattern_;
    }
  }

  /// One text that begins with another would close a call where only the other has come so far: the other closes, and
  /// what is left of the longer one is dropped.
  static std::vector<std::string> shortest(const std::vector<std::string>& texts, std::vector<std::string>& rests) {
    std::vector<std::string> out;
    for (const std::string& text : texts) {
      const auto shorter = std::find_if(texts.begin(), texts.end(), [&](const std::string& t) {
        return t.size() < text.size() && text.starts_with(t);
      });
      if (shorter == texts.end()) {
        out.push_back(text);
        continue;
      }
      const std::size_t rest = text.find_first_not_of(" \n\t", shorter->size());
      if (rest != std::string::npos) rests.push_back(text.substr(rest));
    }
    return out;
  }

  Result<void> take_close(CallShape& shape) {
    if (body_ + 2 == form_.call.size() && form_.call.back().kind == Part::literal) {
      const std::vector<std::string> texts = shortest(form_.call.back().literal.texts, shape.rests);
      are_literal(texts) ? void(shape.closers = texts) : void(shape.close = any_pattern(texts));
      return {};
    }
    for (std::size_t at = body_ + 1; at < form_.call.size(); ++at) {
      const CallPart& one = form_.call[at];
      if (one.kind == Part::id || one.kind == Part::name) {
        return cannot_say(path_ + ".call[" + std::to_string(at) + "]",
                          "only what stands before the arguments can be looked up");
      }
      shape.close += one.kind == Part::skip ? ".*?"
                                            : (at > body_ + 1 && !one.literal.before.empty() ? "\\s*" : "") +
                                                  any_pattern(one.literal.texts);
    }
    return {};
  }

  Result<void> take_arguments(CallShape& shape, const CallArguments& arguments, const std::string& place,
                              std::vector<std::string>& losses) {
    if (!named_) return cannot_say(path_ + ".call", "the name does not stand before the arguments");
    std::string content = "\"{content}\"";
    switch (arguments.codec) {
      case Codec::json: shape.content = "json"; break;
      case Codec::bare:
        shape.content = "json";
        losses.emplace_back("a value that JSON has another word for (None, True) is an error");
        shape.arguments =
            Json('{')
                .flag("unquoted_keys", true)
                .raw("string_delims", "[" + json_list(std::vector{arguments.quote, arguments.quote}) + "]")
                .take();
        break;
      case Codec::tags:
        shape.content = "xml-inline";
        shape.arguments = "{\"tag_pattern\": " + json_string(tag_pattern(arguments.tags, losses)) + "}";
        break;
      case Codec::code:
        shape.content = "text";
        content = "{" + json_string(arguments.argument) + ": \"{content}\"}";
        break;
      case Codec::keywords:
        return cannot_say(place, "arguments of a Python call: there is no content parser for its literals");
    }
    shape.transform = call_json(has_id_ ? "\"{id}\"" : "", "\"{name}\"", content);
    if (arguments.as_text) losses.emplace_back("arguments that are a text of JSON stay a text");
    return {};
  }

  static std::string tag_pattern(const ArgumentTags& tags, std::vector<std::string>& losses);

  const CallForm& form_;
  const std::string& path_;
  const std::string& prompt_;
  std::string pattern_;
  std::size_t body_ = 0;
  bool only_texts_ = true;
  bool named_ = false;
  bool has_id_ = false;
};

/// One argument as a pattern with the groups key and value, which xml-inline applies again and again. What a pattern
/// cannot do (types, escapes, nesting) is listed as a loss.
std::string PartsWriter::tag_pattern(const ArgumentTags& tags, std::vector<std::string>& losses) {
  std::string out = any_pattern(tags.open.texts) + (tags.open.after.empty() ? "" : "\\s*");
  out += "(?P<key>" + word_pattern(first_bytes(tags.key_close)) + ")";
  out += (tags.key_close.before.empty() ? "" : "\\s*") + any_pattern(tags.key_close.texts);
  if (tags.type_close.exists()) {
    const std::string word = word_pattern(first_bytes(tags.type_close));
    out += word.substr(0, word.size() - 1) + "*" + any_pattern(tags.type_close.texts) +
           optional_space(tags.type_close.after);
    losses.emplace_back("the type that stands beside an argument is not used: its tool's schema is");
  } else {
    out += optional_space(tags.key_close.after);
  }
  const std::string close = optional_space(tags.close.before) + any_pattern(tags.close.texts) +
                            (tags.close_end.empty() ? "" : "(?P=key)" + escaped(tags.close_end));
  if (tags.escape == ArgumentTags::Escape::cdata) {
    out += "(?:<!\\[CDATA\\[(?P<value>.*?)\\]\\]>|(?P<value>.*?))" + close;
  } else {
    out += "(?P<value>.*?)" + close;
  }
  if (tags.escape == ArgumentTags::Escape::xml)
    losses.emplace_back("escapes of markup in arguments (&lt;) stay as they are");
  if (!tags.item.empty()) losses.emplace_back("lists and objects that are written as tags stay text");
  if (tags.style == ArgumentTags::Style::python)
    losses.emplace_back("lists and objects that are written as Python's literals stay text where JSON has other ones");
  if (tags.style != ArgumentTags::Style::text)
    losses.emplace_back("arguments are texts unless parse_response is given the tools");
  return out;
}

/// Whether each call is a name and keyword arguments: what the parser of Python's calls reads.
bool are_python_calls(const std::vector<CallPart>& call) {
  return call.size() == 2 && call[0].kind == Part::name && call[1].kind == Part::arguments &&
         call[1].arguments.codec == Codec::keywords && call[1].arguments.callee.empty();
}

/// A list of objects, or of Python's calls, between markers.
Result<void> take_list(CallShape& shape, const CallForm& form, const std::string& path, const std::string& prompt,
                       std::vector<std::string>& losses) {
  const bool is_python = are_python_calls(form.call);
  if (!is_python && (form.call.size() != 1 || form.call.front().kind != Part::object))
    return cannot_say(path + ".call", "the calls of the list are neither JSON nor Python's");
  shape.is_list = true;
  if (!form.open.exists()) {
    shape.open = "\\A\\s*(?=\\[)";
  } else if (are_literal(form.open.texts)) {
    shape.openers = without_prompt(form.open.texts, prompt);
  } else {
    shape.open = any_pattern(without_prompt(form.open.texts, prompt));
  }
  if (form.close.exists() && are_literal(form.close.texts)) shape.closers = form.close.texts;
  if (form.close.exists() && shape.closers.empty()) shape.close = any_pattern(form.close.texts);
  if (form.commas_optional) losses.emplace_back("a list of calls without commas is an error");
  if (form.open_optional) losses.emplace_back("a list of calls without its opener is text");
  if (!is_python) return take_object(shape, form.call.front(), path + ".call[0]", losses);
  shape.content = kPythonCalls;
  shape.transform = call_json("", "\"{name}\"", "\"{arguments}\"");
  losses.emplace_back(
      "transformers reads lists of Python's calls since 5.24; older releases refuse this response_template");
  return {};
}

}  // namespace

Error cannot_say(const std::string& path, std::string message, std::string hint) {
  return Error(ErrorCode::value, std::move(message)).input(path).hint(std::move(hint));
}

bool are_literal(const std::vector<std::string>& texts) {
  return std::none_of(texts.begin(), texts.end(),
                      [](const std::string& text) { return text.find('\n') != std::string::npos; });
}

std::vector<std::string> without_prompt(const std::vector<std::string>& texts, const std::string& prompt) {
  std::vector<std::string> out = texts;
  for (const std::string& text : texts) {
    if (!prompt.empty() && text.size() > prompt.size() && text.starts_with(prompt))
      out.push_back(text.substr(prompt.size()));
  }
  return out;
}

Result<CallShape> shape_of(const CallForm& form, const std::string& path, const std::string& prompt,
                           const std::vector<std::string>& others, std::vector<std::string>& losses) {
  CallShape shape;
  shape.close_optional = form.close_optional;
  if (form.headed) return cannot_say(path + ".headed", "a call that begins in the header of a turn");
  const bool opened = form.layout == CallLayout::list || form.initial || form.call.front().kind == Part::literal;
  if (!opened) return cannot_say(path + ".call", "nothing opens a call but what opens the section");
  PartsWriter parts(form, path, prompt);
  Result<void> taken = form.layout == CallLayout::list ? take_list(shape, form, path, prompt, losses)
                                                       : parts.write(shape, others, losses);
  if (!taken) return taken.error();
  const bool closes = !shape.closers.empty() || !shape.close.empty();
  if (form.initial) losses.emplace_back("whatever JSON an answer begins with is taken for calls");
  if (form.declared_only)
    losses.emplace_back("an opener of calls in an answer is taken for a call whatever follows it");
  if (!closes && !shape.is_list && form.call.back().kind == Part::object)
    losses.emplace_back("several calls that follow each other without a closing marker are an error");
  return shape;
}

}  // namespace parlance::response
