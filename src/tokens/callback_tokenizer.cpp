// CallbackTokenizer: parlance finds the control tokens, the caller encodes what is between.
#include "tokens/control_matcher.h"
