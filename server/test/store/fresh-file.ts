import { beforeEach } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A path for a database: each test of the file gets a new folder. */
export function freshFile(): { readonly path: string } {
  const file = { path: '' }
  beforeEach(() => {
    file.path = join(temporaryFolder(), 'petstore.db')
  })
  return file
}
