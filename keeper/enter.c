/* The last step into a container: every right goes that was not given. */

#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MOST_GROUPS = 64, MOST_STEPS = 4096 };

static int is_nothing(const struct stat *found)
{
    return S_ISCHR(found->st_mode) && found->st_rdev == makedev(1, 3);
}

/* bubblewrap has seen to it for what it starts, and nobody for what joins. */
static void gain_nothing(void)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        fail(CANNOT, "cannot give up", "new privileges");
}

static void keep_only(uint64_t capabilities)
{
    for (int number = 0; prctl(PR_CAPBSET_READ, number) >= 0; number++)
        if (!(capabilities >> number & 1) && prctl(PR_CAPBSET_DROP, number))
            fail(CANNOT, "cannot drop", "capabilities");
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

static void become(uid_t user, gid_t group, char *others)
{
    gid_t groups[MOST_GROUPS];
    size_t count = 0;

    for (char *next = strtok(others, ","); next && count < MOST_GROUPS; next = strtok(NULL, ","))
        groups[count++] = strtoul(next, NULL, 10);
    if (setgroups(count, groups) || setresgid(group, group, group) || setresuid(user, user, user))
        fail(CANNOT, "cannot become", "the user of the container");
}

/* Ends together with its parent, by whose end the container or the command is called off. The kernel
 * tells only of an end that is still to come. */
static void live_no_longer_than_others(void)
{
    struct pollfd life = {.fd = LIFE, .events = POLLIN};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (poll(&life, 1, 0) > 0 && life.revents & POLLHUP)
        _exit(CANNOT);
}

static void filter_calls(void)
{
    static struct sock_filter steps[MOST_STEPS];
    ssize_t size = pread(FILTER, steps, sizeof steps, 0);
    struct sock_fprog program = {.len = size / sizeof *steps, .filter = steps};

    if (size == 0)
        return; /* none is wanted */
    if (size < 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
        fail(CANNOT, "cannot filter", "system calls");
}

/* A stream that nobody wants is the container's /dev/null, not the machine's, whose mode and owner it
 * could change through it. */
static void use_own_nothing(void)
{
    struct stat found;

    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        if (fstat(number, &found) || !is_nothing(&found))
            continue;
        int own = open("/dev/null", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (own < 0 || fstat(own, &found) || !is_nothing(&found) || dup2(own, number) < 0)
            fail(CANNOT, "cannot open", "/dev/null");
        close(own);
    }
}

/* Whoever started the home may have been deaf to some signals, as a job in the background is to ^C; a
 * shell could then never be interrupted. */
static void hear_everything(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

int enter(int count, char **words)
{
    if (count < FOLDER + 3 || strcmp(words[FOLDER + 1], "--"))
        separator(0, words);
    uid_t user = strtoul(words[0], NULL, 10);
    gid_t group = strtoul(words[1], NULL, 10);
    char **command = words + FOLDER + 2;

    use_own_nothing();
    gain_nothing(); /* before the filter, which may know nothing of it */
    keep_only(strtoull(words[3], NULL, 16));
    filter_calls();
    become(user, group, words[2]);
    live_no_longer_than_others(); /* a change of user forgets the wish */
    if (chdir(words[FOLDER]))
        fail(CANNOT, "cannot work in", words[FOLDER]);
    umask(022);
    hear_everything();
    fcntl(FAILURE, F_SETFD, FD_CLOEXEC);
    close_range(LOCK, STATUS, 0);
    close_range(SELF, ~0U, 0);
    execvp(command[0], command);
    fail(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE, "cannot start", command[0]);
}
