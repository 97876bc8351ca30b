// TagsReader: arguments in tags, one for each; it writes the JSON itself.
//
//     <p=city>⏎Paris⏎</p><p=days>⏎3⏎</p>   ->   {"city": "Paris", "days": 3}
//
// Values may nest as tags too, where the format says so. What a value is, tag_value.h tells, and where it ends,
// value_end.h. Begin reading at TagsReader::read_part and TagsReader::meet.
#include <algorithm>

#include "base/inside.h"
#include "json/json.h"
#include "reply/read/tag_value.h"
#include "reply/read/text_reading.h"
#include "reply/read/value_end.h"
#include "reply/scan/argument_names.h"
#include "reply/tools.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance::reply {
namespace {

class TagsReader final : public PartReaderOf<TagsReader> {
 public:
  TagsReader(Types::Node schema, std::uint32_t depth) : value_(depth) { arguments_.schema = schema; }

  bool restart(const CallPart& part, const Reading& in) override;
  std::size_t held(const Call& call) const override { return at_ == At::value ? value_.held(call).size() : 0; }
  bool takes_framing() const override { return false; }

 private:
  enum class At : std::uint8_t { between, key, type, begin, value, key_end };
  /// The arguments, or a value that nests in them.
  struct Frame {
    Types::Node schema = Types::kUnknown;
    bool array = false;
    bool filled = false;
  };

  void read_part(const char*& p, const char* end) override;
  bool finish_part() override;
  void say_cut_off(std::string&) override {
    if (at_ == At::value && wraps_) open_wrapper();
    in().out.text(ReplyEvent::Kind::broken, at_ == At::value ? value_.unsaid(*in().call) : std::string_view());
  }

  HeldText& word() const { return in().call->word; }  ///< a key or a type as it is written
  const ArgumentTags& tags() const { return in().arguments().tags; }
  const TagTries& tries() const { return in().form().tags; }
  Frame& top() { return nested_ && !nested_->empty() ? nested_->back() : arguments_; }
  std::size_t depth() const { return nested_ ? nested_->size() : 0; }
  ValueEnd value_end();
  void give_back(std::string_view bytes) { in().give_back(bytes); }

  // between tags
  void read_between(const char*& p, const char* end);
  void end_gap(GapEnd gap);
  void meet(const Mark& mark, const std::string& source);
  void meet_between(const Mark& mark, const std::string& source);
  void open_tag(std::string_view source);
  void begin_whole(const std::string& source);
  void end_tags(std::string_view source);
  void end_tags_early(const std::string& source);
  void open_nested(const std::string& source);
  void close_nested();
  void end_nested(std::string_view source);
  void refuse(const GapEnd& gap);

  // keys, and the types beside them
  void read_word(const char*& p, const char* end);
  const char* put_plain_key(const char* p, const char* end);
  bool take_key_byte(char c);
  void end_key(std::string_view source, bool typed);
  void begin_member(const std::string& key);
  void say_member(const std::string& key);
  void end_type(std::string_view source);
  bool may_be_list(Types::Node node) const;

  // a value that may be all arguments
  bool may_wrap(std::string_view key) const;
  bool take_wrapped();
  void open_wrapper();

  // values
  void begin_value();
  void put_value(std::string_view bytes);
  void begin_value_text();
  void read_value(const char*& p, const char* end);
  void go_on_with_end(const char*& p, const char* end);
  bool settle_value(bool last);
  void end_value(const Mark& mark, const std::string& source);

  At at_ = At::between;
  bool opens_ = false;  ///< the next key is the first of its value, and tells whether that is a list
  bool raw_ = false;    ///< the value begins with a CDATA section
  bool wraps_ = false;  ///< the value may be all arguments: its key, the word of wrapper_, is not said yet
  TagValue::StatedType stated_ = TagValue::StatedType::nothing;
  Frame arguments_;
  ArgumentNames names_;
  Types::Node schema_ = Types::kUnknown;  ///< of the value
  Box<std::vector<Frame>> nested_;
  HeldText key_;  ///< of the value, where its closing tag repeats it
  HeldText wrapper_;
  TagValue value_;
  Waiting waiting_;  ///< while a tag is held that may be the value's end
};

/// The schema of the tool's arguments.
Types::Node schema_of_call(const Reading& in) {
  const reply::DeclaredTools* data = inside_of(in.tools()).get();
  if (data == nullptr) return Types::kUnknown;
  const auto tool = data->tools.find(in.call->name.view());
  return tool == data->tools.end() ? Types::kUnknown : tool->second;
}

bool TagsReader::restart(const CallPart& part, const Reading& in) {
  if (part.kind != CallPart::Kind::arguments || part.arguments.codec != CallArguments::Codec::tags) return false;
  TagsReader fresh(schema_of_call(in), in.limits().depth);
  key_.clear();
  wrapper_.clear();
  names_.clear();
  fresh.key_ = std::move(key_);
  fresh.wrapper_ = std::move(wrapper_);
  fresh.names_ = std::move(names_);
  *this = std::move(fresh);
  return true;
}

void TagsReader::read_part(const char*& p, const char* end) {
  switch (at_) {
    case At::between: return read_between(p, end);
    case At::begin: return end_gap(read_gap(in(), tries().begin, p, end, [](char c) { return is_json_space(c); }));
    case At::key:
    case At::type: return read_word(p, end);
    case At::value: return read_value(p, end);
    case At::key_end: break;
  }
  const Met met =
      read_to_marker(in(), tries().key_end, p, end, [this](std::string_view bytes) { in().put_frame(bytes); });
  if (met) meet(met.mark, met.source);
}

bool TagsReader::finish_part() {
  Held& held = in().held;
  if (at_ == At::value) return !held.bytes.empty() && settle_value(true);
  const bool waits = (at_ == At::between || at_ == At::begin) && held.bytes.size() > held.blanks;
  if (!waits) return false;
  const MarkerTrie& markers = at_ == At::between ? tries().between : tries().begin;
  if (in().match(markers, std::string_view(held.bytes).substr(held.blanks), in().here() + held.blanks).size == 0)
    return false;
  end_gap(end_of_gap(in(), markers, '\0'));
  return true;
}

// ---- between tags

/// Text there may mean nothing; but before the first tag it is not certain yet that this is a call.
void TagsReader::read_between(const char*& p, const char* end) {
  if (!tags().text_between || !in().call->named)
    return end_gap(read_gap(in(), tries().between, p, end, [](char c) { return is_json_space(c); }));
  const Met met =
      read_to_marker(in(), tries().between, p, end, [this](std::string_view bytes) { in().put_frame(bytes); });
  if (met) meet(met.mark, met.source);
}

void TagsReader::end_gap(GapEnd gap) {
  if (gap.what == GapEnd::What::marker) meet(gap.mark, gap.held);
  if (gap.what == GapEnd::What::other) refuse(gap);
}

void TagsReader::meet(const Mark& mark, const std::string& source) {
  if (at_ == At::value) return end_value(mark, source);
  const bool ends = mark.meaning == Meaning::end || mark.meaning == Meaning::turn;
  if (ends || (!in().call->named && !in().commit())) {
    fail(ends ? in().literal_behind() : "a declared tool");
    return give_back(source);
  }
  switch (at_) {
    case At::key: return end_key(source, tags().type_close.exists() && mark.skipped == 0);
    case At::type: return end_type(source);
    case At::key_end:
      in().put_markup(source);
      at_ = At::between;
      return;
    case At::begin:
      if (mark.meaning == Meaning::tag_open) return open_nested(source);
      if (mark.meaning == Meaning::tag_close) {
        begin_value_text();
        return end_value(mark, source);
      }
      raw_ = true;
      in().put_markup(source);
      return begin_value_text();
    default: return meet_between(mark, source);
  }
}

void TagsReader::meet_between(const Mark& mark, const std::string& source) {
  switch (mark.meaning) {
    case Meaning::tag_open: return open_tag(source);
    case Meaning::tag_whole: return begin_whole(source);
    case Meaning::tag_close: return end_nested(source);
    case Meaning::call_close: return end_tags_early(source);
    default: return end_tags(source);
  }
}

void TagsReader::open_tag(std::string_view source) {
  in().put_markup(source);
  word().clear();
  at_ = At::key;
}

/// An object in place of all tags.
void TagsReader::begin_whole(const std::string& source) {
  if (depth() > 0 || arguments_.filled) {
    fail(in().literal_behind());
    return give_back(source);
  }
  in().put_frame(source);
  answer({Step::What::object});
}

/// All arguments are there. The values that are open lack their tags.
void TagsReader::end_tags(std::string_view source) {
  if (depth() > 0) in().out.malformed(0, tags().close.texts.front());
  while (depth() > 0) close_nested();
  in().put_meant(arguments_.filled ? "}" : "{}");
  in().put_markup(source);
  answer({Step::What::done, true});
}

/// What closes the call is there, but for its beginning.
void TagsReader::end_tags_early(const std::string& source) {
  in().out.malformed(0, in().literal_behind());
  if (in().form().form->layout == CallLayout::single) return end_tags(source);
  end_tags({});
  give_back(source);
}

/// The first tag in a value tells what the value is: items make a list.
void TagsReader::open_nested(const std::string& source) {
  if (depth() + 1 >= in().limits().depth) {
    fail("nesting no deeper than the limit");
    return give_back(source);
  }
  if (!nested_) nested_.make();
  nested_->push_back({schema_, false, false});
  names_.open();
  opens_ = true;
  open_tag(source);
}

void TagsReader::close_nested() {
  in().put_meant(top().array ? "]" : "}");
  nested_->pop_back();
  names_.close();
}

/// A closing tag where no string is open closes a value of tags.
void TagsReader::end_nested(std::string_view source) {
  if (depth() == 0) {
    if (!tags().text_between) in().out.malformed(0, "an argument");
  } else {
    close_nested();
  }
  in().put_markup(source);
  at_ = tags().close_end.empty() ? At::between : At::key_end;
}

/// Something else than a tag stands behind the white space.
void TagsReader::refuse(const GapEnd& gap) {
  const std::string& held = gap.held;
  if (at_ == At::begin) {
    begin_value_text();
    return give_back(held);
  }
  if (gap.next == '{' && held.size() == gap.blanks && !arguments_.filled) {  // an object in place of all tags
    if (in().call->named) in().out.malformed(gap.blanks, tags().open.texts.front(), ReplyEvent::Fault::mended);
    return begin_whole(held);
  }
  in().put_frame(std::string_view(held).substr(0, gap.blanks));
  if (gap.blanks > 0 && held.size() == gap.blanks && is_json_space(gap.next)) return;  // a long gap
  const bool is_text = tags().text_between && (in().call->named || in().commit());
  if (!is_text) fail(in().literal_behind());
  give_back(std::string_view(held).substr(gap.blanks));
}

// ---- keys, and the types beside them

void TagsReader::read_word(const char*& p, const char* end) {
  if (in().held.bytes.empty()) p = put_plain_key(p, end);
  const MarkerTrie& markers = at_ == At::key ? tries().key : tries().type;
  const auto never = [](char) { return false; };
  const WordEnd end_of_word =
      reply::read_word(in(), markers, p, end, never, [this](char c) { return take_key_byte(c); });
  if (end_of_word.refused) {
    in().put_meant(word());  // so that it is not lost
    fail((at_ == At::type ? tags().type_close : tags().key_close).texts.front());
  }
  if (end_of_word.met) meet(end_of_word.met.mark, end_of_word.met.source);
}

/// What ends neither a key nor a type, at once.
const char* TagsReader::put_plain_key(const char* p, const char* end) {
  const MarkerTrie& markers = at_ == At::key ? tries().key : tries().type;
  const std::size_t longest = in().limits().name, room = longest - std::min<std::size_t>(longest, word().size());
  end = p + std::min(room, static_cast<std::size_t>(end - p));
  const char* const begin = p;
  while (p != end && may_be_in_text(*p) && !markers.begins(*p)) ++p;
  if (p == begin) return p;
  word() += {begin, static_cast<std::size_t>(p - begin)};
  in().put_frame({begin, p});
  return p;
}

bool TagsReader::take_key_byte(char c) {
  const bool markup = c == '<' && tags().key_escape == TextEscape::attribute;
  const bool fits = may_be_in_text(c) || is_json_space(c) || markup;
  if (!fits || word().size() >= in().limits().name) return false;
  word() += {&c, 1};
  in().put_frame({&c, 1});
  return true;
}

/// Whether items make a list there: an object may have that key too, if the tool says so.
bool TagsReader::may_be_list(Types::Node node) const {
  const reply::DeclaredTools* data = inside_of(in().tools()).get();
  if (data == nullptr) return true;
  const Types::Schema& schema = data->types[node];
  return (schema.types & Types::kArray) != 0 && !schema.members.contains(tags().item);
}

/// Where its type is missing, the tool's schema or the value's text says it.
void TagsReader::end_key(std::string_view source, bool typed) {
  std::string key(trimmed(word()));
  word().clear();
  if (!typed && tags().type_close.exists())
    in().out.malformed(0, tags().key_close.texts.front(), ReplyEvent::Fault::mended);
  in().put_markup(source);
  if (!tags().close_end.empty()) key_ = key;
  if (tags().key_escape != TextEscape::none) key = without_entities(key);
  begin_member(key);
  raw_ = false;
  if (typed) {
    at_ = At::type;
  } else {
    in().absorb = tags().type_close.exists() ? tags().type_close.after : tags().key_close.after;
    begin_value();
  }
}

void TagsReader::begin_member(const std::string& key) {
  wraps_ = may_wrap(key);
  if (!wraps_) return say_member(key);
  wrapper_.assign(key);
  schema_ = Types::kUnknown;
}

/// Says the key, and finds the value's schema.
void TagsReader::say_member(const std::string& key) {
  Frame& frame = top();
  if (std::exchange(opens_, false)) {
    frame.array = key == tags().item && may_be_list(frame.schema);
    in().put_meant(frame.array ? "[" : "{");
  }
  if (frame.filled) {
    in().put_meant(", ");
  } else if (depth() == 0) {
    in().put_meant("{");  // not sooner: what is no argument is none of the object
  }
  frame.filled = true;
  const reply::DeclaredTools* data = inside_of(in().tools()).get();
  schema_ = Types::kUnknown;
  if (frame.array) {
    if (data != nullptr) schema_ = data->types[frame.schema].items;
    return;
  }
  if (!names_.add(key)) in().out.malformed(0, depth() == 0 ? kNewArgument : kNewMember);
  std::string json;
  append_json_string(json, key);
  in().put_meant(json.append(": "));
  if (data != nullptr) schema_ = data->types.member(frame.schema, key);
}

/// The type that the reply states: what is a string is one, whatever the schema says.
void TagsReader::end_type(std::string_view source) {
  const std::string type(trimmed(word()));
  word().clear();
  in().put_markup(source);
  in().absorb = tags().type_close.after;
  const bool text =
      std::find(tags().string_types.begin(), tags().string_types.end(), type) != tags().string_types.end();
  stated_ = text ? TagValue::StatedType::text : TagValue::StatedType::typed;
  begin_value();
}

// ---- a value that may be all arguments

/// Models write the object of a call as its only argument, `arguments` or `input`, which the tool does not have.
bool TagsReader::may_wrap(std::string_view key) const {
  const reply::DeclaredTools* data = inside_of(in().tools()).get();
  const bool first = depth() == 0 && !arguments_.filled && tags().item.empty();
  if (data == nullptr || !first || (key != "arguments" && key != "input")) return false;
  const Types::Schema& schema = data->types[arguments_.schema];
  return !schema.members.empty() && !schema.members.contains(key);
}

/// False where it is no object of the tool's arguments.
bool TagsReader::take_wrapped() {
  const std::string text(trimmed(word()));
  JsonScanner scanner(in().limits().depth);
  const char* p = text.data();
  const bool whole = text.starts_with('{') && scanner.run(p, text.data() + text.size()) == Scan::done;
  Document document;
  if (!whole || p != text.data() + text.size() || !document.parse(text) || !document.root().is(Kind::dict))
    return false;
  const Types::Schema& schema = inside_of(in().tools())->types[arguments_.schema];
  for (const DictEntry& entry : entries(document.root())) {
    if (!schema.members.contains(leaf_text(entry.key))) return false;
  }
  for (const DictEntry& entry : entries(document.root())) names_.add(leaf_text(entry.key));
  in().out.malformed(0, "the arguments without '" + std::string(wrapper_) + "'", ReplyEvent::Fault::mended);
  arguments_.filled = !entries(document.root()).empty();
  // Its last brace comes with the end of the tags: other arguments may follow.
  const std::string_view open = trimmed(std::string_view(text).substr(0, text.size() - 1));
  in().out.piece(ReplyEvent::Kind::arguments, word(), arguments_.filled ? open : std::string_view());
  word().clear();
  wraps_ = false;
  return true;
}

/// It is an argument like any other.
void TagsReader::open_wrapper() {
  wraps_ = false;
  const std::string text = word().take();
  say_member(wrapper_.take());
  value_.begin(in(), schema_, stated_, raw_);
  if (!text.empty()) value_.put(in(), text);
}

// ---- values

void TagsReader::begin_value() {
  at_ = At::begin;
  if (tries().begin.empty()) begin_value_text();
}

void TagsReader::begin_value_text() {
  at_ = At::value;
  if (wraps_ && raw_) return open_wrapper();
  value_.begin(in(), schema_, wraps_ ? TagValue::StatedType::typed : stated_, raw_);
}

void TagsReader::put_value(std::string_view bytes) {
  if (wraps_ && word().size() + bytes.size() > in().limits().pending) open_wrapper();
  value_.put(in(), bytes);
}

ValueEnd TagsReader::value_end() { return {in(), {value_, top().schema, depth(), key_}, waiting_}; }

void TagsReader::read_value(const char*& p, const char* end) {
  if (!in().held.bytes.empty()) return go_on_with_end(p, end);
  const MarkerTrie& markers = ValueEnd::own(in(), value_);
  const char* begin = p;
  while ((p = markers.skip(p, end)) != end) {
    const Found any = in().match(markers, {p, end}, in().here() + static_cast<std::size_t>(p - begin));
    if (any.size == 0 && !any.more) {
      ++p;
      continue;
    }
    if (begin != p) put_value({std::exchange(begin, p), p});  // whether it is an end depends on the value so far
    const Found found = any.size == 0 ? any : value_end().match({p, end}, in().here(), false);
    if (any.size == 0) waiting_ = {.own = any.at.node, .own_blanks = any.at.blanks};
    if (found.more) {
      in().held.bytes.assign(p, static_cast<std::size_t>(end - p));
      p = end;
      return;
    }
    if (found.size != 0) {
      p += found.size;
      return meet(found.mark, std::string(p - found.size, found.size));
    }
    ++p;
  }
  if (begin != end) put_value({begin, end});
}

/// What is held may be an end.
void TagsReader::go_on_with_end(const char*& p, const char* end) {
  const char* const begin = p;
  p = value_end().wait(p, end);
  const std::size_t size = std::min<std::size_t>(static_cast<std::size_t>(end - p), kLongestGap);
  p += size;
  in().held.bytes.append(begin, static_cast<std::size_t>(p - begin));
  if (size != 0) settle_value(false);
}

/// What is held of a value begins with a marker, or its first byte is text, or it depends. False where it depends.
bool TagsReader::settle_value(bool last) {
  const std::string_view held = in().held.bytes;
  const Found found = value_end().match_again(held, in().here(), last);
  if (found.more) return false;
  give_back(held.substr(std::max<std::size_t>(found.size, 1)));
  const std::string source(held.substr(0, found.size));
  const char first = held.front();
  in().held.clear();
  if (found.size != 0) {
    meet(found.mark, source);
  } else {
    put_value({&first, 1});
  }
  return true;
}

void TagsReader::end_value(const Mark& mark, const std::string& source) {
  if (value_.is_raw()) {  // what follows up to the tag is text too
    in().out.flush();
    in().put_markup(source);
    value_.end_raw();
    in().absorb = {};
    return;
  }
  if (!wraps_ || !take_wrapped()) {
    if (wraps_) open_wrapper();
    value_.end(in());
  }
  stated_ = TagValue::StatedType::nothing;
  if (mark.meaning == Meaning::tag_close) {
    in().put_markup(source);
    at_ = tags().close_end.empty() ? At::between : At::key_end;
    return;
  }
  in().out.malformed(0, tags().close.texts.front());
  at_ = At::between;
  meet(mark, source);
}

}  // namespace

std::unique_ptr<PartReader> tags_reader(const Reading& in) {
  return std::make_unique<TagsReader>(schema_of_call(in), in.limits().depth);
}

}  // namespace parlance::reply
