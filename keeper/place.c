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

/* The folder `root` becomes the image's files with what the container writes in `upper`. */
void lay_root(const char *image)
{
    char how[128];
    struct stat found;

    if (!strcmp(image, "-"))
        return;
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
        fail(CANNOT, "cannot have", "mounts of its own");
    int lower = open(image, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (lower < 0 || fstat(lower, &found))
        fail(CANNOT, "cannot open the image", image);
    if (mkdir("upper", 0700) || mkdir("work", 0700) || mkdir("root", 0700)
        || chown("upper", found.st_uid, found.st_gid) || chmod("upper", found.st_mode & 07777))
        fail(CANNOT, "cannot make", "the folders of the container's own files");
    /* By its number: a path may hold what has a meaning in a list of options. */
    snprintf(how, sizeof how, "lowerdir=/proc/self/fd/%d,upperdir=upper,workdir=work", lower);
    if (mount("overlay", "root", "overlay", MS_NOSUID | MS_NODEV, how))
        fail(CANNOT, "cannot lay a writable layer over", image);
    close(lower);
}
