// Errors in the forms of the APIs.
#pragma once
#include "parlance/reply_api.h"
#include "serve/gateway.h"

namespace parlance::serve {

struct Call;

/// Answers with an error; where the answer has begun, by an event of its stream.
Task<> refuse(Exchange& exchange, ReplyApi api, const ReplyApiError& error);
/// Answers with an error that is JSON of its API's form already.
Task<> answer_error(Exchange& exchange, const ReplyApiError& error, const std::string& json);
/// The body of an error as vLLM says it.
std::string vllm_error_json(const ReplyApiError& error);
/// Answers with this JSON, or with the error as vLLM says errors.
Task<> answer_as_vllm(Exchange& exchange, const Result<std::string>& body);
/// An error of the library: its message with path, place and hint.
ReplyApiError error_of(const Error& error);
/// What an engine did: 502, 503, 504, or the engine's own status where the request is at fault.
ReplyApiError error_of(const EngineFailure& failure);
/// The shared sessions cannot be asked: 503.
ReplyApiError error_of(const SharedFailure& failure);
/// What a client is told of a failure in a session, which is counted. Throws on what is none of the engine's, the
/// disk's or Redis': the client is gone.
ReplyApiError error_of(const Call& call, const std::string& session, const std::exception_ptr& thrown);

}  // namespace parlance::serve
