#define _GNU_SOURCE
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const char NAME[] = "log";
static int file = -1;
static int files;
static long bytes;
static long limit;

static void open_file(void)
{
    struct stat found;

    file = open(NAME, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    bytes = file >= 0 && !fstat(file, &found) ? found.st_size : 0;
}

void open_log(long most, int how_many)
{
    limit = most;
    files = how_many;
    open_file();
}

static void rotate(void)
{
    char from[32], to[32];

    close(file);
    for (int number = files - 1; number > 0; number--) {
        snprintf(from, sizeof from, number > 1 ? "%s.%d" : "%s", NAME, number - 1);
        snprintf(to, sizeof to, "%s.%d", NAME, number);
        rename(from, to);
    }
    if (files < 2)
        unlink(NAME);
    open_file();
}

/* A disk that is full costs lines, never the container's progress. */
static void put(const char *name, char tag, const char *text, size_t size)
{
    struct timespec now;
    struct tm utc;
    char head[64];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t length = strftime(head, sizeof head, "%Y-%m-%dT%H:%M:%S", &utc);
    length += snprintf(head + length, sizeof head - length, ".%09ldZ %s %c ", now.tv_nsec, name, tag);
    struct iovec parts[] = {{head, length}, {(void *)text, size}, {"\n", 1}};
    if (limit > 0 && bytes > 0 && bytes + (long)(length + size + 1) > limit)
        rotate();
    ssize_t written = writev(file, parts, 3);
    if (written > 0)
        bytes += written;
    if (written > 0 && (size_t)written < length + size + 1 && !ftruncate(file, bytes - written))
        bytes -= written; /* not half a line */
}

static void put_lines(struct stream *stream)
{
    char *begin = stream->text, *end = begin + stream->size, *stop;

    while ((stop = memchr(begin, '\n', end - begin))) {
        put(stream->name, 'F', begin, stop - begin);
        begin = stop + 1;
    }
    stream->size = end - begin;
    if (stream->size == PIECE) {
        put(stream->name, 'P', begin, stream->size);
        stream->size = 0;
    }
    memmove(stream->text, begin, stream->size);
}

void take(struct stream *stream)
{
    ssize_t found = read(stream->file, stream->text + stream->size, PIECE - stream->size);

    if (found > 0) {
        stream->size += found;
        put_lines(stream);
    } else if (found == 0 || (errno != EINTR && errno != EAGAIN)) {
        if (stream->size) /* a line without an end stays without: readers add none */
            put(stream->name, 'P', stream->text, stream->size);
        close(stream->file);
        stream->file = -1;
    }
}
