import { run } from '../../../client/test/support/built-client.ts'

let building: Promise<void> | undefined

/** Builds web/dist as `npm run build:web` does, once for all tests of a run: they see the pages as they are now. */
export function buildPages(): Promise<void> {
  building ??= (async () => {
    const { exitCode, stdout, stderr } = await run(['npm', 'run', '--silent', 'build:web'])
    if (exitCode !== 0) throw new Error(`npm run build:web failed:\n${stdout}${stderr}`)
  })()
  return building
}
