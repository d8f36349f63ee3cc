import type { LimitState } from '@petstore/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { failureWords } from '../data/failure-words.ts'
import { useSession } from '../session/session-context.ts'
import { useNow } from '../ui/hooks.ts'
import { type LimitWindows, windowsAt, withAnswer } from './limit-windows.ts'

export interface FollowedLimits {
  /** As of now; `undefined` until the service has told. */
  readonly windows: LimitWindows | undefined
  readonly plan: string | undefined
  readonly now: number
  /** Why they could not be read, in words for the user. */
  readonly failure: string | undefined
  refresh(): void
}

interface Told {
  readonly windows: LimitWindows
  readonly plan: string
}

/** Who comes back to the page sees figures that are no older than this. */
const STALE_AFTER_MS = 60_000

/**
 * The limits of the key. They are asked for once, and then kept by what every answer tells of them anyway: a meter
 * that eats what it measures would be of no use.
 */
export function useLimits(): FollowedLimits {
  const { client } = useSession()
  const now = useNow(1_000)
  const [told, setTold] = useState<Told>()
  const [failure, setFailure] = useState<string>()
  const seen = useRef<LimitState>(undefined)
  const askedAt = useRef(0)

  const refresh = useCallback(
    (signal?: AbortSignal) => {
      askedAt.current = Date.now()
      client.limits.get({ signal }).then(
        ({ plan, minute, day }) => {
          // Another request may have been counted meanwhile, and have answered earlier.
          const latest = client.limits.latest
          seen.current = latest
          const windows = { minute, day }
          setTold({ plan, windows: latest === undefined ? windows : withAnswer(windows, latest) })
          setFailure(undefined)
        },
        (error: unknown) => {
          if (signal?.aborted !== true) setFailure(failureWords(error))
        },
      )
    },
    [client],
  )

  useEffect(() => {
    const end = new AbortController()
    const refreshIfStale = () => {
      const isStale = Date.now() - askedAt.current > STALE_AFTER_MS
      if (document.visibilityState === 'visible' && isStale) refresh(end.signal)
    }
    askedAt.current = 0
    refreshIfStale()
    document.addEventListener('visibilitychange', refreshIfStale)
    return () => {
      end.abort()
      document.removeEventListener('visibilitychange', refreshIfStale)
    }
  }, [refresh])

  // Each tick of the clock looks at what the latest answer told.
  useEffect(() => {
    const latest = client.limits.latest
    if (latest === undefined || latest === seen.current) return
    seen.current = latest
    setTold((before) => before && { ...before, windows: withAnswer(before.windows, latest) })
  }, [client, now])

  return {
    windows: told && windowsAt(told.windows, now),
    plan: told?.plan,
    now,
    failure,
    refresh: () => refresh(),
  }
}
