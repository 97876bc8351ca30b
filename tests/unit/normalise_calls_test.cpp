// Normalisation of calls, their results and tools: rows as in normalise_test.cpp.
#include <gtest/gtest.h>

#include "unit/normalise_rows.h"

namespace parlance {
namespace {

#define IN_MESSAGE(members) "{\"messages\": [{\"role\": \"assistant\"" members "}]}"
#define OUT_MESSAGE(members) "{\"messages\":[{\"role\":\"assistant\"" members "}]}"
#define CALL(function) ", \"content\": \"\", \"tool_calls\": [{\"function\": {" function "}}]"
#define CALL_OUT(function) ",\"content\":\"\",\"tool_calls\":[{\"function\":{" function "}}]"

const testing::NormaliseRow kRowsOfCalls[] = {
    {"wrap-tools",
     R"({"messages": [], "tools": [{"type": "function", "name": "f", "parameters": {}}, {"function": {}}, 3]})",
     R"({"messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":{}}},{"function":{}},3]})",
     {"tools[0]: wrapped as a function (wrap-tools)"}},
    {"custom-tools",
     R"({"messages": [], "tools": [{"type": "custom", "custom": {"name": "f", "description": "d", "format": {"type": )"
     R"("text"}}},
        {"type": "custom", "name": "g", "format": {"type": "grammar", "syntax": "regex", "definition": "a|b"}},
        {"type": "custom", "custom": {"name": "h", "format": {"type": "grammar", "grammar": {"syntax": "lark", )"
     R"("definition": "start: X"}}}}]})",
     R"({"messages":[],"tools":[)"
     R"({"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object",)"
     R"("properties":{"input":{"type":"string"}},"required":["input"]}}},)"
     R"({"type":"function","function":{"name":"g","parameters":{"type":"object",)"
     R"("properties":{"input":{"type":"string","pattern":"^(?:a|b)$"}},"required":["input"]}}},)"
     R"({"type":"function","function":{"name":"h","parameters":{"type":"object",)"
     R"("properties":{"input":{"type":"string","description":"By this grammar:\nstart: X"}},)"
     R"("required":["input"]}}}]})",
     {"tools[0]: a function with the string `input` (custom-tools)",
      "tools[1]: a function with the string `input` (custom-tools)",
      "tools[2]: a function with the string `input` (custom-tools)"}},
    {"custom-calls",
     IN_MESSAGE(", \"content\": \"\", \"tool_calls\": [{\"id\": \"1\", \"type\": \"custom\", \"custom\": {\"name\": "
                "\"f\", \"input\": \"1 < 2\"}}]"),
     OUT_MESSAGE(",\"content\":\"\",\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"f\","
                 "\"arguments\":{\"input\":\"1 < 2\"}}}]"),
     {"messages[0].tool_calls[0]: a call with the string `input` (custom-calls)"}},
    {"wrap-calls",
     IN_MESSAGE(", \"content\": \"\", \"tool_calls\": [{\"id\": \"1\", \"name\": \"f\", "
                "\"arguments\": {}}]"),
     OUT_MESSAGE(",\"content\":\"\",\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\","
                 "\"function\":{\"name\":\"f\",\"arguments\":{}}}]"),
     {"messages[0].tool_calls[0]: wrapped as a function (wrap-calls)"}},
    {"parse-arguments",
     IN_MESSAGE(CALL(R"("arguments": " {\"a\": 1e400} ")")),
     OUT_MESSAGE(CALL_OUT(R"("arguments":{"a":Infinity})")),
     {"messages[0].tool_calls[0].function.arguments: parsed from a JSON string (parse-arguments)"}},
    {"parse-arguments",
     IN_MESSAGE(CALL(R"("arguments": "[1]")")),
     OUT_MESSAGE(CALL_OUT(R"("arguments":"[1]")")),
     {"messages[0].tool_calls[0].function.arguments: given to the template as text: it is not a JSON object "
      "(parse-arguments)"}},
    {"parse-arguments",
     IN_MESSAGE(CALL(R"("arguments": "{no")")),
     OUT_MESSAGE(CALL_OUT(R"("arguments":"{no")")),
     {"messages[0].tool_calls[0].function.arguments: given to the template as text: it is not JSON: Expecting property "
      "name "
      "enclosed in double "
      "quotes (parse-arguments)"}},
    {"parse-arguments", IN_MESSAGE(CALL(R"("name": "f")")), OUT_MESSAGE(CALL_OUT(R"("name":"f")")), {}},
    {"empty-arguments",
     IN_MESSAGE(CALL(R"("arguments": " ")")),
     OUT_MESSAGE(CALL_OUT(R"("arguments":{})")),
     {"messages[0].tool_calls[0].function.arguments: an empty object (empty-arguments)"}},
    {"empty-arguments",
     IN_MESSAGE(CALL(R"("arguments": null)")),
     OUT_MESSAGE(CALL_OUT(R"("arguments":{})")),
     {"messages[0].tool_calls[0].function.arguments: an empty object (empty-arguments)"}},
    {"calls-null-content",
     IN_MESSAGE(R"(, "content": "", "tool_calls": [{}])"),
     OUT_MESSAGE(R"(,"content":null,"tool_calls":[{}])"),
     {"messages[0].content: null (calls-null-content)"}},
    {"calls-no-content",
     IN_MESSAGE(R"(, "content": "", "tool_calls": [{}])"),
     OUT_MESSAGE(R"(,"tool_calls":[{}])"),
     {"messages[0].content: taken away (calls-no-content)"}},
    {"arguments-text",
     IN_MESSAGE(CALL(R"("arguments": {"a": [1, 2.50, "\u00e9\""], "b": {}})")),
     OUT_MESSAGE(CALL_OUT(R"("arguments":"{\"a\": [1, 2.5, \"é\\\"\"], \"b\": {}}")")),
     {"messages[0].tool_calls[0].function.arguments: written as JSON text (arguments-text)"}},
    {"order-results",
     R"({"messages": [{"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]}, {"role": "tool", )"
     R"("tool_call_id": "b"}, {"role": "tool"}, {"role": "tool", "tool_call_id": "a"}]})",
     R"({"messages":[{"role":"assistant","tool_calls":[{"id":"a"},{"id":"b"}]},{"role":"tool",)"
     R"("tool_call_id":"a"},{"role":"tool"},{"role":"tool","tool_call_id":"b"}]})",
     {"messages[1]: moved, in the order of the calls (order-results)",
      "messages[3]: moved, in the order of the calls (order-results)"}},
    {"missing-ids",
     R"({"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f"}}, {"id": "x", "function": )"
     R"({"name": "g"}}]},
         {"role": "tool", "name": "g"}, {"role": "tool", "name": "f"}]})",
     R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f"},"id":"mBu2gChvE"},{"id":"x",)"
     R"("function":{"name":"g"}}]},)"
     R"({"role":"tool","name":"g","tool_call_id":"x"},{"role":"tool","name":"f","tool_call_id":"mBu2gChvE"}]})",
     {"messages[0].tool_calls[0].id: a new id (missing-ids)", "messages[1].tool_call_id: a new id (missing-ids)",
      "messages[2].tool_call_id: a new id (missing-ids)"}},
    {"short-ids",
     R"({"messages": [{"role": "assistant", "tool_calls": [{"id": "call_1"}, {"id": "abcDEF123"}]}, {"role": "tool", )"
     R"("tool_call_id": "call_1"}]})",
     R"({"messages":[{"role":"assistant","tool_calls":[{"id":"N3Ah8CMSm"},{"id":"abcDEF123"}]},{"role":"tool",)"
     R"("tool_call_id":"N3Ah8CMSm"}]})",
     {"messages[0].tool_calls[0].id: nine letters and digits in place of the id (short-ids)",
      "messages[1].tool_call_id: nine letters and digits in place of the id (short-ids)"}},
    {"named-ids",
     R"({"messages": [{"role": "assistant", "tool_calls": [{"id": "functions.f:0", "function": {"name": "f"}}, )"
     R"({"id": "1", "function": {"name": "g"}}]},
         {"role": "tool", "tool_call_id": "1"}]})",
     R"({"messages":[{"role":"assistant","tool_calls":[{"id":"functions.f:0","function":{"name":"f"}},)"
     R"({"id":"functions.g:1","function":{"name":"g"}}]},)"
     R"({"role":"tool","tool_call_id":"functions.g:1"}]})",
     {"messages[0].tool_calls[1].id: functions.NAME:NUMBER in place of the id (named-ids)",
      "messages[1].tool_call_id: functions.NAME:NUMBER in place of the id (named-ids)"}},
    {"null-columns",
     R"({"messages": [{"role": "assistant", "content": "", "tool_calls": [)"
     R"({"type": "function", "function": {"name": "f", "arguments": {"a": null, "b": null, "n": null}}}, )"
     R"({"type": "function", "function": {"name": "g", "arguments": {"a": null, "n": {"x": null, "y": null}}}}, )"
     R"({"type": "function", "function": {"name": "other", "arguments": {"z": null}}}]}],
        "tools": [{"type": "function", "function": {"name": "f", "description": null, "parameters": {"type": "object",
          "properties": {"a": {"type": "string", "enum": null, "default": null, "description": null}, "b": null,
                         "n": null}}}},
         {"type": "function", "function": {"name": "g", "parameters": {"type": "object",
          "properties": {"n": {"type": "object", "properties": {"x": {"type": "string"}, "y": null}}}}}},
         {"type": "function", "function": {"name": "bare", "parameters": null}}]})",
     R"({"messages":[{"role":"assistant","content":"","tool_calls":[)"
     R"({"type":"function","function":{"name":"f","arguments":{"a":null}}},)"
     R"({"type":"function","function":{"name":"g","arguments":{"n":{"x":null}}}},)"
     R"({"type":"function","function":{"name":"other","arguments":{"z":null}}}]}],)"
     R"("tools":[{"type":"function","function":{"name":"f","description":null,"parameters":{"type":"object",)"
     R"("properties":{"a":{"type":"string","default":null}}}}},)"
     R"({"type":"function","function":{"name":"g","parameters":{"type":"object",)"
     R"("properties":{"n":{"type":"object","properties":{"x":{"type":"string"}}}}}}},)"
     R"({"type":"function","function":{"name":"bare","parameters":null}}]})",
     {"tools[0]: without the nulls of a table (null-columns)", "tools[1]: without the nulls of a table (null-columns)",
      "messages[0].tool_calls[0].function.arguments: without the nulls of a table (null-columns)",
      "messages[0].tool_calls[1].function.arguments: without the nulls of a table (null-columns)"}},
    {"null-columns",  // what may be declared elsewhere stays
     R"({"messages": [{"role": "assistant", "content": "", "tool_calls": [)"
     R"({"type": "function", "function": {"name": "all", "arguments": {"a": null, "n": null}}}, )"
     R"({"type": "function", "function": {"name": "others", "arguments": {"n": null, "o": {"x": null}}}}, )"
     R"({"type": "function", "function": {"name": "none", "arguments": {"n": null, "t": [{"n": null}]}}}]}],
        "tools": [{"type": "function", "function": {"name": "all", "parameters": {"properties": {"a": {}},)"
     R"("allOf": [{"properties": {"n": {}}}]}}},
         {"type": "function", "function": {"name": "others", "parameters": {"properties": {"o": {"properties": {}}},)"
     R"("additionalProperties": {"type": ["string", "null"]}}}},
         {"type": "function", "function": {"name": "none", "parameters": {"properties": {"t": {"prefixItems": [{}],)"
     R"("items": {"properties": {}}}}, "additionalProperties": false, "$ref": null}}}]})",
     R"({"messages":[{"role":"assistant","content":"","tool_calls":[)"
     R"({"type":"function","function":{"name":"all","arguments":{"a":null,"n":null}}},)"
     R"({"type":"function","function":{"name":"others","arguments":{"n":null,"o":{}}}},)"
     R"({"type":"function","function":{"name":"none","arguments":{"t":[{"n":null}]}}}]}],)"
     R"("tools":[{"type":"function","function":{"name":"all","parameters":{"properties":{"a":{}},)"
     R"("allOf":[{"properties":{"n":{}}}]}}},)"
     R"({"type":"function","function":{"name":"others","parameters":{"properties":{"o":{"properties":{}}},)"
     R"("additionalProperties":{"type":["string","null"]}}}},)"
     R"({"type":"function","function":{"name":"none","parameters":{"properties":{"t":{"prefixItems":[{}],)"
     R"("items":{"properties":{}}}},"additionalProperties":false}}}]})",
     {"tools[2]: without the nulls of a table (null-columns)",
      "messages[0].tool_calls[1].function.arguments: without the nulls of a table (null-columns)",
      "messages[0].tool_calls[2].function.arguments: without the nulls of a table (null-columns)"}},
    {"method-parameters",
     R"({"messages": [], "padding": true, "model": "m", "max_length": 3, "continue_final_message": false, )"
     R"("tokenize": null})",
     R"({"messages":[],"model":"m"})",
     {"padding: not a variable (method-parameters)", "max_length: not a variable (method-parameters)",
      "tokenize: not a variable (method-parameters)"}},
    {"old-functions",
     R"({"messages": [{"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}}, )"
     R"({"role": "function", "name": "f", "content": "r"}],
        "functions": [{"name": "f"}], "function_call": {"name": "f"}})",
     R"({"messages":[{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f",)"
     R"("arguments":"{}"}}]},)"
     R"({"role":"tool","name":"f","content":"r"}],"functions":[{"name":"f"}],"function_call":{"name":"f"},)"
     R"("tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"function",)"
     R"("function":{"name":"f"}}})",
     {"messages: made of functions and function_call (old-functions)",
      "messages[0].function_call: given as tool_calls (old-functions)",
      "messages[1]: its role is tool (old-functions)"}},
    {"empty-tools",
     R"({"messages": [], "tools": null})",
     R"({"messages":[],"tools":[]})",
     {"tools: an empty list (empty-tools)"}},
    {"empty-tools", R"({"messages": []})", R"({"messages":[],"tools":[]})", {"tools: an empty list (empty-tools)"}},
    {"empty-tools", R"({"messages": [], "tools": [1]})", R"({"messages":[],"tools":[1]})", {}},
};

#undef IN_MESSAGE
#undef OUT_MESSAGE
#undef CALL
#undef CALL_OUT

TEST(NormaliseCalls, EachPassAlone) { testing::expect_each_alone(kRowsOfCalls); }

}  // namespace

std::span<const testing::NormaliseRow> testing::normalise_rows_of_calls() { return kRowsOfCalls; }

}  // namespace parlance
