/** Runs never overlap. Callers that come during a run share the next run, which starts after their call. */
export function shareRuns<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | undefined
  return () => {
    if (next !== undefined) return next
    next = last.then(() => {
      next = undefined
      return run()
    })
    last = next.catch(() => {})
    return next
  }
}
