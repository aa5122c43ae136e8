/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The directory bulkhead in debugfs (B8): parameters, one by one and all together, status, samples. Created
 * at load, removed before the objects that it shows.
 */
#ifndef BULKHEAD_LINUX_FILES_H
#define BULKHEAD_LINUX_FILES_H

struct file_operations;

extern const struct file_operations samples_file;

void files_init(void);
void files_exit(void);

#endif
