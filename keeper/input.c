#define _GNU_SOURCE
#include "input.h"
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int from = -1; /* the named pipe */
static int held = -1; /* its other end: without it the first who goes would be taken for the last */
static int to = -1;
static size_t size;
static char text[4096];

int open_input(void)
{
    int ends[2];

    from = open("input", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0)
        return -1;
    held = open("input", O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (held < 0 || pipe2(ends, O_CLOEXEC))
        fail(CANNOT, "cannot open", "the input of the container");
    to = ends[1];
    fcntl(to, F_SETFL, O_NONBLOCK);
    return ends[0];
}

struct pollfd awaited_input(void)
{
    if (size)
        return (struct pollfd){.fd = to, .events = POLLOUT};
    return (struct pollfd){.fd = from, .events = POLLIN};
}

static void close_input(void)
{
    close(from);
    close(to);
    end_input();
    from = to = -1;
    size = 0;
}

static int is_for_later(ssize_t done)
{
    return done < 0 && (errno == EAGAIN || errno == EINTR);
}

void pass_input(void)
{
    if (!size) {
        ssize_t found = read(from, text, sizeof text);
        if (is_for_later(found))
            return;
        if (found <= 0) {
            close_input();
            return;
        }
        size = found;
    }
    ssize_t written = write(to, text, size);
    if (written > 0)
        memmove(text, text + written, size -= written);
    else if (!is_for_later(written))
        close_input(); /* the container does not want it any more */
}

void end_input(void)
{
    if (held >= 0)
        close(held);
    held = -1;
}
