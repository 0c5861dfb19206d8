/* Where a sandbox is made: in the network of its pod, and over the files of its image. Both are
 * seen by the sandbox only, and go with it. */

#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

void enter_network(const char *network)
{
    if (!strcmp(network, "-"))
        return;
    int file = open(network, O_RDONLY | O_CLOEXEC);
    if (file < 0 || setns(file, CLONE_NEWNET))
        fail(CANNOT, "cannot enter the network", network);
    close(file);
}

static int take_after(const char *folder, const struct stat *other)
{
    return chown(folder, other->st_uid, other->st_gid) || chmod(folder, other->st_mode & 07777);
}

/* The files of an image by their number: a path may hold what has a meaning in a list of options. */
static int lay_over(int image, const char *upper, const char *work)
{
    char how[128];

    snprintf(how, sizeof how, "lowerdir=/proc/self/fd/%d,upperdir=%s,workdir=%s", image, upper, work);
    return mount("overlay", "root", "overlay", MS_NOSUID | MS_NODEV, how);
}

/* The folder `root` becomes the image's files with what the container writes in `upper`. */
void lay_root(const char *image)
{
    struct stat found;

    if (!strcmp(image, "-"))
        return;
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
        fail(CANNOT, "cannot have", "mounts of its own");
    int lower = open(image, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (lower < 0 || fstat(lower, &found))
        fail(CANNOT, "cannot open the image", image);
    if (mkdir("upper", 0700) || mkdir("work", 0700) || mkdir("root", 0700)
        || take_after("upper", &found))
        fail(CANNOT, "cannot make", "the folders of the container's own files");
    if (!lay_over(lower, "upper", "work"))
        return;
    /* A home may lie where no such layer can, as inside of another container: then in memory. */
    if (mount("none", "work", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700") || mkdir("work/upper", 0700)
        || mkdir("work/work", 0700) || take_after("work/upper", &found)
        || lay_over(lower, "work/upper", "work/work"))
        fail(CANNOT, "cannot lay a writable layer over", image);
}
