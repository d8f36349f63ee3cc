/*
 * Stands in for the disk of the processes that preload it: fsync and fdatasync do what these variables say, and the
 * real disk is left alone.
 *   DISK_HOLDS_IF     a flush does not end while there is a file of this name
 *   DISK_FAILS_IF     flushes fail with EIO while there is a file of this name
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int flush(void) {
  const char *holds = getenv("DISK_HOLDS_IF"), *fails = getenv("DISK_FAILS_IF");
  while (holds != NULL && access(holds, F_OK) == 0) usleep(1000);
  if (fails == NULL || access(fails, F_OK) != 0) return 0;
  errno = EIO;
  return -1;
}

int fsync(int fd) { return flush(); }
int fdatasync(int fd) { return flush(); }
