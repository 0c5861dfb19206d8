/* A command into a container that runs: the same place, the same limits, the same rights. */

#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_BYTES = 4 << 20, /* no command could be started with more */
    EVERYTHING =
        CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
};

static void send_to_caller(int file)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    struct iovec byte = {"", 1};
    struct msghdr message = {.msg_iov = &byte,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};

    memcpy(CMSG_DATA(&control.head), &file, sizeof file);
    if (sendmsg(CALLER, &message, MSG_NOSIGNAL) != 1)
        fail(CANNOT, "cannot hand over", "the terminal");
}

/* A terminal of the container, so that programs inside find it by name. Its other end goes to the
 * caller. What is at the path may be anything that a container has put there: only the kernel's own
 * device is taken. */
static int open_terminal(uid_t user)
{
    struct stat found;
    int unlocked = 0, here = -1;
    int there = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

    if (there >= 0 && !fstat(there, &found) && S_ISCHR(found.st_mode)
        && found.st_rdev == makedev(5, 2) && !ioctl(there, TIOCSPTLCK, &unlocked))
        here = ioctl(there, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (here < 0 || fchown(here, user, -1))
        fail(CANNOT, "cannot open", "a terminal");
    send_to_caller(there);
    close(there);
    return here;
}

/* In a session of its own: what is sent to our group is not meant for the command. */
static void take_streams(int terminal)
{
    setsid();
    if (terminal >= 0 && ioctl(terminal, TIOCSCTTY, 0))
        fail(CANNOT, "cannot use", "the terminal");
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
        dup2(terminal >= 0 ? terminal : INPUT + number, number);
}

static void take_environment(void)
{
    static char text[MOST_BYTES + 1]; /* the last one ends in any case */
    ssize_t size = pread(WORDS, text, MOST_BYTES, 0);

    if (size < 0 || size == MOST_BYTES)
        fail(CANNOT, "cannot read", "the variables");
    clearenv();
    for (char *each = text; each < text + size; each += strlen(each) + 1)
        putenv(each);
}

/* The whole session of the command, or as much of it as has not gone its own way. */
static void end(pid_t child)
{
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
}

static int is_told_to_end(int signals)
{
    struct signalfd_siginfo told;

    return read(signals, &told, sizeof told) > 0 && told.ssi_signo != SIGCHLD;
}

/* Waits for the end of the command, and brings it about when the caller is gone. */
static int watch(pid_t child, int signals)
{
    struct pollfd waited[] = {{.fd = signals, .events = POLLIN}, {.fd = CALLER, .events = POLLIN}};
    int status = 0;

    while (!waitpid(child, &status, WNOHANG)) {
        poll(waited, 2, -1);
        if (is_told_to_end(signals) || waited[1].revents) {
            end(child);
            waited[1].fd = -1;
        }
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int join(int count, char **words)
{
    static const int places[] = {TARGET, FAILURE, FILTER, CALLER, INPUT, OUTPUT, ERRORS, WORDS};
    sigset_t waited, before;
    int has_terminal = count > 8 && atoi(words[8]), terminal = -1;
    int groups = separator(count - 9, words + 9);
    char **last = words + 9 + groups + 1;

    arrange(8, words, places);
    are_failures_read = 1;
    prctl(PR_SET_DUMPABLE, 0); /* what is in the container must not look into us on our way in */
    sigemptyset(&waited);
    sigaddset(&waited, SIGCHLD);
    sigaddset(&waited, SIGTERM);
    sigaddset(&waited, SIGINT);
    sigaddset(&waited, SIGHUP);
    sigprocmask(SIG_BLOCK, &waited, &before);
    int signals = signalfd(-1, &waited, SFD_CLOEXEC | SFD_NONBLOCK);
    take_place(groups, words + 9);
    if (setns(TARGET, EVERYTHING))
        fail(CANNOT, "cannot join", "the container");
    if (has_terminal)
        terminal = open_terminal(strtoul(last[0], NULL, 10));
    show_life();
    pid_t child = fork(); /* only a child is in the new process namespace */
    if (child < 0)
        fail(CANNOT, "cannot start", "another process");
    if (!child) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        take_streams(terminal);
        take_environment();
        return enter(count - (last - words), last);
    }
    close(terminal);
    close_range(INPUT, ERRORS, 0); /* they end with the command, not with us */
    return watch(child, signals);
}
