/* A command into a container that runs: the same place, the same limits, the same rights. */

#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EVERYTHING =
        CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
};

int join(int count, char **words)
{
    static const int places[] = {TARGET, FAILURE, FILTER};
    int groups = separator(count - 3, words + 3), status;

    arrange(3, words, places);
    words += 3;
    count -= 3;
    take_place(groups, words);
    if (setns(TARGET, EVERYTHING))
        fail(CANNOT, "cannot join", "the container");
    show_life();
    pid_t child = fork(); /* only a child is in the new process namespace */
    if (child < 0)
        fail(CANNOT, "cannot start", words[groups + 1]);
    if (!child)
        return enter(count - groups - 1, words + groups + 1);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
