/*
 * Stands in for the disk of the processes that preload it: fsync and fdatasync do what these variables say, and the
 * real disk is left alone.
 *   DISK_FLUSH_MS     how long a flush takes
 *   DISK_HOLDS_IF     a flush does not end while there is a file of this name
 *   DISK_FAILS_IF     flushes fail with EIO while there is a file of this name
 *   DISK_FOLDER       the files in this folder are copied as of their last flush
 *   DISK_COPIES       to here: what a power cut leaves
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* Whole or not at all: a kill may come at any time. */
static int copy(const char *path, const char *name, const char *copies) {
  char partial[4096], whole[4096], chunk[65536];
  /* One at a time, or an older copy could replace a newer one. */
  snprintf(whole, sizeof whole, "%s/.lock", copies);
  int lock = open(whole, O_WRONLY | O_CREAT, 0600);
  if (lock < 0 || flock(lock, LOCK_EX) != 0) return -1;
  snprintf(partial, sizeof partial, "%s/%s.partial", copies, name);
  snprintf(whole, sizeof whole, "%s/%s", copies, name);
  int from = open(path, O_RDONLY), to = open(partial, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int result = from < 0 || to < 0 ? -1 : 0;
  ssize_t length;
  while (result == 0 && (length = read(from, chunk, sizeof chunk)) > 0)
    if (write(to, chunk, length) != length) result = -1;
  if (from >= 0) close(from);
  if (to >= 0) close(to);
  if (result == 0) result = rename(partial, whole);
  close(lock);
  return result;
}

static int flush(int fd) {
  const char *delay = getenv("DISK_FLUSH_MS"), *fails = getenv("DISK_FAILS_IF");
  const char *holds = getenv("DISK_HOLDS_IF");
  const char *folder = getenv("DISK_FOLDER"), *copies = getenv("DISK_COPIES");
  int result = 0;
  if (folder != NULL && copies != NULL) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    size_t prefix = strlen(folder);
    if (strncmp(path, folder, prefix) == 0 && path[prefix] == '/' && strchr(path + prefix + 1, '/') == NULL)
      result = copy(path, path + prefix + 1, copies);
  }
  if (delay != NULL) {
    long milliseconds = atol(delay);
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
  }
  while (holds != NULL && access(holds, F_OK) == 0) usleep(1000);
  if (fails != NULL && access(fails, F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  return result;
}

int fsync(int fd) { return flush(fd); }
int fdatasync(int fd) { return flush(fd); }
