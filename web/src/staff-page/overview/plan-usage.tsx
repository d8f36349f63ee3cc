import type { KeyLimits, LimitState } from '@petstore/client'
import { useCallback, useEffect, useRef, useState } from 'preact/compat'
import { LimitMeter } from '../../shared/limit-meter.tsx'
import { failureWords } from '../data/failure-words.ts'
import { isOutage, RETRY_AFTER_OUTAGE_MS } from '../data/outage.ts'
import { untilWords } from '../data/time-words.ts'
import { useSession } from '../session/session-context.ts'
import { Card } from '../ui/card.tsx'
import { useNow } from '../ui/hooks.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { windowsAt, withAnswer } from './limit-windows.ts'

/** The figures are requested again if they are older than this when the user returns to the page. */
const STALE_AFTER_MS = 60_000

/** How many requests the key has used and has left, in the minute and in the day. */
export function PlanUsage() {
  const now = useNow(1_000)
  const { limits, failure, refresh } = useLimits(now)
  const windows = limits && windowsAt(limits, now)
  const plan = limits && planName(limits.plan)
  return (
    <Card
      title="Plan usage"
      controls={plan !== undefined && <span className="badge badge--plain badge--accent">{plan}</span>}
    >
      {windows !== undefined && (
        <div className="overview__meters">
          <Meter name="This minute" window={windows.minute} now={now} />
          <Meter name="This day" window={windows.day} now={now} />
        </div>
      )}
      <RetryNotice tone="caution" onRetry={refresh}>
        {failure}
      </RetryNotice>
    </Card>
  )
}

/** Requested once, then kept current by the headers of every response: a meter must not use up what it measures. */
function useLimits(now: number) {
  const { client } = useSession()
  const [limits, setLimits] = useState<KeyLimits>()
  const [failure, setFailure] = useState<string>()
  const seen = useRef<LimitState>(undefined)
  const requestedAt = useRef(0)

  const refresh = useCallback(
    (signal?: AbortSignal) => {
      requestedAt.current = Date.now()
      client.limits.get({ signal }).then(
        (received) => {
          // A later request may have been answered earlier.
          const { latest } = client.limits
          seen.current = latest
          setLimits(latest === undefined ? received : withAnswer(received, latest))
          setFailure(undefined)
        },
        (error: unknown) => {
          if (signal?.aborted === true) return
          setFailure(failureWords(error))
          if (signal !== undefined && isOutage(error)) setTimeout(refresh, RETRY_AFTER_OUTAGE_MS, signal)
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
    const { latest } = client.limits
    if (latest === undefined || latest === seen.current) return
    seen.current = latest
    setLimits((before) => before && withAnswer(before, latest))
  }, [client, now])

  return { limits, failure, refresh: () => refresh() }
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
