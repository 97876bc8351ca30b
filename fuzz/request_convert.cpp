// Fuzz target: any bytes as a request, written for each API. What comes out is JSON that can be read and written for
// the same API again, and then is the same; a failure has a message.
#include <cstdint>
#include <cstdlib>

#include "parlance/request_api.h"

namespace {

using namespace parlance;

void check(ReplyApi api, std::string_view request) {
  const Result<ApiRequest> made = request_as(api, request);
  if (!made) {
    if (made.error().message().empty()) std::abort();
    return;
  }
  const Result<ApiRequest> again = request_as(api, made->json);
  if (!again || again->json != made->json) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view request(reinterpret_cast<const char*>(data), size);
  for (const std::string_view name : request_api_names()) check(*reply_api_named(name), request);
  return 0;
}
