import type { SearchRow } from '@petstore/client'
import { useMemo, useState } from 'react'
import type { PetListSnapshot } from '../data/catalog/pet-list.ts'
import { usePetList } from '../data/catalog/use-pet-list.ts'
import { useReadable } from '../data/observable.ts'
import { CategoryChoice } from '../pet-form/category-choice.tsx'
import { CategoryName } from '../pet-form/category-name.tsx'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { Moment } from '../ui/changes.tsx'
import { useNow } from '../ui/hooks.ts'
import { href } from '../ui/navigation.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { lowStockSource } from './low-stock-source.ts'
import './low-stock.css'

/** What is running out, by the threshold of each pet or of its category, and since when. */
export function LowStockView() {
  const { client, feed, categories } = useSession()
  const mayChange = useMayChange('pets')
  const [categoryId, setCategoryId] = useState<bigint>()
  const source = useMemo(
    () => lowStockSource({ client, events: feed.events, categories }, categoryId),
    [client, feed, categories, categoryId],
  )
  const { list, found } = usePetList(source)
  const now = useNow(15_000)
  return (
    <section className="view view--list low-stock" aria-label="Low stock">
      <h1>Low stock</h1>
      <div className="low-stock__head">
        <p role="status" className="number">
          {sumWords(found)}
        </p>
        <CategoryChoice chosen={categoryId} onChoose={setCategoryId} />
      </div>
      <div className="card">
        {found.phase === 'loading' && found.rows.length === 0 && (
          <div className="list__loading" role="status" aria-label="Loading what is low">
            <span className="skeleton" />
            <span className="skeleton" />
            <span className="skeleton" />
          </div>
        )}
        {found.failure !== undefined && (
          <RetryNotice tone="negative" onRetry={() => void list.reload()}>
            {found.failure}
          </RetryNotice>
        )}
        <ol aria-label="Low stock">
          {found.rows.map((row) => (
            <LowRow key={String(row.petId)} row={row} now={now} />
          ))}
        </ol>
        {found.phase === 'ready' && found.rows.length === 0 && (
          <div className="empty">
            <p className="empty__title">Nothing is low</p>
            <p>
              A pet shows here at once when as many are left as its threshold says, or its category’s.
              {mayChange && ' Thresholds are set under Pets.'}
            </p>
            {mayChange && (
              <a className="button" href={href({ view: 'pets' })}>
                Go to the pets
              </a>
            )}
          </div>
        )}
        {found.next !== undefined && (
          <button
            type="button"
            className="button list__more"
            disabled={found.isLoadingMore}
            onClick={() => void list.loadMore()}
          >
            {found.isLoadingMore ? 'Loading …' : 'Show more'}
          </button>
        )}
      </div>
    </section>
  )
}

function LowRow({ row, now }: { readonly row: SearchRow; readonly now: number }) {
  const { petId, name, categoryId, lowStockAt, lowSince } = row
  const { quantity, reserved } = useLiveStock(row)
  const available = quantity - reserved
  return (
    <li className="low-row" aria-label={name}>
      <a className="low-row__name" href={href({ view: 'pet', petId })}>
        {name}
      </a>
      <span className="low-row__category muted">
        <CategoryName id={categoryId} />
      </span>
      <span className="low-row__left number">
        <strong className={available <= 0 ? 'low-row__none' : undefined}>
          {Math.abs(available).toLocaleString('en')}
        </strong>{' '}
        {available < 0 ? 'too few' : 'left'}
        {lowStockAt !== undefined && (
          <span className="muted"> · low at {lowStockAt.toLocaleString('en')}</span>
        )}
        {reserved > 0 && (
          <span className="low-row__reserved muted">
            {quantity.toLocaleString('en')} on the shelf, {reserved.toLocaleString('en')} reserved
          </span>
        )}
      </span>
      <span className="low-row__since">
        {lowSince === undefined ? (
          <span className="muted">for a long time</span>
        ) : (
          <Moment at={Date.parse(lowSince)} now={now} />
        )}
      </span>
    </li>
  )
}

/** The figures that the page follows anyway are newer than the list: an order changes what is left without an event of its pet. */
function useLiveStock(row: SearchRow): { readonly quantity: number; readonly reserved: number } {
  const { stock, openOrders } = useSession()
  useStock()
  const live = stock.find(row.petId)
  const isKnown = useReadable(openOrders) === 'ready'
  if (live === undefined) return row
  return { quantity: live.quantity, reserved: isKnown ? live.reserved : row.reserved }
}

function sumWords({ rows, next, phase }: PetListSnapshot): string {
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  if (rows.length === 0) return 'Nothing is low.'
  const empty = rows.filter(({ available }) => available <= 0).length
  const none = empty === 0 ? '' : `, ${empty.toLocaleString('en')} of them with nothing left`
  if (next !== undefined) return `The ${rows.length.toLocaleString('en')} with the fewest left${none}.`
  return `${rows.length === 1 ? '1 pet is' : `${rows.length.toLocaleString('en')} pets are`} low${none}.`
}
