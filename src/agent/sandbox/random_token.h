// Names and words that commands cannot foresee.
#pragma once
#include <string>

namespace parlance::agent {

/// 128 random bits in hexadecimal digits. Nobody can guess it.
std::string random_token();

}  // namespace parlance::agent
