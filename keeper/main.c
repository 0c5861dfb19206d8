#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int are_failures_read;

void fail(int code, const char *what, const char *whom)
{
    const char *why = strerror(errno);

    dprintf(FAILURE, "%s %s: %s\n", what, whom, why);
    if (!are_failures_read)
        dprintf(STDERR_FILENO, "%s %s: %s\n", what, whom, why);
    exit(code);
}

static int misused(void)
{
    fputs("keeper: use: keeper run|furnish|enter|join ...; see keeper.h\n", stderr);
    return WRONG_USAGE;
}

void arrange(int count, char **given, const int *places)
{
    int kept[FIRST_FREE];

    /* Out of the way first: a place may be taken by a file that belongs to another one. */
    for (int which = 0; which < count; which++) {
        kept[which] = -1;
        if (strcmp(given[which], "-")
            && (kept[which] = fcntl(atoi(given[which]), F_DUPFD, FIRST_FREE)) < 0)
            fail(CANNOT, "cannot use the open file", given[which]);
    }
    /* No place stays empty, or the next file that is opened would be taken for it. */
    int nothing = open("/dev/null", O_RDWR);
    for (int place = LOCK; place < FIRST_FREE; place++)
        dup2(nothing, place);
    for (int which = 0; which < count; which++)
        if (kept[which] >= 0)
            dup2(kept[which], places[which]);
    close_range(FIRST_FREE, ~0U, 0);
}

int separator(int count, char **words)
{
    for (int place = 0; place + 1 < count; place++)
        if (!strcmp(words[place], "--"))
            return place;
    exit(misused());
}

void show_life(void)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) || dup2(ends[0], LIFE) < 0)
        fail(CANNOT, "cannot make", "a pipe");
    close(ends[0]);
}

void take_place(int count, char **groups)
{
    for (int place = 0; place < count; place++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/cgroup.procs", groups[place]);
        int file = open(path, O_WRONLY | O_CLOEXEC);
        if (file < 0 || write(file, "0", 1) != 1)
            fail(CANNOT, "cannot enter the control group", groups[place]);
        close(file);
    }
}

int main(int count, char **words)
{
    if (count > 1 && !strcmp(words[1], "run"))
        return run(count - 2, words + 2);
    if (count > 1 && !strcmp(words[1], "furnish"))
        return furnish(count - 2, words + 2);
    if (count > 1 && !strcmp(words[1], "enter"))
        return enter(count - 2, words + 2);
    if (count > 1 && !strcmp(words[1], "join"))
        return join(count - 2, words + 2);
    return misused();
}
