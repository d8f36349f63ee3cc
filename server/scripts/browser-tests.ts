import { Glob } from 'bun'

/** A test file that imports one of these uses a browser. */
const NEEDS_BROWSER = /from '\.[^']*\/support\/(?:shop|chromium)\.ts'/

/** The test files that need Chromium, by their paths from the root of the repository. */
export async function browserTests(root: string): Promise<string[]> {
  const files = [...new Glob('{web,client}/test/**/*.test.ts').scanSync(root)].sort()
  const needsBrowser = await Promise.all(
    files.map(async (path) => NEEDS_BROWSER.test(await Bun.file(`${root}/${path}`).text())),
  )
  return files.filter((_, index) => needsBrowser[index])
}

/**
 * A message about the tests that a run without Chromium skips. Throws in CI, which must run all tests. The first line of
 * `missing` says why Chromium is missing and how to install it.
 */
export function skippedTestsMessage(files: readonly string[], missing: string, isCi: boolean): string {
  const [advice] = missing.split('\n')
  const line = `${advice}; without it the ${files.length} test files of the pages and of the client in a browser`
  if (isCi) throw new Error(`${line} cannot run, and CI must run them`)
  return `SKIPPED: ${line} do not run`
}
