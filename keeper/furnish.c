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
#include <sys/sysmacros.h>
#include <unistd.h>

static const char WAITING[] = "/dev/.volumes";
static const char NODES[] = "/dev/.nodes";
enum { QUIET = MS_NOSUID | MS_NODEV | MS_NOEXEC, LONGEST = 4096 };

static const struct {
    const char *name;
    unsigned major, minor;
} devices[] = {{"null", 1, 3},   {"zero", 1, 5},    {"full", 1, 7},
               {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}};

/* As the common runtimes have it: what tells of the machine, or would let one do something to it. */
static const char *const hidden[] = {
    "/proc/acpi",        "/proc/asound",  "/proc/interrupts",
    "/proc/kcore",       "/proc/keys",    "/proc/latency_stats",
    "/proc/sched_debug", "/proc/scsi",    "/proc/timer_list",
    "/proc/timer_stats", "/sys/firmware", "/sys/devices/virtual/powercap",
};
static const char *const frozen[] = {
    "/proc/bus", "/proc/driver", "/proc/dynamic_debug", "/proc/fs", "/proc/irq", "/proc/mtrr",
    "/proc/sys", "/proc/sysrq-trigger", "/proc/tty",
};
#define EACH(which, list) (size_t which = 0; which < sizeof list / sizeof *list; which++)

/* A device of the container's own, that no other file system knows: what it does to its mode or its
 * owner, it does to nobody else's. /dev itself knows no devices, so none can be made there. */
static void make_device(const char *target, const struct stat *as)
{
    static int made;
    char node[sizeof NODES + 16];

    snprintf(node, sizeof node, "%s/%d", NODES, made++);
    if (mknod(node, as->st_mode, as->st_rdev) || chown(node, as->st_uid, as->st_gid)
        || mount(node, target, NULL, MS_BIND, NULL))
        fail(CANNOT, "cannot make the device", target);
}

static void begin_devices(void)
{
    if (mkdir(NODES, 0700) || mount("none", NODES, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0700"))
        fail(CANNOT, "cannot make", "devices");
}

static void end_devices(void)
{
    umount2(NODES, MNT_DETACH);
    rmdir(NODES);
}

static void make_own_devices(void)
{
    char path[32];

    for EACH(which, devices) {
        struct stat as = {.st_mode = S_IFCHR | 0666,
                          .st_rdev = makedev(devices[which].major, devices[which].minor)};
        snprintf(path, sizeof path, "/dev/%s", devices[which].name);
        umount2(path, MNT_DETACH); /* the machine's */
        make_device(path, &as);
    }
    if (mount("none", "/dev/shm", "tmpfs", QUIET, "mode=1777,size=64m"))
        fail(CANNOT, "cannot mount", "/dev/shm");
}

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

/* bubblewrap does so too, but takes /proc/sys for read-only since nobody can make a file there. */
static void freeze(const char *path)
{
    struct stat found;

    if (!lstat(path, &found)
        && (mount(path, path, NULL, MS_BIND | MS_REC, NULL)
            || mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | QUIET, NULL)))
        fail(CANNOT, "cannot make read-only", path);
}

static void show_system(void)
{
    mkdir("/sys", 0755);
    if (mount("sysfs", "/sys", "sysfs", MS_RDONLY | QUIET, NULL))
        fail(CANNOT, "cannot mount", "/sys");
    for EACH(which, hidden)
        hide(hidden[which]);
    for EACH(which, frozen)
        freeze(frozen[which]);
}

/* Where a volume goes: folders above it that everybody may pass, and something to mount it on. */
static void make_place(const char *target, int is_folder)
{
    char path[LONGEST] = "";

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
    if (S_ISCHR(found.st_mode) || S_ISBLK(found.st_mode)) {
        umount2(from, MNT_DETACH);
        make_device(target, &found);
    } else if (mount(from, target, NULL, MS_MOVE, NULL))
        fail(CANNOT, "cannot mount", target);
    if (S_ISDIR(found.st_mode))
        rmdir(from);
    else
        unlink(from);
}

/* Lays what waits over what is there: both are seen, neither can be written to. */
static void lay_over(int number, const char *target)
{
    char from[sizeof WAITING + 16], both[LONGEST];

    snprintf(from, sizeof from, "%s/%d", WAITING, number);
    if ((size_t)snprintf(both, sizeof both, "lowerdir=%s:%s", from, target) >= sizeof both)
        errno = ENAMETOOLONG;
    else if (!mount("overlay", target, "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, both)
             && !umount2(from, MNT_DETACH) && !rmdir(from))
        return;
    fail(CANNOT, "cannot lay a layer over", target);
}

int furnish(int count, char **words)
{
    int targets = separator(count, words) - 1;

    if (targets < 0)
        separator(0, words);
    umask(0);
    begin_devices();
    make_own_devices();
    show_system();
    for (int number = 0; number < targets; number++) {
        const char *target = words[number + 1];
        if (*target == '+')
            lay_over(number, target + 1);
        else
            move(number, target);
    }
    /* where the command begins: the common runtimes make it */
    if (count > targets + 2 + FOLDER)
        make_place(words[targets + 2 + FOLDER], 1);
    rmdir(WAITING);
    end_devices();
    if (!strcmp(words[0], "1")
        && mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL))
        fail(CANNOT, "cannot make read-only", "/");
    return enter(count - targets - 2, words + targets + 2);
}
