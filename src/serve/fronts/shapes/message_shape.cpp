// Begin reading at check_messages_shape.
#include "serve/fronts/shapes/message_shape.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "base/ascii.h"
#include "base/utf8.h"
#include "serve/fronts/shapes/shape.h"

namespace parlance::serve {

namespace {

Result<void> check_part(Value part, const std::string& path) {
  if (!part.is(Kind::dict)) return misshapen(path, "an object with a `type`");
  const std::string_view type = part["type"].text();
  const bool is_text = type == "text" || type == "input_text" || type == "output_text";
  if (is_text && !part["text"].is_string()) return misshapen(path + ".text", "a string");
  return {};
}

Result<void> check_call(Value call, const std::string& path) {
  if (!call.is(Kind::dict)) return misshapen(path, "an object");
  if (is_given(call["custom"]) || call["name"].is_string()) return {};
  if (!call["function"].is(Kind::dict)) return misshapen(path + ".function", "an object");
  if (!call["function"]["name"].is_string()) return misshapen(path + ".function.name", "a string");
  return {};
}

constexpr std::string_view kAnthropicRoles[] = {"user", "assistant", "system"};

Result<void> check_role(Value role, const std::string& path, ReplyApi api) {
  if (!role.is_string()) return misshapen(path, "a string");
  if (api != ReplyApi::anthropic || std::ranges::find(kAnthropicRoles, role.text()) != std::end(kAnthropicRoles))
    return {};
  std::string all;
  for (const std::string_view one : kAnthropicRoles) all.append(all.empty() ? "" : ", ").append(one);
  const std::string said(utf8::whole_prefix(role.text(), 80));
  return Error(ErrorCode::conversation, "'" + said + "' is not a role of this API (its roles: " + all + ")")
      .input(path);
}

Result<void> check_message(Value message, const std::string& path, ReplyApi api) {
  if (!message.is(Kind::dict)) return misshapen(path, "an object");
  if (Result<void> checked = check_role(message["role"], path + ".role", api); !checked) return checked;
  const Value content = message["content"];
  constexpr std::string_view kContent = "a string or a list of parts";
  const bool may_lack_content = api == ReplyApi::ollama || message["role"].text() != "user";
  if (!is_given(content) && !may_lack_content) return misshapen(path + ".content", kContent);
  Result<void> checked;
  if (!content.is_string()) checked = check_each(content, path + ".content", kContent, check_part);
  return checked ? check_each(message["tool_calls"], path + ".tool_calls", "a list of calls", check_call) : checked;
}

/// Ids of calls that were read so far.
class KnownCalls {
 public:
  explicit KnownCalls(const EarlierCalls& earlier)
      : ids_(earlier.calls.begin(), earlier.calls.end()), rewritten_(earlier.results) {}
  void add(Value id) { ids_.insert(id.text()); }
  /// Of the next result. `of`: what the API calls a call.
  Result<void> check(Value id, const std::string& path, std::string_view of) {
    if (!id.is_string() || ids_.contains(id.text())) return {};
    const auto rewritten = rewritten_.find(path);
    if (rewritten != rewritten_.end() && ids_.contains(rewritten->second)) return {};
    return Error(ErrorCode::conversation, path + ": there is no " + std::string(of) + " with this id before it")
        .input(path);
  }

 private:
  std::unordered_set<std::string_view> ids_;
  const std::map<std::string, std::string, std::less<>>& rewritten_;
};

/// A member that is an id or a name.
Result<void> check_named(Value of, std::string_view member, const std::string& path) {
  if (!ascii::is_blank(of[member].text())) return {};
  return misshapen(path + "." + std::string(member), is_given(of[member]) ? "a string that is not blank" : "given");
}

Result<void> check_tool_use(Value block, const std::string& path) {
  for (const std::string_view member : {"id", "name"})
    if (Result<void> named = check_named(block, member, path); !named) return named;
  return block["input"].is(Kind::dict) ? Result<void>() : misshapen(path + ".input", "an object");
}

/// Calls of tools and what they gave name each other. Other items of the kind (local_shell_call) may have their own id
/// alone.
Result<void> check_call_item(Value item, const std::string& path) {
  const std::string_view type = item["type"].text();
  const bool is_call = type == "function_call" || type == "custom_tool_call";
  if (!is_call && type != "function_call_output" && type != "custom_tool_call_output") return {};
  Result<void> named = check_named(item, "call_id", path);
  return named && is_call ? check_named(item, "name", path) : named;
}

Result<void> check_results_of_anthropic(Value body, const EarlierCalls& earlier) {
  KnownCalls known(earlier);
  const auto check_block = [&known](Value block, const std::string& path) {
    if (block["type"].text() == "tool_use") {
      known.add(block["id"]);
      return check_tool_use(block, path);
    }
    if (block["type"].text() != "tool_result") return Result<void>();
    if (Result<void> named = check_named(block, "tool_use_id", path); !named) return named;
    return known.check(block["tool_use_id"], path + ".tool_use_id", "tool_use");
  };
  const auto check_content = [&](Value message, const std::string& path) {
    const Value content = message["content"];
    return content.is_string() ? Result<void>() : check_each(content, path + ".content", "a list", check_block);
  };
  return check_each(body["messages"], "messages", "a list", check_content);
}

Result<void> check_results_of_responses(Value body, const EarlierCalls& earlier) {
  KnownCalls known(earlier);
  const auto check_item = [&known](Value item, const std::string& path) {
    if (Result<void> named = check_call_item(item, path); !named) return named;
    if (!item["type"].text().ends_with("_call_output")) return known.add(item["call_id"]), Result<void>();
    return known.check(item["call_id"], path + ".call_id", "call");
  };
  return body["input"].is_string() ? Result<void>() : check_each(body["input"], "input", "a list", check_item);
}

}  // namespace

Result<void> check_messages_shape(Value body, ReplyApi api) {
  const auto check = [api](Value message, const std::string& path) { return check_message(message, path, api); };
  return check_each(body["messages"], "messages", "a list", check);
}

Result<void> check_results(Value body, ReplyApi api, const EarlierCalls& earlier) {
  if (api == ReplyApi::anthropic) return check_results_of_anthropic(body, earlier);
  return api == ReplyApi::responses ? check_results_of_responses(body, earlier) : Result<void>();
}

}  // namespace parlance::serve
