import type { StockRow } from '../data/stock/stock-model.ts'
import { type CountDesk, type Resolution, withChange } from './count-desk.ts'
import type { CountEntry } from './kept-count.ts'

interface Changed {
  readonly row: StockRow
  readonly entry: CountEntry
}

const MAX_LISTED = 200

/** What was sold or came between counting and applying: it is not overwritten before somebody has looked at it. */
export function ChangedSince({
  desk,
  changed,
}: {
  readonly desk: CountDesk
  readonly changed: readonly Changed[]
}) {
  const resolveAll = (resolution: Resolution) => () =>
    desk.resolve(
      changed.map(({ row }) => row.petId),
      resolution,
    )
  const rest = changed.length - MAX_LISTED
  return (
    <section className="card count__card" aria-label="Changed since it was counted">
      <div className="card__header">
        <h2 className="count__title">Changed since it was counted</h2>
        {changed.length > 1 && (
          <span className="count__choices">
            All of them:
            <Choice onChoose={resolveAll('keep the change')}>Changed after counting</Choice>
            <Choice onChoose={resolveAll('as counted')}>As counted</Choice>
            <Choice onChoose={resolveAll('count again')}>Count again</Choice>
          </span>
        )}
      </div>
      <ul>
        {changed.slice(0, MAX_LISTED).map(({ row, entry }) => (
          <li key={String(row.petId)} className="count__changed">
            <Change desk={desk} row={row} entry={entry} />
          </li>
        ))}
      </ul>
      {rest > 0 && <p className="muted count__rest">and {rest.toLocaleString('en')} more</p>}
    </section>
  )
}

function Change({
  desk,
  row: { petId, name, quantity: now },
  entry,
}: Changed & { readonly desk: CountDesk }) {
  const { quantity, expected } = entry
  const called = name ?? `Pet ${petId}`
  const changed = withChange(entry, now)
  const resolve = (resolution: Resolution) => () => desk.resolve([petId], resolution)
  return (
    <>
      <span className="count__what">
        <strong>{called}</strong>
        <span className="number">
          You counted {quantity.toLocaleString('en')} when the stock said {expected.toLocaleString('en')}; it
          says {now.toLocaleString('en')} now.
        </span>
      </span>
      <span className="count__choices">
        {changed !== undefined && changed !== quantity && (
          <Choice name={called} onChoose={resolve('keep the change')}>
            Changed after counting: {changed.toLocaleString('en')}
          </Choice>
        )}
        <Choice name={called} onChoose={resolve('as counted')}>
          As counted: {quantity.toLocaleString('en')}
        </Choice>
        <Choice name={called} onChoose={resolve('count again')}>
          Count again
        </Choice>
      </span>
    </>
  )
}

interface ChoiceProps {
  /** Of the pet, where it is about one. */
  readonly name?: string
  readonly onChoose: () => void
  readonly children: React.ReactNode
}

function Choice({ name, onChoose, children }: ChoiceProps) {
  return (
    <button type="button" className="button button--small" onClick={onChoose}>
      {children}
      {name !== undefined && <span className="visually-hidden"> for {name}</span>}
    </button>
  )
}
