// The result of an MCP server's tool as a text: texts are joined, pictures and files are named.
#pragma once
#include <string>

#include "parlance/value.h"

namespace parlance::agent {

std::string text_of_result(Value result);

}  // namespace parlance::agent
