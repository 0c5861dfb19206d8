/* container-disk: keeps a container alive, so that the disk in its image stays reachable.
 *
 *     container-disk --copy-path PATH     listen on PATH.sock until told to end
 *     container-disk --no-op              end at once: the image has been pulled, that was all
 *
 * A container disk is an image with a file in it and nothing else: no shell, no libc. This program
 * is put into such a container, statically linked, and does next to nothing. While it runs, the
 * container's root file system exists, and the node's handler can bring the file to the guest.
 * The socket says that it runs, and in which container: who connects learns this process's number
 * from the kernel (SO_PEERCRED) and finds the root at /proc/NUMBER/root.
 *
 * Exit code: 0 after --no-op, SIGTERM or SIGINT; 1 if it cannot do its work; 2 for wrong usage.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CANNOT = 1, WRONG_USAGE = 2 };

static struct sockaddr_un address = {.sun_family = AF_UNIX};

/* One sentence on standard error: what could not be done, and why. */
static void __attribute__((noreturn)) fail(const char *what, const char *path)
{
    fprintf(stderr, "container-disk: cannot %s %s: %s\n", what, path, strerror(errno));
    exit(CANNOT);
}

static int misused(const char *why)
{
    fprintf(stderr,
            "container-disk: %s; use: container-disk --copy-path PATH, or: container-disk --no-op\n",
            why);
    return WRONG_USAGE;
}

/* The first process of a container has no default action for signals, so this must be a handler.
 * It calls only what may be called in one. */
static void end(int number)
{
    (void)number;
    unlink(address.sun_path);
    _exit(0);
}

static void end_when_told(void)
{
    struct sigaction action = {.sa_handler = end};

    sigfillset(&action.sa_mask);
    if (sigaction(SIGTERM, &action, NULL) || sigaction(SIGINT, &action, NULL))
        fail("handle", "signals");
}

/* A container that was restarted finds the socket of the one before, which nobody listens on. */
static int listening(void)
{
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (server < 0)
        fail("make", "a socket");
    unlink(address.sun_path); /* if that fails, so does the next, and tells why */
    if (bind(server, (struct sockaddr *)&address, sizeof(address)) || listen(server, 16))
        fail("listen on", address.sun_path);
    return server;
}

/* Each caller is let in and sent away: that it could connect is all it wanted to know. */
static void __attribute__((noreturn)) stay(int server)
{
    for (;;) {
        int caller = accept4(server, NULL, NULL, SOCK_CLOEXEC);

        if (caller >= 0)
            close(caller);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            sleep(1); /* the machine is short of something: the caller waits in the queue */
        else if (errno != EINTR && errno != ECONNABORTED && errno != EAGAIN)
            fail("go on listening on", address.sun_path);
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"copy-path", required_argument, NULL, 'c'},
        {"no-op", no_argument, NULL, 'n'},
        {NULL, 0, NULL, 0},
    };
    const char *path = NULL;
    int option, no_op = 0;

    opterr = 0;
    while ((option = getopt_long(argc, argv, "c:n", options, NULL)) != -1) {
        if (option == 'c')
            path = optarg;
        else if (option == 'n')
            no_op = 1;
        else
            return misused("an option is unknown or lacks its value");
    }
    if (optind < argc)
        return misused("there is an argument too many");
    if (no_op)
        return 0;
    if (!path || !*path)
        return misused("the path is missing");
    if (strlen(path) + sizeof(".sock") > sizeof(address.sun_path))
        return misused("the path is too long for a socket, which may have 102 characters");
    stpcpy(stpcpy(address.sun_path, path), ".sock");
    end_when_told();
    stay(listening());
}
