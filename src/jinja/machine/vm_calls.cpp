// Entering and leaving routines: calls, macros, recursive loops, blocks, and what would enter other templates. Rules
// from Jinja2's runtime.Macro.__call__.
#include <algorithm>
#include <cstring>

#include "jinja/machine/vm.h"
#include "jinja/objects/builtins.h"
#include "value/operators.h"

namespace parlance::jinja {

char* FrameStack::push(std::size_t bytes) {
  bytes = (bytes + 15) & ~std::size_t{15};
  if (chunks_.empty()) chunks_.push_back(std::make_unique_for_overwrite<char[]>(kChunk));
  if (used_ + bytes > kChunk) {
    ++chunk_;
    used_ = 0;
    if (chunk_ == chunks_.size()) chunks_.push_back(std::make_unique_for_overwrite<char[]>(kChunk));
  }
  char* result = chunks_[chunk_].get() + used_;
  used_ += bytes;
  return result;
}

// ---- frames

namespace {
/// What is stored across the border of two cache lines is slow to read back, and registers are read at once.
char* aligned_for_value(void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return static_cast<char*>(memory) + (-address & (sizeof(Value) - 1));
}
}  // namespace

Frame* Machine::new_frame(const Routine& routine, Frame* outer) {
  std::size_t registers = routine.registers * sizeof(Value);
  std::size_t loops = routine.loops * (sizeof(LoopState) + sizeof(LoopState*));
  std::size_t bytes = sizeof(Frame) + registers + loops + routine.captures * sizeof(parlance::Output::Mark);
  std::size_t mark = stack_.mark();
  // A frame of unusual size, or one that closures refer to, lives as long as the render.
  bool keep = routine.escapes || bytes > (std::size_t{1} << 16);
  char* memory = keep ? aligned_for_value(rt_.arena.allocate(bytes + sizeof(Value))) : stack_.push(bytes);
  auto* values = reinterpret_cast<Value*>(memory);
  std::memset(static_cast<void*>(values), 0, registers);  // undefined values
  memory += registers;
  auto* frame = new (memory) Frame;  // each field is written below or by enter()
  frame->registers = values;
  memory += sizeof(Frame);
  auto* states = reinterpret_cast<LoopState*>(memory);
  memory += routine.loops * sizeof(LoopState);
  frame->loops = reinterpret_cast<LoopState**>(memory);
  for (std::uint32_t i = 0; i < routine.loops; ++i) frame->loops[i] = states + i;  // begin_loop fills it in
  memory += routine.loops * sizeof(LoopState*);
  frame->captures = reinterpret_cast<parlance::Output::Mark*>(memory);
  frame->routine = &routine;
  frame->outer = outer;
  frame->caller = nullptr;
  frame->loop_depth = 0;
  frame->scoped = nullptr;
  frame->scoped_count = 0;
  frame->stack_mark = mark;
  return frame;
}

bool Machine::enter(Frame* frame, std::uint32_t result) {
  if (++depth_ > rt_.limits.depth) {
    rt_.fail(ErrorCode::limit_depth, "maximum recursion depth exceeded");
    return false;
  }
  if (!step_limits(16)) return false;
  frame->caller = frame_;
  frame->return_to = pc_;
  frame->result = result;
  bool captures = frame->routine->kind != Routine::Kind::block || result != CallShape::kNone;
  if (captures) frame->mark = output_.begin_capture();
  use_frame(frame);
  pc_ = program_.code.data() + frame->routine->entry;
  return true;
}

void Machine::leave() {
  Frame* done = frame_;
  if (done->result != CallShape::kNone) {
    Value text = output_.end_capture(rt_, done->mark, rt_.autoescape);
    done->caller->registers[done->result] = text;
  }
  pc_ = done->return_to;
  use_frame(done->caller);
  --depth_;
  stack_.pop_to(done->stack_mark);
}

std::vector<std::string> Machine::trace() const {
  std::vector<std::string> lines;
  for (Frame* frame = frame_; frame != nullptr && frame->caller != nullptr && lines.size() < 10;
       frame = frame->caller) {
    auto call = static_cast<std::size_t>(frame->return_to - 1 - program_.code.data());
    std::uint32_t line = program_.source.line_of(program_.extents[call].begin);
    const char* what = frame->routine->kind == Routine::Kind::macro    ? "macro "
                       : frame->routine->kind == Routine::Kind::caller ? "a call block"
                       : frame->routine->kind == Routine::Kind::block  ? "block "
                                                                       : "a recursive loop";
    std::string name = frame->routine->kind == Routine::Kind::loop ? "" : std::string(frame->routine->name);
    lines.push_back(what + name + ", called at line " + std::to_string(line));
  }
  return lines;
}

// ---- arguments

PassedArguments Machine::gather(const CallShape& shape, bool& ok) {
  ok = true;
  PassedArguments out;
  const std::uint32_t* list = operands_ + shape.first;
  out.positional_count = shape.positional;
  if (shape.star != CallShape::kNone) {
    ListBuilder all(rt_, shape.positional);
    for (std::uint32_t i = 0; i < shape.positional; ++i) all.append(in(list[i]));
    Iterator it;
    ok = iterate(rt_, in(shape.star), it);
    for (Value v; ok && it.next(rt_, v) && rt_.charge(1);) all.append(v);
    out.positional = all.data();
    out.positional_count = all.size();
  } else if (shape.positional != 0) {
    auto* values = rt_.arena.allocate_array<Value>(shape.positional);
    for (std::uint32_t i = 0; i < shape.positional; ++i) values[i] = in(list[i]);
    out.positional = values;
  }
  if (shape.keywords.empty() && shape.star_star == CallShape::kNone) return out;
  list += shape.positional;
  auto count = static_cast<std::uint32_t>(shape.keywords.size());
  if (shape.star_star == CallShape::kNone && shape.distinct_keywords) {
    auto* made = rt_.arena.allocate_array<DictEntry>(count);
    for (std::uint32_t i = 0; i < count; ++i) made[i] = {shape.keywords[i], in(list[i])};
    out.keywords = made;
    out.keyword_count = count;
    return out;
  }
  DictBuilder keywords(rt_, count);
  for (std::uint32_t i = 0; i < count; ++i) keywords.set(shape.keywords[i], in(list[i]));
  ok = ok && (shape.star_star == CallShape::kNone || add_mapping(in(shape.star_star), keywords));
  Value dict = keywords.finish();
  out.keywords = dict.dict->entries;
  out.keyword_count = dict.dict->size;
  return out;
}

bool Machine::add_mapping(const Value& more, DictBuilder& keywords) {
  if (more.is_undefined()) fail_undefined(rt_, more);
  if (more.kind != Kind::dict) {
    rt_.fail(ErrorCode::type, "argument after ** must be a mapping, not " + std::string(type_name(more)), more);
    return false;
  }
  for (const DictEntry& e : entries(more)) {
    if (!e.key.is_string()) {
      rt_.fail(ErrorCode::type, "keywords must be strings", e.key);
    } else if (keywords.find(e.key) != nullptr) {
      rt_.fail(ErrorCode::type, "got multiple values for keyword argument '" + std::string(leaf_text(e.key)) + "'");
    }
    keywords.set(e.key, e.value);
  }
  return !rt_.failed();
}

Value Machine::apply(const Instruction& i) {
  const CallShape& shape = program_.shapes[i.c];
  Value subject = in(shape.object);
  return call_row(*program_.bound[i.b].row, &subject, shape);
}

// ---- calls

Value Machine::call_row(const Builtin& row, const Value* self, const CallShape& shape) {
  std::size_t given = shape.positional + (self != nullptr ? 1 : 0);
  if (shape.in_order && binds_in_order(row.bound, given)) {
    alignas(Value) std::byte memory[Signature::kMost * sizeof(Value)];  // not cleared: each argument is written
    Value* const values = reinterpret_cast<Value*>(memory);
    std::size_t next = 0;
    if (self != nullptr) new (values + next++) Value(*self);
    const std::uint32_t* list = operands_ + shape.first;
    for (std::uint32_t i = 0; i < shape.positional; ++i) new (values + next++) Value(in(list[i]));
    for (; next < row.bound.count; ++next) new (values + next) Value(default_value(row.bound.parameters[next]));
    Call call{rt_, &row, values, {}};
    return row.run(call);
  }
  bool ok;
  PassedArguments arguments = gather(shape, ok);
  return ok ? call_builtin(rt_, row, self, arguments) : Value::invalid();
}

bool Machine::call(Value callee, const CallShape& shape, std::uint32_t result) {
  if (is_object(callee, kFunctionType) || is_object(callee, kBoundMethodType)) {
    bool bound = callee.object->type == &kBoundMethodType;
    const auto* method = static_cast<BoundMethod*>(callee.object);
    frame_->registers[result] = bound ? call_row(*method->row, &method->self, shape)
                                      : call_row(*static_cast<FunctionObject*>(callee.object)->row, nullptr, shape);
    return step_limits(1);
  }
  bool ok;
  PassedArguments arguments = gather(shape, ok);
  if (!ok) return false;
  if (callee.is_undefined()) {
    fail_undefined(rt_, callee);
    return false;
  }
  if (callee.kind == Kind::object) {
    Object* object = callee.object;
    if (object->type == &kMacroType) return call_macro(object, arguments, result);
    if (object->type == &kLoopType) return call_loop(*static_cast<LoopObject*>(object), arguments, result);
    if (object->type == &kBlockReferenceType) {
      Frame* frame = new_frame(*static_cast<BlockReference*>(object)->routine, nullptr);
      frame->scoped = frame_->scoped;
      frame->scoped_count = frame_->scoped_count;
      return enter(frame, result);
    }
    if (object->type->call != nullptr) {
      frame_->registers[result] = object->type->call(rt_, object, arguments);
      return step_limits(1);
    }
  }
  rt_.fail(ErrorCode::type, "'" + std::string(type_name(callee)) + "' object is not callable", callee);
  return false;
}

bool Machine::call_shape(const Instruction& i) { return call(in(i.b), program_.shapes[i.c], i.a); }

namespace {

/// text.startswith(affix) or text.endswith(affix), of leaves.
bool leaf_has_affix(AttributeSite::Affix where, const Value& text, const Value& affix) {
  if (text.size < affix.size) return false;
  const char* const at = where == AttributeSite::Affix::prefix ? text.data : text.data + (text.size - affix.size);
  return equal_bytes(at, affix.data, affix.size);
}

}  // namespace

bool Machine::call_method(const Instruction& i) {
  const CallShape& shape = program_.shapes[i.c];
  const AttributeSite& site = sites_[i.b];
  const Value& object = in(shape.object);
  if (site.affix != AttributeSite::Affix::none && shape.in_order && shape.positional == 1) {
    const Value& affix = in(operands_[shape.first]);
    if (object.is_leaf() && affix.is_leaf() && !object.is_markup()) {
      frame_->registers[i.a] = Value::boolean(leaf_has_affix(site.affix, object, affix));
      return step_limits(1);
    }
  }
  const Builtin* row = nullptr;
  if (object.kind == Kind::string) row = object.is_markup() ? nullptr : site.text_method;
  if (object.kind == Kind::dict) row = site.dict_method;
  if (row != nullptr) {
    frame_->registers[i.a] = call_row(*row, &object, shape);
    return step_limits(1);
  }
  Value callee = attribute(object, i.b);
  return !callee.is_invalid() && call(callee, shape, i.a);
}

// ---- macros

namespace {

std::string macro_name(const Routine& routine) {
  return routine.kind == Routine::Kind::caller ? "None" : "'" + std::string(routine.name) + "'";
}

/// Takes a keyword out of the arguments: marks it used.
const Value* take_keyword(const PassedArguments& arguments, std::string_view name, bool* used) {
  for (std::uint32_t i = 0; i < arguments.keyword_count; ++i) {
    if (!used[i] && leaf_text(arguments.keywords[i].key) == name) {
      used[i] = true;
      return &arguments.keywords[i].value;
    }
  }
  return nullptr;
}

Value no_caller(Runtime& rt) {
  Value v;
  v.undefined =
      rt.arena.make<UndefinedInfo>(UndefinedInfo{UndefinedInfo::Form::hint, make_static("No caller defined"), {}});
  return v;
}

}  // namespace

bool Machine::bind_macro(const Routine& routine, const PassedArguments& in_arguments, Frame& frame) {
  auto count = static_cast<std::uint32_t>(routine.parameters.size());
  bool* const used = rt_.arena.allocate_array<bool>(in_arguments.keyword_count);
  std::fill_n(used, in_arguments.keyword_count, false);
  std::uint32_t given = std::min(count, in_arguments.positional_count);
  for (std::uint32_t i = 0; i < given; ++i) frame.registers[i] = in_arguments.positional[i];
  bool found_caller = given == count && routine.explicit_caller;
  for (std::uint32_t i = given; i < count; ++i) {
    const Value* value = take_keyword(in_arguments, routine.parameters[i], used);
    frame.registers[i] = value != nullptr ? *value : left_out();
    if (routine.parameters[i] == "caller") found_caller = true;
  }
  std::uint32_t next = count;
  if (routine.takes_caller && !found_caller) {
    const Value* caller = take_keyword(in_arguments, "caller", used);
    frame.registers[next++] = caller != nullptr && !caller->is_none() ? *caller : no_caller(rt_);
  }
  if (routine.takes_kwargs) {
    DictBuilder rest(rt_);
    for (std::uint32_t i = 0; i < in_arguments.keyword_count; ++i) {
      if (!used[i]) rest.set(in_arguments.keywords[i].key, in_arguments.keywords[i].value);
    }
    frame.registers[next++] = rest.finish();
  } else {
    for (std::uint32_t i = 0; i < in_arguments.keyword_count; ++i) {
      if (used[i]) continue;
      std::string name(leaf_text(in_arguments.keywords[i].key));
      std::string what = name == "caller" ? " was invoked with two values for the special caller argument. This is "
                                            "most likely a bug."
                                          : " takes no keyword argument '" + name + "'";
      rt_.fail(ErrorCode::type, "macro " + macro_name(routine) + what);
      return false;
    }
  }
  if (routine.takes_varargs) {
    std::uint32_t extra = in_arguments.positional_count - given;
    frame.registers[next++] = copy_list(rt_, {in_arguments.positional + given, extra}, Kind::tuple);
  } else if (in_arguments.positional_count > count) {
    rt_.fail(ErrorCode::type,
             "macro " + macro_name(routine) + " takes not more than " + std::to_string(count) + " argument(s)");
    return false;
  }
  return true;
}

bool Machine::call_macro(Object* object, const PassedArguments& arguments, std::uint32_t result) {
  auto& macro = *static_cast<MacroObject*>(object);
  Frame* frame = new_frame(*macro.routine, macro.outer);
  frame->scoped = macro.scoped;
  frame->scoped_count = macro.scoped_count;
  return bind_macro(*macro.routine, arguments, *frame) && enter(frame, result);
}

// ---- recursive loops and blocks

bool Machine::enter_recursive_loop(const Routine& routine, Frame* outer, Value over, std::uint32_t depth,
                                   std::uint32_t result) {
  Frame* frame = new_frame(routine, outer);
  frame->scoped = frame_->scoped;
  frame->scoped_count = frame_->scoped_count;
  frame->registers[0] = over;
  frame->loop_depth = depth;
  return enter(frame, result);
}

bool Machine::call_loop(const LoopObject& loop, const PassedArguments& arguments, std::uint32_t result) {
  if (loop.routine == nullptr) {
    rt_.fail(ErrorCode::type, "The loop must have the 'recursive' marker to be called recursively.");
    return false;
  }
  bool by_name = arguments.keyword_count == 1 && leaf_text(arguments.keywords[0].key) == "iterable";
  if (arguments.positional_count + arguments.keyword_count != 1 || (arguments.keyword_count == 1 && !by_name)) {
    rt_.fail(ErrorCode::type, "loop() takes exactly one argument");
    return false;
  }
  Value over = by_name ? arguments.keywords[0].value : arguments.positional[0];
  return enter_recursive_loop(*loop.routine, loop.outer, over, loop.state->depth0 + 1, result);
}

bool Machine::run_block(const Instruction& i) {
  const Routine& routine = program_.routines[program_.blocks[i.b].routine];
  const std::uint32_t* list = operands_ + i.a;
  // An inner block still sees what the outer scoped one was given; what it is given itself is found first.
  const std::uint32_t most = i.c + frame_->scoped_count;
  DictEntry* scoped = i.c == 0 ? nullptr : rt_.arena.allocate_array<DictEntry>(most);
  std::uint32_t count = 0;
  for (std::uint32_t k = 0; k < i.c; ++k) {
    const Value& v = in(list[2 * k + 1]);
    if (v.is_undefined() && (v.flags & Value::kMissing) != 0) continue;
    scoped[count++] = {Value::of_int(list[2 * k]), v};
  }
  if (scoped != nullptr) {
    std::copy_n(frame_->scoped, frame_->scoped_count, scoped + count);
    count += frame_->scoped_count;
  }
  Frame* frame = new_frame(routine, nullptr);
  frame->scoped = scoped != nullptr ? scoped : frame_->scoped;
  frame->scoped_count = scoped != nullptr ? count : frame_->scoped_count;
  return enter(frame, CallShape::kNone);
}

// ---- templates that others ask for

bool Machine::load_template(Value name, std::uint16_t how) {
  // how: 0 get_template, 1 get_or_select_template, 2 select_template
  bool one = how == 0 || (how == 1 && (name.is_string() || name.is_undefined()));
  if (!one) {
    if (name.is_undefined()) {
      fail_undefined(rt_, name);
      return false;
    }
    if (!is_true(name)) {
      rt_.fail(ErrorCode::templates_not_found, "Tried to select from an empty list of templates.", name);
      return false;
    }
    Iterator it;
    if (!iterate(rt_, name, it)) return false;
  }
  rt_.fail(ErrorCode::type, "no loader for this environment specified", name);
  return false;
}

}  // namespace parlance::jinja
