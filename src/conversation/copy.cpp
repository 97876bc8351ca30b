// A conversation once more, in memory of its own. Begin reading at Conversation::copy.
#include "conversation/conversation.h"
#include "parlance/document_builder.h"
#include "parlance/json.h"

namespace parlance {
namespace {

void give(DocumentBuilder& builder, Value value);

void give_items(DocumentBuilder& builder, Value list) {
  for (const Value item : list.items()) give(builder, item);
}

void give_members(DocumentBuilder& builder, Value dict) {
  builder.begin_dict();
  for (const DictEntry& member : dict.members()) {
    builder.known_key(member.key.text());
    give(builder, member.value);
  }
  builder.end_dict();
}

/// Values nest at most as deep as those of a JSON text (kJsonDepth).
void give(DocumentBuilder& builder, Value value) {
  switch (value.kind) {
    case Kind::boolean: return builder.boolean(value.integer != 0);
    case Kind::real: return builder.real(value.real);
    case Kind::string:
      return builder.known_string(value.is_leaf() ? value.text() : std::string_view(whole_text(value)));
    case Kind::integer:
      return value.is_small_int() ? builder.integer(value.integer) : builder.integer(json_text(value));
    case Kind::dict: return give_members(builder, value);
    case Kind::list: builder.begin_list(), give_items(builder, value); return builder.end_list();
    case Kind::tuple: builder.begin_tuple(), give_items(builder, value); return builder.end_tuple();
    default: return builder.none();
  }
}

}  // namespace

Conversation Conversation::copy() const {
  const State& from = inside();
  DocumentBuilder builder;
  give(builder, from.variables);
  Conversation made;
  const ReadOptions as_is{.normalise = false};
  if (!made.read(builder, as_is)) return made;  // values of a conversation are those of a request
  State& to = made.inside();
  to.as_transformers = from.as_transformers;
  to.continue_final = from.continue_final;
  to.passes = from.passes;
  to.notes = notes();
  return made;
}

}  // namespace parlance
