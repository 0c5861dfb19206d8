/* A disk that tells what happens to it, and that can fail.
 *
 * Preloaded into a program, it notes every new file, write, truncation and sync in one folder, in the
 * order in which they took effect, in a trace that the test reads: which writes were synced when, and
 * so what would be left of the files after a power cut at any moment. The folder itself is noted as
 * ".": a new file is sure to be found again only when its folder was synced.
 *
 *   DISK_FOLDER  whose files are noted
 *   DISK_TRACE   the file to note in
 *   DISK_FAULT   while this file exists: "n" in it makes writes fail with ENOSPC, "s" syncs with EIO
 *
 * A write is noted when it was done, a sync when it begins and when it was done: only what was noted
 * before a sync began is sure to be on the disk when it ends.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum operation {
    CREATE = 'c',
    WRITE = 'w',
    TRUNCATE = 't',
    SYNC_BEGINS = 'b',
    SYNC_ENDS = 'e',
    UNLINK = 'u',
};

struct note {
    uint32_t operation;
    uint32_t name_length;
    uint64_t offset;
    uint64_t length;
} __attribute__((packed));

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;

static void note(enum operation operation, const char *name, uint64_t offset, const void *data,
                 uint64_t length) {
    struct note header = {operation, strlen(name), offset, length};
    struct iovec parts[] = {
        {&header, sizeof header},
        {(void *)name, header.name_length},
        {(void *)data, data ? length : 0},
    };
    pthread_mutex_lock(&order);
    if (trace < 0)
        trace = syscall(SYS_openat, AT_FDCWD, getenv("DISK_TRACE"),
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (syscall(SYS_writev, trace, parts, 3) < 0)
        abort();
    pthread_mutex_unlock(&order);
}

/* The name in the folder of an absolute path; NULL if it is elsewhere. */
static const char *in_folder(const char *path) {
    const char *folder = getenv("DISK_FOLDER");
    size_t length = folder ? strlen(folder) : 0;
    if (!length || strncmp(path, folder, length))
        return NULL;
    if (!path[length])
        return ".";
    return path[length] == '/' ? path + length + 1 : NULL;
}

static const char *name_of(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0)
        return NULL;
    path[length] = 0;
    return in_folder(path);
}

static int has_fault(char which) {
    const char *file = getenv("DISK_FAULT");
    char found = 0;
    int fd = file ? syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return 0;
    if (syscall(SYS_read, fd, &found, 1) < 1)
        found = 0;
    syscall(SYS_close, fd);
    return found == which;
}

static int open_file(const char *path, int flags, mode_t mode) {
    const char *name = flags & O_CREAT ? in_folder(path) : NULL;
    int is_new = name && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) < 0;
    int fd = syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (is_new && fd >= 0)
        note(CREATE, name, 0, NULL, 0);
    return fd;
}

static mode_t mode_in(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_in(flags, arguments);
    va_end(arguments);
    return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_in(flags, arguments);
    va_end(arguments);
    return open_file(path, flags, mode);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    char path[4096];
    int saved = errno;
    const char *name = name_of(fd, path, sizeof path);
    if (name && has_fault('n')) {
        errno = ENOSPC;
        return -1;
    }
    errno = saved;
    ssize_t done = syscall(SYS_pwrite64, fd, data, size, offset);
    if (name && done > 0)
        note(WRITE, name, offset, data, done);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return pwrite64(fd, data, size, offset);
}

ssize_t write(int fd, const void *data, size_t size) {
    char path[4096];
    int saved = errno;
    const char *name = name_of(fd, path, sizeof path);
    off_t offset = name ? syscall(SYS_lseek, fd, 0, SEEK_CUR) : 0;
    errno = saved;
    ssize_t done = syscall(SYS_write, fd, data, size);
    if (name && done > 0)
        note(WRITE, name, offset, data, done);
    return done;
}

int ftruncate64(int fd, off64_t length) {
    char path[4096];
    const char *name = name_of(fd, path, sizeof path);
    int done = syscall(SYS_ftruncate, fd, length);
    if (name && done == 0)
        note(TRUNCATE, name, 0, NULL, length);
    return done;
}

int ftruncate(int fd, off_t length) {
    return ftruncate64(fd, length);
}

static int sync_file(int fd, long call) {
    char path[4096];
    const char *name = name_of(fd, path, sizeof path);
    if (name && has_fault('s')) {
        errno = EIO;
        return -1;
    }
    if (name)
        note(SYNC_BEGINS, name, gettid(), NULL, 0);
    int done = syscall(call, fd);
    if (name && done == 0)
        note(SYNC_ENDS, name, gettid(), NULL, 0);
    return done;
}

int fsync(int fd) {
    return sync_file(fd, SYS_fsync);
}

int fdatasync(int fd) {
    return sync_file(fd, SYS_fdatasync);
}

int unlink(const char *path) {
    const char *name = in_folder(path);
    int done = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (name && done == 0)
        note(UNLINK, name, 0, NULL, 0);
    return done;
}
