/*
 * sudo [-n] [-E] [-H] [-S] [-k] [-i | -s] [-u USER] [--] [NAME=VALUE ...] [COMMAND ...]
 *
 * Runs a command as root (or as USER) for root and for members of the group `sudo`, who are never
 * asked for a password: everyone who may log in to this guest knows it from the login prompt. What
 * the real one offers beyond that, this one does not.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REFUSED = 1, NOT_FOUND = 127, MOST_GROUPS = 64 };

static const char PATH[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/* Where a shell that is no login shell finds its prompt; as in /etc/profile. */
static const char PROMPT[] = "ENV=/etc/profile.d/prompt.sh";

static void refuse(const char *why)
{
    fprintf(stderr, "sudo: %s\n", why);
    exit(REFUSED);
}

static bool is_allowed(void)
{
    if (getuid() == 0)
        return true;
    struct group *allowed = getgrnam("sudo");
    gid_t groups[MOST_GROUPS];
    int count = getgroups(MOST_GROUPS, groups);
    for (int i = 0; allowed && i < count; i++)
        if (groups[i] == allowed->gr_gid)
            return true;
    return false;
}

/* Nothing of the caller's environment reaches root but the terminal's kind and what -E asks for. */
static void set_environment(const struct passwd *user, const char *caller, bool keep)
{
    static char term[128], name[128], logname[128], home[256], shell[256], origin[128];
    snprintf(term, sizeof term, "TERM=%s", getenv("TERM") ? getenv("TERM") : "linux");
    snprintf(name, sizeof name, "USER=%s", user->pw_name);
    snprintf(logname, sizeof logname, "LOGNAME=%s", user->pw_name);
    snprintf(home, sizeof home, "HOME=%s", user->pw_dir);
    snprintf(shell, sizeof shell, "SHELL=%s", user->pw_shell);
    snprintf(origin, sizeof origin, "SUDO_USER=%s", caller);
    if (!keep)
        clearenv();
    char *all[] = {term, name, logname, home, shell, origin, (char *)PATH, (char *)PROMPT};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        putenv(all[i]);
}

static void become(const struct passwd *user)
{
    if (initgroups(user->pw_name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0
        || setuid(user->pw_uid) != 0)
        refuse(strerror(errno));
}

static void run(char **command)
{
    execvp(command[0], command);
    fprintf(stderr, "sudo: %s: %s\n", command[0], errno == ENOENT ? "command not found" : strerror(errno));
    exit(NOT_FOUND);
}

int main(int argc, char **argv)
{
    const char *target = "root";
    bool login = false, shell = false, keep = false;
    int option;
    while ((option = getopt(argc, argv, "+nEHSkisu:")) != -1) {
        switch (option) {
        case 'i': login = true; break;
        case 's': shell = true; break;
        case 'E': keep = true; break;
        case 'u': target = optarg; break;
        case 'n': case 'H': case 'S': case 'k': break; /* no password is ever asked */
        default: refuse("this guest's sudo knows -i, -s, -u USER, -E, -n, -H, -S and -k");
        }
    }
    if (!is_allowed())
        refuse("only root and members of the group sudo may do this");
    struct passwd *caller = getpwuid(getuid());
    char *caller_name = strdup(caller ? caller->pw_name : "unknown");
    struct passwd *user = getpwnam(target);
    if (!user)
        refuse("there is no such user");
    set_environment(user, caller_name, keep);
    become(user);
    for (; optind < argc && strchr(argv[optind], '=') && argv[optind][0] != '='; optind++)
        putenv(argv[optind]);
    if (login && chdir(user->pw_dir) != 0)
        refuse(user->pw_dir);
    if (optind < argc && !login && !shell)
        run(argv + optind);
    if (optind == argc && !login && !shell)
        refuse("no command was given; -i starts a shell");
    if (optind == argc)
        run((char *[]){user->pw_shell, login ? "-l" : NULL, NULL});
    /* A shell is to run the words: hand them over as they are, not as a line to be parsed anew. */
    char **words = calloc((size_t)(argc - optind) + 5, sizeof *words);
    char *prefix[] = {user->pw_shell, "-c", "exec \"$@\"", user->pw_shell};
    memcpy(words, prefix, sizeof prefix);
    memcpy(words + 4, argv + optind, (size_t)(argc - optind) * sizeof *words);
    run(words);
}
