import { Glob } from 'bun'

/** What a test file imports that has a browser in it. */
const NEEDS_BROWSER = /from '\.[^']*\/support\/(?:shop|chromium)\.ts'/

/** The test files that need Chromium, by their paths from the root of the repository. */
export async function browserTests(root: string): Promise<string[]> {
  const files = [...new Glob('{web,client}/test/**/*.test.ts').scanSync(root)].sort()
  const needs = await Promise.all(
    files.map(async (path) => NEEDS_BROWSER.test(await Bun.file(`${root}/${path}`).text())),
  )
  return files.filter((_, index) => needs[index])
}

/**
 * What a run without Chromium leaves out, in one line; thrown where it must not be left out, since a green run of CI says
 * that everything holds. `missing` says why it is not there, and how to install it, in its first line.
 */
export function leftOutLine(files: readonly string[], missing: string, isCi: boolean): string {
  const [advice] = missing.split('\n')
  const line = `${advice}; without it the ${files.length} test files of the pages and of the client in a browser`
  if (isCi) throw new Error(`${line} cannot run, and CI must run them`)
  return `SKIPPED: ${line} are left out`
}
