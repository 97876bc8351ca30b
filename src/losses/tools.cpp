// Tools and documents that are not in the prompt, and what of them. Begin reading at find_lost_tools.
#include <algorithm>

#include "conversation/edit.h"
#include "losses/text_search.h"

namespace parlance {
namespace {

/// Members of a document that say where it is from: they need not be shown.
constexpr std::string_view kIds[] = {"id", "doc_id", "document_id", "url", "source"};

bool is_id(std::string_view name) { return std::find(std::begin(kIds), std::end(kIds), name) != std::end(kIds); }

/// What a function has, at least one of it.
constexpr std::string_view kFunction[] = {"name", "description", "parameters"};

void parameter(TextSearch& search, Value properties, const DictEntry& entry, const Place& place, Tally& each) {
  const bool lost = has_words(entry.key) && !search.is_key_reached(properties, entry.key);
  each.add(lost);
  if (lost) return search.lose("tool", search.path_of(entry.value, place));
  if (!search.left_out()) return;
  Tally details = search.tally();
  if (entry.value.kind == Kind::dict) search.members(entry.value, "detail", place, details);
  for (std::size_t i = details.first_loss; i < search.said(); ++i) search.at(i).kind = LossKind::left_out;
}

/// Else it is a tool that the server runs, or a list of functions as another API has it.
bool is_function(Value inside) {
  return std::ranges::any_of(kFunction, [&](std::string_view name) { return member(inside, name) != nullptr; });
}

/// What a model must know to call a tool: its name, what it does, its parameters' names. The rest are details. Of what
/// is no function, all must be there.
void tool(TextSearch& search, Value value, const Place& place, Tally& each) {
  if (value.kind != Kind::dict) return value.is_none() ? void() : search.leaves(false, value, "tool", place, each);
  const Value* wrapped = member(value, "function");
  const Value inside = wrapped != nullptr && wrapped->kind == Kind::dict ? *wrapped : value;
  const Place function = place["function"];
  const Place& here = wrapped != nullptr ? function : place;
  if (!is_function(inside)) return search.members(value, "tool", place, each);
  for (const std::string_view name : {"name", "description"}) {
    if (const Value* said = member(inside, name)) search.text(*said, "tool", here[name], each);
  }
  const Value* parameters = member(inside, "parameters");
  const Value* properties = parameters == nullptr ? nullptr : member(*parameters, "properties");
  if (properties == nullptr || properties->kind != Kind::dict) return;
  const Place schema = here["parameters"];
  const Place members = schema["properties"];
  for (const DictEntry& entry : entries(*properties))
    parameter(search, *properties, entry, members[leaf_text(entry.key)], each);
}

/// All texts in it, however deep; `of_id`: they need not be shown.
void document_texts(TextSearch& search, Value value, const Place& place, bool of_id, Tally& each) {
  if (value.kind == Kind::dict) {
    for (const DictEntry& entry : entries(value)) {
      const std::string_view name = leaf_text(entry.key);
      document_texts(search, entry.value, place[name], of_id || is_id(name), each);
    }
  } else if (value.is_sequence()) {
    for (std::uint32_t i = 0; i < value.list->size; ++i)
      document_texts(search, value.list->items[i], place[i], of_id, each);
  } else if (has_words(value) && !of_id) {
    search.text(value, "document", place, each);
  } else if (has_words(value) && search.left_out() && !search.is_reached(value)) {
    search.leave_out("detail", search.path_of(value, place));
  }
}

void document(TextSearch& search, Value value, const Place& place, Tally& each) {
  if (value.kind != Kind::dict && !value.is_sequence()) return search.text(value, "document", place, each);
  document_texts(search, value, place, false, each);
}

using FindOne = void (*)(TextSearch&, Value, const Place&, Tally&);

/// Where nothing of several is in the prompt, one loss says so.
void find_in_list(TextSearch& search, Value list, const Place& name, std::string_view subject, FindOne find) {
  if (list.kind != Kind::list || list.list->size == 0) return;
  Tally all = search.tally();
  std::size_t lost = 0;
  for (std::uint32_t i = 0; i < list.list->size; ++i) {
    const Value one = list.list->items[i];
    Tally each = search.tally();
    find(search, one, name[i], each);
    if (each.all_lost()) search.lose_whole(each, subject, search.path_of(one, name[i]));
    lost += each.all_lost() ? 1 : 0;
    all.add(each);
  }
  if (lost != list.list->size || lost == 1) return;
  search.lose_whole(all, subject, name.text());
  search.at(search.said() - 1).sentence = "none of these " + std::to_string(lost) + " is in the prompt";
}

}  // namespace

void find_lost_tools(TextSearch& search, Value variables) {
  if (const Value* tools = member(variables, "tools")) find_in_list(search, *tools, {nullptr, "tools"}, "tool", tool);
}

void find_lost_documents(TextSearch& search, Value variables) {
  if (const Value* documents = member(variables, "documents"))
    find_in_list(search, *documents, {nullptr, "documents"}, "document", document);
}

}  // namespace parlance
