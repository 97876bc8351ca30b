// Answers of APIs: framing, errors, several choices, logprobs, moved-from writers. What the APIs' own clients say of
// whole answers and streams is in tests/oracle/reply_api_oracle.py.
#include "parlance/reply_api.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "parlance/request_api.h"

namespace parlance {
namespace {

ReplyEvent content_event(std::string_view text) { return {.kind = ReplyEvent::Kind::content, .text = text}; }

std::string written_answer(ReplyApi api, ReplyApiOptions options, const ReplyOutcome& outcome = {}) {
  ReplyApiWriter writer(api, std::move(options));
  writer.add(content_event("Hi"));
  writer.finish({}, outcome);
  return writer.to_json();
}

TEST(ReplyApi, FramesEventsAsTheStreamHasThem) {
  const ReplyApiEvent named = {"message_stop", "{}"}, plain = {"", "{}"};
  std::string text;
  append_stream_event(text, ReplyApi::anthropic, named);
  append_stream_event(text, ReplyApi::openai, plain);
  append_stream_event(text, ReplyApi::ollama, plain);
  EXPECT_EQ(text, "event: message_stop\ndata: {}\n\ndata: {}\n\n{}\n");
  EXPECT_EQ(end_of_stream(ReplyApi::openai), "data: [DONE]\n\n");
  EXPECT_EQ(end_of_stream(ReplyApi::ollama), "");
  EXPECT_EQ(content_type_of_stream(ReplyApi::responses), "text/event-stream");
  EXPECT_EQ(content_type_of_stream(ReplyApi::ollama), "application/x-ndjson");
  EXPECT_EQ(keep_alive_of_stream(ReplyApi::anthropic), "event: ping\ndata: {\"type\": \"ping\"}\n\n");
  EXPECT_EQ(keep_alive_of_stream(ReplyApi::ollama), "");
}

struct ErrorTypeRow {
  int status;
  const char* anthropic;
  const char* openai;
};
constexpr ErrorTypeRow kErrorTypeRows[] = {{400, "invalid_request_error", "invalid_request_error"},
                                           {401, "authentication_error", "authentication_error"},
                                           {404, "not_found_error", "invalid_request_error"},
                                           {413, "request_too_large", "invalid_request_error"},
                                           {418, "invalid_request_error", "invalid_request_error"},
                                           {429, "rate_limit_error", "rate_limit_error"},
                                           {500, "api_error", "server_error"},
                                           {502, "api_error", "server_error"},
                                           {503, "overloaded_error", "server_error"},
                                           {529, "overloaded_error", "server_error"}};

TEST(ReplyApi, TypesOfErrorsFollowTheStatus) {
  for (const ErrorTypeRow& row : kErrorTypeRows) {
    EXPECT_EQ(reply_error_type(ReplyApi::anthropic, row.status), row.anthropic) << row.status;
    EXPECT_EQ(reply_error_type(ReplyApi::openai, row.status), row.openai) << row.status;
    EXPECT_EQ(reply_error_type(ReplyApi::responses, row.status), row.openai) << row.status;
    EXPECT_EQ(reply_error_type(ReplyApi::ollama, row.status), "") << row.status;
  }
}

TEST(ReplyApi, BodiesOfErrors) {
  EXPECT_EQ(reply_error_json(ReplyApi::openai, {.status = 429, .message = "a \"b\""}),
            R"({"error": {"message": "a \"b\"", "type": "rate_limit_error", "param": null, )"
            R"("code": "rate_limit_exceeded"}})");
  EXPECT_EQ(
      reply_error_json(ReplyApi::responses, {.status = 400, .message = "m", .type = "t", .code = "c", .param = "p"}),
      R"({"error": {"message": "m", "type": "t", "param": "p", "code": "c"}})");
  EXPECT_EQ(reply_error_json(ReplyApi::anthropic, {.message = "m"}),
            R"({"type": "error", "error": {"type": "api_error", "message": "m"}})");
  EXPECT_EQ(reply_error_json(ReplyApi::anthropic, {.status = 404, .message = "m", .code = "c"}),
            R"({"type": "error", "error": {"type": "not_found_error", "message": "m", )"
            R"("details": {"error_code": "c"}}})");
  EXPECT_EQ(reply_error_json(ReplyApi::ollama, {.message = "m"}), R"({"error": "m"})");
}

TEST(ReplyApi, ChoicesBecomeOneAnswer) {
  ReplyApiWriter first(ReplyApi::openai, {.id = "c", .model = "m"});
  ReplyApiWriter second(ReplyApi::openai, {.id = "c", .model = "m", .choice = 1});
  const ReplyEvent call = {.kind = ReplyEvent::Kind::call_begin, .text = "f"};
  first.add(content_event("Yes"));
  second.add(call);
  const ReplyEvent fault = {.kind = ReplyEvent::Kind::malformed, .position = 4, .text = "x"};
  second.add(fault);
  first.finish();
  second.finish();
  const ReplyApiWriter* const both[] = {&first, &second};
  EXPECT_EQ(
      ReplyApiWriter::choices_to_json(both, ReplyUsage{.input_tokens = 3, .output_tokens = 4}),
      R"({"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [{"index": 0, "message": )"
      R"({"role": "assistant", "content": "Yes"}, "logprobs": null, "finish_reason": "stop"}, {"index": 1, "message": )"
      R"({"role": "assistant", "content": null, "tool_calls": [{"id": "call_c_1_1", "type": "function", "function": )"
      R"({"name": "f", "arguments": ""}, "complete": false}]}, "logprobs": null, "finish_reason": "length", )"
      R"("reply_diagnostics": [{"position": 4, "kind": "syntax", "expected": "x"}]}], "usage": {"prompt_tokens": 3, )"
      R"("completion_tokens": 4, "total_tokens": 7, "prompt_tokens_details": {"cached_tokens": 0}, )"
      R"("completion_tokens_details": {"reasoning_tokens": 0}}})");
  second.fail({.status = 500, .message = "gone"});
  EXPECT_EQ(ReplyApiWriter::choices_to_json(both), second.to_json());
  EXPECT_EQ(ReplyApiWriter::choices_to_json({}), "{}");
  const ReplyApiWriter message(ReplyApi::anthropic);
  const ReplyApiWriter* const one[] = {&message};
  EXPECT_EQ(ReplyApiWriter::choices_to_json(one), message.to_json());
}

std::string old_functions_stream(const std::vector<ReplyEvent>& events, std::string& whole) {
  ReplyApiWriter writer(ReplyApi::openai, {.old_functions = true});
  std::string deltas;
  const ReplyApiSink send = [&deltas](const ReplyApiEvent& event) {
    const std::size_t at = event.data.find("\"delta\": ");
    const std::string_view behind = event.data.substr(at + 9);
    deltas.append(behind.substr(0, behind.find(", \"logprobs\""))).append("\n");
    if (behind.find("\"finish_reason\": null") == behind.npos)
      deltas.append(behind.substr(behind.find("\"finish_reason\"")));
  };
  writer.begin(send);
  for (const ReplyEvent& event : events) writer.add(event, send);
  writer.finish(send);
  whole = writer.to_json();
  return deltas;
}

TEST(ReplyApi, CallsOfFunctionsAreInTheFormBeforeTools) {
  using Kinds = ReplyEvent::Kind;
  std::vector<ReplyEvent> events = {{.kind = Kinds::reasoning, .text = "Hm"},
                                    {.kind = Kinds::call_begin, .text = "look"},
                                    {.kind = Kinds::arguments, .text = R"({"at": )"},
                                    {.kind = Kinds::arguments, .text = R"("x"})"},
                                    {.kind = Kinds::call_end, .complete = true}};
  std::string whole;
  const std::string deltas = old_functions_stream(events, whole);
  EXPECT_EQ(deltas, R"({"role": "assistant", "content": ""}
{"reasoning_content": "Hm", "reasoning": "Hm"}
{"function_call": {"name": "look", "arguments": ""}}
{"function_call": {"arguments": "{\"at\": "}}
{"function_call": {"arguments": "\"x\"}"}}
{}
"finish_reason": "function_call"}]})");
  EXPECT_NE(
      whole.find(R"("message": {"role": "assistant", "reasoning_content": "Hm", "reasoning": "Hm", "content": null, )"
                 R"("function_call": {"name": "look", "arguments": "{\"at\": \"x\"}"}}, "logprobs": null, )"
                 R"("finish_reason": "function_call"})"),
      std::string::npos)
      << whole;
  const std::vector<ReplyEvent> twice = {
      events[1], events[2], events[3], events[4], {.kind = Kinds::call_begin, .text = "other"}, events[2], events[4]};
  const std::string told = old_functions_stream(twice, whole);
  EXPECT_EQ(told.find("other"), std::string::npos);
  EXPECT_EQ(whole.find("other"), std::string::npos);
  EXPECT_NE(told.find(R"("finish_reason": "function_call"}], "calls_left_out": 1})"), std::string::npos) << told;
  EXPECT_NE(whole.find(R"("finish_reason": "function_call"}], "calls_left_out": 1})"), std::string::npos) << whole;
  events.back().complete = false;
  EXPECT_NE(old_functions_stream(events, whole).find(R"({"function_call": {"arguments": "", "complete": false}})"),
            std::string::npos);
  EXPECT_NE(whole.find(R"("complete": false}}, "logprobs": null, "finish_reason": "length"})"), std::string::npos);
  whole.clear();
  const std::vector<ReplyEvent> text = {content_event("Hi")};
  EXPECT_NE(old_functions_stream(text, whole).find(R"("finish_reason": "stop")"), std::string::npos);
  EXPECT_NE(whole.find(R"("message": {"role": "assistant", "content": "Hi"})"), std::string::npos) << whole;
}

TEST(ReplyApi, LogprobsAreJsonWhateverTheyAre) {
  ReplyApiWriter writer(ReplyApi::openai);
  const ReplyLogprob tokens[] = {{"\xff", -std::numeric_limits<double>::infinity()},
                                 {"\"", std::numeric_limits<double>::quiet_NaN()},
                                 {"", -1e-7}};
  writer.add_logprobs(tokens);
  writer.add(content_event("Hi"));
  writer.finish();
  const std::string json = writer.to_json();
  EXPECT_EQ(json, writer.to_json());
  EXPECT_EQ(json.find("inf"), std::string::npos);
  EXPECT_EQ(json.find("nan"), std::string::npos);
  EXPECT_NE(json.find(R"("logprob": -9999, "bytes": [255], "top_logprobs": []})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("token": "", "logprob": -1e-07, "bytes": [])"), std::string::npos) << json;
}

ReplyEvent event_of_source(ReplyEvent::Kind kind, std::string_view source) {
  return {.kind = kind, .source = source, .text = source};
}

/// The tokens of all logprobs in a text, joined.
std::string tokens_in(std::string_view json) {
  constexpr std::string_view kBegin = "{\"token\": \"", kEnd = "\", \"logprob\"";
  std::string all;
  for (std::size_t at = json.find(kBegin); at != json.npos; at = json.find(kBegin, at + 1)) {
    const std::size_t begin = at + kBegin.size();
    all.append(json.substr(begin, json.find(kEnd, begin) - begin)).append("|");
  }
  return all;
}

struct Written {
  std::string stream, whole;
};

/// Gives each token just before the first event that has bytes of it, as a server does.
Written written_with_logprobs(ReplyApi api, const std::vector<std::string_view>& tokens,
                              const std::vector<ReplyEvent>& events, const ReplyOutcome& outcome = {}) {
  Written made;
  ReplyApiWriter writer(api);
  const ReplyApiSink send = [&made](const ReplyApiEvent& event) {
    if (event.name != "response.completed") made.stream.append(event.data).append("\n");
  };
  writer.begin(send);
  std::size_t next = 0, given = 0, wanted = 0;
  const auto give = [&] {
    given += tokens[next].size();
    const ReplyLogprob token = {tokens[next++], -0.5};
    writer.add_logprobs({&token, 1});
  };
  for (const ReplyEvent& event : events) {
    wanted += event.source.size();
    while (next < tokens.size() && given < wanted) give();
    writer.add(event, send);
  }
  while (next < tokens.size()) give();
  writer.finish(send, outcome);
  made.whole = writer.to_json();
  return made;
}

TEST(ReplyApi, LogprobsOfResponsesAreThoseOfTheText) {
  using Kinds = ReplyEvent::Kind;
  const std::vector<ReplyEvent> events = {
      event_of_source(Kinds::reasoning, "Hm"), event_of_source(Kinds::marker, "</think>.."),
      event_of_source(Kinds::content, "Hi"), event_of_source(Kinds::content, " there"),
      event_of_source(Kinds::end, "<end>")};
  const std::pair<std::vector<std::string_view>, std::string> rows[] = {
      {{"Hm", "</think>", "..", "Hi", " there", "<end>"}, "Hi| there|"},
      {{"Hm</", "think>", "..Hi", " the", "re<end>"}, "..Hi| the|re<end>|"},
      {{"H", "m", "</think>..H", "i t", "here", "", "<end>"}, "</think>..H|i t|here|"},
      {{"Hm</think>..Hi there<end>"}, "Hm</think>..Hi there<end>|"}};
  for (const auto& [tokens, wanted] : rows) {
    const Written made = written_with_logprobs(ReplyApi::responses, tokens, events);
    EXPECT_EQ(tokens_in(made.whole), wanted);
    const std::size_t done = made.stream.find("response.output_text.done");
    EXPECT_EQ(tokens_in(std::string_view(made.stream).substr(0, done)), wanted);
    const std::string behind = tokens_in(std::string_view(made.stream).substr(done));  // done, the part, the item
    EXPECT_EQ(behind, wanted + wanted + wanted);
  }
}

TEST(ReplyApi, ATextBehindACallHasItsOwnLogprobs) {
  using Kinds = ReplyEvent::Kind;
  const std::vector<ReplyEvent> events = {event_of_source(Kinds::content, "One"),
                                          event_of_source(Kinds::marker, "<call>"),
                                          {.kind = Kinds::call_begin, .source = "f", .text = "f"},
                                          event_of_source(Kinds::arguments, "{}"),
                                          {.kind = Kinds::call_end, .complete = true, .source = "</call>"},
                                          event_of_source(Kinds::content, "Two")};
  const std::vector<std::string_view> tokens = {"One", "<call>", "f{", "}</", "call>", "T", "wo"};
  EXPECT_EQ(tokens_in(written_with_logprobs(ReplyApi::responses, tokens, events).whole), "One|T|wo|");
  EXPECT_EQ(tokens_in(written_with_logprobs(ReplyApi::openai, tokens, events).whole), "One|<call>|f{|}</|call>|T|wo|");
}

TEST(ReplyApi, TokensOfAStopTextAreNotInTheLogprobs) {
  const ReplyOutcome stopped = {.stop_sequence = "STOP"};
  const std::vector<ReplyEvent> events = {event_of_source(ReplyEvent::Kind::content, "Hi"),
                                          event_of_source(ReplyEvent::Kind::content, " ")};
  const std::vector<ReplyEvent> false_start = {event_of_source(ReplyEvent::Kind::content, "STO")};
  for (const ReplyApi api : {ReplyApi::openai, ReplyApi::ollama, ReplyApi::responses}) {
    Written made = written_with_logprobs(api, {"Hi", " ", "ST", "OP", " more"}, events, stopped);
    EXPECT_EQ(tokens_in(made.whole), "Hi| |");
    made = written_with_logprobs(api, {"Hi", " ST", "OP"}, events, stopped);
    EXPECT_EQ(tokens_in(made.whole), "Hi| ST|");  // it has some of the text
    made = written_with_logprobs(api, {"ST", "O", "STO", "P"}, false_start, stopped);
    EXPECT_EQ(tokens_in(made.whole), "ST|O|");
  }
  for (const ReplyApi api : {ReplyApi::openai, ReplyApi::ollama}) {
    const Written made = written_with_logprobs(api, {"Hi", " ", "<end>"}, events);
    EXPECT_EQ(tokens_in(made.whole), "Hi| |<end>|");
    EXPECT_EQ(tokens_in(made.stream), "Hi| |<end>|");
  }
}

TEST(ReplyApi, AStopTextEndsReasoningButNotACall) {
  const ReplyOutcome outcome = {.stop_sequence = "S"};
  EXPECT_NE(
      written_answer(ReplyApi::anthropic, {}, outcome).find(R"("stop_reason": "stop_sequence", "stop_sequence": "S")"),
      std::string::npos);
  ReplyApiWriter reasons(ReplyApi::openai), calls(ReplyApi::anthropic);
  const ReplyEvent reasoning = {.kind = ReplyEvent::Kind::reasoning, .text = "r"};
  const ReplyEvent call = {.kind = ReplyEvent::Kind::call_begin, .text = "f"};
  reasons.add(reasoning);
  reasons.finish({}, outcome);
  EXPECT_NE(reasons.to_json().find(R"("finish_reason": "stop")"), std::string::npos);
  ReplyApiWriter stopped(ReplyApi::openai);
  stopped.add(reasoning);
  stopped.finish({}, {.stopped = true});  // by a token
  EXPECT_NE(stopped.to_json().find(R"("finish_reason": "stop")"), std::string::npos);
  calls.add(call);
  calls.finish({}, outcome);
  EXPECT_NE(calls.to_json().find(R"("stop_reason": "max_tokens", "stop_sequence": null)"), std::string::npos);
}

TEST(ReplyApi, DatesAreInRange) {
  const auto date_of = [](std::int64_t created) {
    const std::string json = written_answer(ReplyApi::ollama, {.created = created});
    return json.substr(json.find("created_at") + 14, 20);
  };
  EXPECT_EQ(date_of(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(date_of(1709251199), "2024-02-29T23:59:59Z");
  EXPECT_EQ(date_of(-1), "1970-01-01T00:00:00Z");
  EXPECT_EQ(date_of(std::numeric_limits<std::int64_t>::max()), "9999-12-31T23:59:59Z");
}

TEST(ReplyApi, AMovedFromWriterSendsNothing) {
  ReplyApiWriter writer(ReplyApi::responses);
  const ReplyApiWriter moved = std::move(writer);
  const ReplyLogprob token = {"a", 0};
  const auto send = [](const ReplyApiEvent&) { FAIL(); };
  writer.add_logprobs({&token, 1});
  writer.fail({.message = "m"}, send);
  const ReplyApiWriter* const both[] = {&writer, &moved};
  EXPECT_EQ(ReplyApiWriter::choices_to_json(both), moved.to_json());
}

TEST(ReplyApi, AStreamBeginsAndEndsOnce) {
  for (std::size_t i = 0; i < kReplyApis; ++i) {
    const auto api = static_cast<ReplyApi>(i);
    ReplyApiWriter writer(api, {.stream_usage = true});
    std::size_t events = 0;
    const ReplyApiSink count = [&](const ReplyApiEvent&) { ++events; };
    writer.begin(count);
    const std::size_t begun = events;
    writer.begin(count);
    EXPECT_EQ(events, begun) << reply_api_names()[i];
    writer.add(content_event("Yes"), count);
    writer.finish(count, {.usage = ReplyUsage{.output_tokens = 1}});
    const std::size_t ended = events;
    const std::string whole = writer.to_json();
    writer.finish(count, {.length = true});
    writer.add(content_event(" and no"), count);
    writer.begin(count);
    EXPECT_EQ(events, ended) << reply_api_names()[i];
    EXPECT_EQ(writer.to_json(), whole) << reply_api_names()[i];
    writer.fail({.message = "gone"}, count);  // of another choice of the stream, say
    EXPECT_GT(events, ended) << reply_api_names()[i];
    const std::size_t failed = events;
    const std::string error = writer.to_json();
    EXPECT_NE(error.find("gone"), std::string::npos) << error;
    writer.fail({.message = "again"}, count);
    writer.finish(count);
    writer.add(content_event("more"), count);
    EXPECT_EQ(events, failed) << reply_api_names()[i];
    EXPECT_EQ(writer.to_json(), error) << reply_api_names()[i];
  }
}

/// A thought, a text and a call of `shell`.
std::string answer_of(ReplyApi api, ReplyApiOptions options, std::string_view arguments,
                      std::string* stream = nullptr) {
  using Kinds = ReplyEvent::Kind;
  const ReplyEvent events[] = {{.kind = Kinds::reasoning, .text = "Hm"},
                               {.kind = Kinds::content, .text = "Hi"},
                               {.kind = Kinds::call_begin, .text = "shell"},
                               {.kind = Kinds::arguments, .text = arguments},
                               {.kind = Kinds::call_end, .complete = true}};
  ReplyApiWriter writer(api, std::move(options));
  const ReplyApiSink send = [stream](const ReplyApiEvent& event) {
    if (stream != nullptr) stream->append(event.name).append(" ").append(event.data).append("\n");
  };
  writer.begin(send);
  for (const ReplyEvent& event : events) writer.add(event, send);
  writer.finish(send);
  return writer.to_json();
}

bool has_text(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(ReplyApi, ReasoningIsShownAsFarAsItIsAsked) {
  for (std::size_t i = 0; i < kReplyApis; ++i) {
    const auto api = static_cast<ReplyApi>(i);
    std::string stream;
    const std::string whole = answer_of(api, {.reasoning = ShownReasoning::none}, "{}", &stream);
    EXPECT_FALSE(has_text(whole, "Hm") || has_text(stream, "Hm") || has_text(whole, "thinking")) << whole << stream;
    EXPECT_TRUE(has_text(answer_of(api, {}, "{}"), "Hm"));
  }
  std::string stream;
  const ReplyApiOptions hidden = {.reasoning = ShownReasoning::signed_only, .sign_reasoning = seal_reasoning};
  const std::string whole = answer_of(ReplyApi::anthropic, hidden, "{}", &stream);
  EXPECT_TRUE(has_text(whole, R"({"type": "thinking", "thinking": "", "signature": "parlance1.SG0="})")) << whole;
  EXPECT_TRUE(has_text(stream, R"({"type": "signature_delta", "signature": "parlance1.SG0="})")) << stream;
  EXPECT_FALSE(has_text(stream, "thinking_delta")) << stream;
}

TEST(ReplyApi, LogprobsOfHiddenReasoningAreHidden) {
  const ReplyEvent events[] = {{.kind = ReplyEvent::Kind::reasoning, .text = "Hm"}, content_event("Hi")};
  for (const ReplyApi api : {ReplyApi::openai, ReplyApi::ollama}) {
    ReplyApiWriter writer(api, {.reasoning = ShownReasoning::none});
    for (const ReplyEvent& event : events) {
      const ReplyLogprob token = {event.text, -0.5};
      writer.add_logprobs({&token, 1});
      writer.add(event);
    }
    writer.finish();
    EXPECT_TRUE(has_text(writer.to_json(), R"([{"token": "Hi")")) << writer.to_json();
    EXPECT_FALSE(has_text(writer.to_json(), "Hm")) << writer.to_json();
  }
}

TEST(ReplyApi, SummariesHaveTheReasoning) {
  std::string stream;
  const std::string whole =
      answer_of(ReplyApi::responses, {.reasoning_summary = true, .encrypt_reasoning = seal_reasoning}, "{}", &stream);
  EXPECT_TRUE(has_text(whole,
                       R"({"id": "rs_resp_0_0", "type": "reasoning", "summary": [{"type": "summary_text", "text": )"
                       R"("Hm"}], "encrypted_content": "parlance1.SG0=", "status": "completed"})"))
      << whole;
  const char* const events[] = {
      (R"(part.added {"type": "response.reasoning_summary_part.added", "item_id": "rs_resp_0_0", "output_index": 0, )"
       R"("summary_index": 0, "part": {"type": "summary_text", "text": ""}, "sequence_number": 3})"),
      R"("summary_index": 0, "delta": "Hm", "sequence_number": 4})", R"("summary_index": 0, "text": "Hm", )",
      R"("summary_index": 0, "part": {"type": "summary_text", "text": "Hm"}, "sequence_number": 6})"};
  for (const char* const event : events) EXPECT_TRUE(has_text(stream, event)) << event << "\n" << stream;
}

TEST(ReplyApi, CallsOfToolsThatTheClientRunsAreItemsOfTheirOwn) {
  std::string stream;
  const ReplyApiOptions options = {.tool_types = {"function", "shell"}};
  constexpr const char* kItem =
      R"({"id": "sh_resp_0_2", "type": "shell_call", "call_id": "call_1", "action": {"commands": ["ls"]}, "status": )"
      R"("completed"})";
  EXPECT_TRUE(has_text(answer_of(ReplyApi::responses, options, R"({"commands": ["ls"]})", &stream), kItem)) << stream;
  EXPECT_TRUE(has_text(stream, std::string(R"("output_index": 2, "item": )") + kItem)) << stream;
  EXPECT_FALSE(has_text(stream, "arguments")) << stream;
  for (const char* const wrong : {R"({"commands": []})", R"({"commands": [1]})", R"({"commands": "ls"})", "[]", "{"}) {
    stream.clear();
    EXPECT_TRUE(has_text(answer_of(ReplyApi::responses, options, wrong, &stream), R"("type": "function_call")"))
        << wrong;
    EXPECT_TRUE(has_text(stream, "function_call_arguments.done")) << stream;
  }
  EXPECT_TRUE(has_text(answer_of(ReplyApi::responses, {}, R"({"commands": ["ls"]})"), R"("type": "function_call")"));
}

TEST(ReplyApi, ToolsOfARequestAreThoseOfItsItemsToo) {
  Document request;
  ASSERT_TRUE(request.parse(
      R"({"tools": [{"type": "shell"}, {"type": "local_shell", "environment": {"type": "container_auto"}},
          {"type": "apply_patch", "environment": {}},
          {"type": "tool_search"}], "input": [{"type": "additional_tools", "tools": [{"type": "tool_search",
          "execution": "client"}, {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name":
          "list"}]}]}, {"type": "message", "tools": [{"type": "custom"}]}]})"));
  EXPECT_EQ(client_tool_types(request.root()), (std::vector<std::string>{"namespace", "shell", "tool_search"}));
  const std::vector<NamespacedTool> spaces = namespaced_tools(request.root());
  ASSERT_EQ(spaces.size(), 1U);
  EXPECT_EQ(spaces[0].space + " " + spaces[0].name + " " + spaces[0].shown, "crm list list");
}

TEST(ReplyApi, CallsOfToolsInNamespacesHaveTheNamespace) {
  std::string stream;
  const ReplyApiOptions options = {.namespaces = {{"crm__shell", "crm", "shell"}, {"shell", "erp", "shell"}}};
  const std::string whole = answer_of(ReplyApi::responses, options, "{}", &stream);
  constexpr const char* kCall =
      R"("type": "function_call", "call_id": "call_1", "name": "shell", "namespace": "erp", )";
  EXPECT_TRUE(has_text(whole, kCall)) << whole;
  std::size_t count = 0;
  for (std::size_t at = stream.find(kCall); at != stream.npos; at = stream.find(kCall, at + 1)) ++count;
  EXPECT_EQ(count, 3U) << stream;  // added, done, and the whole
}

TEST(ReplyApi, RequestsAreNotWrittenForOllama) {
  const Result<ApiRequest> made = request_as(ReplyApi::ollama, R"({"messages": []})");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("Ollama"), std::string::npos);
  EXPECT_EQ(request_api_names().size() + 1, reply_api_names().size());
}

}  // namespace
}  // namespace parlance
