import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stopAfterTest } from './stop-after-test.ts'

/** Creates a folder, which is removed at the end of the test. The owner removes what is created outside of a test. */
export function temporaryFolder(parent = tmpdir()): string {
  const folder = realpathSync(mkdtempSync(join(parent, 'petstore-')))
  stopAfterTest(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
