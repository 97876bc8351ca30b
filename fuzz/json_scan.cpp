// Fuzz target: json_read.cpp, linked as the command is: without simdjson, so that tokens are found by scanning.
#include "json_read.cpp"  // NOLINT: one door, two ways in
