import type { LimitState } from '@petstore/client'
import { useEffect } from 'preact/compat'
import { LimitMeter } from '../../shared/limit-meter.tsx'
import { useReadable } from '../data/observable.ts'
import { untilWords } from '../data/time-words.ts'
import { useSession } from '../session/session-context.ts'
import { Card } from '../ui/card.tsx'
import { useNow } from '../ui/hooks.ts'

/** How many requests the key has used and has left, in the minute and in the day. */
export function PlanUsage() {
  const session = useSession()
  const limits = useReadable(session.limits)
  const now = useNow(1_000)
  useEffect(() => session.refreshOwner(), [session])
  if (limits === undefined) return null
  const { plan, minute, day } = limits
  return (
    <Card
      title="Plan usage"
      controls={<span className="badge badge--plain badge--accent">{planName(plan)}</span>}
    >
      <div className="overview__meters">
        <Meter name="This minute" window={minute} now={now} />
        <Meter name="This day" window={day} now={now} />
      </div>
    </Card>
  )
}

interface MeterProps {
  readonly name: string
  readonly window: LimitState
  readonly now: number
}

function Meter({ name, window, now }: MeterProps) {
  const { limit, remaining, reset } = window
  // A window that has ended is full again, and the next one starts with the next request.
  const isRunning = reset * 1000 > now
  return (
    <LimitMeter
      name={name}
      limit={limit}
      remaining={isRunning ? remaining : limit}
      reset={isRunning ? `resets ${untilWords(reset * 1000, now)}` : 'starts with the next request'}
    />
  )
}

function planName(plan: string): string {
  return `${plan.charAt(0).toUpperCase()}${plan.slice(1)} plan`
}
