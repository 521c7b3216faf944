#include "data/cifar/pickle.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "data/format/coding.h"
#include "muster/error.h"

namespace muster::data {
namespace {

using Value = PickleValue;

constexpr char kEncode[] = "_codecs encode";
constexpr char kDtype[] = "numpy dtype";
constexpr char kReconstruct[] = "numpy.core.multiarray _reconstruct",
               kReconstruct2[] = "numpy._core.multiarray _reconstruct";
constexpr char kFromBuffer[] = "numpy.core.numeric _frombuffer",
               kFromBuffer2[] = "numpy._core.numeric _frombuffer";  // protocol 5

// Python's stack machine (its pickletools module describes each code). Codes that make objects of any kind but the
// above are refused, so reading is safe whatever the bytes are.
class Machine {
 public:
  Machine(std::string_view bytes, std::deque<Value>* values)
      : all_(bytes), rest_(bytes), copies_left_(4 * bytes.size() + 4096), values_(*values) {}

  const Value* Run() {
    for (;;) {
      at_ = all_.size() - rest_.size();
      const auto code = static_cast<unsigned char>(Take(1)[0]);
      if (code == '.') return Pop();
      if (!Literal(code) && !Container(code) && !Memory(code))
        Fail(fmt::format("code 0x{:02x} is not known here", code));
    }
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const { throw DataLoss(fmt::format("byte {}: {}", at_, what)); }

  // Copies of what was stored before take few bytes in the pickle, so they are counted.
  void Charge(size_t bytes) {
    if (bytes > copies_left_) Fail("the pickle copies far more than it holds");
    copies_left_ -= bytes;
  }

  std::string_view Take(uint64_t size) {
    std::string_view taken;
    if (!TakeBytes(&rest_, size, &taken)) Fail("the pickle ends here, inside a value");
    return taken;
  }
  template <typename T>
  T TakeNumber() {
    return LoadFixed<T>(Take(sizeof(T)).data());
  }
  std::string TakeLine() {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) Fail("the pickle ends here, inside a name");
    const std::string line(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return line;
  }

  Value* Push(Value value) {
    values_.push_back(std::move(value));
    stack_.push_back(&values_.back());
    return stack_.back();
  }
  Value* Pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) Fail("a value is missing on the stack");
    Value* top = stack_.back();
    stack_.pop_back();
    return top;
  }
  // The values above the last mark, which goes.
  Value::List PopToMark() {
    if (marks_.empty()) Fail("a mark is missing on the stack");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    Value::List items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }
  template <typename T>
  T& Top(const char* what) {
    if (stack_.empty()) Fail("a value is missing on the stack");
    T* top = std::get_if<T>(&stack_.back()->value);
    if (top == nullptr) Fail(fmt::format("{} was expected on the stack", what));
    return *top;
  }
  std::string PopString() {
    const std::string* text = Pop()->As<std::string>();
    if (text == nullptr) Fail("a string was expected on the stack");
    Charge(text->size());
    return *text;
  }

  // Python's integers of any length; those that need more than eight bytes are of no use here.
  int64_t TakeLong(size_t size) {
    if (size > sizeof(int64_t)) Fail("an integer of more than 8 bytes");
    const std::string_view bytes = Take(size);
    uint64_t number = 0;
    for (size_t i = 0; i < size; ++i) number |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    const size_t unused = 8 * (sizeof number - size);
    return size == 0 ? 0 : static_cast<int64_t>(number << unused) >> unused;
  }

  bool Literal(unsigned char code) {
    switch (code) {
      case 'N': Push({}); return true;
      case 0x88: Push({int64_t{1}}); return true;
      case 0x89: Push({int64_t{0}}); return true;
      case 'K': Push({int64_t{TakeNumber<uint8_t>()}}); return true;
      case 'M': Push({int64_t{TakeNumber<uint16_t>()}}); return true;
      case 'J': Push({int64_t{TakeNumber<int32_t>()}}); return true;
      case 0x8a: Push({TakeLong(TakeNumber<uint8_t>())}); return true;
      case 'U':
      case 'C':
      case 0x8c: Push({std::string(Take(TakeNumber<uint8_t>()))}); return true;
      case 'T':
      case 'B':
      case 'X': Push({std::string(Take(TakeNumber<uint32_t>()))}); return true;
      case 0x8d:
      case 0x8e:
      case 0x96: Push({std::string(Take(TakeNumber<uint64_t>()))}); return true;
      default: return false;
    }
  }

  bool Container(unsigned char code) {
    switch (code) {
      case '(': marks_.push_back(stack_.size()); return true;
      case ')':
      case ']': Push({Value::List()}); return true;
      case '}': Push({Value::Dict()}); return true;
      case 't': Push({PopToMark()}); return true;
      case 0x85:
      case 0x86:
      case 0x87: PushTuple(static_cast<size_t>(code - 0x84)); return true;
      case 'a': Append({Pop()}); return true;
      case 'e': Append(PopToMark()); return true;
      case 's': {
        const Value* value = Pop();
        SetItems({Pop(), value});
        return true;
      }
      case 'u': SetItems(PopToMark()); return true;
      case 'c': {
        const std::string module = TakeLine();
        Push({Value::Global{module + ' ' + TakeLine()}});
        return true;
      }
      case 0x93: {
        const std::string name = PopString();
        Push({Value::Global{PopString() + ' ' + name}});
        return true;
      }
      case 'R': Reduce(); return true;
      case 'b': Build(); return true;
      default: return false;
    }
  }

  // Storing and fetching, and what only frames the rest.
  bool Memory(unsigned char code) {
    switch (code) {
      case 0x80: Take(1); return true;
      case 0x95: Take(8); return true;
      case '0': Pop(); return true;
      case 'q': Memorise(TakeNumber<uint8_t>()); return true;
      case 'r': Memorise(TakeNumber<uint32_t>()); return true;
      case 0x94: Memorise(static_cast<uint32_t>(memo_.size())); return true;
      case 'h': Recall(TakeNumber<uint8_t>()); return true;
      case 'j': Recall(TakeNumber<uint32_t>()); return true;
      default: return false;
    }
  }
  void Memorise(uint32_t number) {
    if (stack_.empty()) Fail("a value is missing on the stack");
    memo_[number] = stack_.back();
  }
  void Recall(uint32_t number) {
    const auto found = memo_.find(number);
    if (found == memo_.end()) Fail(fmt::format("value {} was never stored", number));
    stack_.push_back(found->second);
  }

  void PushTuple(size_t size) {
    Value::List items(size);
    for (size_t i = size; i-- > 0;) items[i] = Pop();
    Push({std::move(items)});
  }
  void Append(const Value::List& items) {
    auto& list = Top<Value::List>("a list");
    list.insert(list.end(), items.begin(), items.end());
  }
  void SetItems(const Value::List& items) {
    auto& dict = Top<Value::Dict>("a dictionary");
    if (items.size() % 2 != 0) Fail("a key without a value");
    for (size_t i = 0; i < items.size(); i += 2) {
      const std::string* key = items[i]->As<std::string>();
      if (key == nullptr) Fail("a key that is no string");
      Charge(key->size());
      dict[*key] = items[i + 1];
    }
  }

  // A call of something in Python: what is made of it here depends on its name alone.
  void Reduce() {
    const Value::List* args = Pop()->As<Value::List>();
    const Value::Global* global = Pop()->As<Value::Global>();
    if (args == nullptr || global == nullptr) Fail("a call of what is no name");
    const std::string& name = global->name;
    if (name == kReconstruct || name == kReconstruct2) Push({Value::Array()});
    else if (name == kFromBuffer || name == kFromBuffer2) Push({FromBuffer(*args)});
    else if (name == kEncode) Push({Latin1(*args)});
    else if (name == kDtype) Push({TypeName(*args)});
    else Fail(fmt::format("the pickle calls {}, which has no place in a data set", name));
  }

  std::string TypeName(const Value::List& args) {
    const std::string* name = args.empty() ? nullptr : args[0]->As<std::string>();
    if (name == nullptr) Fail("an element type without a name");
    Charge(name->size());
    return *name;
  }

  // Python 3 writes bytes in protocol 2 as text whose characters are the bytes.
  std::string Latin1(const Value::List& args) {
    const std::string* text = args.empty() ? nullptr : args[0]->As<std::string>();
    if (text == nullptr) Fail("a string was expected");
    Charge(text->size());
    std::string bytes;
    for (size_t i = 0; i < text->size(); ++i) {
      const auto c = static_cast<unsigned char>((*text)[i]);
      if (c < 0x80) {
        bytes.push_back(static_cast<char>(c));
      } else {
        const bool is_pair = (c == 0xc2 || c == 0xc3) && i + 1 < text->size();
        if (!is_pair) Fail("text that is not in Latin-1");
        bytes.push_back(static_cast<char>((c & 3) << 6 | (static_cast<unsigned char>((*text)[++i]) & 0x3f)));
      }
    }
    return bytes;
  }

  // The state of an array: version, shape, element type, whether columns come first, bytes. Other objects keep what
  // they are.
  void Build() {
    const Value::List* state = Pop()->As<Value::List>();
    if (stack_.empty()) Fail("a value is missing on the stack");
    auto* array = std::get_if<Value::Array>(&stack_.back()->value);
    if (array == nullptr) return;
    if (state == nullptr || state->size() != 5) Fail("an array's state is not known");
    const auto* shape = (*state)[1]->As<Value::List>();
    const auto* type = (*state)[2]->As<std::string>();
    const auto* by_columns = (*state)[3]->As<int64_t>();
    const auto* bytes = (*state)[4]->As<std::string>();
    if (by_columns == nullptr) Fail("an array's state is not known");
    *array = MakeArray(shape, type, *by_columns == 0, bytes);
  }

  // An array of protocol 5: its bytes, element type, shape, "C" for rows or "F" for columns first.
  Value::Array FromBuffer(const Value::List& args) {
    if (args.size() != 4) Fail("an array's state is not known");
    const auto* order = args[3]->As<std::string>();
    return MakeArray(args[2]->As<Value::List>(), args[1]->As<std::string>(), order != nullptr && *order == "C",
                     args[0]->As<std::string>());
  }

  Value::Array MakeArray(const Value::List* shape, const std::string* type, bool by_rows, const std::string* bytes) {
    if (shape == nullptr || type == nullptr || bytes == nullptr) Fail("an array's state is not known");
    if (*type != "u1" || !by_rows) Fail(fmt::format("an array of {}; one of bytes (u1), by rows, was expected", *type));
    Charge(bytes->size() + shape->size() * sizeof(int64_t));
    Value::Array array;
    for (const Value* dim : *shape) array.shape.push_back(dim->As<int64_t>() == nullptr ? -1 : *dim->As<int64_t>());
    array.bytes = *bytes;
    return array;
  }

  std::string_view all_;
  std::string_view rest_;
  size_t copies_left_;
  size_t at_ = 0;  // where the current code is
  std::deque<Value>& values_;
  std::vector<Value*> stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  std::map<uint32_t, Value*> memo_;
};

}  // namespace

const PickleValue* PickleValue::Find(const std::string& key) const {
  const Dict* dict = As<Dict>();
  if (dict == nullptr) return nullptr;
  const auto found = dict->find(key);
  return found == dict->end() ? nullptr : found->second;
}

Pickle::Pickle(std::string_view bytes) { root_ = Machine(bytes, &values_).Run(); }

}  // namespace muster::data
