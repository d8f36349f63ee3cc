import type { ReactNode } from 'preact/compat'

interface Props {
  readonly title: string
  /** Beside the title, such as a button. */
  readonly controls?: ReactNode
  readonly children: ReactNode
}

export function Card({ title, controls, children }: Props) {
  return (
    <section className="card" aria-label={title}>
      <div className="card__header">
        <h2>{title}</h2>
        {controls}
      </div>
      <div className="card__body stack">{children}</div>
    </section>
  )
}
