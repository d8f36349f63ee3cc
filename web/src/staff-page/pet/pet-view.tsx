import type { HistoryEntry, InventoryEvent, SearchRow } from '@petstore/client'
import { type ReactNode, useMemo, useState } from 'preact/compat'
import { type PetListSource, usePetList } from '../data/catalog/pet-list.ts'
import { type ListSource, useLiveList } from '../data/live-list.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { PetOrders } from '../order-rows/pet-orders.tsx'
import { CategoryName } from '../pet-form/category-name.tsx'
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
const MAX_EMPTY_PAGES = 5

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
  const history = usePetHistory(petId)
  const now = useNow(10_000)
  const title = name ?? `Pet ${petId}`
  return (
    <article className="view pet">
      <BackLink />
      <header className="cluster cluster--fields pet__head">
        <div className="stack">
          <h1>{title}</h1>
          <dl className="cluster pet__facts">
            <Fact name="Status">
              <span className={`badge badge--${status}`}>{status}</span>
            </Fact>
            <Fact name="Pet id" number={String(petId)} />
            <Fact name="Category">
              <CategoryName id={categoryId} />
            </Fact>
            <Fact name="Barcode" number={details?.barcode} />
            <Fact name="Warn me at" number={details?.lowStockAt?.toLocaleString('en')} />
          </dl>
          {mayEdit && details !== undefined && (
            <span>
              <Button size="small" onClick={() => setEditing(true)}>
                Edit this pet
              </Button>
            </span>
          )}
        </div>
        <PetQuantity row={row} />
      </header>
      <PetOrders petId={petId} />
      <PetHistory history={history} log={history.get()} now={now} threshold={details?.lowStockAt} />
      {isEditing && details !== undefined && <PetDialog pet={details} onClose={() => setEditing(false)} />}
    </article>
  )
}

interface FactProps {
  readonly name: string
  readonly number?: string | undefined
  readonly children?: ReactNode
}

/** Shows nothing if there is neither a number nor content. */
function Fact({ name, number, children }: FactProps) {
  if (number === undefined && children === undefined) return null
  return (
    <div className="pet__fact">
      <dt>{name}</dt>
      <dd>{children ?? <span className="number">{number}</span>}</dd>
    </div>
  )
}

/** The catalogue entry of one pet, kept up to date; `undefined` until it is loaded. */
function usePetDetails(petId: bigint): SearchRow | undefined {
  const { client, feed } = useSession()
  const source = useMemo(
    (): PetListSource => ({
      events: feed.events,
      petId,
      load: async (_, signal) => {
        const { items } = await client.inventory.search({ q: String(petId), signal })
        // Other pets may have the id as a barcode, or as a word of their names.
        return { items: items.filter((row) => row.petId === petId), next: undefined }
      },
    }),
    [client, feed, petId],
  )
  return usePetList(source).found.rows[0]
}

function usePetHistory(petId: bigint) {
  const { client, feed } = useSession()
  const source = useMemo(
    (): ListSource<HistoryEntry, InventoryEvent> => ({
      keyOf: ({ id }) => id,
      isLog: true,
      events: feed.events,
      concerns: (event) => event.type === 'change' && event.petId === petId,
      load: async (cursor, signal) => {
        const read = (from: string | undefined) =>
          client.inventory.history(petId, { limit: HISTORY_PAGE, cursor: from, signal })
        let page = await read(cursor)
        // If the pet was edited very often, a page can be empty although there are earlier changes. After MAX_EMPTY_PAGES, the
        // user decides whether to search further.
        for (let count = 1; count < MAX_EMPTY_PAGES; count++) {
          if (page.items.length > 0 || page.next === undefined) break
          page = await read(page.next)
        }
        return page
      },
    }),
    [client, feed, petId],
  )
  return useLiveList(source)
}
