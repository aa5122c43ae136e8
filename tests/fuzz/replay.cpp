// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on given files, without the fuzzer: each seed and each kept finding is one test case.
// Arguments: directories, whose files are run in the order of their names, or single files. Linked with one
// target; also used to measure coverage.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

namespace {

using std::filesystem::path;

class Replay : public testing::Test {
public:
    explicit Replay(path file) : file_(std::move(file)) {}

    void TestBody() override
    {
        std::ifstream stream(file_, std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
        // Exactly as large as the input, so that a read beyond it is detected.
        auto copy = std::make_unique<uint8_t[]>(bytes.size());

        ASSERT_TRUE(stream) << file_;
        std::copy(bytes.begin(), bytes.end(), copy.get());
        EXPECT_EQ(LLVMFuzzerTestOneInput(copy.get(), bytes.size()), 0);
    }

private:
    path file_;
};

void add(const path &file)
{
    const std::string suite = file.parent_path().parent_path().filename().string();

    testing::RegisterTest(suite.c_str(), file.filename().c_str(), nullptr, nullptr, file.c_str(), 0,
                          [file]() -> testing::Test * { return new Replay(file); });
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    for (int i = 1; i < argc; i++) {
        std::vector<path> files{argv[i]};
        if (std::filesystem::is_directory(argv[i])) {
            files.assign(std::filesystem::directory_iterator(argv[i]), {});
            std::sort(files.begin(), files.end());
        } else if (!std::filesystem::exists(argv[i])) {
            continue; // no findings so far
        }
        std::for_each(files.begin(), files.end(), add);
    }
    return RUN_ALL_TESTS();
}
