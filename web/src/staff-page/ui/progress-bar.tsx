interface Props {
  readonly label: string
  readonly done: number
  readonly total: number
}

export function ProgressBar({ label, done, total }: Props) {
  return (
    <div
      className="bar"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={done}
    >
      <div className="bar__fill" style={{ width: `${(100 * done) / Math.max(1, total)}%` }} />
    </div>
  )
}
