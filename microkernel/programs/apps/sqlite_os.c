/* SPDX-License-Identifier: Apache-2.0
 *
 * The operating-system interface that SQLite needs (SQLITE_OS_OTHER), without files. A database in memory
 * opens no file; SQLite only requires that a file system is registered, and asks it for a seed.
 */
#include "sqlite3.h"

#define LONGEST_PATH 64

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    (void)name;
    (void)flags;
    (void)out;
    file->pMethods = 0;
    return SQLITE_CANTOPEN;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int is_synced)
{
    (void)vfs;
    (void)name;
    (void)is_synced;
    return SQLITE_IOERR_DELETE_NOENT;
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *exists)
{
    (void)vfs;
    (void)name;
    (void)flags;
    *exists = 0;
    return SQLITE_OK;
}

static int full_path(sqlite3_vfs *vfs, const char *name, int bytes, char *out)
{
    (void)vfs;
    sqlite3_snprintf(bytes, out, "%s", name);
    return SQLITE_OK;
}

/* Returns the same bytes in each run. */
static int randomness(sqlite3_vfs *vfs, int bytes, char *out)
{
    (void)vfs;
    for (int i = 0; i < bytes; i++) {
        out[i] = (char)(i * 37 + 11);
    }
    return bytes;
}

static int sleep_us(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    (void)us;
    return 0;
}

static int current_time(sqlite3_vfs *vfs, double *days)
{
    (void)vfs;
    *days = 0;
    return SQLITE_OK;
}

static int last_error(sqlite3_vfs *vfs, int bytes, char *out)
{
    (void)vfs;
    (void)bytes;
    (void)out;
    return 0;
}

int sqlite3_os_init(void)
{
    static sqlite3_vfs none = {
        .iVersion = 1,
        .szOsFile = sizeof(sqlite3_file),
        .mxPathname = LONGEST_PATH,
        .zName = "none",
        .xOpen = open_file,
        .xDelete = delete_file,
        .xAccess = access_file,
        .xFullPathname = full_path,
        .xRandomness = randomness,
        .xSleep = sleep_us,
        .xCurrentTime = current_time,
        .xGetLastError = last_error,
    };

    return sqlite3_vfs_register(&none, 1);
}

int sqlite3_os_end(void)
{
    return SQLITE_OK;
}
