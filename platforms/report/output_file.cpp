// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {
namespace {

namespace fs = std::filesystem;

std::string words_of(int error) { return std::generic_category().message(error); }

bool tells_full_disk(int error) { return error == ENOSPC || error == EDQUOT; }

std::string refusal(const std::string& path, const std::string& what, int error)
{
    std::string remedy = "Give another place.";
    if (tells_full_disk(error))
        remedy = "Free some space, or give a place on another disk.";
    else if (error == EACCES || error == EPERM || error == EROFS)
        remedy = "Give a place that you may write to, or change its permissions.";
    else if (error == ENOENT)
        remedy = "Give another place, or make its folder first.";
    else if (error == ENOTDIR || error == EEXIST)
        remedy = "A file stands where a folder is needed: remove it, or give another place.";
    else if (error == EISDIR)
        remedy = "A folder stands where a file is needed: remove it, or give another name.";
    else if (error == ELOOP)
        remedy = "Its symbolic links lead in a circle: remove one, or give another name.";
    return fmt::format("{} {}: {}. {}", path, what, words_of(error), remedy);
}

[[noreturn]] void refuse(const std::string& path, const std::string& what, int error)
{
    if (tells_full_disk(error))
        throw output_lost(refusal(path, what, error), error);
    throw user_error(refusal(path, what, error));
}

std::optional<struct stat> status_of(const std::string& path)
{
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

bool is_regular(const struct stat& status) { return S_ISREG(status.st_mode); }

/// Where the symbolic links of `path` lead, be there a file or not.
std::string behind_links(const std::string& path)
{
    constexpr int k_most_links = 40; // as the kernel
    fs::path at = path;
    for (int links = 0; links < k_most_links; ++links) {
        std::error_code none;
        const fs::path next = fs::read_symlink(at, none);
        if (none)
            return at.string();
        at = next.is_absolute() ? next : at.parent_path() / next;
    }
    refuse(path, "cannot be written", ELOOP);
}

/// Refuses folders, and what this user may not write to.
std::optional<struct stat> writable_status(const std::string& name)
{
    const std::optional<struct stat> status = status_of(name);
    if (status && S_ISDIR(status->st_mode))
        refuse(name, "cannot be replaced", EISDIR);
    if (status && ::faccessat(AT_FDCWD, name.c_str(), W_OK, AT_EACCESS) != 0)
        refuse(name, "cannot be written", errno);
    return status;
}

/// A name beside the target, for its next content.
std::string temporary_name(const std::string& target) { return target + fmt::format(".{}.part", ::getpid()); }

/// Where a file is that may not exist yet.
std::string place_of(const std::string& path)
{
    std::error_code none;
    const fs::path place = fs::weakly_canonical(fs::absolute(behind_links(path)), none);
    return none ? fs::absolute(path).lexically_normal().string() : place.string();
}

/// Why an output of this kind cannot go there; "" when it can.
std::string refusal_of(const std::string& path, target_kind kind)
{
    if (kind == target_kind::no_fifo) {
        const std::optional<struct stat> status = status_of(path);
        if (status && (S_ISFIFO(status->st_mode) || S_ISSOCK(status->st_mode)))
            return "is a FIFO or socket, and the run would wait for its reader. Remove it, or give another place.";
    }
    struct stat status {};
    if (kind == target_kind::regular_file && ::lstat(path.c_str(), &status) == 0 && !is_regular(status))
        return "is no regular file, and its writer would put one in its place. Give another name.";
    return "";
}

std::string identity_of(const struct stat& status)
{
    // Several outputs may go to one terminal or to /dev/null; in one file or FIFO they would destroy each other.
    if (!is_regular(status) && !S_ISFIFO(status.st_mode))
        return {};
    return fmt::format("{}:{}", static_cast<unsigned long long>(status.st_dev),
                       static_cast<unsigned long long>(status.st_ino));
}

} // namespace

bool output_lost::is_full_disk() const { return tells_full_disk(error_); }

output_file::output_file(const std::string& path) : name_(path), target_(behind_links(path))
{
    const std::optional<struct stat> status = writable_status(name_);
    const bool replace = !status || is_regular(*status);
    if (replace)
        temporary_ = temporary_name(target_);
    // A device is opened by the name that the user gave: what /dev/stdout leads to need not have another.
    const int descriptor =
        replace ? ::open(temporary_.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_TRUNC, status ? 0600 : 0666)
                : ::open(name_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        refuse(name_, "cannot be created", errno);
    if (replace && status) {
        // Who may not give the file to its owner keeps it, as with an editor.
        static_cast<void>(::fchown(descriptor, status->st_uid, status->st_gid) == 0);
        if (::fchmod(descriptor, status->st_mode & 07777) != 0)
            error_ = errno;
    }
    file_ = ::fdopen(descriptor, "w");
    if (file_ == nullptr) {
        const int error = errno;
        ::close(descriptor);
        refuse(name_, "cannot be created", error);
    }
}

output_file::~output_file()
{
    if (file_ != nullptr)
        std::fclose(file_);
    if (!temporary_.empty())
        ::unlink(temporary_.c_str());
}

std::string output_file::temporary_for(const std::string& path)
{
    try {
        const std::optional<struct stat> status = status_of(path);
        return !status || is_regular(*status) ? temporary_name(behind_links(path)) : "";
    } catch (const user_error&) {
        return "";
    }
}

void output_file::give_up(int error)
{
    error_ = error;
    if (!temporary_.empty()) // it will never have its name
        static_cast<void>(::ftruncate(::fileno(file_), 0) == 0);
}

void output_file::give_up()
{
    if (error_ == 0)
        give_up(ENOSPC);
}

void output_file::write(std::string_view content)
{
    if (error_ == 0 && std::fwrite(content.data(), 1, content.size(), file_) != content.size())
        give_up(errno);
}

int output_file::flush()
{
    if (error_ == 0 && std::fflush(file_) != 0)
        give_up(errno);
    return error_;
}

void output_file::commit()
{
    flush();
    const auto note = [&](bool fine) {
        if (!fine && error_ == 0)
            error_ = errno;
    };
    // The content must be on the disk before its name is, or a power cut leaves an empty file of the right name.
    // Devices, FIFOs and some file systems cannot sync and say EINVAL or ENOTSUP.
    note(::fsync(::fileno(file_)) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS);
    std::FILE* const file = file_;
    file_ = nullptr;
    note(std::fclose(file) == 0);
    if (error_ != 0) {
        if (!temporary_.empty())
            ::unlink(temporary_.c_str());
        throw output_lost(refusal(name_, "cannot be written", error_), error_);
    }
    if (temporary_.empty())
        return;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
        const int error = errno;
        throw output_lost(refusal(name_, "cannot be replaced", error), error);
    }
    temporary_.clear();
}

void output_targets::add_input(const std::string& path, std::string what)
{
    if (const auto status = status_of(path); !path.empty() && status)
        inputs_.push_back({path, std::move(what), identity_of(*status)});
}

void output_targets::add_input(int descriptor, std::string what)
{
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && is_regular(status))
        inputs_.push_back({"", std::move(what), identity_of(status)});
}

void output_targets::add_output(const std::string& path, std::string what, target_kind kind)
{
    if (path.empty())
        return;
    const std::optional<struct stat> status = status_of(path);
    outputs_.push_back({path, std::move(what), status ? identity_of(*status) : place_of(path), kind});
}

void output_targets::check() const
{
    std::vector<problem> problems;
    const auto complain = [&](const entry& e, std::string text) {
        problems.push_back({severity::error, {}, "", fmt::format("{} {} {}", e.what, e.path, std::move(text))});
    };
    std::vector<entry> streams;
    for (const auto& [descriptor, what] :
         {std::pair{STDOUT_FILENO, "standard output"}, std::pair{STDERR_FILENO, "standard error"}}) {
        struct stat status {};
        if (::fstat(descriptor, &status) == 0 && is_regular(status))
            streams.push_back({"", what, identity_of(status)});
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const entry& e = outputs_[i];
        if (const std::string refusal = refusal_of(e.path, e.kind); !refusal.empty())
            complain(e, refusal);
        if (e.identity.empty())
            continue;
        for (const entry& input : inputs_)
            if (input.identity == e.identity)
                complain(e, fmt::format("is {}, which this command reads; it would be lost. Give another name.",
                                        input.what));
        for (const entry& stream : streams)
            if (stream.identity == e.identity)
                complain(e, fmt::format("is the file that {} goes to; one would destroy the other. Give another name.",
                                        stream.what));
        for (std::size_t k = 0; k < i; ++k)
            if (outputs_[k].identity == e.identity)
                complain(e, fmt::format("is the same file as {} {}; one would destroy the other. Give another name.",
                                        outputs_[k].what, outputs_[k].path));
    }
    if (!problems.empty())
        throw user_error(problems);
}

made_folders::made_folders(const std::string& dir)
{
    std::error_code none;
    for (fs::path at = fs::absolute(dir).lexically_normal(); !at.empty() && !fs::exists(at, none); at = at.parent_path()) {
        if (at.has_filename())
            missing_.push_back(at.string());
        if (at == at.parent_path())
            break;
    }
}

made_folders::~made_folders()
{
    for (const std::string& folder : missing_)
        if (::rmdir(folder.c_str()) != 0)
            break; // something is in it
}

void prepare_output_dir(const std::string& dir)
{
    std::error_code error;
    fs::create_directories(dir, error);
    if (error)
        refuse(dir, "cannot be made", error.value());
    if (!fs::is_directory(dir, error))
        refuse(dir, "is no folder", ENOTDIR);
    // Permission bits do not tell of read-only file systems, quotas or a full disk: write something and take it away.
    prepare_output_file(dir + "/results.json");
}

void prepare_output_file(const std::string& path)
{
    const std::optional<struct stat> status = writable_status(path);
    if (status && !is_regular(*status))
        return; // nothing is known of a device or a FIFO before it is written to
    output_file probe(path);
    probe.write("{}\n");
    if (const int error = probe.flush(); error != 0)
        refuse(path, "cannot be written", error);
}

void write_file_atomically(const std::string& path, const std::string& content)
{
    output_file file(path);
    file.write(content);
    file.commit();
}

} // namespace weft
