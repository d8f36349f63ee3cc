import { useId } from 'preact/compat'
import './limit-meter.css'

interface Props {
  /** The name of the limit, such as "This minute". */
  readonly name: string
  readonly limit: number
  readonly remaining: number
  readonly reset: string
}

/** The meter warns below this share of the limit. */
const LOW_SHARE = 0.1

/** Shows how much of a limit is used and left, as a bar and in words. */
export function LimitMeter({ name, limit, remaining, reset }: Props) {
  const id = useId()
  const used = Math.max(0, limit - remaining)
  const percent = limit === 0 ? 100 : (100 * used) / limit
  const state = remaining === 0 ? 'spent' : remaining <= limit * LOW_SHARE ? 'low' : 'fine'
  const left = `${wholeNumber(remaining)} left`
  return (
    <div className={`stack limit-meter limit-meter--${state}`}>
      <div className="limit-meter__head">
        <span id={id}>{name}</span>
        <span className="limit-meter__left number">
          {state === 'fine' ? left : state === 'low' ? `Only ${left}` : 'Used up'}
        </span>
      </div>
      <meter
        className="visually-hidden"
        aria-labelledby={id}
        min={0}
        max={limit}
        value={used}
        aria-valuetext={`${wholeNumber(used)} of ${wholeNumber(limit)} requests used, ${left}`}
      />
      <svg className="bar" aria-hidden="true">
        <rect className="bar__fill" width={`${percent}%`} height="100%" />
      </svg>
      <p className="small number muted">
        {wholeNumber(used)} of {wholeNumber(limit)} used · {reset}
      </p>
    </div>
  )
}

function wholeNumber(count: number): string {
  return count.toLocaleString('en')
}
