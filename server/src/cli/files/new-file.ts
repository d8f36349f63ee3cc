import { existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Lets `write` make a file under a temporary name beside `path`, and gives it its name once it is whole and on
 * disk: a failure leaves nothing behind, and an older file as it was.
 */
export async function writeNewFile(
  path: string,
  { overwrite }: { readonly overwrite: boolean },
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const target = overwrite && existsSync(path) ? existingFile(path) : path
  if (!overwrite) refuseExisting(target)
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.partial`)
  try {
    await write(temporary)
    await sync(temporary)
    if (!overwrite) refuseExisting(target)
    await rename(temporary, target)
    await sync(dirname(target))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

export class FileExists extends Error {
  override readonly name = 'FileExists'
}

function refuseExisting(path: string): void {
  if (existsSync(path)) throw new FileExists(`${path} is there already`)
}

/** Where a link leads: it is the file behind it that is written anew. */
function existingFile(path: string): string {
  if (!statSync(path).isFile()) throw new Error(`cannot write ${path}: it is not a file`)
  return realpathSync(path)
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
