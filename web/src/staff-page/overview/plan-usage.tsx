import type { LimitState } from '@petstore/client'
import { useCallback, useEffect, useRef, useState } from 'preact/compat'
import { LimitMeter } from '../../shared/limit-meter.tsx'
import { failureWords } from '../data/failure-words.ts'
import { untilWords } from '../data/time-words.ts'
import { useSession } from '../session/session-context.ts'
import { useNow } from '../ui/hooks.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { type LimitWindows, windowsAt, withAnswer } from './limit-windows.ts'

interface PlanState {
  readonly windows: LimitWindows
  readonly plan: string
}

/** The figures are requested again if they are older than this when the user returns to the page. */
const STALE_AFTER_MS = 60_000

/** How many requests the key has used and has left, in the minute and in the day. */
export function PlanUsage() {
  const now = useNow(1_000)
  const { state, failure, refresh } = usePlanState(now)
  const windows = state && windowsAt(state.windows, now)
  return (
    <section className="card" aria-labelledby="plan-title">
      <div className="card__header">
        <h2 id="plan-title">Plan usage</h2>
        {state !== undefined && (
          <span className="badge badge--plain badge--accent">{planName(state.plan)}</span>
        )}
      </div>
      <div className="card__body overview__meters">
        {windows !== undefined && (
          <>
            <Meter name="This minute" window={windows.minute} now={now} />
            <Meter name="This day" window={windows.day} now={now} />
          </>
        )}
        <RetryNotice tone="caution" onRetry={refresh}>
          {failure}
        </RetryNotice>
      </div>
    </section>
  )
}

/** Requested once, then kept current by the headers of every response: a meter must not use up what it measures. */
function usePlanState(now: number) {
  const { client } = useSession()
  const [state, setState] = useState<PlanState>()
  const [failure, setFailure] = useState<string>()
  const seen = useRef<LimitState>(undefined)
  const requestedAt = useRef(0)

  const refresh = useCallback(
    (signal?: AbortSignal) => {
      requestedAt.current = Date.now()
      client.limits.get({ signal }).then(
        ({ plan, minute, day }) => {
          // A later request may have been answered earlier.
          const latest = client.limits.latest
          seen.current = latest
          const windows = { minute, day }
          setState({ plan, windows: latest === undefined ? windows : withAnswer(windows, latest) })
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
      const isStale = Date.now() - requestedAt.current > STALE_AFTER_MS
      if (document.visibilityState === 'visible' && isStale) refresh(end.signal)
    }
    requestedAt.current = 0
    refreshIfStale()
    document.addEventListener('visibilitychange', refreshIfStale)
    return () => {
      end.abort()
      document.removeEventListener('visibilitychange', refreshIfStale)
    }
  }, [refresh])

  useEffect(() => {
    const latest = client.limits.latest
    if (latest === undefined || latest === seen.current) return
    seen.current = latest
    setState((before) => before && { ...before, windows: withAnswer(before.windows, latest) })
  }, [client, now])

  return { state, failure, refresh: () => refresh() }
}

interface MeterProps {
  readonly name: string
  readonly window: LimitState
  readonly now: number
}

function Meter({ name, window, now }: MeterProps) {
  const { limit, remaining, reset } = window
  const isRunning = reset * 1000 > now
  const words = isRunning ? `resets ${untilWords(reset * 1000, now)}` : 'starts with the next request'
  return <LimitMeter name={name} limit={limit} remaining={remaining} reset={words} />
}

function planName(plan: string): string {
  return `${plan.charAt(0).toUpperCase()}${plan.slice(1)} plan`
}
