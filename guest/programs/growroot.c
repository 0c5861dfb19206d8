/*
 * growroot: lets the root file system fill its disk, while it is mounted.
 *
 * The image is a few megabytes; the disk it is copied to is as large as its owner wants. The last
 * partition of the MBR is stretched to the disk's end, the kernel is told, and ext4 grows into it.
 * A boot with nothing to do costs a few system calls.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define EXT4_IOC_RESIZE_FS _IOW('f', 16, uint64_t)

enum { SECTOR = 512, TABLE = 446, LEAST_GAIN_SECTORS = 2048 };

struct entry {
    uint8_t status, first_chs[3], type, last_chs[3];
    uint32_t start, sectors;
} __attribute__((packed));

static void fail(const char *what)
{
    fprintf(stderr, "growroot: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* The number in a file of /sys, or -1: a disk without partitions has no `partition`. */
static long long number_in(const char *format, unsigned device_major, unsigned device_minor)
{
    char path[128];
    long long number = -1;
    snprintf(path, sizeof path, format, device_major, device_minor);
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    if (fscanf(file, "%lld", &number) != 1)
        number = -1;
    fclose(file);
    return number;
}

/* The name under /dev of the disk that a partition belongs to. */
static void find_disk(dev_t partition, char *path, size_t size)
{
    char link[64], target[512];
    snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major(partition), minor(partition));
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0)
        fail(link);
    target[length] = '\0';
    char *own_name = strrchr(target, '/');
    *own_name = '\0'; /* .../block/vda/vda2 becomes .../block/vda */
    snprintf(path, size, "/dev/%s", strrchr(target, '/') + 1);
}

static uint64_t grow_partition(const char *disk_path, int number, uint64_t start)
{
    uint8_t sector[SECTOR];
    uint64_t disk_bytes;
    int disk = open(disk_path, O_RDWR | O_CLOEXEC);
    if (disk < 0 || ioctl(disk, BLKGETSIZE64, &disk_bytes) != 0 || pread(disk, sector, SECTOR, 0) != SECTOR)
        fail(disk_path);
    struct entry *entry = (struct entry *)(sector + TABLE) + (number - 1);
    uint64_t now = le32toh(entry->sectors), room = disk_bytes / SECTOR - start;
    if (room > UINT32_MAX)
        room = UINT32_MAX; /* all that an MBR can say: 2 TiB */
    if (le32toh(entry->start) != start || room < now + LEAST_GAIN_SECTORS) {
        close(disk);
        return now;
    }
    room -= room % 8; /* whole blocks of 4 KiB */
    entry->sectors = htole32((uint32_t)room);
    if (pwrite(disk, sector, SECTOR, 0) != SECTOR || fsync(disk) != 0)
        fail(disk_path);
    struct blkpg_partition partition = {
        .start = (long long)(start * SECTOR), .length = (long long)(room * SECTOR), .pno = number};
    struct blkpg_ioctl_arg request = {
        .op = BLKPG_RESIZE_PARTITION, .datalen = sizeof partition, .data = &partition};
    if (ioctl(disk, BLKPG, &request) != 0)
        fail("telling the kernel of the larger partition");
    close(disk);
    return room;
}

int main(void)
{
    struct stat root;
    struct statfs filesystem;
    if (stat("/", &root) != 0 || statfs("/", &filesystem) != 0)
        fail("/");
    unsigned device_major = major(root.st_dev), device_minor = minor(root.st_dev);
    long long number = number_in("/sys/dev/block/%u:%u/partition", device_major, device_minor);
    long long start = number_in("/sys/dev/block/%u:%u/start", device_major, device_minor);
    if (number < 1 || number > 4 || start < 0)
        return 0; /* in memory, or on a disk laid out by somebody else */
    char disk[300];
    find_disk(root.st_dev, disk, sizeof disk);
    uint64_t sectors = grow_partition(disk, (int)number, (uint64_t)start);
    /* Also when the partition has its size already: an earlier boot may have got only that far. */
    uint64_t blocks = sectors * SECTOR / (uint64_t)filesystem.f_bsize;
    int directory = open("/", O_RDONLY | O_CLOEXEC);
    if (directory < 0 || ioctl(directory, EXT4_IOC_RESIZE_FS, &blocks) != 0)
        fail("growing the root file system");
    return 0;
}
