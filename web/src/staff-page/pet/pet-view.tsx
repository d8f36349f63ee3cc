import type { PetstoreClient } from '@petstore/client'
import { type ReactNode, useMemo, useState } from 'preact/compat'
import { type HistorySource, useChangeHistory } from '../data/history/change-history.ts'
import { changeOf } from '../data/history/change-log.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { PetOrders, usePetReserved } from '../order-rows/pet-orders.tsx'
import { CategoryName } from '../pet-form/category-name.tsx'
import { usePetDetails } from '../pet-form/pet-details.ts'
import { PetDialog } from '../pet-form/pet-dialog.tsx'
import { useMayChange, useSession, useStock, useStockRow } from '../session/session-context.ts'
import { StockFailure } from '../session/work-frame.tsx'
import { BackLink } from '../ui/back-link.tsx'
import { Button } from '../ui/button.tsx'
import { useNow } from '../ui/hooks.ts'
import { href } from '../ui/navigation.ts'
import { PetHistory } from './pet-history.tsx'
import { PetQuantity } from './pet-quantity.tsx'
import './pet.css'

const HISTORY_PAGE = 100

/** One pet: its stock, its orders and its history. */
export function PetView({ petId }: { readonly petId: bigint }) {
  const { phase } = useStock()
  const { row, isLoading } = useStockRow(petId)
  if (row !== undefined) return <Pet key={String(petId)} row={row} />
  return (
    <div className="view pet">
      <BackLink />
      {isLoading && phase !== 'failed' && (
        <div className="list__loading" role="status" aria-label="Loading the pet">
          <span className="skeleton" />
          <span className="skeleton" />
        </div>
      )}
      {phase === 'ready' && !isLoading && (
        <div className="empty">
          <h1 className="empty__title">There is no pet {String(petId)}</h1>
          <p>It may have been removed. Search the stock for its name.</p>
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
  const history = useChangeHistory(source)
  const now = useNow(10_000)
  const title = name ?? `Pet ${petId}`
  return (
    <article className="view pet">
      <BackLink />
      <header className="pet__head">
        <div className="stack">
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
              <Fact name="Warn me at">
                <span className="number">{details.lowStockAt.toLocaleString('en')}</span>
              </Fact>
            )}
          </dl>
          {mayEdit && details !== undefined && (
            <span>
              <Button size="small" onClick={() => setEditing(true)}>
                Edit this pet
              </Button>
            </span>
          )}
        </div>
        <PetQuantity row={row} reserved={usePetReserved(row)} />
      </header>
      <PetOrders row={row} />
      <PetHistory history={history} log={history.get()} now={now} threshold={details?.lowStockAt} />
      {isEditing && details !== undefined && <PetDialog pet={details} onClose={() => setEditing(false)} />}
    </article>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
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
