import type { PetstoreClient } from '@petstore/client'
import { useMemo, useState } from 'react'
import { type HistorySource, useChangeHistory } from '../data/history/change-history.ts'
import { changeOf } from '../data/history/change-log.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { PetOrders, usePetReserved } from '../order-rows/pet-orders.tsx'
import { CategoryName } from '../pet-form/category-name.tsx'
import { usePetDetails } from '../pet-form/pet-details.ts'
import { PetDialog } from '../pet-form/pet-dialog.tsx'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { StockFailure } from '../session/stock-failure.tsx'
import { BackLink } from '../ui/back-link.tsx'
import { useNow } from '../ui/hooks.ts'
import { href } from '../ui/navigation.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { HistoryChart } from './history-chart.tsx'
import { HistoryList } from './history-list.tsx'
import { PetQuantity } from './pet-quantity.tsx'
import './pet.css'

const HISTORY_PAGE = 100

/** One pet: how many there are, and how that came to be. */
export function PetView({ petId }: { readonly petId: bigint }) {
  const { stock } = useSession()
  const { phase } = useStock()
  const row = stock.find(petId)
  if (row !== undefined) return <Pet key={String(petId)} row={row} />
  return (
    <div className="pet">
      <BackLink />
      {phase === 'loading' && (
        <div className="pet__loading" role="status" aria-label="Loading the pet">
          <span className="skeleton" />
          <span className="skeleton" />
        </div>
      )}
      {phase === 'ready' && (
        <div className="empty">
          <h1 className="empty__title">There is no pet {String(petId)}</h1>
          <p>It may have been removed from the store. Look for it in the stock by its name.</p>
          <a className="button" href={href({ view: 'stock' })}>
            Go to the stock
          </a>
        </div>
      )}
      {phase === 'failed' && <StockFailure />}
    </div>
  )
}

function Pet({ row }: { readonly row: StockRow }) {
  const { petId, name, categoryId, status } = row
  const details = usePetDetails(petId)
  const mayEdit = useMayChange('pets')
  const [isEditing, setEditing] = useState(false)
  const { client, feed } = useSession()
  const source = useMemo(() => sourceOf(client, feed.changes, petId), [client, feed, petId])
  const { history, log } = useChangeHistory(source)
  const now = useNow(10_000)
  const title = name ?? `Pet ${petId}`
  return (
    <article className="pet">
      <BackLink />
      <header className="pet__head">
        <div className="pet__title">
          <h1>{title}</h1>
          <dl className="pet__facts">
            <Fact name="Status">
              <span className={`badge badge--${status}`}>{status}</span>
            </Fact>
            <Fact name="Pet id">
              <span className="number">{String(petId)}</span>
            </Fact>
            <Fact name="Category">
              <CategoryName id={categoryId} />
            </Fact>
            {details?.barcode !== undefined && (
              <Fact name="Barcode">
                <span className="number">{details.barcode}</span>
              </Fact>
            )}
            {details?.lowStockAt !== undefined && (
              <Fact name="Low at">
                <span className="number">{details.lowStockAt.toLocaleString('en')}</span>
              </Fact>
            )}
          </dl>
          {mayEdit && details !== undefined && (
            <button type="button" className="button button--small pet__edit" onClick={() => setEditing(true)}>
              Edit this pet
            </button>
          )}
        </div>
        <PetQuantity row={row} reserved={usePetReserved(row)} />
      </header>
      <PetOrders row={row} />
      <History history={history} log={log} now={now} />
      {isEditing && details !== undefined && <PetDialog pet={details} onClose={() => setEditing(false)} />}
    </article>
  )
}

function History({ history, log, now }: Parameters<typeof HistoryList>[0]) {
  const { changes, phase, failure, next } = log
  const isEmpty = phase === 'ready' && changes.length === 0
  return (
    <>
      <section className="card" aria-labelledby="chart-title">
        <div className="card__header">
          <h2 id="chart-title">Quantity over time</h2>
        </div>
        <div className="card__body">
          {phase === 'loading' && changes.length === 0 && <span className="skeleton pet__chart-skeleton" />}
          {isEmpty && (
            <p className="muted">The quantity was not changed yet. The chart begins with the first change.</p>
          )}
          <HistoryChart changes={changes} hasOlder={next !== undefined} now={now} />
        </div>
      </section>
      <section className="card" aria-labelledby="history-title">
        <div className="card__header">
          <h2 id="history-title">History</h2>
        </div>
        <div className="card__body">
          {phase === 'loading' && changes.length === 0 && (
            <div className="pet__loading" role="status" aria-label="Loading the history">
              <span className="skeleton" />
              <span className="skeleton" />
              <span className="skeleton" />
            </div>
          )}
          {failure !== undefined && (
            <RetryNotice tone="caution" onRetry={() => void history.reload()}>
              {failure}
            </RetryNotice>
          )}
          {isEmpty && <p className="muted">Nobody has changed it yet.</p>}
          {changes.length > 0 && <HistoryList history={history} log={log} now={now} />}
        </div>
      </section>
    </>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div className="pet__fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function sourceOf(client: PetstoreClient, live: HistorySource['live'], petId: bigint): HistorySource {
  return {
    live,
    petId,
    load: async (cursor, signal) => {
      const { items, next } = await client.inventory.history(petId, {
        limit: HISTORY_PAGE,
        cursor,
        signal,
      })
      return { items: items.map((entry) => changeOf({ ...entry, petId })), next }
    },
  }
}
