import type { LimitState } from '@petstore/client'
import { LimitMeter } from '../../shared/limit-meter.tsx'
import { untilWords } from '../data/time-words.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { useLimits } from './use-limits.ts'

/** How many requests this key has used and has left, in the minute and in the day. */
export function LimitsCard() {
  const { windows, plan, now, failure, refresh } = useLimits()
  return (
    <section className="card" aria-labelledby="limits-title">
      <div className="card__header">
        <h2 id="limits-title">Limits of this key</h2>
        {plan !== undefined && <span className="badge badge--plain badge--accent">{planName(plan)}</span>}
      </div>
      <div className="card__body limits">
        {windows === undefined && failure === undefined && (
          <div className="overview__loading" role="status" aria-label="Loading the limits">
            <span className="skeleton" />
            <span className="skeleton" />
          </div>
        )}
        {windows !== undefined && (
          <>
            <Meter name="This minute" window={windows.minute} now={now} />
            <Meter name="This day" window={windows.day} now={now} />
          </>
        )}
        {failure !== undefined && (
          <RetryNotice tone="caution" onRetry={refresh}>
            {failure}
          </RetryNotice>
        )}
      </div>
    </section>
  )
}

interface MeterProps {
  readonly name: string
  readonly window: LimitState
  readonly now: number
}

function Meter({ name, window, now }: MeterProps) {
  const { limit, remaining, reset } = window
  const isRunning = reset * 1000 > now
  const words = isRunning ? `resets ${untilWords(reset * 1000, now)}` : 'begins with the next request'
  return <LimitMeter name={name} limit={limit} remaining={remaining} reset={words} />
}

function planName(plan: string): string {
  return `${plan.charAt(0).toUpperCase()}${plan.slice(1)} plan`
}
