import { useState } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'

/** Sends one request at a time for a form. `failure` says why the last request failed. */
export function useAttempt(words: (error: unknown) => string = failureWords) {
  const [failure, setFailure] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const attempt = async (request: () => Promise<void>) => {
    if (isBusy) return
    setBusy(true)
    setFailure(undefined)
    await request().catch((error: unknown) => setFailure(words(error)))
    setBusy(false)
  }
  return { failure, setFailure, isBusy, attempt }
}
