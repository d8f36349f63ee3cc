import { afterEach, beforeEach } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A path for a database: each test of the file gets a new folder, which is removed after it. */
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
