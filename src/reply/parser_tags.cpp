// Arguments in tags, one for each: the reader writes the JSON itself.
//
//     <p=city>⏎Paris⏎</p><p=days>⏎3⏎</p>   ->   {"city": "Paris", "days": 3}
//
// Values may nest as tags too, where the format says so. Begin reading at meet_in_tags; values are in parser_typed.cpp.
#include <algorithm>
#include <utility>

#include "reply/parser.h"
#include "value/json.h"

namespace parlance {

using reply::Meaning;
using reply::TagReader;
using reply::Types;

void ReplyParser::State::begin_tags() {
  call_->codec.make(TagReader(machine_->limits.depth));
  if (const ReplyTools::Data* data = machine_->tools.data()) {
    const auto tool = data->tools.find(call_->name.view());
    if (tool != data->tools.end()) call_->tags().arguments.schema = tool->second;
  }
  place_ = Place::tag_between;
}

void ReplyParser::State::meet_in_tags(const Mark& mark, const std::string& source) {
  if (place_ == Place::tag_value) return end_tag_value(mark, source);
  const bool ends = mark.meaning == Meaning::end || mark.meaning == Meaning::turn;
  if (!call_->named && !ends && !commit()) return again(source);
  if (ends) {
    fail(form().literal_text(call_->part + std::size_t{1}));
    return again(source);
  }
  switch (place_) {
    case Place::tag_key: return end_key_of_tag(source, tags().type_close.exists() && mark.skipped == 0);
    case Place::tag_type: return end_type_of_tag(source);
    case Place::tag_key_end:
      put_markup(source);
      place_ = Place::tag_between;
      return;
    case Place::tag_begin:
      if (mark.meaning == Meaning::tag_open) return begin_nested(source);
      if (mark.meaning == Meaning::tag_close) {
        begin_value_text();
        return end_tag_value(mark, source);
      }
      call_->tags().cdata = true;
      put_markup(source);
      return begin_value_text();
    default: break;
  }
  switch (mark.meaning) {
    case Meaning::tag_open: return open_tag(source);
    case Meaning::tag_whole: return begin_whole(source);
    case Meaning::tag_close: return end_nested(source);
    case Meaning::call_close: return end_tags_early(source);
    default: return end_tags(source);
  }
}

void ReplyParser::State::open_tag(std::string_view source) {
  put_markup(source);
  call_->word.clear();
  place_ = Place::tag_key;
}

/// An object in place of all tags.
void ReplyParser::State::begin_whole(const std::string& source) {
  if (call_->tags().depth() > 0 || call_->tags().arguments.filled) {
    fail(form().literal_text(call_->part + std::size_t{1}));
    return again(source);
  }
  put_frame(source);
  place_ = Place::object;
  call_->at = Call::At::arguments_only;
  call_->role = Call::Role::arguments;
  call_->codec.make(reply::JsonReader(machine_->limits.depth));
}

/// All arguments are there. The values that are open lack their tags.
void ReplyParser::State::end_tags(std::string_view source) {
  TagReader& reader = call_->tags();
  if (reader.depth() > 0) out_.malformed(0, tags().close.texts.front());
  while (reader.depth() > 0) {
    put_meant(reader.top().array ? "]" : "}");
    reader.nested->pop_back();
  }
  put_meant(reader.arguments.filled ? "}" : "{}");
  call_->codec.reset();
  const bool ends = call_->part == form().last_value;
  put_markup(source);
  if (ends) close_call(true);
  call_->part = static_cast<std::uint8_t>(call_->part + 2);
  begin_part();
}

/// What closes the call is there, but for its beginning.
void ReplyParser::State::end_tags_early(const std::string& source) {
  out_.malformed(0, form().literal_text(call_->part + std::size_t{1}));
  if (form().form->layout == CallLayout::single) return end_tags(source);
  end_tags({});
  again(source);
}

// ---- keys

/// Of a key, or of the type beside it: what ends neither, at once.
const char* ReplyParser::State::put_key(const char* p, const char* end) {
  const std::size_t room = machine_->limits.name - std::min<std::size_t>(machine_->limits.name, call_->word.size());
  end = p + std::min(room, static_cast<std::size_t>(end - p));
  const char* const begin = p;
  while (p != end && reply::may_be_in_text(*p) && !trie().begins(*p)) ++p;
  put_text({begin, p});
  return p;
}

bool ReplyParser::State::take_key_byte(char c) {
  const bool markup = c == '<' && tags().key_escape == TextEscape::attribute;
  const bool fits = reply::may_be_in_text(c) || reply::is_json_space(c) || markup;
  if (!fits || call_->word.size() >= machine_->limits.name) {
    put_meant(call_->word);  // so that it is not lost
    fail((place_ == Place::tag_type ? tags().type_close : tags().key_close).texts.front());
    return false;
  }
  put_text({&c, 1});
  return true;
}

/// Whether items make a list there: an object may have that key too, if the tool says so.
bool ReplyParser::State::may_be_list(Types::Node node) const {
  const ReplyTools::Data* data = machine_->tools.data();
  if (data == nullptr) return true;
  const Types::Schema& schema = data->types[node];
  return (schema.types & Types::kArray) != 0 && !schema.members.contains(tags().item);
}

/// Where its type is missing, the tool's schema or the value's text says it.
void ReplyParser::State::end_key_of_tag(std::string_view source, bool typed) {
  TagReader& reader = call_->tags();
  TagReader::Frame& frame = reader.top();
  std::string key(reply::trimmed(call_->word));
  call_->word.clear();
  if (!typed && tags().type_close.exists()) out_.malformed(0, tags().key_close.texts.front(), Fault::mended);
  put_markup(source);
  if (!tags().close_end.empty()) reader.key = key;
  if (tags().key_escape != TextEscape::none) key = reply::without_entities(key);
  if (std::exchange(reader.opens, false)) {
    frame.array = key == tags().item && may_be_list(frame.schema);
    put_meant(frame.array ? "[" : "{");
  }
  if (frame.filled) {
    put_meant(", ");
  } else if (reader.depth() == 0) {
    put_meant("{");  // not sooner: what is no argument is none of the object
  }
  frame.filled = true;
  const ReplyTools::Data* data = machine_->tools.data();
  reader.schema = Types::kUnknown;
  if (frame.array) {
    if (data != nullptr) reader.schema = data->types[frame.schema].items;
  } else {
    std::string json;
    append_json_string(json, key);
    put_meant(json.append(": "));
    if (data != nullptr) reader.schema = data->types.member(frame.schema, key);
  }
  reader.fresh = true;
  reader.cdata = false;
  if (typed) {
    place_ = Place::tag_type;
  } else {
    absorb_ = tags().type_close.exists() ? tags().type_close.after : tags().key_close.after;
    begin_tag_value();
  }
}

/// The type on the wire: what is a string is one, whatever the schema says.
void ReplyParser::State::end_type_of_tag(std::string_view source) {
  const std::string type(reply::trimmed(call_->word));
  call_->word.clear();
  put_markup(source);
  absorb_ = tags().type_close.after;
  bool text = false;
  for (const std::string& known : tags().string_types) text = text || known == type;
  call_->tags().wire = text ? TagReader::Wire::text : TagReader::Wire::typed;
  begin_tag_value();
}

// ---- values that nest

/// The first tag in a value tells what the value is: items make a list.
void ReplyParser::State::begin_nested(const std::string& source) {
  TagReader& reader = call_->tags();
  if (reader.depth() + 1 >= machine_->limits.depth) {
    fail("nesting no deeper than the limit");
    return again(source);
  }
  if (!reader.nested) reader.nested.make();
  reader.nested->push_back({reader.schema, false, false});
  reader.opens = true;
  open_tag(source);
}

/// A closing tag where none of a text is open closes a value of tags.
void ReplyParser::State::end_nested(std::string_view source) {
  TagReader& reader = call_->tags();
  if (reader.depth() == 0) {
    out_.malformed(0, "an argument");
    put_markup(source);
    place_ = tags().close_end.empty() ? Place::tag_between : Place::tag_key_end;
    return;
  }
  put_meant(reader.top().array ? "]" : "}");
  reader.nested->pop_back();
  put_markup(source);
  place_ = tags().close_end.empty() ? Place::tag_between : Place::tag_key_end;
}

/// Something else than a tag. True if what is held was dealt with.
bool ReplyParser::State::refuse_in_tags(const std::string& held, std::size_t blanks, char next) {
  if (place_ == Place::tag_begin) {
    begin_value_text();
    return false;
  }
  if (next == '{' && held.size() == blanks && !call_->tags().arguments.filled) {  // an object in place of all tags
    if (call_->named) out_.malformed(blanks, tags().open.texts.front(), Fault::mended);
    begin_whole(held);
    return true;
  }
  put_frame(std::string_view(held).substr(0, blanks));
  if (blanks > 0 && held.size() == blanks && reply::is_json_space(next)) return true;  // a long gap
  fail(form().literal_text(call_->part + std::size_t{1}));
  again(held.substr(blanks));
  return true;
}

}  // namespace parlance
