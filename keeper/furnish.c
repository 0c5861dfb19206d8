/* What a sandbox still lacks when the machine's own files are out of its sight.
 *
 * An image, or a volume that a container has written to before, may hold links that lead anywhere. So
 * volumes are not put in place from outside: they wait in a folder of the sandbox, and are moved to
 * where they belong from inside, where every path ends inside. */

#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char WAITING[] = "/dev/.volumes";
enum { QUIET = MS_NOSUID | MS_NODEV | MS_NOEXEC, LONGEST = 4096 };

/* As the common runtimes have it: what tells of the machine, or would let one do something to it. */
static const char *const hidden[] = {
    "/proc/acpi",        "/proc/asound",        "/proc/interrupts",
    "/proc/kcore",       "/proc/keys",          "/proc/latency_stats",
    "/proc/sched_debug", "/proc/scsi",          "/proc/timer_list",
    "/proc/timer_stats", "/sys/firmware",       "/sys/devices/virtual/powercap",
};

static void hide(const char *path)
{
    struct stat found;

    if (lstat(path, &found))
        return; /* this kernel has none */
    int failed = S_ISDIR(found.st_mode)
                     ? mount("none", path, "tmpfs", MS_RDONLY | QUIET, "mode=0555")
                     : mount("/dev/null", path, NULL, MS_BIND, NULL);
    if (failed)
        fail(CANNOT, "cannot hide", path);
}

static void show_system(void)
{
    mkdir("/sys", 0755);
    if (mount("sysfs", "/sys", "sysfs", MS_RDONLY | QUIET, NULL))
        fail(CANNOT, "cannot mount", "/sys");
    for (size_t which = 0; which < sizeof hidden / sizeof *hidden; which++)
        hide(hidden[which]);
}

/* Where a volume goes: folders above it that everybody may pass, and something to mount it on. */
static void make_place(const char *target, int is_folder)
{
    char path[LONGEST];

    if ((size_t)snprintf(path, sizeof path, "%s", target) >= sizeof path) {
        errno = ENAMETOOLONG;
        fail(CANNOT, "cannot mount", "a volume");
    }
    for (char *end = path + 1; (end = strchr(end, '/')); *end++ = '/') {
        *end = 0;
        mkdir(path, 0755);
    }
    if (is_folder)
        mkdir(path, 0755);
    else
        mknod(path, S_IFREG | 0644, 0);
    errno = 0; /* what was there already is as good; what could not be made, the mount tells */
}

static void move(int number, const char *target)
{
    char from[sizeof WAITING + 16];
    struct stat found;

    snprintf(from, sizeof from, "%s/%d", WAITING, number);
    if (stat(from, &found))
        fail(CANNOT, "cannot find the volume of", target);
    make_place(target, S_ISDIR(found.st_mode));
    if (mount(from, target, NULL, MS_MOVE, NULL))
        fail(CANNOT, "cannot mount", target);
    if (S_ISDIR(found.st_mode))
        rmdir(from);
    else
        unlink(from);
}

int furnish(int count, char **words)
{
    int targets = separator(count, words) - 1;

    if (targets < 0)
        separator(0, words);
    umask(0);
    show_system();
    for (int number = 0; number < targets; number++)
        move(number, words[number + 1]);
    rmdir(WAITING);
    if (!strcmp(words[0], "1")
        && mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL))
        fail(CANNOT, "cannot make read-only", "/");
    return enter(count - targets - 2, words + targets + 2);
}
