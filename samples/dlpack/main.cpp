// A tensor of another library goes into a kernel without a copy, and an array of ours goes out. What stands for the other library here is the functions of the
// namespace `other`: all that the two sides share is DLPack's structs.
#include <cstdio>
#include <numeric>
#include <tk/tk.h>
#include <vector>

namespace other {

/// Every second column of a 4 x 6 matrix of the numbers from 0 on: a strided view.
tk::dlpack::ManagedTensor *makeTensor() {
  struct Tensor {
    tk::dlpack::ManagedTensor managed = {};
    std::vector<float> elements = std::vector<float>(24);
    int64_t shape[2] = {4, 3}, strides[2] = {6, 2};
  };
  auto *made = new Tensor;
  std::iota(made->elements.begin(), made->elements.end(), 0.0f);
  tk::dlpack::Tensor &tensor = made->managed.tensor;
  tensor.data = made->elements.data(), tensor.device = {tk::dlpack::DeviceType::Cpu, 0};
  tensor.rank = 2, tensor.dtype = {tk::dlpack::TypeCode::Float, 32, 1}, tensor.shape = made->shape, tensor.strides = made->strides;
  made->managed.context = made;
  made->managed.deleter = [](tk::dlpack::ManagedTensor *self) { delete static_cast<Tensor *>(self->context); };
  return &made->managed;
}

float sumAndFree(tk::dlpack::ManagedTensor *given) {
  const auto *elements = static_cast<const float *>(given->tensor.data) + given->tensor.byteOffset / sizeof(float);
  float sum = std::accumulate(elements, elements + given->tensor.shape[0], 0.0f);
  given->deleter(given);
  return sum;
}

} // namespace other

static const char source[] = R"(
def sum_rows(x, out, row_stride, column_stride, columns, BLOCK: constexpr):
    row = program_id(0)
    i = arange(0, BLOCK)
    values = load(x + row * row_stride + i * column_stride, mask=i < columns, other=0.0)
    store(out + row, sum(values, axis=0))
)";

int main() {
  try {
    tk::dlpack::ManagedTensor *tensor = other::makeTensor();
    tk::ArrayView view = tk::viewOf(tensor->tensor); // its strides are arguments of the kernel
    tk::Array sums(tk::DType::F32, {view.shape[0]});
    tk::Kernel kernel = tk::Module::fromSource(source, "sum_rows.tk").kernel("sum_rows");
    kernel.launch({}, tk::grid(view.shape[0]), tk::fromDLPack(tensor), sums, view.strides[0], view.strides[1], view.shape[1], tk::meta("BLOCK", 4));
    tensor->deleter(tensor); // on the host a launch is done when it returns

    float sum = other::sumAndFree(tk::toDLPack(std::move(sums)));
    std::printf("the sum is %g\n", sum);
    return sum == 132 ? 0 : 1; // 0 + 2 + 4, 6 + 8 + 10, 12 + 14 + 16, 18 + 20 + 22
  } catch (const tk::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
