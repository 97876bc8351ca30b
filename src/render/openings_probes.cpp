// The conversations that openings are learned from: who speaks behind whom, with calls, reasoning and white space.
#include "render/openings_probes.h"

namespace parlance {

namespace {

// What a conversation must show to be worth a row: a role behind a role that no other row has, a call or result beside
// it, reasoning under one of its names, white space at the ends of a text, or %WORDS%, which openings.cpp replaces by
// words that the template compares with. Arguments come as objects and as texts, since a template may refuse either.
constexpr std::string_view kProbes[] = {
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}, {"role": "user",)"
    R"( "content": "And?"}, {"role": "assistant", "content": "No."}, {"role": "user", "content": "Why?")"
    R"(}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "<think>\nHm.\n</think>\n\n)"
    R"(Yes."}, {"role": "user", "content": "And?"}, {"role": "assistant", "content": "<think>\nHm.\n</t)"
    R"(hink>\n\nYes."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "<think>\n\n</think>\n\nYes)"
    R"(."}, {"role": "user", "content": "And?"}, {"role": "assistant", "content": "<think>\n\n</think>\)"
    R"(n\nYes."}])",
    R"([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assist)"
    R"(ant", "content": "  Hello.\n"}, {"role": "user", "content": "And?"}, {"role": "assistant", "cont)"
    R"(ent": "\n\nNo."}])",
    R"([{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "ass)"
    R"(istant", "content": "Hello."}, {"role": "user", "content": "And?"}, {"role": "assistant", "conte)"
    R"(nt": "No."}])",
    R"([{"role": "system", "content": "Be brief."}, {"role": "assistant", "content": "Hello."}, {"role")"
    R"(: "user", "content": "Hi"}, {"role": "assistant", "content": ""}])",
    R"([{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Hi"}, {"role": "assist)"
    R"(ant", "content": "Yes."}])",
    R"([{"role": "developer", "content": "Be brief."}, {"role": "assistant", "content": "Hello."}, {"ro)"
    R"(le": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}, {"role": "assist)"
    R"(ant", "content": "No."}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ye)"
    R"(s."}, {"role": "assistant", "content": "No."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [{"id": ")"
    R"(call00001", "type": "function", "function": {"name": "weather", "arguments": {"city": "Rome"}}}])"
    R"(}, {"role": "tool", "content": "sunny", "name": "weather", "tool_call_id": "call00001"}, {"role")"
    R"(: "assistant", "content": "Sun."}, {"role": "user", "content": "And?"}, {"role": "assistant", "c)"
    R"(ontent": "No."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null, "tool_calls": [{"id":)"
    R"( "call00001", "type": "function", "function": {"name": "weather", "arguments": {"city": "Rome"}})"
    R"(}]}, {"role": "tool", "content": "sunny", "name": "weather", "tool_call_id": "call00001"}, {"rol)"
    R"(e": "assistant", "content": "Sun."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Wait.", "tool_calls": [{"i)"
    R"(d": "call00001", "type": "function", "function": {"name": "weather", "arguments": {"city": "Rome)"
    R"("}}}]}, {"role": "tool", "content": "sunny", "name": "weather", "tool_call_id": "call00001"}, {")"
    R"(role": "assistant", "content": "Again.", "tool_calls": [{"id": "call00001", "type": "function", )"
    R"("function": {"name": "weather", "arguments": {"city": "Rome"}}}]}, {"role": "tool", "content": ")"
    R"(rain", "name": "weather", "tool_call_id": "call00001"}, {"role": "assistant", "content": "Rain.")"
    R"(}, {"role": "user", "content": "Oh."}])",
    R"([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assist)"
    R"(ant", "content": "", "reasoning_content": "Hm.", "tool_calls": [{"id": "call00001", "type": "fun)"
    R"(ction", "function": {"name": "weather", "arguments": {"city": "Rome"}}}]}, {"role": "tool", "con)"
    R"(tent": "sunny", "name": "weather", "tool_call_id": "call00001"}, {"role": "assistant", "content")"
    R"(: "Sun.", "reasoning_content": "So."}, {"role": "user", "content": "And?"}, {"role": "assistant")"
    R"(, "content": "No.", "reasoning_content": "Hm."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "thinking": "Hm.", "too)"
    R"(l_calls": [{"id": "call00001", "type": "function", "function": {"name": "weather", "arguments": )"
    R"({"city": "Rome"}}}]}, {"role": "tool", "content": "sunny", "name": "weather", "tool_call_id": "c)"
    R"(all00001"}, {"role": "assistant", "content": "Sun.", "thinking": "So."}, {"role": "user", "conte)"
    R"(nt": "And?"}, {"role": "assistant", "content": "No.", "thinking": "Hm."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "reasoning": "Hm.", "to)"
    R"(ol_calls": [{"id": "call00001", "type": "function", "function": {"name": "weather", "arguments":)"
    R"( {"city": "Rome"}}}]}, {"role": "tool", "content": "sunny", "name": "weather", "tool_call_id": ")"
    R"(call00001"}, {"role": "assistant", "content": "Sun.", "reasoning": "So."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [{"id": ")"
    R"(call00001", "type": "function", "function": {"name": "weather", "arguments": {"city": "Rome"}}}])"
    R"(}, {"role": "tool", "content": "sunny", "name": "weather", "tool_call_id": "call00001"}, {"role")"
    R"(: "tool", "content": "rain", "name": "weather", "tool_call_id": "call00001"}, {"role": "assistan)"
    R"(t", "content": "", "tool_calls": [{"id": "call00001", "type": "function", "function": {"name": ")"
    R"(weather", "arguments": {"city": "Rome"}}}]}, {"role": "tool", "content": "sunny", "name": "weath)"
    R"(er", "tool_call_id": "call00001"}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [{"id": ")"
    R"(call00001", "type": "function", "function": {"name": "weather", "arguments": {"city": "Rome"}}}])"
    R"(}, {"role": "assistant", "content": "Wait."}, {"role": "user", "content": "Hi"}, {"role": "assis)"
    R"(tant", "content": "", "tool_calls": [{"id": "call00001", "type": "function", "function": {"name")"
    R"(: "weather", "arguments": {"city": "Rome"}}}]}, {"role": "user", "content": "And?"}, {"role": "a)"
    R"(ssistant", "content": "No.", "tool_calls": [{"id": "call00001", "type": "function", "function": )"
    R"({"name": "weather", "arguments": {"city": "Rome"}}}]}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [{"id": ")"
    R"(call00001", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Rome\)"
    R"("}"}}]}, {"role": "tool", "content": "sunny", "name": "weather", "tool_call_id": "call00001"}, {)"
    R"("role": "assistant", "content": "Sun."}, {"role": "user", "content": "And?"}, {"role": "assistan)"
    R"(t", "content": "No."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null, "tool_calls": [{"id":)"
    R"( "call00001", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Rom)"
    R"(e\"}"}}]}, {"role": "tool", "content": "sunny", "name": "weather", "tool_call_id": "call00001"},)"
    R"( {"role": "assistant", "content": "Sun."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Wait.", "tool_calls": [{"i)"
    R"(d": "call00001", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \")"
    R"(Rome\"}"}}]}, {"role": "tool", "content": "sunny", "name": "weather", "tool_call_id": "call00001)"
    R"("}, {"role": "assistant", "content": "Again.", "tool_calls": [{"id": "call00001", "type": "funct)"
    R"(ion", "function": {"name": "weather", "arguments": "{\"city\": \"Rome\"}"}}]}, {"role": "tool", )"
    R"("content": "rain", "name": "weather", "tool_call_id": "call00001"}, {"role": "assistant", "conte)"
    R"(nt": "Rain."}, {"role": "user", "content": "Oh."}])",
    R"([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assist)"
    R"(ant", "content": "", "reasoning_content": "Hm.", "tool_calls": [{"id": "call00001", "type": "fun)"
    R"(ction", "function": {"name": "weather", "arguments": "{\"city\": \"Rome\"}"}}]}, {"role": "tool")"
    R"(, "content": "sunny", "name": "weather", "tool_call_id": "call00001"}, {"role": "assistant", "co)"
    R"(ntent": "Sun.", "reasoning_content": "So."}, {"role": "user", "content": "And?"}, {"role": "assi)"
    R"(stant", "content": "No.", "reasoning_content": "Hm."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "thinking": "Hm.", "too)"
    R"(l_calls": [{"id": "call00001", "type": "function", "function": {"name": "weather", "arguments": )"
    R"("{\"city\": \"Rome\"}"}}]}, {"role": "tool", "content": "sunny", "name": "weather", "tool_call_i)"
    R"(d": "call00001"}, {"role": "assistant", "content": "Sun.", "thinking": "So."}, {"role": "user", )"
    R"("content": "And?"}, {"role": "assistant", "content": "No.", "thinking": "Hm."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "reasoning": "Hm.", "to)"
    R"(ol_calls": [{"id": "call00001", "type": "function", "function": {"name": "weather", "arguments":)"
    R"( "{\"city\": \"Rome\"}"}}]}, {"role": "tool", "content": "sunny", "name": "weather", "tool_call_)"
    R"(id": "call00001"}, {"role": "assistant", "content": "Sun.", "reasoning": "So."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [{"id": ")"
    R"(call00001", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Rome\)"
    R"("}"}}]}, {"role": "tool", "content": "sunny", "name": "weather", "tool_call_id": "call00001"}, {)"
    R"("role": "tool", "content": "rain", "name": "weather", "tool_call_id": "call00001"}, {"role": "as)"
    R"(sistant", "content": "", "tool_calls": [{"id": "call00001", "type": "function", "function": {"na)"
    R"(me": "weather", "arguments": "{\"city\": \"Rome\"}"}}]}, {"role": "tool", "content": "sunny", "n)"
    R"(ame": "weather", "tool_call_id": "call00001"}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [{"id": ")"
    R"(call00001", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Rome\)"
    R"("}"}}]}, {"role": "assistant", "content": "Wait."}, {"role": "user", "content": "Hi"}, {"role": )"
    R"("assistant", "content": "", "tool_calls": [{"id": "call00001", "type": "function", "function": {)"
    R"("name": "weather", "arguments": "{\"city\": \"Rome\"}"}}]}, {"role": "user", "content": "And?"},)"
    R"( {"role": "assistant", "content": "No.", "tool_calls": [{"id": "call00001", "type": "function", )"
    R"("function": {"name": "weather", "arguments": "{\"city\": \"Rome\"}"}}]}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes.", "reasoning_content")"
    R"(: "Hm."}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes.", "reasoning)"
    R"(_content": "Hm."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes.", "reasoning_content")"
    R"(: ""}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes.", "reasoning_co)"
    R"(ntent": ""}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}, {"role": "functi)"
    R"(on", "content": "sunny", "name": "weather"}, {"role": "assistant", "content": "Sun."}, {"role": )"
    R"("user", "content": "Hi"}, {"role": "assistant", "content": "No."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}, {"role": "ipytho)"
    R"(n", "content": "sunny", "name": "weather"}, {"role": "assistant", "content": "Sun."}, {"role": ")"
    R"(user", "content": "Hi"}, {"role": "assistant", "content": "No."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}, {"role": "enviro)"
    R"(nment", "content": "sunny", "name": "weather"}, {"role": "assistant", "content": "Sun."}, {"role)"
    R"(": "user", "content": "Hi"}, {"role": "assistant", "content": "No."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}, {"role": "observ)"
    R"(ation", "content": "sunny", "name": "weather"}, {"role": "assistant", "content": "Sun."}, {"role)"
    R"(": "user", "content": "Hi"}, {"role": "assistant", "content": "No."}])",
    R"([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}, {"role": "assistant", "content":)"
    R"( [{"type": "text", "text": "Hello."}]}, {"role": "user", "content": [{"type": "text", "text": "A)"
    R"(nd?"}]}, {"role": "assistant", "content": [{"type": "text", "text": "No."}]}])",
    R"([{"role": "system", "content": "%WORDS%"}, {"role": "user", "content": "Hi"}, {"role": "assistan)"
    R"(t", "content": "Yes."}, {"role": "user", "content": "And?"}, {"role": "assistant", "content": "N)"
    R"(o."}, {"role": "assistant", "content": "No."}])",
    R"([{"role": "user", "content": "%WORDS%"}, {"role": "assistant", "content": "Yes."}, {"role": "use)"
    R"(r", "content": "%WORDS%"}, {"role": "assistant", "content": "No."}])",
    R"([{"role": "user", "content": "%WORDS%"}, {"role": "assistant", "content": "Yes.", "reasoning_con)"
    R"(tent": "Hm."}, {"role": "user", "content": "%WORDS%"}, {"role": "assistant", "content": "No.", ")"
    R"(reasoning_content": "Hm."}])",
    R"([{"role": "user", "content": "%WORDS%"}, {"role": "assistant", "content": "", "tool_calls": [{"i)"
    R"(d": "call00001", "type": "function", "function": {"name": "weather", "arguments": {"city": "Rome)"
    R"("}}}]}, {"role": "tool", "content": "%WORDS%", "name": "weather", "tool_call_id": "call00001"}, )"
    R"({"role": "assistant", "content": "No."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "system", "content": "Be brief."}, {"role": "assist)"
    R"(ant", "content": "Ok."}, {"role": "system", "content": "Be brief."}, {"role": "assistant", "cont)"
    R"(ent": "Ok."}, {"role": "user", "content": "Hi"}])",
    R"([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assist)"
    R"(ant", "content": "Hello."}, {"role": "system", "content": "Be brief."}, {"role": "user", "conten)"
    R"(t": "Hi"}, {"role": "assistant", "content": "Hello."}])",
    R"([{"role": "user", "content": "Hi"}, {"role": "developer", "content": "Be brief."}, {"role": "ass)"
    R"(istant", "content": "Ok."}])",
};

}  // namespace

std::span<const std::string_view> opening_probes() { return kProbes; }

std::string_view probe_tools() {
  return R"([{"type": "function", "function": {"name": "weather", "description": "The weather.", "parameters": )"
         R"({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}])";
}

}  // namespace parlance
