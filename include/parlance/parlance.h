// parlance: chat templates, rendered exactly.
//
//     #include <parlance/parlance.h>
//     #include <cstdio>
//
//     int main() {
//       auto chat_template = parlance::Template::compile(
//           "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>");
//       if (!chat_template) return std::puts(chat_template.error().display().c_str()), 1;
//
//       parlance::Conversation chat;
//       if (auto added = chat.add({.role = "user", .content = "What is 2 + 2?"}); !added) return 1;
//
//       auto prompt = chat_template->render(chat);
//       if (!prompt) return std::puts(prompt.error().display().c_str()), 1;
//       std::printf("%.*s\n", static_cast<int>(prompt->text().size()), prompt->text().data());
//       for (const parlance::Span& span : prompt->spans()) {
//         std::string path = parlance::path_of_span(chat, span);
//         std::printf("%3zu-%-3zu %s\n", static_cast<size_t>(span.begin), static_cast<size_t>(span.end),
//                     path.empty() ? "template" : path.c_str());
//       }
//     }
//
// This header includes all others; you may also include each of them alone.
#pragma once
#include "parlance/agent.h"
#include "parlance/bulk.h"
#include "parlance/check.h"
#include "parlance/civil_time.h"
#include "parlance/conversation.h"
#include "parlance/derive.h"
#include "parlance/document_builder.h"
#include "parlance/error.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "parlance/limits.h"
#include "parlance/losses.h"
#include "parlance/partial_json.h"
#include "parlance/passes.h"
#include "parlance/render.h"
#include "parlance/reply.h"
#include "parlance/reply_api.h"
#include "parlance/reply_format.h"
#include "parlance/reply_kinds.h"
#include "parlance/reply_prompt.h"
#include "parlance/request.h"
#include "parlance/request_api.h"
#include "parlance/response_template.h"
#include "parlance/result.h"
#include "parlance/sampled_reply.h"
#include "parlance/session.h"
#include "parlance/source.h"
#include "parlance/span.h"
#include "parlance/syntax.h"
#include "parlance/template.h"
#include "parlance/tokenizer.h"
#include "parlance/tokens.h"
#include "parlance/transformers.h"
#include "parlance/value.h"
#include "parlance/version.h"
