// The filter tables, one for each file beside this one; filters.cpp looks names up in them.
#pragma once
#include <span>

#include "engine/builtin.h"

namespace parlance::jinja {

std::span<const Builtin> text_filters();
std::span<const Builtin> layout_filters();
std::span<const Builtin> sequence_filters();
std::span<const Builtin> order_filters();
std::span<const Builtin> lazy_filters();
std::span<const Builtin> mapping_filters();
std::span<const Builtin> number_filters();
std::span<const Builtin> encode_filters();
std::span<const Builtin> html_filters();
std::span<const Builtin> urlize_filters();

}  // namespace parlance::jinja
