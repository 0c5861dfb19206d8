/* The parent of one sandbox, from its start to its end, whatever becomes of who started it. */

#define _GNU_SOURCE
#include "input.h"
#include "keeper.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RECORD = 256, LAST_WORDS_MS = 1000 };

static struct stream streams[] = {{.name = "stdout"}, {.name = "stderr"}};

/* A file under one number, which only those inherit who are to. */
static void at(int number, int file, int flags)
{
    if (file < 0 || (file != number && dup3(file, number, flags) < 0))
        fail(CANNOT, "cannot open", "the files of the attempt");
    if (file != number)
        close(file);
}

/* Room for the last record, so that a disk that is full meanwhile cannot take it. */
static int reserve(void)
{
    int file = open("exit.draft", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

    if (file < 0 || (errno = posix_fallocate(file, 0, RECORD)))
        fail(CANNOT, "cannot reserve room in", "the folder of the attempt");
    return file;
}

static void record(int file, const char *draft, const char *name, const char *text)
{
    ssize_t size = strlen(text);

    if (pwrite(file, text, size, 0) == size && !ftruncate(file, size) && !fsync(file))
        rename(draft, name);
    int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0)
        fsync(folder);
}

static void record_start(pid_t sandbox)
{
    char text[RECORD];
    int file = open("started.draft", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

    snprintf(text, sizeof text, "{\"keeper\":%d,\"sandbox\":%d}\n", getpid(), sandbox);
    /* Whole or not at all, but not to outlive the machine: its processes do not either. */
    ssize_t size = strlen(text);
    if (write(file, text, size) != size || rename("started.draft", "started.json"))
        fail(CANNOT, "cannot write into", "the folder of the attempt");
    close(file);
}

static void record_end(int file, int status)
{
    char text[RECORD];
    struct timespec now;
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);

    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(text, sizeof text, "{\"code\":%d,\"ended\":%lld.%09ld}\n", code, (long long)now.tv_sec,
             now.tv_nsec);
    record(file, "exit.draft", "exit.json", text);
}

/* `words` are NETWORK, IMAGE, the control groups, `--` and the sandbox. */
static pid_t start(int groups, char **words, const sigset_t *before)
{
    char **sandbox = words + 2 + groups + 1;
    int ends[2][2], input = open_input();

    for (int which = 0; which < 2; which++) {
        if (pipe2(ends[which], O_CLOEXEC))
            fail(CANNOT, "cannot make", "a pipe");
        streams[which].file = ends[which][0];
    }
    show_life();
    pid_t child = fork();
    if (child < 0)
        fail(CANNOT, "cannot start", sandbox[0]);
    if (!child) {
        take_place(groups, words + 2);
        syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL); /* not with the keys of who started us */
        enter_network(words[0]);
        lay_root(words[1]);
        dup2(input >= 0 ? input : open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
        dup2(ends[0][1], STDOUT_FILENO);
        dup2(ends[1][1], STDERR_FILENO);
        sigprocmask(SIG_SETMASK, before, NULL);
        execvp(sandbox[0], sandbox);
        fail(CANNOT, "cannot start", sandbox[0]);
    }
    for (int which = 0; which < 2; which++)
        close(ends[which][1]);
    if (input >= 0)
        close(input);
    return child;
}

/* Writes down what is said until the sandbox has ended. What it left behind may hold the streams
 * open for ever; a moment later nobody listens any more. */
static int watch(pid_t sandbox, int signals)
{
    int status = 0, has_ended = 0;

    while (streams[0].file >= 0 || streams[1].file >= 0 || !has_ended) {
        struct pollfd waited[] = {{.fd = streams[0].file, .events = POLLIN},
                                  {.fd = streams[1].file, .events = POLLIN},
                                  {.fd = has_ended ? -1 : signals, .events = POLLIN},
                                  awaited_input()};
        int ready = poll(waited, has_ended ? 2 : 4, has_ended ? LAST_WORDS_MS : -1);
        if (ready == 0)
            break;
        for (int which = 0; which < 2; which++)
            if (waited[which].revents)
                take(&streams[which]);
        if (waited[3].revents)
            pass_input();
        if (waited[2].revents) {
            struct signalfd_siginfo told = {0};
            (void)!read(signals, &told, sizeof told);
            if (told.ssi_signo == SIGUSR1)
                end_input();
            has_ended = waitpid(sandbox, &status, WNOHANG) == sandbox;
        }
    }
    return status;
}

/* Goes on in a child that is nobody's: whoever called us waits for the start, not for the end. */
static int detach(void)
{
    int ends[2];
    char started;

    if (pipe2(ends, O_CLOEXEC))
        fail(CANNOT, "cannot make", "a pipe");
    pid_t child = fork();
    if (child < 0)
        fail(CANNOT, "cannot start", "the keeper");
    if (child) {
        close(ends[1]);
        _exit(read(ends[0], &started, 1) == 1 ? 0 : CANNOT);
    }
    close(ends[0]);
    setsid();
    return ends[1];
}

static void tell_of_start(int caller)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
        dup2(nothing, number);
    (void)!write(caller, "", 1);
    close(caller);
}

int run(int count, char **words)
{
    static const int places[] = {LOCK, SELF, FILTER, WORDS};
    sigset_t all, before;
    int groups = separator(count - 8, words + 8);

    arrange(4, words, places);
    int caller = detach();
    /* Nothing but SIGKILL ends this program before its sandbox. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    fcntl(LOCK, F_SETFD, FD_CLOEXEC);
    at(STATUS, open("status.json", O_WRONLY | O_CREAT | O_APPEND, 0640), 0);
    at(FAILURE, open("failure", O_WRONLY | O_CREAT | O_APPEND, 0640), 0);
    int last = reserve();
    int signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    open_log(atol(words[4]), atoi(words[5]));
    sigemptyset(&before);
    pid_t sandbox = start(groups, words + 6, &before);
    close_range(STATUS, FIRST_FREE - 1, 0);
    record_start(sandbox);
    tell_of_start(caller);
    record_end(last, watch(sandbox, signals));
    return 0;
}
