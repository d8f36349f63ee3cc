import { afterEach, beforeEach } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where a database may be made: for each test of the file a folder of its own, which goes with it. */
export function freshFile(): { readonly path: string } {
  const file = { path: '' }
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'petstore-file-'))
    file.path = join(folder, 'petstore.db')
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  return file
}
