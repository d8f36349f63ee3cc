/**
 * Reads the output of `bun test` line by line. Counts the tests, and keeps the output of each test file until the end,
 * because the runner prints the output of tests that run in parallel in any order.
 */
export class TestOutput {
  passed = 0
  skipped = 0
  failed = 0
  readonly #linesByFile = new Map<string, string[]>()
  readonly #failedFiles = new Set<string>()
  #file = ''

  /** Returns whether the line reports a failure. */
  add(line: string): boolean {
    const file = /^(\S+\.test\.tsx?):$/.exec(line)?.[1]
    if (file !== undefined) {
      this.#file = file
      return false
    }
    if (line.startsWith('(pass) ')) this.passed++
    else if (/^\((?:skip|todo)\) /.test(line)) this.skipped++
    else {
      const lines = this.#linesByFile.get(this.#file)
      if (lines === undefined) this.#linesByFile.set(this.#file, [line])
      else lines.push(line)
    }
    const isFailure = /^\(fail\) |^✗ |^# Unhandled error/.test(line)
    if (!isFailure) return false
    this.failed++
    this.#failedFiles.add(this.#file)
    return true
  }

  /** The output of the files with a failure. If the runner failed for another reason, the output of all files. */
  get failureText(): string {
    const files = this.#failedFiles.size > 0 ? this.#failedFiles : this.#linesByFile.keys()
    return [...files]
      .map((file) => `\n${file}:\n${(this.#linesByFile.get(file) ?? []).join('\n')}`)
      .join('\n')
  }
}
